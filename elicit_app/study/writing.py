"""Atomic writes, and line-by-line writes for work that may be interrupted."""

from __future__ import annotations

import errno
import io
import itertools
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from elicit_app.problem import Problem
from metrics.files import write_atomically
from metrics.text import series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metrics import ElicitedMetric


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file atomically, with text as UTF-8: readers see either the old or the complete new content.

    Returns the path. Raises Problem if it cannot be written: the disk is full, the folder is missing or read-only.
    """
    try:
        write_atomically(path, content)
    except OSError as error:
        raise write_problem(path, error) from error
    return path


def file_name(title: str, otherwise: str) -> str:
    """Return a file name derived from a title; `otherwise` if no character of it is usable.

    >>> file_name("Skin lesions (2nd clinic)", "study")
    'skin-lesions-2nd-clinic'
    """
    return re.sub(r"[^\w]+", "-", title.lower()).strip("-")[:60] or otherwise


def metric_stem(metric: ElicitedMetric, otherwise: str = "metric") -> str:
    """Return the name proposed for a metric's file, without its ending; it says if the metric is provisional."""
    return file_name(metric.name, otherwise) + " (provisional)" * (metric.quality.provisional is not None)


def free_path(
    folder: Path, stem: str, ending: str = "", *, replaceable: Callable[[Path], bool] = lambda path: False
) -> Path:
    """Return an unused or `replaceable` path; if the name is taken, add a number, from 2, before its suffix."""
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    paths = (folder / f"{name}{ending}" for name in names)
    return next(path for path in paths if not path.exists() or replaceable(path))


def json_lines(values: Iterable[object]) -> str:
    """Return values as JSON, one per line."""
    return "".join(json.dumps(value) + "\n" for value in values)


def append_lines(path: Path, values: Iterable[object]) -> None:
    """Append values as JSON, one per line, and sync them to disk before returning; `whole_lines` reads them.

    Raises Problem if they cannot be written.
    """
    lines = json_lines(values)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise write_problem(path, error) from error


def whole_lines(path: Path) -> list[bytes]:
    """Return the complete lines of an append-only file; a last line cut off by a crash is removed from the file."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        write_whole(path, whole)
    return whole.splitlines()


PICTURES = (".png", ".svg", ".pdf")
"""Suffixes of pictures."""


def write_picture(figure: Figure, path: Path, dpi: int = 150) -> None:
    """Write a figure atomically and without a time stamp, in the format of its suffix (one of `PICTURES`).

    Raises Problem if the suffix is not one of these, or the file cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in PICTURES:
        raise Problem(f"{path}: a name that ends in {series(PICTURES, 'or')} was expected.")
    picture = io.BytesIO()
    unstamped = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[kind]
    figure.savefig(picture, format=kind[1:], dpi=dpi, metadata=unstamped)
    write_whole(path, picture.getvalue())


def write_problem(path: Path, error: OSError) -> Problem:
    """Return the problem for a file or folder that could not be written, with what to do."""
    try:
        require_folder(path)
    except Problem as problem:
        return problem
    if error.errno == errno.ENOSPC:
        return Problem(f"{path} could not be written: the disk is full. Free some space, or choose another place.")
    return Problem(f"{path} could not be written ({error.strerror or error}). Choose another place.")


def require_writable(path: Path) -> None:
    """Check that a file could be written at a path, before there is anything to write; folders need not exist yet.

    Raises Problem if the path is a folder, or a parent is not a folder.
    """
    if path.is_dir():
        raise Problem(f"{path} is a folder: name a file in it.")
    for folder in path.parents:
        if folder.is_dir():
            return
        if folder.exists():
            raise Problem(f"{path} cannot be written: {folder} is a file, not a folder. Choose another place.")


def require_folder(path: Path) -> None:
    """Check that a file could be written at a path, whose folder exists; see `require_writable`."""
    require_writable(path)
    if not path.parent.is_dir():
        raise Problem(f"{path} could not be written: there is no folder {path.parent}. Make it, or name another one.")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Provide a temporary folder that becomes `path` at the end; after an error nothing is left.

    Missing parents are made. Raises Problem if `path` is not empty, or cannot be written.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise Problem(f"{path} exists already: choose a new folder.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    except OSError as error:
        raise _unmade(path, error) from error
    try:
        yield temporary
        temporary.chmod(0o755)
        if path.exists():
            path.rmdir()
        temporary.rename(path)
    except OSError as error:
        raise _unmade(path, error) from error
    except Problem as problem:
        if str(temporary) not in problem.sentence:
            raise
        raise Problem(problem.sentence.replace(str(temporary), str(path))) from problem  # users know only `path`
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _unmade(path: Path, error: OSError) -> Problem:
    blocked = next((folder for folder in path.parents if folder.exists() and not folder.is_dir()), None)
    why = f"{blocked} is a file" if blocked else error.strerror or error
    return Problem(f"The folder {path} could not be made ({why}). Choose another place.")
