"""The strip: the whole difference in one sentence about one side, its fewer first."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Glyph, box, paint_badge, paint_glyph
from elicit_app.gui.theme import Breakpoint, Role, em, font
from elicit_app.session.ledger import Strip

_EMPTY = Strip("B", (), ())


class Word(NamedTuple):
    """A word with its font, in the first or in the second ink."""

    text: str
    face: QFont
    quiet: bool

    @property
    def width(self) -> float:
        """Return the width without the space after it."""
        return QFontMetricsF(self.face).horizontalAdvance(self.text)


class StripLine(NamedTuple):
    """A line of the strip: its triangle (only where a part begins), its words, and how wide both are."""

    glyph: Glyph | None
    words: tuple[Word, ...]
    width: float


class StripBand(QLabel):
    """A sunken band that paints the sentence on one line, or on a line for fewer and one for more, or wrapped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strip = _EMPTY
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

    def heightForWidth(self, width: int) -> int:
        """Return the height that the sentence takes at this width."""
        lines = len(self.lines(width))
        if self._room.large:
            return lines * em(22.5) + 12
        pitch = em(32) if self._room.compact else em(37)
        return lines * pitch + (0 if lines > 1 else em(11))

    # the sentence as lines

    def _face(self, weight: int = 600) -> QFont:
        return font(Role.STRIP, compact=self._room.compact or self._room.large, weight=weight)

    def _parts(self) -> list[tuple[Glyph | None, tuple[Word, ...]]]:
        """Return the parts of the sentence: fewer, more, and "than A" after the last one."""
        strip, strong, quiet = self._strip, self._face(), self._face(400)
        if not strip.changes:
            return [(None, tuple(Word(word, quiet, True) for word in f"is the same as {strip.reference}".split()))]
        parts = []
        for glyph, changes in ((Glyph.FEWER, strip.fewer), (Glyph.MORE, strip.more)):
            if changes:
                comma = "," if glyph is Glyph.FEWER and strip.more else ""
                words = (", ".join(changes) + comma).split()
                parts.append((glyph, tuple(Word(word, strong, False) for word in words)))
        than = tuple(Word(word, quiet, True) for word in ("than", strip.reference))
        parts[-1] = (parts[-1][0], parts[-1][1] + than)
        return list(parts)

    def _badge_side(self) -> int:
        return em(24 if self._room.large else 26)

    def _before(self) -> float:
        """Return what stands left of the words: badge and space."""
        return self._badge_side() + 14

    def _glyph_width(self) -> float:
        return em(12) + em(8)

    def _line(self, glyph: Glyph | None, words: tuple[Word, ...]) -> StripLine:
        space = QFontMetricsF(self._face()).horizontalAdvance(" ")
        width = sum(word.width for word in words) + space * max(0, len(words) - 1)
        return StripLine(glyph, words, width + self._glyph_width())

    def lines(self, width: int) -> list[StripLine]:
        """Return the lines for a band `width` pixels wide; one line holds both parts where they fit."""
        parts = [self._line(*part) for part in self._parts()]
        room = width - 2 * theme.M - self._before()
        if not self._room.large and sum(part.width for part in parts) + em(16) * (len(parts) - 1) <= room:
            return [StripLine(None, (), 0.0)] if not parts else [self._joined(parts)]
        return [line for part in parts for line in self._wrapped(part, room)]

    def _joined(self, parts: list[StripLine]) -> StripLine:
        width = sum(part.width for part in parts) + em(16) * (len(parts) - 1)
        return StripLine(None, tuple(word for part in parts for word in part.words), width)

    def _wrapped(self, part: StripLine, room: float) -> list[StripLine]:
        lines: list[StripLine] = []
        words: tuple[Word, ...] = ()
        for word in part.words:
            if words and self._line(None, (*words, word)).width > room:
                lines.append(self._line(None if lines else part.glyph, words))
                words = ()
            words = (*words, word)
        return [*lines, self._line(None if lines else part.glyph, words)]

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        lines = self.lines(self.width())
        widest = max(line.width for line in lines)
        left = theme.M if self._room.large else (self.width() - widest - self._before()) / 2
        pitch = self.height() / len(lines) if not self._room.large else (self.height() - 12) / len(lines)
        top = 0 if not self._room.large else 6
        with QPainter(self) as painter:
            box(painter, QRectF(self.rect()), theme.BUTTON_RADIUS, fill=colours.sunken)
            side = self._badge_side()
            middle = top + pitch / 2 if self._room.large else self.height() / 2
            paint_badge(painter, self._strip.subject, QRectF(left, middle - side / 2, side, side), colours)
            x = left + self._before()
            if len(lines) == 1:
                for glyph, words in self._parts():
                    x = self._paint_line(painter, self._line(glyph, words), x, pitch / 2 + top, colours) + em(16)
                return
            for number, line in enumerate(lines):
                self._paint_line(painter, line, x, top + pitch * (number + 0.5), colours)

    def _paint_line(self, painter: QPainter, line: StripLine, x: float, middle: float, colours: theme.Tokens) -> float:
        metrics = QFontMetricsF(self._face())
        if line.glyph is not None:
            paint_glyph(painter, line.glyph, QRectF(x, middle - em(6), em(12), em(12)), colours.ink)
        x += self._glyph_width()
        baseline = middle + metrics.capHeight() / 2
        for word in line.words:
            painter.setFont(word.face)
            painter.setPen(colours.ink2 if word.quiet else colours.ink)
            painter.drawText(QPointF(x, baseline), word.text)
            x += word.width + metrics.horizontalAdvance(" ")
        return x - metrics.horizontalAdvance(" ")
