"""The worked figures of the lecture on evaluation [M589] and of the post on a multi-label score [ML].

Both sources give formulas. What stands as published are figures that were worked out from them by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import metrics
from elicit_app.experiments.reproduce.shape import (
    Curve,
    Experiment,
    Findings,
    Options,
    Panel,
    Part,
    Row,
    agreement_panel,
)

_BY_HAND = "The source gives formulas; the figures to compare with were worked out from them by hand, twice."

_Y, _F = [0, 0, 0, 1, 2], [0, 1, 0, 1, 1]
_WEIGHTS = {0: 1.0, 1: 2.0, 2: 5.0}
_COSTS = [[0, 1, 4], [2, 0, 1], [8, 3, 0]]
_PROBA = [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.5, 0.4]]
_TRUE, _MEAN, _SD = [1.0, 2.0, 3.0, 4.0], [1.1, 1.5, 3.5, 6.0], [0.5, 0.2, 0.4, 1.0]


def _lecture_figures() -> dict[str, float]:
    """Return every figure of the lecture's example by its name."""
    y, proba = np.array(_Y), np.array(_PROBA)
    calibration = metrics.expected_calibration_error([1, 0], [0.95, 1.0], n_bins=10)
    return {
        "error rate": float(metrics.error_rate(_Y, _F)),
        "balanced error rate": float(metrics.balanced_error_rate(_Y, _F)),
        "class-weighted error rate": float(metrics.class_weighted_error_rate(_Y, _F, _WEIGHTS)),
        "misclassification cost": float(metrics.misclassification_cost(_Y, _F, _COSTS)),
        "negative log-likelihood": float(metrics.negative_log_likelihood(y, proba)),
        "class-weighted negative log-likelihood": float(
            metrics.negative_log_likelihood(y, proba, class_weight=_WEIGHTS)
        ),
        "expected misclassification cost": float(metrics.expected_misclassification_cost(y, proba, _COSTS)),
        "mean squared error": float(metrics.mean_squared_error(_TRUE, _MEAN)),
        "root mean squared error": float(metrics.root_mean_squared_error(_TRUE, _MEAN)),
        "mean absolute error": float(metrics.mean_absolute_error(_TRUE, _MEAN)),
        "R squared": float(metrics.r2_score(_TRUE, _MEAN)),
        "Gaussian negative average log-likelihood": float(metrics.gaussian_negative_log_likelihood(_TRUE, _MEAN, _SD)),
        "coverage of the 95 % intervals": float(metrics.interval_coverage(_TRUE, _MEAN, _SD, level=0.95)),
        "expected calibration error of p = .95, 1": float(calibration),
    }


_LECTURE = {
    "error rate": 0.4,
    "balanced error rate": 0.4444444444,
    "class-weighted error rate": 0.6,
    "misclassification cost": 0.8,
    "negative log-likelihood": 0.6997179455,
    "class-weighted negative log-likelihood": 0.7674578279,
    "expected misclassification cost": 1.1,
    "mean squared error": 1.1275,
    "root mean squared error": 1.06183802908,
    "mean absolute error": 0.775,
    "R squared": 0.098,
    "Gaussian negative average log-likelihood": 1.59578207699,
    "coverage of the 95 % intervals": 0.5,
    "expected calibration error of p = .95, 1": 0.475,
}


def _lecture_parts(options: Options) -> list[Part]:
    del options
    return [Part("figures", _lecture_figures)]


def _lecture(options: Options, results: Mapping[str, Any]) -> Findings:
    del options
    rows = tuple(Row(name, _LECTURE[name], ours, digits=10) for name, ours in results["figures"].items())
    return Findings(
        rows,
        (agreement_panel(rows, "the lecture's measures"),),
        (
            _BY_HAND,
            "Bins are [a, b) as in the lecture, but the last one is closed: taken literally, p = 1 is in no bin and "
            "the calibration error of the last row would be .025.",
        ),
    )


_ITEMS = [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]]
_GIVEN = [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
_MOODS, _POSITIVES = 13, 0.08


def _post_figures() -> dict[str, Any]:
    """Return the figures of the post's example, and the score of a model that gives no label at all."""
    score = metrics.penalized_multilabel_score(_ITEMS, _GIVEN, false_positive_penalty=1, false_negative_penalty=5)
    plain = metrics.penalized_multilabel_score(_ITEMS, _GIVEN, false_positive_penalty=0, false_negative_penalty=0)
    items = np.zeros((100, _MOODS), dtype=int)
    items[: round(100 * _POSITIVES)] = 1  # 8 in 100 of every label
    penalties = [float(x) for x in np.linspace(0, 12, 25)]
    nothing = np.zeros_like(items)
    return {
        "items": [float(x) for x in score.per_item],
        "mean": float(score),
        "counts": [int(x) for x in score.counts],
        "unpenalised": float(plain),
        "penalties": penalties,
        "silent": [
            float(metrics.penalized_multilabel_score(items, nothing, false_negative_penalty=fn)) for fn in penalties
        ],
    }


def _post_parts(options: Options) -> list[Part]:
    del options
    return [Part("figures", _post_figures)]


def _post(options: Options, results: Mapping[str, Any]) -> Findings:
    del options
    found = results["figures"]
    silent = dict(zip(found["penalties"], found["silent"], strict=True))
    rows = (
        Row("item scores, penalties 1 (false label) and 5 (missed label)", (-0.5, 0.5, -2.0), tuple(found["items"])),
        Row("mean score", -0.6666666667, found["mean"], digits=10),
        Row(
            "true and false: positives, negatives (TP, TN, FP, FN)",
            (2, 6, 1, 3),
            tuple(found["counts"]),
            digits=0,
        ),
        Row("no penalties: one minus the Hamming loss", 2 / 3, found["unpenalised"], digits=10),
        Row("a model that gives no label, 8 % positives: accuracy", 0.92, silent[0.0]),
        Row("a model that gives no label, 8 % positives: score, penalty 5", 0.52, silent[5.0]),
    )
    return Findings(
        rows,
        (
            Panel(
                "a model that gives no label",
                "penalty of a missed label",
                "score",
                (
                    Curve("8 % positives", found["penalties"], found["silent"]),
                    Curve("its accuracy", found["penalties"], [silent[0.0]] * len(silent), "bound"),
                ),
            ),
        ),
        (_BY_HAND,),
    )


EXPERIMENTS = (
    Experiment("lecture", "The lecture's measures", "Marlin, COMPSCI 589, lecture 14", _lecture_parts, _lecture),
    Experiment("post", "The multi-label score", "Blog post on a multi-label score", _post_parts, _post),
)
