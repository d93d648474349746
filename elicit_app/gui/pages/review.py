"""The review: contradictions first, then a table of all answers, and the next steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHeaderView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, LinkButton, PrimaryButton
from elicit_app.gui.elements.page import CTRL_ENTER, HeadedPage, bind
from elicit_app.gui.elements.painting import (
    Arranged,
    Glyph,
    GlyphSign,
    Label,
    annotate,
    box,
    paint_glyph,
    wrapped_height,
    write,
    write_wrapped,
)
from elicit_app.gui.elements.surfaces import Card, Divider, Surface, fill, in_column, in_row
from elicit_app.gui.theme import LEFT, RIGHT
from elicit_app.session.journal.events import Kept
from elicit_app.session.sentences import FIT_WORDS, WHICH_MEANT, preference_of, undo_words
from elicit_app.session.views import AnsweredView, Fit, ReviewView
from elicit_app.study.model import Wording
from metrics.text import counted

Index = QModelIndex | QPersistentModelIndex

NUMBER, PREFERRED, RATHER, CLEARLY, SECONDS, FITS = range(6)
HEADS = ("No.", "You preferred", "rather than", "how clearly", "seconds", "fits the rest")
GLYPHS: dict[Fit, Glyph] = {
    "fits": Glyph.CHECK,
    "check": Glyph.CHECK,
    "two answers": Glyph.SWAP,
    "does not fit": Glyph.WARNING,
    "far apart": Glyph.WARNING,
    "worse side": Glyph.WARNING,
    "level": Glyph.WARNING,
    "asked again": Glyph.DOT,
    "left open": Glyph.DOT,
    "taken out": Glyph.DOT,
}


class AnswerWords(NamedTuple):
    """One answer in the words of a row."""

    number: int
    preferred: str
    rather_than: str
    clearly: str
    seconds: str
    fit: Fit

    @property
    def cells(self) -> tuple[str, ...]:
        fits = FIT_WORDS[self.fit]
        return str(self.number), self.preferred, self.rather_than, self.clearly, self.seconds, fits


def answer_words(answer: AnsweredView, wording: Wording, family: Family) -> AnswerWords:
    """Return an answer in words: what was preferred, and what the other result offered instead."""
    preference = preference_of(answer, wording, family)
    clearly = answer.strength.value if answer.strength is not None else ""
    seconds = "" if answer.seconds is None else f"{answer.seconds:,.0f}"
    return AnswerWords(answer.number, preference.preferred, preference.rather_than, clearly, seconds, answer.fit)


class AnswersModel(QAbstractTableModel):
    """The rows of the review table; every cell is readable by a screen reader."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[AnswerWords, ...] = ()

    def show_rows(self, rows: tuple[AnswerWords, ...]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def row_of(self, number: int) -> int | None:
        return next((index for index, row in enumerate(self.rows) if row.number == number), None)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.rows[index.row()].cells[index.column()]
        return None

    def as_text(self) -> str:
        """Return the heads and rows separated by tabs, for a spreadsheet."""
        return "\n".join("\t".join(cells) for cells in (HEADS, *(row.cells for row in self.rows)))


_PAD, _GAP = 6, 24


def _before_fits() -> float:
    return _GAP + theme.em(16) + theme.S


def _face(model: AnswersModel, row: int, column: int) -> QFont:
    stressed = column == PREFERRED or (column == FITS and GLYPHS[model.rows[row].fit] in (Glyph.SWAP, Glyph.WARNING))
    return theme.font(theme.Role.STRONG if stressed else theme.Role.BODY)


class _Row(QStyledItemDelegate):
    """Paints one cell: wrapped text, in the last column with its glyph."""

    def __init__(self, view: AnswersTable) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        across = range(index.column(), index.column() + self._view.columnSpan(index.row(), index.column()))
        width = sum(map(self._view.columnWidth, across)) - (_before_fits() if index.column() == FITS else 0) - 2 * _PAD
        used = wrapped_height(index.data(), _face(self._view.answers, index.row(), index.column()), max(width, 20))
        return QSize(round(width), max(theme.em(46), round(used) + theme.em(20)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours, rect = theme.tokens(self._view), QRectF(option.rect)
        row = self._view.answers.rows[index.row()]
        painter.fillRect(rect, colours.surface)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect.adjusted(0, 3, 0, -3), colours.hover)
        painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), colours.line)
        face = _face(self._view.answers, index.row(), index.column())
        plain = index.column() not in (PREFERRED, FITS)
        ink = colours.ink3 if row.fit == "taken out" else colours.ink2 if plain else colours.ink
        inside = rect.adjusted(_PAD, 0, -_PAD, 0)
        if index.column() == FITS:
            side = theme.em(16)
            sign = QRectF(inside.left() + _GAP, inside.center().y() - side / 2, side, side)
            paint_glyph(painter, GLYPHS[row.fit], sign, ink)
            inside.setLeft(inside.left() + _before_fits())
        align = RIGHT if index.column() == SECONDS else LEFT
        write_wrapped(painter, inside, index.data(), face, ink, align)


