"""How far experts agree on which mistakes are worse: Kendall's W of their rankings, and the ranking they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics import ElicitedMetric
from metrics.elicited.metric_parts import range_of_draws

_SEED = 20_250_102  # the same metrics give the same range
_DRAWS = 1_000
_NAMED = 5  # mistakes of the shared ranking that are named
_STRONG, _FAIR = 0.9, 0.6  # of W: words for what a reader cannot know from the number


def kendall_w(scores: NDArray[np.float64]) -> float:
    """Return Kendall's coefficient of concordance of several rankings, with average ranks for ties.

    Parameters
    ----------
    scores : ndarray of shape (m, n)
        How bad each of m judges finds each of n things; only the order counts.

    Returns
    -------
    float
        0 (no agreement beyond chance) to 1 (the same order); NaN where a judge tells nothing apart.

    References
    ----------
    Kendall and Babington Smith, "The problem of m rankings", Annals of Mathematical Statistics 10, 1939; Siegel and
    Castellan, Nonparametric Statistics, 1988, section 9.4, for ties.

    Examples
    --------
    >>> kendall_w(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])).__round__(3)
    0.778
    """
    ranks = _ranks(scores)
    m, n = ranks.shape
    spread = float(((ranks.sum(axis=0) - m * (n + 1) / 2) ** 2).sum())
    ties = sum(float((np.unique(row, return_counts=True)[1] ** 3.0).sum()) - n for row in ranks)
    most = (m**2 * (n**3 - n) - m * ties) / 12
    return spread / most if most > 0 else float("nan")


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata  # slow to import, and asking does without

    return np.asarray(rankdata(scores, axis=1))


@dataclass(frozen=True)
class Agreement:
    """How far experts agree on the order of the mistakes."""

    w: float  # Kendall's W of the estimated costs
    # 90 % range of W over the draws of all experts; None where one of them has none
    interval: tuple[float, float] | None
    # places of the mistakes, in the order of the family's weights, the worst first, by mean rank
    ranking: tuple[int, ...]
    experts: int  # how many were asked

    def sentence(self, names: Sequence[str]) -> str:
        """Return it in words, with the names of the mistakes, in the order of the weights, inside a sentence."""
        if len(self.ranking) == 2:
            return ""
        word = "alike" if self.w >= _STRONG else "much alike" if self.w >= _FAIR else "differently"
        number = f"Kendall's W {self.w:.2f}"
        if self.interval is not None:
            number += f", plausibly {self.interval[0]:.2f} to {self.interval[1]:.2f}"
        shown = [names[index] for index in self.ranking[:_NAMED]]
        rest = len(self.ranking) - len(shown)
        order = ", ".join(shown) + (f", and {rest} more" if rest else "")
        return f"They rank the mistakes {word} ({number}; 1 is the same order). Shared order, the worst first: {order}."


def agreement_of(metrics: Sequence[ElicitedMetric]) -> Agreement:
    """Return how far experts agree: at least two metrics of the same classes, in the same order, and family."""
    scores = np.abs(np.stack([metric.weights for metric in metrics]))
    mean = _ranks(scores).mean(axis=0)
    ranking = tuple(int(index) for index in np.argsort(-mean, kind="stable"))
    return Agreement(kendall_w(scores), _interval(metrics), ranking, len(metrics))


def _interval(metrics: Sequence[ElicitedMetric]) -> tuple[float, float] | None:
    """Return the 90 % range of W where everybody's costs are drawn, each independently of the others."""
    draws = [np.abs(metric.samples) for metric in metrics if metric.samples is not None]
    if len(draws) < len(metrics):
        return None
    rng = np.random.default_rng(_SEED)
    together = np.stack([own[rng.integers(len(own), size=_DRAWS)] for own in draws], axis=1)
    return range_of_draws([kendall_w(one) for one in together])
