"""DLPM: the published table, the same result with fewer questions, bounds, and what wrong answers do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.oracles import FlipOracle, LinearOracle, run
from elicit_app.elicitation.procedures.dlpm import Dlpm, RestrictedFrontier, ratio_bounds
from elicit_app.elicitation.questions import Choice
from metrics.elicited.family import DLPM

TABLE_2 = [
    ("softmax-3", (0.21, 0.59, 0.20), 56, (0.2094, 0.5908, 0.1998)),
    ("softmax-3", (0.23, 0.15, 0.62), 56, (0.2293, 0.1494, 0.6213)),
    ("softmax-4", (0.22, 0.13, 0.14, 0.52), 84, (0.2174, 0.1283, 0.1394, 0.5149)),
    ("softmax-4", (0.58, 0.17, 0.08, 0.18), 84, (0.5735, 0.1680, 0.0790, 0.1794)),
    ("paper-3", (0.21, 0.59, 0.20), 56, (0.2094, 0.5908, 0.1998)),
]


def expert(weights) -> LinearOracle:
    return LinearOracle(DLPM.weight_matrix(weights))


@pytest.mark.parametrize(("name", "row", "questions", "elicited"), TABLE_2)
def test_table_2(eta_of, name, row, questions, elicited):
    truth, cases = DLPM.normalise(row), Cases.exact(eta_of(name))
    outcome, asked = run(Dlpm(cases, ask="all"), expert(truth))
    assert outcome.questions == len(asked) == questions
    assert np.abs(outcome.weights - truth).max() < 0.015
    np.testing.assert_allclose(outcome.weights, elicited, atol=6e-5)
    assert outcome.stopped == "tolerance"
    assert outcome.bounded == (None,) * len(row)
    needed, fewer = run(Dlpm(cases, ask="needed"), expert(truth))
    np.testing.assert_array_equal(needed.weights, outcome.weights)
    assert len(fewer) <= questions // 2


@pytest.mark.parametrize("name", ["softmax-3", "softmax-4", "paper-3", "paper-4"])
def test_needed_is_all_in_at_most_half_the_questions_for_random_metrics(eta_of, name):
    # The frontiers of the paper's distributions are flat over most of their length: ties are the rule there.
    cases, rng = Cases.exact(eta_of(name)), np.random.default_rng(2019)
    everything, needed = Dlpm(cases, ask="all"), Dlpm(cases, ask="needed")
    for _ in range(40):
        oracle = expert(rng.dirichlet(np.ones(cases.n_classes)))
        full, asked = run(everything, oracle)
        short, fewer = run(needed, oracle)
        np.testing.assert_array_equal(short.weights, full.weights)
        assert 2 * len(fewer) <= len(asked)


@pytest.mark.parametrize(("name", "share", "error"), [("softmax-3", 0.97, 0.015), ("softmax-4", 0.93, 0.015)])
def test_random_metrics_come_out(eta_of, name, share, error):
    # Class 1 is the reference of every ratio: where it weighs next to nothing, all weights suffer.
    cases, rng = Cases.exact(eta_of(name)), np.random.default_rng(7)
    procedure, errors = Dlpm(cases), []
    for _ in range(200):
        truth = rng.dirichlet(np.ones(cases.n_classes))
        outcome, _ = run(procedure, expert(truth))
        errors.append(np.abs(outcome.weights - truth).max())
    assert np.mean(np.array(errors) <= error) >= share


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["paper-3", "paper-4"]))
def test_a_bound_holds_the_truth_and_says_when_nothing_more_can_be_told(eta_of, seed, name):
    cases = Cases.exact(eta_of(name))
    truth = np.random.default_rng(seed).dirichlet(np.ones(cases.n_classes))
    procedure = Dlpm(cases)
    outcome, _ = run(procedure, expert(truth))
    reach = {i: (procedure.flat_range(i, 0.0)[1], procedure.flat_range(i, 1.0)[0]) for i in procedure.frontiers}
    best = {i: truth[0] / (truth[0] + truth[i]) for i in procedure.frontiers}
    if all(low + 0.01 < best[i] < high - 0.01 for i, (low, high) in reach.items()):
        assert outcome.bounded == (None,) * cases.n_classes
    elif any(best[i] < low - 0.01 or best[i] > high + 0.01 for i, (low, high) in reach.items()):
        assert outcome.stopped == "bounded"
        assert outcome.notes
        for weight, (low, high) in zip(truth, outcome.bounded, strict=True):
            assert low - 1e-9 <= weight <= high + 1e-9


def test_a_bounded_ratio_is_said_in_words(eta_of):
    cases = Cases.exact(eta_of("paper-3"))
    outcome, _ = run(Dlpm(cases, names=("cats", "dogs", "birds")), expert([0.23, 0.15, 0.62]))
    assert outcome.stopped == "bounded"
    assert outcome.notes == (
        "How much dogs count compared with cats is only known within bounds: at most 0.751 times as much. "
        "No decision of this model between the two reveals more.",
    )


def test_what_a_third_class_reveals_is_not_denied():
    # The first class is never confused with the third, but both are with the second.
    share, none = np.linspace(0.01, 0.99, 99), np.zeros(99)
    cases = Cases.exact(
        np.vstack([np.column_stack([share, 1 - share, none]), np.column_stack([none, share, 1 - share])])
    )
    outcome, _ = run(Dlpm(cases), expert([0.5, 0.3, 0.2]))
    assert RestrictedFrontier(cases, 1, 2).flat_range(0.5) != (0.0, 1.0)
    (note,) = outcome.notes
    assert "any number of times as much. No decision of this model between the two reveals more." in note


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_what_people_are_shown_is_coarse_and_the_range_still_holds_the_truth(seed, rounded, flattered):
    # Counts of few cases are steps: algorithm 1 sticks on them, and says how much it leaves open.
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(3, 0.5), 60)
    y_true = np.append([0, 1, 2], [rng.choice(3, p=row) for row in proba[3:]])
    cases = Cases.plug_in(proba) if flattered else Cases.counted(y_true, proba)
    truth = rng.dirichlet(np.ones(3))
    outcome, _ = run(Dlpm(cases, population=100 if rounded else None), expert(truth))
    for weight, estimate, bound in zip(truth, outcome.weights, outcome.bounded, strict=True):
        if bound is None:
            continue
        assert bound[0] - 1e-9 <= weight <= bound[1] + 1e-9
        if rounded:  # to people: what is told agrees with their own answers
            assert bound[0] - 1e-9 <= estimate <= bound[1] + 1e-9
    if any(outcome.bounded):
        costs = truth / truth[outcome.weights.argmax()]
        for i, j in ((0, 1), (1, 0), (2, 0)):
            low, high = outcome.intervals[i, j]
            assert low - 1e-9 <= costs[i] <= high + 1e-9


def test_ratio_bounds():
    assert ratio_bounds((0.0, 0.2)) == (4.0, np.inf)
    assert ratio_bounds((0.5, 1.0)) == (0.0, 1.0)
    assert ratio_bounds((0.0, 1.0)) == (0.0, np.inf)


@pytest.mark.parametrize(("repair", "mean"), [(False, 0.093), (True, 0.047)])
def test_what_one_wrong_answer_in_ten_does(eta_of, repair, mean):
    # Mean max-norm error of the published 56 questions, truths Dirichlet(2): our simulation of 400 draws.
    cases, errors = Cases.exact(eta_of("softmax-3")), []
    procedure = Dlpm(cases, ask="all", repair=repair)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truth = rng.dirichlet(np.full(3, 2.0))
        outcome, _ = run(procedure, FlipOracle(expert(truth), 0.1, rng))
        errors.append(np.abs(outcome.weights - truth).max())
    assert np.mean(errors) == pytest.approx(mean, rel=0.3)


@pytest.mark.parametrize("ask", ["all", "needed"])
def test_people_are_shown_whole_cases_and_never_two_identical_matrices(ask):
    rng = np.random.default_rng(3)
    proba = rng.dirichlet(np.full(3, 0.4), 120)
    cases = Cases.counted(np.append([0, 1, 2], rng.integers(0, 3, 117)), proba)
    for weights in rng.dirichlet(np.ones(3), 20):
        _, asked = run(Dlpm(cases, population=100, ask=ask), expert(weights))
        for question, answer in asked:
            assert question.population == 100
            for matrix in question.rates:
                np.testing.assert_allclose(matrix * 100, np.rint(matrix * 100), atol=1e-9)
                np.testing.assert_allclose(matrix.sum(axis=1), asked[0].question.rates[0].sum(axis=1), atol=1e-12)
            assert not np.array_equal(question.first, question.second)
            assert answer.choice in Choice


def test_a_cap_stops_the_search(eta_of):
    outcome, asked = run(Dlpm(Cases.exact(eta_of("softmax-3")), questions=5), expert([0.2, 0.3, 0.5]))
    assert outcome.stopped == "budget"
    assert outcome.questions == len(asked) == 5
