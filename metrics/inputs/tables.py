"""Tables that name their rows and columns after the classes: frames of pandas and polars, and confusion matrices.

A matrix that names its rows and columns is read by these names. Probabilities whose columns are named after labels are
those of these labels: `labels` must be in the same order, and may be left out only where that is the sorted one. The
numbers 0, 1, 2, ... that pandas gives by itself are no names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.errors import InputError
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import few

# What predictions files write before a class.
_PREFIX = "proba_"


def column_names(table: object) -> list[Any] | None:
    """Return the names of a frame's columns, without the "proba_" of predictions files; None where it has none."""
    names = _given(getattr(table, "columns", None))
    if names is not None and all(isinstance(name, str) and name.startswith(_PREFIX) for name in names):
        return [name.removeprefix(_PREFIX) for name in names]
    return names


def named_classes(table: object) -> ClassIndex | None:
    """Return the classes that a frame's columns are named after, or None where the names cannot be labels."""
    names = column_names(table)
    try:
        return None if names is None else ClassIndex(names)
    except ValueError:
        return None


def require_order(table: object, classes: ClassIndex, name: str) -> None:
    """Refuse a frame whose columns are named after the classes, but in another order.

    Raises
    ------
    InputError
        With both orders.
    """
    names = column_names(table)
    order = None if names is None else classes.order_of(names)
    if names is not None and order is not None and (np.diff(order) < 0).any():
        raise InputError(
            f"{name}: the columns are named {few(names)}, but {few(classes.names)} was expected; bring both into one "
            "order."
        )


def matrix_by_name(matrix: ArrayLike, classes: ClassIndex, name: str) -> ArrayLike:
    """Return a matrix with its rows and columns in the order of the classes, where it names them.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        A frame, a `ConfusionMatrix`, or numbers alone, which are returned as they are.
    classes : ClassIndex
        The k classes.
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
    rows, columns = (None if given is None else classes.order_of(given) for given in names)
    if rows is not None and columns is not None:
        return np.asarray(matrix)[np.ix_(rows, columns)]
    known = rows if columns is None else columns
    if known is not None and (np.diff(known) < 0).any():
        raise InputError(
            f"{name}: rows and columns must both be named after the classes, or be in their order, "
            f"{few(classes.names)}."
        )
    return matrix


def weights_by_label(weights: object) -> Any:
    """Return a series of pandas whose index holds labels as a mapping, and anything else as it is."""
    if isinstance(weights, Mapping) or not hasattr(weights, "to_dict"):
        return weights
    labels = _given(getattr(weights, "index", None))
    return weights if labels is None or len(set(labels)) < len(labels) else dict(zip(labels, weights, strict=True))  # type: ignore[call-overload]


def _given(names: object) -> list[Any] | None:
    """Return names that somebody has given, or None."""
    if names is None or callable(names):  # `index` of a list is a method
        return None
    given = [*names]  # type: ignore[misc]
    return None if given == [*range(len(given))] else given
