"""Colours, type and measures of every page: two frozen sets of tokens, and sizes as multiples of the base font.

Usage:

* ``tokens(widget)`` at paint time returns the colours for the widget's current palette;
* ``font(Role.TITLE, compact=True)`` returns the font of a role, ``em(64)`` a length that grows with the font;
* ``breakpoint_for(window.size())`` distinguishes wide and compact pages, and large fonts;
* ``apply(app, dark=..., scale=...)`` sets style, palette and font of the application; call it again on every change.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

XS, S, M, L, XL = 4, 8, 16, 24, 32  # distances; they do not grow with the font
CARD_RADIUS, BUTTON_RADIUS, BADGE_RADIUS, KEY_RADIUS = 12, 8, 6, 4

WIDEST, MARGIN = 1128, 24  # maximum width of a page's content at the base font, and the minimum margin on either side
BASE = 15  # base size in pixels, to which all other sizes refer; a larger system font raises it


LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter  # alignments of a text in its box; all are vertically centred


@dataclass(frozen=True)
class Tokens:
    """The colours of one appearance, by use.

    `A` and `B` are the only hues; they are equally light, so that neither side stands out.
    """

    bg: QColor
    surface: QColor
    sunken: QColor
    hover: QColor
    ink: QColor
    ink2: QColor
    ink3: QColor
    line: QColor
    line2: QColor
    unit: QColor
    primary: QColor
    onprimary: QColor
    A: QColor
    Asoft: QColor
    B: QColor
    Bsoft: QColor


def _tokens(*colours: str) -> Tokens:
    return Tokens(*(QColor(colour) for colour in colours))


LIGHT = _tokens(
    *("#F3F4F6", "#FFFFFF", "#E9ECF0", "#ECEFF3", "#161A20", "#48505E", "#626B79", "#D8DCE3"),
    *("#7C8594", "#8B94A3", "#1E2A38", "#FFFFFF", "#2A62A6", "#EAF1FA", "#984B0A", "#FAEFE6"),
)
DARK = _tokens(
    *("#13161B", "#1B1F26", "#272D36", "#252B34", "#EDF0F4", "#B7BEC9", "#959EAC", "#323945"),
    *("#747E8E", "#6B7585", "#E6EAF0", "#13161B", "#84B7F9", "#1D2C40", "#E8A36A", "#35271B"),
)


def tokens(widget: QWidget) -> Tokens:
    """Return the colours for the current palette of `widget`; call it at every paint."""
    return DARK if widget.palette().color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


INK = QPalette.ColorRole.WindowText
INK2 = QPalette.ColorRole.PlaceholderText
INK3 = QPalette.ColorRole.LinkVisited  # no style uses this role, so it can hold the third ink for labels

LINE = QPalette.ColorRole.Shadow


def palette(colours: Tokens) -> QPalette:
    """Return a palette that gives Qt's own widgets these colours."""
    role = QPalette.ColorRole
    result = QPalette(colours.surface, colours.bg)
    for roles, colour in (
        ((role.WindowText, role.Text, role.ButtonText, role.ToolTipText, role.Link, role.BrightText), colours.ink),
        ((role.PlaceholderText,), colours.ink2),
        ((role.LinkVisited,), colours.ink3),
        ((role.Window,), colours.bg),
        ((role.Base, role.Button, role.ToolTipBase), colours.surface),
        ((role.AlternateBase, role.Midlight), colours.hover),
        ((role.Light,), colours.surface),
        ((role.Mid, role.Dark), colours.line2),
        ((LINE,), colours.line),
        ((role.Highlight, role.Accent), colours.primary),
        ((role.HighlightedText,), colours.onprimary),
    ):
        for each in roles:
            result.setColor(QPalette.ColorGroup.All, each, colour)
    for each in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, each, colours.ink3)
    return result


class Role(Enum):
    """The role of a text: its size in pixels on a wide and on a compact page, and its weight."""

    NUMBER = (44, 36, 600)
    NUMBER_SMALL = (36, 36, 600)
    NUMBER_DENSE = (28, 28, 600)
    START = (32, 28, 600)
    RESULT = (30, 24, 600)
    HEADLINE = (28, 22, 600)
    TITLE = (22, 20, 600)
    LEAD = (20, 18, 600)
    STRIP = (20, 16, 600)
    SECTION = (18, 16, 600)
    FLOW = (16, 15, 400)
    STRONG = (15, 15, 600)
    LABEL = (15, 15, 500)
    BODY = (15, 15, 400)
    NOTE = (14, 14, 400)
    MINOR = (14, 14, 500)
    CAPTION = (13, 13, 400)


@cache  # layouts ask thousands of times a second
def base() -> int:
    """Return the base size in pixels: 15, or the size of the application's font if that is larger."""
    return max(BASE, QFontInfo(QApplication.font()).pixelSize())


def em(length: float) -> int:
    """Return a length, given for the base size of 15 pixels, in pixels for the current font."""
    return round(length * base() / BASE)


def font(role: Role, *, compact: bool = False, weight: int | None = None) -> QFont:
    """Return the application's font in the size and weight of `role`, with tabular digits."""
    return QFont(_face(role, compact, weight))  # a copy, which may be changed


@cache
def _face(role: Role, compact: bool, weight: int | None) -> QFont:
    wide, small, usual = role.value
    result = QFont(QApplication.font())
    result.setPixelSize(em(small if compact else wide))
    result.setWeight(QFont.Weight(weight or usual))
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


COMPACT_BELOW = 1000  # width of a page, in pixels at the base font


class Breakpoint(NamedTuple):
    """The room of a page, measured in ems, so that a larger font counts as a smaller window.

    `compact` below 1000 px at the base of 15 px, `low` below 760 px, `large` (a large font) below 500 px.
    """

    compact: bool
    low: bool
    large: bool

    @property
    def narrow(self) -> bool:
        """Return whether elements that are side by side on a wide page are stacked."""
        return self.compact or self.large


WIDE = Breakpoint(False, False, False)


def breakpoint_for(size: QSize) -> Breakpoint:
    """Return the breakpoint for a page of `size`."""
    width, height = size.width() * BASE / base(), size.height() * BASE / base()
    return Breakpoint(width < COMPACT_BELOW, height < 760, height < 500)


def content_width(width: int) -> int:
    """Return the width of the content of a page `width` pixels wide."""
    return min(em(WIDEST), width - 2 * MARGIN)


def apply(app: QApplication, *, dark: bool = False, scale: float = 1.0, family: str | None = None) -> None:
    """Set the application's style, colours and font; call it again when one of them changes.

    The first call remembers the system's font. Scale 1 is the larger of 15 px and that font; the pages are also laid
    out for scales of 1.5 and 2.
    """
    if app.property("system_font") is None:
        app.setProperty("system_font", app.font())
        app.setStyle(QStyleFactory.create("Fusion"))
    system: QFont = app.property("system_font")
    chosen = QFont(system)
    if family is not None:
        chosen.setFamily(family)
    chosen.setPixelSize(round(scale * max(BASE, QFontInfo(system).pixelSize())))
    chosen.setFeature(QFont.Tag("tnum"), 1)
    app.setPalette(palette(DARK if dark else LIGHT))
    base.cache_clear()
    _face.cache_clear()
    app.setFont(chosen)
