"""How an expert answers: choices between two results, and counts moved until both are equally bad.

A choice depends on the weighted gains G and losses L of the first side, in units of the person's typical utility
difference. The latent preference ``s (G^(1-rho) - L^(1-rho)) / ((1-rho) U(rho))`` plus logistic noise falls between
ordered cuts. At rho = 0 the noise is constant in utility; at rho = 1 it is constant in the log-ratio G / L, so that it
grows with the amounts at stake. An equal point reports that log-ratio itself, with log-normal error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from elicit_app.elicitation.prior import WeightPrior, relative_weights
from elicit_app.elicitation.questions import Asked, Choice, Matrix, Moved, Question, Strength, rounding_cell

N_PARAMETERS = 8  # of a person, see `Person`
USUAL_ERROR = 0.6  # prior median of the standard deviation of a count's logarithm

_Cut = tuple[int, int]
_TIE, _CLEAR, _OTHER_TIE = (1, 0), (1, 1), (-1, 0)
# Above this normal score the logarithm of a count's error rises more per unit: one person in six errs by 1.7 or more.
_POOR_ABOVE, _POOR_SLOPE = 0.5, 1.5
_RHO_GRID = np.linspace(0.0, 1.0, 11)
_TINY = 1e-300
_NEAR_ONE = 1e-6  # 1 - rho below this is the limit, a logarithm
_POINT_RANGE = 7.0  # range, in natural logarithms, of a count moved without looking
_POINT_LAPSE = 0.005  # share of equal points, besides the lapses, that carry no information: typing slips


class _Reading(NamedTuple):
    """The meaning of an answer: ``sign * latent`` lies above the cut `near`, and below the cut `far` if there is one.

    Cuts are (t, g) for t times the tie width plus g times the gap. `lapse` is the answer's share of the lapses.
    """

    sign: int
    near: _Cut
    far: _Cut | None
    lapse: float


# A lapse picks either side at random, or now and then "about equal".
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


class Choices(NamedTuple):
    """Choices in the form of the likelihood; a bound of an equal point is a choice of the pair with the count moved.

    Parameters
    ----------
    gain : ndarray of shape (n, m)
        ``WeightPrior.gain`` of each pair, from the integers shown, with the sign of the answer.
    near, far : ndarray of shape (n, 2)
        Cuts between which the latent preference lies, as multiples of tie width and gap.
    open_ : ndarray of bool, shape (n,)
        Whether there is no far cut.
    lapse : ndarray of shape (n,)
        Probability of the answer given a lapse.
    sign : ndarray of shape (n,)
        The sign applied to `gain`: 1, or -1 if the answer is the second side.
    """

    gain: Matrix
    near: Matrix
    far: Matrix
    open_: NDArray[np.bool_]
    lapse: Matrix
    sign: Matrix


class EqualPoints(NamedTuple):
    """Counts at which both sides are equally bad: one moved mistake against the net rest of the trade.

    Let D be the net amount of the moved mistake: its count minus that of the other side. The person states that
    ``w[cell] * D = w @ rest``.

    Parameters
    ----------
    cell : ndarray of int, shape (n,)
        Index of the weight that the moved count belongs to.
    rest : ndarray of shape (n, m)
        All other differences between the sides.
    low, high : ndarray of shape (n,)
        Interval of the logarithm of D, after rounding; infinite at the ends of the scale.
    start : ndarray of shape (n,)
        log D of the starting count; nan if D was not positive there.
    """

    cell: NDArray[np.intp]
    rest: Matrix
    low: Matrix
    high: Matrix
    start: Matrix

    @property
    def log_amount(self) -> Matrix:
        """Return the logarithm of the total amount in the rest, shape (n,): the answer under equal weights."""
        return np.asarray(np.log(np.abs(self.rest).sum(axis=1)))


class Evidence(NamedTuple):
    """Answers in the form of the likelihood; "cannot say" is left out."""

    choices: Choices
    points: EqualPoints

    @property
    def n_answers(self) -> int:
        """Return the number of answers that carry information."""
        return len(self.choices.gain) + len(self.points.cell)

    @property
    def involved(self) -> NDArray[np.intp]:
        """Return the indices of the weights that the answers involve, in order."""
        asked: NDArray[np.bool_] = np.logical_or(self.choices.gain.any(axis=0), self.points.rest.any(axis=0))
        asked[self.points.cell] = True
        return np.flatnonzero(asked)

    def restricted_to(self, weights: NDArray[np.intp]) -> Evidence:
        """Return the same answers restricted to these weights, in order, which must include all that they involve."""
        points = self.points
        cell = np.searchsorted(weights, points.cell)
        return Evidence(
            self.choices._replace(gain=self.choices.gain[:, weights]),
            points._replace(cell=cell, rest=points.rest[:, weights]),
        )


def evidence(history: Sequence[Asked], prior: WeightPrior) -> Evidence:
    """Collect the evidence of a history of answers."""
    choices, points = [], []
    for asked in history:
        if asked.answer.choice is Choice.UNSURE:
            continue
        if not is_point(asked):
            choices.append(_choice(asked, prior))
        elif (point := _equal_point(asked, prior)) is not None:
            points.append(point)
    return Evidence(_stacked_choices(choices, prior.n_gains), _stacked_points(points, prior.n_gains))


def is_point(asked: Asked) -> bool:
    """Return whether an answer locates the equal point: at a count, or beyond an end of its scale."""
    moved, where = asked.answer.moved, asked.answer.equal_point
    if moved is None or where in ("at", None):
        return where == "at"
    least, most = ends_of_scale(asked.question, moved)
    return moved.count >= most if where == "above" else moved.count <= least


def _choice(asked: Asked, prior: WeightPrior) -> tuple[Matrix, _Reading]:
    reading = _READINGS[asked.answer.choice, asked.answer.strength]
    return reading.sign * prior.gain(*asked.shown.rates), reading


def _stacked_choices(choices: Sequence[tuple[Matrix, _Reading]], m: int) -> Choices:
    readings = [reading for _, reading in choices]
    n = len(choices)
    return Choices(
        np.array([gain for gain, _ in choices]).reshape(n, m),
        np.array([reading.near for reading in readings], dtype=np.float64).reshape(n, 2),
        np.array([reading.far or (0, 0) for reading in readings], dtype=np.float64).reshape(n, 2),
        np.array([reading.far is None for reading in readings], dtype=bool),
        np.array([reading.lapse for reading in readings], dtype=np.float64),
        np.array([reading.sign for reading in readings], dtype=np.float64),
    )


def _equal_point(asked: Asked, prior: WeightPrior) -> tuple[int, Matrix, float, float, float] | None:
    """Return cell, rest, low, high and start of an equal point; None if only the moved count differs."""
    question, moved = asked.question, asked.answer.moved
    assert moved is not None
    assert question.population is not None
    rest = prior.gain(*asked.shown.rates) * (1.0 if moved.side == "first" else -1.0)
    cell = prior.index(moved.true, moved.predicted)
    net = -rest[cell] * question.population  # of the moved side, in cases
    rest[cell] = 0.0
    if not np.abs(rest).max() > 0:
        return None
    other = moved.count - net  # the count at which the sides agree in this mistake
    low, high = rounding_cell(moved.count, ends_of_scale(question, moved)[1])
    if asked.answer.equal_point != "at":  # it lies beyond the scale
        low, high = (float(moved.count), np.inf) if asked.answer.equal_point == "above" else (0, moved.count - 0.5)
    with np.errstate(divide="ignore"):
        # A count below the other side's cannot offset anything: it is read as the least possible amount.
        net_ends = np.maximum(np.array([low, high, moved.start]) - other, [0.0, 0.5, 0.0])
        ends = np.log(net_ends / question.population)
    return cell, rest, float(ends[0]), float(ends[1]), float(ends[2]) if np.isfinite(ends[2]) else np.nan


def ends_of_scale(question: Question, moved: Moved) -> tuple[int, int]:
    """Return the ends of the scale, or else the least count that trades something, and all cases of the class."""
    proposal, cell = question.proposal, (moved.true, moved.predicted)
    if proposal is not None and (proposal.true, proposal.predicted) == cell:
        return proposal.least, proposal.most
    side, other = (question.first, question.second) if moved.side == "first" else (question.second, question.first)
    return int(other[cell]) + 1, int(side[moved.true, moved.true] + side[cell])


def _stacked_points(points: Sequence[tuple[int, Matrix, float, float, float]], m: int) -> EqualPoints:
    n = len(points)
    cells = np.array([cell for cell, *_ in points], dtype=np.intp)
    rests = np.array([rest for _, rest, *_ in points]).reshape(n, m)
    low, high, start = np.array([ends for _, _, *ends in points], dtype=np.float64).reshape(n, 3).T
    return EqualPoints(cells, rests, low, high, start)


class Person(NamedTuple):
    """Draws of how a person answers, each of shape (n,).

    Parameters
    ----------
    sensitivity : ndarray
        s > 0, in units of the median latent preference of random achievable pairs.
    tie, gap : ndarray
        Half-width of "about equal", and the step from slightly to clearly, in latent units.
    lapse : ndarray
        Probability that an answer does not depend on the matrices.
    rho : ndarray
        In [0, 1]: how much the noise grows with what is at stake.
    shrinkage : ndarray
        kappa > 0: the exponent that equal points apply to ratios.
    error : ndarray
        Standard deviation of the logarithm of an equal point.
    pull : ndarray
        In [0, 1]: how strongly an equal point is pulled, on the log scale, towards the starting count.
    """

    sensitivity: Matrix
    tie: Matrix
    gap: Matrix
    lapse: Matrix
    rho: Matrix
    shrinkage: Matrix
    error: Matrix
    pull: Matrix

    def subset(self, rows: NDArray[np.intp]) -> Person:
        """Return the selected draws."""
        return Person(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False)
class ResponseModel:
    """P(answer | weights), and the prior of its parameters.

    All priors are standard normal in transformed coordinates.

    Parameters
    ----------
    moments : ndarray of shape (m, m)
        Mean of ``outer(gain, gain)`` over random achievable pairs: ``sqrt(w @ moments @ w)`` is the person's typical
        utility difference, so that neither the unit of the weights nor that of the counts matters.
    units : ndarray of shape (11,)
        U(rho) at rho = 0, .1, ..., 1.
    log_sensitivity, spread : float
        Mean and standard deviation of log s: people are right on about 80 % of random achievable pairs.
    sure_above, sure_slope : float
        Above this normal score log s rises by `sure_slope` more per unit: three people in ten hardly ever err.
    log_tie, tie_spread, log_gap, gap_spread : float
        Location and spread of the half-width of "about equal", and of the step to "clearly", in latent units.
    logit_lapse, lapse_spread : float
        Location and spread of the log-odds of a lapse.
    rho : float or None
        Growth of the noise if it is known; None infers it.
    lapse : float or None
        Lapse probability if it is known; None infers it.
    """

    moments: Matrix
    units: Matrix
    log_sensitivity: float = float(np.log(1.5))
    spread: float = 1.2
    sure_above: float = 0.5
    sure_slope: float = 4.0
    log_tie: float = float(np.log(0.06))
    tie_spread: float = 1.2
    log_gap: float = float(np.log(1.5))
    gap_spread: float = 0.7
    logit_lapse: float = -5.0
    lapse_spread: float = 1.5
    rho: float | None = None
    lapse: float | None = None

    @classmethod
    def of_people(cls, prior: WeightPrior, gains: Matrix, rng: np.random.Generator) -> ResponseModel:
        """Return the model with the prior of people.

        Parameters
        ----------
        prior : WeightPrior
            Prior of the weights.
        gains : ndarray of shape (pairs, m)
            Gains of random achievable pairs: what "typical" refers to.
        rng : numpy.random.Generator
            Draws the weights from which the units are computed.
        """
        return cls(gains.T @ gains / len(gains), _units(prior, gains, _RHO_GRID, rng))

    @classmethod
    def of_an_oracle(cls, prior: WeightPrior, gains: Matrix, rng: np.random.Generator) -> ResponseModel:
        """Return the model with the prior of a laboratory oracle: sharp, but not assumed faultless.

        Its questions get very small, so its noise is assumed constant in utility.
        """
        unit = _units(prior, gains, np.zeros(1), rng)
        return cls(
            gains.T @ gains / len(gains),
            np.repeat(unit, len(_RHO_GRID)),
            log_sensitivity=float(np.log(8.0)),
            spread=1.5,
            sure_above=-2.4,
            sure_slope=10.0,
            log_tie=float(np.log(0.02)),
            logit_lapse=-4.0,
            lapse_spread=2.0,
            rho=0.0,
        )

    @classmethod
    def of_ratios(cls) -> ResponseModel:
        """Return a model in which only ratios matter: the noise is constant in log G / L, which is also the unit."""
        return cls(np.zeros((0, 0)), np.ones(len(_RHO_GRID)), rho=1.0)

    def person(self, z: Matrix) -> Person:
        """Return the parameters at standard normal coordinates z, shape (n, 8)."""
        log_sensitivity = self.log_sensitivity + self.spread * z[:, 0]
        log_sensitivity = log_sensitivity + self.sure_slope * np.maximum(z[:, 0] - self.sure_above, 0.0)
        odds = self.logit_lapse + self.lapse_spread * z[:, 3]
        return Person(
            np.exp(np.minimum(log_sensitivity, 30.0)),
            np.exp(self.log_tie + self.tie_spread * z[:, 1]),
            np.exp(self.log_gap + self.gap_spread * z[:, 2]),
            expit(odds) if self.lapse is None else np.full(len(z), self.lapse),
            ndtr(1.5 * z[:, 4] - 0.5) if self.rho is None else np.full(len(z), self.rho),
            np.exp(-0.1 + 0.15 * z[:, 5]),
            error_of_counts(z[:, 6]),
            expit(-3.0 + z[:, 7]),
        )

    def latent(self, weights: Matrix, person: Person, gains: Matrix) -> Matrix:
        """Return the latent preferences for the first side, shape (draws, pairs).

        Parameters
        ----------
        weights : ndarray of shape (draws, m)
            Positive weights, in any unit.
        person : Person
            Equally many draws.
        gains : ndarray of shape (pairs, m)
            Gains of the pairs.
        """
        if self.rho == 0.0:
            factor = person.sensitivity / (self._typical(weights) * self.units[0])
            return np.asarray((weights * factor[:, None]) @ gains.T)
        good = np.log(np.maximum(weights @ np.maximum(gains, 0.0).T, _TINY))
        bad = np.log(np.maximum(weights @ np.maximum(-gains, 0.0).T, _TINY))
        return self.latent_of_logs(good, bad, weights, person)

    def latent_of_logs(self, good: Matrix, bad: Matrix, weights: Matrix, person: Person) -> Matrix:
        """Return the latent preferences from the logarithms of weighted gains and losses, each (draws, pairs)."""
        if self.rho == 1.0:
            return np.asarray((person.sensitivity / self.units[-1])[:, None] * (good - bad))
        unit = np.exp(np.interp(person.rho, _RHO_GRID, np.log(self.units)))
        log_typical = np.log(self._typical(weights))[:, None]
        power = np.maximum(1.0 - person.rho, _NEAR_ONE)[:, None]
        felt = np.exp(power * (good - log_typical)) - np.exp(power * (bad - log_typical))
        return np.asarray((person.sensitivity / unit)[:, None] / power * felt)

    def log_likelihood(self, weights: Matrix, person: Person, answers: Evidence) -> Matrix:
        """Return log P(answer), shape (draws, answers), choices before equal points; weights (draws, m)."""
        parts = []
        if len(answers.choices.gain):
            latent = self.latent(weights, person, answers.choices.gain)
            parts.append(self.choice_log_likelihood(latent, person, answers.choices))
        if len(answers.points.cell):
            parts.append(self.point_log_likelihood(weights, person, answers.points))
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(weights), 0))

    def equal_points(self, weights: Matrix, person: Person, points: EqualPoints) -> Matrix:
        """Return the expected log D of each equal point, shape (draws, points), see `EqualPoints`."""
        return self.felt(log_amounts(weights, points), person, points)

    def felt(self, exact: Matrix, person: Person, points: EqualPoints) -> Matrix:
        """Return the log D that people report, (draws, points), if `exact` would make both sides equally bad."""
        amount = points.log_amount
        felt = amount + person.shrinkage[:, None] * (exact - amount)
        return np.asarray(np.where(np.isnan(points.start), felt, felt + person.pull[:, None] * (points.start - felt)))

    def point_tails(self, weights: Matrix, person: Person, points: EqualPoints) -> Matrix:
        """Return the probabilities of an amount as small, and as large, as each observed one, (2, draws, points)."""
        expected, error = self.equal_points(weights, person, points), person.error[:, None]
        return np.stack([ndtr((points.high - expected) / error), ndtr((expected - points.low) / error)])

    def answer_probabilities(self, latent: Matrix, person: Person, graded: bool = False) -> Matrix:
        """Return the probability of every possible choice, shape (choices, draws, pairs).

        Parameters
        ----------
        latent : ndarray of shape (draws, pairs)
            As returned by `latent`.
        person : Person
            The draws.
        graded : bool
            False: first, second, equal; True: slightly first, clearly first, slightly second, clearly second, equal.
        """
        tie, clear, lapse = person.tie[:, None], (person.tie + person.gap)[:, None], person.lapse[:, None]
        first, second = expit(latent - tie), expit(-latent - tie)
        parts = [first, second, 1 - first - second]
        if graded:
            clear_first, clear_second = expit(latent - clear), expit(-latent - clear)
            parts = [first - clear_first, clear_first, second - clear_second, clear_second, parts[-1]]
        answer_probabilities = np.empty((len(parts), *latent.shape))
        for chance, part, kind in zip(answer_probabilities, parts, _GRADED if graded else _PLAIN, strict=True):
            np.subtract(_READINGS[kind].lapse, part, out=chance)
            chance *= lapse
            chance += part
        return answer_probabilities

    def _typical(self, weights: Matrix) -> Matrix:
        return np.asarray(np.sqrt(((weights @ self.moments) * weights).sum(axis=1)))

    def choice_log_likelihood(self, latent: Matrix, person: Person, choices: Choices) -> Matrix:
        """Return log P(choice), shape (draws, choices), from latent preferences with the sign of the answers."""
        cuts = np.stack([person.tie, person.gap], axis=1)
        chance = expit(latent - cuts @ choices.near.T)
        closed = np.flatnonzero(~choices.open_)
        if len(closed):
            chance[:, closed] -= expit(latent[:, closed] - cuts @ choices.far[closed].T)
        chance += person.lapse[:, None] * (choices.lapse - chance)
        return np.asarray(np.log(np.maximum(chance, _TINY)))

    def point_log_likelihood(self, weights: Matrix, person: Person, points: EqualPoints) -> Matrix:
        """Return log P(count), shape (draws, points), of equal points."""
        return self.exact_point_log_likelihood(log_amounts(weights, points), person, points)

    def exact_point_log_likelihood(self, exact: Matrix, person: Person, points: EqualPoints) -> Matrix:
        """Return log P(count), shape (draws, points), where `exact`, broadcast to it, is log D at true equality."""
        expected, error = self.felt(exact, person, points), person.error[:, None]
        inside = ndtr((points.high - expected) / error) - ndtr((points.low - expected) / error)
        lapse = person.lapse[:, None] + _POINT_LAPSE
        return np.asarray(np.log(np.maximum(inside + lapse * (point_lapse(points) - inside), _TINY)))


def error_of_counts(scores: Matrix) -> Matrix:
    """Return the standard deviation of a count's logarithm for people at standard normal scores, shape (n,)."""
    beyond = np.maximum(scores - _POOR_ABOVE, 0.0)
    return np.asarray(USUAL_ERROR * np.exp(0.3 * scores + _POOR_SLOPE * beyond))


