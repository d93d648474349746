"""Marks of the painted plots: dot with bar and line, dashed arrow, diamond, square; each centred on a point."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from elicit_app.gui.theme import Tokens, em


def pen(colour: QColor, width: float = 2.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """Return a pen with flat ends, so that a line ends where its number is."""
    return QPen(colour, width, style, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.MiterJoin)


def line(painter: QPainter, colour: QColor, left: float, right: float, y: float) -> None:
    """Paint the line of a 90 % range."""
    painter.setPen(pen(colour))
    painter.drawLine(QPointF(left, y), QPointF(right, y))


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


def bound(painter: QPainter, colour: QColor, at: float, tip: float, y: float) -> None:
    """Paint a dashed arrow from the end stroke at `at` to the arrow head at `tip`: known only up to here."""
    towards = 1 if tip > at else -1
    painter.setPen(pen(colour, 2.0, Qt.PenStyle.DashLine))
    painter.drawLine(QPointF(at, y), QPointF(tip - towards * 2, y))
    head(painter, colour, tip, y, towards)
    painter.setPen(pen(colour))
    painter.drawLine(QPointF(at, y - em(6)), QPointF(at, y + em(6)))


def between(painter: QPainter, colour: QColor, left: float, right: float, y: float) -> None:
    """Paint a dashed line with a stroke at both ends: known only to lie between them."""
    painter.setPen(pen(colour, 2.0, Qt.PenStyle.DashLine))
    painter.drawLine(QPointF(left, y), QPointF(right, y))
    painter.setPen(pen(colour))
    for end in (left, right):
        painter.drawLine(QPointF(end, y - em(6)), QPointF(end, y + em(6)))
