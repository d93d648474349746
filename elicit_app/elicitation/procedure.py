"""The protocol of a procedure: it asks, reports its belief along the way, and ends with an outcome."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.linearity import Linearity
from elicit_app.elicitation.predictive import EvidenceAgainstChance, PredictiveScores
from elicit_app.elicitation.questions import Answer, Asked, Family, Matrix, Step, StopReason
from elicit_app.elicitation.utilities import Fraction, Quadratic

Bound = tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Tolerance:
    """What a search reveals about the ratio of two weights.

    Parameters
    ----------
    low, high : ndarray of shape (n, n)
        Entry (i, j): range of weight i over weight j; `high` may be inf.
    bounded : ndarray of bool, shape (n, n)
        Whether no question of the query space could reveal more.
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
        Per weight None, or (lo, hi): all that the questions of this query space can reveal about it.
    stopped : str
        tolerance, cycles, budget, known, best-model, bounded or expert.
    questions : int
        Number of answers used, including repeats and checks.
    intervals : ndarray of shape (k, k, 2) or None
        90 % intervals of the cost-matrix entries; inf where unbounded.
    samples : ndarray of shape (draws, n_weights) or None
        Posterior draws of the weights.
    notes : tuple of str
        Sentences for a person: what was bounded, how answers were read.
    tolerance : Tolerance or None
        What a search reveals about ratios; None with a belief, or if the search was cut short.
    utility : Fraction, Quadratic or None
        The whole utility if it is linear-fractional or quadratic.
    cycles : int or None
        Passes over all angles made by a search on the sphere.
    sensitivity, lapse : float or None
        How the person answers: the slope in units of a typical difference, and the probability of not looking.
    effective_draws : float or None
        Number of independent draws that the samples are worth.
    linear : True, str or None
        True if a linear metric explains the answers as well as any rival, else the name of the better rival; None if
        that was not judged.
    method : str
        How the weights follow from the answers, with the source: sentences for a report.
    reliance_on_prior : float or None
        The largest factor by which an end of an interval would move if log-costs were expected to vary 1.5 times as
        much; None without a belief, or with many weights.
    deviations : ndarray of shape (parts,) or None
        Standard deviations of the parts of the log-weights, if they are learned with the weights.
    ranges : ndarray of shape (2, m) or None
        90 % ranges of the ratios to the weight of the yardstick, 0 or inf where no question reaches; None unless the
        interval of its own cost is open, which would leave all of them open.
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
    method: str = ""
    reliance_on_prior: float | None = None
    deviations: Matrix | None = None
    ranges: Matrix | None = None


Elicitation = Generator[Step, Answer, Outcome]


class Procedure(Protocol):
    """A method that chooses questions and turns answers into a metric; bound to a query space and a seed.

    The same seed and history give the same next step on every machine. `begin` may be called any number of times:
    undo, resume and looking ahead are all "begin with another history".
    """

    @property
    def name(self) -> str:
        """Return the name under which the procedure is registered."""

    @property
    def family(self) -> Family:
        """Return the family of the metric that is elicited."""

    def begin(self, history: Sequence[Asked] = ()) -> Elicitation:
        """Start, or continue after answers already given. Recorded questions are trusted, not recomputed."""

    def conclude(self, history: Sequence[Asked], reason: StopReason = "expert") -> Outcome:
        """Return what is known after `history` when the expert stops here."""

    def stops(self, history: Sequence[Asked]) -> StopReason | None:
        """Return why nothing is asked after `history`; None where it is, or where only running a search tells."""
        return None

    def belief(self, history: Sequence[Asked]) -> Posterior | None:
        """Return the belief after `history`; None for a procedure without one."""
        return None

    def prepare(self, history: Sequence[Asked]) -> Iterator[None]:
        """Compute in parts what the belief and the next question after `history` take long for, and keep it."""
        yield from ()

    def predictive_scores(self, history: Sequence[Asked]) -> PredictiveScores | None:
        """Return how each answer was predicted before it was given; None for a procedure without a belief."""
        return None

    def evidence_against_chance(self, history: Sequence[Asked]) -> EvidenceAgainstChance | None:
        """Return the evidence that the answers depend on what was shown; None for a procedure without a belief."""
        return None

    def linearity(self, history: Sequence[Asked]) -> Linearity | None:
        """Return how well rivals of linear costs explain the answers; None where that is not judged."""
        return None

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix | None:
        """Return the gains of n random pairs, shape (n, weights), to judge a belief on; None without a belief."""
        return None
