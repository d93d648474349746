"""The results that a person may be shown: those near what a study's models do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Counts, Matrix, with_count
from elicit_app.problem import Problem
from metrics.elicited.family import error_cells

WORST_ERROR = 0.5  # share of a class that may be shown wrong: every class is right more often than not

_IMAGINED_WRONG = 0.15  # share of a class that an imagined better model gets wrong
_SHARE_OF_WORST = 0.5  # a model with more than this share of the worst error in a class is replaced by a better one
# Share of the worst error up to which a count of one mistake is near what models do; and if trades are to be large
_NEAR, _NEAR_IF_LARGE = 0.5, 0.8
_USUAL = 0.5  # share of the worst error up to which a class may be wrong in the first questions
_HALF_A_PERCENT = 0.005  # shares are shown in whole per cent, and no class must read as half wrong
_SMALLER = (1.0, 0.5, 1 / 3, 0.25)  # scales tried for the amounts of a repeated trade, to make room for a base
_BASES = (1, 2, 4, 8, 16)  # sizes of a common base, as multiples of the amount traded
_LEAST_AMOUNT = 3  # cases that a reduced amount keeps at least


@dataclass(frozen=True, eq=False)
class Region:
    """The results that a person may be shown.

    Parameters
    ----------
    bases : ndarray of int, shape (n, k, k)
        Counts of the models; a model that is wrong on too much of a class is replaced by a hypothetical better one.
    most : ndarray of int, shape (k,)
        Largest number of cases of a class that may be wrong.
    near : ndarray of int, shape (k,)
        Largest count of one kind of mistake, per class, that is still near the models.
    usual : ndarray of shape (k,)
        Largest share of a class that is wrong in the first questions, which show results like those of the models.
    fixed : ndarray of bool, shape (k,), or None
        Rows in which the person moves no count, because what they show is what is good.
    """

    bases: Counts
    most: Counts
    near: Counts
    usual: Matrix
    fixed: NDArray[np.bool_] | None = None

    @classmethod
    def around(
        cls, models: Counts, worst_error: float, fixed: NDArray[np.bool_] | None = None, *, large: bool = False
    ) -> Region:
        """Return the region around what models do.

        Parameters
        ----------
        models : ndarray of int, shape (n, k, k)
            Counts of the models' most probable classes, of equal row sums.
        worst_error : float
            In (0, 1]: on both sides of a pair every class is wrong less often than this.
        fixed : ndarray of bool, shape (k,), optional
            See the class.
        large : bool
            Whether more of one mistake counts as near the models.

        Raises
        ------
        Problem
            If the worst error is out of range.
        """
        if not 0 < worst_error <= 1:
            raise Problem(f"The worst error of a class must be greater than 0 and at most 1, not {worst_error:g}.")
        sizes = models[0].sum(axis=1)
        errors = models * error_cells(models.shape[1])
        wrong = errors.sum(axis=2)
        bad = wrong > _SHARE_OF_WORST * worst_error * sizes
        allowed = np.where(bad, np.floor(min(_IMAGINED_WRONG, worst_error / 2) * sizes), wrong)
        shrunk = np.floor(errors * (allowed / np.maximum(wrong, 1))[:, :, None]).astype(np.int64)
        bases = _with_hits(np.where(bad[:, :, None], shrunk, errors), sizes)
        limit = worst_error - (_HALF_A_PERCENT if worst_error < 1 else 0)
        most = np.maximum(np.ceil(limit * sizes).astype(np.int64) - 1, 0)
        share = _NEAR_IF_LARGE if large else _NEAR
        near = np.minimum(most, np.ceil(share * worst_error * sizes).astype(np.int64))
        # Priced amounts are outcomes of batches; and with a worst error of 1 anything may come first.
        anything = worst_error == 1 or fixed is not None
        usual = np.maximum(1.0 if anything else _USUAL * worst_error, allowed.max(axis=0) / np.maximum(sizes, 1))
        return cls(bases, most, near, usual, fixed)

    def contains(self, counts: Counts) -> NDArray[np.bool_]:
        """Return which results, shape (..., k, k), have no class wrong too often; shape (...)."""
        wrong = (np.asarray(counts) * error_cells(len(self.most))).sum(axis=-1)
        return np.asarray((wrong <= self.most).all(axis=-1))

    def are_near(self, counts: Counts) -> NDArray[np.bool_]:
        """Return which results, shape (n, k, k), have no more of any mistake than is near the models; shape (n,)."""
        most = np.maximum(self.near[:, None], self.bases.max(axis=0))
        return np.asarray((np.asarray(counts) * error_cells(len(self.most)) <= most).all(axis=(1, 2)))

    def are_usual(self, rates: Matrix) -> NDArray[np.bool_]:
        """Return which results, shape (n, k, k), may appear in the first questions; shape (n,)."""
        of_class = rates.sum(axis=2)
        wrong = of_class - np.diagonal(rates, axis1=1, axis2=2)
        return np.asarray((wrong <= self.usual * of_class).all(axis=1))

    def limits(self, sides: Counts, true: NDArray[np.intp], predicted: NDArray[np.intp]) -> Counts:
        """Return the limit to which one count of each result, shape (n, k, k), may be raised; at least its value."""
        each = np.arange(len(sides))
        now = sides[each, true, predicted]
        others = sides[each, true].sum(axis=1) - sides[each, true, true] - now
        return np.asarray(np.maximum(self.most[true] - others, now))

    def common_bases(self, first: Counts, second: Counts) -> list[tuple[Counts, Counts]]:
        """Return the same trade with a common base of one of the two mistakes on both sides, in every size.

        A person with linear values must answer as before; one who feels mistakes by a power of their count does not. (A
        base of both mistakes, or smaller amounts, would reveal nothing.) The part of the two mistakes that both sides
        share is removed, and both amounts may be reduced by the same factor to make room.

        Parameters
        ----------
        first, second : ndarray of int, shape (k, k)
            A pair in which two mistakes differ, one on each side.

        Returns
        -------
        list of tuple of ndarray
            The pairs; empty if there is no room for a base of the amount traded.
        """
        apart = (first - second) * error_cells(len(first))
        cells = [(int(true), int(predicted)) for true, predicted in np.argwhere(apart)]
        if len(cells) != 2:
            return []
        found = []
        for share in _SMALLER:
            amounts = [round(share * abs(int(apart[cell]))) for cell in cells]
            if min(amounts) < _LEAST_AMOUNT and share < 1:
                break
            one, other = first, second
            for cell, amount in zip(cells, amounts, strict=True):
                one = with_count(one, cell, amount if apart[cell] > 0 else 0)
                other = with_count(other, cell, amount if apart[cell] < 0 else 0)
            for cell, amount in zip(cells, amounts, strict=True):
                room = min(self._capacity(side, cell[0]) for side in (one, other))
                for base in (times * amount for times in _BASES if times * amount <= room):
                    found += [(with_count(one, cell, one[cell] + base), with_count(other, cell, other[cell] + base))]
        return found

    def _capacity(self, side: Counts, true: int) -> int:
        """Return how many more cases of a class may be wrong."""
        return int(self.most[true] - (side[true].sum() - side[true, true]))


def _with_hits(errors: Counts, sizes: Counts) -> Counts:
    """Return matrices of counts whose rows are completed by correct cases."""
    matrices = errors.copy()
    each = np.arange(len(sizes))
    matrices[:, each, each] = sizes - errors.sum(axis=2)
    return matrices
