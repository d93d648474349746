"""Tables that name their rows and columns after the classes: frames of pandas and polars, and confusion matrices.

A matrix that names its rows and columns is read by these names. Probabilities whose columns are named after labels are
those of these labels: `labels` must be in the same order, and may be left out only where that is the sorted one. The
numbers 0, 1, 2, ... that pandas gives by itself are no names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.class_names import class_name
from metrics.inputs.labels import Classes

# What predictions files write before a class.
_PREFIX = "proba_"


def column_names(table: object) -> list[Any] | None:
    """Return the names of a frame's columns, without the "proba_" of predictions files; None where it has none."""
    names = _given(getattr(table, "columns", None))
    if names is not None and all(isinstance(name, str) and name.startswith(_PREFIX) for name in names):
        return [name.removeprefix(_PREFIX) for name in names]
    return names


def named_classes(table: object) -> Classes | None:
    """Return the classes that a frame's columns are named after, or None where the names cannot be labels."""
    names = column_names(table)
    try:
        return None if names is None else Classes(names)
    except ValueError:
        return None


def demand_order(table: object, classes: Sequence[str], name: str) -> None:
    """Refuse a frame whose columns are named after the classes, but in another order.

    Raises
    ------
    InputError
        With both orders.
    """
    names = column_names(table)
    places = None if names is None else places_of(names, classes)
    if names is not None and places is not None and (np.diff(places) < 0).any():
        raise InputError(
            f"{name}: the columns are named {_listed(names)}, but {_listed(classes)} was expected; bring both into one "
            "order."
        )


def matrix_by_name(matrix: ArrayLike, classes: Sequence[str], name: str) -> ArrayLike:
    """Return a matrix with its rows and columns in the order of the classes, where it names them.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        A frame, a `ConfusionMatrix`, or numbers alone, which are returned as they are.
    classes : sequence of k str
        Names of the classes.
    name : str
        The argument's name for an error.

    Returns
    -------
    array-like of shape (k, k)
        Rows and columns in the order of `classes`.

    Raises
    ------
    InputError
        Where only the rows or only the columns are named, in another order.
    """
    own = getattr(matrix, "labels", None)
    names = [_given(getattr(matrix, axis, None)) for axis in ("index", "columns")] if own is None else [[*own]] * 2
    rows, columns = (None if given is None else places_of(given, classes) for given in names)
    if rows is not None and columns is not None:
        return np.asarray(matrix)[np.ix_(rows, columns)]
    known = rows if columns is None else columns
    if known is not None and (np.diff(known) < 0).any():
        raise InputError(
            f"{name}: rows and columns must both be named after the classes, or be in their order, {_listed(classes)}."
        )
    return matrix


def weights_by_label(weights: object) -> Any:
    """Return a series of pandas whose index holds labels as a mapping, and anything else as it is."""
    if isinstance(weights, Mapping) or not hasattr(weights, "to_dict"):
        return weights
    labels = _given(getattr(weights, "index", None))
    return weights if labels is None or len(set(labels)) < len(labels) else dict(zip(labels, weights, strict=True))  # type: ignore[call-overload]


def places_of(names: Sequence[object], classes: Sequence[str]) -> NDArray[np.intp] | None:
    """Return where each class stands among the names, shape (k,), or None where these are not the k classes.

    Booleans stand for "True" and "False", or for "1" and "0".
    """
    spellings = [[class_name(name) for name in names]]
    if all(isinstance(name, bool | np.bool_) for name in names):
        spellings.append([str(int(name)) for name in names])  # type: ignore[call-overload]
    for texts in spellings:
        if len(texts) == len(classes) and set(texts) == set(classes):
            return np.array([texts.index(name) for name in classes], dtype=np.intp)
    return None


def _given(names: object) -> list[Any] | None:
    """Return names that somebody has given, or None."""
    if names is None or callable(names):  # `index` of a list is a method
        return None
    given = [*names]  # type: ignore[misc]
    return None if given == [*range(len(given))] else given


def _listed(names: Sequence[object]) -> str:
    texts = [class_name(name) for name in names]
    return ", ".join(texts[:8]) + (", ..." if len(texts) > 8 else "")
