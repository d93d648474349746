"""Checking the rows of a predictions file: labels become class indices, cells become probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding
from elicit_app.study.faults import Faults, Kind
from elicit_app.study.findings import refused, shortened
from elicit_app.study.label_codes import exact_codes
from elicit_app.study.labels import PROBABILITY, TRUTH, label_text
from metrics.inputs.probabilities import ROW_SUM_TOLERANCE

if TYPE_CHECKING:
    import polars as pl

    from elicit_app.study.tables import Table

Cells = NDArray[np.bool_]

SUM_RANGE = (0.99, 1.01)
_EMPTY, _UNKNOWN = -2, -1
# a softmax in float32 may overshoot 0 and 1 by this much
_ROUNDING = 1e-6
# a little less than the measures accept: they add up in blocks of their own
_AS_WRITTEN = 0.99 * ROW_SUM_TOLERANCE


@dataclass(frozen=True, eq=False)
class Batch:
    """Checked rows of a predictions file.

    Parameters
    ----------
    y_true : ndarray of int64, shape (m,)
        Index of the true class.
    y_proba : ndarray of float32 or float64, shape (m, k), as a rule column after column in memory
        Probabilities in [0, 1]. A row whose sum lies in 0.99 to 1.01, but further from 1 than the measures
        accept (0.001), was divided by its sum; all others are as written.
    """

    y_true: NDArray[np.int64]
    y_proba: NDArray[Any]


class RowCheck:
    """Turns frames into batches; after the first fault it only looks for more faults.

    Parameters
    ----------
    table : Table
        The file, for its name and for what is wrong with rows that are too short.
    classes : tuple of str
        In the order of the probability columns.
    first_row : int
        Number of rows before the first that is checked; they count in what is said about rows.
    """

    def __init__(self, table: Table, classes: tuple[str, ...], first_row: int = 0) -> None:
        self._table = table
        self._seen = first_row
        self._classes = classes
        self._faults = Faults()
        self.rescaled = 0

    def batches(self, frames: Iterator[pl.DataFrame]) -> Iterator[Batch]:
        """Yield a batch for every frame (labels first, then one column a class) as long as there is no fault.

        Raises
        ------
        Problem
            At the end: everything that has to be put right in this file.
        """
        for frame in frames:
            batch = self._check(frame, np.arange(self._seen + 1, self._seen + frame.height + 1))
            self._seen += frame.height
            if batch is not None and not self._faults:
                yield batch
        if self._faults:
            raise refused(self._table.path, *self._faults.findings())

    def _check(self, frame: pl.DataFrame, rows: NDArray[np.int64]) -> Batch | None:
        if self._table.why_empty is not None:
            frame, rows = _without_blank_lines(frame, rows)
        if frame.height == 0:
            return None
        self._demand_numbers(frame[:, 1:])
        truth = self._labels(frame.to_series(0), rows)
        written = frame[:, 1:]
        numbers = _as_numbers(written)
        proba: NDArray[Any] = numbers.to_numpy(order="fortran")
        with np.errstate(invalid="ignore", over="ignore"):
            # column by column; a product with ones would start threads that wait for each other
            sums = proba.sum(axis=1)
        lowest, highest = proba.min(), proba.max()
        # any NaN makes a comparison false
        if not (lowest >= -_ROUNDING and highest <= 1 + _ROUNDING and _near_one(sums.min()) and _near_one(sums.max())):
            self._judge(written, numbers, sums, rows)
            return None
        if max(1 - sums.min(), sums.max() - 1) > _AS_WRITTEN:
            proba = self._rescaled(proba, sums)
        return Batch(truth, proba.clip(0, 1) if lowest < 0 or highest > 1 else proba)

    def _demand_numbers(self, written: pl.DataFrame) -> None:
        import polars as pl

        for name, kind in zip(self._classes, written.dtypes, strict=True):
            if not kind.is_numeric() and kind not in (pl.String, pl.Null):
                told = f"Column {PROBABILITY}{name} holds {str(kind).split('(')[0].lower()} values, not numbers"
                raise refused(self._table.path, Finding(told, "Write one probability in every cell."))

    def _labels(self, column: pl.Series, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return class indices; negative where the label is empty or has no column."""
        import polars as pl

        exact = exact_codes(column, self._classes)
        if exact is not None:
            return exact
        index = {name: position for position, name in enumerate(self._classes)} | {"": _EMPTY}
        values = column.unique().drop_nulls()
        codes = [index.get(label_text(value), _UNKNOWN) for value in values]
        truth = column.replace_strict(values, codes, default=_EMPTY, return_dtype=pl.Int64).to_numpy()
        empty = truth == _EMPTY
        if empty.any():
            row = int(rows[empty.argmax()])
            self._faults.add("label", int(empty.sum()), self._told_empty(row, TRUTH))
        for value, count in column.filter(pl.Series(truth == _UNKNOWN)).value_counts().iter_rows():
            self._faults.add_unknown(label_text(value), count)
        return truth

    def _judge(self, written: pl.DataFrame, numbers: pl.DataFrame, sums: NDArray[Any], rows: NDArray[np.int64]) -> None:
        """Note every kind of fault in a frame that is not sound."""
        proba = numbers.to_numpy()
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
                told = self._told(kind, int(rows[position]), column, written[position, column])
                self._faults.add(kind, int(cells.any(axis=1).sum()), told)
        off = ~np.any([cells.any(axis=1) for cells in faulty.values()], axis=0) & ~_near_one(sums)
        if off.any():
            position = int(off.argmax())
            told = f"Row {rows[position]}: the probabilities add up to {sums[position]:.4g}, not 1"
            self._faults.add("sum", int(off.sum()), told)

    def _told(self, kind: Kind, row: int, column: int, value: object) -> str:
        name = PROBABILITY + self._classes[column]
        if kind == "cell":
            return self._told_empty(row, name)
        if kind == "text":
            return f"Row {row}: {name} is “{shortened(str(value))}”, not a number"
        ends = {"nan": "not a finite number", "negative": "below 0", "high": "above 1"}
        number = float(str(value))
        return f"Row {row}: {name} is {'NaN' if number != number else f'{number:.4g}'}, {ends[kind]}"

    def _told_empty(self, row: int, name: str) -> str:
        shape = self._table.why_empty(row) if self._table.why_empty else None
        return shape or f"Row {row}: {name} is empty"

    def _rescaled(self, proba: NDArray[Any], sums: NDArray[Any]) -> NDArray[Any]:
        off = np.abs(sums - 1) > _AS_WRITTEN
        self.rescaled += int(off.sum())
        return np.where(off[:, None], proba / sums[:, None], proba)


