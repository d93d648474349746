"""Expectation propagation: Gaussian approximations of answers that are intervals of a Gaussian's projections.

The form is that of Rasmussen and Williams (2006), section 3.6, for many sets of hyperparameters at once. Linear algebra
libraries round differently on each kind of processor, and a result is made of millions of numbers that would show it.
Up to `IN_ORDER` answers every sum here is therefore taken in plain order, which gives the same result everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from elicit_app.elicitation.questions import Matrix
from metrics.batches import in_threads

LEAST = 1e-10  # precision of a site without information
FEWEST_SETS = 45  # of hyperparameters: the coefficients of a quadratic in four spreads, two errors, power and lapse
IN_ORDER = 64  # answers: time grows with their cube, and libraries are twice as fast here, and soon ten times

_MOST_NUMBERS = 60_000  # fitted side by side: what stays in a processor's cache
_STEPS = 100_000_000  # of a product in order: .03 s
_DAMPING = 0.8
_GENTLE_PASSES, _GENTLE_DAMPING = 12, 0.4
_SETTLED = 0.5  # standard deviations by which the estimate from one answer may still differ from that of the full fit
_TINY = 1e-300
_CURVATURES = (0.6, 60.0)  # least and largest precision of the fit; that of the prior is 1
_FARTHEST = 3.5  # normal score that the centre of the proposal may reach
_PHI = 1.0 / np.sqrt(2.0 * np.pi)


class Intervals(NamedTuple):
    """Answers as intervals on ``projection @ log_weights`` with normal noise, for each of h sets of hyperparameters.

    Parameters
    ----------
    projection : ndarray of shape (n, m)
        One row per answer.
    low, high : ndarray of shape (h, n)
        Interval of the noisy projection; may be infinite.
    error : ndarray of shape (h, n)
        Standard deviation of the noise.
    lapse : ndarray of shape (h, n)
        Probability that the answer carries no information.
    share : ndarray of shape (n,)
        Probability of the answer in that case.
    """

    projection: Matrix
    low: Matrix
    high: Matrix
    error: Matrix
    lapse: Matrix
    share: Matrix

    def of(self, some: slice | NDArray[np.intp]) -> Intervals:
        """Return the intervals for the selected sets of hyperparameters."""
        low, high, error, lapse = (each[some] for each in (self.low, self.high, self.error, self.lapse))
        return self._replace(low=low, high=high, error=error, lapse=lapse)


class Sites(NamedTuple):
    """Gaussian approximations of the answers per set of hyperparameters, shape (h, n) each, and the evidence (h,)."""

    precision: Matrix
    weighted: Matrix  # precision times mean
    evidence: Matrix
    posterior_covariance: Matrix  # (h, n, n), the covariance of the projections after the answers


def product(one: Matrix, other: Matrix) -> Matrix:
    """Return ``one @ other``, of shapes (n, m) and (m, c), summed in order unless that takes long."""
    return one @ other if one.size * other.shape[1] > _STEPS else np.einsum("ij,jk->ik", one, other)


def propagated(answered: Intervals, spreads: Matrix, prior_covariances: Matrix, start: Matrix, passes: int) -> Sites:
    """Fit the sites for every set of hyperparameters, in parallel batches that fit in memory.

    If the passes oscillate, more strongly damped ones follow. Fits that still do not settle get no evidence (-inf).

    Parameters
    ----------
    answered : Intervals
        The answers.
    spreads : ndarray of shape (h, parts)
        Spread of each part of the projections, under each set.
    prior_covariances : ndarray of shape (parts, n, n)
        Covariance of the projections due to each part at a spread of 1.
    start : ndarray of shape (2, n)
        Precisions and precision-weighted means of the initial sites.
    passes : int
        Number of passes over all sites.
    """
    h, n = answered.low.shape
    at_once = max(1, _MOST_NUMBERS // max(n * n, 1))
    parts = (slice(first, first + at_once) for first in range(0, h, at_once))

    def fitted(own: slice) -> tuple[Sites, NDArray[np.bool_]]:
        return _until_settled(answered.of(own), spreads[own], prior_covariances, start, passes)

    # Sums in order are many small steps, between which threads would only wait for each other.
    fits = in_threads(fitted, parts) if n > IN_ORDER else [fitted(own) for own in parts]
    sites = Sites(*map(np.concatenate, zip(*(found for found, _ in fits), strict=True)))
    settled = np.concatenate([fine for _, fine in fits])
    if settled.sum() < FEWEST_SETS:
        return sites
    return sites._replace(evidence=np.where(settled, sites.evidence, -np.inf))


def _until_settled(
    answered: Intervals, spreads: Matrix, prior_covariances: Matrix, start: Matrix, passes: int
) -> tuple[Sites, NDArray[np.bool_]]:
    """Fit the sites from `start` (2, n), with stronger damping if they oscillate; return which fits have settled."""
    empty = np.repeat(start[:, None], len(spreads), axis=1)
    sites, fine = _after_passes(answered, spreads, prior_covariances, empty, passes, _DAMPING)
    if not fine.all():
        swinging = np.flatnonzero(~fine)
        stand_ins = np.stack([sites.precision[swinging], sites.weighted[swinging]])
        again, fine[swinging] = _after_passes(
            answered.of(swinging), spreads[swinging], prior_covariances, stand_ins, _GENTLE_PASSES, _GENTLE_DAMPING
        )
        for of_all, of_some in zip(sites, again, strict=True):
            of_all[swinging] = of_some
    return sites, fine


def _after_passes(
    answered: Intervals, spreads: Matrix, prior_covariances: Matrix, start: Matrix, passes: int, damping: float
) -> tuple[Sites, NDArray[np.bool_]]:
    """Fit the sites by parallel expectation propagation from `start` (2, h, n); return which fits have settled."""
    h, n = answered.low.shape
    covariance = sum(
        spread[:, None, None] ** 2 * square for spread, square in zip(spreads.T, prior_covariances, strict=True)
    )
    precision, weighted = np.maximum(start[0], LEAST), start[1]
    if not n:
        return Sites(precision, weighted, np.zeros(h), np.zeros((h, 0, 0))), np.ones(h, dtype=bool)
    for turn in range(passes + 1):
        posterior_covariance, log_factor = _after_answers(covariance, precision)
        mean = np.einsum("hij,hj->hi", posterior_covariance, weighted)
        spread = np.maximum(np.diagonal(posterior_covariance, axis1=1, axis2=2), 1e-12)
        # Remove the answer's own site.
        cavity = np.maximum(1.0 / spread - precision, 1e-9)
        cavity_weighted = mean / spread - weighted
        centre = cavity_weighted / cavity
        log_chance, slope, curve = _tilted(answered, centre, 1.0 / cavity)
        if turn == passes:
            evidence = _evidence(log_factor, mean, precision, weighted, cavity, cavity_weighted, log_chance)
            settled = (np.abs(centre + slope / cavity - mean) <= _SETTLED * np.sqrt(spread)).all(axis=1)
            settled &= evidence <= 0.0  # a log-probability; a positive value shows that the passes diverged
            return Sites(precision, weighted, evidence, posterior_covariance), settled
        step = damping if turn else 1.0
        new = np.maximum(-curve / np.maximum(1.0 + curve / cavity, 1e-6), LEAST)
        new_weighted = (slope - centre * curve) / np.maximum(1.0 + curve / cavity, 1e-6)
        new_weighted = np.where(new > LEAST, new_weighted, slope)
        precision = (1 - step) * precision + step * new
        weighted = (1 - step) * weighted + step * new_weighted
    raise AssertionError("unreachable")


def _after_answers(covariance: Matrix, precision: Matrix) -> tuple[Matrix, Matrix]:
    """Return covariances (h, n, n) given sites with precisions (h, n), and log det(I + covariance precision).

    The sites are applied one by one, each as a measurement of one projection.
    """
    n = precision.shape[1]
    if n > IN_ORDER:
        root = np.sqrt(precision)[:, :, None]
        inner = np.eye(n) + root * covariance * root.transpose(0, 2, 1)
        found = covariance - covariance @ (root * np.linalg.solve(inner, root * covariance))
        return found, np.linalg.slogdet(inner)[1]
    found, log_factor, change = covariance.copy(), np.zeros(len(precision)), np.empty_like(covariance)
    for site in range(n):
        row = found[:, site].copy()
        factor = 1.0 + precision[:, site] * row[:, site]
        # Twice as fast as the product of what is broadcast.
        np.einsum("hi,hj->hij", row * (precision[:, site] / factor)[:, None], row, out=change)
        found -= change
        log_factor += np.log(factor)
    return found, log_factor


def _tilted(answered: Intervals, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return log P(answer) and its first two derivatives in the mean, for normal projections; shape (h, n) each."""
    scale = np.sqrt(variance + answered.error**2)
    low, high = (answered.low - mean) / scale, (answered.high - mean) / scale
    flip = low > 0  # the smaller tail is known more accurately
    inside = np.where(flip, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    at_low, at_high = np.exp(-0.5 * low**2) * _PHI, np.exp(-0.5 * high**2) * _PHI
    first = (at_low - at_high) / scale
    second = (np.where(np.isinf(low), 0.0, low) * at_low - np.where(np.isinf(high), 0.0, high) * at_high) / scale**2
    sure = 1.0 - answered.lapse
    chance = np.maximum(sure * inside + answered.lapse * answered.share, _TINY)
    slope = sure * first / chance
    return np.log(chance), slope, np.asarray(sure * second / chance - slope**2)


def _evidence(
    log_factor: Matrix,
    mean: Matrix,
    precision: Matrix,
    weighted: Matrix,
    cavity: Matrix,
    cavity_weighted: Matrix,
    log_chance: Matrix,
) -> Matrix:
    """Return the log-evidence, shape (h,) (Rasmussen and Williams 2006, equations 3.65, 3.73, 3.74)."""
    both = cavity + precision
    gaussian = -0.5 * log_factor + 0.5 * (weighted * mean).sum(axis=1)
    sites = (
        log_chance
        + 0.5 * np.log1p(precision / cavity)
        + 0.5 * cavity_weighted * (precision / cavity * cavity_weighted - 2 * weighted) / both
        - 0.5 * weighted**2 / both
    )
    return np.asarray(gaussian + sites.sum(axis=1))


def quadratic_fit(hyper: Matrix, evidence: Matrix) -> tuple[Matrix, Matrix]:
    """Return the posterior mean and covariance of the hyperparameters, from the curvature of their log-evidence.

    The evidence is a smooth function without noise. A quadratic fitted to it, most closely where the posterior is
    large, therefore describes its shape better than the scatter of the points does.
    """
    settled = np.isfinite(evidence)
    hyper, evidence = hyper[settled], evidence[settled]
    h, d = hyper.shape
    logs = evidence - 0.5 * (hyper**2).sum(axis=1)
    trust = np.sqrt(np.exp(logs - logs.max()) + 0.02)
    one, other = np.triu_indices(d)
    features = np.hstack([np.ones((h, 1)), hyper, hyper[:, one] * hyper[:, other]])
    ridge = 0.1 * np.eye(features.shape[1])
    ridge[0, 0] = 1e-9
    trusted = (features * trust[:, None] ** 2).T
    found = np.linalg.solve(
        product(trusted, features) + ridge, product(trusted, (evidence - evidence.max())[:, None])[:, 0]
    )
    curve = np.zeros((d, d))
    curve[one, other] = found[1 + d :]
    values, axes = np.linalg.eigh(np.eye(d) - curve - curve.T)
    covariance = (axes / np.clip(values, *_CURVATURES)) @ axes.T
    return np.clip(covariance @ found[1 : 1 + d], -_FARTHEST, _FARTHEST), np.asarray(0.5 * (covariance + covariance.T))
