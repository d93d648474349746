"""Validation of the weights, matrices, tables and numbers that measures take.

A matrix with named rows and columns (a pandas or polars frame, a confusion matrix) is read by name, where "true_ill" is
one of the class "ill". Columns of probabilities named after labels belong to those labels: `labels` must list them in
the same order, and may be omitted only if that order is the sorted one. The default column names 0, 1, 2, ... of pandas
do not count as names.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import ArgumentTypeError, InputError, RowError, refuse_rows
from metrics.inputs.class_index import ClassIndex, class_names
from metrics.inputs.labels import Probabilities, few, probability_array, unmasked

# Prefix of the columns of classes in predictions files.
_PREFIX = "proba_"


def column_names(table: object) -> list[Any] | None:
    """Return the column names of a frame, without the prefix "proba_" of predictions files; None without names."""
    names = _given(getattr(table, "columns", None))
    if names is not None and all(isinstance(name, str) and name.startswith(_PREFIX) for name in names):
        return [name.removeprefix(_PREFIX) for name in names]
    return names


def named_classes(table: object) -> ClassIndex | None:
    """Return the classes after which a frame's columns are named; None if the names cannot be labels."""
    names = column_names(table)
    try:
        return None if names is None else ClassIndex(names)
    except ValueError:
        return None


def require_order(table: object, classes: ClassIndex, name: str) -> None:
    """Check that a frame whose columns are named after some or all classes has them in the order of the classes.

    Names with a class each in them, such as "P(ill)", must be in that order too. Raises InputError if the orders
    differ; the message gives both.
    """
    names = column_names(table) or []
    order = _order_of(names, classes)
    some = any(isinstance(one, str) and classes.place(one) not in (-1, place) for place, one in enumerate(names))
    if some or (order is not None and (np.diff(order) < 0).any()):
        raise InputError(
            f"{name}: the columns are named {few(names)}, but {few(classes.names)} was expected; bring both into one "
            "order."
        )


def _order_of(names: Sequence[object], classes: ClassIndex) -> NDArray[np.intp] | None:
    """Return the place of each class among names, shape (k,), that are those of the classes or have one each in them.

    None if they are others.
    """
    order = classes.order_of(names)
    if order is not None or len(names) != len(classes):
        return order
    words = [*map(_words, classes.names)]
    meant = [_class_in(_words(name), words) for name in names]
    return np.argsort(meant) if sorted(meant) == [*range(len(classes))] else None


def _class_in(name: str, classes: Sequence[str]) -> int:
    """Return the class whose `_words` are among those of a name; of several the longest, and -1 without one."""
    found = [(len(own), at) for at, own in enumerate(classes) if own in name and own.strip()]
    return max(found, default=(0, -1))[1]


def _words(name: object) -> str:
    """Return the words in a name, each between two spaces."""
    return " ".join(["", *re.findall(r"[^\W_]+", str(name)), ""])


def _matrix_names(matrix: object) -> tuple[list[Any] | None, list[Any] | None]:
    """Return the names of a matrix's rows and columns, those of a `ConfusionMatrix` being its labels; None without."""
    own = getattr(matrix, "labels", None)
    if own is not None:
        return [*own], [*own]
    return _given(getattr(matrix, "index", None)), _given(getattr(matrix, "columns", None))


def index_of_names(matrix: object, known: Sequence[ClassIndex], name: str) -> ClassIndex:
    """Return the first of some indices whose classes name the rows and columns of a matrix; the first without names.

    Raises InputError if rows and columns are named alike, but after none of them: by position they might be other
    classes.
    """
    rows, columns = _matrix_names(matrix)
    named = [classes for classes in known if columns is not None and _order_of(columns, classes) is not None]
    if rows is not None and rows == columns and not named:
        raise InputError(f"{name}: rows and columns are named {few(rows)}, the classes are {few(known[0].names)}.")
    return (*named, *known)[0]


def matrix_by_name(matrix: ArrayLike, classes: ClassIndex, name: str) -> ArrayLike:
    """Return a matrix, shape (k, k), with rows and columns in the order of the classes; names, if any, decide.

    A matrix without names, or with others, is returned unchanged. Raises InputError if only the rows or only the
    columns are named, and in another order.
    """
    rows, columns = (None if given is None else _order_of(given, classes) for given in _matrix_names(matrix))
    if rows is not None and columns is not None:
        return square_matrix(matrix, name)[np.ix_(rows, columns)]
    known = rows if columns is None else columns
    if known is not None and (np.diff(known) < 0).any():
        raise InputError(
            f"{name}: rows and columns must both be named after the classes, or be in their order, "
            f"{few(classes.names)}."
        )
    return matrix


def weights_by_label(weights: object) -> Any:
    """Return a pandas series indexed by labels as a mapping, and anything else unchanged."""
    if isinstance(weights, Mapping) or not hasattr(weights, "to_dict"):
        return weights
    labels = _given(getattr(weights, "index", None))
    return weights if labels is None or len(set(labels)) < len(labels) else dict(zip(labels, weights, strict=True))  # type: ignore[call-overload]


