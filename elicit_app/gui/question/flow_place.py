"""Columns of the full picture, measured from its middle outwards; the left side mirrors the right one."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from elicit_app.gui import theme
from elicit_app.gui.question.breaking import wrapped_height
from elicit_app.gui.theme import Role, em, font
from elicit_app.session.views.asked import Side
from elicit_app.session.words.branches import Branch, Leaf

BESIDE_NUMBER = 10
SIGN = 10
"""Side of the triangle before "12 more", at the base font."""

_LEAST_NAME = 60
"""Width of a name that must be wrapped, at least, at the base font."""


def said_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of what the model says."""
    return font(Role.FLOW, compact=compact, weight=600 if strong else 400)


def number_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of a number."""
    return font(Role.TITLE if strong else Role.SECTION, compact=compact, weight=600 if strong else 400)


def truth_font() -> QFont:
    """Return the font of the name of a truth."""
    return font(Role.STRONG)


def truth_line(branch: Branch) -> str:
    """Return number and name of a truth on one line."""
    return f"{branch.total:,} · {branch.truth}"


def truth_width(place: FlowPlace) -> float:
    """Return the width of the text in the box of a truth."""
    return 2 * place.box - theme.S


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
    """Return the columns: numbers whole, names as wide as the longest where there is room, the bars get the rest."""
    half = width / 2
    leaves = [leaf for branch in shown for leaf in branch.leaves]
    names, strong = QFontMetricsF(said_font(compact=compact, strong=True)), QFontMetricsF(truth_font())
    numbers = QFontMetricsF(number_font(compact=compact, strong=True))
    digits = max(numbers.horizontalAdvance(f"{max(leaf.left, leaf.right):,}") for leaf in leaves)
    truth = max(strong.horizontalAdvance(branch.truth) for branch in shown)
    box = min(max(em(44 if compact else 95), truth / 2 + theme.S), half * (0.18 if compact else 0.25))
    start = box + (28 if compact else em(58))
    gap = 12 if compact else em(16)
    beyond = BESIDE_NUMBER + _after_bars(leaves) + theme.S
    longest = max(names.horizontalAdvance(leaf.said) for leaf in leaves) + 2
    name_width = min(longest, max(em(_LEAST_NAME), half - start - gap - digits - beyond))
    number = start + max(name_width, 0 if compact else min(em(102), half * 0.2)) + gap + digits
    bars = number + BESIDE_NUMBER
    wrong = [max(leaf.left, leaf.right) for leaf in leaves if not leaf.correct]
    length = max(theme.XS, half - theme.S - _after_bars(leaves) - bars)
    return FlowPlace(width, box, start, name_width, number, bars, length / max(1, *wrong, 1))


def _after_bars(leaves: list[Leaf]) -> float:
    """Return what stands after the longest bar: triangle and "12 more", at least as wide as sign and "correct"."""
    surplus = max(leaf.surplus for leaf in leaves)
    more = em(SIGN) + 6 + QFontMetricsF(more_font()).horizontalAdvance(f"{surplus:,} more") + theme.M
    return max(more, em(14) + 6 + QFontMetricsF(font(Role.BODY)).horizontalAdvance("correct"))


def leaf_heights(branch: Branch, place: FlowPlace, usual: int, *, compact: bool) -> list[float]:
    """Return the least heights of the leaves of a truth.

    `usual` at the base font; more where a name is wrapped, or where the box of the truth needs it.
    """
    face = said_font(compact=compact, strong=True)
    one_line = QFontMetricsF(face).height()
    names = [wrapped_height(leaf.said, face, place.name_width) for leaf in branch.leaves]
    heights = [max(em(usual), name if name > 1.5 * one_line else 0.0) for name in names]
    box = max(2 * em(usual), wrapped_height(truth_line(branch), truth_font(), truth_width(place)) + theme.XS)
    return [height * max(1.0, box / sum(heights)) for height in heights]
