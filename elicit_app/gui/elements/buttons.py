"""Buttons that paint themselves; to the keyboard, screen readers and layouts they are QPushButtons.

A page has one primary button. A button may show the keys that do the same, painted as caps, and a glyph.
`QPushButton.setText` changes the text; a button narrower than its text wraps it at words.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QColor, QEnterEvent, QFont, QFontMetrics, QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import (
    GAP,
    WIDEST_WORD,
    Glyph,
    Letter,
    Painted,
    box,
    breakable,
    focus_ring,
    key_caps_width,
    paint_glyph,
    paint_key_caps,
    side_colours,
    write,
)

_GAP = theme.S
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignCenter


class Look(NamedTuple):
    """Colours of a button in one state; None paints nothing."""

    fill: QColor | None
    border: QColor | None
    ink: QColor
    ring: QColor
    border_width: float = 1.0


class Button(Painted, QPushButton):
    """An ordinary action, and the base of the others: text, key caps, glyph, hover and disabled looks, focus ring.

    `does` is the effect of a press: a function to call, or a signal to emit. "&" in the text is not a shortcut. Key
    caps show their text ("Ctrl+Z", "F", "Enter"); "Left", "Right", "Up" and "Down" are painted as arrows.
    """

    tall, padding, ring_gap = 40, 18, 3.0
    role = theme.Role.LABEL

    def __init__(
        self,
        text: str = "",
        does: Callable[..., object] | SignalInstance | None = None,
        *,
        keys: tuple[str, ...] = (),
        glyph: Glyph | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        if does is not None:
            self.clicked.connect(does)
        self.keys, self._glyph, self._compact, self._hovered = keys, glyph, False, False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_keys(self, *keys: str) -> None:
        self.keys = keys
        self._changed()

    def set_compact(self, compact: bool) -> None:
        self._compact = compact
        self._changed()

    def _changed(self) -> None:
        self.updateGeometry()
        self.update()

    # measures

    def face(self) -> QFont:
        return theme.font(self.role, compact=self._compact)

    @property
    def _inset(self) -> float:
        """Return the least distance between the text and the sides."""
        return min(self.padding, theme.S)

    def _extras(self) -> float:
        keys = key_caps_width(self.keys) + _GAP if self.keys else 0.0
        return keys + (theme.em(16) + _GAP if self._glyph else 0.0)

    def width_for(self, text: str) -> int:
        """Return the width of the button with another text."""
        return ceil(QFontMetricsF(self.face()).horizontalAdvance(text) + self._extras()) + 2 * self.padding + 2

    def sizeHint(self) -> QSize:
        return QSize(self.width_for(self.text()), theme.em(self.tall))

    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.face())
        word = max((metrics.horizontalAdvance(each) for each in self.text().split()), default=0.0)
        word = min(word, theme.em(WIDEST_WORD))
        return QSize(round(word + self._extras() + 2 * self._inset + 1), theme.em(self.tall))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(theme.em(self.tall), self.text_height(width))

    def text_height(self, width: int) -> int:
        """Return the height of the text at this width, wrapped at words, with padding."""
        room = max(1, round(width - self._extras() - 2 * self._inset))
        text = QFontMetrics(self.face()).boundingRect(0, 0, room, 10_000, _WRAP.value, self._text_in(room))
        return text.height() + 2 * theme.S

    def _text_in(self, room: float) -> str:
        return breakable(self.text(), QFontMetricsF(self.face()), room)

    # painting

    def look(self, colours: theme.Tokens) -> Look:
        if not self.isEnabled():
            return Look(colours.sunken, None, colours.ink3, colours.ink3)
        fill = colours.sunken if self.isDown() else colours.hover if self._hovered else colours.surface
        return Look(fill, colours.line2, colours.ink, colours.ink)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        look, rect = self.look(colours), QRectF(self.rect())
        if look.fill is not None or look.border is not None:
            box(painter, rect, theme.BUTTON_RADIUS, fill=look.fill, border=look.border, width=look.border_width)
        if self.hasFocus():
            width = look.border_width if look.border is not None else 1.0
            focus_ring(painter, rect, theme.BUTTON_RADIUS, look.ring, width, self.ring_gap)
        self.paint_content(painter, rect, look, colours)

    def paint_content(self, painter: QPainter, rect: QRectF, look: Look, colours: theme.Tokens) -> None:
        """Paint glyph, text and key caps as one centred group."""
        face, extras = self.face(), self._extras()
        room = rect.width() - extras - 2 * self._inset
        shown = self._text_in(room)
        bounds = QFontMetricsF(face).boundingRect(QRectF(0, 0, room, rect.height()), _WRAP.value, shown)
        left = (rect.width() - bounds.width() - extras) / 2
        if self._glyph is not None:
            side = theme.em(16)
            paint_glyph(painter, self._glyph, QRectF(left, rect.center().y() - side / 2, side, side), look.ink)
            left += side + _GAP
        text = QRectF(left - 1, rect.top(), bounds.width() + 2, rect.height())
        write(painter, text, shown, face, look.ink, _WRAP.value)
        self.paint_keys(painter, text.right() - 1 + _GAP, rect, look, colours)

    def paint_keys(self, painter: QPainter, left: float, rect: QRectF, look: Look, colours: theme.Tokens) -> None:
        ink = colours.ink2 if self.isEnabled() else look.ink
        border = colours.line2 if self.isEnabled() else colours.line
        paint_key_caps(painter, self.keys, left, rect.center().y(), ink=ink, border=border, fill=colours.surface)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter, as on Space; a held key presses once."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.click()
            return
        super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hovered = True
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = False
        super().leaveEvent(event)


class PrimaryButton(Button):
    """The main action of a page; `tall` pixels high at the base font, 44 to 52 depending on the room."""

    tall, padding = 48, 18
    role = theme.Role.STRONG

    def look(self, colours: theme.Tokens) -> Look:
        if not self.isEnabled():
            return super().look(colours)
        fill = colours.ink if self.isDown() else colours.ink2 if self._hovered else colours.primary
        return Look(fill, None, colours.onprimary, colours.onprimary)

    def paint_keys(self, painter: QPainter, left: float, rect: QRectF, look: Look, colours: theme.Tokens) -> None:
        paint_key_caps(painter, self.keys, left, rect.center().y(), ink=look.ink, border=look.ink)


class MinorButton(Button):
    """A smaller answer below the main ones."""

    tall, padding, ring_gap = 34, theme.S, 2.0
    role = theme.Role.MINOR

    def look(self, colours: theme.Tokens) -> Look:
        look = super().look(colours)
        return look._replace(border=colours.line, ink=colours.ink2) if self.isEnabled() else look


class FlatButton(Button):
    """An action without a box until it is hovered or focused: "Undo" in the top bar, "Skip the practice"."""

    tall, padding = 40, 10

    def look(self, colours: theme.Tokens) -> Look:
        if not self.isEnabled():
            return Look(None, None, colours.ink3, colours.ink3)
        fill = colours.sunken if self.isDown() else colours.hover if self._hovered else None
        return Look(fill, None, colours.ink, colours.ink)


class LinkButton(FlatButton):
    """An underlined action inside or beside a text, aligned with the text above: "Copy as a table", "Help"."""

    tall, padding, ring_gap = 30, 2, 0.0

    def paint_content(self, painter: QPainter, rect: QRectF, look: Look, colours: theme.Tokens) -> None:
        super().paint_content(painter, rect, look, colours)
        room = rect.width() - 2 * self._inset
        inside = QRectF(0, 0, room, 10_000)
        text = QFontMetricsF(self.face()).boundingRect(inside, _WRAP.value, self._text_in(room))
        half, below = min(text.width(), room) / 2, rect.center().y() + text.height() / 2 + 1.5
        painter.setPen(colours.line2)
        painter.drawLine(QPointF(rect.center().x() - half, below), QPointF(rect.center().x() + half, below))


class AnswerButton(Button):
    """An answer. A and B have the border and soft fill of their side and key caps at the outer edge; others no hue."""

    tall = 64

    def __init__(
        self, letter: Letter | None, text: str, *, keys: tuple[str, ...] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(text, keys=keys, parent=parent)
        self._letter = letter
        if letter is None:
            self.role = theme.Role.SECTION
        else:
            self.role, self.padding = theme.Role.LEAD, 14

    def look(self, colours: theme.Tokens) -> Look:
        look = super().look(colours)
        if self._letter is None:
            return look._replace(border_width=1.5)
        if not self.isEnabled():
            return look
        hue, soft = side_colours(colours, self._letter)
        rests = not self.isDown() and not self._hovered
        return look._replace(fill=soft if rests else look.fill, border=hue, border_width=2.0)

    def paint_content(self, painter: QPainter, rect: QRectF, look: Look, colours: theme.Tokens) -> None:
        """Paint the key caps of a side at its outer edge and centre the text in the rest."""
        if self._letter is None:
            super().paint_content(painter, rect, look, colours)
            return
        caps = key_caps_width(self.keys)
        left = self.padding if self._letter == "A" else rect.width() - self.padding - caps
        self.paint_keys(painter, left, rect, look, colours)
        taken = caps + GAP if self.keys else 0.0
        text = rect.adjusted(taken if self._letter == "A" else 0, 0, 0 if self._letter == "A" else -taken, 0)
        write(painter, text.adjusted(theme.S, 0, -theme.S, 0), self.text(), self.face(), look.ink, _WRAP.value)
