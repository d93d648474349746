"""A plot of curves with their names on them; arrow keys move its line, and it can be read as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QRegion,
)
from PySide6.QtWidgets import QLabel, QSizePolicy

from elicit_app.gui.elements.painting import Painted, annotate, elided, focus_ring, write
from elicit_app.gui.results import plotting
from elicit_app.gui.theme import CENTRE, RIGHT, Role, Tokens, em, font
from metrics.drawing import LinearAxis, LogAxis
from metrics.inputs.arguments import Floats

_STEP, _JUMP = 0.01, 0.1
_FITS = "fits your answers"
_MOST_TICKS = 10
_BAND = 0.35  # opacity of a band


class Stroke(Enum):
    """The style of a curve: recommended, other, or without a model."""

    STRONG = Qt.PenStyle.SolidLine
    DASHED = Qt.PenStyle.DashLine
    DASH_DOT = Qt.PenStyle.DashDotLine
    DOTTED = Qt.PenStyle.DotLine
    THIN = Qt.PenStyle.CustomDashLine


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve: its name, its points from left to right, and its style."""

    name: str
    xs: Floats
    ys: Floats
    stroke: Stroke


@dataclass(frozen=True)
class Mark:
    """A point on a curve, and the part of the curve covered by its range."""

    point: tuple[float, float]
    stretch: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Picture:
    """The content of a plot."""

    name: str  # for screen readers
    curves: tuple[Curve, ...]  # the most important first: it carries the dot
    # the axes
    x: LinearAxis | LogAxis
    y: LinearAxis
    # return a number on an axis as text
    x_text: Callable[[float], str]
    y_text: Callable[[float], str]
    x_title: str  # title below the axis
    # a second scale on the same axis: converts the numbers of the first; and its title
    second: tuple[Callable[[float], str], str] | None = None
    shaded: tuple[float, float] | None = None  # the range consistent with the answers
    at: float | None = None  # initial position of the line; None for a plot without a line
    marks: tuple[Mark, ...] = ()  # points on curves
    # an area: its positions from left to right, and its lower and upper ends
    band: tuple[Floats, Floats, Floats] | None = None


@dataclass(frozen=True)
class _Name:
    """The name of a curve at its place in the plot."""

    text: str
    face: QFont
    place: QRectF
    strong: bool


_ON = 8.0  # how much worse a name is on its curve than close above or below it, in pixels of distance
_SHARES = 0.6, 0.4  # how much of the width a name may take, and how much where it finds no place like that
_NOTHING = Picture("", (), LinearAxis(0.0, 1.0), LinearAxis(0.0, 1.0), str, str, "")


