"""The two bands around the comparison: progress and actions above, the difference in one sentence below.

The sentence describes one side, with its fewer cases first, on as few lines as possible.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button
from elicit_app.gui.elements.painting import Glyph, Label, Painted, annotate, box, paint_badge, paint_glyph
from elicit_app.gui.elements.surfaces import ProgressBar
from elicit_app.gui.theme import Breakpoint, Role, em, font
from elicit_app.session.pair_words import DifferenceSentence, Letter
from elicit_app.session.sentences import Balance
from metrics.text import isolated

_BETWEEN_PARTS = 16  # space between two parts on one line, at the base font

_MOST_LINES, _LONGEST_CHANGE = 4, 64
"""Lines of the sentence, and the length to which changes are cut if it would take more."""


class Word(NamedTuple):
    """A word, or words that must stay together, in the first or in the second ink."""

    text: str
    quiet: bool = False


class Part(NamedTuple):
    """Words after a triangle or the badge of a side; a wrapped line has neither."""

    glyph: Glyph | None
    words: tuple[Word, ...]
    badge: Letter | None = None


@dataclass(frozen=True)
class StripText:
    """The lines of a sentence in one type size; a line holds one part, or both if there is room."""

    lines: tuple[tuple[Part, ...], ...]  # from top to bottom
    role: Role
    compact: bool

    def face(self, word: Word | None = None) -> QFont:
        return font(self.role, compact=self.compact, weight=400 if word is not None and word.quiet else 600)

    def mark_width(self, part: Part) -> float:
        return em(26) + em(10) if part.badge is not None else em(12) + em(8)

    @cached_property
    def space(self) -> float:
        return self._metrics[False].horizontalAdvance(" ")

    def word_width(self, word: Word) -> float:
        return self._metrics[word.quiet].horizontalAdvance(word.text)

    @cached_property
    def _metrics(self) -> dict[bool, QFontMetricsF]:
        """Return the font metrics of the first ink and, under True, of the second."""
        return {quiet: QFontMetricsF(self.face(Word("", quiet))) for quiet in (False, True)}

    def width(self, parts: tuple[Part, ...]) -> float:
        widths = [
            self.mark_width(part) + sum(map(self.word_width, part.words)) + self.space * (len(part.words) - 1)
            for part in parts
        ]
        return sum(widths) + em(_BETWEEN_PARTS) * (len(parts) - 1)


def strip_text(
    sentence: DifferenceSentence | Balance, width: float, room: Breakpoint, *, short: bool = False
) -> StripText:
    """Return the lines for a sentence in `width` pixels; smaller type is preferred to more than one line per part.

    Names that would take more than four lines are elided in the middle (`short`); the rows of the card, the tooltips
    and the accessible name have them in full.
    """
    if short:
        sentence = _shortened(sentence)
    parts = _balance_parts(sentence) if isinstance(sentence, Balance) else _parts(sentence)
    for role in (Role.STRIP, Role.STRONG):
        text = StripText((tuple(parts),), role, room.narrow)
        if not room.large and text.width(tuple(parts)) <= width:
            return text
        lines = tuple((part,) for whole in parts for part in _wrapped(text, whole, width))
        if role is Role.STRONG and len(lines) > _MOST_LINES and not room.large and not short:
            return strip_text(sentence, width, room, short=True)
        if len(lines) == len(parts) or role is Role.STRONG:
            return StripText(lines, role, room.narrow)
    raise AssertionError("the last role always fits")


def _parts(strip: DifferenceSentence) -> list[Part]:
    """Return the parts of the sentence: fewer, more, and "than A" after the last one."""
    if not strip.changes:
        return [Part(None, tuple(Word(word, quiet=True) for word in f"is the same as {strip.reference}".split()))]
    parts = []
    for glyph, changes in ((Glyph.FEWER, strip.fewer), (Glyph.MORE, strip.more)):
        if changes:
            comma = "," if glyph is Glyph.FEWER and strip.more else ""
            sign = glyph if all(_has_direction(glyph, change) for change in changes) else None
            parts.append(Part(sign, _words_of(", ".join(changes) + comma)))
    than = Word(f"than {strip.reference}", quiet=True)
    parts[-1] = Part(parts[-1].glyph, (*parts[-1].words, than))
    return parts


def _has_direction(glyph: Glyph, change: str) -> bool:
    """Return whether a change has the direction of a glyph; for good amounts, more is better."""
    return (" fewer " in f" {change} ") == (glyph is Glyph.FEWER)


def _balance_parts(balance: Balance) -> list[Part]:
    """Return the two sides of an equality, each after its badge."""
    (one, other), (few, many) = balance.letters, balance.more
    first = (*_words_of(few or "nothing more"), Word(balance.compared, quiet=True))
    second = _words_of(f"{many or 'nothing more'}" + (":" if balance.ratio else ""))
    if balance.ratio:
        second = (*second, Word("one counts as", quiet=True), Word(balance.ratio))
    return [Part(None, first, one), Part(None, second, other)]


def _shortened(sentence: DifferenceSentence | Balance) -> DifferenceSentence | Balance:
    if isinstance(sentence, Balance):
        few, many = (", ".join(map(_short, more.split(", "))) for more in sentence.more)
        return sentence._replace(more=(few, many))
    return replace(sentence, fewer=tuple(map(_short, sentence.fewer)), more=tuple(map(_short, sentence.more)))


def _short(change: str) -> str:
    if len(change) <= _LONGEST_CHANGE:
        return change
    half = _LONGEST_CHANGE // 2
    return f"{change[:half].rstrip()}…{change[-half:].lstrip()}"


_WORD = re.compile(r"[^\s\u2068]*\u2068[^\u2069]*\u2069\S*|\S+")


def _words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a text; a right-to-left name stays together."""
    return tuple(Word(word) for word in _WORD.findall(isolated(text)))


