"""Particles that track a posterior answer by answer: resampling, then elliptical slice moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Matrix
from metrics.batches import InParts

LogDensity = Callable[[Matrix], Matrix]

_DEGREES = 6.0  # of the t distribution that approximates the posterior: its tails keep distant draws mobile
_SHRINK = 0.05
_ADAPT_RATIO = 4  # particles per dimension required to estimate a covariance
_MOST_GOES = 7  # rounds of moves at one answer
_ANNEALING_SWEEPS = 4
_MOST_STAGES = 15  # rounds of moves behind a shown result
_ROWS_AT_ONCE = 512  # evaluating so many positions takes little longer than evaluating a few
_MOST_AHEAD = 8  # angles of one particle in a round
_DECIMALS = 8  # of a position: machines differ in later digits, which seldom changes one of these


class _StandIns(NamedTuple):
    """A multivariate t for each half of the particles, fitted to the other half, or the standard normal for both.

    Particles move in coordinates in which their own approximation is spherical: ``particle = centre + root @ inner``.
    """

    centres: Matrix
    roots: Matrix
    border: int
    degrees: float | None

    @classmethod
    def fitted(cls, particles: Matrix) -> _StandIns:
        n, d = particles.shape
        one, other = np.array_split(particles, 2)  # copies from resampling are adjacent
        if n // 2 < _ADAPT_RATIO * d:
            return cls(np.zeros((2, d)), np.stack([np.eye(d)] * 2), len(one), None)
        centres, roots = zip(*(_centre_and_root(half) for half in (other, one)), strict=True)
        return cls(np.stack(centres), np.stack(roots), len(one), _DEGREES)

    def inner(self, particles: Matrix) -> Matrix:
        """Return all particles, shape (n, d), in the coordinates of their approximations."""
        if self.degrees is None:
            return particles.copy()
        halves = zip(np.array_split(particles, 2), self.centres, self.roots, strict=True)
        inner = np.concatenate([np.linalg.solve(root, (half - centre).T).T for half, centre, root in halves])
        return np.asarray(np.round(inner, _DECIMALS))

    def outer(self, inner: Matrix, rows: NDArray[np.intp]) -> Matrix:
        """Return the particles, shape (len(rows), d), at the given inner coordinates; rows in order."""
        if self.degrees is None:
            return inner
        cut = int(np.searchsorted(rows, self.border))
        halves = zip((inner[:cut], inner[cut:]), self.centres, self.roots, strict=True)
        return np.concatenate([half @ root.T + centre for half, centre, root in halves])

    def log_density(self, inner: Matrix, particles: Matrix) -> Matrix:
        """Return log N(0, I) minus the log-density of the approximations, up to a constant for each half."""
        if self.degrees is None:
            return np.zeros(len(inner))
        weight = 0.5 * (self.degrees + inner.shape[1])
        return np.asarray(weight * np.log1p(_squares(inner) / self.degrees) - 0.5 * _squares(particles))

    def partners(self, normals: Matrix, gammas: Matrix, inner: Matrix) -> Matrix:
        """Return a partner on the ellipse for each row; a t is a normal of random scale, drawn given the row."""
        if self.degrees is None:
            return normals
        scale = np.sqrt(0.5 * (self.degrees + _squares(inner)) / gammas)
        return np.asarray(normals * scale[:, None])


def _centre_and_root(particles: Matrix) -> tuple[Matrix, Matrix]:
    covariance: Matrix = np.cov(particles.T).astype(np.float64)
    variance = covariance.diagonal()
    covariance = (1 - _SHRINK) * covariance + np.diag(_SHRINK * variance + 1e-12)
    # Single precision suffices for an approximation, and hides differences in rounding between machines.
    centre = particles.mean(axis=0).astype(np.float32).astype(np.float64)
    return centre, np.linalg.cholesky(covariance).astype(np.float32).astype(np.float64)


def _squares(rows: Matrix) -> Matrix:
    return np.asarray(np.einsum("nd,nd->n", rows, rows))


class Mixed(NamedTuple):
    """Particles after a step, and the number of independent draws that they are worth.

    Parameters
    ----------
    particles : ndarray of shape (n, d)
        The draws.
    effective : float
        Number of independent draws that would determine means as well.
    """

    particles: Matrix
    effective: float


def assimilating(
    particles: Matrix,
    effective: float,
    newest: Matrix,
    log_likelihood: LogDensity,
    observe: LogDensity,
    rng: np.random.Generator,
    sweeps: int,
    wanted: float,
) -> InParts[Mixed]:
    """Resample particles by the newest answer, then move them given all answers until they are worth enough draws.

    Errors of means after resampling persist as far as the moves remember their start: with r the correlation of an
    observed quantity before and after, 1 / effective = (1 - r^2) / n + r^2 / (effective before).

    Parameters
    ----------
    particles : ndarray of shape (n, d)
        Particles before the answer.
    effective : float
        Number of independent draws that they were worth.
    newest : ndarray of shape (n,)
        Log-likelihood of the newest answer.
    log_likelihood : callable
        Log-likelihood of all answers, from (n', d) to (n',).
    observe : callable
        From (n, d) to the quantities of interest, (n, q).
    rng : numpy.random.Generator
        Source of randomness.
    sweeps : int
        Moves of every particle in one round; there are at most `_MOST_GOES` rounds.
    wanted : float
        Number of effective draws that suffices.
    """
    n = len(particles)
    share = np.exp(newest - newest.max())
    share /= share.sum()
    inherited = effective / (n * float(share @ share))
    start = resampled(particles, newest, rng)
    now, seen = start, observe(start)
    found = 0.0
    for _ in range(_MOST_GOES):
        now = moved(now, log_likelihood, rng, sweeps)
        kept = remembered(seen, observe(now))
        found = 1.0 / ((1.0 - kept) / n + kept / max(inherited, 1.0))
        if found >= wanted:
            break
        yield
    return Mixed(now, found)


def remembered(before: Matrix, after: Matrix) -> float:
    """Return the largest squared correlation, over columns, of quantities (n, q) before and after moves."""
    before, after = before - before.mean(axis=0), after - after.mean(axis=0)
    size = (before**2).sum(axis=0) * (after**2).sum(axis=0)
    squared = (before * after).sum(axis=0) ** 2 / np.where(size > 0, size, np.inf)
    return float(np.round(squared.max(initial=0.0), 9))


def gathered(
    particles: Matrix,
    effective: float,
    log_likelihood: LogDensity,
    observe: LogDensity,
    rng: np.random.Generator,
    sweeps: int,
    wanted: float,
) -> Mixed:
    """Move particles further and keep every stage, until all stages together are worth `wanted` draws.

    A stage adds draws as far as it is uncorrelated with the previous one: ``(1 - r^2) n``.
    """
    stages, total = [particles], effective
    for _ in range(_MOST_STAGES):
        if total >= wanted:
            break
        now = moved(stages[-1], log_likelihood, rng, sweeps)
        total += (1.0 - remembered(observe(stages[-1]), observe(now))) * len(now)
        stages.append(now)
    return Mixed(np.concatenate(stages), total)


def annealing(draws: Matrix, log_likelihood: LogDensity, rng: np.random.Generator) -> InParts[tuple[float, Matrix]]:
    """Return the log-evidence of a likelihood under the prior, and draws of the posterior, by tempering.

    Parameters
    ----------
    draws : ndarray of shape (n, d)
        Draws from the prior: N(0, I), or that part of it outside of which the likelihood is next to nothing.
    log_likelihood : callable
        From (n, d) to (n,), finite.
    rng : numpy.random.Generator
        Source of randomness.
    """
    return bridging(draws, lambda x: np.zeros(len(x)), log_likelihood, rng)


def bridging(
    draws: Matrix, before: LogDensity, after: LogDensity, rng: np.random.Generator
) -> InParts[tuple[float, Matrix]]:
    """Return the log-ratio of the evidence of `after` to that of `before`, and draws of the posterior under `after`.

    Tempering moves from one likelihood to the other, in the largest steps that keep half of the particles effective
    (Del Moral, Doucet and Jasra 2006).

    Parameters
    ----------
    draws : ndarray of shape (n, d)
        Draws from N(0, I) times the likelihood `before`.
    before, after : callable
        Log-likelihoods, from (n, d) to (n,), finite.
    rng : numpy.random.Generator
        Source of randomness.
    """
    share, log_ratio = 0.0, 0.0
    while share < 1.0:
        fit = after(draws) - before(draws)
        step = _longest_step(fit, 1.0 - share)
        log_ratio += float(np.log(np.exp(step * (fit - fit.max())).mean()) + step * fit.max())
        share += step
        draws = resampled(draws, step * fit, rng)
        draws = moved(draws, _between(before, after, share), rng, _ANNEALING_SWEEPS)
        yield
    return log_ratio, draws


def _between(before: LogDensity, after: LogDensity, share: float) -> LogDensity:
    return lambda x: (1.0 - share) * before(x) + share * after(x) if share < 1.0 else after(x)


def _longest_step(fit: Matrix, left: float) -> float:
    """Return the largest step of the exponent, at most `left`, that keeps half of the particles effective."""

    def effective(step: float) -> float:
        share = np.exp(step * (fit - fit.max()))
        return float(share.sum() ** 2 / (share @ share))

    if effective(left) >= 0.5 * len(fit):
        return left
    low, high = 0.0, left
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if effective(middle) >= 0.5 * len(fit) else (low, middle)
    return max(low, 1e-4)


def resampled(particles: Matrix, log_weights: Matrix, rng: np.random.Generator) -> Matrix:
    """Draw particles (n, d) in proportion to exp(log_weights), shape (n,), by systematic resampling."""
    n = len(particles)
    share = np.exp(log_weights - log_weights.max())
    ticks = (rng.random() + np.arange(n)) / n
    chosen = np.searchsorted(np.cumsum(share / share.sum()), ticks)
    return particles[np.minimum(chosen, n - 1)]


def moved(particles: Matrix, log_likelihood: LogDensity, rng: np.random.Generator, sweeps: int) -> Matrix:
    """Move particles (n, d) by slice sampling that leaves N(0, I) times the likelihood invariant.

    With few dimensions: generalised elliptical slice sampling (Nishihara, Murray & Adams 2014) with a multivariate t
    fitted to the particles, so that narrow posteriors of any shape mix. Each half moves by the fit of the other half,
    because particles that help to fit their own proposal contract. With many dimensions: elliptical slice sampling on
    the prior (Murray, Adams & MacKay 2010).

    Each round proposes an angle for every particle that still has moves to make. An accepted particle starts its next
    ellipse at once, so that no particle waits for another. Where few are left, their next angles are tried in the same
    round, because it takes hardly longer.

    Parameters
    ----------
    particles : ndarray of shape (n, d)
        Coordinates with a standard normal prior.
    log_likelihood : callable
        From (n', d) to (n',).
    rng : numpy.random.Generator
        Source of randomness.
    sweeps : int
        Moves of every particle.
    """
    n, d = particles.shape
    stand_ins = _StandIns.fitted(particles)
    x = stand_ins.inner(particles)
    normals = rng.standard_normal((sweeps, n, d))
    gammas = rng.standard_gamma(0.5 * (d + _DEGREES), (sweeps, n))

    def density(inner: Matrix, rows: NDArray[np.intp]) -> Matrix:
        there = stand_ins.outer(inner, rows)
        return log_likelihood(there) + stand_ins.log_density(inner, there)

    everyone = np.arange(n)
    now = density(x, everyone)
    done = np.zeros(n, dtype=np.intp)
    ellipse, level = np.empty_like(x), np.empty(n)
    angle, low, high = np.empty(n), np.empty(n), np.empty(n)
    fresh = going = everyone
    while len(going):
        uniforms = rng.random((2, n))
        ellipse[fresh] = stand_ins.partners(normals[done[fresh], fresh], gammas[done[fresh], fresh], x[fresh])
        level[fresh] = np.round(now[fresh] + np.log(uniforms[0, fresh]), 9)
        high[fresh] = 2 * np.pi * uniforms[1, fresh]
        low[fresh] = high[fresh] - 2 * np.pi
        angle[fresh] = high[fresh]

        ahead = int(np.clip(_ROWS_AT_ONCE // len(going), 1, _MOST_AHEAD))
        at, start, end = angle[going], low[going], high[going]
        tried, width = np.empty((2, len(going), ahead))
        for step, share in enumerate(rng.random((ahead, len(going)))):
            tried[:, step], width[:, step] = at, end - start
            negative = at < 0
            start, end = np.where(negative, at, start), np.where(negative, end, at)
            at = start + share * (end - start)
        angle[going], low[going], high[going] = at, start, end
        rows = np.repeat(going, ahead)
        there = x[rows] * np.cos(tried).reshape(-1, 1) + ellipse[rows] * np.sin(tried).reshape(-1, 1)
        reached = density(there, rows)
        # A bracket of no width is the particle's own position.
        good = (reached > level[rows]).reshape(-1, ahead) | (width < 1e-12)
        hit = np.flatnonzero(good.any(axis=1))
        fresh, first = going[hit], hit * ahead + good[hit].argmax(axis=1)
        x[fresh], now[fresh] = np.round(there[first], _DECIMALS), reached[first]
        done[fresh] += 1
        fresh = fresh[done[fresh] < sweeps]
        going = np.flatnonzero(done < sweeps)
    return np.asarray(np.round(stand_ins.outer(x, everyone), _DECIMALS))
