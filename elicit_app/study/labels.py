"""How a class is written: labels of every type are compared as text."""

from __future__ import annotations

from metrics.inputs.labels import label_text

__all__ = ["PROBABILITY", "TRUTH", "class_of_column", "label_text"]

TRUTH = "y_true"
PROBABILITY = "proba_"


def class_of_column(column: str) -> str | None:
    """Return the class whose probability a column named `column` holds, or None for any other column."""
    column = column.strip()
    return label_text(column[len(PROBABILITY) :]) if column.startswith(PROBABILITY) else None
