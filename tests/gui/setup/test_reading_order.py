"""Tab goes where the eye goes, also on pages whose rows are made while they are shown."""

import pytest

from elicit_app.gui.elements.buttons import LinkButton
from elicit_app.gui.setup.start_page import RowView, StartPage, StartView
from elicit_app.gui.setup.study_page import StudyPage
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


@pytest.mark.parametrize("times", [1, 2])
def test_models_are_visited_before_the_foot_however_often_the_page_is_filled(shown, visited, qtbot, times):
    page = StudyPage()
    shown(page)
    for _ in range(times):
        page.show_study(open_study("digits"), None)
        qtbot.wait(20)
    name, out = page.models.fields[-1], page.models.findChildren(LinkButton)[-1]
    assert visited(name, 3) == [name, out, page.models.add, page.back]
