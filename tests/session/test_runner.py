import gc
import itertools
import queue
import threading
import time
import weakref
from dataclasses import replace
from unittest.mock import Mock

import pytest

from elicit_app.problem import Problem
from elicit_app.registry.entries import read_orders
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.files import read
from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view
from elicit_app.session.views import ProblemView, QuestionView, ResultView, ReviewView, SittingOverView, UnsavedView

PATIENCE = 600


class Window:
    """Does what a window does: takes views, emits choices."""

    def __init__(self, session, *, look_ahead=True):
        self.views = queue.Queue()
        self.runner = SessionRunner(session, self.views.put, look_ahead=look_ahead)

    def next(self, kind=QuestionView):
        view = self.views.get(timeout=PATIENCE)
        assert isinstance(view, kind), view
        return view

    def answer(self, view, reply, **more):
        self.runner.answer(view.request, reply, **more)


@pytest.fixture
def window(session):
    window = Window(session)
    yield window
    window.runner.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("session")]


def answered(window, replies):
    window.runner.start()
    view = window.next()
    for reply in replies:
        if isinstance(view, SittingOverView):
            break
        window.answer(view, reply, seconds=3.0)
        view = window.next((QuestionView, SittingOverView))
    return view


def test_curves_take_as_long_as_they_do_only_for_who_waits_for_them(window, monkeypatch):
    begun = threading.Event()

    def endless(*_):
        while True:
            begun.set()
            yield

    answered(window, ["left"] * 5)
    window.runner.result()
    window.next(ResultView)
    monkeypatch.setattr("elicit_app.session.curves.curves_of", endless)
    window.runner.curves()
    assert begun.wait(PATIENCE)
    window.runner.review()
    window.next(ReviewView)


def test_it_is_known_whether_the_file_still_lacks_what_was_requested(window):
    view, go_on = answered(window, []), threading.Event()
    assert not window.runner.unwritten
    window.runner._worker.submit(go_on.wait, PATIENCE)
    window.runner.curves()
    assert not window.runner.unwritten, "what is only shown writes nothing"
    window.answer(view, "left")
    window.answer(view, "left")  # pressed twice: the second is dropped
    assert window.runner.unwritten
    go_on.set()
    window.next()
    while window.runner.unwritten:
        time.sleep(0.01)
    assert len(read(window.runner._session.path).events) == 2


def test_what_was_prepared_does_not_keep_a_closed_session_in_memory(session):
    gc.disable()  # so that only what nothing refers to goes
    try:
        window = Window(session)
        window.runner.start()
        window.next()  # with a dozen consequences waiting to be prepared
        window.runner.close()
        runner = weakref.ref(window.runner)
        del window
        assert runner() is None
    finally:
        gc.enable()


def test_questions_answers_undo_and_redo_as_a_window_sees_them(window):
    view = answered(window, ["left", "equal"])
    assert (view.number, view.previous.number, view.previous.reply) == (3, 2, "equal")
    window.runner.undo()
    back = window.next()
    assert (back.number, back.can_redo, back.previous.reply) == (2, True, "left")
    assert back.progress.asked == 1
    window.runner.redo()
    again = window.next()
    assert (again.left == view.left).all()
    assert (again.right == view.right).all()
    assert not again.can_redo


def test_an_answer_to_a_question_that_no_longer_stands_is_dropped(window):
    window.runner.start()
    view = window.next()
    window.answer(view, "left")
    window.answer(view, "right")
    second = window.next()
    assert second.number == 2
    window.answer(view, "left")
    window.answer(second, "equal")
    third = window.next()
    assert third.number == 3
    assert [entry.answer.choice == "equal" for entry in window.runner._session.state.entries] == [False, True]


def looked_ahead(window):
    """Wait until everything is ready that is computed ahead.

    What showed the question may still be at work; then each part queues the next.
    """
    for _ in range(3):
        done = threading.Event()
        window.runner._queue_idle(done.set)
        assert done.wait(PATIENCE)


def test_the_next_question_is_ready_for_every_reply_before_the_click(window):
    window.runner.start()
    view = window.next()
    session = window.runner._session
    for reply in ("left", "right", "equal", "unsure"):
        looked_ahead(window)
        known = dict(session._steps._steps)
        window.answer(view, reply)
        view = window.next()
        assert any(step is session.next() for step in known.values())


