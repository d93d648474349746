"""The people who answered last, one row each, newest first."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from elicit_app.experiments.watching import Watched
from elicit_app.gui import theme
from elicit_app.gui.elements import Divider, Label
from elicit_app.gui.theme import Role

HEADS = ("person", "procedure", "answers", "judged otherwise", "range factor", "true values inside", "seconds")
MOST = 3
_STRESSED = HEADS.index("judged otherwise")
_RIGHT = Qt.AlignmentFlag.AlignRight


class RowsTable(QWidget):
    """`add` puts a person on top; all of them are in the file that "Save rows" writes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: deque[tuple[str, ...]] = deque(maxlen=MOST)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(6)
        self._cells: list[list[Label]] = []
        for column, head in enumerate(HEADS):
            grid.addWidget(Label(head, Role.NOTE, theme.INK2, wrap=False, align=_RIGHT), 0, column)
            grid.setColumnStretch(column, 1)
        self._lines: list[Divider] = []
        for row in range(MOST):
            line = Divider()
            grid.addWidget(line, 2 * row + 1, 0, 1, len(HEADS))
            self._lines.append(line)
            cells = []
            for column in range(len(HEADS)):
                role = Role.STRONG if column == _STRESSED else Role.BODY
                cell = Label("", role, theme.INK if column == _STRESSED else theme.INK2, wrap=False, align=_RIGHT)
                grid.addWidget(cell, 2 * row + 2, column)
                cells.append(cell)
            self._cells.append(cells)
        self._show()

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the texts that are shown, newest first."""
        return tuple(self._shown)

    def add(self, person: Watched) -> None:
        """Put a person on top."""
        end, inside = person.looks[-1], person.inside
        self._shown.appendleft(
            (
                str(person.number),
                person.wish.procedure,
                str(end.answers),
                f"{100 * end.otherwise:.1f} %",
                "" if end.range_factor is None else f"{end.range_factor:.1f}",
                "" if inside is None else f"{inside[0]} of {inside[1]}",
                f"{person.run.seconds:.1f}",
            )
        )
        self._show()

    def _show(self) -> None:
        for place, (line, cells) in enumerate(zip(self._lines, self._cells, strict=True)):
            there = place < len(self._shown)
            line.setVisible(there)
            for column, cell in enumerate(cells):
                cell.setVisible(there)
                cell.setText(self._shown[place][column] if there else "")
