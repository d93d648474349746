"""From worker threads to the main thread: calls in order, newest request only, nothing after the end."""

import threading
from functools import partial

import pytest
from PySide6.QtCore import QThread

from elicit_app.gui.flow.background import Background, MainThread
from elicit_app.problem import Problem
from metrics.errors import InputError


@pytest.fixture
def background(qapp):
    made = Background()
    yield made
    made.close()


def test_calls_arrive_on_the_main_thread_in_order(qtbot, qapp):
    main, came = MainThread(), []

    def come(n):
        came.append((n, QThread.currentThread() is qapp.thread()))

    sender = threading.Thread(target=lambda: [main.post(partial(come, n)) for n in range(50)])
    sender.start()
    sender.join()
    qtbot.waitUntil(lambda: len(came) == 50)
    assert came == [(n, True) for n in range(50)]


def test_nothing_is_called_after_the_end(qtbot):
    main, came = MainThread(), []
    main.post(lambda: came.append("on its way"))
    main.close()
    main.post(lambda: came.append("too late"))
    qtbot.wait(30)
    assert came == []


def test_only_the_newest_request_is_answered(qtbot, background):
    gate, came, dropped = threading.Event(), [], []
    background.run(lambda: gate.wait(10) and "old", came.append, came.append, dropped=dropped.append)
    background.run(lambda: "new", came.append, came.append)
    gate.set()
    qtbot.waitUntil(lambda: came == ["new"] and dropped == ["old"])
    qtbot.wait(20)
    assert came == ["new"]


def test_a_job_can_see_that_nobody_waits_for_it_any_more(qtbot, background):
    gate, seen = threading.Event(), []

    def work():
        seen.append(background.is_waited_for)
        gate.wait(10)
        seen.append(background.is_waited_for)
        raise InterruptedError

    background.run(work, seen.append, seen.append)
    qtbot.waitUntil(lambda: seen == [True])
    background.forget()
    gate.set()
    background.run(lambda: "new", seen.append, seen.append)
    qtbot.waitUntil(lambda: seen == [True, False, "new"])


def test_a_problem_comes_as_it_is_and_a_fault_in_one_sentence(qtbot, background, caplog):
    failed = []

    def refuse():
        raise Problem("Row 3 is empty.")

    def break_down():
        raise KeyError("inner thing")

    background.run(refuse, failed.append, failed.append)
    qtbot.waitUntil(lambda: len(failed) == 1)
    background.run(break_down, failed.append, failed.append)
    qtbot.waitUntil(lambda: len(failed) == 2)
    assert failed[0].sentence == "Row 3 is empty."
    assert "Something went wrong inside elicit (KeyError" in failed[1].sentence
    assert "unexpected failure" in caplog.text


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("y_true: no case was found"), "y_true: no case was found."),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "a.csv: No such file or directory."),
        (MemoryError(), "There is not enough memory for this; close other programs or use a smaller file."),
        (KeyError("k"), "Something went wrong inside elicit (KeyError: 'k')."),
    ],
)
def test_every_error_is_one_sentence(qtbot, background, error, sentence):
    failed = []

    def fail():
        raise error

    background.run(fail, failed.append, failed.append)
    qtbot.waitUntil(lambda: bool(failed))
    assert failed[0].sentence == f"{sentence} Nothing was changed."


def test_what_nobody_waits_for_is_let_go(qtbot, background):
    came, dropped = [], []
    background.run(lambda: "file", came.append, came.append, dropped=dropped.append)
    background.forget()
    qtbot.waitUntil(lambda: dropped == ["file"])
    qtbot.wait(30)
    assert came == []


def test_after_the_end_nothing_is_begun(qtbot, background):
    came = []
    background.close()
    background.run(lambda: "x", came.append, came.append)
    qtbot.wait(20)
    assert came == []


def test_what_is_saved_is_answered_whatever_is_asked_next(qtbot, background):
    gate, came = threading.Event(), []
    background.save(lambda: gate.wait(10) and "saved", came.append, came.append)
    background.run(lambda: "next", came.append, came.append)
    background.forget()
    assert background.is_saving
    gate.set()
    qtbot.waitUntil(lambda: came == ["saved"])
    assert not background.is_saving


def test_what_is_to_be_saved_is_saved_before_the_end(qapp):
    background, written, begun = Background(), [], threading.Event()
    background.run(lambda: begun.wait(10), print, print)
    background.save(lambda: written.append("file"), print, print)
    begun.set()
    background.close()
    assert written == ["file"]
