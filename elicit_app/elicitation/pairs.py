"""Pairs that may be asked about: neither side dominates, the difference is clear and few cells differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.pool import POOL_SEED, SAME, Pool, imagined, mixtures
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.region import Region
from elicit_app.problem import Problem
from metrics.elicited.family import LPM, error_cells, family_of

_CLEAR = 0.01  # share of the cases that the largest difference of a pair must reach
_LOOKED_AT = 4_000_000  # numbers computed in the search for pairs of a pool
_KEPT = 40_000  # pairs kept
_ENOUGH = 20_000  # pairs of a pool from which on no pairs are constructed
_MIXED, _IMAGINED = 240, 3_000  # constructed pairs
_MIX_UP_TO = 5  # classes: with more, feasible trades in few cells are too small to judge
_CANDIDATES = 2_400  # pairs considered for one question


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs of confusion matrices.

    Parameters
    ----------
    first, second : ndarray of shape (n, k, k)
        The matrices, as rates.
    gains : ndarray of shape (n, m)
        ``WeightPrior.gain`` of each pair.
    hypothetical : ndarray of bool, shape (n,)
        Whether one of the matrices is not what a model produces.
    far : ndarray of bool, shape (n,)
        Whether a mistake is much more frequent than near the models.
    reading : float
        Fixed effort of reading a question of this source, in units of differing mistakes: each of those adds one.
    """

    first: Matrix
    second: Matrix
    gains: Matrix
    hypothetical: NDArray[np.bool_]
    far: NDArray[np.bool_]
    reading: float = 12.0

    def __len__(self) -> int:
        return len(self.gains)

    @property
    def cells(self) -> NDArray[np.intp]:
        """Return the number of weighed cells in which the two matrices differ, shape (n,)."""
        return np.asarray((np.abs(self.gains) > SAME).sum(axis=1))

    def __getitem__(self, some: NDArray[np.intp]) -> PairSet:
        hypothetical, far = self.hypothetical[some], self.far[some]
        return PairSet(self.first[some], self.second[some], self.gains[some], hypothetical, far, self.reading)

    @property
    def effort(self) -> Matrix:
        """Return the effort of reading each question, in any unit, shape (n,)."""
        return np.asarray(self.reading + self.cells, dtype=np.float64)

    @classmethod
    def of(cls, first: Matrix, second: Matrix, prior: WeightPrior, hypothetical: bool) -> PairSet:
        """Pair up matrices and keep what can be asked: a clear difference, and no side that dominates."""
        gains = prior.gain(first, second)
        fair = (gains > SAME).any(axis=1) & (gains < -SAME).any(axis=1)
        kept = np.flatnonzero(fair & (np.abs(gains).max(axis=1) >= _CLEAR - SAME))
        plain = np.zeros(len(kept), dtype=bool)
        return cls(first[kept], second[kept], gains[kept], plain | hypothetical, plain)

    @classmethod
    def joined(cls, parts: Sequence[PairSet]) -> PairSet:
        """Return all pairs of several sets, in order; those of a source are read alike, whose effort the first has."""
        return cls(
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.second for part in parts]),
            np.concatenate([part.gains for part in parts]),
            np.concatenate([part.hypothetical for part in parts]),
            np.concatenate([part.far for part in parts]),
            parts[0].reading,
        )


