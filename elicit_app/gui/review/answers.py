"""All answers as a table model, newest first, in words without sides."""

from __future__ import annotations

from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from elicit_app.elicitation.questions import Family
from elicit_app.gui.elements import Glyph
from elicit_app.session.views.asked import AnsweredView, Fit
from elicit_app.session.words.sentences import preference
from elicit_app.study.model import Wording

Index = QModelIndex | QPersistentModelIndex

NUMBER, PREFERRED, RATHER, CLEARLY, SECONDS, FITS = range(6)
HEADS = ("No.", "You preferred", "rather than", "how clearly", "seconds", "fits the rest")
GLYPHS: dict[Fit, Glyph] = {
    "fits": Glyph.CHECK,
    "check": Glyph.CHECK,
    "two answers": Glyph.SWAP,
    "does not fit": Glyph.WARNING,
    "asked again": Glyph.DOT,
    "left open": Glyph.DOT,
    "taken out": Glyph.DOT,
}
STRESSED: tuple[Fit, ...] = ("two answers", "does not fit")
_FIT_WORDS: dict[Fit, str] = {"check": "a check question"}


class AnswerWords(NamedTuple):
    """One answer in the words of a row."""

    number: int
    preferred: str
    rather_than: str
    clearly: str
    seconds: str
    fit: Fit

    @property
    def fit_words(self) -> str:
        """Return what stands in the last column."""
        return _FIT_WORDS.get(self.fit, self.fit)

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the texts of all columns."""
        return str(self.number), self.preferred, self.rather_than, self.clearly, self.seconds, self.fit_words


def answer_words(answer: AnsweredView, wording: Wording, family: Family) -> AnswerWords:
    """Say an answer: what was preferred, and what the other result would have offered instead."""
    said = preference(answer.left, answer.right, answer.reply, wording, family, asked_again_as=answer.asked_again_as)
    clearly = answer.strength.value if answer.strength is not None else ""
    seconds = "" if answer.seconds is None else f"{answer.seconds:,.0f}"
    return AnswerWords(answer.number, said.preferred, said.rather_than, clearly, seconds, answer.fit)


class AnswersModel(QAbstractTableModel):
    """The rows of the review table; every cell is readable by a screen reader."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[AnswerWords, ...] = ()

    def show_rows(self, rows: tuple[AnswerWords, ...]) -> None:
        """Show `rows`, in this order."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @property
    def rows(self) -> tuple[AnswerWords, ...]:
        """Return the rows shown."""
        return self._rows

    def row_of(self, number: int) -> int | None:
        """Return the row of answer `number`."""
        return next((index for index, row in enumerate(self._rows) if row.number == number), None)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._rows[index.row()].cells[index.column()]
        return None

    def as_text(self) -> str:
        """Return head and rows separated by tabs, for a spreadsheet."""
        return "\n".join("\t".join(cells) for cells in (HEADS, *(row.cells for row in self._rows)))
