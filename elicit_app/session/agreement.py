"""How far experts agree on the order of the mistakes: Kendall's W, in numbers and words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import first_of
from elicit_app.session.one_belief import before_the_answers
from metrics import ElicitedMetric
from metrics.elicited.kinds import thing_of
from metrics.elicited.metric_parts import range_of_draws

_SEED = 20_250_102  # the same metrics give the same range
_DRAWS, _RANKED = 1_000, 250_000  # draws of W, and ranks in all of them: W of many mistakes varies little
_NAMED = 5  # mistakes of the shared ranking that are named
_FAIR = 0.5  # mean rank correlation from which an order is shared
_WORDS = ((0.8, "alike"), (_FAIR, "roughly alike"), (-_FAIR, "differently"))


def kendall_w(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Kendall's coefficient of concordance of several rankings, with average ranks for ties.

    `scores`, shape (..., m, n), say how bad each of m judges finds each of n things; only the ranks matter. The result,
    shape (...), is 0 to 1 (the same order), and on average 1 / m if all judges rank at random; NaN if every judge
    ties everything. Sources: Kendall and Babington Smith, "The problem of m rankings", Annals of Mathematical
    Statistics 10, 1939; Siegel and Castellan, Nonparametric Statistics, 1988, section 9.4, for ties.

    >>> print(kendall_w(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])).round(3))
    0.778
    """
    m, n = scores.shape[-2:]
    centred = _ranks(scores) - (n + 1) / 2
    spread = (centred.sum(axis=-2) ** 2).sum(axis=-1)
    most = np.asarray(m * (centred**2).sum(axis=(-2, -1)))  # what it is if all rank alike, each with its own ties
    return np.asarray(np.divide(spread, most, out=np.full(most.shape, np.nan), where=most > 0))


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of each row, from 1; what is equal shares the mean of its ranks."""
    import polars as pl  # scipy.stats would take longer to load

    row = np.arange(scores.size) // scores.shape[-1]
    table = pl.DataFrame({"row": row, "score": scores.reshape(-1)})
    return table.select(pl.col("score").rank("average").over("row")).to_series().to_numpy().reshape(scores.shape)


@dataclass(frozen=True)
class Agreement:
    """How far experts agree on the order of the mistakes."""

    w: float  # Kendall's W of the estimated costs
    # W is at least this in 95 % of the draws of all experts; None where one of them has none. There is no upper end,
    # because draws that scatter rank the mistakes less alike than estimates do.
    least: float | None
    # indices of the mistakes, in the order of the family's weights, sorted by mean rank from the worst
    ranking: tuple[int, ...]
    by_chance: float  # mean of W of experts who rank the mistakes at random, as far as nothing was known beforehand
    known_before: bool = False  # whether something was stated, or expected, of all of them before the questions

    @property
    def correlation(self) -> float:
        """Return how far agreement goes beyond chance: 0 if they agree only by chance, 1 if in everything.

        Where nothing was stated or expected beforehand, and without ties, it is the mean rank correlation of all pairs
        of experts (Kendall and Babington Smith 1939).
        """
        return (self.w - self.by_chance) / (1 - self.by_chance)

    def sentence(self, names: Sequence[str], kind: str = "confusion") -> str:
        """Return the agreement as a sentence; `names` are the mistakes or amounts in the order of the weights."""
        if len(self.ranking) == 2 or math.isnan(self.w):
            return ""
        word = next((word for least, word in _WORDS if self.correlation >= least), "largely in opposite orders")
        number = f"Kendall's W {self.w:.2f}"
        if self.least is not None:
            number += f", with the doubt from the answers at least {min(self.least, self.w):.2f}"
        shown = [names[index] for index in first_of(self.ranking, _NAMED)]
        rest = len(self.ranking) - len(shown)
        order = ", ".join(shown) + (f", and {rest} more" if rest else "")
        shared = self.correlation >= _FAIR and (self.least is None or self.least > self.by_chance)
        first = "the worst" if kind == "confusion" else "what counts most"
        chance = (
            "what was stated or expected beforehand, and chance, give" if self.known_before else "chance alone gives"
        )
        scale = f"{chance} {self.by_chance:.2f}, the same order 1"
        alike = f"Their estimates rank the {thing_of(kind)}s {word} ({number}; {scale})."
        return f"{alike} {'Shared' if shared else 'Mean'} order, {first} first: {order}."


def agreement_of(metrics: Sequence[ElicitedMetric]) -> Agreement:
    """Return how far experts agree, given at least two metrics with the same family and order of classes."""
    scores = np.abs(np.stack([metric.weights for metric in metrics]))
    mean = _ranks(scores).mean(axis=0)
    ranking = tuple(int(index) for index in np.argsort(-mean, kind="stable"))
    known, experts = before_the_answers(metrics), len(metrics)
    by_chance = 1 / experts
    if known is not None and len(known) >= experts:
        sets = len(known) // experts
        by_chance = float(kendall_w(known[: sets * experts].reshape(sets, experts, -1)).mean())
    return Agreement(float(kendall_w(scores)), _least_w(metrics), ranking, by_chance, known is not None)


def _least_w(metrics: Sequence[ElicitedMetric]) -> float | None:
    """Return the lower end of the 90 % range of W over independent draws of every expert's costs."""
    draws = [metric.samples for metric in metrics if metric.samples is not None]
    if len(draws) < len(metrics):
        return None
    rng = np.random.default_rng(_SEED)
    n = min(_DRAWS, max(100, _RANKED // draws[0].shape[1]))
    chosen = [np.abs(own[rng.integers(len(own), size=n)]) for own in draws]
    return range_of_draws(kendall_w(np.stack(chosen, axis=1)))[0]
