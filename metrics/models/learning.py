"""Cost-aware training: a learning rate, the choice of the best epoch, an objective for LightGBM and XGBoost.

The paper (Wang, Du and Liu, "Meta Pattern Concern Score") scales the learning rate in proportion to the score, so that
training continues while predictions are of concern and slows down once they are not; see `ConcernLearningRate`.

The authors' published program multiplies the *loss* by the score instead, ``loss = loss * score``. With plain gradient
descent this is equivalent, because it scales the gradient and hence the step. With adaptive optimisers it has almost no
effect: Adam and similar methods divide the gradient by a running mean of its size, so a slowly changing factor cancels.
Scale the optimiser's learning rate, not the loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.elicited.elicited_metric import ElicitedMetric, require_metric
from metrics.errors import InputError
from metrics.inputs.arguments import Floats, case_weights, real_number, whole_number
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import few, is_text, label_array
from metrics.measures.concern import meta_pattern_concern_score

if TYPE_CHECKING:
    import torch


T = TypeVar("T")


class ConcernLearningRate:
    """A learning rate proportional to the score: ``base_rate * score / reference``, within limits.

    Parameters
    ----------
    base_rate : float
        The learning rate at the reference score, > 0.
    reference : float, optional
        The score at which the base rate applies, > 0; 1 is the paper's literal proportion. By default the first score,
        so that training begins at the base rate regardless of the scale that the number of intervals gives the scores.
    lowest, highest : float
        Limits of the factor, ``0 <= lowest <= highest``. By default the rate never falls below a hundredth of the base
        rate and never exceeds it.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> rate = ConcernLearningRate(0.1)
    >>> [round(rate.step(score), 4) for score in (1.2, 0.9, 0.3, 0.6, 0.0)]
    [0.1, 0.075, 0.025, 0.05, 0.001]
    """

    def __init__(
        self, base_rate: float, *, reference: float | None = None, lowest: float = 0.01, highest: float = 1.0
    ) -> None:
        self.base_rate = real_number(base_rate, "base_rate", 0, ends=False)
        self.reference = None if reference is None else real_number(reference, "reference", 0, ends=False)
        self.lowest = real_number(lowest, "lowest", 0)
        self.highest = real_number(highest, "highest", self.lowest)
        self.factor = self.highest if reference is None else min(self.highest, 1.0)

    @property
    def rate(self) -> float:
        """Return the learning rate after the last score."""
        return self.base_rate * self.factor

    def step(self, score: float) -> float:
        """Return the learning rate for the next epoch or batch, given the score of the last one.

        Parameters
        ----------
        score : float
            A Meta Pattern Concern Score, or any other score >= 0 that falls towards 0 as the model learns.

        Returns
        -------
        float
            The learning rate to set in the optimiser.

        Raises
        ------
        InputError
            If the score is negative or not finite.
        """
        value = real_number(score, "score", 0)
        if self.reference is None and value > 0:
            self.reference = value
        share = value / self.reference if self.reference else 0.0
        self.factor = min(self.highest, max(self.lowest, share))
        return self.rate

    def state_dict(self) -> dict[str, float | None]:
        """Return the state for a checkpoint."""
        return dict(vars(self))

    def load_state_dict(self, state: dict[str, float | None]) -> None:
        """Restore the state from a checkpoint."""
        vars(self).update(state)


class BestEpoch(Generic[T]):
    """Keeps the model of the epoch with the best score, and says when to stop.

    Parameters
    ----------
    greater_is_better : bool
        False for costs, errors, likelihoods and concern; True for accuracy.
    patience : int, optional
        Stop after this many consecutive epochs without a better score, at least 1; by default never.

    Attributes
    ----------
    scores : list of float
        The scores so far, one per epoch.
    epoch : int or None
        Index of the best epoch; the first on ties.
    model : object or None
        The object kept from the best epoch.

    Examples
    --------
    >>> best = BestEpoch(patience=2)
    >>> for epoch, cost in enumerate([0.5, 0.3, 0.4, 0.31, 0.2]):
    ...     best.update(cost, lambda: f"weights of epoch {epoch}")
    ...     if best.should_stop:
    ...         break
    >>> best.model, len(best.scores)
    ('weights of epoch 1', 4)
    """

    def __init__(self, *, greater_is_better: bool = False, patience: int | None = None) -> None:
        self.greater_is_better = greater_is_better
        self.patience = None if patience is None else whole_number(patience, "patience", 1)
        self.scores: list[float] = []
        self.epoch: int | None = None
        self.model: T | None = None

    def update(self, score: float, keep: Callable[[], T]) -> None:
        """Add the score of the next epoch; if it is the best so far, keep the result of `keep()`.

        Parameters
        ----------
        score : float
            Score on held-out cases.
        keep : callable
            Returns a copy of the model or of its weights: ``lambda: copy.deepcopy(model)``.

        Raises
        ------
        InputError
            If the score is NaN.
        """
        value = float(score)
        if math.isnan(value):
            raise InputError("score is NaN; the metric could not be worked out for this epoch.")
        self.scores.append(value)
        best = None if self.epoch is None else self.scores[self.epoch]
        if best is None or (value > best if self.greater_is_better else value < best):
            self.epoch, self.model = len(self.scores) - 1, keep()

    @property
    def should_stop(self) -> bool:
        """Return whether `patience` epochs have passed without a better score."""
        if self.patience is None or self.epoch is None:
            return False
        return len(self.scores) - 1 - self.epoch >= self.patience


_LEAST_CURVATURE = 1e-6


class ExpectedCostObjective:
    """Gradient and curvature of the expected misclassification cost, sum_j p_j C[y, j], p the softmax of the margins.

    Pass it as ``objective`` to `lightgbm.LGBMClassifier` or `xgboost.XGBClassifier`. The expected cost is not convex;
    its curvature is replaced by p_j (1 - p_j) times the largest cost, so that steps remain finite. Decide by the
    largest margin: the margins do not give probabilities, and least-cost decisions would count the costs twice.

    Parameters
    ----------
    metric : ElicitedMetric
        The costs of mistakes. Both libraries pass 0, ..., k-1 to an objective, in the sorted order of the labels; the
        metric's labels are sorted to match.

    Raises
    ------
    InputError
        If the labels are numbers as text, as in every file, and sort differently as numbers: "2" and "10".

    Examples
    --------
    >>> from metrics import ElicitedMetric
    >>> objective = ExpectedCostObjective(ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [0.25, 0]]))
    >>> gradient, curvature = objective([0, 1], [0.0, 0.0])
    >>> gradient.tolist(), curvature.tolist()
    ([0.25, -0.0625], [0.25, 0.25])
    """

    def __init__(self, metric: ElicitedMetric) -> None:
        require_metric(metric)
        names = metric.class_index.sorted_names()
        if is_text(label_array(metric.labels, "labels")) and _sort_otherwise_as_numbers(names):
            raise InputError(
                f"labels: {few(names)} are text here, and sort differently as numbers, so it is unclear which of them "
                "the data's 0 to k-1 stand for; say so with metric.with_labels({label: number})."
            )
        order = metric.class_index.indices_of(names, "labels")
        self.cost_matrix: Floats = metric.cost_matrix[np.ix_(order, order)]
        self._classes = ClassIndex(len(order))

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Return the gradient and the curvature with respect to the margins.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Classes, 0..k-1.
        y_pred : array-like of shape (n,) or (n, k)
            Margins; for two classes that of the second.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        tuple of two ndarray
            Arrays of the shape of `y_pred`.

        Raises
        ------
        InputError
            If the number of margins differs from that of the classes, or a class is not one of the metric's.
        """
        margins, true = np.asarray(y_pred, dtype=np.float64), self._classes.indices(y_true, "y_true")
        weights = case_weights(sample_weight, len(true))
        weight = 1.0 if weights is None else weights[:, np.newaxis]
        two = len(self.cost_matrix) == 2 and margins.size == len(true)
        if not two and margins.shape != (len(true), len(self.cost_matrix)):
            raise InputError(
                f"y_pred: margins of {len(self.cost_matrix)} classes were expected, found {margins.shape}."
            )
        table = margins.reshape(len(true), -1)
        table = np.hstack([np.zeros_like(table), table]) if two else table
        proba = np.exp(table - table.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
        costs = self.cost_matrix[true]
        gradient = weight * proba * (costs - (proba * costs).sum(axis=1, keepdims=True))
        curvature = weight * np.maximum(proba * (1 - proba) * self.cost_matrix.max(), _LEAST_CURVATURE)
        kept = slice(1, None) if two else slice(None)
        return gradient[:, kept].reshape(margins.shape), curvature[:, kept].reshape(margins.shape)


def _sort_otherwise_as_numbers(names: tuple[str, ...]) -> bool:
    try:
        return sorted(names, key=float) != [*names]
    except ValueError:
        return False


class ConcernScheduler:
    """Scales the learning rate of every parameter group of an optimiser by the score.

    The ratios between the groups are preserved. Use it in place of a scheduler of `torch.optim.lr_scheduler`.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
        Its current learning rates are the base rates.
    reference, lowest, highest
        As in `metrics.models.learning.ConcernLearningRate`.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        *,
        reference: float | None = None,
        lowest: float = 0.01,
        highest: float = 1.0,
    ) -> None:
        self.optimizer = optimizer
        self.base_rates = [float(group["lr"]) for group in optimizer.param_groups]
        self._share = ConcernLearningRate(1.0, reference=reference, lowest=lowest, highest=highest)

    def step(self, score: float) -> list[float]:
        """Set and return the learning rates of the groups, given the score of an epoch or batch."""
        factor = self._share.step(score)
        rates = [base * factor for base in self.base_rates]
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint, in addition to the optimiser's own."""
        return {"base_rates": list(self.base_rates), "share": self._share.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state from a checkpoint."""
        self.base_rates = list(state["base_rates"])
        self._share.load_state_dict(state["share"])


def concern_of_logits(
    logits: torch.Tensor, targets: torch.Tensor, *, metric: ElicitedMetric | None = None, **options: Any
) -> float:
    """Return the Meta Pattern Concern Score of a batch.

    Parameters
    ----------
    logits : tensor of shape (n, k)
        Unnormalised log-probabilities, on any device.
    targets : tensor of shape (n,)
        Indices of the true classes, 0..k-1.
    metric : ElicitedMetric, optional
        Provides release factors and class weights; its classes must be in the order of the columns.
    **options
        Options of `metrics.meta_pattern_concern_score`, if no metric is given.

    Returns
    -------
    float
        The score, detached from the graph.

    Raises
    ------
    InputError
        If both options and a metric are given, the shapes do not match, or a target is not the index of a class.
    """
    if metric is not None and options:
        raise InputError(f"options: {', '.join(options)} come from the metric; give one or the other.")
    proba = logits.detach().cpu().double().softmax(dim=1).numpy()  # moved first, because some devices lack float64
    k = proba.shape[1]
    true = ClassIndex(k).indices(targets.detach().cpu().numpy(), "targets")
    if metric is None:
        return float(meta_pattern_concern_score(true, proba, labels=np.arange(k), **options))
    return float(metric.meta_pattern_concern_score([metric.labels[index] for index in true], proba))
