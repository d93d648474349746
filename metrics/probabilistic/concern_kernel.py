"""The Meta Pattern Concern Score of a block of rows [W22].

Row of probabilities p, true class y, the K most probable classes S (of equal ones the first), t intervals:

* interval of class j: q_j = min(floor(t p_j), t - 1), in the precision of the probabilities;
* level: q_y for the true class, t - 1 - q_j for a wrong one; t - 1 is as confident as can be, in the right direction;
* penalty of a level l: -ln(l / (t - 1)), and -ln(1e-7 / (t - 1)) at level 0;
* concern of a wrong class in S: its release factor; of the true class: their sum ("sum") or K - 1 ("count").

The score of a row is the mean of the penalties over S, weighted with the concerns.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.accumulators import Totals
from metrics.batches.blocks import Block
from metrics.batches.predictions import ProbabilityAccumulator
from metrics.errors import InputError
from metrics.inputs.arguments import class_weights, square_matrix, whole_number
from metrics.inputs.labels import Classes
from metrics.inputs.probabilities import ROW_SUM_TOLERANCE
from metrics.inputs.tables import matrix_by_name

TrueConcern = Literal["sum", "count"]

_HIGHEST_PENALTY_AT = 1e-7
_MOST_INTERVALS = 1_000_000
# With more classes than this a partition of each row is quicker than comparing every pair of classes.
_FEW_CLASSES = 24
# Up to this many numbers (2 MB) what a class adds to the score is looked up by true class and interval.
_LARGEST_TABLE = 262_144


class ConcernScore(ProbabilityAccumulator):
    """The mean Meta Pattern Concern Score, taking its cases in batches.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels in the order of the columns.
    top_k : int or None
        K; None for all classes.
    n_intervals : int
        t, 2 to 1,000,000.
    release_factors : array-like of shape (k, k) or None
        In [0, 1]; the diagonal does not matter. None: full concern everywhere.
    true_concern : {"sum", "count"}
        See the module.
    class_weight : array-like of shape (k,), mapping of label to weight, or None
        Weight of a case in the mean by its true class.

    Raises
    ------
    InputError
        Where an argument is out of its range.
    """

    by_column = True

    def __init__(
        self,
        classes: int | ArrayLike | Classes,
        *,
        top_k: int | None = None,
        n_intervals: int = 50,
        release_factors: ArrayLike | None = None,
        true_concern: TrueConcern = "sum",
        class_weight: Any = None,
    ) -> None:
        super().__init__(classes)
        k = len(self.classes)
        self.top_k = k if top_k is None else whole_number(top_k, "top_k", 1, k)
        self.n_intervals = whole_number(n_intervals, "n_intervals", 2, _MOST_INTERVALS)
        if true_concern not in ("sum", "count"):
            raise InputError(f"true_concern: 'sum' or 'count' was expected, found {true_concern!r}.")
        self.true_concern = true_concern
        self.factors = _wrong_factors(release_factors, self.classes)
        self.class_weight = None if class_weight is None else class_weights(class_weight, self.classes)
        # One more row, of full concern, for cases whose true class is not in S.
        self._factors_by_column = np.vstack([self.factors, np.ones(k)]).T.copy()
        self._right_penalty = penalties(self.n_intervals)
        self._wrong_penalty = self._right_penalty[::-1].copy()
        # Cells of a true class: also for what is over 1 within the tolerance, so that nothing has to be cut off.
        self._width = int(self.n_intervals * (1 + ROW_SUM_TOLERANCE)) + 2
        small = 2 * k * (k + 1) * self._width < _LARGEST_TABLE
        self._table = self._parts_of_score() if small and self.top_k == k else None
        self._pairs = self._parts_of_sums() if small and self.top_k < k else None

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the sums: scores, weights, and the cases whose true class is not in S."""
        return dict.fromkeys(("score", "weight", "outside", "cases"), ())

    def setting(self) -> dict[str, Any]:
        """Return everything but the sums."""
        names = ("classes", "top_k", "n_intervals", "true_concern", "factors", "class_weight")
        return {name: getattr(self, name) for name in names}

    def totals(self, block: Block) -> Totals:
        """Return the sums over a block."""
        scores, outside = self.row_scores(block)
        sums = {"outside": block.total(outside), "cases": block.total_weight}
        if self.class_weight is None:
            return sums | {"score": block.total(scores), "weight": block.total_weight}
        own = self.class_weight.take(block.true)
        scores *= own
        return sums | {"score": block.total(scores), "weight": block.total(own)}

    def result(self) -> float:
        """Return the mean score of the cases; lower is better."""
        return float(self.value("score") / self.weight())

    def share_outside_top_k(self) -> float:
        """Return the share of the cases whose true class is not among the K most probable."""
        return float(self.value("outside") / self.weight("cases"))

    def row_scores(self, block: Block) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return each row's score, and whether its true class is outside S.

        Parameters
        ----------
        block : Block
            b rows.

        Returns
        -------
        tuple of ndarray of shape (b,)
            Scores, of float64, and booleans.
        """
        if self._table is not None:
            return self._looked_up(block, self._table), np.zeros(len(block.true), dtype=bool)
        of_true = self._intervals(block.true_probability, block.space.array("cell", block.true.shape, np.int32))
        right = np.take(self._right_penalty, of_true, mode="clip")
        chosen = None if self.top_k == len(self.classes) else most_probable_set(block, self.top_k)
        inside = np.ones(len(right), dtype=bool) if chosen is None else block.of_true_class(chosen)
        weighted, wrong_concern = self._wrong_classes(block, chosen, inside)
        true_concern = inside * self._true_concern(wrong_concern)
        weighted += true_concern * right
        true_concern += wrong_concern
        alone = wrong_concern <= 0
        if alone.any():  # with no concern for any wrong class only the true class counts: 0/0 is read as its penalty
            weighted[alone], true_concern[alone] = right[alone], 1.0
        weighted /= true_concern
        return weighted, ~inside

    def _true_concern(self, wrong_concern: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the concern of a true class in S."""
        return wrong_concern if self.true_concern == "sum" else np.full(wrong_concern.shape, self.top_k - 1.0)

    def _parts_of_score(self) -> NDArray[np.float64]:
        """Return what class j adds to the score for true class i and interval q, S being all classes: (k, cells)."""
        wrong = self.factors.sum(axis=1)
        true = self._true_concern(wrong)
        alone = wrong <= 0
        total = np.where(alone, 1.0, true + wrong)
        parts = (self.factors / total[:, np.newaxis]).T[:, :, np.newaxis] * self._by_interval(self._wrong_penalty)
        each = np.arange(len(self.classes))
        right = self._by_interval(self._right_penalty)
        parts[each, each] = np.where(alone, 1.0, true / total)[:, np.newaxis] * right
        return parts.reshape(len(each), -1)

    def _parts_of_sums(self) -> NDArray[np.complex128]:
        """Return what class j adds to the sums over wrong classes for true class i (k: outside S) and interval q.

        The real part is concern times penalty, the imaginary part concern, so that one look brings both; before all
        others comes a cell of zeros, for classes outside S: (k, 1 + cells).
        """
        concern = self._factors_by_column[:, :, np.newaxis]
        parts = concern * self._by_interval(self._wrong_penalty) + 1j * concern
        return np.pad(parts.reshape(len(parts), -1), [(0, 0), (1, 0)])

    def _by_interval(self, penalty: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the penalties of the intervals 0 to `_width` - 1; those from t on are as the last one."""
        return np.pad(penalty, (0, self._width - self.n_intervals), mode="edge")

    def _looked_up(self, block: Block, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each row's score as a sum over the classes."""
        b = len(block.true)
        cell, part = block.space.array("cell", (b,), np.int32), block.space.array("part", (b,), np.float64)
        first = block.true.astype(np.int32) * self._width
        scores = np.zeros(b)
        for probability, parts in zip(block.columns, table, strict=True):
            self._intervals(probability, cell)
            cell += first
            scores += np.take(parts, cell, out=part, mode="clip")
        return scores

    def _sums_looked_up(
        self, block: Block, table: NDArray[np.complex128], chosen: NDArray[np.bool_], true: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what `_wrong_classes` does, by a table; `true` is k where the true class is not in S."""
        b = len(true)
        cells = self._intervals(block.columns, block.space.array("cells", chosen.shape, np.int32))
        cells += true.astype(np.int32) * self._width + 1
        cells *= chosen
        part, sums = (block.space.array(name, (b,), np.complex128) for name in ("part", "sums"))
        sums[:] = 0
        for cell, parts in zip(cells, table, strict=True):
            sums += np.take(parts, cell, out=part, mode="clip")
        return sums.real.copy(), sums.imag.copy()

    def _wrong_classes(
        self, block: Block, chosen: NDArray[np.bool_] | None, inside: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return, per row, the sum over the wrong classes of S of concern times penalty, and that of concern."""
        columns, space, b = block.columns, block.space, len(block.true)
        true = block.true if chosen is None else np.where(inside, block.true, len(self.classes))
        if chosen is not None and self._pairs is not None:
            return self._sums_looked_up(block, self._pairs, chosen, true)
        interval, penalty, concern = (
            space.array("interval", (b,), np.int32),
            space.array("penalty", (b,), np.float64),
            space.array("concern", (b,), np.float64),
        )
        weighted, total = np.zeros(b), np.zeros(b)
        for j, factors in enumerate(self._factors_by_column):  # class by class, so that all of it stays in the cache
            np.take(self._wrong_penalty, self._intervals(columns[j], interval), out=penalty, mode="clip")
            np.take(factors, true, out=concern, mode="clip")
            if chosen is not None:
                concern *= chosen[j]
            total += concern
            concern *= penalty
            weighted += concern
        return weighted, total

    def _intervals(self, proba: NDArray[Any], out: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return floor(t p), which is t for p = 1; the product is rounded in the type of the probabilities."""
        np.multiply(proba, proba.dtype.type(self.n_intervals), out=out, casting="unsafe")
        return out


def penalties(n_intervals: int) -> NDArray[np.float64]:
    """Return the penalty of each level: decreasing, 0 at the last one.

    Parameters
    ----------
    n_intervals : int
        t >= 2.

    Returns
    -------
    ndarray of shape (t,)
        -ln(l / (t - 1)) for l >= 1 and -ln(1e-7 / (t - 1)) for l = 0. The step between them is 16.118 whatever t.
    """
    levels = np.arange(n_intervals, dtype=np.float64)
    levels[0] = _HIGHEST_PENALTY_AT
    return -np.log(levels / (n_intervals - 1)) + 0.0


def most_probable_set(block: Block, size: int) -> NDArray[np.bool_]:
    """Return which classes are among the most probable ones of each row; of equal ones the first are.

    Parameters
    ----------
    block : Block
        b rows.
    size : int
        How many classes, 1 to k - 1.

    Returns
    -------
    ndarray of bool, shape (k, b)
        `size` are true in each column.
    """
    if len(block.columns) > _FEW_CLASSES:
        return _set_by_partition(block, size)
    return _set_by_rank(block, size)


def _set_by_rank(block: Block, size: int) -> NDArray[np.bool_]:
    """Count for each class how many come before it, by comparing every pair of classes."""
    columns, space = block.columns, block.space
    k, b = columns.shape
    rank = space.array("rank", (k, b), np.int8)
    rank[:] = np.arange(k, dtype=np.int8)[:, np.newaxis]  # as if every class came after those to its left
    passed: NDArray[np.bool_] = space.array("passed", (k, b), bool)
    for apart in range(1, k):
        # Where the class further to the right is more probable it comes before the other one.
        np.less(columns[:-apart], columns[apart:], out=passed[apart:])
        swaps = passed[apart:].view(np.int8)
        rank[:-apart] += swaps
        rank[apart:] -= swaps
    np.less(rank, np.int8(size), out=passed)
    return passed


def _set_by_partition(block: Block, size: int) -> NDArray[np.bool_]:
    rows: NDArray[Any] = block.rows
    lowest = np.partition(rows, rows.shape[1] - size, axis=1)[:, -size, np.newaxis]
    chosen = rows >= lowest
    for i in np.flatnonzero(chosen.sum(axis=1) > size):  # several classes share the last place
        chosen[i] = False
        chosen[i, np.argsort(-rows[i], kind="stable")[:size]] = True
    return np.ascontiguousarray(chosen.T)


def _wrong_factors(release_factors: ArrayLike | None, classes: Classes) -> NDArray[np.float64]:
    """Return the release factors with a zero diagonal: the concern of each wrong class."""
    name, k = "release_factors", len(classes)
    given = np.ones((k, k)) if release_factors is None else matrix_by_name(release_factors, classes.names, name)
    factors = square_matrix(given, name).copy()
    if factors.shape != (k, k):
        raise InputError(f"release_factors: {k} x {k} factors were expected, the shape is {factors.shape}.")
    np.fill_diagonal(factors, 0)
    if factors.min() < 0 or factors.max() > 1:
        i, j = np.argwhere((factors < 0) | (factors > 1))[0].tolist()
        raise InputError(
            f"release_factors, entry [{i}, {j}]: a factor in [0, 1] was expected, found {factors[i, j]:g}; "
            "1 is full concern."
        )
    return factors
