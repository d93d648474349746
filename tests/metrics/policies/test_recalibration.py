"""Recalibration: what is well calibrated is left alone, what is not is put right, and no case judges itself."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp

from metrics import ElicitedMetric, judge, negative_log_likelihood
from metrics.policies.recalibration import (
    FOLDS,
    MOST_ROWS,
    Calibration,
    Recalibration,
    RowSample,
    calibration,
    sample_of,
)


def cases(seed, n=2_000, k=3, sharpness=1.0, shift=0.0):
    """Return truths drawn from probabilities, and these probabilities sharpened and shifted."""
    rng = np.random.default_rng(seed)
    scores = 1.5 * rng.standard_normal((n, k))
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    true = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)
    seen = np.exp(sharpness * scores + shift * np.arange(k))
    return true, seen / seen.sum(axis=1, keepdims=True)


def recalibration(true, proba):
    """Return the maps fitted to cases, whether they are needed or not."""
    sample = RowSample()
    sample.update(true, proba, 0)
    return sample.fitted()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_what_is_well_calibrated_is_left_alone(k):
    needed = [recalibration(*cases(seed, k=k)).needed for seed in range(10)]
    assert sum(needed) == 0


@pytest.mark.parametrize(("k", "sharpness", "shift"), [(2, 3.0, 0.0), (2, 0.3, 0.0), (3, 1.0, 1.0), (4, 2.5, 0.3)])
def test_what_is_not_is_put_right(k, sharpness, shift):
    true, proba = cases(1, 4_000, k, sharpness, shift)
    found = recalibration(true, proba)
    assert found.needed
    right = found.probabilities(proba, np.arange(len(proba)))
    assert right.sum(axis=1) == pytest.approx(np.ones(len(true)))
    _, best = cases(1, 4_000, k)
    assert negative_log_likelihood(true, right) == pytest.approx(negative_log_likelihood(true, best), abs=0.01)
    assert found.gain == pytest.approx(
        negative_log_likelihood(true, np.maximum(proba, 1e-9)) - negative_log_likelihood(true, right), abs=1e-6
    )


def test_no_case_helps_to_judge_itself():
    true, proba = cases(2, 500, sharpness=2.0)
    before = recalibration(true, proba).probabilities(proba, np.arange(len(proba)))
    changed = true.copy()
    changed[::FOLDS] = (changed[::FOLDS] + 1) % 3
    after = recalibration(changed, proba).probabilities(proba, np.arange(len(proba)))
    own = np.arange(500) % FOLDS == 0
    np.testing.assert_array_equal(before[own], after[own])
    assert np.abs(before[~own] - after[~own]).max() > 0.01


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1_000), cut=st.integers(0, 400))
def test_parts_of_the_rows_give_the_same_maps(seed, cut):
    true, proba = cases(seed, 400)
    whole = recalibration(true, proba)
    first, second = RowSample(), RowSample()
    second.update(true[cut:], proba[cut:], cut)
    first.update(true[:cut], proba[:cut], 0)
    second.merge(first)
    np.testing.assert_allclose(second.fitted().slope, whole.slope)
    np.testing.assert_allclose(
        np.concatenate(
            [whole.probabilities(proba[:cut], np.arange(cut)), whole.probabilities(proba[cut:], np.arange(cut, 400))]
        ),
        whole.probabilities(proba, np.arange(len(proba))),
    )


def test_of_many_rows_a_part_is_kept_that_depends_on_their_numbers_alone():
    true, proba = cases(3, 3 * MOST_ROWS, 2)
    forward, backward = RowSample(), RowSample()
    starts = range(0, len(true), 7_001)
    for sample, order in ((forward, starts), (backward, reversed(starts))):
        for start in order:
            sample.update(true[start : start + 7_001], proba[start : start + 7_001], start)
    one, other = forward.fitted(), backward.fitted()
    np.testing.assert_allclose(one.slope, other.slope)
    assert sum(len(part[0]) for part in forward._rows) <= MOST_ROWS


def test_a_part_of_few_rows_is_thinned_like_the_others(monkeypatch):
    monkeypatch.setattr("metrics.policies.recalibration.MOST_ROWS", 200)
    true, proba = cases(3, 260)
    whole, few, many = RowSample(), RowSample(), RowSample()
    whole.update(true, proba, 0)
    few.update(true[:10], proba[:10], 0)
    many.update(true[10:], proba[10:], 10)
    few.merge(many)
    np.testing.assert_array_equal(few.rows()[0], whole.rows()[0])


@pytest.mark.parametrize(("rows", "kept"), [(200, 200), (201, 101)])
def test_rows_are_thinned_only_above_their_number(monkeypatch, rows, kept):
    monkeypatch.setattr("metrics.policies.recalibration.MOST_ROWS", 200)
    sample = RowSample()
    sample.update(*cases(3, rows), 0)
    assert sum(len(part[0]) for part in sample._rows) == kept


@pytest.mark.parametrize(
    ("gain", "error", "needed"), [(0.1, 0.049, True), (0.1, 0.051, False), (0.004, 0.0, False), (0.006, 0.0, True)]
)
def test_a_gain_counts_beyond_two_standard_errors_and_where_it_is_worth_it(gain, error, needed):
    nothing = np.zeros((FOLDS, 2))
    assert Recalibration(nothing, nothing, gain, error, 0.1).needed is needed


def test_too_few_cases_tell_nothing():
    assert recalibration(*cases(0, 39)) is None
    assert calibration(*cases(0, 39, sharpness=4.0)) == Calibration()
    assert calibration(*cases(0, 40, sharpness=4.0)).recalibration is not None
    of_few = np.arange(400) % 39
    assert calibration(*cases(0, 400, sharpness=4.0), of_few) == Calibration(), "many cases of few people"
    assert calibration(*cases(0, 400, sharpness=4.0)).recalibration is not None


def test_copies_of_cases_are_no_evidence_and_nobodys_cases_help_to_judge_each_other():
    true, proba = cases(2, 200, sharpness=1.3)
    whose = np.repeat(np.arange(200), 6)
    copies = sample_of(true[whose], proba[whose], whose)
    by_person, as_cases = copies.fitted(by_person=True), copies.fitted()
    assert by_person.gain_error > 2 * as_cases.gain_error
    assert (as_cases.needed, by_person.needed) == (True, False)
    changed = np.where(whose % FOLDS == 0, (true[whose] + 1) % 3, true[whose])
    after = sample_of(changed, proba[whose], whose).fitted(by_person=True)
    own = whose % FOLDS == 0
    numbers = np.arange(len(whose))
    before, later = (one.probabilities(proba[whose], numbers, whose) for one in (by_person, after))
    np.testing.assert_array_equal(before[own], later[own])


@settings(max_examples=30, deadline=None)
@given(
    slope=st.lists(st.floats(0.2, 4.0), min_size=2, max_size=2),
    bias=st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2),
    threshold=st.floats(0.01, 0.99),
    positive=st.integers(0, 1),
)
def test_the_threshold_before_recalibration_is_the_one_that_becomes_it(slope, bias, threshold, positive):
    shares = np.array([0.5, 1.5])[:, None]  # two folds, whose means these are
    maps = Recalibration(shares * slope, shares * bias, 0.1, 0.01, 0.1)
    own = maps.before(threshold, positive)
    proba = np.where(np.arange(2) == positive, own, 1 - own)
    scores = np.array(slope) * np.log(np.maximum(proba, 1e-9)) + bias
    found = np.exp(scores[positive] - logsumexp(scores))
    if 0 < own < 1:
        assert found == pytest.approx(threshold, rel=1e-5)
    else:
        assert (own < 0.5) == (found >= threshold - 1e-4)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_it_is_told_how_the_recommended_model_is_recalibrated(k):
    names = [f"c{at}" for at in range(k)]
    true, proba = cases(5, 4_000, k, sharpness=4.0)
    costs = 1.0 - np.eye(k)
    costs[-1] *= 8
    judgement = judge(ElicitedMetric.from_cost_matrix(names, costs), np.array(names)[true], {"m": proba}, draws=200)
    assert judgement.best.policy.recalibrated
    told = [note for note in judgement.notes if "once recalibrated" in note or note.startswith("To recalibrate m, ")]
    assert len(told) == 1
    if k == 7:
        assert "fit vector scaling to these cases" in told[0]
        return
    if k == 2:
        own = float(re.match(r"m itself says (\S+) % where it says 11 % once recalibrated", told[0])[1]) / 100
        decided = (proba[:, 1] >= own).astype(int)
    else:
        numbers = re.findall(r"c\d × (\S+) ([+\N{MINUS SIGN}]) (\d\.\d\d)", told[0])
        slope, bias = np.array([(float(a), float(b) * (1 if sign == "+" else -1)) for a, sign, b in numbers]).T
        scores = slope * np.log(np.maximum(proba, 1e-9)) + bias
        shares = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        decided = (shares @ costs).argmin(axis=1)
    cost = judgement.population * costs[true, decided].mean() / costs[judgement.unit]
    assert cost == pytest.approx(judgement.best.cost_per_population, rel=0.03), "whoever does as told pays as said"


def test_how_to_recalibrate_is_not_told_where_it_is_not_recommended():
    true, proba = cases(5, 4_000, 2, sharpness=4.0)
    judgement = judge(
        ElicitedMetric.from_cost_matrix(["no", "yes"], 1 - np.eye(2)), np.array(["no", "yes"])[true], {"m": proba}
    )
    assert any(one.policy.recalibrated for one in judgement.policies)
    assert not judgement.best.policy.recalibrated
    assert not any("once recalibrated" in note or note.startswith("To recalibrate") for note in judgement.notes)


def test_a_recalibrated_policy_is_offered_and_is_cheaper():
    true, proba = cases(5, 3_000, 2, sharpness=4.0)
    metric = ElicitedMetric.from_cost_matrix(["no", "yes"], [[0, 1], [8, 0]])
    judgement = judge(metric, np.array(["no", "yes"])[true], {"m": proba})
    raw, right = (judgement.named(f"m{how}, with these costs") for how in ("", ", recalibrated"))
    assert right.cost_per_population < raw.cost_per_population
    assert any("badly calibrated" in note for note in judgement.notes)
    assert right.threshold == raw.threshold
    both = judge(metric, np.array(["no", "yes"])[true], {"m": proba, "n": cases(5, 3_000, 2, sharpness=3.0)[1]})
    (note,) = [note for note in both.notes if "badly calibrated" in note]
    assert re.match(r"The probabilities of m and n are badly calibrated, \S+ to \S+ points off on average: ", note)
    assert note.endswith("they are one more policy each.")
    fine = judge(metric, np.array(["no", "yes"])[true], {"m": cases(5, 3_000, 2)[1]})
    assert not any(one.policy.recalibrated for one in fine.policies)


@pytest.mark.parametrize("n", [12, 300])
def test_labels_have_one_policy_and_one_share_of_being_best(n):
    true = np.arange(n) % 3
    said = np.eye(3)[np.where(np.arange(n) % 5 == 0, (true + 1) % 3, true)]
    assert calibration(true, said) == Calibration(labels_only=True)
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], [[0, 1, 2], [3, 0, 1], [1, 2, 0]])
    judgement = judge(metric, np.array(["a", "b", "c"])[true], {"reader": said, "m": 0.9 * said + 0.1 / 3})
    assert [one.name for one in judgement.policies if one.policy.model == "reader"] == ["reader, as it decides now"]
    assert [note for note in judgement.notes if note.startswith("reader gives labels")]
    assert sum(one.policy.model == "m" for one in judgement.policies) >= 2
    alone = judge(metric, np.array(["a", "b", "c"])[true], {"reader": said}, prevalence=[0.1, 0.1, 0.8])
    assert not [note for note in alone.notes if "probabilities are for" in note]


def test_one_probability_between_makes_no_labels_wherever_it_is_read():
    true, said = np.arange(300) % 3, np.eye(3)[np.arange(300) % 3]
    said[250] = 0.2, 0.5, 0.3
    first, second = RowSample(), RowSample()
    first.update(true[:200], said[:200], 0)
    second.update(true[200:], said[200:], 200)
    assert first.calibration().labels_only
    first.merge(second)
    assert not first.calibration().labels_only


@pytest.mark.parametrize(("k", "sharpness"), [(2, 3.0), (4, 0.3), (12, -1.0)])
def test_the_maps_are_those_of_least_log_loss_with_no_slope_below_zero(k, sharpness):
    true, proba = cases(6, 1_500, k, sharpness, 0.2)
    found, logs = recalibration(true, proba), np.log(np.maximum(proba, 1e-9))
    own = np.arange(len(true)) % FOLDS != 0

    def loss(parameters):
        scores = parameters[:k] * logs[own] + parameters[k:]
        away = np.concatenate([parameters[:k] - 1, parameters[k:]])
        said = logsumexp(scores, axis=1) - scores[np.arange(own.sum()), true[own]]
        return (said.sum() + 5.0 * away @ away) / own.sum()

    fitted = np.concatenate([found.slope[0], found.bias[0]])
    bounds = [(0.0, None)] * k + [(None, None)] * k
    best = minimize(loss, fitted, method="L-BFGS-B", bounds=bounds, options={"maxfun": 10**6})
    assert found.slope.min() >= 0
    assert loss(fitted) - best.fun < 1e-8
    if sharpness < 0:
        assert (found.slope == 0).any(), "probabilities turned round say nothing, rather than the opposite"
