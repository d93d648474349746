"""Reading a Parquet file through in a child process, because a damaged one can end the process that reads it.

The decoder is compiled code that aborts where memory for a size written in the file cannot be had; no exception tells
of it. The child has limits of memory and time. It is started at the first file, takes further ones, and ends with us.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

_DAMAGED = "It is not a Parquet file, or it is cut short or damaged"
_MEMORY = 6 * 2**30
_SECONDS, _BYTES_A_SECOND = 30.0, 5e6
# A file may change twice within one tick of the clock of its file system.
_SETTLED = 2.0
_LOCK = threading.Lock()
_child: subprocess.Popen[bytes] | None = None
_sound: set[tuple[int, int, int, int]] = set()


def parquet_fault(path: Path) -> str | None:
    """Return what is wrong with a Parquet file, or None where a child process could read all of it.

    Parameters
    ----------
    path : Path
        A regular file. One that was sound and has not changed since is not read again.

    Returns
    -------
    str or None
        The fault, without the file's name.
    """
    found = path.stat()
    identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    with _LOCK:
        if identity in _sound:
            return None
        answer = _asked(path, _SECONDS + found.st_size / _BYTES_A_SECOND)
        if answer == b"sound\n":
            if time.time() - found.st_mtime > _SETTLED:
                _sound.add(identity)
            return None
        return "It takes too long to read" if answer is None else _DAMAGED


def _asked(path: Path, seconds: float) -> bytes | None:
    """Return the child's answer: b"" where it ended, None where it took too long; both times a new child follows."""
    global _child
    if _child is None or _child.poll() is not None:
        _child = _started()
    child, late = _child, threading.Event()

    def stop() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(os.fsencode(path.absolute()).hex().encode() + b"\n")
        child.stdin.flush()
        answer = child.stdout.readline()
    except OSError:
        answer = b""
    finally:
        timer.cancel()
    if not answer:
        close()
    return None if late.is_set() else answer


def _started() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "elicit_app.study.trial_reading"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": paths, "POLARS_MAX_THREADS": "1"},
    )


@atexit.register
def close() -> None:
    """End the child process, if there is one."""
    global _child
    child, _child = _child, None
    if child is not None:
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        child.wait()


def main() -> None:
    """Read the files named on standard input, one line each, and answer with a line."""
    _limit_memory()
    import polars as pl

    for line in sys.stdin.buffer:
        path = Path(os.fsdecode(bytes.fromhex(line.strip().decode())))
        try:
            scan = pl.scan_parquet(path, glob=False)
            scan.select(pl.len()).collect()
            for _ in scan.select(scan.collect_schema().names()).collect_batches(lazy=True):
                pass
            answer = "sound"
        except BaseException:  # a panic of the decoder is no Exception
            answer = "damaged"
        print(answer, flush=True)


def _limit_memory() -> None:
    """Limit this process's memory, where the system can, and leave no core file behind."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main()
