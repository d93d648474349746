"""Learning with the Meta Pattern Concern Score in PyTorch (install the extra ``torch``).

A training loop::

    concern = ConcernScheduler(optimizer)
    for epoch in range(epochs):
        train(model, optimizer)                      # as always; the loss is not touched
        with torch.no_grad():
            score = concern_of_logits(model(inputs), targets, metric=metric)
        concern.step(score)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.errors import InputError
from metrics.inputs.class_index import ClassIndex
from metrics.models.learning import ConcernLearningRate
from metrics.probabilistic.concern import meta_pattern_concern_score

if TYPE_CHECKING:
    import torch

    from metrics.elicited.elicited_metric import ElicitedMetric


class ConcernScheduler:
    """Scales the learning rate of every parameter group of an optimiser by the score.

    The ratios between the groups stay as they are. Use it instead of a scheduler of `torch.optim.lr_scheduler`.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
        Its learning rates at this moment are the base rates.
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
        """Take the score of an epoch or of a batch, set and return the learning rates of the groups."""
        factor = self._share.step(score)
        rates = [base * factor for base in self.base_rates]
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Return everything that a checkpoint needs beside the optimiser's own state."""
        return {"base_rates": list(self.base_rates), "share": self._share.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
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
        Gives release factors and class weights; its classes must be in the order of the columns.
    **options
        Options of `metrics.meta_pattern_concern_score`, without a metric.

    Returns
    -------
    float
        The score; no gradient flows through it.

    Raises
    ------
    InputError
        Where options and a metric are both given, the shapes do not fit, or a target is no index of a class.
    """
    if metric is not None and options:
        raise InputError(f"options: {', '.join(options)} come from the metric; give one or the other.")
    proba = logits.detach().cpu().double().softmax(dim=1).numpy()  # off the device first: not all have doubles
    k = proba.shape[1]
    true = ClassIndex(k).indices(targets.detach().cpu().numpy(), "targets")
    if metric is None:
        return float(meta_pattern_concern_score(true, proba, labels=np.arange(k), **options))
    return float(metric.meta_pattern_concern_score([metric.labels[place] for place in true], proba))


def concern_times_loss(loss: torch.Tensor, score: float) -> torch.Tensor:
    """Return the authors' published form, loss times score, for comparison.

    With an adaptive optimiser (Adam and its kin) a factor of the loss is divided out again; only plain gradient descent
    feels it. `ConcernScheduler` works with any optimiser.

    Parameters
    ----------
    loss : tensor
        A scalar with a gradient.
    score : float
        The Meta Pattern Concern Score of the same batch.

    Returns
    -------
    tensor
        The loss to call `backward` on.
    """
    return loss * float(score)
