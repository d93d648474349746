import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from metrics import ElicitedMetric, InputError, cost_curve, operating_point

NAMES = ["melanoma", "naevus", "keratosis"]
COSTS = np.array([[0, 1, 0.91], [0.13, 0, 0.013], [0.11, 0.03, 0]])
A = np.array([[70, 40, 10], [60, 600, 40], [30, 20, 130]])
B = np.array([[90, 20, 10], [150, 520, 30], [40, 20, 120]])


def metric(**details):
    return ElicitedMetric.from_cost_matrix(NAMES, COSTS, yardstick=("naevus", "melanoma"), **details)


def test_costs_at_the_elicited_ratio_are_those_of_the_metric():
    curve = cost_curve(metric(), {"A": A, "B": B / 1000}, ("melanoma", "naevus"))
    assert curve.elicited == pytest.approx(1 / 0.13)
    by_metric = [(matrix * COSTS).sum() / matrix.sum() / 0.13 for matrix in (A, B)]
    np.testing.assert_allclose(curve.cost(curve.elicited), by_metric)
    changed = COSTS / 0.13
    changed[0, 1] = 3
    np.testing.assert_allclose(curve.cost([3, 4])[:, 0], [(matrix * changed).sum() / 1000 for matrix in (A, B)])
    assert curve.cost([3, 4]).shape == (2, 2)


def test_break_even_by_hand():
    curve = cost_curve(metric(), {"A": A, "B": B}, ("melanoma", "naevus"))
    ((ratio, below, above),) = [(p.ratio, p.below, p.above) for p in curve.break_even_points()]
    fixed_a, fixed_b = curve.fixed
    assert ratio == pytest.approx((fixed_b - fixed_a) / (0.04 - 0.02))
    assert (below, above) == ("A", "B")
    assert curve.cheapest(ratio * 0.99) == "A"
    assert curve.cheapest(ratio * 1.01) == "B"


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 8)), min_size=1, max_size=6))
def test_break_even_points_are_the_corners_of_the_lower_envelope(lines):
    matrices = {
        f"m{i}": np.array([[100 - slope, slope, 0], [fixed, 200 - fixed, 0], [0, 0, 50]])
        for i, (fixed, slope) in enumerate(lines)
    }
    curve = cost_curve(metric(), matrices, ("melanoma", "naevus"))
    points = curve.break_even_points()
    ratios = [p.ratio for p in points]
    assert ratios == sorted(ratios)
    assert all(ratio >= 0 for ratio in ratios)
    grid = np.unique(np.concatenate([np.linspace(0, 50, 201)[1:], [np.nextafter(x, np.inf) for x in ratios]]))
    for x in grid:
        below = [p.above for p in points if p.ratio < x]
        expected = below[-1] if below else (points[0].below if points else curve.cheapest(0))
        cost = curve.cost(x)
        assert cost[curve.models.index(expected)] <= cost.min() + 1e-9
    for point in points:
        costs = curve.cost(point.ratio)
        assert costs[curve.models.index(point.below)] == pytest.approx(costs[curve.models.index(point.above)], abs=1e-9)


def test_any_wrong_answer_for_a_truth_varies_together_in_dlpm():
    dlpm = ElicitedMetric.from_weights(NAMES, [8, 1, 2], "dlpm", yardstick=("naevus", "keratosis"))
    curve = cost_curve(dlpm, {"A": A}, ("melanoma", "keratosis"))
    assert curve.elicited == pytest.approx(8)
    assert curve.slope[0] == pytest.approx(0.05)
    assert curve.fixed[0] == pytest.approx(0.1 + 2 * 0.05)


@pytest.mark.parametrize(
    ("mistake", "matrices", "words"),
    [
        (("naevus", "melanoma"), {"A": A}, "is the yardstick"),
        (("naevus", "naevus"), {"A": A}, "is a right answer"),
        (("naevus", "wart"), {"A": A}, "mistake, row 1: wart is not one of the classes"),
        (("melanoma", "naevus"), {"A": [[1, 0], [0, 1]]}, "'A': 3 x 3 numbers were expected"),
        (("melanoma", "naevus"), {"A": -A}, "'A': numbers >= 0"),
        (("melanoma", "naevus"), {}, "at least one model"),
        ("melanoma", {"A": A}, "mistake: a pair"),
    ],
)
def test_bad_input_is_said_in_words(mistake, matrices, words):
    with pytest.raises(ValueError, match=words):
        cost_curve(metric(), matrices, mistake)


