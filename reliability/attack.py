"""What happens to an expert's answers when files, disks and processes fail, in one table.

python reliability/attack.py [--quick] [--kills N] [--window-kills N] [--rows PART ...]

A row states what was tried, how often, how many faults went unnoticed and how many answers were lost. Anything but 0 in
the last two columns is a fault, and the exit code is then 1. With --quick every row is tried on a sample. This module
holds the attacks on the real command and the real window, `file_attacks.py` those on the file of a session.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from file_attacks import PARTS, REPLIES, Row, Sound, answers_of

from elicit_app.problem import Problem
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.events import Answered
from elicit_app.session.journal.files import examine, read
from elicit_app.session.session import Session
from elicit_app.study import open_study

ELICIT = [sys.executable, "-c", "from elicit_app.cli.main import run; run()"]
_PATIENCE = 120.0
_KEYS = {"left": "1", "right": "2", "equal": "0"}
_WINDOW_SESSION = "window.session.jsonl"


class Killed:
    """The real command on a pipe, killed and resumed again and again, session after session."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self._rng = folder, rng
        self.row = Row("SIGKILL, the real command")
        self.acknowledged = 0
        self._new()

    def _new(self) -> None:
        self.path = self.folder / f"killed-{self.row.tried}.session.jsonl"
        self.sent: list[str] = []
        self._is_over = False

    def once(self) -> None:
        """Start the command, answer for a while, kill it, and check the file."""
        if len(self.sent) > 20 or self._is_over:
            self._new()
        command = [*ELICIT, "ask", "traffic-light", "--session", str(self.path), "--questions", "60", "--seed", "5"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as child:
            confirmed_answers = self._converse(child)
            child.kill()
        self.row.tried += 1
        self.acknowledged += confirmed_answers - self._before
        self._compare(confirmed_answers)

    def _converse(self, child: subprocess.Popen[bytes]) -> int:
        """Answer until the kill; return how many answers the command confirmed by asking the next question."""
        assert child.stdin is not None
        assert child.stderr is not None
        self._before = confirmed = self._kept()
        del self.sent[confirmed:]
        ends = None
        waiting = 0
        for line in iter(child.stderr.readline, b""):
            self._is_over = b"the last answer, Enter" in line
            if self._is_over:
                return confirmed + waiting
            if not line.startswith(b"1 A   2 B"):
                continue
            confirmed += waiting
            waiting = 1
            ends = ends or time.monotonic() + self._rng.expovariate(1)
            if time.monotonic() > ends:
                return confirmed
            self.sent.append(self._rng.choice(REPLIES))
            child.stdin.write(f"{_KEYS[self.sent[-1]]}\n".encode())
            child.stdin.flush()
            time.sleep(self._rng.uniform(0, 0.004))
            if self._rng.random() < 0.1:
                # do not wait: the answer may or may not be on the disk
                return confirmed
        return confirmed

    def _kept(self) -> int:
        return len(answers_of(read(self.path).events)) if self.path.exists() else 0

    def _compare(self, confirmed_answers: int) -> None:
        if not self.path.exists():
            self.row.lost += confirmed_answers
            return
        try:
            found = examine(self.path.read_bytes(), self.path)
        except Problem:
            self.row.lost += confirmed_answers > 0
            return
        kept = [event for event in found.events if isinstance(event, Answered)]
        said = [_reply(event) for event in kept]
        self.row.lost += max(confirmed_answers - len(said), 0) + (said != self.sent[: len(said)])
        self.row.silent += bool(found.damage)


def _reply(event: Answered) -> str:
    if event.choice.value == "equal":
        return "equal"
    return "left" if event.choice.value == event.left else "right"


def kills(folder: Path, number: int) -> Iterator[Row]:
    killed = Killed(folder, random.Random(7))
    # after Ctrl+C, what was counted so far counts
    with contextlib.suppress(KeyboardInterrupt):
        for _ in range(number):
            killed.once()
    killed.row.note = f"{killed.acknowledged} answers confirmed"
    yield killed.row


def window_kills(folder: Path, number: int) -> Iterator[Row]:
    row = Row("SIGKILL, the real window", note=_missing())
    if row.note:
        yield row
        return
    with _Display() as display, contextlib.suppress(KeyboardInterrupt):
        for number_ in range(number):
            lost = not _window_killed(folder / f"home-{number_}", display, random.Random(number_))
            row.tried += 1
            row.lost += lost
    yield row


def leaving(folder: Path) -> Iterator[Row]:
    """Leave the window while it computes a question of ten classes: by its keys, Ctrl+C and SIGTERM."""
    row = Row("window left while it computes: Ctrl+Q, Ctrl+C, SIGTERM", note=_missing())
    if row.note:
        yield row
        return
    took = []
    with _Display() as display:
        for way in ("ctrl+q", signal.SIGINT, signal.SIGTERM):
            hidden, ended = _left(folder / f"leaving-{way}", display, way)
            row.tried += 1
            row.silent += ended is None
            row.lost += read(folder / f"leaving-{way}" / _WINDOW_SESSION).sound_answers < 1
            took.append(f"{hidden:.1f} / {ended or float('nan'):.1f}")
    row.note = f"hidden / ended after {', '.join(took)} s"
    yield row


def _left(home: Path, display: str, way: str | signal.Signals) -> tuple[float, float | None]:
    """Leave a window while it computes; return the seconds until it was hidden, and until it had ended."""
    desk, thought = _opened(home, display, "digits", BayesSetting(seed=3))
    time.sleep(thought)
    desk.press("Left")
    began = time.monotonic()
    desk.press(way) if isinstance(way, str) else desk.app.send_signal(way)
    hidden = None
    while desk.app.poll() is None and time.monotonic() < began + _PATIENCE:
        if hidden is None and not desk.windows("[-] elicit$"):
            hidden = time.monotonic() - began
    ended = time.monotonic() - began
    alive = desk.app.poll() is None
    desk.app.kill()
    desk.app.wait(10)
    return hidden or ended, None if alive else ended


def _missing() -> str:
    """Return which programs that a window needs here are missing; empty if none is."""
    missing = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


def _opened(home: Path, display: str, study: str, setting: BayesSetting) -> tuple[Any, float]:
    """Open a session with one answer in a real window; return the desk at its question, and the seconds of a thought.

    The module that drives the window by keys is a test module.
    """
    place = Path(__file__).parents[1] / "tests" / "gui" / "test_real_window.py"
    spec = importlib.util.spec_from_file_location("real_window", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    home.mkdir()
    with Session.create(open_study(study), setting, home / _WINDOW_SESSION) as begun:
        begun.answer("left")
    desk = module.Desk(home, display)
    desk.start("open", str(home / _WINDOW_SESSION))
    desk.press_until(("Return",), desk.on("Question"), "the question")
    return desk, module.THOUGHT


class _Display:
    """An X server without a screen; entering it returns its name."""

    def __enter__(self) -> str:
        reading, writing = os.pipe()
        screen = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x900x24", "-nolisten", "tcp", "-noreset"]
        self._server = subprocess.Popen(screen, pass_fds=(writing,), stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as numbers:
            return f":{numbers.readline().strip()}"

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait(10)


def _window_killed(home: Path, display: str, rng: random.Random) -> bool:
    """Answer some questions by keys in a real window and kill it at a random moment; return whether nothing is lost."""
    desk, thought = _opened(home, display, "traffic-light", BayesSetting(seed=3, questions=18, answers="choice"))
    try:
        confirmed = int(desk.title.split()[1].rstrip(":,")) - 1
        for _ in range(rng.randrange(3)):
            time.sleep(thought)
            desk.press_until(
                (rng.choice(("Left", "Right")),), desk.on(f"Question {confirmed + 2}"), "the next question"
            )
            confirmed += 1
        time.sleep(thought)
        desk.press(rng.choice(("Left", "Right")))
        time.sleep(rng.uniform(0, 0.3))
    finally:
        desk.app.kill()
        desk.app.wait(10)
    path = home / _WINDOW_SESSION
    found = examine(path.read_bytes(), path)
    return not found.damage and found.sound_answers >= confirmed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a sample of every row")
    parser.add_argument("--kills", type=int, help="of the real command (default 1,000; quick: 5)")
    parser.add_argument("--window-kills", type=int, help="of the real window (default 200; quick: 1)")
    parser.add_argument("--rows", nargs="+", choices=(*PARTS, "kills", "window", "leaving"), help="only these parts")
    given = parser.parse_args()
    wanted = given.rows or (*PARTS, "kills", "leaving", "window")
    step = 97 if given.quick else 1
    number = given.kills if given.kills is not None else 5 if given.quick else 1_000
    windows = given.window_kills if given.window_kills is not None else 1 if given.quick else 200
    print(f"{'what':58}{'tried':>8}{'silent':>8}{'lost':>8}", flush=True)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        folder = Path(place)
        sound = Sound(folder)
        rows = [part(sound, step) for name, part in PARTS.items() if name in wanted]
        rows += [kills(folder, number)] if "kills" in wanted else []
        rows += [leaving(folder)] if "leaving" in wanted else []
        rows += [window_kills(folder, windows)] if "window" in wanted else []
        for part in rows:
            for row in part:
                print(row, flush=True)
                faults += row.silent + row.lost
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
