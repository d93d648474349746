"""What a procedure is: it asks, says what it believes meanwhile, and ends in an outcome."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.foretelling import AgainstChance, Foretold
from elicit_app.elicitation.linearity import Linearity
from elicit_app.elicitation.questions import Answer, Asked, Family, Matrix, Step, StopReason
from elicit_app.elicitation.utilities import Fraction, Quadratic

Bound = tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Tolerance:
    """What a search tells about the ratio of two weights.

    Parameters
    ----------
    low, high : ndarray of shape (n, n)
        Entry (i, j): the range of weight i over weight j; `high` may be inf.
    bounded : ndarray of bool, shape (n, n)
        No question of the query space could tell more than that.
    """

    low: Matrix
    high: Matrix
    bounded: NDArray[np.bool_]


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
    tolerance : Tolerance or None
        What a search tells about ratios; None with a belief, or where the search was cut short.
    utility : Fraction, Quadratic or None
        The whole utility where it is linear-fractional or quadratic.
    cycles : int or None
        Passes over all angles that a search on the sphere made.
    sensitivity, lapse : float or None
        How the person answers: the slope in units of a typical difference, and the probability of not looking.
    effective_draws : float or None
        How many independent draws the samples are worth.
    linear : True, str or None
        True where a linear metric explains the answers as well as any rival, else the name of the rival that does so
        better; None where that was not judged.
    """

    family: Family
    weights: Matrix
    bounded: tuple[Bound, ...]
    stopped: StopReason
    questions: int
    intervals: Matrix | None = None
    samples: Matrix | None = None
    notes: tuple[str, ...] = ()
    tolerance: Tolerance | None = None
    utility: Fraction | Quadratic | None = None
    cycles: int | None = None
    sensitivity: float | None = None
    lapse: float | None = None
    effective_draws: float | None = None
    linear: bool | str | None = None


Elicitation = Generator[Step, Answer, Outcome]


class Procedure(Protocol):
    """What chooses the next question and turns answers into a metric; bound to a query space and a seed.

    The same seed and history give the same next step on every machine. `begin` may be called any number of times:
    undo, resume and looking ahead are all "begin with another history".
    """

    @property
    def name(self) -> str:
        """Return the name that the procedure is registered by."""

    @property
    def family(self) -> Family:
        """Return the family of the metric that is elicited."""

    def begin(self, history: Sequence[Asked] = ()) -> Elicitation:
        """Start, or go on after answers already given. Recorded questions are the truth, not recomputed ones."""

    def conclude(self, history: Sequence[Asked], reason: StopReason = "expert") -> Outcome:
        """Return what is known after `history` when the expert stops here."""

    def stops(self, history: Sequence[Asked]) -> StopReason | None:
        """Return why nothing is asked after `history`; None where it is, or where only running a search tells."""
        return None

    def belief(self, history: Sequence[Asked]) -> Posterior | None:
        """Return what is believed after `history`; None for a procedure without a belief."""
        return None

    def foretold(self, history: Sequence[Asked]) -> Foretold | None:
        """Return what was expected of each answer before it was given; None for a procedure without a belief."""
        return None

    def against_chance(self, history: Sequence[Asked]) -> AgainstChance | None:
        """Return by how many bits the answers speak for somebody who looks; None for a procedure without a belief."""
        return None

    def linearity(self, history: Sequence[Asked]) -> Linearity | None:
        """Return how well rivals of linear costs explain the answers; None where that is not judged."""
        return None

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix | None:
        """Return what n random pairs stake, shape (n, weights): how a belief is judged; None without a belief."""
        return None
