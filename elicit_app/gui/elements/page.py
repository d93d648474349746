"""Base classes of pages: a centred column that follows breakpoints, and one that scrolls under a fixed head."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QDropEvent, QKeyEvent, QKeySequence, QPainter, QPalette, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QFrame,
    QLayout,
    QScrollArea,
    QScrollBar,
    QSizePolicy,
    QStyle,
    QStyleOptionSlider,
    QVBoxLayout,
    QWidget,
)

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton
from elicit_app.gui.elements.painting import Label, Painted, box
from elicit_app.gui.elements.surfaces import Notice, arrange_parts, fill, in_column, in_row


class Page(QWidget):
    """Base of the pages: call `settle` at the end of `__init__`; `arrange` is called on every new breakpoint or font.

    It declares the signals that several pages share; a page emits those for which it has a button or a key.
    """

    start_requested = Signal()  # back to the start, or stop for now
    back_requested = Signal()  # back to the page before
    stop_requested = Signal()  # stop asking, and see the result
    more_requested = Signal()  # ask more questions
    undo_requested = Signal()
    redo_requested = Signal()
    retry_requested = Signal()  # retry a failed write

    notice: Notice | None = None
    """The band that reports failures; without one, failures are shown on the error page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        # The page itself takes the focus when it is shown, so that nothing is preselected.
        self.first_focus: QWidget = self
        self._settled = False
        self._last: tuple[theme.Breakpoint, int] | None = None

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Arrange the page for a breakpoint, after its parts; the base class does nothing."""

    def may_close(self) -> bool:
        """Return whether the window may close; a page with something unsaved asks first, once."""
        return True

    @property
    def side_margin(self) -> int:
        """Return the margin left and right of the content, at least 24 pixels."""
        return (self.width() - theme.content_width(self.width())) // 2

    def settle(self) -> None:
        """Arrange the page for its current size, now and on every relevant change of size or font."""
        self._settled = True
        self._rearrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._rearrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._rearrange()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Make Tab visit the widgets in reading order, regardless of when they were created."""
        set_tab_order_from_layout(self)
        return super().focusNextPrevChild(forward)

    def _rearrange(self) -> None:
        if not self._settled:
            return
        layout = self.layout()
        if layout is not None:
            margins = layout.contentsMargins()
            layout.setContentsMargins(self.side_margin, margins.top(), self.side_margin, margins.bottom())
        now = (theme.breakpoint_for(self.size()), theme.base())
        if now != self._last:
            self._last = now
            arrange_parts(self, now[0])
            self.arrange(now[0])


class QuietScrollBar(Painted, QScrollBar):
    """A vertical scroll bar of ten pixels with a rounded handle and no arrows or track; `on_card` if on a card."""

    def __init__(self, *, on_card: bool = False) -> None:
        super().__init__()
        self._on_card = on_card

    def sizeHint(self) -> QSize:
        return QSize(10, super().sizeHint().height())

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_ScrollBarSlider
        handle = QRectF(self.style().subControlRect(QStyle.ComplexControl.CC_ScrollBar, option, part, self))
        painter.fillRect(self.rect(), colours.surface if self._on_card else colours.bg)
        box(painter, handle.adjusted(1, 2, -1, -2), 4, fill=colours.line2)


class QuietArea(QScrollArea):
    """A vertical scroll area for `inside` in the colour of the page; Tab skips the area itself."""

    def __init__(self, inside: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBar(QuietScrollBar())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        inside.setAutoFillBackground(True)
        self.setWidget(inside)


class Header(QWidget):
    """A headline with a line under it on the left and actions on the right; with a large font the actions go below."""

    def __init__(self) -> None:
        super().__init__()
        self.title = Label(role=theme.Role.HEADLINE)
        self.line = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self._buttons = in_row(spacing=12)
        words = in_column(self.title, self.line, spacing=theme.XS)
        in_row((words, 1), self._buttons, on=self, spacing=theme.M, stacks="large")

    def say(self, title: str, line: str = "") -> None:
        self.title.setText(title)
        self.line.show_text(line)

    def add_actions(self, *buttons: Button) -> None:
        for button in buttons:
            button.tall = 48
            self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)


