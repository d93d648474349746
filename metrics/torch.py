"""Training by an elicited metric in PyTorch (install the extra ``torch``): a loss, and a metric for torchmetrics.

In a training loop::

    loss = ExpectedCostLoss(metric)
    cost = MeanCost(metric)
    for inputs, targets in batches:
        loss(model(inputs), targets).backward()
        cost.update(model(inputs), targets)

The loss pulls the classes apart by what confusing them costs; what comes out are decisions by the largest output, no
probabilities: deciding with the costs again would count them twice. `ConcernScheduler` and `concern_of_logits` train by
the Meta Pattern Concern Score.
"""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from metrics.elicited.elicited_metric import ElicitedMetric
from metrics.elicited.family import checked_cost_matrix
from metrics.errors import InputError, explained
from metrics.models.learning import ConcernScheduler, concern_of_logits

try:
    import torch
    from torchmetrics import Metric
except ModuleNotFoundError as error:
    raise explained(error) from None

__all__ = ["ConcernScheduler", "ExpectedCostLoss", "MeanCost", "concern_of_logits"]


class ExpectedCostLoss(torch.nn.Module):  # type: ignore[misc]  # PyTorch is optional, and then of any type
    """The expected misclassification cost of the softmax of the outputs: mean of sum_j p_j C[y, j].

    Parameters
    ----------
    metric : ElicitedMetric or array-like of shape (k, k)
        What mistakes cost; rows are true classes, in the order of the outputs.
    reduction : {"mean", "sum", "none"}
        What becomes of the losses of the cases.

    Raises
    ------
    InputError
        For costs that are none, or another reduction.
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
        """
        losses = (logits.softmax(dim=1) * self.cost_matrix.to(logits.dtype)[targets]).sum(dim=1)
        return losses if self.reduction == "none" else getattr(losses, self.reduction)()


class MeanCost(Metric):  # type: ignore[misc]  # torchmetrics is optional, and then of any type
    """The mean cost per case, over batches and processes; lower is better.

    Parameters
    ----------
    metric : ElicitedMetric or array-like of shape (k, k)
        What mistakes cost; rows are true classes, in the order of the outputs.
    least_cost : bool
        Whether outputs decide for the least expected cost instead of the largest output; for calibrated probabilities
        of a model that was not trained with costs.
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
        """Take the cases of a batch.

        Parameters
        ----------
        preds : tensor of shape (n,) or (n, k)
            Indices of classes; or probabilities; or logits, which is what numbers outside of 0 to 1 are.
        target : tensor of shape (n,)
            Indices of the true classes, 0..k-1.
        """
        costs = self.cost_matrix.double()
        if preds.ndim == 2:
            proba = preds.double()
            if bool(((proba < 0) | (proba > 1)).any()):
                proba = proba.softmax(dim=1)
            preds = (proba @ costs).argmin(dim=1) if self.least_cost else proba.argmax(dim=1)
        self.total += costs[target, preds].sum()
        self.cases += len(target)

    def compute(self) -> torch.Tensor:
        """Return the mean cost, in units of the cost matrix."""
        return self.total / self.cases


def _costs(metric: ElicitedMetric | ArrayLike) -> torch.Tensor:
    return torch.tensor(metric.cost_matrix if isinstance(metric, ElicitedMetric) else checked_cost_matrix(metric))
