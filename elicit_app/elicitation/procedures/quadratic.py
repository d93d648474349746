"""Quadratic metrics: linear searches on small spheres give the direction of the gradient, and several make the metric.

Source: Hiranandani, Mathur, Narasimhan & Koyejo, "Quadratic Metric Elicitation for Fairness and Beyond", UAI 2022: a
metric phi(c) = <a, c - o> + 1/2 (c - o)' B (c - o) is nearly linear on a small sphere, where `lpm` finds its slope.
Here the spheres stand at o and at o +- rho e_j: of every pair, s f_j + s' f'_j = 2 a gives the sizes of both slopes,
which no comparison tells, and with them the column rho B e_j = s f_j - a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from elicit_app.elicitation.procedures.lpm import Angles, Lpm, stop_reason
from elicit_app.elicitation.procedures.published import Published, Run
from elicit_app.elicitation.procedures.search import Ask, Asking, take_turns
from elicit_app.elicitation.questions import Family, Matrix, Outcome, StopReason
from elicit_app.elicitation.sphere import Sphere
from metrics.elicited.family import LPM

SMALL = 1 / 26  # radius of the small spheres, as a share of the radius of the whole
CURVED = (
    "The metric is quadratic: the weights are its slope at the middle of the sphere, and its curvature is in the "
    "elicited utility alone. No cost matrix stands for it. From one end of the sphere to the other the slope changes "
    "by up to {:.0f} % of the largest weight."
)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A quadratic utility u(C) = <a, c - o> + 1/2 (c - o)' B (c - o) of the errors c, greater is better.

    Parameters
    ----------
    slope : ndarray of shape (q,)
        a <= 0, norm 1, by the errors in row-major order.
    curvature : ndarray of shape (q, q)
        B, symmetric.
    centre : ndarray of shape (k, k)
        The matrix at which the errors are o.
    """

    slope: Matrix
    curvature: Matrix
    centre: Matrix

    @property
    def family(self) -> Family:
        """Return the family of the slope."""
        return "lpm"

    @property
    def weights(self) -> Matrix:
        """Return the slope."""
        return self.slope

    def utility(self, matrix: Matrix) -> float:
        """Return the utility of one matrix of rates (k, k)."""
        return float(self(matrix))

    def __call__(self, matrices: Matrix) -> Matrix:
        """Return the utilities, shape (...), of matrices of rates, shape (..., k, k)."""
        away = LPM.coordinates(np.asarray(matrices) - self.centre)
        return np.asarray(away @ self.slope + ((away @ self.curvature) * away).sum(axis=-1) / 2)

    def wobbled(self, spread: float, rng: np.random.Generator) -> Self:
        """Return the metric with each log-weight of its slope off by ``spread / sqrt(2)``."""
        slope = self.slope * np.exp(spread / np.sqrt(2) * rng.standard_normal(len(self.slope)))
        return type(self)(LPM.normalise(slope), self.curvature, self.centre)


class QuadraticSearch(Published):
    """Elicit a quadratic metric that falls with every error, by linear searches on 1 + 2 q small spheres.

    Parameters
    ----------
    sphere : Sphere
        All small spheres lie inside it.
    epsilon, ask, cycles, repair
        Of every linear search, as for `Lpm`.
    questions : int or None
        Most questions to ask.
    small : float
        Radius of the small spheres as a share of the whole one's, in (0, 1). The smaller, the more nearly linear the
        metric is on them.
    """

    def __init__(
        self,
        sphere: Sphere,
        *,
        epsilon: float = 0.01,
        ask: Ask = "needed",
        cycles: int | Literal["auto"] | None = None,
        repair: bool = False,
        questions: int | None = None,
        small: float = SMALL,
    ) -> None:
        super().__init__("lpm", questions, None, hypothetical=True)
        self.sphere, self.away = sphere, (1 - small) * sphere.radius
        axes = np.eye(sphere.n_classes * (sphere.n_classes - 1)) * (1 - small)
        centres = [sphere.centre, *(sphere.point(sign * axis) for axis in axes for sign in (1, -1))]
        self.searches = tuple(
            Lpm(Sphere(centre, small * sphere.radius), epsilon=epsilon, ask=ask, cycles=cycles, repair=repair)
            for centre in centres
        )

    @property
    def name(self) -> str:
        """Return the procedure's name."""
        return "quadratic"

    @property
    def family(self) -> Family:
        """Return the family of the slope that is elicited."""
        return "lpm"

    def run(self) -> Run:
        """Return a fresh run: the slope in the middle, then at both ends of every axis."""
        return _Slopes(self)


class _Slopes(Run):
    def __init__(self, procedure: QuadraticSearch) -> None:
        self.procedure = procedure
        self.angles = [Angles(search) for search in procedure.searches]

    def asking(self) -> Asking:
        """Search the small spheres in turn; where the expert cannot say, ask once more."""
        return take_turns(one.search() for one in self.angles)

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come."""
        fewest, most = zip(*(one.remaining() for one in self.angles), strict=True)
        return sum(fewest), sum(most)

    def weights(self) -> Matrix:
        """Return the slope in the middle, shape (q,), norm 1, all <= 0."""
        return np.minimum(self.angles[0].a(), 0.0)

    def utility(self) -> Quadratic:
        """Return the quadratic utility."""
        middle, ends = self.angles[0].a(), [one.a() for one in self.angles[1:]]
        columns = []
        for up, down in zip(ends[::2], ends[1::2], strict=True):
            sizes = np.linalg.lstsq(np.column_stack([up, down]), 2 * middle, rcond=None)[0]
            columns.append((sizes[0] * up - sizes[1] * down) / (2 * self.procedure.away))
        raw = np.column_stack(columns)
        return Quadratic(middle, (raw + raw.T) / 2, self.procedure.sphere.centre)

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return the slope as weights, and the quadratic utility."""
        utility, weights = self.utility(), self.weights()
        changes = 2 * self.procedure.sphere.radius * np.linalg.norm(utility.curvature, axis=1).max()
        return Outcome(
            "lpm",
            weights,
            (None,) * len(weights),
            stop_reason(stopped, self.procedure.searches[0], self.angles),
            questions,
            notes=(CURVED.format(100 * changes / np.abs(weights).max()),),
            utility=utility,
            cycles=max(one.cycle for one in self.angles),
        )
