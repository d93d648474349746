"""Pool several experts: each one's log-weights scatter around the group's with standard deviation tau.

Each expert's answers contribute a Gaussian, the posterior divided by the prior, so that the prior counts once rather
than once per expert. A more precisely known expert counts for more, but never for more than the spread between experts
allows (DerSimonian and Laird 1986; Gelman, Bayesian Data Analysis, chapter 5).

A covariance of many weights cannot be divided so: a few answers tell little of most directions, and small errors of
both covariances look like answers on which all experts agree. Many weights are therefore pooled one by one, each from
the experts who were asked about it.

Orders that all experts stated are part of the prior, of the group's too: what each draw keeps to is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.belief import prior_draws
from elicit_app.elicitation.prior import MOST_JOINTLY, WeightPrior, heavy_tailed
from elicit_app.elicitation.questions import Matrix

_TAUS = np.concatenate([np.arange(0.0, 1.0, 0.05), np.arange(1.0, 3.01, 0.2)])
_TAU_SCALE = 0.5  # scale of the half-normal prior of tau
_LEAST = 1e-6  # precision in directions that answers say nothing about
# Standard deviation below which nothing is known: who finds all wrong answers for the same truth equally bad has draws
# in which their costs do not differ at all.
_CLOSEST = 0.03
_MISTAKES_OF_AN_ANSWER = 2  # so that what it tells of two weights counts once
_PRIOR_DRAWS, _PRIOR_DRAWS_OF_MANY, _PRIOR_SEED = 2_000, 500, 7


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
    prior : WeightPrior
        The prior before the answers; mistakes that the expert sorted into one pile share a part. Its orders
        count once for the whole group; others that the draws keep count like answers.
    asked : ndarray of bool, shape (m,), or None
        Which weights some answer is about; None if that is not known.
    """

    log_weights: Matrix
    prior: WeightPrior
    asked: NDArray[np.bool_] | None = None


