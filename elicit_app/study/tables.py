"""Predictions files as tables: one class per format provides column names and rows in batches.

Foreign files are read safely: only regular files, with sizes checked before anything is decoded, and Parquet, whose
decoder can abort the process, in a child process (`study.parquet`).
"""

from __future__ import annotations

import csv
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import HEADED, Finding, Problem, file_problem, listed
from elicit_app.study import parquet
from elicit_app.study.arrays import ArrayHeader, UnreadableArraysError, read_arrays
from elicit_app.study.identity import case_column, names_something, person_column, tells_case
from elicit_app.study.parquet import BATCH_ROWS
from metrics.errors import require
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import label_text
from metrics.text import counted, series

if TYPE_CHECKING:
    import polars as pl

TRUTH = "y_true"
EMPTY, UNKNOWN = -2, -1  # index for an empty label, and for a label of no class
PROBABILITY = "proba_"
PREDICTED = "y_pred"
INDETERMINATE = "where it stands for no answer, write the class that such a case is treated as"
"""What to do about a label that is never true, such as “unsure”."""

ENDINGS = (*HEADED, ".parquet", ".pq", ".npz")
"""Endings of the names of predictions files."""
MOST_COLUMNS = 10_000
LOOKED_AT_COLUMNS = 200  # among which the meaning of a file is looked for
MOST_BYTES = 4 * 2**30
MOST_TYPED_BYTES = 16 << 20
"""Size limit in bytes of a table that people fill in: words, costs, or present practice."""

_OTHERS = {".session.jsonl": "a session", ".metric.json": "a metric file"}
_WHERE = "Choose a CSV, Parquet or NPZ file of predictions."
SEPARATORS = ",;\t|"
_DECIMAL_COMMA = r"^(\s*[-+]?\d*),(\d+(?:[eE][-+]?\d+)?\s*%?\s*)$"
_LONGEST_HEADER, _LONGEST_LINE = 1 << 20, 10 << 20  # bytes: 10,000 numbers of the largest allowed length
LONGEST_CELL = 1_000
OPEN_QUOTE = "Look for a quotation mark that is not closed."
_AS_UTF8 = 'Save it again as "CSV UTF-8" (comma separated).'
_REMEDIES = dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), _AS_UTF8) | dict.fromkeys(
    (".gz", ".zip", ".bz2", ".xz", ".zst"), "Unpack it first."
)
_PROBABILITIES, _CLASSES = "y_proba", "classes"
_SHAPE = f"Save it with numpy.savez(file, {TRUTH}=labels, {_PROBABILITIES}=probabilities, {_CLASSES}=names)."


def class_of_column(column: str) -> str | None:
    """Return the class of a probability column, or None for any other column."""
    column = column.strip()
    return label_text(column[len(PROBABILITY) :]) if column.startswith(PROBABILITY) else None


