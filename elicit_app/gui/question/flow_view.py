"""The full picture: for every truth in the middle, what the model says in A to the left and in B to the right."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.question.flow_paint import FlowPainter
from elicit_app.gui.question.flow_place import flow_place, leaf_heights
from elicit_app.gui.question.full_picture import FullPicture
from elicit_app.gui.theme import em
from elicit_app.session.words.branches import Branch


class Air(NamedTuple):
    """Heights: head and a leaf at least, at the base font, and the free pixels around a branch."""

    head: int
    leaf: int
    around: int


_EASY, _TIGHT, _MOST_LEAF = Air(48, 20, 11), Air(36, 17, 4), 36


class FlowView(FullPicture):
    """Truths in the middle, branches and bars to both sides: grey but for what differs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._compact = False

    def set_compact(self, compact: bool) -> None:
        """Take the text sizes for a compact page, or for a wide one."""
        self._compact = compact
        self.update()

    def needed_height(self, width: int) -> int:
        return self._height(self.condensed, width, _TIGHT, _TIGHT.leaf)

    def wanted_height(self, width: int) -> int:
        return self._height(self.full, width, _EASY, _MOST_LEAF)

    def _height(self, shown: tuple[Branch, ...], width: int, air: Air, leaf: int) -> int:
        if not shown:
            return 0
        place = flow_place(shown, width, compact=self._compact)
        leaves = sum(sum(leaf_heights(branch, place, leaf, compact=self._compact)) for branch in shown)
        return round(em(air.head) + leaves + len(shown) * (air.around + 1) + 0.5)

    def sizeHint(self) -> QSize:
        return QSize(em(600), self.wanted_height(em(600)))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(400), self.needed_height(em(400)))

    def shown(self) -> tuple[Branch, ...]:
        """Return what there is room for: everything, or what differs with the rest joined."""
        full = self._height(self.full, self.width(), _TIGHT, _TIGHT.leaf)
        return self.full if full <= self.height() else self.condensed

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.shown()
        if not shown:
            return
        easy = self._height(shown, self.width(), _EASY, _EASY.leaf) <= self.height()
        air = _EASY if easy else _TIGHT
        colours, head = theme.tokens(self), em(air.head)
        place = flow_place(shown, self.width(), compact=self._compact)
        least = [leaf_heights(branch, place, air.leaf, compact=self._compact) for branch in shown]
        stretch = (self.height() - head - len(shown) * (air.around + 1)) / sum(map(sum, least))
        y = float(head)
        with QPainter(self) as painter:
            parts = FlowPainter(painter, place, colours, compact=self._compact)
            parts.head(head)
            for branch, leaves in zip(shown, least, strict=True):
                painter.fillRect(QRectF(theme.S, round(y), self.width() - 2 * theme.S, 1), colours.line)
                heights = [height * stretch for height in leaves]
                high = sum(heights)
                y += 1 + air.around / 2
                parts.branch(branch, QRectF(0, y, self.width(), high), heights)
                y += high + air.around / 2
