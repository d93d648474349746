"""Draws of the costs of policies by true class, reflecting uncertainty in the costs of mistakes and in the cases.

Each draw combines one posterior draw of the costs with one set of case weights (a Bayesian bootstrap). Both are shared
by all policies, so that draws of different policies are paired. Draws are kept by true class, so that they serve any
prevalence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import in_threads
from metrics.elicited.exchange import yardstick_of
from metrics.elicited.family import family_of
from metrics.inputs.arguments import Floats, stated_shares, whole_number
from metrics.inputs.class_index import ClassIndex
from metrics.policies.cases import CaseTable, People, Policy, Practice
from metrics.policies.discordance import JEFFREYS, Pairing, unshown_decisions

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric


DRAWS, _FEWEST_USUAL = 4_000, 1_000
_FEW_CLASSES = 10  # with more, drawing takes longer than all else, and 1,000 draws give probabilities to 2 %
_MOST_DRAWS = 1_000_000
_CHUNK = 250
_COSTS, _SHARES, _CASES, _PRACTICE, _UNSHOWN, _UNSHOWN_OF_PRACTICE = range(6)


def usual_draws(k: int) -> int:
    """Return the number of draws for k classes where none is stated: 4,000, with more than ten classes fewer.

    >>> usual_draws(2), usual_draws(10), usual_draws(20), usual_draws(50)
    (4000, 4000, 2000, 1000)
    """
    return max(_FEWEST_USUAL, DRAWS * _FEW_CLASSES // max(k, _FEW_CLASSES))


@dataclass(frozen=True, eq=False)
class UnitCosts:
    """Costs of mistakes in units of the yardstick."""

    unit: tuple[int, int]  # a cell (true, predicted) that holds the cost of the yardstick
    estimate: Floats  # shape (k, k): the metric's estimate
    draws: Floats | None  # shape (s, k, k): posterior draws, if the metric has any
    # shape (s,): cost of one yardstick mistake in each draw relative to the estimate, on the scale on which the worst
    # mistake costs 1
    worth: Floats | None = None

    @classmethod
    def of(cls, metric: ElicitedMetric) -> UnitCosts:
        """Return the costs of a metric in units of its yardstick.

        Draws in which the yardstick costs nothing cannot be expressed in its units and are omitted.
        """
        estimated, draws = cls.estimated(metric), metric.cost_samples
        unit = estimated.unit
        counts = np.zeros(0) if draws is None else draws[:, *unit].copy()
        if draws is None or not counts.any():
            return estimated
        if not counts.all():
            draws, counts = draws[counts > 0], counts[counts > 0]
        worth = counts / metric.cost_matrix[unit]
        draws /= counts[:, None, None]
        return cls(unit, estimated.estimate, draws, worth)

    @classmethod
    def estimated(cls, metric: ElicitedMetric) -> UnitCosts:
        """Return the costs of a metric in units of its yardstick, without draws."""
        unit = family_of(metric.family).cell(yardstick_of(metric))
        return cls(unit, metric.cost_matrix / metric.cost_matrix[unit], None)


@dataclass(frozen=True, eq=False)
class PolicyCosts:
    """Cost per case, by true class, of each of p policies, in units of the yardstick.

    Rates of "always" policies are exact, and the draws of the costs repeat. Neither is stored b times, which for fifty
    classes would take half a gigabyte.
    """

    policies: tuple[Policy, ...]  # in the order of the columns; policies with exact rates come first
    cases: NDArray[np.int64]  # shape (k,): number of cases by true class
    rates: Floats  # shape (k, p, k): counted shares of each policy's decisions for the cases of each true class
    unit_costs: UnitCosts
    order: NDArray[np.int64]  # shape (b,): index of the draw of the costs that goes with each draw of the cases
    shares: Floats  # shape (b, k): drawn shares of the true classes; empty without draws
    # shape (b, k, q): draws for the last q policies, whose rates are uncertain: with both uncertainties, and with that
    # of the cases alone at the estimated costs (the mean of heavy-tailed draws of the costs lies far from what is
    # reported)
    both: Floats
    from_cases: Floats
    grouped: bool  # see `CaseTable`
    people: People | None = None  # likewise
    practice: NDArray[np.int64] | None = None  # shape (k,): number of cases of present practice, if they are counted
    pairing: Pairing | None = None  # of the last policies; None if there are too many cases
    seed: int = 0

    @property
    def estimate(self) -> Floats:
        """Return the costs by true class at the metric's costs and the counted cases, shape (k, p)."""
        return np.asarray(np.einsum("ipj,ij->ip", self.rates, self.unit_costs.estimate))

    @property
    def worth(self) -> Floats:
        """Return `UnitCosts.worth` for each draw, shape (b,); ones if the costs have no draws."""
        worth = self.unit_costs.worth
        return np.ones(len(self.order)) if worth is None else worth[self.order]

    def drawn_from_both(self, shares: Floats) -> Floats:
        """Return draws of all policies' cost per case, shape (b, p), with both uncertainties, at shares (b, k)."""
        return self._cost_draws(self.both, shares, self.unit_costs.draws)

    def drawn_from_cases(self, shares: Floats) -> Floats:
        """Return draws of the cost per case with the uncertainty of the cases alone; otherwise as `drawn_from_both`."""
        return self._cost_draws(self.from_cases, shares, None)

    def drawn_from_answers(self, shares: Floats) -> Floats | None:
        """Return draws of the cost per case of all policies, shape (b, p), with the uncertainty of the costs alone.

        The shares (k,) are fixed and the cases are as counted. None if the metric has no draws.
        """
        draws = self.unit_costs.draws
        if draws is None:
            return None
        often = (shares[:, None, None] * self.rates).transpose(0, 2, 1).reshape(-1, len(self.policies))
        return np.asarray((draws.reshape(len(draws), -1) @ often)[self.order])

    def unshown_costs(self, first: int, shares: Floats) -> tuple[Floats, Floats]:
        """Return what each policy may cost less than the first though no case shows it, at shares (b, k).

        Two arrays of shape (b, p), with both uncertainties and with that of the cases alone; see
        `metrics.policies.discordance`. Present practice, which is not paired with the cases, may also cost more.
        """
        found = self._unshown_of(first, shares)
        for place, policy in enumerate(self.policies):
            if place != first and policy.decides == "practice":
                for less, more in zip(found, self._unshown_of(place, shares), strict=True):
                    less[:, place] -= more[:, first]
        return found

    def _unshown_of(self, first: int, shares: Floats) -> tuple[Floats, Floats]:
        b, p, k = len(shares), len(self.policies), len(self.cases)
        practised = self.policies[first].decides == "practice"
        cases = self.independent_cases
        if practised:  # known rates are not doubted
            cases = np.zeros(k, dtype=np.int64) if self.practice is None else self.practice
        known = self.practice is None
        often = unshown_decisions(self.policies, first, self.rates, cases, self.pairing, practice_is_known=known)
        often = often.reshape(p, -1).T
        if not b or not often.any():
            return np.zeros((b, p)), np.zeros((b, p))
        rng = _generator(self.seed, _UNSHOWN_OF_PRACTICE if practised else _UNSHOWN)
        rate = shares * rng.beta(JEFFREYS, np.maximum(cases, 1), (b, k))
        of_cases = rate @ (self.unit_costs.estimate.reshape(-1, 1) * often).reshape(k, k, p).sum(axis=1)
        draws = self.unit_costs.draws
        if draws is None:
            return of_cases, of_cases.copy()
        of_both = np.empty((b, p))
        for start in range(0, b, _CHUNK):
            part = slice(start, start + _CHUNK)
            of_both[part] = (rate[part, :, None] * draws[self.order[part]]).reshape(-1, k * k) @ often
        return of_both, of_cases

    def _cost_draws(self, doubted: Floats, shares: Floats, draws: Floats | None) -> Floats:
        found = np.empty((len(shares), len(self.policies)))
        exact = len(self.policies) - doubted.shape[2]
        rates = self.rates[:, :exact]
        if draws is None:
            found[:, :exact] = shares @ np.einsum("ipj,ij->ip", rates, self.unit_costs.estimate)
        else:
            for start in range(0, len(shares), _CHUNK):
                part = slice(start, start + _CHUNK)
                weighted = shares[part, :, None] * draws[self.order[part]]
                found[part, :exact] = np.tensordot(weighted, rates, axes=([1, 2], [0, 2]))
        found[:, exact:] = np.einsum("bkp,bk->bp", doubted, shares)
        return found

    @property
    def own_shares(self) -> Floats:
        """Return the counted shares of the true classes, shape (k,)."""
        return np.asarray(self.cases / self.cases.sum())

    @property
    def independent_cases(self) -> NDArray[np.int64]:
        """Return the number of cases by true class, (k,); of people where several cases may be of one person."""
        return self.cases if self.people is None else self.people.by_class

    def counted_on(self, policy: Policy) -> NDArray[np.int64] | None:
        """Return the number of independent cases by class behind a policy's rates, (k,); None if these are known."""
        if policy.decides == "practice":
            return self.practice
        return None if policy.model is None else self.independent_cases

    def shares_at(self, prevalence: ArrayLike | Mapping[Any, float] | None, classes: ClassIndex) -> Floats:
        """Return the stated shares of the true classes, see `stated_shares`, or the counted ones if none are stated."""
        return self.own_shares if prevalence is None else stated_shares(prevalence, classes, self.cases)


