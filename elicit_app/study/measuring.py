"""The measures of `elicit measure`: the columns of their files, options by class, and the entry of a measure.

A file of classes has `y_true` and one column `proba_<class>` per class, or `y_true` and `y_pred`. A file of numbers has
`y_true`, `mean` and, if known, `std`, or `lower` and `upper`. A file of several labels has `true_<label>` and
`pred_<label>` (or `proba_<label>`), or the same with the label first. A file of outcomes in contexts has `y_true`,
`y_pred`, and `context` or `context_<feature>`.

Sources: Wang, Du and Liu, "Meta Pattern Concern Score"; B. Marlin, COMPSCI 589 lecture 14; a blog post on a multi-label
score with two penalties; Kota Gopalakrishna et al., "Relevance As a Metric".
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, Problem, WrongOption, file_problem, listed
from elicit_app.study.mapping import parts_of
from elicit_app.study.reading import (
    ReadPredictions,
    numbering_notes,
    numbers_only,
    open_predictions,
    read_predictions,
    weight_column,
    weight_notes,
)
from elicit_app.study.tables import MOST_TYPED_BYTES, PREDICTED, PROBABILITY, SEPARATORS, TRUTH, open_table
from metrics.elicited.elicited_metric import ElicitedMetric
from metrics.elicited.kinds import WHAT_IS_PRICED, KindName
from metrics.elicited.release import ReleaseForm
from metrics.errors import InputError, RowError
from metrics.files import cell_text, read_regular_file
from metrics.inputs.arguments import Floats
from metrics.inputs.class_index import ClassIndex, joint_names
from metrics.inputs.labels import is_missing, label_text
from metrics.measures.concern import TrueConcern
from metrics.policies.cases import Practice
from metrics.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


CONTEXT = "context"
TRUE_LABEL, PREDICTED_LABEL = "true_", "pred_"
_CONTEXT_FEATURE = "context_"
# merging tables of truths and predictions puts the label first
_LABEL_FIRST = {"_true": TRUE_LABEL, "_pred": PREDICTED_LABEL, "_proba": PROBABILITY}
_YES_OR_NO = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_GIVEN_FROM = 0.5  # probability from which a label is given
_THOUSANDS = re.compile(r"[1-9]\d{0,2}([.,]\d{3})+")
_ROUNDING = 1e-6  # tolerance for shares that should sum to 1

Bits = NDArray[np.bool_]


class LabelBits(NamedTuple):
    """The labels that n items have and those predicted for them, shape (n, L), and the names of the labels."""

    true: Bits
    predicted: Bits
    labels: tuple[str, ...]


class CaseColumns:
    """A file of cases (CSV, Parquet or NPZ) whose columns are read on demand.

    Where classes are `known`, from a metric, the file may number them in place of naming them. Raises Problem if the
    file cannot be opened, or a requested column is missing or invalid; the message gives the row.
    """

    def __init__(self, path: Path, known: Sequence[str] = ()) -> None:
        self.path, self._known = path, known
        self._numbered: tuple[str, ...] = ()  # the note on labels that number the known classes
        self._table = open_table(path)
        self.names = _label_last([name.strip() for name in self._table.columns])

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
        if not self._is_numbered:
            return read_predictions(self.path)
        read = read_predictions(self.path, labels=self._known)
        return read._replace(notes=(*numbering_notes(self.path, self._known), *read.notes))

    @cached_property
    def _is_numbered(self) -> bool:
        if not self._known or PREDICTED in self.names or not self._group(PROBABILITY):
            return False
        return open_predictions(self.path).only_numbers(self._known)

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


def numbers_by_class(text: str, classes: Sequence[str], option: str) -> dict[str, float]:
    """Return the numbers that an option states for classes: "malignant=0.1", "malignant=10%" or "a=0.2,b=0.3".

    It is one line of CSV: a class with a comma in it stands in quotation marks. Raises WrongOption if a class is
    unknown or named twice, or a value is not a number >= 0.
    """
    found: dict[str, float] = {}
    index = ClassIndex(classes)
    for part in parts_of(text):
        name, stated, number = part.rpartition("=")
        name = name.strip()
        at = index.place(name)
        if not stated:
            quotes = ' and "a, b"=NUMBER for a class with a comma' if any("," in one for one in classes) else ""
            raise WrongOption(f"`{option}`: {part!r} has no number; write CLASS=NUMBER,...{quotes}")
        if at < 0:
            raise WrongOption(f"`{option}`: {name!r} is not one of the classes {', '.join(classes)}.")
        name = classes[at]
        if name in found:
            raise WrongOption(f"`{option}`: {name!r} is named twice.")
        whole = number.strip()
        try:
            found[name] = float(whole[:-1]) / 100 if whole.endswith("%") else float(whole)
        except ValueError:
            raise WrongOption(f"`{option}`: {number!r} is not a number; write CLASS=NUMBER,...") from None
        if not 0 <= found[name] < float("inf"):
            raise WrongOption(f"`{option}`: {number} must be a finite number of at least 0.")
    return found


def completed_prevalence(stated: Mapping[str, float], counts: Mapping[str, int]) -> list[float]:
    """Return a share for every class; those not stated divide the remainder in proportion to their cases, `counts`.

    Raises WrongOption if the shares do not sum to 1.
    """
    rest = 1 - sum(stated.values())
    left = sum(count for name, count in counts.items() if name not in stated)
    if abs(rest) > _ROUNDING and (rest < 0 or not left):
        raise WrongOption(f"`prevalence`: the rates add up to {1 - rest:.4g}, not 1.")
    return [stated.get(name, max(rest, 0.0) * count / (left or 1)) for name, count in counts.items()]


def read_practice(path: Path, classes: Sequence[str]) -> Practice:
    """Read a table of present practice, or any other matrix of which only the row rates matter.

    The first line of the CSV file names the decisions, after a first cell that is ignored. Each other line names a true
    class and gives a count or a rate for each decision. Classes may be in any order. Cells may be separated by
    semicolons, tabs or bars, as in spreadsheets with decimal commas; "1.234" and "1,234" are then refused, because they
    may be thousands. Raises Problem if the file is invalid.
    """
    table = read_class_table(path, classes)
    try:
        return Practice.of(table, classes)
    except InputError as error:
        raise Problem(f"{path}: {error}") from error


def read_class_table(path: Path, classes: Sequence[str]) -> NDArray[np.float64]:
    """Read a table of numbers with named rows, the true classes, and named columns, the decisions.

    The result is in the order of `classes`, shape (k, k); see `read_practice`.
    """
    try:
        text = read_regular_file(path, MOST_TYPED_BYTES).decode("utf-8-sig")
        read = [(mark, _lines(text, mark)) for mark in SEPARATORS]
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error, InputError) as error:
        raise Problem(f"{path} is not a CSV file of a table.") from error
    index = ClassIndex(classes)
    mark, lines = next(((mark, lines) for mark, lines in read if _names_both(lines, index)), ("", []))
    if not lines:
        expected = f"a row and a column for each of {', '.join(classes)}"
        raise Problem(f"{path}: {expected} was expected, the true classes in the first column.")
    table = np.zeros((len(classes), len(classes)))
    for line in lines[1:]:
        if len(line) != len(lines[0]):
            numbers = counted(len(line) - 1, "number")
            raise Problem(f"{path}: the row of “{line[0]}” has {numbers}, {len(classes)} were expected.")
        for name, cell in zip(lines[0][1:], line[1:], strict=True):
            if mark != "," and _THOUSANDS.fullmatch(cell):
                said = f"“{cell}” in the row of “{line[0]}” may be thousands or have three decimals"
                raise Problem(f"{path}: {said}. Write thousands without a mark, and at most two decimals.")
            try:
                number = cell if mark == "," else cell.replace(",", ".")
                table[index.place(line[0]), index.place(name)] = float(number)
            except ValueError:
                raise Problem(f"{path}: “{cell}” in the row of “{line[0]}” is not a number.") from None
    return table


def _lines(text: str, separator: str) -> list[list[str]]:
    """Return the cells of every line of a CSV file that has any; those of the first line and column are labels."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lines = [cells for row in rows if any(cells := [cell_text(cell.strip()) for cell in row])]
    heads = [[*map(label_text, line)] for line in lines[:1]]
    return [*heads, *([label_text(line[0]), *line[1:]] for line in lines[1:])]


