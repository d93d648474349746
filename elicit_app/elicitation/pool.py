"""Achievable matrices, and pairs made from them: mixtures, or imagined models that err in few ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.cases import Cases, Decider, Tally
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Matrix
from elicit_app.problem import Problem
from metrics.batches import in_threads
from metrics.elicited.family import error_cells, family_of
from metrics.measures.confusion import whole_cases

SAME = 1e-12  # rates closer than this are the same

_SPREADS = (0.7, 1.5, 3.0)  # standard deviations of log-costs: near the usual decisions, typical, extreme
_TYPICAL = 1.5
_FEW_CLASSES = 20  # with more, decisions take long and fewer of them suffice
_WORK = 4e8  # steps spent on decisions: large studies get a smaller pool
_MOST, _FEWEST = 500, 120
POOL_SEED = 20  # a pool belongs to the study, not to the session
_DOMINATED = 200  # how many corners are dominated; they come last

_CORNERS = 250  # matrices that a linear programme mixes
_SPARING = 0.2  # weight of an error on either side, relative to the width of the trade
_AMOUNT = 0.8  # median size of an imagined mistake, as a share of its class
_LEFT = 0.05  # share of a class that imagined mistakes leave correct
_DIRECTIONS = 2  # trades sought in the same cells
_DIRECTION_SPREAD = 1.2
_BETWEEN = (0.25, 0.5, 0.75)  # mixtures of two trades in the same cells are trades too
_ROUNDED = 1e-9


@dataclass(frozen=True, eq=False)
class Pool:
    """Distinct achievable confusion matrices of a study's models.

    Parameters
    ----------
    matrices : ndarray of shape (n, k, k)
        Rates; multiples of 1/population where there is one.
    corners : ndarray of shape (c, k, k)
        Exact rates of decisions under costs of any sign, including dominated ones: the material of mixtures.
    typical : ndarray of shape (t, k, k)
        Exact rates of the decisions under typical costs (log-normal with a standard deviation of 1.5), on which
        agreement is judged. If they are all the same: each model as it decides, and each class for every case.
    population : int or None
        Population that the matrices are shown for; None in the laboratory.
    """

    matrices: Matrix
    corners: Matrix
    typical: Matrix
    population: int | None

    @classmethod
    def of(
        cls, cases: Sequence[Decider], population: int | None, rng: np.random.Generator, *, mixable: bool = True
    ) -> Pool:
        """Collect the matrices of random, extreme and constant decisions of all models.

        Parameters
        ----------
        cases : sequence of Decider
            One per model, of the same prevalence; a tally holds the decisions that were drawn from its cases.
        population : int or None
            Round to natural frequencies of this population.
        rng : numpy.random.Generator
            Source of the cost matrices.
        mixable : bool
            Whether to fill `corners`, which requires cases.

        Raises
        ------
        Problem
            If mixtures of decisions are wanted but there are only tallies.
        """
        k = cases[0].n_classes
        real, tallies = _split_deciders(cases)
        found = [cases[0].constant(j) for j in range(k)] + [model.usual() for model in cases]
        fixed = len(found)
        if tallies:
            places = np.concatenate([tally.places for tally in tallies])
            found += [*np.concatenate([tally.drawn for tally in tallies])[np.argsort(places)]]
        else:
            found += in_threads(lambda drawn: real[drawn[0]].least_cost(drawn[1]), drawn_costs(real, rng))
        rates = np.array(found)
        corners = np.empty((0, k, k))
        if mixable:
            if tallies:
                raise Problem("Without the cases only plausible questions can be asked: leave the worst error below 1.")
            dominated = rng.standard_normal((_DOMINATED, k, k)) * np.exp(rng.standard_normal((_DOMINATED, k, k)))
            made = [cases[n % len(cases)].least_cost(costs) for n, costs in enumerate(dominated)]
            corners = np.concatenate([rates, made])
        typical = rates[fixed + _SPREADS.index(_TYPICAL) :: len(_SPREADS)]
        if not (np.abs(typical - typical[:1]) > SAME).any():
            typical = rates[:fixed]  # a model known only by its labels decides the same under any costs
        if population is None:
            return cls(np.unique(np.round(rates, 15), axis=0), corners, typical, None)
        counts = np.unique(whole_cases(rates, population), axis=0)
        return cls(counts / population, corners, typical, population)

    def random_gains(self, prior: WeightPrior, n: int, rng: np.random.Generator) -> Matrix:
        """Return the gains, shape (<= n, m), of random pairs of distinct typical matrices."""
        first, second = rng.integers(len(self.typical), size=(2, n))
        gains = prior.gain(self.typical[first], self.typical[second])
        return np.asarray(gains[np.abs(gains).max(axis=1) > SAME])


def drawn_costs(cases: Sequence[Cases], rng: np.random.Generator) -> Iterator[tuple[int, Matrix]]:
    """Yield the index of a model and random costs (k, k) to decide by: the draws that a pool is made of."""
    k = cases[0].n_classes
    work = sum(len(model.weight) for model in cases) / len(cases) * k * k
    size = int(np.clip(_WORK / work, _FEWEST if k <= _FEW_CLASSES else _FEWEST // 2, _MOST))
    for n in range(size):
        log_cost = _SPREADS[n % len(_SPREADS)] * rng.standard_normal((k, k))
        yield int(rng.integers(len(cases))), np.exp(log_cost) * (1 - np.eye(k))


def tallies_of(cases: Sequence[Cases], stated: tuple[float, ...] | None) -> tuple[Tally, ...]:
    """Count the decisions of a study's pool, so that questions can be made without any case.

    Parameters
    ----------
    cases : sequence of Cases
        One per model, counted.
    stated : tuple of float or None
        Stated prevalence to which the cases were adjusted.
    """
    drawn = [*enumerate(drawn_costs(cases, np.random.default_rng([POOL_SEED, 0])))]
    k = cases[0].n_classes
    tallies = []
    for model, own in enumerate(cases):
        places = [place for place, (owner, _) in drawn if owner == model]
        decided = [own.counts(costs) for _, (owner, costs) in drawn if owner == model]
        counted = np.array(decided, dtype=np.int64).reshape(-1, k, k)
        tallies.append(Tally(own.counts(1.0 - np.eye(k)), counted, np.array(places, dtype=np.int64), stated))
    return tuple(tallies)


def _split_deciders(cases: Sequence[Decider]) -> tuple[list[Cases], list[Tally]]:
    real = [one for one in cases if isinstance(one, Cases)]
    tallies = [one for one in cases if isinstance(one, Tally)]
    if real and tallies:
        raise Problem("Either all models of a study have cases, or all have tallies.")
    return real, tallies


def argmax_confusions(cases: Sequence[Decider], population: int | None) -> Matrix:
    """Return the matrices of the models' most probable classes, shape (n, k, k), as a person sees them."""
    matrices = np.array([model.usual() for model in cases])
    return matrices if population is None else whole_cases(matrices, population) / population


