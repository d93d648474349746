"""The Meta Pattern Concern Score: tables I to III of the paper, and how far cross-entropy is its limit.

Source: [W22] Wang, Du & Liu, "Meta Pattern Concern Score: A Novel Evaluation Measure with Human Values for
Multi-classifiers", IEEE SMC 2023, sections III and IV.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import metrics
from elicit_app.elicitation.questions import Matrix
from elicit_app.experiments.reproduce.concern_case import (
    N_INTERVALS,
    PAPER,
    TOP_K,
    Data,
    bundled,
    perceptron_epochs,
    plain_scores,
    torch_epochs,
)
from elicit_app.experiments.reproduce.shape import (
    Curve,
    Experiment,
    Finding,
    Options,
    Panel,
    Part,
    Row,
    agreement_panel,
    mean_and_error,
    no_parts,
)
from metrics.measures.concern import TrueConcern

# Table I: 100 cases of class 0; A is unsure and wrong in one of them, B is always right.
_BINARY = {"A": [[0.99, 0.01]] * 99 + [[0.49, 0.51]], "B": [[0.98, 0.02]] * 100}
_THREE = {"A": [[0.99, 0.005, 0.005]] * 99 + [[0.49, 0.51, 0.0]], "B": [[0.98, 0.01, 0.01]] * 100}
_SUMS = {"A": 0.741920, "B": 0.877392}
_MEANS = {"A": 0.01708333, "B": 0.02020271}
# From (model, classes, top_k) to the score at t = 50.
_SCORES = {
    ("A", 2, 1): 0.007137664678,
    ("B", 2, 1): 0.0,
    ("A", 2, 2): 0.007137664678,
    ("B", 2, 2): 0.010309643601,
    ("A", 3, 2): 0.007137664678,
    ("B", 3, 2): 0.0,
    ("A", 3, 3): 0.005353248508,
    ("B", 3, 3): 0.0,
}
# Red, yellow, green; red is shown; red called yellow is released. From (t, factor) to the paper's and the count
# convention.
_LIGHTS: dict[tuple[float, ...], dict[tuple[int, float], tuple[float, float | None]]] = {
    (0.2, 0.7, 0.1): {
        (50, 0.1): (0.900484403032, 1.100444313315),
        (50, 0.5): (1.039288318705, 1.117852159621),
        (200, 0.5): (1.040146921736, None),
    },
    (0.2, 0.1, 0.7): {
        (50, 0.1): (1.368947618429, 1.432902079080),
        (50, 0.5): (1.230143702755, 1.281442488807),
        (200, 0.5): (1.225121648725, None),
    },
    (0.7, 0.2, 0.1): {
        (50, 0.1): (0.227534540761, 0.259161613753),
        (50, 0.5): (0.242156115038, 0.255629846693),
        (200, 0.5): (0.248537644436, None),
    },
}


def _table1(_: Mapping[str, Any]) -> Iterator[Finding]:
    truth = np.zeros(100, dtype=int)
    for model, of_cases in _BINARY.items():
        proba = np.array(of_cases)
        printed, likelihood = -np.log10(proba[:, 0]).sum(), metrics.negative_log_likelihood(truth, proba, labels=[0, 1])
        right = float(metrics.accuracy_score(truth, proba.argmax(axis=1)))
        yield Row(f"{model}: cross-entropy as printed, a sum of log10", _SUMS[model], float(printed), digits=6)
        yield Row(f"{model}: cross-entropy, mean of ln", _MEANS[model], float(likelihood), digits=8)
        yield Row(f"{model}: accuracy", None, right, "A is wrong once in 100, B never.")
    rows = [*_scores_of_table1(truth), *_scores_of_lights()]
    yield from rows
    yield agreement_panel(rows, "scores by hand and ours")
    yield (
        "The paper's cross-entropies .741920 and .877392 are sums of base-10 logarithms over the 100 cases; the means "
        "of natural logarithms are .017083 and .020203. By either of them A is the better model, although only A makes "
        "an error. The score prefers B."
    )
    yield (
        "The scores with twelve digits were computed by hand, twice, from equations (6) to (9); the paper prints fewer "
        "digits. “By count” is the convention of the authors' published programs, and the only one that reproduces "
        "their recorded numbers."
    )


def _scores_of_table1(truth: NDArray[np.int64]) -> Iterator[Row]:
    for (model, k, top), by_hand in _SCORES.items():
        proba = np.array((_BINARY if k == 2 else _THREE)[model])
        score = metrics.meta_pattern_concern_score(truth, proba, top_k=top, labels=range(k))
        yield Row(f"{model}: MPCS, {k} classes, top {top}, t = 50", by_hand, float(score), digits=12)


def _scores_of_lights() -> Iterator[Row]:
    conventions: tuple[TrueConcern, ...] = ("sum", "count")
    for p, settings in _LIGHTS.items():
        for (t, factor), values in settings.items():
            factors = metrics.release_matrix([[0, 1]], factor, 3)
            for convention, by_hand in zip(conventions, values, strict=True):
                score = metrics.meta_pattern_concern_score(
                    [0], [p], n_intervals=t, release_factors=factors, true_concern=convention, labels=[0, 1, 2]
                )
                if by_hand is not None:
                    name = f"traffic light {p}, t = {t}, factor {factor}, true concern by {convention}"
                    yield Row(name, by_hand, float(score), digits=12)


# Table II: Spearman's correlation of the score with ACC, F1, MCC, MS and CE over 150 epochs.
_MEASURES = ("accuracy", "F1", "MCC", "MS", "CE")
_TABLE_2 = {
    ("MLP", "IRIS"): (-0.9091, -0.9092, -0.9011, 0.9873, 0.9827),
    ("MLP", "DIGITS"): (-0.9886, -0.9936, -0.9935, 0.9989, 0.9989),
    ("MLP", "MNIST"): (-0.9881, -0.9886, -0.9880, 0.9880, 0.9841),
    ("CNN", "DIGITS"): (-0.9106, -0.9106, -0.9107, 0.9547, 0.9547),
    ("CNN", "MNIST"): (-0.9231, -0.9229, -0.9220, 0.9299, 0.9168),
    ("RNN", "UCR-CT"): (-0.9576, -0.9549, -0.9587, 0.9618, 0.9619),
    ("RNN", "UCR-SS"): (-0.9846, -0.9844, -0.9827, 0.9929, 0.9928),
    ("LSTM", "UCR-SS"): (-0.9382, -0.9352, -0.9373, 0.9700, 0.9718),
    ("LSTM", "ADD"): (-0.9721, -0.9735, -0.9706, 0.9815, 0.9862),
    ("LSTM", "MNIST"): (-0.9757, -0.9754, -0.9760, 0.9774, 0.9763),
}
# The data sets trained on here, which ship with scikit-learn, and the published rows that they stand for.
_OURS: dict[tuple[str, str], str] = {("MLP", "IRIS"): "breast cancer", ("MLP", "DIGITS"): "digits"}
_OURS_WITH_TORCH = {
    ("CNN", "DIGITS"): "digits",
    ("RNN", "digits as rows"): "digits",
    ("LSTM", "digits as rows"): "digits",
}


def _scores(true: Any, proba: Matrix) -> list[float]:
    """Return the MPCS of one epoch, followed by the five measures that it is compared with."""
    labels = range(proba.shape[1])
    concern = metrics.meta_pattern_concern_score(true, proba, top_k=TOP_K, n_intervals=N_INTERVALS, labels=labels)
    return [float(concern), *plain_scores(true, proba)]


def _correlations(model: str, data: str, seed: int, n_epochs: int) -> dict[str, Any]:
    """Train one model; return Spearman's correlations of its score with the others, and up to 50 of the epochs."""
    from scipy.stats import spearmanr

    source: Data = bundled(data, seed)
    perceptron = model == "MLP"
    epochs = perceptron_epochs(source, seed, n_epochs) if perceptron else torch_epochs(source, seed, n_epochs, model)
    history = np.array([_scores(source.test_labels, proba) for proba in epochs])
    found = [float(spearmanr(history[:, 0], history[:, column]).statistic) for column in range(1, 6)]
    every = max(1, n_epochs // 50)
    return {"spearman": found, "history": history[::every].tolist(), "every": every}


def _wanted() -> dict[tuple[str, str], str]:
    return _OURS | (_OURS_WITH_TORCH if find_spec("torch") else {})


def _table2_parts(options: Options) -> list[Part]:
    n_epochs, runs = (40, 2) if options.quick else (150, 5)
    return [
        Part(f"{model} {name}, {run}", _correlations, (model, data, options.seed + run, n_epochs))
        for (model, name), data in _wanted().items()
        for run in range(runs)
    ]


_OPEN = "The paper does not state width, optimiser, split or t. Once training has converged, ranks are random."
_DIFFERENT = {
    "breast cancer": f"The paper's “IRIS” is actually the breast cancer data with ten outputs, as here. {_OPEN}",
    "digits": _OPEN,
}
_NO_DATA = "The data do not ship with scikit-learn; not run."
_NO_TORCH = "Needs the torch extra; not run here."


def _table2(results: Mapping[str, Any]) -> Iterator[Finding]:
    rows: list[Row] = []
    for (model, name), published in (dict.fromkeys(_OURS_WITH_TORCH) | _TABLE_2).items():
        found = [one["spearman"] for key, one in results.items() if key.startswith(f"{model} {name}, ")]
        data = (_OURS | _OURS_WITH_TORCH).get((model, name))
        title = f"{model}, {name}: MPCS with {', '.join(_MEASURES)}"
        if found:
            means, errors = zip(*map(mean_and_error, zip(*found, strict=True)), strict=True)
            cause = f"{_DIFFERENT[str(data)]} Standard errors up to {max(errors):.4f}, {len(found)} training runs."
            rows.append(Row(title, published, tuple(means), cause, 4))
        elif published is not None:
            rows.append(Row(title, published, None, _NO_TORCH if data else _NO_DATA, 4))
    key = next(key for key in results if key.startswith("MLP DIGITS"))
    history, every = np.array(results[key]["history"]), results[key]["every"]
    curves = [
        Curve(name, range(0, every * len(history), every), _unit(history[:, column]), "series")
        for column, name in ((0, "MPCS"), (1, "accuracy"), (5, "CE"))
    ]
    yield from rows
    yield agreement_panel(rows, "Spearman's correlations")
    yield Panel("one training, MLP on digits", "epoch", "from least to most", tuple(curves))
    yield (
        f"Top {TOP_K}, t = {N_INTERVALS}, nothing released; measured on the 30 % of the cases held out from training."
    )


def _unit(values: Matrix) -> list[float]:
    scaled: list[float] = ((values - values.min()) / max(float(np.ptp(values)), 1e-12)).tolist()
    return scaled


_MANY_INTERVALS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)


