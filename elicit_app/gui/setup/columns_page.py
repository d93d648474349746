"""The page for the meaning of the columns of a predictions file with unusual names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QButtonGroup

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import LinkButton, PrimaryButton
from elicit_app.gui.elements.fields import CheckRow, ChoiceRow, ListBox
from elicit_app.gui.elements.page import CTRL_ENTER, HeadedPage, bind
from elicit_app.gui.elements.painting import Label, Painted, annotate, write
from elicit_app.gui.elements.surfaces import Block, Section, fill, in_column, in_grid, in_row
from elicit_app.problem import Problem, first_of, listed, shortened
from elicit_app.study.first_rows import FirstRows
from elicit_app.study.guessing import names_models
from elicit_app.study.identity import case_column, person_column
from elicit_app.study.mapping import as_options, settled
from elicit_app.study.model import ColumnMap

Kind = Literal["probabilities", "logits", "labels"]

_MOST_SHOWN, _MOST_OTHERS, _LONGEST_NAME = 8, 8, 100
_NARROWEST, _WIDEST = 48, 200  # pixels of a cell of the first rows, and most of a class's name, at the base font
_THE_REST = "1 minus the other"
_SKIP_UNREAD = "Leave out cases that not everybody read"
_KINDS: dict[Kind, tuple[str, str]] = {
    "probabilities": (
        "Probabilities",
        "From 0 to 1 or in per cent, one column per class; of two classes one is enough.",
    ),
    "logits": (
        "Raw scores (logits)",
        "Any numbers, larger for the likelier class. They become probabilities by softmax.",
    ),
    "labels": ("Only the predicted class", "As readers and many clinical systems give it. It is judged as it decides."),
}


class ColumnsPage(HeadedPage):
    """Asks for the meaning of a file's columns, starting from a guess. Emits `mapped` with the map of each model."""

    mapped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._preview: FirstRows | None = None
        self._classes: tuple[str, ...] = ()
        self.proceed = PrimaryButton("Go on", self._proceed, keys=("Ctrl+Enter",))
        self.truth = ListBox("Column of the true class")
        self.kinds: dict[Kind, ChoiceRow] = {kind: ChoiceRow(*words) for kind, words in _KINDS.items()}
        self.boxes: list[ListBox] = []
        self._group = QButtonGroup(self)
        self.others: dict[ColumnMap, CheckRow] = {}  # further columns that may be judged too
        self.by_model = CheckRow("")
        self.skip_unread = CheckRow(_SKIP_UNREAD)
        self._rows, self._also, self._first = Block(), Block(), Block()
        self._command = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.back = LinkButton("", self.back_requested)
        self._build()
        self._connect()
        self.first_focus = self.truth
        self.settle()

    def _build(self) -> None:
        self.header.add_actions(self.proceed)
        what = Section("Where is the true class, and what does the model give?")
        what.column.addWidget(self.truth)
        for row in self.kinds.values():
            self._group.addButton(row.radio)
            what.column.addWidget(row)
        which = Section("Which column belongs to which class?")
        fill(which.column, self._rows, self._also, self.by_model, self.skip_unread)
        top = Qt.AlignmentFlag.AlignTop
        self.body.addLayout(in_row((what, 1, top), (which, 1, top), spacing=theme.L, stacks="narrow"))
        first = Section("The first rows of the file")
        fill(first.column, self._first, self._command)
        fill(self.body, first, 1)
        self.foot.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)

    def _connect(self) -> None:
        self.truth.currentIndexChanged.connect(self._truth_changed)
        for row in (self.by_model, self.skip_unread):
            row.box.toggled.connect(self._show_first_rows)
        self._group.buttonToggled.connect(lambda _, checked: self._lay_rows() if checked else None)
        bind(self, self._proceed, *CTRL_ENTER)

    @property
    def kind(self) -> Kind:
        return next(kind for kind, row in self.kinds.items() if row.radio.isChecked())

    @property
    def columns(self) -> ColumnMap:
        chosen = tuple(box.currentData() for box in self.boxes if box.currentData() is not None)
        classes = self._classes
        if len(self.boxes) == 2 and self.boxes[1].currentData() is None:
            # A single column of two classes holds the probability of the second.
            classes = classes[::-1]
        return ColumnMap(self.truth.currentText(), classes, chosen, self.kind)

    def show_preview(
        self, preview: FirstRows, given: Sequence[ColumnMap] = (), *, back: str = "Back to the start"
    ) -> None:
        """Ask about a file, starting from the maps that were `given` before or a guess; `back` is the way back."""
        self._preview = None
        self.back.setText(back)
        self.truth.clear()
        for name in preview.values:
            self.truth.addItem(name)
        guess = given[0] if given else preview.guess
        if guess is not None:
            self.truth.setCurrentText(guess.truth)
        partly, model = any(preview.empty.values()), preview.model_column
        self.by_model.setVisible(model is not None)
        named_so = model is not None and names_models(model)
        self.by_model.box.setChecked(any(one.only for one in given) if given else named_so)
        if model is not None:
            names = listed(list(preview.values[model]), 3)
            self.by_model.say(f"The column “{model}” says which model or reader", f"Each case has a row for {names}.")
        if model is not None and guess is not None and named_so:
            read, cases = preview.cases_read(preview.of_each_model(guess, model))
            partly |= read < cases
        self.skip_unread.box.setChecked(any(one.skip_unread for one in given) if given else partly)
        self._preview = preview
        what = "is a guess; change what is wrong" if guess else "is unclear: choose the column of each class"
        whole = f"{preview.path.name} has {len(preview.columns)} columns."
        beside = "Beside the model it holds what may be human readers or other models: tick those to judge too."
        self.header.say("Which column is what?", f"{whole} {beside if preview.fits else f'What they hold {what}.'}")
        self.notice.say(preview.fault)
        self.area.verticalScrollBar().setValue(0)
        self._take(guess)
        for one, row in self.others.items():
            row.box.setChecked(one.columns in [other.columns for other in given[1:]])

    def _truth_changed(self) -> None:
        if self._preview is not None:
            self._take(self._preview.guess_with(self.truth.currentText()))

    def _take(self, guess: ColumnMap | None) -> None:
        """Show a guess; without one, every column is still to be chosen."""
        self._guess = guess
        kind: Kind = "probabilities" if guess is None or guess.kind == "percentages" else guess.kind
        if self.kinds[kind].radio.isChecked():
            self._lay_rows()
        else:
            self.kinds[kind].radio.setChecked(True)

    def _lay_rows(self) -> None:
        preview, guess = self._preview, self._guess
        if preview is None:
            return
        truth, kind = self.truth.currentText(), self.kind
        same = guess is not None and (guess.kind == "labels") == (kind == "labels")
        self._classes = guess.classes if guess is not None and same else preview.values.get(truth, ())
        names = ("The predicted class",) if kind == "labels" else self._classes
        others = [name for name in preview.columns if name != truth]
        grid = in_grid(on=self._rows.renew())
        grid.setColumnStretch(1, 1)
        self.boxes = []
        for row, name in enumerate(names):
            box = ListBox(f"Column of {name.lower() if kind == 'labels' else name}")
            box.setPlaceholderText("Choose a column")
            for other in others:
                box.addItem(other, other)
            if len(names) == 2:
                box.addItem(_THE_REST, None)
            self._choose(box, row, len(names), guess if same else None)
            box.currentIndexChanged.connect(self._lay_others)
            self.boxes.append(box)
            label = Label(shortened(name, _LONGEST_NAME), theme.Role.LABEL)
            width = ceil(QFontMetricsF(label.font()).horizontalAdvance(label.text())) + 1  # less would wrap it
            label.setMinimumWidth(min(theme.em(_WIDEST), width))
            label.setBuddy(box)
            grid.addWidget(label, row, 0)
            grid.addWidget(box, row, 1)
        self._lay_others()

    def _lay_others(self) -> None:
        """Offer columns of other models and of readers, and show what all columns mean."""
        ticked = {one.columns for one, row in self.others.items() if row.box.isChecked()}
        self.others = {}
        column = in_column(on=self._also.renew(), spacing=theme.S)
        look, columns = self._preview, self.columns
        models, readers = ((), ()) if look is None else (look.other_models(columns), look.readers(columns))
        for what, found in (("scores of other models", models), ("labels of human readers", readers)):
            if found:
                column.addWidget(Label(f"These may be {what}; tick those to judge too:"))
            for one in found[:_MOST_OTHERS]:
                self.others[one] = row = CheckRow(one.called)
                row.box.setChecked(one.columns in ticked)
                row.box.toggled.connect(self._show_first_rows)
                column.addWidget(row)
        self._also.setVisible(bool(self.others))
        self._show_first_rows()

    @property
    def models(self) -> tuple[ColumnMap, ...]:
        """Return the maps of all models in the file that are to be judged."""
        found = (self.columns, *(one for one, row in self.others.items() if row.box.isChecked()))
        skips, look = self.skip_unread.box.isChecked(), self._preview
        if look is not None and look.model_column is not None and self.by_model.box.isChecked():
            found = tuple(own for one in found for own in look.of_each_model(one, look.model_column))
        return tuple(
            replace(one, skip_unread=skips and (one.kind == "labels" or one.only is not None)) for one in found
        )

    @staticmethod
    def _choose(box: ListBox, row: int, rows: int, guess: ColumnMap | None) -> None:
        """Select the guessed column of a row, if any; a single column for two classes belongs to the second."""
        if guess is None:
            box.setCurrentIndex(-1)
            return
        index = row - (rows - len(guess.columns))
        box.setCurrentIndex(box.findData(guess.columns[index]) if index >= 0 else box.count() - 1)

    def _show_first_rows(self) -> None:
        """Show the first rows with the meaning of each column, and the equivalent command."""
        preview = self._preview
        if preview is None:
            return
        meant, *others_meant = self.models
        read, cases = preview.cases_read(self.models)
        # Of several files of labels, one without an empty cell may lack cases of another.
        self.skip_unread.setVisible(meant.kind == "labels" or read < cases)
        self.skip_unread.say(_SKIP_UNREAD, f"Leaves {read:,} of {cases:,} cases." if read < cases else "")
        roles = {meant.truth: "true class", **({meant.only[0]: "which model"} if meant.only is not None else {})}
        named = ("predicted class",) if meant.kind == "labels" else self._classes
        chosen = (box.currentData() for box in self.boxes)
        roles |= {column: name for name, column in zip(named, chosen, strict=True) if column is not None}
        for one in others_meant:
            meanings = ("predicted class",) if one.kind == "labels" else one.classes[-len(one.columns) :]
            roles |= dict(zip(one.columns, meanings, strict=True))
        others = [name for name in preview.columns if name not in roles]
        told = ((case_column(others), "which case it is"), (person_column(others), "whose case it is"))
        roles |= {name: role for name, role in told if name is not None}
        shown = [name for name in preview.columns if name in roles] + [
            name for name in preview.columns if name not in roles
        ]
        grid = in_grid(on=self._first.renew(), across=theme.M)
        seen = first_of(shown, _MOST_SHOWN)
        for at, name in enumerate(seen):
            ink, index = theme.INK if name in roles else theme.INK3, preview.columns.index(name)
            column = (name, roles.get(name, "not used"), *(row[index] for row in preview.rows))
            for number, text in enumerate(column):
                role = theme.Role.NOTE if number else theme.Role.LABEL
                grid.addWidget(_Cell(text, role, ink), number, at)
        grid.setColumnStretch(len(seen), 1)
        left = f"{len(shown) - len(seen)} more columns are not shown. " if len(shown) > len(seen) else ""
        whole = meant.columns and all(box.currentIndex() >= 0 for box in self.boxes)
        command = f"elicit study new DIR --predictions FILE {as_options(*self.models)}" if whole else ""
        self._command.setText(f"{left}The same in a terminal: {command}" if command else left)

    def _proceed(self) -> None:
        if self._preview is None:
            return
        open_box = next((box for box in self.boxes if box.currentIndex() < 0), None)
        if open_box is not None:
            self.notice.say(f"Choose the {open_box.accessibleName()[0].lower()}{open_box.accessibleName()[1:]}.")
            open_box.setFocus()
            return
        try:
            models = tuple(settled(self._preview, one) for one in self.models)
        except Problem as problem:
            self.notice.say(problem.sentence)
            return
        self.mapped.emit(models)


class _Cell(Painted, Label):
    """A cell of the first rows, elided if its column is narrow; the tooltip has the whole text."""

    def __init__(self, text: str, role: theme.Role, ink: QPalette.ColorRole) -> None:
        super().__init__(text or "(empty)", role, ink, wrap=False)
        annotate(self, tooltip=text)

    def sizeHint(self) -> QSize:
        return super().sizeHint().boundedTo(QSize(theme.em(_WIDEST), theme.em(_WIDEST)))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint().boundedTo(QSize(_NARROWEST, theme.em(_WIDEST)))

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        ink = self.palette().color(self.foregroundRole())
        write(painter, QRectF(self.rect()), self.text(), self.font(), ink, elide=True)
