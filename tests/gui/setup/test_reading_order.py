"""Tab goes where the eye goes, also on pages whose rows are made while they are shown."""

from dataclasses import replace

import pytest

from elicit_app.gui.elements.buttons import Button, LinkButton
from elicit_app.gui.pages.review import ReviewPage
from elicit_app.gui.setup.start_page import RowView, StartPage, StartView
from elicit_app.gui.setup.study_page import StudyPage
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.session import Session
from elicit_app.session.view_builders import review_view
from elicit_app.study import open_study


def test_the_first_page_is_visited_column_by_column(shown, visited, qtbot):
    page, rows = StartPage(), tuple(RowView(str(n), "a line", "", str(n)) for n in range(6))
    page.show_view(StartView(None, rows[:2], rows))
    shown(page)
    recent = page.recent.rows
    expected = [page.drop.primary, *page.examples.rows, page.folder, *recent, page.all_recent, page.laboratory]
    assert visited(page.drop.primary, len(expected) - 1) == expected
    page.all_recent.click()
    qtbot.wait(10)
    assert visited(page.folder, len(rows)) == [page.folder, *page.recent.rows]


def test_two_answers_to_one_pair_are_visited_before_the_list_of_all(shown, visited, tmp_path):
    page, study = ReviewPage(), open_study("wine")
    with Session.create(study, BayesSetting(seed=1), tmp_path / "a.session.jsonl") as session:
        for _ in range(2):
            session.answer("left")
        view = replace(review_view(session), contradictions=((0, 1),))
    page.show_review(view, study.wording, "lpm")
    shown(page)
    page.resize(1280, 800)
    choices = page.contradiction.findChildren(Button)
    expected = [page.finish, *(one for one in choices if one.isVisible()), page.copy, page.table]
    assert visited(page.finish, len(expected) - 1) == expected


@pytest.mark.parametrize("times", [1, 2])
def test_models_are_visited_before_the_foot_however_often_the_page_is_filled(shown, visited, qtbot, times):
    page = StudyPage()
    shown(page)
    for _ in range(times):
        page.show_study(open_study("digits"), None)
        qtbot.wait(20)
    name, out = page.models.fields[-1], page.models.findChildren(LinkButton)[-1]
    assert visited(name, 3) == [name, out, page.models.add, page.back]
