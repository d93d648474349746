"""Predictions files with arbitrary columns: finds the truth and the probabilities, raw scores or labels."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elicit_app.problem import Finding, Problem, file_problem, listed, shortened
from elicit_app.study.checking import as_numbers
from elicit_app.study.first_rows import FirstRows, cell_label
from elicit_app.study.guessing import (
    PERCENT,
    are_of_decided,
    as_probabilities,
    classes_of_both,
    kind_of,
    whole_of_shares,
)
from elicit_app.study.model import MOST_CLASSES, ColumnMap
from elicit_app.study.tables import EMPTY, INDETERMINATE, PROBABILITY, TRUTH, UNKNOWN, Table
from metrics.inputs.class_index import ClassIndex
from metrics.text import counted

if TYPE_CHECKING:
    import polars as pl


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
    """Return a stated map of a file, with probabilities told from percentages by what they add up or reach to.

    Raises Problem if the map is inconsistent, calls columns raw scores that are probabilities or counted votes, or
    takes the confidence in whichever label was predicted for the probability of one.
    """
    require_usable(columns)
    known = [first_rows.numbers[name] for name in columns.columns if name in first_rows.numbers]
    scored = columns.kind != "labels" and len(known) == len(columns.columns)
    seen = kind_of(known) if scored else columns.kind
    if columns.kind == "logits" != seen and len(known) > 1:
        whole = 100 if seen == "percentages" else 1
        fault = f"The columns are {seen} already, which add up to {whole}: they are not raw scores (logits)"
        raise file_problem(first_rows.path, Finding(fault, "Take them as they are."))
    total = whole_of_shares(known) if columns.kind == "logits" and scored else None
    if total is not None:
        fault = f"The columns add up to {total:,g} in every row: they are shares of it, not raw scores (logits)"
        raise file_problem(first_rows.path, Finding(fault, "Divide them by it."))
    if scored and len(known) == 1 and are_of_decided(known[0]):
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
    for column in (truth, predicted) if len(names) > MOST_CLASSES else ():
        between = [number for number in first_rows.numbers.get(column, ()) if number % 1]
        if between:
            found = f"“{shortened(column)}” holds numbers such as {between[0]:g}, not labels"
            raise file_problem(first_rows.path, Finding(found, "Write the class that each number stands for."))
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
    options = [f"--truth {shlex.quote(models[0].truth)}", *dict.fromkeys(map(option_of_model, models))]
    options += [f"--model {shlex.quote(models[0].only[0])}"] if models[0].only is not None else []
    options += ["--logits"] if any(one.kind == "logits" for one in models) else []
    options += ["--skip-unread"] if any(one.skip_unread for one in models) else []
    return " ".join(options)


def option_of_model(columns: ColumnMap) -> str:
    """Return the option that names the columns of one model."""
    if columns.kind == "labels":
        return f"--predicted {shlex.quote(columns.columns[0])}"
    named = zip(columns.classes[-len(columns.columns) :], columns.columns, strict=True)
    return f"--columns {as_option_value(named)}"


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
        missing = [name for name in columns.names if name not in names]
        if missing:
            remedy = f"The columns are {listed(names, 8)}."
            raise file_problem(self.path, Finding(f"There is no column {listed(missing)}", remedy))
        self.columns = (*self.columns, *identities)
        used = [columns.truth, *columns.columns, *identities]
        if columns.only is not None:
            used.append(columns.only[0])
            self.blank_lines = True  # rows of other models are left blank
        self._places = [names.index(name) for name in used]
        self._index = ClassIndex(columns.classes)

    def frames(self, wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Yield frames; see `tables.Table`."""
        row = start
        for frame in self._table.frames(self._places, start, stop):
            truth, *given = frame.get_columns()
            model = None if self._map.only is None else given.pop()
            identities = [given.pop().alias(f"identity {number}") for number in range(self._n_identities)][::-1]
            made = self._one_hot(given[0], row) if self._map.kind == "labels" else self._probabilities(given, row)
            whole = made.insert_column(0, truth.alias("0")).with_columns(identities)[:, list(wanted)]
            yield whole if model is None else self._of_one_model(whole, model)
            row += frame.height

    def _of_one_model(self, frame: pl.DataFrame, model: pl.Series) -> pl.DataFrame:
        """Return a frame with blank rows where `model` is not the one whose rows are read."""
        import polars as pl

        _, wanted = self._map.only or ("", "")
        own = model.is_in([value for value in model.unique().drop_nulls() if cell_label(value) == wanted])
        return frame.with_columns(pl.when(own).then(pl.all()))

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
        places = [EMPTY if not cell_label(value) else self._index.place(value) for value in values]
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
        proba = as_probabilities(values, self._map.kind)
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
