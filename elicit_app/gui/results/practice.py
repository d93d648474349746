"""What is done today, typed as a table of counts or rates: a small window over the result."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import FlatButton, Label, OutlineButton, PrimaryButton
from elicit_app.gui.elements.fields import Field
from elicit_app.gui.elements.page import QuietScrollBar
from elicit_app.gui.elements.surfaces import Notice
from elicit_app.gui.elements.texts import tell
from elicit_app.study.model import Study
from metrics.errors import InputError
from metrics.policies.cases import Practice

_LEAST_ROWS, _MOST_ROWS = 3, 8
Table = tuple[tuple[float, ...], ...]
EXPLAINED = (
    "How are these cases decided today, without a model? Type how many, out of the cases of each truth, are called "
    "what. Whole numbers are read as counts: the more cases, the surer. Shares or percentages are read as rates. How "
    "common each truth is does not matter here."
)


class PracticeDialog(QDialog):
    """Asks for the table of today's practice; emits `told` with it, or with None where there is to be none."""

    told = Signal(object)

    def __init__(self, study: Study, table: Table | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._study = study
        self.setWindowTitle("Today’s practice")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(theme.M)
        column.addWidget(Label("Today’s practice", theme.Role.TITLE))
        column.addWidget(Label(EXPLAINED, theme.Role.NOTE, theme.INK2))
        self.fields: list[list[Field]] = []
        column.addWidget(self._grid(), 1)
        self.notice = Notice()
        column.addWidget(self.notice)
        column.addLayout(self._buttons(table is not None))
        self.show_table(table)
        rows = min(max(len(self.fields), _LEAST_ROWS), _MOST_ROWS)
        self.resize(theme.em(680), theme.em(290 + 46 * rows))

    def show_table(self, table: Table | None) -> None:
        """Write `table` into the fields."""
        for i, row in enumerate(self.fields):
            for j, field in enumerate(row):
                field.setText("" if table is None else f"{table[i][j]:g}")

    def table(self) -> Table:
        """Return what is typed.

        Raises
        ------
        InputError
            Where a field holds no number, or the table cannot be one of practice.
        """
        rows = tuple(tuple(self._number(i, j) for j in range(len(row))) for i, row in enumerate(self.fields))
        Practice.of(rows, self._study.wording.class_one)
        return rows

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # a block of a spreadsheet is pasted from the field on that has the focus
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            text = QGuiApplication.clipboard().text()
            if event.matches(QKeySequence.StandardKey.Paste) and ("\t" in text or "\n" in text.strip()):
                self._paste(watched, text)
                return True
        return super().eventFilter(watched, event)

    def _paste(self, start: QObject, text: str) -> None:
        at = [(i, j) for i, row in enumerate(self.fields) for j, field in enumerate(row) if field is start]
        for i, line in enumerate(text.strip("\n").split("\n"), start=at[0][0]):
            for j, cell in enumerate(line.split("\t"), start=at[0][1]):
                if i < len(self.fields) and j < len(self.fields):
                    self.fields[i][j].setText(cell.strip())

    def _number(self, i: int, j: int) -> float:
        typed = self.fields[i][j].text().strip()
        try:
            return float(typed.rstrip("% ").replace(",", "")) if typed else 0.0
        except ValueError:
            truth, called = (self._study.wording.class_one[place] for place in (i, j))
            raise InputError(f"“{typed}” for {truth} called {called} is not a number.") from None

    def _grid(self) -> QScrollArea:
        inside, names = QWidget(), self._study.wording.class_one
        inside.setAutoFillBackground(True)
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setSpacing(theme.S)
        grid.setColumnMinimumWidth(0, theme.em(110))
        grid.addWidget(Label("the truth is", theme.Role.NOTE, theme.INK2), 1, 0)
        grid.addWidget(Label("it is called", theme.Role.NOTE, theme.INK2), 0, 1, 1, len(names))
        for j, name in enumerate(names):
            grid.addWidget(Label(name, theme.Role.LABEL), 1, j + 1)
        for i, truth in enumerate(names):
            grid.addWidget(Label(truth, theme.Role.LABEL), i + 2, 0)
            self.fields.append([])
            for j, called in enumerate(names):
                field = Field()
                tell(field, name=f"{truth} called {called}")
                field.installEventFilter(self)
                self.fields[-1].append(field)
                grid.addWidget(field, i + 2, j + 1)
        grid.setRowStretch(len(names) + 2, 1)
        area = QScrollArea()
        area.setVerticalScrollBar(QuietScrollBar())
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(inside)
        return area

    def _buttons(self, known: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.none, cancel, self.use = FlatButton("Leave it out"), OutlineButton("Cancel"), PrimaryButton("Use it")
        self.none.setVisible(known)
        self.use.setDefault(True)
        self.none.clicked.connect(lambda: self._tell(None))
        cancel.clicked.connect(self.reject)
        self.use.clicked.connect(self._accept)
        row.addWidget(self.none)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self.use)
        return row

    def _accept(self) -> None:
        try:
            table = self.table()
        except InputError as error:
            self.notice.say(str(error).removeprefix("practice: "))
            return
        self._tell(table)

    def _tell(self, table: Sequence[Sequence[float]] | None) -> None:
        self.told.emit(table)
        self.accept()
