"""Pairs that a person could meet: results near what the study's models do, in which few mistakes are traded.

Both sides equal a model's own counts, except for the two or three mistakes that are traded. Each of those is on one
side only, in an amount of any size. On both sides every class is wrong less often than the stated worst error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.belief import memory_slices
from elicit_app.elicitation.cases import Decider, Tally
from elicit_app.elicitation.pairs import FrontierPairs, PairSet
from elicit_app.elicitation.pool import POOL_SEED, SAME, Pool, argmax_confusions
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Counts, Matrix
from elicit_app.elicitation.reach import widest_rates
from elicit_app.elicitation.region import WORST_ERROR, Region
from elicit_app.problem import Problem
from metrics.elicited.family import error_cells, family_of

CLEAR = 10  # cases that the larger amount of a trade must reach, if the classes are large enough

_THREE = 0.25  # share of pairs in which three mistakes differ
_FEW_CLASSES = 5  # with more, two mistakes are enough to read, and noise is assumed constant in ratios
_READING = 4.0  # effort of reading a question, in differing mistakes: people find a third mistake hard
_AS_LARGE = 0.5  # share of trades as large as possible, if trades are to be large
_FAR = 1 / 3  # share of pairs that may exceed what is near the models
_USED = 0.5  # share of the mistakes drawn in proportion to how much the models' decisions differ in them
_LOOKED_AT = 4_000_000  # numbers computed to find plausible pairs among the models' own decisions
_DRAWN_TIMES = 8  # pairs of batches drawn for each pair in which both sides are better in something
_POOLS = 8  # studies whose pairs are cached
_REDRAWN = 20  # rounds in which mistakes drawn twice are drawn again
_MOST, _NUMBERS = 2_400, 1.5e6  # pairs drawn for a question, and the numbers that they may take


class PlausiblePairs:
    """Trades near what the study's models do, drawn anew for every question.

    Parameters
    ----------
    pool : Pool
        Achievable matrices of a population.
    prior : WeightPrior
        Determines which mistakes are weighed.
    region : Region
        Results that may be shown.
    models : ndarray of int, shape (n, k, k)
        Counts of the models' most probable classes.
    max_cells : int
        Largest number of mistakes that may differ in a pair; never more than three do.
    large : bool
        Whether half of the trades are as large as a class allows: with noise constant in utility, people judge those
        better.

    Raises
    ------
    Problem
        If no two mistakes can be traded.
    """

    def __init__(
        self, pool: Pool, prior: WeightPrior, region: Region, models: Counts, max_cells: int, *, large: bool
    ) -> None:
        assert pool.population is not None
        self.pool, self.prior = pool, prior
        self.population: int = pool.population
        self.region = region
        self._three = _THREE if min(max_cells, prior.size) > 2 and prior.n_classes <= _FEW_CLASSES else 0.0
        self._as_large = _AS_LARGE if large and prior.n_classes <= _FEW_CLASSES else 0.0
        self._cells = _cells_of(prior, models)
        self._likely = self._usage()
        self._achieved = self._of_models(max_cells, large)
        self._widest: Matrix | None = None
        self._lock = Lock()
        if np.count_nonzero(self._likely) < 2:
            raise Problem(
                "No two mistakes can be traded for each other near what these models do: too few of "
                f"{self.population:,} cases are of some class. Show results for more cases (the study's population), "
                "or raise the worst error."
            )

    def candidates(self, weights: Matrix, rng: np.random.Generator) -> PairSet:
        """Return candidate pairs: drawn trades, then pairs that models achieve."""
        drawn = self._as_pairs(*self._trades(self._most, rng))
        achieved = self._some_achieved(rng)
        return PairSet.joined([drawn, achieved]) if len(achieved) else drawn

    def widest_offered(self, rng: np.random.Generator) -> Matrix:
        """Return the widest rates among candidate pairs, see `reach.widest_rates`; the first call's, for all sessions.

        The pairs themselves are not made: with fifty classes they take 50 MB.
        """
        with self._lock:
            if self._widest is None:
                pair, kept, _ = self._trades(self._most, rng)
                parts = (kept[some] for some in memory_slices(len(kept), self.prior.n_classes**2))
                drawn = [widest_rates(self.prior.gain(*self._rates(pair, part))) for part in parts]
                self._widest = np.max([*drawn, widest_rates(self._some_achieved(rng).gains)], axis=0)
            return self._widest

    @property
    def _most(self) -> int:
        return int(np.clip(_NUMBERS / self.prior.size, 300, _MOST))

    def _some_achieved(self, rng: np.random.Generator) -> PairSet:
        """Return the pairs that models achieve, or some of many."""
        if not len(self._achieved):
            return self._achieved
        share = min(len(self._achieved), self._most // 3)
        return self._achieved[np.sort(rng.choice(len(self._achieved), share, replace=False))]

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return the gains of random pairs of achievable matrices, shape (<= n, m)."""
        if self.region.fixed is None:
            return self.pool.random_gains(self.prior, n, rng)
        # One batch may be better than another in everything, which reveals nothing about a person's values.
        gains = self.pool.random_gains(self.prior, _DRAWN_TIMES * n, rng)
        return gains[(gains > SAME).any(axis=1) & (gains < -SAME).any(axis=1)][:n]

    def _usage(self) -> Matrix:
        """Return the probability that each weighed mistake is traded, shape (m,); 0 where it cannot be."""
        true, predicted = self._cells.T
        possible = self.region.most[true] >= 1
        spread = np.abs(self.pool.matrices - self.pool.matrices.mean(axis=0)).mean(axis=0)
        used = (
            spread[true, predicted] if family_of(self.prior.family).distinguishes_errors else spread.sum(axis=1)[true]
        )
        used = np.where(possible, used, 0.0)
        even = possible / max(possible.sum(), 1)
        return np.asarray(_USED * used / used.sum() + (1 - _USED) * even if used.sum() > 0 else even)

    def _of_models(self, max_cells: int, large: bool) -> PairSet:
        """Return the pairs of achievable matrices that may be shown and differ in few mistakes."""
        counts = np.rint(self.pool.matrices * self.population).astype(np.int64)
        shown = self.region.contains(counts)
        matrices = self.pool.matrices[shown if large else shown & self.region.are_near(counts)]
        first, second = np.triu_indices(len(matrices), 1)
        if len(first) > _LOOKED_AT // self.prior.size:
            some = np.sort(
                np.random.default_rng([POOL_SEED, 2]).choice(len(first), _LOOKED_AT // self.prior.size, False)
            )
            first, second = first[some], second[some]
        gains = self.prior.gain(matrices[first], matrices[second])
        few = np.flatnonzero((np.abs(gains) > SAME).sum(axis=1) <= min(max_cells, 3))
        return PairSet.of(matrices[first[few]], matrices[second[few]], self.prior, hypothetical=False)

    def _trades(
        self, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.intp], NDArray[np.bool_]]:
        """Draw trades: the first mistake on one side, the second on the other, a third on either.

        Return counts (n, 2, k, k), the indices of the trades to keep, and which lie far from the models.
        """
        region, cells = self.region, self._cells
        base = rng.integers(len(region.bases), size=n)
        which = _distinct(self._likely, n, rng)
        three = rng.random(n) < self._three
        far = rng.random(n) < _FAR
        sides = np.stack([np.zeros(n, np.intp), np.ones(n, np.intp), rng.integers(2, size=n)], axis=1)
        # With fifty classes both sides of all pairs take 49 MiB as 64-bit integers; 32 bits are enough for counts.
        pair = np.repeat(region.bases.astype(np.int32)[base][:, None], 2, axis=1)
        each = np.arange(n)
        traded = [(*cells[which[:, c]].T, np.ones(n, bool) if c < 2 else three) for c in range(3)]
        for true, predicted, on in traded:
            for side in (0, 1):
                freed = np.where(on, pair[each, side, true, predicted], 0)
                pair[each, side, true, predicted] -= freed
                pair[each, side, true, true] += freed

        def capacity(c: int) -> Counts:
            true, _, on = traded[c]
            rows = pair[each, sides[:, c], true]
            free = region.most[true] - (rows.sum(axis=1) - rows[each, true])
            return np.asarray(np.where(on, np.minimum(free, np.where(far, region.most[true], region.near[true])), 0))

        def put(c: int, amount: Counts) -> None:
            true, predicted, _ = traded[c]
            pair[each, sides[:, c], true, predicted] += amount
            pair[each, sides[:, c], true, true] -= amount

        capacities = np.stack([capacity(0), capacity(1)], axis=1)
        amounts = _any_size(capacities, rng)
        as_large = rng.random(n) < self._as_large
        amounts[as_large] = _as_large_as_can_be(amounts[as_large], capacities[as_large])
        put(0, amounts[:, 0])
        put(1, amounts[:, 1])
        third = _any_size(capacity(2), rng)
        put(2, third)
        enough = (amounts >= 1).all(axis=1)
        enough &= amounts.max(axis=1) >= np.minimum(CLEAR, region.most.max() // 2)
        beyond = np.zeros(n, dtype=bool)
        for (true, _, _), amount in zip(traded, (*amounts.T, third), strict=True):
            beyond |= amount > region.near[true]
        return pair, np.flatnonzero(enough), beyond

    def _as_pairs(self, pair: NDArray[np.int32], kept: NDArray[np.intp], beyond: NDArray[np.bool_]) -> PairSet:
        """Return the `kept` trades of counts (n, 2, k, k); `beyond` marks those far from the models."""
        first, second = np.empty((2, len(kept), *pair.shape[2:]))
        gains = np.empty((len(kept), self.prior.size))
        for some in memory_slices(len(kept), self.prior.n_classes**2):
            first[some], second[some] = self._rates(pair, kept[some])
            gains[some] = self.prior.gain(first[some], second[some])
        return PairSet(first, second, gains, np.ones(len(kept), dtype=bool), beyond[kept], _READING)

    def _rates(self, pair: NDArray[np.int32], some: NDArray[np.intp]) -> Matrix:
        """Return the rates of both sides of some trades, shape (2, c, k, k)."""
        return np.asarray(pair[some].swapaxes(0, 1) / self.population)


def _cells_of(prior: WeightPrior, models: Counts) -> NDArray[np.intp]:
    """Return the cell of the matrix in which each weighed mistake is traded, shape (m, 2).

    The family dlpm does not distinguish the wrong answers of a class: the most frequent one represents them all.
    """
    keys = family_of(prior.family).mistakes(prior.n_classes)
    frequent = np.where(error_cells(prior.n_classes), models.sum(axis=0), -1).argmax(axis=1)
    return np.array([(key.true, frequent[key.true] if key.predicted is None else key.predicted) for key in keys])


def _distinct(likely: Matrix, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw three different mistakes n times, or two and a repetition if only two exist; shape (n, 3)."""
    drawn = rng.choice(len(likely), size=(n, 3), p=likely)
    for _ in range(_REDRAWN):
        same = (drawn[:, 0] == drawn[:, 1]) | (drawn[:, 2] == drawn[:, 0]) | (drawn[:, 2] == drawn[:, 1])
        if not same.any():
            return np.asarray(drawn)
        drawn[same] = rng.choice(len(likely), size=(int(same.sum()), 3), p=likely)
    # With few mistakes, or very unequal probabilities: sample without replacement by exponential races
    # (Efraimidis and Spirakis 2006).
    possible = np.flatnonzero(likely)
    order = possible[np.argsort(rng.exponential(size=(n, len(possible))) / likely[possible], axis=1)[:, :3]]
    return np.asarray(order if order.shape[1] == 3 else np.concatenate([order, order[:, :1]], axis=1))


def _any_size(capacity: Counts, rng: np.random.Generator) -> Counts:
    """Draw amounts from 1 to the room there is: half of them uniformly, half uniformly on the log scale."""
    most = np.maximum(capacity, 1)
    even = rng.integers(1, most + 1)
    logarithmic = np.floor(np.exp(rng.random(most.shape) * np.log(most + 1.0))).astype(np.int64)
    drawn = np.where(rng.random(most.shape) < 0.5, even, np.clip(logarithmic, 1, most))
    return np.where(capacity >= 1, drawn, 0)


def _as_large_as_can_be(amounts: Counts, capacities: Counts) -> Counts:
    """Return the trades, shape (n, 2), enlarged as far as there is room at the same exchange rate."""
    times = (capacities / np.maximum(amounts, 1)).min(axis=1)
    return np.asarray(np.floor(amounts * times[:, None]).astype(np.int64))


@dataclass(frozen=True)
class _PairsKey:
    """What the pairs of a study depend on; two instances are equal if their digests are."""

    digest: bytes
    cases: Sequence[Decider] = field(compare=False)
    population: int | None = field(compare=False)
    prior: WeightPrior = field(compare=False)
    max_cells: int = field(compare=False)
    worst_error: float = field(compare=False)
    large: bool = field(compare=False)


def pairs_of_study(
    cases: Sequence[Decider],
    population: int | None,
    prior: WeightPrior,
    max_cells: int,
    worst_error: float = WORST_ERROR,
    *,
    large: bool = False,
) -> FrontierPairs | PlausiblePairs:
    """Return the source of a study's questions, cached for the same cases whatever the session and seed.

    Parameters
    ----------
    cases : sequence of Decider
        One per model.
    population : int or None
        Population that the matrices are shown for; None, in the laboratory, allows anything achievable or imagined.
    prior : WeightPrior
        Determines which mistakes are weighed.
    max_cells : int
        Largest number of mistakes that may differ in a pair.
    worst_error : float
        In (0, 1]. 1 allows anything achievable or imagined; below it, questions are plausible.
    large : bool
        Whether plausible trades are large; see `PlausiblePairs`.

    Raises
    ------
    Problem
        If the worst error is out of range, or nothing can be traded.
    """
    content = hashlib.sha256(f"{population}/{max_cells}/{prior.family}/{worst_error!r}/{large}".encode())
    for model in cases:
        for column in model.content():
            content.update(np.ascontiguousarray(column).tobytes())
    return _cached_pairs(_PairsKey(content.digest(), cases, population, prior, max_cells, worst_error, large))


@lru_cache(maxsize=_POOLS)
def _cached_pairs(asked: _PairsKey) -> FrontierPairs | PlausiblePairs:
    cases, population, prior = asked.cases, asked.population, asked.prior
    rng = np.random.default_rng([POOL_SEED, 0])
    if population is None:
        return FrontierPairs(Pool.of(cases, None, rng), prior, asked.max_cells)
    models = np.rint(argmax_confusions(cases, population) * population).astype(np.int64)
    good = next((one.good for one in cases if isinstance(one, Tally)), None)
    large = asked.large or good is not None  # priced amounts are outcomes of batches, which may be anything
    region = Region.around(models, asked.worst_error, None if good is None else np.array(good), large=large)
    if asked.worst_error == 1:
        return FrontierPairs(Pool.of(cases, population, rng), prior, asked.max_cells, region)
    pool = Pool.of(cases, population, rng, mixable=False)
    return PlausiblePairs(pool, prior, region, models, asked.max_cells, large=large)
