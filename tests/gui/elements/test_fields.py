"""Fields: the wheel scrolls the page and never changes what is in one."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from elicit_app.gui.elements.fields import DecimalBox, ListBox, NumberBox


def wheel(widget) -> None:
    place = QPointF(5, 5)
    none, phase = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    globally = QPointF(widget.mapToGlobal(QPoint(5, 5)))
    event = QWheelEvent(place, globally, QPoint(0, 0), QPoint(0, 120), Qt.MouseButton.NoButton, none, phase, False)
    QApplication.sendEvent(widget, event)


@pytest.mark.parametrize("focused", [False, True])
def test_the_wheel_never_changes_a_field(qtbot, focused) -> None:
    number, decimal, chosen = NumberBox("Questions", 0, 100), DecimalBox(), ListBox("Procedure")
    chosen.addItems(["one", "two", "three"])
    chosen.setCurrentIndex(1)
    for widget in (number, decimal, chosen):
        qtbot.addWidget(widget)
        widget.show()
        if focused:
            widget.setFocus()
        before = chosen.currentIndex() if widget is chosen else widget.value()
        wheel(widget)
        assert (chosen.currentIndex() if widget is chosen else widget.value()) == before
