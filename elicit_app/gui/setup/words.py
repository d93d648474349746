"""The words of a study: title, nouns for cases and for each class, and every mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button
from elicit_app.gui.elements.fields import Field, named
from elicit_app.gui.elements.painting import Arranged, Label, StressedLabel, annotate
from elicit_app.gui.elements.surfaces import Divider, Section, fill, in_row
from elicit_app.gui.setup.grid import Column, Grid, GridView, Steps
from elicit_app.gui.theme import RIGHT
from elicit_app.session.pair_words import flow_words, unsaid_answer
from elicit_app.study.model import LONGEST_CONSEQUENCE, Key, Mistake, Study
from elicit_app.study.words import keys_of, with_mistakes, with_nouns

SEARCHED_FROM = 20  # number of classes from which there is a search field
LONG_NAME = 40  # length above which names are cut on the question page of a small window
_TRUTH, _CALLED, _NAME, _ONE, _SEVERAL, _FOLLOWS = range(6)
_MISTAKE_COLUMNS = (
    Column("Truth", 140, editable=False),
    Column("Called", 140, editable=False, grey=True),
    Column("Name", 165),
    Column("One of them", 165),
    Column("Several of them", 170),
    Column(
        f"What follows from it (up to {LONGEST_CONSEQUENCE} characters)",
        340,
        longest=LONGEST_CONSEQUENCE,
        missing="What happens then?",
    ),
)
_MISTAKE_ROWS = 14


def flow(study: Study, key: Key) -> str:
    """Return the truth and the prediction of a mistake in words: "melanoma called naevus"."""
    true, predicted = key
    called = "anything else" if predicted is None else study.wording.class_one[predicted]
    return f"{study.wording.class_one[true]} called {called}"


def matches(study: Study, key: Key, typed: str) -> bool:
    """Return whether a mistake matches a search: every typed word occurs in its texts."""
    mistake = study.wording.mistake(key)
    text = " ".join((flow(study, key), mistake.name, mistake.one, mistake.many, mistake.consequence)).lower()
    return all(word in text for word in typed.lower().split())


class Preview(Section):
    """A preview of the row under the cursor as it appears in a question and its sentence."""

    def __init__(self) -> None:
        super().__init__("How it will read")
        middle = Qt.AlignmentFlag.AlignHCenter
        self._name = Label(role=theme.Role.TITLE, align=middle)
        self._flow = Label(role=theme.Role.FLOW, align=middle, ink=theme.INK2)
        self._consequence = Label(role=theme.Role.NOTE, align=middle, ink=theme.INK2)
        self._change = StressedLabel(ink=theme.INK2)
        self._warning = Label(role=theme.Role.NOTE, ink=theme.INK2)
        fill(self.column, 1, self._name, self._flow, self._consequence, 1, Divider(), self._change, self._warning)

    def show_mistake(self, study: Study, key: Key) -> None:
        wording, (true, predicted), cases = study.wording, key, study.shown_cases
        mistake = wording.mistake(key)
        called = "something else" if predicted is None else wording.class_one[predicted]
        self._name.setText(mistake.name or "…")
        self._flow.setText(flow_words(cases[true], wording.class_many[true], unsaid_answer(mistake.name, called)))
        self._consequence.setText(mistake.consequence)
        self._change.say("“… ", f"12 fewer {mistake.many}", " than A”")
        long = max(len(mistake.name), len(wording.class_many[true]), len(called)) > LONG_NAME
        self._warning.setText("Long: a small window cuts it in the middle. Shorten it if you can.")
        self._warning.setVisible(long)


class StudySection(Section):
    """A section that edits a study, after `show_study` was called. Emits `edited` with the changed study."""

    edited = Signal(object)
    _study: Study

    def take(self, study: Study) -> None:
        """Take a study that was changed elsewhere, without changing what is shown here."""
        self._study = study

    def change(self, study: Study) -> None:
        self._study = study
        self.edited.emit(study)


class MistakesSection(Arranged, StudySection):
    """All mistakes of a study, one row each. Emits `chosen` with the mistake under the cursor."""

    chosen = Signal(object)

    def __init__(self, steps: Steps) -> None:
        super().__init__("The mistakes")
        self._keys: tuple[Key, ...] = ()
        self._classes: tuple[str, ...] = ()
        self.grid = Grid(_MISTAKE_COLUMNS, steps)
        self.table = GridView(self.grid, "The words of every mistake", _MISTAKE_ROWS)
        self.search = Field(hint="Search: a class, a word")
        annotate(self.search, name="Search among the mistakes")
        self.paste = Button("Paste", keys=("Ctrl+V",))
        self.fill = Button("Fill down", keys=("Ctrl+D",))
        self.open_csv = Button("Open CSV…")
        self.save_csv = Button("Save as CSV…")
        self.one, self.many = Field(), Field()
        self._below = QWidget()
        self._build()
        self.search.textChanged.connect(self._search)
        self.grid.edited.connect(self._edited)
        self.table.row_chosen.connect(self._choose)
        self.paste.clicked.connect(self.table.paste)
        self.fill.clicked.connect(self.table.fill_down)
        for field, column in ((self.one, _ONE), (self.many, _SEVERAL)):
            field.textEdited.connect(lambda text, column=column: self._type_below(column, text))

    def _build(self) -> None:
        self.column.removeWidget(self.title)
        self.column.removeWidget(self.sentence)
        buttons = (self.paste, self.fill, self.open_csv, self.save_csv)
        for button in buttons:
            button.tall = 34
        head = in_row(
            self.title, (self.sentence, 1), in_row(*buttons, spacing=theme.S), spacing=theme.S, stacks="narrow"
        )
        in_row(
            named(self.one, "One of them, inside a sentence"),
            named(self.many, "Several of them"),
            on=self._below,
            spacing=theme.M,
        )
        fill(self.column, head, self.search, self.table, self._below)
        self._below.hide()

    def show_study(self, study: Study) -> None:
        """Show the mistakes of `study`; if its classes are the same, keep the cursor."""
        same = self._classes == study.classes
        self._study, self._keys, self._classes = study, keys_of(study), study.classes
        # The true class of a block is in its first row.
        starts = [at for at, key in enumerate(self._keys) if at and key[0] != self._keys[at - 1][0]]
        cells = [_cells_of(study, key, first=at in {0, *starts}) for at, key in enumerate(self._keys)]
        if same:
            self.grid.refresh(cells)
        else:
            self.grid.show_cells(cells, starts)
            self.search.setVisible(study.n_classes >= SEARCHED_FROM)
            self.search.clear()
        self._count()
        self._show_below()

    def write(self, words: Mapping[Key, Mistake]) -> int:
        """Write words read from a file as one undoable step, and return the number of changed cells."""
        texts = {
            (at, column): text
            for at, key in enumerate(self._keys)
            if key in words
            for column, text in zip((_NAME, _ONE, _SEVERAL, _FOLLOWS), _parts(words[key]), strict=True)
            if text != self.grid.row(at)[column]
        }
        return self.grid.put(texts, fresh=True) if texts else 0

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """On a compact page, move the fields for singular and plural below the table."""
        for column in (_ONE, _SEVERAL):
            self.table.setColumnHidden(column, breakpoint_.narrow)
        self._below.setVisible(breakpoint_.narrow)
        self.paste.set_keys(*(() if breakpoint_.compact else ("Ctrl+V",)))
        self.fill.set_keys(*(() if breakpoint_.compact else ("Ctrl+D",)))
        self.table.measure()

    def _search(self, typed: str) -> None:
        self.table.show_only([at for at, key in enumerate(self._keys) if matches(self._study, key, typed)])
        self._count()

    def _count(self) -> None:
        """Show how many mistakes have no consequence yet; "any wrong answer" rows are not counted."""
        mistakes = self._study.wording.mistakes
        empty = sum(not mistake.consequence.strip() for mistake in mistakes.values())
        have = "has" if empty == 1 else "have"
        text = f"{empty:,} of {len(mistakes):,} {have} no consequence yet" if empty else ""
        if self.search.text():
            found = sum(not self.table.isRowHidden(row) for row in range(self.grid.rowCount()))
            text = f"{found:,} found. {text}"
        self.say(text or "Every mistake has its consequence")

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._keys):
            self._show_below()
            self.chosen.emit(self._keys[row])

    def _show_below(self) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < self.grid.rowCount():
            for field, column in ((self.one, _ONE), (self.many, _SEVERAL)):
                if field.text() != self.grid.row(row)[column]:
                    field.setText(self.grid.row(row)[column])

    def _type_below(self, column: int, text: str) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < self.grid.rowCount():
            self.grid.put({(row, column): text})

    def _edited(self, rows: list[int]) -> None:
        edited = {self._keys[row]: Mistake(*self.grid.row(row)[_NAME:]) for row in rows}
        self._study = with_mistakes(self._study, edited)
        self._count()
        self._show_below()
        self.edited.emit(self._study)


def _parts(mistake: Mistake) -> tuple[str, str, str, str]:
    return mistake.name, mistake.one, mistake.many, mistake.consequence


def _cells_of(study: Study, key: Key, *, first: bool) -> tuple[str, ...]:
    true, predicted = key
    wording = study.wording
    called = "anything else" if predicted is None else wording.class_one[predicted]
    # The true class is in the first row of its block; every "any wrong answer" row is a block of its own.
    truth = wording.class_one[true] if first or predicted is None else ""
    return (truth, called, *_parts(wording.mistake(key)))


_OF_ONE, _OF_SEVERAL, _DONE = 1, 2, 3
_CLASS_COLUMNS = (
    Column("Class in the file", 160, editable=False, grey=True),
    Column("One of them", 180),
    Column("Several of them", 190),
    Column("Then one will …", 210),
    Column("Cases", 80, editable=False, grey=True, align=RIGHT),
)
_CLASS_ROWS = 6


class NounsSection(Arranged, StudySection):
    """Title and nouns."""

    def __init__(self, steps: Steps) -> None:
        super().__init__("What it is about")
        self.title.hide()
        self._classes: tuple[str, ...] = ()
        self.name, self.case, self.cases = Field(), Field(), Field()
        self.grid = Grid(_CLASS_COLUMNS, steps)
        self.table = GridView(self.grid, "The classes", _CLASS_ROWS)
        fields = (named(self.name, "Title"), 2), (named(self.case, "One case is a"), 1)
        row = in_row(*fields, (named(self.cases, "Several are"), 1), spacing=theme.M, stacks="large")
        fill(self.column, row, self.table)
        self.column.addStretch(1)
        for field in (self.name, self.case, self.cases):
            field.textEdited.connect(self._edited)
        self.grid.edited.connect(self._edited)

    def show_study(self, study: Study) -> None:
        same = self._classes == study.classes
        self._study, self._classes = study, study.classes
        wording = study.wording
        real = study.case_counts
        counts = ["0"] * study.n_classes if real is None else [f"{cases:,}" for cases in real.tolist()]
        done = wording.class_action or ("",) * study.n_classes
        cells = list(zip(study.classes, wording.class_one, wording.class_many, done, counts, strict=True))
        if same:
            self.grid.refresh(cells)
        else:
            self.grid.show_cells(cells)
        for field, text in ((self.name, study.title), (self.case, wording.case), (self.cases, wording.cases)):
            if field.text() != text:
                field.setText(text)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self.table.measure()

    def _edited(self) -> None:
        rows = [self.grid.row(at) for at in range(self.grid.rowCount())]
        one, many = tuple(row[_OF_ONE] for row in rows), tuple(row[_OF_SEVERAL] for row in rows)
        changed = with_nouns(self._study, self.case.text(), self.cases.text(), one, many)
        done = tuple(row[_DONE].strip() for row in rows)
        wording = replace(changed.wording, class_action=done if any(done) else ())
        self.change(replace(changed, title=self.name.text(), wording=wording))
