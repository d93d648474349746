"""The case study of the Meta Pattern Concern Score: choosing a model, and a learning rate, by the score.

Source: [W22] Wang, Du & Liu, "Meta Pattern Concern Score", IEEE SMC 2023, section IV-C. The paper trains on MNIST;
here the data are the digits that ship with scikit-learn. Classes whose clusters are adjacent in a t-SNE picture are
released for each other; an error that is not released is destructive. The small models of both the tables and the case
study are trained turn by turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import metrics
from elicit_app.elicitation.questions import Matrix
from elicit_app.experiments.reproduce.shape import Curve, Experiment, Finding, Options, Panel, Part, Row, mean_and_error
from metrics.models.learning import ConcernLearningRate

_TEST = 0.3
_UNITS = 32


@dataclass(frozen=True, eq=False)
class Data:
    """Features and labels, split in two."""

    # shape (n, f): standardised features
    train: Matrix
    # shape (n,): class indices
    train_labels: NDArray[np.int64]
    test: Matrix
    test_labels: NDArray[np.int64]
    n_outputs: int  # number of a model's outputs; exceeds the number of classes if it does so in the source


def bundled(name: str, seed: int, test_share: float = _TEST) -> Data:
    """Return the digits, or the breast cancer data with ten outputs (the paper's "IRIS"), randomly split."""
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
    """A perceptron with one hidden layer, trained pass by pass with any learning rate.

    The seed determines its weights and the order of the cases.
    """

    def __init__(self, data: Data, seed: int, rate: float = 1e-3, hidden: int = _UNITS) -> None:
        from sklearn.neural_network import MLPClassifier

        self.data = data
        self._model: Any = MLPClassifier((hidden,), solver="adam", learning_rate_init=rate, random_state=seed)

    def train_epoch(self, rate: float | None = None) -> None:
        """Make one pass over the training cases."""
        if rate is not None and hasattr(self._model, "_optimizer"):
            # scikit-learn has no public way to change the learning rate between two calls of partial_fit.
            self._model._optimizer.learning_rate_init = rate
        self._model.partial_fit(self.data.train, self.data.train_labels, classes=range(self.data.n_outputs))

    def proba(self, features: Matrix) -> Matrix:
        """Return class probabilities, shape (n, outputs)."""
        return np.asarray(self._model.predict_proba(features), dtype=np.float64)


def perceptron_epochs(data: Data, seed: int, n_epochs: int) -> Iterator[Matrix]:
    """Yield the probabilities of the test cases after every pass over the training cases."""
    perceptron = Perceptron(data, seed)
    for _ in range(n_epochs):
        perceptron.train_epoch()
        yield perceptron.proba(data.test)


def torch_epochs(data: Data, seed: int, n_epochs: int, model: str) -> Iterator[Matrix]:
    """Yield the same for a CNN, RNN or LSTM on 8 x 8 pictures (rows as steps); needs the extra torch."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    network = _network(model, data.n_outputs)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    pictures, labels = torch.tensor(data.train, dtype=torch.float32), torch.tensor(data.train_labels)
    test = torch.tensor(data.test, dtype=torch.float32)
    order = torch.Generator().manual_seed(seed)
    for _ in range(n_epochs):
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
            self.steps = (nn.RNN if model == "RNN" else nn.LSTM)(8, _UNITS, batch_first=True)
            self.last = nn.Linear(_UNITS, n_outputs)

        def forward(self, pictures: Any) -> Any:
            return self.last(self.steps(pictures.view(-1, 8, 8))[0][:, -1])

    return Recurrent()


def plain_scores(true: Any, proba: Matrix) -> list[float]:
    """Return accuracy, F1, MCC, MS and CE: the measures that the score is compared with."""
    predicted, labels = proba.argmax(axis=1), range(proba.shape[1])
    return [
        float(metrics.accuracy_score(true, predicted)),
        float(metrics.f1_score(true, predicted, average="macro", zero_division=0)),
        float(metrics.matthews_corrcoef(true, predicted)),
        float(metrics.probability_squared_error(true, proba, labels=labels)),
        float(metrics.negative_log_likelihood(true, proba, labels=labels)),
    ]


PAPER = "Wang, Du and Liu, SMC 2023"
TOP_K, N_INTERVALS = 5, 200
_FACTOR, _RELEASED = 0.5, 28
_HELD_OUT, _HIDDEN = 0.7, 10
_RATES = (0.003, 0.01, 0.03)
_METRICS = ("accuracy", "F1", "MCC", "MS", "CE", "MPCS")
_LESS_IS_BETTER = ("MS", "CE", "MPCS")


@cache
def _release_list(seed: int) -> dict[str, Any]:
    """Return the pairs of digits whose clusters are nearest in a t-SNE picture, and the positions of the clusters.

    The cluster centres are triangulated, and the shortest edges are taken until as many pairs are released as in the
    paper.
    """
    from scipy.spatial import Delaunay
    from sklearn.datasets import load_digits
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    features, labels = load_digits(return_X_y=True)
    some = np.random.default_rng([seed, 3]).permutation(len(labels))[:600]
    with threadpool_limits(1):  # several threads round sums differently, and a map amplifies that
        places = TSNE(random_state=seed, init="pca", perplexity=30).fit_transform(features[some]).astype(np.float64)
    middles = np.array([np.median(places[labels[some] == digit], axis=0) for digit in range(10)])
    edges = {
        (min(a, b), max(a, b))
        for triangle in Delaunay(middles).simplices.tolist()
        for a in triangle
        for b in triangle
        if a != b
    }
    nearest = sorted(edges, key=lambda pair: float(np.linalg.norm(middles[pair[0]] - middles[pair[1]])))
    return {"pairs": sorted(nearest[: _RELEASED // 2]), "middles": middles.tolist(), "places": places[:400].tolist()}


def _released(pairs: list[list[int]]) -> Matrix:
    """Return the release factors of pairs released in both directions."""
    both = [*pairs, *([b, a] for a, b in pairs)]
    return metrics.release_matrix(_lists(both), _FACTOR, 10)


def _lists(pairs: list[list[int]]) -> list[list[int]]:
    """Return the paper's release list: per true class, all classes released for it."""
    return [[true, *(b for a, b in pairs if a == true)] for true in sorted({a for a, _ in pairs})]


def _concern(true: Any, proba: Matrix, factors: Matrix) -> float:
    return float(
        metrics.meta_pattern_concern_score(
            true, proba, top_k=TOP_K, n_intervals=N_INTERVALS, release_factors=factors, labels=range(10)
        )
    )


def _measured(true: Any, proba: Matrix, factors: Matrix) -> list[float]:
    """Return the six metrics, the errors and the destructive errors of one turn."""
    predicted = proba.argmax(axis=1)
    wrong = predicted != true
    destructive = wrong & (factors[true, predicted] == 1)
    return [*plain_scores(true, proba), _concern(true, proba, factors), float(wrong.sum()), float(destructive.sum())]


def _choose(seed: int, n_epochs: int, base_seed: int) -> dict[str, Any]:
    """Train one model; return, for each metric, the errors and destructive errors of the turn that it selects."""
    factors = _released(_release_list(base_seed)["pairs"])
    data = bundled("digits", seed, _HELD_OUT)
    perceptron = Perceptron(data, seed, _RATES[1], _HIDDEN)
    history = []
    for _ in range(n_epochs):
        perceptron.train_epoch()
        history.append(_measured(data.test_labels, perceptron.proba(data.test), factors))
    table = np.array(history)
    picked = {}
    for column, name in enumerate(_METRICS):
        values = table[:, column]
        epoch = int(values.argmin() if name in _LESS_IS_BETTER else values.argmax())
        picked[name] = [epoch + 1, *table[epoch, [0, 6, 7]].tolist()]
    return {"picked": picked, "cases": len(data.test_labels)}


def _learn(seed: int, n_epochs: int, base_seed: int, base: float) -> dict[str, list[float]]:
    """Train twice from the same start, with a fixed learning rate and with one that follows the score."""
    factors = _released(_release_list(base_seed)["pairs"])
    data = bundled("digits", seed, _HELD_OUT)
    return {name: _trained(data, seed, n_epochs, factors, base, name == "follows") for name in ("fixed", "follows")}


def _trained(data: Data, seed: int, n_epochs: int, factors: Matrix, base: float, follows: bool) -> list[float]:
    """Return MPCS, destructive errors and accuracy on the held-out cases after the last turn."""
    perceptron = Perceptron(data, seed, base, _HIDDEN)
    rate = ConcernLearningRate(base)
    for _ in range(n_epochs):
        perceptron.train_epoch(rate.rate if follows else None)
        if follows:
            # The rate follows the score on the training cases; held-out cases are used only for evaluation.
            rate.step(_concern(data.train_labels, perceptron.proba(data.train), factors))
    found = _measured(data.test_labels, perceptron.proba(data.test), factors)
    return [found[5], found[7], found[0]]


def _parts(options: Options) -> list[Part]:
    runs, n_epochs = (4, 60) if options.quick else (20, 150)
    return [
        Part("release list", _release_list, (options.seed,)),
        *(Part(f"choice, {run}", _choose, (options.seed + run, n_epochs, options.seed)) for run in range(runs)),
        *(
            Part(f"rate {base}, {run}", _learn, (options.seed + run, n_epochs, options.seed, base))
            for base in _RATES
            for run in range(runs)
        ),
    ]


_OTHER_DATA = "MNIST does not ship with scikit-learn; ours uses its 8 x 8 digits and a smaller model."


def _report(results: Mapping[str, Any]) -> Iterator[Finding]:
    chosen = [one for key, one in results.items() if key.startswith("choice")]
    rates = {base: [one for key, one in results.items() if key.startswith(f"rate {base},")] for base in _RATES}
    yield from _printed_shares()
    yield from _choice_rows(chosen)
    for base, ends in rates.items():
        yield from _rate_rows(base, ends)
    yield _picture(results["release list"])
    yield _choice_panel(chosen)
    yield _rate_panel(rates)
    yield (
        f"Top {TOP_K}, t = {N_INTERVALS}, factor {_FACTOR} and {_RELEASED} released pairs, as in the paper. A "
        f"perceptron with {_HIDDEN} hidden units is trained {len(chosen)} times and judged on the {_HELD_OUT:.0%} of "
        "the digits held out from training. ± gives standard errors."
    )
    yield from (_does_it_hold(base, ends) for base, ends in rates.items())


def _printed_shares() -> list[Row]:
    by_others, by_score = 100 * 2621 / 5108, 100 * 2605 / 5128
    return [
        Row("MNIST as printed: share of destructive errors with the other metrics, %: 2621 of 5108", 51.31, by_others),
        Row(
            "MNIST as printed: share of destructive errors with MPCS, %: 2605 of 5128",
            50.78,
            by_score,
            "50.78 is a misprint.",
        ),
        Row(
            "MNIST as printed: reduction in destructive errors, percentage points",
            0.53,
            by_others - by_score,
            "Follows from the misprint.",
        ),
        Row("MNIST as printed: accuracy with MPCS, %: 5128 errors of 60,000", 91.45, 100 * (1 - 5128 / 60_000)),
    ]


def _choice_rows(chosen: list[dict[str, Any]]) -> Iterator[Row]:
    for name, accuracy, errors, destructive in (("accuracy", 91.49, 5108, 2621), ("MPCS", 91.45, 5128, 2605)):
        table = np.array([one["picked"][name] for one in chosen])
        share = 100 * table[:, 3] / table[:, 2]
        for title, printed, values in (
            ("accuracy, %", accuracy, 100 * table[:, 1]),
            ("destructive errors, % of the errors", 100 * destructive / errors, share),
        ):
            mean, error = mean_and_error(values)
            yield Row(f"digits, epoch picked by {name}: {title}", printed, mean, f"{_OTHER_DATA} ± {error:.2f}")
    for name in _METRICS[:-1]:
        both = [np.array([one["picked"][which] for one in chosen]) for which in ("MPCS", name)]
        fewer, error = mean_and_error(100 * (both[0][:, 3] / both[1][:, 3] - 1))
        lost, lost_error = mean_and_error(100 * (both[0][:, 1] - both[1][:, 1]))
        yield Row(
            f"digits, MPCS instead of {name}: change in destructive errors, %, and in accuracy, points",
            (-0.61, -0.04) if name == "accuracy" else None,
            (fewer, lost),
            f"{_OTHER_DATA} ± {error:.2f} and {lost_error:.2f}",
        )


def _rate_rows(base: float, rates: list[dict[str, list[float]]]) -> Iterator[Row]:
    for title, printed, column in (
        ("change in MPCS, %", -1.62, 0),
        ("change in destructive errors, %", -0.36, 1),
        ("change in accuracy, points", None, 2),
    ):
        mean, error = mean_and_error(_changes(rates, column))
        low, high = _interval(mean, error, len(rates))
        cause = f"95 % interval {low:+.2f} to {high:+.2f} over {len(rates)} seeds; the data are not the paper's."
        yield Row(f"learning rate from {base:g}, following the score: {title}", printed, mean, cause)


def _changes(rates: list[dict[str, list[float]]], column: int) -> list[float]:
    pairs = [(one["fixed"][column], one["follows"][column]) for one in rates]
    return [100 * (new - old) if column == 2 else 100 * (new / old - 1) for old, new in pairs]


def _interval(mean: float, error: float, n: int) -> tuple[float, float]:
    from scipy.stats import t

    wide = float(t.ppf(0.975, n - 1)) * error
    return mean - wide, mean + wide


def _does_it_hold(base: float, rates: list[dict[str, list[float]]]) -> str:
    """Return, in a sentence, whether the claimed gain from the learning rate holds here."""
    verdicts = []
    for column, name in ((0, "lower score"), (1, "fewer destructive errors")):
        mean, error = mean_and_error(_changes(rates, column))
        low, high = _interval(mean, error, len(rates))
        verdict = "confirmed" if high < 0 else "the opposite" if low > 0 else "inconclusive"
        verdicts.append(f"{name}: {verdict}")
    return f"Claims tested at a base rate of {base:g}, over {len(rates)} seeds. {'; '.join(verdicts).capitalize()}."


def _picture(found: dict[str, Any]) -> Panel:
    x, y = zip(*found["places"], strict=True)
    middles, lines = found["middles"], []
    for index, (a, b) in enumerate(found["pairs"]):
        across, up = zip(middles[a], middles[b], strict=True)
        lines.append(Curve("released for each other" if index == 0 else "", across, up, "published"))
    return Panel("t-SNE of the digits", "", "", (Curve("cases", x, y, "other", marks=True), *lines), equal=True)


def _choice_panel(chosen: list[dict[str, Any]]) -> Panel:
    curves = []
    for name in _METRICS:
        table = np.array([one["picked"][name] for one in chosen])
        curves.append(Curve(name, (100 * table[:, 1]).tolist(), table[:, 3].tolist(), "series", marks=True))
    return Panel("the epoch that each metric picks", "accuracy, %", "destructive errors", tuple(curves))


def _rate_panel(rates: Mapping[float, list[dict[str, list[float]]]]) -> Panel:
    curves = [
        Curve(f"base rate {base:g}", _changes(ends, 0), _changes(ends, 1), "series", marks=True)
        for base, ends in rates.items()
    ]
    return Panel(
        "rate following the score, against a fixed one",
        "change in MPCS, %",
        "change in destructive errors, %",
        (*curves, Curve("the paper's mean", (-1.62,), (-0.36,), "published", marks=True)),
    )


EXPERIMENTS = (Experiment("mpcs-case", "Case study: choosing and training", f"{PAPER}, section IV-C", _parts, _report),)
