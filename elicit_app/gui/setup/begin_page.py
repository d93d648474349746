"""What the expert is asked before the first question: who, which family, first guesses; and what is stored."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Label, LinkButton, OutlineButton, PrimaryButton
from elicit_app.gui.elements.fields import ChoiceRow, Field
from elicit_app.gui.elements.page import Header, ScrolledPage
from elicit_app.gui.elements.surfaces import Block, Notice, Section
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.setup.asking import AskingSection, OrdersSection
from elicit_app.gui.start.rows import ContinueCard, ContinueView
from elicit_app.registry import Setting
from elicit_app.session.journal.events import Guess
from elicit_app.session.warm_up import Key, keys_to_guess, mistake_of_key, ratio_typed, yardstick_key
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
            tell(field, name=f"One {mistake.one} is as bad as how many {yardstick.many}")
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


class Beginning(NamedTuple):
    """What a session begins with."""

    study: Study
    setting: Setting
    expert: str
    guesses: tuple[Guess, ...]


class FamilySection(Section):
    """The choice of family as a question in words. Emits `changed`."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("For the same truth, are some wrong answers worse than others?", parent=parent)
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
            example = f"For example, {names[0]} called {names[1]} may be worse than {names[0]} called {names[2]}."
            self.differ.say("Yes, some wrong answers hurt more than others", example)
            same = f"Whatever {names[0]} is called instead, it is the same mistake. Needs fewer questions."
            self.alike.say("No, all wrong answers for the same truth are equally bad", same)


class BeginPage(ScrolledPage):
    """What is asked before the first question.

    Emits `begin_requested` with a `Beginning`, `session_requested` with the file of one to go on with,
    `words_requested` (to change the words), `compare_requested` and `start_requested`.
    """

    notice: Notice
    begin_requested = Signal(object)
    session_requested = Signal(object)
    words_requested = Signal()
    start_requested = Signal()
    compare_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._study: Study | None = None
        self._seed = 0
        self.header, self.notice = Header(), Notice()
        self.current, self.begin = ContinueCard(), PrimaryButton("Begin")
        self.begin_anew = OutlineButton("Begin anew")
        for button in (self.begin, self.begin_anew):
            self.header.add_action(button)
        self.head.addWidget(self.header)
        self.head.addWidget(self.notice)
        self.expert = Field(hint="Your name, or a group’s; may stay empty")
        tell(self.expert, name="Who is answering")
        self._who = Section("Who is answering?", "Only to tell sessions apart. It is written beside the answers.")
        self._who.column.addWidget(self.expert)
        self.family, self.guesses, self.asking = FamilySection(), GuessesSection(), AskingSection()
        self.orders = OrdersSection()
        self._stored = Section("What is stored, and where")
        self.body.addWidget(self.current)
        for section in (self._who, self.family, self.guesses, self.orders, self.asking, self._stored):
            self.body.addWidget(section)
        self.words, self.back = LinkButton("Change the words of this study"), LinkButton("Back to the start")
        self.compare = LinkButton("Compare experts")
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addStretch(1)
        row.addWidget(self.compare)
        row.addWidget(self.words)
        self.body.addLayout(row)
        self.body.addStretch(1)
        self.begin.clicked.connect(self._begin)
        self.begin_anew.clicked.connect(self._begin)
        self.current.open_requested.connect(self.session_requested)
        self.expert.returnPressed.connect(self._begin)
        self.words.clicked.connect(self.words_requested)
        self.compare.clicked.connect(self.compare_requested)
        self.back.clicked.connect(self.start_requested)
        self.family.changed.connect(self._family_changed)
        self.asking.procedure_changed.connect(self._procedure_changed)
        self.settle()

    def show_study(
        self, study: Study, folder: str, seed: int, current: ContinueView | None = None, experts: int = 0
    ) -> None:
        """Ask about `study`.

        Parameters
        ----------
        study : Study
            What the questions will be about.
        folder : str
            Where the session will lie.
        seed : int
            Makes the questions repeatable.
        current : ContinueView or None
            A session on this study that is not finished: going on with it comes first.
        experts : int
            How many experts have finished this study; from two on they can be compared.
        """
        self._study, self._seed = study, seed
        self.current.setVisible(current is not None)
        self.begin.setVisible(current is None)
        self.begin_anew.setVisible(current is not None)
        if current is not None:
            self.current.show_view(current)
        self.header.say(study.title, "Two practice questions come first; they do not count.")
        self.notice.say("")
        self.words.setVisible(study.kind == "folder")
        self.compare.setVisible(experts > 1)
        self.compare.setText(f"Compare the {experts} experts who have finished")
        self.family.show_study(study)
        self.asking.show_classes(study.n_classes)
        self._family_changed()
        self._stored.say(
            f"Every answer is written to {folder} the moment you give it, with the time it took. "
            "There is nothing to save, and nothing leaves this computer."
        )

    @property
    def first_focus(self) -> QWidget:
        return self.current.button if self.current.isVisibleTo(self) else self.expert

    def say_problem(self, sentence: str) -> None:
        """Show why it cannot begin like this."""
        self.notice.say(sentence)
        self.area.verticalScrollBar().setValue(0)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.header.arrange(breakpoint_)
        self.current.arrange(breakpoint_)
        self.guesses.arrange(breakpoint_)
        self.orders.arrange(breakpoint_)

    @property
    def _family(self) -> Family:
        if self._study is not None and self._study.n_classes == 2 and "lpm" in self.asking.entry.families:
            return "lpm"
        return self.family.family

    def _family_changed(self) -> None:
        if self._study is not None:
            self.guesses.show_study(self._study, self._family)
            self.orders.show_study(self._study, self._family)

    def _procedure_changed(self) -> None:
        # A published search exists for one family only, so it answers the question about the family.
        entry = self.asking.entry
        fixed = len(entry.families) == 1
        if fixed:
            (self.family.alike if entry.families == ("dlpm",) else self.family.differ).radio.setChecked(True)
        for choice in (self.family.differ, self.family.alike):
            choice.setEnabled(not fixed)
        self.orders.setVisible(entry.offers("never_worse"))
        self._family_changed()

    def _begin(self) -> None:
        if self._study is None:
            return
        try:
            guesses = self.guesses.guesses()
        except ValueError as error:
            self.say_problem(f"In your first guesses, {error}. Write a number like 20, 0.5 or 1/3, or leave it empty.")
            return
        try:
            orders = self.orders.orders()
        except ValueError as error:
            self.say_problem(f"{error}. Press “Add”, or choose none.")
            return
        setting = self.asking.setting(self._family, self._seed)
        if self.asking.entry.offers("never_worse"):
            setting = setting.model_copy(update={"never_worse": orders})
        self.begin_requested.emit(Beginning(self._study, setting, self.expert.text().strip(), guesses))
