"""Small models trained turn by turn on data that ship with scikit-learn, for the tables of the MPCS paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Matrix

_TEST_SHARE = 0.3
_HIDDEN = 32


@dataclass(frozen=True, eq=False)
class Data:
    """Features and labels, split in two.

    Parameters
    ----------
    train, test : ndarray of shape (n, f)
        Standardised features.
    train_labels, test_labels : ndarray of shape (n,)
        Class indices.
    n_outputs : int
        Outputs of a model; more than there are classes where the source has more.
    """

    train: Matrix
    train_labels: NDArray[np.int64]
    test: Matrix
    test_labels: NDArray[np.int64]
    n_outputs: int


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

    Parameters
    ----------
    data : Data
        What it learns.
    seed : int
        Of its weights and of the order of the cases.
    rate : float
        Of learning.
    hidden : int
        Units of the hidden layer.
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
