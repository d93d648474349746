"""The badge of a side: an outlined square with its letter."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.shapes import Square, box

Letter = Literal["A", "B"]


def side_colours(colours: theme.Tokens, letter: Letter) -> tuple[QColor, QColor]:
    """Return hue and soft fill of a side."""
    return (colours.A, colours.Asoft) if letter == "A" else (colours.B, colours.Bsoft)


def paint_badge(painter: QPainter, letter: Letter, rect: QRectF, colours: theme.Tokens) -> None:
    """Paint the badge of side A or B into the square `rect`."""
    hue, soft = side_colours(colours, letter)
    box(painter, rect, theme.BADGE_RADIUS, fill=soft, border=hue, width=2)
    face = theme.font(theme.Role.SECTION, weight=700)
    face.setPixelSize(round(rect.height() * 0.56))
    painter.setFont(face)
    painter.setPen(hue)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, letter)


class Badge(Square, QWidget):
    """The badge of a side; it has no accessible name, the text beside it says which side is meant.

    Parameters
    ----------
    letter : {"A", "B"}
        The side.
    size : int
        Side of the square in pixels at the base font: 30, in the strip 26, in dense rows 24.
    """

    def __init__(self, letter: Letter, size: int = 30, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._letter: Letter = letter
        self._size = size
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_size(self, size: int) -> None:
        """Change the side of the square, in pixels at the base font."""
        self._size = size
        self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_badge(painter, self._letter, QRectF(self.rect()), theme.tokens(self))
