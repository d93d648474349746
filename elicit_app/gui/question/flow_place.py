"""Columns of the full picture, measured from its middle outwards; the left side mirrors the right one."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from elicit_app.gui import theme
from elicit_app.gui.theme import Role, em, font
from elicit_app.session.branches import Branch
from elicit_app.session.views import Side

BESIDE_NUMBER = 10
SIGN = 10
"""Side of the triangle before "12 more", at the base font."""


def said_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of what the model says."""
    return font(Role.FLOW, compact=compact, weight=600 if strong else 400)


def number_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of a number."""
    return font(Role.TITLE if strong else Role.SECTION, compact=compact, weight=600 if strong else 400)


def more_font() -> QFont:
    """Return the font of "12 more"."""
    return font(Role.MINOR, weight=600)


@dataclass(frozen=True)
class FlowPlace:
    """Distances from the middle.

    Parameters
    ----------
    width : float
        Width of the view.
    box : float
        Half the width of the box of a truth.
    names, name_width : float
        Where the names begin, and how wide they may be.
    number : float
        Where the numbers end.
    bars : float
        Where the bars begin.
    per_case : float
        Length of a bar per case.
    """

    width: float
    box: float
    names: float
    name_width: float
    number: float
    bars: float
    per_case: float

    def span(self, side: Side, start: float, width: float, y: float, height: float) -> QRectF:
        """Return a box that begins `start` from the middle and is `width` wide, centred on the height `y`."""
        middle = self.width / 2
        left = middle - start - width if side == "left" else middle + start
        return QRectF(left, y - height / 2, width, height)


def flow_place(shown: tuple[Branch, ...], width: float, *, compact: bool) -> FlowPlace:
    """Return the columns: names and numbers as wide as their longest text, the bars get the rest."""
    half = width / 2
    names = QFontMetricsF(said_font(compact=compact, strong=True))
    numbers = QFontMetricsF(number_font(compact=compact, strong=True))
    leaves = [leaf for branch in shown for leaf in branch.leaves]
    longest = max(names.horizontalAdvance(leaf.said) for leaf in leaves)
    digits = max(numbers.horizontalAdvance(f"{max(leaf.left, leaf.right):,}") for leaf in leaves)
    truth = max(QFontMetricsF(font(Role.STRONG)).horizontalAdvance(branch.truth) for branch in shown)
    box = min(max(em(44 if compact else 95), truth / 2 + theme.S), half * 0.25)
    start = box + (40 if compact else em(58))
    name_width = min(longest, half * 0.3) + 2
    number = start + max(name_width, 0 if compact else em(102)) + (12 if compact else em(16)) + digits
    bars = number + BESIDE_NUMBER
    more = max(QFontMetricsF(more_font()).horizontalAdvance(f"{leaf.surplus:,} more") for leaf in leaves)
    end = half - theme.M - more - em(SIGN) - 6 - BESIDE_NUMBER
    wrong = [max(leaf.left, leaf.right) for leaf in leaves if not leaf.correct]
    return FlowPlace(width, box, start, name_width, number, bars, max(theme.XS, end - bars) / max(1, *wrong, 1))
