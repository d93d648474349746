"""A page of Markdown with tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from metrics.display.numbers import two_digits
from metrics.elicited.exchange import exchange_rates, headline
from metrics.exports.wording import cost_texts, factor_texts, one_line, provenance_rows, release_sentence

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric


def render(metric: ElicitedMetric) -> str:
    """Return exchange rates, costs, release factors, class weights and provenance as GitHub-flavoured Markdown."""
    costs = ([f"{cost} ({range_})" if range_ else cost for cost, range_ in row] for row in cost_texts(metric))
    release = ([factor for factor, _ in row] for row in factor_texts(metric))
    rates = [(escaped(rate.mistake.name), rate.in_words(), rate.range_in_words()) for rate in exchange_rates(metric)]
    blocks = [
        f"# {escaped(metric.name)}",
        escaped(headline(metric).in_words()),
        "## How bad is each mistake",
        table(("mistake", "counts as", "plausible (90 %)"), rates),
        "## Cost matrix",
        "Rows: truth. Columns: what the model says. 1 = the worst mistake.",
        _matrix(metric, costs),
        "## Release factors for MPCS",
        "How much each wrong name is of concern, within one truth. 1 = fully.",
        _matrix(metric, release),
        escaped(release_sentence(metric)),
        "## Class weights",
        table([escaped(name) for name in metric.classes], [[two_digits(w) for w in metric.class_weight.values()]]),
        "## Where this comes from",
        table(("", ""), [(what, escaped(value)) for what, value in provenance_rows(metric)]),
    ]
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", one_line(text))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    cells = [*head]
    lines = [cells, ["---"] * len(cells), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _matrix(metric: ElicitedMetric, rows: Iterable[list[str]]) -> str:
    names = [escaped(name) for name in metric.classes]
    body = ([f"**{name}**", *row] for name, row in zip(names, rows, strict=True))
    return table(["truth \\\\ model says", *names], body)
