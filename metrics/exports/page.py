"""A page as a document of sections, paragraphs, tables and small plots, and its Markdown form.

`html_page` and `typst_page` render the same document.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from metrics.drawing import SECOND, LinearAxis, LogAxis
from metrics.elicited.exchange import ExchangeRate
from metrics.policies.ranking import JudgedPolicy
from metrics.policies.recommendation import Piece, difference_words
from metrics.text import html_text, isolated, total_cost, two_digits

Text = str | tuple[Piece, ...]
Cells = list[list[tuple[str, str]]]

MOST_RATES = 12
"""Number of exchange rates shown at once."""
MOST_LISTED = 90
"""Mistakes that a table lists: all of ten classes; nobody reads thousands of lines."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph: the lead sentence of the page, plain text, a quiet remark, or the legend of the drawing above it.

    Markdown omits legends, because it has numbers in place of drawings.
    """

    text: Text
    kind: Literal["lead", "plain", "quiet", "legend"] = "plain"


@dataclass(frozen=True)
class Card:
    """Framed paragraphs with the main message of the page."""

    lines: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Facts:
    """A table of names and values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, the small text beneath it or beside it, and whether the text is stressed."""

    text: str
    beneath: str = ""
    strong: bool = False
    beside: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing: SVG with its own size, alternative text, and width."""

    svg: str
    alt: str
    width: int


@dataclass(frozen=True)
class Table:
    """A table with a head; its texts may have two lines.

    The columns in `right` are right-aligned; the column `widest` takes the remaining width.
    `foot` is the last row beneath the column of pictures: the numbers of their axis.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell | Picture, ...], ...]
    right: frozenset[int] = frozenset()
    widest: int = 0
    foot: Picture | None = None

    @property
    def plot(self) -> int | None:
        """Return the index of the column of pictures, or None."""
        found = [at for at, cell in enumerate(self.rows[0]) if isinstance(cell, Picture)] if self.rows else []
        return found[0] if found else None

    @property
    def plot_width(self) -> int:
        """Return the width of the pictures in their own units; 0 without pictures."""
        return max((cell.width for row in self.rows for cell in row if isinstance(cell, Picture)), default=0)


@dataclass(frozen=True)
class Matrix:
    """A k x k table with the truth in rows. Cells are (number, text beneath); `more` replaces it if space is short."""

    names: tuple[str, ...]
    cells: Cells
    more: str


@dataclass(frozen=True)
class Finding:
    """A finding, good or bad, with details."""

    good: bool
    headline: str
    detail: str = ""


@dataclass(frozen=True)
class Findings:
    """Findings, one below the other."""

    rows: tuple[Finding, ...]


@dataclass(frozen=True)
class Bullets:
    """A list; each item is a stressed lead and a text."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Signatures:
    """Lines for signatures, with the names beneath them."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class RatePlot:
    """Exchange rates on a logarithmic axis, each with a name, a text beneath the name, and an optional first guess."""

    rates: tuple[ExchangeRate, ...]
    names: tuple[tuple[str, str], ...]
    guesses: tuple[float | None, ...] = ()
    heading: str = "Mistake"

    @property
    def axis(self) -> LogAxis:
        """Return an axis that holds all rates."""
        guesses = (guess for guess in self.guesses if guess is not None)
        shown = (number for rate in self.rates for number in rate.shown)
        return LogAxis.around([*guesses, *shown], (end for rate in self.rates for end in rate.ends))

    def worst(self, most: int = MOST_RATES) -> RatePlot:
        """Return the `most` mistakes with the largest ratios, and the yardstick, in their original order."""
        kept = sorted(range(len(self.rates)), key=lambda index: -self.rates[index].ratio)[:most]
        at = [index for index, rate in enumerate(self.rates) if rate.is_yardstick or index in kept]
        guesses = tuple(self.guesses[i] for i in at) if self.guesses else ()
        return RatePlot(tuple(self.rates[i] for i in at), tuple(self.names[i] for i in at), guesses, self.heading)

    def table(self, axis: LogAxis) -> Table:
        """Return a table with one row per rate: the mistake, its mark on the axis, the estimate and the range."""
        guesses = self.guesses or (None,) * len(self.rates)
        marks = [rate_mark(rate, axis, guess) for rate, guess in zip(self.rates, guesses, strict=True)]
        bare = self.bare_table()
        rows = tuple((row[0], mark, *row[1:]) for row, mark in zip(bare.rows, marks, strict=True))
        return Table((bare.heads[0], "", *bare.heads[1:]), rows, right=frozenset({2, 3}), foot=log_numbers(axis))

    def bare_table(self) -> Table:
        """Return the same table without the marks, which take longer than all else where there are thousands."""
        rows = []
        for rate, (name, beneath) in zip(self.rates, self.names, strict=True):
            estimate, range_ = rate.columns()
            rows.append((Cell(name, beneath, strong=True), Cell(estimate, strong=True), Cell(range_)))
        return Table((self.heading, "counts as", self.rates[0].range_words.head), tuple(rows), right=frozenset({1, 2}))


Block = Paragraph | Card | Facts | Table | Matrix | Findings | Bullets | Signatures | RatePlot


@dataclass(frozen=True)
class Section:
    """A heading, which may be empty, and blocks; a half section may be placed beside another one.

    A section of level 3 is a subsection of the one before. `new_sheet` starts a new sheet of paper; `whole` keeps the
    section on one sheet.
    """

    title: str
    blocks: tuple[Block, ...]
    half: bool = False
    level: Literal[2, 3] = 2
    new_sheet: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Page:
    """A title, a subtitle, sections, and a footer for every sheet of paper."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    foot: str = ""