class AnswersTable(Arranged, QTableView):
    """Emits `chosen` with the number of an answer (or None), `opened` on Enter or a double click."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.answers = AnswersModel()
        self.setModel(self.answers)
        self.setItemDelegate(_Row(self))
        annotate(self, name="All answers, newest first")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.setHorizontalHeader(_Head(self))
        self.selectionModel().selectionChanged.connect(self._moved)
        self.doubleClicked.connect(lambda index: self.opened.emit(self.answers.rows[index.row()].number))
        self.answers.modelReset.connect(self._reset)

    @property
    def number(self) -> int | None:
        rows = self.selectionModel().selectedRows()
        return self.answers.rows[rows[0].row()].number if rows else None

    def choose(self, number: int) -> None:
        row = self.answers.row_of(number)
        if row is not None:
            self.selectRow(row)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        for column in (CLEARLY, SECONDS):
            self.setColumnHidden(column, breakpoint_.compact)
        self.fit()

    def fit(self) -> None:
        """Divide the width among the columns and take the height of all rows."""
        metrics = QFontMetricsF(theme.font(theme.Role.STRONG))
        head = QFontMetricsF(theme.font(theme.Role.NOTE)).horizontalAdvance(HEADS[FITS]) + 1
        small = {
            NUMBER: metrics.horizontalAdvance("No. 10") + 2 * _PAD,
            CLEARLY: metrics.horizontalAdvance("how clearly") + 3 * _PAD,
            SECONDS: metrics.horizontalAdvance("seconds") + 3 * _PAD,
            FITS: max(self._fits_width(metrics) + _before_fits(), head + _GAP) + 2 * _PAD,
        }
        shown = {column: width for column, width in small.items() if not self.isColumnHidden(column)}
        rest = max(self.viewport().width() - sum(shown.values()), theme.em(120))
        for column, width in {**shown, PREFERRED: rest * 0.52, RATHER: rest * 0.48}.items():
            self.setColumnWidth(column, int(width))
        self.resizeRowsToContents()
        self.updateGeometry()

    def _fits_width(self, metrics: QFontMetricsF) -> float:
        """Return the width of the texts in the last column, wrapped if they would take much of the table."""
        said = [FIT_WORDS[row.fit] for row in self.answers.rows] or ["fits"]
        word, whole = (max(map(metrics.horizontalAdvance, texts)) for texts in (" ".join(said).split(), said))
        return min(whole, max(word, 0.2 * self.viewport().width())) + 1

    def sizeHint(self) -> QSize:
        rows = sum(map(self.rowHeight, range(self.answers.rowCount())))
        return QSize(theme.em(600), self.horizontalHeader().sizeHint().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(240), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.number is not None:
            self.opened.emit(self.number)
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        rows = self.selectionModel().selectedRows()
        if not rows:
            return
        top, height = self.rowViewportPosition(rows[0].row()), self.rowHeight(rows[0].row())
        with QPainter(self.viewport()) as painter:
            rect = QRectF(0, top + 2, self.viewport().width(), height - 3)
            colours, strong = theme.tokens(self), self.hasFocus()
            box(painter, rect, 6, border=colours.ink if strong else colours.line2, width=2 if strong else 1)

    def _reset(self) -> None:
        self.clearSpans()
        for index, row in enumerate(self.answers.rows):
            if not row.rather_than:
                self.setSpan(index, PREFERRED, 1, 2)
        self.fit()

    def _moved(self) -> None:
        self.viewport().update()
        self.chosen.emit(self.number)


class _Head(QHeaderView):
    """The names of the columns, without boxes."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), theme.em(40))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        with QPainter(self.viewport()) as painter:
            painter.fillRect(self.rect(), colours.surface)
            for column in range(self.count()):
                if not self.isSectionHidden(column):
                    room = QRectF(self.sectionViewportPosition(column), 0, self.sectionSize(column), self.height())
                    head = self.model().headerData(column, Qt.Orientation.Horizontal)
                    align = RIGHT if column == SECONDS else LEFT
                    left = _PAD + (_GAP if column == FITS else 0)
                    note = theme.font(theme.Role.NOTE)
                    write(painter, room.adjusted(left, 0, -_PAD, 0), str(head), note, colours.ink2, align)


