"""The laboratory: simulated people answer, and one sees how wide the ranges become. Nobody is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from elicit_app.experiments.watching import NOISES, PEOPLE, LabSettings, SimulatedPerson, width_sentence
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton, PrimaryButton
from elicit_app.gui.elements.fields import DecimalBox, ListBox, NumberBox, named
from elicit_app.gui.elements.page import CTRL_ENTER, Header, ScrolledPage, bind
from elicit_app.gui.elements.surfaces import (
    Block,
    Card,
    Divider,
    Notice,
    ProgressBar,
    Section,
    fill,
    in_column,
    in_grid,
    in_row,
    turn,
)
from elicit_app.gui.elements.texts import Label, tell, tell_item
from elicit_app.gui.pages.live_plot import LivePlot, Series
from elicit_app.gui.theme import Role

HEADS = ("person", "procedure", "answers", "judged otherwise", "range factor", "true values inside", "seconds")
MOST = 3
_STRESSED = HEADS.index("judged otherwise")
_RIGHT = Qt.AlignmentFlag.AlignRight


class RowsTable(Block):
    """`add` puts a person on top; all of them are in the file that "Save rows" writes."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: deque[tuple[str, ...]] = deque(maxlen=MOST)
        self._show()

    def add(self, person: SimulatedPerson) -> None:
        """Put a person on top."""
        end, inside = person.looks[-1], person.inside
        self.rows.appendleft(
            (
                str(person.number),
                person.settings.procedure,
                str(end.answers),
                f"{100 * end.otherwise:.1f} %",
                "" if end.range_factor is None else f"{end.range_factor:.1f}",
                "" if inside is None else f"{inside[0]} of {inside[1]}",
                f"{person.run.seconds:.1f}",
            )
        )
        self._show()

    def _show(self) -> None:
        grid = in_grid(on=self.renew(), across=theme.M, down=6)
        for column, head in enumerate(HEADS):
            grid.addWidget(Label(head, Role.NOTE, theme.INK2, wrap=False, align=_RIGHT), 0, column)
            grid.setColumnStretch(column, 1)
        for at, row in enumerate(self.rows):
            grid.addWidget(Divider(), 2 * at + 1, 0, 1, len(HEADS))
            for column, text in enumerate(row):
                role, ink = (Role.STRONG, theme.INK) if column == _STRESSED else (Role.BODY, theme.INK2)
                grid.addWidget(Label(text, role, ink, wrap=False, align=_RIGHT), 2 * at + 2, column)


_REPAINT = 250  # milliseconds: four times a second
_EMPTY = "How wide will the ranges be?"
_HOW = "Run, and every person becomes a dot. The people are drawn at random; their true values are known."


