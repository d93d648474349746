"""Writing whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elicit_app.problem import Problem
from metrics.atomic_write import write_atomically


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader finds either the old content or all of the new one.

    Parameters
    ----------
    path : Path
        Replaced where it exists.
    content : bytes
        All of it.

    Raises
    ------
    Problem
        It cannot be written: the disk is full, the folder is missing or read-only.
    """
    try:
        write_atomically(path, content)
    except OSError as error:
        raise Problem(f"{path} could not be written ({error.strerror or error}).") from error


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes `path` at the end; after an error nothing of it is left.

    Parameters
    ----------
    path : Path
        Must not exist, or be an empty folder; missing parents are made.

    Raises
    ------
    Problem
        There is something at `path` already, or it cannot be written.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise Problem(f"{path} exists already: choose a new folder.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    except OSError as error:
        raise Problem(f"{path} could not be made ({error.strerror or error}).") from error
    try:
        yield temporary
        temporary.chmod(0o755)
        if path.exists():
            path.rmdir()
        temporary.rename(path)
    except OSError as error:
        raise Problem(f"{path} could not be written ({error.strerror or error}).") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
