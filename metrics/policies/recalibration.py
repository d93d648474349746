"""A check of a model's calibration, a cross-fitted map that recalibrates it, and a correction for another prevalence.

The map is vector scaling, softmax(slope * log p + bias) with one slope >= 0 and one bias per class (C. Guo, G. Pleiss,
Y. Sun and K. Weinberger, "On calibration of modern neural networks", ICML 2017). For two classes this is beta
calibration (M. Kull, T. Silva Filho and P. Flach, AISTATS 2017), which becomes Platt scaling if the slopes are equal.
Cases are dealt in turn to five folds, and the map of each fold is fitted to the other four, so that no case is used in
its own calibration. Where several cases are of one person, people are dealt to the folds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.batches import in_threads
from metrics.errors import require
from metrics.inputs.arguments import Floats
from metrics.inputs.labels import labels_only
from metrics.measures.costs import corrected, times_as_common

FOLDS = 5
MOST_ROWS = 20_000
_FEWEST = 40  # rows, or people
_MOST_IN_WORDS = 6  # classes whose numbers a sentence can hold
_SMALLEST = 1e-9
# Equivalent to ten cases that agree with the model's own probabilities.
_RIDGE = 10.0
# A gain below this many nats per case changes no decision that matters, however certain it is.
_WORTH_IT = 0.005
_STANDARD_ERRORS = 2.0
# If the share of a class differs by this much from that of the cases, probabilities need correction.
_OTHER_PREVALENCE = 0.02


@dataclass(frozen=True, eq=False)
class Recalibration:
    """Maps that recalibrate a model's probabilities, one per fold."""

    # shape (folds, k): coefficients of the log probabilities
    slope: Floats
    bias: Floats
    # reduction of the mean held-out log loss, in nats, and its standard error
    gain: float
    gain_error: float
    distance: float  # mean total variation distance between the probabilities before and after, in [0, 1]
    by_person: bool = False  # whether folds are of people

    @property
    def needed(self) -> bool:
        """Return whether the model is badly calibrated: the gain is significant and large enough to matter."""
        return self.gain > max(_WORTH_IT, _STANDARD_ERRORS * self.gain_error)

    def probabilities(
        self, y_proba: NDArray[Any], numbers: NDArray[np.int64], people: NDArray[np.int64] | None = None
    ) -> Floats:
        """Return recalibrated probabilities, (n, k).

        The numbers of the rows among all rows, (n,), determine their folds, or those of the people whose cases they
        are, (n,).
        """
        folds = (numbers if people is None or not self.by_person else people) % FOLDS
        return _softmax(self.slope[folds] * _logarithms(y_proba) + self.bias[folds])

    @property
    def for_others(self) -> tuple[Floats, Floats]:
        """Return the slopes and biases, each of shape (k,), for cases of no fold: the means over the folds."""
        return self.slope.mean(axis=0), self.bias.mean(axis=0)

    def before(self, threshold: float, positive: int) -> float:
        """Return the probability of the positive of two classes that becomes `threshold` for cases of no fold."""
        require("scipy")
        from scipy.optimize import brentq
        from scipy.special import expit, logit

        slope, bias = self.for_others

        def beyond(log_odds: float) -> float:
            logs = np.log(expit(np.where(np.arange(2) == positive, log_odds, -log_odds)))
            scores = slope * logs + bias
            return float(scores[positive] - scores[1 - positive] - logit(threshold))

        furthest = -math.log(_SMALLEST)
        if beyond(-furthest) >= 0 or beyond(furthest) <= 0:
            return 0.0 if beyond(-furthest) >= 0 else 1.0
        return float(expit(brentq(beyond, -furthest, furthest)))

    def in_words(self, model: str, classes: Sequence[str]) -> str:
        """Return how the probabilities of a model are recalibrated for cases of no fold, as a sentence."""
        if len(classes) > _MOST_IN_WORDS:
            what = "fit vector scaling to these cases: softmax(a log p + b), with a slope a and a bias b for each class"
            return f"To recalibrate {model}, {what}."
        signs = {True: "+", False: "\N{MINUS SIGN}"}
        maps = [
            f"{name} × {slope:.2f} {signs[bias >= 0]} {abs(bias):.2f}"
            for name, slope, bias in zip(classes, *self.for_others, strict=True)
        ]
        return f"To recalibrate {model}, take the softmax of its log-probabilities after {', '.join(maps)}."


