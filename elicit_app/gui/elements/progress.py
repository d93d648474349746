"""A quiet bar that shows how much is done."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.shapes import box

HEIGHT = 6


class ProgressBar(QProgressBar):
    """A bar six pixels high; `set_share` fills it, and its accessible name says the same in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(0, 1000)
        self.setTextVisible(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_share(self, share: float, words: str) -> None:
        """Show the share done, in [0, 1], and say it: "About half known, 5 to 8 questions left"."""
        self.setValue(round(1000 * min(1.0, max(0.0, share))))
        self.setAccessibleName(words)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(160), HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(40), HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        track = QRectF(self.rect())
        with QPainter(self) as painter:
            box(painter, track, track.height() / 2, fill=colours.line)
            if self.value() > 0:
                done = QRectF(track)
                done.setWidth(max(track.height(), track.width() * self.value() / self.maximum()))
                box(painter, done, track.height() / 2, fill=colours.ink2)
