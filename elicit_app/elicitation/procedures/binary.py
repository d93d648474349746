"""Binary elicitation of 2019: one search over the angle of a linear metric m11 TP + m00 TN.

Source: [HBMK19b] Hiranandani, Boodaghians, Mehta & Koyejo, "Performance Metric Elicitation from Pairwise Classifier
Comparisons", AISTATS 2019, algorithm 1, for metrics that grow with both hits: m = (cos theta, sin theta), theta in
[0, pi / 2]. The best classifier for m thresholds the probability of the first class at m00 / (m11 + m00)
(proposition 1).
"""

from __future__ import annotations

import numpy as np

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.procedures.dlpm import MOST_A_STEP, RestrictedFrontier
from elicit_app.elicitation.procedures.published import Published, Run
from elicit_app.elicitation.procedures.search import Ask, Asking, Interval, Line, Rules, Searching, shrink, take_turns
from elicit_app.elicitation.questions import Family, Matrix, Outcome, StopReason
from elicit_app.problem import Problem

_RIGHT = np.pi / 2


class Binary(Published):
    """Elicit a linear metric of the hits of two classes by a search over its angle.

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
        The cases are of more than two classes.
    """

    def __init__(
        self,
        cases: Cases,
        *,
        epsilon: float = 0.01,
        ask: Ask = "needed",
        repair: bool = False,
        questions: int | None = None,
    ) -> None:
        if cases.n_classes != 2:
            raise Problem(f"The procedure binary is for two classes, not for {cases.n_classes}: use dlpm.")
        super().__init__("dlpm", questions, None)
        self.rules = Rules(epsilon, ask, repair)
        self.frontier = RestrictedFrontier(cases, 0, 1)
        self.line = Line(lambda theta: self.frontier(share_of_first(theta)), last=_RIGHT)

    @property
    def name(self) -> str:
        """Return the procedure's name."""
        return "binary"

    @property
    def family(self) -> Family:
        """Return the family of the metric that is elicited."""
        return "dlpm"

    def run(self) -> Run:
        """Return a fresh run of algorithm 1."""
        return _Angle(self)


def share_of_first(theta: float) -> float:
    """Return m11 / (m11 + m00) of an angle in [0, pi / 2], exactly 0 and 1 at its ends."""
    if theta >= _RIGHT:
        return 0.0
    return float(1.0 / (1.0 + np.tan(theta)))


class _Angle(Run):
    def __init__(self, procedure: Binary) -> None:
        self.procedure = procedure
        self.interval: Interval = (0.0, _RIGHT)

    def asking(self) -> Asking:
        """Search the angle; where the expert cannot say, ask once more."""
        return take_turns([self._search()])

    def _search(self) -> Searching[None]:
        rules = self.procedure.rules
        while self.interval[1] - self.interval[0] > rules.tolerance:
            self.interval = yield from shrink(self.procedure.line, self.interval, rules)

    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come."""
        rules = self.procedure.rules
        steps = rules.steps(self.interval[1] - self.interval[0])
        most = steps * (MOST_A_STEP[rules.ask] + (rules.repair and rules.ask == "needed"))
        return (most if rules.ask == "all" else steps), most

    def weights(self) -> Matrix:
        """Return (m11, m00) of the middle of the interval, sum 1."""
        first = share_of_first(sum(self.interval) / 2)
        return np.array([first, 1.0 - first])

    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return the weights; bounded where the search ended at a class that is always predicted."""
        weights = self.weights()
        low, high = self.procedure.frontier.stretch(float(weights[0]))
        at_an_end = stopped == "tolerance" and (low == 0.0 or high == 1.0)
        return Outcome(
            "dlpm",
            weights,
            ((low, high), (1.0 - high, 1.0 - low)) if at_an_end else (None, None),
            "bounded" if at_an_end else stopped,
            questions,
        )
