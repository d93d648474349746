"""The page of a study: title, nouns, classes, mistakes, population, prevalence, models, and its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import floor, log10
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QDoubleSpinBox

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, LinkButton, PrimaryButton
from elicit_app.gui.elements.fields import ChoiceRow, DecimalBox, Field, ListBox, named
from elicit_app.gui.elements.page import CTRL_ENTER, HeadedPage, bind
from elicit_app.gui.elements.painting import Arranged, Label, annotate
from elicit_app.gui.elements.surfaces import Block, Section, fill, in_column, in_grid, in_row
from elicit_app.gui.setup.grid import Steps
from elicit_app.gui.setup.words import MistakesSection, NounsSection, Preview, StudySection, flow
from elicit_app.gui.theme import RIGHT
from elicit_app.problem import Problem
from elicit_app.study.making import with_models
from elicit_app.study.model import MOST_SHOWN, Key, Mistake, Study, check_wording
from elicit_app.study.reading import POPULATIONS, population_for
from metrics.text import counted, series, threshold_text

_TOLERANCE, _LEAST = 0.05, 1e-6  # in percent
_FEW = 10  # cases of the rarest class
_UNSAVED = "What you changed here is not saved. “Save and go on” keeps it."


class _ShareBox(DecimalBox):
    """A share in percent, kept as exactly as it was stated, and shown with as many decimals as a rare class needs."""

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(9)
        self.setRange(_LEAST, 100 - _LEAST)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setSuffix(" %")

    def textFromValue(self, value: float) -> str:
        decimals = max(2, 1 - floor(log10(max(min(value, 100 - value), _LEAST))))  # Qt asks for the text of 0, too
        return f"{value:.{decimals}f}".rstrip("0").rstrip(".")


class PopulationSection(Arranged, StudySection):
    """Population and prevalence."""

    def __init__(self) -> None:
        super().__init__("How many, and how common")
        self.population = ListBox("Cases that a result is shown for", 260)
        self.scaled = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.data, self.stated = ChoiceRow("As common as in the data"), ChoiceRow("As common as stated here")
        self._group = QButtonGroup(self)
        for choice in (self.data, self.stated):
            self._group.addButton(choice.radio)
        self._shares, self._across = Block(), 4  # shares beside each other
        self.boxes: list[_ShareBox] = []
        self._sum = Label(role=theme.Role.NOTE, ink=theme.INK2)
        fill(
            self.column,
            named(self.population, "Show results for"),
            self.scaled,
            self.data,
            self.stated,
            self._shares,
            self._sum,
        )
        self.population.activated.connect(self._changed)
        self.data.radio.toggled.connect(self._changed)

    @property
    def complete(self) -> bool:
        return self.data.radio.isChecked() or abs(sum(box.value() for box in self.boxes) - 100) <= _TOLERANCE

    def show_study(self, study: Study) -> None:
        stated = study.stated_prevalence
        shares = study.counted_prevalence if stated is None else stated
        self._show(study, [100 * float(share) for share in shares], by_hand=stated is not None)

    def show_nouns(self, study: Study) -> None:
        """Show other nouns; the shares stay as they were typed, even if they do not sum to 100 % yet."""
        self._show(study, [box.value() for box in self.boxes], by_hand=self.stated.radio.isChecked())

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._across = 2 if breakpoint_.large else 4
        if self.boxes:
            self.show_nouns(self._study)

    def _show(self, study: Study, percents: Sequence[float], *, by_hand: bool) -> None:
        self._study = study
        self.population.clear()
        for size in sorted({*POPULATIONS, MOST_SHOWN, study.population}):
            self.population.addItem(f"{size:,} {study.wording.cases}", size)
        self.population.setCurrentIndex(self.population.findData(study.population))
        names = study.wording.class_one
        shares = zip(study.counted_prevalence, names, strict=True)
        self.data.say(
            "As common as in the data", ", ".join(f"{threshold_text(share)} {name}" for share, name in shares)
        )
        self.stated.say("As common as stated here", "For data that were not collected as cases arrive.")
        with QSignalBlocker(self.data.radio):
            (self.stated if by_hand else self.data).radio.setChecked(True)
        self._lay_shares(names, percents)
        self._update_texts()

    def _lay_shares(self, names: Sequence[str], percents: Sequence[float]) -> None:
        self.boxes = []
        grid = in_grid(on=self._shares.renew(), margins=(theme.L, 0, 0, 0))
        for at, (name, percent) in enumerate(zip(names, percents, strict=True)):
            box = _ShareBox()
            box.setValue(percent)
            box.valueChanged.connect(self._changed)
            grid.addLayout(named(box, name), at // self._across, at % self._across)
            self.boxes.append(box)

    def _changed(self) -> None:
        stated = None
        if self.stated.radio.isChecked() and self.complete:
            total = sum(box.value() for box in self.boxes)
            stated = tuple(box.value() / total for box in self.boxes)
        self._study = replace(self._study, population=int(self.population.currentData()), stated_prevalence=stated)
        self._update_texts()
        self.edited.emit(self._study)

    def _update_texts(self) -> None:
        study = self._study
        by_hand = self.stated.radio.isChecked()
        self._shares.setVisible(by_hand)
        self._sum.setVisible(by_hand)
        total = sum(box.value() for box in self.boxes)
        self._sum.setText(f"Together {total:.4g} %." if self.complete else f"Together {total:.4g} %; it must be 100 %.")
        shares = study.prevalence
        shown = study.shown_cases
        rarest = int(shares.argmin())
        text = f"The rarest class, {study.wording.class_one[rarest]}, is then {shown[rarest]:,} of them."
        if study.models:
            text += f" Scaled from {study.n_cases:,} real cases."
        usual = population_for(shares)
        more = usual if usual * shares[rarest] >= _FEW else MOST_SHOWN
        if study.population < more:
            text += f" {more:,} would show {round(more * shares[rarest]):,}."
        self.scaled.setText(text)


class EditedStudy(NamedTuple):
    """An edited study, and the folder to save it in (None: its present folder)."""

    study: Study
    folder: Path | None
    opened: Study  # as it was before it was edited


class YardstickSection(StudySection):
    """Choice of the mistake with which all others are compared."""

    def __init__(self) -> None:
        sentence = (
            "The result says how many of this mistake each other one is as bad as. Choose one that people can picture."
        )
        super().__init__("The yardstick", sentence)
        self.box = ListBox("The yardstick", 460)
        self.column.addWidget(self.box)
        self.box.activated.connect(self._chosen)

    def show_study(self, study: Study) -> None:
        self._study = study
        self.box.clear()
        for key, mistake in sorted(study.wording.mistakes.items()):
            self.box.addItem(f"{mistake.name} ({flow(study, key)})", key)
        self.box.setCurrentIndex(sorted(study.wording.mistakes).index(study.yardstick))

    def _chosen(self, index: int) -> None:
        true, predicted = self.box.itemData(index)
        self.change(replace(self._study, yardstick=(int(true), int(predicted))))


class ModelsSection(StudySection):
    """The models of a study: rename and remove; `add` is the button for others."""

    def __init__(self) -> None:
        super().__init__("The models", "Human readers may be among them.")
        self.fields: list[Field] = []
        self._rows, self.add = Block(), Button("Add a model…")
        fill(self.column, self._rows, (self.add, 0, Qt.AlignmentFlag.AlignLeft))

    def show_study(self, study: Study) -> None:
        self.take(study)
        self.setVisible(bool(study.models))
        rows = in_column(on=self._rows.renew(), spacing=theme.S)
        self.fields = []
        for index, model in enumerate(study.models):
            field, out = Field(model.name), LinkButton("Take out")
            annotate(field, name=f"Name of model {index + 1}")
            annotate(out, name=f"Take out {model.name}")
            field.textEdited.connect(self._renamed)
            out.clicked.connect(lambda _=False, index=index: self._take_out(index))
            rows.addLayout(in_row((field, 1), out, spacing=theme.M))
            # Only once it has a parent; before that Qt would show it as a window.
            out.setVisible(len(study.models) > 1)
            self.fields.append(field)

    def _renamed(self) -> None:
        study, names = self._study, [field.text().strip() for field in self.fields]
        # Empty and duplicate names are reported when the study is saved.
        if names != list(study.model_names):
            renamed = (replace(model, name=name) for model, name in zip(study.models, names, strict=True))
            self.change(replace(study, models=tuple(renamed)))

    def _take_out(self, index: int) -> None:
        left = [one for at, one in enumerate(self._study.models) if at != index]
        self.show_study(with_models(self._study, left))
        self.edited.emit(self._study)


class PlaceSection(Section):
    """The folder of a new study; `choose` is the button for another."""

    def __init__(self) -> None:
        sentence = (
            "A folder with a copy of the predictions, these words, and every session. Nothing leaves this computer."
        )
        super().__init__("Where it is kept", sentence)
        self.path, self.choose = Field(), Button("Choose…")
        annotate(self.path, name="Folder of the study")
        self.column.addLayout(in_row((self.path, 1), self.choose, spacing=theme.S))


class StudyPage(HeadedPage):
    """Edits a study. Emits `save_requested` with an `EditedStudy`; the flow connects the buttons for files."""

    save_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.study: Study | None = None  # with the current words
        self._opened: Study | None = None  # as it was shown first
        self._key: Key = (0, 1)
        self._title = ""
        self._unchanged: tuple[object, ...] = ()  # what the page held when the study was shown
        self.save = PrimaryButton("Save and go on", self._save, keys=("Ctrl+Enter",))
        self._steps: Steps = []
        self.nouns, self.preview, self.mistakes = NounsSection(self._steps), Preview(), MistakesSection(self._steps)
        self.yardstick, self.population, self.place = YardstickSection(), PopulationSection(), PlaceSection()
        self.models = ModelsSection()
        self.back = self.link_to_start(then=self._leave)
        self.undo = FlatButton("Undo", self.mistakes.table.undo, keys=("Ctrl+Z",))
        self._done = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self._build()
        self._connect()
        self.first_focus = self.nouns.name
        self.settle()

    def _build(self) -> None:
        self.header.add_actions(self.save)
        top = in_row((self.nouns, 760), (self.preview, 344), spacing=theme.L, stacks="narrow")
        fill(self.body, top, self.mistakes, self.yardstick, self.population, self.models, self.place, 1)
        row = in_row(self.back, (self._done, 1), self.undo)
        self._done.setAlignment(RIGHT)
        self.undo.tall = 30
        self.foot.addLayout(row)

    def _connect(self) -> None:
        self.nouns.edited.connect(self._nouns_edited)
        self.mistakes.edited.connect(self._edited)
        self.mistakes.edited.connect(self.yardstick.show_study)
        for section in (self.yardstick, self.population, self.models):
            section.edited.connect(self._edited)
        for table in (self.nouns.table, self.mistakes.table):
            table.message.connect(self.show_status)
        self.mistakes.chosen.connect(self._preview)
        bind(self, self._save, *CTRL_ENTER)

    def show_study(self, study: Study, folder: Path | None) -> None:
        """Edit `study`; `folder` is proposed for a new study, None keeps its folder."""
        self.study = self._opened = study
        self._steps.clear()
        self.area.verticalScrollBar().setValue(0)
        self._title = "New study" if folder is not None else "The words of this study"
        self._update_header(study)
        self.notice.say(" ".join(study.notes))
        self.show_status("")
        self.nouns.show_study(study)
        self.mistakes.show_study(study)
        self.yardstick.show_study(study)
        self.population.show_study(study)
        self.models.show_study(study)
        self.place.setVisible(folder is not None)
        self.place.path.setText("" if folder is None else str(folder))
        self._preview(study.yardstick)
        self._unchanged = self._entries()

    def _update_header(self, study: Study) -> None:
        models = counted(len(study.models), "model")
        cases = f"{study.n_cases:,} cases" if study.n_cases else "no cases"
        self.header.say(
            self._title, f"{study.n_classes} classes, {models}, {cases}. These words stand in every question."
        )

    def show_problem(self, problem: Problem) -> None:
        self.notice.say(problem.sentence)

    def show_status(self, sentence: str) -> None:
        """Report the last action, beside the button that undoes it."""
        self._done.setText(sentence)
        self.undo.setEnabled(bool(self._steps))

    def take_study(self, study: Study) -> None:
        """Show a study to which models were added, keeping the typed words."""
        new = study.model_names[len(self.study.models) if self.study is not None else 0 :]
        self._edited(study)
        self.models.show_study(study)
        self.show_status(f"Added: {series(new)}. {'It is' if len(new) == 1 else 'They are'} kept when you save.")

    def take_words(self, words: dict[Key, Mistake], name: str) -> None:
        changed = self.mistakes.write(words)
        self.show_status(f"{changed:,} cells changed by {name}." if changed else f"{name} changes nothing.")

    def _preview(self, key: Key) -> None:
        if self.study is not None:
            self._key = key
            self.preview.show_mistake(self.study, key)

    def _edited(self, study: object) -> None:
        assert isinstance(study, Study)
        self.study = study
        self.notice.say("")
        self._update_header(study)
        self.nouns.show_study(study)
        self.mistakes.show_study(study)
        for section in (self.yardstick, self.population, self.models):
            section.take(study)
        self._preview(self._key)
        self.show_status("")

    def _nouns_edited(self, study: object) -> None:
        assert isinstance(study, Study)
        self._edited(study)
        self.yardstick.show_study(study)
        self.population.show_nouns(study)

    def _entries(self) -> tuple[object, ...]:
        """Return all that can be changed on the page."""
        study, shares = self.study, [box.value() for box in self.population.boxes]
        if study is None:
            return ()
        stated = self.population.stated.radio.isChecked(), study.population, shares
        return study.title, study.wording, study.yardstick, study.model_names, stated, self.place.path.text()

    def may_close(self) -> bool:
        """Ask before the window closes if something was changed; whoever closes it again means it."""
        if self._is_unchanged() or self.notice.sentence == _UNSAVED:
            return True
        self.notice.say(_UNSAVED, button="Close without saving", then=self.window().close)
        return False

    def _leave(self) -> None:
        """Go back to the start; if something was changed, ask first."""
        if self._is_unchanged():
            self.start_requested.emit()
        else:
            self.notice.say(_UNSAVED, button="Leave without saving", then=self.start_requested.emit)

    def _is_unchanged(self) -> bool:
        self._take_typed()
        return self._entries() == self._unchanged

    def _take_typed(self) -> None:
        for table in (self.nouns.table, self.mistakes.table):
            table.take_typed()

    def _save(self) -> None:
        self._take_typed()
        study, opened = self.study, self._opened
        if study is None or opened is None:
            return
        try:
            if not study.title.strip():
                raise Problem("The study needs a title.")
            if not self.population.complete:
                raise Problem("The stated shares must add up to 100 %.")
            check_wording(study.wording, study.classes)
            with_models(study, study.models)
        except Problem as problem:
            self.show_problem(problem)
            return
        typed = self.place.path.text().strip()
        if self.place.isVisible() and not typed:
            self.show_problem(Problem("Choose a folder for the study."))
            return
        self.save_requested.emit(
            EditedStudy(study, Path(typed).expanduser() if self.place.isVisible() else None, opened)
        )
