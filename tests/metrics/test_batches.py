"""Batches: merging gives the whole to 1e-12, in any order and grouping, after pickling."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.batches import OnePass
from metrics.errors import InputError
from metrics.measures.calibration import CalibrationBins, TopLabelCalibration
from metrics.measures.concern import ConcernScore, meta_pattern_concern_score, release_matrix
from metrics.measures.confusion import ConfusionCounts, ErrorCounts
from metrics.measures.costs import DecisionCounts, ExpectedCost, LeastCost, MisclassificationCost
from metrics.measures.likelihood import Coverage, GaussianLikelihood, LogLikelihood, SquaredError
from metrics.measures.multilabel import MultilabelTally
from metrics.measures.relevance import OutcomeFrequencies, Relevance

K = 4
COSTS = np.array([[0.0, 1, 2, 9], [3, 0, 1, 1], [1, 5, 0, 2], [7, 1, 1, 0]])
FACTORS = release_matrix([(0, 1), (3, 1, 2)], 0.3, K)


def of_probabilities():
    return {
        "decisions": DecisionCounts(K),
        "least cost": DecisionCounts(K, LeastCost(COSTS, K)),
        "expected": ExpectedCost(K, cost_matrix=COSTS),
        "concern": ConcernScore(K, top_k=3, release_factors=FACTORS, class_weight=[1, 2, 3, 4]),
        "likelihood": LogLikelihood(K, class_weight=[4, 3, 2, 1]),
        "squared": SquaredError(K),
        "calibration": TopLabelCalibration(K, n_bins=7),
    }


def of_labels():
    return {
        "confusion": ConfusionCounts(K),
        "errors": ErrorCounts(K),
        "cost": MisclassificationCost(K, cost_matrix=COSTS),
    }


def cases(seed, n):
    rng = np.random.default_rng(seed)
    return rng.integers(0, K, n), rng.dirichlet(np.ones(K), n), rng.integers(0, K, n), rng.random(n) + 0.01


def number(result):
    return np.asarray(result, dtype=float)


@given(st.integers(0, 999), st.integers(2, 60), st.data())
def test_merged_batches_are_the_whole(seed, n, data):
    y, proba, predicted, weight = cases(seed, n)
    cut = data.draw(st.integers(1, n - 1))
    weighted = data.draw(st.booleans())
    for name, whole in (of_probabilities() | of_labels()).items():
        second = proba if name in of_probabilities() else predicted
        parts = whole.fresh(), whole.fresh()
        for part, rows in zip(parts, (slice(0, cut), slice(cut, n)), strict=True):
            part.update(y[rows], second[rows], sample_weight=weight[rows] if weighted else None)
        whole.update(y, second, sample_weight=weight if weighted else None)
        merged = parts[0].merge(parts[1]).result()
        np.testing.assert_allclose(number(merged), number(whole.result()), rtol=1e-12, atol=1e-12, err_msg=name)
        assert getattr(merged, "dtype", None) == getattr(whole.result(), "dtype", None)


@given(st.integers(0, 999), st.permutations(range(5)))
def test_order_and_grouping_of_merges_change_nothing(seed, order):
    y, proba, predicted, weight = cases(seed, 50)
    for name, empty in (of_probabilities() | of_labels()).items():
        second = proba if name in of_probabilities() else predicted
        tens = [slice(10 * i, 10 * i + 10) for i in range(5)]
        parts = [empty.fresh().update(y[rows], second[rows], sample_weight=weight[rows]) for rows in tens]
        one_by_one = empty.fresh()
        for part in parts:
            one_by_one.merge(part)
        first, *others = (parts[i] for i in order)
        left = first.merge(others[0])
        right = others[1].merge(others[2].merge(others[3]))
        merged, whole = number(left.merge(right).result()), number(one_by_one.result())
        np.testing.assert_allclose(merged, whole, rtol=1e-12, err_msg=name)


def test_one_pass_gives_what_each_alone_gives():
    y, proba, _, weight = cases(5, 3000)
    parts = {name.replace(" ", "_"): part for name, part in of_probabilities().items()}
    together = OnePass(**{name: part.fresh() for name, part in parts.items()})
    together.update(y, proba, sample_weight=weight)
    for name, part in parts.items():
        alone = part.update(y, proba, sample_weight=weight).result()
        np.testing.assert_array_equal(number(together[name].result()), number(alone), err_msg=name)
    assert set(together.result()) == set(parts)


def test_neither_the_order_in_memory_nor_a_second_look_changes_a_result():
    y, proba, _, _ = cases(10, 20_000)
    turned = np.asfortranarray(proba)
    turned.flags.writeable = False
    for part in of_probabilities().values():
        whole = OnePass(part=part.fresh()).update(y, proba).result()["part"]
        for check_input in (True, False):
            by_column = OnePass(part=part.fresh()).update(y, turned, check_input=check_input).result()["part"]
            np.testing.assert_allclose(number(by_column), number(whole), rtol=1e-13)
    np.testing.assert_array_equal(turned, proba)


def test_passes_are_merged_by_name():
    y, proba, _, _ = cases(6, 100)
    one, two = (OnePass(cost=ExpectedCost(K, cost_matrix=COSTS), nll=LogLikelihood(K)) for _ in range(2))
    one.update(y[:40], proba[:40])
    two.update(y[40:], proba[40:])
    whole = LogLikelihood(K).update(y, proba).result()
    assert one.merge(two)["nll"].result() == pytest.approx(whole, abs=1e-14)
    with pytest.raises(ValueError, match="different accumulators"):
        one.merge(OnePass(nll=LogLikelihood(K)))
    with pytest.raises(ValueError, match="same classes"):
        OnePass(a=LogLikelihood(3), b=LogLikelihood(4))
    with pytest.raises(ValueError, match="at least one"):
        OnePass()


def test_a_refused_batch_leaves_nothing_behind():
    y, proba, _, _ = cases(7, 50_000)
    bad = proba.copy()
    bad[-1] = 2
    for name, part in of_probabilities().items():
        part.update(y, proba)
        before = number(part.result())
        with pytest.raises(ValueError, match="row 49999"):
            part.update(y, bad)
        np.testing.assert_array_equal(number(part.result()), before, err_msg=name)


def test_accumulators_can_be_sent_to_other_processes():
    y, proba, predicted, _ = cases(9, 200)
    for name, part in (of_probabilities() | of_labels()).items():
        second = proba if name in of_probabilities() else predicted
        part.update(y[:90], second[:90])
        sent = pickle.loads(pickle.dumps(part)).update(y[90:], second[90:])
        part.update(y[90:], second[90:])
        np.testing.assert_array_equal(number(sent.result()), number(part.result()), err_msg=name)
    together = pickle.loads(pickle.dumps(OnePass(nll=LogLikelihood(K)).update(y, proba)))
    assert together["nll"].result() == LogLikelihood(K).update(y, proba).result()


@pytest.mark.parametrize("name", [*of_probabilities(), *of_labels()])
def test_nothing_seen_has_no_mean(name):
    part = (of_probabilities() | of_labels())[name]
    if name in ("decisions", "least cost", "confusion"):
        assert not part.result().any()
    else:
        with pytest.raises(ValueError, match="no case with a weight above zero"):
            part.result()


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (LogLikelihood(3), LogLikelihood(4), "different classes"),
        (LogLikelihood(3), LogLikelihood(3, class_weight=[1, 2, 3]), "different class_weight"),
        (DecisionCounts(K), DecisionCounts(K, LeastCost(COSTS, K)), "different cost_matrix"),
        (ExpectedCost(K, cost_matrix=COSTS), ExpectedCost(K, cost_matrix=2 * COSTS), "different cost_matrix"),
        (TopLabelCalibration(3), TopLabelCalibration(3, n_bins=5), "different n_bins"),
        (CalibrationBins(3), CalibrationBins(4), "different n_bins"),
        (MultilabelTally(3), MultilabelTally(3, false_negative_penalty=5), "different penalty"),
    ],
)
def test_different_settings_are_not_merged(one, other, said):
    with pytest.raises(ValueError, match=said):
        one.merge(other)


def test_labels_name_the_columns_of_every_batch():
    named = LogLikelihood(["no", "yes"])
    named.update(["yes"], [[0.2, 0.8]]).update(["yes", "no"], [[0.5, 0.5], [0.9, 0.1]])
    assert named.result() == pytest.approx(-np.log([0.8, 0.5, 0.9]).mean())
    with pytest.raises(ValueError, match="row 0: maybe is not one of the classes"):
        named.update(["maybe"], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="2 columns were expected, one per class, found 3"):
        named.update(["no"], [[0.5, 0.25, 0.25]])


def test_other_measures_take_batches_too():
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=30), rng.normal(size=30), rng.random(30) + 0.1
    halves = slice(0, 11), slice(11, 30)
    parts = [GaussianLikelihood().update(y[h], mean[h], std[h]) for h in halves]
    assert parts[0].merge(parts[1]).result() == pytest.approx(GaussianLikelihood().update(y, mean, std).result())
    parts = [Coverage().update(y[h], mean[h] - 1, mean[h] + 1) for h in halves]
    assert parts[0].merge(parts[1]).result() == Coverage().update(y, mean - 1, mean + 1).result()
    bits = rng.random((30, 3)) < 0.4, rng.random((30, 3)) < 0.5
    parts = [MultilabelTally(3).update(bits[0][h], bits[1][h]) for h in halves]
    merged = parts[0].merge(parts[1])
    assert merged.counts() == MultilabelTally(3).update(*bits).counts()
    frequencies = OutcomeFrequencies(["a", "b", "b"], ["x", "x", "x"])
    labels = rng.choice(["a", "b"], 30), rng.choice(["a", "b"], 30), np.full(30, "x")
    parts = [Relevance(frequencies).update(*(column[h] for column in labels)) for h in halves]
    assert parts[0].merge(parts[1]).result() == pytest.approx(Relevance(frequencies).update(*labels).result())


def test_the_function_is_the_accumulator():
    y, proba, _, weight = cases(10, 5000)
    score = meta_pattern_concern_score(y, proba, top_k=3, release_factors=FACTORS, sample_weight=weight)
    kernel = ConcernScore(K, top_k=3, release_factors=FACTORS).update(y, proba, sample_weight=weight)
    assert kernel.result() == score
    assert kernel.share_outside_top_k() == score.share_outside_top_k


def test_a_sum_that_overflows_is_refused():
    huge = np.full((2, 2), 1e308)
    with pytest.raises(ValueError, match="finite"), np.errstate(over="ignore"):
        ExpectedCost(2).update([0, 0], [[0.5, 0.5]] * 2, sample_weight=[1e308, 1.7e308]).expected_cost(huge)


def test_a_thousand_classes_in_bounded_memory():
    rng = np.random.default_rng(0)
    k, n = 1000, 3000
    proba = rng.random((n, k), dtype=np.float32)
    proba /= proba.sum(axis=1, keepdims=True)
    y = rng.integers(0, k, n)
    counts = DecisionCounts(k).update(y, proba).result()
    np.testing.assert_array_equal(np.flatnonzero(counts), np.unique(y * k + proba.argmax(axis=1)))
    expected = ExpectedCost(k).update(y, proba)
    np.testing.assert_allclose(expected.matrix()[y[0]], proba[y == y[0]].sum(axis=0, dtype=float), atol=1e-9)


def test_a_rule_is_of_as_many_classes():
    with pytest.raises(InputError, match="cost_matrix: 3 x 3 numbers were expected"):
        DecisionCounts(3, LeastCost(COSTS, K))
