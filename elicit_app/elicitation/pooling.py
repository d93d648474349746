"""Pool several experts: each one's log-weights scatter around the group's with standard deviation tau.

Each expert's answers contribute a Gaussian, the posterior divided by the prior, so that the prior counts once rather
than once per expert. A more precisely known expert counts for more, but never for more than the spread between experts
allows (DerSimonian and Laird 1986; Gelman, Bayesian Data Analysis, chapter 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.questions import Matrix

_TAUS = np.concatenate([np.arange(0.0, 1.0, 0.05), np.arange(1.0, 3.01, 0.2)])
_TAU_SCALE = 0.5  # scale of the half-normal prior of tau
_LEAST = 1e-6  # precision in directions that answers say nothing about
# Standard deviation below which nothing is known: who finds all wrong answers for the same truth equally bad has draws
# in which their costs do not differ at all.
_CLOSEST = 0.03


@dataclass(frozen=True, eq=False)
class Group:
    """The values that several experts share.

    Parameters
    ----------
    log_weights : ndarray of shape (n, m)
        Draws of the group's log-weights; every row has mean 0.
    tau : float
        Posterior median of the standard deviation of an expert's log-weight around the group's.
    tau_interval : tuple of float
        Its 90 % interval.
    shares : ndarray of shape (experts,)
        Relative influence of each expert; sum 1.
    """

    log_weights: Matrix
    tau: float
    tau_interval: tuple[float, float]
    shares: Matrix


class Expert(NamedTuple):
    """What is known of one expert.

    Parameters
    ----------
    log_weights : ndarray of shape (draws, m)
        Posterior draws of the log-weights, whose common shift is arbitrary.
    prior_covariance : ndarray of shape (m, m)
        Covariance of the log-weights before the answers; mistakes that the expert sorted into one pile share a part.
    """

    log_weights: Matrix
    prior_covariance: Matrix


def pooled(experts: Sequence[Expert], prior_covariance: Matrix, rng: np.random.Generator, n: int = 2_000) -> Group:
    """Pool experts around a common centre.

    Parameters
    ----------
    experts : sequence of Expert
        At least one, all with the same m weights.
    prior_covariance : ndarray of shape (m, m)
        Prior covariance of the group's log-weights.
    rng : numpy.random.Generator
        Source of the draws.
    n : int
        Number of draws of the group.

    Raises
    ------
    ValueError
        If there are no experts, or if they have different numbers of weights.
    """
    if not experts or len({expert.log_weights.shape[1] for expert in experts}) != 1:
        raise ValueError("pooling needs at least one expert, all with the same weights")
    from scipy.linalg import helmert  # takes 0.1 s, and many mistakes are pooled without it

    m = len(prior_covariance)
    contrasts = np.asarray(helmert(m), dtype=np.float64)  # (m - 1, m): removes the common shift

    def precision_of(covariance: Matrix) -> Matrix:
        return np.asarray(np.linalg.inv(contrasts @ covariance @ contrasts.T), dtype=np.float64)

    prior_precision = precision_of(prior_covariance)
    estimates = [
        _likelihood_moments(expert.log_weights @ contrasts.T, precision_of(expert.prior_covariance))
        for expert in experts
    ]
    logs, centres, spreads, counted = [], [], [], []
    for tau in _TAUS:
        precision, weighted = prior_precision.copy(), np.zeros(m - 1)
        log_evidence, counts = -0.5 * (tau / _TAU_SCALE) ** 2 + np.log(_width(tau)), []
        for own_precision, own_weighted in estimates:
            shrunk = np.linalg.inv(np.eye(m - 1) + tau**2 * own_precision)
            precision = precision + own_precision @ shrunk
            weighted = weighted + shrunk.T @ own_weighted
            log_evidence += 0.5 * np.linalg.slogdet(shrunk)[1]
            log_evidence += 0.5 * tau**2 * own_weighted @ shrunk @ own_weighted
            counts.append(float(np.trace(own_precision @ shrunk)))
        spread = np.linalg.inv(precision)
        centre = spread @ weighted
        log_evidence += 0.5 * weighted @ centre + 0.5 * np.linalg.slogdet(spread)[1]
        logs.append(log_evidence)
        centres.append(centre)
        spreads.append(spread)
        counted.append(np.array(counts) / sum(counts))
    share = np.exp(np.array(logs) - max(logs))
    share /= share.sum()
    chosen = np.searchsorted(np.cumsum(share), (rng.random() + np.arange(n)) / n).clip(max=len(share) - 1)
    draws = np.concatenate(
        [
            rng.multivariate_normal(centres[place], spreads[place], int((chosen == place).sum()), method="cholesky")
            for place in np.unique(chosen)
        ]
    )
    below = np.cumsum(share) - share / 2
    low, middle, high = (float(np.interp(q, below, _TAUS)) for q in (0.05, 0.5, 0.95))
    return Group(draws @ contrasts, middle, (low, high), share @ np.array(counted))


def leave_one_out(
    experts: Sequence[Expert], prior_covariance: Matrix, rng: np.random.Generator, n: int = 2_000
) -> tuple[Group, ...]:
    """Return the group without each expert in turn; needs at least two experts."""
    return tuple(
        pooled([*experts[:place], *experts[place + 1 :]], prior_covariance, rng, n) for place in range(len(experts))
    )


def _width(tau: float) -> float:
    """Return the length of the axis that a grid point represents."""
    place = int(np.argmin(np.abs(_TAUS - tau)))
    edges = np.concatenate([[0.0], 0.5 * (_TAUS[1:] + _TAUS[:-1]), [_TAUS[-1]]])
    return float(edges[place + 1] - edges[place])


def _likelihood_moments(values: Matrix, prior_precision: Matrix) -> tuple[Matrix, Matrix]:
    """Return the precision, shape (d, d), and precision-weighted mean of the answers alone, from draws (n, d)."""
    n, d = values.shape
    variances, directions = np.linalg.eigh(np.cov(values.T).reshape(d, d))
    # Wishart: the inverse covariance of n draws is too large by n / (n - d - 2).
    posterior = (directions / np.maximum(variances, _CLOSEST**2)) @ directions.T * max((n - d - 2) / n, 0.1)
    sizes, axes = np.linalg.eigh(posterior - prior_precision)
    # Directions in which the answers changed nothing come out slightly below or above zero.
    kept = np.maximum(sizes, _LEAST)
    weighted = axes @ np.where(sizes > _LEAST, axes.T @ posterior @ values.mean(axis=0), 0.0)
    return (axes * kept) @ axes.T, weighted
