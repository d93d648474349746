"""The ledger: a card with what differs, row by row, that can turn into the full picture."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGroupBox, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements import Badge, Divider, FlatButton, Glyph, GlyphSign, Label, box, focus_ring
from elicit_app.gui.question.count_bar import digits_width
from elicit_app.gui.question.flow_view import FlowView
from elicit_app.gui.question.legend import Legend
from elicit_app.gui.question.measures import Columns, Sizes, columns, sizes
from elicit_app.gui.question.row import LedgerRow
from elicit_app.gui.question.squares import Scale, scale_for
from elicit_app.gui.theme import Breakpoint, em
from elicit_app.session.ledger import LedgerView
from elicit_app.study.model import Wording

_DIVIDER_INSET = theme.S
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class LedgerCard(QGroupBox):
    """A group, so that screen readers tell its name; it is where the focus goes on a new question.

    Signals
    -------
    painted : ()
        Emitted after each painting: the question is on the screen.
    toggled_full : ()
        The button of the full picture was pressed.
    """

    painted = Signal()
    toggled_full = Signal()

    def __init__(self, parent: QWidget | None = None, *, practice: bool = False) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._view: LedgerView | None = None
        self._room = Breakpoint(False, False, False)
        self._full, self._ring = False, False
        self._scales: dict[tuple[int, int, int, bool], Scale] = {}
        self._largest, self._numbers_only = 0, False
        self._heads = tuple(
            Label(text, theme.Role.LABEL, theme.INK2, wrap=False, parent=self)
            for text in ("Result", "What differs", "Result")
        )
        self._badges = (Badge("A", parent=self), Badge("B", parent=self))
        self._rows: list[LedgerRow] = []
        self._dividers: list[Divider] = []
        self._sign = GlyphSign(Glyph.CLOSED, 14, self, ink=theme.INK2)
        self._fold = Label(role=theme.Role.NOTE, ink=theme.INK3, parent=self)
        self.toggle = FlatButton("Full picture", keys=("F",), parent=self)
        self.toggle.role = theme.Role.MINOR
        self.toggle.clicked.connect(self.toggled_full)
        self._flow = FlowView(self)
        self._legend = Legend(self) if practice else None
        for widget in (self._sign, self._fold, self.toggle):
            widget.setVisible(not practice)
        self._flow.hide()

    @property
    def rows(self) -> tuple[LedgerRow, ...]:
        """Return the rows that are shown."""
        return tuple(row for row in self._rows if not row.isHidden())

    @property
    def is_full(self) -> bool:
        """Tell whether the full picture is shown."""
        return self._full

    def begin(self) -> None:
        """Forget the scale of an earlier session."""
        self._scales.clear()
        self._largest = 0

    def set_numbers_only(self, numbers_only: bool) -> None:
        """Leave out the squares: numbers, rates and "12 more" stay."""
        self._numbers_only = numbers_only
        self._refresh()

    def show_pair(
        self, view: LedgerView, left: Counts, right: Counts, wording: Wording, name: str, room: Breakpoint
    ) -> None:
        """Show a pair: its words, its matrices for the full picture, and the card's name for a screen reader."""
        self._view, self._room = view, room
        self._largest = max(self._largest, *(max(row.left, row.right) for row in view.rows), 0)
        self.setAccessibleName(name)
        self._fold.setText(f"Full picture: all {view.cases}" if self._full else view.fold_sentence)
        self._flow.show_pair(left, right, wording, compact=room.compact or room.large)
        if self._legend is not None:
            self._legend.show_case(wording.case)
        for _ in range(len(view.rows) - len(self._rows)):
            self._rows.append(LedgerRow(self))
        for _ in range(len(view.rows) + 1 - len(self._dividers)):
            self._dividers.append(Divider(self))
        self._show_parts()
        self._refresh()

    def show_full(self, full: bool) -> None:
        """Turn into the full picture, or back."""
        self._full = full
        self.toggle.setText("Only what differs" if full else "Full picture")
        self._sign.set_glyph(Glyph.OPEN if full else Glyph.CLOSED)
        if self._view is not None:
            self._fold.setText(f"Full picture: all {self._view.cases}" if full else self._view.fold_sentence)
            self._show_parts()
            self._refresh()

    def _show_parts(self) -> None:
        shown = len(self._view.rows) if self._view is not None else 0
        for number, row in enumerate(self._rows):
            row.setVisible(number < shown and not self._full)
        for number, divider in enumerate(self._dividers):
            divider.setVisible(number < shown and not self._full)
        self._dividers[-1].setVisible(True)
        for widget in (*self._heads, *self._badges):
            widget.setVisible(not self._full)
        self._flow.setVisible(self._full)

    # measures

    def _columns(self) -> Columns:
        if self._view is None:
            return columns(self.width(), self._room, 1)
        if self._room.large:
            half = self.width() // 2
            return columns(2 * half, Breakpoint(True, False, False), 1)
        return columns(self.width(), self._room, len(self._view.rows))

    def _sizes(self) -> Sizes:
        return sizes(self._room, len(self._view.rows) if self._view is not None else 1)

    def _fold_height(self, width: int) -> int:
        if self._legend is not None:
            return self._sizes().fold
        words = self._fold.heightForWidth(self._fold_width(width))
        return max(self._sizes().fold, words + theme.S)

    def _fold_width(self, width: int) -> int:
        return width - 38 - self.toggle.sizeHint().width() - 14 - theme.S

    def needed_height(self, width: int) -> int:
        """Return the least height in which nothing is cut or hidden."""
        size = self._sizes()
        fold = self._fold_height(width) + 1
        if self._full:
            return self._flow.needed_height() + fold
        rows = self.rows
        heights = max((row.needed_height() for row in rows), default=0) * len(rows)
        if size.stacked:
            heights = sum(row.needed_height() for row in rows)
        return size.edge + size.head + heights + max(0, len(rows) - 1) + fold

    def wanted_height(self, width: int) -> int:
        """Return the height beyond which the card does not grow."""
        size = self._sizes()
        fold = self._fold_height(width) + 1
        if self._full:
            return max(self._flow.wanted_height() + fold, self.needed_height(width))
        rows = len(self.rows)
        grown = size.edge + size.head + rows * size.row_most + max(0, rows - 1) + fold
        return self.needed_height(width) if size.stacked else max(grown, self.needed_height(width))

    # arranging

    def _refresh(self) -> None:
        if self._view is None:
            return
        size, columns_ = self._sizes(), self._columns()
        for row, words in zip(self.rows, self._view.rows, strict=False):
            row.show_row(words, size, columns_)
        for badge in self._badges:
            badge.set_size(size.badge)
        self._place()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refresh()

    def _place(self) -> None:
        size, fold = self._sizes(), self._fold_height(self.width())
        last = self.height() - fold - 1
        self._place_fold(last, fold)
        if self._full:
            self._flow.setGeometry(1, 1, self.width() - 2, last - 1)
            return
        self._place_head(size)
        rows = self.rows
        top = size.edge + size.head
        room = last - top - max(0, len(rows) - 1)
        scale, digits = None, 0.0
        y = float(top)
        for number, row in enumerate(rows):
            high = row.needed_height() if size.stacked else room / max(1, len(rows))
            row.setGeometry(0, round(y), self.width(), round(y + high) - round(y))
            y += high
            if number < len(rows) - 1:
                self._dividers[number].setGeometry(_DIVIDER_INSET, round(y), self.width() - 2 * _DIVIDER_INSET, 1)
                y += 1
            if scale is None and self._view is not None:
                digits = digits_width(self._largest, size)
                scale = self._scale(row.squares_width(digits), row.squares_height(round(high)))
        if self._view is not None and scale is not None:
            for row, words in zip(rows, self._view.rows, strict=False):
                row.show_bars(words, None if self._numbers_only else scale, digits)

    def _scale(self, width: float, height: float) -> Scale:
        """Return the scale of the session at this window size: it only ever shrinks, so that lengths keep a meaning."""
        wanted = scale_for(self._largest, width, height)
        window = self.window().size()
        key = (window.width(), window.height(), theme.base(), self._sizes().stacked)
        kept = self._scales.get(key)
        fits = kept is not None and kept.height <= height and kept.length(self._largest) <= width
        if kept is not None and fits and kept.solid >= wanted.solid and kept.length(1000) <= wanted.length(1000):
            return kept
        self._scales[key] = wanted
        return wanted

    def _place_head(self, size: Sizes) -> None:
        columns_ = self._columns()
        left = self.width() // 2 if size.stacked else columns_.a.end
        right = self.width() - self.width() // 2 if size.stacked else columns_.b.x
        side, middle = em(size.badge), size.edge + size.head // 2
        result_a, differs, result_b = self._heads
        badge_a, badge_b = self._badges
        badge_a.setGeometry(left - size.inner - side, middle - side // 2, side, side)
        badge_b.setGeometry(right + size.inner, middle - side // 2, side, side)
        hint = result_a.sizeHint()
        y = middle - hint.height() // 2
        result_a.setGeometry(badge_a.x() - theme.S - hint.width(), y, hint.width(), hint.height())
        result_b.setGeometry(badge_b.geometry().right() + 1 + theme.S, y, hint.width(), hint.height())
        wide = differs.sizeHint().width()
        differs.setVisible(not size.stacked)
        differs.setGeometry((self.width() - wide) // 2, y, wide, hint.height())

    def _place_fold(self, top: int, high: int) -> None:
        self._dividers[-1].setGeometry(_DIVIDER_INSET, top, self.width() - 2 * _DIVIDER_INSET, 1)
        if self._legend is not None:
            self._legend.setGeometry(_DIVIDER_INSET, top + 1, self.width() - 2 * _DIVIDER_INSET, high - 1)
            return
        sign, toggle = self._sign.sizeHint(), self.toggle.sizeHint()
        middle = top + 1 + high // 2
        self._sign.setGeometry(theme.M, middle - sign.height() // 2, sign.width(), sign.height())
        tall = min(toggle.height(), high - 4)
        self.toggle.setGeometry(self.width() - 14 - toggle.width(), middle - tall // 2, toggle.width(), tall)
        self._fold.setGeometry(38, top + 1, self._fold_width(self.width()), high - 1)

    # painting and focus

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        with QPainter(self) as painter:
            box(painter, QRectF(self.rect()), theme.CARD_RADIUS, fill=colours.surface, border=colours.line)
            if self.hasFocus() and self._ring:
                focus_ring(painter, QRectF(self.rect()), theme.CARD_RADIUS, colours.ink)
        self.painted.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring only to those who came by the Tab key: a new question must not look selected."""
        self._ring = event.reason() in _TAB_REASONS
        super().focusInEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._refresh()
