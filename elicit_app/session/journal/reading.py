"""Reading a journal: its complete events, and what to say of a file that is not sound."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from elicit_app.problem import Problem
from elicit_app.session.journal.events import EVENT, FORMAT, VERSION, Begun, Event
from elicit_app.session.journal.migrations import migrated

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


@dataclass(frozen=True)
class Contents:
    """What a journal holds.

    Parameters
    ----------
    events : tuple of Event
        All complete events; the first is a `Begun`.
    length : int
        Bytes up to the end of the last complete event.
    tail : bytes
        An unfinished line after it, left by a computer that went off while writing; usually empty.
    ended : bool
        Whether the last complete event has its newline.
    """

    events: tuple[Event, ...]
    length: int
    tail: bytes
    ended: bool

    @property
    def begun(self) -> Begun:
        """Return the first event."""
        first = self.events[0]
        assert isinstance(first, Begun)
        return first


def parse(data: bytes, path: Path) -> Contents:
    """Return the events in the bytes of a journal.

    Raises
    ------
    Problem
        When nothing complete is in it, a line before the last is damaged, or a newer version wrote it.
    """
    lines = data.split(b"\n")
    events: list[Event] = []
    length = 0
    for number, line in enumerate(lines, start=1):
        last = number == len(lines)
        if last and not line:
            break
        try:
            events.append(_event(line, number, path))
        except ValueError as error:
            if last and events:
                return Contents(tuple(events), length, line, ended=True)
            raise _damaged(path, number, line, last) from error
        length += len(line) + (not last)
    if not events:
        raise _damaged(path, 1, b"", True)
    return Contents(tuple(events), length, b"", ended=data.endswith(b"\n"))


def _event(line: bytes, number: int, path: Path) -> Event:
    if number == 1:
        _check_version(line, path)
    fields = from_json(line)
    event = EVENT.validate_python(migrated(fields) if isinstance(fields, dict) else fields)
    if isinstance(event, Begun) != (number == 1):
        raise ValueError("the beginning is not where it should be")
    return event


def _check_version(line: bytes, path: Path) -> None:
    """Refuse foreign files and newer versions by the first line alone, before its fields are read."""
    first: Any = from_json(line)
    if not isinstance(first, dict) or first.get("format") != FORMAT:
        raise _foreign(path)
    version = first.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Problem(f"{path} names no proper session version: a whole number from 1 to {VERSION} was expected.")
    if version > VERSION:
        raise Problem(
            f"{path} was written by a newer elicit (session version {version}, this one reads up to {VERSION}). "
            "Install the newer elicit to go on with it."
        )


def _foreign(path: Path) -> Problem:
    return Problem(
        f"{path} is not a session of elicit: its first line does not say {FORMAT!r}. Give the path of a session file."
    )


def _damaged(path: Path, number: int, line: bytes, last: bool) -> Problem:
    if number == 1 and last:
        return Problem(
            f"{path} holds no session yet: it ends before its first line is complete, so nothing was answered in it. "
            "Begin a new session."
        )
    if number == 1 and FORMAT.encode() not in line:
        return _foreign(path)
    return Problem(
        f"{path} is damaged in line {number}, which is not an event of a session. "
        "Put a backup copy in its place, or begin a new session."
    )


def read(path: Path) -> Contents:
    """Read a journal without locking it, as a list of sessions does.

    Raises
    ------
    Problem
        When the file cannot be read or is no journal.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise Problem(f"There is no session file {path}. Begin a new session, or give the right path.") from None
    except OSError as error:
        raise Problem(f"{path} cannot be read ({reason(error)}). Check the path and its permissions.") from error
    return parse(data, path)


def reason(error: OSError) -> str:
    """Return in a few words why the disk refused."""
    if error.errno in _FULL:
        return "the disk is full"
    if error.errno in _FORBIDDEN:
        return "writing or reading there is not allowed"
    return (error.strerror or "the disk does not answer").lower()


def remedy(error: OSError) -> str:
    """Return what to do about it."""
    if error.errno in _FULL:
        return "Free some space"
    if error.errno in _FORBIDDEN:
        return "Allow this account to read and write it"
    return "Check that the disk is there"
