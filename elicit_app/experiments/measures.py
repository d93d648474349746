"""Quality of an elicited metric: agreement and regret on achievable matrices; and which matrices are achievable.

Source of the sphere and its classifiers: Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric
Elicitation", NeurIPS 2019, section 3.2 and algorithm 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elicit_app.elicitation.cases import Cases, Tally
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.sphere import MeasuredSphere, Sphere
from elicit_app.experiments.truths import Values
from elicit_app.problem import Problem
from elicit_app.registry import setting_of
from elicit_app.registry.entries import measured_sphere, models_asked
from elicit_app.study.model import Study
from elicit_app.study.writing import write_whole
from metrics.elicited.family import error_cells

N_PAIRS = 2000
_MOST_DRAWS = 200
# Utilities that differ by less than this share of their size are equal: sums were taken in another order.
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Random pairs of achievable matrices whose true utilities differ."""

    # shape (n, k, k): rates
    first: Matrix
    second: Matrix
    differences: Matrix  # shape (n,): true u(first) - u(second), never 0

    @classmethod
    def draw(cls, truth: Values, achievable: Achievable, rng: np.random.Generator, n: int = N_PAIRS) -> JudgedPairs:
        """Draw pairs; pairs that are equal under the truth are redrawn.

        Raises Problem if hardly any two achievable matrices differ.
        """
        kept: list[tuple[Matrix, Matrix, Matrix]] = []
        missing = n
        for _ in range(_MOST_DRAWS):
            matrices = achievable.draw(2 * missing, rng)
            first, second = matrices[0::2], matrices[1::2]
            differences = _differences(truth, first, second)
            differ = differences != 0
            kept.append((first[differ], second[differ], differences[differ]))
            missing -= int(differ.sum())
            if missing == 0:
                return cls(*(np.concatenate(part) for part in zip(*kept, strict=True)))
        raise Problem("The true metric rates almost all decisions of these models alike, so there is nothing to judge.")

    def agreement(self, elicited: Values) -> float:
        """Return the share of pairs on which a metric prefers the same side as the truth; a tie counts one half."""
        sides = np.sign(_differences(elicited, self.first, self.second)) * np.sign(self.differences)
        return float(np.mean((sides + 1) / 2))

    def regret(self, truth: Values, elicited: Values) -> float:
        """Return (u(best) - u(chosen)) / (u(best) - u(worst)), with u the truth, over all matrices of the pairs."""
        matrices = np.concatenate([self.first, self.second])
        utility = truth(matrices)
        chosen = utility[elicited(matrices).argmax()]
        return float((utility.max() - chosen) / (utility.max() - utility.min()))

    @property
    def typical_difference(self) -> float:
        """Return the median absolute true difference."""
        return float(np.median(np.abs(self.differences)))

    def sensitivity(self, accuracy: float) -> float:
        """Return the s at which P(right) = 1 / (1 + exp(-s |u(X) - u(Y)|)) has mean `accuracy`, in (0.5, 1)."""
        sizes = np.abs(self.differences)
        low, high = -60.0, 60.0  # log2 of s times the typical difference
        for _ in range(100):
            middle = (low + high) / 2
            right = expit(2.0**middle * sizes / self.typical_difference)
            low, high = (middle, high) if right.mean() < accuracy else (low, middle)
        return float(2.0 ** ((low + high) / 2) / self.typical_difference)


def errors(true: Matrix, elicited: Matrix) -> tuple[float, float, float]:
    """Return the L1, L2 and maximum norm of elicited minus true weights."""
    difference = elicited - true
    size = np.abs(difference)
    return float(size.sum()), float(np.linalg.norm(difference)), float(size.max())


def _differences(metric: Values, first: Matrix, second: Matrix) -> Matrix:
    one, other = metric(first), metric(second)
    differences: Matrix = np.where(
        np.abs(one - other) <= _SAME * np.maximum(np.abs(one), np.abs(other)), 0.0, one - other
    )
    return differences


# Numbers in memory at once, chosen so that a block of decisions stays in the cache.
_BLOCK = 1 << 16


