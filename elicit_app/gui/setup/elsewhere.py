"""Experts elsewhere, before the questions: sending a study to them, and adding the answers that come back."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label, OutlineButton
from elicit_app.gui.elements.surfaces import Section
from elicit_app.study.model import Study

_SEND = (
    "One file holds the words and what may be asked, as it is set above, and no case. Who opens it with elicit answers "
    "there and sends one file back."
)
_ADD = "Drop the files that come back on this page, or choose them."
_BUNDLED = "To add answers that come back, the study needs a folder of its own."


class ElsewhereSection(Section):
    """Emits `send_requested` and `add_requested`."""

    send_requested = Signal()
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
        self.column.addWidget(self.sentence)
        self.column.addLayout(self._buttons)
        self.send.clicked.connect(self.send_requested)
        self.add.clicked.connect(self.add_requested)

    def show_study(self, study: Study) -> None:
        """Show what can be done with `study`; nothing where it has no predictions."""
        self.setVisible(bool(study.models))
        keeps = study.kind == "folder"
        self.sentence.setText(f"{_SEND} {_ADD if keeps else _BUNDLED}")
        self.add.setVisible(keeps)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """With a large font the buttons stand below each other."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._buttons.setDirection(down if breakpoint_.large else across)
