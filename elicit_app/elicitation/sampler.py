"""Particles that follow a posterior answer by answer: resample, then move by elliptical slices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elicit_app.elicitation.questions import Matrix

LogDensity = Callable[[Matrix], Matrix]

_DEGREES = 6.0  # of the t distribution that stands in for the posterior: its tails keep far-off draws movable
_SHRINK = 0.05
_ADAPT_RATIO = 8  # particles a dimension that an estimated covariance needs


def resampled(particles: Matrix, log_weights: Matrix, rng: np.random.Generator) -> Matrix:
    """Draw particles (n, d) in proportion to exp(log_weights), shape (n,), by systematic resampling."""
    n = len(particles)
    share = np.exp(log_weights - log_weights.max())
    ticks = (rng.random() + np.arange(n)) / n
    chosen = np.searchsorted(np.cumsum(share / share.sum()), ticks)
    return particles[np.minimum(chosen, n - 1)]


def moved(particles: Matrix, log_likelihood: LogDensity, rng: np.random.Generator, sweeps: int) -> Matrix:
    """Move particles (n, d) by slice sampling that leaves N(0, I) times the likelihood invariant.

    Few dimensions: generalised elliptical slice sampling (Nishihara, Murray & Adams 2014), in which each half of the
    particles is moved with a multivariate t fitted to the other half, so that narrow posteriors of any shape mix.
    Many dimensions: plain elliptical slice sampling (Murray, Adams & MacKay 2010) on the prior.

    Parameters
    ----------
    particles : ndarray of shape (n, d)
        Coordinates with a standard normal prior.
    log_likelihood : callable
        From (n', d) to (n',).
    rng : numpy.random.Generator
        Source of chance.
    sweeps : int
        Moves of every particle.
    """
    n, d = particles.shape
    particles = particles.copy()
    for _ in range(sweeps):
        if n < _ADAPT_RATIO * d:
            ellipse = rng.standard_normal((n, d))
            particles = _slice(particles, ellipse, log_likelihood, rng)
            continue
        order = rng.permutation(n)
        for half, other in ((order[: n // 2], order[n // 2 :]), (order[n // 2 :], order[: n // 2])):
            particles[half] = _fitted_slice(particles[half], particles[other], log_likelihood, rng)
    return particles


def _fitted_slice(x: Matrix, others: Matrix, log_likelihood: LogDensity, rng: np.random.Generator) -> Matrix:
    """Move x on ellipses of a multivariate t fitted to `others`."""
    n, d = x.shape
    # Single precision is enough for a stand-in, and hides how differently machines round.
    centre = others.mean(axis=0).astype(np.float32).astype(np.float64)
    covariance = np.cov(others.T)
    variance = covariance.diagonal()
    covariance = (1 - _SHRINK) * covariance + np.diag(_SHRINK * variance + 1e-12)
    root = np.linalg.cholesky(covariance).astype(np.float32).astype(np.float64)
    inverse = np.linalg.inv(root)

    def squares(shifted: Matrix) -> Matrix:
        return np.asarray(((shifted @ inverse.T) ** 2).sum(axis=1))

    def log_density(shifted: Matrix) -> Matrix:
        there = shifted + centre
        stand_in = -0.5 * (_DEGREES + d) * np.log1p(squares(shifted) / _DEGREES)
        return np.asarray(log_likelihood(there) - 0.5 * (there**2).sum(axis=1) - stand_in)

    start = x - centre
    spread = 0.5 * (_DEGREES + squares(start)) / rng.standard_gamma(0.5 * (d + _DEGREES), n)
    ellipse = (rng.standard_normal((n, d)) * np.sqrt(spread)[:, None]) @ root.T
    return np.asarray(_slice(start, ellipse, log_density, rng) + centre)


def _slice(x: Matrix, ellipse: Matrix, log_density: LogDensity, rng: np.random.Generator) -> Matrix:
    """Go once along each row's ellipse through x: shrink the bracket of angles until the density is high enough."""
    n = len(x)
    level = np.round(log_density(x) + np.log(rng.random(n)), 9)
    angle = rng.random(n) * 2 * np.pi
    low, high = angle - 2 * np.pi, angle.copy()
    out, open_ = x.copy(), np.arange(n)
    while len(open_):
        at = angle[open_]
        there = x[open_] * np.cos(at)[:, None] + ellipse[open_] * np.sin(at)[:, None]
        good = (log_density(there) > level[open_]) | (high[open_] - low[open_] < 1e-12)
        out[open_[good]] = there[good]
        open_ = open_[~good]
        at = angle[open_]
        low[open_] = np.where(at < 0, at, low[open_])
        high[open_] = np.where(at < 0, high[open_], at)
        angle[open_] = low[open_] + rng.random(len(open_)) * (high[open_] - low[open_])
    return np.asarray(np.round(out, 11))
