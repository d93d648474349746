"""What the disagreements of two policies could cost, though no case has shown it.

The bootstrap knows only what happened. If the first of two policies is right on all three cases on which they disagree,
no draw says otherwise, and the first seems sure to be better.

Two policies disagree on a case of class i against the first if the first is wrong and the other right. Where no case of
the class is like that, although on cases of other classes the first says j and the other i, such cases get the weight
of half a case, Gamma(1/2) beside Gamma(n) of the n cases, as under Jeffreys' prior (L. Brown, T. Cai and A. DasGupta,
"Interval estimation for a binomial proportion", Statistical Science 16, 2001). Where a case shows it, the bootstrap
knows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from metrics.inputs.arguments import Floats
from metrics.policies.cases import CaseTable, Policy

JEFFREYS = 0.5
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Pairing:
    """What p policies decide for the same cases: a row per combination of a truth and decisions that occurs."""

    true: NDArray[np.int64]  # shape (rows,)
    decided: NDArray[np.int64]  # shape (rows, p)
    cases: Floats  # shape (rows,): number of cases

    @classmethod
    def of(cls, table: CaseTable) -> Self | None:
        """Return the pairing of the policies of a table; None if it has too many cases to know it."""
        patterns = table.patterns
        if patterns is None:
            return None
        true = np.repeat(np.arange(table.n_classes), [len(own) for own in patterns.weights])
        return cls(true, np.concatenate(patterns.decided).argmax(axis=2), np.concatenate(patterns.weights))

    def unshown(self, first: NDArray[np.int64], other: NDArray[np.int64], k: int) -> Floats:
        """Return `unshown_decisions` of one pair of policies, given their decisions, each of shape (rows,)."""
        found = np.bincount(other * k + first, weights=self.cases, minlength=k * k).reshape(k, k)
        found[self.true[(other == self.true) & (first != self.true)]] = 0.0
        return np.asarray(found)


def unshown_decisions(
    policies: tuple[Policy, ...],
    first: int,
    rates: Floats,
    cases: NDArray[np.int64],
    pairing: Pairing | None,
    *,
    practice_is_known: bool = False,
) -> Floats:
    """Return what the first policy would say where only the other is right, by other and true class, shape (p, k, k).

    Rows are shares of its wrong decisions; zeros in classes where a case shows such a disagreement, or nothing says
    that there is any. The pairing has the policies that are not trivial, except present practice; `rates`, (k, p, k),
    are those of `PolicyCosts`, and `cases`, (k,), the number of cases behind those of the first. Present practice is
    not paired with the others: a class then shows nothing if one of the two is never wrong there, as far as was
    counted; of practice the rates themselves may be known.
    """
    p, k = len(policies), len(cases)
    found = np.zeros((p, k, k))
    right = np.diagonal(rates, axis1=0, axis2=2)
    known = ("always", "practice") if practice_is_known else ("always",)
    for other in range(p):
        if "practice" in (policies[first].decides, policies[other].decides):
            counted = [place for place in (first, other) if policies[place].decides not in known]
            never_wrong = (right[counted] >= 1 - _ROUNDING).any(axis=0)
            is_shown = ~never_wrong | (right[other] <= _ROUNDING)
            found[other] = np.where(is_shown[:, None], 0.0, cases @ rates[:, first])
        elif pairing is not None:
            own, of_other = (_decided(policies, index, pairing) for index in (first, other))
            found[other] = pairing.unshown(own, of_other, k)
        np.fill_diagonal(found[other], 0.0)
    found[first] = 0.0
    totals = found.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(found, totals, out=found, where=totals > 0))


def _decided(policies: tuple[Policy, ...], index: int, pairing: Pairing) -> NDArray[np.int64]:
    """Return what a policy decides in each row of the pairing."""
    if (always := policies[index].predicted) is not None:
        return np.full(len(pairing.true), always)
    return np.asarray(pairing.decided[:, index - len(policies)])
