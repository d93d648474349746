"""The class that a label means. Functions, elicited metrics and predictions files share one rule:

* Labels are compared as text, without surrounding blanks. Whole floats read as integers: 1, 1.0, "1" and "1.0" are
  equal.
* A letter with a mark is the same letter as one character and as two (Unicode's canonical equivalence); some systems
  write "ü" in one way, some in the other. An exact match takes precedence.
* True (also TRUE, true) and False mean the class of that name in any capitalisation; if there is none, they mean the
  classes 1 and 0. If the two classes are True and False, then 1 and 0 mean them. An exact match takes precedence.
* Integers in 0..k-1 are positions of classes only if the classes have no names: in Python without ``labels``, and in
  NPZ files without ``classes`` or whose labels are none of them.

With k columns and no ``labels``, integers in 0..k-1 are positions. Otherwise, if ``y_true`` has k different values,
these name the columns in sorted order. Otherwise an error asks for ``labels``. Columns of a frame that are named after
labels mean those labels; see `metrics.inputs.arguments`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import ArgumentTypeError, InputError, RowError
from metrics.inputs.labels import (
    LARGEST_INTEGER,
    distinct,
    few,
    is_missing,
    is_text,
    label_array,
    label_text,
    missing_label,
    unmasked,
)

# Integer labels that span fewer values than this are counted directly, without sorting.
_NARROW = 64
_BOOLEANS = {"false": "0", "true": "1"}


class ClassIndex:
    """The k classes of the rows and columns of matrices, and the mapping from labels to classes.

    The labels are all different as text; a number k stands for the labels 0, ..., k-1. `labels` are the caller's own
    objects, shape (k,), `names` the same as text. Raises InputError if there are no labels, one is missing, or one
    occurs twice. Raises TypeError if it is not a sequence.

    >>> classes = ClassIndex(["0", "1", "other"])
    >>> classes.indices([1.0, 0.0, 1.0], "y_true").tolist()
    [1, 0, 1]
    >>> classes.indices(["other", "1.0", True], "y_true").tolist()
    [2, 1, 1]
    """

    def __init__(self, labels: ArrayLike | int, name: str = "labels") -> None:
        self.labels = np.arange(int(labels)) if isinstance(labels, int | np.integer) else _as_given(labels, name)
        if self.labels.ndim != 1:
            raise ArgumentTypeError(f"{name}: a sequence of labels was expected, found {labels!r}.")
        if self.labels.size == 0:
            raise InputError(f"{name}: at least one label was expected, found none.")
        for position, label in enumerate(self.labels.tolist()):
            if is_missing(label):
                raise missing_label(name, position)
        self.names = tuple(map(label_text, self.labels.tolist()))
        self._places = {text: index for index, text in enumerate(self.names)}
        if len(self._places) < len(self.names):
            twice = next(text for index, text in enumerate(self.names) if self._places[text] != index)
            raise InputError(f"{name}: {twice!r} stands for two classes; labels are compared as text and must differ.")
        self._first = _first_of_consecutive(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassIndex) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def place(self, label: object) -> int:
        """Return the position of the class that a label means, or -1 if it means none."""
        if is_missing(label):
            return -1
        text = label_text(label)
        if text in self._places:
            return self._places[text]
        return self._boolean_place(text) if text.isascii() else self._equivalent_place(text)

    def _equivalent_place(self, text: str) -> int:
        """Return the class whose name is canonically equivalent to a text; -1 if none is, or several are."""
        composed = unicodedata.normalize("NFC", text)
        same = [at for at, name in enumerate(self.names) if unicodedata.normalize("NFC", name) == composed]
        return same[0] if len(same) == 1 else -1

    def _boolean_place(self, text: str) -> int:
        """Return the class that a text means as a boolean; -1 if it is not a boolean or matches several classes."""
        spelt = [index for index, name in enumerate(self.names) if name.lower() == text.lower()]
        if text.lower() in _BOOLEANS:
            return spelt[0] if len(spelt) == 1 else -1 if spelt else self._places.get(_BOOLEANS[text.lower()], -1)
        lower = [name.lower() for name in self.names]
        if text in _BOOLEANS.values() and sorted(lower) == [*_BOOLEANS]:
            return lower.index([*_BOOLEANS][int(text)])
        return -1

    def indices(self, values: ArrayLike, name: str) -> NDArray[np.intp]:
        """Return the class, in 0..k-1, of each of n labels of any type, also in a series or a column (n, 1).

        Raises InputError if a label is missing or means none of the classes; the message gives its row and calls them
        `name`.
        """
        return self.places(label_array(values, name), name)

    def indices_of(self, labels: Iterable[object], name: str) -> NDArray[np.intp]:
        """Return the class of each of a few labels, which keep their own types; otherwise as `indices`."""
        given = list(labels)
        held = np.empty(len(given), dtype=object)
        held[:] = given
        return self.indices(held, name)

    def places(self, values: NDArray[Any], name: str, first: int = 0) -> NDArray[np.intp]:
        """Return the class of each label, as `indices`, for rows of an array from `label_array`, from `first` on.

        The result is `values` itself if its labels are the indices.
        """
        return self.require_known(self.search(values), values, name, first)

    def require_known(
        self, found: NDArray[np.intp], values: NDArray[Any], name: str, first: int = 0
    ) -> NDArray[np.intp]:
        """Return the classes found for labels, after checking that none is -1; otherwise as `places`."""
        if len(found) and int(found.min()) < 0:
            row = int(np.argmax(found < 0))
            raise RowError(name, first + row, f"{values[row]!s} is not one of the classes ({few(self.names)}).")
        return found

    def search(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the class of each label, as `places`, with -1 for labels that mean none of the classes."""
        if len(values) == 0:
            return np.empty(0, dtype=np.intp)
        if values.dtype.kind in "iu" and self._first is not None:
            found = values.astype(np.intp, copy=False)
            found = found if self._first == 0 else found - self._first
            return found if _highest(found) < len(self) else np.where((found >= 0) & (found < len(self)), found, -1)
        if values.dtype.kind in "biuf":
            different, inverse = np.unique(values, return_inverse=True)
            return np.array([self.place(label) for label in different.tolist()], dtype=np.intp)[inverse]
        texts = values.tolist()
        found = np.fromiter(map(self._places.get, texts, repeat(-1)), dtype=np.intp, count=len(texts))
        rows = np.flatnonzero(found < 0)
        meant = {text: self.place(text) for text in {texts[row] for row in rows}}
        found[rows] = [meant[texts[row]] for row in rows]
        return found

    def contains_all(self, values: NDArray[Any]) -> bool:
        """Return whether every label of an array from `label_array` means one of the classes."""
        return bool((self.search(distinct(values)) >= 0).all())

    def order_of(self, names: Sequence[object]) -> NDArray[np.intp] | None:
        """Return the position of each class among the names, shape (k,); None if these are not the k classes."""
        if len(names) != len(self):
            return None
        places = np.array([self.place(name) for name in names])
        return np.argsort(places) if np.array_equal(np.sort(places), np.arange(len(self))) else None

    def sorted_names(self) -> tuple[str, ...]:
        """Return the names in the sorted order of the labels."""
        return tuple(map(label_text, distinct(label_array(self.labels, "labels")).tolist()))


