"""The two cards at the top of the start page: go on where you stopped, and a new study from a file."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Label, OutlineButton, PrimaryButton, ProgressBar, Surface


@dataclass(frozen=True)
class ContinueView:
    """A session that can go on.

    Parameters
    ----------
    title : str
        "Skin lesions · dermatology".
    line : str
        "6 answers kept · about 5 to 8 more questions · last answer yesterday, 17:42".
    share : float
        The share done, in [0, 1].
    ref : str
        The session file.
    """

    title: str
    line: str
    share: float
    ref: str


class ContinueCard(Card):
    """Go on where you stopped. Emits `open_wanted` with the session file."""

    open_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.IMPORTANT, parent)
        self._ref = ""
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._across.setSpacing(theme.L)
        words = QVBoxLayout()
        words.setSpacing(4)
        self._hint = Label("Continue where you stopped", theme.Role.LABEL, theme.INK2)
        self._title, self._line = Label(role=theme.Role.TITLE), Label(ink=theme.INK2)
        self._bar = ProgressBar()
        for widget in (self._hint, self._title, self._line):
            words.addWidget(widget)
        words.addSpacing(theme.S)
        words.addWidget(self._bar)
        self.button = PrimaryButton("Continue", keys=("Enter",))
        self._across.addLayout(words, 1)
        self._across.addWidget(self.button)
        self.button.clicked.connect(lambda: self.open_wanted.emit(self._ref))

    def show_view(self, view: ContinueView) -> None:
        """Show the session to go on with."""
        self._ref = view.ref
        self._title.setText(view.title)
        self._line.setText(view.line)
        self._bar.set_share(view.share, f"About {round(100 * view.share)} % done")

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Arrange for a breakpoint."""
        self._title.set_compact(breakpoint_.compact)
        sides, ends = (20, 8) if breakpoint_.compact else (24, 20)
        self._across.setContentsMargins(sides, ends, sides, ends)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._across.setDirection(down if breakpoint_.large else across)


class DropCard(Card):
    """A new study from predictions files. Emits `choose_wanted`; the page takes what is dropped."""

    choose_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.DROP, parent)
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._across.setSpacing(theme.M)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(Label("New study from a predictions file", theme.Role.SECTION))
        self._line = Label(ink=theme.INK2)
        words.addWidget(self._line)
        self._or = Label("or drop it here", theme.Role.NOTE, theme.INK3, wrap=False)
        self.outline, self.primary = OutlineButton("Choose file…"), PrimaryButton("Choose file…")
        self._across.addLayout(words, 1)
        for widget in (self._or, self.outline, self.primary):
            self._across.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self._first, self._compact = False, False
        for button in (self.outline, self.primary):
            button.clicked.connect(self.choose_wanted)

    def set_first(self, first: bool) -> None:
        """Make this the primary action, where there is nothing to go on with."""
        self._first = first
        self.primary.setVisible(first)
        self.outline.setVisible(not first)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Arrange for a breakpoint."""
        narrow = breakpoint_.compact
        self._line.setText(
            "CSV, Parquet or NPZ. Choose one or drop it here."
            if narrow
            else "True labels and class probabilities of one or more models: CSV, Parquet or NPZ."
        )
        self._or.setVisible(not narrow)
        sides, ends = (20, 6) if narrow else (24, 16)
        self._across.setContentsMargins(sides, ends, sides, ends)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._across.setDirection(down if breakpoint_.large else across)
