"""Oracles answer questions by themselves. They know the metric; a procedure learns nothing about them.

Every oracle answers both kinds of question: which of two results is better, and at which count both are equally bad.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import (
    Answer,
    Asked,
    Choice,
    Matrix,
    Moved,
    Proposal,
    Question,
    Side,
    Strength,
    rounded_count,
)
from elicit_app.problem import Problem, WrongOption
from metrics.elicited.family import error_cells

Utility = Callable[[Matrix], float]
Judgement = Callable[[Matrix, Matrix], float]

_HALVINGS = 60  # bisection steps in the search for an equal point


class Oracle(Protocol):
    """Something that answers questions by itself."""

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""


@dataclass(frozen=True)
class Matching:
    """How a person finds the count at which two results are equally bad.

    Parameters
    ----------
    error : float or None
        Standard deviation of the logarithm of the amount found; None uses the noise of the person's choices instead.
    rounded : bool
        Whether counts are named in steps of 1, 2, 3, 5, 10, 20, ...
    shrink : float
        Exponent with which the ratio of the two amounts is perceived (1: as it is).
    """

    error: float | None = None
    rounded: bool = False
    shrink: float = 1.0

    def __post_init__(self) -> None:
        if self.error is not None and not 0 <= self.error < np.inf:
            raise WrongOption(f"`equal` must be at least 0, not {self.error:g}.")
        if not 0 < self.shrink < np.inf:
            raise WrongOption(f"`shrink` must be greater than 0, not {self.shrink:g}.")


EXACT_MATCHING = Matching()


class JudgingOracle(ABC):
    """A simulated person who perceives a difference between two results and answers both kinds of question by it.

    Parameters
    ----------
    clear : float or None
        If given, answers are graded: "clearly" where the perceived difference exceeds this, else "slightly".
    matching : Matching
        How equal points are found.
    rng : numpy.random.Generator or None
        Source of the errors of equal points; without it, a `matching` that has errors raises a ValueError.
    """

    def __init__(
        self, clear: float | None = None, matching: Matching | None = None, rng: np.random.Generator | None = None
    ) -> None:
        self.clear, self.matching, self._matching_rng = clear, matching or EXACT_MATCHING, rng
        if self.matching.error and rng is None:
            raise ValueError("errors of equal points need a generator")

    @abstractmethod
    def noisy_judgement(self) -> Judgement:
        """Return the judgement behind one answer: the perceived difference u(first) - u(second) of rates."""

    @abstractmethod
    def values(self) -> Judgement:
        """Return the difference u(first) - u(second) without noise."""

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""
        if question.asks_equal:
            return self._equal_point(question)
        return preference(self.noisy_judgement()(*question.rates), self.clear)

    def _equal_point(self, question: Question) -> Answer:
        proposal = question.proposal
        assert proposal is not None
        ends = (_moved_answer(proposal, count, Choice.EQUAL) for count in (proposal.least, proposal.most))
        if all(self.values()(*Asked(question, end).shown.rates) == 0 for end in ends):
            return Answer(Choice.EQUAL)  # neither mistake matters: no count is the one that makes both equally bad
        judgement = self.noisy_judgement() if self.matching.error is None else self.values()
        base, other = _trade(question, proposal)
        found = _equal_count(question, proposal, judgement)
        amount = found - base
        if np.isfinite(amount) and amount > 0:
            amount = other * (amount / other) ** self.matching.shrink
            if self._matching_rng is not None:  # drawn even for an error of 0, which then changes nothing else
                amount *= np.exp((self.matching.error or 0.0) * self._matching_rng.standard_normal())
        count = base + amount
        if count > proposal.most:
            return _moved_answer(proposal, proposal.most, Choice(proposal.side))
        if count < proposal.least - 0.5:  # even the least is worse
            return _moved_answer(proposal, proposal.least, Choice(proposal.side).swapped())
        whole = rounded_count(count) if self.matching.rounded else round(count)
        return _moved_answer(proposal, int(np.clip(whole, max(proposal.least, 1), proposal.most)), Choice.EQUAL)


class UtilityOracle(JudgingOracle):
    """Expert who prefers the matrix of greater utility and says "about equal" where utilities are the same.

    Parameters
    ----------
    utility : callable
        u(C) of a confusion matrix of rates (k, k), greater is better.
    clear, matching, rng
        As in `JudgingOracle`.
    """

    def __init__(
        self,
        utility: Utility,
        clear: float | None = None,
        matching: Matching | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__(clear, matching, rng)
        self.utility = utility

    def values(self) -> Judgement:
        """Return the difference of the utilities."""
        return lambda first, second: self.utility(first) - self.utility(second)

    def noisy_judgement(self) -> Judgement:
        """Return the difference of the utilities, without noise."""
        return self.values()


class LinearOracle(UtilityOracle):
    """The noise-free expert of a linear metric.

    Parameters
    ----------
    weights : ndarray of shape (k, k)
        W with u(C) = sum(W * C); see `metrics.elicited.family.Family.weight_matrix`.
    clear : float or None
        See `JudgingOracle`.
    """

    def __init__(self, weights: NDArray[np.float64], clear: float | None = None) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        super().__init__(lambda matrix: float((self.weights * matrix).sum()), clear)


class WobblingOracle(UtilityOracle):
    """Expert whose values wobble: every answer, of either kind, uses values drawn afresh around the person's own.

    Parameters
    ----------
    utility : callable
        u(C) under the person's own values.
    wobbled : callable
        Draws the utility for one answer.
    clear, matching, rng
        As in `JudgingOracle`.
    """

    def __init__(
        self,
        utility: Utility,
        wobbled: Callable[[], Utility],
        clear: float | None = None,
        matching: Matching | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__(utility, clear, matching, rng)
        self.wobbled = wobbled

    def noisy_judgement(self) -> Judgement:
        """Return the difference of utilities under values drawn for this answer."""
        utility = self.wobbled()
        return lambda first, second: utility(first) - utility(second)


class LogitOracle(UtilityOracle):
    """Expert who prefers X to Y with probability 1 / (1 + exp(-s (u(X) - u(Y)))).

    Parameters
    ----------
    utility : callable
        u(C), greater is better.
    sensitivity : float
        s > 0, per unit of utility.
    rng : numpy.random.Generator
        Source of the noise.
    clear, matching
        As in `JudgingOracle`; the grade follows the perceived difference, noise included.
    """

    def __init__(
        self,
        utility: Utility,
        sensitivity: float,
        rng: np.random.Generator,
        clear: float | None = None,
        matching: Matching | None = None,
    ) -> None:
        if not sensitivity > 0:
            raise Problem(f"The sensitivity must be greater than 0, not {sensitivity:g}.")
        super().__init__(utility, clear, matching, rng)
        self.sensitivity, self.rng = sensitivity, rng

    def noisy_judgement(self) -> Judgement:
        """Return the difference of utilities with logistic noise on their scale."""
        # Logistic noise on the scale of the utilities gives exactly this probability, and a strength as well.
        noise = self.rng.logistic() / self.sensitivity
        return lambda first, second: self.utility(first) - self.utility(second) + noise


class BoundedNoiseOracle(UtilityOracle):
    """Expert who answers by a coin toss where the utilities differ by at most a bound [HBMK19, definition 7].

    Parameters
    ----------
    utility : callable
        u(C), greater is better.
    bound : float
        epsilon_Omega >= 0.
    rng : numpy.random.Generator
        The coin.
    clear, matching
        As in `JudgingOracle`.
    """

    def __init__(
        self,
        utility: Utility,
        bound: float,
        rng: np.random.Generator,
        clear: float | None = None,
        matching: Matching | None = None,
    ) -> None:
        if not bound >= 0:
            raise Problem(f"The bound of the noise must be at least 0, not {bound:g}.")
        super().__init__(utility, clear, matching, rng)
        self.bound, self.rng = bound, rng

    def noisy_judgement(self) -> Judgement:
        """Return the difference of utilities with an error of at most the bound, for equal points."""
        noise = self.rng.uniform(-self.bound, self.bound)
        return lambda first, second: self.utility(first) - self.utility(second) + noise

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""
        if question.asks_equal:
            return super().answer(question)
        difference = self.values()(*question.rates)
        if abs(difference) > self.bound:
            return preference(difference, self.clear)
        coin = Choice.FIRST if self.rng.random() < 0.5 else Choice.SECOND
        return Answer(coin, None if self.clear is None else Strength.SLIGHTLY)


class FlipOracle:
    """Oracle that independently inverts each preference of another oracle with the same probability.

    An inverted equal point becomes any count of its scale, uniformly on the log scale.

    Parameters
    ----------
    inner : Oracle
        The expert without slips.
    probability : float
        In [0, 1].
    rng : numpy.random.Generator
        Source of the flips.
    """

    def __init__(self, inner: Oracle, probability: float, rng: np.random.Generator) -> None:
        if not 0 <= probability <= 1:
            raise Problem(f"The probability of a flip must lie in [0, 1], not {probability:g}.")
        self.inner, self.probability, self.rng = inner, probability, rng

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question, inverted at random."""
        answer = self.inner.answer(question)
        if self.rng.random() >= self.probability:
            return answer
        if question.asks_equal and question.proposal is not None:
            proposal = question.proposal
            any_count = np.exp(self.rng.uniform(np.log(max(proposal.least, 1)), np.log(proposal.most)))
            return _moved_answer(proposal, round(any_count), Choice.EQUAL)
        return replace(answer, choice=answer.choice.swapped())


