"""The few shapes that everything painted is made of, and widgets that are square."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from elicit_app.gui import theme

FOCUS_WIDTH, FOCUS_GAP = 2.0, 3.0


def box(
    painter: QPainter,
    rect: QRectF,
    radius: float,
    *,
    fill: QColor | None = None,
    border: QColor | None = None,
    width: float = 1.0,
    dashed: bool = False,
) -> None:
    """Paint a rounded box whose border, `width` pixels wide, lies wholly inside `rect`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    if border is None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(rect, radius, radius)
        return
    pen = QPen(border, width)
    if dashed:
        pen.setStyle(Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([5 / width, 4 / width])
    painter.setPen(pen)
    half = width / 2
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius - half, radius - half)


def focus_ring(
    painter: QPainter, rect: QRectF, radius: float, colour: QColor, border: float = 1.0, gap: float = FOCUS_GAP
) -> None:
    """Paint the ring of the focused element inside its border, so that nothing moves."""
    inset = border + gap
    inner = max(2.0, radius - inset)
    box(painter, rect.adjusted(inset, inset, -inset, -inset), inner, border=colour, width=FOCUS_WIDTH)


class Square:
    """A widget as wide as it is high; its side, in pixels at the base font, grows with the font.

    To be named before Qt's own class, whose hints it answers.
    """

    _size: int

    def sizeHint(self) -> QSize:
        return QSize(theme.em(self._size), theme.em(self._size))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
