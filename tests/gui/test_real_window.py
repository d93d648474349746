"""A real window on a real X server, by keyboard alone: killed after answer 9, resumed, undone, finished, exported."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from metrics import ElicitedMetric

MISSING = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
ELICIT = [sys.executable, "-c", "from elicit_app.cli.main import run; run()"]
PATIENCE = 40.0
LOCKED = 0.5
STUDY = "wine"


def until(condition, what, patience=PATIENCE):
    give_up = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < give_up, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


class Desk:
    """An X server, a home of its own, and the app on it."""

    def __init__(self, home, display):
        self.home = home
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("QT_", "XDG_", "WAYLAND"))}
        self.env |= {"DISPLAY": display, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
        self.env |= {"XDG_CONFIG_HOME": str(home / "config"), "XDG_RUNTIME_DIR": str(home)}
        self.app = None

    def start(self, *arguments):
        with (self.home / "app.log").open("ab") as log:
            self.app = subprocess.Popen([*ELICIT, *arguments], env=self.env, stdout=log, stderr=log)
        window = until(lambda: self.xdo("search", "--onlyvisible", "--name", "^elicit$").split(), "the window")[0]
        self.xdo("windowfocus", "--sync", window)

    def xdo(self, *arguments):
        done = subprocess.run(["xdotool", *arguments], env=self.env, capture_output=True, text=True, timeout=20)
        return done.stdout

    def press(self, *keys):
        self.xdo("key", "--clearmodifiers", *keys)

    def events(self, kind):
        journals = list((self.home / "data" / "elicit" / "sessions").glob("*/*.session.jsonl"))
        lines = journals[0].read_bytes().split(b"\n")[:-1] if journals else []
        return [event for event in map(json.loads, lines) if event["kind"] == kind]

    def press_until(self, keys, kind, count, patience=PATIENCE):
        """Press `keys`, again where nothing came of it, until there are `count` events of `kind`."""
        give_up = time.monotonic() + patience
        while len(self.events(kind)) < count:
            assert time.monotonic() < give_up, f"no {kind} event came of {keys}"
            assert self.app.poll() is None, (self.home / "app.log").read_text()
            self.press(*keys)
            self.comes(kind, count)

    def comes(self, kind, count, patience=1.5):
        give_up = time.monotonic() + patience
        while len(self.events(kind)) < count and time.monotonic() < give_up:
            time.sleep(0.03)
        return len(self.events(kind)) >= count

    def answer_until(self, count):
        """Answer by arrow keys; Enter goes on after a break, the second button where the sitting is over."""
        give_up = time.monotonic() + 3 * PATIENCE
        while (answered := len(self.events("answered"))) < count:
            assert time.monotonic() < give_up, f"the answers stop at {answered}"
            time.sleep(LOCKED)
            for keys in ((("Left", "Right", "Right")[answered % 3],), ("Return",), ("Tab", "Tab", "Return")):
                self.press(*keys)
                if self.comes("answered", answered + 1):
                    break


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
        made.app.wait(10)
    server.terminate()
    server.wait(10)


@pytest.mark.long
@pytest.mark.skipif(bool(MISSING), reason=f"needs an X server and its keyboard: {', '.join(MISSING)} not installed")
def test_twenty_answers_by_keyboard_survive_a_kill(desk):
    desk.start("open", STUDY)
    desk.press_until(("Return",), "begun", 1)
    practise(desk)
    desk.answer_until(9)
    desk.app.send_signal(signal.SIGKILL)
    desk.app.wait(10)
    assert len(desk.events("answered")) == 9
    desk.start()
    go_on(desk)
    desk.answer_until(20)
    for undone in (1, 2, 3):
        desk.press_until(("ctrl+z",), "undone", undone)
        assert len(desk.events("undone")) == undone
    finish(desk)
    metric = export(desk)
    assert metric.provenance.procedure == "bayes"
    assert judged(desk, metric) == 0


def practise(desk):
    for better in ("Right", "Left"):
        desk.press(better)
        time.sleep(0.3)
        desk.press("Return")
        time.sleep(0.3)
    give_up = time.monotonic() + PATIENCE
    while not desk.events("practised"):
        assert time.monotonic() < give_up, "the practice does not end"
        for key in ("Right", "Return", "Left", "Return", "Up", "Return"):
            desk.press(key)
            time.sleep(0.3)
            if desk.events("practised"):
                break


def go_on(desk):
    """Press Enter on the start page until the question stands there and takes an answer."""
    give_up = time.monotonic() + PATIENCE
    before = len(desk.events("answered"))
    while len(desk.events("answered")) == before:
        assert time.monotonic() < give_up, "the session does not go on"
        desk.press("Return")
        time.sleep(0.6)
        desk.press("Left")
        time.sleep(0.3)


def finish(desk):
    """Stop, look back and finish: the last button of the question page, then the second of the review."""
    desk.press("shift+Tab", "Return")
    until(lambda: desk.events("stopped"), "the review")
    time.sleep(0.8)
    desk.press("Tab", "Tab", "Return")
    until(lambda: desk.events("finished"), "the result")


def export(desk):
    time.sleep(1.0)
    desk.press("Tab", "Tab", "Return")
    dialog = until(lambda: desk.xdo("search", "--onlyvisible", "--name", "^Save").split(), "the dialog")[0]
    desk.xdo("windowfocus", "--sync", dialog)
    desk.press("Return")
    folder = desk.home / "data" / "elicit" / "sessions" / STUDY
    return ElicitedMetric.load(until(lambda: list(folder.glob("*.metric.json")), "the metric file")[0])


def judged(desk, metric):
    """Score the bundled predictions with the file, and use it in cross-validation."""
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_wine()
    labels = np.array(metric.classes)[data.target]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    scores = cross_val_score(model, data.data, labels, scoring=metric.as_scorer(), cv=3)
    assert (scores >= -1).all()
    assert (scores <= 0).all()
    predictions = next((Path(__file__).parents[2] / "datasets" / STUDY).glob("*.parquet"))
    path = next((desk.home / "data").glob("elicit/sessions/*/*.metric.json"))
    return subprocess.run([*ELICIT, "score", str(path), str(predictions)], env=desk.env, timeout=60).returncode
