"""Look back before you finish: contradictions first, then all answers."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Card, FlatButton, Glyph, Label, LinkButton, OutlineButton, PrimaryButton
from elicit_app.gui.parts.notice import Notice
from elicit_app.gui.parts.scrolled import Header, ScrolledPage
from elicit_app.gui.review.answers import AnswersModel, answer_words
from elicit_app.gui.review.contradiction import ContradictionCard
from elicit_app.gui.review.table import AnswersTable
from elicit_app.session.views.asked import ReviewView
from elicit_app.session.words.sentences import undo_words
from elicit_app.study.model import Wording

NOTHING_CHOSEN = "Choose an answer to look at it again"


class ReviewPage(ScrolledPage):
    """Shows a `ReviewView`.

    Emits `finish_wanted`, `more_wanted`, `look_at` and `take_out` with the number of an answer, `meant` with what was
    decided about two answers, `undo_wanted`, `redo_wanted`, `retry_wanted` and `start_wanted`.
    """

    finish_wanted = Signal()
    more_wanted = Signal()
    look_at = Signal(object)
    take_out = Signal(object)
    meant = Signal(object)
    undo_wanted = Signal()
    redo_wanted = Signal()
    retry_wanted = Signal()
    start_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._header = Header()
        self.more, self.finish = OutlineButton("Answer more questions"), PrimaryButton("Finish and see the result")
        self._header.add_action(self.more)
        self._header.add_action(self.finish)
        self.notice, self.contradiction = Notice(), ContradictionCard()
        self.head.addWidget(self._header)
        self.head.addWidget(self.notice)
        self.model = AnswersModel()
        self.table = AnswersTable(self.model)
        self.copy = LinkButton("Copy as a table")
        self.chosen = Label(NOTHING_CHOSEN, theme.Role.STRONG)
        self.undo = FlatButton("Undo", keys=("Ctrl+Z",), glyph=Glyph.UNDO)
        self.again, self.out = OutlineButton("Look at it again", keys=("Enter",)), FlatButton("Take it out")
        self._build()
        self._connect()
        self.settle()

    def show_review(self, view: ReviewView, wording: Wording, family: Family) -> None:
        """Show `view`; the chosen answer stays chosen."""
        kept = self.table.number
        self._header.say("Look back before you finish", view.sentence)
        self.more.setVisible(view.can_continue)
        self.finish.setEnabled(view.can_finish)
        self.notice.say(view.unsaved, button="Try again")
        self.undo.setVisible(view.undoes != "nothing")
        takes_back = "Take back the last change"
        if view.undoes == "answer":
            takes_back = undo_words(view.answers[-1], wording, family)
        self.undo.setToolTip(takes_back)
        self.undo.setAccessibleDescription(takes_back)
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
        self._header.arrange(breakpoint_)
        self.contradiction.arrange(breakpoint_)
        self.table.set_compact(breakpoint_.compact)
        self.undo.set_keys(*(() if breakpoint_.compact else ("Ctrl+Z",)))

    def _build(self) -> None:
        title = QHBoxLayout()
        title.addWidget(Label("All answers", theme.Role.SECTION), 1)
        title.addWidget(self.copy)
        card = Card()
        inside = QVBoxLayout(card)
        inside.setContentsMargins(10, 4, 10, 6)
        inside.addWidget(self.table)
        self.body.addWidget(self.contradiction)
        self.body.addLayout(title)
        self.body.addWidget(card)
        self.back = LinkButton("Stop for now, back to the start")
        self.body.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(theme.S)
        row.addWidget(self.chosen, 1)
        for button in (self.undo, self.again, self.out):
            row.addWidget(button)
        self.foot.addLayout(row)

    def _connect(self) -> None:
        self.more.clicked.connect(self.more_wanted)
        self.finish.clicked.connect(self.finish_wanted)
        self.notice.pressed.connect(self.retry_wanted)
        self.contradiction.meant.connect(self.meant)
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(self.look_at)
        self.again.clicked.connect(lambda: self.look_at.emit(self.table.number))
        self.out.clicked.connect(lambda: self.take_out.emit(self.table.number))
        self.copy.clicked.connect(self._copy)
        self.undo.clicked.connect(self.undo_wanted)
        self.back.clicked.connect(self.start_wanted)
        scope = Qt.ShortcutContext.WidgetWithChildrenShortcut
        for keys, signal in (("Ctrl+Z", self.undo_wanted), ("Ctrl+Shift+Z", self.redo_wanted)):
            shortcut = QShortcut(QKeySequence(keys), self, context=scope)
            shortcut.setAutoRepeat(False)
            shortcut.activated.connect(signal)

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
