"""Pairs made so that few cells differ: mixtures of achievable matrices, or imagined changes of one matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.pool import Pool
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Matrix
from metrics.frequencies import natural_frequencies

_VERTICES = 250  # matrices of the pool that a linear programme mixes
_AMOUNT = 0.05  # median size of an imagined change, as a share of all cases
_LEFT = 0.2  # share of a class's hits that no imagined change takes away
_ROUNDED = 1e-9


class Tradeoffs(NamedTuple):
    """Pairs of matrices, each of shape (n, k, k), that trade some mistakes for others."""

    first: Matrix
    second: Matrix


def mixtures(pool: Pool, prior: WeightPrior, max_cells: int, n: int, rng: np.random.Generator) -> Tradeoffs:
    """Find feasible pairs that differ in at most `max_cells` weighed cells, by as much as possible.

    Both ends are mixtures of the pool's matrices, that is, randomised classifiers one could run. The linear programme
    holds every other cell equal and maximises a random trade between the chosen ones.

    Parameters
    ----------
    pool : Pool
        Achievable matrices.
    prior : WeightPrior
        Says which cells are weighed.
    max_cells : int
        At least 2.
    n : int
        Linear programmes to solve; up to n pairs come back.
    rng : numpy.random.Generator
        Source of cells and directions.
    """
    size = min(_VERTICES, len(pool.matrices))
    pairs = []
    for _ in range(n):
        corners = pool.matrices[np.sort(rng.choice(len(pool.matrices), size, replace=False))]
        cells, direction = _random_trade(prior.size, max_cells, rng)
        mixed = _widest(prior.gain(corners, np.zeros_like(corners[0])), cells, direction)
        if mixed is not None:
            ends = [np.tensordot(share, corners, axes=1) for share in mixed]
            pair = _few_cells(ends[0], ends[1], cells, prior, pool.population)
            pairs += [pair] if pair is not None else []
    return _stacked(pairs, prior.n_classes)


def imagined(pool: Pool, prior: WeightPrior, max_cells: int, n: int, rng: np.random.Generator) -> Tradeoffs:
    """Imagine that one matrix had more of some mistakes, or instead more of others; nothing says a model could do it.

    With many classes feasible trades in few cells are too small to judge. Cells are chosen as often as the achievable
    matrices differ in them.

    Parameters
    ----------
    pool, prior, max_cells, n, rng
        As in `mixtures`.
    """
    k, errors = prior.n_classes, ~np.eye(prior.n_classes, dtype=bool)
    base = pool.matrices[int(np.argmax(np.trace(pool.matrices, axis1=1, axis2=2)))]
    used = np.abs(pool.matrices - pool.matrices.mean(axis=0)).mean(axis=0)[errors]
    places = np.argwhere(errors)
    pairs = []
    for _ in range(n):
        count = int(rng.integers(2, max_cells + 1))
        count = min(count, int(np.count_nonzero(used)))
        chosen = places[rng.choice(len(places), count, replace=False, p=used / used.sum())]
        worse = int(rng.integers(1, len(chosen)))
        amounts = _AMOUNT * np.exp(rng.standard_normal(len(chosen)))
        ends = []
        for part in (slice(0, worse), slice(worse, None)):
            end = base.copy()
            for (true, predicted), amount in zip(chosen[part], amounts[part], strict=True):
                more = min(amount, max(end[true, true] - _LEFT * base[true, true], 0.0))
                more = more if pool.population is None else np.round(more * pool.population) / pool.population
                end[true, predicted] += more
                end[true, true] -= more
            ends.append(end)
        pairs.append((ends[0], ends[1]))
    return _stacked(pairs, k)


def _random_trade(size: int, max_cells: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Matrix]:
    """Return the weighed cells that may differ and the direction to push them, some up and some down."""
    count = int(rng.integers(2, max(2, min(max_cells, size)) + 1))
    cells = rng.choice(size, count, replace=False)
    up = int(rng.integers(1, count))
    return cells, np.exp(1.2 * rng.standard_normal(count)) * np.where(np.arange(count) < up, 1.0, -1.0)


def _widest(corners: Matrix, cells: NDArray[np.intp], direction: Matrix) -> tuple[Matrix, Matrix] | None:
    """Return the shares of the corners (n, m) in both ends of the widest trade, or None where none is found."""
    from scipy.optimize import linprog

    n, m = corners.shape
    others = np.setdiff1d(np.arange(m), cells)
    equal = np.zeros((len(others) + 2, 2 * n))
    equal[:-2, :n], equal[:-2, n:] = corners[:, others].T, -corners[:, others].T
    equal[-2, :n] = equal[-1, n:] = 1.0
    right = np.concatenate([np.zeros(len(others)), [1.0, 1.0]])
    push = corners[:, cells] @ direction
    found = linprog(np.concatenate([-push, push]), A_eq=equal, b_eq=right, method="highs")
    return (found.x[:n], found.x[n:]) if found.x is not None else None


def _few_cells(
    a: Matrix, b: Matrix, cells: NDArray[np.intp], prior: WeightPrior, population: int | None
) -> tuple[Matrix, Matrix] | None:
    """Make both ends exactly equal outside the chosen cells, in whole cases where there is a population."""
    k, errors = len(a), ~np.eye(len(a), dtype=bool)
    if population is not None:
        a = natural_frequencies(a, population).astype(np.float64)
        b = natural_frequencies(b, population).astype(np.float64)
    sums = a.sum(axis=1)
    if prior.family == "dlpm":
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
