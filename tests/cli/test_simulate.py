"""`elicit simulate` from the command line: figures, files, and what is said about wrong usage."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from elicit_app.cli.main import app
from elicit_app.problem import Problem
from metrics import ElicitedMetric


def run(*arguments: str):
    return CliRunner().invoke(app, ["simulate", *arguments])


def ran(*arguments: str) -> dict:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("arguments", "questions"),
    [
        (("softmax-3", "--procedure", "dlpm", "--weights", ".23,.15,.62"), 56),
        (("softmax-4", "--procedure", "dlpm", "--weights", ".58,.17,.08,.18"), 84),
        (("paper-3", "--procedure", "lpm", "--weights", "-.80,-.55,-.18,-.08,-.14,-.05"), 320),
        (
            (
                "paper-4",
                "--procedure",
                "lpm",
                "--weights",
                "-.90,-.28,-.10,-.31,-.04,-.05,-.03,-.04,-.02,-.01,-.01,-.01",
            ),
            704,
        ),
    ],
)
def test_rows_of_the_published_tables(arguments, questions):
    found = ran(*arguments, "--ask", "all")
    (simulated,) = found["runs"]
    assert simulated["questions"] == questions
    assert simulated["error_linf"] < 0.015
    assert all(bound is None for bound in simulated["bounded"])
    cycles = ("--cycles", "2") if found["procedure"] == "lpm" else ()
    (needed,) = ran(*arguments, "--ask", "needed", *cycles)["runs"]
    assert needed["elicited_weights"] == simulated["elicited_weights"]
    assert needed["questions"] <= questions / 2


def test_the_object_that_is_printed():
    found = ran("wine", "--procedure", "dlpm", "--runs", "3", "--seed", "7", "--noise", "flip:0.1", "--votes", "3")
    assert (found["study"], found["procedure"], found["family"], found["space"]) == ("wine", "dlpm", "dlpm", "frontier")
    assert len(found["classes"]) == 3
    assert len(found["runs"]) == found["summary"]["runs"] == 3
    assert all(one["questions"] % 3 == 0 for one in found["runs"])
    again = ran("wine", "--procedure", "dlpm", "--runs", "3", "--seed", "7", "--noise", "flip:0.1", "--votes", "3")
    for one, other in zip(found["runs"], again["runs"], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_bayes_takes_its_own_options():
    found = ran(
        "wine", "--questions", "4", "--max-cells", "4", "--strength", "--noise", "logit:0.8", "--truth", "structured"
    )
    assert (found["procedure"], found["family"], found["space"]) == ("bayes", "lpm", "frontier")
    assert found["runs"][0]["stopped"] == "budget"
    assert found["runs"][0]["questions"] == 4
    on_the_sphere = ran("softmax-3", "--questions", "3", "--space", "sphere", "--radius", "0.02")
    assert on_the_sphere["space"] == "sphere"


def test_people_read_a_table():
    one = run("softmax-3", "--procedure", "dlpm", "--ask", "all", "--weights", ".21,.59,.20")
    assert one.exit_code == 0
    assert "0.5908" in one.stdout
    assert "56 questions, stopped: tolerance" in one.stdout
    bounded = run("paper-3", "--procedure", "dlpm", "--weights", ".23,.15,.62")
    assert "is only known within bounds: at most 0.751 times as much" in bounded.stdout
    many = run("wine", "--procedure", "lpm", "--cycles", "1", "--epsilon", "0.1", "--runs", "3")
    assert "3 simulated experts" in many.stdout
    assert "cycles 3" in many.stdout


@pytest.mark.parametrize(
    "how",
    [("--procedure", "dlpm", "--weights", "1,2,3"), ("--questions", "6"), ("--family", "dlpm", "--questions", "4")],
)
def test_the_metric_file_has_the_weights_that_are_printed(tmp_path, how):
    path = tmp_path / "wine.metric.json"
    result = run("wine", *how, "--out", str(path), "--json")
    assert result.exit_code == 0, result.output
    simulated = json.loads(result.stdout)["runs"][0]
    assert list(ElicitedMetric.load(path).weights) == pytest.approx(simulated["elicited_weights"])
    assert str(path) in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("softmax-3", "--procedure", "dlpm", "--family", "lpm"), "dlpm only"),
        (("softmax-3", "--procedure", "lpm", "--space", "frontier"), "sphere only"),
        (("softmax-3", "--space", "sphere", "--family", "dlpm"), "--family can only be lpm"),
        (("softmax-3", "--space", "sphere", "--max-cells", "4"), "--max-cells applies to the frontier"),
        (("softmax-3", "--procedure", "dlpm", "--weights", "-1,1,1"), "wrong sign"),
        (("softmax-3", "--procedure", "lpm", "--weights", "1,1,1,1,1,1"), "wrong sign"),
        (("softmax-3", "--procedure", "dlpm", "--weights", "1,2"), "has 3 weights"),
        (("softmax-3", "--procedure", "dlpm", "--weights", "1,x,2"), "numbers separated by commas"),
        (("softmax-3", "--procedure", "dlpm", "--noise", "loud"), "--noise loud"),
        (("softmax-3", "--procedure", "lpm", "--cycles", "often"), "a number or auto"),
        (("softmax-3", "--procedure", "dlpm", "--epsilon", "2"), "--epsilon"),
        (("softmax-3", "--procedure", "dlpm", "--runs", "0"), "--runs"),
        (("softmax-3", "--procedure", "dlpm", "--runs", "2", "--out", "x"), "needs --runs 1"),
        (("softmax-3", "--procedure", "dlfpm", "--out", "x"), "no cost matrix"),
        (("softmax-3", "--procedure", "guess"), "--procedure"),
    ],
)
def test_wrong_usage_exits_2_in_words(arguments, says):
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output


def test_of_many_weights_only_the_largest_are_listed(tmp_path):
    names = [f"k{at}" for at in range(11)]
    rows = [f"{name},{','.join('0.9' if one == name else '0.01' for one in names)}" for name in names * 3]
    path = tmp_path / "many.csv"
    path.write_text("\n".join([f"y_true,{','.join(f'proba_{name}' for name in names)}", *rows]))
    shown = run(str(path), "--questions", "1").stdout
    assert shown.count(" → k") == 90
    assert "90 of 110 mistakes, the gravest; --json has them all." in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere", "--procedure", "dlpm"), "no study"),
        (("wine", "--procedure", "dlpm", "--model", "nobody"), "no model"),
        (("softmax-3", "--procedure", "lpm", "--radius", "0.5"), "leaves the feasible"),
    ],
)
def test_what_cannot_be_done_is_a_problem(arguments, says):
    result = run(*arguments)
    assert isinstance(result.exception, Problem)
    assert says in str(result.exception)


def test_where_the_metric_goes_is_looked_at_before_the_experts_are_asked(tmp_path):
    result = run("wine", "--procedure", "dlpm", "--out", str(tmp_path))
    assert isinstance(result.exception, Problem)
    assert result.exception.sentence == f"{tmp_path} is a folder: name a file in it."
    assert result.stdout == ""


def test_fields_of_a_run_come_in_the_stated_order():
    (simulated,) = ran("softmax-3", "--procedure", "dlpm", "--epsilon", "0.1")["runs"]
    assert list(simulated) == [
        *("true_weights", "elicited_weights", "bounded", "questions", "stopped"),
        *("error_l1", "error_l2", "error_linf", "agreement", "regret", "seconds"),
        *("intervals", "range_factor", "covered", "effective_draws", "linear", "asked"),
    ]
    assert simulated["intervals"] is None, "a search has no draws"


def test_what_a_belief_cannot_tell_is_wide_and_not_a_point():
    (simulated,) = ran("digits", "--questions", "2", "--seed", "3")["runs"]
    ends = simulated["intervals"]
    assert len(ends) == 90
    assert all(low <= weight <= high for (low, high), weight in zip(ends, simulated["elicited_weights"], strict=True))
    assert sum(abs(low) > 10 * abs(high) for low, high in ends) > 80, "two answers tell little about ninety"
    shown = run("breast-cancer", "--questions", "2").stdout
    assert "plausible (90 %)" in shown
    assert "malignant → benign" in shown, "two classes have two mistakes: the family says which words are right"


def test_why_it_stopped_is_said_with_its_number():
    stopped = " ".join(run("breast-cancer", "--stop", "--seed", "1").stdout.split())
    assert "stopped: known (every weight within a factor of 2, compared with the largest)" in stopped


def test_stated_orders():
    texts = ("--never-worse", "malignant:benign<=benign:malignant", "--questions", "3", "--runs", "2")
    for simulated in ran("breast-cancer", *texts)["runs"]:
        for weights in (simulated["true_weights"], simulated["elicited_weights"]):
            assert abs(weights[0]) <= abs(weights[1])


def test_an_order_of_the_classes_is_kept_by_random_experts_and_what_is_elicited():
    texts = ("--ordered", "Barbera,Barolo,Grignolino", "--questions", "3", "--runs", "2")
    for simulated in ran("wine", *texts)["runs"]:
        for weights in (simulated["true_weights"], simulated["elicited_weights"]):
            sizes = np.abs(weights)  # of Barolo as Grignolino and Barbera, and so on
            assert sizes[4] <= sizes[5]
            assert sizes[2] <= sizes[3]
            assert sizes[1] <= sizes[3]
            assert sizes[0] <= sizes[5]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--never-worse", "malignant:wart<=benign:malignant"), "states no order"),
        (("--never-worse", "malignant<=benign"), "leaves open"),
        (
            ("--never-worse", "malignant<=benign", "--procedure", "dlpm"),
            "The procedure dlpm has no option --never-worse",
        ),
        (("--ordered", "malignant,benign"), "at least three classes"),
        (("--never-worse", "malignant<=benign", "--family", "dlpm", "--weights", ".9,.1"), "violate the stated order"),
    ],
)
def test_orders_that_make_no_sense_are_wrong_usage(arguments, says):
    result = run("breast-cancer", *arguments)
    assert result.exit_code == 2
    assert says in " ".join(result.output.replace("│", " ").split())


def test_a_sweep_of_one_run_has_a_mean_and_no_error(elicit, tmp_path):
    (tmp_path / "one.toml").write_text('study = "wine"\nprocedure = "dlpm"\nquestions = 2\n', encoding="utf-8")
    found = elicit("sweep", "one.toml", "--out", "one.parquet", "--jobs", "1", cwd=tmp_path)
    assert "nan" not in found.stdout
    assert "1 run of 1 combination." in found.stderr
