"""The binary search of the published procedures: which quarter of an interval holds the best matrix.

Source: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019,
algorithms 1 and 2 and their subroutine "shrink interval". A search is a generator: it yields comparisons and is sent
slopes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from enum import Enum
from math import ceil, log
from typing import Literal, TypeVar

import numpy as np

from elicit_app.elicitation.questions import Matrix

Ask = Literal["all", "needed", "bisect"]
Interval = tuple[float, float]
Result = TypeVar("Result")

_FINER = 16.0  # bisect spends the questions that it saves on a tolerance this many times finer
_ROUNDED = 1e-9  # rounding allowance, in steps
_BESIDE = 1 / 32  # distance of the two matrices of a bisection from the middle, as a share of the interval
_MOST_A_STEP = {"all": 4, "needed": 2, "bisect": 1}


class Slope(Enum):
    """How the expert's preference changes from one point of a line to the next."""

    FALLS = "falls"
    FLAT = "flat"
    RISES = "rises"

    def reversed(self) -> Slope:
        """Return the slope in the opposite direction."""
        return {Slope.FALLS: Slope.RISES, Slope.RISES: Slope.FALLS}.get(self, self)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Omega(later, earlier): is the matrix of the later point preferred to that of the earlier one?"""

    later: Matrix
    earlier: Matrix


Searching = Generator[Comparison, Slope, Result]
Asking = Generator[Comparison, Slope | None, None]


class Line:
    """Matrices along one parameter m, among which the search wants the best or the worst.

    Parameters
    ----------
    at : callable
        The matrix (k, k) at m, exactly as it is shown.
    last : float or None
        End of the line, 1 on the frontier. Of two matrices that both equal the one there, the earlier point wins, so
        that a search leaves the flat end of the line. None if no stretch of the line is flat.
    worst : bool
        Look for the least preferred matrix instead.
    identical : bool
        Whether identical matrices are asked about when every question is asked; never for people.
    """

    def __init__(
        self, at: Callable[[float], Matrix], last: float | None = None, *, worst: bool = False, identical: bool = True
    ) -> None:
        self._at, self._last, self._worst, self._identical = at, last, worst, identical
        self._known: dict[float, Matrix] = {}

    def at(self, m: float) -> Matrix:
        """Return the matrix at m."""
        if m not in self._known:
            self._known[m] = self._at(m)
        return self._known[m]

    def around(self, middle: float, reach: float) -> Interval:
        """Return two points at equal distance from a middle, moved apart as long as their matrices are the same."""
        while self._last is not None and np.array_equal(self.at(middle - reach), self.at(middle + reach)):
            if middle - 2 * reach < 0.0 or middle + 2 * reach > self._last:
                return 0.0, self._last
            reach *= 2
        return middle - reach, middle + reach

    def slope(self, earlier: float, later: float, ask: Ask) -> Searching[Slope]:
        """Ask how the preference changes from one point to a later one.

        Identical matrices need no question: a tie is not a preference, except between two matrices that both equal the
        last one, where the earlier point wins. With ``ask="all"`` they are asked about nevertheless, and counted.
        """
        first, second = self.at(earlier), self.at(later)
        same = np.array_equal(first, second)
        answer = Slope.FLAT
        if not same or (ask == "all" and self._identical):
            answer = yield Comparison(second, first)
        if same:
            return Slope.FALLS if self._last is not None and np.array_equal(second, self.at(self._last)) else Slope.FLAT
        return answer.reversed() if self._worst else answer


DEFAULT_EPSILON = 0.01
"""The tolerance of the papers' tables."""


@dataclass(frozen=True)
class Rules:
    """How a binary search asks.

    Parameters
    ----------
    epsilon : float
        Required accuracy.
    ask : str
        all: the four questions of every step; needed: those that can still change the outcome; bisect: one about two
        matrices beside the middle of the interval, no more in total than needed, for experts who do not err.
    repair : bool
        Read a claimed descent that is followed by an ascent as an ascent.
    """

    epsilon: float
    ask: Ask = "needed"
    repair: bool = False

    @property
    def tolerance(self) -> float:
        """Return the interval width at which a search ends."""
        return self.epsilon / _FINER if self.ask == "bisect" else self.epsilon

    def steps(self, width: float, tolerance: float | None = None) -> int:
        """Return the number of steps that shrink an interval to a tolerance, by default that of the search."""
        least = self.tolerance if tolerance is None else tolerance
        left = 0.5 + _BESIDE if self.ask == "bisect" else 0.5
        return max(0, ceil(log(width / least) / -log(left) - _ROUNDED)) if width > least else 0

    @property
    def most_a_step(self) -> int:
        """Return the most questions of one step: one more than needed if answers are repaired."""
        return _MOST_A_STEP[self.ask] + (self.repair and self.ask == "needed")

    def questions(self, steps: int) -> tuple[int, int]:
        """Return the fewest and the most questions of a number of steps: all of them, or one and two per step."""
        most = steps * self.most_a_step
        return (most if self.ask == "all" else steps), most


