"""Displays in scikit-learn's manner, and how results show themselves in a notebook."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from metrics import ElicitedMetric, InputError, Quality, confusion_matrix, judge
from metrics.displays import CalibrationDisplay, ConfusionDisplay, CostCurveDisplay, CostDisplay, DecisionCurveDisplay
from metrics.policies.recommendation import difference_words
from metrics.text import html_text

mpl.use("Agg")
X, CODES = load_breast_cancer(return_X_y=True)
X, Y = X[:160, :2] / X[:, :2].std(axis=0), np.array(["malignant", "benign"])[CODES[:160]]
WEIGHTS = -np.column_stack([np.linspace(0.9, 0.97, 40), np.sqrt(1 - np.linspace(0.9, 0.97, 40) ** 2)])
METRIC = ElicitedMetric.from_cost_matrix(["malignant", "benign"], [[0, 3], [1, 0]], samples=WEIGHTS)
MODEL = LogisticRegression(max_iter=500).fit(X, Y)
PREDICTED, PROBA = MODEL.predict(X), MODEL.predict_proba(X)


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    pyplot.close("all")


PAIRS = {
    "confusion": (
        lambda ax: ConfusionDisplay.from_predictions(Y, PREDICTED, ax=ax),
        lambda ax: ConfusionDisplay.from_estimator(MODEL, X, Y, ax=ax),
    ),
    "cost": (
        lambda ax: CostDisplay.from_predictions(Y, PREDICTED, METRIC, ax=ax),
        lambda ax: CostDisplay.from_estimator(MODEL, X, Y, METRIC, ax=ax),
    ),
    "calibration": (
        lambda ax: CalibrationDisplay.from_predictions(Y, PROBA[:, 0], pos_label="benign", ax=ax),
        lambda ax: CalibrationDisplay.from_estimator(MODEL, X, Y, pos_label="benign", ax=ax),
    ),
    "decision": (
        lambda ax: DecisionCurveDisplay.from_predictions(Y, {"model": PROBA[:, 1]}, metric=METRIC, draws=0, ax=ax),
        lambda ax: DecisionCurveDisplay.from_estimator(MODEL, X, Y, metric=METRIC, draws=0, ax=ax),
    ),
    "cost curve": (
        lambda ax: CostCurveDisplay.from_predictions(Y, PREDICTED, METRIC, ("malignant", "benign"), ax=ax),
        lambda ax: CostCurveDisplay.from_estimator(MODEL, X, Y, METRIC, ("malignant", "benign"), ax=ax),
    ),
}


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("kind", PAIRS)
def test_a_display_of_predictions_is_that_of_the_estimator(kind):
    of_predictions, of_estimator = PAIRS[kind]
    first = of_predictions(None)
    _, axes = pyplot.subplots()
    second = of_estimator(axes)
    assert second.ax_ is axes
    assert second.figure_ is axes.figure
    assert first.figure_ is not second.figure_
    assert texts_of(first.ax_) == texts_of(second.ax_)
    for one, other in zip(first.ax_.lines, second.ax_.lines, strict=True):
        np.testing.assert_allclose(one.get_xydata(), other.get_xydata())
    again = first.plot()
    assert again is first
    assert again.figure_ is not axes.figure


def test_a_cost_display_says_what_each_mistake_costs():
    display = CostDisplay.from_predictions(
        ["malignant", "malignant", "benign"], ["benign", "malignant", "malignant"], METRIC
    )
    assert display.cost == pytest.approx((1 + 1 / 3) / 3)
    assert texts_of(display.ax_) == ["0 %", "75 %", "25 %", "0 %"]
    assert display.ax_.get_title() == "share of the cost; 0.444 per case"


def test_a_decision_curve_shades_the_thresholds_that_fit_the_answers():
    display = DecisionCurveDisplay.from_estimator(MODEL, X, Y, metric=METRIC, draws=0)
    alarms = WEIGHTS[:, 1] / WEIGHTS.sum(axis=1)
    assert display.shaded == pytest.approx(np.quantile(alarms, [0.05, 0.95]))
    assert DecisionCurveDisplay.from_estimator(MODEL, X, Y, draws=0).shaded is None


NASTY = "<script>alert('&')</script>"


def test_tables_of_notebooks_are_escaped():
    metric = ElicitedMetric.from_cost_matrix(
        [NASTY, "well"],
        [[0, 4], [1, 0]],
        name=NASTY,
        intervals=[[[0, 0], [1, 1]], [[0.2, 0.3], [0, 0]]],
        quality=Quality(provisional="only 6 answers", simulated=True),
    )
    shown = metric._repr_html_()
    for html in (shown, confusion_matrix([NASTY, "well"], ["well", "well"])._repr_html_()):
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
    assert "The numbers are provisional: only 6 answers." in shown
    assert "A program answered, not a person." in shown
    assert "0.2 to 0.3" in shown


def test_tables_say_what_stands_in_rows_and_columns():
    html = confusion_matrix(["a", "a", "a", "b"], ["a", "b", "b", "b"])._repr_html_()
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html, re.DOTALL)
    assert cells == ["1\n33 %", "2\n67 %", "0\n0 %", "1\n100 %"]
    assert "the truth is" in html
    many = confusion_matrix(range(14), range(14))._repr_html_()
    assert "The first 12 of 14 classes are shown." in many


def test_tables_of_differences_and_rates_hold_what_the_plots_show():
    first, second = confusion_matrix([*"aabb"], [*"abbb"]), confusion_matrix([*"aabb"], [*"bbba"])
    for matrix in (first, first - second, first / 4):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", matrix._repr_html_(), re.DOTALL)
        assert cells == [text.get_text() for text in matrix.plot(Figure().subplots()).texts]
    assert [*map(float, re.findall(r">([+-]\d)<", (first - second)._repr_html_().replace("\N{MINUS SIGN}", "-")))] == [
        *(first - second).ravel()
    ]
    assert ">nan" in (first / np.nan)._repr_html_()


def test_a_metric_of_amounts_shows_prices_and_no_matrix_of_mistakes():
    metric = ElicitedMetric.from_weights(["found", "missed", "false"], [1, 5, 2], "dlpm", kind="multilabel")
    html = metric._repr_html_()
    assert re.findall(r"<td[^>]*>(.*?)</td>", html) == ["0.2", "", "1", "", "0.4", ""]
    assert "the truth is" not in html
    with pytest.raises(InputError, match="prices labels of items"):
        metric.plot()
    with pytest.raises(InputError, match="prices labels of items"):  # a search would call every score NaN
        metric.as_scorer()


def test_a_judgement_shows_what_to_do_first():
    judgement = judge(METRIC, Y, {"model <1>": PROBA[:, ::-1]}, draws=200)
    html = judgement._repr_html_()
    assert judgement.recommendation.sentence.partition(" ")[0] in html
    assert str(judgement).startswith(judgement.recommendation.sentence)
    assert repr(judgement).count("\n") == 0
    assert "model &lt;1&gt;" in html
    assert html.count("<tr>") == 1 + len(judgement.policies)
    # costs of policies move together: what is told is by how much one costs more than the first, as in the window
    assert all(html_text(difference_words(one)) in html for one in judgement.policies[1:])
