"""Atomic file writes, readable and strict JSON, and CSV cells that no spreadsheet executes.

In JSON each row of a matrix takes one line; NaN and duplicate keys are rejected.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from metrics.errors import InputError, as_in_file

_LONGEST_INTEGER = 400
_BEGINNING = 1_000  # characters of a file that identify its format


def json_text(value: Any) -> str:
    """Return JSON with objects and lists of lists indented and lists of plain values on one line.

    It ends in a line feed, and non-ASCII characters are not escaped. Raises InputError if a number is NaN or infinite,
    which JSON cannot express.
    """
    return _indented(value, "") + "\n"


def _indented(value: Any, margin: str) -> str:
    inner = margin + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{_plain(str(key))}: {_indented(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        rows = all(_is_row(item) for item in value)
        lines = [inner + (_plain(item) if rows else _indented(item, inner)) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{margin}]"
    return _plain(value)


def _is_row(value: Any) -> bool:
    """Return whether a list goes on one line: plain values, or pairs of them such as intervals."""
    if not isinstance(value, list):
        return False
    if {dict, list}.isdisjoint(map(type, value)):
        return True
    return all(not isinstance(x, dict | list) or (isinstance(x, list) and len(x) == 2 and _is_row(x)) for x in value)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def document_digest(document: Mapping[str, Any], texts: Mapping[str, Iterable[str]] = MappingProxyType({})) -> str:
    """Return the SHA-256 of a document's content, independent of the order of fields and the format of numbers.

    Its field ``digest`` is ignored; for `texts` see `canonical_pieces`.
    """
    found = hashlib.sha256()
    for piece in canonical_pieces(document, texts):
        found.update(piece.encode())
    return found.hexdigest()


def canonical_pieces(document: Mapping[str, Any], texts: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield the canonical text of a document, from which its digest is computed, in pieces.

    The canonical texts of some fields, in pieces, may be given in place of their values, so that long fields need not
    be formatted twice.
    """
    for place, name in enumerate(sorted(document.keys() - {"digest"})):
        yield f"{',' if place else '{'}{canonical_text(name)}:"
        yield from texts[name] if name in texts else [canonical_text(document[name])]
    yield "}"


