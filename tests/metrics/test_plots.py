import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from metrics import (
    ElicitedMetric,
    calibration_curve,
    confusion_matrix,
    cost_curve,
    meta_pattern_concern_score,
    operating_point,
    penalized_multilabel_score,
    relevance_score,
)
from metrics.plots import plot_calibration, plot_confusion, plot_cost_curve, plot_cost_matrix, plot_difference, plot_roc
from metrics.text import percent

NAMES = ["melanoma", "naevus", "$x$ kera"]
COUNTS = np.array([[70, 40, 10], [60, 1600, 40], [30, 0, 130]])


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def cells(axes):
    """Return the text of each cell by (row, column)."""
    return {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in axes.texts}


def drawn(axes):
    axes.figure.canvas.draw()
    return axes


def test_counts_with_rates_of_each_row(ax):
    assert plot_confusion(COUNTS, ax, labels=NAMES) is ax
    shown = cells(drawn(ax))
    assert shown[0, 1] == "40\n33 %"
    assert shown[1, 1] == "1,600\n94 %"
    assert shown[2, 1] == "0\n0 %"
    assert [t.get_text() for t in ax.get_yticklabels()] == NAMES
    assert ax.get_xlabel() == "the model says"
    assert ax.get_ylabel() == "the truth is"
    shade = ax.images[0].get_array()
    np.testing.assert_allclose(shade.sum(axis=1), 1)


def test_rates(ax):
    shown = cells(drawn(plot_confusion(COUNTS / COUNTS.sum(), ax)))
    assert shown[1, 1] == "81 %"
    assert shown[0, 2] == "0.5 %"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1", "2"]


def test_a_confusion_matrix_draws_itself():
    matrix = confusion_matrix(["b", "a", "b"], ["b", "b", "b"])
    axes = matrix.plot(Figure().subplots())
    assert [t.get_text() for t in axes.get_xticklabels()] == ["a", "b"]
    assert cells(axes)[0, 1] == "1\n100 %"
    difference = confusion_matrix(["b", "a", "b"], ["a", "b", "b"]) - matrix
    assert cells(difference.plot(Figure().subplots()))[1, 0] == "+1"


def test_a_difference_has_signs_and_a_symmetric_scale(ax):
    other = np.add(COUNTS, [[20, -20, 0], [90, -80, -10], [0, 0, 0]])
    shown = cells(drawn(plot_difference(COUNTS, other, ax, labels=NAMES)))
    assert (shown[0, 0], shown[0, 1], shown[0, 2]) == ("+20", "−20", "0")
    assert ax.images[0].get_clim() == (-1, 1)
    assert ax.images[0].get_array()[1, 0] == 1
    as_rates = plot_difference(COUNTS / 2000, other / 2000, Figure().subplots())
    assert cells(as_rates)[1, 1] == "−4.0 %"
    with pytest.raises(ValueError, match=r"the shape \(3, 3\)"):
        plot_difference(COUNTS, COUNTS[:2, :2])


def test_costs_with_intervals(ax):
    intervals = np.array([[[0, 0], [0.5, 1.2]], [[0, 0.3], [0, 0]]])
    metric = ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [0.2, 0]], intervals=intervals)
    shown = cells(drawn(plot_cost_matrix(metric, ax)))
    assert shown == {(0, 0): "0", (0, 1): "1\n0.5 to 1.2", (1, 0): "≤ 0.3\nbounded", (1, 1): "0"}
    assert cells(metric.plot(Figure().subplots())) == shown
    plain = plot_cost_matrix([[0, 5], [1, 0]], Figure().subplots())
    assert cells(plain)[0, 1] == "5"


def test_calibration(ax):
    curve = calibration_curve([0, 0, 1, 1, 1], [0.05, 0.55, 0.52, 0.95, 1.0])
    assert plot_calibration(curve, ax) is ax
    line = ax.lines[1]
    np.testing.assert_allclose(line.get_xdata(), [0.05, 0.535, 0.975])
    np.testing.assert_allclose(line.get_ydata(), [0, 0.5, 1])
    sizes = ax.collections[0].get_sizes()
    assert sizes[0] < sizes[1] == sizes[2]
    assert curve.plot(Figure().subplots()).get_ylabel() == "share that came true"


def test_roc_without_a_metric(ax):
    drawn(plot_roc(["ill", "well", "well", "ill"], [0.9, 0.2, 0.6, 0.4], ax=ax, pos_label="ill"))
    assert ax.get_ylabel() == "share of ill called ill"
    assert "area 0.750" in ax.get_legend().get_texts()[0].get_text()
    with pytest.raises(ValueError, match="y_true: all cases are 'not b'; both must occur"):
        plot_roc(["a", "a"], [0.1, 0.2], pos_label="b")


@pytest.mark.parametrize("kind", [bool, int, str])
@pytest.mark.parametrize("positive", [True, 1, "1"])
def test_truth_values_are_the_classes_0_and_1(ax, kind, positive):
    drawn(plot_roc([kind(y) for y in (1, 0, 0, 1)], [0.9, 0.2, 0.6, 0.4], ax=ax, pos_label=positive))
    assert "area 0.750" in ax.get_legend().get_texts()[0].get_text()


