"""The strip: the whole difference in one sentence about one side, its fewer first."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import box, paint_badge, paint_glyph
from elicit_app.gui.question.strip_text import Part, StripText, strip_text
from elicit_app.gui.theme import Breakpoint, em
from elicit_app.session.words.ledger import Strip

_AFTER_BADGE = 14
_AIR = 12
"""Free height of a strip whose lines stand close."""


class StripBand(QLabel):
    """A sunken band that paints the sentence; a painted label, so that it reads like a text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strip = Strip("B", (), ())
        self._room = Breakpoint(False, False, False)

    def show_strip(self, strip: Strip, room: Breakpoint) -> None:
        """Show a sentence in the size for the room there is."""
        self._strip, self._room = strip, room
        self.setAccessibleName(strip.sentence)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(em(400), self.heightForWidth(em(400)))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(200), em(43))

    def text_for(self, width: int) -> StripText:
        """Return the lines for a band `width` pixels wide."""
        return strip_text(self._strip, width - 2 * theme.M - self._before(), self._room)

    def heightForWidth(self, width: int) -> int:
        """Return the height that the sentence takes at this width."""
        text = self.text_for(width)
        return len(text.lines) * self._pitch(text) + self._air(text)

    def _pitch(self, text: StripText) -> int:
        """Return the distance of two lines: up to two have plenty of it."""
        if self._room.large or len(text.lines) > 2:
            return em(22.5)
        return em(32) if self._room.compact else em(37)

    def _air(self, text: StripText) -> int:
        if self._room.large or len(text.lines) > 2:
            return _AIR
        return em(11) if len(text.lines) == 1 else 0

    def _badge_side(self) -> int:
        return em(24 if self._room.large else 26)

    def _before(self) -> int:
        """Return what stands left of the words: badge and space."""
        return self._badge_side() + _AFTER_BADGE

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, text, side = theme.tokens(self), self.text_for(self.width()), self._badge_side()
        pitch = self._pitch(text)
        widest = max(text.width(line) for line in text.lines)
        left = theme.M if self._room.large else (self.width() - widest - self._before()) / 2
        middle = (self.height() - (len(text.lines) - 1) * pitch) / 2
        with QPainter(self) as painter:
            box(painter, QRectF(self.rect()), theme.BUTTON_RADIUS, fill=colours.sunken)
            badge = middle if self._room.large else self.height() / 2
            paint_badge(painter, self._strip.subject, QRectF(left, badge - side / 2, side, side), colours)
            for line in text.lines:
                x = left + self._before()
                for part in line:
                    x = self._paint_part(painter, text, part, x, middle, colours) + text.between_parts
                middle += pitch

    def _paint_part(
        self, painter: QPainter, text: StripText, part: Part, x: float, middle: float, colours: theme.Tokens
    ) -> float:
        """Paint a part from `x` on; return where it ends."""
        if part.glyph is not None:
            paint_glyph(painter, part.glyph, QRectF(x, middle - em(6), em(12), em(12)), colours.ink)
        x += text.glyph_width
        baseline = middle + QFontMetricsF(text.face()).capHeight() / 2
        for word in part.words:
            painter.setFont(text.face(word))
            painter.setPen(colours.ink2 if word.quiet else colours.ink)
            painter.drawText(QPointF(x, baseline), word.text)
            x += text.word_width(word) + text.space
        return x - text.space
