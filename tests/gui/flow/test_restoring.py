"""Starting again: the session that was open comes back, on the page where it stood."""

import threading

import numpy as np
import pytest

from elicit_app.gui.app import make_window
from elicit_app.gui.settings import load_settings
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.pair_words import compare_pair
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view
from elicit_app.study import open_study
from elicit_app.study.making import create_amounts_study


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


@pytest.fixture
def on_of(qtbot):
    """Wait for a page of a window to be shown, and return it."""

    def shown(window, name):
        qtbot.waitUntil(lambda: window.pages.shown is window.pages.__dict__.get(name))
        return getattr(window.pages, name)

    return shown


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


def test_after_a_crash_no_earlier_session_comes_back(qtbot, begin, places, finished, on_of):
    first = begin()
    first.flow.open(str(finished))
    on_of(first, "results")
    first.close()
    second = begin()
    on_of(second, "results")
    second.flow.show_start()
    assert load_settings(places.settings).session == ""
    second.flow.open("wine")
    on_of(second, "begin").begin.click()
    on_of(second, "practice")
    own = load_settings(places.settings).session
    assert own.startswith(str(places.data / "sessions" / "wine"))
    second.flow.open(str(finished))
    on_of(second, "results")
    assert load_settings(places.settings).session == str(finished)


def test_leaving_does_not_wait_for_a_computation_and_what_is_opened_next_does(begin, on_of, finished):
    window = begin()
    window.flow.open(str(finished))
    on_of(window, "results")
    go_on = threading.Event()
    computed = window.flow._sessions()._runner._worker.submit(go_on.wait, 60)
    window.flow.show_start()
    assert window.pages.shown is window.pages.start
    assert not computed.done()
    window.flow.open(str(finished))
    go_on.set()
    on_of(window, "results")  # and no sentence that the session is open elsewhere
    assert computed.done()


def test_closing_does_not_wait_for_what_is_only_shown(begin, on_of, finished, monkeypatch):
    window, begun, go_on = begin(), threading.Event(), threading.Event()

    def slow(*_):
        begun.set()
        yield go_on.wait(60)

    window.flow.open(str(finished))
    page = on_of(window, "results")
    monkeypatch.setattr("elicit_app.session.curves.curves_of", slow)
    monkeypatch.setattr("elicit_app.gui.flow.navigation.PATIENCE", 0.05)
    page.details.curves_requested.emit()
    assert begun.wait(60)
    page.review_requested.emit()
    assert not window.flow.close(), "the program ends with its computation, and not after it"
    assert not go_on.is_set()
    go_on.set()


def test_who_left_during_the_practice_comes_back_to_it(begin, on_of):
    first = begin()
    first.flow.open("wine")
    on_of(first, "begin").begin.click()
    on_of(first, "practice")
    first.close()
    second = begin()
    practice = on_of(second, "practice")
    assert practice.number == 1
    practice.finished.emit()
    on_of(second, "question")
    second.close()
    on_of(begin(), "question")  # it is not shown twice


def test_a_session_that_is_gone_is_not_missed(qtbot, begin, finished):
    first = begin()
    first.flow.open(str(finished))
    qtbot.waitUntil(lambda: first.pages.shown is first.pages.__dict__.get("results"))
    first.close()
    finished.unlink()
    second = begin()
    assert second.pages.shown is second.pages.start


def test_squares_keep_their_scale_in_a_session_that_is_opened_again(qtbot, begin, tmp_path):
    """Of amounts nothing says beforehand how many can be shown."""
    rng, columns = np.random.default_rng(1), [f"{what}_{label}" for what in ("true", "pred") for label in "abcde"]
    true = rng.random((120, 5)) < 0.3
    for name, shift in (("cautious", -1.0), ("eager", 0.3)):
        predicted = 1.5 * (2 * true - 1) + rng.standard_normal(true.shape) + shift > 0
        rows = np.hstack([true, predicted])
        np.savetxt(tmp_path / f"{name}.csv", rows, "%d", ",", header=",".join(columns), comments="")
    study = create_amounts_study(tmp_path / "moods", [tmp_path / "cautious.csv", tmp_path / "eager.csv"])
    path = tmp_path / "moods" / "sessions" / "a.session.jsonl"
    shown = []
    with Session.create(study, BayesSetting(seed=5, questions=9), path) as session:
        while not shown or shown[-1] >= max(shown):
            if shown:
                session.answer("right")
            view = question_view(session, 0)
            words = compare_pair(view.left, view.right, study.wording, view.population, session.setting.family)
            shown.append(max(max(row.left, row.right) for row in words.rows))
    window = begin()
    window.flow.open(str(path))
    qtbot.waitUntil(lambda: window.pages.shown is window.pages.__dict__.get("recap"))
    window.pages.recap.proceed.click()
    qtbot.waitUntil(lambda: window.pages.shown is window.pages.__dict__.get("question"))
    assert window.pages.question.card.largest >= max(shown)


def test_another_result_begins_with_its_first_tab(qtbot, begin, finished):
    window = begin()
    shown = lambda: window.pages.shown is window.pages.__dict__.get("results")  # noqa: E731
    window.flow.open(str(finished))
    qtbot.waitUntil(shown)
    window.pages.results.tabs.setCurrentIndex(4)
    window.flow.show_start()
    window.flow.open(str(finished))
    qtbot.waitUntil(shown)
    assert window.pages.results.tabs.currentIndex() == 0
