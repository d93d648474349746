"""The rooms and their doors, checked on the running program."""

import subprocess
import sys

import pytest

ROOMS_WITHOUT_QT = [
    "metrics",
    "elicit_app.elicitation.driver",
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