def canonical_text(value: Any) -> str:
    """Return JSON in the canonical form for digests: sorted keys, no spaces, whole numbers without a point.

    >>> canonical_text({"b": [1.0, 0.5], "a": "x"})
    '{"a":"x","b":[1,0.5]}'
    """
    return json.dumps(plain_numbers(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def plain_numbers(value: Any) -> Any:
    """Return a JSON value with 1.0 as 1, because not every program distinguishes them."""
    if isinstance(value, dict):
        return {key: plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        # Draws of fifty classes are millions of numbers.
        if set(map(type, value)) == {float}:
            return [int(number) if number.is_integer() else number for number in value]
        return [plain_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def strict_json(text: str) -> Any:
    """Parse JSON, and reject NaN and duplicate keys, which Python's parser accepts.

    Raises InputError if the text is not valid JSON; the message says what is wrong and where.
    """
    if not text.strip():
        raise InputError("the file is empty, a JSON object was expected")
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_int=_integer, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        why = "ends in the middle; it is cut off" if cut_off else f"is not JSON ({error.msg[0].lower()}{error.msg[1:]})"
        raise InputError(f"the text {why}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError("lists are nested too deeply") from None


def _refuse_constant(constant: str) -> NoReturn:
    raise InputError(f"holds {constant}, which JSON does not allow; every number must be finite")


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise InputError(f"holds a whole number of {len(digits):,} digits; no number here needs that many")
    return int(digits)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        repeated = next(key for i, (key, _) in enumerate(pairs) if any(key == other for other, _ in pairs[:i]))
        raise InputError(f"field {repeated} occurs twice; keep one")
    return result


def version_of(
    document: Mapping[str, Any], newest: int, error: Callable[[str], Exception], *, invalid: str, newer: str
) -> int:
    """Return the version stated in a file, before its other fields are read.

    If it is not a whole number >= 1, or newer than `newest`, raises what `error` makes of the message `invalid` or
    `newer`, which may contain ``{version}`` and ``{newest}``.
    """
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise error(invalid.format(version=as_in_file(version), newest=newest))
    if version > newest:
        raise error(newer.format(version=version, newest=newest))
    return version


# Full-width signs as well: Japanese and Chinese keyboards produce them and spreadsheets there execute them.
_RUN_BY_SPREADSHEETS = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def csv_cell(text: str) -> str:
    """Return a text as a CSV cell, prefixed with an apostrophe if a spreadsheet would take it for a formula.

    >>> csv_cell("=1+1"), csv_cell("benign")
    ("'=1+1", 'benign')
    """
    return f"'{text}" if _RUN_BY_SPREADSHEETS.match(text) else text


def cell_text(cell: str) -> str:
    """Return the text of a cell made by `csv_cell`.

    >>> cell_text(csv_cell("'=1+1"))
    "'=1+1"
    """
    return cell[1:] if cell.startswith("'") and _RUN_BY_SPREADSHEETS.match(cell) else cell


def real_path(path: str | os.PathLike[str]) -> Path:
    """Return the canonical path of a file, with links resolved; a link to itself is returned unresolved."""
    return Path(os.path.realpath(path))


def read_regular_file(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Return the bytes of a regular file; pipes and devices, which may never end, are rejected without being read.

    Raises InputError if it is not a regular file, or larger than `most_bytes`; the message continues a sentence that
    begins with the file's name. Raises OSError if it cannot be opened or read.
    """
    # Non-blocking, because opening a pipe would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
        if not stat.S_ISREG(found.st_mode):
            raise InputError("is a pipe or a device, not a file")
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(f"is larger than {most_bytes >> 20} MiB")
    return data


def write_atomically(path: str | os.PathLike[str], content: str | bytes | Iterable[str]) -> None:
    """Write a file atomically: to a temporary file beside it, which is synced and then renamed.

    Text, in one or in several pieces, is written as UTF-8 with unchanged line feeds. An existing file is replaced and
    its permissions are kept; a device or a pipe is written to directly. Raises OSError if the folder does not exist or
    cannot be written, nobody reads from the pipe, or the file may not be replaced (see `require_replaceable`). The file
    is then unchanged.
    """
    target = real_path(path)
    pieces = (content,) if isinstance(content, str | bytes) else content
    data = (piece if isinstance(piece, bytes) else piece.encode("utf-8") for piece in pieces)
    if Path(path).exists() and not (target.is_file() or target.is_dir()):
        # A device or a pipe has no content to lose, and must not be replaced by a file.
        with os.fdopen(_opened_if_read(path), "wb") as device:
            device.writelines(data)
        return
    require_replaceable(path)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.writelines(data)
            file.flush()
            os.fsync(file.fileno())
        if target.is_file():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            # Name the target, not the temporary file.
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        raise
    sync_folder(target.parent)


def require_replaceable(path: str | os.PathLike[str]) -> None:
    """Check that `write_atomically` may replace whatever is at a path.

    Raises OSError if it is a link to a file, or a session with an expert's answers, which are irreplaceable.
    """
    target = real_path(path)
    if Path(path).is_symlink() and (target.is_file() or not Path(path).exists()):
        raise OSError(errno.ELOOP, "it is a link; name the file itself", os.fspath(path))
    if target.is_file() and _holds_answers(target):
        raise OSError(errno.EEXIST, "it holds an expert's answers, which nothing may replace", os.fspath(path))


def _opened_if_read(path: str | os.PathLike[str]) -> int:
    """Open a device, or a pipe that has a reader; waiting for a reader would hang."""
    if not hasattr(os, "O_NONBLOCK"):
        return os.open(path, os.O_WRONLY)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "nobody reads from this pipe", os.fspath(path)) from None
        raise
    os.set_blocking(descriptor, True)
    return descriptor


def _holds_answers(path: Path) -> bool:
    with path.open("rb") as file:
        return is_session(file.read(_BEGINNING).decode(errors="replace"))


def is_session(text: str) -> bool:
    """Return whether a text is the beginning of a session file, which holds an expert's answers, one event per line.

    >>> is_session('{"format":"elicit-session","version":2}')
    True
    """
    return '"format":"elicit-session"' in text[:_BEGINNING]


def sync_folder(folder: Path) -> None:
    """Sync a folder so that a new name in it is durable, where the system supports this."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
