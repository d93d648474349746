"""Training with an elicited metric in PyTorch (install the extra ``torch``): a loss, and a metric for torchmetrics.

In a training loop::

    loss = ExpectedCostLoss(metric)
    cost = MeanCost(metric)
    for inputs, targets in batches:
        loss(model(inputs), targets).backward()
        cost.update(model(inputs), targets)

The loss separates classes by the cost of confusing them. Its outputs are no longer probabilities: decide by the largest
one, because deciding with the costs again would count them twice. `ConcernScheduler` and `concern_of_logits` train with
the Meta Pattern Concern Score.
"""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from metrics.elicited.elicited_metric import ElicitedMetric
from metrics.elicited.family import checked_cost_matrix
from metrics.errors import InputError, as_missing_package
from metrics.measures.costs import EQUAL_COST
from metrics.models.learning import ConcernScheduler, concern_of_logits

try:
    import torch
    from torchmetrics import Metric
except ModuleNotFoundError as error:
    raise as_missing_package(error) from None

__all__ = ["ConcernScheduler", "ExpectedCostLoss", "MeanCost", "concern_of_logits"]


class ExpectedCostLoss(torch.nn.Module):  # type: ignore[misc]  # PyTorch is optional, and then of any type
    """The expected misclassification cost under the softmax of the outputs: mean of sum_j p_j C[y, j].

    Parameters
    ----------
    metric : ElicitedMetric or array-like of shape (k, k)
        What mistakes cost; rows are true classes, in the order of the outputs.
    reduction : {"mean", "sum", "none"}
        How the losses of the cases are combined.

    Raises
    ------
    InputError
        If the costs are invalid or not those of mistakes between classes, or the reduction is unknown.
    """

    def __init__(
        self, metric: ElicitedMetric | ArrayLike, *, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise InputError(f"reduction: mean, sum or none was expected, found {reduction!r}.")
        self.reduction = reduction
        self.register_buffer("cost_matrix", _costs(metric))

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : tensor of shape (n, k)
            Unnormalised log-probabilities.
        targets : tensor of shape (n,)
            Indices of the true classes, 0..k-1.

        Raises
        ------
        InputError
            If the shapes do not match.
        """
        costs = _costs_of(targets, "targets", logits, self.cost_matrix.to(logits.dtype))
        losses = (logits.softmax(dim=1) * costs).sum(dim=1)
        return losses if self.reduction == "none" else getattr(losses, self.reduction)()


class MeanCost(Metric):  # type: ignore[misc]  # torchmetrics is optional, and then of any type
    """The mean cost per case, over batches and processes; lower is better.

    Parameters
    ----------
    metric : ElicitedMetric or array-like of shape (k, k)
        What mistakes cost; rows are true classes, in the order of the outputs.
    least_cost : bool
        Whether to decide for the least expected cost instead of the largest output. Use it with calibrated
        probabilities of a model that was trained without costs.
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    def __init__(self, metric: ElicitedMetric | ArrayLike, *, least_cost: bool = False) -> None:
        super().__init__()
        self.least_cost = least_cost
        self.register_buffer("cost_matrix", _costs(metric))
        self.add_state("total", torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("cases", torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, preds: torch.Tensor, target: torch.Tensor) -> None:
        """Add the cases of a batch.

        Parameters
        ----------
        preds : tensor of shape (n,) or (n, k)
            Indices of classes, probabilities, or logits; values outside [0, 1] are taken for logits.
        target : tensor of shape (n,)
            Indices of the true classes, 0..k-1.

        Raises
        ------
        InputError
            If the shapes do not match, or an output is NaN.
        """
        costs = self.cost_matrix.double()
        of_truth = _costs_of(target, "target", preds, costs)
        decided = preds if preds.ndim == 1 else self._decided(preds.double(), costs)
        self.total += of_truth.gather(1, decided.long()[:, None]).sum()
        self.cases += len(target)

    def _decided(self, outputs: torch.Tensor, costs: torch.Tensor) -> torch.Tensor:
        if bool(outputs.isnan().any()):
            raise InputError("preds: an output is NaN; probabilities or logits were expected.")
        if not self.least_cost:
            return outputs.argmax(dim=1)
        proba = outputs.softmax(dim=1) if bool(((outputs < 0) | (outputs > 1)).any()) else outputs
        expected = proba @ costs  # the first on ties, as in `ElicitedMetric.decide`
        return (expected <= expected.amin(dim=1, keepdim=True) + EQUAL_COST * costs.max()).int().argmax(dim=1)

    def compute(self) -> torch.Tensor:
        """Return the mean cost, in units of the cost matrix."""
        return self.total / self.cases


def _costs_of(targets: torch.Tensor, name: str, outputs: torch.Tensor, costs: torch.Tensor) -> torch.Tensor:
    """Return the cost row of each case's true class, (n, k); rejects shapes that would broadcast to a wrong result."""
    n, k = len(outputs), len(costs)
    if outputs.shape not in ((n,), (n, k)) or (outputs.ndim == 1 and outputs.is_floating_point()):
        raise InputError(f"{k} outputs for each case were expected, found {tuple(outputs.shape)}, {outputs.dtype}.")
    if targets.shape != (n,) or targets.is_floating_point():
        raise InputError(
            f"{name}: the index of one class for each of {n} cases was expected, shape ({n},), found "
            f"{tuple(targets.shape)}, {targets.dtype}."
        )
    return costs.index_select(0, targets.long())


def _costs(metric: ElicitedMetric | ArrayLike) -> torch.Tensor:
    if not isinstance(metric, ElicitedMetric):
        return torch.tensor(checked_cost_matrix(metric))
    metric.require_kind("confusion")
    return torch.tensor(metric.cost_matrix)