@dataclass(frozen=True, eq=False)
class Unshown:
    """What policies may cost less than one of them though no case shows it, per population."""

    costs: PolicyCosts
    shares: Floats  # shape (b, k): shares of the true classes
    population: int
    places: tuple[int, ...]  # of the policies among those of the costs

    def of(self, places: Sequence[int]) -> Unshown:
        """Return the same for some of the policies."""
        return replace(self, places=tuple(self.places[place] for place in places))

    def against(self, first: int) -> tuple[Floats, Floats]:
        """Return draws of shape (b, p) with both uncertainties, and with that of the cases alone."""
        both, cases = self.costs.unshown_costs(self.places[first], self.shares)
        return self.population * both[:, self.places], self.population * cases[:, self.places]


def policy_costs(
    costs: UnitCosts,
    table: CaseTable,
    columns: Sequence[Policy],
    others: Sequence[Policy] = (),
    practice: Practice | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    before: tuple[CaseTable, PolicyCosts] | None = None,
) -> PolicyCosts:
    """Return the costs of policies, with draws; equal for equal arguments, on every machine.

    The decisions of the policies `columns` are in the table, in this order. The `others`, which come first, are
    "always", and "practice" if `practice` is given; its counts are uncertain like those of other cases, but not paired
    with them. `before` is a table and its result for the same policies, practice, draws and seed, without draws of the
    costs: true classes whose cases, decisions and costs are unchanged are not drawn again.
    """
    whole_number(draws, "draws", 0, _MOST_DRAWS)
    whole_number(seed, "seed", 0)
    k = table.n_classes
    counted = None if practice is None else practice.counts
    exact = [policy for policy in others if policy.decides == "always" or counted is None]
    doubted = [policy for policy in others if policy not in exact]
    fixed = np.array([_rates_of(policy, practice, k) for policy in (*exact, *doubted)]).reshape(-1, k, k)
    order = _order_of_draws(costs, draws, seed)
    both = np.empty((draws, k, len(doubted) + len(columns)))
    from_cases = np.empty_like(both)

    def draw(true: int) -> None:
        if before is not None and _same_class(true, before, table, costs):
            from_cases[:, true] = before[1].from_cases[:, true]
            return
        start = 0
        # Without draws of the costs, cases are priced before they are drawn, so that each is a single number.
        price = costs.estimate[true][:, None] if costs.draws is None else None
        for part in _drawn_rates(table, true, counted if doubted else None, price, draws, seed):
            stop = start + len(part)
            from_cases[start:stop, true] = part[:, :, 0] if costs.draws is None else part @ costs.estimate[true]
            if costs.draws is not None:
                both[start:stop, true] = np.einsum("bpj,bj->bp", part, costs.draws[order[start:stop], true])
            start = stop

    in_threads(draw, range(k))  # each class has its own generator
    return PolicyCosts(
        policies=(*exact, *doubted, *columns),
        cases=table.cases,
        rates=np.concatenate([fixed.transpose(1, 0, 2), table.rates], axis=1),
        unit_costs=costs,
        order=order,
        shares=_drawn_shares(table, draws, seed) if before is None else before[1].shares,
        both=from_cases if costs.draws is None else both,
        from_cases=from_cases,
        grouped=table.grouped,
        people=table.people,
        practice=None if counted is None else counted.sum(axis=1).astype(np.int64),
        pairing=Pairing.of(table),
        seed=seed,
    )


