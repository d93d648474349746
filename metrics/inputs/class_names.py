"""Class names as text: how labels of any type meet the classes of an elicited metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError


def class_name(label: object) -> str:
    """Return a label as the text that is compared and written to files.

    Parameters
    ----------
    label : object
        A string, bytes, a boolean, a number or anything with a text form.

    Returns
    -------
    str
        A float without a fractional part reads as an integer: 2.0 is "2". Everything else is ``str(label)``.
    """
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, NaT or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas.NA answers neither yes nor no
        return True


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


def class_names(labels: Iterable[object]) -> tuple[str, ...]:
    """Return the names of the classes, in order.

    Parameters
    ----------
    labels : iterable of object
        One label per class, at least two.

    Returns
    -------
    tuple of str
        The labels as text.

    Raises
    ------
    TypeError
        Where one string was given instead of a sequence of labels.
    InputError
        Where there are fewer than two, or two read alike, or one is empty or missing.
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise TypeError(f"classes: a sequence of labels was expected, found {labels!r}.")
    given = list(labels)
    if len(given) < 2:
        raise InputError(f"classes: at least two classes were expected, {len(given)} given.")
    names = tuple(class_name(label) for label in given)
    for i, name in enumerate(names):
        if is_missing(given[i]) or not name.strip():
            raise InputError(f"classes: class {i} has no name; every class needs one.")
        if name in names[:i]:
            raise InputError(f"classes: {name!r} stands for two classes; names are compared as text and must differ.")
    return names


def boolean_class(label: bool, classes: Sequence[str]) -> int:
    """Return the index of the class that a boolean stands for: "True", else "true", "TRUE" and the like, else "1".

    Parameters
    ----------
    label : bool
        For False: "False", else "false", "FALSE" and the like, else "0".
    classes : sequence of str
        Names of the classes.

    Returns
    -------
    int
        -1 where no class reads so, or several do equally well.
    """
    number = str(int(label))
    spelt = [name for name in classes if name.lower() == str(label).lower()]
    for names in ([str(label)], spelt, [number]):
        if len(names) == 1 and names[0] in classes:
            return list(classes).index(names[0])
    return -1


class LabelledWeights(dict[Any, float]):
    """Label -> weight, where a label is found as text: 1, 1.0 and "1" are the same class.

    So the class weights of a metric that was read from a file, whose classes are text, fit estimators and data with
    labels of any type. Booleans are found as `boolean_class` says; so are 0 and 1 where "True" and "False" are the two
    classes, for scikit-learn asks for the weights of booleans by these.
    """

    def __missing__(self, label: object) -> float:
        names = [class_name(own) for own in self]
        name, found = class_name(label), -1
        if name in names:
            found = names.index(name)
        elif isinstance(label, bool | np.bool_):
            found = boolean_class(bool(label), names)
        elif name in ("0", "1") and sorted(each.lower() for each in names) == ["false", "true"]:
            found = boolean_class(name == "1", names)
        if found < 0:
            raise KeyError(label)
        return [*self.values()][found]

    def __contains__(self, label: object) -> bool:
        return self.get(label) is not None

    def get(self, label: Any, default: Any = None) -> Any:
        """Return the weight of a label, or `default` where there is none."""
        try:
            return self[label]
        except KeyError:
            return default


def class_indices(values: ArrayLike, classes: Sequence[str], name: str) -> NDArray[np.intp]:
    """Return the index of each label's class, labels and classes compared as text.

    Parameters
    ----------
    values : array-like of shape (n,)
        Labels of any type; a pandas or polars series will do. For booleans see `boolean_class`.
    classes : sequence of str
        Names of the classes.
    name : str
        What the labels are called in an error: "y_true".

    Returns
    -------
    ndarray of shape (n,)
        Indices into `classes`.

    Raises
    ------
    InputError
        Where the labels are not one-dimensional, or one is no class.
    """
    labels = as_array(values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"{name}: one label per case was expected, the shape is {labels.shape}.")
    indices = _matched_by_value(labels, classes) if labels.dtype.kind in "biufU" else _matched_by_text(labels, classes)
    if (indices < 0).any():
        row = int(np.argmax(indices < 0))
        if is_missing(labels[row]):
            raise InputError(f"{name}, row {row}: a label was expected, it is missing.")
        known = ", ".join(classes[:12]) + (", ..." if len(classes) > 12 else "")
        raise InputError(
            f"{name}: row {row} holds {class_name(labels[row])!r}, which is no class of the metric (classes: {known})."
        )
    return indices


def indices_of(labels: Iterable[object], classes: Sequence[str], name: str) -> NDArray[np.intp]:
    """Return the index of the class that each of a few labels stands for; see `class_indices`.

    Parameters
    ----------
    labels : iterable of object
        Labels as they are, whatever numpy would make of them together.
    classes, name
        As in `class_indices`.

    Returns
    -------
    ndarray of shape (n,)
        Indices into `classes`.

    Raises
    ------
    InputError
        Where a label is no class.
    """
    given = list(labels)
    held = np.empty(len(given), dtype=object)
    held[:] = given
    return class_indices(held, classes, name)


def _matched_by_value(labels: NDArray[Any], classes: Sequence[str]) -> NDArray[np.intp]:
    """Compare whole arrays: one pass per class, no text made of numbers."""
    if labels.dtype.kind == "b":
        return np.where(labels, boolean_class(True, classes), boolean_class(False, classes))
    indices = np.full(labels.shape, -1, dtype=np.intp)
    for j, name in enumerate(classes):
        value = _as_value(name, labels.dtype.kind)
        if value is not None:
            indices[labels == value] = j
    return indices


def _as_value(name: str, kind: str) -> object:
    """Return the one value of a kind of array that reads as `name`, or None where there is none."""
    if kind == "U":
        return name
    try:
        value = float(name) if kind == "f" else int(name)
    except ValueError:
        return None
    return value if class_name(value) == name else None


def _matched_by_text(labels: NDArray[Any], classes: Sequence[str]) -> NDArray[np.intp]:
    """Look up each label's text."""
    position = {name: j for j, name in enumerate(classes)}
    booleans = [boolean_class(value, classes) for value in (False, True)]

    def found(label: object) -> int:
        if isinstance(label, bool | np.bool_):
            return booleans[bool(label)]
        return -1 if is_missing(label) else position.get(class_name(label), -1)

    return np.fromiter(map(found, labels.tolist()), dtype=np.intp, count=len(labels))
