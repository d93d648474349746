"""What the commands for studies, metric files and scores print."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from elicit_app.cli.main import run
from elicit_app.study import list_studies, open_study
from elicit_app.study.opening import datasets_folder
from metrics import ElicitedMetric


@pytest.fixture
def elicit(capsys, monkeypatch, tmp_path):
    """Run a command in this process; returns its standard output, keeps what went to standard error in `messages`."""
    monkeypatch.chdir(tmp_path)

    messages = []

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["elicit", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        captured = capsys.readouterr()
        assert (ended.value.code or 0) == 0, captured.err
        messages.append(captured.err)
        return captured.out

    call.messages = messages
    return call


@pytest.fixture
def wine_metric(tmp_path):
    costs = np.array([[0, 0.5, 1], [0.1, 0, 0.2], [0.05, 0.3, 0]])
    draws = -np.random.default_rng(1).dirichlet(np.ones(6), size=50)
    path = tmp_path / "wine.metric.json"
    ElicitedMetric.from_cost_matrix(
        open_study("wine").classes, costs, name="Wine", samples=draws, population=10_000
    ).save(path)
    return path


def wine_files():
    return sorted((datasets_folder() / "wine").glob("*.parquet"))


def test_version_and_help(elicit):
    assert elicit("--version").startswith("elicit ")
    shown = elicit("--help")
    for command in ("demo", "open", "ask", "study", "simulate", "score", "metric", "screenshots"):
        assert f"\n  {command} " in shown


def test_study_list_as_table_and_as_json(elicit):
    table = elicit("study", "list")
    listed = json.loads(elicit("study", "list", "--json"))
    assert [entry["name"] for entry in listed] == [summary.name for summary in list_studies()]
    for entry in listed:
        assert entry["name"] in table
        assert entry["description"] in table


def test_a_study_is_made_from_files_after_one_option(elicit, tmp_path):
    first, second = wine_files()
    shown = elicit(
        *("study", "new", "cellar", "--predictions", first, second),
        *("--name", "The cellar", "--labels", "Barbera,Barolo,Grignolino", "--population", "500"),
    )
    assert "The cellar" in shown
    study = open_study(tmp_path / "cellar")
    assert (study.title, study.population) == ("The cellar", 500)
    assert study.classes == ("Barbera", "Barolo", "Grignolino")
    assert [model.name for model in study.models] == [first.stem, second.stem]
    assert elicit("study", "new", "again", "--predictions", first, "--predictions", second)
    assert len(open_study(tmp_path / "again").models) == 2


def test_scores_as_json_have_exactly_the_stated_fields(elicit, wine_metric):
    printed = json.loads(elicit("score", wine_metric, *wine_files(), "--json"))
    metric, study = ElicitedMetric.load(wine_metric), open_study("wine")
    assert {"metric", "models", "unit", "population", "prevalence", "recommendation", "policies", "information"} <= set(
        printed
    )
    assert printed["metric"] == "Wine"
    unit = metric.cost_matrix[metric.cost_matrix > 0].min()
    assert [model["name"] for model in printed["models"]] == [path.stem for path in wine_files()]
    for model, predictions in zip(printed["models"], study.models, strict=True):
        assert list(model) == [
            *("name", "cost_per_population", "misclassification_cost", "expected_misclassification_cost"),
            *("decided_cost", "mpcs", "accuracy", "balanced_error_rate", "rank", "probability_best"),
        ]
        truth = np.array(study.classes)[predictions.y_true]
        decided = np.array(study.classes)[predictions.y_proba.argmax(axis=1)]
        assert model["misclassification_cost"] == pytest.approx(metric.score(truth, decided), abs=1e-12)
        assert model["cost_per_population"] == pytest.approx(10_000 * metric.score(truth, decided) / unit, rel=1e-9)
        expected = metric.expected_score(truth, predictions.y_proba)
        assert model["expected_misclassification_cost"] == pytest.approx(expected, abs=1e-12)
        assert model["decided_cost"] == pytest.approx(
            metric.score(truth, metric.decide(predictions.y_proba)), abs=1e-12
        )
        assert model["mpcs"] == pytest.approx(metric.meta_pattern_concern_score(truth, predictions.y_proba), abs=1e-12)
    assert min(model["rank"] for model in printed["models"]) == 1
    assert sum(model["probability_best"] for model in printed["models"]) == pytest.approx(1)


def test_the_table_of_scores_lists_the_cheapest_first(elicit, wine_metric):
    printed = json.loads(elicit("score", wine_metric, *wine_files(), "--json"))
    table = elicit("score", wine_metric, *wine_files())
    lines = table.splitlines()
    assert lines[1] == printed["recommendation"]
    assert "Per 10,000 cases; costs in cases of Barbera called Barolo:" in lines
    costs = [policy["cost_per_population"] for policy in printed["policies"]]
    first = next(number for number, line in enumerate(lines) if line.lstrip().startswith("Rank"))
    shown = [line.split("  ")[1:] for line in lines[first + 1 : first + 1 + len(costs)]]
    for cost, cells in zip(costs, shown, strict=True):
        assert f"{cost:,.0f}" in [cell.strip() for cell in cells]
    for model in printed["models"]:
        assert f"{model['mpcs']:.3f}" in table


def test_rows_that_were_divided_by_their_sum_are_told(elicit, wine_metric, tmp_path):
    path = tmp_path / "rounded.csv"
    path.write_text(
        "y_true,proba_Barolo,proba_Grignolino,proba_Barbera\nBarolo,0.99,0,0\nBarbera,0,0,1\nGrignolino,0,1,0\n"
    )
    note = "rounded.csv: 1 row was divided by their sum"
    for arguments in (("score", wine_metric, path), ("study", "new", "s", "--predictions", path)):
        elicit(*arguments)
        assert note in elicit.messages[-1]


def test_files_that_number_the_classes_are_scored_like_those_the_study_was_made_of(elicit, tmp_path):
    truth, proba = np.array([0, 1, 2, 0, 1, 2]), np.random.default_rng(2).dirichlet(np.ones(3), size=6)
    np.savez(tmp_path / "p.npz", y_true=truth, y_proba=proba)
    elicit("study", "new", "s", "--predictions", "p.npz", "--labels", "cat,dog,fox")
    costs = np.array([[0, 0.5, 1], [0.1, 0, 0.2], [0.05, 0.3, 0]])
    ElicitedMetric.from_cost_matrix(open_study("s").classes, costs).save(tmp_path / "m.metric.json")
    (model,) = json.loads(elicit("score", "m.metric.json", "p.npz", "--json"))["models"]
    assert model["misclassification_cost"] == pytest.approx(costs[truth, proba.argmax(axis=1)].mean())
    assert elicit.messages[-1] == "p.npz: the classes are numbered; 0 for “cat”, 1 for “dog”, 2 for “fox”.\n"


def test_names_are_printed_as_they_are(elicit, wine_metric, tmp_path):
    for name in ("[bold]a", "[/]b"):
        (tmp_path / f"{name.replace('/', '')}.parquet").write_bytes(wine_files()[0].read_bytes())
    assert "[bold]a" in elicit("score", wine_metric, tmp_path / "[bold]a.parquet", tmp_path / "[]b.parquet")


def test_metric_files_are_shown_checked_and_exported(elicit, wine_metric, tmp_path):
    assert "Barolo" in elicit("metric", "show", wine_metric)
    assert "is in order: 3 classes" in elicit("metric", "check", wine_metric)
    for name, ending in (("sklearn", "py"), ("weka", "cost"), ("mlr3", "R"), ("csv", "csv"), ("markdown", "md")):
        elicit("metric", "export", wine_metric, "--out", f"m.{ending}")
        assert (tmp_path / f"m.{ending}").read_text() == elicit("metric", "export", wine_metric, "--format", name)
    assert elicit("metric", "export", wine_metric) == (tmp_path / "m.py").read_text()


def test_help_imports_nothing_heavy():
    script = """
