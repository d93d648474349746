"""What the metrics of several experts tell in one belief: the values of their group, and who differs from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from elicit_app.elicitation.belief import median_weights
from elicit_app.elicitation.orders import (
    StatedOrder,
    StatedPile,
    check_ordered,
    constraints_of,
    orders_by_distance,
    piles_of,
)
from elicit_app.elicitation.pooling import Expert, Group, draws_before, leave_one_out, log_odds_of_opposition, pooled
from elicit_app.elicitation.prior import NeverWorse, WeightPrior
from elicit_app.elicitation.questions import Family, Matrix
from elicit_app.problem import Problem
from metrics import ElicitedMetric
from metrics.elicited.exchange import never_asked
from metrics.elicited.family import MistakeKey, family_of
from metrics.elicited.metric_parts import DEVIATIONS

_SEED = 20_250_101  # the same metrics give the same belief
_DRAWS = 1_000
# Draws needed for each weight, because a covariance has to be inverted; many weights are pooled one by one.
_DRAWS_A_WEIGHT, _DRAWS_OF_MANY = 4, 100
_SURE = 0.9  # probability from which an expert finds one mistake worse than another
_OPPOSED = 2 / 3  # share of the pairs ordered by both experts above which their orders are opposed
_COMPARED = 2e8  # comparisons made between draws of two mistakes: above 20 classes not every draw is compared
_LOG_ODDS_OF_OPPOSED = float(np.log(20.0))  # from which values are called opposed rather than the same

_Order = NDArray[np.int8]
_Piles = tuple[tuple[tuple[int, int], ...], ...]
_ORDERS, _ORDERED = TypeAdapter(tuple[StatedOrder, ...]), TypeAdapter(tuple[str, ...])
_PILES = TypeAdapter(tuple[StatedPile, ...])
_LEARNED = TypeAdapter(tuple[Annotated[float, Field(gt=0, le=100)], ...])


@dataclass(frozen=True, eq=False)
class OneBelief:
    """The values that several experts share."""

    group: Group  # the centre, the distance between experts, and the influence of each
    costs: Matrix  # shape (k, k): medians of ratios, in any unit
    draws: Matrix  # shape (n, k, k): draws of the costs, each in its own unit


class Stated(NamedTuple):
    """What an expert stated for certain before the questions: orders of two mistakes each, and classes in order."""

    orders: tuple[StatedOrder, ...] = ()
    ordered: tuple[str, ...] = ()

    def constraints(self, metric: ElicitedMetric) -> tuple[NeverWorse, ...]:
        """Return all orders that it implies for the classes and family of a metric; raises a Problem if they differ."""
        orders = (*self.orders, *orders_by_distance(self.ordered))
        return constraints_of(orders, metric.classes, family_of(metric.family).name)


class Omission(NamedTuple):
    """What leaving out one expert does to the pooled ratio of two weights, all three as indices."""

    expert: int
    more: int
    less: int
    factor: float


def one_belief(metrics: Sequence[ElicitedMetric]) -> OneBelief | None:
    """Return the pooled belief of experts with the same classes and family; None if one of them has too few draws."""
    experts = _experts(metrics)
    if experts is None:
        return None
    group = pooled(experts, _common_prior(experts, metrics), np.random.default_rng(_SEED), _DRAWS)
    family, logs = family_of(metrics[0].family), group.log_weights
    return OneBelief(group, family.costs(family.sign * median_weights(logs)), family.costs(family.sign * np.exp(logs)))


def weightiest_omission(metrics: Sequence[ElicitedMetric]) -> Omission | None:
    """Return whose omission changes a pooled ratio most, and which; None with fewer than three experts.

    Only ratios of mistakes count about which somebody else was asked too.
    """
    experts, belief = _experts(metrics), one_belief(metrics)
    shared = np.flatnonzero(np.sum([asked(metric) for metric in metrics], axis=0) > 1)
    if experts is None or belief is None or len(experts) < 3 or len(shared) < 2:
        return None
    others = leave_one_out(experts, _common_prior(experts, metrics), np.random.default_rng(_SEED), _DRAWS)
    medians = np.median(belief.group.log_weights[:, shared], axis=0)
    apart = [medians - np.median(group.log_weights[:, shared], axis=0) for group in others]
    most = int(np.argmax([np.ptp(one) for one in apart]))
    more, less = int(shared[apart[most].argmax()]), int(shared[apart[most].argmin()])
    return Omission(most, more, less, float(np.exp(np.ptp(apart[most]))))


def before_the_answers(metrics: Sequence[ElicitedMetric]) -> Matrix | None:
    """Return draws of the log-weights that were expected of these experts, shape (draws, m).

    None where that is not known, or no weight was expected to be larger than another.
    """
    experts = _experts(metrics)
    if experts is None:
        return None
    prior = _common_prior(experts, metrics)
    return draws_before(prior) if len(prior.order) or prior.centre.any() else None


def opposed_pairs(metrics: Sequence[ElicitedMetric]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of experts, as indices, who order the mistakes in opposite ways, as far as is known."""
    return _opposed_pairs(tuple(metrics))


def asked(metric: ElicitedMetric) -> NDArray[np.bool_]:
    """Return which weights some answer is about, shape (m,)."""
    never = never_asked(metric)
    mistakes = family_of(metric.family).mistakes(len(metric.classes))
    return np.array([not {mistake, MistakeKey(mistake.true, None)} & never for mistake in mistakes])