def joint_names(first: Iterable[object], second: Iterable[object]) -> dict[str, str]:
    """Return the class that each label of two columns means, as text; neither column states the classes.

    The column with more different labels names the classes; what means none of them in the other is one more class.

    >>> joint_names(["true", "false"], ["1", "0", "other"])
    {'1': '1', '0': '0', 'other': 'other', 'true': '1', 'false': '0'}
    """
    more, fewer = sorted(([*dict.fromkeys(map(label_text, own))] for own in (first, second)), key=len, reverse=True)
    if not more:
        return {}
    index = ClassIndex(more)
    meant = {text: index.place(text) for text in fewer}
    return {text: text for text in more} | {text: more[at] if at >= 0 else text for text, at in meant.items()}


class LabelledWeights(dict[Any, float]):
    """A mapping from label to weight that looks labels up by the rule of this module.

    The classes of a metric read from a file are text; with this mapping its class weights still fit estimators and data
    with labels of any type.

    Examples
    --------
    >>> weights = LabelledWeights({"1": 2.0, "0": 1.0})
    >>> weights[1], weights[0.0], weights[True]
    (2.0, 1.0, 2.0)
    """

    def __missing__(self, label: object) -> float:
        index = ClassIndex([*self]).place(label)
        if index < 0:
            raise KeyError(label)
        return [*self.values()][index]

    def __contains__(self, label: object) -> bool:
        return self.get(label) is not None

    def get(self, label: Any, default: Any = None) -> Any:
        """Return the weight of a label, or `default` if there is none."""
        try:
            return self[label]
        except KeyError:
            return default


def class_names(labels: Iterable[object], name: str = "classes") -> tuple[str, ...]:
    """Return the names of the classes of a metric, one label per class, as text.

    Raises TypeError if a string was passed in place of a sequence of labels, or a set, which has no order. Raises
    InputError if there are fewer than two labels, two are equal as text, or one is empty or missing.
    """
    if isinstance(labels, str | bytes | set | frozenset | Iterator) or not isinstance(labels, Iterable):
        raise ArgumentTypeError(f"{name}: a sequence of labels was expected, found {labels!r}.")
    given = list(labels)
    if len(given) < 2:
        raise InputError(f"{name}: at least two classes were expected, {len(given)} given.")
    for i, label in enumerate(given):
        if is_missing(label) or not label_text(label):
            raise InputError(f"{name}: class {i} has no name; every class needs one.")
    return ClassIndex(given, name).names  # type: ignore[arg-type]  # labels of any type


