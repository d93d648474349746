"""Error rates of predictions [M589].

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.accumulators import LabelAccumulator, Totals
from metrics.errors import InputError
from metrics.inputs.arguments import class_weights, demanded_weight, number_array
from metrics.inputs.class_names import class_name
from metrics.inputs.labels import column_classes, label_array, shared_classes
from metrics.inputs.tables import weights_by_label


class ErrorCounts(LabelAccumulator):
    """Cases and errors by true class, taking their cases in batches.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels; a number k stands for the labels 0, ..., k-1.
    """

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the counts."""
        return dict.fromkeys(("cases", "errors", "predicted"), (len(self.classes),))

    def totals(self, true: NDArray[np.intp], predicted: NDArray[np.intp], weight: NDArray[np.float64] | None) -> Totals:
        """Return the counts over some cases."""
        k, wrong = len(self.classes), true != predicted
        return {
            "cases": np.bincount(true, weights=weight, minlength=k),
            "errors": np.bincount(true[wrong], weights=None if weight is None else weight[wrong], minlength=k),
            "predicted": np.bincount(predicted, weights=weight, minlength=k),
        }

    def result(self) -> float:
        """Return the error rate."""
        return self.error_rate()

    def error_rate(self) -> float:
        """Return the share of wrong predictions."""
        return self.class_weighted_error_rate(np.ones(len(self.classes)))

    def balanced_error_rate(self) -> float:
        """Return the mean over the classes of the share of wrong predictions; see the function of this name.

        Raises
        ------
        InputError
            Where no case, or none with a weight above zero, was seen.
        """
        cases, errors = self.value("cases"), self.value("errors")
        present = cases > 0
        demanded_weight(float(cases.sum()))
        absent = ~present & (self.value("predicted") > 0)
        if absent.any():
            names = ", ".join(class_name(label) for label in self.classes.labels[absent].tolist()[:8])
            warnings.warn(
                f"Never true, so without an error rate, and left out of the mean: {names}.", UserWarning, stacklevel=3
            )
        return float((errors[present] / cases[present]).mean())

    def class_weighted_error_rate(self, class_weight: ArrayLike | Mapping[Any, float]) -> float:
        """Return the share of wrong predictions, each case weighted with its true class's weight.

        Parameters
        ----------
        class_weight : array-like of shape (k,) or mapping of label to weight
            Weights >= 0 in any scale.

        Raises
        ------
        InputError
            Where a weight is missing, or no case with a weight above zero was seen.
        """
        weights = class_weights(class_weight, self.classes)
        return float(weights @ self.value("errors")) / demanded_weight(float(weights @ self.value("cases")))


def error_rate(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of wrong predictions [M589]: 1 - accuracy.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels of any type.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    return _error_counts(y_true, y_pred, sample_weight).error_rate()


def balanced_error_rate(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over the true classes of the share of wrong predictions [M589]: 1 - balanced accuracy.

    A class that is predicted but never true has no error rate: it is left out with a warning.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As in `error_rate`, and refused as there.

    Returns
    -------
    float
        In [0, 1]; lower is better.
    """
    return _error_counts(y_true, y_pred, sample_weight).balanced_error_rate()


def class_weighted_error_rate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    class_weight: ArrayLike | Mapping[Any, float],
    *,
    labels: ArrayLike | None = None,
) -> float:
    """Return the weighted share of wrong predictions, each case weighted with its true class's weight [M589].

    sum_i w[y_i] 1[y_i != f_i] / sum_i w[y_i].

    Parameters
    ----------
    y_true, y_pred
        As in `error_rate`, and refused as there.
    class_weight : array-like of shape (k,) or mapping of label to weight
        Weights >= 0 in any scale.
    labels : array-like of shape (k,), optional
        What the weights belong to, in order; see `metrics.inputs.labels` for the rule without it. A mapping says so
        itself.

    Returns
    -------
    float
        In [0, 1]; lower is better.
    """
    true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    class_weight = weights_by_label(class_weight)
    if labels is None and isinstance(class_weight, Mapping):
        labels = list(class_weight)
    elif not isinstance(class_weight, Mapping):
        class_weight = number_array(class_weight, "class_weight")
        if class_weight.ndim != 1:
            raise InputError(f"class_weight: one weight per class was expected, the shape is {class_weight.shape}.")
    classes = column_classes(len(class_weight), labels, true, "class_weight", "weights")
    return ErrorCounts(classes).update(true, predicted).class_weighted_error_rate(class_weight)


def _error_counts(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None) -> ErrorCounts:
    true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    return ErrorCounts(shared_classes(true, predicted)).update(true, predicted, sample_weight=sample_weight)
