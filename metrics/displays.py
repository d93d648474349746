"""Displays in the style of scikit-learn: made from predictions or an estimator, with ``ax_`` and ``figure_``.

Each draws the result of a library function and keeps it as ``result``; `plot` draws it again on other axes. Columns of
probabilities follow the estimator's ``classes_``; rows of matrices are true classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from metrics.drawing import plot_shares
from metrics.elicited.elicited_metric import ElicitedMetric, require_metric
from metrics.inputs.class_index import ClassIndex
from metrics.measures.calibration import CalibrationCurve, calibration_curve
from metrics.measures.confusion import ConfusionMatrix, Normalize, confusion_matrix
from metrics.measures.costs import mean_cost
from metrics.models.cost_curves import CostCurve, cost_curve
from metrics.policies.costs import UnitCosts
from metrics.policies.judging import threshold_of
from metrics.policies.net_benefit import DecisionCurve, decision_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

__all__ = ["CalibrationDisplay", "ConfusionDisplay", "CostCurveDisplay", "CostDisplay", "DecisionCurveDisplay"]


class _Display:
    """A `result` and its plot, last drawn on the axes `ax_` of `figure_`."""

    ax_: Axes
    figure_: FigureBase

    def __init__(self, result: Any) -> None:
        self.result = result

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax` or a new figure, and return the display."""
        self.ax_ = self._draw(ax)
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Axes | None) -> Axes:
        drawn: Axes = self.result.plot(ax)
        return drawn


class ConfusionDisplay(_Display):
    """A confusion matrix: counts, with rates by row.

    Examples
    --------
    >>> display = ConfusionDisplay.from_predictions(["ill", "ill", "well"], ["well", "ill", "well"])
    >>> display.result.tolist(), display.ax_.get_ylabel()
    ([[1, 1], [0, 1]], 'the truth is')
    """

    result: ConfusionMatrix

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        normalize: Normalize | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the confusion matrix of predictions; see `metrics.confusion_matrix` for the arguments."""
        options: dict[str, Any] = {"labels": labels, "sample_weight": sample_weight, "normalize": normalize}
        return cls(confusion_matrix(y_true, y_pred, **options)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the confusion matrix of an estimator's predictions; see `from_predictions` for the options."""
        return cls.from_predictions(y, estimator.predict(X), **options)


class CostDisplay(_Display):
    """The cost of a model's mistakes under an elicited metric: the share of each kind in the total.

    `result` is the confusion matrix, `metric` the costs of its mistakes.
    """

    result: ConfusionMatrix

    def __init__(self, result: ConfusionMatrix, metric: ElicitedMetric) -> None:
        require_metric(metric)
        super().__init__(result)
        self.metric = metric
        self._counts = metric.matrix_of(result, "result")

    @property
    def cost(self) -> float:
        """Return the mean cost per case, in units of the worst mistake."""
        return mean_cost(self._counts, self.metric.cost_matrix)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        metric: ElicitedMetric,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the cost of predictions; labels are matched with the metric's classes."""
        require_metric(metric)
        counts = confusion_matrix(y_true, y_pred, labels=metric.class_index.labels, sample_weight=sample_weight)
        return cls(counts, metric).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, metric: ElicitedMetric, **options: Any) -> Self:
        """Draw the cost of an estimator's predictions; see `from_predictions` for the options."""
        return cls.from_predictions(y, estimator.predict(X), metric, **options)

    def _draw(self, ax: Axes | None) -> Axes:
        costs = self._counts * self.metric.cost_matrix
        axes = plot_shares(costs / (costs.sum() or 1.0), ax, self.metric.classes)
        axes.set_title(f"share of the cost; {self.cost:.3g} per case", fontsize=10)
        return axes


class CalibrationDisplay(_Display):
    """Observed share against predicted probability of one of two classes."""

    result: CalibrationCurve

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        n_bins: int = 10,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the calibration of probabilities; see `metrics.calibration_curve` for the arguments."""
        options: dict[str, Any] = {"n_bins": n_bins, "pos_label": pos_label, "sample_weight": sample_weight}
        return cls(calibration_curve(y_true, y_prob, **options)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, pos_label: object = None, **options: Any) -> Self:
        """Draw the calibration of an estimator's probabilities of `pos_label`, by default its second class."""
        positive, proba = _positive(estimator, X, pos_label)
        return cls.from_predictions(y, proba, pos_label=positive, **options)


class DecisionCurveDisplay(_Display):
    """Net benefit over thresholds; with a metric, the thresholds consistent with the expert's answers are shaded."""

    result: DecisionCurve

    def __init__(self, result: DecisionCurve, shaded: tuple[float, float] | None = None) -> None:
        super().__init__(result)
        self.shaded = shaded

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: Mapping[str, ArrayLike] | ArrayLike,
        *,
        metric: ElicitedMetric | None = None,
        pos_label: object = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the decision curves of models.

        Parameters
        ----------
        y_true, y_proba, pos_label
            As in `metrics.decision_curve`.
        metric : ElicitedMetric, optional
            A metric over the same two classes; the 90 % range of its threshold is shaded.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options
            Further options of `metrics.decision_curve`.
        """
        curve = decision_curve(y_true, y_proba, pos_label=pos_label, **options)
        if metric is None:
            return cls(curve).plot(ax)
        require_metric(metric)
        positive = int(metric.class_index.indices_of([curve.positive], "pos_label")[0])
        threshold = threshold_of(UnitCosts.of(metric), positive)
        return cls(curve, (threshold.low, threshold.high)).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str = "model", pos_label: object = None, **options: Any
    ) -> Self:
        """Draw the decision curve of an estimator's probabilities of `pos_label`, by default its second class."""
        positive, proba = _positive(estimator, X, pos_label)
        return cls.from_predictions(y, {name: proba}, pos_label=positive, **options)

    def _draw(self, ax: Axes | None) -> Axes:
        return self.result.plot(ax, shaded=self.shaded)


class CostCurveDisplay(_Display):
    """Costs of models over the cost of one mistake, with the points at which the cheapest model changes."""

    result: CostCurve

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: Mapping[str, ArrayLike] | ArrayLike,
        metric: ElicitedMetric,
        mistake: tuple[object, object],
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the costs of models' predictions.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_pred : mapping of str to array-like, or array-like, of shape (n,)
            Predictions per model; one alone is called "model".
        metric, mistake
            As in `metrics.cost_curve`.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        """
        require_metric(metric)
        models = y_pred if isinstance(y_pred, Mapping) else {"model": y_pred}
        every: dict[str, Any] = {"labels": metric.class_index.labels, "sample_weight": sample_weight}
        matrices = {name: confusion_matrix(y_true, predicted, **every) for name, predicted in models.items()}
        return cls(cost_curve(metric, matrices, mistake)).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        metric: ElicitedMetric,
        mistake: tuple[object, object],
        *,
        name: str = "model",
        **options: Any,
    ) -> Self:
        """Draw the cost of an estimator's predictions; further options as in `from_predictions`."""
        return cls.from_predictions(y, {name: estimator.predict(X)}, metric, mistake, **options)


def _positive(estimator: Any, X: Any, pos_label: object) -> tuple[Any, Any]:
    """Return the positive class of an estimator of two and its probabilities."""
    classes = ClassIndex(estimator.classes_, "classes_")
    column = len(classes) - 1 if pos_label is None else int(classes.indices_of([pos_label], "pos_label")[0])
    return estimator.classes_[column], np.asarray(estimator.predict_proba(X))[:, column]
