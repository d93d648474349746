"""Pool several experts' metrics: in one belief if all have draws, else by the geometric mean of their cost ratios.

Among the usual means only the geometric one depends neither on the mistake that serves as the unit nor on the direction
in which a ratio is read: 4 and 1/4 pool to 1 (Aczel and Saaty, "Procedures for synthesizing ratio judgements", Journal
of Mathematical Psychology 27, 1983).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

import elicit_app
from elicit_app.elicitation.belief import median_weights
from elicit_app.elicitation.orders import StatedPile, piles_of
from elicit_app.elicitation.pooling import Expert, Group, leave_one_out, log_odds_of_opposition, pooled
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Matrix
from elicit_app.problem import Problem, differences_first
from elicit_app.session.journal.listing import people_if_any
from metrics import ElicitedMetric, Provenance, Quality, Tally
from metrics.elicited.exchange import yardstick_of
from metrics.elicited.family import DLPM, LPM, family_of
from metrics.elicited.kinds import thing_of
from metrics.elicited.metric_parts import (
    AGAINST_AN_ORDER,
    DEVIATIONS,
    MOST_WEIGHTS_OF_ALL_DRAWS,
    OPPOSED,
    SPREAD,
    UNTRUSTED,
    UNTRUSTED_AMONG,
    intervals_around,
    kept_draws,
    ranges_of_draws,
    rounded_draws,
)
from metrics.text import counted, series, two_digits

_SEED = 20_250_101  # the same metrics give the same pooled metric
_DRAWS = 1_000
# Draws needed for each weight, because a covariance has to be inverted; many weights are pooled one by one.
_DRAWS_A_WEIGHT, _DRAWS_OF_MANY = 4, 100
_OF_ONE_MIND = 0.15  # a negligible spread of log-costs
_SURE = 0.9  # probability from which an expert finds one mistake worse than another
_OPPOSED = 2 / 3  # share of the pairs ordered by both experts above which their orders are opposed
_COMPARED = 2e8  # comparisons made between draws of two mistakes: above 20 classes not every draw is compared
_LOG_ODDS_OF_OPPOSED = float(np.log(20.0))  # from which values are called opposed rather than the same
_MOST_PAIRS = 3  # of experts with opposite orders that are named
_MOVED = 1.5  # factor from which the effect of leaving one expert out is mentioned

_Order = NDArray[np.int8]
Piles = Sequence[Sequence[tuple[int, int]]]
_PILES = TypeAdapter(tuple[StatedPile, ...])
_LEARNED = TypeAdapter(tuple[Annotated[float, Field(gt=0, le=100)], ...])


@dataclass(frozen=True, eq=False)
class OneBelief:
    """The values that several experts share."""

    group: Group  # the centre, the distance between experts, and the influence of each
    costs: Matrix  # shape (k, k): medians of ratios, in any unit
    draws: Matrix  # shape (n, k, k): draws of the costs, each in its own unit


def one_belief(metrics: Sequence[ElicitedMetric]) -> OneBelief | None:
    """Return the pooled belief of experts with the same classes and family; None if one of them has too few draws."""
    experts = _experts(metrics)
    if experts is None:
        return None
    group = pooled(experts, _common_prior(experts, metrics[0]), np.random.default_rng(_SEED), _DRAWS)
    metric_family, logs = family_of(metrics[0].family), group.log_weights
    return OneBelief(
        group,
        metric_family.costs(metric_family.sign * median_weights(logs)),
        metric_family.costs(metric_family.sign * np.exp(logs)),
    )


def _experts(metrics: Sequence[ElicitedMetric]) -> list[Expert] | None:
    known = [expert for metric in metrics if _has_enough_draws(metric) and (expert := _expert(metric)) is not None]
    return known if len(known) == len(metrics) else None


def _has_enough_draws(metric: ElicitedMetric) -> bool:
    needed = min(_DRAWS_A_WEIGHT * len(metric.weights), _DRAWS_OF_MANY)
    return metric.samples is not None and len(metric.samples) >= needed


def _expert(metric: ElicitedMetric) -> Expert | None:
    """Return what is known of the expert behind a metric, by its draws or its one estimate; None if a cost is 0."""
    sizes = np.abs(np.atleast_2d(metric.weights if metric.samples is None else metric.samples))
    return Expert(np.log(sizes), _prior(metric), _asked(metric)) if (sizes > 0).all() else None


def _prior(metric: ElicitedMetric) -> WeightPrior:
    """Return the prior behind a metric, with the standard deviations that were learned, if any."""
    prior = _usual_prior(metric, _stated_piles(metric))
    learned = metric.provenance.parameters.get(DEVIATIONS)
    try:
        return prior if learned is None else prior.with_deviations(_LEARNED.validate_python(learned))
    except ValueError:
        return prior


def _usual_prior(metric: ElicitedMetric, piles: Piles = ()) -> WeightPrior:
    name, k = family_of(metric.family).name, len(metric.classes)
    return WeightPrior.of(name, k, piles=piles, shares=metric.prevalence)


def _asked(metric: ElicitedMetric) -> NDArray[np.bool_]:
    """Return which weights some answer is about, shape (m,)."""
    never, names = set(metric.quality.never_asked), metric.classes
    return np.array(
        [
            (names[true], None) not in never and (None if to is None else (names[true], names[to])) not in never
            for true, to in family_of(metric.family).mistakes(len(names))
        ]
    )


def _stated_piles(metric: ElicitedMetric) -> Piles:
    """Return the piles that an expert sorted the mistakes into; none if the file tells them in another way."""
    try:
        stated = _PILES.validate_python(metric.provenance.parameters.get("piles") or ())
        return piles_of(stated, metric.classes) if family_of(metric.family).distinguishes_errors else ()
    except (ValidationError, Problem):
        return ()


def _common_prior(experts: Sequence[Expert], metric: ElicitedMetric) -> WeightPrior:
    """Return the prior that all experts had or, if they sorted the mistakes differently, the usual one."""
    first = experts[0].prior
    return first if all(one.prior.shares_parts_with(first) for one in experts) else _usual_prior(metric)


def experts_agree(pooled: ElicitedMetric) -> bool:
    """Return whether the experts of a pooled metric differ no more than their answering errors explain."""
    spread = pooled.provenance.parameters.get(SPREAD)
    return spread is not None and spread[0] < _OF_ONE_MIND


def doubts(
    metrics: Sequence[ElicitedMetric], names: Sequence[str], pooled: ElicitedMetric | None = None, *, of: Sequence[str]
) -> tuple[str, ...]:
    """Return, in sentences, objections to pooling these experts, and who might be left out.

    What the `pooled` metric already says of them is not computed again. `of` names the mistakes in many cases, in the
    order of the weights.
    """
    whose: dict[str, list[str]] = {}
    for name, metric in zip(names, metrics, strict=True):
        if untrusted(metric):
            whose.setdefault(_why_untrusted(metric), []).append(name)
    found = [f"The answers of {series(who)} {why}; they are pooled all the same." for why, who in whose.items()]
    agreed = pooled is not None and pooled.quality.provisional != OPPOSED
    opposed = [f"{names[one]} and {names[other]}" for one, other in (() if agreed else opposed_pairs(metrics))]
    if opposed:
        left = len(opposed) - _MOST_PAIRS
        others = [*opposed[1:_MOST_PAIRS], *([counted(left, "other pair")] if left > 0 else [])]
        also = f", and so do {'; '.join(others)}" if others else ""
        found.append(
            f"{opposed[0]} order the {thing_of(metrics[0].kind)}s in opposite ways{also}: the pooled costs lie in "
            "between and represent nobody's view."
        )
    return (*found, *_matters_most(metrics, names, of))


def _matters_most(metrics: Sequence[ElicitedMetric], names: Sequence[str], of: Sequence[str]) -> tuple[str, ...]:
    """Name the expert whose omission changes a pooled ratio most, if that is much, and it; needs three experts.

    Only ratios of mistakes count about which somebody else was asked too.
    """
    experts, belief = _experts(metrics), one_belief(metrics)
    shared = np.flatnonzero(np.sum([_asked(metric) for metric in metrics], axis=0) > 1)
    if experts is None or belief is None or len(experts) < 3 or len(shared) < 2:
        return ()
    prior = _common_prior(experts, metrics[0])
    others = leave_one_out(experts, prior, np.random.default_rng(_SEED), _DRAWS)
    medians = np.median(belief.group.log_weights[:, shared], axis=0)
    apart = [medians - np.median(group.log_weights[:, shared], axis=0) for group in others]
    most = int(np.argmax([np.ptp(one) for one in apart]))
    factor = float(np.exp(np.ptp(apart[most])))
    if factor < _MOVED:
        return ()
    more, less = int(shared[apart[most].argmax()]), int(shared[apart[most].argmin()])
    ratio = f"of {of[more]} to {of[less]}"
    return (
        f"Leaving out {names[most]} would change most: the pooled ratio {ratio}, by a factor of {two_digits(factor)}.",
    )


def untrusted(metric: ElicitedMetric) -> bool:
    """Return whether the answers behind a metric were found to be inconsistent, or contradict a stated order."""
    return metric.quality.provisional in (UNTRUSTED, UNTRUSTED_AMONG, AGAINST_AN_ORDER)


def _why_untrusted(metric: ElicitedMetric) -> str:
    """Return why, after "the answers"."""
    why = AGAINST_AN_ORDER if metric.quality.provisional == AGAINST_AN_ORDER else UNTRUSTED
    return why.removeprefix("the answers ")


def _why_provisional(metrics: Sequence[ElicitedMetric]) -> str | None:
    """Return why no decision should rest on this pool, or None."""
    if opposed_pairs(metrics):
        return OPPOSED
    if any(map(untrusted, metrics)):
        return UNTRUSTED_AMONG
    # Draws tell how little is known of an expert; without them only this word does.
    unknown = any(metric.samples is None and metric.quality.provisional is not None for metric in metrics)
    return "a provisional metric without draws is pooled in them" if unknown else None


def opposed_pairs(metrics: Sequence[ElicitedMetric]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of experts, as indices, who order the mistakes in opposite ways, as far as is known."""
    return _opposed_pairs(tuple(metrics))


