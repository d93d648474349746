"""Calibration: do the cases that are given a probability of 0.7 come true seven times in ten?

Bins are those of [M589]: [m/M, (m+1)/M) for m = 0..M-1, the last one closed, so that a probability of 1 is counted.
A probability is compared with the edges in its own precision: 0.7 lies in the bin that begins at 7/10, in float32 too.

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589]; C. Guo et al., "On Calibration of
Modern Neural Networks", ICML 2017 (top-label error of several classes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.predictions import labelled_probabilities
from metrics.errors import InputError
from metrics.inputs.class_names import class_name
from metrics.inputs.labels import distinct, label_array, passed_labels
from metrics.probabilistic.calibration_bins import (
    CalibrationBins,
    CalibrationCurve,
    CalibrationError,
    TopLabelCalibration,
)

__all__ = ["CalibrationCurve", "CalibrationError", "calibration_curve", "expected_calibration_error"]


def calibration_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationCurve:
    """Return the calibration curve of the probability of one of two classes [M589].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, of two classes.
    y_prob : array-like of shape (n,)
        Probability of the positive class, in [0, 1].
    n_bins : int
        M equally wide bins.
    pos_label : label, optional
        The positive class; by default the greater of the two labels, and 1 where only 0 or 1 occurs.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    CalibrationCurve
        The pair (prob_true, prob_pred), with `weight` and `edges`; bins without cases are left out.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    return _binary_bins(y_true, y_prob, n_bins, pos_label, sample_weight).curve()


def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationError:
    """Return the expected calibration error: the mean gap between what came true and what was predicted [M589].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_prob : array-like of shape (n,) or (n, k)
        One dimension: probability of the positive class. Two: probabilities of all classes, of which the greatest is
        judged against whether that class is true (top label).
    n_bins : int
        M equally wide bins.
    labels : array-like of shape (k,), optional
        What the columns stand for, in order; see `metrics.inputs.labels` for the rule without it. In one dimension the
        two classes, of which the second is the positive one.
    pos_label : label, optional
        The positive class of a one-dimensional `y_prob`; see `calibration_curve`.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    CalibrationError
        A float in [0, 1], lower is better, with `curve` and, in two dimensions, `per_class`.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    if _is_flat(y_prob):
        return _binary_bins(y_true, y_prob, n_bins, pos_label, sample_weight, labels).result()
    if pos_label is not None:
        raise InputError("pos_label: it goes with one column of probabilities; with a column per class use per_class.")
    true, proba, classes = labelled_probabilities(y_true, y_prob, labels)
    result = TopLabelCalibration(classes, n_bins=n_bins).update(true, proba, sample_weight=sample_weight).result()
    return CalibrationError(result, curve=result.curve, _per_class=(true, proba, classes, n_bins, sample_weight))


def _is_flat(values: ArrayLike) -> bool:
    try:
        return np.ndim(values) == 1
    except ValueError:  # rows of different lengths: refused in words where the probabilities are read
        return False


def _binary_bins(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    n_bins: int,
    pos_label: object,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None = None,
) -> CalibrationBins:
    true = label_array(y_true, "y_true")
    if labels is None:
        positive = true == positive_label(distinct(true), pos_label)
    else:
        classes = passed_labels(labels)
        if len(classes) != 2:
            raise InputError(f"labels: y_prob is the probability of one of two classes, found {len(classes)} labels.")
        p = (
            1
            if pos_label is None
            else int(classes.indices(label_array(np.array([pos_label], dtype=object), "pos_label"), "pos_label")[0])
        )
        positive = classes.indices(true, "y_true") == p
    return CalibrationBins(n_bins).update(positive, y_prob, sample_weight=sample_weight)


def positive_label(found: NDArray[Any], pos_label: object) -> Any:
    """Return the positive one of the labels found, as it stands in the label array; by default the second."""
    names = [class_name(label) for label in found.tolist()]
    if len(names) > 2:
        raise InputError(f"y_true: two classes were expected, found {len(names)}: {', '.join(names[:8])}.")
    if pos_label is not None:
        wanted = class_name(int(pos_label) if isinstance(pos_label, bool | np.bool_) else pos_label)
        if wanted not in names and len(names) == 2:
            raise InputError(f"pos_label: {pos_label!r} is not one of the labels of y_true ({', '.join(names)}).")
        return found[names.index(wanted)] if wanted in names else None
    if len(names) == 2:
        return found[1]
    if names[0] in ("0", "1"):
        return 1 if found.dtype.kind in "iu" else "1"
    raise InputError(f"pos_label: y_true holds only {names[0]!r}; say which label is the positive one.")