class LaboratoryPage(ScrolledPage):
    """Emits `run_requested` with one or two `LabSettings`, `stop_requested`, `back_requested`, `words_requested`.

    `picture_requested`, `rows_requested`, `questions_requested` are about what is shown; `copied` brings the command.

    Of the studies to choose from it takes what `open_study` takes and the title, of the procedures name and label.
    """

    notice: Notice
    run_requested = Signal(object)
    stop_requested = Signal()
    back_requested = Signal()
    words_requested = Signal()
    picture_requested = Signal()
    rows_requested = Signal()
    questions_requested = Signal()
    copied = Signal(str)

    def __init__(self, studies: Sequence[tuple[str, str]], procedures: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.people: list[SimulatedPerson] = []  # who is shown, in the order in which they answered
        self._running = False
        self._total = 0
        self._beside: dict[ListBox, QWidget] = {}
        self.header, self.notice = Header(), Notice()
        self.progress, self.progress_words = ProgressBar(), Label(role=Role.LABEL, wrap=False)
        self.go = PrimaryButton("Run", self._press, keys=("Ctrl+Enter",))
        self._make_fields(studies, procedures)
        self.sentence, self.so_far = Label(_EMPTY, Role.LEAD), Label(_HOW, Role.NOTE, theme.INK2)
        self.otherwise = LivePlot("Pairs judged otherwise", share=True)
        self.widths = LivePlot("Width of the ranges, as a factor", share=False, wanted=2.0)
        self.rows = RowsTable()
        self.questions = LinkButton("Questions shown…", self.questions_requested)
        self.picture = LinkButton("Save picture…", self.picture_requested)
        self.save_rows = LinkButton("Save rows…", self.rows_requested)
        self.command = Label(role=Role.NOTE)
        self.copy = Button("Copy", lambda: self.copied.emit(self.command.text()))
        self.back = LinkButton("Back to the start", self.back_requested)
        self.words = LinkButton("What these words mean", self.words_requested)
        self._timer = QTimer(self, interval=_REPAINT, singleShot=True)
        self._build()
        self._connect()
        self._sizes()
        self._changed()
        self._show_state()
        self.settle()

    # --- what is chosen

    def _make_fields(self, studies: Sequence[tuple[str, str]], procedures: Sequence[tuple[str, str]]) -> None:
        self.study, self.procedure = ListBox("Study"), ListBox("Procedure")
        self.compared, self.answers = ListBox("Compare with"), ListBox("They answer by")
        self.person, self.noise = ListBox("Person"), ListBox("Noise")
        for ref, title in studies:
            self.study.addItem(title, ref)
        self.compared.addItem("nothing else", None)
        for name, label in procedures:
            self.procedure.addItem(name, name)
            tell_item(self.procedure, self.procedure.count() - 1, label)
            self.compared.addItem(name, name)
        for box, names in ((self.answers, ("mixed", "choice", "equal")), (self.person, PEOPLE), (self.noise, NOISES)):
            for one in names:
                box.addItem(one, one)
        self.person_size, self.noise_size = DecimalBox(), DecimalBox()
        for size, name in ((self.person_size, "Size of the person's number"), (self.noise_size, "Size of the noise")):
            tell(size, name=name)
            size.setDecimals(3)
            size.setSingleStep(0.05)
            size.setRange(0.001, 5.0)
        self.n_questions, self.n_people = NumberBox("Questions", 4, 60), NumberBox("People", 1, 1000)
        self.seed = NumberBox("Seed", 0, 999_999)
        usual = LabSettings()
        self.n_questions.setValue(usual.questions)
        self.n_people.setValue(usual.people)
        self.seed.setValue(usual.seed)
        self.noise.setCurrentText("weights")
        self.study.setCurrentIndex(max(self.study.findData(usual.study), 0))

    def _sizes(self) -> None:
        """Offer the usual number of the kind that is chosen, or none."""
        for box, size, kinds in ((self.person, self.person_size, PEOPLE), (self.noise, self.noise_size, NOISES)):
            usual = next((value for kind, value in kinds.items() if kind == box.currentData()), None)
            size.setEnabled(usual is not None)
            if box in self._beside:
                self._beside[box].setVisible(usual is not None)
            size.setValue(size.minimum() if usual is None else usual)

    @property
    def chosen(self) -> tuple[LabSettings, ...]:
        """Return what is chosen: settings, and a second procedure to compare with."""
        names = [self.procedure.currentData(), self.compared.currentData()]
        return tuple(self._settings_for(name) for name in dict.fromkeys(names) if name is not None)

    def _settings_for(self, procedure: str) -> LabSettings:
        return LabSettings(
            study=self.study.currentData(),
            procedure=procedure,
            answers=self.answers.currentData(),
            person=_sized(self.person, self.person_size),
            noise=_sized(self.noise, self.noise_size),
            questions=self.n_questions.value(),
            people=self.n_people.value(),
            seed=self.seed.value(),
        )

    # --- what is shown

    def begin(self, total: int) -> None:
        """Begin anew with so many people to come; the rows of before stay in the list."""
        self.people.clear()
        self._running, self._total = True, total
        self.notice.say("")
        self._show_state()
        self._repaint()

    def add(self, person: SimulatedPerson) -> None:
        """Show one person more."""
        self.people.append(person)
        self.rows.add(person)
        if not self._timer.isActive():
            self._timer.start()

    def end(self, sentence: str = "") -> None:
        """Say that nobody more comes, and why where it went wrong."""
        self._running = False
        self.notice.say(sentence)
        self._show_state()
        self._repaint()

    def _repaint(self) -> None:
        series = [self._series(settings.procedure) for settings in self.chosen]
        most = self.n_questions.value()
        self.otherwise.show_series([one for one, _ in series], most)
        self.widths.show_series([one for _, one in series], most)
        first = [one for one in self.people if one.settings.procedure == self.chosen[0].procedure]
        sentence, so_far = width_sentence(first) if first else (_EMPTY, _HOW)
        self.sentence.setText(sentence)
        self.so_far.setText(so_far)
        self._show_progress()

    def _series(self, procedure: str) -> tuple[Series, Series]:
        otherwise: dict[int, list[float]] = {}
        widths: dict[int, list[float]] = {}
        people = [one for one in self.people if one.settings.procedure == procedure]
        # Searches end after different numbers of answers: all are drawn at the median.
        end = round(median(one.looks[-1].answers for one in people)) if people else 0
        for person in people:
            for look in person.looks:
                answers = look.answers if person.settings.steerable else end
                otherwise.setdefault(answers, []).append(look.otherwise)
                if look.range_factor is not None:
                    widths.setdefault(answers, []).append(look.range_factor)
        return Series(procedure, otherwise), Series(procedure, widths)

    def _show_state(self) -> None:
        self.go.setText("Stop" if self._running else "Run")
        self.go.set_keys("Esc" if self._running else "Ctrl+Enter")
        for widget in (self.progress, self.progress_words):
            widget.setVisible(self._running)
        self._show_progress()

    def _show_progress(self) -> None:
        done = len(self.people)
        self.progress.set_share(done / max(self._total, 1), f"{done} of {self._total} people")
        self.progress_words.setText(f"{done} of {self._total} people")
        for link in (self.questions, self.picture, self.save_rows):
            link.setEnabled(done > 0)

    # --- how it is laid out

    def _build(self) -> None:
        self.header.say("Laboratory", "Simulated people answer. Nobody is asked, nothing is written into a study.")
        progress = in_column(1, (self.progress_words, 0, Qt.AlignmentFlag.AlignRight), self.progress, 2)
        self.go.tall = 48
        fill(
            self.head,
            in_row((self.header, 1), progress, (self.go, 0, Qt.AlignmentFlag.AlignTop), spacing=theme.M),
            self.notice,
        )
        self._across = in_row(spacing=theme.L)
        self.settings = self._settings_card()
        fill(
            self._across,
            (self.settings, 0, Qt.AlignmentFlag.AlignTop),
            (in_column(self._plots_card(), self._rows_card(), self._command_card(), 1, spacing=theme.M), 1),
        )
        fill(self.body, self._across, 1)
        self.foot.addLayout(in_row(self.back, 1, self.words))

    def _settings_card(self) -> Card:
        card = Section("Who and what")
        column = card.column
        for name, widget in (("Study", self.study), ("Procedure", self.procedure), ("They answer by", self.answers)):
            column.addLayout(named(name, widget))
        for (name, box), (label, size) in (
            (("Person", self.person), ("number", self.person_size)),
            (("Noise", self.noise), ("of size", self.noise_size)),
        ):
            beside = QWidget()
            in_column(named(label, size), on=beside)
            self._beside[box] = beside
            column.addLayout(in_row((named(name, box), 3), (beside, 2)))
        row = in_row()
        for name, number in (("Questions", self.n_questions), ("People", self.n_people), ("Seed", self.seed)):
            row.addLayout(named(name, number), 1)
        fill(
            column,
            row,
            Divider(),
            named("Compare with", self.compared),
            Label("Run starts over. The earlier rows stay in the list.", Role.NOTE, theme.INK2),
        )
        return card

    def _plots_card(self) -> Card:
        card = Section()
        self._plots = in_row((self.otherwise, 1), (self.widths, 1), spacing=theme.L)
        fill(card.column, self.sentence, self.so_far, self._plots)
        return card

    def _rows_card(self) -> Card:
        card, head = Section(), Label("Rows", Role.SECTION)
        links = in_row((head, 1), self.questions, self.picture, self.save_rows, spacing=theme.L)
        fill(card.column, links, self.rows)
        return card

    def _command_card(self) -> Card:
        card, head = Section(), Label("The same in a terminal", Role.NOTE, theme.INK2)
        command = in_column(head, self.command)
        card.column.addLayout(in_row((command, 1), (self.copy, 0, Qt.AlignmentFlag.AlignVCenter)))
        return card

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.header.arrange(breakpoint_)
        self.go.set_compact(breakpoint_.compact)
        narrow = breakpoint_.narrow
        turn(self._across, down=narrow)
        turn(self._plots, down=breakpoint_.large)
        self.settings.setMaximumWidth(16_777_215 if narrow else theme.em(320))
        self.settings.setMinimumWidth(0 if narrow else theme.em(320))

    # --- what happens

    def _connect(self) -> None:
        for box in (self.person, self.noise):
            box.currentIndexChanged.connect(self._sizes)
        for box in (self.study, self.procedure, self.compared, self.answers, self.person, self.noise):
            box.currentIndexChanged.connect(self._changed)
        for number in (self.n_questions, self.n_people, self.seed, self.person_size, self.noise_size):
            number.valueChanged.connect(self._changed)
        self._timer.timeout.connect(self._repaint)
        bind(self, self.go.click, *CTRL_ENTER)
        bind(self, self._escape, "Esc")

    def _changed(self) -> None:
        steerable = self._settings_for(self.procedure.currentData()).steerable
        for widget in (self.answers, self.n_questions):
            widget.setEnabled(steerable)
        self.widths.setVisible(any(settings.steerable for settings in self.chosen))  # a search gives no ranges
        self.command.setText("\n".join(settings.command for settings in self.chosen))

    def _press(self) -> None:
        if self._running:
            self.stop_requested.emit()
        else:
            self.run_requested.emit(self.chosen)

    def _escape(self) -> None:
        (self.stop_requested if self._running else self.back_requested).emit()


def _sized(box: ListBox, size: DecimalBox) -> str:
    kind = str(box.currentData())
    return f"{kind}:{size.value():g}" if size.isEnabled() else kind
