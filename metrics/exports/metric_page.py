"""The page about a metric: headline, exchange rates, costs, release factors, weights and provenance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrics.elicited.exchange import (
    ExchangeRate,
    beside_name,
    called,
    exchange_rates,
    headline,
    rates_question,
    scale_of_ranges,
)
from metrics.elicited.family import family_of
from metrics.elicited.kinds import answers_for, thing_of
from metrics.elicited.metric_parts import DEVIATIONS, SPREAD, STATED, ranges_of_draws
from metrics.elicited.release import factor_ranges
from metrics.exports.page import Cells, Facts, Matrix, Page, Paragraph, RatePlot, Section, one_line
from metrics.inputs.arguments import Floats
from metrics.text import BOUNDED, NOT_KNOWN, capitalised, cost_cells, counted, day, series, span, two_digits

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

# Parameters with a line of their own, and one that is no setting.
_SAID = ("of", "procedure", "seed", *STATED, DEVIATIONS, SPREAD)
_MOST_NAMED = 20
_WIDEST = 100.0  # standard deviation of log-costs; a file may state anything


def metric_page(metric: ElicitedMetric) -> Page:
    """Return the page about a metric."""
    rates = exchange_rates(metric)
    of_costs = metric.kind == "confusion"
    names = tuple(_names(metric, rate) for rate in rates)
    head = headline(metric)
    question = rates_question(metric.kind, head.yardstick.mistake.one)
    sections = (
        Section("", (Paragraph(head.in_words(), "lead"),)),
        Section(question, (RatePlot(rates, names, heading=capitalised(thing_of(metric.kind))),)),
        *(_about_costs(metric) if of_costs else (_about_prices(metric),)),
        Section(
            "Where this comes from", (Facts(tuple((what, one_line(value)) for what, value in _provenance(metric))),)
        ),
    )
    what = "What each mistake costs" if of_costs else "What each amount counts"
    return Page(one_line(metric.name) or "Elicited metric", f"{what}. {day(metric.created)}", sections)


def _about_prices(metric: ElicitedMetric) -> Section:
    """Return a section with the prices as parameters of their score."""
    if metric.kind == "relevance":
        share = metric.alpha_share()
        text = f"alpha : beta is {share:.2f} : {1 - share:.2f}."
        return Section("In the relevance score", (Paragraph(text),), half=True)
    false_positive, false_negative = metric.penalties()
    bounds = {rate.mistake.true: f" ({rate.in_words()})" for rate in exchange_rates(metric) if rate.bounded}
    text = (
        f"In units of a label found, a false label costs {two_digits(false_positive)}{bounds.get('false', '')} and a "
        f"missed one {two_digits(false_negative)}{bounds.get('missed', '')}. Labels that were rightly left out do not "
        "count."
    )
    return Section("In the multi-label score", (Paragraph(text),), half=True)


_COSTS = "Rows: truth. Columns: what the model says. 1 = the worst mistake."


def _about_costs(metric: ElicitedMetric) -> tuple[Section, ...]:
    """Return the sections with costs, release factors and class weights."""
    names = tuple(map(one_line, metric.classes))
    k = len(names)
    return (
        Section(
            "Cost matrix",
            (
                Paragraph(f"{_COSTS} {one_line(scale_of_ranges(metric))}".rstrip(), "quiet"),
                Matrix(names, cost_texts(metric), f"The costs of {k} classes are in the metric file."),
            ),
            half=True,
        ),
        Section(
            "Release factors for MPCS",
            (
                Paragraph("How much each wrong name is of concern, within one truth. 1 = fully.", "quiet"),
                Matrix(names, factor_texts(metric), "Each row of costs divided by its largest cost."),
                Paragraph(release_sentence(metric, metric.classes), "quiet"),
            ),
            half=True,
        ),
        Section(
            "Class weights",
            (Paragraph("They weigh the truths against each other. Their mean is 1.", "quiet"), _class_weights(metric)),
            half=True,
        ),
    )


def _names(metric: ElicitedMetric, rate: ExchangeRate) -> tuple[str, str]:
    name = one_line(rate.mistake.name)
    return name, beside_name(name, one_line(called(metric.classes, rate.key))) if metric.kind == "confusion" else ""


def cost_texts(metric: ElicitedMetric) -> Cells:
    """Return every cost and its 90 % interval as texts; the interval may be empty."""
    return cost_cells(metric.cost_matrix, metric.intervals)


def factor_texts(metric: ElicitedMetric) -> Cells:
    """Return every release factor and its 90 % range as texts, "worst" for what is surely worst of its true class."""
    draws = metric.cost_samples
    ranges = None if draws is None else factor_ranges(draws)
    return [
        [
            ("–", "")
            if i == j
            else (two_digits(factor), _beneath(metric, i, factor, None if ranges is None else ranges[i, j]))
            for j, factor in enumerate(row)
        ]
        for i, row in enumerate(metric.release_factors().tolist())
    ]


def _beneath(metric: ElicitedMetric, i: int, factor: float, ends: Floats | None) -> str:
    if factor == 1 and metric.cost_matrix[i].any() and (ends is None or two_digits(float(ends[0])) == "1"):
        return "worst"
    return "" if ends is None or ends[0] == ends[1] else span(*map(float, ends))


def weight_texts(metric: ElicitedMetric) -> list[tuple[str, str]]:
    """Return every class weight and its 90 % range; without draws, a note if its cost is only bounded or unknown."""
    weights = list(metric.class_weight.values())
    if metric.samples is None:
        texts, dearest = cost_texts(metric), metric.cost_matrix.argmax(axis=1)
        known = {BOUNDED: "rests on a bound", NOT_KNOWN: NOT_KNOWN}
        return [(two_digits(weight), known.get(texts[i][dearest[i]][1], "")) for i, weight in enumerate(weights)]
    ranges = ranges_of_draws(family_of(metric.family).class_weight(metric.samples))
    return [(two_digits(weight), span(*map(float, ends))) for weight, ends in zip(weights, ranges, strict=True)]


def _class_weights(metric: ElicitedMetric) -> Facts:
    weights = zip(metric.classes, weight_texts(metric), strict=True)
    return Facts(
        tuple((one_line(name), f"{weight} ({range_})" if range_ else weight) for name, (weight, range_) in weights)
    )


def release_sentence(metric: ElicitedMetric, names: Sequence[str]) -> str:
    """Return the two-level form of the release factors as a sentence; `names` are the classes."""
    releases, factor, error = metric.release_list()
    if not releases:
        return "No mistake is discounted: within each true class every one is of full concern."
    parts = [f"{names[true]} called {series([names[j] for j in released], 'or')}" for true, *released in releases]
    off = f"; the best two-level fit, off by {two_digits(error)} on average" if error > 1e-9 else ""
    return f"Release {'; '.join(parts)}, with factor {two_digits(factor)}{off}."


def _provenance(metric: ElicitedMetric) -> list[tuple[str, str]]:
    """Return the known facts about the origin of the metric, as (name, value)."""
    source, quality = metric.provenance, metric.quality
    known = [
        ("Made", f"{day(metric.created)}, {metric.created:%H:%M} UTC"),
        ("How", _how(metric)),
        ("Expert", source.expert),
        ("Rule", family_of(metric.family).rule if metric.kind == "confusion" else None),
        ("Repeats with the same answer", quality.repeats_agreed),
        ("Answers these numbers explain", quality.answers_explained),
        ("Answers held out, predicted", quality.held_out_agreement),
        ("Answered by", "a program, not a person" if quality.simulated else None),
        ("For", "" if quality.purpose is None else answers_for(quality.purpose, metric.kind)),
        ("Costs may not add up", quality.other_values),
        ("Provisional", quality.provisional),
        ("Never asked about", _never_asked(metric)),
        ("Prevalence", _shares(metric)),
        ("Population", _population(metric)),
        ("Program", f"elicit {source.version}" if source.version else None),
        ("Seed", source.seed),
        ("Settings", ", ".join(_setting(*one) for one in source.parameters.items() if one[0] not in _SAID)),
        ("Stated as certain", _stated_orders(source.parameters.get("never_worse"))),
        ("Classes in order", _in_order(source.parameters.get("ordered"))),
        ("Sorted beforehand", _stated_piles(source.parameters.get("piles"))),
        ("Pooled of", _pooled_of(source.pooled)),
        ("Experts and group", _apart(source.parameters.get(SPREAD))),
        ("Study, SHA-256", _start(source.study_digest)),
        ("Answers, SHA-256", _start(source.answers_digest)),
    ]
    return [(what, str(value)) for what, value in known if value not in (None, "")]


def _setting(name: str, value: object) -> str:
    """Return a setting in plain text: "max cells 3"."""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
    return f"{name.replace('_', ' ')} {shown}"


def _never_asked(metric: ElicitedMetric) -> str:
    """Return the mistakes that no question covered, of very many some."""
    names = [f"{true} called {to or 'something else'}" for true, to in metric.quality.never_asked]
    if len(names) <= _MOST_NAMED:
        return "; ".join(names)
    return f"{len(names):,} of {len(metric.weights):,} mistakes, among them {'; '.join(names[: _MOST_NAMED // 2])}"


def _stated_orders(orders: object) -> str:
    """Return the stated orders: "naevus as melanoma never worse than melanoma as naevus"."""
    if not isinstance(orders, list):
        return ""
    ends = [[order.get(end) for end in ("mistake", "than")] for order in orders if isinstance(order, dict)]
    return ", ".join(" never worse than ".join(map(_stated_mistake, both)) for both in ends)


def _in_order(classes: object) -> str:
    """Return the classes of which an order was stated: "none, mild, severe"."""
    return ", ".join(map(str, classes)) if isinstance(classes, list) else ""


def _stated_piles(piles: object) -> str:
    """Return the piles of mistakes: "mild: naevus as melanoma; grave: melanoma as naevus"."""
    if not isinstance(piles, list):
        return ""
    known = [pile for pile in piles if isinstance(pile, dict) and isinstance(pile.get("mistakes"), list)]
    return "; ".join(f"{pile.get('name')}: {', '.join(map(_stated_mistake, pile['mistakes']))}" for pile in known)


def _stated_mistake(mistake: object) -> str:
    if not isinstance(mistake, dict):
        return "?"
    return f"{mistake.get('true')} as {mistake.get('predicted', 'anything else')}"


def _pooled_of(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return the metrics that were pooled into one: "Ada (22 answers, ada.metric.json)"."""
    named = [(part.get("expert") or part.get("name"), part) for part in parts]
    return ", ".join(f"{name} ({part.get('questions')} answers, {part.get('source')})" for name, part in named)


