"""What happens to an expert's answers when files, disks and processes fail: one table, counted anew.

python reliability/attack.py [--quick] [--kills N] [--window-kills N] [--rows PART ...]

A row is: what was tried, how often, how many went unnoticed, how many answers were lost. Anything but 0 in the last two
columns is a fault, and the exit code is 1. With --quick every row is tried on a sample.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from elicit_app.problem import Problem
from elicit_app.registry.bayes import BayesSetting
from elicit_app.session.journal.backups import read_mark
from elicit_app.session.journal.events import Answered, Event
from elicit_app.session.journal.listing import list_sessions, summary
from elicit_app.session.journal.reading import Contents, against_mark, examine, read
from elicit_app.session.journal.recovery import recover_session
from elicit_app.session.journal.writing import Journal, UnwrittenProblem, to_lines
from elicit_app.session.session import Session
from elicit_app.study import open_study

ANSWERS = 30
ELICIT = [sys.executable, "-c", "from elicit_app.cli.main import run; run()"]
REPLIES = {"left": "1", "right": "2", "equal": "0"}
_PATIENCE = 120.0
_WINDOW_SESSION = "window.session.jsonl"


@dataclass
class Row:
    """One line of the table."""

    what: str
    tried: int = 0
    silent: int = 0
    lost: int = 0
    note: str = ""

    def __str__(self) -> str:
        return f"{self.what:58}{self.tried:8,}{self.silent:8,}{self.lost:8,}  {self.note}"


class Sound:
    """A session of some answers as it was written."""

    def __init__(self, folder: Path, answers: int = ANSWERS) -> None:
        self.path = folder / "sound.session.jsonl"
        rng = random.Random(1)
        setting = BayesSetting(seed=1, questions=max(answers, 6))
        with Session.create(open_study("breast-cancer"), setting, self.path) as session:
            while len(session.state.entries) < answers:
                if session.asking() is None:
                    session.more()
                session.answer(rng.choice([*REPLIES]))
        self.data = self.path.read_bytes()
        self.events, self.answers = read(self.path).events, answers
        self.mark = read_mark(self.path)

    def opened(self, data: bytes) -> Contents | None:
        """Return what the program takes of changed bytes; None where it refuses all of it in words."""
        try:
            return against_mark(examine(data, self.path), self.mark)
        except Problem:
            return None

    def silent(self, found: Contents | None) -> bool:
        """Tell whether a change went unnoticed: nothing is said, and something is not as it was."""
        return found is not None and not found.damage and found.events != self.events

    def altered(self, found: Contents | None) -> bool:
        """Tell whether any event that is shown is another one than was written."""
        return found is not None and found.events != self.events[: len(found.events)]


def answers_of(events: tuple[Event, ...]) -> list[object]:
    return [(event.pair, event.left, event.answer) for event in events if isinstance(event, Answered)]


def cuts(sound: Sound, step: int) -> Iterator[Row]:
    row = Row("journal cut at every byte")
    ends = [place for place, byte in enumerate(sound.data) if byte == 10]
    for cut in range(0, len(sound.data), step):
        row.tried += 1
        found = sound.opened(sound.data[:cut])
        complete = sum(end <= cut for end in ends)
        row.silent += sound.silent(found) or sound.altered(found)
        row.lost += 0 if found is None and complete == 0 else found is None or len(found.events) < complete
    yield row


def flips(sound: Sound, step: int) -> Iterator[Row]:
    row = Row("journal, every single bit flipped")
    saved = Row("… recovered into a new file")
    data = bytearray(sound.data)
    lines = [place for place, byte in enumerate(sound.data) if byte == 10]
    for bit in range(0, 8 * len(data), step):
        data[bit // 8] ^= 1 << bit % 8
        found = sound.opened(bytes(data))
        row.tried += 1
        row.silent += sound.silent(found)
        before = sum(end < bit // 8 for end in lines)
        row.lost += before > 0 and (found is None or len(found.events) < before or sound.altered(found))
        if bit // step % 500 == 0:
            saved.tried += 1
            saved.lost += not _recovered(sound, bytes(data))
        data[bit // 8] ^= 1 << bit % 8
    yield row
    yield saved


def _recovered(sound: Sound, data: bytes) -> bool:
    """Tell whether every answer comes back from changed bytes, by the digests alone."""
    folder = sound.path.parent / "recovering"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    damaged, new = folder / "damaged.session.jsonl", folder / "new.session.jsonl"
    damaged.write_bytes(data)
    try:
        recover_session(damaged, new)
    except Problem:
        return False
    return answers_of(read(new).events) == answers_of(sound.events)


def lines_moved(sound: Sound, _: int) -> Iterator[Row]:
    lines = sound.data.splitlines(keepends=True)
    for what in ("dropped", "doubled", "swapped with the next"):
        row = Row(f"journal, a whole line {what}")
        for place in range(len(lines)):
            changed = [*lines]
            if what == "dropped":
                del changed[place]
            elif what == "doubled":
                changed.insert(place, changed[place])
            elif place + 1 < len(lines):
                changed[place], changed[place + 1] = changed[place + 1], changed[place]
            else:
                continue
            found = sound.opened(b"".join(changed))
            row.tried += 1
            row.silent += sound.silent(found)
            row.lost += sound.altered(found)
            if what != "dropped":
                row.lost += not _recovered(sound, b"".join(changed))
        yield row


EDITS = (
    (b'"choice":"first"', b'"choice":"second"'),
    (b'"left":"first"', b'"left":"second"'),
    (b'"left":"second"', b'"left":"first"'),
    (b'"seed":1', b'"seed":2'),
    (b'"subject":"left"', b'"subject":"right"'),
    (b'"kind":"answered"', b'"kind":"answered","kind":"answered"'),
    (b'"population":', b'"population":1'),
    (b'"expert"', b'"Expert"'),
)


def edits(sound: Sound, _: int) -> Iterator[Row]:
    row = Row("journal, an answer, a side or a name edited, a key doubled")
    for old, new in EDITS:
        at = sound.data.find(old)
        while at >= 0:
            found = sound.opened(sound.data[:at] + new + sound.data[at + len(old) :])
            row.tried += 1
            row.silent += sound.silent(found)
            row.lost += sound.altered(found)
            at = sound.data.find(old, at + 1)
    yield row


def ends(sound: Sound, _: int) -> Iterator[Row]:
    data = sound.data
    forms = {
        "CRLF": data.replace(b"\n", b"\r\n"),
        "NULs at the end": data + b"\0" * 4096,
        "NULs and a newline": data + b"\0" * 100 + b"\n",
        "last block zeroed": data[:-512] + b"\0" * 512,
        "BOM": b"\xef\xbb\xbf" + data,
        "blank line": data + b"\n",
        "two joined": data + data,
    }
    row = Row("journal: CRLF, NULs, zeroed block, BOM, blank line, joined")
    for form in forms.values():
        found = sound.opened(form)
        row.tried += 1
        row.silent += sound.silent(found)
        if found is None or found.damage:
            row.lost += not (_recovered(sound, form) or form is forms["last block zeroed"])
    yield row


def disks(sound: Sound, _: int) -> Iterator[Row]:
    row = Row("disk full, read-only, folder gone, file replaced, cut, grown")
    folder = sound.path.parent / "disks"
    for fault in (_full, _folder_gone, _replaced, _shortened, _grown, _moved):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path = folder / "a.session.jsonl"
        with Journal.create(path, sound.events[:3]) as journal:
            repair = fault(path)
            row.tried += 1
            try:
                journal.append(sound.events[3])
                row.silent += 1
            except UnwrittenProblem:
                pass
            repair()
            try:
                journal.append(sound.events[3])
            except UnwrittenProblem:
                row.lost += 1
        row.lost += read(path).events != sound.events[:4]
    row.tried += 1
    path = folder / "none" / "a.session.jsonl"
    (folder / "none").write_text("a file")
    try:
        Journal.create(path, sound.events[:2])
        row.silent += 1
    except Problem:
        pass
    yield row


def _full(path: Path) -> Callable[[], None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _folder_gone(path: Path) -> Callable[[], None]:
    away = path.parent.with_name("away")
    path.parent.rename(away)
    return lambda: away.rename(path.parent)


def _moved(path: Path) -> Callable[[], None]:
    path.rename(path.with_suffix(".away"))
    return lambda: path.with_suffix(".away").rename(path)


def _replaced(path: Path) -> Callable[[], None]:
    data = path.read_bytes()
    path.rename(path.with_suffix(".away"))
    path.write_bytes(data)
    return lambda: path.with_suffix(".away").replace(path)


def _shortened(path: Path) -> Callable[[], None]:
    data = path.read_bytes()
    os.truncate(path, len(data) - 30)

    def repair() -> None:
        with path.open("r+b") as file:
            file.write(data)

    return repair


def _grown(path: Path) -> Callable[[], None]:
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"kind":"undone"}\n')
    return lambda: os.truncate(path, size)


def writers(sound: Sound, _: int) -> Iterator[Row]:
    row = Row("second writer: same process, another process, a hard link")
    path = sound.path.parent / "writers.session.jsonl"
    other = path.with_name("linked.session.jsonl")
    with Journal.create(path, sound.events[:3]):
        os.link(path, other)
        child = "import sys; from pathlib import Path; from elicit_app.session.journal.writing import Journal; "
        for form in (path, other):
            row.tried += 2
            try:
                Journal.open(form)[0].close()
                row.silent += 1
            except Problem:
                pass
            command = [sys.executable, "-c", f"{child}Journal.open(Path(sys.argv[1]))", str(form)]
            done = subprocess.run(command, capture_output=True, check=False)
            row.silent += b"is open in another window" not in done.stderr
    yield row


def clocks(sound: Sound, _: int) -> Iterator[Row]:
    row = Row("clock in the years 1, 1999 and 9999: the list and the others")
    data = sound.path.parent / "clocks"
    for year in ("0001", "1999", "9999"):
        folder = data / "sessions" / "any"
        shutil.rmtree(data, ignore_errors=True)
        folder.mkdir(parents=True)
        events = [event.model_copy(update={"at": event.at.replace(year=int(year))}) for event in sound.events[:4]]
        (folder / "odd.session.jsonl").write_bytes(to_lines(events))
        (folder / "sound.session.jsonl").write_bytes(sound.data)
        (folder / "loop.session.jsonl").symlink_to("loop.session.jsonl")
        os.mkfifo(folder / "pipe.session.jsonl")
        listed = list_sessions(data=data)
        row.tried += 1
        row.silent += len(listed) != 4
        found = [(one.path.name, one.answers, one.problem) for one in listed]
        row.lost += (sound.path.name, sound.answers, "") not in found
        odd = examine((folder / "odd.session.jsonl").read_bytes(), folder)
        row.lost += answers_of(odd.events) != answers_of(tuple(events))
    yield row


def lengths(sound: Sound, step: int) -> Iterator[Row]:
    row = Row("journals of 1,000, 5,000 and 10,000 answers are listed")
    answer = next(event for event in sound.events if isinstance(event, Answered))
    took = []
    for number in (1_000, 5_000, 10_000):
        path = sound.path.parent / "long.session.jsonl"
        path.write_bytes(to_lines([sound.events[0], *[answer] * number]))
        began = time.process_time()
        row.lost += summary(path).answers != number
        took.append(f"{time.process_time() - began:.2f}")
        row.tried += 1
    row.note = f"{', '.join(took)} s of processor time"
    yield row


class Killed:
    """The real command on a pipe, one session after the other, each killed and gone on with again and again."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self._rng = folder, rng
        self.row = Row("SIGKILL, the real command")
        self.acknowledged = 0
        self._new()

    def _new(self) -> None:
        self.path = self.folder / f"killed-{self.row.tried}.session.jsonl"
        self.sent: list[str] = []

    def once(self) -> None:
        """Start the command, answer for a while, kill it, and compare what is in the file."""
        if len(self.sent) > 20:
            self._new()
        command = [*ELICIT, "ask", "traffic-light", "--session", str(self.path), "--questions", "60", "--seed", "5"]
        pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL}
        with subprocess.Popen(command, **pipes) as child:
            told = self._converse(child)
            child.kill()
        self.row.tried += 1
        self.acknowledged += told - self._before
        self._compare(told)

    def _converse(self, child: subprocess.Popen) -> int:
        """Answer until the moment of the kill; return how many answers the command confirmed by asking on."""
        self._before = confirmed = self._kept()
        del self.sent[confirmed:]
        ends = None
        waiting = 0
        for line in iter(child.stderr.readline, b""):
            if not line.startswith(b"1 A   2 B"):
                continue
            confirmed += waiting
            waiting = 1
            ends = ends or time.monotonic() + self._rng.expovariate(1)
            if time.monotonic() > ends:
                return confirmed
            self.sent.append(self._rng.choice([*REPLIES]))
            child.stdin.write(f"{REPLIES[self.sent[-1]]}\n".encode())
            child.stdin.flush()
            time.sleep(self._rng.uniform(0, 0.004))
            if self._rng.random() < 0.1:
                # not waited for: the answer may or may not be on the disk
                return confirmed
        return confirmed

    def _kept(self) -> int:
        return len(answers_of(read(self.path).events)) if self.path.exists() else 0

    def _compare(self, told: int) -> None:
        if not self.path.exists():
            self.row.lost += told
            return
        try:
            found = examine(self.path.read_bytes(), self.path)
        except Problem:
            self.row.lost += told > 0
            return
        kept = [event for event in found.events if isinstance(event, Answered)]
        said = [_reply(event) for event in kept]
        self.row.lost += max(told - len(said), 0) + (said != self.sent[: len(said)])
        self.row.silent += bool(found.damage)


