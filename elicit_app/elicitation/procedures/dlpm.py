"""DLPM elicitation: one binary search over the restricted frontier for every ratio a_i / a_1.

Source: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019,
algorithm 1 and theorem 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elicit_app.elicitation.frontier import RestrictedFrontier
from elicit_app.elicitation.laws import Cases
from elicit_app.elicitation.procedures.published import Published, Run
from elicit_app.elicitation.procedures.search import Ask, Asking, Interval, Line, Rules, Searching, shrink, take_turns
from elicit_app.elicitation.questions import Bound, Family, Matrix, Outcome, StopReason

MOST_A_STEP = {"all": 4, "needed": 2}


class Dlpm(Published):
    """Elicit a diagonal linear metric psi(d) = <a, d> on the restricted Bayes-optimal frontier.

    Parameters
    ----------
    cases : Cases
        Counted for people; plug-in, counted or a law in the laboratory.
    epsilon : float
        Tolerance on m = a_1 / (a_1 + a_i), in (0, 1).
    ask : str
        all: 4 (k - 1) ceil(log2(1 / epsilon)) questions; needed: the same result with less than half of them.
    repair : bool
        Read a claimed descent followed by an ascent as an ascent.
    questions : int or None
        Most questions to ask.
    population : int or None
        For people: whole cases out of this many.
    names : sequence of str
        The classes in the plural, for sentences about what could not be learned.
    """

    family_name: Family = "dlpm"

    def __init__(
        self,
        cases: Cases,
        *,
        epsilon: float = 0.01,
        ask: Ask = "needed",
        repair: bool = False,
        questions: int | None = None,
        population: int | None = None,
        names: Sequence[str] = (),
    ) -> None:
        super().__init__(self.family_name, questions, population)
        self.rules = Rules(epsilon, ask, repair)
        self.n_classes, self.prevalence = cases.n_classes, cases.prevalence
        self.frontiers = {i: RestrictedFrontier(cases, 0, i) for i in range(1, cases.n_classes)}
        self.lines = {i: Line(self.showing(nu), last=1.0) for i, nu in self.frontiers.items()}
        self.names = tuple(names) or tuple(f"cases of class {i + 1}" for i in range(cases.n_classes))

    def run(self) -> Run:
        """Return a fresh run of algorithm 1."""
        return _Ratios(self)

    def showing(self, nu: Callable[[float], Matrix]) -> Callable[[float], Matrix]:
        """Return a line's matrices as they are shown."""
        return lambda m: self.shown(nu(m))

    def stretch(self, i: int, m: float) -> Interval:
        """Return the range of m over which the frontier of classes 1 and i shows the very same matrix as at m."""
        return self.frontiers[i].stretch(m, self.shown)


class _Ratios(Run):
    """The intervals of m_i, each in [0, 1], and a_i / a_1 = (1 - m_i) / m_i."""

    def __init__(self, procedure: Dlpm) -> None:
        self.procedure = procedure
        self.intervals: dict[int, Interval] = dict.fromkeys(procedure.frontiers, (0.0, 1.0))

    def asking(self) -> Asking:
        """Search every ratio; where the expert cannot say, go on with another one first."""
        return take_turns(self.search(i) for i in self.intervals)

    def search(self, i: int) -> Searching[None]:
        """Find the m whose nu(m; 1, i) is best."""
        a, b = 0.0, 1.0
        while b - a > self.procedure.rules.epsilon:
            a, b = yield from shrink(self.procedure.lines[i], (a, b), self.procedure.rules)
            self.intervals[i] = a, b

    def remaining(self) -> tuple[int, int]:
        """Return one and two questions for every halving (four with all; one more where answers are repaired)."""
        rules = self.procedure.rules
        halvings = sum(rules.steps(b - a) for a, b in self.intervals.values())
        most = halvings * (MOST_A_STEP[rules.ask] + (rules.repair and rules.ask == "needed"))
        return (most if rules.ask == "all" else halvings), most

    def weights(self) -> Matrix:
        """Return a, shape (k,), sum 1, from the middle of every interval."""
        middles = np.array([(a + b) / 2 for a, b in self.intervals.values()])
        ratios = np.append(1.0, (1 - middles) / middles)
        a: Matrix = ratios / ratios.sum()
        return a

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return the weights, and what only has a bound."""
        flat = self.flat() if stopped == "tolerance" else {}
        ends = [i for i, (low, high) in flat.items() if low == 0.0 or high == 1.0]
        names = self.procedure.names
        notes = tuple(
            f"How much {names[i]} count compared with {names[0]} could only be bounded: "
            f"{_range(*ratio_bounds(flat[i]))}. No decision of this model tells more."
            for i in ends
        )
        return Outcome(
            "dlpm",
            self.weights(),
            self.bounded(flat),
            "bounded" if ends else stopped,
            questions,
            notes=notes,
            details={"intervals": {str(i): interval for i, interval in self.intervals.items()}},
        )

    def flat(self) -> dict[int, Interval]:
        """Return, for the ratios that no question of this frontier tells more exactly, the range of m they lie in."""
        found = {}
        for i, (a, b) in self.intervals.items():
            low, _ = self.procedure.stretch(i, a)
            _, high = self.procedure.stretch(i, b)
            if low == 0.0 or high == 1.0 or (high - low) - (b - a) > self.procedure.rules.epsilon:
                found[i] = low, high
        return found

    def bounded(self, flat: dict[int, Interval]) -> tuple[Bound, ...]:
        """Return the range of every weight: they share one sum, so one ratio without end leaves all of them bounded."""
        if not flat:
            return (None,) * self.procedure.n_classes
        ranges = [(1.0, 1.0)] + [ratio_bounds(flat.get(i, interval)) for i, interval in self.intervals.items()]
        bounds = []
        for i, (low, high) in enumerate(ranges):
            others = ranges[:i] + ranges[i + 1 :]
            least = low / (low + sum(one[1] for one in others))
            most = 1.0 if np.isinf(high) else high / (high + sum(one[0] for one in others))
            bounds.append((float(least), float(most)))
        return tuple(bounds)


def ratio_bounds(interval: Interval) -> Interval:
    """Return the range of a_i / a_1 = (1 - m) / m for m in an interval of [0, 1]; inf for m = 0."""
    low, high = interval
    return (1 - high) / high if high > 0 else np.inf, (1 - low) / low if low > 0 else np.inf


def _range(low: float, high: float) -> str:
    if low == 0 and np.isinf(high):
        return "any number of times as much"
    if np.isinf(high):
        return f"at least {low:.3g} times as much"
    return f"at most {high:.3g} times as much" if low == 0 else f"between {low:.3g} and {high:.3g} times as much"
