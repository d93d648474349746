"""Shrink a built folder on Linux: remove debug symbols, and Unicode data that Qt does not use."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

# Libraries in wheels with a hash in their name have been patched and do not load if they are stripped.
_PATCHED = re.compile(r"-[0-9a-f]{8}\b")
_LEAST = 100_000
# Names of countries, languages, currencies, units and time zones, legacy encodings, line breaks, transliterations:
# Qt has its own or does not use them. Data for collation and case folding are kept.
_UNUSED_DATA = re.compile(rb"/(brkitr|curr|lang|rbnf|region|translit|unit|zone)/|\.cnv$")
_ICU_VERSION = 73
_ALIGNED = 16


def strip_symbols(folder: Path) -> None:
    """Strip shared libraries, except those that the loader would then reject."""
    for path in folder.rglob("*.so*"):
        if path.is_symlink() or path.stat().st_size < _LEAST or _PATCHED.search(path.name):
            continue
        with tempfile.TemporaryDirectory() as beside:
            kept = Path(beside) / path.name
            shutil.copy2(path, kept)
            subprocess.run(["strip", "--strip-unneeded", path], check=True)
            loaded = subprocess.run(["ldd", path], capture_output=True, text=True)
            if loaded.returncode or "not properly aligned" in loaded.stdout + loaded.stderr:
                shutil.copy2(kept, path)


def trim_unicode_data(folder: Path) -> None:
    """Remove unused items from the data library of ICU, Qt's Unicode library."""
    (path,) = folder.rglob(f"libicudata.so.{_ICU_VERSION}")
    symbol = f"icudt{_ICU_VERSION}_dat"
    with tempfile.TemporaryDirectory() as scratch:
        data, source, made = (Path(scratch) / f"icu.{ending}" for ending in ("dat", "s", "o"))
        data.write_bytes(_without_unused(path.read_bytes()))
        source.write_text(
            f".section .rodata\n.balign {_ALIGNED}\n.globl {symbol}\n.type {symbol}, STT_OBJECT\n{symbol}: "
            f'.incbin "{data}"\n.size {symbol}, . - {symbol}\n.section .note.GNU-stack\n'
        )
        subprocess.run(["as", source, "-o", made], check=True)
        subprocess.run(["ld", "-shared", "-soname", path.name, made, "-o", path], check=True)


def _without_unused(library: bytes) -> bytes:
    """Return ICU's data package ("Common Data Format" of the ICU user guide) without unused items.

    It consists of a header, a table of contents of pairs (offset of the name, offset of the item), the names, and the
    items; offsets count from the table of contents.
    """
    start = library.index(b"\xda\x27\x14\x00") - 2
    (header,) = struct.unpack_from("<H", library, start)
    contents = start + header
    (count,) = struct.unpack_from("<I", library, contents)
    places = [struct.unpack_from("<II", library, contents + 4 + 8 * at) for at in range(count)]
    ends = [item for _, item in places[1:]] + [places[-1][1]]
    items = []
    for (name_at, item_at), end in zip(places, ends, strict=True):
        name = library[contents + name_at : library.index(b"\0", contents + name_at)]
        if not _UNUSED_DATA.search(name) and end > item_at:
            items.append((name, library[contents + item_at : contents + end]))
    names_at = 4 + 8 * len(items)
    at = names_at + sum(len(name) + 1 for name, _ in items)
    table, names, body = struct.pack("<I", len(items)), b"", b""
    lead = -at % _ALIGNED
    for name, item in items:
        table += struct.pack("<II", names_at + len(names), at + lead + len(body))
        names += name + b"\0"
        body += item + bytes(-len(item) % _ALIGNED)
    return library[start:contents] + table + names + bytes(lead) + body