def test_roc_with_the_elicited_optimal_point(ax):
    metric = ElicitedMetric.from_cost_matrix(["ok", "ill"], [[0, 0.12], [1, 0]])
    y, score = ["ok"] * 3 + ["ill"], [0.1, 0.4, 0.6, 0.5]
    drawn(plot_roc(y, score, metric, ax, pos_label="ill"))
    point = next(line for line in ax.lines if line.get_marker() == "o")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (pytest.approx(1 / 3), 1)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["model, area 0.667", "equal cost", "least cost: 0.03 a case, score from 0.5"]
    assert ax.get_xlabel() == "share of ok called ill"
    again = operating_point(y, score, metric, pos_label="ill").plot(Figure().subplots())
    assert again.get_ylabel() == ax.get_ylabel() == "share of ill called ill"


def test_cost_curve_with_break_even_points(ax):
    metric = ElicitedMetric.from_cost_matrix(
        NAMES, [[0, 1, 0.91], [0.13, 0, 0.013], [0.11, 0.03, 0]], yardstick=("naevus", "melanoma")
    )
    other = np.add(COUNTS, [[20, -20, 0], [90, -80, -10], [0, 0, 0]])
    curve = cost_curve(metric, {"first $": COUNTS, "second $": other}, ("melanoma", "naevus"))
    (point,) = curve.break_even_points()
    drawn(curve.plot(ax))
    marker = next(line for line in ax.lines if line.get_marker() == "o")
    assert marker.get_xdata()[0] == point.ratio
    assert "first $ | second $" in ax.texts[0].get_text()
    first = ax.lines[0]
    np.testing.assert_allclose(first.get_ydata(), curve.cost(first.get_xdata())[0])
    low, high = ax.get_xlim()
    assert low < min(point.ratio, curve.elicited)
    assert max(point.ratio, curve.elicited) < high
    assert "elicited: 7.7" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert plot_cost_curve(cost_curve(metric, {"one": COUNTS}, ("melanoma", "naevus")), Figure().subplots())


def test_a_concern_score_shows_where_it_comes_from(ax):
    rng = np.random.default_rng(0)
    y, proba, weight = rng.integers(3, size=40), rng.dirichlet([1, 1, 1], 40), rng.random(40)
    score = meta_pattern_concern_score(y, proba, class_weight=[1, 2, 3], sample_weight=weight, labels=[0, 1, 2])
    expected = np.zeros((3, 3))
    for i in range(40):
        expected[y[i], proba[i].argmax()] += weight[i] * (1 + y[i]) * score.per_sample[i]
    np.testing.assert_allclose(score.shares, expected / expected.sum(), atol=1e-12)
    assert score.plot(ax) is ax
    assert [text.get_text() for text in ax.texts] == [percent(share) for share in score.shares.ravel()]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("the truth is", "the model says")
    right = meta_pattern_concern_score([0, 1], [[1, 0], [0, 1]])
    assert not right.shares.any()
    assert right.plot(Figure().subplots())


def test_a_relevance_score_shows_its_cases(ax):
    # P(a) = 2/3, P(b) = 1/3: a right answer, b for a (case 5) and a for b (case 2).
    score = relevance_score(["a", "a", "b"], ["a", "b", "a"], ["x", "x", "x"])
    assert score.plot(ax=ax) is ax
    assert [bar.get_width() for bar in ax.patches] == [1, 1, 0, 0, 1]
    told = [text.get_text() for text in ax.texts]
    assert told == ["1, mean score 100.0", "1, mean score 88.9", "0", "0", "1, mean score 66.7"]


def test_a_multilabel_score_shows_its_labels(ax):
    score = penalized_multilabel_score([[1, 0], [1, 1]], [[1, 1], [1, 0]])
    assert score.plot(ax=ax) is ax
    assert [bar.get_width() for bar in ax.patches] == [1, 0]
    assert [text.get_text() for text in ax.texts] == ["100 %, score 1.00", "0 %, score -1.00"]


def test_without_axes_a_figure_is_made():
    mpl.use("agg")
    from matplotlib import pyplot

    axes = plot_confusion(COUNTS)
    assert axes.figure.number in pyplot.get_fignums()
    pyplot.close(axes.figure)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plot_confusion([[1, 2, 3]]), "square matrix"),
        (lambda: plot_confusion([[1, np.nan], [1, 1]]), "finite"),
        (lambda: plot_confusion(COUNTS, Figure().subplots(), labels=["a"]), "3 names were expected, 1 given"),
        (
            lambda: plot_difference(confusion_matrix(["a", "b"], ["a", "b"]), confusion_matrix(["b", "c"], ["b", "c"])),
            r"second: the labels \('a', 'b'\) of first were expected, found \('b', 'c'\)",
        ),
    ],
)
def test_bad_input_is_said_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
