"""What is asked before the first question: in reading order, nothing typed lost, begun from any field."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from elicit_app.gui.setup.begin_page import BeginPage
from elicit_app.registry import setting_of
from elicit_app.session.packing import packed, write_pack
from elicit_app.study import open_study
from elicit_app.study.folder import write_folder

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def page(shown, tmp_path):
    page = BeginPage()
    page.begun = []
    page.begin_requested.connect(page.begun.append)
    page.show_study(open_study("traffic-light"), str(tmp_path), 3)
    return shown(page)


def test_tab_goes_from_the_name_down_the_page(page, visited, qtbot):
    qtbot.wait(10)
    guesses = list(page.guesses.fields.values())
    places = visited(page.expert, len(guesses) + 3)
    expected = [page.expert, page.purpose.rows["choose"].radio, *guesses, page.settings.button]
    assert places[: len(expected)] == expected


def test_tab_still_follows_the_eye_after_the_rows_were_made_anew(page, visited, qtbot):
    page.settings.open()
    page.family.alike.radio.click()
    page.family.differ.radio.click()
    page.resize(1280, 800)
    qtbot.wait(20)
    guesses = list(page.guesses.fields.values())
    assert visited(guesses[0], len(guesses) - 1) == guesses


def test_one_model_is_spoken_of_as_one(page, qtbot):
    study = open_study("traffic-light")
    for models, words in ((study.models, "these models"), (study.models[:1], "this model")):
        page.show_study(replace(study, models=models), "elsewhere", 3)
        qtbot.wait(10)  # until the words before are gone
        said = " ".join(label.text() for label in page.briefing.findChildren(QLabel) if label.isVisible())
        assert f"How your answers rate {words}" in said
        assert ("which model is chosen" in said) == (len(models) > 1)


def test_what_was_typed_comes_back_with_its_row(page):
    key, field = next(iter(page.guesses.fields.items()))
    field.setText("20")
    page.family.alike.radio.click()
    page.resize(1280, 800)
    page.family.differ.radio.click()
    assert page.guesses.fields[key].text() == "20"
    page.show_study(open_study("wine"), "elsewhere", 3)
    assert all(not one.text() for one in page.guesses.fields.values())


@pytest.mark.parametrize("where", ["expert", "guess", "purpose", "settings"])
def test_ctrl_enter_begins_from_any_field_with_all_that_was_typed(page, where):
    page.expert.setText("road safety")
    guess = next(iter(page.guesses.fields.values()))
    guess.setText("20")
    places = {
        "expert": page.expert,
        "guess": guess,
        "purpose": page.purpose.rows["choose"].radio,
        "settings": page.settings.button,
    }
    places[where].setFocus()
    QTest.keyClick(places[where], Qt.Key.Key_Return, CTRL)
    (begun,) = page.begun
    assert begun.expert == "road safety"
    assert [one.ratio for one in begun.guesses] == [20]
    assert begun.setting.purpose == "choose"


def test_the_purpose_is_chosen_by_keys_and_begun_with(page):
    radio = page.purpose.rows["choose"].radio
    radio.setFocus()
    QTest.keyClick(radio, Qt.Key.Key_Down)
    assert page.purpose.purpose == "costs"
    page.begin.click()
    assert page.begun[-1].setting.purpose == "costs"


def test_the_wheel_never_changes_a_field(page):
    page.settings.open()
    page.asking.researchers.setChecked(True)
    QApplication.processEvents()
    down = QPoint(0, -120)
    for box in (page.asking.questions, page.asking.procedure, page.orders.first):
        box.setFocus()
        before = box.value() if hasattr(box, "value") else box.currentIndex()
        middle = QPointF(box.rect().center())
        none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
        spin = QWheelEvent(
            middle, box.mapToGlobal(middle), down, down, none, Qt.KeyboardModifier.NoModifier, phase, False
        )
        QApplication.sendEvent(box, spin)
        assert (box.value() if hasattr(box, "value") else box.currentIndex()) == before


def test_the_closed_settings_say_what_is_set(page):
    said = page.settings.button.accessibleDescription()
    assert said == "some wrong answers worse than others; usually at most 22 questions"
    page.family.alike.radio.click()
    page.asking.questions.setValue(30)
    assert page.settings.button.accessibleDescription() == "all wrong answers equally bad; usually at most 36 questions"


def test_what_is_set_for_one_study_is_not_set_for_another(page):
    page.asking.questions.setValue(30)
    page.asking.procedure.setCurrentIndex(1)
    page.show_study(open_study("traffic-light"), "", 3)
    assert page.asking.procedure.currentIndex() == 1, "the same study"
    page.show_study(open_study("wine"), "", 3)
    said = page.settings.button.accessibleDescription()
    assert said == "some wrong answers worse than others; usually at most 22 questions"


@pytest.mark.parametrize(("questions", "minutes", "most"), [(7, 5, 11), (60, 27, 72)])
def test_whoever_opens_a_study_that_was_sent_reads_how_long_it_takes_as_it_was_set(
    page, tmp_path, questions, minutes, most
):
    study = write_folder(tmp_path / "wine", open_study("wine"))
    sent = write_pack(packed(study, setting_of("bayes", questions=questions)), tmp_path / "wine.elicit")
    page.show_study(open_study(str(sent)), "", 3)
    assert f"About {minutes} minutes" in page.header.line.text()
    assert f"up to {most} questions" in page.purpose.rows["costs"].button.accessibleDescription()


def test_a_fraction_is_asked_for_by_researchers_without_orders(page):
    page.settings.open()
    page.asking.researchers.click()
    assert page.orders.isVisible()
    page.asking.fraction.box.click()
    assert not page.orders.isVisible()
    page.begin.click()
    assert page.begun[-1].setting.family == "lfpm"
    page.asking.procedure.setCurrentIndex(1)
    assert not page.asking.fraction.isVisible()
    page.begin.click()
    assert (page.begun[-1].setting.procedure, page.begun[-1].setting.family) == ("dlpm", "dlpm")


def test_the_example_of_a_worse_answer_is_the_right_way_round(page):
    assert page.family.differ.button.accessibleDescription() == (
        "For example, red called green may be worse than red called yellow."
    )


def test_many_mistakes_are_guessed_six_at_a_time(shown, tmp_path, many_classes):
    page = BeginPage()
    page.show_study(many_classes(20), str(tmp_path), 3)
    shown(page)
    assert len(page.guesses.fields) == 6
    first = next(iter(page.guesses.fields.values()))
    first.setText("3")
    page.guesses.more.click()
    assert len(page.guesses.fields) == 12
    assert [one.ratio for one in page.guesses.guesses()] == [3]
    page.begin.click()


def test_the_purpose_that_the_study_states_is_preselected(page):
    study = open_study("traffic-light")
    page.show_study(replace(study, purpose="costs"), "", 1)
    assert page.purpose.purpose == "costs"
    page.purpose.rows["both"].radio.setChecked(True)
    page.show_study(replace(study, purpose="costs", title="Back from the words"), "", 1)
    assert page.purpose.purpose == "both"
    page.show_study(study, "", 1)
    assert page.purpose.purpose == "choose"
