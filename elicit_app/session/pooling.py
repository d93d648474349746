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
from typing import Any

import numpy as np

import elicit_app
from elicit_app.elicitation.questions import Matrix
from elicit_app.problem import Problem, differences_first
from elicit_app.session.journal.listing import people_if_any
from elicit_app.session.one_belief import OneBelief, asked, one_belief, opposed_pairs, weightiest_omission
from metrics import ElicitedMetric, Provenance, Quality, Tally
from metrics.elicited.exchange import is_exact, yardstick_of
from metrics.elicited.family import DLPM, LPM, family_of
from metrics.elicited.kinds import thing_of
from metrics.elicited.metric_parts import (
    AGAINST_AN_ORDER,
    AGAINST_AN_ORDER_AMONG,
    MOST_WEIGHTS_OF_ALL_DRAWS,
    OPPOSED,
    SPREAD,
    STATED,
    UNTRUSTED,
    UNTRUSTED_AMONG,
    intervals_around,
    kept_draws,
    ranges_of_draws,
    rounded_draws,
)
from metrics.text import counted, series, two_digits

_AMONG = {UNTRUSTED: UNTRUSTED_AMONG, AGAINST_AN_ORDER: AGAINST_AN_ORDER_AMONG}  # reason of an expert, and of a pool
_OF_ONE_MIND = 0.15  # a negligible spread of log-costs
_MOST_PAIRS = 3  # of experts with opposite orders that are named
_MOVED = 1.5  # factor from which the effect of leaving one expert out is mentioned
GEOMETRIC_MEAN = "geometric mean of the cost ratios"
ONE_BELIEF = "one belief: log-costs of experts around those of the group"


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
    """Name the expert whose omission changes a pooled ratio most, if that is much, and it."""
    without = weightiest_omission(metrics)
    if without is None or without.factor < _MOVED:
        return ()
    return (
        f"Leaving out {names[without.expert]} would change most: the pooled ratio of {of[without.more]} to "
        f"{of[without.less]}, by a factor of {two_digits(without.factor)}.",
    )


def untrusted(metric: ElicitedMetric) -> bool:
    """Return whether the answers behind a metric were found to be inconsistent, or contradict a stated order."""
    return _fault(metric) is not None


def _fault(metric: ElicitedMetric) -> str | None:
    """Return for which of the two reasons an expert, or one of those behind a pooled metric, is not trusted."""
    reason = metric.quality.provisional
    return next((own for own, among in _AMONG.items() if reason in (own, among)), None)


def _why_untrusted(metric: ElicitedMetric) -> str:
    """Return why, after "the answers"."""
    return (_fault(metric) or "").removeprefix("the answers ")


def _why_provisional(metrics: Sequence[ElicitedMetric]) -> str | None:
    """Return why no decision should rest on this pool, or None."""
    if opposed_pairs(metrics):
        return OPPOSED
    faults = set(map(_fault, metrics))
    for fault, among in _AMONG.items():
        if fault in faults:
            return among
    # Draws tell how little is known of an expert; without them only this word does.
    unknown = any(metric.samples is None and metric.quality.provisional is not None for metric in metrics)
    return "a provisional metric without draws is pooled in them" if unknown else None


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
    names, anybody = metrics[0].classes, np.any([asked(metric) for metric in metrics], axis=0)
    mistakes = family_of(metrics[0].family).mistakes(len(names))
    return tuple(
        (names[true], None if to is None else names[to])
        for (true, to), was_asked in zip(mistakes, anybody.tolist(), strict=True)
        if not was_asked
    )


def _geometric_mean(costs: Sequence[Matrix]) -> Matrix:
    with np.errstate(divide="ignore"):
        mean: Matrix = np.exp(np.mean(np.log(costs), axis=0))
    return mean


def _intervals(draws: Matrix, costs: Matrix, metrics: Sequence[ElicitedMetric]) -> Matrix:
    """Return 90 % intervals relative to the largest pooled cost; an end that every expert leaves open stays open.

    They are on the scale on which the cost of the yardstick is exact if those of all experts are, and if there are
    many, because the metric then keeps too few draws to compute ranges from.
    """
    place, first = divmod(int(costs.argmax()), len(costs)), metrics[0]
    yardstick = family_of(first.family).cell(yardstick_of(first))
    if len(first.weights) > MOST_WEIGHTS_OF_ALL_DRAWS or all(is_exact(one, yardstick) for one in metrics):
        place = yardstick
    unit, relative = draws[:, *place], costs / costs.max()
    # Divided first, so that the cost of the unit is exact in spite of rounding.
    intervals = ranges_of_draws(draws / np.where(unit > 0, unit, np.inf)[:, None, None] * relative[place])
    if all(metric.intervals is not None for metric in metrics):
        known = np.stack([metric.intervals for metric in metrics if metric.intervals is not None])
        intervals[..., 1][np.isinf(known[..., 1]).all(axis=0)] = np.inf
        intervals[..., 0][(known[..., 0] == 0).all(axis=0)] = 0.0
    widened = intervals_around(relative, intervals)
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
        parameters |= {"pooled_by": ONE_BELIEF, SPREAD: spread, **_stated_alike(parts)}
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


def _stated_alike(parts: Sequence[Provenance]) -> dict[str, Any]:
    """Return what all experts stated alike before the questions."""
    first, *others = [part.parameters for part in parts]
    same = (name for name in STATED if first.get(name) and all(first[name] == own.get(name) for own in others))
    return {name: first[name] for name in same}


def _sum(tallies: Sequence[Tally | None]) -> Tally | None:
    """Return the sum of the tallies if every metric has one."""
    known = [tally for tally in tallies if tally is not None]
    if len(known) < len(tallies):
        return None
    return Tally(sum(tally.agreed for tally in known), sum(tally.of for tally in known))