class Achievable(Protocol):
    """A source of random achievable matrices."""

    def draw(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return n matrices of rates, shape (n, k, k)."""


class ModelDecisions:
    """Counted decisions of least expected cost, of a random model, under C_ij = exp(1.5 N(0, 1)).

    `cases` holds one item per model, or one for a distribution.
    """

    def __init__(self, cases: Sequence[Cases]) -> None:
        self.cases = tuple(cases)
        self._row_groups = tuple(RowGroups.of(one) for one in self.cases)

    def draw(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return n matrices of rates, shape (n, k, k)."""
        k = self.cases[0].n_classes
        which = rng.integers(len(self.cases), size=n)
        costs = np.exp(1.5 * rng.standard_normal((n, k, k)))
        costs[:, np.arange(k), np.arange(k)] = 0.0
        matrices = np.empty((n, k, k))
        for index, cases in enumerate(self.cases):
            chosen = np.flatnonzero(which == index)
            if len(chosen):
                row_groups = self._row_groups[index]
                some = costs[chosen]
                matrices[chosen] = least_costs(cases, some) if row_groups is None else row_groups.least_costs(some)
        return matrices


class CountedOutcomes:
    """Outcomes of random batches of a study's own items, counted for each model when the study was made.

    In a pair neither batch is better in everything; other pairs reveal nothing about a person's values.
    """

    def __init__(self, tallies: Sequence[Tally]) -> None:
        self.outcomes = np.concatenate([tally.drawn for tally in tallies])

    def draw(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return n matrices of rates, shape (n, k, k); each two consecutive ones are a pair."""
        kept: list[Matrix] = []
        missing = n // 2
        for _ in range(_MOST_DRAWS):
            pairs = self.outcomes[rng.integers(len(self.outcomes), size=(2 * missing, 2))]
            better = np.sign(np.diff(np.diagonal(pairs, axis1=2, axis2=3), axis=1)[:, 0])
            fair = pairs[(better > 0).any(axis=1) & (better < 0).any(axis=1)][:missing]
            kept.extend(fair.reshape(-1, *self.outcomes.shape[1:]))
            missing -= len(fair)
            if missing == 0:
                return np.array(kept)
        raise Problem("Of any two batches of these items, one is better for every class, so there is nothing to judge.")


class LowerBoundary:
    """Points of the sphere whose direction a has no positive entry, drawn uniformly."""

    def __init__(self, sphere: Sphere) -> None:
        self.sphere = sphere

    def draw(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return n matrices of rates, shape (n, k, k)."""
        k = self.sphere.n_classes
        a = -np.abs(rng.standard_normal((n, k * (k - 1))))
        a /= np.linalg.norm(a, axis=1, keepdims=True)
        return np.array([self.sphere.point(one) for one in a])


def least_costs(cases: Cases, costs: Matrix) -> Matrix:
    """Return the matrices (m, k, k) of least-expected-cost decisions under many cost matrices (m, k, k).

    The result equals that of `Cases.least_cost` for each, but is many times faster.
    """
    k, n = cases.n_classes, len(cases.weight)
    block = max(1, _BLOCK // n)
    matrices = np.empty((len(costs), k, k))
    for start in range(0, len(costs), block):
        some = costs[start : start + block]
        expected = np.matmul(np.swapaxes(some, 1, 2), cases.eta_by_class)
        least = expected.min(axis=1)
        free = np.ones(least.shape, dtype=bool)
        for j in range(k):
            chosen = free if j == k - 1 else free & (expected[:, j] == least)
            matrices[start : start + block, :, j] = chosen.astype(np.float64) @ cases.gain
            free = free & ~chosen
    return matrices / cases.total


_ENOUGH_ROWS, _NARROW = 2_000, 0.05


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Rows divided into stretches of similar neighbours, most of which get one answer as a whole.

    The matrices equal those of `least_costs` up to rounding: a stretch is decided as a whole only if its answer is the
    cheapest at every point of the box around its rows. On the paper's laws this is about ten times faster.
    """

    # shape (b, k): middle and half-width of the box around the probabilities of each stretch
    middle: Matrix
    reach: Matrix
    gain: Matrix  # shape (b, k): sum over the rows of each stretch
    # shape (b, rows, k): the rows; the last stretch is padded with rows that add nothing
    eta: Matrix
    gain_by_row: Matrix
    total: float  # as in `Cases`

    @classmethod
    def of(cls, cases: Cases) -> RowGroups | None:
        """Return the stretches of cases, or None if there are few rows or neighbours differ."""
        n, k = cases.eta.shape
        if n < _ENOUGH_ROWS:
            return None
        rows = math.isqrt(n)
        missing = -n % rows
        eta = np.concatenate([cases.eta, np.repeat(cases.eta[-1:], missing, axis=0)]).reshape(-1, rows, k)
        gain = np.concatenate([cases.gain, np.zeros((missing, k))]).reshape(-1, rows, k)
        low, high = eta.min(axis=1), eta.max(axis=1)
        if float((high - low).mean()) > _NARROW:
            return None
        # Slightly wider than the box, so that rounding cannot decide an open stretch.
        return cls((low + high) / 2, (high - low) / 2 + _SAME, gain.sum(axis=1), eta, gain, cases.total)

    def least_costs(self, costs: Matrix) -> Matrix:
        """Return the matrices (m, k, k) of least-expected-cost decisions under many cost matrices (m, k, k)."""
        slopes = np.ascontiguousarray(np.swapaxes(costs, 1, 2))
        expected = slopes @ self.middle.T
        first = expected.argmin(axis=1)
        open_ = self._open(slopes, expected, first)
        matrices = np.empty_like(costs)
        for j in range(costs.shape[1]):
            matrices[:, :, j] = ((first == j) & ~open_).astype(np.float64) @ self.gain
        which, stretch = np.nonzero(open_)
        size = max(1, 8 * _BLOCK // self.eta[0].size)
        for start in range(0, len(which), size):
            self._add(matrices, slopes, which[start : start + size], stretch[start : start + size])
        return matrices / self.total

    def _open(self, slopes: Matrix, expected: Matrix, first: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return, per cost matrix and stretch, whether another answer may be cheapest somewhere in the box."""
        spread = slopes @ self.reach.T  # costs are not negative
        chosen = first[:, None]
        most = np.take_along_axis(expected + spread, chosen, axis=1)[:, 0]
        least = expected - spread
        np.put_along_axis(least, chosen, np.inf, axis=1)
        found: NDArray[np.bool_] = least.min(axis=1) <= most
        return found

    def _add(self, matrices: Matrix, slopes: Matrix, which: NDArray[np.intp], stretch: NDArray[np.intp]) -> None:
        """Add the rows of open stretches, each decided by itself."""
        gain = self.gain_by_row[stretch]
        answers = (slopes[which] @ np.swapaxes(self.eta[stretch], 1, 2)).argmin(axis=1)
        for j in range(slopes.shape[1]):
            np.add.at(matrices[:, :, j], which, np.matmul((answers == j)[:, None].astype(np.float64), gain)[:, 0])


_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FeasibleSphere:
    """The largest sphere of a study's matrices."""

    study: Study  # whose matrices
    model: str | None  # the model whose probabilities decide; None for a distribution
    sphere: MeasuredSphere  # centre, radius lambda, and the classifiers on it

    def as_json(self) -> dict[str, object]:
        """Return the output of `elicit study radius --json`; matrices are rates, rows are true classes."""
        return {
            "study": self.study.name,
            "model": self.model,
            "classes": list(self.study.classes),
            "radius": self.sphere.radius,
            "centre": self.sphere.centre.tolist(),
            "lambda_by_class": [reach.length for reach in self.sphere.reaches],
        }

    def classifier(self, matrix: Matrix) -> Matrix:
        """Return the randomised classifier h(x, j), shape (n, k), with a given matrix (k, k) whose rows sum to 1.

        Raises Problem if the matrix lies outside the sphere.
        """
        away = (matrix * self.sphere.centre.sum(axis=1, keepdims=True) - self.sphere.centre)[
            error_cells(self.study.n_classes)
        ] / self.sphere.radius
        if (length := float(np.linalg.norm(away))) > 1 + _ROUNDING:
            raise Problem(
                f"The matrix lies {length:.3g} times as far from the centre as the sphere reaches, so no classifier "
                "is known for it. Choose one that lpm asked about, or one that predicts the classes more equally often."
            )
        return np.clip(self.sphere.classifier(away), 0.0, 1.0)


def feasible_sphere(study: Study, model: str | None = None) -> FeasibleSphere:
    """Measure the sphere of a study by k linear programmes over its cases, or over all points of its distribution.

    With several models the named one is used, else the first. Raises Problem if there is no such model, or no sphere
    fits.
    """
    if study.pack is not None:
        raise Problem(f"The sphere is computed from the cases, which “{study.title}” does not have.")
    chosen = models_asked(study, setting_of("lpm", model=model))[0]
    return FeasibleSphere(study, None if chosen is None else chosen.name, measured_sphere(study, chosen))


def write_probabilities(path: Path, classes: Sequence[str], probabilities: Matrix) -> None:
    """Write a randomised classifier as CSV: one row per case, one column ``answer_<class>`` per class."""
    import polars as pl

    columns = {f"answer_{name}": probabilities[:, index] for index, name in enumerate(classes)}
    write_whole(path, pl.DataFrame(columns).write_csv())