def _limit(seed: int) -> dict[str, Any]:
    """Return the distance of the top-class score from cross-entropy as t grows, for right and for wrong rows."""
    rng = np.random.default_rng([seed, 1])
    logits = 1.5 * rng.standard_normal((400, 5))
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = rng.integers(0, 5, len(proba))
    truth[:200] = proba[:200].argmax(axis=1)
    right = proba.argmax(axis=1) == truth
    entropy = -np.log(proba[np.arange(len(proba)), truth])
    flipped = -np.log1p(-proba.max(axis=1))
    found: dict[str, Any] = {"right": [], "wrong": [], "other": []}
    for t in _MANY_INTERVALS:
        score = metrics.meta_pattern_concern_score(truth, proba, top_k=1, n_intervals=t, labels=range(5)).per_sample
        found["right"].append(float(np.abs(score - entropy)[right].max()))
        found["wrong"].append(float(np.abs(score - entropy)[~right].mean()))
        found["other"].append(float(np.abs(score - flipped)[~right].max()))
    found["means"] = [
        float(x.mean()) for x in (score[right], entropy[right], score[~right], flipped[~right], entropy[~right])
    ]
    found["never above"] = bool(np.all(flipped[~right] <= entropy[~right] + 1e-12))
    return found


def _limit_parts(options: Options) -> list[Part]:
    return [Part("rows", _limit, (options.seed,))]


