"""A damaged session: its answers up to the damage, to look at, and the way on in a copy."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Label, LinkButton, PrimaryButton
from elicit_app.gui.elements.page import Header, ScrolledPage
from elicit_app.gui.elements.surfaces import Notice
from elicit_app.gui.review.table import AnswersModel, AnswersTable, AnswerWords


class DamagedView(NamedTuple):
    """What the page shows.

    Parameters
    ----------
    path : Path
        The session file, which stays as it is.
    title : str
        Study and expert.
    damage : str
        Why it cannot go on as it is, in one sentence.
    answers : tuple of AnswerWords
        What can be read, oldest first.
    """

    path: Path
    title: str
    damage: str
    answers: tuple[AnswerWords, ...]


class DamagedPage(ScrolledPage):
    """Shows a `DamagedView`. Emits `copy_requested` with the session file, and `start_requested`."""

    notice: Notice
    copy_requested = Signal(object)
    start_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: DamagedView | None = None
        self.header, self.notice = Header(), Notice()
        self.copy, self.back = PrimaryButton("Go on in a copy"), LinkButton("Back to the start")
        self._why = Label(ink=theme.INK2)
        self.model = AnswersModel()
        self.table = AnswersTable(self.model)
        self.header.add_action(self.copy)
        self.head.addWidget(self.header)
        self.head.addWidget(self.notice)
        card = Card()
        inside = QVBoxLayout(card)
        inside.setContentsMargins(20, 16, 20, 18)
        inside.setSpacing(theme.S)
        inside.addWidget(self._why)
        inside.addWidget(self.table)
        self.body.addWidget(card)
        self.body.addStretch(1)
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addStretch(1)
        self.foot.addLayout(row)
        self.copy.clicked.connect(self._copy)
        self.back.clicked.connect(self.start_requested)
        self.settle()

    def show_view(self, view: DamagedView) -> None:
        """Show a damaged session."""
        self._view = view
        count = "1 answer can be read" if len(view.answers) == 1 else f"{len(view.answers)} answers can be read"
        self.header.say(view.title, f"{count}. The file is damaged and stays as it is.")
        self._why.setText(f"{view.damage} What can be saved is put into a copy, and you go on there.")
        self.model.show_rows(view.answers)
        self.notice.say("")

    @property
    def first_focus(self) -> QWidget:
        return self.copy

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.header.arrange(breakpoint_)
        self.table.set_compact(breakpoint_.compact)

    def _copy(self) -> None:
        if self._view is not None:
            self.copy_requested.emit(self._view.path)