def _wrapped(text: StripText, part: Part, width: float) -> list[Part]:
    lines: list[Part] = []
    words: tuple[Word, ...] = ()
    for word in part.words:
        if words and text.width((Part(None, (*words, word)),)) > width:
            lines.append(Part(None, words) if lines else part._replace(words=words))
            words = ()
        words = (*words, word)
    return [*lines, Part(None, words) if lines else part._replace(words=words)]


_AFTER_BADGE = 14
_AIR = 12  # free height of a strip with tight lines


class StripBand(Painted, QLabel):
    """A sunken band that paints the sentence; a label, so that screen readers read it as text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strip: DifferenceSentence | Balance = DifferenceSentence("B", (), ())
        self._room, self._blank = theme.WIDE, False

    def show_strip(self, strip: DifferenceSentence | Balance, room: Breakpoint, *, blank: bool = False) -> None:
        """Show a sentence in the size for the room; `blank` keeps the room but shows nothing."""
        self._strip, self._room, self._blank = strip, room, blank
        may_be_cut = not blank and _shortened(strip) != strip
        annotate(self, name="" if blank else strip.sentence, tooltip=strip.sentence if may_be_cut else "")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(em(400), self.heightForWidth(em(400)))

    def text_for(self, width: int) -> StripText:
        return strip_text(self._strip, width - 2 * theme.M - self._before(), self._room)

    def heightForWidth(self, width: int) -> int:
        text = self.text_for(width)
        return len(text.lines) * self._pitch(text) + self._padding(text)

    def height_of(self, sentence: DifferenceSentence | Balance, width: int, room: Breakpoint) -> int:
        shown = self._strip, self._room
        self._strip, self._room = sentence, room
        height = self.heightForWidth(width)
        self._strip, self._room = shown
        return height

    def _pitch(self, text: StripText) -> int:
        """Return the line spacing; it is generous for up to two lines."""
        if self._room.large or len(text.lines) > 2:
            return em(22.5)
        return em(32) if self._room.compact else em(37)

    def _padding(self, text: StripText) -> int:
        if self._room.large or len(text.lines) > 2:
            return _AIR
        return em(11) if len(text.lines) == 1 else 0

    def _badge_side(self) -> int:
        return em(24 if self._room.large else 26)

    def _before(self) -> int:
        """Return the width before all words: the badge of the sentence's side, and space."""
        return 0 if isinstance(self._strip, Balance) else self._badge_side() + _AFTER_BADGE

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        text, side = self.text_for(self.width()), self._badge_side()
        pitch = self._pitch(text)
        widest = max(text.width(line) for line in text.lines)
        left = theme.M if self._room.large else (self.width() - widest - self._before()) / 2
        middle = (self.height() - (len(text.lines) - 1) * pitch) / 2
        box(painter, QRectF(self.rect()), theme.BUTTON_RADIUS, fill=colours.sunken)
        if self._blank:
            return
        if isinstance(self._strip, DifferenceSentence):
            badge = middle if self._room.large else self.height() / 2
            paint_badge(painter, self._strip.subject, QRectF(left, badge - side / 2, side, side), colours)
        for line in text.lines:
            x = left + self._before()
            for part in line:
                x = self._paint_part(painter, text, part, x, middle, colours) + em(_BETWEEN_PARTS)
            middle += pitch

    def _paint_part(
        self, painter: QPainter, text: StripText, part: Part, x: float, middle: float, colours: theme.Tokens
    ) -> float:
        """Paint a part, starting at `x`, and return its end."""
        if part.glyph is not None:
            paint_glyph(painter, part.glyph, QRectF(x, middle - em(6), em(12), em(12)), colours.ink)
        if part.badge is not None:
            side = min(self._badge_side(), self._pitch(text) - theme.XS)
            paint_badge(painter, part.badge, QRectF(x, middle - side / 2, side, side), colours)
        x += text.mark_width(part)
        baseline = middle + QFontMetricsF(text.face()).capHeight() / 2
        for word in part.words:
            painter.setFont(text.face(word))
            painter.setPen(colours.ink2 if word.quiet else colours.ink)
            painter.drawText(QPointF(x, baseline), word.text)
            x += text.word_width(word) + text.space
        return x - text.space