@lru_cache(maxsize=1)  # a pool asks whether there are any, and a comparison of the same experts who they are
def _opposed_pairs(metrics: tuple[ElicitedMetric, ...]) -> tuple[tuple[int, int], ...]:
    known = {place: expert for place, metric in enumerate(metrics) if (expert := _expert(metric)) is not None}
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


GEOMETRIC_MEAN = "geometric mean of the cost ratios"
ONE_BELIEF = "one belief: log-costs of experts around those of the group"


@dataclass(frozen=True, eq=False)
class Source:
    """One expert's metric, named after its file or session."""

    name: str
    metric: ElicitedMetric

    @property
    def who(self) -> str:
        """Return the expert's name or, without one, the name of the source."""
        return self.metric.provenance.expert or self.name


def select_sources(sources: Sequence[Source], *, trusted_only: bool = False) -> tuple[list[Source], tuple[str, ...]]:
    """Return the metrics to compare and pool, and sentences on who is left out and why.

    If people answered, programs do not count; with `trusted_only`, neither do experts whose answers are inconsistent.
    """
    people = people_if_any(sources, lambda one: one.metric.quality.simulated)
    notes = [f"Left out: {one.who}, answered by a program." for one in sources if one not in people]
    if people and people[0].metric.quality.simulated:
        notes.append("All of these answers were given by a program, none by a person.")
    kept = [one for one in people if not (trusted_only and untrusted(one.metric))]
    notes += [
        f"Left out: {one.who}, because the answers {_why_untrusted(one.metric)}." for one in people if one not in kept
    ]
    return kept, tuple(notes)


