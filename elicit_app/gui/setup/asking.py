"""Which questions, and how many: for people one number, for researchers the procedure and its tolerance."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Label, LinkButton
from elicit_app.gui.parts.controls import ListBox, NumberBox
from elicit_app.gui.parts.inputs import CheckRow, named
from elicit_app.gui.parts.section import Section
from elicit_app.registry import Entry, Setting, entries, entry_named, setting_of

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
