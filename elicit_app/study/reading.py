"""Reading of predictions, and the defaults derived from them.

An opened file has its classes at once and yields its rows in checked batches. The defaults are the population to show
and the yardstick; stated prevalences are checked here too.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, Problem, file_problem, listed, shortened
from elicit_app.study.checking import SUM_RANGE, Batch, RowCheck, require_comparable
from elicit_app.study.first_rows import hold_labels_alone, read_first_rows
from elicit_app.study.identity import (
    PERSON,
    case_column,
    numbered,
    person_column,
    repeated_cases,
    row_column,
    tell_cases,
)
from elicit_app.study.mapping import MappedTable
from elicit_app.study.model import MOST_CLASSES, ColumnMap, Predictions, Study
from elicit_app.study.parquet import BATCH_ROWS
from elicit_app.study.tables import PREDICTED, PROBABILITY, TRUTH, Table, class_of_column, open_table
from metrics.elicited.family import error_cells, rare_class
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import has_line_end, label_text
from metrics.measures.confusion import confusion_matrix
from metrics.policies.cases import are_several_of_one
from metrics.text import confusable_key, counted

if TYPE_CHECKING:
    import polars as pl


_WEIGHTS = ("sample_weight", "sample_weights", "weight", "weights")
_SPLIT = {"split", "set", "subset", "partition", "dataset", "data_set", "fold", "phase", "usage", "role"}
_TRAINING = {"train", "training"}
FIRST_CASES = 50_000
"""Rows of a file that are looked at for what its other columns tell."""
_MOST_BYTES_BY_CASE = 2**29  # of a file; in a larger one, what names the cases might be their pictures, as text
MOST_NUMBERS = 64_000_000
"""Largest number of probabilities of one model in a study: half a gibibyte."""


class ReadPredictions(NamedTuple):
    """The predictions of one file, their classes in column order, and notes for a person.

    Columns of the file may tell whose case each row is, and which case.
    """

    predictions: Predictions
    classes: tuple[str, ...]
    notes: tuple[str, ...]
    person_column: str = ""
    case_column: str = ""
    rows: NDArray[np.int64] | None = None  # shape (n,): the numbers of the rows in the file, from 1
    unread: int = 0  # rows of the file that were skipped
    decided: tuple[str, str] | None = None  # the column, and its file, of labels that stand for probabilities


@dataclass(frozen=True)
class PredictionsFile:
    """A predictions file whose columns have been identified and whose rows have not yet been read."""

    table: Table
    source: Table  # the same with all columns of the file, by its own names
    classes: tuple[str, ...]  # in the order in which batches give their columns
    positions: tuple[int, ...]  # positions of the label column and of one probability column per class
    # the rows to read: from `start`, counted from 0, up to `stop`; None for the end
    start: int = 0
    stop: int | None = None
    weights: str = ""  # a column that seems to hold case weights, which is not used; or empty
    # positions of columns that seem to tell whose case each row is, and which case or row
    people: int | None = None
    cases: int | None = None
    skip_unread: bool = False  # whether rows without a label are left out
    per_cent: str = ""  # a single column that seems to hold percentages; or empty

    @property
    def name(self) -> str:
        """Return the model's name: the file's name without its suffix."""
        return self.table.path.stem

    @property
    def person_column(self) -> str:
        """Return the name of the column that seems to tell whose case each row is, or an empty name."""
        return "" if self.people is None else self.table.columns[self.people].strip()

    @property
    def case_column(self) -> str:
        """Return the name of the column that seems to tell which case each row is, or an empty name."""
        return "" if self.cases is None else self.table.columns[self.cases].strip()

    def check(self) -> RowCheck:
        """Return a new check of the rows, which counts those that it rescales."""
        by_person, by_case = self.people is not None, self.cases is not None
        return RowCheck(
            self.table, self.classes, self.start, by_person=by_person, by_case=by_case, skip_unread=self.skip_unread
        )

    def batches(self, check: RowCheck | None = None) -> Iterator[Batch]:
        """Yield the rows in checked batches; a Problem at the end lists all faults."""
        return (check or self.check()).batches(self.frames())

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows as written: the labels, one column per class, whose case each row is, and which, if known."""
        identities = (position for position in (self.people, self.cases) if position is not None)
        return self.table.frames((*self.positions, *identities), self.start, self.stop)

    def first_cases(self, most: int) -> NDArray[np.int64] | None:
        """Return a number for the case of each of the first `most` rows; None if no column seems to name cases."""
        if self.cases is None:
            return None
        frames = self.table.frames((self.cases,), self.start, self.start + most)
        return np.concatenate([numbered(frame.to_series(), 1 + np.arange(frame.height)) for frame in frames])

    def has_numbers_for(self, classes: Sequence[str]) -> bool:
        """Return whether the file numbers these classes 0..k-1, because an NPZ file need not name them."""
        return len(classes) == len(self.classes) and set(self.classes) == set(_numbered(len(classes)))

    def only_numbers(self, classes: Sequence[str]) -> bool:
        """Return whether the file numbers these classes and names none of them."""
        return self.has_numbers_for(classes) and not set(self.classes) & set(classes)

    def by_number(self) -> PredictionsFile:
        """Return the same file with its numbered classes in order."""
        return self.ordered(_numbered(len(self.classes)))

    def ordered(self, classes: Sequence[str]) -> PredictionsFile:
        """Return the same file with its classes in another order. Raises Problem if the file has other classes."""
        index = ClassIndex(classes)
        order = index.order_of(self.classes)
        if order is None:
            places = [*map(index.place, self.classes)]
            missing = [name for at, name in enumerate(classes) if at not in places]
            extra = [name for n, name in enumerate(self.classes) if places[n] in (-1, *places[:n])]
            found = [f"no column for {listed(missing)}"] if missing else []
            found += [f"a column for {listed(extra)}"] if extra else []
            remedy = f"The classes must be {listed(list(classes), 12)}."
            raise file_problem(self.table.path, Finding(f"There is {', but '.join(found)}", remedy))
        truth, *columns = self.positions
        return replace(self, classes=tuple(classes), positions=(truth, *(columns[at] for at in order)))


