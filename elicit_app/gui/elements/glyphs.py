"""Signs that are painted, so that they look the same with every font."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.shapes import Square

Stroke = tuple[tuple[float, float], ...]


class Glyph(Enum):
    """A sign: lines on a grid of 16 by 16, or filled triangles."""

    MORE = "more"
    FEWER = "fewer"
    CHECK = "check"
    WARNING = "warning"
    SWAP = "swap"
    CLOSED = "closed"
    OPEN = "open"
    UNDO = "undo"
    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"
    DOT = "dot"


_FILLED: dict[Glyph, Stroke] = {
    Glyph.MORE: ((8, 3), (15, 13), (1, 13)),
    Glyph.FEWER: ((8, 13), (15, 3), (1, 3)),
}
_LINES: dict[Glyph, tuple[Stroke, ...]] = {
    Glyph.CHECK: (((2.5, 8.8), (6, 12.5), (13.5, 3.5)),),
    Glyph.WARNING: (((8, 2), (14.6, 13.6), (1.4, 13.6), (8, 2)), ((8, 6), (8, 9.7)), ((8, 11.8), (8, 12))),
    Glyph.SWAP: (
        ((2, 5), (13.5, 5)),
        ((10.5, 2), (13.5, 5), (10.5, 8)),
        ((14, 11), (2.5, 11)),
        ((5.5, 8), (2.5, 11), (5.5, 14)),
    ),
    Glyph.CLOSED: (((6, 3.5), (10.5, 8), (6, 12.5)),),
    Glyph.OPEN: (((3.5, 6), (8, 10.5), (12.5, 6)),),
    Glyph.LEFT: (((13.5, 8), (2.5, 8)), ((7, 3.5), (2.5, 8), (7, 12.5))),
    Glyph.RIGHT: (((2.5, 8), (13.5, 8)), ((9, 3.5), (13.5, 8), (9, 12.5))),
    Glyph.UP: (((8, 13.5), (8, 2.5)), ((3.5, 7), (8, 2.5), (12.5, 7))),
    Glyph.DOWN: (((8, 2.5), (8, 13.5)), ((3.5, 9), (8, 13.5), (12.5, 9))),
}


def paint_glyph(painter: QPainter, glyph: Glyph, rect: QRectF, colour: QColor, width: float = 1.6) -> None:
    """Paint `glyph` in the largest square in the middle of `rect`, lines `width` sixteenths of it wide."""
    side = min(rect.width(), rect.height())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.center() - QPointF(side / 2, side / 2))
    painter.scale(side / 16, side / 16)
    if glyph in _FILLED or glyph is Glyph.DOT:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
    else:
        cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, cap, join))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    _strokes(painter, glyph)
    painter.restore()


def _strokes(painter: QPainter, glyph: Glyph) -> None:
    if glyph is Glyph.DOT:
        painter.drawEllipse(QPointF(8, 8), 4, 4)
    elif glyph is Glyph.UNDO:
        painter.drawPolyline([QPointF(5.5, 3), QPointF(2.5, 6), QPointF(5.5, 9)])
        painter.drawLine(QPointF(2.5, 6), QPointF(9.5, 6))
        painter.drawArc(QRectF(6, 6, 7, 7), 90 * 16, -180 * 16)
        painter.drawLine(QPointF(9.5, 13), QPointF(6.5, 13))
    elif glyph in _FILLED:
        painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in _FILLED[glyph]]))
    else:
        for stroke in _LINES[glyph]:
            painter.drawPolyline([QPointF(x, y) for x, y in stroke])


class GlyphSign(Square, QWidget):
    """A sign beside a text; it has no accessible name, the text beside it says what it means.

    Parameters
    ----------
    glyph : Glyph
        The sign.
    size : int
        Side in pixels at the base font; it grows with the font.
    ink : QPalette.ColorRole
        theme.INK, theme.INK2 or theme.INK3.
    """

    def __init__(
        self,
        glyph: Glyph,
        size: int = 16,
        parent: QWidget | None = None,
        *,
        ink: QPalette.ColorRole = theme.INK,
    ) -> None:
        super().__init__(parent)
        self.setForegroundRole(ink)
        self._glyph, self._size = glyph, size
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def glyph(self) -> Glyph:
        """Return the sign that is shown."""
        return self._glyph

    def set_glyph(self, glyph: Glyph) -> None:
        """Show another sign."""
        self._glyph = glyph
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_glyph(painter, self._glyph, QRectF(self.rect()), self.palette().color(self.foregroundRole()))