TWO = ElicitedMetric.from_cost_matrix(["benign", "malign"], [[0, 0.12], [1, 0]])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_operating_point_is_the_cheapest_threshold(weighted):
    X, y = load_breast_cancer(return_X_y=True)
    score = LogisticRegression(max_iter=1000).fit(X[:, :2], y).predict_proba(X[:, :2])[:, 1]
    y = np.array(["benign", "malign"])[y]
    weight = np.random.default_rng(0).uniform(size=len(y)) if weighted else None
    point = operating_point(y, score, TWO, pos_label="malign", sample_weight=weight)
    costs = [
        TWO.score(y, np.where(score >= t, "malign", "benign"), sample_weight=weight)
        for t in np.append(np.unique(score), np.inf)
    ]
    assert point.cost == pytest.approx(min(costs))
    decided = np.where(score >= point.threshold, "malign", "benign")
    assert TWO.score(y, decided, sample_weight=weight) == pytest.approx(point.cost)
    flipped = operating_point(y, -score, TWO, pos_label="benign", sample_weight=weight)
    assert flipped.cost == pytest.approx(point.cost)


def test_lines_of_equal_cost_have_the_slope():
    y, score = ["benign"] * 3 + ["malign"], [0.1, 0.4, 0.6, 0.5]
    point = operating_point(y, score, TWO, pos_label="malign")
    assert point.slope == pytest.approx(3 * 0.12 / 1)
    assert (point.false_rate, point.true_rate) == (pytest.approx(1 / 3), 1)
    free = ElicitedMetric.from_cost_matrix(["benign", "malign"], [[0, 1], [0, 0]])
    assert operating_point(y, score, free, pos_label="malign").slope == np.inf
    assert operating_point(y, score, free, pos_label="malign").threshold == np.inf


def test_an_operating_point_needs_two_classes():
    with pytest.raises(ValueError, match="it has 3"):
        operating_point(["a"], [0.5], metric(), pos_label="melanoma")
    with pytest.raises(ValueError, match="all cases are 'malign'"):
        operating_point(["malign"] * 2, [0.5, 0.6], TWO, pos_label="malign")
    with pytest.raises(ValueError, match="pos_label"):
        operating_point(["malign"] * 2, [0.5, 0.6], TWO, pos_label=1)
    with pytest.raises(ValueError, match="y_score, row 1: a finite number"):
        operating_point(["malign", "benign"], [0.5, np.nan], TWO, pos_label="malign")
    with pytest.raises(ValueError, match="y_score: 2 cases were expected, as many as in y_true, found 1"):
        operating_point(["malign", "benign"], [0.5], TWO, pos_label="malign")


@pytest.mark.parametrize("rest", range(1, 30))
def test_of_equally_cheap_points_the_one_with_the_fewest_alarms_is_taken(rest):
    tenth = ElicitedMetric.from_cost_matrix(["benign", "malign"], [[0, 0.1], [1, 0]])
    # Ten alarms for one case found cost just what they bring.
    y = ["malign"] + ["benign"] * (10 + rest)
    point = operating_point(y, [0.9] * 11 + [0.1] * rest, tenth, pos_label="malign")
    assert point.threshold == np.inf


def test_classes_that_weigh_nothing_have_no_operating_point():
    metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 4], [1, 0]])
    for weight, message in (
        ([0, 0, 0], "no case with a weight"),
        ([0, 1, 1], "all cases are 'well', or weigh nothing"),
    ):
        with pytest.raises(InputError, match=message):
            operating_point(["ill", "well", "well"], [0.9, 0.2, 0.1], metric, pos_label="ill", sample_weight=weight)


def test_one_matrix_and_one_class_are_refused_in_words():
    with pytest.raises(TypeError, match="matrices: each model's by its name were expected"):
        cost_curve(metric(), A, ("melanoma", "naevus"))
    with pytest.raises(InputError, match=r"mistake: a pair \(true class, predicted class\) was expected, found 5"):
        cost_curve(metric(), {"A": A}, 5)