import sys
sys.argv = ["elicit", "--help"]
from elicit_app.cli.main import run
try:
    run()
finally:
    print([name for name in ("numpy", "polars", "PySide6", "sklearn", "pydantic") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_interrupt_ends_quietly(tmp_path, wine_metric):
    path = tmp_path / "slow.csv"
    os.mkfifo(path)
    command = [sys.executable, "-c", "from elicit_app.cli.main import run; run()", "score", str(wine_metric), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        with path.open("w"):  # returns when the command has begun to read
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130
        assert process.stdout.read() + process.stderr.read() == ""


PROGRESS = """
import time
from elicit_app.cli.progress import progress
with progress("Scoring", 3) as advance:
    for _ in range(3):
        time.sleep(0.6)
        advance(1)
"""


def test_a_progress_bar_appears_after_a_second_and_only_on_a_terminal():
    piped = subprocess.run([sys.executable, "-c", PROGRESS], capture_output=True, text=True, check=True)
    assert piped.stdout + piped.stderr == ""
    terminal, inside = os.openpty()
    shown = subprocess.run([sys.executable, "-c", PROGRESS], stdout=subprocess.PIPE, stderr=inside, check=True)
    os.close(inside)
    assert shown.stdout == b""
    assert b"Scoring" in os.read(terminal, 10_000)
    os.close(terminal)
