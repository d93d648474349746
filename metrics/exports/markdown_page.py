"""The page as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from metrics.exports.page import Block, Facts, Matrix, Page, Paragraph, RatePlot, metric_page, one_line

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric


def markdown_page(metric: ElicitedMetric) -> str:
    """Return the page with all exchange rates, costs, release factors, class weights and provenance."""
    return page_as_markdown(metric_page(metric))


def page_as_markdown(page: Page) -> str:
    """Return a page as Markdown."""
    blocks = [f"# {escaped(page.title)}"]
    for section in page.sections:
        blocks += [f"## {escaped(section.title)}"] if section.title else []
        blocks += [_block(block) for block in section.blocks]
    return "\n\n".join(blocks) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text, _):
            return escaped(text)
        case Matrix(names, cells, _):
            heads = [escaped(name) for name in names]
            rows = ([f"{number} ({small})" if small else number for number, small in row] for row in cells)
            body = ([f"**{name}**", *row] for name, row in zip(heads, rows, strict=True))
            return table(["truth \\\\ model says", *heads], body)
        case Facts(rows):
            return table(("", ""), [(escaped(what), escaped(value)) for what, value in rows])
        case RatePlot(rates, names):
            said = zip(names, rates, strict=True)
            lines = [(escaped(name), rate.in_words(), rate.range_in_words()) for (name, _), rate in said]
            return table(("mistake", "counts as", "plausible (90 %)"), lines)


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", one_line(text))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    cells = [*head]
    lines = [cells, ["---"] * len(cells), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
