"""Coming back to a session: what it says, and that one key goes on."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from elicit_app.gui.pages.messages import RecapPage, SittingOverPage
from elicit_app.session.views import RecapView, SittingOverView

VIEW = RecapView(
    kept="6 answers are kept",
    last="You preferred 12 fewer missed melanomas rather than 85 fewer needless excisions.",
    following="Question 7 is next, then about 5 to 8 more.",
)


@pytest.fixture
def page(shown):
    made = RecapPage()
    made.show_view(VIEW, "Skin lesions · dermatology")
    return shown(made)


def test_it_says_what_was_answered(page):
    assert page.sentence.text() == "Skin lesions · dermatology · 6 answers are kept"
    assert [page.last.text(), page.following.text()] == [VIEW.last, VIEW.following]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_one_key_goes_on_whatever_has_the_focus(page, qtbot, key):
    with qtbot.waitSignal(page.resume_requested):
        QTest.keyClick(page, key)
    page.proceed.setFocus()
    with qtbot.waitSignal(page.resume_requested):
        QTest.keyClick(page.proceed, key)


def test_the_way_back_is_pressed_where_it_has_the_focus(page, qtbot):
    page.back.setFocus()
    gone_on = []
    page.resume_requested.connect(lambda: gone_on.append(True))
    with qtbot.waitSignal(page.start_requested):
        QTest.keyClick(page.back, Qt.Key.Key_Return)
    assert gone_on == []


def test_other_keys_do_nothing(page):
    pressed = []
    page.resume_requested.connect(lambda: pressed.append("on"))
    page.start_requested.connect(lambda: pressed.append("back"))
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Escape, Qt.Key.Key_S):
        QTest.keyClick(page, key)
    assert pressed == []


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_goes_on_after_the_last_question_too(shown, qtbot, key):
    over = shown(SittingOverPage())
    with qtbot.waitSignal(over.stop_requested):
        QTest.keyClick(over, key)
    over.more.setFocus()
    with qtbot.waitSignal(over.more_requested):
        QTest.keyClick(over.more, key)


def test_the_title_of_the_window_says_why_the_sitting_is_over(shown):
    over = shown(SittingOverPage())
    for reason in ("budget", "known"):
        over.show_view(SittingOverView(reason, "All kept."))
        assert over.windowTitle() == over.title.text()
