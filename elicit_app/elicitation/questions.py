"""The vocabulary of elicitation: questions, answers and steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.elicited.kinds import AnswersFor as AnswersFor

Matrix = NDArray[np.float64]
Counts = NDArray[np.int64]
Family = Literal["dlpm", "lpm", "dlfpm", "lfpm"]
ROUND_STEPS = (1, 2, 3, 5)  # times a power of ten: the numbers that people name

Side = Literal["first", "second"]
StopReason = Literal["tolerance", "cycles", "budget", "known", "best-model", "bounded", "expert"]


class Choice(StrEnum):
    """The answer to a pair: the better side, about equal, or cannot say."""

    FIRST = "first"
    SECOND = "second"
    EQUAL = "equal"
    UNSURE = "unsure"

    def swapped(self) -> Choice:
        """Return the same preference with the two sides exchanged."""
        return {Choice.FIRST: Choice.SECOND, Choice.SECOND: Choice.FIRST}.get(self, self)


PREFERENCES = (Choice.FIRST, Choice.SECOND)


class Strength(StrEnum):
    """Strength of a preference, if the expert states it."""

    SLIGHTLY = "slightly"
    CLEARLY = "clearly"


class Purpose(StrEnum):
    """Why a question is asked."""

    INFORMATIVE = "informative"
    REPEAT = "repeat"
    CHECK = "check"


@dataclass(frozen=True)
class Moved:
    """One count of one side that the person moved before answering.

    Parameters
    ----------
    side : {"first", "second"}
        The side whose count was moved.
    true, predicted : int
        The mistake that was moved: a case of class `true` taken for `predicted`.
    count : int
        Final count, in cases of the question's population.
    start : int
        Count before the person moved it.
    """

    side: Side
    true: int
    predicted: int
    count: int
    start: int

    def __post_init__(self) -> None:
        if self.true == self.predicted:
            raise ValueError("only a mistake can be moved, not the cases that are right")
        if min(self.count, self.start) < 0:
            raise ValueError("a moved count cannot be negative")

    def swapped(self) -> Moved:
        """Return the same move with the two sides exchanged."""
        return replace(self, side="second" if self.side == "first" else "first")


@dataclass(frozen=True)
class Answer:
    """One answer to one question.

    Parameters
    ----------
    choice : Choice
        First, second, about equal, or cannot say; in the order of the question, whichever matrix was on the left.
    strength : Strength or None
        Slightly or clearly; only with a preference.
    seconds : float or None
        How long the answer took; None for an oracle.
    moved : Moved or None
        The count that was moved. `choice` then holds for the pair with that count (`Question.moved`): about equal is
        an equal point, a preference only a bound of one.
    reason : str
        The person's typed remark about the answer, or an empty string.
    """

    choice: Choice
    strength: Strength | None = None
    seconds: float | None = None
    moved: Moved | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.strength is not None and self.choice not in PREFERENCES:
            raise ValueError(f"strength goes with first or second, not with {self.choice.value!r}")

    @property
    def picks_a_side(self) -> bool:
        """Return whether a side was preferred as it was shown. A preference at a moved count is a bound, no choice."""
        return self.choice in PREFERENCES and self.moved is None

    @property
    def equal_point(self) -> Literal["below", "at", "above"] | None:
        """Return where the equal point lies, seen from the moved count; None if no count was moved, or nothing said."""
        if self.moved is None or self.choice is Choice.UNSURE:
            return None
        if self.choice is Choice.EQUAL:
            return "at"
        return "above" if self.choice.value == self.moved.side else "below"

    def swapped(self) -> Answer:
        """Return the same answer with the two sides of the question exchanged."""
        moved = None if self.moved is None else self.moved.swapped()
        return replace(self, choice=self.choice.swapped(), moved=moved)


@dataclass(frozen=True)
class Proposal:
    """A count that the person may move until both results are equally bad.

    Parameters
    ----------
    side : {"first", "second"}
        The side whose count may be moved.
    true, predicted : int
        The mistake: a case of class `true` taken for `predicted`.
    start : int
        Count before it is moved.
    least, most : int
        Ends of the scale; `most` is the largest count that a plausible question allows.
    at_once : bool
        True if the count is asked for straight away, False if it may be moved after a choice.

    Raises
    ------
    ValueError
        If the start lies outside the scale.
    """

    side: Side
    true: int
    predicted: int
    start: int
    least: int
    most: int
    at_once: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.start <= self.most:
            raise ValueError(f"a count starts within its scale, not at {self.start} of {self.least} to {self.most}")

    def at(self, count: int, first: Counts, second: Counts) -> tuple[Counts, Counts]:
        """Return both results, shape (k, k) each, with the mistake at `count` on the side that may be moved."""
        mistake = self.true, self.predicted
        if self.side == "first":
            return with_count(first, mistake, count), second
        return first, with_count(second, mistake, count)

    def swapped(self) -> Proposal:
        """Return the same proposal with the two sides exchanged."""
        return replace(self, side="second" if self.side == "first" else "first")


@dataclass(frozen=True, eq=False)
class Question:
    """A pair of confusion matrices: which would you rather have?

    Parameters
    ----------
    first, second : ndarray of shape (k, k)
        Rows are true classes, columns are predicted classes. Counts (int64) of `population` cases if that is given,
        else exact rates (float64) that sum to 1; `rates` gives both as rates.
    population : int or None
        Number of cases that each matrix counts; None for exact rates.
    purpose : Purpose
        Informative, a repeat of an earlier question, or a check.
    repeat_of : int or None
        For a repeat: the number, from 1, of the repeated answer in the history.
    hypothetical : bool
        True if a matrix is feasible but is not what one of the study's models does.
    far : bool
        True if a mistake is much more frequent than near the study's models, because no nearer pair could reveal how
        the two mistakes compare.
    proposal : Proposal or None
        The count that may be moved until both sides are equally bad; None if there is none.
    common_base : bool
        True for a repeat that shows the earlier trade with more of one mistake on both sides: a person with linear
        values gives the same answer.

    Raises
    ------
    ValueError
        If a population is given and the matrices are not counts of it.
    """

    first: Matrix | Counts
    second: Matrix | Counts
    population: int | None = None
    purpose: Purpose = Purpose.INFORMATIVE
    repeat_of: int | None = None
    hypothetical: bool = False
    far: bool = False
    proposal: Proposal | None = None
    common_base: bool = False

    def __post_init__(self) -> None:
        if self.population is None:
            return
        for side in (self.first, self.second):
            if side.dtype.kind not in "iu" or side.sum() != self.population or side.min() < 0:
                raise ValueError(f"the matrices of a question must be counts of {self.population} cases")

    @classmethod
    def of_rates(
        cls,
        first: Matrix,
        second: Matrix,
        population: int | None,
        purpose: Purpose = Purpose.INFORMATIVE,
        *,
        hypothetical: bool = False,
    ) -> Question:
        """Make a question about two matrices of rates, in counts if there is a population.

        Raises
        ------
        ValueError
            If the rates are not whole cases of the population.
        """
        if population is None:
            return cls(first, second, None, purpose, hypothetical=hypothetical)
        whole = _counts(first, population), _counts(second, population)
        return cls(*whole, population, purpose, hypothetical=hypothetical)

    @cached_property
    def rates(self) -> tuple[Matrix, Matrix]:
        """Return both matrices as rates that sum to 1."""
        cases = 1 if self.population is None else self.population
        return self.first / cases, self.second / cases

    def swapped(self) -> Question:
        """Return the same pair with its sides exchanged, and the proposal moved along."""
        proposal = None if self.proposal is None else self.proposal.swapped()
        return replace(self, first=self.second, second=self.first, proposal=proposal)

    def moved(self, moved: Moved) -> Question:
        """Return the pair with one mistake at the count that the person gave it.

        The hits of the same true class make up the difference, so that its total is unchanged.

        Raises
        ------
        ValueError
            If the question has no population, there is no such mistake, or the class has fewer cases than that.
        """
        if self.population is None:
            raise ValueError("a count can only be moved where a question counts cases")
        if not {moved.true, moved.predicted} <= set(range(len(self.first))):
            raise ValueError(f"there is no mistake {moved.true}, {moved.predicted} among {len(self.first)} classes")
        side = self.first if moved.side == "first" else self.second
        side = with_count(np.asarray(side, dtype=np.int64), (moved.true, moved.predicted), moved.count)
        if side[moved.true, moved.true] < 0:
            raise ValueError(f"{moved.count} is more than the cases of the class that there are to move")
        return replace(self, first=side) if moved.side == "first" else replace(self, second=side)

    @property
    def asks_equal(self) -> bool:
        """Return whether the person is asked to make both sides equally bad, instead of choosing one."""
        return self.proposal is not None and self.proposal.at_once

    def same_as(self, other: Question, tolerance: float = 1e-12) -> bool:
        """Return whether both show the same matrices in the same order, up to `tolerance` in the rates."""
        return self.first.shape == other.first.shape and all(
            np.allclose(own, theirs, rtol=0, atol=tolerance)
            for own, theirs in zip(self.rates, other.rates, strict=True)
        )


def with_count(counts: Counts, mistake: tuple[int, int], count: int) -> Counts:
    """Return counts, shape (k, k), with one mistake at `count`; the correct cases of its class fill the row."""
    changed, true = counts.copy(), mistake[0]
    changed[true, true] += changed[mistake] - count
    changed[mistake] = count
    return changed


def _counts(rates: Matrix, population: int) -> Counts:
    scaled = rates * population
    counts = np.rint(scaled).astype(np.int64)
    if np.abs(scaled - counts).max() > 1e-3:
        raise ValueError(f"the matrices of a question are not whole cases per {population}")
    return counts


class Asked(NamedTuple):
    """A question and its answer."""

    question: Question
    answer: Answer

    @property
    def shown(self) -> Question:
        """Return the pair to which the answer refers, with a moved count where the person left it."""
        moved = self.answer.moved
        return self.question if moved is None else self.question.moved(moved)


@dataclass(frozen=True)
class Progress:
    """Progress of a procedure: the number of questions asked, and the fewest and most still to come.

    `beyond_plan` is True once all planned questions were asked and more follow because trust in the answers is open.
    """

    asked: int
    fewest: int
    most: int
    beyond_plan: bool = False

    @property
    def share(self) -> float:
        """Return the share done, in [0, 1], assuming the mean of the fewest and most still to come."""
        total = self.asked + (self.fewest + self.most) / 2
        return self.asked / total if total else 1.0


@dataclass(frozen=True, eq=False)
class Belief:
    """Immutable summary of what is known before a question.

    Parameters
    ----------
    weights : ndarray
        The current estimate in the family's normalisation.
    intervals : ndarray of shape (k, k, 2) or None
        90 % intervals of the cost-matrix entries (largest entry of the estimate = 1); inf where unbounded.
    agreement : float or None
        Predicted share of random achievable pairs that the estimate orders as the expert would.
    """

    weights: Matrix
    intervals: Matrix | None = None
    agreement: float | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """What a procedure yields: the next question, the progress and the belief before its answer."""

    question: Question
    progress: Progress
    belief: Belief


def rounded_count(count: float) -> int:
    """Return the nearest of 1, 2, 3, 5, 10, 20, 30, ... by ratio."""
    if count <= 1:
        return 1
    tens = 10 ** int(np.floor(np.log10(count)))
    steps = np.array([*ROUND_STEPS, 10]) * tens
    return int(steps[np.argmin(np.abs(np.log(steps / count)))])


def rounding_cell(count: int, most: int) -> tuple[float, float]:
    """Return the interval of counts that a person would round to `count`; unbounded above from `most` on.

    People say 1, 2, 3, 5 and 10 (times a power of ten); other numbers are rounded to the place of their last digits.

    >>> rounding_cell(30, 400)
    (24.49489742783178, 38.72983346207417)
    >>> rounding_cell(47, 400)
    (46.5, 47.5)
    """
    if count <= 0:
        return 0.0, 0.5
    power = 10.0 ** np.floor(np.log10(count) + 1e-9)
    place = np.flatnonzero(np.isclose(ROUND_STEPS, count / power))
    if len(place):
        rungs = power * np.array([0.5, *ROUND_STEPS, 10.0])
        at = int(place[0]) + 1
        low, high = np.sqrt(rungs[at - 1 : at + 1] * rungs[at : at + 2])
        low = 0.5 if count == 1 else low
    else:
        step = next(step for step in (100, 50, 10, 5, 1) if count % step == 0 and count > step)
        low, high = count - step / 2, count + step / 2
    return float(low), float(np.inf if count >= most else high)
