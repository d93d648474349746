"""Which questions, and how many: for people one number, for researchers a procedure; and experts elsewhere."""

from __future__ import annotations

import math
from typing import Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QWidget

from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.questions import AnswersFor, Family
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton
from elicit_app.gui.elements.fields import CheckRow, ChoiceRow, ListBox, NumberBox, named
from elicit_app.gui.elements.surfaces import Block, Part, Section, fill, in_column, in_row, turn
from elicit_app.gui.elements.texts import Label
from elicit_app.registry import Entry, Setting, entries, entry_named, setting_of
from elicit_app.session.packing import INTRODUCTION, stated_opinions
from elicit_app.session.sentences import USUAL, most_questions, purpose_words
from elicit_app.study.model import Study
from elicit_app.study.opening import minutes_for
from metrics.elicited.family import fraction_family, is_fraction

TOLERANCES = (0.05, 0.02, 0.01)


def questions_of_search(family: str, n_classes: int, tolerance: float) -> int:
    """Return how many questions a published search asks at most; for lpm two cycles are counted.

    Hiranandani, Boodaghians, Mehta, Koyejo (NeurIPS 2019), algorithms 1 and 2.
    """
    if family == "dlpm":
        return 4 * (n_classes - 1) * math.ceil(math.log2(1 / tolerance))
    angles = n_classes * n_classes - n_classes - 1
    return 4 * 2 * angles * math.ceil(math.log2(math.pi / (2 * tolerance)))


class FamilySection(Part):
    """The choice of family as a question in words. Emits `changed`."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__("For the same truth, are some wrong answers worse than others?")
        self.differ, self.alike = ChoiceRow(""), ChoiceRow("")
        self._group = QButtonGroup(self)
        for choice in (self.differ, self.alike):
            self._group.addButton(choice.radio)
            self.column.addWidget(choice)
        self.differ.radio.setChecked(True)
        self.differ.radio.toggled.connect(self.changed)

    @property
    def family(self) -> Family:
        """Return the family that was chosen."""
        return "lpm" if self.differ.radio.isChecked() else "dlpm"

    def show_study(self, study: Study) -> None:
        """Put the question in the words of `study`; with two classes there is nothing to ask."""
        names = study.wording.class_one
        self.setVisible(study.n_classes > 2)
        if study.n_classes > 2:
            # In study order classes are often graded: the far mistake is the one that people expect to be worse.
            example = f"For example, {names[0]} called {names[2]} may be worse than {names[0]} called {names[1]}."
            self.differ.say("Yes, some wrong answers hurt more than others", example)
            same = f"Whatever {names[0]} is called instead, it is the same mistake. Needs fewer questions."
            self.alike.say("No, all wrong answers for the same truth are equally bad", same)


class PurposeSection(Section):
    """What the answers are for, each with its stop rule and number of questions. Emits `changed`."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__("What are your answers for?")
        self.column.setSpacing(theme.S)
        self._group = QButtonGroup(self)
        self.rows: dict[AnswersFor, ChoiceRow] = {
            "choose": ChoiceRow(""),
            "costs": ChoiceRow(""),
            "both": ChoiceRow(""),
        }
        for row in self.rows.values():
            self._group.addButton(row.radio)
            self.column.addWidget(row)
        self.choose(USUAL)
        self._group.buttonToggled.connect(lambda _, checked: self.changed.emit() if checked else None)

    def choose(self, purpose: AnswersFor) -> None:
        """Preselect one."""
        self.rows[purpose].radio.setChecked(True)

    @property
    def purpose(self) -> AnswersFor:
        """Return what was chosen."""
        return next(purpose for purpose, row in self.rows.items() if row.radio.isChecked())

    def show_study(self, study: Study, questions: int | None, *, early: bool) -> None:
        """Say it for `study`; None questions: a search that decides itself how many it asks."""
        for words in purpose_words(study, questions or SITTING, early=early and questions is not None):
            count = "" if questions is None else words.questions
            self.rows[words.purpose].say(words.title, words.sentence, count)


