"""What the published procedures share: questions out of comparisons, going on after a history, a cap, and the pencil.

All level sets of phi = (<p, x> + p0) / (<q, x> + q0) lie in the pencil of two hyperplanes, the one that touches at the
best point and the one at the worst. So the pencil orders matrices exactly as phi does, and no answer can tell more: q
is known up to one parameter, and p only by the convention p0 = 0. Source of the two hyperplanes: [HBMK19] Hiranandani,
Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019, appendix E; the pencil replaces
their grid search, which does not recover the metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elicit_app.elicitation.procedures.search import Asking, Comparison, Slope
from elicit_app.elicitation.questions import (
    Answer,
    Asked,
    Belief,
    Choice,
    Elicitation,
    Family,
    Matrix,
    Outcome,
    Procedure,
    Progress,
    Purpose,
    Question,
    Step,
    StopReason,
)
from elicit_app.problem import Problem
from metrics.elicited.family import error_cells
from metrics.measures.confusion import natural_frequencies


@dataclass(frozen=True, eq=False)
class Fraction:
    """A linear-fractional utility u(x) = (<p, x> + p0) / (<q, x> + q0), greater is better.

    Parameters
    ----------
    family : str
        dlfpm: x are the k hits; lfpm: the q = k^2 - k errors in row-major order.
    p, q : ndarray of shape (n,)
        Weights of numerator and denominator.
    p0, q0 : float
        Their offsets.
    """

    family: Family
    p: Matrix
    p0: float
    q: Matrix
    q0: float

    def __call__(self, matrix: Matrix) -> float:
        """Return the utility of a confusion matrix of rates (k, k)."""
        x = coordinates(matrix, self.family)
        return float((self.p @ x + self.p0) / (self.q @ x + self.q0))


def coordinates(matrix: Matrix, family: Family) -> Matrix:
    """Return what a family weighs: the hits (dlpm, dlfpm), or the errors in row-major order (lpm, lfpm)."""
    x: Matrix = np.diagonal(matrix) if family.startswith("d") else matrix[error_cells(len(matrix))]
    return x


def numerator(m1: ArrayLike, c1: float, m2: ArrayLike, c2: float) -> Matrix:
    """Return p, up to scale, for p0 = 0: the member C2 m1 - C1 m2 of the pencil, whose offset is 0.

    Parameters
    ----------
    m1, c1 : ndarray of shape (n,) and float
        The hyperplane <m1, x> = C1 that touches at the best point.
    m2, c2 : ndarray of shape (n,) and float
        The one that touches at the worst point.
    """
    p: Matrix = c2 * np.asarray(m1, dtype=np.float64) - c1 * np.asarray(m2, dtype=np.float64)
    return p


def ordering(family: Family, first: Matrix, second: Matrix, points: Matrix, best: Matrix, worst: Matrix) -> Fraction:
    """Return the utility of a pencil that is continuous over given points and prefers `best` to `worst`.

    Parameters
    ----------
    family : str
        dlfpm or lfpm.
    first, second : ndarray of shape (n + 1,)
        Two members of the pencil: weights, then the offset.
    points : ndarray of shape (m, n)
        Where the denominator is to be positive.
    best, worst : ndarray of shape (n,)
        The two ends of the expert's preference.
    """
    lifted = np.column_stack([points, np.ones(len(points))])
    # Bring both members to one scale, so that angles between them mean something.
    first, second = (member / np.abs(lifted @ member).max() for member in (first, second))
    angles = np.sort(np.arctan2(lifted @ second, lifted @ first))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    # The points fill the circle but for the widest gap: the denominator looks away from its middle.
    away = angles[gaps.argmax()] + gaps.max() / 2 + np.pi
    below = np.cos(away) * first + np.sin(away) * second
    above = np.cos(away) * second - np.sin(away) * first
    fraction = Fraction(family, above[:-1], float(above[-1]), below[:-1], float(below[-1]))
    if _value(fraction, best) >= _value(fraction, worst):
        return fraction
    return Fraction(family, -fraction.p, -fraction.p0, fraction.q, fraction.q0)


def _value(fraction: Fraction, x: Matrix) -> float:
    return float((fraction.p @ x + fraction.p0) / (fraction.q @ x + fraction.q0))


_SLOPES = {Choice.FIRST: Slope.RISES, Choice.SECOND: Slope.FALLS, Choice.EQUAL: Slope.FLAT, Choice.UNSURE: None}
# Recorded matrices may differ by this much from recomputed ones at the same place: another numpy, another processor.
_SAME = 1e-12
_RECOMPUTED = 1e-9


class Run(ABC):
    """One run of a published procedure: what is known so far, changed by the answers."""

    @abstractmethod
    def asking(self) -> Asking:
        """Yield comparisons, and be sent slopes."""

    @abstractmethod
    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come, the next one included."""

    @abstractmethod
    def weights(self) -> Matrix:
        """Return the current estimate in the family's normalisation."""

    @abstractmethod
    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return what was learned."""


class Published(Procedure):
    """A published procedure as a `Procedure`.

    Parameters
    ----------
    family : str
        dlpm, lpm, dlfpm or lfpm.
    questions : int or None
        Most questions to ask.
    population : int or None
        For people: matrices are shown as whole cases out of this many.
    hypothetical : bool
        The matrices are feasible, but not what one of the study's models does.
    name : str or None
        The procedure's name; None where it is that of the family.
    """

    def __init__(
        self,
        family: Family,
        questions: int | None,
        population: int | None,
        *,
        hypothetical: bool = False,
        name: str | None = None,
    ) -> None:
        self._family: Family = family
        self._name = name or family
        self.questions, self.population, self.hypothetical = questions, population, hypothetical

    @property
    def name(self) -> str:
        """Return the procedure's name."""
        return self._name

    @property
    def family(self) -> Family:
        """Return the family of the metric that is elicited."""
        return self._family

    @abstractmethod
    def run(self) -> Run:
        """Return a fresh run."""

    def shown(self, matrix: Matrix) -> Matrix:
        """Return a matrix of rates as it is shown: whole cases for people, exact in the laboratory."""
        return matrix if self.population is None else natural_frequencies(matrix, self.population) / self.population

    def begin(self, history: Sequence[Asked] = ()) -> Elicitation:
        """Start, or go on after answers already given; see `Procedure.begin`.

        A recomputed question takes the answer of the recorded question that shows the same matrices, in either order.
        Where the history was edited and has none, it is asked.
        """
        return self._begin(self.run(), history)

    def conclude(self, history: Sequence[Asked], reason: StopReason = "expert") -> Outcome:
        """Return what is known after `history` when the expert stops here."""
        run = self.run()
        elicitation = self._begin(run, history)
        try:
            used = next(elicitation).progress.asked
        except StopIteration as end:
            finished: Outcome = end.value
            return finished
        finally:
            elicitation.close()
        return run.outcome(reason, used)

    def _begin(self, run: Run, history: Sequence[Asked]) -> Elicitation:
        recorded, asking, used = _Recorded(history), run.asking(), 0
        slope: Slope | None = None
        unsure: list[tuple[Comparison, int]] = []
        comparison = next(asking, None)
        while comparison is not None:
            first_time = next((place for one, place in unsure if one is comparison), None)
            question = self._question(comparison, first_time)
            answer, place = recorded.take(question)
            if answer is None:
                if self.questions is not None and used >= self.questions:
                    return run.outcome("budget", used)
                answer, place = (yield Step(question, self._progress(run, used), Belief(run.weights()))), recorded.add()
            used += 1
            slope = self._slope(answer)
            if slope is None:
                unsure.append((comparison, place))
            try:
                comparison = asking.send(slope)
            except StopIteration:
                break
        return run.outcome("tolerance", used)

    def _slope(self, answer: Answer) -> Slope | None:
        """Return what an answer says about the curve; None where the expert cannot say."""
        if answer.moved is not None:
            raise Problem(
                f"The procedure {self.name} asks which of two results is better, and cannot use an answer that moves a "
                "count. Answer with a choice, or use the procedure bayes."
            )
        return _SLOPES[answer.choice]

    def _question(self, comparison: Comparison, first_time: int | None) -> Question:
        question = Question.of_rates(
            comparison.later, comparison.earlier, self.population, hypothetical=self.hypothetical
        )
        if first_time is None:
            return question
        # Asked again after "cannot say": whoever shows a repeat swaps its sides.
        return replace(question, purpose=Purpose.REPEAT, repeat_of=first_time + 1)

    def _progress(self, run: Run, used: int) -> Progress:
        fewest, most = run.remaining()
        left = None if self.questions is None else self.questions - used
        return Progress(used, fewest if left is None else min(fewest, left), most if left is None else min(most, left))


