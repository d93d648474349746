"""Files that are either as they were or complete, never half-written."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file in one step: to a temporary file beside it, synced, then put in its place.

    Parameters
    ----------
    path : path-like
        The file; one that exists is replaced and keeps its permissions. A device or a pipe is written to as it is.
    content : str or bytes
        Text is written as UTF-8 with line feeds as they are.

    Raises
    ------
    OSError
        Where the folder does not exist or cannot be written, the path is a link to a file, or an expert's answers are
        in the file: what can never be made again is not replaced. The file is then as it was.
    """
    target = Path(os.path.realpath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    if Path(path).exists() and not (target.is_file() or target.is_dir()):
        # It holds nothing that could be lost, and must not become a file.
        Path(path).write_bytes(data)
        return
    if Path(path).is_symlink():
        raise OSError(errno.ELOOP, "it is a link; name the file itself", os.fspath(path))
    if target.is_file() and _holds_answers(target):
        raise OSError(errno.EEXIST, "an expert's answers are in it, which nothing replaces", os.fspath(path))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.is_file():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            # Said of the file that was meant, not of the temporary one.
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        raise
    _sync_folder(target.parent)


def _holds_answers(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"format":"elicit-session"' in file.read(1_000)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable, where the system can sync a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
