"""Data files that are not part of the project: taken from a folder that is named, or downloaded once and checked.

Files come from the LIBSVM data page. A file that was downloaded before is checked against the SHA-256 that was written
beside it at its first use, so that a file that changes, here or there, is noticed.
"""

from __future__ import annotations

import bz2
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Matrix
from elicit_app.problem import Problem
from metrics.errors import require
from metrics.files import write_atomically

_PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
_SECONDS = 30


@dataclass(frozen=True)
class DataFile:
    """A file of labelled cases.

    Parameters
    ----------
    name : str
        Its name in a folder.
    url : str
        Where it is downloaded from.
    what : str
        What it is, for a sentence.
    features : int
        How many features a case has.
    """

    name: str
    url: str
    what: str
    features: int


VEHICLE = DataFile("vehicle.scale", _PAGE + "vehicle.scale", "Statlog Vehicle Silhouettes", 18)
SENSIT = DataFile("acoustic.bz2", _PAGE + "vehicle/acoustic.bz2", "SensIT Vehicle (acoustic)", 50)


def fetched(source: DataFile, folder: Path | None) -> Path:
    """Return the path of a data file; it is downloaded where it is not in the folder yet.

    Parameters
    ----------
    source : DataFile
        The file.
    folder : Path or None
        Where it lies or shall lie; None: the user's cache.

    Raises
    ------
    Problem
        It cannot be downloaded, or is not the file that it was at its first use.
    """
    require("pooch", "platformdirs")
    import platformdirs
    import pooch

    pooch.get_logger().setLevel("WARNING")
    where = folder or Path(platformdirs.user_cache_dir("elicit", appauthor=False))
    path, digest = where / source.name, where / f"{source.name}.sha256"
    known = digest.read_text(encoding="ascii").strip() if digest.exists() else None
    try:
        where.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            downloader = pooch.HTTPDownloader(progressbar=False, timeout=_SECONDS)
            pooch.retrieve(source.url, known_hash=known, fname=source.name, path=where, downloader=downloader)
    except ValueError as error:
        raise _changed(source, path, digest) from error
    except OSError as error:  # also every error of a connection
        raise Problem(
            f"{source.what} could not be downloaded from {source.url}: there is no connection, or the page has moved. "
            f"Download {source.name} by other means and name its folder with --data."
        ) from error
    found = pooch.file_hash(str(path))
    if known is None:
        write_atomically(digest, found + "\n")
    elif found != known:
        raise _changed(source, path, digest)
    return path


def _changed(source: DataFile, path: Path, digest: Path) -> Problem:
    return Problem(
        f"{path}: this is not the file of {source.what} that was used first (its SHA-256 differs from the one in "
        f"{digest.name}). Delete both to begin with the file as it is now."
    )


def labelled_cases(source: DataFile, path: Path) -> tuple[Matrix, NDArray[np.int64]]:
    """Return features, shape (n, f), and class indices, shape (n,), of a file.

    Parameters
    ----------
    source : DataFile
        What the file should hold.
    path : Path
        In the format of LIBSVM (``label index:value ...``), also packed by bzip2; or CSV with a heading, the class in
        the last column.

    Raises
    ------
    Problem
        The file cannot be read as such.
    """
    try:
        features, labels = _from_csv(path) if path.suffix == ".csv" else _from_libsvm(path, source.features)
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise Problem(
            f"{path} does not hold {source.what}, {source.features} numbers and a class a row: {error}. "
            "Download the file again."
        ) from error
    if features.shape[1] != source.features or len(features) < 2:
        raise Problem(
            f"{path} does not hold {source.what}: {source.features} features were expected, found {features.shape[1]} "
            f"in {len(features)} rows."
        )
    return features, np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _from_libsvm(path: Path, features: int) -> tuple[Matrix, NDArray[np.str_]]:
    with bz2.open(path, "rt", encoding="ascii") if path.suffix == ".bz2" else path.open(encoding="ascii") as file:
        rows, labels = [], []
        for number, line in enumerate(file, 1):
            label, *cells = line.split("#", 1)[0].split() or [""]
            if not label:
                continue
            row = np.zeros(features)
            for cell in cells:
                index, _, value = cell.partition(":")
                if not value or not 1 <= int(index) <= features:
                    raise ValueError(f"line {number}, {cell!r}: index:value was expected, the index up to {features}")
                row[int(index) - 1] = float(value)
            rows.append(row)
            labels.append(label)
    return np.array(rows).reshape(len(rows), features), np.array(labels)


def _from_csv(path: Path) -> tuple[Matrix, NDArray[np.str_]]:
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str, ndmin=2)
    return table[:, :-1].astype(np.float64), table[:, -1]
