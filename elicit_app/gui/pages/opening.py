"""While a study is being read or a session prepared: says so, and can be left."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label, LinkButton
from elicit_app.gui.parts.scrolled import ScrolledPage


class OpeningPage(ScrolledPage):
    """Emits `start_wanted`."""

    start_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.sentence = Label(role=theme.Role.HEADLINE), Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.back = LinkButton("Back to the start")
        self.body.addStretch(1)
        for widget in (self.title, self.sentence):
            self.body.addWidget(widget)
        self.body.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(2)
        self.back.clicked.connect(self.start_wanted)
        self.settle()

    def say(self, title: str, sentence: str) -> None:
        """Say what is being done."""
        self.title.setText(title)
        self.sentence.setText(sentence)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.title.set_compact(breakpoint_.compact)
