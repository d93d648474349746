"""The page as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from metrics.display.text import isolated
from metrics.exports.drawings import Picture
from metrics.exports.metric_page import metric_page
from metrics.exports.page import (
    Block,
    Bullets,
    Card,
    Cell,
    Facts,
    Findings,
    Matrix,
    Page,
    Paragraph,
    RatePlot,
    Signatures,
    Table,
    Text,
    one_line,
    pieces_of,
)

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric


def markdown_page(metric: ElicitedMetric) -> str:
    """Return the page with all exchange rates, costs, release factors, class weights and provenance."""
    return page_as_markdown(metric_page(metric))


def page_as_markdown(page: Page) -> str:
    """Return a page as Markdown."""
    blocks = [f"# {escaped(page.title)}"]
    for section in page.sections:
        blocks += [f"{'#' * section.level} {escaped(section.title)}"] if section.title else []
        blocks += [_block(block) for block in section.blocks]
    return "\n\n".join(blocks) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text, _):
            return _text(text)
        case Card(paragraphs):
            return "\n>\n".join(f"> {_text(line.text)}" for line in paragraphs)
        case Facts(rows):
            return table(("", ""), [(escaped(what), escaped(value)) for what, value in rows])
        case Table():
            return _table(block)
        case Matrix(names, cells, _):
            heads = [escaped(name) for name in names]
            lines = ([f"{number} ({small})" if small else number for number, small in row] for row in cells)
            body = ([f"**{name}**", *line] for name, line in zip(heads, lines, strict=True))
            return table(["truth \\\\ model says", *heads], body)
        case Findings(found):
            items = (f"- {'✓' if one.good else '⚠'} **{escaped(one.headline)}** {escaped(one.detail)}" for one in found)
            return "\n".join(item.rstrip() for item in items)
        case Bullets(bullets):
            return "\n".join(f"- **{escaped(lead)}** {escaped(text)}" for lead, text in bullets)
        case Signatures(names):
            return "\n\n".join(f"{escaped(name)}: \\_\\_\\_\\_\\_\\_\\_\\_" for name in names)
        case RatePlot():
            return _table(block.table(block.axis))


def _text(text: Text) -> str:
    return "".join(f"**{escaped(one.text)}**" if one.strong else _spaced(one.text) for one in pieces_of(text))


def _spaced(text: str) -> str:
    """Return escaped text with the spaces at its ends, which part it from what is stressed."""
    return f"{' ' * text[:1].isspace()}{escaped(text)}{' ' * text[-1:].isspace()}"


def _table(shown: Table) -> str:
    """Return a table in words: what is drawn stands in the other columns, or is said where it does not."""
    plot = shown.plot if shown.plot is not None and not shown.heads[shown.plot] else None
    rows = [[_cell(cell) for at, cell in enumerate(row) if at != plot] for row in shown.rows]
    return table([escaped(head) for at, head in enumerate(shown.heads) if at != plot], rows)


def _cell(cell: Cell | Picture) -> str:
    if isinstance(cell, Picture):
        return escaped(cell.alt)
    return escaped(f"{cell.text} ({cell.beneath})" if cell.beneath else cell.text)


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return isolated(re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", one_line(text)))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    cells = [*head]
    lines = [cells, ["---"] * len(cells), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
