"""The sitting is over: stop here, or go on with more questions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import (
    Card,
    FlatButton,
    Glyph,
    GlyphSign,
    Label,
    LinkButton,
    OutlineButton,
    PrimaryButton,
    Surface,
)
from elicit_app.gui.parts.notice import Notice
from elicit_app.gui.parts.scrolled import ScrolledPage
from elicit_app.session.views.asked import SittingOverView


class SittingOverPage(ScrolledPage):
    """Shows a `SittingOverView`.

    Emits `stop_wanted`, `more_wanted`, `undo_wanted`, `retry_wanted` and `start_wanted`.
    """

    stop_wanted = Signal()
    more_wanted = Signal()
    undo_wanted = Signal()
    retry_wanted = Signal()
    start_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice = Notice()
        self.title, self.sentence = Label(role=theme.Role.HEADLINE), Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.stop = PrimaryButton("Look back and finish")
        self.more, self.undo = (
            OutlineButton("Answer more questions"),
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
        self.back.clicked.connect(self.start_wanted)
        self.head.addWidget(self.notice)
        self.body.addStretch(1)
        self.body.addWidget(card)
        self.body.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(2)
        self.stop.clicked.connect(self.stop_wanted)
        self.more.clicked.connect(self.more_wanted)
        self.undo.clicked.connect(self.undo_wanted)
        self.notice.pressed.connect(self.retry_wanted)
        undo = QShortcut(QKeySequence("Ctrl+Z"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        undo.setAutoRepeat(False)
        undo.activated.connect(self.undo_wanted)
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
