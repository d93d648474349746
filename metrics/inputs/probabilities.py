"""Predicted class probabilities: what is accepted, and what is said where it is not.

A row is a probability distribution over the classes: finite, not negative, and adding up to 1 within
`ROW_SUM_TOLERANCE`, so that files with three or four decimals pass and scores that are no probabilities do not.
Nothing is rescaled. float32 stays float32.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.labels import unmasked

ROW_SUM_TOLERANCE = 1e-3

Flat = Literal["pair", "refused", "expected"]
Probabilities = NDArray[np.float32] | NDArray[np.float64]


def probability_array(values: ArrayLike, name: str = "y_proba", *, flat: Flat = "pair") -> Probabilities:
    """Return probabilities as an array of one row per case and one column per class; values are not looked at yet.

    Parameters
    ----------
    values : array-like of shape (n, k) or (n,)
        A list of lists, an array, a pandas or polars frame.
    name : str
        The argument's name for an error.
    flat : {"pair", "refused", "expected"}
        What one dimension means: the probability of the second of two classes, as scikit-learn's scorers pass it;
        nothing; or what is wanted, which is then left so with every value looked at.

    Returns
    -------
    ndarray of shape (n, k), or (n,) where that is expected
        float32 or float64, not copied where it is so already; `checked_rows` looks at the values.

    Raises
    ------
    InputError
        Where the rows differ in length, a cell is no number, there is no case or only one column.
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
        _check_values(array, name)
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


def checked_rows(rows: Probabilities, name: str = "y_proba", first: int = 0) -> None:
    """Refuse rows that are no probability distributions.

    Parameters
    ----------
    rows : ndarray of shape (b, k)
        Some rows of `probability_array`.
    name : str
        The argument's name for an error.
    first : int
        The row number of ``rows[0]``, counted from 0.

    Raises
    ------
    InputError
        With the first row that is not finite, negative, or does not add up to 1 within `ROW_SUM_TOLERANCE`.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.einsum("ij->i", rows) - 1  # four times as fast as rows.sum(axis=1)
    # Not-a-number fails every comparison, so that it is found by what does not hold.
    if rows.min() >= 0 and max(total.max(), -total.min()) <= ROW_SUM_TOLERANCE:
        return
    wrong = ~((rows >= 0).all(axis=1) & (np.abs(total) <= ROW_SUM_TOLERANCE))
    raise InputError(_fault(rows[int(np.argmax(wrong))], first + int(np.argmax(wrong)), name))


def _fault(row: NDArray[Any], number: int, name: str) -> str:
    where = f"{name}, row {number}"
    if not np.isfinite(row).all():
        column = int(np.argmax(~np.isfinite(row)))
        return f"{where}: the value in column {column} is {row[column]:g}; a probability in [0, 1] was expected."
    if (row < 0).any():
        column = int(np.argmax(row < 0))
        return f"{where}: the value in column {column} is {row[column]:g}; a probability cannot be negative."
    total = float(row.sum(dtype=np.float64))
    return f"{where}: the probabilities add up to {total:.6g}; 1 was expected, within {ROW_SUM_TOLERANCE:g}."


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
    for position, cell in np.ndenumerate(array):
        if isinstance(cell, str | bytes) or not np.isscalar(cell):
            where = f"row {position[0]}" + (f", column {position[1]}" if len(position) > 1 else "")
            raise InputError(f"{name}, {where}: a probability was expected, found {str(cell)!r}.")
    raise InputError(f"{name}: numbers were expected.")


def _check_values(array: NDArray[Any], name: str) -> None:
    within = (array >= 0) & (array <= 1)
    if not within.all():
        row = int(np.argmax(~within))
        raise InputError(f"{name}, row {row}: a probability in [0, 1] was expected, found {array[row]:g}.")


def _two_columns(array: NDArray[Any]) -> Probabilities:
    both = np.empty((len(array), 2), dtype=array.dtype)
    both[:, 1] = array
    np.subtract(1, array, out=both[:, 0])
    return both
