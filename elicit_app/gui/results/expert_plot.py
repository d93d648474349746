"""The plot of what several experts say: a block per mistake, with a range per expert, on one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QPainter

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import annotate, elided, wrapped_height, write, write_wrapped
from elicit_app.gui.results import plotting
from elicit_app.gui.results.plotting import LogPlot, PlotColumns, Sign
from elicit_app.gui.theme import LEFT, RIGHT, Role, Tokens, em, font
from metrics.drawing import LogAxis
from metrics.elicited.exchange import PLAUSIBLE, ExchangeRate, RateMark

_EVERYBODY = "all pooled"
_HEAD, _LINE = 24, 25  # height of what is above the rows, and of a line of a row, at the base font
_NARROWEST = 150  # width of the plot, at the base font, below which it stands under the texts instead of between them


@dataclass(frozen=True)
class _Columns(PlotColumns):
    """The columns, and the right edge of the numbers, in pixels; the ranges end where the plot does."""

    value: float
    stacked: bool  # whether the plot of a line stands under its texts


@dataclass(frozen=True)
class ExpertRates:
    """What everybody says about one mistake, in units of the yardstick."""

    title: str
    each: tuple[tuple[str, ExchangeRate], ...]  # the experts' names, or empty texts, and rates
    pooled: ExchangeRate | None = None
    note: str = ""  # how far apart they are
    is_marked: bool = False  # whether the note is to be stressed

    @property
    def lines(self) -> tuple[tuple[str, ExchangeRate], ...]:
        """Return names and rates from top to bottom."""
        return self.each if self.pooled is None else (*self.each, (_EVERYBODY, self.pooled))


class ExpertPlot(LogPlot):
    """One block per mistake, with a dot and a range per expert, and below them a bar if they are pooled.

    Experts without names have no column of names.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[ExpertRates, ...] = ()

    def show_rows(self, rows: Sequence[ExpertRates], yardstick: str, *, priced: bool = False) -> None:
        """Show `rows`; `yardstick` is the unit mistake or amount in the singular."""
        self._rows = tuple(rows)
        self._compare_with(yardstick, priced=priced)
        rates = self._rates()
        self._axis = LogAxis.around((x for rate in rates for x in rate.shown), (x for rate in rates for x in rate.ends))
        what = "How much each amount counts for each expert" if priced else "How bad each expert finds each mistake"
        annotate(self, name=f"{what}, compared with one {yardstick}", more=" ".join(map(self._sentence, rows)))
        self.updateGeometry()
        self.update()

    def _sentence(self, row: ExpertRates) -> str:
        parts = (
            " ".join(filter(None, (name, rate.in_words())))
            + (f", {rate.range_in_words()}" if rate.range_in_words() else "")
            for name, rate in row.lines
        )
        return f"{', '.join(filter(None, (row.title, row.note)))}: {'; '.join(parts)}."

    def _rates(self) -> list[ExchangeRate]:
        return [rate for row in self._rows for _, rate in row.lines]

    def heightForWidth(self, width: int) -> int:
        columns = self._columns(width)
        rows = sum(self._height(row, columns) for row in self._rows)
        return math.ceil(em(_HEAD) + rows + em(28) + self._legend_height(width))

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        columns = self._columns(self.width())
        top = float(em(_HEAD))
        for index, row in enumerate(self._rows):
            height = self._height(row, columns)
            self._paint_row(painter, colours, columns, row, QRectF(0, top, self.width(), height), first=not index)
            top += height
        self._paint_axis(painter, columns, top - em(6))
        self._paint_legend(painter, top + em(24))

    def _title(self, row: ExpertRates, width: float) -> float:
        """Return the height of a row's heading: one line if title and note fit on it, otherwise two."""
        strong, note = QFontMetricsF(font(Role.STRONG)), QFontMetricsF(font(Role.NOTE))
        if strong.horizontalAdvance(row.title) + note.horizontalAdvance(row.note) + em(24) <= width:
            return float(em(32))
        return wrapped_height(row.title, font(Role.STRONG), width) + em(34)

    def _height(self, row: ExpertRates, columns: _Columns) -> float:
        return self._title(row, columns.width) + len(row.lines) * self._line(columns) + em(8)

    @staticmethod
    def _line(columns: _Columns) -> float:
        return float(em(_LINE) * (1 + columns.stacked))

    def _columns(self, width: float) -> _Columns:
        body, strong, note = (QFontMetricsF(font(role)) for role in (Role.BODY, Role.STRONG, Role.NOTE))
        named = {name for row in self._rows for name, _ in row.lines if name}
        widths = [(strong if name == _EVERYBODY else body).horizontalAdvance(name) + em(8) for name in named]
        names, rates = min(max(widths, default=0.0), width * 0.26), self._rates()
        value = max((strong.horizontalAdvance(rate.in_words()) for rate in rates), default=0.0) + em(4)
        ranges = max((note.horizontalAdvance(rate.range_in_words()) for rate in rates), default=0.0) + em(4)
        end = width - ranges - em(10)
        left, right = names + em(10), end - value - em(16)
        if right - left < em(_NARROWEST):
            return _Columns(end - value - em(10), em(20), width - em(20), width, end, True)
        return _Columns(names, left, right, width, end, False)

    def _paint_row(
        self, painter: QPainter, colours: Tokens, columns: _Columns, row: ExpertRates, room: QRectF, *, first: bool
    ) -> None:
        if not first:
            painter.fillRect(QRectF(0, room.top(), room.width(), 1), colours.line)
        title = self._title(row, room.width())
        self._paint_title(painter, colours, row, QRectF(0, room.top(), room.width(), title))
        for index, (name, rate) in enumerate(row.lines):
            height = self._line(columns)
            line = QRectF(0, room.top() + title + index * height, room.width(), height)
            self._paint_line(painter, colours, columns, name, rate, line, pooled=index == len(row.each))

    @staticmethod
    def _paint_title(painter: QPainter, colours: Tokens, row: ExpertRates, room: QRectF) -> None:
        strong, ink = font(Role.STRONG), colours.ink if row.is_marked else colours.ink2
        note = font(Role.NOTE, weight=600 if row.is_marked else 400)
        if room.height() <= em(32):
            write(painter, room, row.title, strong, colours.ink)
            write(painter, room, row.note, note, ink, RIGHT)
        else:
            write_wrapped(painter, room.adjusted(0, em(6), 0, -em(26)), row.title, strong, colours.ink, LEFT)
            write(painter, room.adjusted(0, room.height() - em(28), 0, 0), row.note, note, ink)

    def _paint_line(
        self,
        painter: QPainter,
        colours: Tokens,
        columns: _Columns,
        name: str,
        rate: ExchangeRate,
        room: QRectF,
        *,
        pooled: bool,
    ) -> None:
        self._paint_grid(painter, columns, room.bottom() - em(_LINE), room.bottom())
        y = room.bottom() - em(_LINE) / 2
        room.setHeight(em(_LINE))
        for mark in _marks(rate, pooled=pooled):
            self._paint_mark(painter, columns, mark, y)
        face = font(Role.BODY, weight=600 if pooled else 400)
        fitting = elided(name, QFontMetricsF(face), columns.names)
        write(painter, QRectF(0, room.top(), columns.names + 2, room.height()), fitting, face, colours.ink)
        value = QRectF(columns.names, room.top(), columns.value - columns.names, room.height())
        write(painter, value, rate.in_words(), font(Role.STRONG), colours.ink, RIGHT)
        ends = QRectF(columns.value, room.top(), columns.width - columns.value, room.height())
        write(painter, ends, rate.range_in_words(), font(Role.NOTE), colours.ink2, RIGHT)

    def legend(self) -> list[Sign]:
        colours = theme.tokens(self)

        def paint(painter: QPainter, x: float, y: float, *, pooled: bool) -> None:
            (plotting.bar if pooled else plotting.line)(
                painter, colours.unit if pooled else colours.ink, x, x + em(34), y
            )
            plotting.dot(painter, colours.ink, colours.surface, x + em(17), y)

        rates = self._rates()
        plausible = all(rate.plausible for rate in rates if rate.range_90 is not None)
        signs = [Sign(f"an expert, {PLAUSIBLE.legend}" if plausible else "an expert", 34, partial(paint, pooled=False))]
        if any(row.pooled for row in self._rows):
            signs.append(Sign("all of them pooled", 34, partial(paint, pooled=True)))
        return [*signs, self._bound_sign()] if any(rate.bounded for rate in rates) else signs


def _marks(rate: ExchangeRate, *, pooled: bool) -> Sequence[RateMark]:
    """Return how a rate is shown: what is only bounded as everywhere, of all others the range and the estimate."""
    if rate.bounded:
        return rate.marks()
    dot = RateMark("dot", rate.ratio, rate.ratio)
    return [dot] if rate.range_90 is None else [RateMark("bar" if pooled else "line", *rate.range_90), dot]