def _given(names: object) -> list[Any] | None:
    """Return names if somebody chose them; None for missing or default ones."""
    if names is None or callable(names):  # `index` of a list is a method
        return None
    given = [*names]  # type: ignore[misc]
    return None if given == [*range(len(given))] else given


Floats = NDArray[np.float64]

# Products and sums of numbers up to this size stay far below the largest float.
LARGEST = 1e100


def same_length(n: int, other: int, name: str, reference: str = "y_true") -> None:
    """Check that an argument is as long as another. Raises InputError if it is not; the message gives both lengths."""
    if n != other:
        was = "1 case was" if n == 1 else f"{n} cases were"
        raise InputError(f"{name}: {was} expected, as many as in {reference}, found {other}.")


def number_array(values: ArrayLike, name: str, *, finite: bool = True) -> Floats:
    """Return an array of float64 numbers of any shape, not copied if it is one already.

    Raises InputError if an entry is not a number, or, if it must be `finite`, is missing or beyond `LARGEST`; the
    message gives its position.
    """
    try:
        given = np.asarray(unmasked(values))
        if given.dtype.kind in "cmM":  # NumPy would drop imaginary parts, and count days and seconds
            raise TypeError
        array = given.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise InputError(f"{name}: numbers were expected, all rows of the same length.") from None
    # NaN fails every comparison.
    if finite and array.size and not (array.min() >= -LARGEST and array.max() <= LARGEST):
        place = tuple(int(i) for i in np.argwhere(~(np.abs(array) <= LARGEST))[0])
        size = f" of at most {LARGEST:g}" if np.isfinite(array[place]) else ""
        fault = f"a finite number{size} was expected, found {array[place]:g}."
        if len(place) == 1:
            raise RowError(name, *place, fault)
        raise InputError(f"{name}{f', entry {list(place)}' if place else ''}: {fault}")
    return array


def case_weights(values: ArrayLike | None, n: int) -> Floats | None:
    """Return one weight >= 0 per case, shape (n,), or None; a weight of 2 counts as two equal cases.

    Raises InputError if the length differs or a weight is negative, missing or infinite.
    """
    if values is None:
        return None
    weights = number_array(values, "sample_weight")
    if weights.ndim != 1:
        raise InputError(f"sample_weight: one weight per case was expected, the shape is {weights.shape}.")
    same_length(n, len(weights), "sample_weight")
    refuse_rows(weights < 0, "sample_weight", lambda row: f"a weight cannot be negative, found {weights[row]:g}.")
    return weights


def required_weight(total: float) -> float:
    """Check that the total weight, by which a mean divides, is positive, and return it.

    Raises InputError if it is not positive.
    """
    if total <= 0:
        raise InputError(
            "There is no case with a weight above zero (sample_weight, class_weight), so there is no mean."
        )
    return total


def by_class(values: ArrayLike | Mapping[Any, float], classes: ClassIndex, name: str) -> ArrayLike:
    """Return numbers given by label in the order of the classes, and other numbers unchanged.

    Raises InputError if a class has no number.
    """
    values = weights_by_label(values)
    if not isinstance(values, Mapping):
        return values
    by_place = {classes.place(label): value for label, value in values.items()}
    found = [by_place.get(index) for index in range(len(classes))]
    if None in found:
        raise InputError(f"{name}: no {_noun(name)} for the class {classes.names[found.index(None)]!r}.")
    return np.array(found)


def _noun(name: str) -> str:
    """Return the noun, in error messages, for one number of a per-class argument."""
    return {"prevalence": "share", "cost": "cost"}.get(name, "weight")


def class_weights(values: ArrayLike | Mapping[Any, float], classes: ClassIndex, name: str = "class_weight") -> Floats:
    """Return weights >= 0 in any scale, shape (k,) or by label, in the order of the classes.

    Raises InputError if a class has no weight, a weight is negative, missing or infinite, or all are zero.
    """
    weights = number_array(by_class(values, classes, name), name)
    if weights.shape != (len(classes),):
        raise InputError(
            f"{name}: {len(classes)} {_noun(name)}s were expected, one per class; the shape is {weights.shape}."
        )
    if weights.min() < 0 or not weights.any():
        raise InputError(f"{name}: {_noun(name)}s >= 0 were expected, not all of them zero.")
    return weights


