"""The offer of a break, in the place of the question."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Label, OutlineButton, PrimaryButton, Surface


class BreakCard(Card):
    """Says that everything is kept, and offers to go on or to stop for now.

    Signals
    -------
    went_on, left : ()
        What was pressed.
    """

    went_on = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.IMPORTANT, parent)
        self._sentence = Label(role=theme.Role.TITLE, align=Qt.AlignmentFlag.AlignHCenter)
        self.go_on = PrimaryButton("Go on", keys=("Enter",))
        self.stop = OutlineButton("Stop for now")
        self.go_on.clicked.connect(self.went_on)
        self.stop.clicked.connect(self.left)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.L, theme.XL, theme.L, theme.XL)
        column.setSpacing(theme.L)
        column.addWidget(self._sentence)
        buttons = QHBoxLayout()
        buttons.setSpacing(12)
        buttons.addStretch(1)
        buttons.addWidget(self.go_on, 0, Qt.AlignmentFlag.AlignVCenter)
        buttons.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignVCenter)
        buttons.addStretch(1)
        column.addLayout(buttons)

    def offer(self, answers: int) -> None:
        """Offer a break after this many answers."""
        self._sentence.setText(f"{answers} answers, all kept. Take a break?")
        self.setAccessibleName(self._sentence.text())
