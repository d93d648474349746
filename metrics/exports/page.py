"""A page as a document: sections of paragraphs, tables and plots, which HTML and Typst only render; and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from metrics.display.axes import LogAxis
from metrics.display.text import isolated
from metrics.elicited.exchange import ExchangeRate
from metrics.exports.drawings import Picture, log_numbers, rate_mark
from metrics.policies.recommendation import Piece

Text = str | tuple[Piece, ...]
Cells = list[list[tuple[str, str]]]

MOST_RATES = 12
"""So many exchange rates are shown at once."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph: the lead sentence of the page, plain text, or a quiet remark."""

    text: Text
    kind: Literal["lead", "plain", "quiet"] = "plain"


@dataclass(frozen=True)
class Card:
    """Paragraphs in a frame: what the page is read for."""

    lines: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Facts:
    """A table of names and values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: text, what stands small beneath it, whether it is stressed."""

    text: str
    beneath: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A table with a head, whose texts may have two lines.

    The columns of `right` are aligned right, the one of `widest` takes what room is left.
    `foot` is the last row, which belongs to the pictures: the numbers of their axis.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell | Picture, ...], ...]
    right: frozenset[int] = frozenset()
    widest: int = 0
    foot: Picture | None = None

    @property
    def plot(self) -> int | None:
        """Return the column of pictures, or None."""
        found = [at for at, cell in enumerate(self.rows[0]) if isinstance(cell, Picture)] if self.rows else []
        return found[0] if found else None

    @property
    def plot_width(self) -> int:
        """Return how wide the pictures are, in their own units; 0 without any."""
        return max((cell.width for row in self.rows for cell in row if isinstance(cell, Picture)), default=0)


@dataclass(frozen=True)
class Matrix:
    """A k x k table, the truth in rows; each cell a number and what is beneath it; `more` is said without room."""

    names: tuple[str, ...]
    cells: Cells
    more: str


@dataclass(frozen=True)
class Finding:
    """Something that was found, good or not, and what there is to say about it."""

    good: bool
    headline: str
    detail: str = ""


@dataclass(frozen=True)
class Findings:
    """What was found, one below the other."""

    rows: tuple[Finding, ...]


@dataclass(frozen=True)
class Bullets:
    """A list; each item is a word or two to stress, and a text."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Signatures:
    """Lines to sign on, and what stands beneath them."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class RatePlot:
    """Exchange rates on a logarithmic axis, each with its name, what stands beneath the name, and a first guess."""

    rates: tuple[ExchangeRate, ...]
    names: tuple[tuple[str, str], ...]
    guesses: tuple[float | None, ...] = ()

    @property
    def axis(self) -> LogAxis:
        """Return the axis that holds all of them."""
        guesses = (guess for guess in self.guesses if guess is not None)
        return LogAxis.around([*guesses, *(number for rate in self.rates for number in rate.shown)])

    def worst(self, most: int = MOST_RATES) -> RatePlot:
        """Return the yardstick and the mistakes that count most, at most `most` of them, in their order."""
        kept = sorted(range(len(self.rates)), key=lambda place: -self.rates[place].ratio)[:most]
        at = [place for place, rate in enumerate(self.rates) if rate.is_yardstick or place in kept]
        guesses = tuple(self.guesses[i] for i in at) if self.guesses else ()
        return RatePlot(tuple(self.rates[i] for i in at), tuple(self.names[i] for i in at), guesses)

    def table(self, axis: LogAxis) -> Table:
        """Return one row a rate: the mistake, its place on the axis, the estimate, the range."""
        guesses = self.guesses or (None,) * len(self.rates)
        rows = []
        for rate, (name, beneath), guess in zip(self.rates, self.names, guesses, strict=True):
            estimate, range_ = rate.columns()
            drawn = rate_mark(rate, axis, guess)
            rows.append((Cell(name, beneath, strong=True), drawn, Cell(estimate, strong=True), Cell(range_)))
        heads = ("Mistake", "", "counts as", "plausible (90 %)")
        return Table(heads, tuple(rows), right=frozenset({2, 3}), foot=log_numbers(axis))


Block = Paragraph | Card | Facts | Table | Matrix | Findings | Bullets | Signatures | RatePlot


@dataclass(frozen=True)
class Section:
    """A heading, which may be empty, and blocks; a half section may stand beside another one.

    A section of level 3 belongs to the one before. `new_sheet` begins a sheet of paper.
    """

    title: str
    blocks: tuple[Block, ...]
    half: bool = False
    level: Literal[2, 3] = 2
    new_sheet: bool = False


@dataclass(frozen=True)
class Page:
    """A title, what stands beneath it, sections, and what stands at the foot of every sheet of paper."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    foot: str = ""


def one_line(text: str) -> str:
    r"""Return a text without line breaks and control characters, for a comment or a cell.

    >>> one_line("two\nlines")
    'two lines'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def pieces_of(text: Text) -> tuple[Piece, ...]:
    """Return a text in pieces, stressed or not."""
    return (Piece(text),) if isinstance(text, str) else text


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
