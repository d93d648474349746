"""The first guess of the ratios, asked before the first question."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Label
from elicit_app.gui.parts.inputs import Field
from elicit_app.gui.parts.section import Block, Section
from elicit_app.session.journal.events import Guess
from elicit_app.session.questions.guessing import Key, keys_to_guess, mistake_of_key, ratio_typed, yardstick_key
from elicit_app.study.model import Study


class _GuessField(Field):
    """A field as wide as a ratio needs."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text, hint)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(104), super().sizeHint().height())


class GuessesSection(Section):
    """One row a mistake: how many of the yardstick it is as bad as; what is left empty is no guess."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Your first guess, before the questions", parent=parent)
        self._rows, self._units, self._large = Block(), list[Label](), False
        self.fields: dict[Key, Field] = {}
        self.column.addWidget(self._rows)

    def show_study(self, study: Study, family: Family) -> None:
        """Ask about the mistakes of `study`; what was typed for the same mistake stays."""
        typed = {key: field.text() for key, field in self.fields.items()}
        yardstick = mistake_of_key(study, yardstick_key(study, family))
        self.say(
            f"Roughly, how many {yardstick.many} is each of these as bad as? A number like 20, 0.5 or 1/3; "
            "leave empty what you have no idea of. It changes nothing: it stands beside the result."
        )
        self._units, self.fields = [], {}
        grid = QGridLayout(self._rows.renew())
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        for row, key in enumerate(keys_to_guess(study, family)):
            mistake = mistake_of_key(study, key)
            field = _GuessField(typed.get(key, ""), "no idea")
            field.setAccessibleName(f"One {mistake.one} is as bad as how many {yardstick.many}")
            grid.addWidget(Label(f"One {mistake.one} is as bad as", theme.Role.LABEL), row, 0)
            grid.addWidget(field, row, 1)
            unit = Label(yardstick.many, ink=theme.INK2)
            grid.addWidget(unit, row, 2)
            self._units.append(unit)
            self.fields[key] = field
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(2, 1)
        self._show_units()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """With a large font the yardstick stands in the sentence above only."""
        self._large = breakpoint_.large
        self._show_units()

    def _show_units(self) -> None:
        for unit in self._units:
            unit.setVisible(not self._large)

    def guesses(self) -> tuple[Guess, ...]:
        """Return what was guessed.

        Raises
        ------
        ValueError
            Where something typed is no number above 0.
        """
        found = []
        for (true, predicted), field in self.fields.items():
            ratio = ratio_typed(field.text())
            if ratio is not None:
                found.append(Guess(true=true, predicted=predicted, ratio=ratio))
        return tuple(found)