class _AnswerSummary(QWidget):
    """One of the two answers: when, what, and its circumstances."""

    def __init__(self) -> None:
        super().__init__()
        self.when, self.what = Label(role=theme.Role.NOTE, ink=theme.INK2), Label(role=theme.Role.SECTION)
        self.how = Label(role=theme.Role.NOTE, ink=theme.INK3)
        in_column(self.when, self.what, self.how, 1, on=self, spacing=2)

    def show_answer(self, answer: AnsweredView, other: AnsweredView | None, words: str) -> None:
        said = "you preferred" if answer.reply in ("left", "right") else "you said"
        self.when.setText(f"Question {answer.number}: {said}")
        self.what.setText(words)
        how = "" if answer.seconds is None else f"after {counted(round(answer.seconds), 'second')}"
        if other is not None and np.array_equal(answer.left, other.right):
            how = ", ".join(filter(None, ("sides swapped", how)))
        self.how.setText(how)


class ContradictionCard(Arranged, Card):
    """Emits `resolve_requested` with the numbers of the two answers, and which of them counts."""

    resolve_requested = Signal(object, object)

    def __init__(self) -> None:
        super().__init__(Surface.IMPORTANT)
        self._pair, self._per_row = (0, 0), 4
        self._title = Label(role=theme.Role.STRONG)
        head = in_row(GlyphSign(Glyph.SWAP, 16), (self._title, 1), spacing=12)
        self._first, self._second = _AnswerSummary(), _AnswerSummary()
        swap = (GlyphSign(Glyph.SWAP, 20), 0, Qt.AlignmentFlag.AlignVCenter)
        answers = in_row((self._first, 1), swap, (self._second, 1), spacing=theme.M, stacks="large")
        self._buttons: dict[Kept, Button] = {
            "first": Button(),
            "second": Button(),
            "equal": Button("About equal"),
            "both": FlatButton("Keep both answers"),
        }
        self._grid = QGridLayout()
        self._grid.setSpacing(theme.S)
        in_column(head, answers, Divider(), self._grid, on=self, margins=(20, 14, 20, 14), spacing=12)
        for kept, button in self._buttons.items():
            # A text of two lines makes the button taller.
            policy = button.sizePolicy()
            policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)
            button.setSizePolicy(policy)
            button.clicked.connect(lambda _=False, kept=kept: self.resolve_requested.emit(self._pair, kept))

    def show_pair(
        self, first: AnsweredView, second: AnsweredView, wording: Wording, family: Family, total: int
    ) -> None:
        """Show two answers, the first of `total` contradictions."""
        self._pair = (first.number, second.number)
        count = f" (1 of {total})" if total > 1 else ""
        self._title.setText(WHICH_MEANT + count)
        preferred = [answer_words(answer, wording, family).preferred for answer in (first, second)]
        self._first.show_answer(first, None, preferred[0])
        self._second.show_answer(second, first, preferred[1])
        self._buttons["first"].setText("About equal" if first.reply == "equal" else preferred[0])
        self._buttons["second"].setText("About equal" if second.reply == "equal" else preferred[1])
        self._buttons["equal"].setVisible("equal" not in (first.reply, second.reply))
        self._lay_buttons()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._per_row = 1 if breakpoint_.large else 2 if breakpoint_.compact else 4
        self._lay_buttons()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_buttons()

    def _lay_buttons(self) -> None:
        """Lay out the buttons in one row if they fit, otherwise two by two."""
        needed = sum(button.sizeHint().width() + theme.S for button in self._buttons.values())
        per_row = 2 if self._per_row == 4 and needed > self.width() - 40 else self._per_row
        for button in self._buttons.values():
            self._grid.removeWidget(button)
        for index, button in enumerate(self._buttons.values()):
            # In one row "Keep both answers" is set apart at the right end.
            place = (0, index + index // 3) if per_row == 4 else (index // per_row, index % per_row)
            self._grid.addWidget(button, *place)
        for column in range(5):
            self._grid.setColumnStretch(column, int(column == 3 if per_row == 4 else column < per_row))


NOTHING_CHOSEN, _COPY = "Choose an answer to look at it again", "Copy as a table"


class ReviewPage(HeadedPage):
    """Shows a `ReviewView`.

    Emits `finish_requested`, and `look_again_requested` and `take_out_requested` with the number of an answer.
    """

    finish_requested = Signal()
    look_again_requested = Signal(object)
    take_out_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.more = Button("Answer more questions", self.more_requested)
        self.finish = PrimaryButton("Finish and see the result", self.finish_requested, keys=("Ctrl+Enter",))
        self.header.add_actions(self.more, self.finish)
        self.contradiction = ContradictionCard()
        self.table = AnswersTable()
        self.copy = LinkButton(_COPY, self._copy)
        self.chosen = Label(NOTHING_CHOSEN, theme.Role.STRONG)
        self.undo = FlatButton("Undo", self.undo_requested, keys=("Ctrl+Z",), glyph=Glyph.UNDO)
        self.again = Button("Look at it again", keys=("Enter",))
        self.out = FlatButton("Take it out", lambda: self.take_out_requested.emit(self.table.number))
        self._build()
        self._connect()
        self.settle()

    def show_review(self, view: ReviewView, wording: Wording, family: Family) -> None:
        """Show `view`; the selection is kept."""
        kept = self.table.number
        resolved = not view.contradictions and self.contradiction.isAncestorOf(self.focusWidget() or self)
        taken_out = self.out.hasFocus()
        if not self.isVisible():
            self.area.verticalScrollBar().setValue(0)
        self.header.say("Look back before you finish", view.sentence)
        self.more.setVisible(view.can_continue)
        self.finish.setEnabled(view.can_finish)
        self.notice.say(view.unsaved, button="Try again", then=self.retry_requested.emit)
        self.undo.setVisible(view.undoes != "nothing")
        takes_back = "Take back the last change"
        if view.undoes == "answer":
            takes_back = undo_words(view.answers[-1], wording, family)
        annotate(self.undo, tooltip=takes_back, more=takes_back)
        self.contradiction.setVisible(bool(view.contradictions))
        if view.contradictions:
            first, second = (view.answers[index] for index in view.contradictions[0])
            self.contradiction.show_pair(first, second, wording, family, len(view.contradictions))
        self.table.answers.show_rows(tuple(answer_words(answer, wording, family) for answer in reversed(view.answers)))
        self.copy.setText(_COPY)
        if kept is not None:
            self.table.choose(kept)
        self._choose(self.table.number)
        self.first_focus = self if self.table.number is None else self.table  # Enter reopens the selected answer
        if resolved:  # else Qt moves the focus of the closed card to whatever comes next
            (self.finish if view.can_finish else self.table).setFocus(Qt.FocusReason.OtherFocusReason)
        elif taken_out and not self.out.isEnabled():  # else Qt moves it to "Answer more questions"
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.undo.set_keys(*(() if breakpoint_.compact else ("Ctrl+Z",)))
        self.finish.set_keys(*(() if breakpoint_.narrow else ("Ctrl+Enter",)))

    def _build(self) -> None:
        title = in_row((Label("All answers", theme.Role.SECTION), 1), self.copy)
        card = Card()
        in_column(self.table, on=card, margins=(10, 4, 10, 6))
        fill(self.body, self.contradiction, title, card)
        self.back = self.link_to_start("Stop for now, back to the start")
        fill(self.body, (self.back, 0, Qt.AlignmentFlag.AlignLeft), 1)
        self.foot.addLayout(in_row((self.chosen, 1), self.undo, self.again, self.out, spacing=theme.S))

    def _connect(self) -> None:
        bind(self, self.finish.click, *CTRL_ENTER)
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(self.look_again_requested)
        self.again.clicked.connect(lambda: self.look_again_requested.emit(self.table.number))
        bind(self, self.undo_requested, "Ctrl+Z")
        bind(self, self.redo_requested, "Ctrl+Shift+Z")

    def _choose(self, number: int | None) -> None:
        self.chosen.setText(NOTHING_CHOSEN if number is None else f"Question {number} is selected")
        row = None if number is None else self.table.answers.row_of(number)
        self.again.setEnabled(row is not None)
        self.out.setEnabled(row is not None and self.table.answers.rows[row].fit != "taken out")
        if row is not None:
            top = self.table.mapTo(self.inner, QPoint(0, self.table.rowViewportPosition(row))).y()
            self.area.ensureVisible(0, top + self.table.rowHeight(row), 0, self.table.rowHeight(row) * 2)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.table.answers.as_text())
        self.copy.setText("Copied")
