"""LFPM elicitation: the best point of the sphere and the worst one. Source: see `pencil`."""

from __future__ import annotations

import numpy as np

from elicit_app.elicitation.procedures.lpm import Angles, Lpm, stop_reason
from elicit_app.elicitation.procedures.pencil import Fraction, coordinates, numerator, ordering
from elicit_app.elicitation.procedures.published import Run
from elicit_app.elicitation.procedures.search import Asking, take_turns
from elicit_app.elicitation.questions import Family, Matrix, Outcome, StopReason


class Lfpm(Lpm):
    """Elicit a linear-fractional metric that falls with every error; parameters as for `Lpm`."""

    family_name: Family = "lfpm"

    def run(self) -> Run:
        """Return a fresh run: twice the searches of a linear metric."""
        return _BothEnds(self)


class _BothEnds(Run):
    def __init__(self, procedure: Lpm) -> None:
        self.procedure = procedure
        self.best, self.worst = Angles(procedure), Angles(procedure, worst=True)
        self.centre = coordinates(procedure.sphere.centre, "lfpm")

    def asking(self) -> Asking:
        """Search for the best point, then for the worst one."""
        return take_turns([self.best.search(), self.worst.search()])

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come."""
        first, second = self.best.remaining(), self.worst.remaining()
        return first[0] + second[0], first[1] + second[1]

    def touching(self, angles: Angles) -> tuple[Matrix, float]:
        """Return normal and offset of the hyperplane that touches the sphere at a point."""
        a = angles.a()
        return a, float(a @ self.centre) + self.procedure.sphere.radius

    def weights(self) -> Matrix:
        """Return p, shape (q,), norm 1, by the convention p0 = 0."""
        p = numerator(*self.touching(self.best), *self.touching(self.worst))
        p = p / np.linalg.norm(p)
        return -p if p.sum() > 0 else p

    def utility(self) -> Fraction:
        """Return the utility that orders the sphere's matrices as the expert does."""
        (m1, c1), (m2, c2) = self.touching(self.best), self.touching(self.worst)
        radius = self.procedure.sphere.radius
        ends = self.centre + radius * np.array([m1, m2])
        axes = self.centre + radius * np.vstack([np.eye(len(m1)), -np.eye(len(m1))])
        return ordering("lfpm", np.append(m1, -c1), np.append(m2, -c2), np.vstack([axes, ends]), *ends)

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return p, and the utility."""
        weights = self.weights()
        return Outcome(
            "lfpm",
            weights,
            (None,) * len(weights),
            stop_reason(stopped, self.procedure, [self.best, self.worst]),
            questions,
            utility=self.utility(),
            cycles=max(self.best.cycle, self.worst.cycle),
        )
