"""True labels and predicted probabilities as arrays.

Labels are booleans, whole numbers, other numbers or text; each has one form as text. A row of probabilities is a
distribution over the classes: finite, non-negative, and summing to 1 within `ROW_SUM_TOLERANCE`. The tolerance admits
files with three or four decimals and rejects scores that are not probabilities.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError, RowError, refuse_rows

LARGEST_INTEGER = 2**62
_WHOLE_FLOAT = re.compile(r"([+-]?\d+)\.0*")


def label_text(label: object) -> str:
    """Return a label as text, for comparison and for files: without surrounding blanks, whole floats as integers.

    >>> [label_text(label) for label in (2.0, "2.0", " cat", True, 2.5)]
    ['2', '2', 'cat', 'True', '2.5']
    """
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    text = (label.decode("utf-8", "replace") if isinstance(label, bytes) else str(label)).strip()
    whole = _WHOLE_FLOAT.fullmatch(text)
    return whole[1] if whole else text


def has_line_end(text: str) -> bool:
    r"""Return whether a text contains a line end, which is not allowed in names.

    >>> [has_line_end(text) for text in ("cat", "", "cat\r", "wild\ncat")]
    [False, False, True, True]
    """
    return text.splitlines() not in ([], [text])


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, NaT or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def label_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return labels as an array (n,) of booleans, integers, other numbers or text; a column (n, 1) is accepted.

    Whole floats become integers; text is NumPy's, or objects that are all `str`. The array is not copied if it is one
    of these already. Raises InputError if it is empty or not one-dimensional, or a label is missing.
    """
    try:
        array = as_array(values)
    except ValueError:
        raise InputError(f"{name}: one label per case was expected, found rows of different lengths.") from None
    if array.ndim == 2 and array.shape[1] == 1 and len(array):
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{name}: one label per case was expected, shape (n,); found the shape {array.shape}.")
    if len(array) == 0:
        raise InputError(f"{name}: at least one case was expected, found none.")
    if array.dtype.kind == "O":
        array = _of_objects(array, name)
    if array.dtype.kind == "u" and array.itemsize == 8:  # NumPy turns uint64 into floats beside other integers
        small = int(array.max()) <= LARGEST_INTEGER
        return array.astype(np.int64) if small else np.array([*map(str, array.tolist())], dtype=object)
    if array.dtype.kind == "f":
        return _of_floats(array, name)
    if array.dtype.kind == "c":
        raise InputError(f"{name}: labels are text, whole numbers or booleans, not complex numbers.")
    if array.dtype.kind in "mM" and np.isnat(array).any():
        raise missing_label(name, int(np.argmax(np.isnat(array))))
    return array if array.dtype.kind in "biuUO" else np.array([label_text(x) for x in array.tolist()], dtype=object)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different labels, sorted; text in text order, booleans as 0 and 1."""
    if is_text(values):
        return np.array(sorted(set(map(label_text, set(values.tolist())))), dtype=object)
    return np.unique(values.astype(np.intp) if values.dtype.kind == "b" else values)


_FEW = 8


def few(labels: Iterable[object]) -> str:
    """Return the first few labels as text for a message."""
    texts = [label_text(label) for label in labels]
    return ", ".join(texts[:_FEW]) + (", ..." if len(texts) > _FEW else "")


def unmasked(values: ArrayLike) -> ArrayLike:
    """Return a masked array with None for masked entries, because NumPy would expose the values underneath."""
    if "numpy.ma" not in sys.modules:  # nobody has a masked array yet, and the import takes as long as reading a metric
        return values
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return values
    shown = np.ma.getdata(values).astype(object)
    shown[np.ma.getmaskarray(values)] = None
    return shown


def as_array(labels: ArrayLike) -> NDArray[Any]:
    """Return labels as an array in which numbers and missing values among text keep their types."""
    array = np.asarray(unmasked(labels))
    if array.dtype.kind == "U" and isinstance(labels, list | tuple) and not _all_text(labels, array.ndim):
        return np.array(labels, dtype=object)  # NumPy would turn a missing label into the text "nan"
    return array


def _all_text(values: Any, depth: int) -> bool:
    """Return whether lists nested to `depth` hold only text."""
    if depth > 1:
        return all(_all_text(value, depth - 1) for value in values)
    return all(isinstance(value, str) for value in values)


def is_text(values: NDArray[Any]) -> bool:
    """Return whether labels are text."""
    return values.dtype.kind in "UO"


def _of_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return objects as an array of text or of numbers; as text if they are mixed."""
    items = array.tolist()
    for row, item in enumerate(items):
        if is_missing(item):
            raise missing_label(name, row)
    if all(isinstance(item, str) for item in items):
        return array
    booleans = sum(isinstance(item, bool | np.bool_) for item in items)
    if booleans in (0, len(items)) and all(
        isinstance(item, bool | int | float | np.number | np.bool_) for item in items
    ):
        numbers = np.asarray(items)
        if numbers.dtype.kind != "O":  # whole numbers too large for NumPy stay objects
            return numbers
    return np.array([label_text(item) for item in items], dtype=object)