def demand_comparable(path: Path, classes: Sequence[str], cases: NDArray[np.int64]) -> None:
    """Refuse predictions in which there is nothing to compare.

    Parameters
    ----------
    path : Path
        The file.
    classes : sequence of str
        Names of the k classes.
    cases : ndarray of shape (k,)
        Number of rows by true class, of the whole file.

    Raises
    ------
    Problem
        There is no row, one row, or only one true class.
    """
    rows = int(cases.sum())
    present = [name for name, count in zip(classes, cases, strict=True) if count]
    if rows == 0:
        raise refused(path, Finding("There are no rows of data in it", "Write one row a case."))
    if rows == 1:
        raise refused(path, Finding("There is only one row in it", "Write one row a case, at least two cases."))
    if len(present) == 1:
        told = f"Every row has the true label “{present[0]}”"
        raise refused(path, Finding(told, "Mistakes can be compared only with cases of two classes or more."))


def _without_blank_lines(frame: pl.DataFrame, rows: NDArray[np.int64]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    import polars as pl

    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    return (frame.filter(~blank), rows[~blank.to_numpy()]) if blank.any() else (frame, rows)


def _as_numbers(written: pl.DataFrame) -> pl.DataFrame:
    """Return the columns as floats (float32 stays), null where the text is no number."""
    import polars as pl
    import polars.selectors as cs

    if all(kind in (pl.Float32, pl.Float64) for kind in written.dtypes):
        return written
    text = cs.string().str.strip_chars().cast(pl.Float64, strict=False)
    return written.with_columns(text, (cs.all() - cs.string() - cs.float()).cast(pl.Float64))


def _nulls(frame: pl.DataFrame) -> Cells:
    import polars as pl

    return frame.select(pl.all().is_null()).to_numpy()


def _near_one(sums: NDArray[Any]) -> Cells:
    return (sums >= SUM_RANGE[0] - _ROUNDING) & (sums <= SUM_RANGE[1] + _ROUNDING)
