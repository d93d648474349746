"""The two pages that show a pair: practice and question. They contain no rules of the session."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QElapsedTimer, QPropertyAnimation, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QGraphicsOpacityEffect, QWidget

from elicit_app.elicitation.questions import Family, Moved
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, PrimaryButton
from elicit_app.gui.elements.page import bind
from elicit_app.gui.elements.painting import Arranged, Glyph, GlyphSign, Label, annotate
from elicit_app.gui.elements.surfaces import Card, Notice, Surface, in_column, in_row
from elicit_app.gui.question.answers import AnswerChoice, GivenAnswer, ReasonField
from elicit_app.gui.question.bands import TopBar
from elicit_app.gui.question.pair_page import Pair, PairPage
from elicit_app.gui.theme import Breakpoint, em
from elicit_app.session.pair_words import compare_pair
from elicit_app.session.sentences import last_words, mark_words, progress_words, undo_words
from elicit_app.session.views import QuestionView, Reply, UnsavedView
from elicit_app.session.warm_up import (
    Feedback,
    PracticePair,
    practice_feedback,
    practice_pair,
    practice_trade,
    trade_feedback,
)
from elicit_app.study.model import Study

DWELL_MS = 120  # after this time a moved count is considered a likely answer
LOCK_MS, FADE_MS = 350, 120


class BreakCard(Card):
    """Says that everything is saved, and offers to continue or to stop for now."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.IMPORTANT, parent)
        self._sentence = Label(role=theme.Role.TITLE, align=Qt.AlignmentFlag.AlignHCenter)
        self.proceed = PrimaryButton("Go on", keys=("Enter",))
        self.stop = Button("Stop for now")
        middle = Qt.AlignmentFlag.AlignVCenter
        buttons = in_row(1, (self.proceed, 0, middle), (self.stop, 0, middle), 1, spacing=12)
        in_column(self._sentence, buttons, on=self, margins=(theme.L, theme.XL, theme.L, theme.XL), spacing=theme.L)

    def offer(self, answers: int) -> None:
        self._sentence.setText(f"{answers} answers, all kept. Take a break?")
        annotate(self, name=self._sentence.text())


