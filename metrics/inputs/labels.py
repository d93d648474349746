"""What the labels of cases mean: which column of a matrix each one stands for.

The rule, where the number of columns k is known and no ``labels`` are passed: integers in 0..k-1 are column indices;
otherwise the k different values of ``y_true``, sorted, name the columns; otherwise an error asks for ``labels``.
Columns of a frame that are named after labels mean these, see `metrics.inputs.tables`.
Booleans count as 0 and 1, floats without a fractional part as integers. Where labels are text on one side and numbers
on the other they are compared as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.class_names import as_array, class_name, is_missing, unmasked

# Integer labels that span fewer values than this are counted directly, without sorting them first.
_NARROW = 64
_LARGEST_INTEGER = 2**62


class Classes:
    """The k labels that the rows and columns of matrices stand for, in order.

    Parameters
    ----------
    labels : array-like of shape (k,) or int
        The labels, all different; a number k stands for the labels 0, ..., k-1.

    Raises
    ------
    InputError
        Where there are no labels, or one occurs twice.
    """

    def __init__(self, labels: ArrayLike | int) -> None:
        if isinstance(labels, int | np.integer):
            self.labels: NDArray[Any] = np.arange(int(labels))
        else:
            self.labels = _as_given(labels)
        if self.labels.ndim != 1:
            raise TypeError(f"labels: a sequence of labels was expected, found {labels!r}.")
        if self.labels.size == 0:
            raise InputError("labels: at least one label was expected, found none.")
        compared = label_array(self.labels, "labels")
        names = [class_name(label) for label in compared.tolist()]
        self._positions = {name: j for j, name in enumerate(names)}
        if len(self._positions) != len(names):
            twice = next(name for j, name in enumerate(names) if self._positions[name] != j)
            raise InputError(f"labels: {twice!r} stands for two columns; every column needs a label of its own.")
        self._numbers = compared if compared.dtype.kind in "iuf" else None
        lowest = int(compared[0]) if compared.dtype.kind in "iu" else 0
        consecutive = compared.dtype.kind in "iu" and np.array_equal(compared, lowest + np.arange(len(compared)))
        self._lowest = lowest if consecutive else None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the labels as the text by which they are compared."""
        return tuple(self._positions)

    def sorted_names(self) -> tuple[str, ...]:
        """Return the names in the sorted order of the labels."""
        return tuple(class_name(label) for label in distinct(label_array(self.labels, "labels")).tolist())

    def hold(self, values: NDArray[Any]) -> bool:
        """Return whether all labels of an array, as `label_array` returns them, are among these."""
        return all(class_name(label) in self._positions for label in distinct(values).tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Classes) and list(self._positions) == list(other._positions)

    def __hash__(self) -> int:
        return hash(tuple(self._positions))

    def indices(self, values: NDArray[Any], name: str, first: int = 0) -> NDArray[np.intp]:
        """Return the column of each label.

        Parameters
        ----------
        values : ndarray of shape (b,)
            Labels as `label_array` returns them, or a part of them.
        name : str
            The argument's name for an error: "y_true".
        first : int
            The row number of ``values[0]``.

        Returns
        -------
        ndarray of shape (b,)
            Indices in 0..k-1; `values` itself where its labels are the indices.

        Raises
        ------
        InputError
            Where a label is none of the k, with its row.
        """
        if len(values) == 0:
            return np.empty(0, dtype=np.intp)
        if self._lowest is not None and values.dtype.kind in "iu":
            found = values.astype(np.intp, copy=False)
            found = found if self._lowest == 0 else found - self._lowest
            if _highest(found) < len(self):
                return found
            found = np.where((found >= 0) & (found < len(self)), found, -1)
        elif self._numbers is not None and values.dtype.kind in "iuf":
            found = self._numbered(values)
        else:
            texts = values.tolist() if values.dtype.kind in "UO" else map(class_name, values.tolist())
            found = np.fromiter(map(self._positions.get, texts, repeat(-1)), dtype=np.intp, count=len(values))
        if int(found.min()) < 0:
            row = int(np.argmax(found < 0))
            raise InputError(
                f"{name}, row {first + row}: {values[row]!s} is not one of the labels ({_few(self.labels)})."
            )
        return found

    def _numbered(self, values: NDArray[Any]) -> NDArray[np.intp]:
        assert self._numbers is not None
        order = np.argsort(self._numbers)
        ordered = self._numbers[order]
        place = np.minimum(np.searchsorted(ordered, values), len(self) - 1)
        return np.where(ordered[place] == values, order[place], -1)