def _limit_report(results: Mapping[str, Any]) -> Iterator[Finding]:
    found = results["rows"]
    right, entropy_right, wrong, flipped, entropy = found["means"]
    claim = "The paper calls cross-entropy the limit (k = 1, t to infinity). "
    yield Row("correct rows: mean score at t = 1,000,000, against cross-entropy", entropy_right, right, digits=5)
    yield Row(
        "wrong rows: mean score at t = 1,000,000, against cross-entropy",
        entropy,
        wrong,
        f"{claim}On wrong rows the score depends only on the top class, and the limit is -ln(1 - p_top).",
        5,
    )
    yield Row("wrong rows: mean score at t = 1,000,000, against -ln(1 - p_top)", flipped, wrong, digits=5)
    yield Row("wrong rows: -ln(1 - p_top) above cross-entropy", "never", "never" if found["never above"] else "once")
    yield Panel(
        "distance from the limit, top 1",
        "intervals t",
        "distance",
        (
            Curve("correct rows, from cross-entropy (largest)", _MANY_INTERVALS, found["right"]),
            Curve("wrong rows, from -ln(1 - p_top) (largest)", _MANY_INTERVALS, found["other"], "third"),
            Curve("wrong rows, from cross-entropy (mean)", _MANY_INTERVALS, found["wrong"], "published"),
        ),
        log="xy",
    )
    yield (
        "Generated rows of five classes: 200 predicted correctly and 200 with a random true class. The “published” "
        "value is the stated limit on these rows."
    )