class Table(Protocol):
    """An opened predictions file whose rows have not yet been read."""

    path: Path
    columns: tuple[str, ...]  # names as written, in order
    rows: int | None  # their number, if known without reading them all
    nested: Sequence[str] = ()  # columns whose cells are lists, structures or bytes, as of pictures
    blank_lines: bool = False  # whether rows without any value are blank lines, which are skipped
    remedy_of_unknown: str = ""  # what to do about a true label without a column, if it is not to add the column
    remedy_of_empty: str = ""  # what to do about an empty cell, if it is not to write a probability

    def frames(self, wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield frames of the columns at the positions `wanted`, in that order, for the rows from `start` to `stop`.

        Rows are counted from 0; None means to the end. Every call starts a new iteration.
        """
        ...

    def row_fault(self, row: int) -> str | None:
        """Return the fault in the shape of a row (from 1) with an empty cell; None if only the cell is at fault."""
        return None

    def written(self, column: str) -> str:
        """Return the name by which the file itself calls one of `columns`."""
        return column


def open_table(path: Path, *, own: bool = False) -> Table:
    """Open a predictions file by its suffix, one of `ENDINGS`.

    Only the header is read, except for NPZ. The program's `own` files are trusted. Raises Problem if there is no such
    file, its content does not match its suffix, or it is larger than the limits.
    """
    kinds: dict[str, Callable[[Path], Table]] = dict.fromkeys(ENDINGS, lambda path: ParquetTable(path, own=own))
    kinds |= {".npz": NpzTable} | dict.fromkeys(HEADED, CsvTable)
    require("polars")
    try:
        require_regular_file(path)
        kind = kinds.get(path.suffix.lower())
        for ending, what in _OTHERS.items():
            if path.name.endswith(ending):
                raise file_problem(
                    path, Finding(f"It is {what}", "Choose the study or the predictions that it is about.")
                )
        if kind is None:
            found = f"The ending “{path.suffix}” is not one of {series(ENDINGS)}"
            raise file_problem(path, Finding(found, _REMEDIES.get(path.suffix.lower(), _WHERE)))
        table = kind(path)
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(table.columns) > MOST_COLUMNS:
        found = f"It has {len(table.columns):,} columns, more than {MOST_COLUMNS:,}"
        raise file_problem(path, Finding(found, f"Keep {TRUTH} and one column per class."))
    return table


def require_regular_file(path: Path, most_bytes: int = MOST_BYTES) -> None:
    """Check that a path is a regular file, without opening it, and not too large.

    Raises Problem if it is missing, a folder, a dangling link, a pipe or a device, or larger than `most_bytes`.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise Problem(f"There is no file {path}: check the name and the folder.") from None
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Problem(f"{path} cannot be read: {why}.") from None
    if stat.S_ISDIR(found.st_mode):
        raise Problem(f"{path} is a folder, not a predictions file: {_WHERE[0].lower()}{_WHERE[1:]}")
    if not stat.S_ISREG(found.st_mode):
        raise Problem(f"{path} is a pipe or a device, not a file: {_WHERE[0].lower()}{_WHERE[1:]}")
    if found.st_size > most_bytes:
        size = f"{found.st_size / 2**30:.1f} GiB, more than {most_bytes / 2**30:.3g} GiB"
        raise file_problem(path, Finding(f"It is {size}", "Split it, or take a sample of the cases."))


class CsvTable(Table):
    """A CSV file in UTF-8 whose first line names the columns.

    The separator is a comma, or a semicolon, tab or bar, as in spreadsheets of locales with decimal commas.
    """

    rows: int | None = None
    blank_lines = True

    def __init__(self, path: Path) -> None:
        self.path = path
        names, self._separator = _read_header(path)
        self.columns = tuple(names)

    def frames(self, wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield frames of text; see `Table`."""
        import polars as pl

        try:
            # positions as names, because the header may contain duplicates
            scan = pl.scan_csv(
                self.path,
                separator=self._separator,
                infer_schema=False,
                glob=False,
                with_column_names=lambda names: [str(position) for position in range(len(names))],
            )
            if self._separator != ",":
                scan = scan.with_columns(pl.all().str.replace(_DECIMAL_COMMA, "${1}.${2}"))
            for frame in _batches(scan, [str(position) for position in wanted], start, stop):
                self._refuse_long_cells(frame)
                yield frame
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise self._explained(str(error)) from error

    def _refuse_long_cells(self, frame: pl.DataFrame) -> None:
        """Reject cells too long to be numbers, which would take seconds to parse; labels are checked later."""
        for position in map(int, frame.columns):
            name = self.columns[position]
            is_text = name.strip() == TRUTH or names_something(name)
            if not is_text and (frame[str(position)].str.len_chars().max() or 0) > LONGEST_CELL:  # type: ignore[operator]
                found = f"A cell of column {name[:100]} is longer than {LONGEST_CELL:,} characters"
                raise file_problem(self.path, Finding(found, OPEN_QUOTE))

    def row_fault(self, row: int) -> str | None:
        """Return the fault in the number of fields; see `Table`."""
        found = next((count for number, count in self._field_counts() if number == row), len(self.columns))
        return None if found == len(self.columns) else self._shape(row, found)

    def _explained(self, reason: str) -> Problem:
        """Return why the file could not be read; `reason` is used only if no better explanation is found."""
        findings = [*islice(self._long_lines(), 1)] or [*islice(self._not_utf8(), 1)] or [*islice(self._ragged(), 3)]
        if findings:
            return file_problem(self.path, *findings)
        first_line = reason.strip().splitlines()[0] if reason.strip() else "unknown reason"
        return file_problem(self.path, Finding(f"It cannot be read as CSV ({first_line})", OPEN_QUOTE))

    def _long_lines(self) -> Iterator[Finding]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if len(line) > _LONGEST_LINE:
                    yield Finding(f"Line {number} is longer than {_LONGEST_LINE >> 20} MiB", OPEN_QUOTE)

    def _not_utf8(self) -> Iterator[Finding]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    yield Finding(f"Line {number} is not UTF-8 text", _AS_UTF8)

    def _ragged(self) -> Iterator[Finding]:
        for row, found in self._field_counts():
            if found != len(self.columns):
                yield Finding(self._shape(row, found), "Every row needs one field for each column of the header.")

    def _shape(self, row: int, found: int) -> str:
        fields = counted(found, "field")
        return f"Row {row} has {fields}, but the header names {counted(len(self.columns), 'column')}"

    def _field_counts(self) -> Iterator[tuple[int, int]]:
        """Yield (data row, fields) for every row that is not blank; invalid UTF-8 counts as a character."""
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.reader(file, delimiter=self._separator)
            try:
                next(rows, None)
                yield from ((number, len(fields)) for number, fields in enumerate(rows, start=1) if fields)
            except csv.Error:
                return


def _read_header(path: Path) -> tuple[list[str], str]:
    """Return the column names of a CSV file, and its separator."""
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
        row = file.readline(_LONGEST_LINE).decode("utf-8", errors="replace")
    if not line.strip():
        first = f"Its first line must name the columns: {TRUTH}, proba_<class>."
        raise file_problem(path, Finding("The file is empty", first))
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise file_problem(path, Finding("The text is UTF-16, not UTF-8", _AS_UTF8))
    if b"\0" in line or line.startswith(b"x\x01"):
        raise file_problem(path, Finding("This is not text, let alone CSV", _WHERE))
    if line.startswith(b"x^"):  # which polars would decompress
        raise file_problem(
            path, Finding("It begins with “x^”, as some compressed files do", "Rename its first column.")
        )
    if len(line) == _LONGEST_HEADER:
        raise file_problem(path, Finding("Its first line is longer than 1 MiB", "It must name the columns."))
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise file_problem(path, Finding("Line 1 is not UTF-8 text", _AS_UTF8)) from None
    if len(mark := text.strip()) == 5 and mark.startswith("sep="):
        remedy = "Remove this line; the separator is found without it."
        raise file_problem(path, Finding(f"Its first line is “{mark}”, not the names of the columns", remedy))
    try:
        read = [one for mark in SEPARATORS if (one := _split(text, mark)) is not None]
        several = [one for one in read if len(one.names) > 1]
        names, separator, is_open = max(several, key=lambda one: _likelihood(one, row)) if several else read[0]
    except IndexError:
        lone = "\r" in text.rstrip("\r\n")
        found = "Its lines end with a lone carriage return" if lone else "Its first line is not CSV"
        raise file_problem(path, Finding(found, _AS_UTF8)) from None
    if is_open:
        what = "The name of a column has a line end in it, or its quotation mark is not closed"
        raise file_problem(path, Finding(what, "Write the names of all columns in the first line."))
    if len(names) == 1 and (below := _split(row, separator)) is not None and len(below.names) > 1:
        found = f"Its first line is “{names[0][:100]}”, but the next has {len(below.names)} fields"
        raise file_problem(path, Finding(found, "Remove what stands above the names of the columns."))
    return names, separator


class _Header(NamedTuple):
    """The names in a first line, their separator, and whether a quotation mark is left open."""

    names: list[str]
    separator: str
    is_open: bool


def _split(line: str, separator: str) -> _Header | None:
    """Return a line split by a separator; None if it cannot be split."""
    rows = csv.reader([line.rstrip("\r\n"), ""], delimiter=separator)
    try:
        names = next(rows, [])
    except csv.Error:
        return None
    return _Header(names, separator, rows.line_num > 1)


def _likelihood(header: _Header, row: str) -> tuple[bool, bool]:
    """Return how likely a separator is, given the first row; a class name may contain the separator of other files."""
    first = _split(row, header.separator)
    return TRUTH in map(str.strip, header.names), first is not None and len(first.names) == len(header.names)


class ParquetTable(Table):
    """A Parquet file; a foreign one is decoded only by a child process."""

    def __init__(self, path: Path, *, own: bool = False) -> None:
        self.path, self._own = path, own
        try:
            found = parquet.head(path, own=own)
        except parquet.UnreadableError as error:
            raise self._damaged(str(error)) from error
        self.columns, self.nested = found.columns, found.nested
        self.rows: int | None = found.rows

    def frames(self, wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield frames; see `Table`."""
        assert self.rows is not None
        expected = (self.rows if stop is None else min(stop, self.rows)) - start
        names = [self.columns[position] for position in wanted]
        try:
            for frame in in_batches(parquet.frames(self.path, names, start, stop, own=self._own)):
                expected -= frame.height
                yield frame
        except parquet.UnreadableError as error:
            raise self._damaged(str(error)) from error
        if expected:
            raise self._damaged("It was changed while it was read")

    def _damaged(self, found: str) -> Problem:
        return file_problem(self.path, Finding(found, "Write or copy it again."))


_Column = tuple[str, NDArray[Any]]


class NpzTable(Table):
    """An NPZ file: `y_true` (n,), `y_proba` (n, k), optionally `classes` (k,) and `patient_id` (n,).

    Pickled objects are never loaded. Without `classes` the labels are the integers 0..k-1. Under other names every
    array (n,) is a column, and every array (n, m) is m columns, with the same rule about classes.
    """

    def __init__(self, path: Path) -> None:
        import polars as pl

        self.path = path
        try:
            arrays = read_arrays(path, self._chosen)
        except UnreadableArraysError as error:
            self._refuse(error.found, error.remedy or _SHAPE)
        of_classes = _PROBABILITIES in arrays
        if of_classes:
            self.remedy_of_unknown = (
                "The array classes names the class of each column of y_proba; without it they are 0, 1, ..."
            )
        named = [*(self._of_classes(arrays) if of_classes else _columns_of(arrays))]
        self.columns = tuple(name for name, _ in named)
        self._frame = pl.DataFrame([_series(str(at), column) for at, (_, column) in enumerate(named)])
        self.rows: int | None = self._frame.height

    def frames(self, wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield frames; see `Table`."""
        yield from self._frame[start:stop, list(wanted)].iter_slices(BATCH_ROWS)

    def _chosen(self, names: Sequence[str], header: Callable[[str], ArrayHeader]) -> list[str]:
        """Return the arrays to read: labels and probabilities under their usual names, else all that are columns."""
        if TRUTH in names and _PROBABILITIES in names:
            rows = header(TRUTH).shape
            tell = (
                of.name for of in map(header, filter(tells_case, names)) if of.shape == rows and of.dtype.kind in "iuUS"
            )
            usual = (TRUTH, _PROBABILITIES, _CLASSES, person_column(names), next(tell, None))
            return [name for name in usual if name is not None and name in names]
        flat, wide = ([one for one in map(header, names) if len(one.shape) == n] for n in (1, 2))
        lengths = Counter(one.shape[0] for one in (wide or flat))
        n_rows = lengths.most_common(1)[0][0] if lengths else None
        labels = [one for one in flat if one.shape[0] == n_rows]
        if not labels or len(labels) + len(wide) < 2:
            missing = next(name for name in (TRUTH, _PROBABILITIES) if name not in names)
            raise UnreadableArraysError(f"There is no array {missing} in it, only {listed([*names]) or 'nothing'}")
        columns = [one for one in wide if one.shape[0] == n_rows]
        columns = [one for one in columns if one.shape[1] <= LOOKED_AT_COLUMNS] or columns  # others are features
        of_classes = [one for one in flat if one.shape[0] != n_rows and one.dtype.kind in "US"]
        return [one.name for one in (*labels, *columns, *of_classes)]

    def _of_classes(self, arrays: dict[str, NDArray[Any]]) -> Iterator[_Column]:
        """Yield the labels, the probability of each class, and arrays that tell whose case each row is, and which."""
        truth, proba = arrays[TRUTH], arrays[_PROBABILITIES]
        fault = _shape_fault(truth, proba)
        if fault:
            self._refuse(fault)
        names = self._class_names(arrays.get(_CLASSES), proba.shape[1])
        if _are_positions(truth, names):
            truth = np.asarray(names)[truth]
        proba = proba if proba.dtype.kind == "f" else proba.astype(np.float64)
        yield TRUTH, truth
        yield from ((PROBABILITY + name, column) for name, column in zip(names, proba.T, strict=True))
        for name in filter(None, (person_column(arrays), case_column(arrays))):
            if arrays[name].shape != truth.shape:
                self._refuse(f"{name} has shape {arrays[name].shape}, {TRUTH} has {truth.shape}")
            yield name, arrays[name]

    def _class_names(self, names: NDArray[Any] | None, n_classes: int) -> list[str]:
        if names is None:
            return [str(index) for index in range(n_classes)]
        if names.shape != (n_classes,):
            self._refuse(f"{_CLASSES} has shape {names.shape}, but {_PROBABILITIES} has {n_classes} columns")
        return [label_text(name) for name in names]

    def _refuse(self, found: str, remedy: str = _SHAPE) -> NoReturn:
        raise file_problem(self.path, Finding(found, remedy))


def _columns_of(arrays: dict[str, NDArray[Any]]) -> Iterator[_Column]:
    """Yield every array as a column, or as one column per class; the first array tells the number of rows.

    Arrays of another length hold the names of classes, which positions in arrays of integers stand for.
    """
    n_rows = len(next(iter(arrays.values())))
    flat = {name: array for name, array in arrays.items() if array.ndim == 1}
    class_names = {len(array): [*map(label_text, array)] for array in flat.values() if len(array) != n_rows}
    numbered = {int(array.max(initial=0)) + 1 for array in flat.values() if array.dtype.kind in "iu"}
    meant = next((names for length, names in class_names.items() if length in numbered), [])
    for name, array in arrays.items():
        if array.ndim == 2:
            names = class_names.get(array.shape[1], range(array.shape[1]))
            yield from ((f"{name}_{of}", column) for of, column in zip(names, array.T, strict=True))
        elif len(array) == n_rows:
            yield name, np.asarray(meant)[array] if _are_positions(array, meant) else array


def _series(name: str, array: NDArray[Any]) -> pl.Series:
    """Return a column for polars: half floats widened, long doubles as doubles, native byte order, bytes as text."""
    import polars as pl

    if array.dtype.kind == "S":
        return pl.Series(name, [*map(label_text, array)])
    if array.dtype.kind == "f":
        array = array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64)
    return pl.Series(name, np.ascontiguousarray(array))


def _shape_fault(truth: NDArray[Any], proba: NDArray[Any]) -> str | None:
    """Return the fault in the shapes and types, or None."""
    if truth.ndim != 1:
        return f"{TRUTH} has shape {truth.shape}, not (n,)"
    if proba.ndim != 2:
        return f"{_PROBABILITIES} has shape {proba.shape}, not (n, k)"
    if len(truth) != len(proba):
        return f"{TRUTH} has {counted(len(truth), 'row')}, {_PROBABILITIES} has {len(proba)}"
    if proba.dtype.kind not in "fiu":
        return f"{_PROBABILITIES} holds {proba.dtype}, not numbers"
    return None


def _are_positions(truth: NDArray[Any], names: list[str]) -> bool:
    """Return whether the labels are positions 0..k-1 of classes that have other names."""
    if truth.dtype.kind not in "iu" or len(truth) == 0 or truth.min() < 0 or truth.max() >= len(names):
        return False
    if len(set(names)) < len(names):
        return False
    return not (ClassIndex(names).search(np.unique(truth).astype(np.int64)) >= 0).any()


def _batches(scan: pl.LazyFrame, names: list[str], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
    rows = scan.select(names)
    if start or stop is not None:
        rows = rows.slice(start, None if stop is None else stop - start)
    return in_batches(rows.collect_batches(lazy=True))


def in_batches(frames: Iterable[pl.DataFrame], size: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """Yield the rows of frames re-cut to `size` rows (the last may have fewer), without copying them."""
    rest = None
    for frame in frames:
        found = frame if rest is None else rest.vstack(frame)
        end = found.height - found.height % size
        for start in range(0, end, size):
            yield found.slice(start, size)
        rest = found.slice(end)
    if rest is not None and rest.height:
        yield rest
