"""The practice page: three questions, feedback where the answers were, and then the questions."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from elicit_app.gui import theme
from elicit_app.gui.question.answers import AnswerChoice
from elicit_app.gui.question.page import PracticePage


@pytest.fixture
def practice(shown, long_words) -> PracticePage:
    page = PracticePage()
    page.begin(long_words, "lpm")
    return shown(page)


def test_where_squares_are_left_out_nothing_says_what_they_mean(practice) -> None:
    assert practice.card.legend.isVisible()
    practice.set_numbers_only(True)
    assert all(bar.place().bar is None for bar in practice.card.rows[0].bars)
    assert not practice.card.legend.isVisible()
    practice.set_numbers_only(False)
    assert practice.card.legend.isVisible()


def test_a_better_side_a_trade_and_an_equal_point_then_the_questions(qtbot, practice) -> None:
    done: list[str] = []
    practice.finished.connect(lambda: done.append("finished"))
    assert (practice.bar.strong.text(), practice.bar.quiet.text()) == ("Practice 1 of 3", "does not count")
    qtbot.keyClick(practice, Qt.Key.Key_Right)
    assert practice.feedback.isVisible()
    assert not practice.answers.isVisible()
    assert practice.feedback.headline.text() == "You chose B, and B is better whatever you value"
    assert not practice.feedback.again.isVisible()
    assert practice.feedback.next.hasFocus()
    assert practice.feedback.next.keys == ("Enter",)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert practice.number == 2
    assert len(practice.card.rows) == 2
    qtbot.keyClick(practice, Qt.Key.Key_Down)
    assert practice.feedback.headline.text() == "You said about equal"
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert practice.moving
    qtbot.keyClick(practice.card.field, Qt.Key.Key_Up)
    qtbot.wait(360)
    qtbot.keyClick(practice.card.field, Qt.Key.Key_Return)
    assert practice.feedback.headline.text().startswith("You made them equal")
    assert not done
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert done == ["finished"]


def test_undo_is_practised_too(qtbot, practice) -> None:
    qtbot.keyClick(practice, Qt.Key.Key_Right)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    qtbot.keyClick(practice, Qt.Key.Key_Left)
    assert practice.feedback.again.text() == "Undo"
    qtbot.keyClick(practice, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert practice.answers.isVisible()
    assert practice.number == 2
    qtbot.keyClick(practice, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert practice.number == 1


@pytest.mark.parametrize("key", [Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_S])
def test_another_answer_may_be_tried_again(qtbot, practice, key) -> None:
    qtbot.keyClick(practice, key)
    assert practice.feedback.headline.text().startswith("Look once more: B has ")
    assert practice.feedback.again.hasFocus()
    assert (practice.feedback.again.keys, practice.feedback.next.keys) == (("Enter",), ()), "what Enter presses"
    qtbot.keyClick(practice, Qt.Key.Key_Right)
    assert practice.feedback.headline.text().startswith("Look once more"), "an answer needs the answers"
    qtbot.keyClick(practice.feedback.again, Qt.Key.Key_Space)
    assert practice.number == 1
    assert practice.answers.isVisible()
    qtbot.keyClick(practice, Qt.Key.Key_Right)
    assert practice.feedback.headline.text().startswith("You chose B")


def test_the_practice_may_be_skipped(qtbot, practice) -> None:
    done: list[str] = []
    practice.skipped.connect(lambda: done.append("skipped"))
    qtbot.mouseClick(practice.skip, Qt.MouseButton.LeftButton)
    assert done == ["skipped"]


def test_the_legend_stands_where_the_questions_have_their_folded_line(practice) -> None:
    legend = QAccessible.queryAccessibleInterface(practice.card.legend).text(QAccessible.Text.Name)
    assert legend == "A grey square: one Krankenhauspatientinnen. Outlined: more than on the other side."
    assert practice.card.legend.isVisible()
    assert not practice.card.fold.isVisible()
    assert practice.card.accessibleName().startswith("Practice 1. For 1,000")


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (680, 370)])
def test_feedback_takes_the_place_of_the_answers(qtbot, qapp, long_words, size, scale) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    page = PracticePage()
    qtbot.addWidget(page)
    page.resize(*size)
    page.begin(long_words, "dlpm")
    page.show()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
        page.begin(long_words, "dlpm")
        before = page.answers.mapTo(page, QPoint(0, page.answers.height())).y()
        page.answers.given.emit(AnswerChoice("right" if key == Qt.Key.Key_Right else "left"))
        after = page.feedback.mapTo(page, QPoint(0, page.feedback.height())).y()
        assert page.answers_scroll or abs(after - before) <= 2
        seen = page.feedback.visibleRegion().boundingRect().height()
        assert seen == page.feedback.height() or seen >= 0.8 * page.area.height(), "nobody need look for it"
        assert page.feedback.width() == theme.content_width(size[0])
        for label in (page.feedback.headline, page.feedback.sentence):
            assert label.heightForWidth(label.width()) <= label.height() + 1


def test_the_page_fits_800_by_600(practice) -> None:
    least = practice.minimumSizeHint()
    assert least.width() <= 800
    assert least.height() <= 600
    practice.answers.given.emit(AnswerChoice("left"))
    assert practice.minimumSizeHint().height() <= 600


def test_tab_visits_the_answers_as_they_stand_and_skipping_last(qtbot, practice) -> None:
    qtbot.keyClick(practice, Qt.Key.Key_Right)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    practice.answers.slightly_a.setFocus()
    for widget in (practice.answers.equalise, practice.answers.unsure):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is widget
    practice.answers.clearly_b.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is practice.skip
