"""Surfaces: cards, bands and dividing lines."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.shapes import box, focus_ring


class Surface(Enum):
    """What a card looks like: plain, important (outlined in ink), a drop target (dashed), or a sunken band."""

    PLAIN = "plain"
    IMPORTANT = "important"
    DROP = "drop"
    BAND = "band"


class Card(QWidget):
    """A rounded surface to lay widgets on; a focusable one shows the focus ring inside its border."""

    def __init__(self, surface: Surface = Surface.PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._surface = surface

    def set_surface(self, surface: Surface) -> None:
        """Change what the card looks like."""
        self._surface = surface
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        rect = QRectF(self.rect())
        with QPainter(self) as painter:
            if self._surface is Surface.BAND:
                box(painter, rect, theme.BUTTON_RADIUS, fill=colours.sunken)
            elif self._surface is Surface.IMPORTANT:
                box(painter, rect, theme.CARD_RADIUS, fill=colours.surface, border=colours.ink, width=1.5)
            elif self._surface is Surface.DROP:
                box(painter, rect, theme.CARD_RADIUS, fill=colours.surface, border=colours.line2, dashed=True)
            else:
                box(painter, rect, theme.CARD_RADIUS, fill=colours.surface, border=colours.line)
            if self.hasFocus():
                focus_ring(painter, rect, theme.CARD_RADIUS, colours.ink)


class Divider(QWidget):
    """A line between two rows; decoration, without a name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(1, 1)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme.tokens(self).line)
