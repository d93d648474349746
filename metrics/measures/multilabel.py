"""Multi-label score with separate penalties for false positives and false negatives [ML].

Source: a blog post on a multi-label score with separate penalties: an item scores (#correct - fp FP - fn FN) / L.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import Accumulator, Measured
from metrics.errors import InputError
from metrics.inputs.arguments import (
    Floats,
    column_names,
    named_classes,
    number_array,
    real_number,
    require_order,
    required_weight,
    whole_number,
)
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bits = NDArray[np.bool_]


class MultilabelCounts(NamedTuple):
    """Counts of label decisions over all items and labels."""

    true_positive: int
    true_negative: int
    false_positive: int
    false_negative: int


class PenalizedMultilabelScore(Measured):
    """The mean item score, a float, at most 1; greater is better.

    Attributes
    ----------
    counts : MultilabelCounts
        Over all items and labels.
    per_item : ndarray of shape (n,)
        Score of each item.
    per_label : ndarray of shape (L,)
        Accuracy of each label.
    per_label_score : ndarray of shape (L,)
        Score of each label under the penalties: (#correct - fp FP - fn FN) / n. The score is their mean.
    labels : tuple of str
        Names of the labels: as passed, or the column names of a frame, or "label 0", "label 1", ...
    """

    counts: MultilabelCounts
    per_item: Floats
    per_label: Floats
    per_label_score: Floats
    labels: tuple[str, ...]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the accuracy of each label as a bar, with its score if the penalties change any score.

        Draws on `ax` or on a new figure, and returns the axes.
        """
        from metrics.drawing import plot_bars
        from metrics.text import percent

        texts = [percent(right) for right in self.per_label]
        if not np.array_equal(self.per_label, self.per_label_score):
            texts = [f"{text}, score {score:.2f}" for text, score in zip(texts, self.per_label_score, strict=True)]
        axes = plot_bars(self.labels, self.per_label, texts, ax, "share of items that are right")
        axes.set_xlim(0, 1.15)
        return axes


class MultilabelTally(Accumulator):
    """Counts per label, accumulated over batches of items.

    Parameters
    ----------
    n_labels : int
        L.
    false_positive_penalty, false_negative_penalty : float
        Cost of a false and of a missed label, >= 0, in units of a correct one.
    true_negative_reward : float
        Value of a label rightly left out, >= 0, in units of one rightly given.
    """

    def __init__(
        self,
        n_labels: int,
        *,
        false_positive_penalty: float = 1.0,
        false_negative_penalty: float = 1.0,
        true_negative_reward: float = 1.0,
    ) -> None:
        self.n_labels = whole_number(n_labels, "n_labels", 1)
        self.penalty = (
            real_number(false_positive_penalty, "false_positive_penalty", 0),
            real_number(false_negative_penalty, "false_negative_penalty", 0),
        )
        self.reward = real_number(true_negative_reward, "true_negative_reward", 0)
        super().__init__()

    def update(self, y_true: ArrayLike, y_pred: ArrayLike) -> Self:
        """Add a batch of items; if it is rejected, nothing is added.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n, L)
            1 if the item has the label, otherwise 0.

        Raises
        ------
        InputError
            If an argument is invalid; the message names the argument, the row and what was expected.
        """
        true, predicted = label_bits(y_true, y_pred)
        if true.shape[1] != self.n_labels:
            raise InputError(f"y_true: {self.n_labels} labels were expected, found {true.shape[1]}.")
        cells = {
            "true_positive": true & predicted,
            "true_negative": ~(true | predicted),
            "false_positive": predicted & ~true,
            "false_negative": true & ~predicted,
        }
        self.add({name: cell.sum(axis=0) for name, cell in cells.items()})
        return self

    def counts(self) -> MultilabelCounts:
        """Return the counts over all labels."""
        return MultilabelCounts(*(int(np.sum(self.value(name))) for name in MultilabelCounts._fields))

    def per_label(self) -> Floats:
        """Return the accuracy of each label, shape (L,)."""
        items = self._items()
        return np.asarray((self.value("true_positive") + self.value("true_negative")) / items)

    def per_label_score(self) -> Floats:
        """Return the score of each label under the penalties, shape (L,); their mean is the result."""
        cost = self.penalty[0] * self.value("false_positive") + self.penalty[1] * self.value("false_negative")
        correct = self.value("true_positive") + self.reward * self.value("true_negative")
        return np.asarray((correct - cost) / self._items())

    def result(self) -> float:
        """Return the mean item score; greater is better."""
        items = self._items()
        hit, rest, false_positive, false_negative = self.counts()
        cost = self.penalty[0] * false_positive + self.penalty[1] * false_negative
        return (hit + self.reward * rest - cost) / (items * self.n_labels)

    def _items(self) -> float:
        return required_weight(sum(float(np.ravel(self.value(name))[0]) for name in MultilabelCounts._fields))


def penalized_multilabel_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    false_positive_penalty: float = 1.0,
    false_negative_penalty: float = 1.0,
    true_negative_reward: float = 1.0,
    labels: Sequence[object] | None = None,
) -> PenalizedMultilabelScore:
    """Return the mean over items of (#correct - fp #false positives - fn #false negatives) / L [ML].

    Without penalties this is 1 - Hamming loss. Unlike accuracy it does not reward a model that never gives a label:
    with a penalty of 5 for missed labels, a model that gives none where 8 % are due has an accuracy of .92 and a score
    of .52.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n, L)
        1 if the item has the label, otherwise 0.
    false_positive_penalty, false_negative_penalty : float
        Cost of a false and of a missed label, >= 0, in units of a correct one.
    true_negative_reward : float
        Value of a label rightly left out, >= 0, in units of one rightly given. The source counts both alike (1); with 0
        only labels that are present or were given count.
    labels : sequence of L labels, optional
        Names of the labels, for results per label and the plot; by default the column names of a frame, or "label 0",
        "label 1", ... Columns of a frame named after them must be in the same order.

    Returns
    -------
    PenalizedMultilabelScore
        A float, at most 1, greater is better, with `counts`, `per_item`, `per_label` (accuracy), `per_label_score` and
        `labels`.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import penalized_multilabel_score
    >>> round(penalized_multilabel_score([[1, 1, 0]], [[1, 0, 1]], false_negative_penalty=2.0), 3)
    -0.667
    """
    named = column_names(y_true) if labels is None else labels
    names = None if named is None else tuple(map(label_text, named))
    true, predicted = label_bits(y_true, y_pred)
    if names is not None and len(names) != true.shape[1]:
        raise InputError(f"labels: {true.shape[1]} names were expected, one per column, found {len(names)}.")
    if labels is not None:
        for side, name in ((y_true, "y_true"), (y_pred, "y_pred")):
            require_order(side, ClassIndex([*map(label_text, labels)]), name)
    tally = MultilabelTally(
        true.shape[1],
        false_positive_penalty=false_positive_penalty,
        false_negative_penalty=false_negative_penalty,
        true_negative_reward=true_negative_reward,
    ).update(true, predicted)
    cost = tally.penalty[0] * (predicted & ~true).sum(axis=1) + tally.penalty[1] * (true & ~predicted).sum(axis=1)
    correct = (true & predicted).sum(axis=1) + tally.reward * (~(true | predicted)).sum(axis=1)
    per_item = (correct - cost) / true.shape[1]
    return PenalizedMultilabelScore(
        tally.result(),
        counts=tally.counts(),
        per_item=per_item,
        per_label=tally.per_label(),
        per_label_score=tally.per_label_score(),
        labels=names or tuple(f"label {j}" for j in range(true.shape[1])),
    )


def _bits(values: ArrayLike, name: str) -> Bits:
    """Return a table of zeros and ones as booleans after checking it."""
    if hasattr(values, "toarray"):  # as scikit-learn's MultiLabelBinarizer(sparse_output=True) makes it
        values = values.toarray()
    if getattr(values, "dtype", None) == np.bool_:
        array = np.asarray(values)
    else:
        array = number_array(values, name)
        wrong = (array != 0) & (array != 1)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise InputError(f"{name}, entry {list(place)}: 0 or 1 was expected, found {array[place]:g}.")
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name}: a row per item and a column per label were expected, the shape is {array.shape}.")
    return array.astype(bool, copy=False)


def label_bits(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Bits, Bits]:
    """Return true and predicted labels as booleans of the same shape (n, L) after checking them."""
    true, predicted = _bits(y_true, "y_true"), _bits(y_pred, "y_pred")
    if true.shape != predicted.shape:
        raise InputError(f"y_pred: the shape of y_true, {true.shape}, was expected, found {predicted.shape}.")
    named = named_classes(y_true)
    if named is not None:
        require_order(y_pred, named, "y_pred")
    return true, predicted