def label_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return labels as a one-dimensional array of integers, other numbers or text.

    Parameters
    ----------
    values : array-like of shape (n,)
        A list, an array, a pandas or polars series. Booleans become 0 and 1, floats without fractional part integers.
    name : str
        The argument's name for an error.

    Returns
    -------
    ndarray of shape (n,)
        Of integers, floats, numpy text, or objects that all are `str`. Not copied where it is so already.

    Raises
    ------
    InputError
        Where it is empty, not one-dimensional, or a label is missing.
    """
    try:
        array = as_array(values)
    except ValueError:
        raise InputError(f"{name}: one label per case was expected, found rows of different lengths.") from None
    if array.ndim != 1:
        raise InputError(f"{name}: one label per case was expected, shape (n,); found the shape {array.shape}.")
    if len(array) == 0:
        raise InputError(f"{name}: at least one case was expected, found none.")
    if array.dtype.kind == "O":
        array = _of_objects(array, name)
    if array.dtype.kind == "b":
        return array.astype(np.intp)
    if array.dtype.kind == "u" and array.itemsize == 8:  # which numpy makes floats of beside other integers
        small = int(array.max()) <= _LARGEST_INTEGER
        return array.astype(np.int64) if small else np.array([*map(str, array.tolist())], dtype=object)
    if array.dtype.kind == "f":
        return _of_floats(array, name)
    if array.dtype.kind in "mM" and np.isnat(array).any():
        raise _missing(name, int(np.argmax(np.isnat(array))))
    return array if array.dtype.kind in "iuUO" else np.array([class_name(x) for x in array.tolist()], dtype=object)


def passed_labels(labels: ArrayLike | Classes) -> Classes:
    """Return what a caller passed as `labels`.

    Raises
    ------
    TypeError
        Where it is one label instead of a sequence.
    InputError
        Where it is empty, or a label occurs twice.
    """
    if isinstance(labels, Classes):
        return labels
    if isinstance(labels, int | np.integer):
        raise TypeError(f"labels: a sequence of labels was expected, found {labels!r}.")
    return Classes(labels)


def column_classes(
    n_columns: int,
    labels: ArrayLike | Classes | None,
    y_true: NDArray[Any],
    what: str = "y_proba",
    unit: str = "columns",
    named: Classes | None = None,
) -> Classes:
    """Return which label each of k columns stands for, by the rule of this module.

    Parameters
    ----------
    n_columns : int
        k.
    labels : array-like of shape (k,) or None
        The labels in the order of the columns, where the caller says so.
    y_true : ndarray of shape (n,)
        Labels as `label_array` returns them.
    what, unit : str
        What has the columns, and what they are called, for an error.
    named : Classes, optional
        What the columns are named after, see `metrics.inputs.tables`.

    Returns
    -------
    Classes
        Of length k.

    Raises
    ------
    InputError
        Where the number of labels does not fit, or nothing says what the columns mean.
    """
    if labels is not None:
        classes = passed_labels(labels)
        if len(classes) != n_columns:
            raise InputError(f"labels: {what} has {n_columns} {unit}, found {len(classes)} labels; one each is needed.")
        return classes
    if named is not None and len(named) == n_columns and named.hold(y_true):
        return named
    if y_true.dtype.kind in "iu" and int(y_true.min()) >= 0 and int(y_true.max()) < n_columns:
        return Classes(n_columns)
    found = distinct(y_true)
    if len(found) == n_columns:
        return Classes(found)
    raise InputError(
        f"labels: y_true holds {len(found)} different labels ({_few(found)}) and {what} has {n_columns} {unit}; "
        f"pass labels with the {n_columns} labels in the order of the {unit}."
    )


def shared_classes(y_true: NDArray[Any], y_pred: NDArray[Any], labels: ArrayLike | Classes | None = None) -> Classes:
    """Return the sorted labels that occur in either of two label arrays, or the ones that were passed.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n,)
        Labels as `label_array` returns them.
    labels : array-like, optional
        The labels in the wanted order.

    Returns
    -------
    Classes
        Integers of a narrow range also stand where they do not occur: `ConfusionCounts.occurring` drops them.
    """
    if labels is not None:
        return passed_labels(labels)
    if y_true.dtype.kind in "iu" and y_pred.dtype.kind in "iu":
        highest = max(_highest(y_true), _highest(y_pred))
        if highest < _NARROW:
            return Classes(highest + 1)
        lowest, highest = min(y_true.min(), y_pred.min()), max(y_true.max(), y_pred.max())
        if int(highest) - int(lowest) < _NARROW:
            return Classes(np.arange(int(lowest), int(highest) + 1))
    both = (distinct(y_true), distinct(y_pred))
    if is_text(y_true) != is_text(y_pred):
        return Classes(np.array(sorted({class_name(x) for part in both for x in part.tolist()}), dtype=object))
    return Classes(distinct(np.concatenate(both)))


def _highest(values: NDArray[Any]) -> int:
    """Return the highest of integers, of which a negative one counts as a huge one: one pass instead of two."""
    return int(values.view(values.dtype.str.replace("i", "u")).max())


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different labels, sorted."""
    if is_text(values):
        return np.array(sorted(set(values.tolist())), dtype=object)
    return np.unique(values)


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
    if all(isinstance(item, bool | int | float | np.number | np.bool_) for item in items):
        numbers = np.asarray(items)
        if numbers.dtype.kind != "O":  # as whole numbers too great for numpy stay
            return numbers
    return np.array([class_name(item) for item in items], dtype=object)


def _of_floats(array: NDArray[Any], name: str) -> NDArray[Any]:
    whole = np.floor(array) == array
    if whole.all() and np.abs(array).max() <= _LARGEST_INTEGER:
        return array.astype(np.int64)
    if np.isnan(array).any():
        raise _missing(name, int(np.argmax(np.isnan(array))))
    return array


def _missing(name: str, row: int) -> InputError:
    return InputError(f"{name}, row {row}: a label was expected, it is missing.")


def _as_given(labels: ArrayLike) -> NDArray[Any]:
    """Return the labels as an array whose elements are the caller's own; a list of mixed types stays so."""
    if isinstance(labels, str):
        raise TypeError(f"labels: a sequence of labels was expected, not the single text {labels!r}.")
    array = np.asarray(unmasked(labels))
    if isinstance(labels, Sequence) and array.ndim == 1 and len({type(label) for label in labels}) > 1:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
    return array


def _few(labels: Iterable[object]) -> str:
    """Return the first labels as text for a message."""
    texts = [class_name(label) for label in labels]
    return ", ".join(texts[:8]) + (", ..." if len(texts) > 8 else "")
