"""The ledger: a card with what differs, row by row, that can turn into the full picture."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGroupBox, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements import Divider, box, focus_ring
from elicit_app.gui.question.card_head import CardHead
from elicit_app.gui.question.count_bar import digits_width
from elicit_app.gui.question.flow_list import FlowList
from elicit_app.gui.question.flow_view import FlowView
from elicit_app.gui.question.fold_line import FoldLine
from elicit_app.gui.question.full_picture import FullPicture
from elicit_app.gui.question.legend import Legend
from elicit_app.gui.question.measures import Plan, plan
from elicit_app.gui.question.row import LedgerRow
from elicit_app.gui.question.scale_memory import ScaleMemory
from elicit_app.gui.theme import Breakpoint
from elicit_app.session.words.ledger import LedgerView
from elicit_app.study.model import Wording

_INSET = theme.S
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class LedgerCard(QGroupBox):
    """A group, so that screen readers tell its name; it is where the focus goes on a new question.

    The page calls `show_pair`, then `fit` with its plan, asks for heights, sets the geometry and calls `place`.
    """

    def __init__(self, parent: QWidget | None = None, *, practice: bool = False) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._view: LedgerView | None = None
        self._plan = plan(theme.WIDEST, Breakpoint(False, False, False), 1)
        self._full, self._ring, self._numbers_only = False, False, False
        self._memory = ScaleMemory()
        self._head = CardHead(self)
        self._rows: list[LedgerRow] = []
        self._dividers: list[Divider] = []
        self._last_divider = Divider(self)
        self.fold = FoldLine(self)
        self._wide_flow, self._flow_list = FlowView(self), FlowList(self)
        self.legend = Legend(self)
        self.fold.setVisible(not practice)
        self.legend.setVisible(practice)
        self._show_flow()

    @property
    def rows(self) -> tuple[LedgerRow, ...]:
        """Return the rows that are shown."""
        return tuple(row for row in self._rows if not row.isHidden())

    @property
    def is_full(self) -> bool:
        """Tell whether the full picture is shown."""
        return self._full

    @property
    def flow(self) -> FullPicture:
        """Return the form of the full picture for the present plan."""
        return self._flow_list if self._plan.sizes.stacked else self._wide_flow

    def _show_flow(self) -> None:
        for form in (self._wide_flow, self._flow_list):
            form.setVisible(self._full and form is self.flow)

    @property
    def largest(self) -> int:
        """Return the largest count shown so far."""
        return self._memory.largest

    def begin(self) -> None:
        """Forget the scale of an earlier session."""
        self._memory = ScaleMemory()

    def set_numbers_only(self, numbers_only: bool) -> None:
        """Leave out the squares: numbers, rates and "12 more" stay."""
        self._numbers_only = numbers_only

    def show_pair(self, view: LedgerView, left: Counts, right: Counts, wording: Wording, name: str) -> None:
        """Show a pair: its words, its matrices for the full picture, and the card's name for a screen reader."""
        self._view = view
        self._memory.see([count for row in view.rows for count in (row.left, row.right)])
        self.setAccessibleName(name)
        for form in (self._wide_flow, self._flow_list):
            form.show_pair(left, right, wording)
        self.legend.show_case(wording.case)
        self._rows += [LedgerRow(self) for _ in range(len(view.rows) - len(self._rows))]
        self._dividers += [Divider(self) for _ in range(len(view.rows) - 1 - len(self._dividers))]
        self.show_full(self._full)

    def show_full(self, full: bool) -> None:
        """Turn into the full picture, or back."""
        self._full = full
        view = self._view
        if view is None:
            return
        self.fold.say(f"Full picture: all {view.cases}" if full else view.fold_sentence, full=full)
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(view.rows) and not full)
        for number, divider in enumerate(self._dividers):
            divider.setVisible(number < len(view.rows) - 1 and not full)
        self._head.setVisible(not full)
        self._show_flow()

    # measures

    def fit(self, plan_: Plan) -> None:
        """Take sizes and columns."""
        self._plan = plan_
        self._wide_flow.set_compact(plan_.sizes.compact)
        self._show_flow()
        if self._view is not None:
            for row, words in zip(self._rows, self._view.rows, strict=False):
                row.show_row(words, plan_)

    def _fold_height(self) -> int:
        if self.fold.isHidden():
            return self._plan.sizes.fold
        return max(self._plan.sizes.fold, self.fold.needed_height(self._plan.width))

    def _row_heights(self) -> list[int]:
        """Return the least heights of the rows: the same for all, but each its own where they are stacked."""
        heights = [row.needed_height() for row in self.rows]
        return heights if self._plan.sizes.stacked else [max(heights)] * len(heights) if heights else []

    def needed_height(self) -> int:
        """Return the least height in which nothing is cut or hidden."""
        fold = self._fold_height() + 1
        if self._full:
            return self.flow.needed_height(self._plan.width - 2) + fold
        heights = self._row_heights()
        return self._plan.sizes.edge + self._plan.sizes.head + sum(heights) + max(0, len(heights) - 1) + fold

    def wanted_height(self) -> int:
        """Return the height beyond which the card does not grow."""
        needed = self.needed_height()
        if self._full:
            return max(self.flow.wanted_height(self._plan.width - 2) + self._fold_height() + 1, needed)
        grown = sum(max(0, self._plan.sizes.row_most - height) for height in self._row_heights())
        return needed if self._plan.sizes.stacked else needed + grown

    # arranging

    def place(self) -> None:
        """Put everything in its place for the present geometry and plan."""
        size, fold = self._plan.sizes, self._fold_height()
        end = self.height() - fold - 1
        self._last_divider.setGeometry(_INSET, end, self.width() - 2 * _INSET, 1)
        for line in (self.fold, self.legend):
            line.setGeometry(0, end + 1, self.width(), fold)
        self.fold.place()
        self.flow.setGeometry(1, 1, self.width() - 2, end - 1)
        self._head.setGeometry(0, size.edge, self.width(), size.head)
        self._head.place(self._plan)
        self._place_rows(size.edge + size.head, end)
        self._show_bars()
        self.update()

    def _place_rows(self, top: int, end: int) -> None:
        needed = self._row_heights()
        spare = max(0, end - top - sum(needed) - max(0, len(needed) - 1)) / max(1, len(needed))
        y = float(top)
        for number, (row, least) in enumerate(zip(self.rows, needed, strict=True)):
            bottom = y + least + spare
            row.setGeometry(0, round(y), self.width(), round(bottom) - round(y))
            y = bottom
            if number < len(needed) - 1:
                self._dividers[number].setGeometry(_INSET, round(y), self.width() - 2 * _INSET, 1)
                y += 1

    def _show_bars(self) -> None:
        if self._view is None or self._full or not self._view.rows:
            return
        size, rows = self._plan.sizes, self.rows
        digits = digits_width(self._memory.largest, size)
        window = self.window().size()
        key = (window.width(), window.height(), theme.base())
        height = min(row.squares_height() for row in rows)
        scale = self._memory.scale(rows[0].squares_width(digits), height, key)
        for row, words in zip(rows, self._view.rows, strict=True):
            row.show_bars(words, None if self._numbers_only else scale, digits)

    # painting and focus

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        with QPainter(self) as painter:
            box(painter, QRectF(self.rect()), theme.CARD_RADIUS, fill=colours.surface, border=colours.line)
            if self.hasFocus() and self._ring:
                focus_ring(painter, QRectF(self.rect()), theme.CARD_RADIUS, colours.ink)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring only to those who came by the Tab key: a new question must not look selected."""
        self._ring = event.reason() in _TAB_REASONS
        super().focusInEvent(event)
