"""Labels as class indices where every one is written exactly as its class: the usual case, in a few passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

# up to this many classes comparing with each is quicker than looking every label up
_FEW = 6
_WIDEST = 65_536

Codes = NDArray[np.int64]


def exact_codes(column: pl.Series, classes: Sequence[str]) -> Codes | None:
    """Return the index of each label's class, or None where a label is empty, unknown or written another way.

    Parameters
    ----------
    column : polars Series of length m
        Labels of any type; only text and integers are tried.
    classes : sequence of str
        Names of the classes.

    Returns
    -------
    ndarray of int64, shape (m,), or None
        Indices in 0..k-1.
    """
    import polars as pl

    if column.len() == 0 or column.null_count():
        return None
    if column.dtype.is_integer():
        return _of_integers(column, classes)
    if column.dtype == pl.String and len(classes) <= _FEW:
        return _by_comparison(column, classes)
    return _by_lookup(column, classes) if column.dtype in (pl.String, pl.Categorical, pl.Enum) else None


def _of_integers(column: pl.Series, classes: Sequence[str]) -> Codes | None:
    """Return the codes by a table from the lowest to the highest class, -1 between classes."""
    numbers = {int(name): code for code, name in enumerate(classes) if _is_written_integer(name)}
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    values = column.to_numpy()
    if high - low >= _WIDEST or int(values.min()) < low or int(values.max()) > high:
        return None
    table = np.full(high - low + 1, -1, dtype=np.int64)
    for number, code in numbers.items():
        table[number - low] = code
    codes = table.take(values.astype(np.int64) - low)
    return codes if codes.min() >= 0 else None


def _is_written_integer(name: str) -> bool:
    try:
        return str(int(name)) == name
    except ValueError:
        return False


def _by_comparison(column: pl.Series, classes: Sequence[str]) -> Codes | None:
    codes, found = np.zeros(column.len(), dtype=np.int8), 0
    for code, name in enumerate(classes):
        equal = column == name
        found += int(equal.sum())
        if code:
            codes += np.int8(code) * equal.to_numpy().view(np.int8)
    return codes.astype(np.int64) if found == len(codes) else None


def _by_lookup(column: pl.Series, classes: Sequence[str]) -> Codes | None:
    import polars as pl

    codes = column.cast(pl.Enum(classes), strict=False).to_physical()
    return None if codes.null_count() else codes.to_numpy().astype(np.int64)
