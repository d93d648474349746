"""Meta Pattern Concern Score [W22]: how much a model's confident mistakes should concern us; lower is better.

Source: Y. Wang, D. Du, Y. Liu, "Meta Pattern Concern Score: A Novel Evaluation Measure with Human Values for
Multi-classifiers", IEEE SMC 2023.

For a row of probabilities p, true class y, the set S of the K most probable classes (first on ties) and t intervals:

* interval of class j: q_j = min(floor(t p_j), t - 1), in the precision of the probabilities;
* level: q_y for the true class, t - 1 - q_j for a wrong one; t - 1 means fully confident and right;
* penalty of a level l: -ln(l / (t - 1)), and -ln(1e-7 / (t - 1)) at level 0;
* concern of a wrong class in S: its release factor; of the true class: their sum ("sum") or K - 1 ("count").

The score of a row is the mean of the penalties over S, weighted by the concerns.

Where the paper leaves details open, this module settles them as follows.

* If the true class is alone in S, or every wrong class in S is released to factor 0, the score of the row is the
  penalty of the true class.
* A probability of 1 falls into the last interval, so that no score is negative.
* floor(t p) is computed in the precision of the given probabilities: in float64, 50 * 0.58 is 28.999..., so the
  interval is 28; float32 is not converted first.
* A row whose true class is not in S scores the mean penalty of S, without releases. This can be lower than the score
  with the true class in S; `share_outside_top_k` reports the share of such rows.
* On equal probabilities the first classes are in S.

With two classes a release cancels and has no effect. The step from level 1 to level 0 costs 16.118 for every t, so
scores with different numbers of intervals are not comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import (
    Codes,
    Measured,
    ProbabilityAccumulator,
    Totals,
    labelled_probabilities,
    probability_chunks,
    total_weight,
    weighted_sum,
)
from metrics.errors import ArgumentTypeError, InputError
from metrics.inputs.arguments import Floats, case_weights, class_weights, matrix_of, real_number, whole_number
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import Probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TrueConcern = Literal["sum", "count"]

_INTERVALS = 50
_MOST_INTERVALS = 1_000_000
_HIGHEST_PENALTY_AT = 1e-7
# With more classes than this, partitioning each row is quicker than comparing all pairs of classes.
_FEW_CLASSES = 24


class ConcernScore(ProbabilityAccumulator):
    """The mean Meta Pattern Concern Score, accumulated over batches of cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    top_k : int or None
        K; None for all classes.
    n_intervals : int
        t, 2 to 1,000,000.
    release_factors : array-like of shape (k, k) or None
        In [0, 1]; the diagonal is ignored. None: full concern everywhere.
    true_concern : {"sum", "count"}
        Concern of the true class; see the module.
    class_weight : array-like of shape (k,), mapping of label to weight, or None
        Weight of a case in the mean, by its true class.

    Raises
    ------
    InputError
        If an argument is out of range.
    """

    def __init__(
        self,
        classes: int | ArrayLike | ClassIndex,
        *,
        top_k: int | None = None,
        n_intervals: int = _INTERVALS,
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
        # One column per true class, and one without releases for cases whose true class is not in S.
        self._concern = np.column_stack([self.factors.T, np.ones(k)])
        self._right_penalty = penalties(self.n_intervals)
        self._wrong_penalty = self._right_penalty[::-1].copy()

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the sums over some cases: scores, weights, and the cases whose true class is not in S."""
        scores, outside = self.row_scores(true, proba)
        sums = {"outside": weighted_sum(outside, weight), "cases": total_weight(true, weight)}
        if self.class_weight is not None:
            sums["every case alike"] = weighted_sum(scores, weight)
            by_class = self.class_weight[true]
            weight = by_class if weight is None else weight * by_class
        return sums | {"score": weighted_sum(scores, weight), "weight": total_weight(true, weight)}

    def result(self) -> float:
        """Return the mean score of the cases; lower is better."""
        return float(self.value("score")) / self.weight()

    def unweighted(self) -> float:
        """Return the mean score without class weights, equation (9)."""
        if self.class_weight is None:
            return self.result()
        return float(self.value("every case alike")) / self.weight("cases")

    def share_outside_top_k(self) -> float:
        """Return the share of the cases whose true class is not among the K most probable."""
        return float(self.value("outside")) / self.weight("cases")

    def row_scores(self, true: Codes, proba: Probabilities) -> tuple[Floats, NDArray[np.bool_]]:
        """Return each row's score, and whether its true class, given by its column, is outside S."""
        k, n = len(self.classes), len(true)
        columns = np.ascontiguousarray(proba.T)  # class by class, because operations on whole columns are far quicker
        of_true = true * n + np.arange(n)  # position of each case's true class in this layout
        right = self._right_penalty.take(self._interval(columns.take(of_true)), mode="clip")
        penalty = self._wrong_penalty.take(self._interval(columns), mode="clip")
        if self.top_k < k:
            chosen = most_probable_set(columns, self.top_k)
            inside = chosen.take(of_true)
            concern = self._concern.take(np.where(inside, true, k), axis=1)
            concern *= chosen
        else:
            inside, concern = np.ones(n, dtype=bool), self._concern.take(true, axis=1)
        wrong = concern.sum(axis=0)
        own = inside * (wrong if self.true_concern == "sum" else self.top_k - 1.0)
        with np.errstate(invalid="ignore"):
            scores = (own * right + np.einsum("jn,jn->n", concern, penalty)) / (own + wrong)
        # Without concern for any wrong class, 0/0 is read as the penalty of the true class.
        return np.where(wrong > 0, scores, right), ~inside

    def _interval(self, proba: NDArray[Any]) -> NDArray[np.int32]:
        """Return floor(t p), which is t for p = 1; the product is rounded in the type of the probabilities."""
        intervals = np.empty(proba.shape, dtype=np.int32)
        np.multiply(proba, proba.dtype.type(self.n_intervals), out=intervals, casting="unsafe")
        return intervals


