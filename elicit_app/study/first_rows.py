"""The first rows of a predictions file, and what its columns seem to be: the truth, scores, and labels of readers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from elicit_app.problem import Finding, file_problem, shortened
from elicit_app.study.guessing import (
    TELLING,
    Cells,
    Scores,
    as_probabilities,
    guess,
    guess_with,
    in_order,
    kind_of,
    named_by_class,
    numbers_in,
    share_in_order,
)
from elicit_app.study.identity import case_column, row_column
from elicit_app.study.model import MOST_CLASSES, ColumnMap
from elicit_app.study.tables import (
    LONGEST_CELL,
    LOOKED_AT_COLUMNS,
    PREDICTED,
    PROBABILITY,
    TRUTH,
    class_of_column,
    open_table,
)
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import label_text

SHOWN_ROWS = 5
_SLIGHT = 0.2
MOST_MODELS = 50  # in one file
_LOOKED_AT_ROWS = 20_000


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a file, and the apparent meaning of its columns."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # the first rows, as text
    # for each column that may hold labels, its different values, sorted; at most `MOST_CLASSES`
    values: dict[str, tuple[str, ...]]
    guess: ColumnMap | None  # the apparent meaning of the columns; None if unclear
    fits: bool  # whether the columns have the usual names, `y_true` and `proba_<class>`
    # the cells of each column that were read
    filled: Cells = field(repr=False, compare=False)
    numbers: Scores = field(repr=False, compare=False)  # of the columns that may hold scores
    # for each column that may hold labels, the rows without one, from 0
    empty: dict[str, frozenset[int]] = field(repr=False, compare=False)
    _models: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)  # that a column names

    def guess_with(self, truth: str) -> ColumnMap | None:
        """Return the apparent meaning of the columns, given that `truth` is the true class."""
        return guess_with(truth, self.filled, self.values, self.numbers) if truth in self.values else None

    def readers(self, columns: ColumnMap) -> tuple[ColumnMap, ...]:
        """Return a map for each further column of labels, which may be those of human readers.

        One label besides those of the classes may stand for no answer. What only repeats the most probable class is
        none.
        """
        classes, used = set(columns.classes), columns.names
        others = {name: len({*values} - classes) for name, values in self.values.items() if name not in used}
        names = (name for name, more in others.items() if more <= min(1, len(self.values[name]) - 2))
        told = self._most_probable(columns)
        return tuple(
            ColumnMap(columns.truth, columns.classes, (name,), "labels")
            for name in names
            if told is None or told != [*map(label_text, self.filled[name])]
        )

    def other_models(self, columns: ColumnMap) -> tuple[ColumnMap, ...]:
        """Return a map for each further group of columns that may be scores of the same classes by another model.

        Their names differ from each other as the given ones do or, for the single column of two classes, their numbers
        are of the same kind and are higher for the second class.
        """
        used = {*columns.names}
        scores = [own for name in columns.columns if (own := self.numbers.get(name)) is not None]
        single = len(columns.columns) == 1 and len(columns.classes) == 2
        if columns.kind == "labels" or not (single or len(scores) == len(columns.classes)) or not scores:
            return ()
        left = [name for name in self.numbers if name not in used]
        groups: list[tuple[str, ...]]
        if single:
            second, truth = columns.classes[1], self.filled[columns.truth]
            groups = [(name,) for name in left if share_in_order(self.numbers[name], truth, second) > TELLING]
        else:
            groups = [group for group in named_by_class(columns.classes, left) if used.isdisjoint(group)]
        kind = kind_of(scores)
        alike = (group for group in groups if kind_of([self.numbers[name] for name in group]) == kind)
        return tuple(replace(columns, columns=group) for group in alike)

    @cached_property
    def model_column(self) -> str | None:
        """The first column with another value in each row of a case, as models or readers give them; None without."""
        cases = self._cases
        if len(set(cases)) == len(cases):
            return None
        few = (name for name, values in self.values.items() if len(values) <= MOST_MODELS)
        pairs = ((name, {*zip(cases, map(str, self.filled[name]), strict=False)}) for name in few)
        return next((name for name, found in pairs if len(found) == len(cases) == len(self.filled[name])), None)

    @cached_property
    def _cases(self) -> list[str]:
        """The case of each row, by the column that seems to name it; empty without one."""
        column = case_column(self.columns) or row_column(self.columns)
        return [] if column is None else [*map(str, self.filled[column])]

    def of_each_model(self, columns: ColumnMap, named_by: str) -> tuple[ColumnMap, ...]:
        """Return a map for the rows of each model that a column names, in the whole file."""
        if named_by not in self._models:
            table = open_table(self.path)
            at = [name.strip() for name in table.columns].index(named_by)
            cells = (frame.to_series().unique().drop_nulls() for frame in table.frames([at], 0, None))
            self._models[named_by] = tuple(filter(None, in_order(value for some in cells for value in some)))
        return tuple(replace(columns, only=(named_by, name)) for name in self._models[named_by])

    def cases_read(self, models: Iterable[ColumnMap]) -> tuple[int, int]:
        """Return the number of cases which all models have, or to which all columns of labels give one, and of all."""
        models = [*models]
        if models and models[0].only is not None and self.model_column == models[0].only[0]:
            rows = Counter(self._cases)
            return sum(n == len(self.values[self.model_column]) for n in rows.values()), len(rows)
        readers = [one for one in models if one.kind == "labels"]
        truth = readers[0].truth if readers else TRUTH
        unread = frozenset[int]().union(*(self.empty.get(one.columns[0], ()) for one in readers if one.columns))
        cases = len(self.filled.get(truth, ()))
        return cases - len(unread - self.empty.get(truth, frozenset())), cases

    @cached_property
    def to_ask(self) -> bool:
        """Whether the meaning of the columns must be asked: names are unusual, or others stand beside the model."""
        beside = self.likely_readers or self.likely_models or self.model_column
        return bool(beside if self.fits else self.values)

    @property
    def likely_models(self) -> tuple[ColumnMap, ...]:
        """Return `other_models` by the apparent meaning."""
        return () if self.guess is None else self.other_models(self.guess)

    @property
    def likely_readers(self) -> tuple[ColumnMap, ...]:
        """Return those of `readers`, by the apparent meaning, whose labels agree with the truth."""
        found = () if self.guess is None else self.readers(self.guess)
        return tuple(one for one in found if self._agrees_with_truth(one))

    def _agrees_with_truth(self, reader: ColumnMap) -> bool:
        """Return whether labels agree with the truth by more than Cohen's kappa of .2, as the sex or a site would not.

        Up to .2 agreement is slight (Landis and Koch 1977, Biometrics 33, 159-174).
        """
        truth, said = ([*map(label_text, self.filled[name])] for name in (reader.truth, *reader.columns))
        if len(truth) != len(said):
            return True
        true, other = Counter(truth), Counter(said)
        chance = sum(true[name] * other[name] for name in true) / len(truth) ** 2
        right = sum(one == two for one, two in zip(truth, said, strict=True)) / len(truth)
        return right - chance > _SLIGHT * (1 - chance)

    def _most_probable(self, columns: ColumnMap) -> list[str] | None:
        """Return the most probable class of every case; None where a column or a number is missing."""
        scores = [own for name in columns.columns if (own := self.numbers.get(name)) is not None]
        whole = len(scores) == len(columns.classes) or (len(scores) == 1 and len(columns.classes) == 2)
        if columns.kind == "labels" or not whole or len({len(own) for own in scores}) > 1:
            return None
        chosen = as_probabilities(np.column_stack(scores), columns.kind).argmax(axis=1)
        return [columns.classes[at] for at in chosen.tolist()]

    @property
    def fault(self) -> str:
        """Return what is wrong with the shape of the file, and what to do; empty if nothing seems to be."""
        numbers = any(re.fullmatch(r"-?\d*[.,]\d+(e-?\d+)?", name, re.I) for name in self.columns)
        if numbers and any(name in values for name, values in self.values.items()):
            return "The names of the columns seem to be values: write the names into a line above them."
        if self.guess is None:
            for name, cells in self.filled.items():
                if cells and _holds_several(cells[0]):
                    return f"“{shortened(name)}” holds several numbers in a cell: write a column for each class."
        return ""

    def holds(self, columns: ColumnMap) -> bool:
        """Return whether the file has all columns that a map names."""
        return set(columns.names) <= set(self.columns)

    def suits(self, known: ColumnMap) -> bool:
        """Return whether the map of an earlier file says what this one holds; a reader never stands for a model."""
        return self.holds(known) and not (self.fits and known.kind == "labels")


def read_first_rows(path: Path) -> FirstRows:
    """Read the first rows of a file and guess the meaning of its columns.

    Raises Problem if it cannot be read as CSV, Parquet or NPZ, or two columns have the same name.
    """
    table = open_table(path)
    names = tuple(name.strip() for name in table.columns[:LOOKED_AT_COLUMNS])
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise file_problem(path, Finding(f"There are two columns “{shortened(twice)}”", "Leave one."))
    frames = [*table.frames(range(len(names)), 0, _LOOKED_AT_ROWS)]
    columns = {name: [row for frame in frames for row in frame[:, at].to_list()] for at, name in enumerate(names)}
    filled = {name: [value for value in values if cell_label(value)] for name, values in columns.items()}
    labels = {name: tuple(map(str, ClassIndex(in_order(own)).names)) for name, own in filled.items() if _few(own)}
    rows = zip(*(map(_shown, values[:SHOWN_ROWS]) for values in columns.values()), strict=True)
    numbers = numbers_in(filled)
    fits = _are_usual(names)
    found = _usual_map(names) if fits and TRUTH in labels else guess(filled, labels, numbers)
    empty = {name: frozenset(at for at, value in enumerate(columns[name]) if not cell_label(value)) for name in labels}
    return FirstRows(path, names, tuple(rows), labels, found, fits, filled, numbers, empty)


def has_one_class(names: Collection[str]) -> bool:
    """Return whether columns of the usual names are those of the truth and of one class."""
    return _usual_classes(names) == 1


def has_usual_columns(path: Path, *, known_classes: bool = False) -> bool:
    """Return whether the header has the usual names, `y_true` and `proba_<class>`, or `y_pred` if classes are known.

    Raises Problem if the file cannot be read.
    """
    names = [name.strip() for name in open_table(path).columns]
    return _are_usual(names) or (known_classes and hold_labels_alone(names))


def has_further_columns(path: Path) -> bool:
    """Return whether there are columns beside those of the usual names. Raises Problem if the file cannot be read."""
    return any(name.strip() != TRUTH and class_of_column(name.strip()) is None for name in open_table(path).columns)


def hold_labels_alone(names: Collection[str]) -> bool:
    """Return whether columns of the usual names are those of labels, without probabilities."""
    return {TRUTH, PREDICTED} <= set(names) and not any(name.startswith(PROBABILITY) for name in names)


def _are_usual(names: Sequence[str]) -> bool:
    return _usual_classes(names) > 1


def _usual_classes(names: Collection[str]) -> int:
    """Return the number of classes of which columns of the usual names are; 0 without that of the truth."""
    return sum(class_of_column(name) is not None for name in names) if TRUTH in names else 0


def _usual_map(names: Sequence[str]) -> ColumnMap:
    classes = {name: found for name in names if (found := class_of_column(name)) is not None}
    return ColumnMap(TRUTH, tuple(classes.values()), tuple(classes), "probabilities")


def _few(values: list[Any]) -> bool:
    found: set[str] = set()
    for value in values:
        found.add(label_text(value))
        if len(found) > MOST_CLASSES:
            return False  # most columns are numeric, and a few rows show it
    return len(found) >= 2 and max(map(len, found)) <= LONGEST_CELL


def _holds_several(cell: object) -> bool:
    """Return whether a cell is a list of numbers, or the text of one: "[0.2, 0.8]", "[0.2 0.8]", "{'cat': 0.2}"."""
    if isinstance(cell, str):
        text = cell[:LONGEST_CELL].strip()
        return text[:1] + text[-1:] in ("[]", "()", "{}") and len(re.findall(r"\d[\d.eE+-]*", text)) > 1
    parts = [*cell.values()] if isinstance(cell, dict) else cell if isinstance(cell, list) else []
    return len(parts) > 1 and all(isinstance(one, (int, float)) for one in parts)


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) and not value.is_integer() else cell_label(value)


def cell_label(value: object) -> str:
    """Return a label as text; empty if there is none."""
    return "" if value is None else label_text(value)
