"""Linear-fractional searches: the best point of an upper boundary and the worst point of a lower one.

In DLFPM, two classes at a time give two lines in the plane (d_1, d_i). All these pencils share the axis d_1, which
joins them to the one pencil of the metric. Source: see `utilities`.
"""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np

from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.procedures.dlpm import Dlpm
from elicit_app.elicitation.procedures.lpm import Angles, Lpm, stop_reason
from elicit_app.elicitation.procedures.published import Run
from elicit_app.elicitation.procedures.search import Asking, Interval, Line, Searching, shrink, take_turns
from elicit_app.elicitation.questions import Family, Matrix, StopReason
from elicit_app.elicitation.utilities import Fraction, coordinates, numerator, ordering

_MOST_CORNERS = 12


class Dlfpm(Dlpm):
    """Elicit a diagonal linear-fractional metric that grows with every hit; parameters as for `Dlpm`."""

    family_name: Family = "dlfpm"

    def run(self) -> Run:
        """Return a fresh run: twice the searches of a linear metric."""
        return _Pencils(self)


class _Pencils(Run):
    def __init__(self, procedure: Dlfpm) -> None:
        self.procedure = procedure
        self.upper: dict[int, Interval] = dict.fromkeys(procedure.frontiers, (0.0, 1.0))
        self.lower: dict[int, Interval] = dict.fromkeys(procedure.frontiers, (0.0, 1.0))
        self.lowest = {i: procedure.line(nu.lower, worst=True) for i, nu in procedure.frontiers.items()}

    def asking(self) -> Asking:
        """Search both boundaries for every ratio."""
        pairs = [(self.procedure.lines, self.upper), (self.lowest, self.lower)]
        return take_turns(self.search(lines[i], found, i) for i in self.upper for lines, found in pairs)

    def search(self, line: Line, found: dict[int, Interval], i: int) -> Searching[None]:
        """Find the m whose point of a boundary is the best, or the worst."""
        a, b = 0.0, 1.0
        while b - a > self.procedure.rules.tolerance:
            a, b = yield from shrink(line, (a, b), self.procedure.rules)
            found[i] = a, b

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come."""
        rules = self.procedure.rules
        intervals = [*self.upper.values(), *self.lower.values()]
        return rules.questions(sum(rules.steps(b - a) for a, b in intervals))

    def members(self) -> tuple[Matrix, Matrix]:
        """Return two members of the pencil, (k + 1,) each: d_1 + <f, d> without offset, and 1 + <g, d>."""
        k = self.procedure.n_classes
        without, constant = np.zeros(k + 1), np.zeros(k + 1)
        without[0] = constant[-1] = 1.0
        for i, nu in self.procedure.frontiers.items():
            lines = []
            for point, (a, b) in ((nu, self.upper[i]), (nu.lower, self.lower[i])):
                m = (a + b) / 2
                hits = np.diagonal(point(m))
                lines.append((m, 1 - m, -(m * hits[0] + (1 - m) * hits[i])))
            on_axis = np.array([(line[0], line[2]) for line in lines]).T
            towards = np.array([line[1] for line in lines])
            # The two members whose restrictions to the axis (d_1, 1) are d_1 and 1.
            without[i], constant[i] = np.linalg.lstsq(on_axis, np.eye(2), rcond=None)[0].T @ towards
        return without, constant

    def weights(self) -> Matrix:
        """Return p, shape (k,), sum 1, under the convention p0 = 0."""
        p = self.members()[0][:-1]
        total = p.sum()
        scaled: Matrix = p / (total if total else 1.0)
        return scaled

    def utility(self) -> Fraction:
        """Return the utility that orders matrices as the expert does."""
        frontiers = self.procedure.frontiers
        # These searches do not reveal the overall best and worst; those of one ratio suffice.
        ratio = next(iter(frontiers))
        best, worst = (
            np.diagonal(point((a + b) / 2))
            for point, (a, b) in ((frontiers[ratio], self.upper[ratio]), (frontiers[ratio].lower, self.lower[ratio]))
        )
        return ordering("dlfpm", *self.members(), _corners(self.procedure.prevalence), best, worst)

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return p and the utility."""
        searches = [(i, *nu.flat_range(sum(self.upper[i]) / 2)) for i, nu in self.procedure.frontiers.items()]
        ends = [i for i, low, high in searches if low == 0.0 or high == 1.0] if stopped == "tolerance" else []
        names = self.procedure.names
        return Outcome(
            "dlfpm",
            self.weights(),
            tuple((-inf, inf) if ends and (i == 0 or i in ends) else None for i in range(self.procedure.n_classes)),
            "bounded" if ends else stopped,
            questions,
            notes=tuple(f"How much {names[i]} count compared with {names[0]} could not be determined." for i in ends),
            utility=self.utility(),
        )


def _corners(prevalence: Matrix) -> Matrix:
    """Return the corners of the box that contains all hits (for many classes, only those on its axes)."""
    if len(prevalence) <= _MOST_CORNERS:
        return np.array(list(product(*((0.0, zeta) for zeta in prevalence))))
    return np.vstack([np.zeros(len(prevalence)), np.diag(prevalence), prevalence])


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
        """Return p, shape (q,), norm 1, under the convention p0 = 0."""
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
        """Return p and the utility."""
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
