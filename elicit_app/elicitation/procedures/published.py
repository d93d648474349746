"""What the published procedures share: questions from comparisons, continuing after a history, and a budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from elicit_app.elicitation.procedure import Elicitation, Outcome, Procedure
from elicit_app.elicitation.procedures.search import Asking, Comparison, Slope
from elicit_app.elicitation.questions import (
    Answer,
    Asked,
    Belief,
    Choice,
    Family,
    Matrix,
    Progress,
    Purpose,
    Question,
    Step,
    StopReason,
)
from elicit_app.problem import Problem
from metrics.measures.confusion import natural_frequencies

_METHOD = "The questions halve intervals (Hiranandani and others 2019)."
_SLOPES = {Choice.FIRST: Slope.RISES, Choice.SECOND: Slope.FALLS, Choice.EQUAL: Slope.FLAT, Choice.UNSURE: None}
# Recorded matrices may differ by this much from recomputed ones (another numpy, another processor).
_SAME = 1e-12
_RECOMPUTED = 1e-9


class Run(ABC):
    """One run of a published procedure: its state, which the answers change."""

    @abstractmethod
    def asking(self) -> Asking:
        """Yield comparisons and receive slopes."""

    @abstractmethod
    def remaining(self) -> tuple[int, int]:
        """Return the fewest and the most questions still to come, including the next one."""

    @abstractmethod
    def weights(self) -> Matrix:
        """Return the current estimate in the family's normalisation."""

    @abstractmethod
    def outcome(self, stopped: StopReason, questions: int) -> Outcome:
        """Return what was learned."""


def _concluded(run: Run, stopped: StopReason, questions: int) -> Outcome:
    return replace(run.outcome(stopped, questions), method=_METHOD)


class Published(Procedure):
    """A published procedure as a `Procedure`.

    Parameters
    ----------
    family : str
        dlpm, lpm, dlfpm or lfpm.
    questions : int or None
        Largest number of questions.
    population : int or None
        For people: matrices are shown in whole cases out of this many.
    hypothetical : bool
        Whether the matrices are feasible but not what one of the study's models does.
    name : str or None
        The procedure's name; None uses that of the family.
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
        """Return a matrix of rates as shown: in whole cases for people, exact in the laboratory."""
        return matrix if self.population is None else natural_frequencies(matrix, self.population) / self.population

    def begin(self, history: Sequence[Asked] = ()) -> Elicitation:
        """Start, or continue after answers already given; see `Procedure.begin`.

        A recomputed question takes the answer of the recorded question with the same matrices, in either order. If an
        edited history has none, the question is asked.
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
        return _concluded(run, reason, used)

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
                    return _concluded(run, "budget", used)
                answer, place = (yield Step(question, self._progress(run, used), Belief(run.weights()))), recorded.add()
            used += 1
            slope = self._slope(answer)
            if slope is None:
                unsure.append((comparison, place))
            try:
                comparison = asking.send(slope)
            except StopIteration:
                break
        return _concluded(run, "tolerance", used)

    def _slope(self, answer: Answer) -> Slope | None:
        """Return the slope that an answer implies; None for "cannot say"."""
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
        # Asked again after "cannot say"; the session that shows a repeat swaps its sides.
        return replace(question, purpose=Purpose.REPEAT, repeat_of=first_time + 1)

    def _progress(self, run: Run, used: int) -> Progress:
        fewest, most = run.remaining()
        left = None if self.questions is None else self.questions - used
        return Progress(used, fewest if left is None else min(fewest, left), most if left is None else min(most, left))


class _Recorded:
    """Answers already given, each of which is used once."""

    def __init__(self, history: Sequence[Asked]) -> None:
        self._history = list(history)
        self._unused = list(range(len(self._history)))
        self._length = len(self._history)

    def take(self, question: Question) -> tuple[Answer | None, int]:
        """Return the answer, in the question's own order, and its place in the history; (None, -1) if there is none.

        Nearly always the next unused answer fits; after an edit a later one may. At the same place, a recorded question
        that differs by no more than rounding is accepted as the question asked.
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
        """Return the place of one more answer, at the end of the history."""
        self._length += 1
        return self._length - 1


def _answer_to(question: Question, asked: Asked, tolerance: float) -> Answer | None:
    recorded = asked.question
    if question.same_as(recorded, tolerance):
        return asked.answer
    return asked.answer.swapped() if question.same_as(recorded.swapped(), tolerance) else None