def _reply(event: Answered) -> str:
    if event.choice.value == "equal":
        return "equal"
    return "left" if event.choice.value == event.left else "right"


def kills(folder: Path, number: int) -> Iterator[Row]:
    killed = Killed(folder, random.Random(7))
    # what was counted until Ctrl+C counts
    with contextlib.suppress(KeyboardInterrupt):
        for _ in range(number):
            killed.once()
    killed.row.note = f"{killed.acknowledged} answers confirmed"
    yield killed.row


def window_kills(folder: Path, number: int) -> Iterator[Row]:
    row = Row("SIGKILL, the real window")
    missing = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
    if missing:
        row.note = f"{' and '.join(missing)} not installed"
        yield row
        return
    with _Display() as display, contextlib.suppress(KeyboardInterrupt):
        for number_ in range(number):
            lost = not _window_killed(folder / f"home-{number_}", display, random.Random(number_))
            row.tried += 1
            row.lost += lost
    yield row


def leaving(folder: Path) -> Iterator[Row]:
    """Leave the window while a question of ten classes is computed: by its keys, Ctrl+C and SIGTERM."""
    row = Row("window left while it computes: Ctrl+Q, Ctrl+C, SIGTERM")
    if any(shutil.which(name) is None for name in ("Xvfb", "xdotool")):
        row.note = "Xvfb or xdotool not installed"
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
    """Leave a window while it computes; return after how many seconds it was hidden, and had ended."""
    real = _real_window()
    home.mkdir()
    with Session.create(open_study("digits"), BayesSetting(seed=3), home / _WINDOW_SESSION) as begun:
        begun.answer("left")
    desk = real.Desk(home, display)
    desk.start("open", str(home / _WINDOW_SESSION))
    desk.press_until(("Return",), desk.on("Question"), "the question")
    time.sleep(real.THOUGHT)
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


