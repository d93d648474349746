"""Orders stated before the questions: added, taken out, refused in words, and handed to the session."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from elicit_app.gui.elements.buttons import LinkButton
from elicit_app.gui.pages.messages import RecapPage
from elicit_app.gui.setup.begin_page import BeginPage
from elicit_app.registry import setting_of
from elicit_app.session.packing import packed, write_pack
from elicit_app.session.result import result_view
from elicit_app.session.session import Session
from elicit_app.session.view_builders import recap_view
from elicit_app.study import open_study

WINE = open_study("wine")


@pytest.fixture
def page(qtbot, tmp_path):
    page = BeginPage()
    qtbot.addWidget(page)
    page.begun = []
    page.begin_requested.connect(page.begun.append)
    page.show_study(WINE, str(tmp_path), 3)
    page.resize(1280, 800)
    page.show()
    return page


def state(page, one, other):
    """State an order the way a person does: open the form, choose twice, press the button."""
    page.settings.open()
    form = page.orders
    if not form.first.isVisible():
        form.state.click()
    for box, name in ((form.first, one), (form.second, other)):
        box.setCurrentIndex(box.findText(name))
    QTest.keyClick(form.add, Qt.Key.Key_Space)


def stated(page):
    page.begin.click()
    orders = page.begun[-1].setting.orders
    return None if not orders else [str(order) for order in orders]


def links(page):
    """Return what is stated, as a screen reader hears it, with the link that takes it out."""
    QApplication.processEvents()  # what is made anew is shown when the loop comes round
    found = [link for link in page.orders.findChildren(LinkButton) if link.accessibleName().startswith("Take out: ")]
    return {link.accessibleName().removeprefix("Take out: "): link for link in found if link.isVisible()}


def test_nobody_has_to_state_anything(page):
    assert not page.orders.first.isVisible()
    assert stated(page) is None


def test_what_is_added_is_shown_and_begun_with_and_may_be_taken_out_again(page):
    state(page, "Barolo sold as Barbera", "Barbera sold as Barolo")
    state(page, "Barbera sold as Barolo", "Grignolino sold as Barolo")
    state(page, "Barolo sold as Barbera", "Barbera sold as Barolo")
    assert stated(page) == ["Barolo:Barbera<=Barbera:Barolo", "Barbera:Barolo<=Grignolino:Barolo"]
    shown = links(page)
    assert list(shown) == [
        "One Barolo sold as Barbera is never worse than one Barbera sold as Barolo",
        "One Barbera sold as Barolo is never worse than one Grignolino sold as Barolo",
    ]
    QTest.keyClick(shown["One Barolo sold as Barbera is never worse than one Barbera sold as Barolo"], Qt.Key.Key_Space)
    assert stated(page) == ["Barbera:Barolo<=Grignolino:Barolo"]


def test_a_circle_and_a_mistake_against_itself_are_refused_at_once(page):
    state(page, "Barolo sold as Barbera", "Barbera sold as Barolo")
    state(page, "Barbera sold as Barolo", "Barolo sold as Barbera")
    assert page.orders.refused.isVisible()
    assert page.orders.refused.text().startswith(
        "One Barbera sold as Barolo is never worse than one Barolo sold as Barbera: this forms a circle"
    )
    state(page, "Barbera sold as Barolo", "Barbera sold as Barolo")
    assert page.orders.refused.text() == "Choose two different mistakes."
    state(page, "Barbera sold as Barolo", "Grignolino sold as Barolo")
    assert not page.orders.refused.isVisible()
    assert len(stated(page)) == 2


def test_what_was_chosen_and_not_added_is_not_lost_in_silence(page):
    page.settings.open()
    page.orders.state.click()
    page.orders.first.setCurrentIndex(1)
    page.begin.click()
    assert page.begun == []
    assert "did not add it" in page.notice.sentence


def test_each_family_has_its_own_orders_and_a_published_search_takes_none(page):
    state(page, "Barolo sold as Barbera", "Barbera sold as Barolo")
    page.family.alike.radio.click()
    assert links(page) == {}
    state(page, WINE.wording.any_mistake[0].name, WINE.wording.any_mistake[2].name)
    assert stated(page) == ["Barolo<=Barbera"]
    page.family.differ.radio.click()
    assert stated(page) == ["Barolo:Barbera<=Barbera:Barolo"]
    page.asking.procedure.setCurrentIndex(page.asking.procedure.findData("lpm"))
    assert not page.orders.isVisible()
    assert stated(page) is None


class TestOrderOfTheClasses:
    def choose(self, page, place, name):
        """Choose a class the way a person does: the box at a place, by the letters of its name."""
        box = page.class_order.boxes[place]
        box.setFocus()
        QTest.keyClicks(box, name)

    def ordered(self, page):
        page.begin.click()
        return page.begun[-1].setting.ordered

    def test_it_is_that_of_the_study_until_two_classes_are_exchanged(self, page):
        assert self.ordered(page) is None
        page.settings.open()
        page.class_order.stated.box.click()
        assert self.ordered(page) == WINE.classes
        self.choose(page, 0, "grig")
        assert self.ordered(page) == ("Grignolino", "Barolo", "Barbera")
        assert [box.currentText() for box in page.class_order.boxes] == ["Grignolino", "Barolo", "Barbera"]
        assert "Grignolino called Barbera is never less bad than Grignolino called Barolo" in (
            page.class_order.stated.box.accessibleDescription()
        )
        page.class_order.stated.box.click()
        assert self.ordered(page) is None

    def test_it_applies_where_wrong_answers_differ_and_a_belief_keeps_to_it(self, page, tmp_path, many_classes):
        page.settings.open()
        page.class_order.stated.box.click()
        page.family.alike.radio.click()
        assert not page.class_order.isVisible()
        assert self.ordered(page) is None
        page.family.differ.radio.click()
        assert self.ordered(page) == WINE.classes
        page.asking.procedure.setCurrentIndex(page.asking.procedure.findData("lpm"))
        assert not page.class_order.isVisible()
        page.asking.procedure.setCurrentIndex(page.asking.procedure.findData("bayes"))
        for study, applies in ((open_study("breast-cancer"), False), (many_classes(5), True), (many_classes(6), False)):
            page.show_study(study, str(tmp_path), 3)
            assert page.class_order.isVisible() == applies
            assert self.ordered(page) is None

    def test_of_grades_it_is_asked_for_and_proposed(self, page, tmp_path, named_classes):
        assert "order" not in page.settings.button.accessibleDescription()
        page.show_study(named_classes(("mild", "none", "severe", "moderate")), str(tmp_path), 3)
        assert page.settings.button.accessibleDescription().startswith("are the classes in an order?; ")
        page.settings.open()
        page.class_order.stated.box.click()
        assert page.settings.button.accessibleDescription().startswith("the classes are in an order; ")
        assert self.ordered(page) == ("none", "mild", "moderate", "severe")

    def test_an_order_that_contradicts_it_is_refused_in_words(self, page):
        state(page, "Barolo sold as Barbera", "Barolo sold as Grignolino")
        page.class_order.stated.box.click()
        begun = len(page.begun)
        page.begin.click()
        assert len(page.begun) == begun
        assert "contradict each other" in page.notice.sentence


def test_whoever_answers_elsewhere_reads_what_was_stated(page, tmp_path):
    setting = setting_of("bayes", ordered=WINE.classes)
    path = write_pack(packed(WINE, setting), tmp_path / "wine.elicit")
    page.show_study(open_study(path), str(tmp_path), 3)
    assert page.notice.sentence.startswith("Stated as certain: The classes are in an order: Barolo, Grignolino and")
    assert not page.settings.isVisible()
    page.show_study(WINE, str(tmp_path), 3)
    assert not page.notice.isVisible()


def test_new_words_keep_what_was_stated_and_another_study_does_not(page, tmp_path):
    state(page, "Barolo sold as Barbera", "Barbera sold as Barolo")
    page.show_study(replace(WINE, title="Other words"), str(tmp_path), 3)
    assert len(links(page)) == 1
    page.show_study(open_study("traffic-light"), str(tmp_path), 3)
    assert links(page) == {}
    assert stated(page) is None


def test_from_the_form_to_every_draw_of_the_result(page, qtbot, tmp_path):
    state(page, "Barolo sold as Barbera", "Barbera sold as Barolo")
    page.asking.questions.setValue(5)
    page.begin.click()
    begun = page.begun[-1]
    with Session.create(begun.study, begun.setting, tmp_path / "one.session.jsonl") as session:
        for _ in range(5):
            session.answer("left", seconds=5.0)
        recap = RecapPage()
        qtbot.addWidget(recap)
        recap.show_view(recap_view(session), "Wine")
        recap.show()
        view = result_view(session)
    assert recap.stated.isVisible()
    assert recap.stated.text() == "One Barolo sold as Barbera is never worse than one Barbera sold as Barolo."
    sizes = np.abs(view.metric.samples)
    assert (sizes[:, 1] <= sizes[:, 4] + 1e-12).all()
