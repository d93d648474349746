"""Metrics of the errors: binary searches over the angles of a sphere inside the feasible confusion matrices.

Sources: `Lpm` is algorithm 2 and theorem 2 of [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass
Performance Metric Elicitation", NeurIPS 2019. `QuadraticSearch` follows Hiranandani, Mathur, Narasimhan & Koyejo,
"Quadratic Metric Elicitation for Fairness and Beyond", UAI 2022: a metric phi(c) = <a, c - o> + 1/2 (c - o)' B (c - o)
is nearly linear on a small sphere, where `Lpm` finds its slope. Here the spheres are centred at o and at o +- rho e_j.
For each pair of opposite spheres, s f_j + s' f'_j = 2 a gives the sizes of both slopes, which no comparison reveals,
and with them the column rho B e_j = s f_j - a.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from elicit_app.elicitation.procedure import Outcome, Tolerance
from elicit_app.elicitation.procedures.published import Published, Run
from elicit_app.elicitation.procedures.search import (
    DEFAULT_EPSILON,
    Ask,
    Asking,
    Interval,
    Line,
    Rules,
    Searching,
    bracket,
    shrink,
    take_turns,
)
from elicit_app.elicitation.questions import Family, Matrix, StopReason
from elicit_app.elicitation.sphere import Sphere, direction, quadrants
from elicit_app.elicitation.utilities import Quadratic

CYCLES = 2
# With contradictory answers the angles may never settle.
MOST_CYCLES = 20
_TYPICAL_CYCLES = 3
# In a bisection an angle is found only as finely as the angles found after it warrant.
_FIRST_FINENESS, _FINER_A_CYCLE = 4.0, 8.0  # of epsilon in the first cycle, and how many times finer in each later one
_FEWEST_AGAIN = 2  # questions about an angle that an earlier cycle found
_OF_LAST_MOVE = 1 / 4  # first step away from an angle's earlier value, as a share of the last cycle's largest move
_MOST_POPULATION = 1_000_000

SMALL = 1 / 26  # radius of the small spheres as a share of the whole sphere's radius
CURVED = (
    "The metric is quadratic: the weights are its slope at the middle of the sphere, and its curvature is in the "
    "elicited utility alone. No cost matrix represents it. Across the sphere the slope changes by up to {:.0f} % of "
    "the largest weight."
)


class Lpm(Published):
    """Elicit a linear metric phi(c) = <a, c> on the sphere; a <= 0, norm 1.

    Parameters
    ----------
    sphere : Sphere
        Centre and radius.
    epsilon : float
        Tolerance on every angle.
    ask : str
        all: 4 ceil(log2(pi / (2 epsilon))) questions for every angle and cycle; needed: the same result with fewer;
        bisect: no more than needed, for a finer result, from experts who do not err (see `Rules`); after a coarse first
        cycle, an angle is searched around its last value.
    cycles : int, "auto" or None
        Passes over the angles. auto: until none moves by more than epsilon. None: two with ``ask="all"``, else auto.
    repair : bool
        Read a claimed descent followed by an ascent as an ascent.
    questions : int or None
        Largest number of questions.
    population : int or None
        For people: matrices are shown in whole cases out of at least this many. It is raised, to at most a million,
        until the smallest difference that is asked about is a whole case.
    """

    family_name: Family = "lpm"

    def __init__(
        self,
        sphere: Sphere,
        *,
        epsilon: float = DEFAULT_EPSILON,
        ask: Ask = "needed",
        cycles: int | Literal["auto"] | None = None,
        repair: bool = False,
        questions: int | None = None,
        population: int | None = None,
    ) -> None:
        rules = Rules(epsilon, ask, repair)
        if population is not None:
            population = raised(population, sphere, rules)
        super().__init__(self.family_name, questions, population, hypothetical=True)
        self.sphere, self.rules = sphere, rules
        self.cycles = cycles if cycles is not None else usual_cycles(ask)

    def run(self) -> Run:
        """Return a fresh run of algorithm 2."""
        return _Directions(self)


def usual_cycles(ask: Ask) -> int | Literal["auto"]:
    """Return the default number of passes over the angles: the published two if all questions are asked."""
    return CYCLES if ask == "all" else "auto"


class Angles:
    """The angles of the best point (or the worst, on the opposite side) of a sphere, and the search for them."""

    def __init__(self, procedure: Lpm, *, worst: bool = False) -> None:
        self.procedure, self.worst = procedure, worst
        self.quadrants = quadrants(procedure.sphere.n_classes)
        self.theta = np.array([(low + high) / 2 for low, high in self.quadrants])
        self.cycle, self.coordinate, self.moved = 0, 0, np.inf
        self.interval: Interval = self.quadrants[0]

    def a(self) -> Matrix:
        """Return the unit vector from the centre to the point, shape (q,)."""
        toward = direction(self.theta)
        return -toward if self.worst else toward

    def search(self) -> Searching[None]:
        """Search one angle after another, with the others fixed, in cycles."""
        rules, cycles = self.procedure.rules, self.procedure.cycles
        while self.cycle < (MOST_CYCLES if cycles == "auto" else cycles):
            before = self.theta.copy()
            for j, quadrant in enumerate(self.quadrants):
                self.coordinate, self.interval = j, quadrant
                line, fineness = self.line(j), self.fineness(self.cycle)
                if rules.ask == "bisect" and self.cycle:
                    reach = max(fineness, self.moved * _OF_LAST_MOVE if self.cycle > 1 else 0.0)
                    self.interval = yield from bracket(line, self.theta[j], reach, quadrant)
                    self.theta[j] = sum(self.interval) / 2
                while self.width > fineness:
                    self.interval = yield from shrink(line, self.interval, rules)
                    self.theta[j] = sum(self.interval) / 2
            self.cycle += 1
            self.moved = float(np.abs(self.theta - before).max())
            if cycles == "auto" and self.settled:
                return

    def fineness(self, cycle: int) -> float:
        """Return the width that ends an angle's search in a cycle, counted from 0."""
        rules = self.procedure.rules
        if rules.ask != "bisect" or cycle + 1 == self.procedure.cycles:
            return rules.tolerance
        return max(rules.tolerance, _FIRST_FINENESS * rules.epsilon / _FINER_A_CYCLE**cycle)

    def line(self, j: int) -> Line:
        """Return the points of the sphere along angle j, with the other angles as they are now."""
        sphere, theta, sign = self.procedure.sphere, self.theta.copy(), -1 if self.worst else 1

        def at(angle: float) -> Matrix:
            theta[j] = angle
            return self.procedure.shown(sphere.point(sign * direction(theta)))

        return Line(at, worst=self.worst, identical=self.procedure.population is None)

    @property
    def width(self) -> float:
        """Return the width of the current angle's interval."""
        return self.interval[1] - self.interval[0]

    @property
    def settled(self) -> bool:
        """Return whether the last cycle found every angle finely enough and moved none by more than epsilon."""
        rules = self.procedure.rules
        return self.moved <= rules.epsilon and self.fineness(self.cycle - 1) <= rules.tolerance

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and most questions to come; without a set number of cycles, as if the third were last."""
        rules, cycles = self.procedure.rules, self.procedure.cycles
        if self.cycle == cycles or (cycles == "auto" and self.settled):
            return 0, 0
        others = [high - low for low, high in self.quadrants[self.coordinate + 1 :]]
        now = sum(rules.steps(width, self.fineness(self.cycle)) for width in (self.width, *others))
        a_cycle = sum(rules.steps(high - low, self.fineness(self.cycle + 1)) for low, high in self.quadrants)
        further = max(_TYPICAL_CYCLES - self.cycle - 1, 1) if cycles == "auto" else cycles - self.cycle - 1
        most = (now + further * a_cycle) * rules.most_a_step
        if rules.ask == "all":
            return (most if cycles != "auto" else now * rules.most_a_step), most
        if rules.ask == "bisect":
            return (min(now, _FEWEST_AGAIN * (1 + len(others))) if self.cycle else now), most
        return now + (0 if cycles == "auto" else further * a_cycle), most


class _Directions(Run):
    def __init__(self, procedure: Lpm) -> None:
        self.procedure = procedure
        self.angles = Angles(procedure)

    def asking(self) -> Asking:
        """Search the angles; after "cannot say", ask once more."""
        return take_turns([self.angles.search()])

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come."""
        return self.angles.remaining()

    def weights(self) -> Matrix:
        """Return a, shape (q,), norm 1, all <= 0."""
        return np.minimum(self.angles.a(), 0.0)

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return the weights; on a sphere every ratio can be learned."""
        weights, epsilon = self.weights(), self.procedure.rules.epsilon
        return Outcome(
            "lpm",
            weights,
            (None,) * len(weights),
            stop_reason(stopped, self.procedure, [self.angles]),
            questions,
            tolerance=_tolerance(self.angles.theta, weights, epsilon) if stopped == "tolerance" else None,
            cycles=self.angles.cycle,
        )


def _tolerance(theta: Matrix, weights: Matrix, epsilon: float) -> Tolerance:
    """Return the ranges of ratios if every angle may be off by epsilon / 2 [HBMK19, theorem 2, to first order]."""
    tiny = np.finfo(float).tiny
    log = np.log(np.maximum(np.abs(weights), tiny))
    spread = np.zeros((len(log), len(log)))
    for j in range(len(theta)):
        off = theta.copy()
        off[j] += epsilon / 2
        moved = np.log(np.maximum(np.abs(direction(off)), tiny)) - log
        spread += np.abs(moved[:, None] - moved[None, :])
    ratio = log[:, None] - log[None, :]
    with np.errstate(over="ignore"):
        low, high = np.exp(ratio - spread), np.exp(ratio + spread)
    return Tolerance(low, high, np.zeros_like(spread, dtype=bool))


def stop_reason(stopped: StopReason, procedure: Lpm, searches: list[Angles]) -> StopReason:
    """Return "tolerance" if the angles settled by themselves, "cycles" if the number of cycles ended the search."""
    if stopped != "tolerance":
        return stopped
    return "tolerance" if procedure.cycles == "auto" and all(one.settled for one in searches) else "cycles"


def raised(population: int, sphere: Sphere, rules: Rules) -> int:
    """Return the population at which the smallest difference asked about, near the sphere's middle, is one case.

    Parameters
    ----------
    population : int
        The study's population.
    sphere : Sphere
        Sphere on which questions are asked.
    rules : Rules
        Tolerance of the search.

    Returns
    -------
    int
        `population` times the smallest sufficient power of ten; at most a million unless `population` is more.
    """
    boxes = quadrants(sphere.n_classes)
    middle = np.array([(low + high) / 2 for low, high in boxes])
    smallest = np.inf
    for j, (low, high) in enumerate(boxes):
        quarter = (high - low) / 2 ** rules.steps(high - low) / 2
        step = np.zeros(len(boxes))
        step[j] = quarter
        smallest = min(smallest, np.abs(sphere.mu(middle + step) - sphere.mu(middle)).max())
    while population * smallest < 1 and population * 10 <= _MOST_POPULATION:
        population *= 10
    return population


class QuadraticSearch(Published):
    """Elicit a quadratic metric that falls with every error, by linear searches on 1 + 2 q small spheres.

    Parameters
    ----------
    sphere : Sphere
        Sphere that contains all small spheres.
    epsilon, ask, cycles, repair
        Of each linear search, as for `Lpm`.
    questions : int or None
        Largest number of questions.
    small : float
        Radius of the small spheres as a share of that of the whole one, in (0, 1). The smaller it is, the more nearly
        linear the metric is on them.
    """

    def __init__(
        self,
        sphere: Sphere,
        *,
        epsilon: float = DEFAULT_EPSILON,
        ask: Ask = "needed",
        cycles: int | Literal["auto"] | None = None,
        repair: bool = False,
        questions: int | None = None,
        small: float = SMALL,
    ) -> None:
        super().__init__("lpm", questions, None, hypothetical=True, name="quadratic")
        self.sphere, self.away = sphere, (1 - small) * sphere.radius
        axes = np.eye(sphere.n_classes * (sphere.n_classes - 1)) * (1 - small)
        centres = [sphere.centre, *(sphere.point(sign * axis) for axis in axes for sign in (1, -1))]
        self.searches = tuple(
            Lpm(Sphere(centre, small * sphere.radius), epsilon=epsilon, ask=ask, cycles=cycles, repair=repair)
            for centre in centres
        )

    def run(self) -> Run:
        """Return a fresh run: the slope in the middle, then at both ends of every axis."""
        return _Slopes(self)


class _Slopes(Run):
    def __init__(self, procedure: QuadraticSearch) -> None:
        self.procedure = procedure
        self.angles = [Angles(search) for search in procedure.searches]

    def asking(self) -> Asking:
        """Search the small spheres in turn; after "cannot say", ask once more."""
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
