"""The study's models where the classes are as common as in the data, or rarer or more common.

The rates within each true class are taken as they are, and so are the costs of the mistakes: only how common the true
classes are changes. So every figure is a sum over the true classes, each weighted by its share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from elicit_app.elicitation.questions import Counts, Matrix
from elicit_app.session.views.cost_lines import CostLines
from elicit_app.session.views.figures import ModelView
from metrics import natural_frequencies


@dataclass(frozen=True, eq=False)
class Scenarios:
    """What the models would cost at any prevalence; made by `results.judging.scenarios_of`.

    Parameters
    ----------
    names : tuple of str
        The m models.
    own : ndarray of shape (k,)
        Shares of the true classes in the study, as counted or as stated.
    rates : ndarray of shape (m, k, k)
        What each model says of the cases of each true class; rows sum to 1, or to 0 for a class without cases.
    costs : ndarray of shape (k, k)
        Costs of the mistakes for the whole population, in units of the yardstick.
    cost_draws : ndarray of shape (s, k, k) or None
        The same for every draw of the metric.
    concern : ndarray of shape (m, k)
        Meta Pattern Concern Score of each model over the cases of each true class.
    class_weight : ndarray of shape (k,)
        Of the metric, for that score.
    population : int
        Costs are for this many cases.
    """

    names: tuple[str, ...]
    own: Matrix
    rates: Matrix
    costs: Matrix
    cost_draws: Matrix | None
    concern: Matrix
    class_weight: Matrix
    population: int

    @property
    def known(self) -> tuple[int, ...]:
        """Return the true classes that have cases: nothing is known about models on the others."""
        return tuple(int(i) for i in np.flatnonzero(self.rates[0].sum(axis=1) > 0))

    def at(self, shares: ArrayLike | None = None) -> tuple[ModelView, ...]:
        """Return the models at a prevalence, the cheapest first; those that the answers cannot tell apart share a rank.

        Parameters
        ----------
        shares : array-like of shape (k,), optional
            Shares of the true classes, >= 0; only their proportions matter. By default those of the study.
        """
        of = self.own if shares is None else proportions(shares)
        costs = self._class_costs @ of
        draws = None if self._class_draws is None else self._class_draws @ of
        best = None if draws is None else _share_best(draws)
        order = np.argsort(costs, kind="stable")
        first = order[0]
        return tuple(
            ModelView(
                name=self.names[place],
                rank=1 + sum(_clearly_less(costs, draws, other, place) for other in order),
                cost=float(costs[place]),
                difference=float(costs[place] - costs[first]),
                difference_range=None if draws is None else _range(draws[place] - draws[first]),
                mpcs=self._concern_at(place, of),
                accuracy=float(np.diagonal(self.rates[place]) @ of),
                probability_best=None if best is None else float(best[place]),
                rates=_frozen(natural_frequencies(self.rates[place] * of[:, None], self.population)),
            )
            for place in order
        )

    def with_share(self, shares: ArrayLike, true: int, share: float) -> Matrix:
        """Return the shares with another one for class `true`; the others keep their proportions to each other.

        Parameters
        ----------
        shares : array-like of shape (k,)
            Shares before.
        true : int
            Index of the class.
        share : float
            Its new share, in (0, 1).
        """
        if not 0 < share < 1:
            raise ValueError(f"share: a number between 0 and 1 was expected, found {share:g}.")
        changed = proportions(shares) * (1 - share)
        rest = changed.sum() - changed[true]
        if rest > 0:
            changed *= (1 - share) / rest
        else:
            # All cases were of this class: the others have no proportions to keep.
            changed[[i for i in self.known if i != true]] = (1 - share) / (len(self.known) - 1)
        changed[true] = share
        return changed

    def lines(self, shares: ArrayLike, true: int) -> CostLines:
        """Return what every model costs as the share of class `true` goes from 0 to 1; see `with_share`."""
        half = self.with_share(shares, true, 0.5)
        only = np.zeros_like(half)
        only[true] = 1.0
        others = 2 * half - only
        base, end = self._class_costs @ others, self._class_costs @ only
        return CostLines(self.names, tuple(map(float, base)), tuple(map(float, end - base)))

    def cases(self, shares: ArrayLike | None = None) -> tuple[int, ...]:
        """Return whole cases of each true class out of the population."""
        of = self.own if shares is None else proportions(shares)
        return tuple(map(int, np.diagonal(natural_frequencies(np.diag(of), self.population))))

    @cached_property
    def _class_costs(self) -> Matrix:
        per_class: Matrix = np.einsum("mij,ij->mi", self.rates, self.costs)
        return per_class

    @cached_property
    def _class_draws(self) -> Matrix | None:
        return None if self.cost_draws is None else np.einsum("mij,sij->msi", self.rates, self.cost_draws)

    def _concern_at(self, place: int, shares: Matrix) -> float:
        weight = self.class_weight * shares
        total = float(weight.sum())
        # Where no case is of a class that matters there is nothing to be concerned about.
        return float(self.concern[place] @ weight) / total if total > 0 else 0.0


def proportions(shares: ArrayLike) -> Matrix:
    """Return shares scaled to the sum 1.

    Parameters
    ----------
    shares : array-like of shape (k,)
        Numbers >= 0, at least one of them greater; anything else is a ValueError.
    """
    of = np.asarray(shares, dtype=np.float64)
    if not (np.isfinite(of).all() and (of >= 0).all() and of.sum() > 0):
        raise ValueError("shares: numbers >= 0 were expected, at least one of them greater.")
    scaled: Matrix = of / of.sum()
    return scaled


def _clearly_less(costs: Matrix, draws: Matrix | None, one: int, other: int) -> bool:
    if draws is None:
        return bool(costs[one] < costs[other])
    return bool(costs[one] < costs[other] and _range(draws[other] - draws[one])[0] > 0)


def _range(values: Matrix) -> tuple[float, float]:
    low, high = np.quantile(values, (0.05, 0.95))
    return float(low), float(high)


def _share_best(draws: Matrix) -> Matrix:
    """Return how often each model is the cheapest; equal models share the draw."""
    least = draws == draws.min(axis=0)
    shares: Matrix = (least / least.sum(axis=0)).mean(axis=1)
    return shares


def _frozen(matrix: Counts) -> Counts:
    matrix.setflags(write=False)
    return matrix
