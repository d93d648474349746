"""Where the columns of the table of models are, and text between two of them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from elicit_app.gui.results.axis import LinearAxis
from elicit_app.gui.theme import Role, font

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter


@dataclass(frozen=True)
class Columns:
    """Left ends of the columns in pixels; `mpcs` is None where MPCS and accuracy stand under the name."""

    rank: float
    name: float
    cost: float
    plot: float
    plot_end: float
    mpcs: float | None
    best: float
    end: float

    def x(self, axis: LinearAxis, value: float) -> float:
        """Return where a difference lies in the column of the plot."""
        return self.plot + axis.share(value) * (self.plot_end - self.plot)


def weighted(role: Role, weight: int) -> QFont:
    """Return the font of a row: heavier for the first."""
    return font(role, compact=True, weight=weight)


def text_between(
    painter: QPainter, left: float, right: float, room: QRectF, text: str, align: Qt.AlignmentFlag = LEFT
) -> None:
    """Paint `text` between two columns, shortened in its middle where it does not fit."""
    fitting = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideMiddle, right - left)
    painter.drawText(QRectF(left, room.top(), right - left, room.height()), align, fitting)