class PopulationOracle:
    """Majority vote of many individuals, each asked once; a draw is "about equal".

    Parameters
    ----------
    individuals : sequence of Oracle
        At least one.
    """

    def __init__(self, individuals: Sequence[Oracle]) -> None:
        if not individuals:
            raise Problem("A population of voters needs at least one.")
        self.individuals = tuple(individuals)

    def answer(self, question: Question) -> Answer:
        """Return the answer of the majority, or the median count; "cannot say" if nobody can."""
        answers = [one.answer(question) for one in self.individuals]
        return median_answer(answers) if question.asks_equal else majority(answers)


class MajorityOracle(PopulationOracle):
    """Majority vote over several answers of the same oracle.

    Parameters
    ----------
    inner : Oracle
        The oracle to ask.
    votes : int
        Number of votes, at least one.
    """

    def __init__(self, inner: Oracle, votes: int) -> None:
        super().__init__([inner] * votes)


class RecordedOracle:
    """Replay of recorded answers to the same matrices, in either order; each is used once, the oldest first.

    Parameters
    ----------
    asked : sequence of Asked
        The recorded questions and answers.
    tolerance : float
        Largest difference of rates at which matrices count as the same.
    """

    def __init__(self, asked: Sequence[Asked], tolerance: float = 1e-12) -> None:
        self._left, self._tolerance = list(asked), tolerance

    def answer(self, question: Question) -> Answer:
        """Return the recorded answer, of whichever kind it was.

        Raises
        ------
        Problem
            No answer to these matrices is left.
        """
        swapped = question.swapped()
        for place, (recorded, answer) in enumerate(self._left):
            if recorded.same_as(question, self._tolerance):
                del self._left[place]
                return answer
            if recorded.same_as(swapped, self._tolerance):
                del self._left[place]
                return answer.swapped()
        raise Problem("The record has no (further) answer to this question; replay it with the procedure that made it.")


