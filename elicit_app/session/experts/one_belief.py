"""Experts who answered questions, pooled in one belief, and what has to be said about that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from elicit_app.elicitation.pooling import ExpertDraws, Group, left_out, pooled
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Matrix
from metrics import ElicitedMetric
from metrics.display.numbers import two_digits
from metrics.elicited.family import family_of
from metrics.elicited.metric_parts import UNTRUSTED

_SEED = 20_250_101  # the same metrics give the same pooled metric
_DRAWS = 1_000
_DRAWS_A_WEIGHT = 4  # that a Gaussian takes: its covariance has to be inverted
_MEDIAN_OF_RATIO = 0.954  # half of all ratios of two costs lie within exp(this * tau) of the group's
_OF_ONE_MIND = 1.15  # a factor that nobody would argue about
_OPPOSED = 0.9  # probability of valuing mistakes rather the other way round
_APART = float(np.log(2.0))  # typical difference of a log-cost, below which nobody is opposed
_MOVED = 1.5  # a factor by which leaving one expert out is worth a sentence


@dataclass(frozen=True, eq=False)
class OneBelief:
    """What several experts value together.

    Parameters
    ----------
    group : Group
        The centre, how far the experts are apart, and how much each counts.
    costs : ndarray of shape (k, k)
        Medians of ratios, in any unit.
    draws : ndarray of shape (n, k, k)
        Draws of the costs, each in a unit of its own.
    """

    group: Group
    costs: Matrix
    draws: Matrix


def one_belief(metrics: Sequence[ElicitedMetric]) -> OneBelief | None:
    """Return the belief of experts of the same classes and family; None where one of them has no draws to go by."""
    experts = _experts(metrics)
    if experts is None:
        return None
    group = pooled(experts, _covariance(metrics[0]), np.random.default_rng(_SEED), _DRAWS)
    weigh, logs = family_of(metrics[0].family), group.log_weights
    middle = np.median(logs - logs[:, [int(np.argmax(np.median(logs, axis=0)))]], axis=0)
    return OneBelief(group, weigh.costs(weigh.sign * np.exp(middle)), weigh.costs(weigh.sign * np.exp(logs)))


def _experts(metrics: Sequence[ElicitedMetric]) -> list[ExpertDraws] | None:
    experts = []
    for metric in metrics:
        sizes = None if metric.samples is None else np.abs(metric.samples)
        if sizes is None or len(sizes) < _DRAWS_A_WEIGHT * sizes.shape[1] or not (sizes > 0).all():
            return None
        experts.append(ExpertDraws(np.log(sizes)))
    return experts


def _covariance(metric: ElicitedMetric) -> Matrix:
    return WeightPrior.of(family_of(metric.family).name, len(metric.classes)).covariance


def spread_words(tau: float, interval: Sequence[float]) -> str:
    """Return how far experts are apart, whose log-costs lie around the group's with standard deviation tau.

    >>> spread_words(0.5, (0.3, 0.8))
    "Half of an expert's ratios lie within a factor of 1.6 of the group's (plausibly 1.3 to 2.1)."
    >>> spread_words(0.1, (0.0, 0.3))
    'As far as these answers tell, the experts are of one mind (a factor of 1.1 apart, at most 1.3).'
    """
    factor, low, high = (float(np.exp(_MEDIAN_OF_RATIO * one)) for one in (tau, *interval))
    if factor < _OF_ONE_MIND:
        said = f"a factor of {two_digits(factor)} apart, at most {two_digits(high)}"
        return f"As far as these answers tell, the experts are of one mind ({said})."
    said = f"plausibly {two_digits(low)} to {two_digits(high)}"
    return f"Half of an expert's ratios lie within a factor of {two_digits(factor)} of the group's ({said})."


def doubts(metrics: Sequence[ElicitedMetric], names: Sequence[str]) -> tuple[str, ...]:
    """Return what speaks against pooling these experts, or for leaving one of them out, in sentences.

    Parameters
    ----------
    metrics : sequence of ElicitedMetric
        Of the same classes and family.
    names : sequence of str
        Of the experts.
    """
    found = [
        f"The answers of {name} do not hang together; they are pooled all the same."
        for name, metric in zip(names, metrics, strict=True)
        if untrusted(metric)
    ]
    opposed = [
        f"{one} and {other}"
        for (one, first), (other, second) in combinations(zip(names, metrics, strict=True), 2)
        if _opposed(first, second)
    ]
    if opposed:
        found.append(
            f"{'; '.join(opposed)} value the mistakes the other way round: the pooled costs lie between them, and are "
            "what neither means."
        )
    return (*found, *_matters_most(metrics, names))


def _matters_most(metrics: Sequence[ElicitedMetric], names: Sequence[str]) -> tuple[str, ...]:
    """Return who would change the pooled ratios most by being left out, where that is much; of three experts on."""
    experts, belief = _experts(metrics), one_belief(metrics)
    if experts is None or belief is None or len(experts) < 3:
        return ()
    others = left_out(experts, _covariance(metrics[0]), np.random.default_rng(_SEED), _DRAWS)
    factors = [_moved(belief.group, group) for group in others]
    most = int(np.argmax(factors))
    if factors[most] < _MOVED:
        return ()
    times = two_digits(factors[most])
    return (f"Without {names[most]} a pooled ratio would change by a factor of {times}, the most of all experts.",)


def untrusted(metric: ElicitedMetric) -> bool:
    """Return whether the answers behind a metric were found not to hang together."""
    return metric.quality.provisional == UNTRUSTED


def _opposed(one: ElicitedMetric, other: ElicitedMetric) -> bool:
    """Return whether one expert minds most what the other minds least, as far as both are known."""
    first, second = (_centred_logs(metric) for metric in (one, other))
    if first is None or second is None:
        return False
    n = min(len(first), len(second))
    first, second = first[:n], np.random.default_rng(_SEED).permutation(second)[:n]
    apart = np.sqrt(((first - second) ** 2).mean(axis=1))
    return float((((first * second).sum(axis=1) < 0) & (apart > _APART)).mean()) >= _OPPOSED


def _centred_logs(metric: ElicitedMetric) -> Matrix | None:
    """Return draws of log-costs, or the one estimate, each less its mean; None where something costs nothing."""
    sizes = np.abs(np.atleast_2d(metric.weights if metric.samples is None else metric.samples))
    if not (sizes > 0).all():
        return None
    logs = np.log(sizes)
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _moved(group: Group, other: Group) -> float:
    """Return the largest factor by which a median ratio of two costs differs between two groups."""
    apart = np.median(group.log_weights, axis=0) - np.median(other.log_weights, axis=0)
    return float(np.exp(apart.max() - apart.min()))
