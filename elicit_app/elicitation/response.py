"""How an expert answers: a latent preference of unknown sensitivity, ordered cuts, and lapses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Asked, Choice, Matrix, Strength

N_PARAMETERS = 4

_Cut = tuple[int, int]
_TIE, _CLEAR, _OTHER_TIE = (1, 0), (1, 1), (-1, 0)


class _Reading(NamedTuple):
    """What an answer says: ``sign * latent`` lies above the cut `near`, and below the cut `far` where there is one.

    Cuts are (t, g) for t times the tie width plus g times the gap. `lapse` is the answer's share of the lapses.
    """

    sign: int
    near: _Cut
    far: _Cut | None
    lapse: float


# A lapse is a coin between A and B, now and then "about equal".
_READINGS: dict[tuple[Choice, Strength | None], _Reading] = {
    (Choice.FIRST, None): _Reading(1, _TIE, None, 0.45),
    (Choice.SECOND, None): _Reading(-1, _TIE, None, 0.45),
    (Choice.EQUAL, None): _Reading(1, _OTHER_TIE, _TIE, 0.1),
    (Choice.FIRST, Strength.SLIGHTLY): _Reading(1, _TIE, _CLEAR, 0.225),
    (Choice.FIRST, Strength.CLEARLY): _Reading(1, _CLEAR, None, 0.225),
    (Choice.SECOND, Strength.SLIGHTLY): _Reading(-1, _TIE, _CLEAR, 0.225),
    (Choice.SECOND, Strength.CLEARLY): _Reading(-1, _CLEAR, None, 0.225),
}
_PLAIN = ((Choice.FIRST, None), (Choice.SECOND, None), (Choice.EQUAL, None))
_GRADED = (
    *((choice, strength) for choice in (Choice.FIRST, Choice.SECOND) for strength in Strength),
    (Choice.EQUAL, None),
)


class Evidence(NamedTuple):
    """Answers as the likelihood sees them; "cannot say" is left out.

    Parameters
    ----------
    gain : ndarray of shape (n, m)
        ``WeightPrior.gain`` of each question, from the integers that were shown, with the sign of the answer.
    near, far : ndarray of shape (n, 2)
        Cuts between which the latent preference lies, as multiples of tie width and gap.
    open_ : ndarray of bool, shape (n,)
        Where there is no far cut.
    lapse : ndarray of shape (n,)
        Probability of the answer in a lapse.
    """

    gain: Matrix
    near: Matrix
    far: Matrix
    open_: NDArray[np.bool_]
    lapse: Matrix

    def of(self, some: NDArray[np.intp]) -> Evidence:
        """Return some of the answers alone."""
        return Evidence(self.gain[some], self.near[some], self.far[some], self.open_[some], self.lapse[some])


def evidence(history: Sequence[Asked], prior: WeightPrior) -> Evidence:
    """Collect the evidence of a history of answers."""
    told = [asked for asked in history if asked.answer.choice is not Choice.UNSURE]
    readings = [_READINGS[asked.answer.choice, asked.answer.strength] for asked in told]
    gains = [reading.sign * prior.gain(*asked.question.rates) for reading, asked in zip(readings, told, strict=True)]
    n = len(told)
    return Evidence(
        np.array(gains).reshape(n, prior.size),
        np.array([reading.near for reading in readings], dtype=np.float64).reshape(n, 2),
        np.array([reading.far or (0, 0) for reading in readings], dtype=np.float64).reshape(n, 2),
        np.array([reading.far is None for reading in readings], dtype=bool),
        np.array([reading.lapse for reading in readings], dtype=np.float64),
    )


class Person(NamedTuple):
    """Draws of how a person answers, each of shape (n,).

    Sensitivity per unit of utility; tie (half-width of "about equal") and gap (from slightly to clearly) in latent
    units; lapse probability.
    """

    sensitivity: Matrix
    tie: Matrix
    gap: Matrix
    lapse: Matrix


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
    log_tie: float = float(np.log(0.06))
    tie_spread: float = 1.2
    log_gap: float = float(np.log(1.5))
    gap_spread: float = 0.7
    logit_lapse: float = -5.0
    lapse_spread: float = 1.5
    lapse: float | None = None

    @classmethod
    def laboratory(cls, scale: float) -> ResponseModel:
        """Return the beliefs about an oracle on the sphere: it hardly errs, and what it is asked gets very small."""
        return cls(scale, sure_above=-2.4, sure_slope=10.0, logit_lapse=-8.0, log_tie=float(np.log(0.02)))

    def person(self, z: Matrix) -> Person:
        """Return the parameters that standard normal coordinates z, shape (n, 4), stand for."""
        log_sensitivity = self.log_sensitivity + self.spread * z[:, 0]
        if self.sure_slope:
            log_sensitivity = log_sensitivity + self.sure_slope * np.maximum(z[:, 0] - self.sure_above, 0.0)
        tie = np.exp(self.log_tie + self.tie_spread * z[:, 1])
        gap = np.exp(self.log_gap + self.gap_spread * z[:, 2])
        lapse = sigmoid(self.logit_lapse + self.lapse_spread * z[:, 3])
        sensitivity = np.exp(np.minimum(log_sensitivity, 30.0)) / self.scale
        return Person(sensitivity, tie, gap, lapse if self.lapse is None else np.full_like(lapse, self.lapse))

    def log_likelihood(self, weights: Matrix, person: Person, told: Evidence) -> Matrix:
        """Return log P(answer), shape (draws, answers), of weights (draws, m)."""
        latent = (weights * person.sensitivity[:, None]) @ told.gain.T
        cuts = np.stack([person.tie, person.gap], axis=1)
        chance = sigmoid(latent - cuts @ told.near.T)
        closed = np.flatnonzero(~told.open_)
        if len(closed):
            chance[:, closed] -= sigmoid(latent[:, closed] - cuts @ told.far[closed].T)
        lapse = person.lapse[:, None]
        return np.asarray(np.log(np.maximum(chance + lapse * (told.lapse - chance), 1e-300)))

    def chances(self, latent: Matrix, person: Person, graded: bool = False) -> Matrix:
        """Return the probability of every possible answer, shape (answers, draws, pairs).

        Parameters
        ----------
        latent : ndarray of shape (draws, pairs)
            ``sensitivity * u`` of each pair.
        person : Person
            The draws.
        graded : bool
            False: A, B, equal; True: slightly A, clearly A, slightly B, clearly B, equal.
        """
        tie, clear, lapse = person.tie[:, None], (person.tie + person.gap)[:, None], person.lapse[:, None]
        a, b = sigmoid(latent - tie), sigmoid(-latent - tie)
        parts = [a, b, 1 - a - b]
        if graded:
            clear_a, clear_b = sigmoid(latent - clear), sigmoid(-latent - clear)
            parts = [a - clear_a, clear_a, b - clear_b, clear_b, parts[-1]]
        chances = np.empty((len(parts), *latent.shape))
        for chance, part, kind in zip(chances, parts, _GRADED if graded else _PLAIN, strict=True):
            np.subtract(_READINGS[kind].lapse, part, out=chance)
            chance *= lapse
            chance += part
        return chances


def sigmoid(x: Matrix) -> Matrix:
    """Return 1 / (1 + exp(-x)) without overflow."""
    y = np.asarray(0.5 * x)
    np.tanh(y, out=y)  # in place: new memory for every step costs more than the steps
    y *= 0.5
    y += 0.5
    return y
