"""Judging models by an elicited metric from their predictions files, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Problem
from elicit_app.study.checking import Checked, Rows, demand_comparable
from elicit_app.study.reading import PredictionsFile
from elicit_app.study.sharing import shared_out
from metrics import ElicitedMetric
from metrics.batches import OnePass
from metrics.classification.costs import DecisionCounts, ExpectedCost, LeastCost, mean_cost
from metrics.probabilistic.concern import ConcernScore

DEFAULT_POPULATION = 1_000
_SAME_COST = 1e-12
_THREADS = 2
# few enough for the arrays of a part to stay in the processor's cache
_DIGEST_ROWS = 16_000
_KEPT_BYTES = 31 * 2**20

Matrix = NDArray[np.float64]
Advance = Callable[[int], None]


class LabelDigest:
    """A digest of true labels and their row numbers that may be taken in parts, in any order.

    Every row adds a 64-bit mix of its number and its class (the finaliser of Steele, Lea and Flood, "Fast splittable
    pseudorandom number generators", OOPSLA 2014), modulo 2^64.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def update(self, y_true: NDArray[np.int64], first_row: int) -> None:
        """Add the class indices of the rows `first_row`, `first_row` + 1, ..."""
        for start in range(0, len(y_true), _DIGEST_ROWS):
            part = y_true[start : start + _DIGEST_ROWS]
            first = first_row + start + 1
            mixed = np.arange(first, first + len(part), dtype=np.uint64)
            mixed *= np.uint64(0x9E3779B97F4A7C15)
            label = part.astype(np.uint64)
            label += np.uint64(1)
            label *= np.uint64(0xD1B54A32D192ED03)
            mixed ^= label
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                mixed ^= np.right_shift(mixed, np.uint64(shift), out=label)
                mixed *= np.uint64(factor)
            mixed ^= np.right_shift(mixed, np.uint64(31), out=label)
            self._sum = (self._sum + int(mixed.sum(dtype=np.uint64))) % 2**64
        self.rows += len(y_true)

    def merge(self, other: LabelDigest) -> None:
        """Add the rows that another digest has seen."""
        self._sum = (self._sum + other._sum) % 2**64
        self.rows += other.rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelDigest) and (self.rows, self._sum) == (other.rows, other._sum)

    def __hash__(self) -> int:
        return hash((self.rows, self._sum))


class Tally:
    """What is added up over the rows of one model; tallies of parts of a file merge to that of the whole.

    Parameters
    ----------
    metric : ElicitedMetric
        Its classes give the order of the columns.

    Attributes
    ----------
    rescaled : int
        Number of rows that were divided by their sum.
    numbered : bool
        The file has the numbers 0..k-1 for the metric's classes, in their order.
    """

    def __init__(self, metric: ElicitedMetric) -> None:
        k, costs = len(metric.classes), metric.cost_matrix
        self.sums = OnePass(
            decisions=DecisionCounts(k),
            decided=DecisionCounts(k, LeastCost(costs, k)),
            expected=ExpectedCost(k, cost_matrix=costs),
            concern=ConcernScore(
                k, release_factors=metric.release_factors(), class_weight=[*metric.class_weight.values()]
            ),
        )
        self.labels = LabelDigest()
        self.rescaled = 0
        self.numbered = False

    def update(
        self, y_true: NDArray[np.int64], y_proba: NDArray[Any], first_row: int, *, check_input: bool = True
    ) -> None:
        """Add a batch of rows; `first_row` counts from 0 over all rows of the model.

        With `check_input` the probabilities are looked at once more: a `Batch` has been.
        """
        self.sums.update(y_true, y_proba, check_input=check_input)
        self.labels.update(y_true, first_row)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the confusion matrix of the most probable classes, shape (k, k); rows are true classes."""
        return np.asarray(self.sums["decisions"].result())

    @property
    def cases(self) -> NDArray[np.int64]:
        """Return the number of rows of each true class, shape (k,)."""
        return np.asarray(self.counts.sum(axis=1))

    def merge(self, other: Tally) -> None:
        """Add what another tally under the same metric has seen."""
        self.sums.merge(other.sums)
        self.labels.merge(other.labels)
        self.rescaled += other.rescaled
        self.numbered |= other.numbered


@dataclass(frozen=True, eq=False)
class ModelScore:
    """One model judged by an elicited metric; costs are in units of the worst mistake, lower is better.

    Parameters
    ----------
    name : str
        The model.
    counts : ndarray of int64, shape (k, k)
        Confusion matrix of the most probable classes; rows are true classes.
    cost_per_population : float
        Cost of those decisions for the metric's population (1,000 where it names none).
    misclassification_cost : float
        The same per case.
    expected_misclassification_cost : float
        Mean of sum_j p_ij C[y_i, j].
    decided_cost : float
        Cost per case of the decisions of least expected cost.
    mpcs : float or None
        Meta Pattern Concern Score with the metric's release factors and class weights, all classes, 50 intervals;
        None where every case is of a class of weight 0.
    accuracy, balanced_error_rate : float
        Of the most probable classes; classes without cases are left out of the mean.
    rank : int
        By cost_per_population; equal costs share a rank.
    probability_best : float or None
        Share of the posterior draws under which the model costs least (equal models share a draw); None without draws.
    difference_range : tuple of float or None
        90 % range, over the draws, of how much more it costs per population than the first model.
    """

    name: str
    counts: NDArray[np.int64]
    cost_per_population: float
    misclassification_cost: float
    expected_misclassification_cost: float
    decided_cost: float
    mpcs: float | None
    accuracy: float
    balanced_error_rate: float
    rank: int
    probability_best: float | None
    difference_range: tuple[float, float] | None


def tally_file(file: PredictionsFile, metric: ElicitedMetric, advance: Advance | None = None) -> Tally:
    """Read a predictions file once and add it up.

    Parameters
    ----------
    file : PredictionsFile
        Its classes must be those of the metric, in any order, or their numbers 0..k-1.
    metric : ElicitedMetric
        What it is judged by.
    advance : callable, optional
        Told the number of rows after each batch.

    Raises
    ------
    Problem
        The file has other classes, or everything that is wrong with its rows.
    """
    tally = tally_rows(file, metric, 0, advance)
    demand_comparable(file.table.path, metric.classes, tally.cases)
    return tally


def tally_rows(file: PredictionsFile, metric: ElicitedMetric, before: int, advance: Advance | None = None) -> Tally:
    """Add up the rows of a part of a model's predictions, `before` of which come earlier; see `tally_file`."""
    numbered = file.has_numbers_for(metric.classes) and not set(file.classes) & set(metric.classes)
    file = file.by_number() if numbered else file.ordered(metric.classes)
    check = file.check()
    tally, *others = (Tally(metric) for _ in range(_THREADS))
    _keep_freed_memory()

    def take(own: Tally, rows: Rows) -> Checked:
        checked = check.checked(rows)
        if checked.batch is not None:
            batch = checked.batch
            own.update(batch.y_true, batch.y_proba, before + rows.before, check_input=False)
        return checked

    # each part is checked and added up in the same thread, which then has it in its cache
    for checked in shared_out(check.numbered(file.frames()), [tally, *others], take):
        batch = check.take(checked)
        if batch is not None and advance is not None:
            advance(len(batch.y_true))
    check.demand_sound()
    for other in others:
        tally.merge(other)
    tally.rescaled, tally.numbered = check.rescaled, numbered
    return tally


