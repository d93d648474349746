"""A new question fades in, and afterwards every line of the card is as solid as before."""

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication

from elicit_app.gui import theme
from elicit_app.gui.elements.surfaces import Divider


def on_screen(page, place):
    """Return the colour that the screen shows, which a new painting of the page would not tell."""
    return page.screen().grabWindow(page.winId()).toImage().pixelColor(place)


def test_dividers_are_solid_again_after_a_fade(page, ask, pairs, qtbot, monkeypatch) -> None:
    _, left, right = pairs["three"]
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: "xcb")
    for number in (8, 9, 10):
        page.show_question(ask(left, right, number))
        assert page.card.graphicsEffect().isEnabled()
        qtbot.waitUntil(lambda: not page.card.graphicsEffect().isEnabled())
        qtbot.wait(50)  # until what is left to paint is painted
    dividers = [each for each in page.card.findChildren(Divider) if each.isVisible()]
    assert len(dividers) == 2
    for divider in dividers:
        assert not divider.autoFillBackground()  # on a real screen that was enough to leave earlier pictures beneath
        for x in (20, divider.width() // 2):
            assert on_screen(page, divider.mapTo(page, QPoint(x, 0))) == theme.tokens(page).line
