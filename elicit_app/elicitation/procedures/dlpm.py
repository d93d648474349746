"""Metrics of the hits: a binary search over the restricted frontier for every ratio a_i / a_1, or for one angle.

Sources: `Dlpm` is algorithm 1 and theorem 1 of [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass
Performance Metric Elicitation", NeurIPS 2019. `Binary` is algorithm 1 of [HBMK19b], the same authors' "Performance
Metric Elicitation from Pairwise Classifier Comparisons", AISTATS 2019, for metrics m11 TP + m00 TN that grow with both
hits: m = (cos theta, sin theta), theta in [0, pi / 2]. The best classifier for m thresholds the probability of the
first class at m00 / (m11 + m00) (proposition 1).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.procedure import Bound, Outcome, Tolerance
from elicit_app.elicitation.procedures.published import Published, Run
from elicit_app.elicitation.procedures.search import (
    DEFAULT_EPSILON,
    Ask,
    Asking,
    Interval,
    Line,
    Rules,
    Searching,
    Slope,
    shrink,
    take_turns,
)
from elicit_app.elicitation.questions import Family, Matrix, StopReason
from elicit_app.problem import Problem

_RIGHT = np.pi / 2


class Dlpm(Published):
    """Elicit a diagonal linear metric psi(d) = <a, d> on the restricted Bayes-optimal frontier.

    Parameters
    ----------
    cases : Cases
        Counted for people; plug-in, counted or a distribution in the laboratory.
    epsilon : float
        Tolerance on m = a_1 / (a_1 + a_i), in (0, 1).
    ask : str
        all: 4 (k - 1) ceil(log2(1 / epsilon)) questions; needed: the same result with less than half of them; bisect:
        as many questions as needed for a finer result, from experts who do not err (see `Rules`).
    repair : bool
        Read a claimed descent followed by an ascent as an ascent.
    questions : int or None
        Largest number of questions.
    population : int or None
        For people: matrices are shown in whole cases out of this many.
    names : sequence of str
        The classes in the plural, for sentences about what could not be learned.
    """

    family_name: Family = "dlpm"

    def __init__(
        self,
        cases: Cases,
        *,
        epsilon: float = DEFAULT_EPSILON,
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
        self.lines = {i: self.line(nu) for i, nu in self.frontiers.items()}
        self.names = tuple(names) or tuple(f"cases of class {i + 1}" for i in range(cases.n_classes))

    def run(self) -> Run:
        """Return a fresh run of algorithm 1."""
        return _Ratios(self)

    def line(self, nu: Callable[[float], Matrix], *, worst: bool = False) -> Line:
        """Return the matrices of a boundary as they are shown, from m = 0 to m = 1."""
        return Line(lambda m: self.shown(nu(m)), last=1.0, worst=worst, identical=self.population is None)

    def flat_range(self, i: int, m: float) -> Interval:
        """Return the range of m over which the frontier of classes 1 and i shows the same matrix as at m."""
        return self.frontiers[i].flat_range(m, self.shown)


def planned(n_classes: int, rules: Rules) -> tuple[int, int]:
    """Return the fewest and the most questions about the ratios of so many classes."""
    return rules.questions((n_classes - 1) * rules.steps(1.0))


class _Ratios(Run):
    """Intervals of m_i, in [0, 1], with a_i / a_1 = (1 - m_i) / m_i, and the ratios that the answers allow."""

    def __init__(self, procedure: Dlpm) -> None:
        self.procedure = procedure
        self.intervals: dict[int, Interval] = dict.fromkeys(procedure.frontiers, (0.0, 1.0))
        self.middles: dict[int, float] = dict.fromkeys(procedure.frontiers, 0.5)
        self.ratios: dict[int, Interval] = dict.fromkeys(procedure.frontiers, (0.0, np.inf))

    def asking(self) -> Asking:
        """Search every ratio; after "cannot say", continue with another one first."""
        return take_turns(self.search(i) for i in self.intervals)

    def search(self, i: int) -> Searching[None]:
        """Find the m for which nu(m; 1, i) is best."""
        a, b = 0.0, 1.0
        while b - a > self.procedure.rules.tolerance:
            a, b = yield from self.track_ratios(i, shrink(self.procedure.lines[i], (a, b), self.procedure.rules))
            self.intervals[i], self.middles[i] = (a, b), (a + b) / 2
        self.middles[i] = self.at_rest(i)

    def track_ratios(self, i: int, step: Searching[Interval]) -> Searching[Interval]:
        """Forward a step's comparisons; each answer tells on which side of x / y the ratio lies."""
        try:
            comparison = next(step)
            while True:
                slope = yield comparison
                gained = np.diagonal(comparison.later - comparison.earlier)
                if gained[i] < 0 and slope is not Slope.FLAT:
                    low, high = self.ratios[i]
                    turning = float(-gained[0] / gained[i])
                    self.ratios[i] = (max(low, turning), high) if slope is Slope.FALLS else (low, min(high, turning))
                comparison = step.send(slope)
        except StopIteration as end:
            interval: Interval = end.value
            return interval

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come."""
        rules = self.procedure.rules
        return rules.questions(sum(rules.steps(b - a) for a, b in self.intervals.values()))

    def weights(self) -> Matrix:
        """Return a, shape (k,), sum 1, from the middle of every interval [HBMK19, algorithm 1].

        Counts of few cases are step functions, on which algorithm 1 may stick at a ratio that the expert's own answers
        exclude. For people the nearest ratio that the answers allow is returned.
        """
        ratios = [1.0]
        for i, (low, high) in self.ratios.items():
            ratio = (1 - self.middles[i]) / self.middles[i]
            ratios.append(min(max(ratio, low), high) if self.procedure.population and low <= high else ratio)
        weights = np.array(ratios)
        scaled: Matrix = weights / weights.sum()
        return scaled

    def at_rest(self, i: int) -> float:
        """Return the estimate of m_i after its search: the middle of its interval, or of a flat stretch.

        Ties go right, so a search that reaches a flat stretch ends at its right end. Between matrices that no question
        distinguishes, all m are equally good.
        """
        a, b = self.intervals[i]
        low, high = self.procedure.flat_range(i, a)
        flat = low > 0.0 and high < 1.0 and high - low > self.procedure.rules.epsilon
        return (low + high) / 2 if flat else (a + b) / 2

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return the weights, and which of them are only bounded."""
        ranges = self.ranges()
        flat = {i for i in ranges if self.is_flat(i, ranges[i])} if stopped == "tolerance" else set()
        open_ended = any(ranges[i][0] == 0 or np.isinf(ranges[i][1]) for i in flat)
        names, weights = self.procedure.names, self.weights()
        notes = tuple(
            f"How much {names[i]} count compared with {names[0]} is only known within bounds: {_in_words(*ranges[i])}. "
            "No decision of this model between the two reveals more."
            for i in sorted(flat)
        )
        bounded, intervals = _bounds(ranges, weights) if flat else ((None,) * len(weights), None)
        return Outcome(
            "dlpm",
            weights,
            bounded,
            "bounded" if open_ended else stopped,
            questions,
            intervals=intervals,
            notes=notes,
            tolerance=self.tolerance(ranges, all_asked=stopped == "tolerance"),
        )

    def tolerance(self, ranges: dict[int, Interval], *, all_asked: bool) -> Tolerance:
        """Return the ratios to the first class that the answers allow, and those between other classes that follow."""
        least, most = np.array([(1.0, 1.0), *ranges.values()]).T
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.nan_to_num(least[:, None] / most[None, :], nan=0.0)
            high = np.nan_to_num(most[:, None] / least[None, :], nan=np.inf, posinf=np.inf)
        flat = np.array([False, *(self.is_flat(i, one) for i, one in ranges.items())])
        # If the expert stopped early, more questions could have revealed more.
        return Tolerance(low, high, (flat[:, None] | flat[None, :]) & all_asked)

    def ranges(self) -> dict[int, Interval]:
        """Return the range of every ratio a_i / a_1 that the answers allow.

        If they contradict each other: the range that the frontier cannot distinguish in the search's final interval.
        """
        found = dict(self.ratios)
        for i, (low, high) in self.ratios.items():
            if low > high:
                a, b = self.intervals[i]
                found[i] = ratio_bounds((self.procedure.flat_range(i, a)[0], self.procedure.flat_range(i, b)[1]))
        return found

    def is_flat(self, i: int, ratios: Interval) -> bool:
        """Return whether a search that asked all it could leaves more open than the tolerance."""
        a, b = self.intervals[i]
        low, high = 1 / (1 + ratios[1]), 1 / (1 + ratios[0])
        return low == 0.0 or high == 1.0 or (high - low) - (b - a) > self.procedure.rules.epsilon