def _same_class(true: int, before: tuple[CaseTable, PolicyCosts], table: CaseTable, costs: UnitCosts) -> bool:
    """Return whether the cases of a true class, their decisions and their costs are unchanged since `before`."""
    then, found = before
    return (
        np.array_equal(then.weights[true], table.weights[true])
        and np.array_equal(found.unit_costs.estimate[true], costs.estimate[true])
        and np.array_equal(then.decided[true], table.decided[true])
    )


def _rates_of(policy: Policy, practice: Practice | None, k: int) -> Floats:
    if policy.decides == "practice":
        assert practice is not None
        return practice.rates
    always = np.zeros((k, k))
    always[:, policy.predicted] = 1.0
    return always


def _order_of_draws(costs: UnitCosts, draws: int, seed: int) -> NDArray[np.int64]:
    """Return the index of the posterior draw for each draw; their frequencies differ by at most one."""
    if costs.draws is None:
        return np.zeros(draws, dtype=np.int64)
    return np.resize(_generator(seed, _COSTS).permutation(len(costs.draws)), draws)


def _drawn_shares(table: CaseTable, draws: int, seed: int) -> Floats:
    if table.people is None:
        weights = _generator(seed, _SHARES).standard_gamma(table.cases.astype(np.float64), (draws, table.n_classes))
    else:
        totals = np.array([decided[:, 0].sum(axis=1) for decided in table.decided])
        weights = _cases_generator(table, 0, seed).standard_gamma(1.0, (draws, totals.shape[1])) @ totals.T
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _cases_generator(table: CaseTable, true: int, seed: int) -> np.random.Generator:
    """Return the generator of the weights of a class, which is the same for all classes if they share the weights."""
    return _generator(seed, _CASES) if table.people is not None else _generator(seed, _CASES, true)