def passed_labels(labels: ArrayLike | ClassIndex) -> ClassIndex:
    """Return the `labels` argument of a caller as an index.

    Raises TypeError if it is a single label in place of a sequence. Raises InputError if it is empty, or a label occurs
    twice.
    """
    if isinstance(labels, ClassIndex):
        return labels
    if isinstance(labels, int | np.integer):
        raise ArgumentTypeError(f"labels: a sequence of labels was expected, found {labels!r}.")
    return ClassIndex(labels)


def column_classes(
    n_columns: int,
    labels: ArrayLike | ClassIndex | None,
    y_true: NDArray[Any],
    what: str = "y_proba",
    unit: str = "columns",
    named: ClassIndex | None = None,
) -> ClassIndex:
    """Return the label of each of k columns, by the rule of this module.

    `labels` are those that the caller passed, if any; `named` the classes after which the columns are named. Error
    messages call the argument `what` and its columns `unit`. Raises InputError if the number of labels is wrong, or
    nothing says what the columns mean.
    """
    if labels is not None:
        classes = passed_labels(labels)
        if len(classes) != n_columns:
            raise InputError(f"labels: {what} has {n_columns} {unit}, found {len(classes)} labels; one each is needed.")
        return classes
    if named is not None and len(named) == n_columns and named.contains_all(y_true):
        return named
    if y_true.dtype.kind == "b" or (
        y_true.dtype.kind in "iu" and int(y_true.min()) >= 0 and int(y_true.max()) < n_columns
    ):
        return ClassIndex(n_columns)
    found = distinct(y_true)
    if len(found) == n_columns:
        return ClassIndex(found)
    raise InputError(
        f"labels: y_true holds {len(found)} different labels ({few(found)}) and {what} has {n_columns} {unit}; "
        f"pass labels with the {n_columns} labels in the order of the {unit}."
    )


def shared_classes(
    y_true: NDArray[Any], y_pred: NDArray[Any], labels: ArrayLike | ClassIndex | None = None
) -> ClassIndex:
    """Return the sorted labels that occur in either of two arrays from `label_array`, or the labels that were passed.

    For integers of a narrow range it also holds values that do not occur; `ConfusionCounts.occurring` drops them.
    Booleans count as 0 and 1.
    """
    if labels is not None:
        return passed_labels(labels)
    y_true, y_pred = (side.astype(np.intp) if side.dtype.kind == "b" else side for side in (y_true, y_pred))
    if y_true.dtype.kind in "iu" and y_pred.dtype.kind in "iu":
        highest = max(_highest(y_true), _highest(y_pred))
        if highest < _NARROW:
            return ClassIndex(highest + 1)
        lowest = min(int(y_true.min()), int(y_pred.min()))
        highest = max(int(y_true.max()), int(y_pred.max()))
        if highest - lowest < _NARROW:
            return ClassIndex(np.arange(lowest, highest + 1))
    both = (distinct(y_true), distinct(y_pred))
    if is_text(y_true) or is_text(y_pred):
        return ClassIndex(np.array(sorted({label_text(x) for part in both for x in part.tolist()}), dtype=object))
    return ClassIndex(distinct(np.concatenate(both)))


def _highest(values: NDArray[Any]) -> int:
    """Return the highest integer, reading negative ones as huge, so that one pass covers both limits."""
    return int(values.view(values.dtype.str.replace("i", "u")).max())


def _first_of_consecutive(names: Sequence[str]) -> int | None:
    """Return the first number if the names are consecutive whole numbers in order, otherwise None."""
    try:
        first = int(names[0])
    except ValueError:
        return None
    consecutive = all(name == str(first + index) for index, name in enumerate(names))
    return first if consecutive and abs(first) < LARGEST_INTEGER else None


def _as_given(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Return the labels as an array of the caller's own objects; a list of mixed types keeps its types."""
    if isinstance(labels, str):
        raise ArgumentTypeError(f"{name}: a sequence of labels was expected, not the single text {labels!r}.")
    array = np.asarray(unmasked(labels))
    if not isinstance(labels, Sequence) or array.ndim != 1:
        return array
    # NumPy would convert mixed types to one, and its text arrays drop trailing null characters.
    if array.dtype.kind == "U" or len({type(label) for label in labels}) > 1:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
    return array
