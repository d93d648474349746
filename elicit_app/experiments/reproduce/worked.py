"""Examples worked by hand: the lecture on evaluation, the post on a multi-label score, and the relevance score.

Sources: [M589] and [ML] give formulas; the published values are figures worked out from them.
[G13] Kota Gopalakrishna, Ozcelebi, Liotta & Lukkien, "Relevance As a Metric for Evaluating Machine Learning
Algorithms", MLDM 2013, sections 3 and 4, also has tables. Its data, 236 choices of a lighting preset, are not
published, so its protocol is run on generated data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import metrics
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

_BY_HAND = "The source gives formulas; the “published” values were computed from them by hand, twice."

_Y, _F = [0, 0, 0, 1, 2], [0, 1, 0, 1, 1]
_WEIGHTS = {0: 1.0, 1: 2.0, 2: 5.0}
_COSTS = [[0, 1, 4], [2, 0, 1], [8, 3, 0]]
_PROBA = [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.5, 0.4]]
_TRUE, _MEAN, _SD = [1.0, 2.0, 3.0, 4.0], [1.1, 1.5, 3.5, 6.0], [0.5, 0.2, 0.4, 1.0]


def _lecture(_: Mapping[str, Any]) -> Iterator[Finding]:
    y, proba = np.array(_Y), np.array(_PROBA)
    weighted = metrics.negative_log_likelihood(y, proba, class_weight=_WEIGHTS)
    likelihood = metrics.gaussian_negative_log_likelihood(_TRUE, _MEAN, _SD)
    calibration = metrics.expected_calibration_error([1, 0], [0.95, 1.0], n_bins=10)
    found = (
        ("error rate", 0.4, metrics.error_rate(_Y, _F)),
        ("balanced error rate", 0.4444444444, metrics.balanced_error_rate(_Y, _F)),
        ("class-weighted error rate", 0.6, metrics.class_weighted_error_rate(_Y, _F, _WEIGHTS)),
        ("misclassification cost", 0.8, metrics.misclassification_cost(_Y, _F, _COSTS)),
        ("negative log-likelihood", 0.6997179455, metrics.negative_log_likelihood(y, proba)),
        ("class-weighted negative log-likelihood", 0.7674578279, weighted),
        ("expected misclassification cost", 1.1, metrics.expected_misclassification_cost(y, proba, _COSTS)),
        ("mean squared error", 1.1275, metrics.mean_squared_error(_TRUE, _MEAN)),
        ("root mean squared error", 1.06183802908, metrics.root_mean_squared_error(_TRUE, _MEAN)),
        ("mean absolute error", 0.775, metrics.mean_absolute_error(_TRUE, _MEAN)),
        ("R squared", 0.098, metrics.r2_score(_TRUE, _MEAN)),
        ("Gaussian negative average log-likelihood", 1.59578207699, likelihood),
        ("coverage of the 95 % intervals", 0.5, metrics.interval_coverage(_TRUE, _MEAN, _SD, level=0.95)),
        ("expected calibration error of p = .95, 1", 0.475, calibration),
    )
    rows = [Row(name, by_hand, float(ours), digits=10) for name, by_hand, ours in found]
    yield from rows
    yield agreement_panel(rows, "the lecture's measures")
    yield _BY_HAND
    yield (
        "Bins are [a, b) as in the lecture, except that the last one is closed. Taken literally, p = 1 falls in no bin "
        "and the calibration error of the last row would be .025."
    )


_ITEMS = [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]]
_GIVEN = [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
_MOODS, _POSITIVES = 13, 0.08


def _post(_: Mapping[str, Any]) -> Iterator[Finding]:
    score = metrics.penalized_multilabel_score(_ITEMS, _GIVEN, false_positive_penalty=1, false_negative_penalty=5)
    plain = metrics.penalized_multilabel_score(_ITEMS, _GIVEN, false_positive_penalty=0, false_negative_penalty=0)
    yield Row("item scores, penalties 1 (false label) and 5 (missed label)", (-0.5, 0.5, -2.0), tuple(score.per_item))
    yield Row("mean score", -0.6666666667, float(score), digits=10)
    yield Row("counts (TP, TN, FP, FN)", (2, 6, 1, 3), tuple(score.counts), digits=0)
    yield Row("no penalties: one minus the Hamming loss", 2 / 3, float(plain), digits=10)
    items = np.zeros((100, _MOODS), dtype=int)
    items[: round(100 * _POSITIVES)] = 1  # 8 in 100 of every label
    silent = {
        float(penalty): float(
            metrics.penalized_multilabel_score(items, np.zeros_like(items), false_negative_penalty=penalty)
        )
        for penalty in np.linspace(0, 12, 25)
    }
    yield Row("a model that predicts no label, 8 % positives: accuracy", 0.92, silent[0.0])
    yield Row("a model that predicts no label, 8 % positives: score, penalty 5", 0.52, silent[5.0])
    curves = (
        Curve("8 % positives", [*silent], [*silent.values()]),
        Curve("its accuracy", [*silent], [silent[0.0]] * len(silent), "bound"),
    )
    yield Panel("a model that predicts no label", "penalty for a missed label", "score", curves)
    yield _BY_HAND


_PAPER = "Kota Gopalakrishna et al., MLDM 2013"

# One context in which LA and LB are chosen four times in ten each, and LC twice.
_REFERENCE = (["LA"] * 4 + ["LB"] * 4 + ["LC"] * 2, ["evening"] * 10)
_CHOSEN, _SAID = ["LA", "LB", "LC", "LA", "LB"], ["LA", "LC", "LA", "LB", "LB"]
_SCORES = (100.0, 80.0, 93.3333333333, 100.0, 100.0)
_MEANS = {(2.0, 1.0): 94.6666666667, (1.0, 1.0): 94.0, (1.0, 2.0): 93.3333333333}
# Table 3: the score if only the first distance counts, and if only the second does.
_ENDS = {
    "DecisionTable": (73.68, 73.56),
    "JRip": (65.50, 68.10),
    "NNge": (67.50, 69.26),
    "PART": (65.79, 70.48),
    "ConjunctiveRule": (57.13, 67.28),
    "Ridor": (64.90, 66.87),
}
# Table 2: the order of P(H), P(P) and P(A), a predicted and an actual outcome, and the case that the table gives.
_CASES = (
    ("P = A (highly relevant)", "often", "often", 1),
    ("H = P > A (moderately relevant)", "often", "seldom", 2),
    ("H > P > A (relevant)", "sometimes", "seldom", 3),
    ("H > A > P (less relevant)", "seldom", "sometimes", 4),
    ("H = A > P (irrelevant)", "seldom", "often", 5),
)


def _tables(_: Mapping[str, Any]) -> Iterator[Finding]:
    context = ["evening"] * len(_CHOSEN)
    for (alpha, beta), published in _MEANS.items():
        score = metrics.relevance_score(_CHOSEN, _SAID, context, alpha=alpha, beta=beta, reference=_REFERENCE)
        if alpha > beta:
            yield Row("scores of five choices, alpha : beta = 2 : 1", _SCORES, tuple(score.per_sample), digits=10)
        yield Row(f"relevance score, alpha : beta = {alpha:g} : {beta:g}", published, float(score), digits=10)
    reference = (["often"] * 4 + ["sometimes"] * 2 + ["seldom"], ["room"] * 7)
    for words, predicted, actual, number in _CASES:
        case = metrics.relevance_score([actual], [predicted], ["room"], reference=reference).case[0]
        yield Row(f"table 2, case of {words}", number, int(case), digits=0)
    for name, value in (("first", 40.0), ("second", 65.0)):
        yield Row(
            f"table 1, {name} score, %",
            value,
            None,
            "An illustrative mean: no distribution of outcomes makes the formula give this value.",
            0,
        )
    alphas = np.linspace(0, 1, 11)
    curves = []
    for name, (first, second) in _ENDS.items():
        yield Row(f"table 3, {name}: only alpha, only beta", (first, second), None, _UNPUBLISHED)
        curves.append(Curve(name, alphas.tolist(), (alphas * first + (1 - alphas) * second).tolist(), "series"))
    first, second = _ENDS["DecisionTable"]
    yield Row("table 3, DecisionTable at 2 : 1, by linear interpolation", None, (2 * first + second) / 3, _LINEAR)
    yield Panel("table 3, by linearity", "alpha / (alpha + beta)", "relevance score", tuple(curves))
    yield "The “published” scores of the worked example were computed by hand, twice, from equations (1) to (8)."


_UNPUBLISHED = "The data are not published; relevance-protocol runs the same protocol on generated data."
_LINEAR = "The score is linear in alpha / (alpha + beta)."

_ROWS, _PRESETS, _TRAINED, _SHUFFLES = 236, 8, 0.7, 10
_FEATURES = (6, 4, 3)  # users, activities, times of day
_RATIOS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_MODELS = ("decision table", "tree of 8 leaves", "full tree", "one rule", "nearest neighbour", "random rules")


def _generated(seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return contexts (n, 3), a feature that only adds randomness (n,), and the chosen presets (n,).

    People choose by user and activity; in each such context a few presets are about equally popular.
    """
    rng = np.random.default_rng([seed, 4])
    contexts = np.column_stack([rng.integers(0, size, _ROWS) for size in _FEATURES])
    likes = rng.dirichlet(np.full(_PRESETS, 0.35), _FEATURES[:2])
    chosen = np.array([rng.choice(_PRESETS, p=likes[user, activity]) for user, activity, _ in contexts])
    return contexts, rng.integers(0, 5, _ROWS), chosen.astype(np.int64)


