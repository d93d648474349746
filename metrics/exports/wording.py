"""What several formats say alike."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metrics.display.numbers import cost_text, two_digits
from metrics.elicited.exchange import exchange_rates
from metrics.elicited.family import family_of

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

Cells = list[list[tuple[str, str]]]

# Parameters with a line of their own.
_TOLD = ("of", "never_worse")

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters, for a comment or a cell."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def rows_of_numbers(matrix: NDArray[np.float64], separator: str = ", ") -> list[str]:
    """Return each row of a matrix as text that reads back to the same numbers."""
    return [separator.join(repr(float(x)) for x in row) for row in matrix]


def day(moment: datetime) -> str:
    """Return "20 November 2026" in English whatever the system's language, so that exports do not depend on it."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def cost_texts(metric: ElicitedMetric) -> Cells:
    """Return every cost and its 90 % interval as people read them; the second may be empty."""
    return [
        [
            cost_text(cost, None if metric.intervals is None or i == j else metric.intervals[i, j])
            for j, cost in enumerate(row)
        ]
        for i, row in enumerate(metric.cost_matrix.tolist())
    ]


def factor_texts(metric: ElicitedMetric) -> Cells:
    """Return every release factor as people read it, and "worst" for the worst mistakes of a true class."""
    return [
        [
            ("–", "")
            if i == j
            else (two_digits(factor), "worst" if factor == 1 and metric.cost_matrix[i].any() else "")
            for j, factor in enumerate(row)
        ]
        for i, row in enumerate(metric.release_factors().tolist())
    ]


def rates_question(metric: ElicitedMetric) -> str:
    """Return the heading of the exchange rates: "How bad is each mistake, compared with one needless excision?"."""
    unit = next(rate for rate in exchange_rates(metric) if rate.is_yardstick)
    return f"How bad is each mistake, compared with one {unit.mistake.one}?"


def release_sentence(metric: ElicitedMetric) -> str:
    """Return the two-level form of the release factors as a sentence."""
    releases, factor, error = metric.release_list()
    if not releases:
        return "Nothing is released: within each true class every mistake is of full concern."
    names = metric.classes
    parts = [f"{names[true]} called {' or '.join(names[j] for j in released)}" for true, *released in releases]
    off = f"; the best two-level fit, off by {two_digits(error)} on average" if error > 1e-9 else ""
    return f"Release {'; '.join(parts)}, with factor {two_digits(factor)}{off}."


def provenance_rows(metric: ElicitedMetric) -> list[tuple[str, str]]:
    """Return (what, value) for everything known about where the metric comes from; unknown things are left out."""
    source, quality = metric.provenance, metric.quality
    known = [
        ("Made", f"{day(metric.created)}, {metric.created:%H:%M} UTC"),
        ("How", _how(metric)),
        ("Expert", source.expert),
        ("Rule", family_of(metric.family).rule),
        ("Repeats with the same answer", quality.repeats_agreed),
        ("Answers these numbers explain", quality.answers_explained),
        ("Answers kept aside, predicted", quality.held_out_agreement),
        ("Prevalence", _shares(metric)),
        ("Population", None if metric.population is None else f"{metric.population:,} cases"),
        ("Program", f"elicit {source.version}" if source.version else None),
        ("Seed", source.seed),
        ("Settings", ", ".join(f"{name} {value}" for name, value in source.parameters.items() if name not in _TOLD)),
        ("Stated for certain", _stated_orders(source.parameters.get("never_worse"))),
        ("Pooled of", _pooled_of(source.parameters.get("of"))),
        ("Study, SHA-256", _start(source.study_digest)),
        ("Answers, SHA-256", _start(source.answers_digest)),
    ]
    return [(what, str(value)) for what, value in known if value not in (None, "")]


def _stated_orders(orders: object) -> str:
    """Return the orders that were stated: "naevus as melanoma never worse than melanoma as naevus"."""
    if not isinstance(orders, list):
        return ""
    ends = [[order.get(end) for end in ("mistake", "than")] for order in orders if isinstance(order, dict)]
    return ", ".join(" never worse than ".join(map(_stated_mistake, both)) for both in ends)


def _stated_mistake(mistake: object) -> str:
    if not isinstance(mistake, dict):
        return "?"
    return f"{mistake.get('true')} as {mistake.get('predicted', 'anything else')}"


def _pooled_of(parts: object) -> str:
    """Return the metrics that were pooled into one: "Ada (22 answers, ada.metric.json)"."""
    if not isinstance(parts, list):
        return ""
    named = [(part.get("expert") or part.get("name"), part) for part in parts if isinstance(part, dict)]
    return ", ".join(f"{name} ({part.get('questions')} answers, {part.get('source')})" for name, part in named)


def _how(metric: ElicitedMetric) -> str:
    source = metric.provenance
    if source.procedure == "pooled":
        return f"several experts pooled, {source.questions} answers"
    if source.procedure == "stated":
        return "costs stated, not elicited"
    return f"{source.questions} answers, procedure {source.procedure}"


def _start(digest: str | None) -> str:
    """Return the start of a digest, which is enough to compare by eye; the metric file has all of it."""
    return "" if digest is None else f"{digest[:16]}…" if len(digest) > 16 else digest


def _shares(metric: ElicitedMetric) -> str:
    if metric.prevalence is None:
        return ""
    named = zip(metric.classes, metric.prevalence.tolist(), strict=True)
    return ", ".join(f"{name} {two_digits(100 * share)}\N{NO-BREAK SPACE}%" for name, share in named)
