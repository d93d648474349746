"""The measures of `elicit measure`: the entry of a measure, its options, and numbers and tables stated by class.

Sources: Wang, Du and Liu, "Meta Pattern Concern Score"; B. Marlin, COMPSCI 589 lecture 14; a blog post on a multi-label
score with two penalties; Kota Gopalakrishna et al., "Relevance As a Metric".
"""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Problem, WrongOption
from elicit_app.study.case_columns import CaseColumns
from elicit_app.study.mapping import parts_of
from elicit_app.study.model import ColumnMap
from elicit_app.study.tables import MOST_TYPED_BYTES, SEPARATORS
from metrics.elicited.elicited_metric import ElicitedMetric
from metrics.elicited.kinds import WHAT_IS_PRICED, KindName
from metrics.elicited.release import ReleaseForm
from metrics.errors import InputError, RowError
from metrics.files import cell_text, read_regular_file
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import label_text
from metrics.measures.concern import TrueConcern
from metrics.policies.cases import Practice
from metrics.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_THOUSANDS = re.compile(r"[1-9]\d{0,2}([.,]\d{3})+")
_ROUNDING = 1e-6  # tolerance for shares that should sum to 1


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
    "numbers": "y_true, and mean or y_pred",
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

    @property
    def is_of_classes(self) -> bool:
        """Return whether its files hold classes, whose columns may have other names."""
        return self.needs in ("decisions", "probabilities")

    def of(self, path: Path, options: Options, columns: ColumnMap | None = None) -> Measurement:
        """Return the result for a file, whose columns may have other names.

        Raises WrongOption if an option does not apply to this measure, or its value is invalid. Raises Problem or
        InputError if the file is invalid.
        """
        self._require_known(options)
        with _reworded_errors(path, options), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            cases = self._cases(path, options, columns)
            found = self.compute(cases, options)
        warned = tuple(dict.fromkeys(str(one.message) for one in told))
        if not math.isfinite(found.value):
            raise Problem(" ".join([f"{path.name}: the measure {self.name} cannot be computed.", *warned]))
        return found._replace(notes=(*cases.notes, *(f"{path.name}: {one}" for one in warned)))

    def draw_on(self, path: Path, options: Options, axes: Axes, columns: ColumnMap | None = None) -> None:
        """Draw the result for a file; raises the same errors as `of`."""
        self._require_known(options)
        with _reworded_errors(path, options), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # which are notes of the result
            self.draw(self._cases(path, options, columns), options, axes)

    def _cases(self, path: Path, options: Options, columns: ColumnMap | None) -> CaseColumns:
        metric = options.metric
        return CaseColumns(path, metric.classes if metric is not None and metric.kind == "confusion" else (), columns)

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
