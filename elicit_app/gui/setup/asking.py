"""Which questions, and how many: for people one number, for researchers the procedure and its tolerance."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.orders import StatedMistake, StatedOrder, constraints_of
from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Label, LinkButton, OutlineButton
from elicit_app.gui.elements.fields import CheckRow, ListBox, NumberBox, named
from elicit_app.gui.elements.surfaces import Block, Section
from elicit_app.gui.elements.texts import tell
from elicit_app.problem import Problem
from elicit_app.registry import Entry, Setting, entries, entry_named, setting_of
from elicit_app.session.warm_up import Key, mistake_of_key
from elicit_app.session.words.sentences import order_words
from elicit_app.study.model import Study

_NONE_CHOSEN = "Choose a mistake"
_SENTENCE = "Only if you are certain: it is taken as given, and no answer can speak against it. It may stay empty."


class OrdersSection(Section):
    """A list of stated orders, and a form that adds one: one mistake "is never worse than" another."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Is one mistake never worse than another?", _SENTENCE, parent=parent)
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._stated: dict[Family, list[StatedOrder]] = {}
        self._list, self._form = Block(), QWidget()
        self.state = LinkButton("State one")
        self.state.setCheckable(True)
        self.first, self.second = ListBox("This mistake"), ListBox("is never worse than this one")
        self.add = OutlineButton("Add")
        self.refused = Label(role=theme.Role.NOTE)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._form)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self._row.addWidget(self.first, 1)
        self._row.addWidget(Label("is never worse than", theme.Role.LABEL, wrap=False))
        self._row.addWidget(self.second, 1)
        self._row.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._list)
        self.column.addWidget(self.state, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._form)
        self.column.addWidget(self.refused)
        self._form.hide()
        self.refused.hide()
        self.state.toggled.connect(self._form.setVisible)
        self.add.clicked.connect(self._add)

    def show_study(self, study: Study, family: Family) -> None:
        """Offer the mistakes of `study`; what was stated for the same study and family stays."""
        if self._study is None or (study.digest, study.classes) != (self._study.digest, self._study.classes):
            self._stated = {}
            self.state.setChecked(False)
        self._study, self._family = study, family
        k = study.n_classes
        keys: list[Key] = [(i, j) for i in range(k) for j in range(k) if i != j]
        if family == "dlpm":
            keys = [(i, None) for i in range(k)]
        for box in (self.first, self.second):
            box.clear()
            box.addItem(_NONE_CHOSEN, None)
            for key in keys:
                box.addItem(mistake_of_key(study, key).name, key)
        self._say_refused("")
        self._show_stated()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put the parts of the form below each other where they do not fit beside each other."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if breakpoint_.compact or breakpoint_.large else across)

    def orders(self) -> tuple[StatedOrder, ...] | None:
        """Return what is stated; None where that is nothing.

        Raises
        ------
        ValueError
            Where mistakes are chosen that were not added.
        """
        if not self.isHidden() and (self.first.currentData() or self.second.currentData()):
            raise ValueError("You chose a mistake that is never worse than another, but did not add it")
        return tuple(self._stated.get(self._family, ())) or None

    def _add(self) -> None:
        study, one, other = self._study, self.first.currentData(), self.second.currentData()
        if study is None or one is None or other is None or one == other:
            self._say_refused("Choose two different mistakes.")
            return
        order = StatedOrder(*(_stated(study, key) for key in (one, other)))
        stated = self._stated.setdefault(self._family, [])
        try:
            constraints_of([*stated, order], study.classes, self._family)
        except Problem:
            self._say_refused(f"{self._words(order)}: this goes round in a circle with the above. Take one out first.")
            return
        if order not in stated:
            stated.append(order)
        for box in (self.first, self.second):
            box.setCurrentIndex(0)
        self._say_refused("")
        self._show_stated()
        self.first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_out(self, order: StatedOrder) -> None:
        self._stated[self._family].remove(order)
        self._say_refused("")
        self._show_stated()
        self.state.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_stated(self) -> None:
        column = QVBoxLayout(self._list.renew())
        column.setContentsMargins(0, 0, 0, 0)
        stated = self._stated.get(self._family, [])
        for order in stated:
            said, out = Label(self._words(order), theme.Role.LABEL), LinkButton("Take it out")
            tell(out, name=f"Take out: {self._words(order)}")
            out.clicked.connect(lambda _=False, order=order: self._take_out(order))
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(said, 1)
            row.addWidget(out, 0, Qt.AlignmentFlag.AlignTop)
            column.addLayout(row)
        self._list.setVisible(bool(stated))

    def _words(self, order: StatedOrder) -> str:
        assert self._study is not None
        (constraint,) = constraints_of([order], self._study.classes, self._family)
        return order_words(constraint, self._study.wording, self._family)

    def _say_refused(self, sentence: str) -> None:
        self.refused.setText(sentence)
        self.refused.setVisible(bool(sentence))


