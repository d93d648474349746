"""Predictions files with arbitrary columns: finds the truth and the probabilities, raw scores or labels."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, Problem, file_problem, listed, shortened
from elicit_app.study.checking import as_numbers
from elicit_app.study.guessing import (
    PERCENT,
    Cells,
    Scores,
    are_of_decided,
    classes_of_both,
    guess,
    guess_with,
    in_order,
    kind_of,
    numbers_in,
    whole_of_shares,
)
from elicit_app.study.model import MOST_CLASSES, ColumnMap
from elicit_app.study.tables import (
    EMPTY,
    INDETERMINATE,
    LONGEST_CELL,
    LOOKED_AT_COLUMNS,
    PREDICTED,
    PROBABILITY,
    TRUTH,
    UNKNOWN,
    Table,
    class_of_column,
    open_table,
)
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import label_text
from metrics.text import counted

if TYPE_CHECKING:
    import polars as pl

SHOWN_ROWS = 5
_SLIGHT = 0.2
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

    def guess_with(self, truth: str) -> ColumnMap | None:
        """Return the apparent meaning of the columns, given that `truth` is the true class."""
        return guess_with(truth, self.filled, self.values, self.numbers) if truth in self.values else None

    def readers(self, columns: ColumnMap) -> tuple[ColumnMap, ...]:
        """Return a map for each further column of labels, which may be those of human readers.

        What only repeats the most probable class is none.
        """
        classes, used = set(columns.classes), {columns.truth, *columns.columns}
        names = (name for name, values in self.values.items() if name not in used and set(values) <= classes)
        told = self._most_probable(columns)
        return tuple(
            ColumnMap(columns.truth, columns.classes, (name,), "labels")
            for name in names
            if told is None or told != [*map(label_text, self.filled[name])]
        )

    def cases_read(self, models: Iterable[ColumnMap]) -> tuple[int, int]:
        """Return the number of cases to which all columns of labels give one, and that of all cases looked at."""
        readers = [one for one in models if one.kind == "labels"]
        truth = readers[0].truth if readers else TRUTH
        unread = frozenset[int]().union(*(self.empty.get(one.columns[0], ()) for one in readers if one.columns))
        cases = len(self.filled.get(truth, ()))
        return cases - len(unread - self.empty.get(truth, frozenset())), cases

    @cached_property
    def to_ask(self) -> bool:
        """Whether the meaning of the columns must be asked: names are unusual, or readers stand beside the model."""
        return bool(self.likely_readers if self.fits else self.values)

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
        chosen = _as_probabilities(np.column_stack(scores), columns.kind).argmax(axis=1)
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
        return {columns.truth, *columns.columns} <= set(self.columns)

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
    filled = {name: [value for value in values if _text(value)] for name, values in columns.items()}
    labels = {name: tuple(map(str, ClassIndex(in_order(own)).names)) for name, own in filled.items() if _few(own)}
    rows = zip(*(map(_shown, values[:SHOWN_ROWS]) for values in columns.values()), strict=True)
    numbers = numbers_in(filled)
    fits = _are_usual(names)
    found = _usual_map(names) if fits and TRUTH in labels else guess(filled, labels, numbers)
    empty = {name: frozenset(at for at, value in enumerate(columns[name]) if not _text(value)) for name in labels}
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


def column_map(
    first_rows: FirstRows,
    *,
    truth: str | None = None,
    columns: Sequence[tuple[str, str]] = (),
    predicted: str | None = None,
    logits: bool = False,
    skip_unread: bool = False,
) -> ColumnMap:
    """Return the meaning of a file's columns: as stated, and otherwise as guessed.

    `columns` are the pairs (class, column) of scores, raw ones if `logits`; for two classes one is enough. Without
    scores `predicted` is the column of predicted labels, and cases without one are left out for all models if they are
    to be skipped. Raises Problem if the meaning is unclear or inconsistent.
    """
    guess = first_rows.guess
    truth = truth or (guess.truth if guess else TRUTH if TRUTH in first_rows.columns else None)
    if truth not in first_rows.columns:
        fault = f"no column “{shortened(truth)}”" if truth else "no column that seems to be the true class"
        raise file_problem(
            first_rows.path, Finding(f"There is {fault}", f"The columns are {listed([*first_rows.columns], 8)}.")
        )
    if predicted is not None:
        classes = _classes_of_labels(first_rows, truth, predicted)
        found = ColumnMap(truth, classes, (predicted,), "labels", skip_unread)
    elif columns:
        stated = tuple(name for name, _ in columns)
        classes = stated if len(stated) > 1 else _with_others(first_rows, truth, stated[0])
        kind: Any = "logits" if logits else "probabilities"
        found = ColumnMap(truth, classes, tuple(column for _, column in columns), kind)
    elif guess is None or guess.truth != truth:
        remedy = "Name the column of each class, or that of the predicted labels."
        raise file_problem(first_rows.path, Finding("It is unclear what the model predicts", remedy))
    else:
        found = ColumnMap(truth, guess.classes, guess.columns, "logits" if logits else guess.kind)
    return settled(first_rows, found)


def settled(first_rows: FirstRows, columns: ColumnMap) -> ColumnMap:
    """Return a stated map of a file, with probabilities told from percentages by what they add up to.

    Raises Problem if the map is inconsistent, calls columns raw scores that are probabilities or counted votes, or
    takes the confidence in whichever label was predicted for the probability of one.
    """
    require_usable(columns)
    known = [first_rows.numbers[name] for name in columns.columns if name in first_rows.numbers]
    seen = kind_of(known) if len(known) == len(columns.columns) > 1 else columns.kind
    if columns.kind == "logits" != seen:
        whole = 100 if seen == "percentages" else 1
        fault = f"The columns are {seen} already, which add up to {whole}: they are not raw scores (logits)"
        raise file_problem(first_rows.path, Finding(fault, "Take them as they are."))
    total = whole_of_shares(known) if columns.kind == "logits" and len(known) == len(columns.columns) else None
    if total is not None:
        fault = f"The columns add up to {total:,g} in every row: they are shares of it, not raw scores (logits)"
        raise file_problem(first_rows.path, Finding(fault, "Divide them by it."))
    if columns.kind != "labels" and len(known) == len(columns.columns) == 1 and are_of_decided(known[0]):
        said = next((one.columns[0] for one in first_rows.readers(columns)), None)
        if said is not None:
            fault = f"{columns.columns[0]} is never below one half, whichever class {said} says"
            remedy = (
                "It seems to be the confidence in the predicted label. Take the column of predicted labels, or write "
                "the probability of each class."
            )
            raise file_problem(first_rows.path, Finding(fault, remedy))
    return replace(columns, kind=seen) if columns.kind == "probabilities" and seen == "percentages" else columns


def _classes_of_labels(first_rows: FirstRows, truth: str, predicted: str) -> tuple[str, ...]:
    """Return the classes of a column of true and one of predicted labels. Raises Problem if there is only one."""
    names = classes_of_both(first_rows.filled[truth], first_rows.filled.get(predicted, ()))
    if len(names) < 2 and predicted in first_rows.columns:
        held = f"only the label {listed([*names])}" if names else "no labels"
        found = f"The columns {truth} and {predicted} hold {held}"
        raise file_problem(first_rows.path, Finding(found, "Mistakes need two classes or more, and a row per case."))
    return names


def _with_others(first_rows: FirstRows, truth: str, stated: str) -> tuple[str, ...]:
    """Return the classes of a file, the stated one last, spelt as in the file. Raises Problem if no label means it."""
    labels = first_rows.values.get(truth, ())
    at = ClassIndex(labels).place(stated) if labels else -1
    if at < 0 and len(labels) > 1:
        fault = f"The column “{shortened(truth)}” holds no label “{shortened(stated)}”"
        raise file_problem(first_rows.path, Finding(fault, f"It holds {listed([*labels])}."))
    return (*labels[:at], *labels[at + 1 :], labels[at]) if at >= 0 else (*labels, stated)


def parts_of(text: str) -> list[str]:
    """Return the parts of a text that is one line of CSV: what has a comma in it stands in quotation marks.

    >>> parts_of('red, "b, c",green')
    ['red', 'b, c', 'green']
    """
    try:
        return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])] or [text]
    except csv.Error:
        return [text]  # of several lines


def as_option_value(pairs: Iterable[tuple[str, object]]) -> str:
    """Return names and values as an option states them, quoted for a shell; `parts_of` reads it.

    >>> print(as_option_value([("red", 0.25), ("b, c", 0.75)]))
    'red=0.25,"b, c=0.75"'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([f"{name}={value}" for name, value in pairs])
    return shlex.quote(text.getvalue())