class ScrolledPage(Page):
    """A page with a fixed head and foot and a scrolling body; with a large font all of it scrolls.

    Build the page into `head`, `body` and `foot` (vertical layouts; the foot may stay empty), then call `settle`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._outer = in_column(on=self, spacing=0)
        self._head, self.head = _column()
        self.inner, self.body = _column()
        self._foot, self.foot = _column()
        self.body.setSpacing(theme.M)
        self.area = QuietArea(self.inner)
        self.area.setWidgetResizable(True)
        for watched in (self.area.viewport(), self.inner):
            watched.installEventFilter(self)
        for fixed in (self._head, self._foot):
            fixed.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        fill(self._outer, self._head, (self.area, 1), self._foot)

    def link_to_start(self, text: str = "Back to the start", *, then: Callable[[], object] | None = None) -> LinkButton:
        """Return a link that leads back to the start, or calls `then` where something is asked before."""
        link = LinkButton(text)
        link.clicked.connect(then or self.start_requested)
        return link

    @property
    def side_margin(self) -> int:
        """Return 0: head and body have the margins, so that the scroll bar is at the edge of the window."""
        return 0

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Pin the head and foot, or let them scroll with the body if the font is large."""
        for layout in (self.body, self._outer):
            layout.removeWidget(self._head)
            layout.removeWidget(self._foot)
        home = self.body if breakpoint_.large else self._outer
        home.insertWidget(0, self._head)
        home.addWidget(self._foot)
        self._keep_margins()
        # While a widget is moved it is briefly hidden and its layout misses a font change, so fit again.
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        for widget, layout in ((self._head, self.head), (self._foot, self.foot), (self.inner, self.body)):
            layout.invalidate()
            layout.activate()
            widget.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_margins()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by the keys that nothing on the page takes, wherever the focus is."""
        self.area.keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.area.viewport():
            self._keep_margins()
        elif event.type() == QEvent.Type.LayoutRequest and watched is self.inner:
            # The area reacts before the content has its new size; content that became narrower needs this.
            QCoreApplication.postEvent(self.area, QEvent(QEvent.Type.LayoutRequest))
        return super().eventFilter(watched, event)

    def _keep_margins(self) -> None:
        content = theme.content_width(self.width())
        side = (self.width() - content) // 2
        edge = 0 if self._outer.indexOf(self._head) < 0 else side
        top = theme.M if self._last is not None and self._last[0].compact else theme.L
        self.head.setContentsMargins(edge, top, edge, theme.S)
        self.foot.setContentsMargins(edge, theme.S, edge, theme.M if self.foot.count() else 0)
        # The scroll bar takes its width from the right margin, so that its appearance does not move the content.
        right = max(self.area.viewport().width() - side - content, theme.S)
        self.body.setContentsMargins(side, theme.S, right, 0 if self.foot.count() else theme.S)


class HeadedPage(ScrolledPage):
    """A scrolled page with a header and, under it, the band that reports failures."""

    notice: Notice

    def __init__(self) -> None:
        super().__init__()
        self.header, self.notice = Header(), Notice()
        fill(self.head, self.header, self.notice)


def bind(page: QWidget, action: Callable[[], object] | SignalInstance, *keys: str) -> list[QShortcut]:
    """Bind each of `keys` to `action` while `page` or anything on it has the focus; a held key acts once."""
    shortcuts = []
    for key in keys:
        shortcut = QShortcut(QKeySequence(key), page, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.setAutoRepeat(False)
        shortcut.activated.connect(action)
        shortcuts.append(shortcut)
    return shortcuts


ENTER, CTRL_ENTER = ("Return", "Enter"), ("Ctrl+Return", "Ctrl+Enter")
"""The keys of the main block and of the keypad, to be bound together."""


def bind_enter(page: Page, default_action: Callable[[], object]) -> None:
    """Bind Enter to press the focused button, or to call `default_action` if no button has the focus."""

    def press() -> None:
        focused = page.focusWidget()
        (focused.click if isinstance(focused, QAbstractButton) and focused.hasFocus() else default_action)()

    bind(page, press, *ENTER)


def _column() -> tuple[QWidget, QVBoxLayout]:
    widget = QWidget()
    return widget, in_column(on=widget)


def dropped_files(event: QDropEvent) -> tuple[Path, ...]:
    """Return the local files and folders of a drag."""
    return tuple(Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile())


def set_tab_order_from_layout(page: QWidget) -> None:
    """Make Tab visit all focusable widgets on `page` in the order of its layouts."""
    for before, after in pairwise(_stops(page)):
        QWidget.setTabOrder(before, after)


def _stops(widget: QWidget) -> Iterator[QWidget]:
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if isinstance(widget, QScrollArea):
        inner: QWidget | None = widget.widget()
        if inner is not None:
            yield from _stops(inner)
        return
    layout = None if isinstance(widget, QAbstractScrollArea) else widget.layout()
    if layout is not None:
        yield from _stops_in(layout)


def _stops_in(layout: QLayout) -> Iterator[QWidget]:
    for at in range(layout.count()):
        item = layout.itemAt(at)
        if item is None:
            continue
        inner, nested = item.widget(), item.layout()
        if inner is not None:
            yield from _stops(inner)
        elif nested is not None:
            yield from _stops_in(nested)
