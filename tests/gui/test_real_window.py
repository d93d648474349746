"""A real window on a real X server, by keyboard alone: from a CSV, killed and resumed, to a metric file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from elicit_app.elicitation.oracles import RecordedOracle
from elicit_app.elicitation.questions import Strength
from elicit_app.session.questions import first_step
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view
from elicit_app.study import open_study
from metrics import ElicitedMetric

pytestmark = pytest.mark.usual_draws
MISSING = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
ELICIT = [sys.executable, "-c", "from elicit_app.cli.main import run; run()"]
PATIENCE, AGAIN, LOOK = 300.0, 8.0, 0.1
"""Seconds until the test gives up, until a key that had no effect is pressed again, and between two looks."""

THOUGHT = 0.45
"""Seconds between a question and its answer: longer than answers to it are ignored."""

COSTS = np.array([[0, 3, 1], [2, 0, 5], [1, 4, 0]])
KILLED_AFTER, UNDONE_AT, ENOUGH = 3, 5, 8


def until(condition, what, patience=PATIENCE):
    give_up = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < give_up, f"waited in vain for {what}"
        time.sleep(LOOK)
    return found


class Desk:
    """An X server, a home of its own, and the app on it; it sees titles of windows and the session file."""

    def __init__(self, home, display):
        self.home = home
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("QT_", "XDG_", "WAYLAND"))}
        self.env |= {"DISPLAY": display, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
        self.env |= {"XDG_CONFIG_HOME": str(home / "config"), "XDG_RUNTIME_DIR": str(home)}
        self.app = None

    def start(self, *arguments):
        with (self.home / "app.log").open("ab") as log:
            self.app = subprocess.Popen([*ELICIT, *arguments], env=self.env, stdout=log, stderr=log, cwd=self.home)
        self.focus()

    def focus(self):
        """Give the window the keyboard: there is no window manager that would."""
        self.xdo("windowfocus", "--sync", until(lambda: self.windows("[-] elicit$"), "the window")[0])

    def xdo(self, *arguments):
        done = subprocess.run(["xdotool", *arguments], env=self.env, capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout

    def windows(self, name):
        return self.xdo("search", "--onlyvisible", "--name", name).split()

    def press(self, *keys):
        self.xdo("key", "--clearmodifiers", *keys)

    @property
    def title(self):
        assert self.app.poll() is None, (self.home / "app.log").read_text()
        shown = self.xdo("search", "--onlyvisible", "--name", "[-] elicit$", "getwindowname")
        return shown.partition("\n")[0].strip().removesuffix(" - elicit")

    @property
    def journal(self):
        return next(iter(self.home.glob("wine-study/sessions/*.session.jsonl")), None)

    def events(self, *kinds):
        """Return the events of the session file, of some kinds or of all."""
        lines = self.journal.read_bytes().split(b"\n")[:-1] if self.journal else []
        return [event for event in map(json.loads, lines) if not kinds or event["kind"] in kinds]

    def press_until(self, keys, done, what, again_after=AGAIN):
        """Press `keys`, again where nothing came of it for a while, until `done`."""
        give_up = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < give_up, f"{keys} did not lead to {what}: the window shows “{self.title}”"
            self.press(*keys)
            again = time.monotonic() + again_after
            while not done() and time.monotonic() < again:
                time.sleep(LOOK)

    def on(self, *titles):
        return lambda: self.title.startswith(titles)

    def wait_for(self, *titles):
        until(self.on(*titles), titles[0])


@pytest.fixture
def desk(tmp_path):
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x900x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=(writing,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as numbers:
        display = f":{numbers.readline().strip()}"
    made = Desk(tmp_path, display)
    yield made
    if made.app is not None and made.app.poll() is None:
        made.app.kill()
        made.app.wait(PATIENCE)
    server.terminate()
    server.wait(PATIENCE)


@pytest.fixture
def predictions(tmp_path):
    """A CSV of the first model of a bundled study."""
    study = open_study("wine")
    model = study.models[0]
    table = {"y_true": [study.classes[true] for true in model.y_true]}
    table |= {f"proba_{name}": model.y_proba[:, column] for column, name in enumerate(study.classes)}
    path = tmp_path / "wine.csv"
    pl.DataFrame(table).write_csv(path)
    return path


@pytest.mark.long
@pytest.mark.skipif(bool(MISSING), reason=f"needs an X server and its keyboard: {', '.join(MISSING)} not installed")
def test_from_a_csv_to_a_metric_file_by_keys_alone(desk, predictions, elicit):
    desk.start("open", predictions.name)
    desk.wait_for("Words of the study")
    desk.press_until(("ctrl+Return",), desk.on("Before the questions", "Practice 1"), "what is asked before")
    desk.press_until(("ctrl+Return",), desk.on("Practice 1"), "the practice")
    practise(desk)
    expert = Expert(desk)
    expert.answer_until(KILLED_AFTER)
    desk.app.send_signal(signal.SIGKILL)
    desk.app.wait(PATIENCE)
    assert len(desk.events("answered")) == KILLED_AFTER
    desk.start()
    # What can be gone on with is listed a moment after the page is there; the title changes with the key.
    desk.press_until(("Return",), lambda: not desk.on("Start")(), "the session that stood", again_after=1.0)
    desk.wait_for("Where you stopped")
    desk.press_until(("Return",), desk.on("Question"), "the question that stood")
    expert.answer_until(UNDONE_AT)
    expert.undo()
    expert.answer_until(ENOUGH, most=20)
    expert.stop()
    desk.press_until(("ctrl+Return",), lambda: desk.events("finished"), "the result")
    metric = export(desk)
    desk.focus()
    desk.press("ctrl+q")
    until(lambda: desk.app.poll() is not None, "the window to close")
    check_kinds(desk.events("answered"))
    check_replays(desk, metric, elicit)


def practise(desk):
    desk.press_until(("Right",), desk.on("You chose B"), "feedback")
    desk.press_until(("Return",), desk.on("Practice 2"), "the trade")
    desk.press_until(("Left",), desk.on("You chose A"), "feedback")
    desk.press_until(("Return",), desk.on("Practice 3"), "making both equal")
    desk.press("Up")
    time.sleep(THOUGHT)
    desk.press_until(("Return",), desk.on("You made them equal"), "feedback")
    desk.press_until(("Return",), lambda: desk.events("practised"), "the first question")


class Expert:
    """Minds the mistakes of `COSTS`, and gives every kind of answer in turn, by every way that the keys offer."""

    def __init__(self, desk):
        self.desk = desk
        self.moves, self.choices = ["arrows", "typed", "bound"], ["", "shift+", "unsure", "ctrl+", "equal"]

    def answer_until(self, count, most=0):
        """Answer up to `count` questions, and up to `most` until every kind of answer was given."""
        while (number := len(self._entries())) < count or (number < most and self.moves):
            self._ready()
            self._answer(number + 1)

    def undo(self):
        self._ready()
        self.desk.press_until(("ctrl+z",), lambda: self.desk.events("undone"), "undo")

    def stop(self):
        self._ready()
        self._choose()
        self.desk.press_until(("shift+Tab", "Return"), self.desk.on("Look back"), "the review")

    def _entries(self):
        with Session.open_read_only(self.desk.journal) as session:
            return session.state.entries

    def _ready(self):
        """Wait for the question, go on after a break, and think."""
        number = len(self._entries()) + 1
        if not self.desk.title.startswith(f"Question {number}"):
            until(lambda: self.desk.title.startswith((f"Question {number}", "Take a break")), f"question {number}")
        if self.desk.title.startswith("Take a break"):
            self.desk.press_until(("Return",), self.desk.on("Question"), "the question after the break")
        time.sleep(THOUGHT)

    def _choose(self):
        if "equally bad" in self.desk.title:
            self.desk.press_until(("Escape",), lambda: "equally bad" not in self.desk.title, "the choice")

    def _answer(self, number):
        with Session.open_read_only(self.desk.journal) as session:
            view = question_view(session, 1)
        dearer_left = float(((view.left - view.right) * COSTS).sum()) > 0
        if number == 4:
            self._reason()
        if view.proposal is not None and self.moves and number > 1:
            self._make_equal(number, self.moves.pop(0), view.proposal)
            return
        self._choose()
        kind, side = self.choices.pop(0) if self.choices else "", "Right" if dearer_left else "Left"
        self._press_answer(number, {"unsure": "s", "equal": "Down"}.get(kind, kind + side))

    def _make_equal(self, number, kind, proposal):
        if "equally bad" not in self.desk.title:
            self.desk.press_until(("e",), lambda: "equally bad" in self.desk.title, "making both equal")
        time.sleep(THOUGHT)
        middle = (proposal.least + proposal.most + 1) // 2
        typed = ("Home", *str(middle), "Return")
        self._press_answer(number, *{"typed": typed, "bound": ("n",)}.get(kind, ("Up", "Up", "Down", "Return")))

    def _press_answer(self, number, *keys):
        done = len(self.desk.events("answered"))
        self.desk.press_until(keys, lambda: len(self.desk.events("answered")) > done, f"answer {number}")

    def _reason(self):
        desk = self.desk
        desk.press("r")
        time.sleep(0.3)
        desk.xdo("type", "--delay", "20", "seen it once")
        desk.press("Return")
        time.sleep(0.3)


def export(desk):
    desk.wait_for("Result")
    desk.press_until(("ctrl+s",), lambda: desk.windows("^Save"), "the dialog")
    desk.xdo("windowfocus", "--sync", desk.windows("^Save")[0])
    found = lambda: list(desk.home.rglob("*.metric.json"))  # noqa: E731
    desk.press_until(("Return",), found, "the metric file")
    return ElicitedMetric.load(found()[0])


def check_kinds(answered):
    """Every kind of answer came through the window as it was meant."""
    moved = [event for event in answered if event.get("moved")]
    choices = {event["choice"] for event in answered if not event.get("moved")}
    assert {"equal", "unsure"} <= choices
    assert {"first", "second"} & choices
    assert {event.get("strength") for event in answered} >= {Strength.SLIGHTLY.value, Strength.CLEARLY.value}
    assert {event["choice"] == "equal" for event in moved} == {True, False}, "equal points, and a bound"
    assert [event["reason"] for event in answered if event.get("reason")] == ["seen it once"]
    assert all(event["seconds"] > 0.3 for event in answered)


def check_replays(desk, metric, elicit):
    """The recorded answers lead the procedure to the recorded questions, and the terminal to the same result."""
    with Session.open_read_only(desk.journal) as session:
        asked, procedure, seen = session.state.history, session.procedure(), len(session.state.entries)
    assert seen >= ENOUGH
    oracle = RecordedOracle(asked)
    for place, recorded in enumerate(asked):
        step = first_step(procedure, asked[:place])
        assert step.question.same_as(recorded.question, tolerance=1e-9)
        assert oracle.answer(step.question) == recorded.answer
    again = desk.home / "again.metric.json"
    done = elicit("ask", "wine-study", "--session", desk.journal, "--out", again, cwd=desk.home, stdin="\n")
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(ElicitedMetric.load(again).cost_matrix, metric.cost_matrix)
    assert metric.provenance.procedure == "bayes"
