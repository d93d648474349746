"""Net benefit: its laws, the values of the dcurves packages, and bands that a direct bootstrap gives."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import decision_curve, net_benefit
from metrics.errors import InputError

THRESHOLDS = st.floats(0.0, 0.95)

# The example data of the R and Python packages dcurves: 750 patients, 105 with cancer. Of the family history the
# counts of the two by two table, of the model "cancerpredmarker" how many with and without cancer reach each threshold;
# net benefits as dca() of the Python package 1.1.7 prints them.
HISTORY = {(1, 1): 24, (1, 0): 81, (0, 1): 91, (0, 0): 554}
HISTORY_BENEFIT = {
    0.05: 0.0256140350877193,
    0.10: 0.0185185185185185,
    0.15: 0.0105882352941176,
    0.20: 0.0016666666666667,
    0.25: -0.0084444444444444,
    0.35: -0.0333333333333333,
}
REACHED = {0.05: (96, 320), 0.10: (87, 193), 0.15: (82, 128), 0.20: (75, 98), 0.25: (72, 72), 0.35: (57, 36)}
MODEL_BENEFIT = {
    0.05: 0.1055438596491228,
    0.10: 0.0874074074074074,
    0.15: 0.0792156862745098,
    0.20: 0.0673333333333333,
    0.25: 0.0640000000000000,
    0.35: 0.0501538461538462,
}
ALL_BENEFIT = {
    0.05: 0.0947368421052632,
    0.10: 0.0444444444444445,
    0.15: -0.0117647058823529,
    0.20: -0.0750000000000000,
    0.25: -0.1466666666666666,
    0.35: -0.3230769230769230,
}
# Twelve cases of our own, by the same program.
SMALL_TRUE = np.array([0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1])
SMALL = {
    "p": np.array([0.05, 0.1, 0.15, 0.2, 0.2, 0.35, 0.4, 0.55, 0.6, 0.25, 0.02, 0.9]),
    "q": np.array([0.3, 0.2, 0.1, 0.5, 0.6, 0.7, 0.05, 0.8, 0.15, 0.4, 0.35, 0.25]),
}
SMALL_BENEFIT = {
    "p": {
        0.05: 0.3903508771929825,
        0.2: 0.25,
        0.25: 0.1666666666666667,
        0.6: -0.0416666666666666,
        0.8: 0.0833333333333333,
    },
    "q": {
        0.05: 0.3859649122807018,
        0.2: 0.2291666666666667,
        0.25: 0.2222222222222223,
        0.6: 0.25,
        0.8: 0.0833333333333333,
    },
}


def cases(seed, n=200):
    rng = np.random.default_rng(seed)
    proba = rng.beta(1, 2, n)
    return (rng.random(n) < proba).astype(int), proba


def history():
    true, risk = zip(*(key for key, times in HISTORY.items() for _ in range(times)), strict=True)
    return np.array(true), np.array(risk, dtype=float)


def marked():
    """Return cases whose probabilities lie on the thresholds, so many of each as the model has."""
    cuts = sorted(REACHED)
    true, proba = [], []
    for kind, total in ((0, 105), (1, 645)):
        reached = [REACHED[cut][kind] for cut in cuts]
        below = [total, *reached]
        for cut, more, fewer in zip([0.0, *cuts], below, [*reached, 0], strict=True):
            proba += [cut] * (more - fewer)
            true += [1 - kind] * (more - fewer)
    return np.array(true), np.array(proba)


def test_values_of_the_dcurves_packages():
    true, risk = history()
    curve = decision_curve(true, {"history": risk}, thresholds=sorted(HISTORY_BENEFIT), draws=0)
    assert curve.of("history") == pytest.approx(list(HISTORY_BENEFIT.values()), abs=1e-9)
    assert curve.of("treat all") == pytest.approx(list(ALL_BENEFIT.values()), abs=1e-9)
    assert not curve.of("treat none").any()
    true, risk = marked()
    assert (len(true), int(true.sum())) == (750, 105)
    for threshold, expected in MODEL_BENEFIT.items():
        assert net_benefit(true, risk, threshold=threshold) == pytest.approx(expected, abs=1e-9)
    for name, benefits in SMALL_BENEFIT.items():
        for threshold, expected in benefits.items():
            assert net_benefit(SMALL_TRUE, SMALL[name], threshold=threshold) == pytest.approx(expected, abs=1e-9)


def test_cases_of_no_weight_make_no_band_narrower():
    true, proba = cases(3)
    weight = np.repeat([1.0, 0.0], [len(true), 9 * len(true)])
    alone = decision_curve(true, proba, draws=400)
    among = decision_curve(np.tile(true, 10), np.tile(proba, 10), sample_weight=weight, draws=400)
    np.testing.assert_allclose(among.band("treat all"), alone.band("treat all"))
    np.testing.assert_allclose(among.net_benefit, alone.net_benefit)
    unequal = decision_curve(true, proba, draws=4_000, sample_weight=1 + 9.0 * (np.arange(len(true)) % 2))
    weights = np.random.default_rng(0).exponential(size=(4_000, len(true))) * (1 + 9.0 * (np.arange(len(true)) % 2))
    share = weights[:, true == 1].sum(axis=1) / weights.sum(axis=1)
    half = unequal.thresholds == 0.5
    found = np.ptp(unequal.band("treat all")[:, half])
    assert found == pytest.approx(2 * np.ptp(np.quantile(share, [0.05, 0.95])), rel=0.06)


@given(seed=st.integers(0, 100), threshold=THRESHOLDS)
def test_treating_all_and_none(seed, threshold):
    true, proba = cases(seed)
    share, price = true.mean(), threshold / (1 - threshold)
    everybody = net_benefit(true, np.ones(len(true)), threshold=threshold)
    assert everybody == pytest.approx(share - (1 - share) * price)
    nobody = net_benefit(true, np.zeros(len(true)), threshold=max(threshold, 0.01))
    assert nobody == 0
    assert net_benefit(true, proba, threshold=threshold) <= share + 1e-12
    assert net_benefit(true, proba, threshold=0) == pytest.approx(share)


@given(seed=st.integers(0, 100), ratio=st.floats(0.2, 50))
def test_the_cost_in_misses_is_the_prevalence_less_the_net_benefit(seed, ratio):
    true, proba = cases(seed)
    threshold = 1 / (1 + ratio)
    treated = proba >= threshold
    missed, false = (~treated & (true == 1)).sum(), (treated & (true == 0)).sum()
    benefit = net_benefit(true, proba, threshold=threshold)
    assert true.mean() - benefit == pytest.approx((missed + false / ratio) / len(true))


@given(seed=st.integers(0, 100), threshold=THRESHOLDS, share=st.floats(0.05, 0.95))
def test_another_prevalence_is_another_weight_of_the_classes(seed, threshold, share):
    true, proba = cases(seed)
    own = true.mean()
    weight = np.where(true == 1, share / own, (1 - share) / (1 - own))
    by_weight = net_benefit(true, proba, threshold=threshold, sample_weight=weight)
    treated = proba >= threshold
    sensitivity, alarms = treated[true == 1].mean(), treated[true == 0].mean()
    expected = share * sensitivity - (1 - share) * alarms * threshold / (1 - threshold)
    assert by_weight == pytest.approx(expected)
    curve = decision_curve(true, proba, thresholds=[threshold], prevalence=share, draws=0)
    assert curve.of("model")[0] == pytest.approx(expected)
    assert decision_curve(true, proba, thresholds=[threshold], sample_weight=weight, draws=0).of("model")[
        0
    ] == pytest.approx(expected)


def test_labels_and_columns_are_read_as_elsewhere():
    true, proba = cases(3)
    names = np.where(true == 1, "ill", "well")
    expected = net_benefit(true, proba, threshold=0.3)
    assert net_benefit(names, 1 - proba, threshold=0.3) != pytest.approx(expected)
    assert net_benefit(names, proba, threshold=0.3, pos_label="ill") == pytest.approx(expected)
    assert net_benefit(true, np.column_stack([1 - proba, proba]), threshold=0.3) == pytest.approx(expected)
    assert decision_curve(names, proba, pos_label="ill", draws=0).positive == "ill"


def test_bands_are_those_of_a_direct_paired_bootstrap():
    true, first = cases(5, 300)
    second = np.clip(first + np.random.default_rng(1).normal(0, 0.15, 300), 0, 1)
    curve = decision_curve(true, {"a": first, "b": second}, thresholds=[0.1, 0.3, 0.5], draws=4_000)
    rng = np.random.default_rng(7)
    weights = rng.standard_exponential((4_000, 300))
    weights /= weights.sum(axis=1, keepdims=True)
    for place, cut in enumerate(curve.thresholds):
        gain = np.where(true == 1, 1.0, -cut / (1 - cut))
        drawn = {name: weights @ (gain * (proba >= cut)) for name, proba in (("a", first), ("b", second))}
        spread = drawn["a"].std()
        expected = np.quantile(drawn["a"], [0.05, 0.95])
        assert curve.band("a")[:, place] == pytest.approx(expected, abs=0.12 * spread)
        expected = np.quantile(drawn["a"] - drawn["b"], [0.05, 0.95])
        assert curve.band("a", "b")[:, place] == pytest.approx(expected, abs=0.12 * spread)


def test_many_cases_are_doubted_in_groups_as_widely_as_one_by_one():
    true, proba = cases(2, 20_000)
    curve = decision_curve(true, proba, thresholds=[0.3], draws=2_000)
    gain = np.where(true == 1, 1.0, -0.3 / 0.7) * (proba >= 0.3)
    low, high = curve.band("model")[:, 0]
    assert (high - low) / (2 * 1.645) == pytest.approx(gain.std() / np.sqrt(len(true)), rel=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.0}, "at 1 a needless treatment has no price"),
        ({"threshold": -0.1}, "threshold"),
        ({"threshold": 0.5, "pos_label": "x"}, "pos_label: 'x' is not one of the labels"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        net_benefit([0, 1], [0.2, 0.7], **options)


def test_a_curve_that_makes_no_sense_is_refused():
    with pytest.raises(InputError, match="row 1: a probability in"):
        net_benefit([0, 1], [0.2, 1.7], threshold=0.5)
    with pytest.raises(InputError, match="only one kind"):
        decision_curve([1, 1], [0.2, 0.7])
    with pytest.raises(InputError, match="ascending"):
        decision_curve([0, 1], [0.2, 0.7], thresholds=[0.5, 0.2])
    with pytest.raises(InputError, match="at least one model"):
        decision_curve([0, 1], {})
    with pytest.raises(InputError, match="made without draws"):
        decision_curve([0, 1], [0.2, 0.7], draws=0).band("model")
    with pytest.raises(InputError, match="is not one of model, treat all, treat none"):
        decision_curve([0, 1], [0.2, 0.7], draws=0).of("other")


def test_of_two_columns_the_one_of_the_positive_class_counts():
    labels, ill = ["ill", "well", "ill", "well", "well"], np.array([0.9, 0.2, 0.6, 0.4, 0.1])
    both = np.column_stack([ill, 1 - ill])
    frame = pd.DataFrame(both, columns=["ill", "well"])
    for label, alone in (("ill", ill), ("well", 1 - ill), (None, 1 - ill)):
        expected = net_benefit(labels, alone, threshold=0.3, pos_label=label)
        for proba in (both, frame, frame[["well", "ill"]]):
            assert net_benefit(labels, proba, threshold=0.3, pos_label=label) == pytest.approx(expected)
            curve = decision_curve(labels, proba, thresholds=[0.3], pos_label=label, draws=0)
            assert curve.net_benefit[0, 0] == pytest.approx(expected)
    assert net_benefit([1, 1], [[0.2, 0.8], [0.9, 0.1]], threshold=0.5) == 0.5
    with pytest.raises(InputError, match="y_proba: pass the probability of 'ill' alone"):
        net_benefit(["ill", "ill"], both[:2], threshold=0.3, pos_label="ill")
    with pytest.raises(InputError, match=r"y_proba, row 0: the probabilities add up to 1\.8"):
        net_benefit(labels, np.column_stack([ill, ill]), threshold=0.3)


def test_probabilities_at_a_threshold_count_in_their_own_precision():
    proba = np.arange(1, 100) / 100
    labels = np.arange(99) % 2
    exact, single = (decision_curve(labels, p, draws=0).net_benefit for p in (proba, proba.astype(np.float32)))
    np.testing.assert_array_equal(single, exact)


def test_weights_of_zero_are_refused_in_words():
    with pytest.raises(InputError, match="no case with a weight above zero"):
        net_benefit([0, 1], [0.2, 0.8], threshold=0.5, sample_weight=[0, 0])
    with pytest.raises(InputError, match="only one kind"):
        decision_curve([0, 1, 1], [0.2, 0.8, 0.7], sample_weight=[0, 1, 1])


def test_a_model_has_a_name_of_its_own():
    for names in (["treat all"], ["m", "treat none"], [1, "1"]):
        with pytest.raises(InputError, match="models need names of their own"):
            decision_curve([0, 1], {name: [0.2, 0.8] for name in names})
