"""One row of the ledger: a kind of mistake in words, with its two count bars beside or below."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label
from elicit_app.gui.question.breaking import breakable
from elicit_app.gui.question.count_bar import CountBar, label_height
from elicit_app.gui.question.measures import Plan, plan
from elicit_app.gui.question.squares import SMALLEST_OF_FIVE, Scale
from elicit_app.gui.theme import Breakpoint, em
from elicit_app.session.words.ledger import Row

_BAR_AIR, _BAR_AIR_TIGHT = 8, 4
"""Free height above and below bars and "12 more", together; in tight rows half of it."""

_STACKED_BARS = 36
"""Height of the squares in a stacked row, at the base font."""


class LedgerRow(QWidget):
    """Words in the middle, A's bar to the left, B's to the right; stacked where the font is large."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        centre = Qt.AlignmentFlag.AlignHCenter
        self.name = Label(role=theme.Role.TITLE, align=centre, parent=self)
        self.flow = Label(role=theme.Role.FLOW, ink=theme.INK2, align=centre, parent=self)
        self.consequence = Label(role=theme.Role.BODY, ink=theme.INK3, align=centre, parent=self)
        self.bars = (CountBar("left", self), CountBar("right", self))
        self._plan = plan(theme.WIDEST, Breakpoint(False, False, False), 1)

    def show_row(self, row: Row, plan_: Plan) -> None:
        """Show the words of a row; its bars follow with `show_bars` when the height of the row is known."""
        self._plan = plan_
        size, said = plan_.sizes, row.mistake.consequence
        for label, text, role in (
            (self.name, row.mistake.name, size.title),
            (self.flow, row.flow, size.flow),
            (self.consequence, said, size.consequence),
        ):
            label.set_role(role, compact=size.compact)
            label.setText(breakable(text, QFontMetricsF(label.font()), self._words_width()))
        self.consequence.setVisible(size.says_consequence and bool(said))
        self.setToolTip("" if size.says_consequence else said)
        self.setAccessibleDescription(said)

    def show_bars(self, row: Row, scale: Scale | None, digits: float) -> None:
        """Paint the bars in this scale, or no squares at all; `digits` is the width kept for the numbers."""
        for bar in self.bars:
            bar.show_row(row, self._plan.sizes, scale, digits)
        self._place()

    # measures

    def needed_height(self) -> int:
        """Return the least height in which nothing is cut."""
        if self._plan.sizes.stacked:
            return self._words_height() + self._stacked_bars() + 3 * theme.S
        bars = label_height(self._plan.sizes) + 5 * SMALLEST_OF_FIVE + self._air()
        return max(self._words_height() + theme.S, round(bars))

    def squares_height(self) -> float:
        """Return the height that the squares have."""
        if self._plan.sizes.stacked:
            return em(_STACKED_BARS)
        return self.height() - label_height(self._plan.sizes) - self._air()

    def squares_width(self, digits: float) -> float:
        """Return the width that the squares have beside `digits`, the width of the number."""
        sizes = self._plan.sizes
        return self._plan.ledger.a.width - sizes.inner - digits - theme.M - sizes.outer

    def _air(self) -> int:
        return _BAR_AIR_TIGHT if self._plan.sizes.tight else _BAR_AIR

    def _stacked_bars(self) -> int:
        return round(label_height(self._plan.sizes) + em(_STACKED_BARS)) + theme.S

    def _words(self) -> list[Label]:
        return [label for label in (self.name, self.flow, self.consequence) if not label.isHidden()]

    def _words_width(self) -> int:
        if self._plan.sizes.stacked:
            return self._plan.width - 2 * theme.M
        return self._plan.ledger.middle.width - 2 * theme.S

    def _words_gap(self) -> int:
        return 0 if self._plan.sizes.tight else theme.XS

    def _words_height(self) -> int:
        words = self._words()
        heights = sum(label.heightForWidth(self._words_width()) for label in words)
        return heights + self._words_gap() * (len(words) - 1)

    # arranging

    def _place(self) -> None:
        stacked, width = self._plan.sizes.stacked, self._words_width()
        x = (self.width() - width) // 2
        y = theme.S if stacked else (self.height() - self._words_height()) // 2
        for label in self._words():
            height = label.heightForWidth(width)
            label.setGeometry(x, y, width, height)
            y += height + self._words_gap()
        high = self._stacked_bars() if stacked else self.height()
        top = self.height() - high - theme.S if stacked else 0
        for bar, column in zip(self.bars, (self._plan.ledger.a, self._plan.ledger.b), strict=True):
            bar.setGeometry(column.x, top, column.width, high)