class AskingSection(Part):
    """How many questions, and which procedure asks them.

    Emits `procedure_changed` when another procedure is chosen, and `changed` when anything is.
    """

    procedure_changed = Signal()
    changed = Signal()

    def __init__(self) -> None:
        super().__init__("How many questions")
        self._classes = 2
        self.questions = NumberBox("Questions", 5, 200)
        self.questions.setValue(SITTING)
        self.early = CheckRow("Stop earlier when the answers already say enough")
        self.early.box.setChecked(True)
        self._minutes = Label(role=theme.Role.NOTE, ink=theme.INK2)
        fill(self.column, in_row(self.questions, (self._minutes, 1), spacing=12), self.early)
        self.researchers = LinkButton("For researchers")
        self.researchers.setCheckable(True)
        self.column.addWidget(self.researchers, 0, Qt.AlignmentFlag.AlignLeft)
        self._more = QWidget()
        self.procedure, self.tolerance = ListBox("Procedure"), ListBox("Tolerance")
        for entry in entries():
            if entry.people:
                self.procedure.addItem(entry.label, entry.name)
        for tolerance in TOLERANCES:
            self.tolerance.addItem(f"{tolerance:g}", tolerance)
        self.tolerance.setCurrentIndex(1)
        choices = in_row(
            (named("Procedure", self.procedure), 2), (named("Tolerance", self.tolerance), 1), spacing=theme.M
        )
        self._warning = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.fraction = CheckRow(
            "A mistake may count differently where results are bad and where they are good",
            "A linear-fractional metric. You choose between results and name no counts; the costs that come out hold "
            "near what these models do.",
        )
        in_column(choices, self._warning, self.fraction, on=self._more)
        self.column.addWidget(self._more)
        self._more.hide()
        self.researchers.toggled.connect(self._more.setVisible)
        self.early.box.toggled.connect(self._tell)
        self.fraction.box.toggled.connect(self._changed)
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

    @property
    def as_fraction(self) -> bool:
        """Return whether a linear-fractional metric is to be elicited."""
        return self.fraction.box.isChecked() and self._knows_fractions

    @property
    def _knows_fractions(self) -> bool:
        return any(is_fraction(family) for family in self.entry.families)

    @property
    def minutes(self) -> int:
        """Return about how many minutes it takes."""
        return minutes_for(self._classes, self.questions.value())

    def setting(self, family: Family, seed: int, purpose: AnswersFor | None = None) -> Setting:
        """Return what was chosen, for a person."""
        entry = self.entry
        if self.as_fraction:
            family = cast("Family", fraction_family(family))
        options = {"stop": self.early.box.isChecked(), "checks": True, "epsilon": float(self.tolerance.currentData())}
        return setting_of(
            entry.name,
            family=family if family in entry.families else entry.families[0],
            questions=None if entry.narrows else self.questions.value(),
            seed=seed,
            person=True,
            purpose=purpose,
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
        on_top = most_questions(self.questions.value()) - self.questions.value()
        self.fraction.setVisible(self._knows_fractions)
        self._minutes.setText(
            f"About {self.minutes} minutes. Up to {on_top} repeats and checks come on top, "
            "further checks only where the answers leave doubt. Stop whenever you like."
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
        self.changed.emit()


_SEND = (
    "One file holds the words and what may be asked, as it is set above, and no case. Whoever opens it with elicit "
    "answers there and sends one file back."
)
_ADD = "Drop the files that come back onto this page, or choose them."
_AGAIN = (
    "For a second round",
    "Whoever opens it sees where the experts who have finished stand, without their names, and answers again.",
)
_BUNDLED = "To add answers that come back, the study needs a folder of its own."


class OthersSection(Section):
    """Where the experts of a first round stand, before the questions of the second."""

    def __init__(self) -> None:
        super().__init__("Where the others stand", INTRODUCTION)
        self._stands = Block()
        self.column.addWidget(self._stands)

    def show_study(self, study: Study) -> None:
        """Show it, where `study` was sent for a second round."""
        found = stated_opinions(study)
        self.setVisible(bool(found))
        rows = in_column(on=self._stands.renew(), spacing=theme.XS)
        for stand in found:
            fill(rows, Label(stand.mistake, theme.Role.LABEL), Label(stand.sentence))
            for reason in stand.reasons:
                rows.addWidget(Label(f"“{reason}”", theme.Role.NOTE, theme.INK2))


class ElsewhereSection(Section):
    """Emits `send_requested` with whether it is for a second round, and `add_requested`."""

    send_requested = Signal(bool)
    add_requested = Signal()

    def __init__(self) -> None:
        super().__init__("Experts elsewhere")
        self.sentence = Label(ink=theme.INK2)
        self.send = Button("Send to an expert…", lambda: self.send_requested.emit(self.again.box.isChecked()))
        self.add = Button("Add their answers…", self.add_requested)
        self._buttons = in_row(self.send, self.add, 1, spacing=theme.S)
        self.again = CheckRow(*_AGAIN)
        fill(self.column, self.sentence, self.again, self._buttons)

    def show_study(self, study: Study, experts: int) -> None:
        """Show what can be done with `study`, which so many have finished; nothing where it has no predictions."""
        self.again.box.setChecked(False)
        self.again.setVisible(study.kind == "folder" and experts > 1)
        self.setVisible(bool(study.models))
        keeps = study.kind == "folder"
        self.sentence.setText(f"{_SEND} {_ADD if keeps else _BUNDLED}")
        self.add.setVisible(keeps)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """With a large font the buttons stand below each other."""
        turn(self._buttons, down=breakpoint_.large)
