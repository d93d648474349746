"""The rooms and their doors, checked on the running program."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# In the order of their imports: whatever one of them pulls in shows from there on.
ROOMS_WITHOUT_QT = [
    "metrics",
    "elicit_app.study",
    "elicit_app.study.class_measures",
    "elicit_app.study.other_measures",
    "elicit_app.elicitation.questions",
    "elicit_app.elicitation.procedures.bayes",
    "elicit_app.session",
    "elicit_app.session.runner",
    "elicit_app.cli.main",
    "elicit_app.cli.asking",
    "elicit_app.session.report",
    "elicit_app.experiments.simulation",
]
ROOMS_BELOW_THE_COMMANDS = ["elicitation", "experiments", "registry", "session", "study"]
MOST_LINES = 500
# The commands that do something again, and the option of a child process.
WRITE_COMMANDS = {"report.py", "mapping.py", "parquet.py", "watching.py", "running.py"}
PLOTS_AND_LEARNING = {"matplotlib", "sklearn", "scipy.stats", "pandas"}


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """Return the modules that are loaded after the import of each room and of all before it."""
    code = (
        "import importlib, json, sys\n"
        "for room in sys.argv[1:]:\n"
        "    getattr(importlib.import_module(room), 'ElicitedMetric', None)\n"
        "    print(json.dumps([room, [*sys.modules]]))"
    )
    run = subprocess.run([sys.executable, "-c", code, *ROOMS_WITHOUT_QT], capture_output=True, text=True, check=True)
    return {room: set(modules) for room, modules in map(json.loads, run.stdout.splitlines())}


@pytest.mark.parametrize("room", ROOMS_WITHOUT_QT)
def test_nothing_outside_the_window_pulls_qt_in(loaded: dict[str, set[str]], room: str) -> None:
    assert not {name.split(".")[0] for name in loaded[room]} & {"PySide6", "shiboken6"}


def test_the_metrics_library_stands_alone(loaded: dict[str, set[str]]) -> None:
    assert not [name for name in loaded["metrics"] if name.startswith("elicit_app")]


@pytest.mark.parametrize(
    "room", ["metrics", "elicit_app.study.other_measures", "elicit_app.cli.asking", "elicit_app.session.report"]
)
def test_neither_a_metric_nor_a_question_waits_for_plots_or_learning(loaded: dict[str, set[str]], room: str) -> None:
    assert not loaded[room] & PLOTS_AND_LEARNING


def test_the_command_keeps_linear_algebra_to_one_thread() -> None:
    code = (
        "import sys; from elicit_app.cli.main import run; sys.argv = ['elicit', 'study', 'list']\n"
        "try: run()\nexcept SystemExit: pass\n"
        "import numpy, threadpoolctl; print([pool['num_threads'] for pool in threadpoolctl.threadpool_info()])"
    )
    unset = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=unset)
    assert set(json.loads(run.stdout.splitlines()[-1])) == {1}


@pytest.mark.parametrize("room", ["metrics", "elicit_app", "reliability"])
def test_no_module_is_longer_than_what_one_reads_together(room: str) -> None:
    folder = Path(__file__).parents[1] / room
    lines = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py")}
    assert lines
    assert not {name: n for name, n in lines.items() if n > MOST_LINES}


@pytest.mark.parametrize("room", ["metrics", *(f"elicit_app/{name}" for name in ROOMS_BELOW_THE_COMMANDS)])
def test_what_the_window_says_too_names_no_command_and_no_flag(room: str) -> None:
    for path in (Path(__file__).parents[1] / room).rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        said = [text.value for text in texts if id(text) not in docs and path.name not in WRITE_COMMANDS]
        assert not [
            text for text in said if re.search(r"(^|\W)--[a-z]|elicit (study|session|ask|metric) [a-z]", text)
        ], path
