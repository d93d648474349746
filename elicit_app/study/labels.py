"""How a class is written: labels of every type are compared as text."""

from __future__ import annotations

import re

from metrics.inputs.class_names import class_name

_INTEGRAL_FLOAT = re.compile(r"([+-]?\d+)\.0*")

TRUTH = "y_true"
PROBABILITY = "proba_"


def label_text(value: object) -> str:
    """Return a label as text: blanks around it dropped, integral floats as integers.

    Parameters
    ----------
    value : object
        A label from a file or an array: text, number, boolean or bytes.

    Returns
    -------
    str
        1, 1.0 and "1.0" all give "1"; True gives "True".
    """
    text = class_name(value).strip()
    integral = _INTEGRAL_FLOAT.fullmatch(text)
    return integral[1] if integral else text


def class_of_column(column: str) -> str | None:
    """Return the class whose probability a column named `column` holds, or None for any other column."""
    column = column.strip()
    return label_text(column[len(PROBABILITY) :]) if column.startswith(PROBABILITY) else None