def as_options(*models: ColumnMap) -> str:
    """Return the options of `elicit study new` that express the maps of the models in a file, scores first.

    >>> as_options(ColumnMap("label", ("cat", "dog"), ("s cat", "s dog"), "logits"))
    "--truth label --columns 'cat=s cat,dog=s dog' --logits"
    """
    options = [f"--truth {shlex.quote(models[0].truth)}"]
    for one in models:
        if one.kind == "labels":
            options.append(f"--predicted {shlex.quote(one.columns[0])}")
        else:
            named = zip(one.classes[-len(one.columns) :], one.columns, strict=True)
            options += [f"--columns {as_option_value(named)}", *(["--logits"] if one.kind == "logits" else [])]
    options += ["--skip-unread"] if any(one.skip_unread for one in models) else []
    return " ".join(options)


def require_usable(columns: ColumnMap) -> None:
    """Check that a map names each column once, and one column per class. Raises Problem if it does not."""
    used = [columns.truth, *columns.columns]
    k = len(columns.classes)
    if len(set(used)) < len(used):
        twice = next(name for name in used if used.count(name) > 1)
        raise Problem(f"The column “{shortened(twice)}” is named twice: each column has one meaning.")
    if len(set(columns.classes)) < k or k < 2:
        raise Problem(f"The classes {listed(list(columns.classes))} must be two or more, each named once.")
    wanted = (1,) if columns.kind == "labels" else (1, k) if k == 2 else (k,)
    if len(columns.columns) not in wanted:
        what = "one column of predicted labels" if columns.kind == "labels" else f"one column for each of {k} classes"
        raise Problem(f"{counted(len(columns.columns), 'column')} named where {what} is needed.")


