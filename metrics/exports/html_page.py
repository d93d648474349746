"""The page as one self-contained, printable HTML file."""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby

from metrics.exports import page as blocks
from metrics.exports.page import pieces_of
from metrics.text import html_text

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

_MOST_FOLDED = 400
_FEW_CLASSES = 5
_WIDE = ' class="wide"'


def page_as_html(page: blocks.Page) -> str:
    """Return a page as HTML; consecutive half sections are placed side by side."""
    parts = []
    for half, sections in groupby(page.sections, key=lambda section: section.half):
        inside = "\n".join(map(_section, sections))
        parts.append(f'<div class="pair">\n{inside}\n</div>' if half else inside)
    style = files("metrics.exports").joinpath("page.css").read_text(encoding="utf-8")
    return _PAGE.format(
        title=html_text(page.title), style=style, subtitle=html_text(page.subtitle), body="\n".join(parts)
    )


def _section(section: blocks.Section) -> str:
    wide = any(isinstance(block, blocks.Matrix) and len(block.names) > _FEW_CLASSES for block in section.blocks)
    title = f"<h{section.level}>{html_text(section.title)}</h{section.level}>\n" if section.title else ""
    inside = "\n".join(_block(block) for block in section.blocks)
    return f"<section{_WIDE if wide else ''}>{title}{inside}</section>"


def _block(block: blocks.Block) -> str:
    match block:
        case blocks.Paragraph(text, kind):
            look = "quiet" if kind == "legend" else kind
            return f"<p>{_text(text)}</p>" if kind == "plain" else f'<p class="{look}">{_text(text)}</p>'
        case blocks.Card(lines):
            return f'<div class="card">{"".join(map(_block, lines))}</div>'
        case blocks.Facts():
            return _facts(block)
        case blocks.Table():
            return _table(block)
        case blocks.Matrix():
            return _matrix(block)
        case blocks.Findings(rows):
            items = (
                f'<li class="{"good" if one.good else "bad"}"><b>{html_text(one.headline)}</b>'
                f"{f'<small>{html_text(one.detail)}</small>' if one.detail else ''}</li>"
                for one in rows
            )
            return f'<ul class="findings">{"".join(items)}</ul>'
        case blocks.Bullets(bullets):
            listed = (f"<li><b>{html_text(lead)}</b> {html_text(text)}</li>" for lead, text in bullets)
            return f"<ul>{''.join(listed)}</ul>"
        case blocks.Signatures(names):
            return f'<div class="signatures">{"".join(f"<span>{html_text(name)}</span>" for name in names)}</div>'
        case blocks.RatePlot():
            return _rates(block)


def _text(text: blocks.Text) -> str:
    return "".join(f"<b>{html_text(one.text)}</b>" if one.strong else html_text(one.text) for one in pieces_of(text))


def _table(table: blocks.Table) -> str:
    heads = "".join(f'<th scope="col"{_side(table, at)}>{_lines(head)}</th>' for at, head in enumerate(table.heads))
    rows = ["".join(_cell(cell, _side(table, at)) for at, cell in enumerate(row)) for row in table.rows]
    if table.foot is not None:
        rows.append(
            "".join(_cell(table.foot if at == table.plot else blocks.Cell(""), "") for at in range(len(table.heads)))
        )
    lines = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table class="rows"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>'


def _lines(text: str) -> str:
    return "<br>".join(map(html_text, text.split("\n")))


def _side(table: blocks.Table, at: int) -> str:
    return ' class="right"' if at in table.right else ""


def _cell(cell: blocks.Cell | blocks.Picture, side: str) -> str:
    if isinstance(cell, blocks.Picture):
        return f'<td class="plot">{cell.svg}</td>'
    small = f"<small>{html_text(cell.beneath)}</small>" if cell.beneath else ""
    small += f' <small class="beside">{html_text(cell.beside)}</small>' if cell.beside else ""
    text = f"<b>{html_text(cell.text)}</b>" if cell.strong else html_text(cell.text)
    return f"<td{side}>{text}{small}</td>"


def _matrix(matrix: blocks.Matrix) -> str:
    """Return a matrix as a table with the truth in rows; each cell holds a number and a small text beneath it."""
    heads = "".join(f'<th scope="col">{html_text(name)}</th>' for name in matrix.names)
    lines = [f"<thead><tr><th>truth</th>{heads}</tr></thead>"]
    for i, (name, row) in enumerate(zip(matrix.names, matrix.cells, strict=True)):
        cells = []
        for j, (number, beneath) in enumerate(row):
            small = f"<small>{html_text(beneath)}</small>" if beneath else ""
            cells.append(f'<td class="hit">{number}</td>' if i == j else f"<td><b>{number}</b>{small}</td>")
        lines.append(f'<tr><th scope="row">{html_text(name)}</th>{"".join(cells)}</tr>')
    return f'<table class="matrix">{"".join(lines)}</table>'


def _facts(facts: blocks.Facts) -> str:
    lines = (
        f'<tr><th scope="row">{html_text(what)}</th><td>{html_text(value)}</td></tr>' for what, value in facts.rows
    )
    return f'<table class="facts">{"".join(lines)}</table>'


def _rates(plot: blocks.RatePlot) -> str:
    """Return the exchange rates. If there are many, show the worst and the yardstick, and fold the full table away."""
    axis, shown = plot.axis, plot.worst()
    table = _table(shown.table(axis))
    if len(shown.rates) == len(plot.rates):
        return table
    if len(plot.rates) > _MOST_FOLDED:
        return f'{table}<p class="quiet">All {len(plot.rates):,} mistakes are in the metric file.</p>'
    return f"{table}<details><summary>All {len(plot.rates):,} mistakes</summary>{_table(plot.table(axis))}</details>"
