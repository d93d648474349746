"""Elements: still Qt's own widgets to the keyboard and to screen readers, and they follow font and palette."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import AnswerButton, Button, FlatButton, LinkButton, MinorButton, PrimaryButton
from elicit_app.gui.elements.page import Page
from elicit_app.gui.elements.painting import Badge, Glyph, GlyphSign, KeyCap, Label
from elicit_app.gui.elements.surfaces import Card, Divider, ProgressBar, Surface

BUTTONS = {
    "primary": lambda: PrimaryButton("Save file", keys=("Enter",)),
    "outline": lambda: Button("Undo", glyph=Glyph.UNDO),
    "answer A": lambda: AnswerButton("A", "A is better", keys=("Left", "1")),
    "answer B": lambda: AnswerButton("B", "B is better", keys=("Right", "2")),
    "equal": lambda: AnswerButton(None, "About equal", keys=("Down", "0")),
    "minor": lambda: MinorButton("Cannot say", keys=("S",)),
    "flat": lambda: FlatButton("Full picture", keys=("F",)),
    "link": lambda: LinkButton("Help"),
}


def shown(qtbot, widget: QWidget, width: int = 0) -> QWidget:
    qtbot.addWidget(widget)
    hint = widget.sizeHint()
    widget.resize(width or hint.width(), hint.height())
    with qtbot.waitActive(widget):
        widget.show()
        widget.activateWindow()
    return widget


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


def colours_in(widget: QWidget) -> set[str]:
    image = picture(widget)
    return {image.pixelColor(x, y).name().upper() for x in range(image.width()) for y in range(image.height())}


@pytest.mark.parametrize("name", BUTTONS)
def test_buttons_keep_role_name_and_keys(qtbot, name) -> None:
    button = shown(qtbot, BUTTONS[name]())
    found = QAccessible.queryAccessibleInterface(button)
    assert found.role() == QAccessible.Role.Button
    assert found.text(QAccessible.Text.Name) == button.text()
    pressed: list[bool] = []
    button.clicked.connect(lambda: pressed.append(True))
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
        qtbot.keyClick(button, key)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert len(pressed) == 4
    button.setEnabled(False)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert len(pressed) == 4


@pytest.mark.parametrize("name", BUTTONS)
def test_every_state_looks_different_and_takes_the_same_room(qtbot, name) -> None:
    button = shown(qtbot, BUTTONS[name]())
    hint = button.sizeHint()
    button.clearFocus()
    seen = [picture(button)]
    button.setFocus()
    seen.append(picture(button))
    button.clearFocus()
    button.setDown(True)
    seen.append(picture(button))
    button.setDown(False)
    button.setEnabled(False)
    seen.append(picture(button))
    assert all(one != two for n, one in enumerate(seen) for two in seen[:n])
    assert button.sizeHint() == hint


@pytest.mark.parametrize("dark", [False, True])
def test_the_focus_ring_is_inside_the_border(qtbot, qapp, dark) -> None:
    theme.apply(qapp, dark=dark, family="DejaVu Sans")
    colours = theme.DARK if dark else theme.LIGHT
    button = shown(qtbot, AnswerButton("A", "A is better"), 200)
    middle = button.height() // 2
    button.clearFocus()
    before = picture(button)
    button.setFocus()
    after = picture(button)
    assert [before.pixelColor(x, middle) for x in range(5)] == [after.pixelColor(x, middle) for x in range(5)]
    assert before.pixelColor(0, middle) == colours.A
    assert after.pixelColor(5, middle) == colours.ink
    assert after.pixelColor(6, middle) == colours.ink


def test_only_the_answers_have_a_hue(qtbot) -> None:
    hues = {theme.LIGHT.A.name().upper(), theme.LIGHT.B.name().upper()}
    for name, make in BUTTONS.items():
        found = colours_in(shown(qtbot, make())) & hues
        assert len(found) == (1 if name.startswith("answer") else 0), name


def test_off_has_no_border_and_no_hue(qtbot) -> None:
    button = shown(qtbot, AnswerButton("B", "B is better"), 200)
    button.setEnabled(False)
    image = picture(button)
    assert image.pixelColor(0, button.height() // 2) == theme.LIGHT.sunken
    assert theme.LIGHT.B.name().upper() not in colours_in(button)


@pytest.mark.parametrize("name", BUTTONS)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_narrow_button_wraps_its_text_and_grows(qtbot, qapp, name, scale) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    button = BUTTONS[name]()
    button.setText("12 fewer missed melanomas, 15 fewer wrong creams")
    qtbot.addWidget(button)
    narrow = button.minimumSizeHint().width()
    assert narrow < button.sizeHint().width()
    assert button.heightForWidth(narrow) > button.heightForWidth(button.sizeHint().width() + 40)


def test_key_caps_show_arrows_as_glyphs(qtbot) -> None:
    arrow, word = shown(qtbot, KeyCap("Left")), shown(qtbot, KeyCap("Ctrl+Z"))
    assert arrow.width() == arrow.height() == theme.em(22)
    assert word.width() > arrow.width()
    assert picture(arrow) != picture(shown(qtbot, KeyCap("Right")))


@pytest.mark.parametrize("glyph", Glyph)
def test_every_glyph_is_painted_inside_its_box(qtbot, glyph) -> None:
    sign = shown(qtbot, GlyphSign(glyph, 32))
    image = picture(sign)
    ground = sign.palette().color(sign.backgroundRole())
    painted = [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y) != ground]
    assert len(painted) > 40
    edge = {(x, y) for x, y in painted if x in (0, image.width() - 1) or y in (0, image.height() - 1)}
    assert not edge


def test_decoration_has_no_name(qtbot) -> None:
    for widget in (Badge("A"), GlyphSign(Glyph.MORE), Divider(), KeyCap("F")):
        qtbot.addWidget(widget)
        assert QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name) == ""


def test_progress_is_a_progress_bar_with_words(qtbot) -> None:
    bar = shown(qtbot, ProgressBar(), 200)
    bar.set_share(0.5, "About half known")
    found = QAccessible.queryAccessibleInterface(bar)
    assert (found.role(), found.text(QAccessible.Text.Name)) == (QAccessible.Role.ProgressBar, "About half known")
    image = picture(bar)
    assert image.pixelColor(60, 3) == theme.LIGHT.ink2
    assert image.pixelColor(140, 3) == theme.LIGHT.line
    for share in (-1.0, 0.0, 1.0, 7.0):
        bar.set_share(share, "")
        assert 0 <= bar.value() <= bar.maximum()


def test_texts_follow_font_and_palette(qtbot, qapp) -> None:
    label = shown(qtbot, Label("Missed melanoma", theme.Role.TITLE, theme.INK2, wrap=False))
    assert label.font().pixelSize() == 22
    assert theme.LIGHT.ink2.name().upper() in colours_in(label)
    theme.apply(qapp, dark=True, scale=2, family="DejaVu Sans")
    qtbot.waitUntil(lambda: label.font().pixelSize() == 44)
    qtbot.waitUntil(lambda: theme.tokens(label) is theme.DARK)
    label.adjustSize()
    assert theme.DARK.ink2.name().upper() in colours_in(label)


@pytest.mark.parametrize("surface", Surface)
def test_cards_have_their_surface(qtbot, surface) -> None:
    card = Card(surface)
    qtbot.addWidget(card)
    card.resize(200, 100)
    middle = picture(card).pixelColor(100, 50)
    assert middle == (theme.LIGHT.sunken if surface is Surface.BAND else theme.LIGHT.surface)


def test_a_page_keeps_its_margins_and_hears_of_new_breakpoints(qtbot, qapp) -> None:
    heard: list[theme.Breakpoint] = []

    class Heard(Page):
        def arrange(self, breakpoint_: theme.Breakpoint) -> None:
            heard.append(breakpoint_)

    page = Heard()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 5, 0, 5)
    card = Card()
    column.addWidget(card)
    page.resize(1280, 800)
    page.settle()
    page.show()
    assert card.mapTo(page, QPoint(0, 0)).x() == 76
    page.resize(800, 600)
    qtbot.waitUntil(lambda: card.mapTo(page, QPoint(0, 0)).x() == 24)
    theme.apply(qapp, scale=2, family="DejaVu Sans")
    qtbot.waitUntil(lambda: heard[-1].large)
    assert [each.compact for each in heard] == [False, True, True]