def stated_shares(
    prevalence: ArrayLike | Mapping[Any, float], classes: ClassIndex, cases: NDArray[np.integer[Any]]
) -> Floats:
    """Return a stated prevalence, shape (k,) or by label and in any scale, as shares that sum to 1.

    Raises InputError as `class_weights`, and if a label is not a class, or a class with a share > 0 has none of the
    `cases`, which count them by true class.
    """
    prevalence = weights_by_label(prevalence)
    if isinstance(prevalence, Mapping):
        classes.indices_of(prevalence, "prevalence")
    shares = class_weights(prevalence, classes, "prevalence")
    empty = (shares > 0) & (cases == 0)
    if empty.any():
        name = classes.names[int(empty.argmax())]
        raise InputError(f"prevalence: there is no case of {name!r}, so nothing is known of it; its share must be 0.")
    return np.asarray(shares / shares.sum())


def square_matrix(values: ArrayLike, name: str = "cost_matrix", smallest: int = 2) -> Floats:
    """Return a k x k matrix of finite numbers.

    Raises InputError if it is not square, has fewer than `smallest` rows, or has an entry that is not a finite number.
    """
    matrix = number_array(values, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < smallest:
        raise InputError(
            f"{name}: a square matrix was expected, a row per true class and a column per predicted class, at least "
            f"{smallest} x {smallest}; the shape is {matrix.shape}."
        )
    return matrix


def real_number(value: object, name: str, lowest: float, highest: float = math.inf, *, ends: bool = True) -> float:
    """Return a numeric argument within limits, which are included if `ends`; numbers beyond `LARGEST` never are.

    Raises TypeError if it is not a number. Raises InputError if it is NaN or outside the limits.
    """
    bounded = f"a number in {'[' if ends else '('}{lowest:g}, {highest:g}{']' if ends else ')'}"
    expected = bounded if math.isfinite(highest) else f"a number {'>=' if ends else '>'} {lowest:g}"
    try:
        if isinstance(value, str | bytes | complex):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name}: {expected} was expected, found {value!r}.") from None
    if not (lowest <= number <= highest if ends else lowest < number < highest) or abs(number) > LARGEST:
        size = f", at most {LARGEST:g}," if LARGEST < abs(number) < math.inf else ""
        raise InputError(f"{name}: {expected}{size} was expected, found {value!r}.")
    return number


def whole_number(value: object, name: str, lowest: int, highest: int | None = None) -> int:
    """Return an integer argument after checking it.

    Raises TypeError if it is not an integer. Raises InputError if it lies outside lowest..highest.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(f"{name}: a whole number was expected, found {value!r}.") from None
    if number < lowest or (highest is not None and number > highest):
        limits = f"at least {lowest}" if highest is None else f"{lowest} to {highest}"
        raise InputError(f"{name}: {limits} was expected, found {number}.")
    return number


def matrix_of(values: ArrayLike, classes: ClassIndex | int, name: str = "cost_matrix") -> Floats:
    """Return a k x k matrix in the order of the classes; `classes` is a `ClassIndex` or k. See `matrix_by_name`.

    Raises InputError if it is not k x k, has an entry that is not a finite number, or is named after other classes.
    """
    if isinstance(classes, ClassIndex):
        if classes.names != tuple(map(str, range(len(classes)))):  # positions may have any names
            index_of_names(values, [classes], name)
        values = matrix_by_name(values, classes, name)
    matrix, k = square_matrix(values, name), classes if isinstance(classes, int) else len(classes)
    if len(matrix) != k:
        raise InputError(
            f"{name}: {k} x {k} numbers were expected, one row and one column per class; the shape is {matrix.shape}."
        )
    return matrix


Columns = NDArray[np.intp]


def labelled_table(
    classes: ClassIndex, y_proba: ArrayLike, labels: Sequence[object] | None, name: str = "y_proba"
) -> tuple[Probabilities, Columns]:
    """Return probabilities, shape (n, m), and the class of each column, shape (m,).

    `labels` are those of the columns; None stands for the column names of a frame, otherwise for all classes in order.
    A single column for one of two classes is rejected, because scikit-learn means the class that sorts last. Raises
    InputError if a label is not a class, or the probabilities are invalid.
    """
    if labels is None:
        named = column_names(y_proba)
        order = None if named is None else classes.order_of(named)
        if order is None:
            require_order(y_proba, classes, name)
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
    """Return the column of each true label, the probabilities with all k columns, and the class of each column.

    The probabilities are copied only if `labels` omits classes, which become columns of zeros at the end. Otherwise as
    `labelled_table`.
    """
    proba, columns = labelled_table(classes, y_proba, labels)
    missing = np.setdiff1d(np.arange(len(classes)), columns)
    if len(missing):
        columns = np.concatenate([columns, missing])
        proba = np.hstack([proba, np.zeros((len(proba), len(missing)), dtype=proba.dtype)])
    return np.argsort(columns)[classes.indices(y_true, "y_true")], proba, columns


def _columns(classes: ClassIndex, labels: Sequence[object]) -> Columns:
    """Return the class of each label of a column, after checking that all differ."""
    class_names(labels, "labels")
    columns = classes.indices_of(labels, "labels")
    class_names([classes.names[j] for j in columns], "labels")
    return columns
