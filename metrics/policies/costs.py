"""What policies cost by true class, drawn from what is doubted: the costs of mistakes and the cases.

Every draw takes one posterior draw of the costs and one set of case weights (a Bayesian bootstrap), the same for all
policies: the draws of two policies are paired. They are kept by true class, so that the same draws judge the policies
at any prevalence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.elicited.exchange import yardstick_of
from metrics.elicited.family import family_of
from metrics.errors import InputError
from metrics.inputs.arguments import number_array, whole_number
from metrics.policies.cases import CaseTable, Policy, Practice

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

Floats = NDArray[np.float64]

DRAWS = 4_000
_MOST_DRAWS = 1_000_000
_CHUNK = 250
_COSTS, _SHARES, _CASES, _PRACTICE = range(4)


@dataclass(frozen=True, eq=False)
class UnitCosts:
    """Costs of mistakes in units of the yardstick.

    Parameters
    ----------
    unit : tuple of int
        A cell (true, predicted) of the yardstick.
    estimate : ndarray of shape (k, k)
        What the metric says.
    draws : ndarray of shape (s, k, k) or None
        Posterior draws, where the metric has any.
    worth : ndarray of shape (s,) or None
        What one yardstick mistake is worth in each draw, compared with the estimate, when the worst mistake always
        counts the same.
    """

    unit: tuple[int, int]
    estimate: Floats
    draws: Floats | None
    worth: Floats | None = None

    @classmethod
    def of(cls, metric: ElicitedMetric) -> UnitCosts:
        """Return the costs of a metric in units of its yardstick.

        Draws in which the yardstick costs nothing say nothing in its units and are left out.
        """
        unit = family_of(metric.family).cell(yardstick_of(metric))
        estimate, draws = metric.cost_matrix / metric.cost_matrix[unit], metric.cost_samples
        counts = np.zeros(0) if draws is None else draws[:, *unit]
        if draws is None or not counts.any():
            return cls(unit, estimate, None)
        draws, counts = draws[counts > 0], counts[counts > 0]
        return cls(unit, estimate, draws / counts[:, None, None], counts / metric.cost_matrix[unit])


@dataclass(frozen=True, eq=False)
class PolicyCosts:
    """Cost per case of each true class of each of p policies, in units of the yardstick.

    Parameters
    ----------
    policies : tuple of Policy
        In the order of the columns.
    cases : ndarray of shape (k,)
        Number of cases by true class.
    rates : ndarray of shape (k, p, k)
        What each policy decides for the cases of each true class, as counted.
    estimate : ndarray of shape (k, p)
        At the metric's costs and the counted cases.
    shares : ndarray of shape (b, k)
        Drawn shares of the true classes; empty without draws.
    both, from_cases : ndarray of shape (b, k, p)
        Drawn from both doubts; from the cases alone, the costs as estimated (the mean of heavy-tailed draws lies far
        from what is reported).
    from_answers : ndarray of shape (b, k, p) or None
        Drawn from the costs alone, the cases as counted; None where the metric has no draws.
    worth : ndarray of shape (b,)
        As in `UnitCosts`, of the same draws; ones without draws of the costs.
    grouped : bool
        See `CaseTable`.
    """

    policies: tuple[Policy, ...]
    cases: NDArray[np.int64]
    rates: Floats
    estimate: Floats
    shares: Floats
    both: Floats
    from_cases: Floats
    from_answers: Floats | None
    worth: Floats
    grouped: bool

    @property
    def own_shares(self) -> Floats:
        """Return the shares of the true classes as counted, shape (k,)."""
        return np.asarray(self.cases / self.cases.sum())

    def shares_for(self, prevalence: ArrayLike) -> Floats:
        """Return a stated prevalence as shares of sum 1.

        Raises
        ------
        InputError
            Where it is none, or names a class without cases.
        """
        shares = number_array(prevalence, "prevalence")
        if shares.shape != self.cases.shape or (shares < 0).any() or not shares.any():
            raise InputError(f"prevalence: {len(self.cases)} shares >= 0 were expected, one per class.")
        empty = (shares > 0) & (self.cases == 0)
        if empty.any():
            raise InputError(
                f"prevalence: class {int(empty.argmax())} has no cases, so nothing is known of it; its share must be 0."
            )
        return np.asarray(shares / shares.sum())


def policy_costs(
    costs: UnitCosts,
    table: CaseTable,
    columns: Sequence[Policy],
    others: Sequence[Policy] = (),
    practice: Practice | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> PolicyCosts:
    """Return what policies cost, with draws.

    Parameters
    ----------
    costs : UnitCosts
        Of the metric.
    table : CaseTable
        Truth and decisions.
    columns : sequence of Policy
        Whose decisions the table has, in its order.
    others : sequence of Policy
        Policies that need no decisions: "always", and "practice" where `practice` is given. They come first.
    practice : Practice, optional
        What people do today. Its counts are doubted like other cases, but are not paired with them.
    draws : int
        How many; 0 for none.
    seed : int
        Of all that is drawn.

    Returns
    -------
    PolicyCosts
        The same for the same arguments, whatever the machine.
    """
    whole_number(draws, "draws", 0, _MOST_DRAWS)
    k, policies = table.n_classes, (*others, *columns)
    fixed = np.array([_rates_of(policy, practice, k) for policy in others]).reshape(len(others), k, k)
    rates = np.concatenate([fixed.transpose(1, 0, 2), table.rates], axis=1)
    drawn, worth = _drawn_costs(costs, draws, seed)
    both = np.empty((draws, k, len(policies)))
    from_cases = np.empty_like(both)
    counts = np.zeros_like(fixed)
    if practice is not None and practice.counts is not None:
        counts[[policy.decides == "practice" for policy in others]] = practice.counts
    for true in range(k):
        start = 0
        for part in _drawn_rates(table, true, fixed[:, true], counts[:, true], draws, seed):
            stop = start + len(part)
            from_cases[start:stop, true] = part @ costs.estimate[true]
            if drawn is not None:
                both[start:stop, true] = np.einsum("bpj,bj->bp", part, drawn[start:stop, true])
            start = stop
    return PolicyCosts(
        policies=policies,
        cases=table.cases,
        rates=rates,
        estimate=np.einsum("ipj,ij->ip", rates, costs.estimate),
        shares=_drawn_shares(table.cases, draws, seed),
        both=from_cases if drawn is None else both,
        from_cases=from_cases,
        from_answers=None if drawn is None else np.einsum("ipj,bij->bip", rates, drawn, optimize=True),
        worth=worth,
        grouped=table.grouped,
    )


def _rates_of(policy: Policy, practice: Practice | None, k: int) -> Floats:
    if policy.decides == "practice":
        assert practice is not None
        return practice.rates
    always = np.zeros((k, k))
    always[:, policy.predicted] = 1.0
    return always


def _drawn_costs(costs: UnitCosts, draws: int, seed: int) -> tuple[Floats | None, Floats]:
    """Return as many draws of the costs as are wanted, each posterior draw as often as the others but for one."""
    if costs.draws is None or costs.worth is None:
        return None, np.ones(draws)
    order = np.resize(_generator(seed, _COSTS).permutation(len(costs.draws)), draws)
    return costs.draws[order], costs.worth[order]


def _drawn_shares(cases: NDArray[np.int64], draws: int, seed: int) -> Floats:
    weights = _generator(seed, _SHARES).standard_gamma(cases.astype(np.float64), (draws, len(cases)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _drawn_rates(table: CaseTable, true: int, fixed: Floats, counts: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Yield drawn rates of one true class in parts, shape (part, policies, k).

    Parameters
    ----------
    table, true
        Of which class.
    fixed : ndarray of shape (others, k)
        Rates of the policies that do not depend on the cases.
    counts : ndarray of shape (others, k)
        Counted cases of those whose rates are doubted; rows of zeros for those whose rates are not.
    """
    weights, decided = table.weights[true], table.decided[true]
    units, n_policies, k = decided.shape
    flat, totals = decided.reshape(units, n_policies * k), decided[:, 0].sum(axis=1)
    of_cases, of_practice = _generator(seed, _CASES, true), _generator(seed, _PRACTICE, true)
    for start in range(0, draws, _CHUNK):
        size = min(_CHUNK, draws - start)
        part = np.zeros((size, len(fixed) + n_policies, k))
        part[:, : len(fixed)] = fixed
        for place in np.flatnonzero(counts.any(axis=1)):
            drawn = of_practice.standard_gamma(counts[place], (size, k))
            part[:, place] = drawn / drawn.sum(axis=1, keepdims=True)
        if units:
            drawn = of_cases.standard_gamma(weights, (size, units))
            part[:, len(fixed) :] = (drawn @ flat / (drawn @ totals)[:, None]).reshape(size, n_policies, k)
        yield part


def _generator(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)
