"""What the laboratory draws: people as dots, their median as a line, repainted as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QLabel, QSizePolicy

from elicit_app.gui.elements.painting import Sized
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.results import plotting
from elicit_app.gui.theme import CENTRE, LEFT, RIGHT, Role, Tokens, em, font, tokens
from metrics.drawing import LinearAxis, LogAxis

_HALF = (0.25, 0.75)
_FURTHEST = 5


@dataclass(frozen=True, eq=False)
class Series:
    """The people of one procedure."""

    name: str
    values: dict[int, list[float]]  # by the number of answers, one value per person

    def medians(self) -> list[tuple[int, float]]:
        """Return the median after so many answers, in order."""
        return [(answers, float(np.median(found))) for answers, found in sorted(self.values.items())]


class LivePlot(Sized, QLabel):
    """One plot; `show_series` takes new people, the first series solid and the second dashed.

    A `share` has a linear axis from 0, a factor a logarithmic one from 1. A dashed line says what is `wanted`.
    """

    size_asked, size_least = (330, 270), (240, 240)

    def __init__(self, title: str, *, share: bool, wanted: float | None = None) -> None:
        super().__init__()
        self._title, self._share, self._wanted = title, share, wanted
        self._series: tuple[Series, ...] = ()
        self._most = 20
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        tell(self, name=title)

    def show_series(self, series: Sequence[Series], most: int) -> None:
        """Show `series`, on an axis of up to `most` answers."""
        self._series = tuple(one for one in series if one.values)
        ends = [max(one.values) for one in self._series]
        # A search that asks far more often is drawn at the edge, labelled with its number of answers.
        near = [end for end in ends if end <= _FURTHEST * most]
        self._most = max(near or ends, default=most)
        known = [(one.name, *one.medians()[-1]) for one in self._series]
        parts = [f"{name}: {self._value_text(value)} after {answers} answers" for name, answers, value in known]
        tell(self, name=self._title, more="; ".join(parts))
        self.update()

    def _value_text(self, value: float) -> str:
        return f"{100 * value:.0f} %" if self._share else f"{value:.1f}" if value < 10 else f"{value:.0f}"

    def _axis(self) -> LinearAxis | LogAxis:
        found = [value for one in self._series for values in one.values.values() for value in values]
        if self._share:
            return LinearAxis(0.0, max([0.1, *(1.05 * value for value in found)]))
        return LogAxis(1.0, max([4.0, *(1.1 * value for value in found)]))

    def _ticks(self, axis: LinearAxis | LogAxis) -> Sequence[float]:
        if isinstance(axis, LinearAxis):
            return axis.ticks(4)
        return [tick for tick in (1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 10_000, 100_000) if tick <= axis.high]

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, axis = tokens(self), self._axis()
        note = QFontMetricsF(font(Role.NOTE))
        left = max(note.horizontalAdvance(self._tick(tick)) for tick in self._ticks(axis)) + em(10)
        room = QRectF(left, em(34), self.width() - left - self._right(), self.height() - em(34) - em(46))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_frame(painter, colours, axis, room)
            for index, one in enumerate(self._series):
                self._paint_series(painter, colours, axis, room, one, dashed=index > 0)

    def _right(self) -> float:
        """Return the room that stands right of the axis, for the number and the name at the end of the first line."""
        solid = self._series[:1]
        strong, note = QFontMetricsF(font(Role.STRONG)), QFontMetricsF(font(Role.NOTE))
        ends = [strong.horizontalAdvance(self._end(one)) for one in solid]
        names = [note.horizontalAdvance(one.name) for one in solid if len(self._series) > 1]
        return max([em(32.0), *ends, *names]) + em(14)

    def _end(self, one: Series) -> str:
        """Return what stands at the end of a line: its last median, and after how many answers where that is beyond."""
        answers, value = one.medians()[-1]
        return self._value_text(value) if answers <= self._most else f"{self._value_text(value)} after {answers:,}"

    def _tick(self, value: float) -> str:
        return f"{100 * value:.0f} %" if self._share else f"{value:,.0f}"

    def _x(self, room: QRectF, answers: float) -> float:
        return room.left() + room.width() * min(answers / self._most, 1.0)

    def _y(self, room: QRectF, axis: LinearAxis | LogAxis, value: float) -> float:
        return room.bottom() - axis.position(value) * room.height()

    def _paint_frame(self, painter: QPainter, colours: Tokens, axis: LinearAxis | LogAxis, room: QRectF) -> None:
        painter.setFont(font(Role.LABEL, weight=600))
        painter.setPen(colours.ink)
        painter.drawText(QRectF(em(4), 0, self.width(), em(24)), LEFT, self._title)
        painter.setFont(font(Role.NOTE))
        for tick in self._ticks(axis):
            y = round(self._y(room, axis, tick)) + 0.5
            painter.setPen(plotting.pen(colours.line, 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(colours.ink2)
            painter.drawText(QRectF(0, y - em(11), room.left() - em(8), em(22)), RIGHT, self._tick(tick))
        step = next(step for step in (4, 10, 20, 50, 100, 200, 500, 10**9) if self._most / step <= 6)
        for answers in range(0, self._most + 1, step):
            x = self._x(room, answers)
            painter.drawText(QRectF(x - em(30), room.bottom() + em(4), em(60), em(20)), CENTRE, str(answers))
        foot = QRectF(room.left(), room.bottom() + em(23), room.width(), em(20))
        painter.drawText(foot, CENTRE, "answers")
        if self._wanted is not None:
            y = self._y(room, axis, self._wanted)
            painter.drawText(QRectF(room.left() + em(4), y - em(21), em(120), em(20)), LEFT, "wanted")
            painter.setPen(plotting.pen(colours.ink2, 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))

    def _paint_series(
        self, painter: QPainter, colours: Tokens, axis: LinearAxis | LogAxis, room: QRectF, one: Series, *, dashed: bool
    ) -> None:
        halves = [
            (self._x(room, answers), *(self._y(room, axis, end) for end in np.quantile(found, _HALF)))
            for answers, found in sorted(one.values.items())
        ]
        if not dashed:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.line)
            upper = [QPointF(x, high) for x, _, high in halves]
            painter.drawPolygon(QPolygonF([*upper, *(QPointF(x, low) for x, low, _ in reversed(halves))]))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.ink3)
        for answers, found in one.values.items():
            for value in found:
                painter.drawEllipse(QPointF(self._x(room, answers), self._y(room, axis, value)), em(2), em(2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        points = [(self._x(room, answers), self._y(room, axis, value)) for answers, value in one.medians()]
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        painter.setPen(plotting.pen(colours.ink, 2, style))
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in points]))
        for x, y in points:
            plotting.dot(painter, colours.ink, colours.surface, x, y)
        painter.setFont(font(Role.STRONG))
        painter.setPen(colours.ink)
        (x, y), text, wide = points[-1], self._end(one), self._right()
        if dashed:
            beneath = QRectF(room.left(), y + em(6), x - room.left() + em(8), em(22))
            painter.drawText(beneath, RIGHT, f"{one.name} {text}")
        else:
            painter.drawText(QRectF(x + em(10), y - em(11), wide, em(22)), LEFT, text)
            if len(self._series) > 1:
                painter.setFont(font(Role.NOTE))
                painter.drawText(QRectF(x + em(10), y - em(30), wide, em(20)), LEFT, one.name)
