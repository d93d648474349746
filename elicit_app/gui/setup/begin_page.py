"""The page before the first question: who answers, for what purpose, first guesses, and what will happen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton, PrimaryButton
from elicit_app.gui.elements.fields import CheckRow, Field
from elicit_app.gui.elements.page import CTRL_ENTER, HeadedPage, bind, dropped_files
from elicit_app.gui.elements.painting import Arranged, Label, annotate
from elicit_app.gui.elements.surfaces import Block, Card, Divider, FoldedCard, Section, fill, in_column, in_row
from elicit_app.gui.results.expert_plot import ExpertPlot, ExpertRates
from elicit_app.gui.setup.asking import AskingSection, FamilySection, GuessesSection, PurposeSection
from elicit_app.gui.setup.certain import ClassOrderSection, OrdersSection
from elicit_app.gui.setup.start_page import ContinueCard, ContinueView
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import Setting, entry_named
from elicit_app.registry.entries import as_packed, stated_orders
from elicit_app.session.journal.events import Guess
from elicit_app.session.journal.listing import SessionSummary, experts_in_words, same_name
from elicit_app.session.packing import INTRODUCTION, is_second_round, require_name, stated_opinions
from elicit_app.session.sentences import USUAL, most_questions, stated_words
from elicit_app.study.model import Study
from elicit_app.study.opening import minutes_for
from metrics import ElicitedMetric
from metrics.elicited.exchange import rates_question
from metrics.elicited.family import is_fraction, linear_family
from metrics.text import counted

_WIDTH = 344
_ANY_NAME, _SAME_NAME = "A name, a pseudonym or a group (optional)", "The name of your first answers"


class Briefing(Arranged, Card):
    """The steps and some background, on the right of the settings."""

    def __init__(self) -> None:
        super().__init__()
        self._steps, self._to_know = Block(), Block()
        self._shown: tuple[Study, str, bool] | None = None
        self.stored = Label(role=theme.Role.NOTE, ink=theme.INK2)
        in_column(
            Label("What will happen", theme.Role.SECTION),
            self._steps,
            Divider(),
            Label("Good to know", theme.Role.SECTION),
            self._to_know,
            Divider(),
            Label("What is stored, and where", theme.Role.SECTION),
            self.stored,
            1,
            on=self,
            margins=(20, 16, 20, 18),
            spacing=6,
        )
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(_WIDTH), super().sizeHint().height())

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Adapt the widths to the current font."""
        if self._shown is not None:
            study, folder, piles = self._shown
            self.show_study(study, folder, piles=piles)

    def show_study(self, study: Study, folder: str, *, piles: bool) -> None:
        """Word it for `study`, whose sessions are in `folder`; `piles` if mistakes may be put into piles first."""
        self._shown = study, folder, piles
        steps = (_item(str(number), *step) for number, step in enumerate(_steps(study, piles=piles), start=1))
        in_column(*steps, on=self._steps.renew(), spacing=6)
        items = (_item("•", "", sentence) for sentence in _good_to_know(study))
        in_column(*items, on=self._to_know.renew(), spacing=6)
        leaves = "Nothing leaves this computer."
        if study.answered_elsewhere:
            leaves = (
                "Nothing leaves this computer by itself: at the end you save one file with your answers, and send it "
                "back to whoever sent you this study."
            )
        self.stored.setText(f"Each answer with its time, and what you type here, at once, in {folder}. {leaves}")


def _steps(study: Study, *, piles: bool) -> list[tuple[str, str]]:
    wording = study.wording
    on = "a batch of items" if wording.priced else f"{study.population:,} {wording.cases}"
    number = "Now and then a number", "You move one number until both results are equally bad."
    models = "this model" if len(study.model_names) == 1 else "these models"
    end = "What to do", f"How your answers rate {models}, and how sure that is."
    if study.answered_elsewhere:
        # The computer on which the expert answers has no cases with which to judge models.
        end = "What you told us", "How bad each mistake is, by your answers, and how sure that is."
    if wording.priced:
        number = "A number, if you like", "You may move one number until both results are equally bad."
        end = "What you told us", "How much each amount counts, by your answers, and how sure that is."
    steps = [
        ("Practice", "Three questions that do not count."),
        (
            "Pairs of results",
            f"Two ways a model could do on {on}. You say which you would rather have. There is no right answer.",
        ),
        number,
        end,
    ]
    if piles:
        steps.insert(0, ("Piles", "You group mistakes that are about equally bad, or skip this step."))
    return steps