_REMEDY_OF_NO_LABEL = (
    "Write a label in every row, or skip unread cases when the study is made: models and readers are compared on the "
    "same cases."
)


class MappedTable(Table):
    """A table with the usual names, `y_true` and `proba_<class>`; see `tables.Table`.

    Raw scores become probabilities by softmax, a single score of two classes by the logistic function; a predicted
    label becomes probability 1. Columns that tell whose case each row is, and which, come last and stay as they are.
    """

    remedy_of_unknown = "Every true class needs a column: name that of each label, or leave these rows out."

    def __init__(self, table: Table, columns: ColumnMap, identities: Sequence[str] = ()) -> None:
        require_usable(columns)
        self._table, self._map, self._n_identities = table, columns, len(identities)
        self.path, self.rows, self.blank_lines = table.path, table.rows, table.blank_lines
        self.remedy_of_empty = _REMEDY_OF_NO_LABEL if columns.kind == "labels" else ""
        self.columns = (TRUTH, *(PROBABILITY + name for name in columns.classes))
        names = [name.strip() for name in table.columns]
        missing = [name for name in (columns.truth, *columns.columns) if name not in names]
        if missing:
            remedy = f"The columns are {listed(names, 8)}."
            raise file_problem(self.path, Finding(f"There is no column {listed(missing)}", remedy))
        self.columns = (*self.columns, *identities)
        used = (columns.truth, *columns.columns, *identities)
        self._places = [names.index(name) for name in used]
        self._index = ClassIndex(columns.classes)

    def frames(self, wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield frames; see `tables.Table`."""
        row = start
        for frame in self._table.frames(self._places, start, stop):
            truth, *given = frame.get_columns()
            identities = [given.pop().alias(f"identity {number}") for number in range(self._n_identities)][::-1]
            made = self._one_hot(given[0], row) if self._map.kind == "labels" else self._probabilities(given, row)
            yield made.insert_column(0, truth.alias("0")).with_columns(identities)[:, list(wanted)]
            row += frame.height

    def row_fault(self, row: int) -> str | None:
        """Return the fault in the shape of a row; see `tables.Table`."""
        return self._table.row_fault(row)

    def written(self, column: str) -> str:
        """Return the column that was given for a usual one; see `tables.Table`."""
        if column == TRUTH:
            return self._map.truth
        at = self._map.classes.index(column.removeprefix(PROBABILITY)) - len(self._map.classes)
        return self._map.columns[max(at, -len(self._map.columns))]

    def _one_hot(self, given: pl.Series, before: int) -> pl.DataFrame:
        """Return probability 1 for the predicted label; null if there is none."""
        import polars as pl

        values = given.unique().drop_nulls()
        places = [EMPTY if not _text(value) else self._index.place(value) for value in values]
        found = given.replace_strict(values, places, default=EMPTY, return_dtype=pl.Int64)
        if (found == UNKNOWN).any():
            at = int((found == UNKNOWN).arg_max() or 0)
            what = f"Row {before + at + 1}: the predicted label “{shortened(str(given[at]))}” is not one of the classes"
            classes = listed(list(self._map.classes), 8)
            raise file_problem(self.path, Finding(what, f"The classes are {classes}; {INDETERMINATE}."))
        there = pl.when(found != EMPTY)
        columns = [there.then((found == j).cast(pl.Float64)).alias(str(1 + j)) for j in range(len(self._map.classes))]
        return pl.select(columns)

    def _probabilities(self, given: Sequence[pl.Series], before: int) -> pl.DataFrame:
        """Return the probability of each class; missing numbers stay missing, and text is rejected."""
        import polars as pl

        numbers = [_numbers_or_shares(column) for column in given]
        for name, column, number in zip(self._map.columns, given, numbers, strict=True):
            text = number.is_null() & ~column.is_null()
            if text.any():
                at = int(text.arg_max() or 0)
                found = f"Row {before + at + 1}: {name} is “{shortened(str(column[at]))}”, not a number"
                raise file_problem(self.path, Finding(found, "Write plain numbers with a decimal point."))
        missing = np.column_stack([number.is_null().to_numpy() for number in numbers])
        # If one number of a row is missing, the others are not checked.
        values = np.where(missing.any(axis=1, keepdims=True), 0.0, np.column_stack([n.to_numpy() for n in numbers]))
        proba = _as_probabilities(values, self._map.kind)
        gone = np.repeat(missing, 2, axis=1) if missing.shape[1] < proba.shape[1] else missing
        made = pl.DataFrame({str(1 + j): np.ascontiguousarray(column) for j, column in enumerate(proba.T)})
        return made.with_columns(pl.when(~pl.Series(gone[:, j])).then(pl.col(str(1 + j))) for j in range(len(proba.T)))


def _numbers_or_shares(given: pl.Series) -> pl.Series:
    """Return the numbers in cells, null where there is none; with a percent sign, a hundredth of the number."""
    import polars as pl

    numbers = as_numbers(given)
    if given.dtype != pl.String or numbers.null_count() == given.null_count():
        return numbers
    shares = given.str.extract(PERCENT).cast(pl.Float64, strict=False) / 100
    return numbers.fill_null(shares)


def _as_probabilities(values: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Return probabilities (n, k) from the given columns; a single column belongs to the second of two classes."""
    from scipy.special import softmax

    if kind == "percentages":
        return values / 100
    if kind == "probabilities":
        return np.column_stack([1 - values, values]) if values.shape[1] == 1 else values
    scores = np.column_stack([np.zeros(len(values)), values]) if values.shape[1] == 1 else values
    with np.errstate(invalid="ignore"):  # of what is infinite nothing follows, and the check of the rows says so
        return np.asarray(softmax(scores, axis=1))


def _holds_several(cell: object) -> bool:
    """Return whether a cell is a list of numbers, or the text of one: "[0.2, 0.8]", "[0.2 0.8]", "{'cat': 0.2}"."""
    if isinstance(cell, str):
        text = cell[:LONGEST_CELL].strip()
        return text[:1] + text[-1:] in ("[]", "()", "{}") and len(re.findall(r"\d[\d.eE+-]*", text)) > 1
    parts = [*cell.values()] if isinstance(cell, dict) else cell if isinstance(cell, list) else []
    return len(parts) > 1 and all(isinstance(one, (int, float)) for one in parts)


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) and not value.is_integer() else _text(value)


def _text(value: object) -> str:
    """Return a label as text; empty if there is none."""
    return "" if value is None else label_text(value)
