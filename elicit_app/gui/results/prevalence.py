"""Other prevalence: what one should do, and what it would cost, were the classes rarer or more common."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, FlatButton, Label, Surface
from elicit_app.gui.elements.fields import ListBox, NumberBox
from elicit_app.gui.elements.surfaces import Section
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.results.plotting import ShareAxis
from elicit_app.gui.results.share_track import Scale, ShareTrack
from elicit_app.gui.results.to_do import NO_MODELS, TableCard
from elicit_app.session.views.outcome import ResultView
from elicit_app.session.views.scenarios import Scenarios
from elicit_app.session.words import sentences as words
from elicit_app.session.words.ledger import counted
from elicit_app.study.model import Study

ASSUMED = (
    "Assumed: within each true class the models are right and wrong as often as in your data, and your mistakes weigh "
    "the same. Only how common the classes are changes; the classes that you do not set keep their proportions."
)


class SharesCard(Section):
    """Which class, and how many of the population are of it: list, box and slider. Emits `changed` with the shares."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("What if some classes were rarer or more common?", ASSUMED, parent)
        self.sentence.set_role(theme.Role.NOTE)
        self._scenarios: Scenarios | None = None
        self._study: Study | None = None
        self._shares: tuple[float, ...] = ()
        self.classes = ListBox("Which class", widest=220)
        self.box, self.track = NumberBox("How many cases of this class", 1, 999), ShareTrack()
        self.back = FlatButton("Back to your study")
        self._of, self._cases = Label(role=theme.Role.STRONG), Label(role=theme.Role.NOTE, ink=theme.INK2)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(10)
        first, second = QHBoxLayout(), QHBoxLayout()
        for row in (first, second):
            row.setSpacing(10)
            self._row.addLayout(row, 1 if row is second else 0)
        first.addWidget(Label("If", theme.Role.STRONG, wrap=False))
        first.addWidget(self.classes)
        first.addWidget(Label("were", theme.Role.STRONG, wrap=False))
        first.addStretch(1)
        second.addWidget(self.box)
        second.addWidget(self._of, 1)
        second.addWidget(self.back)
        self.column.addLayout(self._row)
        self.column.addWidget(self.track)
        self.column.addWidget(self._cases)
        self.classes.activated.connect(self._class_chosen)
        self.box.valueChanged.connect(self._typed)
        self.track.number_changed.connect(self._dragged)
        self.back.clicked.connect(self._go_back)

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the shares of the true classes that are set."""
        return self._shares

    @property
    def cases(self) -> str:
        """Return the cases of each class as they are said."""
        return self._cases.text()

    def show_result(self, view: ResultView, scenarios: Scenarios, study: Study) -> None:
        """Start from the study's own prevalence, at the class that the result's first sentence is about."""
        self._scenarios, self._study = scenarios, study
        self._shares = tuple(map(float, scenarios.own))
        self.classes.clear()
        for true in scenarios.known:
            self.classes.addItem(study.wording.class_many[true], true)
        self.classes.setCurrentIndex(max(self.classes.findData(view.headline.rate.true), 0))
        self.box.setRange(1, max(scenarios.population - 1, 1))
        self._of.setText(f"of {counted(scenarios.population, study.wording)}")
        self._class_chosen()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Keep the question on one line where there is room."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if breakpoint_.compact else across)

    def _class_chosen(self) -> None:
        """Show how common the chosen class is, and what is cheapest as it becomes rarer or more common."""
        if self._scenarios is None or self._study is None:
            return
        true = self._true
        axis = ShareAxis.around(float(self._scenarios.own[true]), self._scenarios.population)
        many, population = self._study.wording.class_many[true], self._scenarios.population
        question = f"How many of {counted(population, self._study.wording)} are {many}"
        tell(self.box, name=question)
        scale = Scale(axis, question, lambda share: f"{share * population:,.0f}", own=float(self._scenarios.own[true]))
        lines = self._scenarios.lines(self._shares, true)
        self.track.show_scale(scale, lines.segments(axis.low, axis.high))
        self._show()

    @property
    def _true(self) -> int:
        return int(self.classes.currentData())

    def _go_back(self) -> None:
        if self._scenarios is not None:
            self._shares = tuple(map(float, self._scenarios.own))
            self._class_chosen()

    def _typed(self, cases: int) -> None:
        if self._scenarios is not None:
            self._set(cases / self._scenarios.population)

    def _dragged(self, share: object) -> None:
        assert isinstance(share, float)
        self._set(share)

    def _set(self, share: float) -> None:
        assert self._scenarios is not None
        self._shares = tuple(map(float, self._scenarios.with_share(self._shares, self._true, share)))
        self._show()

    def _show(self) -> None:
        assert self._scenarios is not None
        assert self._study is not None
        share = self._shares[self._true]
        self.box.blockSignals(True)
        self.box.setValue(round(share * self._scenarios.population))
        self.box.blockSignals(False)
        self.track.set_number(share)
        own = zip(self._shares, self._scenarios.own, strict=True)
        self.back.setEnabled(any(abs(one - other) > 1e-9 for one, other in own))
        self._cases.setText(
            f"Then there are {words.cases_words(self._scenarios.cases(self._shares), self._study.wording)}."
        )
        self.changed.emit(self._shares)


class PrevalencePane(QWidget):
    """The fourth tab of the result: the same judge where classes are rarer or more common."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scenarios: Scenarios | None = None
        self._own = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.M)
        self.card = Card(Surface.IMPORTANT)
        inside = QVBoxLayout(self.card)
        inside.setContentsMargins(20, 14, 20, 14)
        inside.setSpacing(4)
        self.title, self.sentence = Label(role=theme.Role.TITLE), Label(ink=theme.INK2)
        for widget in (self.title, self.sentence):
            inside.addWidget(widget)
        self.shares, self.policies = SharesCard(), TableCard()
        for card in (self.shares, self.card, self.policies):
            column.addWidget(card)
        column.addStretch(1)
        self.shares.changed.connect(self._show_shares)

    def show_result(self, view: ResultView, study: Study) -> None:
        """Show what one could do at the study's own prevalence."""
        self._scenarios = view.scenarios
        for widget in (self.shares, self.policies):
            widget.setVisible(view.scenarios is not None)
        if view.scenarios is None:
            self.title.setText(NO_MODELS)
            self.sentence.hide()
            return
        self._own = view.scenarios.judgement().recommendation.sentence
        self.shares.show_result(view, view.scenarios, study)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Arrange for a breakpoint."""
        self.title.set_compact(breakpoint_.compact)
        self.shares.arrange(breakpoint_)

    def _show_shares(self, shares: object) -> None:
        if self._scenarios is None:
            return
        assert isinstance(shares, tuple)
        judgement = self._scenarios.judgement(shares)
        said = judgement.recommendation
        self.title.setText(said.sentence)
        self.sentence.setText(f"{said.sureness} {words.scenario_sentence(said.sentence, self._own)}".strip())
        self.policies.show_judgement(judgement)
