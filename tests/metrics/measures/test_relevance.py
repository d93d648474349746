"""Relevance score: the paper's examples and laws."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.measures.relevance import relevance_score

# P = (.4, .4, .2) in the one context "c".
REFERENCE = (["LA"] * 4 + ["LB"] * 4 + ["LC"] * 2, ["c"] * 10)
TRUE, PREDICTED = ["LA", "LB", "LC", "LA", "LB"], ["LA", "LC", "LA", "LB", "LB"]


@pytest.mark.parametrize(("alpha", "beta", "score"), [(2, 1, 94.6666666667), (1, 1, 94), (1, 2, 93.3333333333)])
def test_checked_example(alpha, beta, score):
    found = relevance_score(TRUE, PREDICTED, ["c"] * 5, alpha=alpha, beta=beta, reference=REFERENCE)
    assert found == pytest.approx(score, abs=1e-9)
    if (alpha, beta) == (2, 1):
        np.testing.assert_allclose(found.per_sample, [100, 80, 93.3333333333, 100, 100], atol=1e-9)


def test_the_five_cases():
    # Frequencies .4, .3, .2, .1 of a, b, c, d, and e as frequent as d.
    reference = (list("aaaabbbccd"), ["x"] * 10)
    pairs = {("a", "a"): 1, ("b", "a"): 2, ("c", "b"): 3, ("b", "c"): 4, ("a", "b"): 5}
    true, predicted = zip(*pairs, strict=True)
    found = relevance_score(true, predicted, ["x"] * 5, reference=reference)
    assert found.case.tolist() == list(pairs.values())


def test_ties():
    found = relevance_score(["a", "c"], ["b", "d"], ["x"] * 2, reference=(list("aaabbbcd"), ["x"] * 8))
    assert found.case.tolist() == [2, 3]
    assert found.per_sample[0] == 100
    assert found.per_sample[1] < 100


def test_an_outcome_that_never_occurred_is_no_hit_but_a_hit_is_a_hit():
    found = relevance_score(["new", "a"], ["new", "odd"], ["x", "x"], reference=(["a", "a"], ["x", "x"]))
    assert found.per_sample.tolist() == [100, 0]


def test_an_unseen_context_is_an_error():
    with pytest.raises(ValueError, match=r"^context, row 1: y, 2 does not occur in the reference data"):
        relevance_score(["a", "a"], ["b", "b"], [["x", 1], ["y", 2]], reference=(["a"], [["x", 1]]))


def test_without_a_reference_the_cases_are_it():
    own = relevance_score(TRUE, PREDICTED, ["c"] * 5)
    assert own == relevance_score(TRUE, PREDICTED, ["c"] * 5, reference=(TRUE, ["c"] * 5))


@given(st.integers(0, 999), st.floats(0, 1))
def test_the_score_is_linear_in_the_share_of_alpha(seed, share):
    rng = np.random.default_rng(seed)
    true, predicted, context = [*rng.choice(list("abc"), (2, 20)).tolist(), rng.integers(0, 2, 20)]
    ends = [relevance_score(true, predicted, context, alpha=a, beta=1 - a) for a in (0, 1)]
    between = relevance_score(true, predicted, context, alpha=share, beta=1 - share)
    assert between == pytest.approx((1 - share) * ends[0] + share * ends[1], abs=1e-9)
    assert 0 <= between <= 100


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"alpha": 0, "beta": 0}, "one of the two must be above 0"),
        ({"alpha": -1}, "alpha: a number >= 0"),
        ({"context": ["c", "c"]}, "context: 1 case was expected, as many as in y_true"),
        ({"context": [None]}, "context, row 0: a feature is missing"),
        ({"context": [np.nan]}, "context, row 0: a feature is missing"),
        ({"y_true": ["a"] * 2, "y_pred": ["a"] * 2, "context": [[1], [1, 2]]}, "the same number of features"),
        ({"reference": 3}, "reference: a pair"),
        ({"reference": (["a"],)}, "reference: a pair"),
        ({"reference": (["a"], ["c", "c"])}, "context_reference: 1 case was expected"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        relevance_score(**({"y_true": ["a"], "y_pred": ["b"], "context": ["c"]} | options))


def test_contexts_in_lists_stay_what_they_are():
    with pytest.raises(ValueError, match=r"^context, row 0: a feature is missing"):
        relevance_score(["x", "y"], ["x", "y"], [["warm", float("nan")], ["cold", "2"]])
    contexts, reference = [["warm", 1.0], ["cold", 2.0]], [["warm", 1], ["cold", 2]]
    assert relevance_score(["x", "y"], ["x", "y"], contexts, reference=(["x", "y"], reference)) == 100


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_features_in_another_order_than_those_of_the_reference_are_refused(frame):
    features = {"place": ["home", "work", "home"], "time": ["work", "home", "home"]}
    outcomes, swapped = ["x", "y", "x"], {name: features[name] for name in ("time", "place")}
    assert relevance_score(outcomes, outcomes, frame(features), reference=(outcomes, frame(features))) == 100
    with pytest.raises(ValueError, match=r"^context: the columns are named time, place, but place, time was expected"):
        relevance_score(outcomes, outcomes, frame(swapped), reference=(outcomes, frame(features)))


def test_the_size_of_the_two_weights_does_not_matter():
    y_true, y_pred, context = list("aabbcab"), list("abcabab"), list("uuuuuvv")
    for alpha, beta in ((2, 1), (1, 0), (1, 1)):
        small = relevance_score(y_true, y_pred, context, alpha=alpha * 1e-200, beta=beta * 1e-200)
        assert small == pytest.approx(relevance_score(y_true, y_pred, context, alpha=alpha, beta=beta))


def test_the_two_bounds_are_the_ends_of_the_line():
    found = relevance_score(TRUE, PREDICTED, ["c"] * 5, reference=REFERENCE)
    ends = [relevance_score(TRUE, PREDICTED, ["c"] * 5, alpha=a, beta=1 - a, reference=REFERENCE) for a in (1, 0)]
    assert found.bounds == pytest.approx(tuple(map(float, ends)))
    assert found.bounds.beta_only < found < found.bounds.alpha_only
    on_the_line = found.alpha_share * found.bounds.alpha_only + (1 - found.alpha_share) * found.bounds.beta_only
    assert found == pytest.approx(on_the_line, abs=1e-12)
