"""Title, nouns of a case, and the classes as a table."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.fields import Field, named
from elicit_app.gui.elements.surfaces import Section
from elicit_app.gui.setup.grid import Column, Grid, GridView
from elicit_app.gui.setup.mistakes import with_nouns
from elicit_app.study.model import Study

_NAME, _ONE, _SEVERAL, _DONE, _CASES = range(5)
_COLUMNS = (
    Column("Class in the file", 160, editable=False, grey=True),
    Column("One of them", 180),
    Column("Several of them", 190),
    Column("What one does then, as “biopsy”", 230),
    Column("Cases", 80, editable=False, grey=True, right=True),
)
_ROWS = 6


Names = tuple[str, ...]


def following(many: Names, one: Names, cases: str, *, new: Names, now: str) -> Names:
    """Return the words for several of each class, where those made of class and case word follow both.

    Parameters
    ----------
    many, one : tuple of str
        As they were.
    cases : str
        The word for several cases, as it was.
    new : tuple of str
        The words for one of each class, as they are now.
    now : str
        The word for several cases, as it is now.
    """
    return tuple(
        f"{own} {now}" if several == f"{before} {cases}" else several
        for several, before, own in zip(many, one, new, strict=True)
    )


class NounsSection(Section):
    """Title and nouns. Emits `edited` with the changed study, and `said` with what was done in the table."""

    edited = Signal(object)
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("What it is about", parent=parent)
        self.title.hide()
        self._study: Study | None = None
        self.name, self.case, self.cases = Field(), Field(), Field()
        self.grid = Grid(_COLUMNS)
        self.table = GridView(self.grid, "The classes", _ROWS)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(theme.M)
        self._row.addLayout(named("Title", self.name), 2)
        self._row.addLayout(named("One case is a", self.case), 1)
        self._row.addLayout(named("Several are", self.cases), 1)
        self.column.addLayout(self._row)
        self.column.addWidget(self.table)
        for field in (self.name, self.case, self.cases):
            field.textEdited.connect(self._edited)
        self.grid.edited.connect(self._edited)
        self.table.said.connect(self.said)

    def show_study(self, study: Study) -> None:
        """Show the nouns of `study`."""
        same = self._study is not None and self._study.classes == study.classes
        self._study = study
        wording = study.wording
        counts = [f"{counted:,}" for counted in cases_of_each(study)]
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
        """With a large font the three fields stand one above the other."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if breakpoint_.large else across)
        self.table.measure()

    def _edited(self) -> None:
        if self._study is None:
            return
        before = self._study.wording
        rows = [self.grid.row(at) for at in range(self.grid.rowCount())]
        one, many = tuple(row[_ONE] for row in rows), tuple(row[_SEVERAL] for row in rows)
        if many == before.class_many:
            many = following(many, before.class_one, before.cases, new=one, now=self.cases.text())
        changed = with_nouns(self._study, self.case.text(), self.cases.text(), one, many)
        done = tuple(row[_DONE].strip() for row in rows)
        wording = replace(changed.wording, class_action=done if any(done) else ())
        self.edited.emit(replace(changed, title=self.name.text(), wording=wording))


def cases_of_each(study: Study) -> list[int]:
    """Return how many real cases each class has; none in a study without models."""
    if not study.models:
        return [0] * study.n_classes
    y_true = study.models[0].y_true
    return [int((y_true == at).sum()) for at in range(study.n_classes)]
