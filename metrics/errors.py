"""Errors for invalid input and for missing packages, and the warnings of the library."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic_core import ErrorDetails


class CostsCountTwice(UserWarning):
    """Costs enter twice: as class weights in training and again in least-cost decisions."""


class InputError(ValueError):
    """Invalid input; the message is one sentence with the argument, the row or field, and what was expected.

    `metrics` raises this class for all invalid input: labels, probabilities, weights, costs, numbers out of range,
    shapes, files. If the argument is of the wrong *kind*, whatever its value (a string in place of a sequence of
    labels or a number, an estimator without ``predict_proba``), the error is also a TypeError.

    Examples
    --------
    >>> from metrics import InputError, error_rate
    >>> try:
    ...     error_rate([0, 1, 1], [0, 1])
    ... except InputError as error:
    ...     print(error)
    y_pred: 3 cases were expected, as many as in y_true, found 2.
    """


class ArgumentTypeError(InputError, TypeError):
    """An argument of the wrong kind: an InputError, so that one `except` suffices, and a TypeError by Python custom."""


class RowError(InputError):
    """Invalid input in one row of an argument; rows are counted from 0."""

    def __init__(self, argument: str, row: int, fault: str) -> None:
        super().__init__(argument, row, fault)
        self.argument, self.row, self.fault = argument, row, fault

    def __str__(self) -> str:
        """Return the message, prefixed with the argument and the row."""
        return f"{self.argument}, row {self.row}: {self.fault}"


def refuse_rows(wrong: NDArray[np.bool_], argument: str, fault: Callable[[int], Any]) -> None:
    """Reject an argument with invalid rows; `fault` describes the first of them, given its number.

    Raises RowError if any row is invalid; it names the first.
    """
    if wrong.any():
        row = int(wrong.argmax())
        raise RowError(argument, row, str(fault(row)))


EXTRAS = {
    "sklearn": ("scikit-learn", "sklearn"),
    "scipy": ("SciPy", "sklearn"),
    "matplotlib": ("matplotlib", "plots"),
    "polars": ("polars", "cli"),
    "typer": ("typer", "cli"),
    "rich": ("rich", "cli"),
    "platformdirs": ("platformdirs", "cli"),
    "pooch": ("pooch", "cli"),
    "joblib": ("joblib", "cli"),
    "typst": ("typst", "cli"),
    "PySide6": ("PySide6", "app"),
    "distributed": ("Dask", "cluster"),
    "torch": ("PyTorch", "torch"),
    "torchmetrics": ("torchmetrics", "torch"),
}
"""Module -> display name, and the smallest extra that installs it."""


class MissingPackage(ModuleNotFoundError):  # noqa: N818  the name reads as a message
    """A package that is not installed; the message names the extra that installs it."""


def missing_package(module: str) -> MissingPackage:
    """Return the error for a module of `EXTRAS`.

    >>> print(missing_package("polars"))
    polars is not installed: pip install "elicit-metrics[cli]".
    """
    called, extra = EXTRAS[module]
    return MissingPackage(f'{called} is not installed: pip install "elicit-metrics[{extra}]".', name=module)


def require(*modules: str) -> None:
    """Raise MissingPackage unless all packages that are about to be imported, named as in `EXTRAS`, are installed."""
    for module in modules:
        if find_spec(module) is None:
            raise missing_package(module)


def as_missing_package(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return a `MissingPackage` if an extra installs what the import lacked, otherwise the error itself."""
    module = (error.name or "").partition(".")[0]
    return error if isinstance(error, MissingPackage) or module not in EXTRAS else missing_package(module)


_FINDINGS = {
    "missing": "is missing",
    "extra_forbidden": "is unknown in this version",
    "unexpected_keyword_argument": "is unknown in this version",
    "string_type": "must be a text",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "dataclass_type": "must be an object",
    "literal_error": "must be {expected}",
    "too_short": "needs at least {min_length} entries, {actual_length} given",
    "too_long": "takes at most {max_length} entries, {actual_length} given",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "timezone_aware": "must have a time zone, such as 2026-01-31T12:00:00Z",
    "value_error": "is wrong: {error}",
}

_WITHOUT_VALUE = ("missing", "extra_forbidden", "unexpected_keyword_argument", "value_error")


def finding_words(finding: ErrorDetails) -> str:
    """Return what a finding of pydantic says of a value, and the value if it is short: "must be a number, not 'x'"."""
    kind, value = finding["type"], finding["input"]
    if kind not in _FINDINGS:
        return str(finding["msg"][:1].lower() + finding["msg"][1:])
    words = _FINDINGS[kind].format(**finding.get("ctx", {}))
    short = isinstance(value, str | float | int | None) and len(repr(value)) < 60
    return f"{words}, not {as_in_file(value)}" if short and kind not in _WITHOUT_VALUE else words


def as_in_file(value: object) -> str:
    """Return a value as a file has it: with null, true and false instead of Python's words."""
    return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
