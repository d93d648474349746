"""How many cases a result is shown for, and how common each class is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label
from elicit_app.gui.elements.fields import ChoiceRow, DecimalBox, ListBox, named
from elicit_app.gui.elements.surfaces import Block, Section
from elicit_app.study.counting import POPULATIONS, population_for
from elicit_app.study.model import Study
from metrics.classification.confusion import natural_frequencies

_ACROSS = 4
_TOLERANCE = 0.05


class PopulationSection(Section):
    """Population and prevalence. Emits `edited` with the changed study."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("How many, and how common", parent=parent)
        self._study: Study | None = None
        self.population = ListBox("Cases that a result is shown for", 260)
        self._scaled = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.data, self.stated = ChoiceRow("As common as in the data"), ChoiceRow("As common as stated here")
        self._group = QButtonGroup(self)
        for choice in (self.data, self.stated):
            self._group.addButton(choice.radio)
        self._shares = Block()
        self.boxes: list[DecimalBox] = []
        self._sum = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.column.addLayout(named("Show results for", self.population))
        for widget in (self._scaled, self.data, self.stated, self._shares, self._sum):
            self.column.addWidget(widget)
        self.population.activated.connect(self._changed)
        self.data.radio.toggled.connect(self._changed)

    @property
    def complete(self) -> bool:
        """Tell whether the stated shares add up to 100 %."""
        return self.data.radio.isChecked() or abs(sum(box.value() for box in self.boxes) - 100) <= _TOLERANCE

    def show_study(self, study: Study) -> None:
        """Show what `study` has."""
        self._study = None
        counted = study.counted_prevalence
        self.population.clear()
        for size in sorted({*POPULATIONS, study.population}):
            self.population.addItem(f"{size:,} {study.wording.cases}", size)
        self.population.setCurrentIndex(self.population.findData(study.population))
        names = study.wording.class_one
        listed = ", ".join(f"{100 * share:.3g} % {name}" for share, name in zip(counted, names, strict=True))
        self.data.say("As common as in the data", listed)
        stated = study.stated_prevalence
        self.stated.say("As common as stated here", "Where the data were collected otherwise than cases arrive.")
        (self.data if stated is None else self.stated).radio.setChecked(True)
        self._lay_shares(study, np.asarray(counted if stated is None else stated))
        self._study = study
        self._tell()

    def take(self, study: Study) -> None:
        """Take over what was changed elsewhere; nothing shown here changes."""
        self._study = study

    def _lay_shares(self, study: Study, shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        self.boxes = []
        grid = QGridLayout(self._shares.renew())
        grid.setContentsMargins(theme.L, 0, 0, 0)
        for at, (name, share) in enumerate(zip(study.wording.class_one, shares, strict=True)):
            box = DecimalBox()
            box.setRange(0.01, 99.99)
            box.setDecimals(2)
            box.setSuffix(" %")
            box.setValue(100 * float(share))
            box.valueChanged.connect(self._changed)
            grid.addLayout(named(name, box), at // _ACROSS, at % _ACROSS)
            self.boxes.append(box)

    def _changed(self) -> None:
        if self._study is None:
            return
        stated = None
        if self.stated.radio.isChecked() and self.complete:
            total = sum(box.value() for box in self.boxes)
            stated = tuple(box.value() / total for box in self.boxes)
        self._study = replace(self._study, population=int(self.population.currentData()), stated_prevalence=stated)
        self._tell()
        self.edited.emit(self._study)

    def _tell(self) -> None:
        study = self._study
        if study is None:
            return
        by_hand = self.stated.radio.isChecked()
        self._shares.setVisible(by_hand)
        self._sum.setVisible(by_hand)
        total = sum(box.value() for box in self.boxes)
        self._sum.setText(f"Together {total:.4g} %." if self.complete else f"Together {total:.4g} %; it must be 100 %.")
        shares = study.prevalence
        shown = natural_frequencies(np.diag(shares), study.population).sum(axis=1)
        rarest = int(shares.argmin())
        said = f"The rarest class, {study.wording.class_one[rarest]}, is then {shown[rarest]:,} of them."
        if study.n_cases:
            said += f" Scaled from {study.n_cases:,} real cases."
        if study.population < population_for(shares):
            said += f" {population_for(shares):,} would show at least 50."
        self._scaled.setText(said)
