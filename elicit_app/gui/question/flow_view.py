"""The full picture: for every truth what the model says in A and in B, as branches or, with a large font, as a list."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements import Glyph, box, paint_badge, paint_glyph, side_colours
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.question.flow_paint import (
    SIGN,
    FlowPainter,
    flow_place,
    leaf_heights,
    more_font,
    number_font,
    said_font,
    truth_font,
    truth_line,
)
from elicit_app.gui.question.measures import breakable, wrapped_height
from elicit_app.gui.theme import em
from elicit_app.session.views.asked import Side
from elicit_app.session.words.ledger import Branch, Leaf, branches, letter_of
from elicit_app.study.model import Wording

MOST_CLASSES = 5
"""Above this many classes what is the same is joined."""


class FullPicture(QLabel):
    """A painted label, so that it reads like a text: its accessible name lists every number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.full: tuple[Branch, ...] = ()
        self.condensed: tuple[Branch, ...] = ()

    def show_pair(self, left: Counts, right: Counts, wording: Wording) -> None:
        """Show a pair of confusion matrices; rows are true classes."""
        self.condensed = branches(left, right, wording, condensed=True)
        few = len(left) <= MOST_CLASSES
        self.full = branches(left, right, wording) if few else self.condensed
        tell(self, name=". ".join(_spoken(branch) for branch in self.full))
        self.update()

    def needed_height(self, width: int) -> int:
        """Return the least height in which no line is cut."""
        raise NotImplementedError

    def wanted_height(self, width: int) -> int:
        """Return the height at which the view looks best."""
        raise NotImplementedError


def _spoken(branch: Branch) -> str:
    said = [
        f"{leaf.said}{', correct' if leaf.correct else ''}: {leaf.left:,} in A, {leaf.right:,} in B"
        for leaf in branch.leaves
    ]
    return f"Truth {branch.truth}, {branch.total:,}; model says " + "; ".join(said)


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


_HEAD, _TRUTH, _LEAF = 32, 26, 22
_CENTRE, _WRAP = Qt.AlignmentFlag.AlignCenter, Qt.TextFlag.TextWordWrap
_SAYS = "the model says"
_SIDES: tuple[Side, Side] = ("left", "right")


class FlowList(FullPicture):
    """Grey but for what differs, as the wide form, but without bars and curves."""

    def needed_height(self, width: int) -> int:
        return round(self._head(width) + sum(sum(self.heights(branch, width)) for branch in self.full) + theme.S)

    def _head(self, width: int) -> float:
        return max(em(_HEAD), wrapped_height(_SAYS, said_font(compact=True, strong=False), width - 2 * self.side()))

    def wanted_height(self, width: int) -> int:
        return self.needed_height(width)

    def side(self) -> float:
        """Return the width of a side: number, triangle and "12 more"."""
        numbers, more = QFontMetricsF(number_font(compact=True, strong=True)), QFontMetricsF(more_font())
        leaves = [leaf for branch in self.full for leaf in branch.leaves]
        digits = max((numbers.horizontalAdvance(f"{max(leaf.left, leaf.right):,}") for leaf in leaves), default=0.0)
        surplus = max((leaf.surplus for leaf in leaves if leaf.differs), default=0)
        return theme.S + em(SIGN) + 6 + more.horizontalAdvance(f"{surplus:,} more") + theme.S + digits + theme.S

    def heights(self, branch: Branch, width: int) -> list[float]:
        """Return the heights of the line of the truth and of its leaves."""
        room, face = self.name_width(width), said_font(compact=True, strong=True)
        truth = max(em(_TRUTH), wrapped_height(_truth(branch), truth_font(), width - 2 * theme.M) + theme.S)
        return [truth, *(max(em(_LEAF), wrapped_height(leaf.said, face, room)) for leaf in branch.leaves)]

    def name_width(self, width: int) -> float:
        """Return the width of what the model says: sign and name."""
        return width - 2 * self.side() - em(16)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, y = theme.tokens(self), self._head(self.width())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_head(painter, colours)
            for branch in self.full:
                truth, *leaves = self.heights(branch, self.width())
                line = QRectF(theme.S, y, self.width() - 2 * theme.S, truth)
                box(painter, line, theme.BUTTON_RADIUS, fill=colours.sunken)
                self._write(painter, _truth(branch), truth_font(), colours.ink, line)
                y += truth
                for leaf, high in zip(branch.leaves, leaves, strict=True):
                    self._paint_leaf(painter, leaf, QRectF(0, y, self.width(), high), colours)
                    y += high

    def _paint_head(self, painter: QPainter, colours: theme.Tokens) -> None:
        badge, high = em(24), self._head(self.width())
        for each in _SIDES:
            x = self.side() - theme.S - badge if each == "left" else self.width() - self.side() + theme.S
            paint_badge(painter, letter_of(each), QRectF(x, (high - badge) / 2, badge, badge), colours)
        middle = QRectF(self.side(), 0, self.width() - 2 * self.side(), high)
        self._write(painter, _SAYS, said_font(compact=True, strong=False), colours.ink2, middle)

    def _paint_leaf(self, painter: QPainter, leaf: Leaf, rect: QRectF, colours: theme.Tokens) -> None:
        ink, side = colours.ink if leaf.differs else colours.ink3, self.side()
        face = said_font(compact=True, strong=leaf.differs)
        middle = rect.adjusted(side, 0, -side, 0)
        if leaf.correct:
            text = QFontMetricsF(face).horizontalAdvance(leaf.said)
            x = max(middle.left(), middle.center().x() - text / 2 - em(16))
            paint_glyph(painter, Glyph.CHECK, QRectF(x, rect.top(), em(12), rect.height()), ink)
        self._write(painter, leaf.said, face, ink, middle.adjusted(em(8), 0, -em(8), 0))
        for each in _SIDES:
            self._paint_number(painter, leaf, each, rect, ink, colours)

    def _paint_number(
        self, painter: QPainter, leaf: Leaf, side: Side, rect: QRectF, ink: QColor, colours: theme.Tokens
    ) -> None:
        count, other = (leaf.left, leaf.right) if side == "left" else (leaf.right, leaf.left)
        face = number_font(compact=True, strong=leaf.differs)
        wide = QFontMetricsF(face).horizontalAdvance(f"{count:,}") + 2
        near = self.side() - theme.S - wide if side == "left" else self.width() - self.side() + theme.S
        self._write(painter, f"{count:,}", face, ink, QRectF(near, rect.top(), wide, rect.height()))
        if not leaf.differs or count < other:
            return
        words, sign = f"{leaf.surplus:,} more", em(SIGN)
        more = QFontMetricsF(more_font()).horizontalAdvance(words) + 2
        x = near - theme.S - more - 6 - sign if side == "left" else near + wide + theme.S
        hue, _ = side_colours(colours, letter_of(side))
        paint_glyph(painter, Glyph.MORE, QRectF(x, rect.top(), sign, rect.height()), hue)
        place = QRectF(x + sign + 6, rect.top(), more, rect.height())
        self._write(painter, words, more_font(), colours.ink, place)

    def _write(self, painter: QPainter, text: str, face: QFont, ink: QColor, rect: QRectF) -> None:
        painter.setFont(face)
        painter.setPen(ink)
        painter.drawText(rect, _CENTRE | _WRAP, breakable(text, QFontMetricsF(face), rect.width()))


def _truth(branch: Branch) -> str:
    return f"Truth: {truth_line(branch)}"