_BAR = 6
_BAR_WIDTH = 248
_BETWEEN_ACTIONS = 14


class TopBar(QWidget):
    """Progress in words and as a bar; with a large font the bar takes the full width below the words.

    The `actions`, from left to right, become children of the bar; `brief` are their texts if there is little room.
    """

    def __init__(self, actions: tuple[Button, ...], brief: tuple[str, ...]) -> None:
        super().__init__()
        self.strong = Label(role=theme.Role.STRONG, wrap=False, parent=self)
        self.quiet = Label(role=theme.Role.BODY, ink=theme.INK2, wrap=False, parent=self)
        self.progress = ProgressBar(self)
        self._actions, self._brief = actions, brief
        self._texts = tuple(action.text() for action in actions)
        for action in actions:
            action.setParent(self)
            annotate(action, name=action.text())
        self._room = theme.WIDE

    def show_progress(self, strong: str, quiet: str, share: float, spoken: str) -> None:
        """Show progress: "Question 7,", "about 5 to 8 more", the share done, and the same in words."""
        self.strong.setText(strong)
        self.quiet.setText(quiet)
        self.progress.set_share(share, spoken)
        self._place()

    def rename(self, action: Button, text: str, brief: str) -> None:
        index = self._actions.index(action)
        self._texts = (*self._texts[:index], text, *self._texts[index + 1 :])
        self._brief = (*self._brief[:index], brief, *self._brief[index + 1 :])
        annotate(action, name=text)
        self._place()

    def arrange(self, room: Breakpoint) -> None:
        self._room = room
        self._place()

    def needed_height(self, width: int) -> int:
        if not self._room.large:
            return em(40)
        lines = 1 if self._fits_one_line(width) else 2
        return max(self._action_height(), lines * self.strong.sizeHint().height()) + _BAR + 14

    def minimum_width(self) -> int:
        words = max(self.strong.sizeHint().width(), self.quiet.sizeHint().width())
        if not self._room.large:
            words = max(em(_BAR_WIDTH), self._words_width())
        return words + theme.M + self._actions_width(self._brief)

    def _words_width(self) -> int:
        return self.strong.sizeHint().width() + em(5) + self.quiet.sizeHint().width()

    def _actions_width(self, texts: tuple[str, ...]) -> int:
        widths = [action.width_for(text) for action, text in zip(self._actions, texts, strict=True)]
        return sum(widths) + _BETWEEN_ACTIONS * max(0, len(widths) - 1)

    def _shorten(self) -> None:
        """Use the brief texts with a large font, or if the others do not fit."""
        words = max(em(_BAR_WIDTH), self._words_width()) + theme.M
        brief = self._room.large or words + self._actions_width(self._texts) > self.width()
        for action, text in zip(self._actions, self._brief if brief else self._texts, strict=True):
            action.setText(text)

    def _action_height(self) -> int:
        return em(26) if self._room.large else em(40)

    def _fits_one_line(self, width: int) -> bool:
        return self._words_width() + theme.M + self._actions_width(self._brief) <= width

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        self._shorten()
        line = self.strong.sizeHint().height()
        two_lines = self._room.large and not self._fits_one_line(self.width())
        top = 0 if two_lines else (self._action_height() - line) // 2 if self._room.large else em(5)
        self.strong.setGeometry(0, top, self.strong.sizeHint().width(), line)
        x, y = (0, top + line) if two_lines else (self.strong.width() + em(5), top)
        self.quiet.setGeometry(x, y, self.quiet.sizeHint().width(), line)
        bar = self.width() if self._room.large else min(self.width(), em(_BAR_WIDTH))
        below = self.height() - _BAR - (theme.S if self._room.large else 0)
        self.progress.setGeometry(0, below, bar, _BAR)
        x = self.width()
        for action in reversed(self._actions):
            width = action.sizeHint().width()
            action.setGeometry(x - width, 0, width, self._action_height())
            x -= width + _BETWEEN_ACTIONS
        self.update()
