"""Losses of predicted probabilities, and measures of predicted numbers with their uncertainty.

Negative log-likelihood [M589] and the squared error of [W22] judge probabilities; Gaussian likelihood and interval
coverage [M589] judge numbers.

Sources: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589]; Y. Wang, D. Du, Y. Liu, "Meta
Pattern Concern Score", IEEE SMC 2023 [W22].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from metrics.batches import (
    Accumulator,
    Codes,
    ProbabilityAccumulator,
    Totals,
    labelled_probabilities,
    total_weight,
    weighted_sum,
)
from metrics.errors import InputError, refuse_rows
from metrics.inputs.arguments import Floats, class_weights, number_array, real_number, same_length
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import Probabilities


class LogLikelihood(ProbabilityAccumulator):
    """The mean negative log-likelihood, accumulated over batches of cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    class_weight : array-like of shape (k,) or mapping of label to weight, optional
        Weight of a case in the mean, by its true class.
    """

    def __init__(
        self, classes: int | ArrayLike | ClassIndex, *, class_weight: ArrayLike | Mapping[Any, float] | None = None
    ) -> None:
        super().__init__(classes)
        self.class_weight = None if class_weight is None else class_weights(class_weight, self.classes)

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the sums over some cases."""
        own = proba[np.arange(len(true)), true]
        loss = -np.log(np.clip(own, np.finfo(proba.dtype).eps, 1).astype(np.float64, copy=False))
        if self.class_weight is not None:
            by_class = self.class_weight[true]
            weight = by_class if weight is None else weight * by_class
        return {"loss": weighted_sum(loss, weight), "weight": total_weight(true, weight)}

    def result(self) -> float:
        """Return the mean; lower is better."""
        return float(self.value("loss")) / self.weight() + 0.0  # + 0.0 turns -0.0 into 0.0


class SquaredError(ProbabilityAccumulator):
    """The mean squared error of the probabilities, accumulated over batches of cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    """

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the sums over some cases."""
        gap = proba.astype(np.float64)
        gap[np.arange(len(true)), true] -= 1
        return {"error": weighted_sum(np.einsum("ij,ij->i", gap, gap), weight), "weight": total_weight(true, weight)}

    def result(self) -> float:
        """Return sum (p - onehot)^2 / (2 n); lower is better."""
        return float(self.value("error")) / (2 * self.weight())


def negative_log_likelihood(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    class_weight: ArrayLike | Mapping[Any, float] | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean negative log-likelihood of the true classes, -ln p[y] [M589]; also called log loss.

    With class weights w: sum_i w[y_i] (-ln p_i[y_i]) / sum_i w[y_i], which equals log loss with sample weights w[y].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1. As in scikit-learn, probabilities are clipped at the machine epsilon
        (2.2e-16 in float64, 1.2e-7 in float32): a true class with probability 0 costs 36.04 or 15.94, not infinity.
    class_weight : array-like of shape (k,) or mapping of label to weight, optional
        Weights of the true classes, in any scale.
    labels : array-like of shape (k,), optional
        Labels of the columns, in order; see `metrics.inputs.class_index` for the default.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    float
        >= 0; lower is better.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import negative_log_likelihood
    >>> round(negative_log_likelihood([0, 1], [[0.8, 0.2], [0.5, 0.5]]), 4)
    0.4581
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    return LogLikelihood(classes, class_weight=class_weight).update(true, proba, sample_weight=sample_weight).result()


def probability_squared_error(
    y_true: ArrayLike, y_proba: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Return the MS of [W22], sum (p - onehot)^2 / (2 n): half the multi-class Brier score.

    Parameters
    ----------
    y_true, y_proba, labels, sample_weight
        As in `negative_log_likelihood`; the same inputs are rejected.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Examples
    --------
    >>> from metrics import probability_squared_error
    >>> round(probability_squared_error([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.085
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    return SquaredError(classes).update(true, proba, sample_weight=sample_weight).result()


class GaussianLikelihood(Accumulator):
    """The mean negative log-likelihood of normal distributions, accumulated over batches of cases."""

    def update(self, y_true: ArrayLike, mean: ArrayLike, std: ArrayLike) -> Self:
        """Add a batch of cases; if it is rejected, nothing is added.

        Parameters
        ----------
        y_true, mean, std
            As in `gaussian_negative_log_likelihood`; the same inputs are rejected.
        """
        true = _numbers(y_true, "y_true")
        centre, spread = _numbers(mean, "mean", len(true)), _spread(std, len(true))
        with np.errstate(over="ignore"):  # an infinite sum is rejected by `add`
            loss = 0.5 * math.log(2 * math.pi) + np.log(spread) + 0.5 * ((true - centre) / spread) ** 2
        self.add({"loss": float(loss.sum()), "weight": len(true)})
        return self

    def result(self) -> float:
        """Return the mean; lower is better."""
        return float(self.value("loss")) / self.weight()


class Coverage(Accumulator):
    """The share of numbers inside their intervals, accumulated over batches of cases."""

    def update(self, y_true: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Self:
        """Add a batch of cases with their intervals; if it is rejected, nothing is added.

        Parameters
        ----------
        y_true, lower, upper
            As in `interval_coverage`.

        Raises
        ------
        InputError
            If an argument is invalid; the message names the argument, the row and what was expected.
        """
        true = _numbers(y_true, "y_true")
        low, high = _limits(lower, "lower", len(true)), _limits(upper, "upper", len(true))
        refuse_rows(
            low > high, "upper", lambda row: f"at least the lower limit {low[row]:g} was expected, found {high[row]:g}."
        )
        covered = np.count_nonzero((low <= true) & (true <= high))
        self.add({"covered": covered, "weight": len(true)})
        return self

    def result(self) -> float:
        """Return the share of covered numbers."""
        return float(self.value("covered")) / self.weight()


def gaussian_negative_log_likelihood(y_true: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Return the mean negative log-likelihood of numbers under predicted normal distributions [M589].

    Mean of ln(2 pi s^2) / 2 + (y - m)^2 / (2 s^2).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Numbers.
    mean : array-like of shape (n,) or float
        Predicted means m.
    std : array-like of shape (n,) or float
        Predicted standard deviations s > 0.

    Returns
    -------
    float
        Lower is better; it can be negative, because densities may exceed 1.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import gaussian_negative_log_likelihood
    >>> round(gaussian_negative_log_likelihood([1.0, 2.0], [1.0, 1.0], [1.0, 1.0]), 4)
    1.1689
    """
    return GaussianLikelihood().update(y_true, mean, std).result()


