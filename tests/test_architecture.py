"""The rooms and their doors, checked on the running program."""

import json
import os
import subprocess
import sys

import pytest

ROOMS_WITHOUT_QT = [
    "metrics",
    "elicit_app.elicitation.questions",
    "elicit_app.elicitation.procedures.bayes",
    "elicit_app.session",
    "elicit_app.session.runner",
    "elicit_app.study",
    "elicit_app.experiments.simulation",
    "elicit_app.cli.main",
]


@pytest.mark.parametrize("room", ROOMS_WITHOUT_QT)
def test_nothing_outside_the_window_pulls_qt_in(room: str) -> None:
    code = f"import {room}, sys; print(sorted(m for m in sys.modules if m.split('.')[0] in ('PySide6', 'shiboken6')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_metrics_library_stands_alone() -> None:
    code = "import metrics, sys; metrics.ElicitedMetric; print([m for m in sys.modules if m.startswith('elicit_app')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["metrics", "elicit_app.study"])
def test_importing_a_room_does_not_pay_for_plots_or_learning(package: str) -> None:
    code = f"import {package}, sys; print([m for m in ('matplotlib', 'sklearn', 'scipy.stats') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_command_keeps_linear_algebra_to_one_thread() -> None:
    code = (
        "import sys; from elicit_app.cli.main import run; sys.argv = ['elicit', 'study', 'list']\n"
        "try: run()\nexcept SystemExit: pass\n"
        "import numpy, threadpoolctl; print([pool['num_threads'] for pool in threadpoolctl.threadpool_info()])"
    )
    unset = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=unset)
    assert set(json.loads(run.stdout.splitlines()[-1])) == {1}
