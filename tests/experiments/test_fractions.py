"""Truths that are fractions, or monotone functions of the hits: what may be stated, and what is elicited of them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from elicit_app.cli.main import app
from elicit_app.elicitation.questions import Family
from elicit_app.experiments.people import Person
from elicit_app.experiments.truths import Metric, random_fraction, stated_fraction
from elicit_app.problem import WrongOption

PREVALENCE = np.array([0.5, 0.3, 0.2])


def matrices(rng, n=200):
    return rng.dirichlet([0.7, 0.5, 0.9], (n, 3)) * PREVALENCE[:, None]


@given(st.integers(0, 10**6), st.sampled_from(["dlfpm", "lfpm"]))
def test_random_fractions_may_be_stated_and_are_monotone(seed, family: Family):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3)) if family == "dlfpm" else -rng.dirichlet(np.ones(6))
    drawn = random_fraction(family, p, PREVALENCE, rng)
    stated = stated_fraction(family, p, [*drawn.q, drawn.q0], PREVALENCE)
    metric = Metric.fractional(stated, p)
    some = matrices(rng)
    values = metric(some)
    assert (np.abs(values) <= 1 + 1e-12).all()
    better = some.copy()  # a tenth of one kind of error becomes hits
    better[:, 2, 2] += 0.1 * better[:, 2, 0]
    better[:, 2, 0] *= 0.9
    assert (metric(better) >= values - 1e-12).all()


@pytest.mark.parametrize(
    ("denominator", "sentence"),
    [
        ([0.1, 0.2], "has 2 numbers; 3, one for each weight"),
        ([-3.0, 0.0, 0.0], "is not above 0 for every confusion matrix"),
        ([0.0, 0.0, 40.0], "falls with a hit for some"),
        ([0.0, np.nan, 0.0], "must be finite"),
    ],
)
def test_what_is_no_monotone_fraction(denominator, sentence):
    with pytest.raises(WrongOption, match=sentence):
        stated_fraction("dlfpm", np.array([0.5, 0.3, 0.2]), denominator, PREVALENCE)


def test_monotone_means_by_hand():
    weights, right = np.array([0.5, 0.25, 0.25]), np.array([0.81, 0.64, 0.25])
    matrix = np.diag(right * PREVALENCE)
    matrix[[0, 1, 2], [1, 2, 0]] = (1 - right) * PREVALENCE
    linear = Metric.linear(weights, "dlpm")
    found = {name: Person.of_psi(name).values(linear, 1000)(matrix) for name in ("gmean", "hmean", "qmean")}
    assert found["gmean"] == pytest.approx(0.9 * np.sqrt(0.8 * 0.5))
    assert found["hmean"] == pytest.approx(1 / (0.5 / 0.81 + 0.25 / 0.64 + 0.25 / 0.25))
    assert found["qmean"] == pytest.approx(1 - np.sqrt(0.5 * 0.19**2 + 0.25 * 0.36**2 + 0.25 * 0.75**2))


@pytest.mark.parametrize(("name", "mean"), [("gmean", 0.72), ("hmean", 2 / (1 / 0.81 + 1 / 0.64))])
def test_a_class_without_weight_does_not_count_in_a_mean(name, mean):
    matrix = np.diag([0.81, 0.64, 0.0])  # the third class is never recognised
    matrix[[0, 1, 2], [1, 2, 0]] = 1 - np.diagonal(matrix)
    values = Person.of_psi(name).values(Metric.linear(np.array([0.5, 0.5, 0.0]), "dlpm"), 1000)
    assert values(matrix / 3) == pytest.approx(mean)


def simulated(*arguments):
    result = CliRunner().invoke(app, ["simulate", *arguments, "--json"], catch_exceptions=False)
    return result.exit_code, result.exit_code or json.loads(result.stdout)


def test_a_stated_fraction_is_elicited():
    weights, denominator = "-.5,-.2,-.3,-.1,-.6,-.2", ".1,.1,.1,.2,.2,.1,.8"
    _, found = simulated("wine", "--procedure", "lfpm", f"--weights={weights}", "--denominator", denominator)
    assert found["denominator"] == [0.1, 0.1, 0.1, 0.2, 0.2, 0.1, 0.8]
    assert found["runs"][0]["error_linf"] < 0.02
    assert found["runs"][0]["agreement"] > 0.99


def test_a_linear_search_is_no_search_for_a_fraction():
    both = [
        simulated("wine", "--procedure", name, "--denominator", "random", "--seed", "3")[1]["runs"][0]
        for name in ("lpm", "lfpm")
    ]
    assert both[0]["true_weights"] == both[1]["true_weights"]
    assert both[0]["error_l2"] > 5 * both[1]["error_l2"]


def test_psi_goes_with_hits_only():
    assert simulated("wine", "--psi", "gmean")[0] == 2
    assert simulated("wine", "--psi", "qmean", "--procedure", "dlpm")[0] == 0
