"""What you told us: the result in one sentence, every ratio with its range, and how far to trust it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Label
from elicit_app.gui.results import marks
from elicit_app.gui.results.ratio_plot import RatioPlot, rows_of
from elicit_app.gui.results.rich import StressedLabel
from elicit_app.gui.results.trust import TrustCard
from elicit_app.session.views.outcome import ResultView
from elicit_app.study.model import Study
from metrics.display.numbers import two_digits
from metrics.elicited.exchange import Headline

NO_BREAK = "\N{NO-BREAK SPACE}"
_SHORT = 32


class GuessSign(QWidget):
    """The hollow diamond of the first guess, beside its words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(18), theme.em(18))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            marks.diamond(painter, theme.tokens(self), self.width() / 2, self.height() / 2)


class SentenceCard(Card):
    """The result in one sentence, its 90 % range and the first guess."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(10)
        self._sentence = StressedLabel(theme.Role.RESULT)
        self._range = StressedLabel(theme.Role.FLOW)
        self._sign, self._guess = GuessSign(), StressedLabel(theme.Role.FLOW)
        column.addWidget(self._sentence)
        self._below = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._below.setSpacing(theme.L)
        guess = QHBoxLayout()
        guess.setSpacing(10)
        guess.addWidget(self._sign)
        guess.addWidget(self._guess, 1)
        self._below.addWidget(self._range)
        self._below.addLayout(guess, 1)
        column.addLayout(self._below)

    def show_headline(self, headline: Headline, guess: float | None) -> None:
        """Show the sentence that the result begins with, and what was guessed of its ratio."""
        plain, stressed = headline.start, headline.number
        # Number and noun stay on one line; the sentence breaks before them.
        self._sentence.say(f"{plain} ", stressed.replace(" ", NO_BREAK) if len(stressed) < _SHORT else stressed, ".")
        said, stressed = headline.below
        self._range.setVisible(bool(said))
        self._range.say(said, stressed, "." if stressed else "")
        self._sign.setVisible(guess is not None)
        self._guess.setVisible(guess is not None)
        if guess is not None:
            self._guess.say("Your first guess, before the questions: ", two_digits(guess), ".")

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put the guess under the range where the font is large."""
        for label in (self._sentence, self._range, self._guess):
            label.set_compact(breakpoint_.compact)
        self._range.setWordWrap(breakpoint_.large)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._below.setDirection(down if breakpoint_.large else across)


class ToldPane(QWidget):
    """The first tab of the result. Emits `look_at` with the number of an answer."""

    look_at = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._across.setContentsMargins(0, 0, 0, 0)
        self._across.setSpacing(theme.L)
        left = QVBoxLayout()
        left.setSpacing(theme.M)
        self._sentence = SentenceCard()
        plot_card = Card()
        inside = QVBoxLayout(plot_card)
        inside.setContentsMargins(24, 18, 24, 14)
        inside.setSpacing(8)
        self._question = Label(role=theme.Role.SECTION)
        self._plot = RatioPlot()
        inside.addWidget(self._question)
        inside.addWidget(self._plot)
        inside.addStretch(1)
        left.addWidget(self._sentence)
        left.addWidget(plot_card, 1)
        self._trust = TrustCard()
        self._trust.look_at.connect(self.look_at)
        self._across.addLayout(left, 1)
        self._across.addWidget(self._trust)

    def show_result(self, view: ResultView, study: Study) -> None:
        """Show the ratios and findings of `view`."""
        mistake = view.headline.yardstick.mistake
        self._sentence.show_headline(view.headline, view.guesses.get(view.headline.rate.key))
        self._question.setText(f"How bad is each mistake, compared with one {mistake.one}?")
        self._plot.show_rows(rows_of(view.ratios, study.wording, view.guesses), mistake.one)
        self._trust.show_result(view)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put the panel beside the plot, or below it on a compact page."""
        self._sentence.arrange(breakpoint_)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._across.setDirection(down if breakpoint_.compact else across)
        self._across.setSpacing(theme.M if breakpoint_.compact else theme.L)
        widest = 16_777_215 if breakpoint_.compact else theme.em(344)
        self._trust.setMinimumWidth(0 if breakpoint_.compact else theme.em(344))
        self._trust.setMaximumWidth(widest)
