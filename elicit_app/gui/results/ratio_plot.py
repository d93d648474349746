"""How bad every mistake is compared with the yardstick: a painted plot on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from elicit_app.gui.elements.texts import tell
from elicit_app.gui.results import plotting
from elicit_app.gui.results.plotting import LogPlot, PlotColumns
from elicit_app.gui.theme import Role, Tokens, em, font, tokens
from elicit_app.study.model import Wording
from metrics.display.axes import LogAxis
from metrics.display.numbers import two_digits
from metrics.elicited.exchange import ExchangeRate, beside_name, called
from metrics.elicited.family import MistakeKey

_WRAP = Qt.TextFlag.TextWordWrap | Qt.TextFlag.TextWrapAnywhere
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_TOP_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
_BOTTOM_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
_CENTRE = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
NEVER_ASKED = "never asked"


@dataclass(frozen=True)
class PlotRow:
    """One row of the plot: a ratio with its words."""

    ratio: ExchangeRate
    name: str
    flow: str
    guess: float | None = None
    asked: bool = True

    @property
    def below(self) -> str:
        """Return what stands beneath the number: its range, or that no question was about it."""
        if self.asked:
            return self.ratio.range_in_words()
        range_ = self.ratio.range_in_words()
        return f"{range_}, {NEVER_ASKED}" if range_ else NEVER_ASKED

    @property
    def sentence(self) -> str:
        """Return the row as a sentence for a screen reader."""
        guess = f", first guess {two_digits(self.guess)}" if self.guess is not None else ""
        what = f"{self.name}, {self.flow}" if self.flow else self.name
        return f"{what}: {self.ratio.in_words()}, {self.below}{guess}."


def rows_of(
    rates: Sequence[ExchangeRate],
    wording: Wording,
    guesses: Mapping[MistakeKey, float],
    never_asked: Container[MistakeKey] = (),
) -> tuple[PlotRow, ...]:
    """Return the rows of the plot in study order; `never_asked` are the mistakes that no question was about."""
    return tuple(
        PlotRow(
            rate,
            rate.mistake.name,
            "" if wording.priced else beside_name(rate.mistake.name, called(wording.class_one, rate.key)),
            guesses.get(rate.key),
            rate.is_yardstick or rate.key not in never_asked,
        )
        for rate in rates
    )


class RatioPlot(LogPlot):
    """Dot, bar for 50 %, line for 90 %, dashed arrow where only bounded, hollow diamond for the first guess."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[PlotRow, ...] = ()

    def show_rows(self, rows: Sequence[PlotRow], yardstick: str) -> None:
        """Show `rows`; `yardstick` is the mistake the others are compared with, in the singular."""
        self._rows, self._yardstick = tuple(rows), yardstick
        self._axis = LogAxis.around(number for row in rows for number in (*row.ratio.shown, row.guess or 0.0))
        tell(
            self,
            name=f"How bad each mistake is, compared with one {yardstick}",
            more=" ".join(row.sentence for row in rows),
        )
        self.updateGeometry()
        self.update()

    def heightForWidth(self, width: int) -> int:
        columns = self._columns(width)
        return math.ceil(self._head() + sum(self._heights(columns)) + self._foot())

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, columns = tokens(self), self._columns(self.width())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            heights = self._heights(columns)
            bottom = self._head() + sum(heights)
            self._paint_axis(painter, colours, columns, bottom)
            top = self._head()
            for row, height in zip(self._rows, heights, strict=True):
                self._paint_words(painter, colours, columns, row, QRectF(0, top, self.width(), height))
                self._paint_marks(painter, colours, columns, row, top + height / 2)
                top += height
            self._paint_legend(painter, colours, bottom + em(25))

    def _head(self) -> float:
        return float(em(26))

    def _foot(self) -> float:
        return float(em(50))

    def _columns(self, width: int) -> PlotColumns:
        strong, small = QFontMetricsF(font(Role.STRONG)), QFontMetricsF(font(Role.NOTE))
        lead, gap = QFontMetricsF(font(Role.LEAD, compact=True)), em(16)
        names = max(
            (max(strong.horizontalAdvance(r.name), small.horizontalAdvance(r.flow)) for r in self._rows), default=0
        )
        numbers = max((self._number_width(row.ratio, row.below, lead, small) for row in self._rows), default=0)
        names, numbers = min(names + 2, width * 0.34), min(numbers + 2, width * 0.3)
        return PlotColumns(names, names + gap + em(6), width - numbers - gap - em(6), width)

    @staticmethod
    def _number_width(ratio: ExchangeRate, below: str, lead: QFontMetricsF, small: QFontMetricsF) -> float:
        return max(lead.horizontalAdvance(ratio.in_words()), small.horizontalAdvance(below))

    def _heights(self, columns: PlotColumns) -> list[float]:
        return [max(self._text_height(row, columns.names) + em(8), em(46)) for row in self._rows]

    @staticmethod
    def _text_height(row: PlotRow, width: float) -> float:
        room = QRectF(0, 0, width, 10_000)
        strong, small = QFontMetricsF(font(Role.STRONG)), QFontMetricsF(font(Role.NOTE))
        return strong.boundingRect(room, _WRAP, row.name).height() + small.boundingRect(room, _WRAP, row.flow).height()

    def _paint_axis(self, painter: QPainter, colours: Tokens, columns: PlotColumns, bottom: float) -> None:
        painter.setFont(font(Role.NOTE))
        metrics = QFontMetricsF(painter.font())
        most = int((columns.right - columns.left) // (metrics.horizontalAdvance("0.03") + em(20)))
        for tick in self._axis.ticks(min(max(most, 2), 8)):
            x, one = round(columns.x(self._axis, tick)) + 0.5, tick == 1
            painter.setPen(plotting.pen(colours.ink3 if one else colours.line, 1.5 if one else 1.0))
            painter.drawLine(QPointF(x, self._head() - em(4)), QPointF(x, bottom))
            painter.setPen(colours.ink if one else colours.ink2)
            painter.drawText(QRectF(x - em(40), bottom + em(2), em(80), em(20)), _CENTRE, two_digits(tick))
        x, gap = columns.x(self._axis, 1.0), em(9)
        painter.setPen(colours.ink2)
        painter.drawText(QRectF(columns.left - em(60), 0, x - gap - columns.left + em(60), em(20)), _RIGHT, "less bad")
        room = columns.width - x - gap
        worse = f"worse than one {self._yardstick}"
        shown = worse if metrics.horizontalAdvance(worse) <= room else "worse"
        painter.drawText(QRectF(x + gap, 0, room, em(20)), _LEFT, shown)

    def _paint_words(
        self, painter: QPainter, colours: Tokens, columns: PlotColumns, row: PlotRow, room: QRectF
    ) -> None:
        text = QRectF(0, room.top() + em(4), columns.names, room.height())
        strong, note, lead = font(Role.STRONG), font(Role.NOTE), font(Role.LEAD, compact=True)
        painter.setPen(colours.ink)
        painter.setFont(strong)
        used = painter.boundingRect(text, _WRAP, row.name)
        painter.drawText(text, _WRAP, row.name)
        painter.setFont(note)
        painter.setPen(colours.ink2)
        painter.drawText(text.adjusted(0, used.height(), 0, 0), _WRAP, row.flow)
        half = room.height() / 2
        painter.drawText(
            QRectF(columns.right, room.top() + half, columns.width - columns.right, half),
            _TOP_RIGHT,
            row.below,
        )
        painter.setFont(lead)
        painter.setPen(colours.ink)
        painter.drawText(
            QRectF(columns.right, room.top(), columns.width - columns.right, half),
            _BOTTOM_RIGHT,
            row.ratio.in_words(),
        )

    def _paint_marks(self, painter: QPainter, colours: Tokens, columns: PlotColumns, row: PlotRow, y: float) -> None:
        axis, ratio = self._axis, row.ratio
        if ratio.is_yardstick:
            plotting.square(painter, colours.ink, columns.x(axis, 1.0), y)
        elif ratio.bounded and ratio.ninety is not None:
            self._paint_bound(painter, colours, columns, ratio.ninety, y)
        else:
            if ratio.ninety is not None:
                low, high = (columns.x(axis, end) for end in ratio.ninety)
                plotting.line(painter, colours.ink, low, high, y)
                if ratio.ninety[0] < axis.low:
                    plotting.head(painter, colours.ink, columns.left, y, -1)
                if ratio.ninety[1] > axis.high:
                    plotting.head(painter, colours.ink, columns.right, y, 1)
            if ratio.half is not None:
                plotting.bar(painter, colours.unit, columns.x(axis, ratio.half[0]), columns.x(axis, ratio.half[1]), y)
            plotting.dot(painter, colours.ink, colours.surface, columns.x(axis, ratio.ratio), y)
        if row.guess is not None and not ratio.is_yardstick:
            plotting.diamond(painter, colours, columns.x(axis, row.guess), y)

    def _paint_bound(
        self, painter: QPainter, colours: Tokens, columns: PlotColumns, ends: tuple[float, float], y: float
    ) -> None:
        low, high = ends
        if math.isinf(high):
            plotting.bound(painter, colours.ink, columns.x(self._axis, low), columns.right, y)
        elif low <= 0:
            plotting.bound(painter, colours.ink, columns.x(self._axis, high), columns.left, y)
        else:
            plotting.between(painter, colours.ink, columns.x(self._axis, low), columns.x(self._axis, high), y)

    def _paint_legend(self, painter: QPainter, colours: Tokens, top: float) -> None:
        y, x = top + em(12), 0.0
        painter.setFont(font(Role.NOTE))
        measured = any(row.ratio.ninety is not None and not row.ratio.bounded for row in self._rows)
        if measured:
            plotting.line(painter, colours.ink, x, x + em(34), y)
            plotting.bar(painter, colours.unit, x + em(8), x + em(26), y)
        plotting.dot(painter, colours.ink, colours.surface, x + em(17), y)
        said = "best estimate; bar: 50 %, line: 90 % plausible" if measured else "estimate"
        x = self._legend_text(painter, colours, x + em(42), y, said)
        if any(row.guess is not None for row in self._rows):
            plotting.diamond(painter, colours, x + em(8), y)
            self._legend_text(painter, colours, x + em(24), y, "your first guess")

    def _legend_text(self, painter: QPainter, colours: Tokens, x: float, y: float, text: str) -> float:
        painter.setPen(colours.ink2)
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 2
        painter.drawText(QRectF(x, y - em(12), width, em(24)), _LEFT, text)
        return x + width + em(24)
