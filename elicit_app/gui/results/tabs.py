"""The tabs of the result: words with a line under the chosen one."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QTabBar, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import focus_ring

_WIDEST_GAP, _NARROWEST_GAP = theme.XL, theme.S


class TabStrip(QTabBar):
    """A tab bar (same keys and accessible roles) that paints text and an underline only."""

    def __init__(self, *names: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for name in names:
            self.addTab(name)

    def tabSizeHint(self, index: int) -> QSize:
        return QSize(round(self._name_width(index)) + self._gap(), theme.em(40))

    def minimumTabSizeHint(self, index: int) -> QSize:
        return QSize(theme.em(60), theme.em(40))

    def _name_width(self, index: int) -> float:
        # Every name has room for the bold letters it gets when chosen.
        return QFontMetricsF(theme.font(theme.Role.STRONG)).horizontalAdvance(self.tabText(index))

    def _gap(self) -> int:
        """Return the space after a name: less where the font is large, so that no name is cut short for it."""
        names = sum(round(self._name_width(index)) for index in range(self.count()))
        left = (self.width() - names) // max(self.count(), 1)
        return max(_NARROWEST_GAP, min(_WIDEST_GAP, left))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), colours.line)
            for index in range(self.count()):
                self._paint_tab(painter, colours, index)

    def _paint_tab(self, painter: QPainter, colours: theme.Tokens, index: int) -> None:
        room = QRectF(self.tabRect(index)).adjusted(0, 0, -self._gap(), 0)
        chosen = index == self.currentIndex()
        painter.setFont(theme.font(theme.Role.STRONG if chosen else theme.Role.LABEL))
        painter.setPen(colours.ink if chosen else colours.ink2)
        text = QFontMetricsF(painter.font()).elidedText(
            self.tabText(index), Qt.TextElideMode.ElideRight, room.width() + 1
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        if chosen:
            painter.fillRect(QRectF(room.left(), self.height() - 3, room.width(), 3), colours.ink)
            if self.hasFocus():
                focus_ring(painter, room.adjusted(-8, 2, 8, -4), theme.BUTTON_RADIUS, colours.ink)
