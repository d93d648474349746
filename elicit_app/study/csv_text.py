"""Reading CSV as text first: the header, and in words what is wrong with a file that cannot be read."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from elicit_app.problem import Finding, Problem
from elicit_app.study.findings import refused
from elicit_app.study.labels import TRUTH

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_LONGEST_HEADER = 1 << 20
_AS_UTF8 = 'Save it again as "CSV UTF-8" (comma separated).'


def read_header(path: Path) -> list[str]:
    """Return the column names of a CSV file.

    Parameters
    ----------
    path : Path
        A comma separated UTF-8 file whose first line names the columns.

    Raises
    ------
    Problem
        The file is empty, not UTF-8 text, or separated by something else than commas.
    """
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    if not line.strip():
        raise refused(
            path, Finding("The file is empty", f"Its first line must name the columns: {TRUTH}, proba_<class>.")
        )
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise refused(path, Finding("The text is UTF-16, not UTF-8", _AS_UTF8))
    if b"\0" in line:
        raise refused(
            path, Finding("This is not text, let alone CSV", "Choose a CSV, Parquet or NPZ file of predictions.")
        )
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refused(path, Finding("Line 1 is not UTF-8 text", _AS_UTF8)) from None
    try:
        names = next(csv.reader([text.rstrip("\r\n")]), [])
    except csv.Error:
        raise refused(path, Finding("Its lines end with a lone carriage return", _AS_UTF8)) from None
    for separator, spoken in _SEPARATORS.items():
        # a semicolon inside a class name is fine as long as commas separate the columns
        if len(names) == 1 and separator in text:
            found = f"The columns are separated by {spoken}, not by commas"
            raise refused(path, Finding(found, "Save it again with commas, and with a point in decimal numbers."))
    return names


def explain(path: Path, columns: int, reason: str) -> Problem:
    """Return in words why a CSV file could not be read.

    Parameters
    ----------
    path : Path
        The file.
    columns : int
        Number of columns named in the header.
    reason : str
        What the reader said, used only where nothing better is found.
    """
    findings = [*islice(_not_utf8(path), 1)] or [*islice(_ragged(path, columns), 3)]
    if findings:
        return refused(path, *findings)
    first_line = reason.strip().splitlines()[0] if reason.strip() else "unknown reason"
    return refused(
        path, Finding(f"It cannot be read as CSV ({first_line})", "Look for a quotation mark that is not closed.")
    )


def short_row(path: Path, row: int, columns: int) -> str | None:
    """Return what is wrong with the shape of one data row, or None where it has as many fields as the header.

    Parameters
    ----------
    path : Path
        The file.
    row : int
        Data row, counted from 1 below the header.
    columns : int
        Number of columns named in the header.
    """
    found = next((count for number, count in _field_counts(path) if number == row), columns)
    return None if found == columns else _shape(row, found, columns)


def _not_utf8(path: Path) -> Iterator[Finding]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                yield Finding(f"Line {number} is not UTF-8 text", _AS_UTF8)


def _ragged(path: Path, columns: int) -> Iterator[Finding]:
    for row, found in _field_counts(path):
        if found != columns:
            yield Finding(_shape(row, found, columns), "Every row needs one field for each column of the header.")


def _shape(row: int, found: int, columns: int) -> str:
    return f"Row {row} has {found} field{'' if found == 1 else 's'}, but the header names {columns} columns"


def _field_counts(path: Path) -> Iterator[tuple[int, int]]:
    """Yield (data row, fields) for every row that is not blank."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        next(rows, None)
        try:
            yield from ((number, len(fields)) for number, fields in enumerate(rows, start=1) if fields)
        except csv.Error:
            return