def one_line(text: str) -> str:
    r"""Return a text on one line, without control characters, for a comment or a cell.

    >>> one_line("two\nlines")
    'two lines'
    """
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())


def pieces_of(text: Text) -> tuple[Piece, ...]:
    """Return a text as pieces that are stressed or not."""
    return (Piece(text),) if isinstance(text, str) else text


def page_as_markdown(page: Page) -> str:
    """Return a page as Markdown."""
    blocks = [f"# {escaped(page.title)}"]
    for section in page.sections:
        blocks += [f"{'#' * section.level} {escaped(section.title)}"] if section.title else []
        blocks += [_block(block) for block in section.blocks if getattr(block, "kind", "") != "legend"]
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
            return _table(block.bare_table())


def _text(text: Text) -> str:
    return "".join(f"**{escaped(one.text)}**" if one.strong else _spaced(one.text) for one in pieces_of(text))


def _spaced(text: str) -> str:
    """Return escaped text that keeps a space at either end, which separates it from stressed pieces."""
    return f"{' ' * text[:1].isspace()}{escaped(text)}{' ' * text[-1:].isspace()}"


def _table(shown: Table) -> str:
    """Return a table without its drawings, or with their alternative texts if their column has a heading."""
    plot = shown.plot if shown.plot is not None and not shown.heads[shown.plot] else None
    rows = [[_cell(cell) for at, cell in enumerate(row) if at != plot] for row in shown.rows]
    return table([escaped(head) for at, head in enumerate(shown.heads) if at != plot], rows)


def _cell(cell: Cell | Picture) -> str:
    if isinstance(cell, Picture):
        return escaped(cell.alt)
    small = cell.beneath or cell.beside
    return escaped(f"{cell.text} ({small})" if small else cell.text)