def test_the_next_question_is_ready_for_likely_counts_and_for_the_one_that_stands(window):
    window.runner.start()
    view = window.next()
    while view.proposal is None or not view.proposal.at_once:
        window.answer(view, "left")
        view = window.next()
    session = window.runner._session
    likely = session.likely_counts(session.asking())
    odd = replace(likely[0], count=next(n for n in range(view.proposal.least + 7, view.proposal.most) if n % 10))
    assert odd.count not in [moved.count for moved in likely]
    window.runner.prepare_count(view.request, odd)
    for moved in (likely[0], odd):
        looked_ahead(window)
        known = dict(session._steps._steps)
        window.answer(view, "equal", moved=moved, seconds=20.0)
        window.next()
        assert any(step is session.next() for step in known.values()), moved
        window.runner.undo()
        view = window.next()
        window.runner.prepare_count(view.request, odd)


def test_the_whole_way_to_the_result(study, journal_path, tmp_path):
    session = Session.create(study, BayesSetting(seed=5, questions=6), journal_path, expert="Ada")
    window = Window(session, look_ahead=False)
    over = answered(window, itertools.cycle(["left", "right", "equal"]))
    assert isinstance(over, SittingOverView)
    assert over.can_continue
    given = len(session.state.entries)
    window.runner.more()
    assert window.next().number == given + 1
    window.runner.stop()
    review = window.next(ReviewView)
    assert [answer.number for answer in review.answers] == list(range(1, given + 1))
    assert review.can_finish
    window.runner.take_out(2)
    assert window.next(ReviewView).answers[1].fit == "taken out"
    window.runner.look_again(3)
    again = window.next()
    assert (again.again, again.number) == (3, 3)
    assert (again.left == review.answers[2].left).all()
    window.answer(again, "left")
    assert window.next(ReviewView).answers[2].reply == "left"
    window.runner.look_again(3)
    window.next()
    window.runner.undo()
    assert window.next(ReviewView).answers[2].reply == "left", "looking again can be left without a change"
    window.runner.undo()
    assert window.next(ReviewView).answers[2].reply == "equal"
    window.runner.finish()
    result = window.next(ResultView)
    assert result.can_export
    assert result.metric.provenance.expert == "Ada"
    assert len(result.models) == len(study.models)
    window.runner.close()
    with Session.open(journal_path, study) as closed:
        assert closed.state.phase == "finished"
        assert len(closed.state.entries) == given


def test_a_break_is_offered_once_after_twelve_answers(study, journal_path):
    window = Window(Session.create(study, BayesSetting(seed=3, questions=30), journal_path), look_ahead=False)
    view = answered(window, ["left"] * 12)
    assert (view.number, view.offer_break) == (13, True)
    window.answer(view, "left")
    assert not window.next().offer_break
    window.runner.undo()
    assert not window.next().offer_break
    window.runner.close()


def test_no_break_is_offered_before_the_last_question(study, journal_path):
    with Session.create(study, BayesSetting(seed=3, questions=1), journal_path) as session:
        view = question_view(session, 1, offer_break=True)
        assert (view.last, view.offer_break) == (False, True)
        session.answer("left")
        view = question_view(session, 1, offer_break=True)
        assert (view.last, view.offer_break) == (True, False)


def test_an_answer_that_cannot_be_written_is_not_given_and_can_be_tried_again(window, session, file_limit):
    view = answered(window, ["left", "right"])
    before = session.path.read_bytes()
    file_limit(len(before) + 50)
    window.answer(view, "equal", seconds=8.0)
    unsaved = window.next(UnsavedView)
    assert "the disk is full" in unsaved.sentence
    assert unsaved.question is view
    window.runner.retry()
    assert window.next(UnsavedView).question is view
    window.runner.undo()
    assert window.next(UnsavedView).question is view
    window.answer(view, "equal", seconds=8.0)
    window.next(UnsavedView)
    file_limit(-1)
    assert session.path.read_bytes() == before
    window.runner.retry()
    assert window.next().number == 4
    assert [event.kind for event in read(session.path).events].count("answered") == 3
    assert read(session.path).events[-1].seconds == 8.0


def test_a_change_that_cannot_be_written_leaves_the_review_standing(window, session, file_limit):
    answered(window, ["left"] * 3)
    window.runner.stop()
    window.next(ReviewView)
    file_limit(session.path.stat().st_size)
    window.runner.take_out(1)
    view = window.next(ReviewView)
    file_limit(-1)
    assert "could not be written" in view.unsaved
    assert view.answers[0].fit != "taken out"
    window.runner.retry()
    view = window.next(ReviewView)
    assert (view.unsaved, view.answers[0].fit) == ("", "taken out")


