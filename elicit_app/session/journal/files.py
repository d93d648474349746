"""The files of a session: reading the journal, the mark of how far it was written, and backups."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from elicit_app.problem import Problem
from elicit_app.session.journal.events import (
    EVENT,
    FORMAT,
    PROTECTED,
    SEALED,
    VERSION,
    Begun,
    Event,
    digest_after,
    unsealed,
)
from metrics.files import read_regular_file, strict_json, version_of

SUFFIX = ".session.jsonl"
MOST_BACKUPS = 5
_NEW = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_PRIVATE = 0o600
_FORMAT, _HEAD = b'"format":"elicit-session"', 200
_BACKUP = re.compile(rf"\d{{4}}-\d\d-\d\d-\d{{6}}-\d{{6}}{re.escape(SUFFIX)}")


class Mark(NamedTuple):
    """How far a session was written: the number of its lines, the last running digest, and the number of answers."""

    lines: int
    digest: str
    answers: int


def is_session(path: Path) -> bool:
    """Return whether a file is a session, by its name or, since any name can be typed, because it begins like one."""
    if path.name.endswith(".jsonl"):
        return True
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return _FORMAT in file.read(_HEAD)
    return False


def backup_folder(path: Path) -> Path:
    """Return the folder of a session's backups: backups/NAME beside it."""
    return path.parent / "backups" / path.name.removesuffix(SUFFIX)


def backups(path: Path) -> tuple[Path, ...]:
    """Return the backups of a session, oldest first; their names are the times at which they were made."""
    if not _is_own(path):
        return ()
    return tuple(sorted(one for one in backup_folder(path).glob(f"*{SUFFIX}") if _BACKUP.fullmatch(one.name)))


def _is_own(path: Path) -> bool:
    """Return whether the backup folder is ours; through a link, backups could replace files that are not."""
    folder = backup_folder(path)
    return not (folder.is_symlink() or folder.parent.is_symlink())


def keep_backup(path: Path, data: bytes, now: datetime) -> None:
    """Keep a copy of a session and drop all but the last five; a write error must not prevent a sitting."""
    with suppress(OSError):
        if not _is_own(path):
            return
        kept = backups(path)
        if kept and kept[-1].is_file() and kept[-1].read_bytes() == data:
            return
        folder = backup_folder(path)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_new(folder / f"{now:%Y-%m-%d-%H%M%S-%f}{SUFFIX}", data)
        for old in backups(path)[:-MOST_BACKUPS]:
            old.unlink()


