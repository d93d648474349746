"""NPZ files of predictions as a table: `y_true` (n,), `y_proba` (n, k), optional `classes` (k,)."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding
from elicit_app.study.findings import listed, refused
from elicit_app.study.labels import PROBABILITY, TRUTH, label_text

if TYPE_CHECKING:
    import polars as pl

PROBABILITIES = "y_proba"
CLASSES = "classes"
_SHAPE = f"Save it with numpy.savez(file, {TRUTH}=labels, {PROBABILITIES}=probabilities, {CLASSES}=names)."


def read_arrays(path: Path) -> tuple[tuple[str, ...], pl.DataFrame]:
    """Return the column names and the table of an NPZ file; nothing pickled is ever loaded.

    Parameters
    ----------
    path : Path
        Without `classes` the labels are the integers 0..k-1.

    Returns
    -------
    columns : tuple of str
        `y_true` and `proba_<class>` in the order of the columns of `y_proba`.
    frame : polars.DataFrame
        The same columns in the same order, named by position.

    Raises
    ------
    Problem
        An array is missing or has another shape or type than expected.
    """
    import polars as pl

    arrays = _load(path)
    truth, proba = arrays[TRUTH], arrays[PROBABILITIES]
    fault = _fault(truth, proba)
    if fault:
        raise refused(path, Finding(fault, _SHAPE))
    classes = _classes(path, arrays.get(CLASSES), proba.shape[1])
    if _are_indices(truth, classes):
        truth = np.asarray(classes)[truth]
    # half floats are widened, long doubles and integers become double, the byte order becomes the machine's
    proba = proba.astype(np.float32 if proba.dtype.kind == "f" and proba.dtype.itemsize <= 4 else np.float64)
    columns = [pl.Series("0", [*map(label_text, truth)] if truth.dtype.kind == "S" else truth)]
    columns += [pl.Series(str(1 + j), np.ascontiguousarray(proba[:, j])) for j in range(proba.shape[1])]
    return (TRUTH, *(PROBABILITY + name for name in classes)), pl.DataFrame(columns)


def _load(path: Path) -> dict[str, NDArray[Any]]:
    damaged = Finding("It is not an NPZ file, or it is cut short or damaged", _SHAPE)
    if not zipfile.is_zipfile(path):
        raise refused(path, damaged)
    try:
        # opened here, because numpy leaves a damaged file open
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            for name in (TRUTH, PROBABILITIES):
                if name not in archive.files:
                    there = listed(archive.files) or "nothing"
                    raise refused(path, Finding(f"There is no array {name} in it, only {there}", _SHAPE))
            return {name: archive[name] for name in (TRUTH, PROBABILITIES, CLASSES) if name in archive.files}
    except ValueError as error:
        found = Finding("An array holds Python objects", "Save labels as text or numbers, probabilities as floats.")
        raise refused(path, found) from error
    except (EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise refused(path, damaged) from error


def _fault(truth: NDArray[Any], proba: NDArray[Any]) -> str | None:
    """Return what is wrong with the shapes and types, or None."""
    if truth.ndim != 1:
        return f"{TRUTH} has shape {truth.shape}, not (n,)"
    if proba.ndim != 2:
        return f"{PROBABILITIES} has shape {proba.shape}, not (n, k)"
    if len(truth) != len(proba):
        return f"{TRUTH} has {len(truth)} rows, {PROBABILITIES} has {len(proba)}"
    if proba.dtype.kind not in "fiu":
        return f"{PROBABILITIES} holds {proba.dtype}, not numbers"
    if truth.dtype.kind not in "fiubUS":
        return f"{TRUTH} holds {truth.dtype}, not labels"
    return None


def _classes(path: Path, names: NDArray[Any] | None, n_classes: int) -> list[str]:
    if names is None:
        return [str(index) for index in range(n_classes)]
    if names.shape != (n_classes,):
        fault = f"{CLASSES} has shape {names.shape}, but {PROBABILITIES} has {n_classes} columns"
        raise refused(path, Finding(fault, _SHAPE))
    return [label_text(name) for name in names]


def _are_indices(truth: NDArray[Any], classes: list[str]) -> bool:
    """Tell whether integers 0..k-1 stand for classes that have names of their own."""
    if truth.dtype.kind not in "iu" or len(truth) == 0 or truth.min() < 0 or truth.max() >= len(classes):
        return False
    return not {label_text(value) for value in np.unique(truth)} & set(classes)