def _bounds(ranges: dict[int, Interval], weights: Matrix) -> tuple[tuple[Bound, ...], Matrix]:
    """Return the range of every weight, and of every cost in units of the largest.

    The weights have a fixed sum, so one unbounded ratio affects all of them.
    """
    boxes = [(1.0, 1.0), *ranges.values()]
    bounds: list[Bound] = []
    for i, (low, high) in enumerate(boxes):
        others = boxes[:i] + boxes[i + 1 :]
        most = 1.0 if np.isinf(high) else high / (high + sum(one for one, _ in others))
        bounds.append((float(low / (low + sum(one for _, one in others))), float(most)))
    k, top = len(weights), int(weights.argmax())
    intervals = np.zeros((k, k, 2))
    for i, (low, high) in enumerate(boxes):
        least = 1.0 if i == top else low / boxes[top][1]
        most = 1.0 if i == top else high / boxes[top][0] if boxes[top][0] > 0 else np.inf
        intervals[i, np.arange(k) != i] = least, most
    return tuple(bounds), intervals


def ratio_bounds(interval: Interval) -> Interval:
    """Return the range of a_i / a_1 = (1 - m) / m for m in an interval of [0, 1]; inf for m = 0."""
    low, high = interval
    return (1 - high) / high if high > 0 else np.inf, (1 - low) / low if low > 0 else np.inf