def open_predictions(
    path: str | Path,
    *,
    own: bool = False,
    columns: ColumnMap | None = None,
    classes: Sequence[str] = (),
    by_case: bool = False,
) -> PredictionsFile:
    """Open a predictions file and find its columns.

    CSV and Parquet have a column `y_true` and one column `proba_<class>` per class, NPZ has `y_true` (n,), `y_proba`
    (n, k) and optionally `classes` (k,); other columns are ignored. `columns` is the meaning of columns that have other
    names. If the `classes` are known, a file may have a column `y_pred` of their labels, or of their numbers 0..k-1, in
    place of probabilities, or one of another name in `columns`. A file that came with the program is its `own`, and
    trusted. Which case each row is, is only read `by_case`. Raises Problem if the file or its header is invalid; the
    message says what to do.
    """
    table = open_table(Path(path), own=own)
    if classes and columns is None and hold_labels_alone([name.strip() for name in table.columns]):
        columns = ColumnMap(TRUTH, tuple(classes), (PREDICTED,), "labels")
    if classes and columns is not None and columns.kind == "labels":
        by_number = numbers_only(_first_labels(table, columns), classes)
        columns = replace(columns, classes=_numbered(len(classes)) if by_number else tuple(classes))
    used = () if columns is None else columns.names
    others = [name.strip() if name.strip() not in used and name not in table.nested else "" for name in table.columns]
    weights = weight_column(others)
    by_case = by_case and table.path.stat().st_size <= _MOST_BYTES_BY_CASE
    people, case = person_column(others), (case_column(others) or row_column(others)) if by_case else None
    identities = tuple(name for name in (people, case) if name is not None)
    source, table = table, table if columns is None else MappedTable(table, columns, identities)
    names = [name.strip() for name in table.columns]
    found = {position: known for position, name in enumerate(names) if (known := class_of_column(name)) is not None}
    findings = [*_column_findings(names, list(found.values()))]
    if findings:
        raise file_problem(table.path, *findings)
    return PredictionsFile(
        table,
        source,
        tuple(found.values()),
        (names.index(TRUTH), *found),
        weights=weights,
        people=None if people is None else names.index(people),
        cases=None if case is None else names.index(case),
        skip_unread=columns is not None and columns.skip_unread,
        per_cent=columns.columns[0] if columns and columns.kind == "percentages" and len(columns.columns) == 1 else "",
    )


def numbers_only(labels: Iterable[object], classes: Sequence[str]) -> bool:
    """Return whether labels number these classes 0..k-1, and none of them names one; False without labels."""
    given = list(labels)
    if not given or not classes:
        return False
    names, numbers = ClassIndex(list(classes)), ClassIndex(len(classes))
    return all(names.place(label) < 0 <= numbers.place(label) for label in given)