def _good_to_know(study: Study) -> tuple[str, ...]:
    case, cases = study.wording.case, study.wording.cases
    model = f"A model is a program that says what each {case} is."
    chosen = "how the model is used" if len(study.model_names) == 1 else "which model is chosen, and how it is used"
    used = f"Your answers decide {chosen}."
    if study.wording.priced:
        gives = "gives labels to items" if study.wording.priced == "multilabel" else "suggests what to do next"
        model = f"A model is a program that {gives}; how it works does not matter here."
        used = "The two batches of a question need not be of the same items: go by what is counted."
    return (
        f"It is about many {cases}, never about one.",
        model,
        used,
        "Go by what follows from a mistake, not by how the numbers look.",
        "Take back any answer with Ctrl+Z. Stop when you like.",
    )


def _item(sign: str, title: str, sentence: str) -> QHBoxLayout:
    words = in_column(spacing=1)
    mark = Label(sign, theme.Role.LABEL, theme.INK2, wrap=False)
    mark.setFixedWidth(theme.em(14))
    if title:
        words.addWidget(Label(title, theme.Role.LABEL))
    words.addWidget(Label(sentence, theme.Role.NOTE, theme.INK2))
    return in_row((mark, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=theme.S)


PILES_FROM = 5  # number of classes from which mistakes may be put into piles before the questions


class SessionRequest(NamedTuple):
    """The settings with which a session begins."""

    study: Study
    setting: Setting
    expert: str
    guesses: tuple[Guess, ...]

    @property
    def offers_piles(self) -> bool:
        """Return whether mistakes are distinguished and numerous enough for piles to help."""
        return (
            self.study.n_classes >= PILES_FROM
            and linear_family(self.setting.family).distinguishes_errors
            and not is_fraction(self.setting.family)
            and entry_named(self.setting.procedure).offers("piles")
        )


_SEND = (
    "One file holds the words and what may be asked, as set above, but no cases. The expert opens it with elicit, "
    "answers, and sends one file back."
)
_ADD = "Drop the files that come back onto this page, or choose them."
_AGAIN = (
    "For a second round",
    "The expert sees the opinions of those who have finished, without their names, and answers again.",
)
_BUNDLED = "To add answers that come back, the study needs a folder of its own."


class OthersSection(Section):
    """The opinions of the experts of a first round, before the questions of the second."""

    def __init__(self) -> None:
        super().__init__("Where the others stand", INTRODUCTION)
        self.question, self.plot, self._reasons = Label(), ExpertPlot(), Block()
        fill(self.column, self.question, self.plot, self._reasons)

    def show_study(self, study: Study, own: ElicitedMetric | None = None) -> None:
        """Show the opinions if `study` is for a second round, and who said `own` in the first as "you"."""
        found = stated_opinions(study, own)
        self.setVisible(bool(found))
        if not found:
            return
        unit, kind = study.wording.mistake(study.yardstick).one, study.wording.priced or "confusion"
        self.question.setText(rates_question(kind, unit, of_experts=True))
        rows = [
            ExpertRates(
                one.mistake, tuple(("you" if at == one.yours else "", rate) for at, rate in enumerate(one.rates))
            )
            for one in found
        ]
        self.plot.show_rows(rows, unit, priced=kind != "confusion")
        column = in_column(on=self._reasons.renew(), spacing=theme.XS)
        for opinion in found:
            if opinion.reasons:
                column.addWidget(Label(f"Reasons: {opinion.mistake}", theme.Role.LABEL))
            for reason in opinion.reasons:
                column.addWidget(Label(f"“{reason}”", theme.Role.NOTE, theme.INK2))


class ElsewhereSection(Section):
    """Exchange with experts elsewhere: send them the study, and add their answers."""

    def __init__(self) -> None:
        super().__init__("Experts elsewhere")
        self.sentence = Label(ink=theme.INK2)
        self.send, self.add = Button("Send to an expert…"), Button("Add their answers…")
        self.again = CheckRow(*_AGAIN)
        buttons = in_row(self.send, self.add, 1, spacing=theme.S, stacks="large")
        fill(self.column, self.sentence, self.again, buttons)

    def show_study(self, study: Study, experts: int) -> None:
        """Show the options for `study`, which `experts` people have finished; none if it has no predictions."""
        self.again.box.setChecked(False)
        self.again.setVisible(study.kind == "folder" and experts > 1)
        self.setVisible(bool(study.model_names) and not study.answered_elsewhere)
        keeps = study.kind == "folder"
        self.sentence.setText(f"{_SEND} {_ADD if keeps else _BUNDLED}")
        self.add.setVisible(keeps)


def _names_for(study: Study) -> tuple[str, bool, bool]:
    """Return what decides whether the name of one study may stay for another."""
    return study.digest, study.answered_elsewhere, is_second_round(study)


class BeginPage(HeadedPage):
    """The page before the first question.

    Emits `begin_requested` with a `SessionRequest`; for experts elsewhere `send_requested` with their setting and
    whether it is a second round, and `answers_dropped` with paths.
    """

    begin_requested = Signal(object)
    send_requested = Signal(object, bool)
    answers_dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._study: Study | None = None
        self._seed, self._folder = 0, ""
        self._own: tuple[str, ElicitedMetric] | None = None  # who answered a first round here, and what
        self.current, self.begin = ContinueCard(), PrimaryButton("Begin", keys=("Ctrl+Enter",))
        self.begin_new = Button("Begin a new session", keys=("Ctrl+Enter",))
        self.expert = Field(hint=_ANY_NAME)
        self.purpose, self.guesses = PurposeSection(), GuessesSection()
        self.family, self.asking = FamilySection(), AskingSection()
        self.class_order, self.orders = ClassOrderSection(), OrdersSection()
        parts = self.family, self.class_order, self.orders, self.asking
        self.settings = FoldedCard("Settings of the study", parts)
        self.elsewhere, self.others, self.briefing = ElsewhereSection(), OthersSection(), Briefing()
        self.words = LinkButton("Change the words of this study")
        self.back = self.link_to_start()
        self.compare = LinkButton("Compare experts")
        self._build()
        self._connect()
        self.settle()

    def _build(self) -> None:
        self.header.add_actions(self.begin, self.begin_new)
        annotate(self.expert, name="Who is answering")
        who, question = Card(), Label("Who is answering?", theme.Role.SECTION)
        in_row((question, 2), (self.expert, 3), on=who, margins=(20, 14, 20, 14), spacing=theme.S, stacks="large")
        left = in_column(
            self.current, who, self.others, self.purpose, self.guesses, self.settings, self.elsewhere, 1, spacing=12
        )
        right = in_column(self.briefing, 1)
        fill(self.body, in_row((left, 760), (right, 344), spacing=theme.L, stacks="narrow"), 1)
        self.foot.addLayout(in_row(self.back, 1, self.compare, self.words))

    def _connect(self) -> None:
        for button in (self.begin, self.begin_new):
            button.clicked.connect(self._begin)
        bind(self, self._begin, *CTRL_ENTER)
        self.expert.returnPressed.connect(self._begin)
        self.expert.textChanged.connect(self._mark_own)
        self.guesses.begin_requested.connect(self._begin)
        self.family.changed.connect(self._family_changed)
        self.asking.procedure_changed.connect(self._procedure_changed)
        self.asking.changed.connect(self._update_summary)
        self.orders.changed.connect(self._update_summary)
        self.class_order.changed.connect(self._update_summary)
        self.elsewhere.send.clicked.connect(self._send)

    def show_study(
        self,
        study: Study,
        folder: str,
        seed: int,
        current: ContinueView | None = None,
        experts: Sequence[SessionSummary] = (),
    ) -> None:
        """Show the settings for `study`, whose session will be in `folder`; `seed` makes the questions repeatable.

        If there is an unfinished session, `current`, resuming it is offered first. If two or more `experts`, from
        `comparable_experts`, have finished, they can be compared.
        """
        before, self._study = self._study, study
        self.expert.setPlaceholderText(_SAME_NAME if is_second_round(study) else _ANY_NAME)
        if before is None or (before.digest, before.purpose) != (study.digest, study.purpose):
            self.purpose.choose(study.purpose or USUAL)
            self.family.differ.radio.setChecked(True)
            self.asking.reset()
            self.area.verticalScrollBar().setValue(0)
        if before is not None and _names_for(before) != _names_for(study):
            self.expert.clear()
        self._seed, self._folder = seed, folder
        self.current.setVisible(current is not None)
        self.begin.setVisible(current is None)
        self.begin_new.setVisible(current is not None)
        self.first_focus = self.expert if current is None else self.current.button
        if current is not None:
            self.current.show_view(current)
        self.words.setVisible(study.kind == "folder" and study.pack is None)
        self.compare.setVisible(len(experts) > 1)
        self.compare.setText(f"Compare the {experts_in_words(experts)}")
        self.setAcceptDrops(study.kind == "folder")
        self.elsewhere.show_study(study, len(experts))
        self._own = None
        self.others.show_study(study)
        # The coordinator of a packed study has fixed these.
        self.settings.setVisible(study.pack is None)
        self.purpose.setVisible(study.pack is None or "purpose" not in study.pack.setting)
        self.family.show_study(study)
        self.asking.show_classes(study.n_classes)
        self._family_changed()
        self._say_notes(study)

    def _say_notes(self, study: Study) -> None:
        """Show the notes on a packed study and what its coordinator stated; other notes are on the page of words."""
        if study.pack is None:
            self.notice.say("")
            return
        stated = stated_words(self._setting(), study)
        self.notice.say(" ".join([*study.notes, *([f"Stated as certain: {stated}"] if stated else [])]))

    def forget(self) -> None:
        """Keep nothing that one expert typed: who answers next begins with empty fields."""
        self.expert.clear()
        self.guesses.forget()
        self.orders.forget()
        self.class_order.forget()
        self.area.verticalScrollBar().setValue(0)

    def propose_name(self, name: str) -> None:
        """Propose a name, from `packing.proposed_name`, unless one was typed."""
        if not self.expert.text():
            self.expert.setText(name)
            self.expert.selectAll()

    def show_own_answers(self, name: str, own: ElicitedMetric | None) -> None:
        """Tell which opinions of the first round are those of `name`, by `packing.own_answers`, while that is typed."""
        self._own = None if own is None else (name, own)
        self._mark_own()

    def _mark_own(self) -> None:
        if self._study is not None and self._own is not None:
            name, own = self._own
            self.others.show_study(self._study, own if same_name(name, self.expert.text()) else None)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.answers_dropped.emit(dropped_files(event))

    def show_problem(self, sentence: str) -> None:
        self.notice.say(sentence)
        self.area.verticalScrollBar().setValue(0)

    @property
    def _family(self) -> Family:
        if self._study is not None and self._study.pack is not None:
            return self._setting().family
        if self._study is not None and self._study.n_classes == 2 and "lpm" in self.asking.entry.families:
            return "lpm"
        return self.family.family

    @property
    def _takes_orders(self) -> bool:
        """Return whether "never worse" orders apply; searches and fractions do not take them."""
        return self.asking.entry.offers("never_worse") and not self.asking.as_fraction

    def _family_changed(self) -> None:
        if self._study is not None:
            self.guesses.show_study(self._study, self._family)
            self.orders.show_study(self._study, self._family)
            self.class_order.show_study(self._study, self._family)
            self.class_order.setVisible(self._takes_orders and self.class_order.applies)
            self._update_summary()

    def _procedure_changed(self) -> None:
        # A published search exists for one family only, so choosing it decides the family.
        entry = self.asking.entry
        fixed = len(entry.families) == 1
        if fixed:
            (self.family.alike if entry.families == ("dlpm",) else self.family.differ).radio.setChecked(True)
        for choice in (self.family.differ, self.family.alike):
            choice.setEnabled(not fixed)
        self.orders.setVisible(self._takes_orders)
        self._family_changed()

    def _update_summary(self) -> None:
        """Summarise the folded settings in the line under the title and beside every purpose."""
        study, entry = self._study, self.asking.entry
        if study is None:
            return
        setting = self._setting()
        questions = None if entry.narrows else setting.questions
        self.purpose.show_study(study, questions, early=setting.may_stop_early)
        parts = []
        if self._takes_orders and (of_classes := self.class_order.summary):
            parts.append(of_classes)
        elif study.n_classes > 2:
            worse = linear_family(self._family).distinguishes_errors
            parts.append("some wrong answers worse than others" if worse else "all wrong answers equally bad")
        if self.asking.as_fraction:
            parts.append("a fraction")
        if self.orders.count and self._takes_orders:
            parts.append(f"{counted(self.orders.count, 'order')} stated")
        parts.append(f"usually at most {most_questions(questions)} questions" if questions else f"{entry.label}")
        self.settings.say("; ".join(parts))
        models = counted(len(study.model_names), "model")
        has_cases = study.n_cases and study.wording.priced is None
        rows = f"{study.n_cases:,} {study.wording.cases}, " if has_cases else ""
        time = f"About {minutes_for(study.n_classes, questions)} minutes; w" if questions else "W"
        where = "" if study.answered_elsewhere else ", on this computer only"
        self.header.say(study.title, f"{rows}{models}. {time}hat you answer or type is kept at once{where}.")
        self.briefing.show_study(study, self._folder, piles=SessionRequest(study, setting, "", ()).offers_piles)

    def _setting(self) -> Setting:
        """Return the chosen setting without the orders; for a packed study, the coordinator's."""
        assert self._study is not None, "a page without a study asks nothing"
        family = self.family.family if self._study.pack is not None else self._family
        return as_packed(self._study, self.asking.setting(family, self._seed, self.purpose.purpose))

    def _with_orders(self) -> Setting | None:
        """Return the chosen setting with the stated orders, or None after showing why it is invalid."""
        setting = self._setting()
        if self._study is None or self._study.pack is not None or not self._takes_orders:
            return setting
        try:
            stated = {"never_worse": self.orders.orders(), "ordered": self.class_order.ordered()}
        except ValueError as error:
            self.settings.open()
            self.show_problem(f"{error}. Press “Add”, or choose none.")
            return None
        setting = setting.model_copy(update=stated)
        try:
            stated_orders(setting, self._study.classes)
        except WrongOption as problem:
            self.settings.open()
            self.show_problem(problem.sentence)
            return None
        return setting

    def _begin(self) -> None:
        if self._study is None:
            return
        try:
            guesses = self.guesses.guesses()
        except ValueError as error:
            self.show_problem(f"In your first guesses, {error}. Write a number like 20, 0.5 or 1/3, or leave it empty.")
            return
        expert = self.expert.text().strip()
        try:
            require_name(self._study, expert)
        except Problem as problem:
            self.show_problem(problem.sentence)
            self.expert.setFocus()
            return
        setting = self._with_orders()
        if setting is not None:
            self.begin_requested.emit(SessionRequest(self._study, setting, expert, guesses))

    def _send(self) -> None:
        setting = self._with_orders()
        if setting is not None:
            self.send_requested.emit(setting, self.elsewhere.again.box.isChecked())