def _apart(spread: object) -> str:
    """Return the spread of log-costs, its median and the ends of its 90 % range, as factors."""
    if not isinstance(spread, list) or len(spread) != 3:
        return ""
    if not all(isinstance(one, int | float) and 0 <= one < _WIDEST for one in spread):
        return ""
    usual, low, high = (two_digits(math.exp(one)) for one in spread)
    return f"two in three costs of an expert are within a factor of {usual} of the group's (plausible: {low} to {high})"


def _how(metric: ElicitedMetric) -> str:
    source = metric.provenance
    if source.procedure == "pooled":
        return f"several experts pooled, {counted(source.questions, 'answer')}"
    if source.procedure == "stated":
        return "costs stated, not elicited"
    return f"{counted(source.questions, 'answer')}, procedure {source.procedure}"


def _start(digest: str | None) -> str:
    """Return the start of a digest, enough to compare by eye; the metric file has the whole."""
    return "" if digest is None else f"{digest[:16]}…" if len(digest) > 16 else digest


def _population(metric: ElicitedMetric) -> str:
    cases = "cases" if metric.words is None else metric.words.cases
    return "" if metric.population is None else f"{metric.population:,} {cases}"


def _shares(metric: ElicitedMetric) -> str:
    if metric.prevalence is None:
        return ""
    named = zip(metric.classes, metric.prevalence.tolist(), strict=True)
    return ", ".join(f"{name} {two_digits(100 * share)}\N{NO-BREAK SPACE}%" for name, share in named)