def _first_labels(table: Table, columns: ColumnMap) -> set[object]:
    """Return the different labels in the first rows of a file of true and predicted labels."""
    names = [name.strip() for name in table.columns]
    used = [names.index(name) for name in (columns.truth, *columns.columns) if name in names]
    frames = table.frames(used, 0, BATCH_ROWS)
    return {
        label for frame in frames for column in frame for label in column.drop_nulls().unique() if label_text(label)
    }


def read_predictions(
    path: str | Path, *, labels: Sequence[str] | None = None, own: bool = False, columns: ColumnMap | None = None
) -> ReadPredictions:
    """Read and check all predictions of one file; see `open_predictions`.

    The classes are in the order of `labels`, by default in that of the columns; `labels` also name the classes of an
    NPZ file that does not. Probabilities are in [0, 1]. Rows whose sum is within 0.99 to 1.01, but further from 1 than
    the measures accept (0.001), are divided by their sum, and a note gives their number; all others are as written.
    Raises Problem if there are faults; it lists all, with their rows, counted from 1 below the header, or columns.
    """
    known = tuple(labels or ()) if columns is not None else ()
    file = open_predictions(path, own=own, columns=columns, classes=known, by_case=True)
    names = file.classes
    if labels is not None:
        file, names = _arranged(file, tuple(labels))
    check = file.check()
    batches = [*_few_enough(file.batches(check), file)]
    y_true = np.concatenate([batch.y_true for batch in batches] or [np.zeros(0, dtype=np.int64)])
    require_comparable(file.table.path, names, np.bincount(y_true, minlength=len(names)))
    people = _joined([batch.people for batch in batches])
    # Where each person is one case, these are known by the person.
    found = ((_joined([batch.cases for batch in batches]), file.case_column), (people, file.person_column))
    told = [(cases, column) for cases, column in found if cases is not None and tell_cases(column, cases)]
    notes = (*weight_notes(file.table.path, file.weights), *rescaling_notes(file.table.path, check.rescaled))
    notes += file_notes(file)
    notes += () if told or people is not None else repeats_notes(file, found[0][0])
    cases, case_column = told[0] if told else (None, "")
    if people is not None and not are_several_of_one(people):
        people = None
    y_proba = np.concatenate([batch.y_proba for batch in batches])
    predictions = Predictions(file.name, y_true, np.ascontiguousarray(y_proba, dtype=np.float64), people, cases)
    decided = None if columns is None or columns.kind != "labels" else (columns.columns[0], file.table.path.name)
    rows = _joined([batch.rows for batch in batches])
    return ReadPredictions(predictions, names, notes, file.person_column, case_column, rows, check.unread, decided)


def _joined(parts: Sequence[NDArray[np.int64] | None]) -> NDArray[np.int64] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


def require_askable(path: Path, n_classes: int) -> None:
    """Check that there are not too many classes to ask about, before any matrix is allocated.

    Raises Problem if there are more than `MOST_CLASSES`.
    """
    if n_classes > MOST_CLASSES:
        found = f"It has {n_classes:,} classes; at most {MOST_CLASSES} can be asked about"
        raise file_problem(path, Finding(found, "Put classes together, or leave some out with their cases."))


def _few_enough(batches: Iterator[Batch], file: PredictionsFile) -> Iterator[Batch]:
    """Yield batches, and raise a Problem once a study could not hold them all."""
    numbers = 0
    for batch in batches:
        numbers += batch.y_proba.size
        if numbers > MOST_NUMBERS:
            rows = MOST_NUMBERS // len(file.classes)
            found = f"It has more than {rows:,} rows of {len(file.classes)} classes, which a study cannot hold"
            raise file_problem(file.table.path, Finding(found, "Take a sample of the cases."))
        yield batch


def _numbered(n_classes: int) -> tuple[str, ...]:
    return tuple(str(index) for index in range(n_classes))


def numbering_notes(path: Path, classes: Sequence[str]) -> tuple[str, ...]:
    """Return a note on the numbers that a file uses for classes of these names."""
    meant = ", ".join(f"{index} for “{shortened(name)}”" for index, name in enumerate(classes[:12]))
    return (f"{path.name}: the classes are numbered; {meant}{' and so on' if len(classes) > 12 else ''}.",)


def weight_column(names: Sequence[str]) -> str:
    """Return the first column that seems to hold case weights, or an empty name."""
    return next((name for name in names if name.lower() in _WEIGHTS), "")


def weight_notes(path: Path, column: str) -> tuple[str, ...]:
    """Return a note if a column of a file seems to hold case weights."""
    return (f"{path.name}: the column {column} is not used; every case counts alike.",) if column else ()