class PairSource(Protocol):
    """Source of the pairs that questions are made of."""

    @property
    def population(self) -> int | None:
        """Return the population that the matrices are shown for; None for exact rates."""

    @property
    def region(self) -> Region | None:
        """Return the region of results that may be shown; None for exact rates."""

    def candidates(self, weights: Matrix, rng: np.random.Generator) -> PairSet:
        """Return candidate pairs, given draws of the positive weights, shape (n, m)."""

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return the gains, shape (<= n, m), of random pairs of distinct achievable matrices."""


class FrontierPairs:
    """Pairs of the matrices that a study's models achieve, and trades in few cells made from them.

    Parameters
    ----------
    pool : Pool
        Achievable matrices.
    prior : WeightPrior
        Determines which cells are weighed.
    max_cells : int
        Largest number of cells that may differ in a pair.
    region : Region or None
        Limits how far a person may move a count.
    """

    def __init__(self, pool: Pool, prior: WeightPrior, max_cells: int, region: Region | None = None) -> None:
        self.pool, self.prior, self.region = pool, prior, region
        self.population: int | None = pool.population
        rng = np.random.default_rng([POOL_SEED, 1])
        achieved = self._achieved(max_cells, rng)
        self.groups = [achieved]
        if len(achieved) < _ENOUGH and prior.size > 2:
            made = [imagined(pool, prior, max_cells, _IMAGINED, rng)]
            if prior.n_classes <= _MIX_UP_TO:
                made.append(mixtures(pool, prior, max_cells, _MIXED, rng))
            for trades in made:
                pairs = PairSet.of(*trades, prior, hypothetical=True)
                self.groups.append(pairs[np.flatnonzero(pairs.cells <= max_cells)])
        if not sum(map(len, self.groups)):
            raise Problem(
                "No two decisions of these models trade one mistake for another, so there is nothing to ask. "
                "Use predictions whose probabilities differ from case to case, of classes that all occur."
            )

    def candidates(self, weights: Matrix, rng: np.random.Generator) -> PairSet:
        """Return candidate pairs: equally many achieved and constructed ones if both exist."""
        share = _CANDIDATES // len(self.groups)
        return PairSet.joined(
            [
                group[rng.choice(len(group), min(share, len(group)), replace=False)]
                for group in self.groups
                if len(group)
            ]
        )

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return the gains of random pairs of typical decisions, shape (<= n, m), on which a metric is judged."""
        return self.pool.random_gains(self.prior, n, rng)

    def _achieved(self, max_cells: int, rng: np.random.Generator) -> PairSet:
        matrices, most = self.pool.matrices, _LOOKED_AT // self.prior.size
        first, second = np.triu_indices(len(matrices), 1)
        if len(first) > most:
            some = np.sort(rng.choice(len(first), most, replace=False))
            first, second = first[some], second[some]
        simple = np.flatnonzero(
            (np.abs(self.prior.gain(matrices[first], matrices[second])) > SAME).sum(axis=1) <= max_cells
        )
        if len(simple) > _KEPT:
            simple = np.sort(rng.choice(simple, _KEPT, replace=False))
        return PairSet.of(matrices[first[simple]], matrices[second[simple]], self.prior, hypothetical=False)


class SpherePairs:
    """Pairs of points on the lower boundary of a sphere in the space of confusions, for the laboratory.

    Parameters
    ----------
    centre : ndarray of shape (k, k)
        Matrix of rates at the centre.
    radius : float
        lambda (Hiranandani et al. 2019, section 3.2).
    prior : WeightPrior
        Prior of the weights, in the family lpm.
    """

    population: int | None = None
    region: Region | None = None

    def __init__(self, centre: Matrix, radius: float, prior: WeightPrior) -> None:
        if family_of(prior.family) is not LPM:
            raise Problem("The sphere is a space of errors: use it with the family lpm.")
        self.centre, self.radius, self.prior = np.asarray(centre, dtype=np.float64), radius, prior

    def candidates(self, weights: Matrix, rng: np.random.Generator) -> PairSet:
        """Return pairs that roughly halve the uncertainty of the draws, and some random pairs.

        The two points lie symmetrically about a plausible direction, so that a metric of this direction is
        indifferent. They differ along a principal axis of the draws, or along the difference of two draws.
        """
        unit = weights / np.linalg.norm(weights, axis=1, keepdims=True)
        n, m = unit.shape
        middle = unit.mean(axis=0)
        count = _CANDIDATES * 3 // 4
        one = rng.integers(n, size=count)
        apart = unit[one] - unit[(one + rng.integers(1, n, size=count)) % n]
        apart[:m] = np.linalg.eigh(np.cov(unit.T))[1].T
        about = 0.5 * unit[rng.integers(n, size=count)] + 0.5 * middle
        about[:m] = middle
        about /= np.linalg.norm(about, axis=1, keepdims=True)
        apart -= (apart * about).sum(axis=1, keepdims=True) * about
        apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-300)
        # As far apart as possible while all weights of both points stay positive.
        angle = np.arctan(np.min(about / np.maximum(np.abs(apart), 1e-300), axis=1))[:, None]
        first = about * np.cos(angle) + apart * np.sin(angle)
        second = about * np.cos(angle) - apart * np.sin(angle)
        others = self._anywhere(2 * (_CANDIDATES - count), m, rng).reshape(2, -1, m)
        a, b = np.concatenate([first, others[0]]), np.concatenate([second, others[1]])
        plain = np.zeros(len(a), dtype=bool)
        return PairSet(self._points(a), self._points(b), self.radius * (a - b), plain, plain)

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return the gains of random pairs of points, shape (n, q)."""
        first, second = self._anywhere(2 * n, self.prior.size, rng).reshape(2, n, self.prior.size)
        return np.asarray(self.radius * (first - second))

    def _anywhere(self, n: int, m: int, rng: np.random.Generator) -> Matrix:
        points = np.abs(rng.standard_normal((n, m)))
        return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))

    def _points(self, directions: Matrix) -> Matrix:
        """Return the matrices at centre - radius * direction, shape (n, k, k), with row sums kept."""
        errors = error_cells(self.prior.n_classes)
        moved = np.zeros((len(directions), *self.centre.shape))
        moved[:, errors] = -self.radius * directions
        moved -= np.eye(len(self.centre)) * moved.sum(axis=2, keepdims=True)
        return np.asarray(self.centre + moved)
