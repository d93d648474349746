"""Several experts in one belief: each one's log-weights lie around those of the group, as far apart as tau says.

What each expert's answers say is a Gaussian: the posterior less the prior, so that the prior counts once and not once
an expert. Whoever is known more exactly counts for more, and nobody for more than the spread between experts allows
(DerSimonian and Laird 1986; Gelman, Bayesian Data Analysis, chapter 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from elicit_app.elicitation.questions import Matrix

SHRINKAGE_CENTRE, SHRINKAGE_WIDTH = -0.1, 0.2  # of log kappa, the power that equal points put on ratios

_TAUS = np.concatenate([np.arange(0.0, 1.0, 0.05), np.arange(1.0, 3.01, 0.2)])
_TAU_SCALE = 0.5  # of the half-normal that tau is believed to follow
_LEAST = 1e-6  # precision of what answers say nothing about


@dataclass(frozen=True, eq=False)
class ExpertDraws:
    """One expert's posterior.

    Parameters
    ----------
    log_weights : ndarray of shape (n, m)
        Draws of the log-weights; their common shift is arbitrary.
    log_shrinkage : ndarray of shape (n,) or None
        As many draws of log kappa, where equal points were asked; None where it is not known.
    """

    log_weights: Matrix
    log_shrinkage: Matrix | None = None


@dataclass(frozen=True, eq=False)
class Group:
    """What several experts value together.

    Parameters
    ----------
    log_weights : ndarray of shape (n, m)
        Draws of the group's log-weights; every row has mean 0.
    tau : float
        Posterior median of the standard deviation of an expert's log-weight around the group's.
    tau_interval : tuple of float
        Its 90 % interval.
    shares : ndarray of shape (experts,)
        How much each expert counts; sum 1.
    """

    log_weights: Matrix
    tau: float
    tau_interval: tuple[float, float]
    shares: Matrix

    def intervals(self, yardstick: int) -> Matrix:
        """Return the 90 % intervals of weight over yardstick, shape (2, m)."""
        ratios = np.exp(self.log_weights - self.log_weights[:, [yardstick]])
        return np.asarray(np.quantile(ratios, [0.05, 0.95], axis=0))


def pooled(experts: Sequence[ExpertDraws], prior_covariance: Matrix, rng: np.random.Generator, n: int = 2_000) -> Group:
    """Pool experts around a common centre.

    Parameters
    ----------
    experts : sequence of ExpertDraws
        At least one, all with the same m weights.
    prior_covariance : ndarray of shape (m, m)
        Of the log-weights, as each expert's belief began with it; it is the group's prior too.
    rng : numpy.random.Generator
        Source of the draws.
    n : int
        Draws of the group.

    Raises
    ------
    ValueError
        Without experts, or with different numbers of weights.
    """
    if not experts or len({expert.log_weights.shape[1] for expert in experts}) != 1:
        raise ValueError("pooling takes at least one expert, and the same weights of all")
    m = len(prior_covariance)
    contrasts = np.asarray(helmert(m), dtype=np.float64)  # (m - 1, m): what is left without the common shift
    mean = np.append(np.zeros(m - 1), SHRINKAGE_CENTRE)
    covariance = np.zeros((m, m))
    covariance[:-1, :-1] = contrasts @ prior_covariance @ contrasts.T
    covariance[-1, -1] = SHRINKAGE_WIDTH**2
    prior_precision = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    estimates = [_what_was_said(expert, contrasts, prior_precision, mean) for expert in experts]
    logs, centres, spreads, counted = [], [], [], []
    for tau in _TAUS:
        between = np.append(np.full(m - 1, tau**2), 0.0)  # kappa is common to all
        precision, weighted = prior_precision.copy(), prior_precision @ mean
        log_evidence, counts = -0.5 * (tau / _TAU_SCALE) ** 2 + np.log(_width(tau)), []
        for own_precision, own_weighted in estimates:
            shrunk = np.linalg.inv(np.eye(m) + between[:, None] * own_precision)
            precision = precision + own_precision @ shrunk
            weighted = weighted + shrunk.T @ own_weighted
            log_evidence += 0.5 * np.linalg.slogdet(shrunk)[1]
            log_evidence += 0.5 * own_weighted @ (shrunk @ (between * own_weighted))
            counts.append(float(np.trace((own_precision @ shrunk)[:-1, :-1])))
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
    low, middle, high = (float(np.interp(q, np.cumsum(share), _TAUS)) for q in (0.05, 0.5, 0.95))
    return Group(draws[:, :-1] @ contrasts, middle, (low, high), share @ np.array(counted))


def left_out(
    experts: Sequence[ExpertDraws], prior_covariance: Matrix, rng: np.random.Generator, n: int = 2_000
) -> tuple[Group, ...]:
    """Return the group without each of the experts in turn; at least two experts."""
    return tuple(
        pooled([*experts[:place], *experts[place + 1 :]], prior_covariance, rng, n) for place in range(len(experts))
    )


def _width(tau: float) -> float:
    """Return how much of the axis a point of the grid stands for."""
    place = int(np.argmin(np.abs(_TAUS - tau)))
    edges = np.concatenate([[0.0], 0.5 * (_TAUS[1:] + _TAUS[:-1]), [_TAUS[-1]]])
    return float(edges[place + 1] - edges[place])


def _what_was_said(
    expert: ExpertDraws, contrasts: Matrix, prior_precision: Matrix, prior_mean: Matrix
) -> tuple[Matrix, Matrix]:
    """Return precision, shape (m, m), and precision-weighted mean of what the answers alone say about an expert."""
    values = expert.log_weights @ contrasts.T
    if expert.log_shrinkage is not None:
        values = np.column_stack([values, expert.log_shrinkage])
    d = values.shape[1]
    n = len(values)
    # Wishart: the inverse of a covariance of n draws is too large by n / (n - d - 2).
    posterior = np.linalg.inv(np.cov(values.T).reshape(d, d)) * max((n - d - 2) / n, 0.1)
    precision = np.zeros_like(prior_precision)
    precision[:d, :d] = posterior - prior_precision[:d, :d]
    weighted = np.zeros(len(precision))
    weighted[:d] = posterior @ values.mean(axis=0) - prior_precision[:d, :d] @ prior_mean[:d]
    sizes, axes = np.linalg.eigh(precision)
    # What answers leave as it was comes out a little below or above nothing.
    kept = np.maximum(sizes, _LEAST)
    weighted = axes @ np.where(sizes > _LEAST, axes.T @ weighted, 0.0)
    return (axes * kept) @ axes.T, weighted
