"""The ledger: a card with what differs, row by row, that can turn into the full picture."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGroupBox, QLabel, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements import Badge, Divider, FlatButton, Glyph, GlyphSign, Label, box, focus_ring, side_colours
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.question.flow_view import FlowList, FlowView, FullPicture
from elicit_app.gui.question.measures import Plan, plan
from elicit_app.gui.question.row import LedgerRow, digits_width
from elicit_app.gui.question.squares import ScaleMemory
from elicit_app.gui.theme import Breakpoint, Role, em, font
from elicit_app.session.words.ledger import LedgerView
from elicit_app.study.model import Wording


class CardHead(QWidget):
    """Names the columns: "Result [A]", "What differs", "[B] Result"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._left, self._middle, self._right = (
            Label(text, theme.Role.LABEL, theme.INK2, wrap=False, parent=self)
            for text in ("Result", "What differs", "Result")
        )
        self.badges = (Badge("A", parent=self), Badge("B", parent=self))

    def place(self, plan: Plan) -> None:
        """Put the parts over the columns."""
        size, middle = plan.sizes, self.height() // 2
        side = em(size.badge)
        for badge, x in zip(
            self.badges, (plan.ledger.a.end - size.inner - side, plan.ledger.b.x + size.inner), strict=True
        ):
            badge.set_size(size.badge)
            badge.setGeometry(x, middle - side // 2, side, side)
        hint = self._left.sizeHint()
        y, wide = middle - hint.height() // 2, self._middle.sizeHint().width()
        self._left.setGeometry(self.badges[0].x() - theme.S - hint.width(), y, hint.width(), hint.height())
        self._right.setGeometry(self.badges[1].x() + side + theme.S, y, hint.width(), hint.height())
        self._middle.setVisible(not size.stacked)
        self._middle.setGeometry((self.width() - wide) // 2, y, wide, hint.height())


_RIGHT = 14


class FoldLine(QWidget):
    """A sign, the sentence, and the button of the full picture."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sign = GlyphSign(Glyph.CLOSED, 14, self, ink=theme.INK2)
        self.sentence = Label(role=theme.Role.NOTE, ink=theme.INK3, parent=self)
        self.toggle = FlatButton("Full picture", keys=("F",), parent=self)
        self.toggle.role = theme.Role.MINOR

    def say(self, sentence: str, *, full: bool) -> None:
        """Show the sentence, and what the button leads to."""
        self.sentence.setText(sentence)
        self.toggle.setText("Only what differs" if full else "Full picture")
        self._sign.set_glyph(Glyph.OPEN if full else Glyph.CLOSED)

    def needed_height(self, width: int) -> int:
        """Return the height that the sentence takes."""
        return self.sentence.heightForWidth(self._sentence_width(width)) + theme.S

    def _sentence_x(self) -> int:
        return theme.M + self._sign.sizeHint().width() + theme.S

    def _sentence_width(self, width: int) -> int:
        return width - self._sentence_x() - self.toggle.sizeHint().width() - _RIGHT - theme.S

    def place(self) -> None:
        """Put the parts in their places."""
        sign, toggle, middle = self._sign.sizeHint(), self.toggle.sizeHint(), self.height() // 2
        self._sign.setGeometry(theme.M, middle - sign.height() // 2, sign.width(), sign.height())
        tall = min(toggle.height(), self.height() - theme.XS)
        self.toggle.setGeometry(self.width() - _RIGHT - toggle.width(), middle - tall // 2, toggle.width(), tall)
        self.sentence.setGeometry(self._sentence_x(), 0, self._sentence_width(self.width()), self.height())


_OUTLINED = "outlined: more than on the other side"


class Legend(QLabel):
    """One grey square is one case; outlined squares are how many more there are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._one = ""

    def show_case(self, case: str) -> None:
        """Take the word for one case: "patient"."""
        self._one = f"one {case}"
        tell(self, name=f"A grey square: {self._one}. {_OUTLINED.capitalize()}.")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, face = theme.tokens(self), font(Role.NOTE)
        metrics = QFontMetricsF(face)
        words = (metrics.horizontalAdvance(self._one), metrics.horizontalAdvance(_OUTLINED))
        side, far = em(8), theme.XL
        x = (self.width() - (side + 12 + words[0] + far + 2 * (side + 18) + words[1])) / 2
        middle = self.height() / 2
        with QPainter(self) as painter:
            painter.setFont(face)
            painter.fillRect(QRectF(x, middle - side / 2, side, side), colours.unit)
            x += side + 12
            painter.setPen(colours.ink2)
            rect = QRectF(x, 0, words[0] + 2, self.height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, self._one)
            x += words[0] + far
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for hue, soft in (side_colours(colours, "A"), side_colours(colours, "B")):
                square = QRectF(x + 3, middle - side / 2, side, side)
                painter.fillRect(square.adjusted(-2.25, -2.25, 2.25, 2.25), soft)
                painter.fillRect(square, hue)
                painter.setPen(QPen(hue, 1.5))
                painter.drawRect(square.adjusted(-2.25, -2.25, 2.25, 2.25))
                x += side + 18
            painter.setPen(colours.ink2)
            rect = QRectF(x, 0, words[1] + 2, self.height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, _OUTLINED)


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
        tell(self, name=name)
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
