"""Labels as arrays: of booleans, whole numbers, other numbers or text, and how each is written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError

LARGEST_INTEGER = 2**62
_WHOLE_FLOAT = re.compile(r"([+-]?\d+)\.0*")


def label_text(label: object) -> str:
    """Return a label as the text that is compared and written to files.

    Parameters
    ----------
    label : object
        Text, bytes, a boolean, a number or anything with a text form.

    Returns
    -------
    str
        Without blanks around it; whole floats as integers.

    Examples
    --------
    >>> [label_text(label) for label in (2.0, "2.0", " cat", True, 2.5)]
    ['2', '2', 'cat', 'True', '2.5']
    """
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    text = (label.decode("utf-8", "replace") if isinstance(label, bytes) else str(label)).strip()
    whole = _WHOLE_FLOAT.fullmatch(text)
    return whole[1] if whole else text


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, NaT or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas.NA answers neither yes nor no
        return True


def label_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return labels as a one-dimensional array of booleans, integers, other numbers or text.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, 1)
        A list, an array, a pandas or polars series.
    name : str
        The argument's name for an error.

    Returns
    -------
    ndarray of shape (n,)
        Of booleans, integers (whole floats too), floats, numpy text, or objects that all are `str`. Not copied where it
        is so already.

    Raises
    ------
    InputError
        Where it is empty, not one-dimensional, or a label is missing.
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
    if array.dtype.kind == "u" and array.itemsize == 8:  # which numpy makes floats of beside other integers
        small = int(array.max()) <= LARGEST_INTEGER
        return array.astype(np.int64) if small else np.array([*map(str, array.tolist())], dtype=object)
    if array.dtype.kind == "f":
        return _of_floats(array, name)
    if array.dtype.kind in "mM" and np.isnat(array).any():
        raise _missing(name, int(np.argmax(np.isnat(array))))
    return array if array.dtype.kind in "biuUO" else np.array([label_text(x) for x in array.tolist()], dtype=object)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different labels, sorted: text by text, booleans as 0 and 1."""
    if is_text(values):
        return np.array(sorted(set(map(label_text, set(values.tolist())))), dtype=object)
    return np.unique(values.astype(np.intp) if values.dtype.kind == "b" else values)


def few(labels: Iterable[object], most: int = 8) -> str:
    """Return the first labels as text for a message."""
    texts = [label_text(label) for label in labels]
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def unmasked(values: ArrayLike) -> ArrayLike:
    """Return a masked array with None where it is masked, which numpy would show what lies underneath."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return values
    shown = np.ma.getdata(values).astype(object)
    shown[np.ma.getmaskarray(values)] = None
    return shown


def as_array(labels: ArrayLike) -> NDArray[Any]:
    """Return labels as an array in which numbers and missing values among text stay what they are."""
    array = np.asarray(unmasked(labels))
    if array.dtype.kind == "U" and isinstance(labels, list | tuple) and not _all_text(labels, array.ndim):
        return np.array(labels, dtype=object)  # numpy would make the text "nan" of a missing label
    return array


def _all_text(values: Any, depth: int) -> bool:
    """Return whether lists within lists, `depth` of them, hold nothing but text."""
    if depth > 1:
        return all(_all_text(value, depth - 1) for value in values)
    return all(isinstance(value, str) for value in values)


def is_text(values: NDArray[Any]) -> bool:
    """Return whether labels are text."""
    return values.dtype.kind in "UO"


def _of_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return objects as text or numbers, whichever they all are; as text where they are of both kinds."""
    items = array.tolist()
    for row, item in enumerate(items):
        if is_missing(item):
            raise _missing(name, row)
    if all(isinstance(item, str) for item in items):
        return array
    booleans = sum(isinstance(item, bool | np.bool_) for item in items)
    if booleans in (0, len(items)) and all(
        isinstance(item, bool | int | float | np.number | np.bool_) for item in items
    ):
        numbers = np.asarray(items)
        if numbers.dtype.kind != "O":  # as whole numbers too great for numpy stay
            return numbers
    return np.array([label_text(item) for item in items], dtype=object)


def _of_floats(array: NDArray[Any], name: str) -> NDArray[Any]:
    whole = np.floor(array) == array
    if whole.all() and np.abs(array).max() <= LARGEST_INTEGER:
        return array.astype(np.int64)
    if np.isnan(array).any():
        raise _missing(name, int(np.argmax(np.isnan(array))))
    return array


def _missing(name: str, row: int) -> InputError:
    return InputError(f"{name}, row {row}: a label was expected, it is missing.")
