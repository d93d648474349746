"""Starting again: the session that was open comes back, on the page where it stood."""

import pytest

from elicit_app.gui.app import make_window
from elicit_app.gui.settings import load_settings
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.session import Session
from elicit_app.study import open_study


@pytest.fixture
def begin(qtbot, appearance, places, dialogs):
    def start():
        window = make_window(appearance, places, dialogs)
        qtbot.addWidget(window, before_close_func=lambda w: w.flow.close())
        window.flow.restore()
        window.show()
        return window

    return start


@pytest.fixture
def finished(places):
    path = places.data / "sessions" / "breast-cancer" / "a.session.jsonl"
    with Session.create(open_study("breast-cancer"), BayesSetting(seed=5, questions=5), path, expert="Ada") as session:
        for _ in range(5):
            session.answer("left")
        session.finish()
    return path


def test_the_session_that_was_open_comes_back_with_its_tab(qtbot, begin, places, finished):
    first = begin()
    assert first.pages.shown is first.pages.start
    first.flow.open(str(finished))
    qtbot.waitUntil(lambda: first.pages.shown is first.pages.__dict__.get("results"))
    first.pages.results.tabs.setCurrentIndex(4)
    first.close()
    assert (load_settings(places.settings).session, load_settings(places.settings).tab) == (str(finished), 4)
    second = begin()
    qtbot.waitUntil(lambda: second.pages.shown is second.pages.__dict__.get("results"))
    assert second.pages.results.tabs.currentIndex() == 4
    second.flow.show_start()
    second.close()
    assert load_settings(places.settings).session == ""


def test_a_session_that_is_gone_is_not_missed(qtbot, begin, finished):
    first = begin()
    first.flow.open(str(finished))
    qtbot.waitUntil(lambda: first.pages.shown is first.pages.__dict__.get("results"))
    first.close()
    finished.unlink()
    second = begin()
    assert second.pages.shown is second.pages.start
