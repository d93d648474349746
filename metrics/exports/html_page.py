"""One self-contained HTML page: exchange rates as a plot, costs, release factors, provenance; prints on one sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from metrics.display.log_axis import LogAxis
from metrics.display.numbers import two_digits
from metrics.elicited.exchange import ExchangeRate, called, exchange_rates, headline
from metrics.exports.wording import (
    Cells,
    cost_texts,
    day,
    factor_texts,
    one_line,
    provenance_rows,
    rates_question,
    release_sentence,
)

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
{style}</style>
</head>
<body>
<h1>{name}</h1>
<p class="quiet">What each mistake costs. {date}</p>
<section><p class="lead">{headline}</p></section>
<section><h2>{question}</h2>
{rates}</section>
<div class="pair">
<section{wide}><h2>Cost matrix</h2>
<p class="quiet">Rows: truth. Columns: what the model says. 1 = the worst mistake.</p>
{costs}</section>
<section{wide}><h2>Release factors for MPCS</h2>
<p class="quiet">How much each wrong name is of concern, within one truth. 1 = fully.</p>
{factors}
<p class="quiet">{release}</p></section>
<section><h2>Class weights</h2>
<p class="quiet">They weigh the truths against each other. Their mean is 1.</p>
{weights}</section>
<section><h2>Where this comes from</h2>
{facts}</section>
</div>
</body>
</html>
"""

_ROW_HEIGHT = 34
_MOST_RATES = 12
_MOST_FOLDED = 400
_FEW_CLASSES = 5


def render(metric: ElicitedMetric) -> str:
    """Return the page; it loads nothing from anywhere."""
    weights = zip(metric.classes, map(two_digits, metric.class_weight.values()), strict=True)
    return _PAGE.format(
        name=escape(one_line(metric.name)),
        style=files("metrics.exports").joinpath("page.css").read_text(encoding="utf-8"),
        date=day(metric.created),
        headline=escape(headline(metric).in_words()),
        question=escape(rates_question(metric)),
        rates=_rates(metric),
        wide=' class="wide"' if len(metric.classes) > _FEW_CLASSES else "",
        costs=_matrix(metric.classes, cost_texts(metric)),
        factors=_matrix(metric.classes, factor_texts(metric)),
        release=escape(release_sentence(metric)),
        weights=_facts(weights),
        facts=_facts(provenance_rows(metric)),
    )


def _matrix(classes: Sequence[str], rows: Cells) -> str:
    """Return a table with the truth in rows; each cell a number and what stands small beneath it."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in classes)
    lines = [f"<thead><tr><th>truth</th>{heads}</tr></thead>"]
    for i, (name, row) in enumerate(zip(classes, rows, strict=True)):
        cells = []
        for j, (number, beneath) in enumerate(row):
            small = f"<small>{escape(beneath)}</small>" if beneath else ""
            cells.append(f'<td class="hit">{number}</td>' if i == j else f"<td><b>{number}</b>{small}</td>")
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    return f'<table class="matrix">{"".join(lines)}</table>'


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    lines = (f'<tr><th scope="row">{escape(what)}</th><td>{escape(value)}</td></tr>' for what, value in rows)
    return f'<table class="facts">{"".join(lines)}</table>'


def _rates(metric: ElicitedMetric) -> str:
    """Return the exchange rates; where there are many, the worst and the yardstick, and all of them folded away."""
    rates = exchange_rates(metric)
    axis = LogAxis.around(rates)
    worst = sorted(rates, key=lambda rate: -rate.ratio)[:_MOST_RATES]
    shown = [rate for rate in rates if rate.is_yardstick or rate in worst]
    table = _rate_table(metric, shown, axis)
    if len(shown) == len(rates):
        return table
    if len(rates) > _MOST_FOLDED:
        return f'{table}<p class="quiet">All {len(rates):,} mistakes are in the metric file.</p>'
    return f"{table}<details><summary>All {len(rates)} mistakes</summary>{_rate_table(metric, rates, axis)}</details>"


def _rate_table(metric: ElicitedMetric, rates: Sequence[ExchangeRate], axis: LogAxis) -> str:
    """Return one row per rate: the mistake, its place on a logarithmic axis, the number in words."""
    rows = []
    for rate in rates:
        name = rate.mistake.name
        beneath = called(metric.classes, rate.key)
        small = f"<small>{escape(beneath)}</small>" if beneath != name else ""
        rows.append(
            f'<tr><th scope="row">{escape(name)}{small}</th><td class="plot">{_mark(rate, axis)}</td>'
            f"<td><b>{escape(rate.in_words())}</b><small>{escape(rate.range_in_words())}</small></td></tr>"
        )
    labels = "".join(
        f'<text x="{100 * axis.position(x):.2f}%" y="12" fill="currentColor" font-size="12" text-anchor="middle">'
        f"{two_digits(x)}</text>"
        for x in axis.ticks()
    )
    foot = f'<tr><td></td><td class="plot"><svg width="100%" height="16">{labels}</svg></td><td></td></tr>'
    return f'<table class="rates">{"".join(rows)}{foot}</table>'


def _mark(rate: ExchangeRate, axis: LogAxis) -> str:
    """Return a small picture of one rate: dot and 90 % line; dashed to the edge where it is only bounded."""
    parts = [
        _line(axis.position(x), axis.position(x), (0, _ROW_HEIGHT), f'stroke-opacity="{0.6 if x == 1 else 0.15}"')
        for x in axis.ticks()
    ]
    bounded = False
    if rate.low is not None and rate.high is not None:
        bounded = rate.low == 0 or math.isinf(rate.high)
        dash = 'stroke-width="2" stroke-dasharray="5 3"' if bounded else 'stroke-width="2"'
        middle = (_ROW_HEIGHT // 2, _ROW_HEIGHT // 2)
        parts.append(_line(axis.position(rate.low), axis.position(rate.high), middle, dash))
    if not bounded:
        at = f"{100 * axis.position(rate.ratio):.2f}%"
        parts.append(f'<circle cx="{at}" cy="{_ROW_HEIGHT // 2}" r="5" fill="currentColor"/>')
    spoken = escape(f"{rate.in_words()}, {rate.range_in_words()}".rstrip(", "))
    return f'<svg width="100%" height="{_ROW_HEIGHT}" role="img" aria-label="{spoken}">{"".join(parts)}</svg>'


def _line(start: float, end: float, height: tuple[int, int], style: str) -> str:
    """Return a line between two positions of the axis; colours are attributes, because not every reader styles SVG."""
    across = f'x1="{100 * start:.2f}%" x2="{100 * end:.2f}%" y1="{height[0]}" y2="{height[1]}"'
    return f'<line {across} stroke="currentColor" {style}/>'
