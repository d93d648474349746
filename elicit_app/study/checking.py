"""Checks of the rows of a predictions file; labels become class indices and cells become probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, file_problem, listed, shortened
from elicit_app.study.identity import numbered
from elicit_app.study.tables import EMPTY, LONGEST_CELL, OPEN_QUOTE, PROBABILITY, TRUTH, UNKNOWN
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import ROW_SUM_TOLERANCE, label_text
from metrics.text import confusable_key, counted

if TYPE_CHECKING:
    import polars as pl

    from elicit_app.study.tables import Table

Kind = Literal["label", "cell", "text", "nan", "negative", "high", "sum"]

REMEDIES: dict[Kind, str] = {
    "label": "Write the true class in every row, or leave the row out.",
    "cell": "Write a probability in every cell, or leave the row out.",
    "text": "Write plain numbers with a decimal point.",
    "nan": "Write the model's probability, or leave the row out.",
    "negative": "Probabilities lie between 0 and 1. Turn scores or logarithms into probabilities first (softmax, exp).",
    "high": "Probabilities lie between 0 and 1. Divide percentages by 100.",
    "sum": "Probabilities of one row must add up to 1 (0.99 to 1.01 is accepted). "
    "Write the model's probabilities again without rounding; scores of each class by itself, divided by their sum.",
}

Cells = NDArray[np.bool_]

SUM_RANGE = (0.99, 1.01)
# a softmax in float32 may overshoot 0 and 1 by this much
_ROUNDING = 1e-6
# slightly stricter than the measures, which sum in different blocks
_AS_WRITTEN = 0.99 * ROW_SUM_TOLERANCE


@dataclass(frozen=True, eq=False)
class Batch:
    """Checked rows of a predictions file."""

    y_true: NDArray[np.int64]  # shape (m,): index of the true class
    # shape (m, k), usually column-major: probabilities in [0, 1]. A row whose sum is within 0.99 to 1.01, but further
    # from 1 than the measures accept (0.001), was divided by its sum; all others are as written.
    y_proba: NDArray[Any]
    people: NDArray[np.int64] | None = None  # shape (m,): a number for the person whose case each is, if known
    cases: NDArray[np.int64] | None = None  # shape (m,): a number for the case itself, if known
    rows: NDArray[np.int64] | None = None  # shape (m,): the numbers of the rows in the file, from 1, if they are of one

    def part(self, start: int, stop: int) -> Batch:
        """Return some of the rows."""
        known = (None if one is None else one[start:stop] for one in (self.people, self.cases, self.rows))
        return Batch(self.y_true[start:stop], self.y_proba[start:stop], *known)


class Faults:
    """Collects faults in the order of `Kind`, and true labels without a column."""

    def __init__(self, table: Table, classes: Sequence[str]) -> None:
        self._remedy_of_unknown = table.remedy_of_unknown
        self._alike = {confusable_key(name): name for name in classes}
        self._remedies = REMEDIES | ({"cell": table.remedy_of_empty} if table.remedy_of_empty else {})
        self._first: dict[Kind, str] = {}
        self._rows: Counter[Kind] = Counter()
        self._unknown: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._rows or self._unknown)

    def add(self, kind: Kind, rows: int, first: str) -> None:
        """Record that `rows` more rows have this fault; `first` describes the first of them."""
        self._rows[kind] += rows
        self._first.setdefault(kind, first)

    def add_unknown(self, label: str, rows: int) -> None:
        """Record that `rows` more rows have a true label without a column."""
        self._unknown[label] += rows

    def findings(self) -> tuple[Finding, ...]:
        """Return all faults to correct."""
        found = [Finding(self._message(kind), remedy) for kind, remedy in self._remedies.items() if kind in self._first]
        if self._unknown:
            labels = sorted(self._unknown)
            has = counted(self._unknown.total(), "row has", "rows have")
            columns = " and ".join(PROBABILITY + shortened(label) for label in labels[:2])
            remedy = f"Add {'a column' if len(labels) == 1 else 'columns like'} {columns}, or leave these rows out."
            what = f"{has} a true label that has no column: {listed(labels)}"
            meant = [self._alike.get(confusable_key(label)) for label in labels]
            if None not in meant:
                found.append(Finding(what, f"Write every class in one way: “{meant[0]}”, not “{labels[0]}”."))
            else:
                found.append(Finding(what, self._remedy_of_unknown or remedy))
        return tuple(found)

    def _message(self, kind: Kind) -> str:
        more = self._rows[kind] - 1
        return self._first[kind] + (f", and so in {counted(more, 'more row')}" if more else "")


class RowCheck:
    """Turns frames into batches, with classes in the order of the probability columns.

    Last columns tell whose the rows are, if they are `by_person`, and which cases, if they are `by_case`. `first_row`
    rows come before the first one checked and count in row numbers. `rescaled` is the number of rows that were divided
    by their sum. With `skip_unread`, rows without any probability are left out; `unread` is their number.
    """

    def __init__(
        self,
        table: Table,
        classes: tuple[str, ...],
        first_row: int = 0,
        *,
        by_person: bool = False,
        by_case: bool = False,
        skip_unread: bool = False,
    ) -> None:
        self._table, self._by_person, self._by_case = table, by_person, by_case
        self._skip_unread = skip_unread
        self.unread = 0
        self._seen = first_row
        self._classes = classes
        self._index = ClassIndex(classes)
        self._faults = Faults(table, classes)
        self.rescaled = 0

    def batches(self, frames: Iterable[pl.DataFrame]) -> Iterator[Batch]:
        """Yield a batch for each frame (labels first, then one column per class) until there is a fault.

        Raises Problem at the end, if there was a fault; it lists all faults in the file.
        """
        for frame in frames:
            numbers = np.arange(self._seen + 1, self._seen + frame.height + 1)
            self._seen += frame.height
            if self._table.blank_lines:
                frame, numbers = _without_blank(frame, numbers)
            if self._skip_unread:
                before = frame.height
                frame, numbers = _without_blank(frame, numbers, slice(1, 1 + len(self._classes)))
                self.unread += before - frame.height
            if frame.height and (batch := self._checked(frame, numbers)) is not None:
                yield batch
        if self._faults:
            raise file_problem(self._table.path, *self._faults.findings())

    def _checked(self, frame: pl.DataFrame, rows: NDArray[np.int64]) -> Batch | None:
        """Return the batch of some rows with their numbers in the file, from 1; None after a fault."""
        people = cases = None
        if self._by_case:
            frame, cases = frame[:, :-1], numbered(frame.to_series(-1), rows)
        if self._by_person:
            frame, people = frame[:, :-1], numbered(frame.to_series(-1), rows)
        labels, *written = frame.get_columns()
        self._require_numbers(written)
        truth = self._labels(labels, rows)
        numbers = _as_numbers(frame)
        proba, sums = _by_column(numbers)
        lowest, highest, least, most = proba.min(), proba.max(), sums.min(), sums.max()
        # any NaN makes a comparison false
        if not (lowest >= -_ROUNDING and highest <= 1 + _ROUNDING and _near_one(least) and _near_one(most)):
            self._judge(written, numbers, rows)
        if self._faults:
            return None
        if max(1 - least, most - 1) > _AS_WRITTEN:
            off = np.abs(sums - 1) > _AS_WRITTEN
            proba = np.where(off[:, None], proba / sums[:, None], proba)
            self.rescaled += int(off.sum())
        return Batch(truth, proba.clip(0, 1) if lowest < 0 or highest > 1 else proba, people, cases, rows)

    def _require_numbers(self, written: Sequence[pl.Series]) -> None:
        import polars as pl

        for name, column in zip(self._classes, written, strict=True):
            kind = column.dtype
            if not kind.is_numeric() and kind not in (pl.String, pl.Null):
                held = str(kind).split("(")[0].lower()
                message = f"Column {self._table.written(PROBABILITY + name)} holds {held} values, not numbers"
                raise file_problem(self._table.path, Finding(message, "Write one probability in every cell."))

    def _labels(self, column: pl.Series, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return class indices; negative if the label is empty or has no column."""
        import polars as pl

        if column.dtype == pl.String and (column.str.len_chars().max() or 0) > LONGEST_CELL:  # type: ignore[operator]
            found = f"A true label is longer than {LONGEST_CELL:,} characters"
            raise file_problem(self._table.path, Finding(found, OPEN_QUOTE))
        values = column.unique().drop_nulls()
        places = [EMPTY if not label_text(value) else self._index.place(value) for value in values]
        truth = column.replace_strict(values, places, default=EMPTY, return_dtype=pl.Int64).to_numpy()
        empty = truth == EMPTY
        if empty.any():
            row = int(rows[empty.argmax()])
            self._faults.add("label", int(empty.sum()), self._empty_message(row, self._table.written(TRUTH)))
        for value, count in column.filter(pl.Series(truth == UNKNOWN)).value_counts().iter_rows():
            self._faults.add_unknown(label_text(value), count)
        return truth

    def _judge(self, written: Sequence[pl.Series], numbers: Sequence[pl.Series], rows: NDArray[np.int64]) -> None:
        """Record every kind of fault in an invalid frame."""
        proba, sums = _by_column(numbers)
        empty, missing = _nulls(written), _nulls(numbers)
        faulty: dict[Kind, Cells] = {
            "cell": empty,
            "text": missing & ~empty,
            "nan": ~np.isfinite(proba) & ~missing,
            "negative": np.isfinite(proba) & (proba < -_ROUNDING),
            "high": np.isfinite(proba) & (proba > 1 + _ROUNDING),
        }
        for kind, cells in faulty.items():
            if cells.any():
                position = int(cells.any(axis=1).argmax())
                column = int(cells[position].argmax())
                message = self._message(kind, int(rows[position]), column, written[column][position])
                self._faults.add(kind, int(cells.any(axis=1).sum()), message)
        off = ~np.any([cells.any(axis=1) for cells in faulty.values()], axis=0) & ~_near_one(sums)
        if off.any():
            position = int(off.argmax())
            message = f"Row {rows[position]}: the probabilities add up to {sums[position]:.4g}, not 1"
            self._faults.add("sum", int(off.sum()), message)

    def _message(self, kind: Kind, row: int, column: int, value: object) -> str:
        name = self._table.written(PROBABILITY + self._classes[column])
        if kind == "cell":
            return self._empty_message(row, name)
        if kind == "text":
            return f"Row {row}: {name} is “{shortened(str(value))}”, not a number"
        ends = {"nan": "not a finite number", "negative": "below 0", "high": "above 1"}
        number = float(str(value))
        return f"Row {row}: {name} is {'NaN' if number != number else f'{number:.7g}'}, {ends[kind]}"

    def _empty_message(self, row: int, name: str) -> str:
        return self._table.row_fault(row) or f"Row {row}: {name} is empty"


