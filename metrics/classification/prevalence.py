"""Measures at another prevalence than that of the cases: weights of the cases, and probabilities corrected for it.

Sources: B. Marlin, COMPSCI 589 lecture 14 (imbalance, and deployment out of distribution) [M589]; M. Saerens, P.
Latinne, C. Decaestecker, "Adjusting the Outputs of a Classifier to New a Priori Probabilities", Neural Computation 14,
2002.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import labelled_probabilities
from metrics.errors import InputError
from metrics.inputs.arguments import class_weights

Floats = NDArray[np.float64]


class PrevalenceShift(NamedTuple):
    """Cases as they would be at another prevalence.

    Attributes
    ----------
    sample_weight : ndarray of shape (n,)
        Weights, mean 1, under which the true classes have the stated prevalence; every measure of this package that
        takes `sample_weight` is then one of the other prevalence.
    y_proba : ndarray of shape (n, k)
        The probabilities of a model that knows the stated prevalence.
    """

    sample_weight: Floats
    y_proba: Floats


def prevalence_shift(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    prevalence: ArrayLike | Mapping[Any, float],
    *,
    labels: ArrayLike | None = None,
) -> PrevalenceShift:
    """Return the weights and the probabilities of cases at another prevalence, where only that changes [M589].

    Among the cases of one true class nothing changes; the classes become more or less common. Probabilities are
    corrected by Bayes' rule, p_j proportional to p_j new_j / old_j (Saerens, Latinne and Decaestecker 2002, equation
    2.4).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1.
    prevalence : array-like of shape (k,) or mapping of label to share
        How common the true classes are there, in any scale.
    labels : array-like of shape (k,), optional
        What the columns stand for, in order; see `metrics.inputs.class_index` for the rule without it.

    Returns
    -------
    PrevalenceShift
        ``sample_weight`` and ``y_proba``. A case that has no probability left keeps its row; it has the weight 0.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected; also for a class that is stated but has no case.

    Examples
    --------
    >>> from metrics import error_rate, prevalence_shift
    >>> shift = prevalence_shift([0, 0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]], [0.9, 0.1])
    >>> shift.sample_weight.tolist()
    [1.8, 1.8, 0.2, 0.2]
    >>> round(error_rate([0, 0, 1, 1], [0, 1, 1, 0], sample_weight=shift.sample_weight), 6)
    0.5
    >>> shift.y_proba.round(4).tolist()
    [[0.9878, 0.0122], [0.8571, 0.1429], [0.6923, 0.3077], [0.9545, 0.0455]]
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    codes = classes.places(true, "y_true")
    stated = class_weights(prevalence, classes, "prevalence")
    found = np.bincount(codes, minlength=len(classes)) / len(codes)
    if (missing := (found == 0) & (stated > 0)).any():
        name = classes.labels[int(missing.argmax())]
        raise InputError(f"prevalence: there is no case of {name!r}, so nothing is known of it; its share must be 0.")
    ratio = np.divide(stated / stated.sum(), found, out=np.zeros(len(classes)), where=found > 0)
    return PrevalenceShift(ratio[codes], corrected(proba, ratio))


def corrected(proba: NDArray[np.floating[Any]], ratio: Floats) -> Floats:
    """Return probabilities, shape (n, k), where each class is `ratio` times as common, shape (k,), as it was.

    A row that has nothing left stays as it is.
    """
    joint = proba * ratio
    total = joint.sum(axis=1, keepdims=True)
    shifted: Floats = np.divide(joint, total, out=np.array(proba, dtype=np.float64), where=total > 0)
    return shifted