class QuestionPage(PairPage):
    """The question page; it keeps its widgets and changes their values with every question.

    Call `begin` once per session, `show_question` for every view, and `show_unsaved` if an answer could not be written.
    The expert's actions arrive as signals. For `lock_ms` after a question appears, answers are ignored, so that a
    double press does not answer it.
    """

    notice: Notice
    answered = Signal(object)  # a GivenAnswer
    considered = Signal(int, object)  # a request, and the count (Moved) that has rested for a moment: the likely answer

    def __init__(self, *, lock_ms: int = LOCK_MS) -> None:
        self.undo = FlatButton("Undo", glyph=Glyph.UNDO)
        self.stop = Button("Stop and see the result")
        super().__init__(TopBar((self.undo, self.stop), ("Undo", "Stop")))
        self.notice = Notice(parent=self)
        self.break_card = BreakCard(self)
        self.break_card.hide()
        self.reason = ReasonField(self)
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._question: QuestionView | None = None
        self.animated, self._lock_ms = True, lock_ms  # whether new questions fade in
        self._saw_full, self._answered, self._fresh = False, True, True
        self._steps_back = False  # whether Undo or Redo was pressed, and the question it leads to is not shown yet
        self._since_painted = QElapsedTimer()
        self._dwell_timer = QTimer(self, singleShot=True, interval=DWELL_MS)
        self._opacity = QGraphicsOpacityEffect(self.card)
        self._opacity.setEnabled(False)
        self.card.setGraphicsEffect(self._opacity)
        self._fade = QPropertyAnimation(self._opacity, b"opacity", self)
        self._fade.setDuration(FADE_MS)
        self._fade.setStartValue(0.0)
        self._fade.setEndValue(1.0)
        self._connect()
        self.order_focus(self.undo, self.stop)
        self.settle()

    def _connect(self) -> None:
        self.answer_with(self._answer)
        self.undo.clicked.connect(self._undo)
        self.stop.clicked.connect(self.stop_requested)
        self.break_card.proceed.clicked.connect(self._end_break)
        self.break_card.stop.clicked.connect(self.start_requested)
        self.card.fold.toggle.clicked.connect(self.toggle_full_picture)
        self.card.field.moved.connect(lambda shown: self._dwell_timer.start())
        self._dwell_timer.timeout.connect(self._consider)
        self._fade.finished.connect(lambda: self._opacity.setEnabled(False))
        self.reason.kept.connect(self._keep_reason)
        self.reason.dropped.connect(self._drop_reason)
        bind(self, self.open_reason, "R")
        bind(self, self._undo, "Ctrl+Z")
        bind(self, self._redo, "Ctrl+Shift+Z")
        bind(self, self.toggle_full_picture, "F")

    # what is shown

    def begin(self, study: Study, family: Family, shown: Iterable[QuestionView] = ()) -> None:
        """Start a session on `study`; `family` decides which mistakes are distinguished.

        In a resumed session, the questions `shown` before still determine the common scale of all squares.
        """
        self._study, self._family, self._question = study, family, None
        self._fresh, self._steps_back = True, False
        self.card.begin(study)
        for view in shown:
            pair = Pair(view.left, view.right, study.wording, view.population, family)
            self.record_counts(compare_pair(*pair, subject=view.subject), pair, view.proposal)
        self.take_words(study)

    def show_question(self, view: QuestionView) -> None:
        """Show a question; answers are accepted once it has been on the screen for a moment."""
        if self._study is None:
            raise ValueError("begin() tells the page which study the question is about; call it first")
        self._question = view
        self._answered = False
        self._since_painted.invalidate()
        self.notice.say("")
        if self._fresh:
            self._fresh = False
            self.card.show_full(view.full_picture)
        self._saw_full = self.card.is_full
        self._show_progress(view, self._study)
        self._show_reason(view)
        self._update_notes()
        pair = Pair(view.left, view.right, self._study.wording, view.population, self._family)
        words = compare_pair(*pair, subject=view.subject, reversed_rows=view.reversed_rows)
        at_once = view.proposal is not None and view.proposal.at_once and view.again is None
        self._set_answerable(True)
        self.show_pair(words, pair, words.spoken(view.number), view.proposal, at_once=at_once and not view.offer_break)
        self._offer_break(view)
        if not view.offer_break and not self.moving:
            self.card.take_focus()
        self._fade_in()

    def show_unsaved(self, view: UnsavedView) -> None:
        """Show that an answer could not be written; the question waits for another attempt."""
        if view.question is not self._question:
            self.show_question(view.question)
        self._answered = True
        self._set_answerable(False)
        self.notice.say(view.sentence, button="Try again", then=self.retry_requested.emit)
        self.place()
        self.notice.button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_progress(self, view: QuestionView, study: Study) -> None:
        if view.again is not None:
            self.set_page_title(f"Question {view.again} again")
            self.bar.show_progress(f"Question {view.again},", "looked at again", view.progress.share, "Looked at again")
            takes_back = "Leave the answer as it was"
            back, brief = "Leave it as it was", "Leave it"
        else:
            words = progress_words(view)
            back = brief = "Undo"
            self.set_page_title("Take a break?" if view.offer_break else f"Question {view.number}")
            self.bar.show_progress(words.question, words.rest, view.progress.share, words.spoken)
            takes_back = "Take back the last change"
            if view.undoes != "change":
                takes_back = undo_words(view.previous, study.wording, self._family)
        self.bar.rename(self.undo, back, brief)
        annotate(self.undo, tooltip=takes_back, more=takes_back)
        self.undo.setEnabled(view.again is not None or view.undoes == "change" or view.previous is not None)

    def _update_notes(self) -> None:
        view, study = self._question, self._study
        if view is None or study is None:
            return
        notes = [view.note, mark_words(view)] if view.again is None else []
        if view.given is not None:
            given = last_words(view.given, study.wording, self._family)
            notes.append(f"{given} Answer again, or leave it as it was.")
        if self.reason.text().strip():
            notes.append(f"Your reason: {self.reason.text().strip()}")
        self.note.setText(" ".join(filter(None, notes)))

    def _set_answerable(self, answerable: bool) -> None:
        for button in (*self.answers.buttons, *self.move_answers.buttons):
            button.setEnabled(answerable)

    def _offer_break(self, view: QuestionView) -> None:
        self.break_card.offer(view.number - 1)
        self._show_break(view.offer_break)
        if view.offer_break:
            self.place()
            self.break_card.proceed.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_break(self, pausing: bool) -> None:
        self.break_card.setVisible(pausing)
        for widget in (self.area, self.strip, self.bottom()):
            widget.setVisible(not pausing)

    def _end_break(self) -> None:
        self._show_break(False)
        self._since_painted.invalidate()
        self.update()
        self.set_page_title(f"Question {self._question.number}" if self._question is not None else "")
        self.card.take_focus()
        if self._proposal is not None and self._proposal.at_once:
            self.begin_move()

    def arrange(self, breakpoint_: Breakpoint) -> None:
        self.undo.set_keys(*(() if breakpoint_.narrow else ("Ctrl+Z",)))
        super().arrange(breakpoint_)

    def place(self) -> None:
        super().place()
        over = self.strip.geometry()
        if self.room.large:  # there the strip scrolls with the comparison
            over.moveBottom(self.area.geometry().bottom())
        self.reason.setGeometry(over.adjusted(0, 2, 0, -2))
        width = min(self.width() - 48, em(560))
        high = max(self.break_card.sizeHint().height(), self.break_card.heightForWidth(width))
        self.break_card.setGeometry((self.width() - width) // 2, (self.height() - high) // 2, width, high)

    # answering

    @property
    def on_screen(self) -> bool:
        return self._since_painted.isValid()

    @property
    def locked(self) -> bool:
        waiting = not self.on_screen or self._since_painted.elapsed() < self._lock_ms
        return self._question is None or self._answered or waiting or not self.break_card.isHidden()

    def _answer(self, choice: AnswerChoice) -> None:
        if not self.locked:
            self._give(choice)

    def give_moved(self, reply: Reply, moved: Moved | None) -> None:
        self._give(AnswerChoice(reply), moved)

    @property
    def answerable(self) -> bool:
        return self._question is not None and not self._answered and self.break_card.isHidden()

    def _give(self, pressed: AnswerChoice, moved: Moved | None = None) -> None:
        if self._question is None:
            return
        self._answered, self._steps_back = True, False
        seconds = self._since_painted.elapsed() / 1000
        request, reason = self._question.request, self.reason.text().strip()
        self.answered.emit(GivenAnswer(request, *pressed, seconds, self._saw_full, moved, reason))

    def _consider(self) -> None:
        moving, question = self._moving, self._question
        moved = None if moving is None or not self.card.field.valid else self._moved(moving.count)
        if question is not None and moved is not None and self.answerable:
            self.considered.emit(question.request, moved)

    # reasons

    def open_reason(self) -> None:
        """Open the field for a reason, over the sentence of the strip."""
        if self.answerable:
            self.reason.show()
            self.reason.raise_()
            self.reason.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_reason(self, view: QuestionView) -> None:
        """Show the reason given before; one typed before Undo or Redo waits for the answer that follows."""
        typed = self.reason.text() if self._steps_back and self.reason.isModified() else ""
        before = "" if view.given is None else view.given.reason
        self.reason.setText(typed.strip() or before)
        self.reason.setModified(bool(typed.strip()))  # so that it survives another Undo
        self.reason.hide()
        self._steps_back = False

    def _keep_reason(self) -> None:
        self.reason.hide()
        self._update_notes()
        self.place()
        if self.moving:
            self.card.field.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.card.take_focus()

    def _drop_reason(self) -> None:
        self.reason.clear()
        self._keep_reason()

    def _undo(self) -> None:
        if self._question is not None and self.undo.isEnabled():
            self._steps_back = True
            self.undo_requested.emit()

    def _redo(self) -> None:
        if self._question is not None and self._question.can_redo:
            self._steps_back = True
            self.redo_requested.emit()

    def toggle_full_picture(self) -> None:
        """Show the full picture, or only the differences; the choice lasts until the next toggle."""
        if not self.break_card.isHidden() or self.moving or self.card.all_shown:
            return
        self.card.show_full(not self.card.is_full)
        self._saw_full = self._saw_full or self.card.is_full
        self.place()

    # motion

    def _fade_in(self) -> None:
        if not self.animated or not self.isVisible() or QGuiApplication.platformName() == "offscreen":
            return
        self._opacity.setEnabled(True)
        self._fade.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Record when a new question reaches the screen; `show_question` repaints the whole page."""
        super().paintEvent(event)
        if not self.on_screen:
            self._since_painted.start()


_STEPS = 3


class FeedbackCard(Arranged, Card):
    """Feedback after a practice answer, with "Next" and, after a wrong choice, "Try again"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.IMPORTANT, parent)
        self.sign = GlyphSign(Glyph.CHECK, 24)
        self.headline = Label(role=theme.Role.TITLE)
        self.sentence = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.again = Button("Try again")
        self.next = PrimaryButton("Next", keys=("Enter",))
        words = in_column(1, self.headline, self.sentence, 1, spacing=theme.XS)
        message = in_row((self.sign, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=theme.M)
        middle = Qt.AlignmentFlag.AlignVCenter
        buttons = in_row(1, (self.again, 0, middle), (self.next, 0, middle), spacing=12)
        margins = (theme.L, theme.M, theme.L, theme.M)
        self._parts = in_row((message, 1), buttons, on=self, margins=margins, spacing=theme.M, stacks="large")

    def say(self, feedback: Feedback, *, undo: bool = False) -> None:
        self.sign.setVisible(feedback.right)
        self.again.setVisible(undo or not feedback.right)
        self.again.setText("Undo" if undo else "Try again")
        # Enter presses the focused button, so the card shows which one that is.
        self.again.set_keys("Ctrl+Z" if undo else "Enter")
        self.next.set_keys(*(("Enter",) if feedback.right else ()))
        self.headline.setText(feedback.headline)
        self.sentence.setText(feedback.sentence)
        annotate(self, name=f"{feedback.headline}. {feedback.sentence}")
        self._parts.activate()

    def arrange(self, breakpoint_: Breakpoint) -> None:
        small = breakpoint_.narrow
        self.headline.set_role(theme.Role.SECTION if small else theme.Role.TITLE)
        self.sentence.set_role(theme.Role.NOTE if small else theme.Role.FLOW)
        self.next.tall = 44 if small else 52


class PracticePage(PairPage):
    """Three practice questions that do not count: one with a better side, a trade, and the same trade made equal.

    Call `begin`; `finished` is emitted after the last question, `skipped` if they are skipped.
    """

    finished = Signal()
    skipped = Signal()
    _study: Study
    _family: Family
    _better: PracticePair
    _trade: PracticePair

    def __init__(self) -> None:
        self.skip = FlatButton("Skip the practice")
        super().__init__(TopBar((self.skip,), ("Skip",)), practice=True)
        self.feedback = FeedbackCard(self)
        self.feedback.hide()
        self.number = 1
        self.answer_with(self._answer)
        self.skip.clicked.connect(self.skipped)
        self.feedback.next.clicked.connect(self._next)
        self.feedback.again.clicked.connect(self._show_step)
        bind(self, self._undo, "Ctrl+Z")
        self.order_focus(self.feedback.again, self.feedback.next, self.skip)
        self.settle()

    @property
    def answerable(self) -> bool:
        return self.feedback.isHidden()

    def begin(self, study: Study, family: Family) -> None:
        self._study, self._family = study, family
        self._better, self._trade = practice_pair(study), practice_trade(study)
        self.number = 1
        self.card.begin(study)
        self.take_words(study)
        self._show_step()

    def _show_step(self) -> None:
        study = self._study
        title = f"Practice {self.number} of {_STEPS}"
        self.set_page_title(title)
        self.bar.show_progress(title, "does not count", self.number / _STEPS, f"{title}, does not count")
        self.feedback.hide()
        left, right, proposal = self._better if self.number == 1 else self._trade
        pair = Pair(left, right, study.wording, study.population, self._family)
        words = compare_pair(*pair)
        name = words.spoken(self.number).replace("Question", "Practice", 1)
        self.show_pair(words, pair, name, proposal, at_once=self.number == _STEPS)
        if not self.moving:
            self.card.take_focus()

    def _answer(self, pressed: AnswerChoice) -> None:
        """Give feedback on an answer; the strength of preference is ignored."""
        if not self.answerable:
            return
        if self.number == 1 and self._view is not None:
            self._show_feedback(practice_feedback(self._view, pressed.reply))
        else:
            self._show_feedback(trade_feedback(pressed.reply, None, moved=False))

    def give_moved(self, reply: Reply, moved: Moved | None) -> None:
        self._show_feedback(trade_feedback(reply, self.ratio, moved=moved is not None))

    def _show_feedback(self, feedback: Feedback) -> None:
        self.feedback.say(feedback, undo=self.number > 1)
        self.answers.hide()
        self.move_answers.hide()
        self.feedback.show()
        self.set_page_title(feedback.headline)
        self.place()
        if self.answers_scroll:
            self.area.ensureWidgetVisible(self.feedback)
        (self.feedback.next if feedback.right else self.feedback.again).setFocus(Qt.FocusReason.OtherFocusReason)

    def _undo(self) -> None:
        if self.answerable and self.number > 1:
            self.number -= 1
        self._show_step()

    def _next(self) -> None:
        if self.number < _STEPS:
            self.number += 1
            self._show_step()
        else:
            self.finished.emit()

    def bottom(self) -> QWidget:
        return super().bottom() if self.feedback.isHidden() else self.feedback

    def bottom_height(self, width: int) -> int:
        usual = super().bottom_height(width)
        return usual if self.feedback.isHidden() else max(usual, self.feedback.heightForWidth(width))
