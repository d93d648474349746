"""Settings before the questions: purpose, procedure, number of questions, and first guesses."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QSizePolicy, QWidget

from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.questions import AnswersFor, Family
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import LinkButton
from elicit_app.gui.elements.fields import CheckRow, ChoiceRow, Field, ListBox, NumberBox, named
from elicit_app.gui.elements.painting import Arranged, Label, StressedLabel, annotate
from elicit_app.gui.elements.surfaces import Block, Divider, Part, Section, fill, in_column, in_grid, in_row
from elicit_app.registry import Entry, Setting, entries, entry_named, setting_of
from elicit_app.session.journal.events import Guess
from elicit_app.session.sentences import USUAL, how_many, most_questions, purpose_words
from elicit_app.session.warm_up import MOST_GUESSES, keys_to_guess, ratio_typed, yardstick_key
from elicit_app.study.model import Key, Study
from elicit_app.study.opening import minutes_for
from metrics.elicited.family import fraction_family, is_fraction

TOLERANCES = (0.05, 0.02, 0.01)


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
        return "lpm" if self.differ.radio.isChecked() else "dlpm"

    def show_study(self, study: Study) -> None:
        """Word the question for `study`; with two classes there is nothing to ask."""
        names = study.wording.class_one
        self.setVisible(study.n_classes > 2)
        if study.n_classes > 2:
            # Classes are often in graded order, so people expect the more distant mistake to be worse.
            example = f"For example, {names[0]} called {names[2]} may be worse than {names[0]} called {names[1]}."
            self.differ.say("Yes, some wrong answers hurt more than others", example)
            same = f"Whatever {names[0]} is called instead, it is the same mistake. Needs fewer questions."
            self.alike.say("No, all wrong answers for the same truth are equally bad", same)


class PurposeSection(Section):
    """The purpose of the answers; each choice has its stop rule and number of questions. Emits `changed`."""

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
        self.rows[purpose].radio.setChecked(True)

    @property
    def purpose(self) -> AnswersFor:
        return next(purpose for purpose, row in self.rows.items() if row.radio.isChecked())

    def show_study(self, study: Study, questions: int | None, *, early: bool) -> None:
        """Word the choices for `study`; `questions` is None for a search that decides the number itself."""
        for words in purpose_words(study, questions or SITTING, early=early and questions is not None):
            count = "" if questions is None else words.questions
            self.rows[words.purpose].say(words.title, words.sentence, count)


class AskingSection(Part):
    """The procedure and the number of questions.

    Emits `procedure_changed` when another procedure is chosen, and `changed` on any change.
    """

    procedure_changed = Signal()
    changed = Signal()

    def __init__(self) -> None:
        super().__init__("How many questions")
        self._classes = 2
        self.questions = NumberBox("Questions", 5, 200)
        self.early = CheckRow("Stop earlier when the answers already say enough")
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
        choices = in_row((named(self.procedure), 2), (named(self.tolerance), 1), spacing=theme.M)
        self._warning = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.fraction = CheckRow(
            "A mistake may count differently where results are bad and where they are good",
            "A linear-fractional metric. You choose between results and name no counts; the resulting costs are "
            "valid near the results of these models.",
        )
        in_column(choices, self._warning, self.fraction, on=self._more)
        self.column.addWidget(self._more)
        self._more.hide()
        self.researchers.toggled.connect(self._more.setVisible)
        self.early.box.toggled.connect(self._update)
        self.fraction.box.toggled.connect(self._changed)
        self.questions.valueChanged.connect(self._update)
        self.procedure.currentIndexChanged.connect(self._changed)
        self.tolerance.currentIndexChanged.connect(self._update)
        self.reset()

    def reset(self) -> None:
        self.procedure.setCurrentIndex(0)
        self.tolerance.setCurrentIndex(1)
        self.questions.setValue(SITTING)
        self.early.box.setChecked(True)
        self.fraction.box.setChecked(False)

    @property
    def entry(self) -> Entry[Any]:
        return entry_named(str(self.procedure.currentData()))

    def show_classes(self, n_classes: int) -> None:
        self._classes = n_classes
        self._update()

    @property
    def as_fraction(self) -> bool:
        return self.fraction.box.isChecked() and self._knows_fractions

    @property
    def _knows_fractions(self) -> bool:
        return any(is_fraction(family) for family in self.entry.families)

    def setting(self, family: Family, seed: int, purpose: AnswersFor | None = None) -> Setting:
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
        self._update()
        self.procedure_changed.emit()

    def _planned_words(self) -> str:
        planned = self.setting(self.entry.families[0], seed=0).planned(self._classes)
        if planned is None:
            return "It asks many questions."
        return f"It asks {how_many(*planned)} questions."

    def _update(self) -> None:
        narrows = self.entry.narrows
        for widget in (self.questions, self.early):
            widget.setEnabled(not narrows)
        self.tolerance.setEnabled(narrows)
        questions = self.questions.value()
        self.fraction.setVisible(self._knows_fractions)
        self._minutes.setText(
            f"About {minutes_for(self._classes, questions)} minutes. Up to {most_questions(questions) - questions} "
            "repeats and checks come on top, further checks only if the answers are unclear. Stop whenever you like."
            if not narrows
            else "The published search decides itself how many. Stop whenever you like."
        )
        self._warning.setText(
            "The procedure that people use. It survives wrong answers and says how sure it is."
            if not narrows
            else f"{self._planned_words()} The later ones look alike, and one wrong answer can spoil the result: it "
            "gives no ranges."
        )
        self.changed.emit()


_NAME, _FOLLOWS, _AS_BAD_AS, _FIELD = range(4)


class _GuessField(Field):
    """A field wide enough for a ratio."""

    size_asked, size_least = (104, 32), (60, 32)

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text, hint)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)


class GuessesSection(Arranged, Section):
    """One row per mistake for its ratio to the yardstick; an empty field is no guess.

    Emits `begin_requested` on Enter in a field.
    """

    begin_requested = Signal()

    def __init__(self) -> None:
        super().__init__("Your first guess, before the questions")
        self.column.setSpacing(theme.XS)
        self._asks = StressedLabel(ink=theme.INK2)
        self._rows = Block()
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._shown = MOST_GUESSES
        self._breakpoint = theme.WIDE
        self._typed: dict[Key, str] = {}
        self.fields: dict[Key, Field] = {}
        self.more = LinkButton("Guess more", self._show_more)
        fill(self.column, self._asks, self._rows, (self.more, 0, Qt.AlignmentFlag.AlignLeft))

    def show_study(self, study: Study, family: Family) -> None:
        """Ask about the mistakes of `study`; entries for the same study are kept, even if they are not shown."""
        if self._study is None or (study.digest, study.classes) != (self._study.digest, self._study.classes):
            self._typed, self._shown = {}, MOST_GUESSES
            self.fields = {}
        self._study, self._family = study, family
        yardstick = study.wording.mistake(yardstick_key(study, family))
        self._asks.say(
            "One of these counts as how many " if study.wording.priced else "One mistake is as bad as how many ",
            yardstick.many,
            "? A number like 20, 0.5 or 1/3; leave a field empty if you have no idea. Guesses change nothing; they are "
            "shown beside the result.",
        )
        self._lay_rows()

    def forget(self) -> None:
        """Keep nothing that was typed when a study is shown next, be it the same."""
        self._study = None

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """On a compact page, put the consequence of a mistake under its name."""
        if breakpoint_ != self._breakpoint:
            self._breakpoint = breakpoint_
            self._lay_rows()

    def guesses(self) -> tuple[Guess, ...]:
        """Return the first guesses.

        Raises
        ------
        ValueError
            If an entry is not a number greater than 0.
        """
        found = []
        for (true, predicted), field in self.fields.items():
            ratio = ratio_typed(field.text())
            if ratio is not None:
                found.append(Guess(true=true, predicted=predicted, ratio=ratio))
        return tuple(found)

    def _show_more(self) -> None:
        before = set(self.fields)
        self._shown += MOST_GUESSES
        self._lay_rows()
        new = next((field for key, field in self.fields.items() if key not in before), None)
        if new is not None:
            new.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_rows(self) -> None:
        study = self._study
        if study is None:
            return
        self._typed |= {key: field.text() for key, field in self.fields.items()}
        focused = next((key for key, field in self.fields.items() if field.hasFocus()), None)
        self.fields = {}
        grid = in_grid(on=self._rows.renew(), across=theme.M, down=3)
        keys = keys_to_guess(study, self._family, self._shown)
        beside = not self._breakpoint.narrow and any(study.wording.mistake(key).consequence for key in keys)
        for at, key in enumerate(keys):
            if at:
                grid.addWidget(Divider(), 3 * at - 1, 0, 1, 4)
            self._lay_row(grid, 3 * at, study, key, beside=beside)
        grid.setColumnStretch(_NAME, 0 if beside else 1)
        grid.setColumnStretch(_FOLLOWS, 1 if beside else 0)
        every = len(keys_to_guess(study, self._family, study.n_classes**2))
        self.more.setVisible(len(keys) < every)
        self.more.setText(f"Guess more ({every - len(keys):,} are left)")
        if focused in self.fields:
            self.fields[focused].setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_row(self, grid: QGridLayout, row: int, study: Study, key: Key, *, beside: bool) -> None:
        mistake = study.wording.mistake(key)
        yardstick = study.wording.mistake(yardstick_key(study, self._family))
        name = Label(mistake.name, theme.Role.LABEL)
        follows = Label(mistake.consequence, theme.Role.NOTE, theme.INK2)
        field = _GuessField(self._typed.get(key, ""), "no idea")
        annotate(field, name=f"One {mistake.one} is as bad as how many {yardstick.many}", more=mistake.consequence)
        field.returnPressed.connect(self.begin_requested)
        if beside:
            least, most = theme.em(170), theme.em(260)
            whole = name.fontMetrics().horizontalAdvance(name.text()) + 1  # rounded down
            name.setMinimumWidth(max(least, min(most, whole)))
            name.setMaximumWidth(most)
            grid.addWidget(name, row, _NAME)
            grid.addWidget(follows, row, _FOLLOWS)
        else:
            grid.addWidget(name, row, _NAME, 1, 2)
            if mistake.consequence:
                grid.addWidget(follows, row + 1, _NAME, 1, 2)
        if not self._breakpoint.large:
            grid.addWidget(Label("as bad as", theme.Role.NOTE, theme.INK2, wrap=False), row, _AS_BAD_AS)
        grid.addWidget(field, row, _FIELD)
        self.fields[key] = field
