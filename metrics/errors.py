"""What the library says where it is given something that it cannot use."""

from __future__ import annotations


class CostsCountTwice(UserWarning):
    """Weights of the classes in training and least-cost decisions on top of them."""


class InputError(ValueError):
    """Bad input, said in one sentence: which argument, which row or field, what was expected.

    Whatever `metrics` refuses of what it is given is of this class: labels, probabilities, weights, costs,
    numbers out of range, shapes, files. Where the *kind* of an argument is wrong whatever its value (a text where a
    sequence of labels or a number belongs, an estimator without ``predict_proba``), it is a TypeError as well.

    Examples
    --------
    >>> from metrics import InputError, error_rate
    >>> try:
    ...     error_rate([0, 1, 1], [0, 1])
    ... except InputError as error:
    ...     print(error)
    y_pred: 3 cases were expected, as many as in y_true, found 2.
    """


class ArgumentTypeError(InputError, TypeError):
    """An argument of the wrong kind: an InputError, so that one `except` is enough, and a TypeError as in Python."""
