"""The page as one self-contained HTML file; it prints on paper."""

from __future__ import annotations

import math
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from metrics.display.axes import LogAxis
from metrics.display.numbers import two_digits
from metrics.elicited.exchange import ExchangeRate
from metrics.exports.page import Block, Facts, Matrix, Page, Paragraph, RatePlot, Section, metric_page

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="quiet">{subtitle}</p>
{body}
</body>
</html>
"""

_ROW_HEIGHT = 34
_MOST_RATES = 12
_MOST_FOLDED = 400
_FEW_CLASSES = 5
_WIDE = ' class="wide"'


def html_page(metric: ElicitedMetric) -> str:
    """Return the page; it loads nothing from anywhere."""
    return page_as_html(metric_page(metric))


def page_as_html(page: Page) -> str:
    """Return a page as HTML; half sections that follow each other stand side by side."""
    parts = []
    for half, sections in groupby(page.sections, key=lambda section: section.half):
        inside = "\n".join(map(_section, sections))
        parts.append(f'<div class="pair">\n{inside}\n</div>' if half else inside)
    style = files("metrics.exports").joinpath("page.css").read_text(encoding="utf-8")
    return _PAGE.format(title=escape(page.title), style=style, subtitle=escape(page.subtitle), body="\n".join(parts))


def _section(section: Section) -> str:
    wide = any(isinstance(block, Matrix) and len(block.names) > _FEW_CLASSES for block in section.blocks)
    title = f"<h2>{escape(section.title)}</h2>\n" if section.title else ""
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f"<section{_WIDE if wide else ''}>{title}{blocks}</section>"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text, "plain"):
            return f"<p>{escape(text)}</p>"
        case Paragraph(text, kind):
            return f'<p class="{kind}">{escape(text)}</p>'
        case Matrix():
            return _matrix(block)
        case Facts():
            return _facts(block)
        case RatePlot():
            return _rates(block)


def _matrix(matrix: Matrix) -> str:
    """Return a table with the truth in rows; each cell a number and what stands small beneath it."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in matrix.names)
    lines = [f"<thead><tr><th>truth</th>{heads}</tr></thead>"]
    for i, (name, row) in enumerate(zip(matrix.names, matrix.cells, strict=True)):
        cells = []
        for j, (number, beneath) in enumerate(row):
            small = f"<small>{escape(beneath)}</small>" if beneath else ""
            cells.append(f'<td class="hit">{number}</td>' if i == j else f"<td><b>{number}</b>{small}</td>")
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    return f'<table class="matrix">{"".join(lines)}</table>'


def _facts(facts: Facts) -> str:
    lines = (f'<tr><th scope="row">{escape(what)}</th><td>{escape(value)}</td></tr>' for what, value in facts.rows)
    return f'<table class="facts">{"".join(lines)}</table>'


def _rates(plot: RatePlot) -> str:
    """Return the exchange rates; where there are many, the worst and the yardstick, and all of them folded away."""
    axis = LogAxis.around(plot.rates)
    shown = plot.worst(_MOST_RATES)
    table = _rate_table(shown, axis)
    if len(shown.rates) == len(plot.rates):
        return table
    if len(plot.rates) > _MOST_FOLDED:
        return f'{table}<p class="quiet">All {len(plot.rates):,} mistakes are in the metric file.</p>'
    return f"{table}<details><summary>All {len(plot.rates)} mistakes</summary>{_rate_table(plot, axis)}</details>"


def _rate_table(plot: RatePlot, axis: LogAxis) -> str:
    """Return one row per rate: the mistake, its place on a logarithmic axis, the number in words."""
    rows = []
    for rate, (name, beneath) in zip(plot.rates, plot.names, strict=True):
        small = f"<small>{escape(beneath)}</small>" if beneath else ""
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
