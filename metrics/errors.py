"""What the library says where it cannot use what it is given, or where a package that it needs is missing."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CostsCountTwice(UserWarning):
    """Weights of the classes in training and least-cost decisions on top of them."""


class InputError(ValueError):
    """Bad input, said in one sentence: which argument, which row or field, what was expected.

    Whatever `metrics` refuses of what it is given is of this class: labels, probabilities, weights, costs,
    numbers out of range, shapes, files. Where the *kind* of an argument is wrong whatever its value (a text where a
    sequence of labels or a number belongs, an estimator without ``predict_proba``), it is a TypeError as well.

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
    """An argument of the wrong kind: an InputError, so that one `except` is enough, and a TypeError as in Python."""


class RowError(InputError):
    """Bad input in one row, counted from 0, of an argument."""

    def __init__(self, argument: str, row: int, fault: str) -> None:
        super().__init__(argument, row, fault)
        self.argument, self.row, self.fault = argument, row, fault

    def __str__(self) -> str:
        """Return the sentence, with argument and row in front."""
        return f"{self.argument}, row {self.row}: {self.fault}"


def refuse_rows(wrong: NDArray[np.bool_], argument: str, fault: Callable[[int], Any]) -> None:
    """Refuse an argument where a row is wrong; `fault` says of the first such row, by its number, what is.

    Raises
    ------
    RowError
        With the row.
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
"""Module -> what it is called, and the smallest extra that brings it."""


class MissingPackage(ModuleNotFoundError):  # noqa: N818  what is missing is told to people
    """A package that is not installed: one sentence with the extra that brings it."""


def missing_package(module: str) -> MissingPackage:
    """Return the error for a module of `EXTRAS`.

    >>> print(missing_package("polars"))
    polars is not installed: pip install "elicit-metrics[cli]".
    """
    called, extra = EXTRAS[module]
    return MissingPackage(f'{called} is not installed: pip install "elicit-metrics[{extra}]".', name=module)


def require(*modules: str) -> None:
    """Refuse to go on where a package that is about to be imported is not installed.

    Parameters
    ----------
    *modules : str
        Names in `EXTRAS`.

    Raises
    ------
    MissingPackage
        For the first that is not there.
    """
    for module in modules:
        if find_spec(module) is None:
            raise missing_package(module)


def explained(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error of an import in words where an extra brings what is missing, else the error itself."""
    module = (error.name or "").partition(".")[0]
    return error if isinstance(error, MissingPackage) or module not in EXTRAS else missing_package(module)
