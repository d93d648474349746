"""Practice: two pairs in which one side is better whatever one values, with feedback where the answers were."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Card, FlatButton, Glyph, GlyphSign, Label, OutlineButton, PrimaryButton, Surface
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.question.answers import Pressed, bind, bind_answers
from elicit_app.gui.question.pair_page import PairPage, TopBar
from elicit_app.gui.theme import Breakpoint
from elicit_app.session.warm_up import (
    Feedback,
    PracticePair,
    practice_feedback,
    practice_ledger,
    practice_pairs,
)
from elicit_app.study.model import Study


class FeedbackCard(Card):
    """What is said after a practice answer, with "Next" and, after the other side was chosen, "Try again"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.IMPORTANT, parent)
        self.sign = GlyphSign(Glyph.CHECK, 24)
        self.headline = Label(role=theme.Role.TITLE)
        self.sentence = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.again = OutlineButton("Try again")
        self.next = PrimaryButton("Next", keys=("Enter",))
        words = QVBoxLayout()
        words.setSpacing(theme.XS)
        words.addStretch(1)
        words.addWidget(self.headline)
        words.addWidget(self.sentence)
        words.addStretch(1)
        said = QHBoxLayout()
        said.setSpacing(theme.M)
        said.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignTop)
        said.addLayout(words, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(12)
        buttons.addStretch(1)
        buttons.addWidget(self.again, 0, Qt.AlignmentFlag.AlignVCenter)
        buttons.addWidget(self.next, 0, Qt.AlignmentFlag.AlignVCenter)
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._parts.setContentsMargins(theme.L, theme.M, theme.L, theme.M)
        self._parts.setSpacing(theme.M)
        self._parts.addLayout(said, 1)
        self._parts.addLayout(buttons)

    def say(self, feedback: Feedback) -> None:
        """Show feedback."""
        self.sign.setVisible(feedback.right)
        self.again.setVisible(not feedback.right)
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
    """Two questions that do not count. Call `begin`; `finished` comes after both, `skipped` when they are left out.

    Signals
    -------
    finished, skipped : ()
        The questions follow.
    """

    finished = Signal()
    skipped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.skip = FlatButton("Skip the practice")
        super().__init__(TopBar((self.skip,), ("Skip",)), practice=True, parent=parent)
        self.feedback = FeedbackCard(self)
        self.feedback.hide()
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._pairs: tuple[PracticePair, ...] = ()
        self._number = 0
        self.answers.given.connect(self._answer)
        self.skip.clicked.connect(self.skipped)
        self.feedback.next.clicked.connect(self._next)
        self.feedback.again.clicked.connect(self._again)
        bind_answers(self, self._answer)
        bind(self, "PgUp", lambda: self.turn(-1))
        bind(self, "PgDown", lambda: self.turn(1))
        self.settle()

    @property
    def number(self) -> int:
        """Return the number of the pair that is shown, from 1."""
        return self._number + 1

    def begin(self, study: Study, family: Family) -> None:
        """Start the practice over `study`."""
        self._study, self._family = study, family
        self._pairs = practice_pairs(study)
        self._number = 0
        self.card.begin()
        self.take_words(study)
        self._show()

    def _show(self) -> None:
        if self._study is None:
            return
        pair = self._pairs[self._number]
        words = practice_ledger(pair, self._study, self._family)
        title = f"Practice {self.number} of {len(self._pairs)}"
        self.bar.show_progress(title, "does not count", self.number / len(self._pairs), f"{title}, does not count")
        self._show_answers(True)
        name = words.spoken(self.number).replace("Question", "Practice", 1)
        self.show_pair(words, pair.left, pair.right, self._study.wording, name)
        self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_answers(self, shown: bool) -> None:
        self.answers.setVisible(shown)
        self.feedback.setVisible(not shown)

    def _answer(self, choice: Pressed) -> None:
        """Say what there was to see; how strong the preference is makes no difference here."""
        if self._study is None or not self.feedback.isHidden():
            return
        said = practice_feedback(self._pairs[self._number], choice.reply, self._study, self._family)
        self.feedback.say(said)
        self._show_answers(False)
        self.place()
        (self.feedback.next if said.right else self.feedback.again).setFocus(Qt.FocusReason.OtherFocusReason)

    def _again(self) -> None:
        self._show_answers(True)
        self.place()
        self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _next(self) -> None:
        if self._number + 1 < len(self._pairs):
            self._number += 1
            self._show()
        else:
            self.finished.emit()

    def bottom(self) -> QWidget:
        return self.answers if self.feedback.isHidden() else self.feedback

    def bottom_height(self, width: int) -> int:
        usual = self.answers.needed_height()
        if self.feedback.isHidden():
            return usual
        return max(usual, self.feedback.heightForWidth(width))

    def arrange(self, breakpoint_: Breakpoint) -> None:
        self.feedback.arrange(breakpoint_)
        super().arrange(breakpoint_)