def log_amounts(weights: Matrix, points: EqualPoints) -> Matrix:
    """Return log D, shape (draws, points), at which both sides are equally bad under weights (draws, m)."""
    rest = np.log(np.maximum(weights @ points.rest.T, _TINY))
    return np.asarray(rest - np.log(np.maximum(weights[:, points.cell], _TINY)))


def point_lapse(points: EqualPoints) -> Matrix:
    """Return the probability of each equal point, shape (n,), if the count was moved without looking."""
    return np.asarray(np.clip((points.high - points.low) / _POINT_RANGE, 1e-4, 0.15))


def _units(prior: WeightPrior, gains: Matrix, rhos: Matrix, rng: np.random.Generator) -> Matrix:
    """Return U(rho): the median latent preference, at s = 1, over random pairs and weights from the prior."""
    weights = relative_weights(prior.log_weights(rng.standard_normal((300, prior.size))))
    return _cached_units(weights.tobytes(), gains.tobytes(), gains.shape[1], tuple(rhos))


@lru_cache(maxsize=16)  # the same in every session about a study; without it, beginning one takes ten times as long
def _cached_units(weights_bytes: bytes, gains_bytes: bytes, m: int, rhos: tuple[float, ...]) -> Matrix:
    weights, gains = (np.frombuffer(each).reshape(-1, m) for each in (weights_bytes, gains_bytes))
    plain = ResponseModel(gains.T @ gains / len(gains), np.ones(len(_RHO_GRID)))
    person = plain.person(np.zeros((len(weights), N_PARAMETERS)))._replace(sensitivity=np.ones(len(weights)))
    units = []
    for rho in rhos:
        latent = plain.latent(weights, person._replace(rho=np.full(len(weights), rho)), gains[:300])
        units.append(np.median(np.abs(latent)))
    found = np.array(units)
    found.setflags(write=False)
    return found