def escaped(text: str) -> str:
    """Return text escaped so that Markdown shows it verbatim, on one line."""
    return isolated(re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", one_line(text)))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table whose cells are already Markdown."""
    cells = [*head]
    lines = [cells, ["---"] * len(cells), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


WIDTH, NARROW, HEIGHT, _NUMBERS = 300, 150, 24, 14
_MOST_NUMBERS = 4
_WIDTH_OF_SIGN, _BETWEEN = 7.0, 6.0  # of a written number, at most; and the least space to the next
_MARGIN = 18  # keeps numbers and marks at the ends of an axis inside


def rate_mark(rate: ExchangeRate, axis: LogAxis, guess: float | None = None) -> Picture:
    """Draw one exchange rate on an axis, with its first guess; see `ExchangeRate.marks`."""
    middle = HEIGHT / 2
    parts = [_upright(_log_x(axis, x), strong=x == 1) for x in axis.ticks()]
    for shape, *ends in rate.marks(guess):
        low, high = (_log_x(axis, end) for end in ends)
        match shape:
            case "square":
                parts.append(_bar(low - 4, low + 4, middle - 4, 8, 'fill="currentColor"'))
            case "bound":
                parts += [_line(low, high, middle, ' stroke-dasharray="5 3"'), *_heads(axis, ends, low, high)]
            case "line":
                parts += [_line(low, high, middle), *_heads(axis, ends, low, high)]
            case "bar":
                parts.append(_bar(low, high, middle - 4, 8, 'fill="currentColor" fill-opacity="0.4"'))
            case "dot":
                parts.append(_dot(low, middle))
            case "diamond":
                parts.append(_diamond(low, middle))
    text = ", ".join(one for one in (rate.in_words(), rate.range_in_words()) if one)
    return _picture(parts, text if guess is None else f"{text}; first guess {two_digits(guess)}")


def log_numbers(axis: LogAxis) -> Picture:
    """Draw the numbers of a logarithmic axis."""
    written = [[(_log_x(axis, x), two_digits(x)) for x in axis.ticks(most)] for most in range(len(axis.ticks()), 0, -1)]
    return _axis_numbers(written, WIDTH)


def difference_mark(one: JudgedPolicy, axis: LinearAxis) -> Picture:
    """Draw a policy's extra cost: a line for the total uncertainty, a bar above for answers, one below for cases."""
    parts, middle = [_upright(_linear_x(axis, 0), strong=True)], HEIGHT / 2
    if one.difference_to_best > axis.high:
        end = _linear_x(axis, axis.high)
        text = f"+{total_cost(one.difference_to_best)}"
        parts += [_line(end - 34, end, middle, ' stroke-dasharray="3 3"'), _head(end, 1)]
        parts.append(_written(end - 40, middle + 4, text, "end"))
    else:
        for range_, top, look in (
            (one.difference_answers, middle - 8, 'fill="currentColor" fill-opacity="0.7"'),
            (one.difference_cases, middle + 4, 'fill="none" stroke="currentColor" stroke-width="0.8"'),
        ):
            if range_ is not None and range_[0] < range_[1]:
                parts.append(_bar(_linear_x(axis, range_[0]), _linear_x(axis, range_[1]), top, 4, look))
        if one.difference_interval is not None:
            low, high = (_linear_x(axis, end) for end in one.difference_interval)
            parts += [_line(low, high, middle), *_heads(axis, one.difference_interval, low, high)]
        parts.append(_dot(_linear_x(axis, one.difference_to_best), middle))
    return _picture(parts, difference_words(one) or "the first", width=NARROW)


def difference_numbers(axis: LinearAxis) -> Picture:
    """Draw the numbers of an axis of differences: 0, and some above it."""
    above = [[x for x in axis.ticks(most) if x > 0] for most in range(_MOST_NUMBERS, 1, -1)]
    far = 0.85 * axis.high
    unit = 10.0 ** (math.floor(math.log10(far)) - 1) if far > 0 else 1.0
    above = [*filter(None, above), [math.floor(far / unit) * unit], []]
    start = _linear_x(axis, 0), "0"
    written = [[start, *((_linear_x(axis, x), f"+{total_cost(x)}") for x in numbers)] for numbers in above]
    return _axis_numbers(written, NARROW)


def _axis_numbers(choices: Sequence[Sequence[tuple[float, str]]], width: int) -> Picture:
    """Draw numbers at their places: the first choice none of which touches the next one or an end, or the last."""
    shown = next((numbers for numbers in choices if _stand_apart(numbers, width)), choices[-1])
    parts = [_written(x, 11, text) for x, text in shown]
    return _picture(parts, f"Axis from {shown[0][1]} to {shown[-1][1].removeprefix('+')}", _NUMBERS, width)


def _stand_apart(numbers: Sequence[tuple[float, str]], width: int) -> bool:
    ends = [(x - _WIDTH_OF_SIGN * len(text) / 2, x + _WIDTH_OF_SIGN * len(text) / 2) for x, text in numbers]
    apart = all(after[0] - before[1] >= _BETWEEN for before, after in pairwise(ends))
    return apart and ends[0][0] >= 0 and ends[-1][1] <= width


# Colours are attributes, because not every viewer applies CSS to SVG.
_STROKE = 'stroke="currentColor" stroke-width="1.6" fill="none"'


def _picture(parts: Sequence[str], alt: str, height: int = HEIGHT, width: int = WIDTH) -> Picture:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    inside = "".join(parts)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{html_text(alt)}">{inside}</svg>'
    return Picture(svg, alt, width)


def _log_x(axis: LogAxis, value: float) -> float:
    return _MARGIN + axis.position(value) * (WIDTH - 2 * _MARGIN)


def _linear_x(axis: LinearAxis, value: float) -> float:
    return _MARGIN + axis.position(value) * (NARROW - 2 * _MARGIN)


def _line(start: float, end: float, y: float, more: str = "") -> str:
    return f'<line x1="{start:.1f}" x2="{end:.1f}" y1="{y}" y2="{y}" {_STROKE}{more}/>'


def _heads(axis: LogAxis | LinearAxis, ends: Sequence[float], low: float, high: float) -> list[str]:
    """Return arrow heads at the ends where a line continues beyond the axis."""
    return [_head(low, -1)] * (ends[0] < axis.low) + [_head(high, 1)] * (ends[1] > axis.high)


def _head(tip: float, towards: int) -> str:
    back, middle = tip - 5 * towards, HEIGHT / 2
    return f'<polyline points="{back:.1f},{middle - 4} {tip:.1f},{middle} {back:.1f},{middle + 4}" {_STROKE}/>'


def _upright(x: float, *, strong: bool) -> str:
    opacity = 0.6 if strong else 0.18
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}" stroke="currentColor" stroke-opacity="{opacity}"/>'


def _bar(left: float, right: float, top: float, height: float, look: str) -> str:
    return f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 0.5):.1f}" height="{height}" {look}/>'


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="currentColor"/>'


def _diamond(x: float, y: float) -> str:
    corners = f"{x:.1f},{y - 6} {x + 6:.1f},{y} {x:.1f},{y + 6} {x - 6:.1f},{y}"
    return f'<polygon points="{corners}" fill="#FFFFFF" stroke="{SECOND}" stroke-width="1.6"/>'


def _written(x: float, y: float, text: str, anchor: str = "middle") -> str:
    look = f'font-family="Inter, DejaVu Sans, sans-serif" font-size="11" fill="currentColor" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y}" {look}>{html_text(text)}</text>'
