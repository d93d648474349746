"""What is wrong with the rows of a predictions file: each kind of fault once, with its first row and how many more."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from elicit_app.problem import Finding
from elicit_app.study.findings import counted, listed, shortened
from elicit_app.study.labels import PROBABILITY

Kind = Literal["label", "cell", "text", "nan", "negative", "high", "sum"]

REMEDIES: dict[Kind, str] = {
    "label": "Write the true class in every row, or leave the row out.",
    "cell": "Write a probability in every cell, or leave the row out.",
    "text": "Write plain numbers with a decimal point.",
    "nan": "Write the model's probability, or leave the row out.",
    "negative": "Probabilities lie between 0 and 1. Turn scores or logarithms into probabilities first (softmax, exp).",
    "high": "Probabilities lie between 0 and 1. Divide percentages by 100.",
    "sum": "Probabilities of one row must add up to 1 (0.99 to 1.01 is accepted). "
    "Write the model's probabilities again without rounding.",
}


class Faults:
    """Collects faults in the order of `Kind`, and the true labels that no column has."""

    def __init__(self) -> None:
        self._first: dict[Kind, str] = {}
        self._rows: Counter[Kind] = Counter()
        self._unknown: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._rows or self._unknown)

    def add(self, kind: Kind, rows: int, first: str) -> None:
        """Note that `rows` more rows have this fault; `first` tells the first of them."""
        self._rows[kind] += rows
        self._first.setdefault(kind, first)

    def add_unknown(self, label: str, rows: int) -> None:
        """Note that `rows` more rows have a true label without a column."""
        self._unknown[label] += rows

    def merge(self, later: Faults) -> None:
        """Add the faults of later rows."""
        self._rows.update(later._rows)
        self._first = later._first | self._first
        self._unknown.update(later._unknown)

    def findings(self) -> tuple[Finding, ...]:
        """Return everything that has to be put right."""
        found = [Finding(self._told(kind), REMEDIES[kind]) for kind in REMEDIES if kind in self._first]
        if self._unknown:
            labels = sorted(self._unknown)
            has = counted(self._unknown.total(), "row has", "rows have")
            columns = " and ".join(PROBABILITY + shortened(label) for label in labels[:2])
            remedy = f"Add {'a column' if len(labels) == 1 else 'columns like'} {columns}, or leave these rows out."
            found.append(Finding(f"{has} a true label that has no column: {listed(labels)}", remedy))
        return tuple(found)

    def _told(self, kind: Kind) -> str:
        more = self._rows[kind] - 1
        return self._first[kind] + (f", and so in {counted(more, 'more row')}" if more else "")
