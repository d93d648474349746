"""What a square means; shown only in practice."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import side_colours
from elicit_app.gui.theme import Role, em, font

_OUTLINED = "outlined: more than on the other side"


class Legend(QLabel):
    """One grey square is one case; outlined squares are how many more there are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._one = ""

    def show_case(self, case: str) -> None:
        """Take the word for one case: "patient"."""
        self._one = f"one {case}"
        self.setAccessibleName(f"A grey square: {self._one}. {_OUTLINED.capitalize()}.")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, face = theme.tokens(self), font(Role.NOTE)
        metrics = QFontMetricsF(face)
        words = (metrics.horizontalAdvance(self._one), metrics.horizontalAdvance(_OUTLINED))
        side, far = em(8), theme.XL
        x = (self.width() - (side + 12 + words[0] + far + 2 * (side + 18) + words[1])) / 2
        middle = self.height() / 2
        with QPainter(self) as painter:
            painter.setFont(face)
            painter.fillRect(QRectF(x, middle - side / 2, side, side), colours.unit)
            x += side + 12
            painter.setPen(colours.ink2)
            rect = QRectF(x, 0, words[0] + 2, self.height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, self._one)
            x += words[0] + far
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for hue, soft in (side_colours(colours, "A"), side_colours(colours, "B")):
                square = QRectF(x + 3, middle - side / 2, side, side)
                painter.fillRect(square.adjusted(-2.25, -2.25, 2.25, 2.25), soft)
                painter.fillRect(square, hue)
                painter.setPen(QPen(hue, 1.5))
                painter.drawRect(square.adjusted(-2.25, -2.25, 2.25, 2.25))
                x += side + 18
            painter.setPen(colours.ink2)
            rect = QRectF(x, 0, words[1] + 2, self.height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, _OUTLINED)
