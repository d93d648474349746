"""Key caps: which key does the same as a button."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.glyphs import Glyph, paint_glyph
from elicit_app.gui.elements.shapes import box

GAP = theme.XS
_ARROWS = {"Left": Glyph.LEFT, "Right": Glyph.RIGHT, "Down": Glyph.DOWN, "Up": Glyph.UP}


def key_cap_size(key: str) -> QSizeF:
    """Return the size of the cap of one key: 22 pixels high at the base font, as wide as its text."""
    side = theme.em(22)
    if key in _ARROWS or len(key) == 1:
        return QSizeF(side, side)
    text = QFontMetricsF(theme.font(theme.Role.CAPTION, weight=500)).horizontalAdvance(key)
    return QSizeF(text + 2 * theme.em(5), side)


def key_caps_width(keys: tuple[str, ...]) -> float:
    """Return the width of several caps in a row."""
    return sum(key_cap_size(key).width() for key in keys) + GAP * max(0, len(keys) - 1)


def paint_key_caps(
    painter: QPainter,
    keys: tuple[str, ...],
    left: float,
    middle: float,
    *,
    ink: QColor,
    border: QColor,
    fill: QColor | None = None,
) -> None:
    """Paint the caps of `keys` from `left` on, centred on the height `middle`; arrow keys are painted as arrows."""
    for key in keys:
        size = key_cap_size(key)
        rect = QRectF(QPointF(left, middle - size.height() / 2), size)
        box(painter, rect, theme.KEY_RADIUS, fill=fill, border=border)
        if key in _ARROWS:
            inset = size.height() * 0.2
            paint_glyph(painter, _ARROWS[key], rect.adjusted(inset, inset, -inset, -inset), ink, 1.7)
        else:
            painter.setFont(theme.font(theme.Role.CAPTION, weight=500))
            painter.setPen(ink)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, key)
        left += size.width() + GAP


class KeyCap(QWidget):
    """The caps of one or several keys, beside a text that says what they do."""

    def __init__(self, *keys: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keys = keys
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(round(key_caps_width(self._keys) + 0.5), theme.em(22))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        with QPainter(self) as painter:
            paint_key_caps(
                painter,
                self._keys,
                0,
                self.height() / 2,
                ink=colours.ink2,
                border=colours.line2,
                fill=colours.surface,
            )
