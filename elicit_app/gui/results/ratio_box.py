"""A box for typing a ratio: two significant digits, one step is a tenth of the value."""

from __future__ import annotations

from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QWidget

from elicit_app.gui.parts.controls import DecimalBox
from metrics.display.numbers import two_digits

LOWEST, HIGHEST = 0.001, 10_000.0


class RatioBox(DecimalBox):
    """A spin box on a logarithmic scale; what is shown is rounded like every other ratio."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(6)
        self.setRange(LOWEST, HIGHEST)
        self.setKeyboardTracking(False)

    def textFromValue(self, value: float) -> str:
        return two_digits(value)

    def valueFromText(self, text: str) -> float:
        return float(text.replace(",", ""))

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        try:
            value = float(text.replace(",", "") or 0)
        except ValueError:
            return QValidator.State.Invalid, text, position
        fits = LOWEST <= value <= HIGHEST
        return (QValidator.State.Acceptable if fits else QValidator.State.Intermediate), text, position

    def stepBy(self, steps: int) -> None:
        self.setValue(self.value() * 1.1**steps)
