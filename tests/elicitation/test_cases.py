"""Laws of counting: whatever decides, the row sums are the prevalence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation import cases
from elicit_app.elicitation.cases import Cases, Tally
from elicit_app.problem import Problem


def drawn(seed: int, n: int = 40, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(k), n)
    truth = np.array([rng.choice(k, p=row) for row in proba])
    truth[:k] = np.arange(k)
    return truth, proba


def literal_least_cost(cases: Cases, cost: np.ndarray) -> np.ndarray:
    k = cases.n_classes
    matrix = np.zeros((k, k))
    for eta, outcome, weight in zip(cases.eta, cases.outcome, cases.weight, strict=True):
        expected = [sum(eta[i] * cost[i, j] for i in range(k)) for j in range(k)]
        matrix[:, expected.index(min(expected))] += weight * outcome
    return matrix


@given(st.integers(0, 10**6), st.sampled_from(["counted", "plug-in"]), st.booleans())
def test_least_cost_is_the_literal_rule_and_keeps_the_row_sums(seed, kind, stated):
    truth, proba = drawn(seed)
    prevalence = (0.2, 0.5, 0.3) if stated else None
    cases = Cases.counted(truth, proba, prevalence) if kind == "counted" else Cases.plug_in(proba, prevalence)
    cost = np.exp(np.random.default_rng(seed).normal(size=(3, 3)))
    np.fill_diagonal(cost, 0)
    matrix = cases.least_cost(cost)
    np.testing.assert_allclose(matrix, literal_least_cost(cases, cost), atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), cases.prevalence, atol=1e-12)
    if stated:
        np.testing.assert_allclose(cases.prevalence, prevalence, atol=1e-12)
    assert cases.weight.sum() == pytest.approx(1)


def test_rows_are_true_classes_and_columns_predicted():
    cases = Cases.counted([0, 0, 0, 1], np.full((4, 2), 0.5))
    np.testing.assert_array_equal(cases.confusion(np.array([0, 1, 1, 1])), [[0.25, 0.5], [0, 0.25]])


def test_ties_go_to_the_lower_class():
    cases = Cases.plug_in([[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_array_equal(cases.decide([[0, 1], [1, 0]]), [0, 0])


@given(st.integers(0, 10**6))
def test_a_stated_prevalence_corrects_the_probabilities_that_decide(seed):
    # Under the new prior the best decision weighs eta_i by stated_i / found_i, so scaling the cost rows is the same.
    truth, proba = drawn(seed)
    stated = np.array([0.7, 0.1, 0.2])
    found = np.bincount(truth, minlength=3) / len(truth)
    cost = np.exp(np.random.default_rng(seed).normal(size=(3, 3)))
    scaled = cost * (stated / found)[:, None]
    plain, moved = Cases.counted(truth, proba), Cases.counted(truth, proba, tuple(stated))
    np.testing.assert_array_equal(moved.decide(cost), plain.decide(scaled))


def test_the_model_decides_as_it_does_whatever_prevalence_is_stated():
    truth, proba = drawn(6)
    stated = np.array([0.9, 0.05, 0.05])
    counts = np.zeros((3, 3), dtype=np.int64)
    np.add.at(counts, (truth, proba.argmax(axis=1)), 1)
    packed = Tally(counts, np.zeros((0, 3, 3), dtype=np.int64), np.zeros(0, dtype=np.int64), tuple(stated))
    np.testing.assert_allclose(Cases.counted(truth, proba, tuple(stated)).usual(), packed.usual(), atol=1e-12)


def test_counting_cases_of_equal_weight_is_exact():
    truth, proba = drawn(5, n=997)
    counts = Cases.counted(truth, proba).least_cost(1 - np.eye(3)) * 997
    np.testing.assert_array_equal(counts, np.rint(counts))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Cases.counted([0, 0], [[0.5, 0.5], [0.2, 0.8]], (0.5, 0.5)), "but no case"),
        (lambda: Cases.plug_in([[0.5, 0.5]], (0.5, 0.3, 0.2)), "one number >= 0 for each"),
        (lambda: Cases.plug_in([[1.0]]), "at least 2 classes"),
        (lambda: Cases.plug_in([[0.5, 0.5]], (0.5, -0.3)), "one number >= 0 for each"),
    ],
)
def test_bad_cases_are_refused_in_words(build, says):
    with pytest.raises(Problem, match=says):
        build()


@pytest.mark.parametrize("k", [6, 12])
def test_decisions_are_those_of_sums_in_order_however_close(k):
    rng = np.random.default_rng(k)
    cases = Cases.counted(rng.integers(k, size=400), np.round(rng.dirichlet(np.full(k, 0.3), 400), 1))
    for cost in (rng.integers(0, 3, (k, k)) / 10, np.exp(3 * rng.standard_normal((k, k))), 1.0 - np.eye(k)):
        expected = np.zeros((400, k))
        for i in range(k):
            expected += cases.eta[:, [i]] * cost[i]
        np.testing.assert_array_equal(cases.decide(cost), expected.argmin(axis=1))


class TestVeryManyCases:
    """Policies are compared by some of them, between questions."""

    COSTS = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [40.0, 20.0, 0.0]])

    TRUTH = np.random.default_rng(0).choice(3, 100_000, p=(0.8985, 0.1, 0.0015))

    def proba(self, skill):
        logits = np.random.default_rng(round(10 * skill)).standard_normal((len(self.TRUTH), 3))
        logits[np.arange(len(self.TRUTH)), self.TRUTH] += skill
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    @pytest.mark.parametrize("stated", [None, (0.5, 0.3, 0.2)])
    @pytest.mark.parametrize("sureness", [1, 3])
    def test_they_are_as_all_of_them(self, stated, sureness, monkeypatch):
        proba = self.proba(2.0) ** sureness
        proba /= proba.sum(axis=1, keepdims=True)
        people = np.arange(len(proba)) // 2
        some = np.array(Cases.counted(self.TRUTH, proba, stated, people).policies(self.COSTS))
        monkeypatch.setattr(cases, "_MOST_COMPARED", len(proba))
        every = np.array(Cases.counted(self.TRUTH, proba, stated, people).policies(self.COSTS))
        np.testing.assert_allclose(some.sum(axis=2), every.sum(axis=2), atol=1e-12)
        np.testing.assert_allclose(some, every, atol=0.02)
        np.testing.assert_allclose(some[:, 2], every[:, 2], atol=1e-12)  # none of 150 rare cases is left out
        costs = (some * self.COSTS).sum(axis=(1, 2)), (every * self.COSTS).sum(axis=(1, 2))
        np.testing.assert_array_equal(*(cost.argsort() for cost in costs))

    def test_each_model_is_compared_by_the_same_cases(self):
        # A model that is right wherever another is wrong, which samples of their own would not show.
        first = self.proba(1.0)
        second = np.eye(3)[np.where(first.argmax(axis=1) == self.TRUTH, (self.TRUTH + 1) % 3, self.TRUTH)]
        one, other = (Cases.counted(self.TRUTH, proba).policies(self.COSTS)[0] for proba in (first, second))
        assert np.trace(one) + np.trace(other) == pytest.approx(1, abs=1e-9)
