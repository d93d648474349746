"""The procedure for people: a belief over log-weights, and the most informative pair next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.laws import Cases
from elicit_app.elicitation.memory import Recent, beginnings
from elicit_app.elicitation.pairs import PairSet, best_pair
from elicit_app.elicitation.pool import Pool
from elicit_app.elicitation.prior import NeverWorse, Structure, WeightPrior
from elicit_app.elicitation.questions import (
    Asked,
    Choice,
    Elicitation,
    Family,
    Matrix,
    Outcome,
    Progress,
    Purpose,
    Question,
    Step,
    StopReason,
)
from elicit_app.elicitation.response import ResponseModel, evidence
from elicit_app.problem import Problem

PARTICLES = 320
SWEEPS = 8
CANDIDATES = 800
_REMEMBERED = 160  # beliefs and steps kept for undo and looking ahead
_BELIEF, _PAIR, _POOL, _SCALE = range(4)  # separate streams of chance


class Bayes:
    """Elicit a metric by Bayesian experimental design; answers may be wrong, tied or missing.

    Everything is a function of the seed and the history. Beliefs and questions are remembered by history, so that
    undo, resume and looking ahead cost one update.
    """

    name = "bayes"

    def __init__(
        self,
        cases: Sequence[Cases],
        *,
        family: Family,
        seed: int,
        population: int | None,
        questions: int = 20,
        space: Literal["frontier", "sphere"] = "frontier",
        sphere: tuple[Matrix, float] | None = None,
        max_cells: int = 6,
        stop: bool = False,
        checks: bool = False,
        strength: bool = False,
        prior: Structure = "auto",
        constraints: Sequence[NeverWorse] = (),
    ) -> None:
        if not cases:
            raise Problem("The procedure bayes needs the predictions of at least one model.")
        self.family: Family = family
        self.questions, self.strength, self._seed = questions, strength, seed
        self.prior = WeightPrior.of(family, cases[0].n_classes, prior, constraints)
        self.pool = Pool.of(cases, population, self._chance(0, _POOL))
        self.pairs = PairSet.of(self.pool, self.prior, max_cells, self._chance(1, _POOL))
        if not len(self.pairs):
            raise Problem(
                "No two decisions of these models trade one mistake for another, so there is nothing to ask. "
                "Use predictions with probabilities strictly between 0 and 1."
            )
        self._random_gains = self._achievable_gains()
        self.response = ResponseModel(scale=self._scale())
        self._beliefs: Recent[Posterior] = Recent(_REMEMBERED)
        self._steps: Recent[Step] = Recent(_REMEMBERED)

    def begin(self, history: Sequence[Asked] = ()) -> Elicitation:
        """Start, or go on after answers already given; see `Procedure.begin`."""
        so_far = list(history)
        while (reason := self._reason_to_stop(so_far)) is None:
            step = self._step(so_far)
            answer = yield step
            so_far.append(Asked(step.question, answer))
        return self.conclude(so_far, reason)

    def conclude(self, history: Sequence[Asked], reason: StopReason = "expert") -> Outcome:
        """Return what is known after `history`."""
        belief = self.belief(history)
        sensitivity = float(np.median(belief.person.sensitivity) * self.response.scale)
        return Outcome(
            family=self.family,
            weights=belief.estimate,
            bounded=(None,) * self.prior.size,
            stopped=reason,
            questions=len(history),
            intervals=belief.intervals,
            samples=belief.samples,
            details={"sensitivity": sensitivity, "lapse": float(belief.person.lapse.mean())},
        )

    def belief(self, history: Sequence[Asked]) -> Posterior:
        """Return the posterior after `history`, from the longest remembered beginning of it."""
        keys = beginnings(history)
        for known in range(len(history), -1, -1):
            belief = self._beliefs.recall(keys[known])
            if belief is not None:
                break
        else:
            belief = Posterior.before(self.prior, self.response, PARTICLES, self._chance(0, _BELIEF))
            self._beliefs.keep(keys[0], belief)
        for n in range(known, len(history)):
            if history[n].answer.choice is not Choice.UNSURE:
                belief = belief.told(evidence(history[: n + 1], self.prior), self._chance(n + 1, _BELIEF), SWEEPS)
            self._beliefs.keep(keys[n + 1], belief)
        return belief

    def _reason_to_stop(self, history: Sequence[Asked]) -> StopReason | None:
        return "budget" if len(history) >= self.questions else None

    def _step(self, history: Sequence[Asked]) -> Step:
        key = beginnings(history)[-1]
        step = self._steps.recall(key)
        if step is None:
            belief = self.belief(history)
            left = self.questions - len(history)
            progress = Progress(len(history), left, left)
            step = Step(self._question(history, belief), progress, belief.summary(self._random_gains))
            self._steps.keep(key, step)
        return step

    def _question(self, history: Sequence[Asked], belief: Posterior) -> Question:
        rng = self._chance(len(history), _PAIR)
        some = rng.choice(len(self.pairs), min(CANDIDATES, len(self.pairs)), replace=False)
        chosen = some[best_pair(belief, self.pairs.gains[some], self.pairs.cells[some], self.strength)]
        pair = self.pairs.first[chosen], self.pairs.second[chosen]
        a, b = pair if rng.integers(2) else pair[::-1]
        return Question(a, b, self.pool.population, Purpose.INFORMATIVE)

    def _achievable_gains(self, n: int = 400) -> Matrix:
        rng = self._chance(2, _POOL)
        first, second = rng.integers(len(self.pool.matrices), size=(2, n))
        gains = self.prior.gain(self.pool.matrices[first], self.pool.matrices[second])
        return np.asarray(gains[(gains != 0).any(axis=1)])

    def _scale(self) -> float:
        """Return the median utility difference of what may be asked, over prior weights: the unit of sensitivity."""
        rng = self._chance(0, _SCALE)
        weights = np.exp(self.prior.log_weights(rng.standard_normal((300, self.prior.size))))
        gains = self.pairs.gains[rng.integers(len(self.pairs), size=300)]
        return float(np.median(np.abs(weights @ gains.T)))

    def _chance(self, n: int, stream: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self._seed, n, stream])))