def test_what_cannot_be_done_is_said_and_the_session_goes_on(window):
    view = answered(window, [])
    window.runner.redo()
    assert window.next(ProblemView).sentence == "That cannot be done now: there is nothing to redo."
    window.runner.look_again(7)
    assert "no answer 7" in window.next(ProblemView).sentence
    window.runner.finish()
    assert "no result yet" in window.next(ProblemView).sentence
    window.answer(view, "left")
    assert window.next().number == 2


def test_an_unforeseen_error_says_where_the_answers_are(window, session, monkeypatch):
    view = answered(window, ["left"])
    for error, sentence in (
        (MemoryError(), "There is not enough memory for this; close other programs or use a smaller file."),
        (KeyError("k"), "Something went wrong inside elicit (KeyError: 'k')."),
    ):
        with monkeypatch.context() as broken:
            broken.setattr(session, "undo", Mock(side_effect=error))
            window.runner.undo()
            kept = f"Everything answered so far is kept in {session.path}."
            assert window.next(ProblemView).sentence == f"{sentence} {kept}"
    window.answer(view, "left")
    assert window.next().number == 3


def test_closing_writes_what_was_clicked_and_tells_nothing_more(study, journal_path):
    window = Window(Session.create(study, BayesSetting(seed=5), journal_path))
    window.runner.start()
    view = window.next()
    window.answer(view, "left")
    window.runner.close()
    while not window.views.empty():
        window.views.get()
    with Session.open(journal_path, study) as again:
        assert len(again.state.entries) == 1
    window.answer(view, "left")
    window.runner.close()
    assert window.views.empty()


def test_a_listener_may_close_the_runner(study, journal_path):
    closed = threading.Event()

    def listener(view):
        runner.close()
        closed.set()

    runner = SessionRunner(Session.create(study, BayesSetting(seed=5), journal_path), listener)
    runner.start()
    assert closed.wait(PATIENCE)
    runner._worker.shutdown()
    Session.open(journal_path, study).close()


def test_stated_orders_are_withdrawn_from_the_result_that_is_shown(study, journal_path):
    orders = read_orders(
        [f"{study.classes[0]}:{study.classes[1]}<={study.classes[1]}:{study.classes[0]}"], study.classes
    )
    setting = BayesSetting(seed=5, questions=3, never_worse=orders)
    window = Window(Session.create(study, setting, journal_path), look_ahead=False)
    try:
        answered(window, ["left", "right"])
        window.runner.result()
        assert "never_worse" in window.next(ResultView).metric.provenance.parameters
        window.runner.withdraw_orders()
        assert "never_worse" not in window.next(ResultView).metric.provenance.parameters
    finally:
        window.runner.close()


def test_a_session_that_stopped_goes_on_at_its_review_and_a_finished_one_at_its_result(study, journal_path):
    window = Window(Session.create(study, BayesSetting(seed=5), journal_path), look_ahead=False)
    answered(window, ["left", "right"] * 3)
    window.runner.stop()
    window.next(ReviewView)
    window.runner.close()
    for act, kind in (("finish", ReviewView), ("more", ResultView)):
        window = Window(Session.open(journal_path, study), look_ahead=False)
        window.runner.start()
        window.next(kind)
        getattr(window.runner, act)()
        window.next((ResultView, QuestionView))
        window.runner.close()
    with Session.open(journal_path, study) as session:
        assert session.state.phase == "asking"
        with pytest.raises(Problem, match="open in another window"):
            Session.open(journal_path, study)


def test_the_result_is_ready_before_it_is_asked_for_and_of_the_answers_that_stand(study, journal_path):
    window = Window(Session.create(study, BayesSetting(seed=3, questions=6), journal_path))
    runner = window.runner
    try:
        answered(window, ["left", "right"])
        runner.stop()
        window.next(ReviewView)
        while not runner._worker.submit(
            lambda: runner._result_builder is not None and runner._result_builder.build_next()
        ).result(PATIENCE):
            pass
        ahead = runner._result_builder
        runner.finish()
        shown = window.next(ResultView)
        assert runner._result_builder is ahead
        assert shown.metric is ahead.completed().metric
        runner.state_practice([[90, 10], [5, 95]])
        assert window.next(ResultView).practice == ((90, 10), (5, 95))
        runner.take_out(2)
        window.next(ReviewView)
        runner.finish()
        assert window.next(ResultView).metric.provenance.questions == 1
        runner.more()
        window.next()
        assert runner._result_builder is None
    finally:
        runner.close()
