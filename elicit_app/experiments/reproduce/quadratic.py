"""Quadratic metrics: linear searches on small spheres give the direction of the gradient, and several make the metric.

Source: Hiranandani, Mathur, Narasimhan & Koyejo, "Quadratic Metric Elicitation for Fairness and Beyond", UAI 2022: a
metric phi(c) = <a, c - o> + 1/2 (c - o)' B (c - o) is nearly linear on a small sphere, where `lpm` finds its slope.
Here the spheres stand at o and at o +- rho e_j: of every pair, s f_j + s' f'_j = 2 a gives the sizes of both slopes,
which no comparison tells, and with them the column rho B e_j = s f_j - a.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elicit_app.elicitation import Lpm, Sphere
from elicit_app.elicitation import run as drive
from elicit_app.elicitation.oracles import UtilityOracle
from elicit_app.elicitation.procedures.published import coordinates
from elicit_app.elicitation.questions import Matrix
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
_RHO, _SMALL = 0.05, 0.002  # how far the spheres stand from the centre, and their radius
_TOLERANCES = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
_CLASSES = (2, 3)


def _random_metric(k: int, chance: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Return a < 0 of norm 1 and a symmetric B, so small that every error makes the metric worse at all spheres."""
    q = k * k - k
    a = -(0.5 + chance.random(q))
    a /= np.linalg.norm(a)
    raw = chance.standard_normal((q, q))
    b = (raw + raw.T) / 2
    steepest = float(np.abs(b).max(axis=1).max()) * _RHO
    return a, b * 0.5 * float(np.abs(a).min()) / steepest


def _slope(centre: Matrix, a: Matrix, b: Matrix, middle: Matrix, epsilon: float) -> tuple[Matrix, int]:
    """Return the direction of the gradient at a point, shape (q,), found by comparisons, and how many it took."""

    def utility(matrix: Matrix) -> float:
        away = coordinates(matrix, "lpm") - middle
        return float(a @ away + away @ b @ away / 2)

    search = Lpm(Sphere(centre, _SMALL), epsilon=epsilon, ask="needed", cycles="auto")
    outcome, asked = drive(search, UtilityOracle(utility))
    return outcome.weights, len(asked)


def elicit_quadratic(k: int, a: Matrix, b: Matrix, epsilon: float) -> tuple[Matrix, Matrix, int]:
    """Return a (norm 1) and B, on its scale, of an expert who judges by a quadratic metric, and the questions asked."""
    around = Sphere.around(np.full(k, 1 / k), _RHO)
    middle = coordinates(around.centre, "lpm")
    found, questions = _slope(around.centre, a, b, middle, epsilon)
    columns = []
    for axis in np.eye(k * k - k):
        ends = []
        for sign in (1, -1):
            slope, asked = _slope(around.point(sign * axis), a, b, middle, epsilon)
            ends.append(slope)
            questions += asked
        sizes = np.linalg.lstsq(np.column_stack(ends), 2 * found, rcond=None)[0]
        columns.append((sizes[0] * ends[0] - sizes[1] * ends[1]) / (2 * _RHO))
    matrix = np.column_stack(columns)
    return found, (matrix + matrix.T) / 2, questions


def _errors(k: int, epsilon: float, runs: int, seed: int) -> dict[str, Any]:
    chance = np.random.default_rng([seed, 14, k])
    linear, quadratic, questions = [], [], []
    for _ in range(runs):
        a, b = _random_metric(k, chance)
        found_a, found_b, asked = elicit_quadratic(k, a, b, epsilon)
        linear.append(float(np.linalg.norm(found_a - a)))
        quadratic.append(float(np.linalg.norm(found_b - b) / np.linalg.norm(b)))
        questions.append(asked)
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
