"""How far matrices can be from the centre of the sphere, and a classifier that really has a matrix on it.

Source: Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019, section 3.2
and algorithm 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.sphere import MeasuredSphere
from elicit_app.problem import Problem
from elicit_app.registry import setting_of
from elicit_app.registry.entries import measured_sphere, models_asked
from elicit_app.study.model import Study
from elicit_app.study.typed_tables import read_practice
from elicit_app.study.writing import write_whole
from metrics.elicited.family import error_cells

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FeasibleSphere:
    """The largest sphere of a study's matrices."""

    study: Study  # whose matrices
    model: str | None  # the model whose probabilities decide; None for a distribution
    sphere: MeasuredSphere  # centre, radius lambda, and the classifiers on it

    def as_json(self) -> dict[str, object]:
        """Return what `elicit study radius --json` prints; matrices are rates, rows are true classes."""
        return {
            "study": self.study.name,
            "model": self.model,
            "classes": list(self.study.classes),
            "radius": self.sphere.radius,
            "centre": self.sphere.centre.tolist(),
            "lambda_by_class": [reach.length for reach in self.sphere.reaches],
        }

    def classifier(self, matrix: Matrix) -> Matrix:
        """Return the randomised classifier h(x, j), shape (n, k), that has a matrix (k, k) whose rows sum to 1.

        Raises
        ------
        Problem
            The matrix lies outside the sphere.
        """
        away = (matrix * self.sphere.centre.sum(axis=1, keepdims=True) - self.sphere.centre)[
            error_cells(self.study.n_classes)
        ] / self.sphere.radius
        if (length := float(np.linalg.norm(away))) > 1 + _ROUNDING:
            raise Problem(
                f"The matrix lies {length:.3g} times as far from the centre as the sphere reaches: no classifier is "
                "known for it. Name one that lpm asked about, or one nearer to answering every class equally often."
            )
        return np.clip(self.sphere.classifier(away), 0.0, 1.0)


def feasible_sphere(study: Study, model: str | None = None) -> FeasibleSphere:
    """Measure the sphere of a study: k linear programmes over its cases, or over all points of its distribution.

    Of several models the first one is taken, or the one that is named.

    Raises
    ------
    Problem
        There is no such model, or no sphere fits.
    """
    chosen = models_asked(study, setting_of("lpm", model=model))[0]
    return FeasibleSphere(study, None if chosen is None else chosen.name, measured_sphere(study, chosen))


def write_probabilities(path: Path, classes: Sequence[str], probabilities: Matrix) -> None:
    """Write a randomised classifier as CSV: a row per case, a column ``answer_<class>`` a class."""
    import polars as pl

    columns = {f"answer_{name}": probabilities[:, index] for index, name in enumerate(classes)}
    write_whole(path, pl.DataFrame(columns).write_csv())


def shown_matrix(path: Path, study: Study) -> Matrix:
    """Read a matrix in counts or rates, and return its rates for each true class, shape (k, k), rows summing to 1."""
    return read_practice(path, study.classes).rates