def people_notes(path: Path, column: str, people: int) -> tuple[str, ...]:
    """Return a note on a column of a file, if any, that tells how many people the cases are of."""
    if not column or column == PERSON:
        return ()
    told = f"by the column {column} these cases are of {people:,} people. How sure a result is rests on the people"
    return (f"{path.name}: {told}, not on the cases. If the column means something else, rename it.",)


def file_notes(file: PredictionsFile) -> tuple[str, ...]:
    """Return notes on what the names and values of a file's columns seem to say."""
    column = file.per_cent
    read = f"{column} was read as per cent, because its numbers go beyond 1 and none is below 0"
    per_cent = (f"{file.table.path.name}: {read}.",) if column else ()
    return (*per_cent, *_training_notes(file))


def _training_notes(file: PredictionsFile) -> tuple[str, ...]:
    """Return a note if a column of a file tells that its first rows hold cases of the training set."""
    table = file.source
    for at, name in enumerate(table.columns):
        if name.strip().lower() not in _SPLIT:
            continue
        values = [str(value).strip().lower() for frame in table.frames([at], 0, FIRST_CASES) for value in frame[:, 0]]
        trained = sum(value in _TRAINING for value in values)
        if trained:
            told = f"by the column {name.strip()} {trained:,} of the first {len(values):,} rows are training cases"
            return (f"{table.path.name}: {told}. On these a model does better than on others: leave them out.",)
    return ()


def repeats_notes(file: PredictionsFile, cases: NDArray[np.int64] | None) -> tuple[str, ...]:
    """Return a note if a column of a file tells that several rows are of the same case."""
    different = 0 if cases is None else repeated_cases(cases)
    if cases is None or not different:
        return ()
    told = f"by the column {file.case_column} the first {len(cases):,} rows are of {different:,} cases"
    remedy = "Leave one row a case or, to draw cases with all their rows, call the column person_id."
    if split := _split_by_model(file.table.path):
        remedy = f"{split} If not, {remedy[0].lower()}{remedy[1:]}"
    name = file.table.path.name
    return (f"{name}: {told}. Every row counts as a case of its own, which makes a result too sure. {remedy}",)


def _split_by_model(path: Path) -> str:
    """Return what to do about a file with a row for each model and case; empty if it does not seem to be one."""
    try:
        looked_at = read_first_rows(path)
    except Problem:  # of columns that nobody needs
        return ""
    model = looked_at.model_column
    if model is None:
        return ""
    which = f"If {model} says which model or reader ({listed(list(looked_at.values[model]), 3)})"
    return f"{which}, say so when the study is made, or write a file for each."


def look_alike_notes(classes: Sequence[str]) -> Iterator[str]:
    """Yield notes on classes that look alike and may be one class spelt in two ways."""
    first: dict[str, str] = {}
    for name in classes:
        twin = first.setdefault(confusable_key(name), name)
        if twin != name:
            odd = [letter for letter in dict.fromkeys(name + twin) if (letter in name) != (letter in twin)]
            letters = ", ".join(unicodedata.name(letter, f"U+{ord(letter):04X}").lower() for letter in odd[:3])
            differ = "capitals only" if name.casefold() == twin.casefold() else letters or "their spaces"
            yield (
                f"Two classes look alike, “{shortened(twin)}” and “{shortened(name)}”; they differ in {differ}. "
                "If they are one class, write it in one way."
            )


def several_labels_notes(classes: Sequence[str]) -> Iterator[str]:
    """Yield a note if the name of a class is made of the names of others: "calm|sad" beside "calm" and "sad"."""
    for name in classes:
        parts = [part.strip() for part in re.split(r"[|;,+]", name)]
        if len(parts) > 1 and {*parts} <= {*classes}:
            yield (
                f"“{shortened(name)}” seems to be several labels of one case. If a case can have several, write "
                "columns true_<label> and pred_<label>, with 0 and 1, or proba_<label> for each label."
            )
            return


def swapped_column_notes(models: Sequence[Predictions], classes: Sequence[str]) -> Iterator[str]:
    """Yield notes on models that would be right much more often with their class names exchanged."""
    from scipy.optimize import linear_sum_assignment

    for model in models:
        counts = confusion_matrix(model.y_true, model.y_proba.argmax(axis=1), labels=range(len(classes)))
        rows, columns = linear_sum_assignment(counts, maximize=True)
        now, exchanged = np.trace(counts) / counts.sum(), counts[rows, columns].sum() / counts.sum()
        if exchanged > now + 0.1 + 2 / np.sqrt(counts.sum()):  # a weak model improves a little by chance
            moved = [classes[i] for i, j in enumerate(columns.tolist()) if i != j]
            yield (
                f"{model.name} is right in {100 * now:.0f} % of the cases; with the columns of {listed(moved, 4)} "
                f"exchanged, in {100 * exchanged:.0f} %. Check which column belongs to which class."
            )


