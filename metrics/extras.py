"""Packages that only some functions need: which extra of the distribution brings each, and what is said without it."""

from __future__ import annotations

from importlib.util import find_spec

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
