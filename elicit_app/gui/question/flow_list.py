"""The full picture for a large font: one line for everything the model says, A's number left of it, B's right."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent

from elicit_app.gui import theme
from elicit_app.gui.elements import Glyph, box, paint_badge, paint_glyph, side_colours
from elicit_app.gui.question.breaking import breakable, wrapped_height
from elicit_app.gui.question.flow_place import SIGN, more_font, number_font, said_font, truth_font, truth_line
from elicit_app.gui.question.full_picture import FullPicture
from elicit_app.gui.theme import em
from elicit_app.session.views.asked import Side
from elicit_app.session.words.branches import Branch, Leaf
from elicit_app.session.words.ledger import letter_of

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
