"""The columns of a file of cases: classes, numbers, several labels, or outcomes in contexts.

A file of classes has `y_true` and one column `proba_<class>` per class, or `y_true` and `y_pred`. A file of numbers has
`y_true`, `mean` or `y_pred` and, if known, `std`, or `lower` and `upper`. A file of several labels has `true_<label>`
and `pred_<label>` (or `proba_<label>`), or the same with the label first. A file of outcomes in contexts has `y_true`,
`y_pred`, and `context` or `context_<feature>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, file_problem, listed
from elicit_app.study.mapping import MappedTable
from elicit_app.study.model import ColumnMap
from elicit_app.study.reading import (
    ReadPredictions,
    numbering_notes,
    numbers_only,
    open_predictions,
    read_predictions,
    weight_column,
    weight_notes,
)
from elicit_app.study.tables import PREDICTED, PROBABILITY, TRUTH, Table, open_table
from metrics.inputs.arguments import Floats
from metrics.inputs.class_index import ClassIndex, joint_names
from metrics.inputs.labels import is_missing, label_text

CONTEXT = "context"
TRUE_LABEL, PREDICTED_LABEL = "true_", "pred_"
_CONTEXT_FEATURE = "context_"
# merging tables of truths and predictions puts the label first
_LABEL_FIRST = {"_true": TRUE_LABEL, "_pred": PREDICTED_LABEL, "_proba": PROBABILITY}
_YES_OR_NO = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_LOOKED_AT = 100  # rows
_GIVEN_FROM = 0.5  # probability from which a label is given

Bits = NDArray[np.bool_]


class LabelBits(NamedTuple):
    """The labels that n items have and those predicted for them, shape (n, L), and the names of the labels."""

    true: Bits
    predicted: Bits
    labels: tuple[str, ...]


class CaseColumns:
    """A file of cases (CSV, Parquet or NPZ) whose columns are read on demand.

    Where classes are `known`, from a metric, the file may number them in place of naming them. `columns` is the meaning
    of columns that have other names. Raises Problem if the file cannot be opened, or a requested column is missing or
    invalid; the message gives the row.
    """

    def __init__(self, path: Path, known: Sequence[str] = (), columns: ColumnMap | None = None) -> None:
        self.path, self._known, self._map = path, known, columns
        self._numbered: tuple[str, ...] = ()  # the note on labels that number the known classes
        self._table: Table = open_table(path)
        names = [name.strip() for name in self._table.columns]
        if columns is not None and columns.kind == "labels":
            usual = {TRUTH: "", PREDICTED: "", columns.truth: TRUTH, columns.columns[0]: PREDICTED}
            self.names = tuple(usual.get(name, name) for name in names)
        elif columns is not None:
            self._table = MappedTable(self._table, columns)
            self.names = self._table.columns
        else:
            last = _label_last(names)
            truths = [at for at, name in enumerate(last) if name != names[at] and name.startswith(TRUE_LABEL)]
            self.names = last if self._may_be_labels(truths) else tuple(names)

    def _may_be_labels(self, columns: Sequence[int]) -> bool:
        """Return whether the first cells of columns say yes or no: those of several outcomes are called alike."""
        first = next(iter(self._table.frames(columns, 0, _LOOKED_AT)), None) if columns else None
        cells = set() if first is None else {cell for column in first for cell in column if cell is not None}
        return {str(cell).strip().lower() for cell in cells} <= {"0", "1", "0.0", "1.0", *_YES_OR_NO}

    @cached_property
    def y_true(self) -> list[str]:
        """Return the true labels as text, each as its class is called."""
        if PREDICTED in self.names:
            return [self._names_of_labels[text] for text in self.labels(TRUTH)]
        if not self._group(PROBABILITY):
            return self.labels(TRUTH)
        read = self.probabilities
        return [read.classes[i] for i in read.predictions.y_true]

    @cached_property
    def y_pred(self) -> list[str]:
        """Return the predicted labels as text, called as the true ones; without a column, the most probable class."""
        if PREDICTED in self.names:
            return [self._names_of_labels[text] for text in self.labels(PREDICTED)]
        if not self._group(PROBABILITY):
            self.refuse(f"There is no column {PREDICTED}, and none {PROBABILITY}<class>", "One of them is needed.")
        read = self.probabilities
        return [read.classes[j] for j in read.predictions.y_proba.argmax(axis=1)]

    @cached_property
    def _names_of_labels(self) -> dict[str, str]:
        names = joint_names(self.labels(TRUTH), self.labels(PREDICTED))
        if not numbers_only(names.values(), self._known):
            return names
        self._numbered = numbering_notes(self.path, self._known)
        return {text: self._known[ClassIndex(len(self._known)).place(name)] for text, name in names.items()}

    @cached_property
    def probabilities(self) -> ReadPredictions:
        """Return the true classes and the probability of each class, after checking them."""
        if self._map is not None and self._map.kind == "labels":
            what = f"The column {self._map.columns[0]} holds labels, not probabilities"
            self.refuse(what, "Name the column of each class.")
        if not self._is_numbered:
            return read_predictions(self.path, columns=self._map)
        read = read_predictions(self.path, labels=self._known, columns=self._map)
        return read._replace(notes=(*numbering_notes(self.path, self._known), *read.notes))

    @cached_property
    def _is_numbered(self) -> bool:
        if not self._known or PREDICTED in self.names or not self._group(PROBABILITY):
            return False
        return open_predictions(self.path, columns=self._map).only_numbers(self._known)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on how the file was read so far."""
        read = self.__dict__.get("probabilities")  # not where only other columns were asked for
        return (*self._numbered, *(weight_notes(self.path, weight_column(self.names)) if read is None else read.notes))

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Return the classes: those with a probability column, otherwise all labels that occur, sorted."""
        if self._group(PROBABILITY) and PREDICTED not in self.names:
            return self.probabilities.classes
        return tuple(sorted({*self.y_true, *self.y_pred}))

    @cached_property
    def bits(self) -> LabelBits:
        """Return the true and the predicted labels of the items."""
        labels = self._group(TRUE_LABEL)
        if not labels:
            self.refuse(f"There is no column {TRUE_LABEL}<label>", f"Each label needs one, and one {PREDICTED_LABEL}.")
        true = np.stack([self._zeros_and_ones(TRUE_LABEL + label) for label in labels], axis=1)
        predicted = np.stack([self._given(label) for label in labels], axis=1)
        return LabelBits(true, predicted, labels)

    @cached_property
    def context(self) -> list[list[str]]:
        """Return the features of each case's context as text, shape (n, f)."""
        names = [name for name in self.names if name == CONTEXT or name.startswith(_CONTEXT_FEATURE)]
        if not names:
            self.refuse(f"There is no column {CONTEXT} or {_CONTEXT_FEATURE}<feature>", "The context of each case.")
        return [list(row) for row in zip(*map(self.labels, names), strict=True)]

    @property
    def mean(self) -> Floats:
        """Return the predicted numbers, shape (n,)."""
        return self.numbers(PREDICTED if "mean" not in self.names and PREDICTED in self.names else "mean")

    def numbers(self, name: str) -> Floats:
        """Return a column of finite numbers, shape (n,)."""
        return self._numbers(name, {}, "A number is expected.")

    def labels(self, name: str) -> list[str]:
        """Return a column of labels as text."""
        values = self._column(name).to_list()
        for row, value in enumerate(values):
            if value is None or is_missing(value) or not str(value).strip():
                self.refuse(f"Row {row + 1} has nothing in the column {name}", "A label is expected.")
        return [label_text(value.strip() if isinstance(value, str) else value) for value in values]

    def require(self, *names: str) -> None:
        """Check that the file has certain columns, before any cell is read."""
        for name in names:
            if name not in self.names:
                self.refuse(f"There is no column {name}", f"The columns are {listed([*self.names], 8)}.")

    def has(self, *names: str) -> bool:
        """Return whether the file has certain columns."""
        return set(names) <= set(self.names)

    def refuse(self, what: str, remedy: str) -> NoReturn:
        """Raise a problem with the file."""
        raise file_problem(self.path, Finding(what, remedy))

    def _given(self, label: str) -> Bits:
        if PREDICTED_LABEL + label in self.names:
            return self._zeros_and_ones(PREDICTED_LABEL + label)
        if PROBABILITY + label not in self.names:
            self.refuse(
                f"There is no column {PREDICTED_LABEL}{label} or {PROBABILITY}{label}", "One of them is needed."
            )
        return self.numbers(PROBABILITY + label) >= _GIVEN_FROM

    def _numbers(self, name: str, words: dict[str, str], remedy: str) -> Floats:
        """Return a column of numbers, some of which may be written as words, in small letters here."""
        import polars as pl

        column = self._column(name)
        text = column.cast(pl.Utf8).str.strip_chars()
        text = text.str.to_lowercase().replace(words) if words else text
        found = text.cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
        if not np.isfinite(found).all():
            row = int(np.argmin(np.isfinite(found)))
            self.refuse(f"Row {row + 1} has “{column[row]}” in the column {name}", remedy)
        return np.asarray(found)

    def _zeros_and_ones(self, name: str) -> Bits:
        found = self._numbers(name, _YES_OR_NO, "0 or 1 is expected.")
        wrong = (found != 0) & (found != 1)
        if wrong.any():
            row = int(wrong.argmax())
            self.refuse(f"Row {row + 1} has {found[row]:g} in the column {name}", "0 or 1 is expected.")
        return np.asarray(found == 1)

    def _group(self, prefix: str) -> tuple[str, ...]:
        return tuple(name.removeprefix(prefix) for name in self.names if name.startswith(prefix))

    def _column(self, name: str) -> Any:
        """Return a column as a polars series."""
        import polars as pl

        self.require(name)
        if self.names.count(name) > 1:
            self.refuse(f"There are several columns {name}", "Leave one.")
        frames = [*self._table.frames([self.names.index(name)], 0, None)]
        column = pl.concat(frames).to_series() if frames else pl.Series(name, [], dtype=pl.Utf8)
        if not len(column):
            self.refuse("There are no rows", "At least one case is needed.")
        return column


def _label_last(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a file's columns, of several labels as if written with the label last.

    >>> _label_last(["id", "calm_true", "sad_true", "calm_pred", "sad_pred"])
    ('id', 'true_calm', 'true_sad', 'pred_calm', 'pred_sad')
    >>> _label_last(["y_true", "y_pred"])
    ('y_true', 'y_pred')
    """
    labels = {name.removesuffix("_true") for name in names if name.endswith("_true")}
    predicted = all(f"{label}_pred" in names or f"{label}_proba" in names for label in labels)
    if TRUTH in names or len(labels) < 2 or not predicted:
        return tuple(names)
    last = {label + end: start + label for label in labels for end, start in _LABEL_FIRST.items()}
    return tuple(last.get(name, name) for name in names)