def density_negative_log_likelihood(y_true: ArrayLike, distribution: Any) -> float:
    """Return the mean negative log-likelihood of numbers under arbitrary predicted distributions [M589].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Numbers.
    distribution : frozen distribution of scipy.stats
        With `logpdf`, or `logpmf` if it is discrete; its parameters are numbers or arrays of shape (n,):
        ``scipy.stats.t(df=4, loc=means, scale=scales)``.

    Returns
    -------
    float
        Lower is better; for normal distributions it equals `gaussian_negative_log_likelihood`.

    Raises
    ------
    InputError
        If the distribution has no density, or the density of a number is 0; the message gives its row.

    Examples
    --------
    >>> from scipy import stats
    >>> round(density_negative_log_likelihood([0.0, 2.0], stats.laplace(loc=[0.0, 1.0], scale=1.0)), 6)
    1.193147
    """
    density = getattr(distribution, "logpdf", None) or getattr(distribution, "logpmf", None)
    if density is None:
        raise InputError("distribution: a frozen distribution of scipy.stats, with its parameters, was expected.")
    true = _numbers(y_true, "y_true")
    try:
        found = np.asarray(density(true), dtype=np.float64)
    except ValueError as error:
        raise InputError(f"distribution: its parameters do not go with {len(true)} numbers ({error}).") from None
    if found.shape != true.shape:
        raise InputError(f"distribution: one distribution per case was expected, {len(true)}, found {found.shape}.")
    refuse_rows(
        ~np.isfinite(found),
        "y_true",
        lambda row: f"{true[row]:g} has the probability 0 or an unknown one under its distribution.",
    )
    return float(-found.mean()) + 0.0


def interval_coverage(
    y_true: ArrayLike,
    mean: ArrayLike | None = None,
    std: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    level: float = 0.95,
) -> float:
    """Return the share of numbers inside their predicted intervals [M589]; its target is `level`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Numbers.
    mean, std : array-like of shape (n,) or float, optional
        Predicted normal distributions; the interval is the central one of probability `level`.
    lower, upper : array-like of shape (n,) or float, optional
        Alternatively, the limits of the intervals, which are included; infinite for an open interval.
    level : float
        In (0, 1); only with `mean` and `std`.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import interval_coverage
    >>> round(interval_coverage([1.0, 2.0, 5.0, 9.0], [0.0, 1.0, 2.0, 1.0], [2.0, 3.0, 4.0, 2.0]), 3)
    0.75
    """
    given = [value is not None for value in (mean, std, lower, upper)]
    if given == [False, False, True, True]:
        return Coverage().update(y_true, lower, upper).result()  # type: ignore[arg-type]
    if given != [True, True, False, False]:
        raise InputError("interval_coverage: either mean and std, or lower and upper, were expected.")
    quantile = (1 + real_number(level, "level", 0, 1, ends=False)) / 2
    n = len(_numbers(y_true, "y_true"))
    centre, spread = _numbers(mean, "mean", n), _spread(std, n)  # type: ignore[arg-type]
    reach = NormalDist().inv_cdf(quantile) * spread
    return Coverage().update(y_true, centre - reach, centre + reach).result()


def _numbers(values: ArrayLike, name: str, n: int | None = None) -> Floats:
    """Return n finite numbers; a single number is repeated if n is known."""
    array = number_array(values, name)
    return _shaped(array, name, n)


def _limits(values: ArrayLike, name: str, n: int) -> Floats:
    """Return n limits, which may be infinite."""
    array = number_array(values, name, finite=False)
    refuse_rows(np.atleast_1d(np.isnan(array)), name, lambda row: "a limit was expected, it is missing.")
    return _shaped(array, name, n)


def _spread(values: ArrayLike, n: int) -> Floats:
    spread = _numbers(values, "std", n)
    refuse_rows(spread <= 0, "std", lambda row: f"a standard deviation above 0 was expected, found {spread[row]:g}.")
    return spread


def _shaped(array: Floats, name: str, n: int | None) -> Floats:
    if array.ndim == 0 and n is not None:
        return np.full(n, float(array))
    if array.ndim != 1 or len(array) == 0:
        raise InputError(
            f"{name}: one number per case, and at least one case, was expected; the shape is {array.shape}."
        )
    if n is not None:
        same_length(n, len(array), name)
    return array
