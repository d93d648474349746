"""What decisions would save if they followed other values."""

import numpy as np
import pytest

from metrics.policies.cases import of_model
from metrics.policies.deciding_anew import savings_of_deciding_anew


def calibrated(seed=0, n=40_000):
    """Return cases whose probability of the first class is evenly spread and well calibrated."""
    rng = np.random.default_rng(seed)
    p = rng.permutation((np.arange(n) + 0.5) / n)
    return (rng.random(n) >= p).astype(np.int64), np.column_stack([p, 1 - p])


def ratio(value):
    return np.array([[0.0, value], [1.0, 0.0]])


def test_moving_a_threshold_saves_the_square_of_the_way():
    true, proba = calibrated()
    now, others = 4.0, np.array([1.0, 4.0, 9.0])
    draws = np.array([ratio(value) for value in others])
    columns = [(policy, proba) for policy in of_model("m")]
    found = savings_of_deciding_anew(draws, ratio(now), true, columns)
    assert found.shape == (3, 2, 2)
    np.testing.assert_array_equal(found[:, :, 0], 0)  # as it decides now
    per_case = found[:, :, 1] @ (np.bincount(true) / len(true))
    # cost(t) = r t^2 / 2 + (1 - t)^2 / 2 if p is uniform on [0, 1]; it is least at t = 1 / (1 + r)
    moved = (1 + others) * (1 / (1 + others) - 1 / (1 + now)) ** 2 / 2
    np.testing.assert_allclose(per_case, moved, atol=0.01)
    assert per_case[1] == 0


def test_rows_and_columns_are_not_exchanged():
    true, proba = calibrated(1)
    columns = [(policy, proba) for policy in of_model("m")]
    (dearer,) = savings_of_deciding_anew(ratio(20.0)[None], ratio(1.0), true, columns)[:, :, 1]
    assert dearer[0] > 0 > dearer[1], "fewer of the first class are missed, and more of the second are false alarms"


@pytest.mark.parametrize("rare", [3, 40])
def test_a_rare_class_keeps_all_its_cases(rare):
    true, proba = calibrated(2, 20_000)
    kept = np.flatnonzero((true == 1) | ((true == 0).cumsum() <= rare))
    true, proba = true[kept], proba[kept]
    assert (true == 0).sum() == rare
    columns = [(policy, proba) for policy in of_model("m")]
    (found,) = savings_of_deciding_anew(ratio(9.0)[None], ratio(1.0), true, columns)[:, :, 1]
    p = proba[true == 0, 0]
    assert found[0] == pytest.approx(9.0 * ((p > 0.1) & (p < 0.5)).mean())
