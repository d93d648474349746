"""Drawing for the result pages: axes, ticks, dots, lines and arrows of plots, and small matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QPainter, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import Label, Painted, annotate, box, elided, show_tooltip, write
from elicit_app.gui.elements.surfaces import Card, in_column
from elicit_app.gui.theme import CENTRE, LEFT, RIGHT, XS, Role, Tokens, em, font, tokens
from metrics.drawing import LogAxis
from metrics.elicited.exchange import RateMark
from metrics.text import two_digits


@dataclass(frozen=True)
class ShareAxis:
    """A log-odds axis of shares from `low` to `high` (0 < low < high < 1), with room for rare events at both ends."""

    low: float
    high: float

    @classmethod
    def around(cls, share: float, population: int) -> ShareAxis:
        """Return an axis that holds `share` with a margin on both sides, down to one case of the population."""
        rarest = 1 / max(population, 3)
        low, high = min(0.01, share / 10), max(0.99, 1 - (1 - share) / 10)
        return cls(max(low, rarest), min(high, 1 - rarest))

    def position(self, value: float) -> float:
        """Return the position of a value, 0 at the low end and 1 at the high end; values outside are put at an end."""
        inside = min(max(value, self.low), self.high)
        return (_log_odds(inside) - _log_odds(self.low)) / (_log_odds(self.high) - _log_odds(self.low))

    def value(self, position: float) -> float:
        odds = _log_odds(self.low) + min(max(position, 0.0), 1.0) * (_log_odds(self.high) - _log_odds(self.low))
        return 1 / (1 + math.exp(-odds))

    def ticks(self, most: int = 9) -> tuple[float, ...]:
        found: tuple[float, ...] = ()
        for rare in ((0.01, 0.02, 0.05, 0.1, 0.2), (0.01, 0.05, 0.2), (0.01, 0.1), ()):
            low = [value / 10**tens for tens in (4, 2, 0) for value in rare]
            every = (*low, 0.5, *(1 - value for value in reversed(low)))
            found = tuple(value for value in every if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9))
            if len(found) <= most:
                break
        return found


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


@dataclass(frozen=True)
class PlotColumns:
    """Places of the columns, in pixels: end of the names, start and end of the axis, end of the plot."""

    names: float
    left: float
    right: float
    width: float

    def x(self, axis: LogAxis, value: float) -> float:
        return self.left + axis.position(value) * (self.right - self.left)


class Sign(NamedTuple):
    """An entry of a legend: its text, the width of its sign at 100 %, and what paints the sign at (x, y)."""

    text: str
    width: int
    paint: Callable[[QPainter, float, float], None]


class LogPlot(Painted, QLabel):
    """Rows on a common logarithmic axis of ratios; a subclass paints them and gives their heights."""

    smooth = True

    def __init__(self) -> None:
        super().__init__()
        self._compare_with("")
        self._axis = LogAxis(0.3, 3.0)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def _compare_with(self, yardstick: str, *, priced: bool = False) -> None:
        """Take the unit of the ratios in the singular, and with it the words for both sides of 1."""
        self._yardstick = yardstick
        self._sides = ("counts less", "counts more") if priced else ("less bad", "worse")

    def hasHeightForWidth(self) -> bool:
        return True

    def sizeHint(self) -> QSize:
        return QSize(em(600), self.heightForWidth(em(600)))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(320), em(120))

    def _ticks(self, columns: PlotColumns) -> list[float]:
        """Return as many round numbers as fit."""
        room = QFontMetricsF(font(Role.NOTE)).horizontalAdvance("0.03") + em(20)
        return self._axis.ticks(min(max(int((columns.right - columns.left) // room), 2), 8))

    def _paint_grid(self, painter: QPainter, columns: PlotColumns, top: float, bottom: float) -> None:
        """Paint a vertical line at every number, and a stronger one at the yardstick."""
        colours = tokens(self)
        for tick in self._ticks(columns):
            x, one = round(columns.x(self._axis, tick)) + 0.5, tick == 1
            rule(painter, pen(colours.ink3 if one else colours.line, 1.5 if one else 1.0), x, top, x, bottom)

    def _paint_axis(self, painter: QPainter, columns: PlotColumns, top: float) -> None:
        """Paint the numbers at `top`, and above the plot the direction of worse mistakes."""
        colours, face = tokens(self), font(Role.NOTE)
        for tick in self._ticks(columns):
            under = QRectF(columns.x(self._axis, tick) - em(40), top, em(80), em(20))
            write(painter, under, two_digits(tick), face, colours.ink if tick == 1 else colours.ink2, CENTRE)
        x, gap = columns.x(self._axis, 1.0), em(9)
        less, more = self._sides
        write(painter, QRectF(0, 0, x - gap, em(20)), less, face, colours.ink2, RIGHT)
        room, than = columns.width - x - gap, f"{more} than one {self._yardstick}"
        fits = QFontMetricsF(face).horizontalAdvance(than) <= room
        write(painter, QRectF(x + gap, 0, room, em(20)), than if fits else more, face, colours.ink2)

    def _paint_mark(self, painter: QPainter, columns: PlotColumns, mark: RateMark, y: float) -> None:
        """Paint a mark of a rate; a line that continues beyond the axis ends in an arrow."""
        colours, (shape, *ends) = tokens(self), mark
        low, high = (columns.x(self._axis, end) for end in ends)
        match shape:
            case "square":
                square(painter, colours.ink, low, y)
            case "bound":
                _bound(painter, colours.ink, columns, mark, (low, high), y)
            case "line" | "bar":
                (line if shape == "line" else bar)(
                    painter, colours.ink if shape == "line" else colours.unit, low, high, y
                )
                if mark.low < self._axis.low:
                    head(painter, colours.ink, columns.left, y, -1)
                if mark.high > self._axis.high:
                    head(painter, colours.ink, columns.right, y, 1)
            case "dot":
                dot(painter, colours.ink, colours.surface, low, y)
            case "diamond":
                diamond(painter, colours, low, y)

    def legend(self) -> Sequence[Sign]:
        raise NotImplementedError

    def _legend_height(self, width: float) -> float:
        return em(24) * (1 + max((line for _, line, _ in self._placed(width)), default=0))

    def _paint_legend(self, painter: QPainter, top: float) -> None:
        colours, face = tokens(self), font(Role.NOTE)
        for x, line_, sign in self._placed(self.width()):
            y = top + em(12) + em(24) * line_
            sign.paint(painter, x, y)
            room = QRectF(x + em(sign.width) + em(8), y - em(12), self.width(), em(24))
            write(painter, room, sign.text, face, colours.ink2)

    def _placed(self, width: float) -> Iterator[tuple[float, int, Sign]]:
        metrics, x, below = QFontMetricsF(font(Role.NOTE)), 0.0, 0
        for sign in self.legend():
            needed = em(sign.width) + em(8) + metrics.horizontalAdvance(sign.text)
            if x > 0 and x + needed > width:
                x, below = 0.0, below + 1
            yield x, below, sign
            x += needed + em(26)

    def _bound_sign(self) -> Sign:
        colours = tokens(self)

        def paint(painter: QPainter, x: float, y: float) -> None:
            rule(painter, pen(colours.ink, 2.0, Qt.PenStyle.DashLine), x, y, x + em(32), y)
            head(painter, colours.ink, x + em(34), y, 1)

        return Sign("only bounded", 34, paint)


def pen(colour: QColor, width: float = 2.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """Return a pen with flat caps, so that a line ends exactly at its number."""
    return QPen(colour, width, style, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.MiterJoin)


def rule(painter: QPainter, stroke: QPen, x0: float, y0: float, x1: float, y1: float) -> None:
    """Paint a straight line."""
    painter.setPen(stroke)
    painter.drawLine(QPointF(x0, y0), QPointF(x1, y1))


def line(painter: QPainter, colour: QColor, left: float, right: float, y: float) -> None:
    """Paint the line of a 90 % range."""
    rule(painter, pen(colour), left, y, right, y)


def centred_text_box(face: QFont, middle: float, text: str, top: float, width: float, height: float) -> QRectF:
    """Return the box of a text centred on `middle`, kept within `width`."""
    wide = QFontMetricsF(face).horizontalAdvance(text) + 4
    return QRectF(min(max(middle - wide / 2, 0.0), max(width - wide, 0.0)), top, wide, height)


def whisker(
    painter: QPainter,
    colour: QColor,
    ends: tuple[float, float],
    y: float,
    continues: tuple[bool, bool] = (False, False),
) -> None:
    """Paint the line of a 90 % range with a stroke at both ends, or an arrow head where it continues."""
    rule(painter, pen(colour, 1.5), ends[0], y, ends[1], y)
    for end, further, towards in zip(ends, continues, (-1, 1), strict=True):
        if further:
            head(painter, colour, end, y, towards)
        else:
            rule(painter, pen(colour, 1.5), end, y - em(5), end, y + em(5))


def bar(painter: QPainter, colour: QColor, left: float, right: float, y: float) -> None:
    """Paint the bar of a 50 % range."""
    height = em(11)
    painter.fillRect(QRectF(left, y - height / 2, max(right - left, 1.0), height), colour)


def dot(painter: QPainter, colour: QColor, ground: QColor, x: float, y: float) -> None:
    """Paint the dot of an estimate with a thin gap around it."""
    radius = em(6)
    painter.setPen(QPen(ground, 1))
    painter.setBrush(colour)
    painter.drawEllipse(QPointF(x, y), radius, radius)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def square(painter: QPainter, colour: QColor, x: float, y: float) -> None:
    """Paint the square of the yardstick."""
    half = em(5)
    painter.fillRect(QRectF(x - half, y - half, 2 * half, 2 * half), colour)


def diamond(painter: QPainter, tokens: Tokens, x: float, y: float) -> None:
    """Paint the hollow diamond of the first guess, the only hue of the plot."""
    half = em(7)
    corners = [QPointF(x, y - half), QPointF(x + half, y), QPointF(x, y + half), QPointF(x - half, y)]
    painter.setPen(pen(tokens.B, 1.75))
    painter.setBrush(tokens.surface)
    painter.drawPolygon(QPolygonF(corners))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def head(painter: QPainter, colour: QColor, tip: float, y: float, towards: int) -> None:
    """Paint an open arrow head with its tip at `tip`; `towards` is -1 for left, 1 for right."""
    size = em(7)
    painter.setPen(pen(colour))
    back = tip - towards * size
    painter.drawPolyline(QPolygonF([QPointF(back, y - size * 0.8), QPointF(tip, y), QPointF(back, y + size * 0.8)]))


def _bound(
    painter: QPainter, colour: QColor, columns: PlotColumns, mark: RateMark, at: tuple[float, float], y: float
) -> None:
    """Paint a dashed line for a bound, with an arrow at each open end and a stroke at the other."""
    left = (columns.left, True) if mark.low <= 0 else (at[0], False)
    right = (columns.right, True) if math.isinf(mark.high) else (at[1], False)
    rule(painter, pen(colour, 2.0, Qt.PenStyle.DashLine), left[0] + 2 * left[1], y, right[0] - 2 * right[1], y)
    for (end, is_open), towards in ((left, -1), (right, 1)):
        if is_open:
            head(painter, colour, end, y, towards)
        else:
            rule(painter, pen(colour), end, y - em(6), end, y + em(6))


MOST_WITH_RANGES = 5  # largest number of classes with a second line in every cell
_TURNED_FROM = 12
_LEAST_SHADE = 0.06


@dataclass(frozen=True)
class Cell:
    """One cell: a number, the text under it, the sentence of its tooltip, and its shade if numbers do not fit."""

    text: str
    below: str = ""
    sentence: str = ""
    shade: float = 0.0


class _Cells(NamedTuple):
    """The layout of a matrix: the margins left of and above the cells, and the size of a cell."""

    left: float
    top: float
    width: float
    height: float

    def room(self, i: int, j: int) -> QRectF:
        left, top, gap = self.left + j * self.width, self.top + i * self.height, XS / 2
        return QRectF(left, top, self.width, self.height).adjusted(gap, gap, -gap, -gap)


class MatrixGrid(Painted, QLabel):
    """A matrix; rows are truths, columns predictions; the diagonal is sunken.

    Above five classes the second line is omitted, and if the numbers do not fit, shades replace them.
    """

    smooth = True

    def __init__(self) -> None:
        super().__init__()
        self._classes: tuple[str, ...] = ()
        self._cells: tuple[tuple[Cell, ...], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_cells(self, classes: Sequence[str], cells: Sequence[Sequence[Cell]], name: str) -> None:
        """Show `cells` (k rows of k); `name` is the accessible name."""
        self._classes, self._cells = tuple(classes), tuple(tuple(row) for row in cells)
        annotate(self, name=name, more=" ".join(cell.sentence for row in cells for cell in row if cell.sentence))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(em(440), round(self._top() + len(self._classes) * self._row()))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(280), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            show_tooltip(event.globalPos(), self._sentence_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        places = self._places()
        legible = self._legible(places)
        self._paint_head(painter, colours, places, legible)
        names = font(Role.NOTE, weight=500)
        lines = 2 if places.height >= 2 * QFontMetricsF(names).height() else 1
        for i, row in enumerate(self._cells):
            label = QRectF(0, places.top + i * places.height, places.left - em(8), places.height)
            name = self._fitting(names, i, label.width(), lines)
            write(painter, label, name, names, colours.ink, LEFT | Qt.TextFlag.TextWordWrap)
            for j, cell in enumerate(row):
                if legible:
                    self._paint_cell(painter, colours, cell, places.room(i, j), i == j)
                else:
                    painter.fillRect(places.room(i, j), _shade(colours, cell, i == j))

    def _dense(self) -> bool:
        return len(self._classes) > MOST_WITH_RANGES

    def _turned(self) -> bool:
        """Return whether the column names are vertical for lack of room."""
        return len(self._classes) > _TURNED_FROM

    def _legible(self, places: _Cells) -> bool:
        metrics = QFontMetricsF(font(Role.NOTE, weight=600))
        widest = max((metrics.horizontalAdvance(cell.text) for row in self._cells for cell in row), default=0.0)
        return not self._dense() or widest <= places.room(0, 0).width()

    def _row(self) -> float:
        if self._dense():
            return float(em(20 if self._turned() else 34))
        caption, width = QFontMetricsF(font(Role.CAPTION)), self._width(self._label()) - XS
        fits = all(caption.horizontalAdvance(cell.below) <= width for row in self._cells for cell in row)
        return float(em(56) if fits else em(56) + math.ceil(caption.height()))

    def _width(self, left: float) -> float:
        return (self.width() - left) / max(len(self._classes), 1)

    def _top(self) -> float:
        if not self._turned():
            return float(em(46))
        metrics = QFontMetricsF(font(Role.CAPTION, weight=500))
        return em(30) + min(max(metrics.horizontalAdvance(name) for name in self._classes), float(em(96)))

    def _label(self) -> float:
        metrics = QFontMetricsF(font(Role.NOTE, weight=500))
        longest = max((metrics.horizontalAdvance(name) for name in (*self._classes, "the truth is")), default=0.0)
        return min(longest + em(14), self.width() * 0.27)

    def _places(self) -> _Cells:
        """Return the layout; it measures every name, so it is computed once per painting."""
        left = self._label()
        return _Cells(left, self._top(), self._width(left), self._row())

    def _paint_head(self, painter: QPainter, colours: Tokens, places: _Cells, legible: bool) -> None:
        left, top = places.left, places.top
        note, ink = font(Role.NOTE), colours.ink2
        text = "the model says" if legible else "the model says (darker is more; point at a cell for its number)"
        write(painter, QRectF(left, 0, self.width() - left, em(22)), text, note, ink, CENTRE)
        write(painter, QRectF(0, top - em(24), left, em(22)), "the truth is", note, ink)
        face = font(Role.CAPTION if self._dense() else Role.NOTE, weight=500)
        for j in range(len(self._classes)):
            room = places.room(0, j)
            if not self._turned():
                room = QRectF(room.left(), em(22), room.width(), em(22))
                write(painter, room, self._fitting(face, j, room.width()), face, colours.ink, CENTRE)
                continue
            painter.save()
            painter.translate(room.center().x(), top - em(4))
            painter.rotate(-90)
            length = top - em(28)
            write(painter, QRectF(0, -em(11), length, em(22)), self._fitting(face, j, length), face, colours.ink)
            painter.restore()

    def _fitting(self, face: QFont, index: int, width: float, lines: int = 1) -> str:
        name = self._classes[index]
        return elided(name, QFontMetricsF(face), width if lines == 1 or " " not in name else width * 1.7)

    def _paint_cell(self, painter: QPainter, colours: Tokens, cell: Cell, room: QRectF, diagonal: bool) -> None:
        fill = colours.sunken if diagonal else colours.surface
        box(painter, room, XS, fill=fill, border=colours.line)
        role, ink = Role.NOTE if self._dense() else Role.SECTION, colours.ink3 if diagonal else colours.ink
        face = font(role, compact=True, weight=400 if diagonal else 600)
        if not cell.below or self._dense():
            write(painter, room, cell.text, face, ink, CENTRE)
            return
        below, wrapped = room.adjusted(0, em(26), 0, -em(4)), int(CENTRE) | Qt.TextFlag.TextWordWrap
        room.setHeight(em(56) - XS)  # a range on two lines leaves the number where it is
        write(painter, room.adjusted(0, em(5), 0, -em(22)), cell.text, face, ink, CENTRE)
        write(painter, below, cell.below, font(Role.CAPTION), colours.ink2, wrapped)

    def _sentence_at(self, point: QPointF) -> str:
        places = self._places()
        for i, row in enumerate(self._cells):
            for j, cell in enumerate(row):
                if places.room(i, j).contains(point):
                    return cell.sentence
        return ""


def _shade(colours: Tokens, cell: Cell, diagonal: bool) -> QColor:
    """Return the colour of a cell without a number; darker means more."""
    colour = QColor(colours.sunken if diagonal else colours.ink)
    if not diagonal:
        colour.setAlphaF(_LEAST_SHADE + (1 - _LEAST_SHADE) * cell.shade)
    return colour


class MatrixCard(Card):
    """A matrix with a title and a sentence on how to read it."""

    def __init__(self, title: str, sentence: str = "") -> None:
        super().__init__()
        self.grid, self._sentence = MatrixGrid(), Label(sentence, theme.Role.NOTE, theme.INK2)
        heading = Label(title, theme.Role.SECTION)
        in_column(heading, self._sentence, self.grid, 1, on=self, margins=(20, 16, 20, 16), spacing=6)

    def say(self, sentence: str) -> None:
        self._sentence.setText(sentence)