def _drawn_rates(
    table: CaseTable, true: int, practice: Floats | None, price: Floats | None, draws: int, seed: int
) -> Iterator[Floats]:
    """Yield drawn rates of one true class in parts, shape (part, policies, k), or their costs at prices (k, m).

    The rates of practice come first if its counts, shape (k, k), are given.
    """
    weights, decided = table.weights[true], table.decided[true]
    totals = decided[:, 0].sum(axis=1)
    decided = decided if price is None else decided @ price
    units, n_policies, m = decided.shape
    flat = decided.reshape(units, n_policies * m)
    # With fifty classes, cases of one class are predicted as only a few others.
    used = np.flatnonzero(flat.any(axis=0))
    few = None if 2 * len(used) > n_policies * m else flat[:, used]
    of_cases, of_practice = _cases_generator(table, true, seed), _generator(seed, _PRACTICE, true)
    # Drawing with a scalar shape parameter is faster than with an array of equal ones.
    shape = weights[0] if units and (weights == weights[0]).all() else weights
    for start in range(0, draws, _CHUNK):
        size = min(_CHUNK, draws - start)
        part = np.zeros((size, (practice is not None) + n_policies, m))
        if practice is not None:
            drawn = of_practice.standard_gamma(practice[true], (size, table.n_classes))
            rates = drawn / drawn.sum(axis=1, keepdims=True)
            part[:, 0] = rates if price is None else rates @ price
        if totals.any():
            drawn = of_cases.standard_gamma(shape, (size, units))
            weighed = (drawn @ totals)[:, None]
            if few is None:
                part[:, -n_policies:] = (drawn @ flat / weighed).reshape(size, n_policies, m)
            else:
                part.reshape(size, -1)[:, used - n_policies * m] = drawn @ few / weighed
        yield part


def _generator(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)