def preference(difference: float, clear: float | None = None) -> Answer:
    """Return the answer to a difference u(first) - u(second), with a strength where `clear` is given."""
    if difference == 0:
        return Answer(Choice.EQUAL)
    strength = None if clear is None else Strength.CLEARLY if abs(difference) > clear else Strength.SLIGHTLY
    return Answer(Choice.FIRST if difference > 0 else Choice.SECOND, strength)


def majority(answers: Sequence[Answer]) -> Answer:
    """Return the side with more votes, "about equal" for a draw, "cannot say" if everybody said so.

    The strength is the most frequent one among the voters of the winning side; "slightly" on a tie.
    """
    votes = Counter(answer.choice for answer in answers)
    if votes[Choice.UNSURE] == len(answers):
        return Answer(Choice.UNSURE)
    if votes[Choice.FIRST] == votes[Choice.SECOND]:
        return Answer(Choice.EQUAL)
    winner = Choice.FIRST if votes[Choice.FIRST] > votes[Choice.SECOND] else Choice.SECOND
    strengths = Counter(answer.strength for answer in answers if answer.choice is winner and answer.strength)
    if not strengths:
        return Answer(winner)
    clearly = strengths[Strength.CLEARLY] > strengths[Strength.SLIGHTLY]
    return Answer(winner, Strength.CLEARLY if clearly else Strength.SLIGHTLY)