def _model(name: str, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    makers: dict[str, Callable[[], Any]] = {
        "tree of 8 leaves": lambda: DecisionTreeClassifier(max_leaf_nodes=8, random_state=seed),
        "full tree": lambda: DecisionTreeClassifier(random_state=seed),
        "one rule": lambda: DecisionTreeClassifier(max_depth=1, random_state=seed),
        "nearest neighbour": lambda: KNeighborsClassifier(1, metric="hamming"),
        "random rules": lambda: RandomForestClassifier(10, max_depth=3, random_state=seed),
    }
    return makers[name]()


def _predictions(name: str, seed: int, train: Any, presets: Any, test: Any) -> NDArray[np.int64]:
    """Return a model's predictions for the test rows; features are one-hot except for the table and the neighbours."""
    if name == "decision table":
        return _by_table(train[:, :2], presets, test[:, :2])
    if name != "nearest neighbour":
        both = np.vstack([train, test])
        coded = np.hstack([np.eye(int(column.max()) + 1)[column] for column in both.T])
        train, test = coded[: len(train)], coded[len(train) :]
    model = _model(name, seed).fit(train, presets)
    return np.asarray(model.predict(test), dtype=np.int64)


def _by_table(train: Any, presets: Any, test: Any) -> NDArray[np.int64]:
    """Return the most frequent preset in the same context, or over all contexts if the context was never seen."""
    usual = int(np.bincount(presets).argmax())
    predicted = []
    for row in test:
        same = presets[(train == row).all(axis=1)]
        predicted.append(int(np.bincount(same).argmax()) if len(same) else usual)
    return np.array(predicted, dtype=np.int64)


def _shuffle(number: int, seed: int, kind: str) -> dict[str, Any]:
    """Return relevance scores (model by ratio) and accuracies for one shuffle.

    By `kind`, labels are as people chose them, or the outcomes or the predictions are replaced by random ones.
    """
    contexts, noise, presets = _generated(seed)
    rng = np.random.default_rng([seed, 5, number])
    if kind == "random outcomes":
        presets = rng.integers(0, _PRESETS, len(presets))
    features = np.column_stack([contexts, noise])
    order = rng.permutation(_ROWS)
    train, test = np.split(order, [round(_TRAINED * _ROWS)])
    scores, accuracies = {}, {}
    for name in _MODELS:
        if kind == "random predictions":
            predicted = rng.integers(0, _PRESETS, len(test))
        else:
            predicted = _predictions(name, number, features[train], presets[train], features[test])
        scores[name] = [
            float(
                metrics.relevance_score(
                    presets[test],
                    predicted,
                    contexts[test][:, :2],
                    alpha=alpha,
                    beta=1.0,
                    reference=(presets, contexts[:, :2]),
                )
            )
            for alpha in _RATIOS
        ]
        accuracies[name] = float(metrics.accuracy_score(presets[test], predicted))
    return {"scores": scores, "accuracies": accuracies}


def _protocol_parts(options: Options) -> list[Part]:
    shuffles = 3 if options.quick else _SHUFFLES
    return [
        Part(f"{kind}, {number}", _shuffle, (number, options.seed, kind))
        for kind in _KINDS
        for number in range(shuffles)
    ]


_KINDS = ("chosen", "random outcomes", "random predictions")
_RANDOM = (
    "The available source does not say which labels are random, so both are tried. Our data are generated, and the "
    "score depends on how unequal the frequencies within a context are."
)
_GENERATED = "The paper's data are not published; ours are generated, with different people, contexts and models."


def _protocol(results: Mapping[str, Any]) -> Iterator[Finding]:
    chosen, outcomes, predictions = ([one for key, one in results.items() if key.startswith(kind)] for kind in _KINDS)
    curves = []
    shares = [ratio / (ratio + 1) for ratio in _RATIOS]
    at = _RATIOS.index(2.0)
    for name in _MODELS:
        table = np.array([one["scores"][name] for one in chosen])
        mean, error = mean_and_error(table[:, at])
        accuracy, _ = mean_and_error([100 * one["accuracies"][name] for one in chosen])
        why = f"Generated data, {len(chosen)} shuffles, standard error {error:.2f}; accuracy {accuracy:.1f} %."
        yield Row(f"{name}: relevance score at 2 : 1", None, mean, why)
        curves.append(Curve(name, shares, table.mean(axis=0).tolist(), "series"))
    for kind, shuffles in (("outcomes", outcomes), ("predictions", predictions)):
        means = [_mean_scores(shuffles, name)[at] for name in _MODELS]
        text = f"{min(means):.0f} to {max(means):.0f}"
        yield Row(f"random {kind}: relevance scores at 2 : 1, %", "50 to 60", text, _RANDOM)
    yield Row("largest deviation from a straight line in alpha / (alpha + beta)", 0.0, _bend(chosen), digits=9)
    best = max(_MODELS, key=lambda name: float(np.mean([one["scores"][name][at] for one in chosen])))
    yield Row("best of the six models", "DecisionTable", best, _GENERATED)
    random_curves = [
        Curve(f"random {kind}, {name}", shares, _mean_scores(shuffles, name), "series")
        for kind, shuffles in (("outcomes", outcomes), ("predictions", predictions))
        for name in _MODELS[:3]
    ]
    yield Panel("presets as people chose them", "alpha / (alpha + beta)", "relevance score", tuple(curves))
    yield Panel("labels at random", "alpha / (alpha + beta)", "relevance score", tuple(random_curves))
    yield (
        f"The protocol of section 4 on generated data: {_ROWS} rows, {_PRESETS} presets, {_TRAINED:.0%} for "
        f"training, {len(chosen)} shuffles, six rule-like models. Frequencies come from the whole data set, and the "
        "feature that only adds noise is not part of the context."
    )


def _mean_scores(shuffles: list[dict[str, Any]], name: str) -> list[float]:
    table = np.array([one["scores"][name] for one in shuffles])
    return [float(x) for x in table.mean(axis=0)]


def _bend(shuffles: list[dict[str, Any]]) -> float:
    """Return the largest deviation of a score from the line through its two ends, rounded to remove rounding errors."""
    shares = np.array([ratio / (ratio + 1) for ratio in _RATIOS])
    table = np.array([one["scores"][name] for one in shuffles for name in _MODELS])
    slope = (table[:, -1] - table[:, 0]) / shares[-1]
    line = table[:, :1] + slope[:, None] * shares
    return round(float(np.abs(table - line).max()), 9)


EXPERIMENTS = (
    Experiment("relevance-tables", "Relevance score: tables", f"{_PAPER}, tables 1 to 3", no_parts, _tables),
    Experiment(
        "relevance-protocol",
        "Relevance score: protocol, on generated data",
        f"{_PAPER}, section 4",
        _protocol_parts,
        _protocol,
    ),
    Experiment("lecture", "The lecture's measures", "Marlin, COMPSCI 589, lecture 14", no_parts, _lecture),
    Experiment("post", "The multi-label score", "Blog post on a multi-label score", no_parts, _post),
)