def _keep_freed_memory() -> None:
    """Spare the system's work of handing out the memory of every batch anew.

    The allocator of glibc keeps freed blocks up to the size of the largest that was freed so far, at most 32 MiB; an
    array that is never touched costs nothing. Other allocators are none the worse for it.
    """
    np.empty(_KEPT_BYTES, dtype=np.uint8)


def ranked(metric: ElicitedMetric, tallies: Sequence[tuple[str, Tally]]) -> tuple[ModelScore, ...]:
    """Return the models judged and ranked, in the order given.

    Parameters
    ----------
    metric : ElicitedMetric
        Costs, population, and draws where it has any.
    tallies : sequence of (name, Tally)
        Of the same cases.

    Raises
    ------
    Problem
        The models were not tried on the same true labels.
    """
    _demand_same_labels(metric, tallies)
    rates = np.array([tally.counts / tally.counts.sum() for _, tally in tallies])
    population = metric.population or DEFAULT_POPULATION
    costs = np.array([population * mean_cost(tally.counts, metric.cost_matrix) for _, tally in tallies])
    draws = None
    if metric.cost_samples is not None:
        draws = population * np.einsum("mij,sij->ms", rates, metric.cost_samples)
    first = int(np.argmin(costs))
    least = None if draws is None else draws <= draws.min(axis=0) * (1 + _SAME_COST)
    return tuple(
        _score(
            name,
            tally,
            metric,
            cost_per_population=float(costs[at]),
            rank=1 + int((costs < costs[at] * (1 - _SAME_COST)).sum()),
            probability_best=None if least is None else float((least[at] / least.sum(axis=0)).mean()),
            difference_range=None if draws is None else _range(draws[at] - draws[first]),
        )
        for at, (name, tally) in enumerate(tallies)
    )


def _score(
    name: str,
    tally: Tally,
    metric: ElicitedMetric,
    *,
    cost_per_population: float,
    rank: int,
    probability_best: float | None,
    difference_range: tuple[float, float] | None,
) -> ModelScore:
    counts, cases = tally.counts, tally.cases
    present = cases > 0
    weighted = np.array([*metric.class_weight.values()]) @ cases > 0
    return ModelScore(
        name=name,
        counts=counts,
        cost_per_population=cost_per_population,
        misclassification_cost=mean_cost(counts, metric.cost_matrix),
        expected_misclassification_cost=float(tally.sums["expected"].result()),
        decided_cost=mean_cost(tally.sums["decided"].result(), metric.cost_matrix),
        mpcs=float(tally.sums["concern"].result()) if weighted else None,
        accuracy=float(np.trace(counts) / counts.sum()),
        balanced_error_rate=float(1 - (counts.diagonal()[present] / cases[present]).mean()),
        rank=rank,
        probability_best=probability_best,
        difference_range=difference_range,
    )


def _range(values: Matrix) -> tuple[float, float]:
    low, high = np.quantile(values, (0.05, 0.95))
    return float(low), float(high)


def _demand_same_labels(metric: ElicitedMetric, tallies: Sequence[tuple[str, Tally]]) -> None:
    (first_name, first), *others = tallies
    for name, other in others:
        if other.labels != first.labels:
            told = _difference(metric, first_name, first, name, other)
            raise Problem(f"{told}: files of one call must list the same cases in the same order.")


def _difference(metric: ElicitedMetric, first_name: str, first: Tally, name: str, other: Tally) -> str:
    if other.labels.rows != first.labels.rows:
        return f"{name} has {other.labels.rows:,} rows, {first_name} has {first.labels.rows:,}"
    for label, cases, of_first in zip(metric.classes, other.cases, first.cases, strict=True):
        if cases != of_first:
            return f"{name} has {cases:,} cases of “{label}”, {first_name} has {of_first:,}"
    return f"{name} has the true labels of {first_name}, but in another order"
