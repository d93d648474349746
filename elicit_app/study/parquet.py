"""Parquet files, decoded in a child process with limits that hands over what it read.

The decoder is compiled code that aborts where memory for a size written in a file cannot be had, and no exception tells
of it. So this process never decodes a foreign Parquet file; it gets Arrow's plain record batches of what the child
decoded. The child is started at the first file, takes further ones, and ends with us. It runs this very module as a
script, so nothing of ours is imported at the top.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

MOST_MEMORY = 2**30
"""Bytes that the child may take to read a file, besides twice the file's own size."""
BATCH_ROWS = 64_000
"""Rows handed over at a time. A multiple of what the measures take, so that no batch ends with a few on their own."""

CHILD = "--decode-parquet"
"""What a bundled program is started with to be the child."""

_SECONDS, _BYTES_A_SECOND = 30.0, 5e6


def start() -> None:
    """Start the child ahead of the first file, where one is about to be read: it takes .3 s to be ready."""
    _Child.shared()


class Head(NamedTuple):
    """The names of the columns, in order, and the number of rows."""

    columns: tuple[str, ...]
    rows: int


class UnreadableError(Exception):
    """A file that could not be read; the text says why, without the file's name."""


class _EndedError(UnreadableError):
    """The child ended instead of answering, and had read other files before."""


_DAMAGED = "It is not a Parquet file, or it is cut short or damaged"
_ENDED = f"It is damaged, or reading it takes more than {MOST_MEMORY >> 30} GiB"
_SLOW = "It takes too long to read"


def head(path: Path, *, own: bool = False) -> Head:
    """Return the columns and rows of a Parquet file; one that came with the program (`own`) is read here.

    Raises
    ------
    UnreadableError
        It is damaged, or needs more time or memory than is allowed.
    """
    if own:
        return _read_head(path)
    with contextlib.suppress(_EndedError):
        return _Child.shared().head(path)
    # An earlier file may have exhausted the process's memory: try once in a new one.
    return _Child.shared().head(path)


def frames(
    path: Path, columns: Sequence[str], start: int, stop: int | None, *, own: bool = False
) -> Iterator[pl.DataFrame]:
    """Yield the rows from `start` to `stop` (None: to the end) of some columns, at most `BATCH_ROWS` at a time.

    Raises
    ------
    UnreadableError
        As for `head`, and where the file has become another one.
    """
    if own:
        yield from _read_frames(path, columns, start, stop)
        return
    attempts = 2
    while True:
        try:
            for frame in _Child.shared().frames(path, columns, start, stop):
                start += frame.height
                yield frame
        except _EndedError:
            # An earlier file may have exhausted its memory: go on from here in a new process, once.
            attempts -= 1
            if not attempts:
                raise
        else:
            return


def _read_head(path: Path) -> Head:
    import polars as pl

    with _reworded():
        scan = pl.scan_parquet(path, glob=False)
        return Head(tuple(scan.collect_schema().names()), int(scan.select(pl.len()).collect().item()))


