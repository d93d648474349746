"""The data of the experiments and small models trained on them.

Data files that are not part of the project are taken from a folder that is named, or downloaded once from the LIBSVM
data page. A file that was downloaded before is checked against the SHA-256 that was written beside it at its first use,
so that a file that changes, here or there, is noticed. The models of the tables of the MPCS paper are trained turn by
turn on data that ship with scikit-learn.
"""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """A file of labelled cases."""

    name: str  # its name in a folder
    url: str  # where it is downloaded from
    what: str  # what it is, for a sentence
    features: int  # how many features a case has


VEHICLE = DataFile("vehicle.scale", _PAGE + "vehicle.scale", "Statlog Vehicle Silhouettes", 18)
SENSIT = DataFile("acoustic.bz2", _PAGE + "vehicle/acoustic.bz2", "SensIT Vehicle (acoustic)", 50)


def fetched(source: DataFile, folder: Path | None) -> Path:
    """Return the path of a data file; it is downloaded where it is not in the folder (by default the user's cache) yet.

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

    It is in the format of LIBSVM (``label index:value ...``), also packed by bzip2; or CSV with a heading and the class
    in the last column.

    Raises
    ------
    Problem
        The file cannot be read as such, or does not hold what `source` says.
    """
    try:
        features, labels = _from_csv(path) if path.suffix == ".csv" else _from_libsvm(path, source.features)
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise Problem(
            f"{path} does not hold {source.what}, {source.features} numbers and a class per row: {error}. "
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


_TEST_SHARE = 0.3
_HIDDEN = 32


@dataclass(frozen=True, eq=False)
class Data:
    """Features and labels, split in two."""

    # shape (n, f): standardised features
    train: Matrix
    # shape (n,): class indices
    train_labels: NDArray[np.int64]
    test: Matrix
    test_labels: NDArray[np.int64]
    n_outputs: int  # outputs of a model; more than there are classes where the source has more


def bundled(name: str, seed: int, test_share: float = _TEST_SHARE) -> Data:
    """Return the digits, or the breast cancer data with ten outputs (the paper's "IRIS"), split at random."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    features, labels = (load_digits if name == "digits" else load_breast_cancer)(return_X_y=True)
    train, test, train_labels, test_labels = train_test_split(
        features, labels, test_size=test_share, random_state=seed, stratify=labels
    )
    scale = StandardScaler().fit(train)
    return Data(scale.transform(train), train_labels, scale.transform(test), test_labels, 10)


class Perceptron:
    """A perceptron with one hidden layer that is trained pass by pass, at any rate of learning.

    The seed is that of its weights and of the order of the cases.
    """

    def __init__(self, data: Data, seed: int, rate: float = 1e-3, hidden: int = _HIDDEN) -> None:
        from sklearn.neural_network import MLPClassifier

        self.data = data
        self._model: Any = MLPClassifier((hidden,), solver="adam", learning_rate_init=rate, random_state=seed)

    def turn(self, rate: float | None = None) -> None:
        """Pass once over the training cases."""
        if rate is not None and hasattr(self._model, "_optimizer"):
            # scikit-learn has no public way to change the rate between two calls of partial_fit.
            self._model._optimizer.learning_rate_init = rate
        self._model.partial_fit(self.data.train, self.data.train_labels, classes=range(self.data.n_outputs))

    def proba(self, features: Matrix) -> Matrix:
        """Return class probabilities, shape (n, outputs)."""
        return np.asarray(self._model.predict_proba(features), dtype=np.float64)


def turns_of_perceptron(data: Data, seed: int, turns: int, model: str = "MLP") -> Iterator[Matrix]:
    """Yield the probabilities of the test cases after every pass over the training cases."""
    del model
    perceptron = Perceptron(data, seed)
    for _ in range(turns):
        perceptron.turn()
        yield perceptron.proba(data.test)


def turns_of_torch(data: Data, seed: int, turns: int, model: str) -> Iterator[Matrix]:
    """Yield the same for a CNN, RNN or LSTM of pictures of 8 x 8 (rows as steps); needs the extra torch."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    network = _network(model, data.n_outputs)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    pictures, labels = torch.tensor(data.train, dtype=torch.float32), torch.tensor(data.train_labels)
    test = torch.tensor(data.test, dtype=torch.float32)
    order = torch.Generator().manual_seed(seed)
    for _ in range(turns):
        for batch in torch.randperm(len(labels), generator=order).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(pictures[batch]), labels[batch]).backward()
            optimizer.step()
        with torch.no_grad():
            yield network(test).double().softmax(dim=1).numpy()


def _network(model: str, n_outputs: int) -> Any:
    from torch import nn

    if model == "CNN":
        return nn.Sequential(
            nn.Unflatten(1, (1, 8, 8)),
            nn.Conv2d(1, 8, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(8 * 3 * 3, n_outputs),
        )

    class Recurrent(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.steps = (nn.RNN if model == "RNN" else nn.LSTM)(8, _HIDDEN, batch_first=True)
            self.last = nn.Linear(_HIDDEN, n_outputs)

        def forward(self, pictures: Any) -> Any:
            return self.last(self.steps(pictures.view(-1, 8, 8))[0][:, -1])

    return Recurrent()