def _stated(study: Study, key: Key) -> StatedMistake:
    true, predicted = key
    return StatedMistake(study.classes[true], None if predicted is None else study.classes[predicted])


TOLERANCES = (0.05, 0.02, 0.01)
_SECONDS = 25


def questions_of_search(family: str, n_classes: int, tolerance: float) -> int:
    """Return how many questions a published search asks at most; for lpm two cycles are counted.

    Hiranandani, Boodaghians, Mehta, Koyejo (NeurIPS 2019), algorithms 1 and 2.
    """
    if family == "dlpm":
        return 4 * (n_classes - 1) * math.ceil(math.log2(1 / tolerance))
    angles = n_classes * n_classes - n_classes - 1
    return 4 * 2 * angles * math.ceil(math.log2(math.pi / (2 * tolerance)))


class AskingSection(Section):
    """Emits `procedure_changed` when another procedure is chosen."""

    procedure_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("How many questions", parent=parent)
        self._classes = 2
        self.questions = NumberBox("Questions", 5, 200)
        self.questions.setValue(SITTING)
        self.early = CheckRow("Stop earlier when the answers already say enough")
        self.early.box.setChecked(True)
        self._minutes = Label(role=theme.Role.NOTE, ink=theme.INK2)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.questions)
        row.addWidget(self._minutes, 1)
        self.column.addLayout(row)
        self.column.addWidget(self.early)
        self.researchers = LinkButton("For researchers")
        self.researchers.setCheckable(True)
        self.column.addWidget(self.researchers, 0, Qt.AlignmentFlag.AlignLeft)
        self._more = QWidget()
        inside = QVBoxLayout(self._more)
        inside.setContentsMargins(0, 0, 0, 0)
        self.procedure, self.tolerance = ListBox("Procedure"), ListBox("Tolerance")
        for entry in entries():
            if entry.people:
                self.procedure.addItem(entry.label, entry.name)
        for tolerance in TOLERANCES:
            self.tolerance.addItem(f"{tolerance:g}", tolerance)
        self.tolerance.setCurrentIndex(1)
        choices = QHBoxLayout()
        choices.setSpacing(theme.M)
        choices.addLayout(named("Procedure", self.procedure), 2)
        choices.addLayout(named("Tolerance", self.tolerance), 1)
        self._warning = Label(role=theme.Role.NOTE, ink=theme.INK2)
        inside.addLayout(choices)
        inside.addWidget(self._warning)
        self.column.addWidget(self._more)
        self._more.hide()
        self.researchers.toggled.connect(self._more.setVisible)
        self.questions.valueChanged.connect(self._tell)
        self.procedure.currentIndexChanged.connect(self._changed)
        self.tolerance.currentIndexChanged.connect(self._tell)
        self._tell()

    @property
    def entry(self) -> Entry[Any]:
        """Return the procedure that is chosen."""
        return entry_named(str(self.procedure.currentData()))

    def show_classes(self, n_classes: int) -> None:
        """Count the questions for this many classes."""
        self._classes = n_classes
        self._tell()

    def setting(self, family: Family, seed: int) -> Setting:
        """Return what was chosen, for a person."""
        entry = self.entry
        options = {
            "stop": self.early.box.isChecked(),
            "checks": True,
            "epsilon": float(self.tolerance.currentData()),
        }
        return setting_of(
            entry.name,
            family=family if family in entry.families else entry.families[0],
            questions=None if entry.narrows else self.questions.value(),
            seed=seed,
            person=True,
            **{name: value for name, value in options.items() if entry.offers(name)},
        )

    def _changed(self) -> None:
        self._tell()
        self.procedure_changed.emit()

    def _tell(self) -> None:
        narrows = self.entry.narrows
        for widget in (self.questions, self.early):
            widget.setEnabled(not narrows)
        self.tolerance.setEnabled(narrows)
        minutes = max(1, round(self.questions.value() * _SECONDS / 60))
        self._minutes.setText(
            f"About {minutes} minutes. Up to three repeats and one check come on top. Stop whenever you like."
            if not narrows
            else "The published search decides itself how many. Stop whenever you like."
        )
        count = questions_of_search(self.entry.families[0], self._classes, float(self.tolerance.currentData()))
        self._warning.setText(
            "The procedure that people use. It survives wrong answers and says how sure it is."
            if not narrows
            else f"It asks up to {count:,} questions, usually fewer than half of them. The late ones look alike, and "
            "one wrong answer can spoil the result: it gives no ranges."
        )
