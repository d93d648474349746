"""Which model: who is cheapest, how sure that is, and from which ratio on another one would be."""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, FlatButton, Label
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.results.break_even import BreakEvenTrack, Scale
from elicit_app.gui.results.model_table import ModelTable
from elicit_app.gui.results.plotting import slider_axis
from elicit_app.gui.results.told import RatioBox
from elicit_app.session.views.outcome import ResultView
from elicit_app.session.views.scenarios import CostLines
from elicit_app.session.words import sentences as words
from elicit_app.session.words.ledger import counted
from elicit_app.study.model import Study
from metrics import Consequence
from metrics.display.numbers import total_cost, two_digits


class WhatIfCard(Card):
    """What if one ratio were another: box, slider, and in a sentence what each model would cost."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._lines = CostLines((), (), ())
        self._estimate, self._unit = 1.0, ""
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 14, 20, 14)
        column.setSpacing(10)
        self._before, self._after = Label(role=theme.Role.STRONG), Label(role=theme.Role.STRONG)
        self.box, self.track = RatioBox(), BreakEvenTrack()
        self._back = FlatButton()
        self._row, rest = QBoxLayout(QBoxLayout.Direction.LeftToRight), QHBoxLayout()
        for layout in (self._row, rest):
            layout.setSpacing(10)
        rest.addWidget(self.box)
        rest.addWidget(self._after)
        rest.addStretch(1)
        rest.addWidget(self._back)
        self._row.addWidget(self._before)
        self._row.addLayout(rest, 1)
        self._sentence = Label(role=theme.Role.NOTE, ink=theme.INK2)
        column.addLayout(self._row)
        column.addWidget(self.track)
        column.addWidget(self._sentence)
        self.box.valueChanged.connect(self._typed)
        self.track.number_changed.connect(self._dragged)
        self._back.clicked.connect(lambda: self._typed(self._estimate))

    @property
    def sentence(self) -> str:
        """Return what is said about the present ratio."""
        return self._sentence.text()

    def show_result(self, view: ResultView, yardstick: Consequence, study: Study) -> None:
        """Start from the estimate of the headline's ratio."""
        ratio, mistake = view.headline.rate, view.headline.rate.mistake
        self._lines, self._estimate, self._unit = CostLines.of(view.models, ratio), ratio.ratio, yardstick.many
        self._before.setText(f"What if one {mistake.one} counted as")
        self._after.setText(f"{yardstick.many}?")
        self._back.setText(f"Back to {two_digits(ratio.ratio)}")
        axis = slider_axis(ratio)
        question = f"How many {yardstick.many} one {mistake.one} counts as"
        tell(self.box, name=question)
        scale = Scale(axis, question, plausible=ratio.ninety)
        self.track.show_scale(scale, self._lines.segments(axis.low, axis.high))
        self._typed(ratio.ratio)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Keep the question on one line where there is room, else the number begins the second one."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if breakpoint_.compact else across)
        for label in (self._before, self._after):
            label.setWordWrap(breakpoint_.compact)

    def _typed(self, value: float) -> None:
        self.track.set_number(value)
        self._say(value)

    def _dragged(self, value: object) -> None:
        assert isinstance(value, float)
        self._say(value)

    def _say(self, value: float) -> None:
        self.box.blockSignals(True)
        self.box.setValue(value)
        self.box.blockSignals(False)
        self._back.setEnabled(abs(value - self._estimate) > 1e-3 * self._estimate)
        costs = self._lines.costs(value)
        order = sorted(range(len(costs)), key=lambda index: costs[index])
        listed = ", ".join(f"{self._lines.names[index]} {total_cost(costs[index])}" for index in order)
        self._sentence.setText(f"Then the costs are, in {self._unit}: {listed}.")


class ModelsPane(QWidget):
    """The second tab of the result."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.M)
        card = Card()
        inside = QVBoxLayout(card)
        inside.setContentsMargins(20, 16, 20, 14)
        inside.setSpacing(4)
        self.title, self.sentence = Label(role=theme.Role.TITLE), Label(ink=theme.INK2)
        self.table, self.what_if = ModelTable(), WhatIfCard()
        for widget in (self.title, self.sentence, self.table):
            inside.addWidget(widget)
        column.addWidget(card)
        column.addWidget(self.what_if)
        column.addStretch(1)

    def show_result(self, view: ResultView, study: Study) -> None:
        """Show the models of `view`."""
        mistake = view.headline.yardstick.mistake
        self.table.setVisible(bool(view.models))
        self.what_if.setVisible(len(view.models) > 1 and not view.headline.rate.is_yardstick)
        if not view.models:
            self.title.setText("This study has no models")
            self.sentence.setText("It is a made-up law of probabilities for trying procedures out.")
            return
        headline, sentence = words.model_headline(view.models)
        self.title.setText(headline)
        self.sentence.setText(sentence)
        self.table.show_models(
            view.models, counted(view.metric.population or study.population, study.wording), mistake.many
        )
        if not self.what_if.isHidden():
            self.what_if.show_result(view, mistake, study)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Arrange for a breakpoint."""
        self.title.set_compact(breakpoint_.compact)
        self.what_if.arrange(breakpoint_)