def stated_in(metric: ElicitedMetric) -> Stated:
    """Return what the expert behind a metric stated; nothing if the file tells it in another way."""
    parameters = metric.provenance.parameters
    try:
        found = Stated(
            _ORDERS.validate_python(parameters.get("never_worse") or ()),
            _ORDERED.validate_python(parameters.get("ordered") or ()),
        )
        if found.ordered:
            check_ordered(found.ordered, metric.classes)
        found.constraints(metric)
    except (ValidationError, Problem):
        return Stated()
    return found


def _experts(metrics: Sequence[ElicitedMetric]) -> list[Expert] | None:
    """Return what is known of each expert; None if one of them has too few draws."""
    orders = _common_orders(metrics)
    known = [_expert(metric, orders) for metric in metrics if _has_enough_draws(metric)]
    experts = [expert for expert in known if expert is not None]
    return experts if len(experts) == len(metrics) else None


def _has_enough_draws(metric: ElicitedMetric) -> bool:
    needed = min(_DRAWS_A_WEIGHT * len(metric.weights), _DRAWS_OF_MANY)
    return metric.samples is not None and len(metric.samples) >= needed


def _expert(metric: ElicitedMetric, orders: tuple[NeverWorse, ...]) -> Expert | None:
    """Return what is known of the expert behind a metric, by its draws or its one estimate; None if a cost is 0."""
    sizes = np.abs(np.atleast_2d(metric.weights if metric.samples is None else metric.samples))
    return Expert(np.log(sizes), _prior(metric, orders), asked(metric)) if (sizes > 0).all() else None


def _common_prior(experts: Sequence[Expert], metrics: Sequence[ElicitedMetric]) -> WeightPrior:
    """Return the prior that all experts had or, if they sorted the mistakes differently, the usual one."""
    first = experts[0].prior
    if all(one.prior.shares_parts_with(first) for one in experts):
        return first
    return _usual_prior(metrics[0], _common_orders(metrics))


def _prior(metric: ElicitedMetric, orders: tuple[NeverWorse, ...]) -> WeightPrior:
    """Return the prior behind a metric, with the standard deviations that were learned, if any."""
    piles, learned = _stated_piles(metric), metric.provenance.parameters.get(DEVIATIONS)
    try:
        return _usual_prior(metric, orders, piles, None if learned is None else _LEARNED.validate_python(learned))
    except ValueError:
        return _usual_prior(metric, orders, piles)


def _usual_prior(
    metric: ElicitedMetric, orders: tuple[NeverWorse, ...], piles: _Piles = (), learned: tuple[float, ...] | None = None
) -> WeightPrior:
    shares = None if metric.prevalence is None else tuple(metric.prevalence.tolist())
    return _prior_of(family_of(metric.family).name, len(metric.classes), orders, piles, shares, learned)


@lru_cache(maxsize=32)  # experts of one study share it, and with it the draws that tell what its orders imply
def _prior_of(
    family: Family,
    k: int,
    orders: tuple[NeverWorse, ...],
    piles: _Piles,
    shares: tuple[float, ...] | None,
    learned: tuple[float, ...] | None,
) -> WeightPrior:
    prior = WeightPrior.of(family, k, "auto", orders, piles, None if shares is None else np.array(shares))
    return prior if learned is None else prior.with_deviations(learned)


def _common_orders(metrics: Sequence[ElicitedMetric]) -> tuple[NeverWorse, ...]:
    """Return the orders that every expert stated before the questions."""
    first, *others = [stated_in(metric).constraints(metric) for metric in metrics]
    return tuple(order for order in first if all(order in own for own in others))


def _stated_piles(metric: ElicitedMetric) -> _Piles:
    """Return the piles that an expert sorted the mistakes into; none if the file tells them in another way."""
    try:
        stated = _PILES.validate_python(metric.provenance.parameters.get("piles") or ())
        return piles_of(stated, metric.classes) if family_of(metric.family).distinguishes_errors else ()
    except (ValidationError, Problem):
        return ()


@lru_cache(maxsize=1)  # a pool asks whether there are any, and a comparison of the same experts who they are
def _opposed_pairs(metrics: tuple[ElicitedMetric, ...]) -> tuple[tuple[int, int], ...]:
    stated = _common_orders(metrics)
    known = {place: expert for place, metric in enumerate(metrics) if (expert := _expert(metric, stated)) is not None}
    orders = {place: _order(expert.log_weights) for place, expert in known.items()}
    return tuple(
        (one, other)
        for one, other in combinations(known, 2)
        if _mostly_reversed(orders[one], orders[other])
        and log_odds_of_opposition(known[one], known[other]) > _LOG_ODDS_OF_OPPOSED
    )


def _mostly_reversed(one: _Order, other: _Order) -> bool:
    """Return whether most of the mistakes that both experts distinguish are in opposite order.

    With many mistakes a few answers leave most comparisons open; those do not count.
    """
    return bool(np.count_nonzero(one * other < 0) > _OPPOSED * np.count_nonzero(one * other))


def _order(logs: Matrix) -> _Order:
    """Return, for every two mistakes, 1 if the first is surely worse, -1 if it is surely less bad, else 0."""
    logs = logs[:: max(1, round(logs.size * logs.shape[1] / _COMPARED))]
    # Places within a draw compare as the logs do, and as whole numbers of two bytes six times as fast.
    places = np.array([np.unique(draw, return_inverse=True)[1] for draw in logs], dtype=np.uint16)
    few = np.min_scalar_type(len(logs))
    worse = np.stack([(own[:, None] > places).sum(axis=0, dtype=few) / len(logs) >= _SURE for own in places.T])
    order: _Order = worse.astype(np.int8) - worse.T
    return order
