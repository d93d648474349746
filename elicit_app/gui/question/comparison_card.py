"""The comparison: a card with the differences, row by row, that can turn into the full picture."""

from __future__ import annotations

import math

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QBrush, QFocusEvent, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGroupBox, QLabel, QWidget

from elicit_app.elicitation.questions import Counts, Proposal
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import FlatButton
from elicit_app.gui.elements.painting import (
    Badge,
    Glyph,
    GlyphSign,
    Label,
    Painted,
    annotate,
    box,
    focus_ring,
    side_colours,
    write,
)
from elicit_app.gui.elements.surfaces import Divider
from elicit_app.gui.question.answers import MoveField, MoveSlider, MoveState
from elicit_app.gui.question.flow_view import FlowList, FlowView, FullPicture
from elicit_app.gui.question.layout import Plan, Scale, ScaleMemory, plan
from elicit_app.gui.question.row import FIELD_BEYOND, ComparisonRow, CountBar, digits_width
from elicit_app.gui.theme import Role, em, font
from elicit_app.session.pair_words import PairComparison, Row, letter_of
from elicit_app.study.model import Study, Wording


def largest_count(study: Study) -> int:
    """Return the largest count that plausible questions show: half of the study's largest class."""
    if not study.n_cases and study.distribution is None:
        return 0
    return math.ceil(float(study.prevalence.max()) * study.population / 2)


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
        size, middle = plan.sizes, self.height() // 2
        side = em(size.badge)
        for badge, x in zip(
            self.badges, (plan.comparison.a.end - size.inner - side, plan.comparison.b.x + size.inner), strict=True
        ):
            badge.setGeometry(x, middle - side // 2, side, side)
        hint = self._left.sizeHint()
        y, wide = middle - hint.height() // 2, self._middle.sizeHint().width()
        self._left.setGeometry(self.badges[0].x() - theme.S - hint.width(), y, hint.width(), hint.height())
        self._right.setGeometry(self.badges[1].x() + side + theme.S, y, hint.width(), hint.height())
        self._middle.setVisible(not size.stacked)
        self._middle.setGeometry((self.width() - wide) // 2, y, wide, hint.height())


_RIGHT = 14


class FoldLine(QWidget):
    """A glyph, the sentence, and the button for the full picture."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sign = GlyphSign(Glyph.CLOSED, 14, self, ink=theme.INK2)
        self.sentence = Label(role=theme.Role.NOTE, ink=theme.INK3, parent=self)
        self.toggle = FlatButton("Full picture", keys=("F",), parent=self)
        self.toggle.role = theme.Role.MINOR

    def say(self, sentence: str, *, full: bool) -> None:
        self.sentence.setText(sentence)
        self._sign.setVisible(bool(sentence))
        self.toggle.setText("Only what differs" if full else "Full picture")
        self._sign.set_glyph(Glyph.OPEN if full else Glyph.CLOSED)

    def needed_height(self, width: int) -> int:
        return self.sentence.heightForWidth(self._sentence_width(width)) + theme.S

    def _sentence_x(self) -> int:
        return theme.M + self._sign.sizeHint().width() + theme.S

    def _sentence_width(self, width: int) -> int:
        return width - self._sentence_x() - self.toggle.sizeHint().width() - _RIGHT - theme.S

    def place(self) -> None:
        sign, toggle, middle = self._sign.sizeHint(), self.toggle.sizeHint(), self.height() // 2
        self._sign.setGeometry(theme.M, middle - sign.height() // 2, sign.width(), sign.height())
        tall = min(toggle.height(), self.height() - theme.XS)
        self.toggle.setGeometry(self.width() - _RIGHT - toggle.width(), middle - tall // 2, toggle.width(), tall)
        self.sentence.setGeometry(self._sentence_x(), 0, self._sentence_width(self.width()), self.height())


_OUTLINED, _HATCHED = "outlined: more than on the other side", "hatched: more than on the other side"
_SAME = "grey: as many on both sides"


class Legend(Painted, QLabel):
    """The meaning of the marks beside the numbers: one square per case or a grey bar, and the outline of a surplus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._one, self._solid = "", False

    def show_case(self, case: str) -> None:
        """Take the word for one case: "patient"."""
        self._one = f"one {case}"
        self._update_text()

    def show_scale(self, scale: Scale) -> None:
        """Take the scale: squares, or bars if there are too many cases for squares."""
        self._solid = scale.solid
        self._update_text()

    @property
    def _words(self) -> tuple[str, str]:
        return (_SAME, _HATCHED) if self._solid else (self._one, _OUTLINED)

    def _update_text(self) -> None:
        sign = "A grey bar" if self._solid else "A grey square"
        annotate(self, name=f"{sign}: {self._words[0]}. {self._words[1].capitalize()}.")
        self.update()

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        face = font(Role.NOTE)
        metrics = QFontMetricsF(face)
        words = self._words
        widths = [metrics.horizontalAdvance(each) for each in words]
        side, wide, far = em(8), em(26 if self._solid else 8), theme.XL
        x = (self.width() - (wide + 12 + widths[0] + far + 2 * (wide + 18) + widths[1])) / 2
        middle = self.height() / 2
        painter.fillRect(QRectF(x, middle - side / 2, wide, side), colours.unit)
        x += wide + 12
        write(painter, QRectF(x, 0, widths[0] + 2, self.height()), words[0], face, colours.ink2)
        x += widths[0] + far
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for hue, soft in (side_colours(colours, "A"), side_colours(colours, "B")):
            mark = QRectF(x + 3, middle - side / 2, wide, side)
            painter.fillRect(mark.adjusted(-2.25, -2.25, 2.25, 2.25), soft)
            painter.fillRect(mark, QBrush(hue, Qt.BrushStyle.BDiagPattern) if self._solid else QBrush(hue))
            painter.setPen(QPen(hue, 1.5))
            painter.drawRect(mark.adjusted(-2.25, -2.25, 2.25, 2.25))
            x += wide + 18
        write(painter, QRectF(x, 0, widths[1] + 2, self.height()), words[1], face, colours.ink2)


_INSET = theme.S
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class ComparisonCard(Painted, QGroupBox):
    """The comparison, a group, so that screen readers announce its name; it takes the focus on a new question.

    The page calls `show_pair`, then `fit` with its plan, asks for heights, sets the geometry and calls `place`.
    """

    def __init__(self, parent: QWidget | None = None, *, practice: bool = False) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._view: PairComparison | None = None
        self._plan = plan(theme.WIDEST, theme.WIDE, 1)
        self.is_full, self._ring, self._numbers_only = False, False, False
        self._memory = ScaleMemory()
        self._moving: MoveState | None = None
        self._head = CardHead(self)
        self._rows: list[ComparisonRow] = []
        self._dividers: list[Divider] = []
        self._last_divider = Divider(self)
        self.fold = FoldLine(self)
        self._wide_flow, self._flow_list = FlowView(self), FlowList(self)
        self.legend = Legend(self)
        self.field, self.slider = MoveField(self), MoveSlider(self)
        self.slider.valueChanged.connect(self._slider_moved)
        self.set_moving(None)
        self.fold.setVisible(not practice)
        self.legend.setVisible(practice)
        self._show_flow()

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        return tuple(row for row in self._rows if not row.isHidden())

    @property
    def flow(self) -> FullPicture:
        return self._flow_list if self._plan.sizes.stacked else self._wide_flow

    def _show_flow(self) -> None:
        for form in (self._wide_flow, self._flow_list):
            form.setVisible(self.is_full and form is self.flow)

    @property
    def largest(self) -> int:
        return self._memory.largest

    def begin(self, study: Study) -> None:
        """Forget the scale of an earlier session; the new scale holds the largest count that `study` may show."""
        self._memory = ScaleMemory()
        self._memory.record_counts([largest_count(study)])

    def record_counts(self, view: PairComparison, proposal: Proposal | None = None, others: int = 0) -> None:
        self._memory.record_counts([count for row in view.rows for count in (row.left, row.right)])
        if proposal is not None:
            self._memory.record_counts([proposal.most + others])

    def offer(self, proposal: Proposal | None) -> None:
        """Make room for moving a number: for the squares of its far end and, with a large font, a slider below them."""
        for row in self._rows:
            row.movable = proposal is not None

    def set_moving(self, moving: MoveState | None) -> None:
        """Make one number movable, by its field and its slider, or none."""
        self._moving = moving
        self.field.setVisible(moving is not None and not self.is_full)
        self.slider.setVisible(moving is not None and not self.is_full)
        if moving is not None:
            self.field.show_move(moving)

    def _slider_moved(self, shown: int) -> None:
        self.field.begin()
        self.field.moved.emit(shown)

    def row_view(self, moving: MoveState) -> Row:
        assert self._view is not None
        return self._view.rows[self.moving_row(moving)]

    def moving_row(self, moving: MoveState) -> int:
        assert self._view is not None
        keys = [(row.true, row.predicted) for row in self._view.rows]
        wanted = (moving.proposal.true, moving.proposal.predicted)
        return keys.index(wanted) if wanted in keys else keys.index((moving.proposal.true, None))

    def set_numbers_only(self, numbers_only: bool) -> None:
        """Omit or show the squares, and what they mean; numbers, rates and "12 more" stay."""
        self._numbers_only = numbers_only
        self.legend.setVisible(self.fold.isHidden() and not numbers_only)

    def show_pair(self, view: PairComparison, left: Counts, right: Counts, wording: Wording, name: str) -> None:
        """Show a pair: its words, its matrices for the full picture, and the card's name for a screen reader."""
        self._view = view
        self.record_counts(view)
        annotate(self, name=name)
        for form in (self._wide_flow, self._flow_list):
            form.show_pair(left, right, wording)
        self.legend.show_case(wording.case)
        self._rows += [ComparisonRow(self) for _ in range(len(view.rows) - len(self._rows))]
        self._dividers += [Divider(self) for _ in range(len(view.rows) - 1 - len(self._dividers))]
        self.fold.toggle.setVisible(not self.all_shown)
        self.show_full(self.is_full)

    @property
    def all_shown(self) -> bool:
        """Return whether the rows show everything: amounts have no classes for a full picture."""
        return self._view is not None and any(row.amount for row in self._view.rows)

    def show_full(self, full: bool) -> None:
        self.is_full = full
        view = self._view
        if view is None:
            return
        self.fold.say(f"Full picture: all {view.cases}" if full else view.fold_sentence, full=full)
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(view.rows) and not full)
        for number, divider in enumerate(self._dividers):
            divider.setVisible(number < len(view.rows) - 1 and not full)
        self._head.setVisible(not full)
        self.set_moving(self._moving)
        self._show_flow()

    # measures

    def fit(self, plan_: Plan) -> None:
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
        """Return the least heights of the rows: equal for all, but individual if they are stacked."""
        heights = [row.needed_height() for row in self.rows]
        return heights if self._plan.sizes.stacked else [max(heights)] * len(heights) if heights else []

    def needed_height(self) -> int:
        fold = self._fold_height() + 1
        if self.is_full:
            return self.flow.needed_height(self._plan.width - 2) + fold
        heights = self._row_heights()
        return self._plan.sizes.edge + self._plan.sizes.head + sum(heights) + max(0, len(heights) - 1) + fold

    def wanted_height(self) -> int:
        """Return the height beyond which the card does not grow."""
        needed = self.needed_height()
        if self.is_full:
            return max(self.flow.wanted_height(self._plan.width - 2) + self._fold_height() + 1, needed)
        grown = sum(max(0, self._plan.sizes.row_most - height) for height in self._row_heights())
        return needed if self._plan.sizes.stacked else needed + grown

    # arranging

    def place(self) -> None:
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
        if self._view is None or self.is_full or not self._view.rows:
            return
        size, rows = self._plan.sizes, self.rows
        digits = digits_width(self._memory.largest, size)
        window = self.window().size()
        key = (window.width(), window.height(), theme.base())
        height = min(row.squares_height() for row in rows)
        scale = self._memory.scale(rows[0].squares_width(digits), height, key)
        for row, words in zip(rows, self._view.rows, strict=True):
            row.show_bars(words, None if self._numbers_only else scale, digits)
        self.legend.show_scale(scale)
        self._place_move(rows)

    def _place_move(self, rows: tuple[ComparisonRow, ...]) -> None:
        """Place the field and the slider at the number and the squares of the moved count."""
        moving = self._moving
        for index, row in enumerate(rows):
            for bar in row.bars:
                mine = moving is not None and index == self.moving_row(moving) and bar.side == moving.side
                bar.set_moving(moving if mine else None)
                if mine and moving is not None:
                    self._place_field(bar, moving)

    def _place_field(self, bar: CountBar, moving: MoveState) -> None:
        places = bar.move_places()
        if places is None:
            return
        size, origin = self._plan.sizes, bar.mapTo(self, QPoint(0, 0))
        self.field.setFont(theme.font(size.number, compact=size.compact))
        align = Qt.AlignmentFlag.AlignRight if moving.side == "left" else Qt.AlignmentFlag.AlignLeft
        self.field.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        # A line edit has two pixels of its own padding.
        beside = (theme.S if size.compact else FIELD_BEYOND) - 2
        self.field.setTextMargins(beside, 0, beside, 0)
        self.field.setGeometry(places.field.toRect().translated(origin))
        near, far = places.ends
        low, ring = min(near, far) - em(16), em(22 if size.compact and not size.stacked else 28)
        self.slider.setGeometry(
            round(origin.x() + low), round(origin.y() + places.middle - ring / 2), round(abs(far - near) + em(32)), ring
        )
        self.slider.show_move(moving, near - low, far - low)
        for widget in (self.slider, self.field):
            widget.raise_()

    # painting and focus

    def take_focus(self) -> None:
        """Take the focus without the ring, even if the page before was left with the Tab key."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._ring = False
        self.update()

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        box(painter, QRectF(self.rect()), theme.CARD_RADIUS, fill=colours.surface, border=colours.line)
        for bar in (bar for row in self.rows for bar in row.bars if bar.moving is not None):
            hue, soft = side_colours(colours, letter_of(bar.side))
            frame = bar.frame.translated(bar.mapTo(self, QPoint(0, 0)))
            box(painter, frame, theme.BUTTON_RADIUS, fill=soft, border=hue, width=2)
        if self.hasFocus() and self._ring:
            focus_ring(painter, QRectF(self.rect()), theme.CARD_RADIUS, colours.ink)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring only after the Tab key, because a new question must not look selected."""
        self._ring = event.reason() in _TAB_REASONS
        super().focusInEvent(event)
