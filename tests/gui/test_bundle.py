"""The bundled program, from a file to a metric file in a real window; runs where ELICIT_BUNDLE names its folder.

make bundle && ELICIT_BUNDLE=dist/bundle/elicit .venv/bin/pytest tests/gui/test_bundle.py
"""

import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from metrics import ElicitedMetric

BUNDLE = os.environ.get("ELICIT_BUNDLE", "")
pytestmark = pytest.mark.skipif(
    not BUNDLE or not shutil.which("Xvfb") or not shutil.which("xdotool"),
    reason="needs ELICIT_BUNDLE, Xvfb and xdotool",
)
_PATIENCE = 120
KINDS = (("sklearn", ()), ("csv", ()), ("markdown", ("m.csv",)), ("html", ("m.csv",)), ("pdf", ("m.csv",)))


class Screen:
    """An X server without a window manager, and a person's keys on it."""

    def __init__(self, home: Path) -> None:
        read, write = os.pipe()
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
            pass_fds=(write,),
            stderr=subprocess.DEVNULL,
        )
        number = os.read(read, 20).decode().strip()
        self.environment = os.environ | {"DISPLAY": f":{number}", "HOME": str(home), "QT_QPA_PLATFORM": "xcb"}
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "PYTHONPATH"):
            self.environment.pop(name, None)

    def close(self) -> None:
        self._server.terminate()
        self._server.wait()

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(["xdotool", *arguments], capture_output=True, text=True, env=self.environment)
        return done.stdout.strip()

    @property
    def titles(self) -> dict[str, str]:
        """Return the titles of the windows that are shown, by their number."""
        found = self._run("search", "--onlyvisible", "--name", ".").split()
        return {window: self._run("getwindowname", window) for window in found}

    def wait_for(self, *titles: str) -> str:
        """Wait until a window with one of these words in its title is shown, give it the keyboard, return the title."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            for window, title in self.titles.items():
                if any(wanted in title for wanted in titles):
                    self._run("windowfocus", "--sync", window)
                    return title
            time.sleep(0.2)
        raise AssertionError(f"none of {titles} was shown, but {self.titles}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self._run("key", "--clearmodifiers", key)
            time.sleep(0.3)

    def type(self, text: str) -> None:
        self._run("type", "--delay", "20", text)


@pytest.fixture
def screen(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    made = Screen(home)
    yield made
    made.close()


def test_from_a_file_to_a_metric_file(screen, tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=300)
    scores = rng.standard_normal((300, 2)) + 1.6 * np.eye(2)[truth]
    rows = [f"{('sick', 'well')[t]},{a:.3f},{b:.3f}" for t, (a, b) in zip(truth, scores, strict=True)]
    file = tmp_path / "odd.csv"
    file.write_text("\n".join(["label,logit sick,logit well", *rows]) + "\n")
    program = subprocess.Popen([Path(BUNDLE) / "elicit", "open", file], env=screen.environment)
    try:
        for page in ("Which column is what", "Words of the study", "Before the questions"):
            screen.wait_for(page)
            time.sleep(1)
            screen.press("ctrl+Return")
        _answer(screen)
        metric = tmp_path / "result.metric.json"
        screen.wait_for("Result")
        time.sleep(2)
        screen.press("ctrl+s")
        screen.wait_for("Save")
        screen.press("ctrl+a")
        screen.type(str(metric))
        screen.press("Return")
        end = time.monotonic() + _PATIENCE
        while not metric.exists() and time.monotonic() < end:
            time.sleep(0.2)
        assert ElicitedMetric.load(metric).provenance.questions > 5
        assert program.poll() is None
    finally:
        program.terminate()
        program.wait()


def test_what_is_imported_late_is_in_the_folder(tmp_path):
    rows = [f"{('sick', 'well')[i % 2]},{0.2 + 0.5 * (i % 2):.1f},{0.8 - 0.5 * (i % 2):.1f}" for i in range(40)]
    (tmp_path / "m.csv").write_text("\n".join(["y_true,proba_well,proba_sick", *rows]) + "\n")
    ElicitedMetric.from_cost_matrix(["sick", "well"], [[0, 5], [1, 0]]).save(tmp_path / "m.metric.json")
    exports = [
        ("metric", "export", "m.metric.json", *of, "--format", kind, "--out", f"out.{kind}") for kind, of in KINDS
    ]
    plots = [("measure", "auc", "m.csv", "--plot", f"auc.{ending}") for ending in ("png", "svg", "pdf")]
    asked = ("ask", "digits", "--simulate", "random", "--seed", "1", "--questions", "5", "--out", "d.metric.json")
    for command in (*exports, *plots, asked, ("score", "m.metric.json", "m.csv")):
        done = subprocess.run(
            [Path(BUNDLE).resolve() / "elicit", *command], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr


def _answer(screen: Screen) -> None:
    """Answer practice and questions with the arrow keys until the result is shown."""
    for turn in range(200):
        title = screen.wait_for("elicit")
        if title.startswith("Result"):
            return
        if title.startswith("Question"):
            screen.press("Escape", "Left" if turn % 2 else "Right")
        elif title.startswith("Look back"):
            screen.press("ctrl+Return")
        else:
            # Practice and what follows it, a break, the end of a sitting.
            screen.press("Right", "Return")
        time.sleep(0.7)
    raise AssertionError("the questions never ended")
