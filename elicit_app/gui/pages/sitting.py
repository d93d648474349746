"""Before and after a sitting: where one stopped, and what to do when the questions are over."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import (
    Button,
    Card,
    Divider,
    FlatButton,
    Glyph,
    GlyphSign,
    Label,
    LinkButton,
    PrimaryButton,
    Surface,
)
from elicit_app.gui.elements.page import ScrolledPage, go_on_by_enter
from elicit_app.gui.elements.surfaces import Notice
from elicit_app.session.views.asked import RecapView, SittingOverView

_PAD = 28


class RecapPage(ScrolledPage):
    """Shows a `RecapView`. Emits `go_on_requested` and `start_requested`."""

    notice: Notice
    go_on_requested = Signal()
    start_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice = Notice()
        self.title = Label("Where you stopped", theme.Role.HEADLINE)
        self.line = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.last, self.stated = (Label(role=theme.Role.FLOW) for _ in range(2))
        self.following = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.go_on = PrimaryButton("Go on", keys=("Enter",))
        card = Card(Surface.IMPORTANT)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(_PAD, _PAD, _PAD, _PAD)
        inside.setSpacing(theme.M)
        inside.addWidget(self.title)
        inside.addWidget(self.line)
        self._certain = _part("What you stated for certain", self.stated)
        inside.addWidget(self._certain)
        inside.addWidget(_part("Your last answer", self.last))
        inside.addWidget(Divider())
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(theme.M)
        self._row.addWidget(self.go_on)
        self._row.addWidget(self.following, 1)
        inside.addLayout(self._row)
        self.back = LinkButton("Not now, back to the start")
        self.head.addWidget(self.notice)
        self.body.addStretch(1)
        self.body.addWidget(card)
        self.body.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(2)
        self._connect()
        self.settle()

    def show_view(self, view: RecapView, title: str) -> None:
        """Show where a session stands; `title` names the study and the expert."""
        self.notice.say("")
        self.line.setText(f"{title} · {view.kept}")
        self.last.setText(view.last)
        self.stated.setText(view.stated)
        self._certain.setVisible(bool(view.stated))
        self.following.setText(view.following)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        for label in (self.title, self.line, self.stated, self.last, self.following):
            label.set_compact(breakpoint_.compact)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if breakpoint_.large else across)

    def _connect(self) -> None:
        self.go_on.clicked.connect(self.go_on_requested)
        self.back.clicked.connect(self.start_requested)
        go_on_by_enter(self, self.go_on)


def _part(name: str, said: Label) -> QWidget:
    """Return a line, a name and what is said under it."""
    part = QWidget()
    column, words = QVBoxLayout(part), QVBoxLayout()
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(theme.M)
    words.setSpacing(theme.XS)
    words.addWidget(Label(name, theme.Role.NOTE, theme.INK2))
    words.addWidget(said)
    column.addWidget(Divider())
    column.addLayout(words)
    return part


class SittingOverPage(ScrolledPage):
    """Shows a `SittingOverView`.

    Emits `stop_requested`, `more_requested`, `undo_requested`, `retry_requested` and `start_requested`.
    """

    notice: Notice
    stop_requested = Signal()
    more_requested = Signal()
    undo_requested = Signal()
    retry_requested = Signal()
    start_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice = Notice()
        self.title, self.sentence = Label(role=theme.Role.HEADLINE), Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.stop = PrimaryButton("Look back and finish", keys=("Enter",))
        self.more, self.undo = (
            Button("Answer more questions"),
            FlatButton("Undo", keys=("Ctrl+Z",), glyph=Glyph.UNDO),
        )
        card = Card(Surface.IMPORTANT)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(theme.XL, theme.XL, theme.XL, theme.XL)
        inside.setSpacing(theme.M)
        inside.addWidget(GlyphSign(Glyph.CHECK, 26), 0, Qt.AlignmentFlag.AlignLeft)
        inside.addWidget(self.title)
        inside.addWidget(self.sentence)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(12)
        for button in (self.stop, self.more):
            self._row.addWidget(button)
        self._row.addStretch(1)
        self._row.addWidget(self.undo)
        inside.addLayout(self._row)
        self.back = LinkButton("Stop for now, back to the start")
        self.back.clicked.connect(self.start_requested)
        self.head.addWidget(self.notice)
        self.body.addStretch(1)
        self.body.addWidget(card)
        self.body.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(2)
        self.stop.clicked.connect(self.stop_requested)
        go_on_by_enter(self, self.stop)
        self.more.clicked.connect(self.more_requested)
        self.undo.clicked.connect(self.undo_requested)
        self.notice.pressed.connect(self.retry_requested)
        undo = QShortcut(QKeySequence("Ctrl+Z"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        undo.setAutoRepeat(False)
        undo.activated.connect(self.undo_requested)
        self.settle()

    def show_view(self, view: SittingOverView) -> None:
        """Show why the sitting is over."""
        self.title.setText("Enough for now" if view.reason == "budget" else "No more questions are needed")
        self.sentence.setText(view.sentence)
        self.more.setVisible(view.can_continue)
        self.notice.say(view.unsaved, button="Try again")

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.title.set_compact(breakpoint_.compact)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if breakpoint_.large else across)