def aligned(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Bring metrics to the order of classes, the family and the yardstick of the first.

    If one of them distinguishes wrong answers for the same truth, all are converted to that family. Raises Problem if
    there are fewer than two, they are about different classes, two hold the same answers, or no mistake costs something
    to each of them.
    """
    if len(sources) < 2:
        raise Problem("Comparing experts needs at least two metric files.")
    first = sources[0]
    for source in sources[1:]:
        if source.metric.kind != first.metric.kind:
            raise Problem(
                f"{source.name} prices a different kind of thing ({source.metric.kind}) from {first.name} "
                f"({first.metric.kind}): only metrics of the same kind can be compared or pooled."
            )
        if set(source.metric.classes) != set(first.metric.classes):
            theirs, ours = differences_first(source.metric.classes, first.metric.classes)
            raise Problem(
                f"{source.name} is about the classes {theirs}, but {first.name} about {ours}: only metrics of the same "
                "classes can be compared or pooled."
            )
    _refuse_twice(sources)
    apart = any(family_of(source.metric.family).distinguishes_errors for source in sources)
    family = (LPM if apart else DLPM).name
    turned = [_converted(source.metric, first.metric.classes, family) for source in sources]
    yardstick = _yardstick(turned)
    named = [replace(metric, yardstick=yardstick) for metric in turned]
    return tuple(Source(source.name, metric) for source, metric in zip(sources, named, strict=True))


def _refuse_twice(sources: Sequence[Source]) -> None:
    seen: dict[str, str] = {}
    for source in sources:
        digest = source.metric.provenance.answers_digest
        if digest is None:
            continue
        if digest in seen:
            raise Problem(f"{seen[digest]} and {source.name} hold the same answers: an expert counts once.")
        seen[digest] = source.name


def _converted(metric: ElicitedMetric, classes: tuple[str, ...], family: str) -> ElicitedMetric:
    """Return a metric with its classes reordered, and in the family that distinguishes mistakes if that is given."""
    if metric.classes == classes and metric.family == family:
        return metric
    order = [metric.classes.index(name) for name in classes]
    cells, metric_family = np.ix_(order, order), family_of(family)
    draws = metric.cost_samples
    weights = metric_family.normalise(metric_family.sign * metric_family.of_errors(metric.cost_matrix[cells]))
    return replace(
        metric,
        classes=classes,
        labels=classes,
        family=family,
        weights=weights,
        cost_matrix=metric_family.costs(weights),
        intervals=None if metric.intervals is None else metric.intervals[cells],
        samples=None if draws is None else metric_family.sign * metric_family.of_errors(draws[:, order][:, :, order]),
        prevalence=None if metric.prevalence is None else metric.prevalence[order],
    )


def _yardstick(metrics: Sequence[ElicitedMetric]) -> tuple[str, str]:
    """Return the first stated yardstick that costs everybody something, else the mistake of largest least cost."""
    classes = metrics[0].classes
    least: Matrix = np.stack([metric.cost_matrix for metric in metrics]).min(axis=0)
    for metric in metrics:
        if metric.yardstick is not None:
            true, predicted = (classes.index(name) for name in metric.yardstick)
            if least[true, predicted] > 0:
                return metric.yardstick
    if not least.any():
        raise Problem("No mistake costs every one of these experts something, so they have no common yardstick.")
    true, predicted = divmod(int(least.argmax()), len(classes))
    return classes[true], classes[predicted]


def pool(sources: Sequence[Source], name: str | None = None) -> ElicitedMetric:
    """Return one metric for several experts, given at least two sources, whether or not `aligned`.

    If every metric has draws, the experts scatter around a group whose costs are inferred, and a more precisely known
    expert counts for more. Else every ratio of two costs is the geometric mean of theirs; a mistake that costs one
    expert nothing then costs the pooled metric nothing. Intervals describe how well the centre is known, not how far
    the experts are apart. Raises Problem as `aligned` does.
    """
    sources = aligned(sources)
    metrics = [source.metric for source in sources]
    first, family = metrics[0], metrics[0].family
    metric_family = family_of(family)
    belief = one_belief(metrics)
    costs = _geometric_mean([metric.cost_matrix for metric in metrics]) if belief is None else belief.costs
    draws = None if belief is None else belief.draws
    experts = [source.who for source in sources]
    return ElicitedMetric.from_weights(
        first.classes,
        metric_family.sign * metric_family.of_errors(costs),
        family,
        kind=first.kind,
        name=name or f"Pooled: {', '.join(experts)}",
        created=max(metric.created for metric in metrics),
        intervals=None if draws is None else _intervals(draws, costs, metrics),
        samples=None
        if draws is None
        else rounded_draws(kept_draws(metric_family.sign * metric_family.of_errors(draws))),
        prevalence=_common_prevalence(metrics),
        population=first.population if len({metric.population for metric in metrics}) == 1 else None,
        consequences=next((metric.consequences for metric in metrics if metric.consequences), ()),
        words=next((metric.words for metric in metrics if metric.words), None),
        yardstick=first.yardstick,
        provenance=_provenance(sources, experts, belief),
        # These counts concern each expert's own numbers, not the pooled ones.
        quality=Quality(
            repeats_agreed=_sum([metric.quality.repeats_agreed for metric in metrics]),
            simulated=any(metric.quality.simulated for metric in metrics),
            provisional=_why_provisional(metrics),
            never_asked=_never_asked(metrics),
        ),
    )


def _never_asked(metrics: Sequence[ElicitedMetric]) -> tuple[tuple[str, str | None], ...]:
    """Return the mistakes that nobody was asked about."""
    names, asked = metrics[0].classes, np.any([_asked(metric) for metric in metrics], axis=0)
    mistakes = family_of(metrics[0].family).mistakes(len(names))
    return tuple(
        (names[true], None if to is None else names[to])
        for (true, to), known in zip(mistakes, asked.tolist(), strict=True)
        if not known
    )


def _geometric_mean(costs: Sequence[Matrix]) -> Matrix:
    with np.errstate(divide="ignore"):
        mean: Matrix = np.exp(np.mean(np.log(costs), axis=0))
    return mean


def _intervals(draws: Matrix, costs: Matrix, metrics: Sequence[ElicitedMetric]) -> Matrix:
    """Return 90 % intervals relative to the largest pooled cost; an end that every expert leaves open stays open.

    Many of them are on the scale on which the cost of the yardstick is exact, because the metric keeps too few draws to
    compute ranges from.
    """
    place, first = divmod(int(costs.argmax()), len(costs)), metrics[0]
    if len(first.weights) > MOST_WEIGHTS_OF_ALL_DRAWS:
        place = family_of(first.family).cell(yardstick_of(first))
    unit = draws[:, *place] * (costs.max() / costs[place])
    relative = draws / np.where(unit > 0, unit, np.inf)[:, None, None]
    intervals = ranges_of_draws(relative)
    if all(metric.intervals is not None for metric in metrics):
        known = np.stack([metric.intervals for metric in metrics if metric.intervals is not None])
        intervals[..., 1][np.isinf(known[..., 1]).all(axis=0)] = np.inf
        intervals[..., 0][(known[..., 0] == 0).all(axis=0)] = 0.0
    widened = intervals_around(costs / costs.max(), intervals)
    assert widened is not None
    return widened


def _common_prevalence(metrics: Sequence[ElicitedMetric]) -> Matrix | None:
    first = metrics[0].prevalence
    if first is None or any(one.prevalence is None or not np.allclose(one.prevalence, first) for one in metrics):
        return None
    return first


def _provenance(sources: Sequence[Source], experts: Sequence[str], belief: OneBelief | None) -> Provenance:
    parts = [source.metric.provenance for source in sources]
    of: list[dict[str, Any]] = [
        {
            "source": source.name,
            "name": source.metric.name,
            "expert": part.expert,
            "created": source.metric.created.isoformat(),
            "procedure": part.procedure,
            "questions": part.questions,
            "answers_digest": part.answers_digest,
        }
        for source, part in zip(sources, parts, strict=True)
    ]
    parameters: dict[str, Any] = {"pooled_by": GEOMETRIC_MEAN, "of": of}
    if belief is not None:
        spread = [round(belief.group.tau, 3), *(round(end, 3) for end in belief.group.tau_interval)]
        parameters |= {"pooled_by": ONE_BELIEF, SPREAD: spread}
        for one, share in zip(of, belief.group.shares, strict=True):
            one["share"] = round(float(share), 3)
    studies, answers = {part.study_digest for part in parts}, [part.answers_digest for part in parts]
    return Provenance(
        procedure="pooled",
        version=elicit_app.__version__,
        parameters=parameters,
        questions=sum(part.questions for part in parts),
        study_digest=parts[0].study_digest if len(studies) == 1 else None,
        answers_digest=None if None in answers else hashlib.sha256(json.dumps(answers).encode()).hexdigest(),
        expert=", ".join(experts),
    )


def _sum(tallies: Sequence[Tally | None]) -> Tally | None:
    """Return the sum of the tallies if every metric has one."""
    known = [tally for tally in tallies if tally is not None]
    if len(known) < len(tallies):
        return None
    return Tally(sum(tally.agreed for tally in known), sum(tally.of for tally in known))