def penalties(n_intervals: int) -> NDArray[np.float64]:
    """Return the penalty of each of t >= 2 levels; it decreases to 0 at the last one.

    It is -ln(l / (t - 1)) for l >= 1 and -ln(1e-7 / (t - 1)) for l = 0. The step from l = 1 to 0 is 16.118 for every t.
    """
    levels = np.arange(n_intervals, dtype=np.float64)
    levels[0] = _HIGHEST_PENALTY_AT
    return -np.log(levels / (n_intervals - 1)) + 0.0


class MetaPatternConcernScore(Measured):
    """The score, a float, with the patterns behind it.

    The arrays are computed on first access from the arguments of the call, which are kept without a copy. If these
    have been changed since, an InputError is raised.

    Attributes
    ----------
    top_k : int
        K, the number of most probable classes considered.
    n_intervals : int
        t, the number of confidence intervals.
    share_outside_top_k : float
        Share of the (weighted) cases whose true class is not among the K.
    """

    top_k: int
    n_intervals: int
    share_outside_top_k: float
    _kernel: ConcernScore
    _true: NDArray[Any]
    _proba: Probabilities
    _weight: ArrayLike | None

    @cached_property
    def per_sample(self) -> NDArray[np.float64]:
        """Return the score of each row, shape (n,)."""
        proba, kernel = self._unchanged(), self._kernel
        return np.concatenate(
            [kernel.row_scores(self._true_columns[rows], proba[rows])[0] for rows in probability_chunks(proba)]
        )

    @cached_property
    def prediction_pattern(self) -> NDArray[np.intp]:
        """Return the K most probable classes of each row, most probable first, shape (n, K), as column indices."""
        return np.asarray(np.argsort(-self._unchanged(), axis=1, kind="stable")[:, : self.top_k])

    @cached_property
    def confidence_pattern(self) -> NDArray[np.intp]:
        """Return the levels of those classes, 0 to t - 1, shape (n, K); t - 1 means fully confident and right."""
        proba: NDArray[Any] = np.take_along_axis(self._proba, self.prediction_pattern, axis=1)
        last = self.n_intervals - 1
        intervals = np.minimum((proba * proba.dtype.type(self.n_intervals)).astype(np.intp), last)
        return np.asarray(np.where(self._is_true, intervals, last - intervals))

    @cached_property
    def concern(self) -> NDArray[np.float64]:
        """Return the concerns of those classes, the weights of their penalties, shape (n, K)."""
        wrong = self._kernel.factors[self._true_columns[:, np.newaxis], self.prediction_pattern]
        total = wrong.sum(axis=1, keepdims=True)
        if self._kernel.true_concern == "sum":
            own = np.where(total > 0, total, 1.0)
        else:
            own = np.full(total.shape, max(self.top_k - 1.0, 1.0))
        inside = self._is_true.any(axis=1, keepdims=True)
        return np.where(inside, np.where(self._is_true, own, wrong), 1.0)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Return the share of each cell in the score, shape (k, k), with sum 1, or 0 if the score is 0.

        Rows are true classes, columns the most probable classes. A cell holds the share of its cases in the weighted
        sum of all scores. Right answers with less than full confidence contribute too.
        """
        k, true = len(self._kernel.classes), self._true_columns
        scores, weight = self.per_sample, case_weights(self._weight, len(true))
        for factor in (weight, None if self._kernel.class_weight is None else self._kernel.class_weight[true]):
            scores = scores if factor is None else scores * factor
        cells = np.bincount(true * k + self.prediction_pattern[:, 0], weights=scores, minlength=k * k)
        return np.asarray(cells.reshape(k, k) / (cells.sum() or 1.0))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw `shares`: the contribution of each true and most probable class to the score.

        Draws on `ax` or on a new figure, and returns the axes.
        """
        from metrics.drawing import plot_shares

        axes = plot_shares(self.shares, ax, self._kernel.classes.labels.tolist())
        axes.set_title("where the score comes from")
        return axes

    def _unchanged(self) -> Probabilities:
        """Return the probabilities after checking that they still give the score."""
        again = self._kernel.fresh().update(self._true, self._proba, sample_weight=self._weight)
        if again.result() != float(self):
            raise InputError("y_true, y_proba or sample_weight was changed since the score was taken; take it again.")
        return self._proba

    @cached_property
    def _true_columns(self) -> NDArray[np.intp]:
        return self._kernel.classes.places(self._true, "y_true")

    @property
    def _is_true(self) -> NDArray[np.bool_]:
        return np.asarray(self.prediction_pattern == self._true_columns[:, np.newaxis])