@dataclass(frozen=True)
class Calibration:
    """What is known about a model's probabilities."""

    # whether all are 0 or 1: labels, which carry no uncertainty and whose decisions costs cannot change
    labels_only: bool = False
    # the correction; None if they are well calibrated, too few to tell, or labels only
    recalibration: Recalibration | None = None
    correction: tuple[float, ...] | None = None  # of `correction_for`, where another prevalence is stated

    def at(self, prevalence: Floats | None, cases: NDArray[np.int64]) -> Calibration:
        """Return the same for use at a stated prevalence, given the number of cases by true class, shape (k,)."""
        if prevalence is None or self.labels_only:
            return self
        return replace(self, correction=correction_for(prevalence, cases))

    def corrected(self, y_proba: Floats) -> Floats:
        """Return probabilities, (n, k), corrected if they are for another prevalence than the stated one."""
        return y_proba if self.correction is None else corrected(y_proba, np.array(self.correction))


UNKNOWN = Calibration()


def correction_for(prevalence: Floats, cases: NDArray[np.int64]) -> tuple[float, ...] | None:
    """Return the factors that correct probabilities for stated shares of the true classes, shape (k,).

    The factor of a class is its stated share over that in the cases (M. Saerens, P. Latinne and C. Decaestecker,
    Neural Computation 14, 2002, equation 2.4). None if the shares hardly differ.
    """
    own = cases / cases.sum()
    if np.abs(prevalence - own).max() < _OTHER_PREVALENCE:
        return None
    return tuple(times_as_common(prevalence, own).tolist())


class SampledRows(NamedTuple):
    """Rows, each with its number among all rows and that of the person whose case it is."""

    numbers: NDArray[np.int64]  # shape (n,)
    people: NDArray[np.int64]  # shape (n,); the numbers of the rows if people are unknown
    true: NDArray[np.int64]  # shape (n,): index of the true class
    proba: Floats  # shape (n, k)


class RowSample:
    """A sample of rows for what needs their probabilities: all up to 20,000, then every second, every fourth, ...

    Rows are chosen by their number alone, so that parts may be merged in any order.
    """

    def __init__(self) -> None:
        self._step = 1
        self._rows: list[SampledRows] = []
        self._labels_only = True

    def update(
        self, y_true: NDArray[np.int64], y_proba: NDArray[Any], first_row: int, people: NDArray[np.int64] | None = None
    ) -> None:
        """Add rows: class indices (n,), probabilities (n, k), and the number of the first row among all rows.

        `people`, (n,), are numbers of the people whose cases they are, if they are known.
        """
        self._labels_only = self._labels_only and labels_only(y_proba)
        while len(wanted := np.arange(-first_row % self._step, len(y_true), self._step)) > MOST_ROWS:
            self._keep_every(2 * self._step)  # before they are copied
        numbers = first_row + wanted
        whose = numbers if people is None else people[wanted]
        self._rows.append(SampledRows(numbers, whose, y_true[wanted], y_proba[wanted].astype(np.float64)))
        self._limit()

    def merge(self, other: RowSample) -> None:
        """Add the rows that another sample has seen."""
        self._rows += other._rows
        self._labels_only = self._labels_only and other._labels_only
        self._keep_every(max(self._step, other._step))
        self._limit()

    def _limit(self) -> None:
        while sum(len(part.numbers) for part in self._rows) > MOST_ROWS:
            self._keep_every(2 * self._step)

    def _keep_every(self, step: int) -> None:
        self._step = step
        self._rows = [SampledRows(*(column[part.numbers % step == 0] for column in part)) for part in self._rows]

    def rows(self) -> SampledRows:
        """Return the rows, in the order of their numbers."""
        parts = sorted(self._rows, key=lambda part: int(part.numbers[0]) if len(part.numbers) else 0)
        return SampledRows(*map(np.concatenate, zip(*parts, strict=True)))

    def calibration(self, *, by_person: bool = False) -> Calibration:
        """Return whether the rows show labels only, and the recalibration if it is needed; see `fitted`."""
        if self._labels_only and self._rows:
            return Calibration(labels_only=True)
        found = self.fitted(by_person=by_person)
        return Calibration(recalibration=found if found is not None and found.needed else None)

    def fitted(self, *, by_person: bool = False) -> Recalibration | None:
        """Return the maps fitted to the rows, whether needed or not; None if there are too few rows.

        If several cases are of one person, the folds are of people, as is the standard error.
        """
        if sum(len(part.numbers) for part in self._rows) < _FEWEST:
            return None
        numbers, people, true, proba = self.rows()
        logs = _logarithms(proba)
        unit = people if by_person else numbers
        if by_person and len(np.unique(unit)) < _FEWEST:
            return None
        folds = unit % FOLDS
        fitted = in_threads(lambda fold: _fit_fold(logs[folds != fold], true[folds != fold]), range(FOLDS))
        slope, bias = (np.array([one[at] for one in fitted]) for at in (0, 1))
        before, after = np.exp(logs), _softmax(slope[folds] * logs + bias[folds])
        gain = np.log(np.maximum(_at_true_class(after, true), _SMALLEST)) - _at_true_class(logs, true)
        return Recalibration(
            slope=slope,
            bias=bias,
            gain=float(gain.mean()),
            gain_error=_error_of_mean(gain, unit),
            distance=float(0.5 * np.abs(after - before).sum(axis=1).mean()),
            by_person=by_person,
        )


