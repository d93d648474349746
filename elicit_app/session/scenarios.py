"""The policies judged at any prevalence, and what costs least as a class becomes rarer or more common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elicit_app.elicitation.questions import Matrix
from metrics.batches import in_threads
from metrics.measures.confusion import natural_cases
from metrics.measures.costs import EQUAL_COST
from metrics.policies.cases import Policy
from metrics.policies.judgement import JudgedPolicy, Judgement
from metrics.policies.judging import CostsByPrevalence, Judge

_SAME_SHARE = 1e-9
_NEARLY = 0.05  # of the cost: what saves no more than this anywhere is about as good as its neighbours
_MOST_SHARES, _FEWEST_SHARES = 41, 9  # at which it is looked up what costs least
_WORK = 20_000_000  # probabilities corrected for it, about a third of a second


class Stretch(NamedTuple):
    """The shares of a class, from `low` to `high`, at which a model, or a decision without one, costs least."""

    low: float
    high: float
    names: tuple[str, ...]  # several if they cost about the same and change places at random

    @property
    def name(self) -> str:
        """Return the names in a row: "A", "A or B"."""
        return " or ".join(self.names)


@dataclass(frozen=True, eq=False)
class ModelView:
    """One model as it decides now: its judgement, and what else is known about its decisions."""

    judged: JudgedPolicy
    mpcs: float | None  # None if every case is of a class of weight 0
    accuracy: float

    @property
    def name(self) -> str:
        """Return the model's name."""
        return str(self.judged.policy.model)