def _names_both(lines: list[list[str]], index: ClassIndex) -> bool:
    """Return whether the first line and the first column of a table name each class."""
    named = (lines[0][1:], [line[0] for line in lines[1:]]) if lines else ()
    return bool(named) and all(index.order_of(names) is not None for names in named)


Needs = Literal[
    "decisions",
    "probabilities",
    "numbers",
    "numbers with std",
    "distributions",
    "intervals",
    "several labels",
    "contexts",
]

COLUMNS: dict[Needs, str] = {
    "decisions": "y_true, and y_pred or one proba_<class> a class",
    "probabilities": "y_true, and one proba_<class> a class",
    "numbers": "y_true and mean",
    "numbers with std": "y_true, mean and std",
    "distributions": "y_true, and the parameters as scipy.stats names them: loc, scale, df ...",
    "intervals": "y_true, and mean and std, or lower and upper",
    "several labels": "true_<label>, and pred_<label> or proba_<label>, for each label",
    "contexts": "y_true, y_pred, and context or context_<feature>",
}
"""Kind of content -> its columns."""


@dataclass(frozen=True)
class Options:
    """Options of a measure; None for those not given."""

    metric: ElicitedMetric | None = None  # costs, class weights and release factors
    costs: Path | None = None  # CSV of costs, a row per true class and a column per decision
    # "CLASS=NUMBER,..."
    class_weight: str | None = None
    prevalence: str | None = None
    positive: str | None = None  # the positive class
    threshold: float | None = None  # probability from which a case is called positive; 0.5
    bins: int | None = None  # number of bins of equal width; 10
    level: float | None = None  # nominal coverage of an interval; 0.95
    distribution: str | None = None  # name of a distribution of scipy.stats, whose parameters are columns
    # as in `metrics.ElicitedMetric.meta_pattern_concern_score`
    top_k: int | None = None
    intervals: int | None = None
    true_concern: TrueConcern | None = None
    release: ReleaseForm | None = None
    # as in `metrics.penalized_multilabel_score`
    false_positive_penalty: float | None = None
    false_negative_penalty: float | None = None
    # as in `metrics.relevance_score`
    alpha: float | None = None
    beta: float | None = None
    reference: Path | None = None  # the data set from which frequencies of outcomes are taken

    def given(self) -> dict[str, Any]:
        """Return the options that were given, by name."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) is not None}


class Measurement(NamedTuple):
    """The result of a measure on one file: the number, details as JSON values, and notes on how the file was read."""

    value: float
    details: dict[str, Any]
    notes: tuple[str, ...] = ()


Compute = Callable[[CaseColumns, Options], Measurement]
Draw = Callable[[CaseColumns, Options, "Axes"], object]


@dataclass(frozen=True)
class Measure:
    """One measure."""

    name: str  # on the command line
    title: str  # a short description
    needs: Needs  # the content that the file must have; a key of `COLUMNS`
    better: Literal["lower", "higher"]  # which values are better
    compute: Compute  # computes it
    draw: Draw  # draws it on axes
    options: tuple[str, ...] = field(default=())  # the fields of `Options` that it takes
    kind: KindName = "confusion"  # the required kind of an elicited metric

    def of(self, path: Path, options: Options) -> Measurement:
        """Return the result for a file.

        Raises WrongOption if an option does not apply to this measure, or its value is invalid. Raises Problem or
        InputError if the file is invalid.
        """
        self._require_known(options)
        with _reworded_errors(path, options):
            cases = self._cases(path, options)
            return self.compute(cases, options)._replace(notes=cases.notes)

    def draw_on(self, path: Path, options: Options, axes: Axes) -> None:
        """Draw the result for a file; raises the same errors as `of`."""
        self._require_known(options)
        with _reworded_errors(path, options):
            self.draw(self._cases(path, options), options, axes)

    def _cases(self, path: Path, options: Options) -> CaseColumns:
        metric = options.metric
        return CaseColumns(path, metric.classes if metric is not None and metric.kind == "confusion" else ())

    def _require_known(self, options: Options) -> None:
        for name in options.given():
            if name not in self.options:
                taken = ", ".join(f"`{one}`" for one in self.options) or "no options"
                raise WrongOption(f"`{name}` does not apply to the measure {self.name}, which takes {taken}.")
        if options.metric is not None and options.metric.kind != self.kind:
            found, wanted = WHAT_IS_PRICED[options.metric.kind], WHAT_IS_PRICED[self.kind]
            raise WrongOption(f"`metric` prices {found}; {self.name} takes a metric that prices {wanted}.")


@contextmanager
def _reworded_errors(file: Path, options: Options) -> Iterator[None]:
    """Reword errors in terms of the option, or of the row of the file, counted from 1."""
    try:
        yield
    except RowError as error:
        raise Problem(f"{file.name}: {error.argument}, row {error.row + 1}: {error.fault}") from error
    except InputError as error:
        arguments, colon, message = str(error).partition(":")
        if colon and set(arguments.split(", ")) <= options.given().keys():
            raise WrongOption(f"`{arguments.replace(', ', '`, `')}`:{message}") from error
        raise
