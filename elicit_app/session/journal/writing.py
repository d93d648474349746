"""Write the journal: events appended to a file, each synced to the disk before it counts, by one writer at a time."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from elicit_app.problem import Problem
from elicit_app.session.journal.events import Event, Recovered, to_line
from elicit_app.session.journal.files import (
    SUFFIX,
    Contents,
    DamagedProblem,
    Mark,
    check_against_mark,
    delete_mark,
    examine,
    keep_backup,
    read_all,
    read_mark,
    reason,
    remedy,
    require_session_file,
    write_mark,
    write_new,
)
from elicit_app.study.writing import require_writable
from metrics.files import sync_folder

# Do not follow links, and do not wait for the other end of a pipe.
_WRITABLE = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MOST_COPIES = 100

if sys.platform == "win32":
    import msvcrt

    # Far beyond the end of any journal, because others cannot read a locked range.
    _FAR = 1 << 40

    def take_lock(descriptor: int) -> bool:
        """Lock the open file for writing; return False if another writer holds it."""
        here = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, here, os.SEEK_SET)
        return True

else:
    import fcntl

    def take_lock(descriptor: int) -> bool:
        """Lock the open file for writing; return False if another writer holds it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class UnwrittenProblem(Problem):
    """An event that could not be written: it does not count, nothing before it is lost, and it may be tried again."""


class ChangedElsewhereProblem(UnwrittenProblem):
    """The file is no longer the one that was written, so its former content may be known only here."""


