"""Arrays of an NPZ file, read safely: sizes are checked before anything is unpacked, and no object is unpickled."""

from __future__ import annotations

import sys
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MOST_BYTES = 2 * 2**30
_KINDS = "fiubUS"  # of arrays: numbers, booleans and text


class UnreadableArraysError(Exception):
    """Why the arrays of a file cannot be read, and what to do where it is not to save the file anew."""

    def __init__(self, found: str, remedy: str = "") -> None:
        super().__init__(found)
        self.found, self.remedy = found, remedy


class ArrayHeader(NamedTuple):
    """What the header of an array states."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


Choice = Callable[[Sequence[str], Callable[[str], ArrayHeader]], Sequence[str]]
"""Function of the names of all arrays, and of what reads the header of one: the names of those to read."""


def read_arrays(path: Path, choice: Choice) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that are chosen.

    Raises UnreadableArraysError if the file is damaged, they are too large, or one holds no numbers or labels.
    """
    if not zipfile.is_zipfile(path):
        raise UnreadableArraysError("It is not an NPZ file, or it is cut short or damaged")
    try:
        # NumPy would warn about headers written by Python 2
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings(action="ignore"):
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}

            def header(name: str) -> ArrayHeader:
                return _header(archive, members[name], name)

            wanted = choice([*members], header)
            size = sum(members[name].file_size for name in wanted)
            if size > _MOST_BYTES:
                limit = f"{size / 2**30:.1f} GiB, more than {_MOST_BYTES / 2**30:.3g} GiB"
                raise UnreadableArraysError(f"Its arrays take {limit}", "Split it.")
            return {name: _array(archive, members[name], header(name)) for name in wanted}
    except (UnreadableArraysError, MemoryError):
        raise
    except Exception as error:  # NumPy and zipfile raise a dozen kinds of error for damaged bytes
        raise UnreadableArraysError("It is cut short or damaged") from error


def _header(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> ArrayHeader:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    return ArrayHeader(name, shape, dtype)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, header: ArrayHeader) -> NDArray[Any]:
    """Return one array after checking that its header claims no more than the member holds."""
    name, shape, dtype = header
    if dtype.hasobject:
        remedy = "Save labels as text or numbers, probabilities as floats."
        raise UnreadableArraysError(f"The array {name} holds Python objects", remedy)
    # texts of no size would be as many as the header likes
    if int(np.prod(shape, dtype=object)) * max(dtype.itemsize, 1) > member.file_size:
        raise UnreadableArraysError(f"The array {name} is cut short or damaged")
    if dtype.kind not in _KINDS:
        raise UnreadableArraysError(f"{name} holds {dtype}, not numbers or labels")
    with archive.open(member) as file:
        array = np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    if dtype.kind == "U":
        codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if codes.max(initial=0) > sys.maxunicode:  # of which Python may make strings that nothing can encode
            raise UnreadableArraysError(f"The array {name} is cut short or damaged")
        "".join(array.ravel().tolist()).encode()  # fails for surrogates
    return array