@dataclass(frozen=True, eq=False)
class Scenarios:
    """The policies judged at any prevalence; made by `result.scenarios_of`."""

    judge: Judge
    judge_at: Callable[[Matrix], Judge]  # the same with probabilities corrected for shares of the true classes, (k,)
    costs: CostsByPrevalence
    stated: tuple[float, ...] | None  # the study's prevalence where it is stated; else it is that of the cases
    concern: Matrix  # shape (m, k): Meta Pattern Concern Score of each model over the cases of each true class
    class_weight: Matrix  # shape (k,): of the metric, for that score

    @property
    def population(self) -> int:
        """Return the number of cases that costs refer to."""
        return self.judge.population

    def decided(self, policy: Policy) -> Matrix:
        """Return how often cases of each truth are called what under a policy, at the study's own shares, (k, k)."""
        costs = self.judge.costs
        return np.asarray(self.own[:, None] * costs.rates[:, costs.policies.index(policy)])

    @property
    def own(self) -> Matrix:
        """Return the study's own shares of the true classes; a class without cases gets 0, whatever is stated."""
        counted = self.judge.costs.own_shares
        return counted if self.stated is None else proportions(np.array(self.stated) * (counted > 0))

    @property
    def classes_with_cases(self) -> tuple[int, ...]:
        """Return the true classes that have cases; nothing is known about the models on the others."""
        return tuple(int(i) for i in np.flatnonzero(self.judge.costs.cases))

    def judgement(self, shares: ArrayLike | None = None) -> Judgement:
        """Return the judgement at a prevalence, by default the study's own.

        `shares` are shares of the true classes, >= 0; only their proportions matter.
        """
        of = self.own if shares is None else proportions(shares)
        return self._at_own if np.allclose(of, self.own, rtol=0, atol=_SAME_SHARE) else self.judge_at(of).at(of)

    @cached_property
    def _at_own(self) -> Judgement:
        # counted shares are as uncertain as all other counts
        return self.judge.at(None if self.stated is None else self.own)

    def models(self, judgement: Judgement) -> tuple[ModelView, ...]:
        """Return the models as they decide now, cheapest first, according to a judgement of this judge."""
        as_is = judgement.among(lambda policy: policy.decides == "as-is")
        return tuple(self._model(one, judgement.prevalence) for one in as_is.policies)

    def with_share(self, shares: ArrayLike, true: int, share: float) -> Matrix:
        """Return the shares with that of class `true` set to `share`, in (0, 1); the others keep their proportions."""
        if not 0 < share < 1:
            raise ValueError(f"share: a number between 0 and 1 was expected, found {share:g}.")
        changed = proportions(shares) * (1 - share)
        rest = changed.sum() - changed[true]
        if rest > 0:
            changed *= (1 - share) / rest
        else:
            # All cases were of this class, so that the others have no proportions to keep.
            changed[[i for i in self.classes_with_cases if i != true]] = (1 - share) / (
                len(self.classes_with_cases) - 1
            )
        changed[true] = share
        return changed

    def cheapest(self, shares: ArrayLike, true: int, low: float, high: float) -> tuple[Stretch, ...]:
        """Return what costs least as the share of class `true` goes from `low` to `high`; see `with_share`.

        A model is named however it decides: as it is, with the costs, or corrected for the prevalence.
        """
        numbers = sum(proba.size for _, proba in self.costs.models)
        n_shares = int(np.clip(_WORK // numbers, _FEWEST_SHARES, _MOST_SHARES))
        odds = np.geomspace(low / (1 - low), high / (1 - high), n_shares)
        at = np.array([low, *(odds / (1 + odds))[1:-1], high])
        found = in_threads(lambda share: self._least_costs(self.with_share(shares, true, share)), at)
        names = tuple(found[0])
        return stretches_of(at, names, np.array([[one[name] for name in names] for one in found]))

    def _least_costs(self, shares: Matrix) -> dict[str, float]:
        """Return the least cost per case of each model, and the cost of each policy without one, by name."""
        found: dict[str, float] = {}
        for policy, cost in zip(*self.costs.at(shares), strict=True):
            name = policy.model or policy.name
            if policy.predicted is not None:
                name = self.judge.words.following(policy.predicted)
            found[name] = min(found.get(name, np.inf), float(cost))
        return found

    def cases(self, shares: ArrayLike | None = None) -> tuple[int, ...]:
        """Return the whole cases of each true class in the population."""
        of = self.own if shares is None else proportions(shares)
        return tuple(natural_cases(of, self.population))

    def _model(self, one: JudgedPolicy, shares: Matrix) -> ModelView:
        costs = self.judge.costs
        of_model = [policy.model for policy in costs.policies if policy.decides == "as-is"].index(one.policy.model)
        rates = costs.rates[:, costs.policies.index(one.policy)]
        weight = self.class_weight * shares
        return ModelView(
            judged=one,
            mpcs=float(self.concern[of_model] @ weight / weight.sum()) if weight.any() else None,
            # Rounding removes the error of a sum of shares: 0.7825 would be shown as 78.3 % here and as 78.2 %
            # elsewhere.
            accuracy=round(float(np.diagonal(rates) @ shares), 12),
        )


def proportions(shares: ArrayLike) -> Matrix:
    """Return shares, shape (k,), scaled to sum 1; raise ValueError unless all are >= 0 and one is greater."""
    of = np.asarray(shares, dtype=np.float64)
    if not (np.isfinite(of).all() and (of >= 0).all() and of.sum() > 0):
        raise ValueError("shares: numbers >= 0 were expected, at least one of them greater.")
    scaled: Matrix = of / of.sum()
    return scaled


def stretches_of(at: Matrix, names: tuple[str, ...], costs: Matrix) -> tuple[Stretch, ...]:
    """Return what costs least along ascending shares (n,), given the costs at each of them, (n, names).

    Where one is hardly cheaper than its neighbours all the way, they are named together, as far as that is so.
    """
    first = (costs <= costs.min(axis=1, keepdims=True) * (1 + EQUAL_COST)).argmax(axis=1)
    named = _named(costs, first)

    def excess(place: int, some: tuple[int, ...]) -> float:
        """Return how far some are from costing about the same."""
        return float(costs[place, some].max() - (1 + _NEARLY) * costs[place].min())

    for step, places in ((1, range(1, len(at))), (-1, range(len(at) - 2, -1, -1))):
        for place in places:
            beside = named[place - step]
            if len(named[place]) == 1 and named[place][0] in beside and excess(place, beside) <= 0:
                named[place] = beside

    def border(place: int) -> float:
        """Return the share, between two, from which on something else is named."""
        some = max(named[place - 1 : place + 1], key=len)
        before, after = excess(place - 1, some), excess(place, some)
        if len(some) == 1 or (before > 0) == (after > 0):
            own, other = first[place - 1 : place + 1]
            before, after = costs[place - 1 : place + 1, other] - costs[place - 1 : place + 1, own]
        way = before / (before - after) if before != after else 0.0
        return float(at[place - 1] + (at[place] - at[place - 1]) * way)

    starts = [0, *(place for place in range(1, len(at)) if named[place] != named[place - 1])]
    ends = [float(at[0]), *map(border, starts[1:]), float(at[-1])]
    of = [tuple(names[one] for one in named[start]) for start in starts]
    return tuple(Stretch(low, high, some) for (low, high), some in zip(pairwise(ends), of, strict=True))


def _named(costs: Matrix, first: NDArray[np.intp]) -> list[tuple[int, ...]]:
    """Return what costs least at each share, with its neighbours where it saves little from where to where it does."""
    changes = np.flatnonzero(np.diff(first)) + 1
    parts, cheapest = np.split(costs, changes), first[[0, *changes]]
    around = _neighbours(cheapest)
    near = [
        bool(others) and all((part[:, other] <= (1 + _NEARLY) * part[:, own]).all() for other in others)
        for part, own, others in zip(parts, cheapest, around, strict=True)
    ]
    found: list[tuple[int, ...]] = []
    for alike, run in groupby(zip(near, cheapest.tolist(), around, parts, strict=True), key=itemgetter(0)):
        of_run = [*run]
        together = tuple(sorted({own for _, own, *_ in of_run}.union(*(others for _, _, others, _ in of_run))))
        found += [together if alike else (own,) for _, own, _, part in of_run for _ in part]
    return found


def _neighbours(cheapest: NDArray[np.intp]) -> list[set[int]]:
    """Return what is cheapest before and after each stretch."""
    around = [-1, *cheapest.tolist(), -1]
    return [{before, after} - {-1} for before, after in zip(around, around[2:], strict=False)]