def write_new(path: Path, data: bytes) -> None:
    """Write a new file, readable by its owner alone, and sync it to the disk."""
    descriptor = os.open(path, _NEW | os.O_EXCL, _PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def read_mark(path: Path) -> Mark | None:
    """Return how far a session was written, or None if unknown."""
    try:
        lines, digest, answers = strict_json(read_regular_file(_mark(path), 1000).decode())
    except (OSError, ValueError, TypeError):
        return None
    sound = type(lines) is int and lines > 0 and isinstance(digest, str) and type(answers) is int
    return Mark(lines, digest, answers) if sound else None


def write_mark(path: Path, mark: Mark) -> None:
    """Record how far a session was written; a lost or older mark only claims less, so it need not be synced."""
    with suppress(OSError):
        if not _is_own(path):
            return
        place = _mark(path)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(place, _NEW | os.O_TRUNC, _PRIVATE)
        try:
            os.write(descriptor, json.dumps(mark).encode())
        finally:
            os.close(descriptor)


def delete_mark(path: Path) -> None:
    """Remove the mark of a session that no longer exists."""
    with suppress(OSError):
        _mark(path).unlink()


def _mark(path: Path) -> Path:
    return backup_folder(path) / "written.json"


_SIDES = {"a": "first", "b": "second"}


def migrated(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event of any version in the form of the newest version.

    A session begun by an older version may end in newer lines, so every line is converted by itself.
    """
    new = dict(event)
    for key in ("choice", "left"):
        if isinstance(side := event.get(key), str):
            new[key] = _SIDES.get(side, side)
    if isinstance(pair := event.get("pair"), dict):
        new["pair"] = {_SIDES.get(key, key): value for key, value in pair.items()}
    return new


LARGEST = 64 << 20
"""Bytes of the largest session file that is read: about 100,000 answers."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}
_ANSWERED = b'"kind":"answered"'


@dataclass(frozen=True)
class Contents:
    """What a journal holds."""

    events: tuple[Event, ...]  # all sound events before any damage; the first is a `Begun`
    length: int  # bytes up to the end of the last sound event
    tail: bytes  # an unfinished line after it, left by a power failure; usually empty
    ended: bool  # whether the last sound event has its newline
    digests: tuple[str, ...] = ()  # the running digest of each sound line; empty for a file of version 1
    damage: str = ""  # what is wrong after the sound events: "is damaged in line 31"; empty for a sound file
    answers: int = 0  # answers that the file holds or held, including those behind the damage

    @property
    def begun(self) -> Begun:
        """Return the first event."""
        first = self.events[0]
        assert isinstance(first, Begun)
        return first

    @property
    def protected(self) -> bool:
        """Return whether a change from outside would be noticed."""
        return bool(self.digests)

    @property
    def sound_answers(self) -> int:
        """Return the number of answers before any damage."""
        return sum(event.kind == "answered" for event in self.events)


class DamagedProblem(Problem):
    """A session file that is not as it was written.

    `contents` precede the damage: they can be viewed, and recovered into a copy.
    """

    def __init__(self, path: Path, contents: Contents) -> None:
        sound, all_ = contents.sound_answers, max(contents.answers, contents.sound_answers)
        which = f"{sound} of {all_} answers" if all_ != 1 else f"{sound} of 1 answer"
        super().__init__(
            f"{path} {contents.damage}: {which} can be read. Recover the session into a copy to go on with it."
        )
        self.contents = contents


def examine(data: bytes, path: Path) -> Contents:
    """Return the events in the bytes of a journal up to the first damage.

    Raises Problem if the first line does not begin a session, or a newer version wrote it.
    """
    *lines, rest = data.split(b"\n")
    chain = _Chain(path, sealed=SEALED.search(data) is not None)
    length = 0
    for number, line in enumerate(lines, start=1):
        try:
            chain.add(line)
        except ValueError as error:
            if number == 1:
                raise _damaged_first(path, line, sealed=chain.sealed) from error
            answers = data.count(_ANSWERED)
            return chain.contents(length, damage=f"is damaged in line {number}", answers=answers)
        length += len(line) + 1
    for odd in (0, 1) if rest else ():
        # If only the newline was damaged, one odd byte stands in its place.
        try:
            chain.add(rest[: len(rest) - odd])
        except ValueError:
            continue
        return chain.contents(length + len(rest) - odd, tail=rest[len(rest) - odd :], ended=False)
    if not chain.events:
        if rest and not rest.startswith(b"{"):
            raise _foreign(path)
        raise Problem(
            f"{path} holds no session yet: it ends before its first line is complete, so nothing was answered in it. "
            "Begin a new session."
        )
    return chain.contents(length, tail=rest)


class _Chain:
    """The events read so far, each checked against the running digest."""

    def __init__(self, path: Path, *, sealed: bool) -> None:
        self.events: list[Event] = []
        self._digests: list[str] = []
        self._path = path
        self._version = VERSION
        # the first files of version 2 had no digests; a file that lost only some of its digests still has others
        self.sealed = sealed

    def add(self, line: bytes) -> None:
        """Read one more line; raise ValueError if it is not what was written there."""
        if not self.events:
            self._version = _version_of(line, self._path)
        payload, digest = line, ""
        if self._version >= PROTECTED and self.sealed:
            payload, digest = unsealed(line)
            if digest != digest_after(self._digests[-1] if self._digests else "", payload):
                raise ValueError("the digest is another one")
        event = event_of(payload, self._version)
        if isinstance(event, Begun) == bool(self.events):
            raise ValueError("the beginning is not where it should be")
        self.events.append(event)
        if digest:
            self._digests.append(digest)

    def contents(
        self, length: int, *, tail: bytes = b"", ended: bool = True, damage: str = "", answers: int = 0
    ) -> Contents:
        return Contents(tuple(self.events), length, tail, ended, tuple(self._digests), damage, answers)


def event_of(payload: bytes, version: int) -> Event:
    """Return the event in a line of a version without its digest; raise ValueError if there is none."""
    if version == VERSION:
        return EVENT.validate_json(payload)
    fields = from_json(payload)
    return EVENT.validate_python(migrated(fields) if isinstance(fields, dict) else fields)


def _version_of(line: bytes, path: Path) -> int:
    """Return the version stated by a first line, before its other fields are read; refuse foreign and newer files."""
    first: Any = from_json(line)
    if not isinstance(first, dict) or first.get("format") != FORMAT:
        raise _foreign(path)
    return version_of(
        first,
        VERSION,
        lambda sentence: Problem(f"{path} {sentence}"),
        invalid="has an invalid session version: a whole number from 1 to {newest} was expected.",
        newer="was written by a newer elicit (session version {version}, this one reads up to {newest}). "
        "Install the newer elicit to go on with it.",
    )


def _foreign(path: Path) -> Problem:
    return Problem(f"{path} is not a session of elicit: its first line does not say {FORMAT!r}. Choose a session file.")


def _damaged_first(path: Path, line: bytes, *, sealed: bool) -> Problem:
    if FORMAT.encode() not in line:
        return _foreign(path)
    # without digests the original line cannot be identified
    remedy = "Recover it into a copy." if sealed else "Nothing can be saved of it: put a copy of the file in its place."
    return Problem(f"{path} is damaged in line 1, which says what the session is about. {remedy}")


def read_up_to_damage(path: Path) -> Contents:
    """Read a journal up to any damage, without locking it.

    Raises Problem if the file cannot be read or is no journal.
    """
    return check_against_mark(examine(read_bytes(path), path), read_mark(path))


def read(path: Path) -> Contents:
    """Read a sound journal without locking it.

    Raises DamagedProblem if it is not as it was written. Raises Problem if the file cannot be read or is no journal.
    """
    contents = read_up_to_damage(path)
    if contents.damage:
        raise DamagedProblem(path, contents)
    return contents


def check_against_mark(contents: Contents, mark: Mark | None) -> Contents:
    """Compare a journal with the mark of how far it was written: a cut between lines leaves no other trace."""
    if mark is None or contents.damage or not contents.protected:
        return contents
    missing = mark.lines - len(contents.digests)
    if missing > 0:
        what = "its last line is" if missing == 1 else f"its last {missing} lines are"
        answers = max(mark.answers, contents.sound_answers)
        return replace(contents, damage=f"is cut off ({what} missing)", answers=answers)
    if contents.digests[mark.lines - 1] != mark.digest:
        return replace(contents, damage="is not the file that was written here, although nothing in it is damaged")
    return contents


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a session file.

    Raises Problem if it cannot be read, is no regular file, or is larger than any session.
    """
    try:
        # Non-blocking, because opening a pipe would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise Problem(f"There is no session file {path}: check the name and the folder.") from None
    except OSError as error:
        raise Problem(f"{path} cannot be read ({reason(error)}). Check the path and its permissions.") from error
    try:
        require_session_file(descriptor, path)
        return read_all(descriptor)
    finally:
        os.close(descriptor)


def require_session_file(descriptor: int, path: Path) -> None:
    """Refuse a file that is not regular, or is too large, before reading it."""
    about = os.fstat(descriptor)
    if stat.S_ISDIR(about.st_mode):
        raise Problem(f"{path} is a folder: choose a session file.")
    if not stat.S_ISREG(about.st_mode):
        raise Problem(f"{path} is not a regular file: choose a session file.")
    if about.st_size > LARGEST:
        raise Problem(f"{path} is larger than any session ({LARGEST >> 20} MB at most). Choose a session file.")


def read_all(descriptor: int) -> bytes:
    """Return all bytes of an open file, at most one more than `LARGEST`."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts, size = [], 0
    while size <= LARGEST and (part := os.read(descriptor, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def reason(error: OSError) -> str:
    """Return in a few words why the disk refused."""
    if error.errno in _FULL:
        return "the disk is full"
    if error.errno in _FORBIDDEN:
        return "writing or reading there is not allowed"
    return (error.strerror or "the disk does not answer").lower()


def remedy(error: OSError) -> str:
    """Return what to do about an error."""
    if error.errno in _FULL:
        return "Free some space"
    if error.errno in _FORBIDDEN:
        return "Allow this account to read and write it"
    return "Check that the disk is there"
