"""A page: a column of content, centred, that is told when it becomes compact or wide, or the font large."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme


class Page(QWidget):
    """Base of the pages: call `settle` at the end of `__init__`; `arrange` comes with every new breakpoint or font."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self._settled = False
        self._last: tuple[theme.Breakpoint, int] | None = None

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Arrange the widgets for this much room; the base class does nothing."""

    @property
    def side_margin(self) -> int:
        """Return the margin left and right of the content, at least 24 pixels."""
        return (self.width() - theme.content_width(self.width())) // 2

    def settle(self) -> None:
        """Arrange the page for its present size, now and whenever size or font make a difference."""
        self._settled = True
        self._rearrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._rearrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._rearrange()

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
            self.arrange(now[0])