def meta_pattern_concern_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    top_k: int | None = None,
    n_intervals: int = _INTERVALS,
    confidence_threshold: float | None = None,
    release_factors: ArrayLike | None = None,
    true_concern: TrueConcern = "sum",
    class_weight: ArrayLike | Mapping[Any, float] | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> MetaPatternConcernScore:
    """Return the Meta Pattern Concern Score [W22]; see the module for its definition and edge cases.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1.
    top_k : int, optional
        K, the number of most probable classes considered; by default all.
    n_intervals : int
        t, the number of confidence intervals, at least 2.
    confidence_threshold : float, optional
        The loss of confidence that is not penalised, in (0, 1); the paper's second human value. It sets
        ``n_intervals`` to ``round(1 / (1 - threshold))``, so that 0.98 means 50.
    release_factors : array-like of shape (k, k), optional
        Factor in [0, 1] for true class i predicted as j; 1 is full concern. See `release_matrix`.
    true_concern : {"sum", "count"}
        Concern of the true class: the sum of the concerns of the others, the paper's equation (8), or K - 1, as in the
        authors' published programs.
    class_weight : array-like of shape (k,) or mapping of label to weight, optional
        Weight of a case in the mean, by its true class.
    labels : array-like of shape (k,), optional
        Labels of the columns, in order; see `metrics.inputs.class_index` for the default.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    MetaPatternConcernScore
        A float >= 0, lower is better, with ``per_sample``, ``prediction_pattern``, ``confidence_pattern``, ``concern``,
        ``shares`` and ``share_outside_top_k``.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    kernel = ConcernScore(
        classes,
        top_k=top_k,
        n_intervals=_intervals(n_intervals, confidence_threshold),
        release_factors=release_factors,
        true_concern=true_concern,
        class_weight=class_weight,
    )
    sums = kernel.fresh().update(true, proba, sample_weight=sample_weight)
    return MetaPatternConcernScore(
        sums.result(),
        top_k=kernel.top_k,
        n_intervals=kernel.n_intervals,
        share_outside_top_k=sums.share_outside_top_k(),
        _kernel=kernel,
        _true=true,
        _proba=proba,
        _weight=sample_weight,
    )


def release_matrix(releases: Sequence[Sequence[int]], factor: float, n_classes: int) -> NDArray[np.float64]:
    """Return the release factors for the paper's human values: a release list R and one release factor.

    Parameters
    ----------
    releases : sequence of sequences of int
        Each is (true class, released class, released class, ...), as indices of classes: predicting a released class
        for this true class is of less concern.
    factor : float
        Concern of released predictions, in [0, 1]; 1 is full concern.
    n_classes : int
        k.

    Returns
    -------
    ndarray of shape (k, k)
        `factor` where released, 1 elsewhere; rows are true classes, columns are predicted classes.

    Raises
    ------
    InputError
        If a class does not exist, a class is released to itself, or the factor is not in [0, 1].

    Examples
    --------
    >>> from metrics import release_matrix
    >>> release_matrix([[0, 1]], 0.5, 3).tolist()
    [[1.0, 0.5, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    k = whole_number(n_classes, "n_classes", 2)
    concern = real_number(factor, "factor", 0, 1)
    factors = np.ones((k, k))
    if not isinstance(releases, Iterable):
        raise ArgumentTypeError(f"releases: a list of (true, released, ...) was expected, found {releases!r}.")
    for number, entry in enumerate(releases):
        if not isinstance(entry, Iterable):
            raise ArgumentTypeError(f"releases, entry {number}: (true, released, ...) was expected, found {entry!r}.")
        true, *released = (whole_number(label, f"releases, entry {number}", 0, k - 1) for label in entry)
        if not released:
            raise InputError(f"releases, entry {number}: a true class and at least one released class were expected.")
        if true in released:
            raise InputError(f"releases, entry {number}: class {true} cannot be released to itself.")
        factors[true, released] = concern
    return factors


def _intervals(n_intervals: int, confidence_threshold: float | None) -> int:
    if confidence_threshold is None:
        return n_intervals
    implied = round(1 / (1 - real_number(confidence_threshold, "confidence_threshold", 0, 1, ends=False)))
    if implied < 2:
        raise InputError(f"confidence_threshold: {confidence_threshold} leaves one interval; at least 0.34 is needed.")
    if n_intervals not in (_INTERVALS, implied):
        raise InputError(
            f"n_intervals: confidence_threshold={confidence_threshold} means {implied} intervals, found {n_intervals}; "
            "pass one of the two."
        )
    return implied


def most_probable_set(columns: NDArray[Any], size: int) -> NDArray[np.bool_]:
    """Return a mask (k, b) of the `size` most probable classes, 1 to k - 1, of each case; ties go to the first."""
    k = len(columns)
    if k > _FEW_CLASSES:
        return _set_by_partition(columns.T, size)
    # Count how many classes precede each one, starting from the order of the columns.
    rank = np.repeat(np.arange(k, dtype=np.int8)[:, np.newaxis], columns.shape[1], axis=1)
    for apart in range(1, k):
        # If the later class is more probable, it precedes the earlier one.
        swaps = (columns[:-apart] < columns[apart:]).view(np.int8)
        rank[:-apart] += swaps
        rank[apart:] -= swaps
    return rank < size


def _set_by_partition(rows: NDArray[Any], size: int) -> NDArray[np.bool_]:
    lowest = np.partition(rows, rows.shape[1] - size, axis=1)[:, -size, np.newaxis]
    chosen = rows >= lowest
    for i in np.flatnonzero(chosen.sum(axis=1) > size):  # several classes share the last place
        chosen[i] = False
        chosen[i, np.argsort(-rows[i], kind="stable")[:size]] = True
    return np.ascontiguousarray(chosen.T)


def _wrong_factors(release_factors: ArrayLike | None, classes: ClassIndex) -> NDArray[np.float64]:
    """Return the release factors with a zero diagonal: the concern of each wrong class."""
    k = len(classes)
    factors = (
        np.ones((k, k)) if release_factors is None else matrix_of(release_factors, classes, "release_factors").copy()
    )
    np.fill_diagonal(factors, 0)
    if factors.min() < 0 or factors.max() > 1:
        i, j = np.argwhere((factors < 0) | (factors > 1))[0].tolist()
        raise InputError(
            f"release_factors, entry [{i}, {j}]: a factor in [0, 1] was expected, found {factors[i, j]:g}; "
            "1 is full concern."
        )
    return factors
