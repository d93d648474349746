"""Attacks on the file of a session: cut, flipped, edited, on a failing disk, with two writers, with odd clocks.

An attack yields rows of the table that `attack.py` prints.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elicit_app.problem import Problem
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.events import Answered, Event
from elicit_app.session.journal.files import Contents, check_against_mark, examine, read, read_mark
from elicit_app.session.journal.listing import list_sessions, summary
from elicit_app.session.journal.recovery import recover_session
from elicit_app.session.journal.writing import Journal, UnwrittenProblem, to_lines
from elicit_app.session.session import Session
from elicit_app.session.views import Reply
from elicit_app.study import open_study

ANSWERS = 30
REPLIES: tuple[Reply, ...] = ("left", "right", "equal")


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
        with Session.create(open_study("breast-cancer"), setting, self.path, expert="Ada") as session:
            while len(session.state.entries) < answers:
                if session.asking() is None:
                    session.more()
                session.answer(rng.choice(REPLIES))
        self.data = self.path.read_bytes()
        self.events, self.answers = read(self.path).events, answers
        self.mark = read_mark(self.path)

    def opened(self, data: bytes) -> Contents | None:
        """Return what the program reads from changed bytes; None if it refuses all of it in words."""
        try:
            return check_against_mark(examine(data, self.path), self.mark)
        except Problem:
            return None

    def silent(self, found: Contents | None) -> bool:
        """Return whether a change went unnoticed: no damage is reported, and something differs."""
        return found is not None and not found.damage and found.events != self.events

    def altered(self, found: Contents | None) -> bool:
        """Return whether any event read differs from what was written."""
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
    """Return whether every answer is recovered from changed bytes, by the digests alone."""
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
    (b'"expert":"Ada"', b'"expert":"Ben"'),
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


def _full(path: Path) -> Callable[[], object]:
    before, sys.dont_write_bytecode = resource.getrlimit(resource.RLIMIT_FSIZE), True  # bytecode would be cut as well
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _folder_gone(path: Path) -> Callable[[], object]:
    away = path.parent.with_name("away")
    path.parent.rename(away)
    return lambda: away.rename(path.parent)


def _moved(path: Path) -> Callable[[], object]:
    path.rename(path.with_suffix(".away"))
    return lambda: path.with_suffix(".away").rename(path)


def _replaced(path: Path) -> Callable[[], object]:
    data = path.read_bytes()
    path.rename(path.with_suffix(".away"))
    path.write_bytes(data)
    return lambda: path.with_suffix(".away").replace(path)


def _shortened(path: Path) -> Callable[[], object]:
    data = path.read_bytes()
    os.truncate(path, len(data) - 30)

    def repair() -> None:
        with path.open("r+b") as file:
            file.write(data)

    return repair


def _grown(path: Path) -> Callable[[], object]:
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
