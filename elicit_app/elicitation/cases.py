"""Cases with class probabilities: least-expected-cost decisions and their confusion matrices.

Where the cases themselves are unavailable, a `Tally` of previously counted decisions replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elicit_app.elicitation.questions import Matrix
from elicit_app.problem import Problem
from metrics.measures.costs import corrected, times_as_common
from metrics.policies.cases import Policy
from metrics.policies.judging import ModelPolicies, decisions_of
from metrics.policies.recalibration import UNKNOWN, Calibration, calibration

Decisions = NDArray[np.intp]

_MOST_COMPARED = 6_000  # cases by which policies are compared between questions: more would keep people waiting
_SUMMED_IN_ORDER = 5  # classes: with so few, summing in order is as fast as finding the close decisions


class Decider(Protocol):
    """A model whose decisions can be counted: `Cases`, or a `Tally` of them."""

    @property
    def n_classes(self) -> int:
        """Return the number of classes k."""

    @property
    def prevalence(self) -> NDArray[np.float64]:
        """Return the row sums of every confusion matrix, shape (k,), sum 1."""

    def usual(self) -> Matrix:
        """Return the confusion matrix (k, k) of rates of the most probable classes."""

    def constant(self, label: int) -> Matrix:
        """Return the confusion matrix (k, k) of rates when every case gets the same class."""

    def least_cost(self, cost_matrix: ArrayLike) -> Matrix:
        """Return the confusion matrix (k, k) of rates of the least-cost decisions."""

    def policies(self, cost_matrix: ArrayLike) -> list[Matrix]:
        """Return the confusion matrices (k, k) of rates of the policies that the model allows under these costs."""

    def content(self) -> Iterator[NDArray[Any]]:
        """Yield the arrays that determine everything else, for a digest."""


@dataclass(frozen=True, eq=False)
class Cases:
    """Weighted cases: the probabilities that decide about them, and the outcomes that are counted.

    Sums run in row order without fused operations, so that equal decisions give bit-identical matrices on every
    machine.

    Parameters
    ----------
    eta : ndarray of shape (n, k)
        Class probabilities used for decisions.
    outcome : ndarray of shape (n, k)
        What is counted: the one-hot truth, or class probabilities (plug-in, or an exact distribution).
    weight : ndarray of shape (n,)
        Weight of each case; the weights sum to 1.
    given : ndarray of shape (n, k), optional
        The model's probabilities, where `eta` is corrected for a stated prevalence.
    people : ndarray of shape (n,), optional
        Whose case each is, by number, if several are of one person.
    calibrate : callable, optional
        Returns the calibration of the model's probabilities if others need it, too; by default it is computed here.
    """

    eta: NDArray[np.float64]
    outcome: NDArray[np.float64]
    weight: NDArray[np.float64]
    given: NDArray[np.float64] | None = None
    people: NDArray[np.int64] | None = None
    calibrate: Callable[[], Calibration] | None = None

    def __post_init__(self) -> None:
        if self.eta.ndim != 2 or self.eta.shape[1] < 2 or self.eta.shape[0] < 1:
            raise Problem(
                f"Class probabilities must be a table of n rows and at least 2 classes, not {self.eta.shape}."
            )
        if self.outcome.shape != self.eta.shape or self.weight.shape != self.eta.shape[:1]:
            raise Problem("Probabilities, outcomes and weights must describe the same cases and classes.")

    @classmethod
    def counted(
        cls,
        y_true: ArrayLike,
        proba: ArrayLike,
        prevalence: Sequence[float] | None = None,
        people: NDArray[np.int64] | None = None,
        *,
        calibrate: Callable[[], Calibration] | None = None,
    ) -> Cases:
        """Count the true labels, as people are shown them.

        Parameters
        ----------
        y_true : array-like of int, shape (n,)
            Index of the true class.
        proba : array-like of shape (n, k)
            The model's class probabilities.
        prevalence : sequence of k numbers, optional
            Stated prevalence. Cases are reweighted by their true class, and the probabilities used for decisions are
            corrected for the new prior (Saerens, Latinne & Decaestecker 2002, equation 2.4).
        people : ndarray of shape (n,), optional
            Whose case each is, by number, if several are of one person.
        calibrate : callable, optional
            Returns the calibration of `proba` if others need it, too; by default it is computed when it is needed.

        Raises
        ------
        Problem
            If a class with a stated prevalence has no case, or shapes differ.
        """
        eta = np.asarray(proba, dtype=np.float64)
        truth = np.asarray(y_true, dtype=np.intp)
        outcome = np.zeros_like(eta)
        outcome[np.arange(len(truth)), truth] = 1.0
        return replace(_with_prevalence(eta, outcome, prevalence), people=people, calibrate=calibrate)

    @classmethod
    def plug_in(cls, proba: ArrayLike, prevalence: Sequence[float] | None = None) -> Cases:
        """Estimate C_ij = mean(eta_i 1[h = j]) from the probabilities themselves: optimistic, for the laboratory."""
        eta = np.asarray(proba, dtype=np.float64)
        return _with_prevalence(eta, eta, prevalence)

    @classmethod
    def exact(cls, eta: ArrayLike) -> Cases:
        """Treat equally likely points x with P(Y = i | x) = eta_i(x), shape (n, k), as the whole distribution."""
        return cls.plug_in(eta)

    @property
    def n_classes(self) -> int:
        """Return the number of classes k."""
        return int(self.eta.shape[1])

    @cached_property
    def prevalence(self) -> NDArray[np.float64]:
        """Return zeta, shape (k,): the row sums of every confusion matrix of these cases."""
        return np.array([np.bincount(self._nowhere, row)[0] for row in self.mass])

    def confusion(self, decisions: NDArray[Any]) -> Matrix:
        """Return the confusion matrix (k, k) of rates of integer decisions, shape (n,)."""
        k = self.n_classes
        if self._codes is not None:
            return np.bincount(self._codes + decisions, minlength=k * k).reshape(k, k) / len(self.weight)
        return np.array([np.bincount(decisions, row, minlength=k) for row in self.mass])

    def decide(self, cost_matrix: ArrayLike) -> Decisions:
        """Return the decisions argmin_j sum_i eta_i C[i, j], shape (n,); ties go to the lower class."""
        cost = np.asarray(cost_matrix, dtype=np.float64)
        if self.n_classes <= _SUMMED_IN_ORDER:
            return column_argmin(_in_order(cost, self.eta_by_class))
        # Matrix products are ten times as fast, but their rounding varies between machines: close sums are recomputed.
        near = self.eta @ cost
        decided: Decisions = near.argmin(axis=1)
        each = np.arange(len(near))
        doubt = 4 * self.n_classes**2 * np.finfo(np.float64).eps * np.abs(cost).max()
        least = near[each, decided]
        near[each, decided] = np.inf
        close = np.flatnonzero(near.min(axis=1) <= least + doubt)
        decided[close] = column_argmin(_in_order(cost, self.eta_by_class[:, close]))
        return decided

    def least_cost(self, cost_matrix: ArrayLike) -> Matrix:
        """Return the confusion matrix (k, k) of rates of the decisions of least expected cost."""
        return self.confusion(self.decide(cost_matrix))

    def usual(self) -> Matrix:
        """Return the confusion matrix (k, k) of rates of the most probable classes, by what the model gives."""
        if self.given is not None:
            return self.confusion(self.given.argmax(axis=1))
        return self.least_cost(1.0 - np.eye(self.n_classes))

    def constant(self, label: int) -> Matrix:
        """Return the confusion matrix (k, k) of rates when every case gets the same class."""
        return self.confusion(np.full(len(self.weight), label))

    def policies(self, cost_matrix: ArrayLike) -> list[Matrix]:
        """Return the matrices of the policies judged at the end.

        They are: as is, at least cost, and if needed recalibrated, or corrected for the stated prevalence. Of very many
        cases some stand for all.
        """
        some, deciding = self._compared
        return [some.confusion(one) for one in decisions_of(deciding, np.asarray(cost_matrix, dtype=np.float64))]

    @cached_property
    def _compared(self) -> tuple[Cases, list[tuple[Policy, NDArray[Any]]]]:
        """Return the cases by which policies are compared, and each policy with the probabilities it uses.

        These are all cases unless there are very many. They are the same for every model of a study, because only the
        true classes determine them.
        """
        rows = self._rows_compared()
        some = self if len(rows) == len(self.weight) else self._part(rows)
        proba, people = (some.eta if some.given is None else some.given), some.people
        own = ModelPolicies("", 1.0 - np.eye(self.n_classes), self._calibration)  # whatever the costs
        return some, list(own.deciding(proba, rows, people))

    def _rows_compared(self) -> NDArray[np.intp]:
        """Return the rows of all cases or, where very many were counted, of at most equally many of every class.

        They are drawn, because rows at regular distances could all be of one fold of the recalibration.
        """
        n, most = len(self.weight), _MOST_COMPARED // self.n_classes
        if n <= _MOST_COMPARED or not np.all((self.outcome == 0) | (self.outcome == 1)):
            return np.arange(n)
        true, rng = self.outcome.argmax(axis=1), np.random.default_rng(0)
        of_class = [np.flatnonzero(true == label) for label in range(self.n_classes)]
        kept = [rng.choice(rows, most, replace=False) if len(rows) > most else rows for rows in of_class]
        return np.sort(np.concatenate(kept))

    def _part(self, rows: NDArray[np.intp]) -> Cases:
        """Return the given cases, which weigh as much together as all cases of their true class."""
        true = self.outcome.argmax(axis=1)
        all_weight, own = (np.bincount(true[at], self.weight[at], self.n_classes) for at in (slice(None), rows))
        share = np.divide(all_weight, own, out=np.zeros_like(own), where=own > 0)
        return Cases(
            self.eta[rows],
            self.outcome[rows],
            self.weight[rows] * share[true[rows]],
            None if self.given is None else self.given[rows],
            None if self.people is None else self.people[rows],
        )

    @cached_property
    def _calibration(self) -> Calibration:
        """Return the calibration of the model's probabilities; unknown where nothing was counted."""
        if self.given is None and self._codes is None:
            return UNKNOWN
        true, proba = self.outcome.argmax(axis=1), self.eta if self.given is None else self.given
        known = calibration(true, proba, self.people) if self.calibrate is None else self.calibrate()
        if self.given is None:
            return known
        return known.at(self.prevalence, np.bincount(true, minlength=self.n_classes))

    def counts(self, cost_matrix: ArrayLike) -> NDArray[np.int64]:
        """Return the number of cases, unweighted, that least-expected-cost decisions put in each cell, shape (k, k)."""
        k = self.n_classes
        cells = self.outcome.argmax(axis=1) * k + self.decide(cost_matrix)
        return np.bincount(cells, minlength=k * k).reshape(k, k).astype(np.int64)

    def content(self) -> Iterator[NDArray[Any]]:
        """Yield probabilities, outcomes and weights."""
        yield from (self.eta, self.outcome, self.weight)

    @cached_property
    def eta_by_class(self) -> NDArray[np.float64]:
        """Return eta transposed, shape (k, n), contiguous."""
        return np.ascontiguousarray(self.eta.T)

    @cached_property
    def mass(self) -> NDArray[np.float64]:
        """Return weight times outcome, shape (k, n): what each case adds to the row of each true class."""
        return np.ascontiguousarray((self.outcome * self.weight[:, None]).T)

    @cached_property
    def gain(self) -> NDArray[np.float64]:
        """Return what each case adds, shape (n, k), in units of 1 / `total`: integers where cases are counted."""
        return self.outcome if self._codes is not None else self.mass.T

    @property
    def total(self) -> float:
        """Return the sum of `gain`: the number of cases where they are counted, else 1."""
        return float(len(self.weight)) if self._codes is not None else 1.0

    @cached_property
    def _nowhere(self) -> Decisions:
        return np.zeros(len(self.weight), dtype=np.intp)

    @cached_property
    def _codes(self) -> Decisions | None:
        """Return k times the true class if plain counting is exact (one-hot outcomes of equal weight), else None."""
        one_hot = np.all((self.outcome == 0) | (self.outcome == 1)) and np.all(self.outcome.sum(axis=1) == 1)
        if not one_hot or np.any(self.weight != self.weight[0]):
            return None
        return np.asarray(self.outcome.argmax(axis=1) * self.n_classes, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Tally:
    """Decisions of one model that were counted beforehand, without the cases.

    Parameters
    ----------
    most_probable : ndarray of int, shape (k, k)
        Counts of the most-probable-class decisions; rows are true classes.
    decided : ndarray of int, shape (m, k, k)
        Counts of least-expected-cost decisions under randomly drawn costs.
    places : ndarray of int, shape (m,)
        Index of each draw among those of all models of the study.
    stated : sequence of k numbers, optional
        Stated prevalence to which the rows are scaled.
    good : tuple of bool, optional
        For rows that are amounts instead of true classes: whether more of each is better.
    """

    most_probable: NDArray[np.int64]
    decided: NDArray[np.int64]
    places: NDArray[np.int64]
    stated: tuple[float, ...] | None = None
    good: tuple[bool, ...] | None = None

    @property
    def n_classes(self) -> int:
        """Return the number of classes k."""
        return len(self.most_probable)

    @cached_property
    def prevalence(self) -> NDArray[np.float64]:
        """Return the row sums of every confusion matrix, shape (k,), sum 1."""
        if self.stated is not None:
            return np.asarray(np.array(self.stated) / sum(self.stated))
        sums = self.most_probable.sum(axis=1)
        return np.asarray(sums / sums.sum())

    def usual(self) -> Matrix:
        """Return the confusion matrix (k, k) of rates of the most probable classes."""
        return self._rates(self.most_probable)

    def constant(self, label: int) -> Matrix:
        """Return the confusion matrix (k, k) of rates when every case gets the same class."""
        counts = np.zeros_like(self.most_probable)
        counts[:, label] = self.most_probable.sum(axis=1)
        return self._rates(counts)

    def least_cost(self, cost_matrix: ArrayLike) -> Matrix:
        """Return the rates (k, k) of the cheapest counted decisions; without cases no others are possible."""
        rates = np.concatenate([self.usual()[None], self.drawn])
        return np.asarray(rates[int((rates * np.asarray(cost_matrix, dtype=np.float64)).sum(axis=(1, 2)).argmin())])

    def policies(self, cost_matrix: ArrayLike) -> list[Matrix]:
        """Return the matrices of the most probable classes and of the cheapest counted decisions."""
        return [self.usual(), self.least_cost(cost_matrix)]

    @cached_property
    def drawn(self) -> Matrix:
        """Return the rates of the decisions under random costs, shape (m, k, k)."""
        return self._rates(self.decided)

    def content(self) -> Iterator[NDArray[Any]]:
        """Yield the counts and the prevalence."""
        yield from (self.most_probable, self.decided, self.places, self.prevalence)

    def _rates(self, counts: NDArray[np.int64]) -> Matrix:
        sums = self.most_probable.sum(axis=1)
        if self.stated is None:
            return np.asarray(counts / sums.sum())
        return np.asarray(counts * (self.prevalence / np.maximum(sums, 1))[:, None])


def _in_order(cost: Matrix, eta_by_class: Matrix) -> Matrix:
    """Return expected costs (k, n), summed class by class so that every machine gets the same bits."""
    expected = np.zeros_like(eta_by_class)
    for row, eta in zip(cost, eta_by_class, strict=True):
        expected += row[:, None] * eta
    return expected


def column_argmin(values: NDArray[np.float64]) -> Decisions:
    """Return, per column of a (k, n) array, the first row with the smallest value; faster than argmin(axis=0)."""
    best = values[0].copy()
    where = np.zeros(values.shape[1], dtype=np.intp)
    for j in range(1, len(values)):
        better = values[j] < best
        where[better] = j
        np.minimum(best, values[j], out=best)
    return where


def _with_prevalence(
    eta: NDArray[np.float64], outcome: NDArray[np.float64], prevalence: Sequence[float] | None
) -> Cases:
    if prevalence is None:
        return Cases(eta, outcome, np.full(len(eta), 1.0 / len(eta)))
    stated = np.asarray(prevalence, dtype=np.float64)
    if stated.shape != eta.shape[1:] or np.any(stated < 0) or not stated.sum() > 0:
        raise Problem(f"A stated prevalence needs one number >= 0 for each of the {eta.shape[1]} classes.")
    found = outcome.mean(axis=0)
    if np.any((found == 0) & (stated > 0)):
        missing = int(np.flatnonzero((found == 0) & (stated > 0))[0])
        raise Problem(f"Class number {missing + 1} has a stated prevalence of {stated[missing]:g} but no case.")
    ratio = times_as_common(stated / stated.sum(), found)
    # A case left without weight or probability keeps its row, because it counts for nothing.
    share = (outcome * ratio).sum(axis=1)
    given = None if outcome is eta else eta
    return Cases(corrected(eta, ratio), corrected(outcome, ratio), share / len(eta), given)