class CurvePlot(Painted, QLabel):
    """Emits `moved` with the number at the line, and `table_requested` when T is pressed."""

    smooth = True

    moved = Signal(object)
    table_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._picture = _NOTHING
        self.at: float | None = None  # the number at the line
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_picture(self, picture: Picture) -> None:
        self._picture, self.at = picture, picture.at
        annotate(self, name=picture.name)
        self.updateGeometry()
        self.update()

    def describe(self, sentence: str) -> None:
        keys = " Left and Right move the line, Home resets it, T shows the numbers as a table."
        annotate(self, more=sentence + (keys if self.at is not None else ""))

    def sizeHint(self) -> QSize:
        second = 0 if self._picture.second is None else em(44)
        return QSize(em(520), em(334) + second)

    def minimumSizeHint(self) -> QSize:
        return QSize(em(280), self.sizeHint().height())

    # --- moving the line

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        picture, key = self._picture, Qt.Key(event.key())
        if key == Qt.Key.Key_T:
            self.table_requested.emit()
        elif self.at is not None and key in keys:
            jump = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._move(picture.x.position(self.at) + keys[key] * (_JUMP if jump else _STEP))
        elif picture.at is not None and key == Qt.Key.Key_Home:
            self._put(picture.at)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._drag(event)

    def _drag(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self.at is not None:
            room = self._room()
            self._move((event.position().x() - room.left()) / room.width())

    def _move(self, share: float) -> None:
        self._put(self._picture.x.value(share))

    def _put(self, number: float) -> None:
        self.at = number
        self.update()
        self.moved.emit(number)

    # --- measures

    def _room(self) -> QRectF:
        picture = self._picture
        metrics = QFontMetricsF(font(Role.CAPTION))
        left = max((metrics.horizontalAdvance(picture.y_text(tick)) for tick in picture.y.ticks(5)), default=0.0)
        foot = em(26) + self._title_height(picture.x_title)
        foot += 0 if picture.second is None else em(22) + self._title_height(picture.second[1])
        right = metrics.horizontalAdvance("100 %") / 2
        return QRectF(left + em(10), em(24), self.width() - left - em(10) - right, self.height() - em(24) - foot)

    def _x(self, room: QRectF, value: float) -> float:
        return room.left() + self._picture.x.position(value) * room.width()

    def _y(self, room: QRectF, value: float) -> float:
        """Return the y-coordinate of a value; it may be outside the plot, because curves are clipped."""
        axis = self._picture.y
        return room.bottom() - (value - axis.low) / (axis.high - axis.low) * room.height()

    def _points(self, room: QRectF, xs: Sequence[float] | Floats, ys: Sequence[float] | Floats) -> list[QPointF]:
        return [QPointF(self._x(room, float(x)), self._y(room, float(y))) for x, y in zip(xs, ys, strict=True)]

    # --- painting

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        room = self._room()
        names = list(self._placed_names(room))
        self._paint_ground(painter, colours, room)
        self._paint_scales(painter, colours, room)
        painter.save()
        painter.setClipRect(room.adjusted(-2, -2, 2, 2))
        self._paint_band(painter, colours, room)
        painter.setClipRegion(_without(room.adjusted(-2, -2, 2, 2), [name.place for name in names]))
        for curve in reversed(self._picture.curves):
            painter.setPen(_pen(curve.stroke, colours))
            painter.drawPolyline(QPolygonF(self._points(room, curve.xs, curve.ys)))
        painter.restore()
        self._paint_line(painter, colours, room)
        self._paint_marks(painter, colours, room)
        for name in names:
            _paint_over(painter, colours, name)
        if self.hasFocus():
            focus_ring(painter, QRectF(self.rect()), 8, colours.ink)

    def _paint_ground(self, painter: QPainter, colours: Tokens, room: QRectF) -> None:
        picture = self._picture
        if picture.shaded is not None:
            left, right = (self._x(room, end) for end in picture.shaded)
            painter.fillRect(QRectF(left, room.top(), max(right - left, 2.0), room.height()), colours.sunken)
        if picture.at is not None:
            ends, face = picture.shaded or (picture.at, picture.at), font(Role.CAPTION)
            middle = sum(self._x(room, end) for end in ends) / 2
            write(
                painter,
                plotting.centred_text_box(face, middle, _FITS, 0, self.width(), em(20)),
                _FITS,
                face,
                colours.ink2,
                CENTRE,
            )

    def _paint_scales(self, painter: QPainter, colours: Tokens, room: QRectF) -> None:
        picture, face = self._picture, font(Role.CAPTION)
        for tick in picture.y.ticks(5):
            y = round(self._y(room, tick)) + 0.5
            plotting.rule(painter, plotting.pen(colours.line, 1), room.left(), y, room.right(), y)
            number = QRectF(0, y - em(10), room.left() - em(8), em(20))
            write(painter, number, picture.y_text(tick), face, colours.ink2, RIGHT)
        self._paint_numbers(painter, colours, room, picture.x_text, room.bottom() + em(6))
        self._paint_title(painter, colours, room, picture.x_title, room.bottom() + em(26))
        if picture.second is not None:
            as_text, title = picture.second
            top = room.bottom() + em(26) + self._title_height(picture.x_title)
            self._paint_numbers(painter, colours, room, as_text, top)
            self._paint_title(painter, colours, room, title, top + em(20))

    def _paint_numbers(
        self, painter: QPainter, colours: Tokens, room: QRectF, as_text: Callable[[float], str], top: float
    ) -> None:
        """Write as many round numbers under the axis as fit."""
        face, taken = font(Role.CAPTION), -1e9
        widest = QFontMetricsF(face).horizontalAdvance("50 %") + em(16)
        for tick in self._picture.x.ticks(min(max(2, int(room.width() // widest)), _MOST_TICKS)):
            x, text = self._x(room, tick), as_text(tick)
            box = plotting.centred_text_box(face, x, text, top, self.width(), em(20))
            if not text or box.left() < taken:
                continue
            write(painter, box, text, face, colours.ink2, CENTRE)
            painter.drawLine(QPointF(x, room.bottom()), QPointF(x, room.bottom() + em(4)))
            taken = box.right() + em(6)

    def _paint_title(self, painter: QPainter, colours: Tokens, room: QRectF, title: str, top: float) -> None:
        face, align = _title_face(), int(CENTRE)
        box = plotting.centred_text_box(face, room.center().x(), title, top, self.width(), em(20))
        if QFontMetricsF(face).horizontalAdvance(title) > self.width():
            box, align = QRectF(0, top, self.width(), self._title_height(title)), align | Qt.TextFlag.TextWordWrap
        write(painter, box, title, face, colours.ink2, align)

    def _title_height(self, title: str) -> float:
        """Return the height of the title under an axis: one line, or more if it is long."""
        inside = QRectF(0, 0, max(self.width(), 1), 10_000)
        high = QFontMetricsF(_title_face()).boundingRect(inside, Qt.TextFlag.TextWordWrap, title).height()
        return max(float(em(22)), high + em(4))

    def _paint_line(self, painter: QPainter, colours: Tokens, room: QRectF) -> None:
        if self.at is None:
            return
        x = self._x(room, self.at)
        plotting.rule(painter, plotting.pen(colours.ink2, 1), x, room.top(), x, room.bottom())
        first = self._picture.curves[0]
        y = self._y(room, float(np.interp(self.at, first.xs, first.ys)))
        if room.top() - 1 <= y <= room.bottom() + 1:
            plotting.dot(painter, colours.ink, colours.surface, x, y)

    def _paint_band(self, painter: QPainter, colours: Tokens, room: QRectF) -> None:
        if self._picture.band is None:
            return
        places, low, high = self._picture.band
        around = [*self._points(room, places, high), *reversed(self._points(room, places, low))]
        fill = QColor(colours.unit)
        fill.setAlphaF(_BAND)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF(around))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_marks(self, painter: QPainter, colours: Tokens, room: QRectF) -> None:
        painter.setPen(QPen(colours.unit, em(7), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        for mark in self._picture.marks:
            if mark.stretch:
                painter.drawPolyline(QPolygonF(self._points(room, *zip(*mark.stretch, strict=True))))
        for mark in reversed(self._picture.marks):  # on top of all stretches, the most important last
            plotting.dot(
                painter, colours.ink, colours.surface, self._x(room, mark.point[0]), self._y(room, mark.point[1])
            )

    # --- names on the curves

    def _placed_names(self, room: QRectF) -> Iterator[_Name]:
        curves = self._picture.curves
        drawn = [(curve, np.array([(p.x(), p.y()) for p in self._sampled(room, curve)])) for curve in curves]
        taken: list[QRectF] = []
        for curve, points in drawn:
            strong = curve.stroke is Stroke.STRONG
            face = font(Role.NOTE, weight=600 if strong else 400)
            metrics = QFontMetricsF(face)
            others = np.concatenate([own for other, own in drawn if other is not curve] or [np.empty((0, 2))])
            for share in _SHARES:
                text = elided(curve.name, metrics, room.width() * share)
                size = QSize(round(metrics.horizontalAdvance(text) + 4), em(19))
                place = free_place(room, size, points, others, taken)
                if place is not None:
                    taken.append(place)
                    yield _Name(text, face, place, strong)
                    break

    def _sampled(self, room: QRectF, curve: Curve) -> Iterator[QPointF]:
        """Yield points of a curve, close enough together to detect overlaps."""
        points = self._points(room, curve.xs, curve.ys)
        for one, other in pairwise(points):
            steps = max(1, int((other - one).manhattanLength() // 12))
            for step in range(steps):
                yield one + (other - one) * (step / steps)
        yield points[-1]


def free_place(room: QRectF, size: QSize, own: Floats, others: Floats, taken: list[QRectF]) -> QRectF | None:
    """Return a place for a name close to its own curve and far from the others.

    None if there is no room, or only along another curve, to which the name would seem to belong.
    """
    best, found = np.inf, None
    width, height = size.width(), size.height()
    for left in np.linspace(room.left() + 4, room.right() - width - 4, 16):
        under = own[(own[:, 0] >= left - 4) & (own[:, 0] <= left + width + 4)]
        if room.right() - width < room.left() or not len(under):
            continue
        above, below = under[:, 1].min() - height - 5, under[:, 1].max() + 5
        slope = under[:, 1].max() - under[:, 1].min()
        # On the curve, which it interrupts, nobody takes it for the name of a neighbour.
        places = ((above, 0.0), (below, 0.0), (under[:, 1].mean() - height / 2, _ON))
        for top, off in places:
            box = QRectF(left, top, width, height)
            if top < room.top() or box.bottom() > room.bottom() or any(box.intersects(other) for other in taken):
                continue
            struck, near = (_points_in(others, box.adjusted(-more, -more, more, more)) for more in (0.0, 6.0))
            if 2 * struck > len(under):
                continue
            score = 1000.0 * struck + 300.0 * near + slope + off - 0.05 * left
            if score < best:
                best, found = score, box
    return found


def _points_in(points: Floats, box: QRectF) -> int:
    x, y = points[:, 0], points[:, 1]
    return int(((x > box.left()) & (x < box.right()) & (y > box.top()) & (y < box.bottom())).sum())


def _without(room: QRectF, places: Sequence[QRectF]) -> QRegion:
    """Return a plot's area without the names in it: no curve strikes a name through, or shows between its words."""
    region = QRegion(room.toAlignedRect())
    for place in places:
        region -= QRegion(place.toAlignedRect())
    return region


def _paint_over(painter: QPainter, colours: Tokens, name: _Name) -> None:
    """Write a name with an outline in the background colour, which interrupts the grid and the line."""
    metrics, path, place = QFontMetricsF(name.face), QPainterPath(), name.place
    baseline = place.center().y() + (metrics.ascent() - metrics.descent()) / 2
    path.addText(place.left() + 2, baseline, name.face, name.text)
    painter.strokePath(path, QPen(colours.surface, 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.fillPath(path, colours.ink if name.strong else colours.ink2)


def _title_face() -> QFont:
    return font(Role.CAPTION, weight=500)


def _pen(stroke: Stroke, colours: Tokens) -> QPen:
    if stroke is Stroke.STRONG:
        return plotting.pen(colours.ink, 2.6)
    if stroke is Stroke.THIN:
        return plotting.pen(colours.ink2, 2.0)
    made = plotting.pen(colours.ink2, 1.8)
    patterns = {Stroke.DASHED: [5.0, 3.0], Stroke.DASH_DOT: [6.0, 2.5, 1.2, 2.5], Stroke.DOTTED: [1.2, 2.4]}
    made.setDashPattern(patterns[stroke])
    return made