def _of_floats(array: NDArray[Any], name: str) -> NDArray[Any]:
    array = array.astype(np.float32) if array.itemsize == 2 else array  # half floats do not reach the largest integer
    whole = np.floor(array) == array
    if whole.all() and np.abs(array).max() <= LARGEST_INTEGER:
        return array.astype(np.int64)
    if np.isnan(array).any():
        raise missing_label(name, int(np.argmax(np.isnan(array))))
    return array


def missing_label(name: str, row: int) -> RowError:
    """Return the error for a missing label."""
    return RowError(name, row, "a label was expected, it is missing.")


ROW_SUM_TOLERANCE = 1e-3

Flat = Literal["pair", "refused", "expected"]
Probabilities = NDArray[np.float32] | NDArray[np.float64]


def probability_array(values: ArrayLike, name: str = "y_proba", *, flat: Flat = "pair") -> Probabilities:
    """Return probabilities as an array of float32 or float64, with a row per case and a column per class.

    One-dimensional input is the probability of the second of two classes, as scikit-learn's scorers pass it ("pair"),
    an error ("refused"), or required and returned as such after a check of every value ("expected"). Values of tables
    are not checked; see `checked_rows`. Raises InputError if the rows differ in length, a cell is not a number, or
    there is no case or only one column.
    """
    try:
        array = np.asarray(unmasked(values))
    except ValueError:
        raise InputError(
            f"{name}: every row needs the same number of columns, found rows of different lengths."
        ) from None
    array = _as_floats(array, name)
    if flat == "expected" and array.ndim != 1:
        raise InputError(f"{name}: one probability per case was expected, shape (n,); the shape is {array.shape}.")
    if array.ndim == 1 and len(array) and flat != "refused":
        require_probabilities(array, name)
        return array if flat == "expected" else _two_columns(array)
    if array.ndim != 2:
        raise InputError(
            f"{name}: one row per case and one column per class were expected, the shape is {array.shape}."
        )
    if array.shape[0] == 0:
        raise InputError(f"{name}: at least one case was expected, found none.")
    if array.shape[1] < 2:
        raise InputError(f"{name}: a column for each of at least two classes was expected, found {array.shape[1]}.")
    return array


def labels_only(rows: Probabilities) -> bool:
    """Return whether each row of probabilities (b, k) is a label: all of it is given to one class."""
    return bool((rows.max(axis=1) == 1).all())


def checked_rows(rows: Probabilities, name: str = "y_proba", first: int = 0) -> None:
    """Check that rows of `probability_array`, from the row `first` on, are probability distributions.

    Raises InputError if a row is not finite, has a negative entry, or does not sum to 1 within `ROW_SUM_TOLERANCE`;
    names the first.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        total = rows @ np.ones(rows.shape[1], rows.dtype) - 1  # six times as fast as rows.sum(axis=1)
    # NaN fails every comparison, so test for validity and negate.
    if rows.min() >= 0 and max(total.max(), -total.min()) <= ROW_SUM_TOLERANCE:
        return
    wrong = ~((rows >= 0).all(axis=1) & (np.abs(total) <= ROW_SUM_TOLERANCE))
    row = int(np.argmax(wrong))
    raise RowError(name, first + row, _fault(rows[row]))


def _fault(row: NDArray[Any]) -> str:
    if not np.isfinite(row).all():
        column = int(np.argmax(~np.isfinite(row)))
        return f"the value in column {column} is {row[column]:g}; a probability in [0, 1] was expected."
    if (row < 0).any():
        column = int(np.argmax(row < 0))
        return f"the value in column {column} is {row[column]:g}; a probability cannot be negative."
    total = float(row.sum(dtype=np.float64))
    return f"the probabilities add up to {total:.6g}; 1 was expected, within {ROW_SUM_TOLERANCE:g}."


def _as_floats(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64) if array.dtype.kind == "O" else _refuse_text(array, name)
        except (TypeError, ValueError):
            return _refuse_text(array, name)
    raise InputError(f"{name}: numbers were expected, found the type {array.dtype}.")


def _refuse_text(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.ndim == 0:
        raise InputError(f"{name}: a table of probabilities was expected, found {type(array.item()).__name__}.")
    for position, cell in np.ndenumerate(array):
        if isinstance(cell, str | bytes) or not np.isscalar(cell):
            where = f"row {position[0]}" + (f", column {position[1]}" if len(position) > 1 else "")
            raise InputError(f"{name}, {where}: a probability was expected, found {str(cell)!r}.")
    raise InputError(f"{name}: numbers were expected.")


def require_probabilities(array: NDArray[Any], name: str) -> None:
    """Check that all numbers, shape (n,), are in [0, 1]. Raises RowError if one is not; names the first."""
    refuse_rows(
        ~((array >= 0) & (array <= 1)), name, lambda row: f"a probability in [0, 1] was expected, found {array[row]:g}."
    )


def _two_columns(array: NDArray[Any]) -> Probabilities:
    both = np.empty((len(array), 2), dtype=array.dtype)
    both[:, 1] = array
    np.subtract(1, array, out=both[:, 0])
    return both