class Tradeoffs(NamedTuple):
    """Pairs of matrices, each of shape (n, k, k), that trade some mistakes for others."""

    first: Matrix
    second: Matrix


def mixtures(pool: Pool, prior: WeightPrior, max_cells: int, n: int, rng: np.random.Generator) -> Tradeoffs:
    """Find feasible pairs that differ in at most `max_cells` weighed cells, by as much as possible.

    Both sides are mixtures of the pool's matrices, that is, of randomised classifiers that could be run. The linear
    programme keeps every other cell equal and maximises a random trade between the chosen ones.

    Parameters
    ----------
    pool : Pool
        Achievable matrices.
    prior : WeightPrior
        Determines which cells are weighed.
    max_cells : int
        At least 2.
    n : int
        Linear programmes to solve; each gives several pairs.
    rng : numpy.random.Generator
        Source of cells and directions.
    """
    # Half of the mixed matrices are dominated decisions; without them few cells can be kept equal.
    dominated = np.arange(len(pool.corners)) >= len(pool.corners) - _DOMINATED
    likely = np.where(dominated, 0.5 / dominated.sum(), 0.5 / (~dominated).sum())
    pairs = []
    for _ in range(n // _DIRECTIONS):
        corners = pool.corners[rng.choice(len(pool.corners), min(_CORNERS, len(pool.corners)), replace=False, p=likely)]
        cells, directions = _random_trades(prior.size, max_cells, rng)
        weighed = prior.gain(corners, np.zeros_like(corners[0]))
        found = [_widest(weighed, cells, direction) for direction in directions]
        ends = [np.tensordot(shares, corners, axes=1) for shares in found if shares is not None]
        ends += [t * one + (1 - t) * other for one, other in combinations(ends, 2) for t in _BETWEEN]
        trades = [_few_cells(a, b, cells, prior, pool.population) for a, b in ends]
        pairs += [trade for trade in trades if trade is not None]
    return _stacked(pairs, prior.n_classes)


def imagined(pool: Pool, prior: WeightPrior, max_cells: int, n: int, rng: np.random.Generator) -> Tradeoffs:
    """Imagine models that make only some mistakes, or only others; nothing guarantees that they are achievable.

    Feasible trades in few cells are small, and with many classes too small to judge; these are as large as a class.
    Cells are chosen in proportion to how much the achievable matrices differ in them.

    Parameters
    ----------
    pool, prior, max_cells, n, rng
        As in `mixtures`.
    """
    errors = error_cells(prior.n_classes)
    used = np.abs(pool.matrices - pool.matrices.mean(axis=0)).mean(axis=0)[errors]
    places = np.argwhere(errors)
    sums = pool.matrices[0].sum(axis=1)
    most = min(max_cells, int(np.count_nonzero(used)))
    pairs = []
    for _ in range(n):
        count = int(rng.integers(2, most + 1))
        chosen = places[rng.choice(len(places), count, replace=False, p=used / used.sum())]
        worse = int(rng.integers(1, count))
        amounts = _AMOUNT * sums[chosen[:, 0]] * np.exp(rng.standard_normal(count))
        ends = []
        for part in (slice(0, worse), slice(worse, None)):
            end = np.diag(sums)
            for (true, predicted), amount in zip(chosen[part], amounts[part], strict=True):
                more = min(amount, max(end[true, true] - _LEFT * sums[true], 0.0))
                more = more if pool.population is None else np.round(more * pool.population) / pool.population
                end[true, predicted] += more
                end[true, true] -= more
            ends.append(end)
        pairs.append((ends[0], ends[1]))
    return _stacked(pairs, prior.n_classes)


def _random_trades(size: int, max_cells: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Matrix]:
    """Return the weighed cells that may differ, and directions (n, cells) to push them in: some up, some down."""
    count = int(rng.integers(2, max(2, min(max_cells, size)) + 1))
    cells = rng.choice(size, count, replace=False)
    up = int(rng.integers(1, count))
    sizes = np.exp(_DIRECTION_SPREAD * rng.standard_normal((_DIRECTIONS, count)))
    sizes /= sizes.mean(axis=1, keepdims=True)
    return cells, sizes * np.where(np.arange(count) < up, 1.0, -1.0)


def _widest(corners: Matrix, cells: NDArray[np.intp], direction: Matrix) -> Matrix | None:
    """Return the shares of the corners (n, m) in both ends of the widest trade, shape (2, n), or None."""
    from scipy.optimize import linprog

    n, m = corners.shape
    others = np.setdiff1d(np.arange(m), cells)
    equal = np.zeros((len(others) + 2, 2 * n))
    equal[:-2, :n], equal[:-2, n:] = corners[:, others].T, -corners[:, others].T
    equal[-2, :n] = equal[-1, n:] = 1.0
    right = np.concatenate([np.zeros(len(others)), [1.0, 1.0]])
    push = corners[:, cells] @ direction
    errors = -_SPARING * corners.sum(axis=1)
    found = linprog(np.concatenate([errors - push, errors + push]), A_eq=equal, b_eq=right, method="highs")
    if found.x is None:
        return None
    shares = np.maximum(found.x.reshape(2, n), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _few_cells(
    a: Matrix, b: Matrix, cells: NDArray[np.intp], prior: WeightPrior, population: int | None
) -> tuple[Matrix, Matrix] | None:
    """Make both ends exactly equal outside the chosen cells, in whole cases where there is a population."""
    k, errors = len(a), error_cells(len(a))
    if population is not None:
        a, b = whole_cases(np.array([a, b]), population).astype(np.float64)
    sums = a.sum(axis=1)
    if not family_of(prior.family).distinguishes_errors:
        rows = np.isin(np.arange(k), cells)
        b = np.where(rows[:, None], b, a)
    else:
        off = a[errors]
        off[cells] = b[errors][cells]
        b = np.zeros_like(a)
        b[errors] = off
        np.fill_diagonal(b, sums - b.sum(axis=1))
    if b.diagonal().min() < -_ROUNDED:
        return None
    np.fill_diagonal(b, np.maximum(b.diagonal(), 0.0))
    return (a, b) if population is None else (a / population, b / population)


def _stacked(pairs: list[tuple[Matrix, Matrix]], k: int) -> Tradeoffs:
    first, second = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    return Tradeoffs(first.reshape(-1, k, k), second.reshape(-1, k, k))
