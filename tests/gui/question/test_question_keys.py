"""What the keys, the mouse and the focus do on the question page."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QShortcut
from PySide6.QtWidgets import QApplication, QLineEdit, QStackedWidget

from elicit_app.elicitation.questions import Strength
from elicit_app.gui.elements.buttons import Button
from elicit_app.gui.question.page import LOCK_MS, QuestionPage
from elicit_app.session.views import UnsavedView

K, M = Qt.Key, Qt.KeyboardModifier


def answers(page) -> list[tuple[object, ...]]:
    given: list[tuple[object, ...]] = []
    page.answered.connect(lambda answer: given.append(astuple(answer)[:5]))
    return given


@pytest.mark.parametrize(
    ("key", "modifier", "reply", "strength"),
    [
        (K.Key_Left, M.NoModifier, "left", None),
        (K.Key_1, M.NoModifier, "left", None),
        (K.Key_1, M.KeypadModifier, "left", None),
        (K.Key_Right, M.NoModifier, "right", None),
        (K.Key_2, M.NoModifier, "right", None),
        (K.Key_Down, M.NoModifier, "equal", None),
        (K.Key_0, M.NoModifier, "equal", None),
        (K.Key_S, M.NoModifier, "unsure", None),
        (K.Key_Left, M.ShiftModifier, "left", Strength.SLIGHTLY),
        (K.Key_Right, M.ShiftModifier, "right", Strength.SLIGHTLY),
        (K.Key_Left, M.ControlModifier, "left", Strength.CLEARLY),
        (K.Key_Right, M.ControlModifier, "right", Strength.CLEARLY),
    ],
)
def test_every_key_gives_its_answer(qtbot, page, key, modifier, reply, strength) -> None:
    given = answers(page)
    qtbot.keyClick(page, key, modifier)
    request, *answer, seconds, full_picture = given.pop()
    assert (request, answer, full_picture) == (107, [reply, strength], False)
    assert seconds >= 0
    assert not given


@pytest.mark.parametrize("key", [K.Key_Escape, K.Key_Return, K.Key_Space, K.Key_A, K.Key_3, K.Key_Up, K.Key_Delete])
def test_other_keys_answer_nothing(qtbot, page, key) -> None:
    given = answers(page)
    qtbot.keyClick(page, key)
    assert not given


def offered(page: QuestionPage) -> list[Button]:
    """Return the answers on the page, without those that this question does not offer."""
    return [button for button in page.answers.buttons if not button.isHidden()]


@pytest.mark.parametrize("place", range(8))
def test_every_button_gives_its_answer_by_mouse_enter_and_space(qtbot, page, ask, pairs, place) -> None:
    given = answers(page)
    button = offered(page)[place]
    _, left, right = pairs["three"]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    for number, key in ((8, K.Key_Return), (9, K.Key_Space), (10, K.Key_Enter)):
        page.show_question(ask(left, right, number))
        qtbot.waitUntil(lambda: page.on_screen)
        button.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.keyClick(button, key)
    replies = ["left", "equal", "right", "left", "left", "unsure", "right", "right"]
    strengths = [None] * 3 + [Strength.CLEARLY, Strength.SLIGHTLY, None, Strength.SLIGHTLY, Strength.CLEARLY]
    assert [answer[:3] for answer in given] == [
        (request, replies[place], strengths[place]) for request in range(107, 111)
    ]


def test_a_question_is_answered_once(qtbot, page) -> None:
    given = answers(page)
    qtbot.keyClick(page, K.Key_Left)
    qtbot.keyClick(page, K.Key_Right)
    qtbot.mouseClick(page.answers.equal, Qt.MouseButton.LeftButton)
    assert [answer[1] for answer in given] == ["left"]


def test_a_held_key_answers_once(qtbot, page, ask, pairs) -> None:
    given = answers(page)
    shortcuts = page.findChildren(QShortcut)
    assert len(shortcuts) >= 14
    assert not any(shortcut.autoRepeat() for shortcut in shortcuts)
    page.answers.a.setFocus()
    for repeated in (True, True, False):
        held = QKeyEvent(QEvent.Type.KeyPress, K.Key_Return, M.NoModifier, "\r", repeated)
        QApplication.sendEvent(page.answers.a, held)
    assert len(given) == 1


def test_answers_are_ignored_until_the_question_was_on_the_screen_for_a_moment(qtbot, skin, ask, pairs) -> None:
    assert QuestionPage()._lock_ms == LOCK_MS
    page = QuestionPage(lock_ms=3_600_000)  # so that no busy machine is later than the lock
    qtbot.addWidget(page)
    given = answers(page)
    page.begin(skin, "lpm")
    _, left, right = pairs["three"]
    page.show_question(ask(left, right))
    page.answers.a.click()
    assert page.locked
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    qtbot.waitUntil(lambda: page.on_screen)
    page.answers.a.click()
    assert page.locked
    assert page.answers.a.isEnabled(), "the lock does not dim the answers"
    assert not given
    page._lock_ms = LOCK_MS
    qtbot.waitUntil(lambda: not page.locked)
    page.answers.a.click()
    (answer,) = given
    assert answer[3] >= LOCK_MS / 1000


def test_undo_redo_and_stop(qtbot, page, ask, pairs) -> None:
    said: list[str] = []
    page.undo_requested.connect(lambda: said.append("undo"))
    page.redo_requested.connect(lambda: said.append("redo"))
    page.stop_requested.connect(lambda: said.append("stop"))
    qtbot.keyClick(page, K.Key_Z, M.ControlModifier)
    qtbot.keyClick(page, K.Key_Z, M.ControlModifier | M.ShiftModifier)
    qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)
    assert said == ["undo", "stop"], "there is nothing to put back yet"
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, can_redo=True))
    qtbot.keyClick(page, K.Key_Z, M.ControlModifier | M.ShiftModifier)
    page.show_question(ask(left, right, number=1))
    assert not page.undo.isEnabled()
    qtbot.keyClick(page, K.Key_Z, M.ControlModifier)
    assert said == ["undo", "stop", "redo"]


def test_the_full_picture_stays_and_is_reported(qtbot, page, ask, pairs) -> None:
    given = answers(page)
    _, left, right = pairs["three"]
    qtbot.keyClick(page, K.Key_F)
    assert page.card.is_full
    assert page.card.flow.isVisible()
    qtbot.keyClick(page, K.Key_Left)
    page.show_question(ask(left, right, 8))
    assert page.card.is_full
    qtbot.mouseClick(page.card.fold.toggle, Qt.MouseButton.LeftButton)
    assert not page.card.is_full
    qtbot.waitUntil(lambda: page.on_screen)
    qtbot.keyClick(page, K.Key_Left)
    page.show_question(ask(left, right, 9))
    qtbot.waitUntil(lambda: page.on_screen)
    qtbot.keyClick(page, K.Key_Left)
    assert [answer[4] for answer in given] == [True, True, False], "seen at any time during the question"


def test_a_resumed_session_shows_the_full_picture_it_was_left_with(qtbot, page, skin, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.begin(skin, "lpm")
    page.show_question(ask(left, right, full_picture=True))
    assert page.card.is_full
    page.toggle_full_picture()
    page.show_question(ask(left, right, 8, full_picture=True))
    assert not page.card.is_full, "after the first question the page keeps what the expert chose"


def test_the_focus_is_on_the_ledger_and_goes_round_in_reading_order(qtbot, page) -> None:
    assert page.card.hasFocus()
    assert not any(button.hasFocus() or button.isDefault() for button in offered(page))
    order = [page.card.fold.toggle, *offered(page), page.undo, page.stop, page.card]
    for widget in order:
        qtbot.keyClick(QApplication.focusWidget(), K.Key_Tab)
        assert QApplication.focusWidget() is widget


def test_the_keys_work_on_a_page_that_was_filled_before_it_was_shown(qtbot, skin, ask, pairs) -> None:
    stack = QStackedWidget()
    qtbot.addWidget(stack)
    first, page = QLineEdit(), QuestionPage(lock_ms=0)
    stack.addWidget(first)
    stack.addWidget(page)
    with qtbot.waitActive(stack):
        stack.show()
        stack.activateWindow()
    first.setFocus()
    given = answers(page)
    page.begin(skin, "lpm")
    page.show_question(ask(*pairs["three"][1:]))
    stack.setCurrentWidget(page)
    qtbot.waitUntil(lambda: page.on_screen)
    assert page.card.hasFocus()
    qtbot.keyClick(QApplication.focusWidget(), K.Key_Down)
    assert [answer[1] for answer in given] == ["equal"]


def test_a_new_question_takes_the_focus_from_an_answer(qtbot, page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.answers.b.setFocus()
    page.show_question(ask(left, right, 8))
    assert page.card.hasFocus()


def test_the_keys_of_the_page_stay_on_the_page(qtbot, page) -> None:
    given = answers(page)
    field = QLineEdit(page)
    field.show()
    field.setFocus()
    qtbot.keyClicks(field, "120")
    assert field.text() == "120"
    assert not given


def test_an_answer_that_could_not_be_written_waits(qtbot, page, ask, pairs) -> None:
    given, tried = answers(page), []
    page.retry_requested.connect(lambda: tried.append(True))
    _, left, right = pairs["three"]
    view = ask(left, right)
    page.show_question(view)
    qtbot.waitUntil(lambda: page.on_screen)
    page.show_unsaved(UnsavedView("This answer could not be written (the disk is full).", view))
    assert page.notice.isVisible()
    assert page.notice.sentence.endswith("(the disk is full).")
    qtbot.keyClick(page, K.Key_Left)
    assert not given
    qtbot.mouseClick(page.notice.button, Qt.MouseButton.LeftButton)
    assert tried
    page.show_question(ask(left, right, 8))
    qtbot.waitUntil(lambda: page.on_screen)
    assert not page.notice.isVisible()
    qtbot.keyClick(page, K.Key_Left)
    assert [answer[0] for answer in given] == [108]


def test_a_break_is_offered_before_the_question(qtbot, page, ask, pairs) -> None:
    given, left_for_now = answers(page), []
    page.start_requested.connect(lambda: left_for_now.append(True))
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, 13, offer_break=True))
    assert page.break_card.accessibleName() == "12 answers, all kept. Take a break?"
    assert not page.answers.isVisible()
    assert not page.strip.isVisible()
    qtbot.keyClick(page, K.Key_Left)
    assert not given
    qtbot.mouseClick(page.break_card.stop, Qt.MouseButton.LeftButton)
    assert left_for_now
    qtbot.keyClick(page.break_card.proceed, K.Key_Return)
    assert page.answers.isVisible()
    qtbot.waitUntil(lambda: page.on_screen)
    qtbot.keyClick(page, K.Key_Left)
    assert [answer[:2] for answer in given] == [(113, "left")]
