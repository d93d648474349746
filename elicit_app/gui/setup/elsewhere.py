"""Experts elsewhere, before the questions: sending a study to them, and adding the answers that come back."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label, OutlineButton
from elicit_app.gui.elements.fields import CheckRow
from elicit_app.gui.elements.surfaces import Block, Section
from elicit_app.session.experts.second_round import INTRODUCTION, stands
from elicit_app.study.model import Study

_SEND = (
    "One file holds the words and what may be asked, as it is set above, and no case. Who opens it with elicit answers "
    "there and sends one file back."
)
_ADD = "Drop the files that come back on this page, or choose them."
_AGAIN = (
    "For a second round",
    "Who opens it sees where the experts who have finished stand, without their names, and answers again.",
)
_BUNDLED = "To add answers that come back, the study needs a folder of its own."


class OthersSection(Section):
    """Where the experts of a first round stand, before the questions of the second."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Where the others stand", INTRODUCTION, parent)
        self._stands = Block()
        self.column.addWidget(self._stands)

    def show_study(self, study: Study) -> None:
        """Show it, where `study` was sent for a second round."""
        found = stands(study)
        self.setVisible(bool(found))
        rows = QVBoxLayout(self._stands.renew())
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(theme.XS)
        for stand in found:
            rows.addWidget(Label(stand.mistake, theme.Role.LABEL))
            rows.addWidget(Label(stand.sentence))
            for reason in stand.reasons:
                rows.addWidget(Label(f"“{reason}”", theme.Role.NOTE, theme.INK2))


class ElsewhereSection(Section):
    """Emits `send_requested` with whether it is for a second round, and `add_requested`."""

    send_requested = Signal(bool)
    add_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Experts elsewhere", parent=parent)
        self.sentence = Label(ink=theme.INK2)
        self.send, self.add = OutlineButton("Send to an expert…"), OutlineButton("Add their answers…")
        self._buttons = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons.setSpacing(theme.S)
        for button in (self.send, self.add):
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        self.again = CheckRow(*_AGAIN)
        self.column.addWidget(self.sentence)
        self.column.addWidget(self.again)
        self.column.addLayout(self._buttons)
        self.send.clicked.connect(lambda: self.send_requested.emit(self.again.box.isChecked()))
        self.add.clicked.connect(self.add_requested)

    def show_study(self, study: Study, experts: int) -> None:
        """Show what can be done with `study`, which so many have finished; nothing where it has no predictions."""
        self.again.box.setChecked(False)
        self.again.setVisible(study.kind == "folder" and experts > 1)
        self.setVisible(bool(study.models))
        keeps = study.kind == "folder"
        self.sentence.setText(f"{_SEND} {_ADD if keeps else _BUNDLED}")
        self.add.setVisible(keeps)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """With a large font the buttons stand below each other."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._buttons.setDirection(down if breakpoint_.large else across)