def shrink(line: Line, interval: Interval, rules: Rules) -> Searching[Interval]:
    """Halve an interval around the best point of a line, by questions about its quarter points a < c < d < e < b."""
    a, b = interval
    c, d, e = (3 * a + b) / 4, (a + b) / 2, (a + 3 * b) / 4
    if rules.ask == "bisect":
        beside = _BESIDE * (b - a)
        slope = yield from line.slope(*line.around(d, beside), "bisect")
        return (a, d + beside) if slope is Slope.FALLS else (d - beside, b)
    if rules.ask == "needed":
        return (yield from _shrink_by_need(line, (a, c, d, e, b), rules))
    ac = yield from line.slope(a, c, "all")
    cd = yield from line.slope(c, d, "all")
    de = yield from line.slope(d, e, "all")
    eb = yield from line.slope(e, b, "all")
    if rules.repair:
        # Repair uses the answers as given: every pair is examined before any is corrected.
        ac, cd, de = (
            Slope.RISES if (one, following) == (Slope.FALLS, Slope.RISES) else one
            for one, following in ((ac, cd), (cd, de), (de, eb))
        )
    if Slope.FALLS in (ac, cd):
        return a, d
    # The last answer does not matter: whether the preference rises or falls from e to b, the best lies after d.
    return (c, e) if de is Slope.FALLS else (d, b)


def bracket(line: Line, start: float, reach: float, ends: Interval) -> Searching[Interval]:
    """Find an interval around the best point of a line by steps away from a guess, each twice as long as the last.

    It is for experts who do not err, like `shrink` by bisection.

    Parameters
    ----------
    line : Line
        The line to search.
    start : float
        The guess.
    reach : float
        Length of the first step.
    ends : tuple of float
        Ends of the line.
    """
    low, high = ends
    beside = _BESIDE * reach

    def falls(m: float) -> Searching[bool]:
        inside = min(max(m, low + beside), high - beside)
        return (yield from line.slope(*line.around(inside, beside), "bisect")) is Slope.FALLS

    passed = start
    downhill = yield from falls(start)
    while True:
        at = passed - reach if downhill else passed + reach
        if not low < at < high or (yield from falls(at)) is not downhill:
            break
        passed, reach = at, 2 * reach
    first, last = (at, passed) if downhill else (passed, at)
    return max(low, first - beside), min(high, last + beside)


def _shrink_by_need(line: Line, points: tuple[float, float, float, float, float], rules: Rules) -> Searching[Interval]:
    """Reach the decision of `shrink` with fewer questions, for answers that rise to one peak and then fall."""
    a, c, d, e, b = points
    cd = yield from line.slope(c, d, "needed")
    if cd is Slope.FALLS and not rules.repair:
        return a, d
    if cd is Slope.FALLS:
        doubt = yield from line.slope(d, e, "needed")
        if doubt is not Slope.RISES:
            return a, d
    if cd is not Slope.RISES:  # with c and d equal, or in doubt, a decides; an ascent from c to d rules a out
        ac = yield from line.slope(a, c, "needed")
        if ac is Slope.FALLS:
            return a, d
        if cd is Slope.FALLS:
            return d, b
    de = yield from line.slope(d, e, "needed")
    if de is Slope.FALLS and rules.repair:
        eb = yield from line.slope(e, b, "needed")
        de = Slope.RISES if eb is Slope.RISES else de
    return (c, e) if de is Slope.FALLS else (d, b)


def take_turns(searches: Iterable[Searching[None]]) -> Asking:
    """Run searches one after the other; after "cannot say", defer that search and continue with another.

    The question is asked again when the search's turn comes; a second "cannot say" counts as a tie.

    Yields
    ------
    Comparison
        The receiver sends a slope, or None for "cannot say".
    """
    waiting: deque[tuple[Searching[None], Comparison | None]] = deque((search, None) for search in searches)
    while waiting:
        search, put_off = waiting.popleft()
        comparison = put_off or next(search, None)
        while comparison is not None:
            slope = yield comparison
            if slope is None and put_off is None:
                waiting.append((search, comparison))
                break
            put_off = None
            try:
                comparison = search.send(slope or Slope.FLAT)
            except StopIteration:
                break
