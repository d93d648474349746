"""How an expert answers: a latent preference of unknown sensitivity, ordered cuts, and lapses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Answer, Asked, Choice, Matrix, Strength

N_PARAMETERS = 4

# The five cells of the latent scale, from "clearly B" to "clearly A", as numbers of the cuts at their lower end.
_CLEARLY_B, _SLIGHTLY_B, _EQUAL, _SLIGHTLY_A, _CLEARLY_A = range(5)
_RANGES: dict[tuple[Choice, Strength | None], tuple[int, int]] = {
    (Choice.A, None): (_SLIGHTLY_A, _CLEARLY_A),
    (Choice.B, None): (_CLEARLY_B, _SLIGHTLY_B),
    (Choice.EQUAL, None): (_EQUAL, _EQUAL),
    (Choice.A, Strength.SLIGHTLY): (_SLIGHTLY_A, _SLIGHTLY_A),
    (Choice.A, Strength.CLEARLY): (_CLEARLY_A, _CLEARLY_A),
    (Choice.B, Strength.SLIGHTLY): (_SLIGHTLY_B, _SLIGHTLY_B),
    (Choice.B, Strength.CLEARLY): (_CLEARLY_B, _CLEARLY_B),
}
# What a lapse answers, by cell of the latent scale: a coin between A and B, now and then "about equal".
_LAPSE = np.array([0.225, 0.225, 0.1, 0.225, 0.225])

PLAIN_ANSWERS = tuple(Answer(choice) for choice in (Choice.A, Choice.B, Choice.EQUAL))
GRADED_ANSWERS = (
    *(Answer(choice, strength) for choice in (Choice.A, Choice.B) for strength in Strength),
    Answer(Choice.EQUAL),
)


# An oracle on the sphere hardly ever errs, and what it is asked about becomes very small.
LABORATORY: dict[str, float] = {
    "sure_above": -2.4,
    "sure_slope": 10.0,
    "logit_lapse": -8.0,
    "log_tie": float(np.log(0.02)),
}


class Evidence(NamedTuple):
    """Answers as the likelihood sees them; "cannot say" is left out.

    Parameters
    ----------
    gain : ndarray of shape (n, m)
        ``WeightPrior.gain`` of each question, from the integers that were shown.
    low, high : ndarray of int, shape (n,)
        The answer says that the latent preference lies between these cuts.
    lapse : ndarray of shape (n,)
        Probability of the answer in a lapse.
    """

    gain: Matrix
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    lapse: Matrix

    def last(self) -> Evidence:
        """Return the newest answer alone."""
        return Evidence(self.gain[-1:], self.low[-1:], self.high[-1:], self.lapse[-1:])


def evidence(history: Sequence[Asked], prior: WeightPrior) -> Evidence:
    """Collect the evidence of a history of answers."""
    told = [asked for asked in history if asked.answer.choice is not Choice.UNSURE]
    gains = [prior.gain(asked.question.a, asked.question.b) for asked in told]
    cells = [_RANGES[asked.answer.choice, asked.answer.strength] for asked in told]
    low = np.array([first for first, _ in cells], dtype=np.intp)
    high = np.array([last + 1 for _, last in cells], dtype=np.intp)
    lapse = np.array([_LAPSE[first : last + 1].sum() for first, last in cells])
    return Evidence(np.array(gains).reshape(len(told), prior.size), low, high, lapse)


class Person(NamedTuple):
    """Draws of how a person answers, each of shape (n,): per unit of utility, and in latent units."""

    sensitivity: Matrix
    tie: Matrix
    gap: Matrix
    lapse: Matrix

    def cuts(self) -> Matrix:
        """Return the six cuts of the latent scale, shape (n, 6), from minus to plus infinity."""
        clear, infinity = self.tie + self.gap, np.full_like(self.tie, np.inf)
        return np.stack([-infinity, -clear, -self.tie, self.tie, clear, infinity], axis=1)


@dataclass(frozen=True)
class ResponseModel:
    """P(answer | utility difference), and what is believed about its parameters beforehand.

    With u the utility of A minus that of B, the latent preference is ``sensitivity * u`` plus logistic noise; it is
    read off by symmetric ordered cuts. With the lapse probability the answer has nothing to do with the matrices.
    All priors are standard normal in transformed coordinates.

    Parameters
    ----------
    scale : float
        Median of |u| over prior weights and the pairs that may be shown: makes the sensitivity scale-free.
    log_sensitivity, spread : float
        Mean and standard deviation of log(sensitivity * scale).
    sure_above, sure_slope : float
        Above this normal score the log-sensitivity rises by `sure_slope` more a unit: people who hardly ever err.
    log_tie, tie_spread, log_gap, gap_spread : float
        Of the half-width of "about equal", and of the step from slightly to clearly, in latent units.
    logit_lapse, lapse_spread : float
        Of the lapse probability.
    lapse : float or None
        Where the lapse probability is known.
    """

    scale: float
    log_sensitivity: float = float(np.log(8.0))
    spread: float = 1.5
    sure_above: float = 0.8
    sure_slope: float = 0.0
    log_tie: float = float(np.log(0.15))
    tie_spread: float = 1.0
    log_gap: float = float(np.log(1.5))
    gap_spread: float = 0.7
    logit_lapse: float = -5.0
    lapse_spread: float = 1.5
    lapse: float | None = None

    def person(self, z: Matrix) -> Person:
        """Return the parameters that standard normal coordinates z, shape (n, 4), stand for."""
        sure = self.sure_slope * np.maximum(z[:, 0] - self.sure_above, 0.0)
        sensitivity = np.exp(np.minimum(self.log_sensitivity + self.spread * z[:, 0] + sure, 30.0)) / self.scale
        tie = np.exp(self.log_tie + self.tie_spread * z[:, 1])
        gap = np.exp(self.log_gap + self.gap_spread * z[:, 2])
        lapse = sigmoid(self.logit_lapse + self.lapse_spread * z[:, 3])
        return Person(sensitivity, tie, gap, lapse if self.lapse is None else np.full_like(lapse, self.lapse))

    def log_likelihood(self, weights: Matrix, person: Person, told: Evidence) -> Matrix:
        """Return log P(answer), shape (draws, answers), of weights (draws, m)."""
        latent = person.sensitivity[:, None] * (weights @ told.gain.T)
        cuts = person.cuts()
        chance = sigmoid(cuts[:, told.high] - latent) - sigmoid(cuts[:, told.low] - latent)
        lapse = person.lapse[:, None]
        return np.asarray(np.log(np.maximum((1 - lapse) * chance + lapse * told.lapse, 1e-300)))

    def chances(self, latent: Matrix, person: Person, graded: bool = False) -> Matrix:
        """Return the probability of every possible answer, shape (answers, draws, pairs).

        Parameters
        ----------
        latent : ndarray of shape (draws, pairs)
            ``sensitivity * u`` of each pair.
        person : Person
            The draws.
        graded : bool
            False: A, B, equal (`PLAIN_ANSWERS`); True: with slightly and clearly (`GRADED_ANSWERS`).
        """
        cuts = person.cuts()
        inner = [sigmoid(cuts[:, [c]] - latent) for c in ((1, 2, 3, 4) if graded else (2, 3))]
        lapse = person.lapse[:, None]
        if graded:
            parts = [inner[3] - inner[2], 1 - inner[3], inner[1] - inner[0], inner[0], inner[2] - inner[1]]
            idle = _LAPSE[[_SLIGHTLY_A, _CLEARLY_A, _SLIGHTLY_B, _CLEARLY_B, _EQUAL]]
        else:
            parts = [1 - inner[1], inner[0], inner[1] - inner[0]]
            idle = np.array([_LAPSE[3:].sum(), _LAPSE[:2].sum(), _LAPSE[_EQUAL]])
        return np.stack([(1 - lapse) * part + lapse * share for part, share in zip(parts, idle, strict=True)])


def sigmoid(x: Matrix) -> Matrix:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))
