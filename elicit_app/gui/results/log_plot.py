"""What painted plots on a logarithmic axis share: where their columns are, and a height that follows the width."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from elicit_app.gui.results.axis import LogAxis
from elicit_app.gui.theme import em


@dataclass(frozen=True)
class PlotColumns:
    """Where the columns are, in pixels: names end, the axis begins and ends, the plot ends."""

    names: float
    left: float
    right: float
    width: float

    def x(self, axis: LogAxis, value: float) -> float:
        """Return where `value` lies across the plot."""
        return self.left + axis.share(value) * (self.right - self.left)


class LogPlot(QLabel):
    """Rows below each other on one logarithmic axis; a subclass paints them and says how high they are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._yardstick = ""
        self._axis = LogAxis(0.3, 3.0)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def sizeHint(self) -> QSize:
        return QSize(em(600), self.heightForWidth(em(600)))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(320), em(120))