def _in_words(low: float, high: float) -> str:
    if low == 0 and np.isinf(high):
        return "any number of times as much"
    if np.isinf(high):
        return f"at least {low:.3g} times as much"
    return f"at most {high:.3g} times as much" if low == 0 else f"between {low:.3g} and {high:.3g} times as much"


class RestrictedFrontier:
    """All classifiers that answer k1 or k2 by a threshold of eta_k1 against eta_k2.

    Cases are sorted once by the least m that turns them to k1; every matrix is then one look-up.

    Parameters
    ----------
    cases : Cases
        Source of decisions and of what is counted.
    k1, k2 : int
        The two classes that are predicted.
    """

    def __init__(self, cases: Cases, k1: int, k2: int) -> None:
        self.cases, self.k1, self.k2 = cases, k1, k2
        both = cases.eta[:, k1] + cases.eta[:, k2]
        # If neither class is possible, 0 >= 0 holds for every m: predict k1.
        turning = np.divide(cases.eta[:, k2], both, out=np.zeros_like(both), where=both > 0)
        self._order = np.argsort(turning, kind="stable")
        self.thresholds = turning[self._order]

    @cached_property
    def _gathered(self) -> Matrix:
        """Return the gain of each true class among the first 0..n cases in order of their threshold, (n + 1, k)."""
        gathered = np.zeros((len(self._order) + 1, self.cases.n_classes))
        np.cumsum(self.cases.gain[self._order], axis=0, out=gathered[1:])
        return gathered

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self._order)

    def position(self, m: float) -> int:
        """Return the number of cases with m * eta_k1 >= (1 - m) * eta_k2, which are predicted k1; m in [0, 1].

        m = 0 is "always k2" and m = 1 is "always k1", whatever the probabilities.
        """
        if m <= 0:
            return 0
        return len(self) if m >= 1 else int(np.searchsorted(self.thresholds, m, side="right"))

    def lower_position(self, m: float) -> int:
        """Return the number of cases with m * eta_k1 > (1 - m) * eta_k2, predicted k2 by the worst decisions for m."""
        if m <= 0:
            return 0
        return len(self) if m >= 1 else int(np.searchsorted(self.thresholds, m, side="left"))

    def matrix_at(self, position: int) -> Matrix:
        """Return the confusion matrix (k, k) that predicts k1 for the first `position` cases, k2 for the others."""
        matrix = np.zeros((self.cases.n_classes, self.cases.n_classes))
        matrix[:, self.k1] = self._gathered[position]
        matrix[:, self.k2] = self._gathered[-1] - self._gathered[position]
        return matrix / self.cases.total

    def __call__(self, m: float) -> Matrix:
        """Return nu(m; k1, k2), the confusion matrix (k, k) in rates, on the upper boundary; m in [0, 1]."""
        return self.matrix_at(self.position(m))

    def lower(self, m: float) -> Matrix:
        """Return the confusion matrix (k, k) of the opposite decisions, on the lower boundary; m in [0, 1]."""
        worst = self.lower_position(m)
        matrix = self.matrix_at(worst)
        matrix[:, [self.k1, self.k2]] = matrix[:, [self.k2, self.k1]]
        return matrix

    def flat_range(self, m: float, shown: Callable[[Matrix], Matrix] = np.asarray) -> tuple[float, float]:
        """Return the range of m, within [0, 1], over which nu equals nu(m), so that no question distinguishes them.

        `shown` maps a matrix to what is compared, if that is coarser than the rates.
        """
        position = self.position(m)
        here = shown(self.matrix_at(position))

        def same(other: int) -> bool:
            return np.array_equal(shown(self.matrix_at(other)), here)

        # Counts only grow along the frontier, so equal matrices are adjacent.
        first = bisect_left(range(position), True, key=same)
        last = position + bisect_left(range(position + 1, len(self) + 1), True, key=lambda other: not same(other))
        lowest = 0.0 if first == 0 else float(self.thresholds[first - 1])
        highest = 1.0 if last == len(self) else float(self.thresholds[last])
        return lowest, highest