def require_comparable(path: Path, classes: Sequence[str], cases: NDArray[np.int64]) -> None:
    """Check that predictions contain something to compare; `cases`, shape (k,), counts the rows by true class.

    Raises Problem if there is no row, one row, or only one true class.
    """
    rows = int(cases.sum())
    present = [name for name, count in zip(classes, cases, strict=True) if count]
    if rows == 0:
        raise file_problem(path, Finding("There are no rows of data in it", "Write one row per case."))
    if rows == 1:
        raise file_problem(path, Finding("There is only one row in it", "Write one row per case, at least two cases."))
    if len(present) == 1:
        message = f"Every row has the true label “{present[0]}”"
        raise file_problem(path, Finding(message, "Mistakes can be compared only with cases of two classes or more."))


def _without_blank(
    frame: pl.DataFrame, rows: NDArray[np.int64], columns: slice = slice(None)
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """Return the rows with something in `columns`, and their numbers: blank lines of CSV are counted, but no rows."""
    import polars as pl

    blank = frame[:, columns].select(pl.all_horizontal(pl.all().is_null())).to_series()
    if not blank.any():
        return frame, rows
    return frame.filter(~blank), rows[~blank.to_numpy()]


def _as_numbers(frame: pl.DataFrame) -> list[pl.Series]:
    """Return all but the first column as floats (float32 is kept), with null for text that is not a number."""
    return [as_numbers(column) for column in frame.get_columns()[1:]]


def as_numbers(column: pl.Series) -> pl.Series:
    """Return a column as floats (float32 is kept), with null for text that is not a number; spaces may surround one."""
    import polars as pl

    if column.dtype == pl.String:
        return column.str.strip_chars().cast(pl.Float64, strict=False)
    return column if column.dtype.is_float() else column.cast(pl.Float64)


def _by_column(numbers: Sequence[pl.Series]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the numbers as a column-major array of shape (m, k), and the row sums.

    Polars is not used for this, because distributing so little work to its threads costs more than the copy.
    """
    columns = [column.to_numpy() for column in numbers]
    table = np.empty((len(columns), len(columns[0])), dtype=np.result_type(*columns))
    for row, column in zip(table, columns, strict=True):
        row[:] = column
    with np.errstate(invalid="ignore", over="ignore"):
        return table.T, table.sum(axis=0)


def _nulls(columns: Sequence[pl.Series]) -> Cells:
    return np.column_stack([column.is_null().to_numpy() for column in columns])


def _near_one(sums: NDArray[Any]) -> Cells:
    return (sums >= SUM_RANGE[0] - _ROUNDING) & (sums <= SUM_RANGE[1] + _ROUNDING)