class Journal:
    """An open journal: the only writer of its file.

    Use `Journal.create` or `Journal.open`; close it, or use it in a `with`.
    """

    def __init__(self, path: Path, descriptor: int, data: bytes, contents: Contents) -> None:
        self.path = path
        self._descriptor = descriptor
        self._bytes = hashlib.sha256(data)
        self._length = len(data)
        self._stamp = os.fstat(descriptor).st_mtime_ns
        self._dirty = False
        # Digest of the last line; None in a file of version 1, which continues without digests.
        self._digest = contents.digests[-1] if contents.protected else None
        self._lines = len(contents.events)
        self._answers = contents.sound_answers

    @classmethod
    def create(cls, path: Path, events: Sequence[Event]) -> Journal:
        """Begin a journal; the file appears with all of `events` in it, or not at all.

        Raises Problem if the file exists, or its folder cannot be written.
        """
        require_writable(path)
        temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.new")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_new(temporary, to_lines(events))
            _move_to_new(temporary, path)
            sync_folder(path.parent)
        except OSError as error:
            if os.path.lexists(path):
                raise Problem(f"There is already a session in {path}. Open it, or choose another name.") from None
            raise Problem(
                f"A session cannot be begun in {path.parent} ({reason(error)}). {remedy(error)}, then try again."
            ) from error
        finally:
            with suppress(OSError):
                temporary.unlink()
        # A mark left by an earlier session of this name says nothing about this one.
        delete_mark(path)
        return cls.open(path)[0]

    @classmethod
    def open(cls, path: Path) -> tuple[Journal, Contents]:
        """Open a journal for writing, and return it with its contents.

        An unfinished last line is cut off and kept as text in a `Recovered` event. A copy of the file is kept. Raises
        DamagedProblem if it is not as it was written. Raises Problem if it cannot be read or written, or is open
        elsewhere.
        """
        try:
            descriptor = os.open(path, _WRITABLE)
        except FileNotFoundError:
            raise Problem(f"There is no session file {path}. Begin a new session, or give the right path.") from None
        except OSError as error:
            if path.is_symlink():
                raise Problem(f"{path} is a link: choose the session file itself.") from None
            if path.is_dir():
                raise Problem(f"{path} is a folder: choose a session file.") from None
            raise Problem(f"{path} cannot be opened for writing ({reason(error)}). {remedy(error)}.") from error
        try:
            require_session_file(descriptor, path)
            if not take_lock(descriptor):
                raise Problem(f"{path} is open in another window or terminal. Close it there, then open it here.")
            data = read_all(descriptor)
            contents = check_against_mark(examine(data, path), read_mark(path))
            if contents.damage:
                raise DamagedProblem(path, contents)
            journal = cls(path, descriptor, data, contents)
            if contents.sound_answers:
                keep_backup(path, data, datetime.now(UTC))
            if contents.tail or not contents.ended:
                contents = journal._recover(data, contents)
            journal._write_mark()
        except BaseException:
            os.close(descriptor)
            raise
        return journal, contents

    @classmethod
    def closed(cls, path: Path, contents: Contents) -> Journal:
        """Return a read-only journal for a session to look at, even if it is open elsewhere."""
        journal = cls(path, os.open(path, os.O_RDONLY), b"", contents)
        journal.close()
        return journal

    def back_up(self) -> None:
        """Keep a copy of the current file, as at the beginning of a further sitting."""
        if self._descriptor >= 0:
            keep_backup(self.path, read_all(self._descriptor), datetime.now(UTC))

    def _recover(self, data: bytes, contents: Contents) -> Contents:
        """Cut off the unfinished line, terminate the last complete one, and record that in the journal."""
        self._length, self._bytes = contents.length, hashlib.sha256(data[: contents.length])
        self._dirty = True
        if not contents.ended:
            self._write(b"\n")
        events = contents.events
        if contents.tail:
            event = Recovered.of(contents.tail, datetime.now(UTC))
            self._add(event)
            events = (*events, event)
        return replace(contents, events=events, length=self._length, tail=b"", ended=True)

    def append(self, event: Event) -> None:
        """Write one event; when this returns, it is on the disk.

        Raises UnwrittenProblem if it could not be written; the file then holds what it held before, and `append` may be
        called again.
        """
        what = "This answer" if event.kind == "answered" else "This change"
        if self._descriptor < 0:
            raise UnwrittenProblem(f"{what} could not be written: the session is closed. Open it again.")
        if not self.untouched():
            raise ChangedElsewhereProblem(
                f"{what} was not written: another program changed, moved or deleted {self.path}. "
                "Put the file back as it was, then try again; nothing of yours was overwritten."
            )
        try:
            self._add(event)
        except OSError as error:
            raise UnwrittenProblem(
                f"{what} could not be written ({reason(error)}). {remedy(error)}, then try again; "
                "nothing before it is lost."
            ) from error

    def _add(self, event: Event) -> None:
        line, digest = to_line(event, self._digest)
        self._write(line)
        self._digest = digest
        self._lines += 1
        self._answers += event.kind == "answered"
        self._write_mark()

    def _write_mark(self) -> None:
        if self._digest is not None:
            write_mark(self.path, Mark(self._lines, self._digest, self._answers))

    def _write(self, line: bytes) -> None:
        """Append bytes and sync them to the disk, or leave the file as it was."""
        if self._dirty:
            os.ftruncate(self._descriptor, self._length)
        self._dirty = True
        os.lseek(self._descriptor, self._length, os.SEEK_SET)
        try:
            rest = line
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            _to_disk(self._descriptor)
        except OSError:
            self._take_back()
            raise
        self._dirty = False
        self._length += len(line)
        self._bytes.update(line)
        self._stamp = os.fstat(self._descriptor).st_mtime_ns

    def _take_back(self) -> None:
        """Remove a half-written line now if the disk allows it, else before the next write."""
        try:
            os.ftruncate(self._descriptor, self._length)
        except OSError:
            return
        self._dirty = False
        self._stamp = os.fstat(self._descriptor).st_mtime_ns

    def untouched(self) -> bool:
        """Return whether the file is still, byte for byte, the one that this journal wrote."""
        if self._descriptor < 0:
            return True
        ours = os.fstat(self._descriptor)
        try:
            there = self.path.stat()
        except OSError:
            return False
        if (ours.st_ino, ours.st_dev) != (there.st_ino, there.st_dev):
            return False
        if not self._dirty and ours.st_size == self._length and ours.st_mtime_ns == self._stamp:
            return True
        # Some network disks change the time later by themselves, so only different bytes count.
        data = read_all(self._descriptor)
        if self._dirty:
            # The rest is our own half-written line, still to be removed.
            data = data[: self._length]
        if hashlib.sha256(data).digest() != self._bytes.digest():
            return False
        self._stamp = ours.st_mtime_ns
        return True

    def close(self) -> None:
        """Close the file and release the lock; closing twice does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_copy(path: Path, events: Sequence[Event]) -> Path:
    """Write a whole journal beside another one, under a name derived from it, and return its path.

    Raises OSError if its folder cannot be written.
    """
    stem = path.name.removesuffix(SUFFIX)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(1, _MOST_COPIES):
        copy = path.with_name(f"{stem}-kept{'' if number == 1 else number}{SUFFIX}")
        with suppress(FileExistsError):
            write_new(copy, to_lines(events))
            return copy
    raise FileExistsError(errno.EEXIST, "exists", str(path))


def to_lines(events: Sequence[Event]) -> bytes:
    """Return a whole journal of the newest version."""
    lines = []
    digest: str | None = ""
    for event in events:
        line, digest = to_line(event, digest)
        lines.append(line)
    return b"".join(lines)


def _to_disk(descriptor: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        # On macOS fsync leaves the bytes in the drive's own cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def _move_to_new(temporary: Path, path: Path) -> None:
    """Give the file its name without replacing another file."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links; there, check whether the file exists first.
        if path.exists():
            raise FileExistsError(errno.EEXIST, "exists", str(path)) from None
        temporary.replace(path)