def pooled(experts: Sequence[Expert], prior: WeightPrior, rng: np.random.Generator, n: int = 2_000) -> Group:
    """Pool experts around a common centre.

    Parameters
    ----------
    experts : sequence of Expert
        At least one, all with the same m weights.
    prior : WeightPrior
        Prior of the group's log-weights, of which centre, covariance and orders count. Many weights have the experts'
        own centre and covariance on average.
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
    joint = prior.size <= MOST_JOINTLY
    group = _together(experts, prior, rng, n) if joint else _one_by_one(experts, rng, n)
    return replace(group, log_weights=prior.in_order(group.log_weights))


def _together(experts: Sequence[Expert], prior: WeightPrior, rng: np.random.Generator, n: int) -> Group:
    """Pool few weights with their correlations."""
    from scipy.linalg import helmert  # takes 0.1 s, and many mistakes are pooled without it

    m = prior.size
    contrasts = np.asarray(helmert(m), dtype=np.float64)  # (m - 1, m): removes the common shift

    def precision_of(covariance: Matrix) -> Matrix:
        return np.asarray(np.linalg.inv(contrasts @ covariance @ contrasts.T), dtype=np.float64)

    prior_centre, prior_precision = _centre(prior), precision_of(_covariance(prior))
    estimates = []
    for expert in experts:  # around the group's prior centre
        own_centre = _centre(expert.prior)
        centred = (expert.log_weights - own_centre) @ contrasts.T
        told, own_weighted = _likelihood_moments(centred, precision_of(_covariance(expert.prior)))
        estimates.append((told, own_weighted + told @ contrasts @ (own_centre - prior_centre)))
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
    share = _shares(logs)
    chosen = _chosen(share, rng, n)
    draws = np.concatenate(
        [
            rng.multivariate_normal(centres[place], spreads[place], int((chosen == place).sum()), method="cholesky")
            for place in np.unique(chosen)
        ]
    )
    return Group((draws + contrasts @ prior_centre) @ contrasts, *_tau_of(share), share @ np.array(counted))


def _one_by_one(experts: Sequence[Expert], rng: np.random.Generator, n: int) -> Group:
    """Pool many weights, each from the experts who were asked about it; their draws give the correlations.

    Only experts compared with each other tell of their spread (restricted maximum likelihood: Patterson and Thompson
    1971), because how much costs differ altogether was learned from the same answers. A weight that nobody was asked
    about is as unsure as the experts' beliefs about it together.
    """
    means, variances, before, told, values = _of_each_weight(experts)
    weighted, expected = told * values, _expected(experts).mean(axis=0)
    several = (told > 0).sum(axis=0) > 1
    centres, spreads, evidence, counted = [], [], [], []
    for tau in _TAUS:
        shrunk = 1.0 / (1.0 + tau**2 * told)
        precision = (told * shrunk).sum(axis=0)
        log_evidence = _compared(told[:, several], values[:, several], tau) / _MISTAKES_OF_AN_ANSWER
        evidence.append(-0.5 * (tau / _TAU_SCALE) ** 2 + np.log(_width(tau)) + log_evidence)
        spreads.append(1.0 / (precision + 1.0 / before.mean(axis=0)))
        centres.append(spreads[-1] * ((shrunk * weighted).sum(axis=0) + expected / before.mean(axis=0)))
        counted.append((told * shrunk).sum(axis=1) + _LEAST)
    unknown = ~told.any(axis=0)
    centre, spread = np.array(centres), np.array(spreads)
    centre[:, unknown] = means[:, unknown].mean(axis=0)
    spread[:, unknown] = variances[:, unknown].mean(axis=0) + means[:, unknown].var(axis=0)
    share = _shares(evidence)
    chosen = _chosen(share, rng, n)
    around = np.concatenate([_centred(expert) - mean for expert, mean in zip(experts, means, strict=True)])
    found = around[rng.integers(len(around), size=n)]  # of many weights: every further copy takes its time
    found /= np.maximum(around.std(axis=0), _LEAST)
    found *= np.sqrt(spread)[chosen]
    found += centre[chosen]
    found -= found.mean(axis=1, keepdims=True)
    influence = share @ np.array(counted)
    return Group(found, *_tau_of(share), influence / influence.sum())


def log_odds_of_opposition(one: Expert, other: Expert) -> float:
    """Return how much better two experts' answers fit values in opposite order than the same values, as log-odds.

    Each weight on which the answers of both bear counts, for little if it is hardly known. Experts of the same values
    may differ as those of a usual group do.
    """
    _, _, before, told, values = _of_each_weight((one, other))
    both = (told > 0).all(axis=0)
    prior = np.sqrt(before[:, both].prod(axis=0))
    scales = np.sqrt(prior + 1.0 / told[:, both] + _TAU_SCALE**2)
    likeness = prior / scales.prod(axis=0)
    return float(-(2.0 * likeness / (1.0 - likeness**2) * (values[:, both] / scales).prod(axis=0)).sum())


def _of_each_weight(experts: Sequence[Expert]) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
    """Return what is known of centred log-weights, each of shape (experts, m).

    These are means, variances, prior variances, and from the answers alone precisions and values.
    """
    logs = [_centred(expert) for expert in experts]
    means = np.array([own.mean(axis=0) for own in logs])
    variances = np.maximum([own.var(axis=0) for own in logs], _CLOSEST**2)
    before = np.array([_centred_variances(expert.prior) for expert in experts])
    known = [np.broadcast_to(True if expert.asked is None else expert.asked, means[0].shape) for expert in experts]
    told = np.where(known, np.maximum(1.0 / variances - 1.0 / before, 0.0), 0.0)
    weighted = np.where(told > 0, means / variances - _expected(experts) / before, 0.0)
    return means, variances, before, told, weighted / np.where(told > 0, told, 1.0)


def _expected(experts: Sequence[Expert]) -> Matrix:
    """Return the prior centres of the centred log-weights, shape (experts, m)."""
    centres = np.array([_centre(expert.prior) for expert in experts])
    return np.asarray(centres - centres.mean(axis=1, keepdims=True))


def _centred(expert: Expert) -> Matrix:
    return np.asarray(expert.log_weights - expert.log_weights.mean(axis=1, keepdims=True))


def _centre(prior: WeightPrior) -> Matrix:
    """Return the centre of the log-weights given the stated orders, shape (m,)."""
    return draws_before(prior).mean(axis=0) if len(prior.order) else prior.centre


def _covariance(prior: WeightPrior) -> Matrix:
    """Return the covariance of the log-weights given the stated orders, shape (m, m)."""
    return np.cov(draws_before(prior).T) if len(prior.order) else prior.covariance


def _centred_variances(prior: WeightPrior) -> Matrix:
    """Return the variances of the log-weights minus the mean of all, given the stated orders, shape (m,)."""
    found = prior.centred_variances
    if len(prior.order):
        found, stated = found.copy(), np.unique(prior.order)
        draws = draws_before(prior)
        found[stated] = (draws[:, stated] - draws.mean(axis=1, keepdims=True)).var(axis=0)
    return found


@lru_cache(maxsize=16)
def draws_before(prior: WeightPrior) -> Matrix:
    """Return draws of the log-weights before the answers, given the stated orders, shape (draws, m)."""
    rng, m = np.random.default_rng(_PRIOR_SEED), prior.size
    if m <= MOST_JOINTLY:
        return prior.log_weights(prior_draws(prior, _PRIOR_DRAWS, m, rng))
    # Their covariance is large, and settling them would take long. Among many weights few orders can be stated.
    scores = (heavy_tailed(rng.standard_normal((_PRIOR_DRAWS_OF_MANY, part.n_labels))) for part in prior.parts)
    pairs = zip(prior.parts, scores, strict=True)
    return prior.in_order(np.sum([part.on_weights(part.mean + part.spread * score) for part, score in pairs], axis=0))


def _compared(told: Matrix, values: Matrix, tau: float) -> float:
    """Return the log-evidence of a spread in the differences between experts, each known with precision `told`."""
    own = told > 0
    weights = told / (1.0 + tau**2 * told)
    total = weights.sum(axis=0)
    apart = weights * (values - (weights * values).sum(axis=0) / total) ** 2
    return float(0.5 * (np.log(weights[own]).sum() - np.log(total).sum() - apart.sum()))


def _shares(log_evidence: Sequence[float]) -> Matrix:
    """Return the posterior of tau."""
    share = np.exp(np.array(log_evidence) - max(log_evidence))
    return np.asarray(share / share.sum())


def _chosen(share: Matrix, rng: np.random.Generator, n: int) -> NDArray[np.intp]:
    """Draw n places on the grid of tau, in order."""
    return np.searchsorted(np.cumsum(share), (rng.random() + np.arange(n)) / n).clip(max=len(share) - 1)


def _tau_of(share: Matrix) -> tuple[float, tuple[float, float]]:
    """Return the median and the 90 % interval of tau."""
    below = np.cumsum(share) - share / 2
    low, middle, high = (float(np.interp(q, below, _TAUS)) for q in (0.05, 0.5, 0.95))
    return middle, (low, high)


def leave_one_out(
    experts: Sequence[Expert], prior: WeightPrior, rng: np.random.Generator, n: int = 2_000
) -> tuple[Group, ...]:
    """Return the group without each expert in turn; needs at least two experts."""
    return tuple(pooled([*experts[:place], *experts[place + 1 :]], prior, rng, n) for place in range(len(experts)))


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
