"""The vocabulary of asking: questions, answers, steps and outcomes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Counts = NDArray[np.int64]
Family = Literal["dlpm", "lpm", "dlfpm", "lfpm"]
StopReason = Literal["tolerance", "cycles", "budget", "known", "best-model", "bounded", "expert"]


class Choice(StrEnum):
    """What was answered to a question (A, B)."""

    A = "a"
    B = "b"
    EQUAL = "equal"
    UNSURE = "unsure"

    def swapped(self) -> Choice:
        """Return the same preference when A and B change places."""
        return {Choice.A: Choice.B, Choice.B: Choice.A}.get(self, self)


class Strength(StrEnum):
    """How strong a preference is, where the expert says so."""

    SLIGHTLY = "slightly"
    CLEARLY = "clearly"


class Purpose(StrEnum):
    """Why a question is asked."""

    INFORMATIVE = "informative"
    REPEAT = "repeat"
    CHECK = "check"


@dataclass(frozen=True)
class Answer:
    """One answer to one question.

    Parameters
    ----------
    choice : Choice
        A, B, about equal, or cannot say; in the question's own order, whichever matrix stood left.
    strength : Strength or None
        Slightly or clearly, only with A or B.
    seconds : float or None
        How long the answer took; None for an oracle.
    """

    choice: Choice
    strength: Strength | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.strength is not None and self.choice not in (Choice.A, Choice.B):
            raise ValueError(f"strength goes with a or b, not with {self.choice.value!r}")


@dataclass(frozen=True, eq=False)
class Question:
    """A pair of confusion matrices: which would you rather have?

    Parameters
    ----------
    a, b : ndarray of shape (k, k)
        Rates that sum to 1; rows are true classes, columns are predicted classes.
    population : int or None
        Where given, ``a * population`` and ``b * population`` are the integers that are shown.
    purpose : Purpose
        Informative, a repeat of an earlier question, or a check.
    repeat_of : int or None
        For a repeat: the index, from 0, of the repeated question among the answered ones.
    hypothetical : bool
        True where a matrix is feasible but is not what one of the study's models does.
    """

    a: Matrix
    b: Matrix
    population: int | None = None
    purpose: Purpose = Purpose.INFORMATIVE
    repeat_of: int | None = None
    hypothetical: bool = False

    def same_as(self, other: Question, tolerance: float = 1e-12) -> bool:
        """Tell whether both show the same matrices in the same order, up to `tolerance` in the rates."""
        return bool(
            self.a.shape == other.a.shape
            and np.allclose(self.a, other.a, rtol=0, atol=tolerance)
            and np.allclose(self.b, other.b, rtol=0, atol=tolerance)
        )


class Asked(NamedTuple):
    """A question with the answer it got."""

    question: Question
    answer: Answer


@dataclass(frozen=True)
class Progress:
    """How far a procedure is: questions asked, and the fewest and most still to come."""

    asked: int
    fewest: int
    most: int

    @property
    def share(self) -> float:
        """Return the share done, in [0, 1], judged by the middle of what is still to come."""
        total = self.asked + (self.fewest + self.most) / 2
        return self.asked / total if total else 1.0


@dataclass(frozen=True, eq=False)
class Belief:
    """An immutable summary of what is known before a question.

    Parameters
    ----------
    weights : ndarray
        The current estimate in the family's normalisation.
    intervals : ndarray of shape (k, k, 2) or None
        90 % intervals of the cost-matrix entries (largest entry of the estimate = 1); inf where unbounded.
    agreement : float or None
        The predicted share of random achievable pairs that the estimate orders as the expert would.
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


Bound = tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was learned, and why the procedure stopped.

    Parameters
    ----------
    family : str
        dlpm, lpm, dlfpm or lfpm.
    weights : ndarray
        Estimate in the family's normalisation (DLPM: k numbers, sum 1; LPM: q = k^2 - k numbers <= 0, norm 1).
    bounded : tuple
        Per weight None, or (lo, hi): all that the questions of this query space can tell about it.
    stopped : str
        tolerance, cycles, budget, known, best-model, bounded or expert.
    questions : int
        Answers used (repeats and checks included).
    intervals : ndarray of shape (k, k, 2) or None
        90 % intervals of the cost-matrix entries; inf where unbounded.
    samples : ndarray of shape (draws, n_weights) or None
        Posterior draws of the weights.
    notes : tuple of str
        Sentences for a person: what was bounded, what was read in which way.
    details : mapping
        Numbers that belong to one procedure only (an achieved angle, a sensitivity, offsets of hyperplanes).
    """

    family: Family
    weights: Matrix
    bounded: tuple[Bound, ...]
    stopped: StopReason
    questions: int
    intervals: Matrix | None = None
    samples: Matrix | None = None
    notes: tuple[str, ...] = ()
    details: dict[str, object] = field(default_factory=dict)


Elicitation = Generator[Step, Answer, Outcome]


class Procedure(Protocol):
    """What chooses the next question and turns answers into a metric; bound to a query space and a seed.

    The same seed and history give the same next step on every machine. `begin` may be called any number of times:
    undo, resume and looking ahead are all "begin with another history".
    """

    @property
    def name(self) -> str:
        """Return dlpm, lpm, bayes, dlfpm or lfpm."""

    @property
    def family(self) -> Family:
        """Return the family of the metric that is elicited."""

    def begin(self, history: Sequence[Asked] = ()) -> Elicitation:
        """Start, or go on after answers already given. Recorded questions are the truth, not recomputed ones."""

    def conclude(self, history: Sequence[Asked], reason: StopReason = "expert") -> Outcome:
        """Return what is known after `history` when the expert stops here."""