def _read_frames(path: Path, columns: Sequence[str], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
    import polars as pl

    with _reworded():
        rows = pl.scan_parquet(path, glob=False).select(columns)
        if start or stop is not None:
            rows = rows.slice(start, None if stop is None else stop - start)
        for frame in rows.collect_batches(lazy=True):
            yield from frame.iter_slices(BATCH_ROWS)


@contextlib.contextmanager
def _reworded() -> Iterator[None]:
    """Turn what polars raises, a panic of its decoder included, into one error."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableError(_DAMAGED) from error


class _Child:
    """A process that reads Parquet files within limits, and answers one question at a time."""

    _one: _Child | None = None
    _starting = threading.Lock()

    def __init__(self) -> None:
        # -P: the folder of this file is no place to import from; in a bundle there is no Python to run a file with
        bundled = getattr(sys, "frozen", False)
        self._process = subprocess.Popen(
            [sys.executable, CHILD] if bundled else [sys.executable, "-P", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        self._lock = threading.Lock()
        self._process_id = os.getpid()
        self._abandoned: list[int] = []
        self._paths: set[Path] = set()

    @classmethod
    def shared(cls) -> _Child:
        """Return the child that lives; a new one where there is none."""
        with cls._starting:
            if cls._one is None or not cls._one._usable:
                cls._one = _Child()
            return cls._one

    @property
    def _usable(self) -> bool:
        """Return whether it lives, and belongs to this process rather than to one that this one was forked from."""
        return self._process_id == os.getpid() and self._process.poll() is None

    @classmethod
    def end(cls) -> None:
        """End the child, if there is one of ours."""
        if cls._one is not None and cls._one._usable:
            cls._one._close()
        cls._one = None

    def head(self, path: Path) -> Head:
        """Return what `head` does."""
        answer = self._ask(path, {"do": "head"})
        return Head(tuple(answer["columns"]), answer["rows"])

    def frames(self, path: Path, columns: Sequence[str], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield what `frames` does."""
        import polars as pl

        question = {"do": "open", "columns": [*columns], "start": start, "stop": stop}
        number = self._ask(path, question)["stream"]
        try:
            while data := self._ask(path, {"do": "next", "stream": number})["data"]:
                yield pl.read_ipc_stream(data)
        finally:
            # not asked here: what is no longer wanted may be noticed at any time, and in any thread
            self._abandoned.append(number)

    def _ask(self, path: Path, question: dict[str, Any]) -> dict[str, Any]:
        """Return what the child answers about a file, with its `data`."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        with self._lock:
            question |= {"path": os.fsencode(path.absolute()).hex(), "drop": self._abandoned}
            self._abandoned = []
            self._paths.add(path)
            timer = threading.Timer(_SECONDS + _size(path) / _BYTES_A_SECOND, stop)
            timer.start()
            try:
                answer = self._asked(question)
            finally:
                timer.cancel()
            if answer is None:
                self._close()
        if answer is None:
            if late.is_set():
                raise UnreadableError(_SLOW)
            raise (_EndedError if len(self._paths) > 1 else UnreadableError)(_ENDED)
        if answer["kind"] != "read":
            raise UnreadableError(_DAMAGED)
        return answer

    def _asked(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer, None where the child ended instead."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        try:
            asked.write(json.dumps(question).encode() + b"\n")
            asked.flush()
            line = answered.readline()
            answer: dict[str, Any] = json.loads(line)
            answer["data"] = answered.read(answer["bytes"])
        except (OSError, ValueError):
            return None
        return answer if len(answer["data"]) == answer["bytes"] else None

    def _close(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise UnreadableError(f"It cannot be read any more ({error.strerror or error})") from None


atexit.register(_Child.end)


def main() -> None:
    """Answer the questions on standard input, a line of JSON each, with a line of JSON and the bytes it announces."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import polars  # noqa: F401  # before the first question, while whoever asks it is still getting ready

    streams: dict[int, Iterator[pl.DataFrame]] = {}
    for line in sys.stdin.buffer:
        question = json.loads(line)
        for number in question["drop"]:
            streams.pop(number, None)
        try:
            answer, data = _answer(question, streams)
        except BaseException:  # whatever it is, the other files can still be read
            answer, data = {"kind": "damaged"}, b""
        _reply(sys.stdout.buffer, answer | {"bytes": len(data)}, data)


def _answer(question: dict[str, Any], streams: dict[int, Iterator[pl.DataFrame]]) -> tuple[dict[str, Any], bytes]:
    path = Path(os.fsdecode(bytes.fromhex(question["path"])))
    if question["do"] == "next":
        frame = next(streams[question["stream"]], None)
        return {"kind": "read"}, b"" if frame is None else _as_bytes(frame)
    _limit_memory(MOST_MEMORY + 2 * path.stat().st_size)
    if question["do"] == "head":
        found = _read_head(path)
        return {"kind": "read", "columns": found.columns, "rows": found.rows}, b""
    number = max(streams, default=0) + 1
    streams[number] = _read_frames(path, question["columns"], question["start"], question["stop"])
    return {"kind": "read", "stream": number}, b""


def _limit_memory(size: int) -> None:
    """Limit what this process may allocate, where the system can; files that are mapped do not count."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))


def _as_bytes(frame: pl.DataFrame) -> bytes:
    from io import BytesIO

    plain = BytesIO()
    frame.write_ipc_stream(plain, compression="uncompressed")
    return plain.getvalue()


def _reply(out: IO[bytes], answer: dict[str, Any], data: bytes) -> None:
    out.write(json.dumps(answer).encode() + b"\n")
    out.write(data)
    out.flush()


if __name__ == "__main__":
    main()
