"""Which class of a metric each column of probabilities stands for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.arguments import column_names, require_order
from metrics.inputs.class_index import ClassIndex, class_names
from metrics.inputs.labels import Probabilities, probability_array

Columns = NDArray[np.intp]


def labelled_table(
    classes: ClassIndex, y_proba: ArrayLike, labels: Sequence[object] | None, name: str = "y_proba"
) -> tuple[Probabilities, Columns]:
    """Return the probabilities and the class of each column.

    Parameters
    ----------
    classes : ClassIndex
        The k classes of a metric.
    y_proba : array-like of shape (n, m)
        Probabilities. That of one of two classes alone is refused: scikit-learn means the class that sorts last.
    labels : sequence of m labels or None
        What the columns stand for; None for what the columns of a frame are named after, else all classes in order.
    name : str
        The argument's name for an error.

    Returns
    -------
    tuple of ndarray of shape (n, m) and ndarray of shape (m,)
        The probabilities, and indices of classes.

    Raises
    ------
    InputError
        Where a label is no class, or the probabilities are none.
    """
    if labels is None:
        named = column_names(y_proba)
        order = None if named is None else classes.order_of(named)
        columns = np.arange(len(classes)) if order is None else np.argsort(order)
    else:
        columns = _columns(classes, labels)
        require_order(y_proba, ClassIndex([classes.names[j] for j in columns]), name)
    proba = probability_array(y_proba, name, flat="refused")
    if proba.shape[1] != len(columns):
        raise InputError(f"{name}: {len(columns)} columns were expected, one per class, found {proba.shape[1]}.")
    return proba, columns


def aligned(
    classes: ClassIndex, y_true: ArrayLike, y_proba: ArrayLike, labels: Sequence[object] | None
) -> tuple[Columns, Probabilities, Columns]:
    """Return the column of each true label, the probabilities, and the class of each column, all k of them.

    The probabilities are copied only where `labels` leaves classes out; these become columns of zeros at the end.

    Parameters
    ----------
    classes, y_proba, labels
        As in `labelled_table`, and refused as there.
    y_true : array-like of shape (n,)
        Labels of any type, compared with the classes as text.
    """
    proba, columns = labelled_table(classes, y_proba, labels)
    missing = np.setdiff1d(np.arange(len(classes)), columns)
    if len(missing):
        columns = np.concatenate([columns, missing])
        proba = np.hstack([proba, np.zeros((len(proba), len(missing)), dtype=proba.dtype)])
    return np.argsort(columns)[classes.indices(y_true, "y_true")], proba, columns


def _columns(classes: ClassIndex, labels: Sequence[object]) -> Columns:
    """Return the class of each label that names a column; all different."""
    class_names(labels)
    columns = classes.indices_of(labels, "labels")
    class_names([classes.names[j] for j in columns])
    return columns
