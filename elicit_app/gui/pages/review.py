"""Looking back: contradictions first, then every answer, and the ways on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, LinkButton, PrimaryButton
from elicit_app.gui.elements.page import CTRL_ENTER, HeadedPage, bind
from elicit_app.gui.elements.painting import Glyph, GlyphSign
from elicit_app.gui.elements.surfaces import Card, Divider, Surface, fill, in_column, in_row, turn
from elicit_app.gui.elements.texts import Label, tell
from elicit_app.gui.pages.review_table import AnswersModel, AnswersTable, answer_words
from elicit_app.session.journal.events import Kept
from elicit_app.session.sentences import undo_words
from elicit_app.session.views import AnsweredView, ReviewView
from elicit_app.study.model import Wording
from metrics.text import counted


class Resolution(NamedTuple):
    """What was decided about two answers: their numbers, and which one counts."""

    pair: tuple[int, int]
    kept: Kept


def circumstances(answer: AnsweredView, other: AnsweredView | None) -> str:
    """Return how an answer came about: "sides swapped, after 31 seconds"."""
    parts = []
    if other is not None and np.array_equal(answer.left, other.right) and not np.array_equal(answer.left, other.left):
        parts.append("sides swapped")
    if answer.seconds is not None:
        seconds = round(answer.seconds)
        parts.append(f"after {counted(seconds, 'second')}")
    return ", ".join(parts)


class _AnswerSummary(QWidget):
    """One of the two answers: when, what, and how it came about."""

    def __init__(self) -> None:
        super().__init__()
        self.when, self.what = Label(role=theme.Role.NOTE, ink=theme.INK2), Label(role=theme.Role.SECTION)
        self.how = Label(role=theme.Role.NOTE, ink=theme.INK3)
        in_column(self.when, self.what, self.how, 1, on=self, spacing=2)

    def show_answer(self, answer: AnsweredView, other: AnsweredView | None, words: str) -> None:
        preferred = answer.reply in ("left", "right")
        self.when.setText(f"Question {answer.number}: {'you preferred' if preferred else 'you said'}")
        self.what.setText(words)
        self.how.setText(circumstances(answer, other))


class ContradictionCard(Card):
    """Emits `resolve_requested` with a `Resolution`."""

    resolve_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__(Surface.IMPORTANT)
        self._pair, self._per_row = (0, 0), 4
        self._title = Label(role=theme.Role.STRONG)
        head = in_row(GlyphSign(Glyph.SWAP, 16), (self._title, 1), spacing=12)
        self._first, self._second = _AnswerSummary(), _AnswerSummary()
        self._answers = in_row(
            (self._first, 1),
            (GlyphSign(Glyph.SWAP, 20), 0, Qt.AlignmentFlag.AlignVCenter),
            (self._second, 1),
            spacing=theme.M,
        )
        self._buttons: dict[Kept, Button] = {
            "first": Button(),
            "second": Button(),
            "equal": Button("About equal"),
            "both": FlatButton("Keep both answers"),
        }
        self._grid = QGridLayout()
        self._grid.setSpacing(theme.S)
        in_column(head, self._answers, Divider(), self._grid, on=self, margins=(20, 14, 20, 14), spacing=12)
        for kept, button in self._buttons.items():
            # A text of two lines makes the button higher.
            policy = button.sizePolicy()
            policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)
            button.setSizePolicy(policy)
            button.clicked.connect(lambda _=False, kept=kept: self.resolve_requested.emit(Resolution(self._pair, kept)))

    def show_pair(
        self, first: AnsweredView, second: AnsweredView, wording: Wording, family: Family, number: int, total: int
    ) -> None:
        """Show two answers; this is contradiction `number` of `total`."""
        self._pair = (first.number, second.number)
        count = f" ({number} of {total})" if total > 1 else ""
        self._title.setText(f"The same pair, two answers. Which do you mean?{count}")
        preferred = [answer_words(answer, wording, family).preferred for answer in (first, second)]
        self._first.show_answer(first, None, preferred[0])
        self._second.show_answer(second, first, preferred[1])
        self._buttons["first"].setText("About equal" if first.reply == "equal" else preferred[0])
        self._buttons["second"].setText("About equal" if second.reply == "equal" else preferred[1])
        self._buttons["equal"].setVisible("equal" not in (first.reply, second.reply))
        self._lay_buttons()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """One row of buttons, two by two on a compact page, one below the other with a large font."""
        turn(self._answers, down=breakpoint_.large)
        for summary in (self._first, self._second):
            summary.what.set_compact(breakpoint_.compact)
        self._per_row = 1 if breakpoint_.large else 2 if breakpoint_.compact else 4
        self._lay_buttons()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_buttons()

    def _lay_buttons(self) -> None:
        """Lay the buttons in one row where they fit, else two by two."""
        needed = sum(button.sizeHint().width() + theme.S for button in self._buttons.values())
        per_row = 2 if self._per_row == 4 and needed > self.width() - 40 else self._per_row
        for button in self._buttons.values():
            self._grid.removeWidget(button)
        for index, button in enumerate(self._buttons.values()):
            # In one row "Keep both answers" stands apart, at the right end.
            place = (0, index + index // 3) if per_row == 4 else (index // per_row, index % per_row)
            self._grid.addWidget(button, *place)
        for column in range(5):
            self._grid.setColumnStretch(column, int(column == 3 if per_row == 4 else column < per_row))


NOTHING_CHOSEN = "Choose an answer to look at it again"


class ReviewPage(HeadedPage):
    """Shows a `ReviewView`.

    Emits `finish_requested`, `more_requested`, `look_again_requested` and `take_out_requested` with the number of
    an answer, `resolve_requested` with what was decided about two answers, `undo_requested`, `redo_requested`,
    `retry_requested` and `start_requested`.
    """

    finish_requested = Signal()
    more_requested = Signal()
    look_again_requested = Signal(object)
    take_out_requested = Signal(object)
    resolve_requested = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()
    retry_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.more = Button("Answer more questions")
        self.finish = PrimaryButton("Finish and see the result", keys=("Ctrl+Enter",))
        self.header.add_action(self.more)
        self.header.add_action(self.finish)
        self.contradiction = ContradictionCard()
        self.model = AnswersModel()
        self.table = AnswersTable(self.model)
        self.copy = LinkButton("Copy as a table")
        self.chosen = Label(NOTHING_CHOSEN, theme.Role.STRONG)
        self.undo = FlatButton("Undo", keys=("Ctrl+Z",), glyph=Glyph.UNDO)
        self.again, self.out = Button("Look at it again", keys=("Enter",)), FlatButton("Take it out")
        self._build()
        self._connect()
        self.settle()

    def show_review(self, view: ReviewView, wording: Wording, family: Family) -> None:
        """Show `view`; the chosen answer stays chosen."""
        kept = self.table.number
        self.header.say("Look back before you finish", view.sentence)
        self.more.setVisible(view.can_continue)
        self.finish.setEnabled(view.can_finish)
        self.notice.say(view.unsaved, button="Try again")
        self.undo.setVisible(view.undoes != "nothing")
        takes_back = "Take back the last change"
        if view.undoes == "answer":
            takes_back = undo_words(view.answers[-1], wording, family)
        tell(self.undo, tooltip=takes_back, more=takes_back)
        self.contradiction.setVisible(bool(view.contradictions))
        if view.contradictions:
            first, second = (view.answers[index] for index in view.contradictions[0])
            self.contradiction.show_pair(first, second, wording, family, 1, len(view.contradictions))
        self.model.show_rows(tuple(answer_words(answer, wording, family) for answer in reversed(view.answers)))
        if kept is not None:
            self.table.choose(kept)
        self._choose(self.table.number)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.contradiction.arrange(breakpoint_)
        self.table.set_compact(breakpoint_.compact)
        self.undo.set_keys(*(() if breakpoint_.compact else ("Ctrl+Z",)))
        self.finish.set_keys(*(() if breakpoint_.compact or breakpoint_.large else ("Ctrl+Enter",)))

    def _build(self) -> None:
        title = in_row((Label("All answers", theme.Role.SECTION), 1), self.copy)
        card = Card()
        in_column(self.table, on=card, margins=(10, 4, 10, 6))
        fill(self.body, self.contradiction, title, card)
        self.back = self.link_to_start("Stop for now, back to the start")
        fill(self.body, (self.back, 0, Qt.AlignmentFlag.AlignLeft), 1)
        self.foot.addLayout(in_row((self.chosen, 1), self.undo, self.again, self.out, spacing=theme.S))

    def _connect(self) -> None:
        self.more.clicked.connect(self.more_requested)
        self.finish.clicked.connect(self.finish_requested)
        bind(self, self.finish.click, *CTRL_ENTER)
        self.notice.pressed.connect(self.retry_requested)
        self.contradiction.resolve_requested.connect(self.resolve_requested)
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(self.look_again_requested)
        self.again.clicked.connect(lambda: self.look_again_requested.emit(self.table.number))
        self.out.clicked.connect(lambda: self.take_out_requested.emit(self.table.number))
        self.copy.clicked.connect(self._copy)
        self.undo.clicked.connect(self.undo_requested)
        bind(self, self.undo_requested, "Ctrl+Z")
        bind(self, self.redo_requested, "Ctrl+Shift+Z")

    def _choose(self, number: object) -> None:
        assert number is None or isinstance(number, int)
        self.chosen.setText(NOTHING_CHOSEN if number is None else f"Question {number} is selected")
        row = None if number is None else self.model.row_of(number)
        self.again.setEnabled(row is not None)
        self.out.setEnabled(row is not None and self.model.rows[row].fit != "taken out")
        if row is not None:
            top = self.table.mapTo(self.inner, QPoint(0, self.table.rowViewportPosition(row))).y()
            self.area.ensureVisible(0, top + self.table.rowHeight(row), 0, self.table.rowHeight(row) * 2)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.model.as_text())
        self.copy.setText("Copied")
