"""Quadratic metrics: errors of slope and curvature that the procedure `quadratic` is left with.

Source: Hiranandani, Mathur, Narasimhan & Koyejo, "Quadratic Metric Elicitation for Fairness and Beyond", UAI 2022.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elicit_app.elicitation import Sphere
from elicit_app.elicitation import run as drive
from elicit_app.elicitation.oracles import UtilityOracle
from elicit_app.elicitation.procedures.quadratic import Quadratic, QuadraticSearch
from elicit_app.experiments.reproduce.shape import (
    Curve,
    Experiment,
    Findings,
    Options,
    Panel,
    Part,
    Row,
    mean_and_error,
)

_PAPER = "Hiranandani et al., UAI 2022"
_RADIUS = 0.052
_TOLERANCES = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
_CLASSES = (2, 3)


def random_quadratic(around: Sphere, chance: np.random.Generator) -> Quadratic:
    """Return a < 0 of norm 1 and a symmetric B, so small that every error makes the metric worse on the sphere."""
    k = around.n_classes
    q = k * k - k
    a = -(0.5 + chance.random(q))
    a /= np.linalg.norm(a)
    raw = chance.standard_normal((q, q))
    b = (raw + raw.T) / 2
    steepest = float(np.abs(b).max()) * around.radius
    return Quadratic(a, b * 0.5 * float(np.abs(a).min()) / steepest, around.centre)


def _errors(k: int, epsilon: float, runs: int, seed: int) -> dict[str, Any]:
    chance = np.random.default_rng([seed, 14, k])
    around = Sphere.around(np.full(k, 1 / k), _RADIUS)
    search = QuadraticSearch(around, epsilon=epsilon)
    linear, quadratic, questions = [], [], []
    for _ in range(runs):
        true = random_quadratic(around, chance)
        outcome, asked = drive(search, UtilityOracle(true.utility))
        found = outcome.utility
        assert isinstance(found, Quadratic)
        linear.append(float(np.linalg.norm(found.slope - true.slope)))
        quadratic.append(float(np.linalg.norm(found.curvature - true.curvature) / np.linalg.norm(true.curvature)))
        questions.append(len(asked))
    return {"a": linear, "B": quadratic, "questions": questions}


def _parts(options: Options) -> list[Part]:
    runs = 3 if options.quick else 6
    tolerances = _TOLERANCES[2::2] if options.quick else _TOLERANCES
    return [
        Part(f"{k}, {epsilon}", _errors, (k, epsilon, runs, options.seed)) for k in _CLASSES for epsilon in tolerances
    ]


def _report(options: Options, results: Mapping[str, Any]) -> Findings:
    tolerances = _TOLERANCES[2::2] if options.quick else _TOLERANCES
    rows, curves = [], []
    for k in _CLASSES:
        found = [results[f"{k}, {epsilon}"] for epsilon in tolerances]
        for epsilon, one in zip(tolerances, found, strict=True):
            (linear, linear_error), (quadratic, quadratic_error) = mean_and_error(one["a"]), mean_and_error(one["B"])
            rows.append(
                Row(
                    f"k = {k}, tolerance {epsilon:g}: mean error of a; of B, relative",
                    None,
                    (linear, quadratic),
                    f"{len(one['a'])} metrics, {np.mean(one['questions']):,.0f} questions on average, standard errors "
                    f"{linear_error:.4f} and {quadratic_error:.4f}.",
                    4,
                )
            )
        curves += [
            Curve(f"k = {k}, {part}", tolerances, [mean_and_error(one[part])[0] for one in found], "series")
            for part in ("a", "B")
        ]
    return Findings(
        tuple(rows),
        (Panel("quadratic metrics, no noise", "tolerance of an angle", "error", tuple(curves), log="xy"),),
        (
            "The paper's table of errors is not at hand. B comes from differences of slopes over a short way, so its "
            "relative error is several times that of a; what is left at fine tolerances comes from the radius of the "
            "small spheres, on which the metric is not quite linear.",
        ),
    )


EXPERIMENTS = (Experiment("quadratic-2022", "Quadratic metrics", _PAPER, _parts, _report),)
