"""Decoding of Parquet files in a child process with resource limits.

The decoder is compiled code that aborts, without an exception, if it cannot allocate a size stated in a file. This
process therefore never decodes a foreign Parquet file; the child decodes it and returns plain Arrow record batches. The
child starts with the first file, serves further ones, and ends with this process. It runs this module as a script, so
the top of the module imports nothing of ours.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
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
"""Bytes that the child may allocate to read a file, in addition to twice the file's size."""
BATCH_ROWS = 64_000
"""Rows returned at a time: a multiple of the measures' chunks, so that no batch ends with a small remainder."""

CHILD = "--decode-parquet"
"""Argument that makes a bundled program run as the child."""

_SECONDS, _BYTES_A_SECOND = 30.0, 5e6


def start() -> None:
    """Start the child before the first file is read, because it takes 0.3 s to be ready."""
    _Child.shared()


class Head(NamedTuple):
    """The names of the columns, in order, the number of rows, and which columns hold lists, structures or bytes."""

    columns: tuple[str, ...]
    rows: int
    nested: tuple[str, ...]


class UnreadableError(Exception):
    """A file that could not be read; the message says why, without the file's name."""


class _EndedError(UnreadableError):
    """The child ended instead of answering, after it had read other files."""


_DAMAGED = "It is not a Parquet file, or it is cut short or damaged"
_ENDED = f"It is damaged, or reading it takes more than {MOST_MEMORY >> 30} GiB"
_SLOW = "It takes too long to read"


def head(path: Path, *, own: bool = False) -> Head:
    """Return the columns and the number of rows of a Parquet file; the program's own files are read in this process.

    Raises UnreadableError if it is damaged, or needs more time or memory than is allowed.
    """
    if own:
        return _read_head(path)
    with contextlib.suppress(_EndedError):
        return _Child.shared().head(path)
    # An earlier file may have exhausted the child's memory; try once more with a new one.
    return _Child.shared().head(path)


def frames(
    path: Path, columns: Sequence[str], start: int, stop: int | None, *, own: bool = False
) -> Iterator[pl.DataFrame]:
    """Yield the rows from `start` to `stop` (None: to the end) of some columns, at most `BATCH_ROWS` at a time.

    Raises UnreadableError as for `head`, or if the file has changed.
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
            # An earlier file may have exhausted its memory; continue from here in a new process, once.
            attempts -= 1
            if not attempts:
                raise
        else:
            return


def _read_head(path: Path) -> Head:
    import polars as pl

    with _reworded():
        scan = pl.scan_parquet(path, glob=False)
        schema = scan.collect_schema()
        nested = tuple(name for name, kind in schema.items() if kind.is_nested() or kind in (pl.Binary, pl.Object))
        return Head(tuple(schema.names()), int(scan.select(pl.len()).collect().item()), nested)


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
    """Turn errors of polars, including panics of its decoder, into one error."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableError(_DAMAGED) from error


class _Child:
    """A process that reads Parquet files within limits and answers one request at a time."""

    _one: _Child | None = None
    _starting = threading.Lock()

    def __init__(self) -> None:
        # -P keeps this folder off the import path; a bundle has no Python with which to run a file
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
        """Return the running child, or start a new one."""
        with cls._starting:
            if cls._one is None or not cls._one._usable:
                cls._one = _Child()
            return cls._one

    @property
    def _usable(self) -> bool:
        """Return whether the child runs and belongs to this process, not to one from which this process was forked."""
        return self._process_id == os.getpid() and self._process.poll() is None

    @classmethod
    def end(cls) -> None:
        """End this process's child, if any."""
        if cls._one is not None and cls._one._usable:
            cls._one._close()
        cls._one = None

    def head(self, path: Path) -> Head:
        """Return the head of a file; see the function `head`."""
        answer = self._ask(path, {"do": "head"})
        return Head(tuple(answer["columns"]), answer["rows"], tuple(answer["nested"]))

    def frames(self, path: Path, columns: Sequence[str], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield the rows of a file; see the function `frames`."""
        import polars as pl

        question = {"do": "open", "columns": [*columns], "start": start, "stop": stop}
        number = self._ask(path, question)["stream"]
        try:
            while data := self._ask(path, {"do": "next", "stream": number})["data"]:
                yield pl.read_ipc_stream(data)
        finally:
            # not requested here, because generators may be closed at any time and in any thread
            self._abandoned.append(number)

    def _ask(self, path: Path, question: dict[str, Any]) -> dict[str, Any]:
        """Return the child's answer to a request about a file, with its `data`."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        with self._lock:
            question |= {"path": os.fsencode(path.absolute()).hex(), "drop": self._abandoned}
            self._abandoned = []
            self._paths.add(path)
            timer, answer = threading.Timer(_SECONDS + _size(path) / _BYTES_A_SECOND, stop), None
            try:
                timer.start()
                answer = self._asked(question)
            finally:
                timer.cancel()
                if answer is None:  # also when an interrupt leaves part of an answer in the pipe
                    self._close()
        if answer is None:
            if late.is_set():
                raise UnreadableError(_SLOW)
            raise (_EndedError if len(self._paths) > 1 else UnreadableError)(_ENDED)
        if answer["kind"] != "read":
            raise UnreadableError(_DAMAGED)
        return answer

    def _asked(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer, or None if the child ended instead."""
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
    """Answer requests on standard input, one JSON line each, with a JSON line and the bytes that it announces."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.disable()  # loading leaves no garbage, and looking for it takes a quarter of the time
    import polars  # noqa: F401  # before the first question, while whoever asks it is still getting ready

    gc.enable()
    streams: dict[int, Iterator[pl.DataFrame]] = {}
    for line in sys.stdin.buffer:
        question = json.loads(line)
        for number in question["drop"]:
            streams.pop(number, None)
        try:
            answer, data = _answer(question, streams)
        except BaseException:  # other files can still be read after any error
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
        return {"kind": "read", **found._asdict()}, b""
    number = max(streams, default=0) + 1
    streams[number] = _read_frames(path, question["columns"], question["start"], question["stop"])
    return {"kind": "read", "stream": number}, b""


def _limit_memory(size: int) -> None:
    """Limit the memory of this process, if the system supports it; mapped files do not count."""
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
