"""The full picture: for every truth in the middle, what the model says in A to the left and in B to the right."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.question.flow_paint import FlowPainter
from elicit_app.gui.question.flow_place import flow_place
from elicit_app.gui.theme import em
from elicit_app.session.branches import Branch, branches
from elicit_app.study.model import Wording

MOST_CLASSES = 5
"""Above this many classes what is the same is joined."""

_MOST_LEAF = 36

_FEWEST_LEAVES = 2
"""A truth takes the height of at least this many leaves, so that its box has room."""


class FlowView(QLabel):
    """A painted label: grey but for what differs; its accessible name lists every number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full: tuple[Branch, ...] = ()
        self._condensed: tuple[Branch, ...] = ()
        self._compact = False

    def show_pair(self, left: Counts, right: Counts, wording: Wording) -> None:
        """Show a pair of confusion matrices; rows are true classes."""
        self._condensed = branches(left, right, wording, condensed=True)
        few = len(left) <= MOST_CLASSES
        self._full = branches(left, right, wording) if few else self._condensed
        self.setAccessibleName(". ".join(_spoken(branch) for branch in self._full))
        self.update()

    def set_compact(self, compact: bool) -> None:
        """Take the text sizes for a compact page, or for a wide one."""
        self._compact = compact
        self.update()

    def needed_height(self) -> int:
        """Return the least height in which no line is cut."""
        return _TIGHT.height(self._condensed)

    def wanted_height(self) -> int:
        """Return the height at which the view looks best."""
        return _EASY.height(self._full, _MOST_LEAF)

    def sizeHint(self) -> QSize:
        return QSize(em(600), self.wanted_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(em(400), self.needed_height())

    def shown(self) -> tuple[Branch, ...]:
        """Return what there is room for: everything, or what differs with the rest joined."""
        return self._full if _TIGHT.height(self._full) <= self.height() else self._condensed

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.shown()
        if not shown:
            return
        air = _EASY if _EASY.height(shown) <= self.height() else _TIGHT
        colours, head = theme.tokens(self), em(air.head)
        place = flow_place(shown, self.width(), compact=self._compact)
        free = self.height() - head - len(shown) * (air.around + 1)
        leaf_height = free / sum(_leaves(branch) for branch in shown)
        y = float(head)
        with QPainter(self) as painter:
            parts = FlowPainter(painter, place, colours, compact=self._compact)
            parts.head(head)
            for branch in shown:
                painter.fillRect(QRectF(theme.S, round(y), self.width() - 2 * theme.S, 1), colours.line)
                high = leaf_height * _leaves(branch)
                y += 1 + air.around / 2
                parts.branch(branch, QRectF(0, y, self.width(), high), leaf_height)
                y += high + air.around / 2


class Air(NamedTuple):
    """Heights at the base font: head, a leaf at least, and the free pixels around a branch."""

    head: int
    leaf: int
    around: int

    def height(self, shown: tuple[Branch, ...], leaf: int | None = None) -> int:
        """Return the height of `shown` with leaves of this height."""
        high = em(leaf or self.leaf)
        return em(self.head) + sum(_leaves(branch) * high + self.around + 1 for branch in shown)


_EASY, _TIGHT = Air(48, 20, 11), Air(36, 17, 4)


def _leaves(branch: Branch) -> int:
    return max(_FEWEST_LEAVES, len(branch.leaves))


def _spoken(branch: Branch) -> str:
    said = [
        f"{leaf.said}{', correct' if leaf.correct else ''}: {leaf.left:,} in A, {leaf.right:,} in B"
        for leaf in branch.leaves
    ]
    return f"Truth {branch.truth}, {branch.total:,}; model says " + "; ".join(said)