class _Recorded:
    """Answers already given, each to be used once."""

    def __init__(self, history: Sequence[Asked]) -> None:
        self._history = list(history)
        self._unused = list(range(len(self._history)))
        self._length = len(self._history)

    def take(self, question: Question) -> tuple[Answer | None, int]:
        """Return the answer, in the question's own order, and its place in the history; (None, -1) where there is none.

        The next unused one fits in nearly every case; after an edit, a later one may; and at the same place a
        recorded question that differs by no more than rounding is the truth.
        """
        for index, place in enumerate(self._unused):
            answer = _answer_to(question, self._history[place], _SAME)
            if answer is not None:
                del self._unused[index]
                return answer, place
        if self._unused:
            place = self._unused[0]
            one_case = 0.0 if question.population is None else 1.5 / question.population
            answer = _answer_to(question, self._history[place], max(_RECOMPUTED, one_case))
            if answer is not None:
                del self._unused[0]
                return answer, place
        return None, -1

    def add(self) -> int:
        """Return the place of one more answer at the end of the history."""
        self._length += 1
        return self._length - 1


def _answer_to(question: Question, asked: Asked, tolerance: float) -> Answer | None:
    recorded = asked.question
    if question.same_as(recorded, tolerance):
        return asked.answer
    return asked.answer.swapped() if question.same_as(recorded.swapped(), tolerance) else None
