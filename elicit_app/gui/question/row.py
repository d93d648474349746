"""One row of the ledger: a kind of mistake in words, with its two count bars beside or below."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label
from elicit_app.gui.question.count_bar import CountBar, label_height
from elicit_app.gui.question.measures import Columns, Sizes
from elicit_app.gui.question.squares import SMALLEST_OF_FIVE, Scale
from elicit_app.gui.theme import em
from elicit_app.session.ledger import Row

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
        self._sizes: Sizes | None = None
        self._columns: Columns | None = None

    def show_row(self, row: Row, sizes: Sizes, columns: Columns) -> None:
        """Show the words of a row; its bars follow with `show_bars` when the height of the row is known."""
        self._sizes, self._columns = sizes, columns
        self.name.setText(row.mistake.name)
        self.flow.setText(row.flow)
        self.consequence.setText(row.mistake.consequence)
        self.name.set_role(sizes.title, compact=sizes.compact)
        self.flow.set_role(sizes.flow, compact=sizes.compact)
        self.consequence.set_role(sizes.consequence, compact=sizes.compact)
        self.consequence.setVisible(sizes.says_consequence and bool(row.mistake.consequence))
        self.setToolTip("" if sizes.says_consequence else row.mistake.consequence)
        self.setAccessibleDescription(row.mistake.consequence)

    def show_bars(self, row: Row, scale: Scale | None, digits: float) -> None:
        """Paint the bars in this scale, or no squares at all; `digits` is the width kept for the numbers."""
        if self._sizes is not None:
            for bar in self.bars:
                bar.show_row(row, self._sizes, scale, digits)
        self._place()

    def needed_height(self) -> int:
        """Return the least height in which nothing is cut."""
        if self._sizes is None or self._columns is None:
            return 0
        if self._sizes.stacked:
            return self._words_height() + self._stacked_bars() + 3 * theme.S
        bars = label_height(self._sizes) + 5 * SMALLEST_OF_FIVE + self._air()
        return max(self._words_height() + theme.S, round(bars))

    def squares_height(self, height: int) -> float:
        """Return the room that the squares have where the row is `height` pixels high."""
        if self._sizes is None:
            return 0.0
        if self._sizes.stacked:
            return em(_STACKED_BARS)
        return height - label_height(self._sizes) - self._air()

    def _air(self) -> int:
        return _BAR_AIR_TIGHT if self._sizes is not None and self._sizes.tight else _BAR_AIR

    def squares_width(self, digits: float) -> float:
        """Return the room that the squares have beside `digits`, the width of the number."""
        if self._sizes is None or self._columns is None:
            return 0.0
        side = self.width() // 2 if self._sizes.stacked else self._columns.a.width
        return side - self._sizes.inner - digits - theme.M - self._sizes.outer

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _words(self) -> list[Label]:
        return [label for label in (self.name, self.flow, self.consequence) if not label.isHidden()]

    def _words_width(self) -> int:
        if self._columns is None or self._sizes is None:
            return 0
        return self.width() - 2 * theme.M if self._sizes.stacked else self._columns.middle.width - 2 * theme.S

    def _words_gap(self) -> int:
        return 0 if self._sizes is not None and self._sizes.tight else theme.XS

    def _words_height(self) -> int:
        words = self._words()
        heights = sum(label.heightForWidth(self._words_width()) for label in words)
        return heights + self._words_gap() * (len(words) - 1)

    def _stacked_bars(self) -> int:
        return round(label_height(self._sizes) + em(_STACKED_BARS)) + theme.S if self._sizes is not None else 0

    def _place(self) -> None:
        if self._sizes is None or self._columns is None:
            return
        stacked, width = self._sizes.stacked, self._words_width()
        x = (self.width() - width) // 2
        y = theme.S if stacked else (self.height() - self._words_height()) // 2
        for label in self._words():
            height = label.heightForWidth(width)
            label.setGeometry(x, y, width, height)
            y += height + self._words_gap()
        left, right = self.bars
        if stacked:
            half, top = self.width() // 2, self.height() - self._stacked_bars() - theme.S
            left.setGeometry(0, top, half, self._stacked_bars())
            right.setGeometry(self.width() - half, top, half, self._stacked_bars())
        else:
            left.setGeometry(self._columns.a.x, 0, self._columns.a.width, self.height())
            right.setGeometry(self._columns.b.x, 0, self._columns.b.width, self.height())