def rescaling_notes(path: Path, rows: int) -> tuple[str, ...]:
    """Return a note if `rows` rows of a file were divided by their sum."""
    if not rows:
        return ()
    were = counted(rows, "row was divided by its", "rows were divided by their")
    return (f"{path.name}: {were} sum, which was not 1 (0.99 to 1.01 is accepted).",)


def _arranged(file: PredictionsFile, labels: tuple[str, ...]) -> tuple[PredictionsFile, tuple[str, ...]]:
    """Return the file with its classes in the order of `labels`, or with numbered classes named by `labels`."""
    if len(set(labels)) < len(labels):
        raise Problem(f"The labels {listed(list(labels), 12)} name a class twice: each class needs one name.")
    by_number = set(labels) != set(file.classes) and file.has_numbers_for(labels)
    return file.by_number() if by_number else file.ordered(labels), labels


def _column_findings(names: list[str], classes: list[str]) -> Iterator[Finding]:
    """Yield the faults in the columns of a file."""
    there = f"The columns are {listed(names, 8)}."
    if TRUTH not in names:
        yield Finding(f"There is no column {TRUTH}", f"It holds the true class of each row. {there}")
    if not classes:
        remedy = (
            "Each class needs one. A new study can be made from files whose columns have other names, and the files in "
            "its folder have these."
        )
        yield Finding(f"There is no column {PROBABILITY}<class>", f"{remedy} {there}" if TRUTH in names else remedy)
    elif len(classes) == 1:
        remedy = "At least two classes are needed. With two classes, write the probability of each."
        yield Finding(f"There is only one class, “{classes[0]}”", remedy)
    for name in filter(has_line_end, classes):
        yield Finding(f"The name of the class “{shortened(name)}” has a line end in it", "Write it on one line.")
    if "" in classes:
        yield Finding(f"A column is called {PROBABILITY} and names no class", f"Call it {PROBABILITY}<class>.")
    for name, times in Counter([name for name in names if name == TRUTH]).items():
        if times > 1:
            yield Finding(f"There are {times} columns {name}", "Leave one.")
    for name, times in Counter(classes).items():
        if times > 1:
            yield Finding(f"There are {times} columns for class “{name}”", "Each class needs exactly one.")


POPULATIONS = (100, 1_000, 10_000, 100_000)
_RAREST = 50


def normalised_prevalence(stated: Sequence[float], n_classes: int) -> tuple[float, ...]:
    """Normalise a stated prevalence, whose sum may be within 0.99 to 1.01, to sum 1.

    Raises Problem if the numbers are not a prevalence of that many classes.
    """
    if len(stated) != n_classes or not all(0 < share < 1 for share in stated):
        raise Problem(f"The stated prevalence must be {n_classes} numbers between 0 and 1, one per class.")
    total = math.fsum(stated)
    if not SUM_RANGE[0] <= total <= SUM_RANGE[1]:
        raise Problem(f"The stated prevalence must add up to 1, not to {total:.4g}.")
    return tuple(stated) if math.isclose(total, 1) else tuple(share / total for share in stated)


def population_for(prevalence: NDArray[np.float64] | Sequence[float]) -> int:
    """Return the smallest of 100, 1,000, 10,000 and 100,000 that shows at least 50 cases of the rarest class.

    If none does, return the largest.
    """
    rarest = float(min(prevalence))
    return next((size for size in POPULATIONS if round(rarest * size, 6) >= _RAREST), POPULATIONS[-1])


def yardstick_for(study: Study) -> tuple[int, int]:
    """Return (true, predicted) of the most frequent mistake, summed over the most probable classes of all models.

    In a synthetic study the rule is to predict the most probable class. Ties go to the first mistake in row-major
    order. If one of two classes is rare it is a false alarm: the most probable class is then hardly ever the rare one,
    so that misses are frequent, but whoever looks for something rare counts in false alarms.
    """
    if study.n_classes == 2 and (rare := rare_class(study.prevalence)) is not None:
        return 1 - rare, rare
    counted = np.sum(study.usual_counts, axis=0) if study.distribution is None else study.distribution.usual
    errors = np.where(error_cells(study.n_classes), counted, -1)
    true, predicted = divmod(int(errors.argmax()), study.n_classes)
    return true, predicted