class Binary(Published):
    """Elicit a linear metric of the hits of two classes by a search over its angle [HBMK19b, algorithm 1].

    Parameters
    ----------
    cases : Cases
        Of two classes; plug-in, counted or a distribution.
    epsilon : float
        Tolerance on the angle, in radians, in (0, pi / 2).
    ask, repair, questions
        As for `Dlpm`.

    Raises
    ------
    Problem
        If there are more than two classes.
    """

    def __init__(
        self,
        cases: Cases,
        *,
        epsilon: float = DEFAULT_EPSILON,
        ask: Ask = "needed",
        repair: bool = False,
        questions: int | None = None,
    ) -> None:
        if cases.n_classes != 2:
            raise Problem(f"The procedure binary is for two classes, not for {cases.n_classes}: use dlpm.")
        super().__init__("dlpm", questions, None, name="binary")
        self.rules = Rules(epsilon, ask, repair)
        self.frontier = RestrictedFrontier(cases, 0, 1)
        self.line = Line(lambda theta: self.frontier(share_of_first(theta)), last=_RIGHT)

    def run(self) -> Run:
        """Return a fresh run of algorithm 1."""
        return _Angle(self)


def share_of_first(theta: float) -> float:
    """Return m11 / (m11 + m00) at an angle in [0, pi / 2]; exactly 0 and 1 at its ends."""
    if theta >= _RIGHT:
        return 0.0
    return float(1.0 / (1.0 + np.tan(theta)))


class _Angle(Run):
    def __init__(self, procedure: Binary) -> None:
        self.procedure = procedure
        self.interval: Interval = (0.0, _RIGHT)

    def asking(self) -> Asking:
        """Search the angle; after "cannot say", ask once more."""
        return take_turns([self._search()])

    def _search(self) -> Searching[None]:
        rules = self.procedure.rules
        while self.interval[1] - self.interval[0] > rules.tolerance:
            self.interval = yield from shrink(self.procedure.line, self.interval, rules)

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come."""
        rules = self.procedure.rules
        return rules.questions(rules.steps(self.interval[1] - self.interval[0]))

    def weights(self) -> Matrix:
        """Return (m11, m00) at the middle of the interval, sum 1."""
        first = share_of_first(sum(self.interval) / 2)
        return np.array([first, 1.0 - first])

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return the weights; bounded if the search ended where one class is always predicted."""
        weights = self.weights()
        low, high = self.procedure.frontier.flat_range(float(weights[0]))
        at_an_end = stopped == "tolerance" and (low == 0.0 or high == 1.0)
        return Outcome(
            "dlpm",
            weights,
            ((low, high), (1.0 - high, 1.0 - low)) if at_an_end else (None, None),
            "bounded" if at_an_end else stopped,
            questions,
        )
