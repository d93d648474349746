"""Places and sizes on the question page.

Lengths that hold text grow with the font (`em`); distances do not. Comparison and answers share their columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainterPath

from elicit_app.gui import theme
from elicit_app.gui.theme import Breakpoint, Role, em

GAP = 12  # distance between the answers A, "About equal" and B
STACKED_INNER = 36  # half the distance between the two numbers of a stacked row
_MIDDLE_WIDE, _MIDDLE, _MIDDLE_DENSE, _LEAST_MIDDLE = 344, 288, 320, 180


class Span(NamedTuple):
    """A horizontal stretch of the page."""

    x: int
    width: int

    @property
    def end(self) -> int:
        return self.x + self.width


class Columns(NamedTuple):
    """The three columns of comparison and answers, from the left edge of the content."""

    a: Span
    middle: Span
    b: Span


def _thirds(width: int) -> Columns:
    side = (width - 2 * theme.S) // 3
    return Columns(Span(0, side), Span(side + theme.S, width - 2 * (side + theme.S)), Span(width - side, side))


def _around(middle: int, width: int) -> Columns:
    side = (width - middle) // 2
    return Columns(Span(0, side), Span(side, width - 2 * side), Span(width - side, side))


@dataclass(frozen=True)
class Sizes:
    """Sizes of the comparison for a window, a font and a number of rows."""

    # a small window; little height for the rows; a font so large that rows stack their words over their bars
    compact: bool
    tight: bool
    stacked: bool
    # heights of the card's head and of its last line
    head: int
    fold: int
    edge: int  # distance of head and rows from the card's upper edge
    # distances of the numbers from the middle column, and of the bars from the card's edge
    inner: int
    outer: int
    # room under the squares for the slider of a moved number; always reserved, so that nothing moves
    below: int
    badge: int  # side of the badges at the base font
    row_most: int  # greatest height of a row
    # roles of the texts of a row
    number: Role
    title: Role
    flow: Role
    consequence: Role
    rate: Role
    says_consequence: bool  # if not, it is only in the tooltip and the accessible description
    most_lines: int = 2  # lines of truth and prediction in a row


def sizes(room: Breakpoint, rows: int) -> Sizes:
    """Return the sizes of the comparison."""
    small = room.narrow
    dense = rows >= 4 and not room.large
    tight = dense and (small or room.low)
    number = Role.NUMBER_DENSE if tight else Role.NUMBER_SMALL if rows >= 3 or small else Role.NUMBER
    single = em(148) if small else em(276)
    return Sizes(
        compact=small,
        tight=tight,
        stacked=room.large,
        head=em(30 if tight else 34 if room.large else 44),
        fold=em(34 if tight else 44),
        edge=0 if tight else 6,
        inner=em(STACKED_INNER) if room.large else theme.S if small else theme.M,
        outer=theme.L,
        below=0 if dense or room.large else em(21 if small else 33),
        badge=24 if tight else 30,
        row_most=single if rows == 1 else em(172),
        number=number,
        title=Role.LEAD if tight else Role.TITLE,
        flow=Role.FLOW if not dense else Role.NOTE if tight else Role.BODY,
        consequence=Role.NOTE if small else Role.BODY,
        rate=Role.CAPTION if tight else Role.NOTE,
        says_consequence=not dense,
    )


class Frame(NamedTuple):
    """Fixed heights of the page: above the top bar and the headline, around the card, strip to answers, the answers."""

    top: int
    headline: int
    around: int
    strip_gap: int
    answer: int
    answer_gap: int
    minor: int
    bottom: int


def frame(room: Breakpoint) -> Frame:
    """Return the fixed heights for a breakpoint."""
    if room.large:
        return Frame(theme.S, theme.S, theme.S, theme.S, em(32), theme.S, em(25), 10)
    if room.compact:
        return Frame(theme.S, 12, 9, 10, em(56), 10, em(36), 10)
    return Frame(theme.M, theme.XL, theme.M, theme.M, em(64), theme.S, em(36), 18)


@dataclass(frozen=True)
class Plan:
    """All places and sizes for one size of the page."""

    room: Breakpoint
    width: int
    # the columns: equal, except that with a large font the comparison has two halves and the answers three thirds
    comparison: Columns
    answers: Columns
    sizes: Sizes
    frame: Frame

    def tightened(self, most_lines: int) -> Plan:
        """Return the same plan in smaller type, for a height too small for the words of the rows."""
        small = replace(
            self.sizes,
            tight=True,
            title=Role.STRONG,
            flow=Role.NOTE,
            consequence=Role.NOTE,
            most_lines=most_lines,
            head=em(30),
            fold=em(34),
        )
        return replace(self, sizes=small)


def plan(width: int, room: Breakpoint, rows: int, *, longest_word: float = 0.0, least_side: float = 0.0) -> Plan:
    """Return places and sizes for a content `width` pixels wide and `rows` rows.

    The middle column widens for the longest word of the study, `longest_word` pixels, as far as the sides allow; each
    side needs `least_side` pixels for the number and "12 more".
    """
    size = sizes(room, rows)
    if room.large:
        return Plan(room, width, _around(width % 2, width), _thirds(width), size, frame(room))
    wide = width >= theme.content_width(em(theme.COMPACT_BELOW))  # also in a low window, which is compact
    usual = em(_MIDDLE_WIDE if wide else _MIDDLE_DENSE if rows >= 3 else _MIDDLE)
    wanted = max(usual, round(longest_word) + 2 * theme.S)
    middle = max(em(_LEAST_MIDDLE), min(wanted, width - 2 * round(least_side)))
    both = _around(middle, width)
    return Plan(room, width, both, both, size, frame(room))


def answer_spans(plan_: Plan) -> tuple[Span, Span, Span]:
    """Return the columns of the answers A, "About equal" and B."""
    a, middle, b = plan_.answers
    # Stacked columns keep their own distance; comparison columns touch, so "About equal" is inset.
    inset = GAP if middle.x == a.end else 0
    return a, Span(middle.x + inset, middle.width - 2 * inset), b


MOST_SQUARES = 500  # above this many cases of one mistake a solid bar replaces the squares
LARGEST_PITCH, SMALLEST_PITCH, SMALLEST_OF_FIVE = 12.0, 3.0, 7.0
OUTLINE = 1.5
_BEYOND_GAP = 0.25  # distance of the outline's centre line beyond the gap around the squares


@dataclass(frozen=True)
class Scale:
    """The scale shared by all bars of a page."""

    rows: int  # squares in a column: five, or ten if five would make them too small; also the height of a solid bar
    pitch: float  # distance between squares in pixels, in half-pixel steps
    solid: bool = False  # whether bars are solid
    per_case: float = 0.0  # pixels per case of a solid bar

    @property
    def gap(self) -> float:
        return 2.0 if self.pitch >= 8 else 1.5 if self.pitch >= 6 else 1.0

    @property
    def height(self) -> float:
        return self.rows * self.pitch - self.gap

    def length(self, count: int) -> float:
        if self.solid:
            return count * self.per_case
        return -(-count // self.rows) * self.pitch - self.gap if count else 0.0


def scale_for(largest: int, width: float, height: float) -> Scale:
    """Return the scale that shows up to `largest` cases in `width` by `height` pixels.

    A column has five squares if they are large enough, otherwise ten. Above 500 cases, or if even columns of ten would
    make squares too small, bars are solid.
    """
    five, ten = (_pitch(largest, rows, width, height) for rows in (5, 10))
    rows, pitch = (5, five) if five >= SMALLEST_OF_FIVE or five >= ten else (10, ten)
    if largest <= MOST_SQUARES and pitch >= SMALLEST_PITCH:
        return Scale(rows, pitch)
    pitch = max(1.0, _half_steps(min(8.0, height / 5)))
    return Scale(5, pitch, solid=True, per_case=width / max(1, largest))


def _pitch(largest: int, rows: int, width: float, height: float) -> float:
    in_row = max(1, -(-largest // rows))
    return _half_steps(min(LARGEST_PITCH, width / in_row, height / rows))


def _half_steps(length: float) -> float:
    return int(length * 2) / 2


class Bar:
    """The squares of one bar, or its solid stretch: first the common part, then the surplus.

    `common` of the `count` cases on this side are on both sides. The bar starts at `x`, with its upper edge at `y`;
    `outwards` is -1 if it grows to the left (side A), 1 if to the right.
    """

    def __init__(self, count: int, common: int, scale: Scale, x: float, y: float, outwards: int) -> None:
        self.scale, self._x, self._y, self._outwards = scale, x, y, outwards
        if scale.solid:
            self.common = [self._stretch(0, common)] if common else []
            self.surplus = [self._stretch(common, count)] if count > common else []
        else:
            self.common = [self._square(n) for n in range(common)]
            self.surplus = [self._square(n) for n in range(common, count)]

    @cached_property
    def outline(self) -> QPainterPath:
        at = self.scale.gap + _BEYOND_GAP
        # One rectangle per column, because simplifying a path of many squares is slow.
        columns: dict[float, QRectF] = {}
        for rect in self.surplus:
            columns[rect.x()] = columns.get(rect.x(), rect).united(rect)
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        for column in columns.values():
            path.addRect(column.adjusted(-at, -at, at, at))
        return path.simplified()

    def _square(self, number: int) -> QRectF:
        scale = self.scale
        side = scale.pitch - scale.gap
        column, above = divmod(number, scale.rows)
        start = self._x + self._outwards * column * scale.pitch
        return QRectF(
            start if self._outwards > 0 else start - side, self._y + (scale.rows - 1 - above) * scale.pitch, side, side
        )

    def _stretch(self, first: int, last: int) -> QRectF:
        near = self._x + self._outwards * first * self.scale.per_case
        far = self._x + self._outwards * last * self.scale.per_case
        return QRectF(min(near, far), self._y, abs(far - near), self.scale.height)


_PROBE = 1000


class ScaleMemory:
    """Remembers the largest count shown so far, and the scale for each window size.

    The largest count of a sitting is not known in advance, so a larger one may shrink the scale. Nothing else changes
    it, and it never grows.
    """

    def __init__(self) -> None:
        self.largest = 0
        self._scales: dict[tuple[int, ...], Scale] = {}

    def record_counts(self, counts: list[int]) -> None:
        self.largest = max(self.largest, *counts, 0)

    def scale(self, width: float, height: float, window: tuple[int, ...]) -> Scale:
        """Return the scale for bars in `width` by `height` pixels; `window` identifies the sizes of window and font."""
        wanted, kept = scale_for(self.largest, width, height), self._scales.get(window)
        if kept is not None:
            fits = kept.height <= height and kept.length(self.largest) <= width
            longest = kept.length(_PROBE)
            if fits and longest <= wanted.length(_PROBE) and kept.solid >= wanted.solid:
                return kept
            if wanted.solid:
                wanted = replace(wanted, per_case=min(wanted.per_case, longest / _PROBE))
        self._scales[window] = wanted
        return wanted