def median_answer(answers: Sequence[Answer]) -> Answer:
    """Return the equal point with the lower median count; finding none on the scale counts as beyond that end of it.

    If nobody names a count: "about equal" if that is what somebody said, else "cannot say".
    """
    found = [answer for answer in answers if answer.moved is not None]
    if not found:
        return majority(answers)
    places = ("below", "at", "above")
    order = sorted(found, key=lambda answer: (places.index(answer.equal_point), answer.moved and answer.moved.count))
    return order[(len(order) - 1) // 2]


def _moved_answer(proposal: Proposal, count: int, choice: Choice) -> Answer:
    moved = Moved(proposal.side, proposal.true, proposal.predicted, count, proposal.start)
    return Answer(choice, moved=moved)


def _trade(question: Question, proposal: Proposal) -> tuple[float, float]:
    """Return the moved mistake's count on the other side, and how many more other mistakes that side has."""
    moved, still = _sides(question, proposal.side)
    more = np.where(error_cells(len(still)), still - moved, 0)
    more[proposal.true, proposal.predicted] = 0
    return float(still[proposal.true, proposal.predicted]), float(np.maximum(more, 0).sum())


def _sides(question: Question, side: Side) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = np.asarray(question.first, dtype=np.int64), np.asarray(question.second, dtype=np.int64)
    return (first, second) if side == "first" else (second, first)


def _equal_count(question: Question, proposal: Proposal, judgement: Judgement) -> float:
    """Return the unrounded count at which both sides feel equally bad; inf if no possible count is large enough."""
    population = question.population
    assert population is not None
    moved, still = (matrix / population for matrix in _sides(question, proposal.side))
    cell = proposal.true, proposal.predicted
    limit = round((moved[cell] + moved[proposal.true, proposal.true]) * population)

    def better(count: float) -> bool:
        matrix = moved.copy()
        matrix[proposal.true, proposal.true] += matrix[cell] - count / population
        matrix[cell] = count / population
        return (judgement(matrix, still) if proposal.side == "first" else -judgement(still, matrix)) > 0

    if better(limit):
        return np.inf
    low, high = 0.0, float(limit)
    for _ in range(_HALVINGS):
        count = (low + high) / 2
        low, high = (count, high) if better(count) else (low, count)
    return (low + high) / 2


def run(procedure: Procedure, oracle: Oracle) -> tuple[Outcome, list[Asked]]:
    """Let an oracle answer a procedure's questions until the procedure stops.

    Parameters
    ----------
    procedure : Procedure
        The procedure that asks.
    oracle : Oracle
        The oracle that answers.

    Returns
    -------
    tuple of Outcome and list of Asked
        What was learned, and every question with its answer.
    """
    asked: list[Asked] = []
    elicitation = procedure.begin()
    try:
        step = next(elicitation)
        while True:
            answer = oracle.answer(step.question)
            asked.append(Asked(step.question, answer))
            step = elicitation.send(answer)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome, asked
