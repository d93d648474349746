"""A file for every tool that reads what was elicited."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Button, Card, Divider, Label, OutlineButton
from elicit_app.gui.elements.texts import tell
from elicit_app.session.views.result import ResultView


class FileFormat(NamedTuple):
    """One thing to save or copy: what it is called inside, the button, and how its files end."""

    key: str
    button: str
    ending: str


class FileRow(NamedTuple):
    """One row of the card: what it is, what it is for, and its formats."""

    name: str
    purpose: str
    formats: tuple[FileFormat, ...]


METRIC, ANSWERS = FileFormat("metric", "Save…", ".metric.json"), FileFormat("answers", "Save…", ".answers.csv")
COPIED = "sklearn"
REPORT = FileFormat("pdf", "PDF…", ".pdf")
PICTURES = FileFormat("pictures", "Save pictures…", ".png")
TO_SEND_BACK = FileFormat("to send back", "Save my answers…", "-answers.session.jsonl")
ROWS = (
    FileRow("Metric file (.metric.json)", "what scripts, notebooks and this app read", (METRIC,)),
    FileRow("scikit-learn", "scorer and cost matrix, ready to paste", (FileFormat(COPIED, "Copy", ".py"),)),
    FileRow(
        "Weka, mlr3",
        "in each tool’s own orientation (mlr3 is transposed)",
        (FileFormat("weka", "Weka…", ".cost"), FileFormat("mlr3", "mlr3…", ".R")),
    ),
    FileRow(
        "Report",
        "to read, sign and keep",
        (
            REPORT,
            FileFormat("html", "HTML…", ".html"),
            FileFormat("markdown", "Markdown…", ".md"),
        ),
    ),
    FileRow("Costs as a table", "CSV, for a spreadsheet", (FileFormat("csv", "Save…", ".csv"),)),
    FileRow("All answers", "CSV, every question as it was shown", (ANSWERS,)),
)
OF_COSTS = (COPIED, "weka", "mlr3", "csv")
"""Formats of a cost matrix."""

TOO_FEW = "A metric file needs five answers to questions that could teach something. Answer more questions first."


def format_of(key: str) -> FileFormat:
    """Return the format called `key`."""
    return next(
        each for each in (PICTURES, TO_SEND_BACK, *(each for row in ROWS for each in row.formats)) if each.key == key
    )


class FilesCard(Card):
    """Emits `export_requested` with the key of a format."""

    export_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._buttons: dict[str, Button] = {}
        self._lines: list[QBoxLayout] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 10, 20, 10)
        column.setSpacing(6)
        self._caveat = Label(TOO_FEW, theme.Role.NOTE, theme.INK2)
        column.addWidget(self._caveat)
        for index, row in enumerate(ROWS):
            if index:
                column.addWidget(Divider())
            column.addLayout(self._row(row))
        column.addStretch(1)

    @property
    def buttons(self) -> dict[str, Button]:
        """Return the buttons by the key of their format."""
        return dict(self._buttons)

    def show_result(self, view: ResultView) -> None:
        """Switch the formats off while there are too few answers; the answers themselves can always be saved."""
        said = view.metric.quality.caveat if view.can_export else TOO_FEW
        self._caveat.setText(said)
        self._caveat.setVisible(bool(said))
        for key, button in self._buttons.items():
            fits = view.metric.kind == "confusion" or key not in OF_COSTS
            button.setEnabled((view.can_export and fits) or key == ANSWERS.key)
            tell(button, tooltip="" if fits else "What was priced here are amounts, not mistakes between classes.")

    def say_copied(self) -> None:
        """Tell, on its button, that the scikit-learn lines were copied."""
        self._buttons[COPIED].setText("Copied")

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """With a large font the buttons go below the words."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        for line in self._lines:
            line.setDirection(down if breakpoint_.large else across)

    def _row(self, row: FileRow) -> QBoxLayout:
        across, buttons = QBoxLayout(QBoxLayout.Direction.LeftToRight), QHBoxLayout()
        self._lines.append(across)
        for layout in (across, buttons):
            layout.setSpacing(theme.S)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(row.name, theme.Role.STRONG))
        words.addWidget(Label(row.purpose, theme.Role.NOTE, theme.INK2))
        across.addLayout(words, 1)
        for each in row.formats:
            button = OutlineButton(each.button)
            tell(
                button,
                name=f"{each.button.rstrip('…')} {row.name}"
                if len(row.formats) == 1
                else f"Save {each.button.rstrip('…')}",
            )
            button.clicked.connect(lambda _=False, key=each.key: self.export_requested.emit(key))
            self._buttons[each.key] = button
            buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        across.addLayout(buttons)
        return across
