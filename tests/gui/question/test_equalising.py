"""Making both results equally bad: keys, slider, field, the answers, and what stays where it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QWheelEvent
from PySide6.QtWidgets import QApplication

from elicit_app.elicitation.questions import Moved, Proposal
from elicit_app.gui import theme
from elicit_app.gui.question.answers import GivenAnswer
from elicit_app.gui.question.page import QuestionPage
from elicit_app.session.pair_words import compare_pair

K, M = Qt.Key, Qt.KeyboardModifier
RIGHT = Proposal("second", 1, 0, start=133, least=48, most=330)
LEFT = Proposal("first", 0, 1, start=40, least=19, most=60)


@pytest.fixture
def offered(page, ask, pairs):
    """The page with a question whose needless excisions in B may be moved."""
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, proposal=RIGHT))
    return page


@pytest.fixture
def moving(offered, qtbot, monkeypatch):
    """The page at the number that may be moved, after a moment that is shorter than for people."""
    monkeypatch.setattr("elicit_app.gui.question.pair_page.MOVE_LOCK_MS", 1)
    qtbot.keyClick(offered, K.Key_E)
    assert offered.moving
    qtbot.wait(10)
    return offered


def answers(page) -> list[GivenAnswer]:
    given: list[GivenAnswer] = []
    page.answered.connect(given.append)
    return given


def number(page) -> int:
    return int(page.card.field.text())


def test_it_is_offered_only_where_there_is_a_number_to_move(qtbot, page, offered, ask, pairs) -> None:
    assert offered.answers.equalise.isVisible()
    _, left, right = pairs["three"]
    page.show_question(ask(left, right))
    assert not page.answers.equalise.isVisible()
    qtbot.keyClick(page, K.Key_E)
    assert not page.moving


def test_tab_visits_it_between_its_neighbours_and_undo_after_the_answers(qtbot, offered, monkeypatch) -> None:
    offered.answers.slightly_a.setFocus()
    for widget in (offered.answers.equalise, offered.answers.unsure):
        qtbot.keyClick(QApplication.focusWidget(), K.Key_Tab)
        assert QApplication.focusWidget() is widget
    qtbot.keyClick(offered, K.Key_E)
    assert QApplication.focusWidget() is offered.card.field
    moved = offered.move_answers
    for widget in (moved.back, moved.bound, moved.unsure, offered.undo, offered.stop):
        qtbot.keyClick(QApplication.focusWidget(), K.Key_Tab)
        assert QApplication.focusWidget() is widget


def test_more_digits_than_the_scale_has_are_not_taken(qtbot, moving) -> None:
    for key in (K.Key_1, K.Key_2, K.Key_1, K.Key_2):
        qtbot.keyClick(moving.card.field, key)
    assert number(moving) == 121
    assert moving.card.field.valid


def test_a_raised_two_is_no_number(qtbot, moving) -> None:
    qtbot.keyClicks(moving.card.field, "²")
    assert number(moving) == 133
    assert moving.card.field.text() == "133"


def test_what_is_typed_beyond_the_scale_is_answered_by_the_scale(qtbot, moving) -> None:
    for key in (K.Key_3, K.Key_0):
        qtbot.keyClick(moving.card.field, key)
    equal = moving.move_answers.equal
    assert (equal.text(), equal.isEnabled()) == ("Only 48 to 330", False)
    assert moving.strip.accessibleName() == "", "nothing is true of a number that cannot be"
    qtbot.keyClick(moving.card.field, K.Key_0)
    assert (equal.text(), number(moving)) == ("Equally bad now", 300)
    assert "252 more needless excisions" in moving.strip.accessibleName()


def test_who_leaves_a_number_beyond_the_scale_finds_the_one_that_stands(qtbot, moving) -> None:
    qtbot.keyClick(moving.card.field, K.Key_6)
    blank = moving.strip.grab().toImage()
    qtbot.keyClick(moving.card.field, K.Key_Tab)
    assert (number(moving), moving.move_answers.equal.text()) == (133, "Equally bad now")
    assert "85 more needless excisions" in moving.strip.accessibleName()
    assert moving.strip.grab().toImage() != blank


def test_the_full_picture_is_not_offered_while_a_number_is_moved(qtbot, moving) -> None:
    assert not moving.card.fold.toggle.isEnabled()
    qtbot.keyClick(moving, K.Key_Escape)
    assert moving.card.fold.toggle.isEnabled()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([(K.Key_Right, M.NoModifier)], 134),
        ([(K.Key_Left, M.NoModifier)], 132),
        ([(K.Key_Right, M.ShiftModifier)], 143),
        ([(K.Key_Up, M.NoModifier)] * 2, 135),
        ([(K.Key_Down, M.NoModifier)], 132),
        ([(K.Key_Home, M.NoModifier)], 48),
        ([(K.Key_End, M.NoModifier), (K.Key_Up, M.NoModifier)], 330),
        ([(K.Key_1, M.NoModifier), (K.Key_7, M.NoModifier), (K.Key_5, M.NoModifier)], 175),
    ],
)
def test_keys_move_the_number_and_everything_follows(qtbot, moving, keys, expected) -> None:
    for key, modifier in keys:
        qtbot.keyClick(QApplication.focusWidget(), key, modifier)
    assert number(moving) == moving.card.slider.value() == expected
    assert moving.card.rows[1].bars[1].accessibleName().startswith(f"Truth naevus, model says melanoma: {expected}")
    surplus = f"{expected - 48:,} more needless excisions" if expected > 48 else "nothing more"
    assert surplus in moving.strip.accessibleName()


def test_on_the_left_the_left_key_means_more(qtbot, page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, proposal=LEFT))
    page.begin_move()
    qtbot.keyClick(page.card.field, K.Key_Left)
    assert number(page) == 41


def test_enter_takes_it_once_it_was_touched_and_a_moment_has_passed(qtbot, offered, monkeypatch) -> None:
    given = answers(offered)
    monkeypatch.setattr("elicit_app.gui.question.pair_page.MOVE_LOCK_MS", 3_600_000)  # no busy machine is later
    qtbot.keyClick(offered, K.Key_E)
    qtbot.keyClick(offered.card.field, K.Key_Up)
    qtbot.keyClick(offered.card.field, K.Key_Return)
    assert not given, "too early"
    monkeypatch.undo()
    offered.end_move()
    offered.begin_move()
    qtbot.wait(360)
    qtbot.keyClick(offered.card.field, K.Key_Return)
    assert not given, "not touched"
    assert not offered.move_answers.equal.isEnabled()
    qtbot.keyClick(offered.card.field, K.Key_Up)
    qtbot.keyClick(offered.card.field, K.Key_Return)
    (answer,) = given
    assert (answer.reply, answer.strength) == ("equal", None)
    assert answer.moved == Moved("second", 1, 0, count=134, start=133)


def test_a_number_beyond_the_scale_is_not_taken(qtbot, moving) -> None:
    given = answers(moving)
    for key in (K.Key_9, K.Key_9, K.Key_9):
        qtbot.keyClick(moving.card.field, key)
    assert moving.card.field.text() == "999"
    assert not moving.move_answers.equal.isEnabled()
    qtbot.keyClick(moving.card.field, K.Key_Return)
    assert not given


def test_a_bound_is_an_answer_too(qtbot, moving) -> None:
    given = answers(moving)
    assert moving.move_answers.bound.text() == "Even 330 is less bad"
    qtbot.keyClick(moving.card.field, K.Key_N)
    (answer,) = given
    assert (answer.reply, answer.moved) == ("right", Moved("second", 1, 0, count=330, start=133))


def test_at_the_near_end_the_bound_is_the_other_way_round(qtbot, moving) -> None:
    given = answers(moving)
    qtbot.keyClick(moving.card.field, K.Key_Home)
    assert moving.move_answers.bound.text() == "Even 48 is worse"
    qtbot.mouseClick(moving.move_answers.bound, Qt.MouseButton.LeftButton)
    (answer,) = given
    assert (answer.reply, answer.moved) == ("left", Moved("second", 1, 0, count=48, start=133))


def test_escape_leads_back_to_the_choice_as_it_was_asked(qtbot, moving) -> None:
    given = answers(moving)
    qtbot.keyClick(moving.card.field, K.Key_End)
    qtbot.keyClick(QApplication.focusWidget(), K.Key_Escape)
    assert not moving.moving
    assert moving.answers.isVisible()
    assert not moving.card.field.isVisible()
    qtbot.keyClick(moving, K.Key_Left)
    (answer,) = given
    assert (answer.reply, answer.moved) == ("left", None)


def test_cannot_say_and_undo_work_as_ever(qtbot, moving) -> None:
    given, undone = answers(moving), []
    moving.undo_requested.connect(lambda: undone.append(True))
    qtbot.keyClick(moving.card.field, K.Key_Z, M.ControlModifier)
    assert undone
    qtbot.keyClick(moving.card.field, K.Key_S)
    assert [(answer.reply, answer.moved) for answer in given] == [("unsure", None)]


def test_where_it_is_proposed_the_page_opens_in_it(page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, proposal=replace(RIGHT, at_once=True)))
    assert page.moving
    assert page.card.field.hasFocus()
    assert page.headline.text() == "For 1,000 patients, make both results equally bad"


def test_the_slider_and_the_wheel(qtbot, moving) -> None:
    slider = moving.card.slider
    event = QWheelEvent(
        QPointF(5, 5),
        QPointF(slider.mapToGlobal(QPoint(5, 5))),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        M.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    for widget in (slider, moving.card.field):
        QApplication.sendEvent(widget, event)
    assert number(moving) == 133, "the wheel never changes a number"
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() - 2, slider.height() // 2))
    assert number(moving) == 330
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(2, slider.height() // 2))
    assert number(moving) == 48


def test_numbers_names_and_answers_stay_where_they_were(qtbot, offered) -> None:
    def places() -> list[object]:
        rows = offered.card.rows
        squares = [bar.place().squares for row in rows for bar in row.bars]
        return [*squares, *(row.name.geometry() for row in rows), offered.card.geometry(), offered.strip.geometry()]

    before, top = places(), offered.answers.geometry().top()
    offered.begin_move()
    for key in (K.Key_Home, K.Key_End):
        qtbot.keyClick(offered.card.field, key)
        assert places() == before
        assert offered.move_answers.geometry().top() == top


def test_a_screen_reader_hears_the_number_and_the_sentence(qtbot, moving) -> None:
    qtbot.keyClick(moving.card.field, K.Key_Up)
    interface = QAccessible.queryAccessibleInterface(moving.card.field)
    qtbot.waitUntil(lambda: "134" in interface.text(QAccessible.Text.Name))
    assert interface.text(QAccessible.Text.Name) == "Needless excisions in B, 134 of 660, to move from 48 to 330"
    assert interface.text(QAccessible.Text.Description) == (
        "A: 12 more missed melanomas are as bad as B: 86 more needless excisions: one counts as 7.2"
    )


@pytest.fixture
def shown(qtbot, skin):
    """Returns what shows a page of a size."""

    def show(width, height):
        page = QuestionPage(lock_ms=0)
        qtbot.addWidget(page)
        page.resize(width, height)
        page.begin(skin, "lpm")
        page.show()
        return page

    return show


@pytest.mark.parametrize("size", [(1280, 800), (800, 600)])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_field_slider_and_answers_are_whole(shown, qapp, ask, pairs, size, scale) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    page = shown(*size)
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, proposal=RIGHT))
    page.begin_move()
    field = page.card.field
    assert field.fontMetrics().horizontalAdvance("330") <= field.width()
    for height in (size[1], size[1] - 40):
        page.resize(size[0], height)
        for widget in (page.card.rows[1].name, field):
            assert widget.visibleRegion().boundingRect() == widget.rect(), "it is seen what is moved"
    page.resize(*size)
    bar = page.card.rows[1].bars[1]
    label = bar.place().label
    assert not label.intersects(bar.move_places().field)
    assert not label.isEmpty() or scale == 2.0
    for widget in (field, page.card.slider):
        inside = widget.geometry().translated(-bar.mapTo(page.card, QPoint(0, 0)))
        assert bar.rect().adjusted(-4, -4, 4, 4).contains(inside)
    least = page.minimumSizeHint()
    assert least.width() <= 1280 if scale == 2.0 else least.width() <= 800


@pytest.mark.parametrize(("size", "scale"), [((1093, 545), 1.0), ((1280, 640), 1.0), ((1366, 690), 1.25)])
def test_a_low_screen_shows_all_of_a_question(shown, qapp, ask, pairs, size, scale) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    page = shown(*size)
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, proposal=RIGHT))
    for begin in (lambda: None, page.begin_move):
        begin()
        assert page.body.height() <= page.area.viewport().height()
    bar = page.card.rows[1].bars[1]
    assert bar.frame.contains(bar.move_places().field)


def test_a_reason_goes_with_the_answer(qtbot, page, ask, pairs) -> None:
    given = answers(page)
    qtbot.keyClick(page, K.Key_R)
    assert page.reason.hasFocus()
    qtbot.keyClicks(page.reason, "too many scars")
    qtbot.keyClick(page.reason, K.Key_Return)
    assert not page.reason.isVisible()
    assert "too many scars" in page.note.text()
    qtbot.keyClick(page, K.Key_Left)
    assert [(answer.reply, answer.reason) for answer in given] == [("left", "too many scars")]
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, number=8))
    assert not page.note.text()


def test_a_reason_stays_with_an_answer_that_is_looked_at_again(qtbot, page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    again = ask(left, right, number=7, again=6)
    page.show_question(replace(again, previous=replace(again.previous, reason="too many scars")))
    assert "too many scars" in page.note.text()
    given = answers(page)
    qtbot.waitUntil(lambda: not page.locked)
    qtbot.keyClick(page, K.Key_Right)
    assert [(answer.reply, answer.reason) for answer in given] == [("right", "too many scars")]


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_the_field_for_a_reason_hides_no_answer_and_not_the_question(qtbot, qapp, page, scale) -> None:
    theme.apply(qapp, family="DejaVu Sans", scale=scale)
    page.resize(1280, 770)
    qtbot.wait(10)
    qtbot.keyClick(page, K.Key_R)
    field = page.reason.geometry()
    assert page.rect().contains(field)
    assert field.bottom() < page.answers.geometry().top()
    assert field.top() > page.headline.mapTo(page, page.headline.rect().bottomLeft()).y()


def test_a_reason_may_be_dropped(qtbot, page) -> None:
    given = answers(page)
    qtbot.keyClick(page, K.Key_R)
    qtbot.keyClicks(page.reason, "1 s")
    qtbot.keyClick(page.reason, K.Key_Escape)
    qtbot.keyClick(page, K.Key_Right)
    assert [(answer.reply, answer.reason) for answer in given] == [("right", "")]


def test_rows_may_stand_the_other_way_round(page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.show_question(ask(left, right))
    names = [row.name.text() for row in page.card.rows]
    page.show_question(ask(left, right, reversed_rows=True))
    assert [row.name.text() for row in page.card.rows] == names[::-1]


def test_the_sentence_is_the_terminals_whichever_way_round_the_rows_stand(page, skin, ask) -> None:
    left = np.array([[80, 31, 9], [48, 588, 24], [17, 21, 182]])
    right = np.array([[100, 19, 1], [133, 503, 24], [17, 21, 182]])
    for reversed_rows in (False, True):
        page.show_question(ask(left, right, reversed_rows=reversed_rows))
        printed = compare_pair(left, right, skin.wording, 1000, "lpm", reversed_rows=reversed_rows)
        assert page.strip.accessibleName() == printed.strip.sentence
        fewer = [row.mistake.many for row in printed.rows if row.larger == "left"]
        assert printed.strip.sentence.index(fewer[0]) < printed.strip.sentence.index(fewer[1])


def test_looking_again_shows_the_old_answer_and_a_way_back(page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, again=6, undoes="nothing"))
    assert "You preferred 12 fewer missed melanomas" in page.note.text()
    assert page.undo.text() == "Leave it as it was"
    page.show_question(ask(left, right, number=8))
    assert page.undo.text() == "Undo"


@pytest.mark.parametrize("size", [(1280, 800), (800, 600)])
@pytest.mark.parametrize("rows", [2, 3])
def test_the_slider_stands_under_the_squares_inside_its_frame(shown, ask, pairs, size, rows) -> None:
    page = shown(*size)
    _, left, right = pairs["three"]
    right = right.copy()
    if rows == 3:
        right[2, 0] += 5
        right[2, 2] -= 5
    page.show_question(ask(left, right, proposal=RIGHT))
    page.begin_move()
    assert len(page.card.rows) == rows
    bar = next(bar for row in page.card.rows for bar in row.bars if bar.moving is not None)
    slider = page.card.slider.geometry().translated(-bar.mapTo(page.card, QPoint(0, 0)))
    assert slider.top() >= bar.place().squares.bottom()
    assert slider.bottom() <= bar.frame.bottom() + 4
    field = page.card.field.geometry().translated(-bar.mapTo(page.card, QPoint(0, 0)))
    assert bar.frame.left() < field.left()


def test_the_title_names_what_is_asked(offered, page, ask, pairs) -> None:
    assert page.windowTitle() == "Question 7"
    page.begin_move()
    assert page.windowTitle() == "Question 7, make both equally bad"
    page.end_move()
    assert page.windowTitle() == "Question 7"
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, number=13, offer_break=True))
    assert page.windowTitle() == "Take a break?"


def test_a_far_pair_says_why_it_is_asked(page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, hypothetical=True, far=True))
    assert page.note.text().endswith("only a pair like this shows what counts more.")


def test_a_question_after_a_page_that_was_left_by_tab_does_not_look_selected(page, ask, pairs) -> None:
    _, left, right = pairs["three"]
    page.card.clearFocus()
    page.card.setFocus(Qt.FocusReason.TabFocusReason)
    selected = page.card.grab().toImage()
    page.show_question(ask(left, right))
    assert page.card.hasFocus()
    assert page.card.grab().toImage() != selected


@pytest.mark.parametrize(("size", "scale"), [((1280, 800), 1.0), ((1280, 800), 2.0), ((800, 600), 1.0)])
def test_the_two_middle_answers_stand_on_one_line(shown, qapp, ask, pairs, size, scale) -> None:
    theme.apply(qapp, scale=scale)
    page = shown(*size)
    _, left, right = pairs["three"]
    page.show_question(ask(left, right, proposal=RIGHT))
    for button in (page.answers.equalise, page.answers.unsure):
        assert button.text_height(button.width()) == button.text_height(2000)


@pytest.mark.parametrize("kept", [True, False])
def test_a_reason_typed_before_undo_is_kept_for_the_answer_that_follows(qtbot, page, ask, pairs, kept) -> None:
    _, left, right = pairs["three"]
    given = answers(page)
    qtbot.keyClick(page, K.Key_R)
    qtbot.keyClicks(page.reason, "too many scars")
    if kept:
        qtbot.keyClick(page.reason, K.Key_Return)
    for number in (6, 5):
        page.undo.click()
        page.show_question(ask(left, right, number))
        assert page.reason.text() == "too many scars"
    page.answers.a.click()
    assert given[-1].reason == "too many scars"
    page.show_question(ask(left, right, 6))
    assert page.reason.text() == "", "it was given with its answer"