_SIZES = (10_000, 100_000)


def _time(measure: str, size: int, seed: int) -> dict[str, float]:
    """Return the seconds of one call, the best of five, on generated predictions of ten classes."""
    rng = np.random.default_rng([seed, 2])
    proba = rng.dirichlet(np.ones(10), size)
    truth = rng.integers(0, 10, size)
    call = _calls(truth, proba)[measure]
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begun)
    return {"seconds": min(seconds)}


def _calls(truth: Any, proba: Matrix) -> dict[str, Callable[[], object]]:
    predicted, labels = proba.argmax(axis=1), range(10)
    return {
        "accuracy": lambda: metrics.accuracy_score(truth, predicted),
        "F1": lambda: metrics.f1_score(truth, predicted, average="macro"),
        "MCC": lambda: metrics.matthews_corrcoef(truth, predicted),
        "MS": lambda: metrics.probability_squared_error(truth, proba, labels=labels),
        "CE": lambda: metrics.negative_log_likelihood(truth, proba, labels=labels),
        "MPCS": lambda: metrics.meta_pattern_concern_score(
            truth, proba, top_k=TOP_K, n_intervals=N_INTERVALS, labels=labels
        ),
    }


_TIMED = ("accuracy", "F1", "MCC", "MS", "CE", "MPCS")


def _table3_parts(options: Options) -> list[Part]:
    return [Part(f"{measure}, {size}", _time, (measure, size, options.seed)) for size in _SIZES for measure in _TIMED]


def _table3(results: Mapping[str, Any]) -> Iterator[Finding]:
    yield from tuple(
        Row(
            f"seconds for one call of {measure}: {_SIZES[0]:,} and {_SIZES[1]:,} rows of ten classes",
            None,
            tuple(results[f"{measure}, {size}"]["seconds"] for size in _SIZES),
            "Times differ from run to run and are not recorded.",
            4,
        )
        for measure in _TIMED
    )
    curves = tuple(
        Curve(
            f"{size:,} rows",
            range(len(_TIMED)),
            [results[f"{measure}, {size}"]["seconds"] for measure in _TIMED],
            "series",
        )
        for size in _SIZES
    )
    yield Panel("seconds of one call", "", "seconds", curves, log="y", names=_TIMED)
    yield "Table III gives the training time with each measure; its numbers were not available."


EXPERIMENTS = (
    Experiment("mpcs-table1", "Table I, and scores by hand", f"{PAPER}, table I", no_parts, _table1),
    Experiment("mpcs-table2", "Table II: rank correlations", f"{PAPER}, table II", _table2_parts, _table2),
    Experiment("mpcs-limit", "Is cross-entropy the limit?", f"{PAPER}, section III-B", _limit_parts, _limit_report),
    Experiment("mpcs-table3", "Table III: time", f"{PAPER}, table III", _table3_parts, _table3, times=True),
)
