"""Practice: a pair with a better side, a trade, and making both results equal; feedback where the answers were."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QWidget

from elicit_app.elicitation.questions import Family, Moved
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, PrimaryButton
from elicit_app.gui.elements.page import bind
from elicit_app.gui.elements.painting import Glyph, GlyphSign
from elicit_app.gui.elements.surfaces import Card, Surface, in_column, in_row
from elicit_app.gui.elements.texts import Label, tell
from elicit_app.gui.question.answers import Pressed
from elicit_app.gui.question.bands import TopBar
from elicit_app.gui.question.pair_page import Pair, PairPage
from elicit_app.gui.theme import Breakpoint
from elicit_app.session.pair_words import compare_pair
from elicit_app.session.views import Reply
from elicit_app.session.warm_up import (
    Feedback,
    PracticePair,
    PracticeTrade,
    practice_comparison,
    practice_feedback,
    practice_pairs,
    practice_trade,
    trade_feedback,
)
from elicit_app.study.model import Study

_STEPS = 3


class FeedbackCard(Card):
    """What is said after a practice answer, with "Next" and, after the other side was chosen, "Try again"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.IMPORTANT, parent)
        self.sign = GlyphSign(Glyph.CHECK, 24)
        self.headline = Label(role=theme.Role.TITLE)
        self.sentence = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.again = Button("Try again")
        self.next = PrimaryButton("Next", keys=("Enter",))
        words = in_column(1, self.headline, self.sentence, 1, spacing=theme.XS)
        message = in_row((self.sign, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=theme.M)
        buttons = in_row(
            1, (self.again, 0, Qt.AlignmentFlag.AlignVCenter), (self.next, 0, Qt.AlignmentFlag.AlignVCenter), spacing=12
        )
        self._parts = in_row(
            (message, 1), buttons, on=self, margins=(theme.L, theme.M, theme.L, theme.M), spacing=theme.M
        )

    def say(self, feedback: Feedback, *, undo: bool = False) -> None:
        """Show feedback; with `undo` the answer can be taken back."""
        self.sign.setVisible(feedback.right)
        self.again.setVisible(undo or not feedback.right)
        self.again.setText("Undo" if undo else "Try again")
        self.again.set_keys(*(("Ctrl+Z",) if undo else ()))
        self.headline.setText(feedback.headline)
        self.sentence.setText(feedback.sentence)
        tell(self, name=f"{feedback.headline}. {feedback.sentence}")
        self._parts.activate()

    def arrange(self, room: Breakpoint) -> None:
        """Take the text sizes for the room there is; with a large font the buttons go below."""
        directions = QBoxLayout.Direction
        self._parts.setDirection(directions.TopToBottom if room.large else directions.LeftToRight)
        small = room.compact or room.large
        self.headline.set_role(theme.Role.SECTION if small else theme.Role.TITLE, compact=False)
        self.sentence.set_role(theme.Role.NOTE if small else theme.Role.FLOW)
        self.next.tall = 44 if small else 52


class PracticePage(PairPage):
    """Three questions that do not count: one with a better side, a trade, and the same trade made equal.

    Call `begin`; `finished` is emitted after the last one, `skipped` when they are left out.
    """

    finished = Signal()
    skipped = Signal()

    def __init__(self) -> None:
        self.skip = FlatButton("Skip the practice")
        super().__init__(TopBar((self.skip,), ("Skip",)), practice=True)
        self.feedback = FeedbackCard(self)
        self.feedback.hide()
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._better: PracticePair | None = None
        self._trade: PracticeTrade | None = None
        self._number = 0
        self.answer_with(self._answer)
        self.skip.clicked.connect(self.skipped)
        self.feedback.next.clicked.connect(self._next)
        self.feedback.again.clicked.connect(self._show_step)
        bind(self, self._undo, "Ctrl+Z")
        self.settle()

    @property
    def number(self) -> int:
        """Return the number of the pair that is shown, from 1."""
        return self._number + 1

    @property
    def answerable(self) -> bool:
        return self.feedback.isHidden()

    def begin(self, study: Study, family: Family) -> None:
        """Start the practice over `study`."""
        self._study, self._family = study, family
        self._better, self._trade = practice_pairs(study)[0], practice_trade(study)
        self._number = 0
        self.card.begin(study)
        self.take_words(study)
        self._show_step()

    def _show_step(self) -> None:
        study, better, trade = self._study, self._better, self._trade
        if study is None or better is None or trade is None:
            return
        title = f"Practice {self.number} of {_STEPS}"
        self.call(title)
        self.bar.show_progress(title, "does not count", self.number / _STEPS, f"{title}, does not count")
        self.feedback.hide()
        if self._number == 0:
            words = practice_comparison(better, study, self._family)
            pair = Pair(better.left, better.right, study.wording, study.population, self._family)
            proposal = None
        else:
            words = compare_pair(trade.left, trade.right, study.wording, study.population, self._family)
            pair = Pair(trade.left, trade.right, study.wording, study.population, self._family)
            proposal = trade.proposal
        name = words.spoken(self.number).replace("Question", "Practice", 1)
        self.show_pair(words, pair, name, proposal, at_once=self._number == _STEPS - 1)
        if not self.moving:
            self.card.take_focus()

    def _answer(self, pressed: Pressed) -> None:
        """Say what there was to see; how strong the preference is makes no difference here."""
        if self._study is None or self._better is None or not self.answerable:
            return
        if self._number == 0:
            self._say(practice_feedback(self._better, pressed.reply, self._study, self._family))
        else:
            self._say(trade_feedback(pressed.reply, None, moved=False))

    def give_moved(self, reply: Reply, moved: Moved | None) -> None:
        self._say(trade_feedback(reply, self.ratio, moved=moved is not None))

    def _say(self, feedback: Feedback) -> None:
        self.feedback.say(feedback, undo=self._number > 0)
        self.answers.hide()
        self.move_answers.hide()
        self.feedback.show()
        self.call(feedback.headline)
        self.place()
        (self.feedback.next if feedback.right else self.feedback.again).setFocus(Qt.FocusReason.OtherFocusReason)

    def _undo(self) -> None:
        """Take back the answer, or go back to the question before."""
        if self.answerable and self._number > 0:
            self._number -= 1
        self._show_step()

    def _next(self) -> None:
        if self._number + 1 < _STEPS:
            self._number += 1
            self._show_step()
        else:
            self.finished.emit()

    def bottom(self) -> QWidget:
        return super().bottom() if self.feedback.isHidden() else self.feedback

    def bottom_height(self, width: int) -> int:
        usual = super().bottom_height(width)
        return usual if self.feedback.isHidden() else max(usual, self.feedback.heightForWidth(width))

    def arrange(self, breakpoint_: Breakpoint) -> None:
        self.feedback.arrange(breakpoint_)
        super().arrange(breakpoint_)