def calibration(
    y_true: NDArray[np.int64], y_proba: NDArray[Any], people: NDArray[np.int64] | None = None
) -> Calibration:
    """Return what cases in memory show about a model's probabilities; fewer than 40 cannot show miscalibration.

    `people`, (n,), are numbers of the people whose cases they are, if several are of one person.
    """
    return sample_of(y_true, y_proba, people).calibration(by_person=people is not None)


def sample_of(y_true: NDArray[np.int64], y_proba: NDArray[Any], people: NDArray[np.int64] | None = None) -> RowSample:
    """Return the sample of cases in memory; parameters as in `calibration`."""
    sample = RowSample()
    sample.update(np.asarray(y_true, dtype=np.int64), np.asarray(y_proba), 0, people)
    return sample


def _error_of_mean(values: Floats, unit: NDArray[np.int64]) -> float:
    """Return the standard error of the mean of values, (n,), those of one unit being dependent."""
    _, of = np.unique(unit, return_inverse=True)
    sums = np.bincount(of, values - values.mean())
    m = len(sums)
    return float(math.sqrt(m / (m - 1) * (sums**2).sum()) / len(values)) if m > 1 else math.inf


def _fit_fold(logs: Floats, true: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the slopes and biases of least log loss, with a ridge penalty towards 1 and 0."""
    require("scipy")
    from scipy.optimize import minimize

    n, k = logs.shape
    rows = np.arange(n)
    scores, off = np.empty_like(logs), np.empty_like(logs)  # reused: allocating them costs more than a step

    def loss(parameters: Floats) -> tuple[float, Floats]:
        slope, bias = parameters[:k], parameters[k:]
        np.multiply(slope, logs, out=scores)
        np.add(scores, bias, out=scores)
        np.subtract(scores, scores.max(axis=1, keepdims=True), out=scores)
        total = np.exp(scores, out=off).sum(axis=1)
        away = np.concatenate([slope - 1, bias])
        value = (np.log(total) - _at_true_class(scores, true)).sum() + 0.5 * _RIDGE * (away @ away)
        np.divide(off, total[:, None], out=off)
        off[rows, true] -= 1.0
        gradient = np.concatenate([np.einsum("ij,ij->j", off, logs), off.sum(axis=0)])
        return value / n, (gradient + _RIDGE * away) / n

    start = np.concatenate([np.ones(k), np.zeros(k)])
    bounds = [(0.0, None)] * k + [(None, None)] * k
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[:k], found[k:]


def _logarithms(y_proba: NDArray[Any]) -> Floats:
    return np.log(np.maximum(np.asarray(y_proba, dtype=np.float64), _SMALLEST))


def _at_true_class(values: Floats, true: NDArray[np.int64]) -> Floats:
    return np.asarray(np.take_along_axis(values, true[:, None], axis=1)[:, 0])


def _softmax(scores: Floats) -> Floats:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
