"""Fields and tabs: the wheel never changes them, and numbers are read alike wherever the person lives."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from elicit_app.gui.elements.fields import DecimalBox, ListBox, NumberBox
from elicit_app.gui.results.page import TabStrip


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
    tabs = TabStrip(("What to do", "Do"), ("Other prevalence", "Other"), ("Costs and files", "Costs"))
    tabs.setCurrentIndex(1)
    now = {number: number.value, decimal: decimal.value, chosen: chosen.currentIndex, tabs: tabs.currentIndex}
    for widget, value in now.items():
        qtbot.addWidget(widget)
        widget.show()
        if focused:
            widget.setFocus()
        before = value()
        wheel(widget)
        assert value() == before


@pytest.fixture(params=["en_US", "de_DE", "fr_FR", "ar_EG"])
def language(request):
    before = QLocale()
    QLocale.setDefault(QLocale(request.param))
    yield
    QLocale.setDefault(before)


@pytest.mark.usefixtures("language")
def test_a_decimal_is_typed_with_a_point_or_a_comma_in_every_language(qtbot) -> None:
    decimal, number = DecimalBox(), NumberBox("Questions", 0, 9_999)
    for widget, typed in ((decimal, "3.5"), (decimal, "3,5"), (number, "1234")):
        qtbot.addWidget(widget)
        widget.show()
        widget.selectAll()
        QTest.keyClicks(widget.lineEdit(), typed)
        widget.interpretText()
    assert (decimal.value(), decimal.text()) == (3.5, "3.50")
    assert (number.value(), number.text()) == (1234, "1,234")