def _real_window():
    """Return the module that drives the window by keys, which is a test."""
    place = Path(__file__).parents[1] / "tests" / "gui" / "test_real_window.py"
    spec = importlib.util.spec_from_file_location("real_window", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Display:
    """An X server without a screen; gives its name."""

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
    """Answer some questions by keys in a real window, kill it at some moment; return whether nothing is lost."""
    real = _real_window()
    home.mkdir()
    path = home / "window.session.jsonl"
    with Session.create(
        open_study("traffic-light"), BayesSetting(seed=3, questions=18, answers="choice"), path
    ) as begun:
        begun.answer("left")
    desk = real.Desk(home, display)
    desk.start("open", str(path))
    try:
        desk.press_until(("Return",), desk.on("Question"), "the question")
        confirmed = _number(desk.title) - 1
        for _ in range(rng.randrange(3)):
            time.sleep(real.THOUGHT)
            desk.press_until(
                (rng.choice(("Left", "Right")),), desk.on(f"Question {confirmed + 2}"), "the next question"
            )
            confirmed += 1
        time.sleep(real.THOUGHT)
        desk.press(rng.choice(("Left", "Right")))
        time.sleep(rng.uniform(0, 0.3))
    finally:
        desk.app.kill()
        desk.app.wait(10)
    found = examine(path.read_bytes(), path)
    return not found.damage and found.sound_answers >= confirmed


def _number(title: str) -> int:
    return int(title.split()[1].rstrip(":,"))


PARTS = {
    "cuts": cuts,
    "flips": flips,
    "lines": lines_moved,
    "edits": edits,
    "ends": ends,
    "disks": disks,
    "writers": writers,
    "clocks": clocks,
    "lengths": lengths,
}


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
