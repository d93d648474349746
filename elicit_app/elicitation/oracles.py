"""Oracles: what answers questions by itself. They know the metric; a procedure is told nothing about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Answer, Asked, Choice, Matrix, Question, Strength
from elicit_app.problem import Problem

Utility = Callable[[Matrix], float]


class Oracle(Protocol):
    """Something that answers questions by itself."""

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""


class UtilityOracle:
    """Prefers the matrix of greater utility, and says "about equal" where they are the same.

    Parameters
    ----------
    utility : callable
        u(C) of a confusion matrix of rates (k, k), greater is better.
    clear : float or None
        Where given, answers say slightly or clearly: clearly where the utilities differ by more than this.
    """

    def __init__(self, utility: Utility, clear: float | None = None) -> None:
        self.utility, self.clear = utility, clear

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""
        first, second = question.rates
        return preference(self.utility(first) - self.utility(second), self.clear)


class LinearOracle(UtilityOracle):
    """The noise-free expert of a linear metric.

    Parameters
    ----------
    weights : ndarray of shape (k, k)
        W with u(C) = sum(W * C); see `metrics.elicited.family.Family.weight_matrix`.
    clear : float or None
        See `UtilityOracle`.
    """

    def __init__(self, weights: NDArray[np.float64], clear: float | None = None) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        super().__init__(lambda matrix: float((self.weights * matrix).sum()), clear)


class FlipOracle:
    """Inverts every preference of another oracle independently with the same probability.

    Parameters
    ----------
    inner : Oracle
        The expert without slips.
    probability : float
        In [0, 1].
    rng : numpy.random.Generator
        Chance.
    """

    def __init__(self, inner: Oracle, probability: float, rng: np.random.Generator) -> None:
        if not 0 <= probability <= 1:
            raise Problem(f"The probability of a flip must lie in [0, 1], not {probability:g}.")
        self.inner, self.probability, self.rng = inner, probability, rng

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question, inverted now and then."""
        answer = self.inner.answer(question)
        flipped = self.rng.random() < self.probability
        return replace(answer, choice=answer.choice.swapped()) if flipped else answer


class LogitOracle:
    """Prefers X to Y with probability 1 / (1 + exp(-s (u(X) - u(Y)))).

    Parameters
    ----------
    utility : callable
        u(C), greater is better.
    sensitivity : float
        s > 0, per unit of utility.
    rng : numpy.random.Generator
        Chance.
    clear : float or None
        Where given, answers say clearly where the felt difference, noise included, is more than this.
    """

    def __init__(
        self, utility: Utility, sensitivity: float, rng: np.random.Generator, clear: float | None = None
    ) -> None:
        if not sensitivity > 0:
            raise Problem(f"The sensitivity must be above 0, not {sensitivity:g}.")
        self.utility, self.sensitivity, self.rng, self.clear = utility, sensitivity, rng, clear

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""
        # A logistic draw on the scale of the utilities is that very probability, and also gives a strength.
        first, second = question.rates
        felt = self.utility(first) - self.utility(second) + self.rng.logistic() / self.sensitivity
        return preference(felt, self.clear)


class BoundedNoiseOracle:
    """Answers arbitrarily, by a coin, where the utilities differ by at most a bound [HBMK19, definition 3].

    Parameters
    ----------
    utility : callable
        u(C), greater is better.
    bound : float
        epsilon_Omega >= 0.
    rng : numpy.random.Generator
        The coin.
    clear : float or None
        See `UtilityOracle`.
    """

    def __init__(self, utility: Utility, bound: float, rng: np.random.Generator, clear: float | None = None) -> None:
        if not bound >= 0:
            raise Problem(f"The bound of the noise must be at least 0, not {bound:g}.")
        self.utility, self.bound, self.rng, self.clear = utility, bound, rng, clear

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""
        first, second = question.rates
        difference = self.utility(first) - self.utility(second)
        if abs(difference) > self.bound:
            return preference(difference, self.clear)
        coin = Choice.FIRST if self.rng.random() < 0.5 else Choice.SECOND
        return Answer(coin, None if self.clear is None else Strength.SLIGHTLY)


class PopulationOracle:
    """Answers with the majority of many individuals, each asked once; a draw is "about equal".

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
        """Return the answer of the majority; cannot say where nobody can."""
        return majority([one.answer(question) for one in self.individuals])


class MajorityOracle(PopulationOracle):
    """Asks the same oracle several times and takes the majority.

    Parameters
    ----------
    inner : Oracle
        Who is asked.
    votes : int
        How often, at least once.
    """

    def __init__(self, inner: Oracle, votes: int) -> None:
        super().__init__([inner] * votes)


class RecordedOracle:
    """Gives recorded answers again: to the same matrices, in either order, each answer once and the oldest first.

    Parameters
    ----------
    asked : sequence of Asked
        What was answered.
    tolerance : float
        Largest difference of a rate that is still the same matrix.
    """

    def __init__(self, asked: Sequence[Asked], tolerance: float = 1e-12) -> None:
        self._left, self._tolerance = list(asked), tolerance

    def answer(self, question: Question) -> Answer:
        """Return the recorded answer.

        Raises
        ------
        Problem
            No answer to these matrices is left.
        """
        swapped = replace(question, first=question.second, second=question.first)
        for place, (recorded, answer) in enumerate(self._left):
            if recorded.same_as(question, self._tolerance):
                del self._left[place]
                return answer
            if recorded.same_as(swapped, self._tolerance):
                del self._left[place]
                return replace(answer, choice=answer.choice.swapped())
        raise Problem("The record has no (further) answer to this question; replay it with the procedure that made it.")


def preference(difference: float, clear: float | None = None) -> Answer:
    """Return the answer to a difference u(A) - u(B): A, B or equal, with a strength where `clear` is given."""
    if difference == 0:
        return Answer(Choice.EQUAL)
    strength = None if clear is None else Strength.CLEARLY if abs(difference) > clear else Strength.SLIGHTLY
    return Answer(Choice.FIRST if difference > 0 else Choice.SECOND, strength)


def majority(answers: Sequence[Answer]) -> Answer:
    """Return the side with more votes, "about equal" for a draw, cannot say where everybody said so.

    The strength is the one that most voters of the winning side gave; of two as frequent, slightly.
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
