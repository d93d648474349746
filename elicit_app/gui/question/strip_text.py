"""The sentence of the strip as lines: on one line, on one for fewer and one for more, or wrapped at words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from PySide6.QtGui import QFont, QFontMetricsF

from elicit_app.gui.elements import Glyph
from elicit_app.gui.theme import Breakpoint, Role, em, font
from elicit_app.session.words.ledger import Strip


class Word(NamedTuple):
    """A word, or words that stay together, in the first or in the second ink."""

    text: str
    quiet: bool = False


class Part(NamedTuple):
    """Words that follow a triangle; a wrapped line has none."""

    glyph: Glyph | None
    words: tuple[Word, ...]


@dataclass(frozen=True)
class StripText:
    """The lines of a sentence in one size of type; a line holds one part, or both where there is room.

    Parameters
    ----------
    lines : tuple of tuple of Part
        From top to bottom.
    role : Role
        Size of the type.
    compact : bool
        Whether the page is compact.
    """

    lines: tuple[tuple[Part, ...], ...]
    role: Role
    compact: bool

    def face(self, word: Word | None = None) -> QFont:
        """Return the font of a word."""
        return font(self.role, compact=self.compact, weight=400 if word is not None and word.quiet else 600)

    @property
    def glyph_width(self) -> float:
        """Return what a triangle takes, with the space after it."""
        return em(12) + em(8)

    @property
    def between_parts(self) -> float:
        """Return the space between two parts on one line."""
        return em(16)

    @cached_property
    def space(self) -> float:
        """Return the space between two words."""
        return self._metrics[False].horizontalAdvance(" ")

    def word_width(self, word: Word) -> float:
        """Return the width of a word."""
        return self._metrics[word.quiet].horizontalAdvance(word.text)

    @cached_property
    def _metrics(self) -> dict[bool, QFontMetricsF]:
        """Return what measures words in the first ink and, under True, in the second."""
        return {quiet: QFontMetricsF(self.face(Word("", quiet))) for quiet in (False, True)}

    def width(self, parts: tuple[Part, ...]) -> float:
        """Return the width of a line."""
        widths = [
            self.glyph_width + sum(map(self.word_width, part.words)) + self.space * (len(part.words) - 1)
            for part in parts
        ]
        return sum(widths) + self.between_parts * (len(parts) - 1)


def strip_text(strip: Strip, width: float, room: Breakpoint) -> StripText:
    """Return the lines for a sentence in `width` pixels: smaller type before more than a line for each part."""
    parts, compact = _parts(strip), room.compact or room.large
    for role in (Role.STRIP, Role.STRONG):
        text = StripText((tuple(parts),), role, compact)
        if not room.large and text.width(tuple(parts)) <= width:
            return text
        lines = tuple((part,) for whole in parts for part in _wrapped(text, whole, width))
        if len(lines) == len(parts) or role is Role.STRONG:
            return StripText(lines, role, compact)
    raise AssertionError("the last role always fits")


def _parts(strip: Strip) -> list[Part]:
    """Return the parts of the sentence: fewer, more, and "than A" after the last one."""
    if not strip.changes:
        return [Part(None, tuple(Word(word, quiet=True) for word in f"is the same as {strip.reference}".split()))]
    parts = []
    for glyph, changes in ((Glyph.FEWER, strip.fewer), (Glyph.MORE, strip.more)):
        if changes:
            comma = "," if glyph is Glyph.FEWER and strip.more else ""
            parts.append(Part(glyph, tuple(Word(word) for word in (", ".join(changes) + comma).split())))
    than = Word(f"than {strip.reference}", quiet=True)
    parts[-1] = Part(parts[-1].glyph, (*parts[-1].words, than))
    return parts


def _wrapped(text: StripText, part: Part, width: float) -> list[Part]:
    lines: list[Part] = []
    words: tuple[Word, ...] = ()
    for word in part.words:
        if words and text.width((Part(None, (*words, word)),)) > width:
            lines.append(Part(None if lines else part.glyph, words))
            words = ()
        words = (*words, word)
    return [*lines, Part(None if lines else part.glyph, words)]
