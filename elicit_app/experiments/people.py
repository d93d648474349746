"""Simulated people: how their values differ from linear ones, and how they err, alone or as voters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from elicit_app.elicitation.linearity import miss_rates
from elicit_app.elicitation.oracles import (
    BoundedNoiseOracle,
    FlipOracle,
    LogitOracle,
    Matching,
    Oracle,
    PopulationOracle,
    Utility,
    UtilityOracle,
    WobblingOracle,
)
from elicit_app.elicitation.questions import Matrix
from elicit_app.experiments.measures import JudgedPairs
from elicit_app.experiments.truths import Metric, Values
from elicit_app.problem import WrongOption
from metrics.elicited.family import family_of, is_fraction
from metrics.measures.confusion import f1_scores

PersonKind = Literal["linear", "concave", "quadratic", "minimax", "threshold", "f1", "gmean", "hmean", "qmean"]
MONOTONE: tuple[PersonKind, ...] = ("gmean", "hmean", "qmean")
"""Monotone functions of each class's recall, weighted by the class weights: `psi`."""
_SAME_RATE, _TINY = 1e-12, 1e-300
_PERSON_FORMS = "linear, concave:P, quadratic:P, minimax, threshold:T or f1"
_WITH_NUMBER: tuple[PersonKind, ...] = ("concave", "quadratic", "threshold")
NoiseKind = Literal["none", "flip", "logit", "bounded", "weights"]
_RANGES = {"flip": (0.0, 1.0), "logit": (0.5, 1.0), "bounded": (0.0, np.inf), "weights": (0.0, np.inf)}
_NOISE_FORMS = "none, weights:S, flip:P, logit:ACCURACY or bounded:E"


@dataclass(frozen=True)
class Person:
    """How a simulated expert values a result."""

    # linear; concave: mistakes of a kind are felt as a power of their count; quadratic: each mistake of a kind weighs
    # more the more of them there are, 1 + P times as much if all cases of a class are wrong that way; minimax: only the
    # class of lowest recall counts; threshold: linear while the gravest class is wrong at most this often, else
    # unacceptable; f1: the mean F-measure over classes; gmean, hmean: the geometric and the harmonic mean of the
    # classes' recalls; qmean: 1 - the root mean square of the classes' error rates
    kind: PersonKind = "linear"
    amount: float = 1.0  # the power, in (0, 1]; P, in (0, 1); the rate, in (0, 1)

    def __str__(self) -> str:
        """Return the text that denotes it."""
        return f"{self.kind}:{self.amount:g}" if self.kind in _WITH_NUMBER else self.kind

    @classmethod
    def parse(cls, text: str) -> Person:
        """Return the person that a text such as "concave:0.6" denotes. Raises WrongOption if the text denotes none."""
        kind, _, amount = text.partition(":")
        if kind in ("linear", "minimax", "f1") and not amount:
            return cls(cast(PersonKind, kind))
        if kind not in _WITH_NUMBER:
            raise WrongOption(f"`person` {text}: {_PERSON_FORMS} was expected.")
        number = _number(amount, f"`person` {text}: a number was expected after {kind}:.")
        if not 0 < number < 1:
            raise WrongOption(f"`person` {text}: the number must lie strictly between 0 and 1.")
        return cls(kind, number)

    @classmethod
    def of_psi(cls, name: str) -> Person:
        """Return the person who values results by a named monotone function of the hits.

        Raises WrongOption if there is no such function.
        """
        if name not in MONOTONE:
            raise WrongOption(f"`psi` {name}: {', '.join(MONOTONE[:-1])} or {MONOTONE[-1]} was expected.")
        return cls(name)

    def values(self, metric: Metric, population: int) -> Values:
        """Return this person's values, given linear weights; a minimax or f1 person only wobbles by them.

        Counts out of `population` are felt, not rates. Raises WrongOption if the metric is linear-fractional and the
        person is not linear.
        """
        if self.kind == "linear":
            return metric
        if is_fraction(metric.family):
            raise WrongOption(f"`person` {self.kind} goes with the families dlpm and lpm, not with {metric.family}.")
        if self.kind in MONOTONE and metric.family != "dlpm":
            raise WrongOption(f"`psi` {self.kind} is a function of the hits: it requires the family dlpm.")
        return NonLinear(self, metric, population, np.ones(len(metric.numerator)))


LINEAR = Person()


@dataclass(frozen=True, eq=False)
class NonLinear:
    """The values of a person who is not linear."""

    person: Person  # the form of the values
    metric: Metric  # linear weights; not used by minimax and f1
    population: int  # number of cases of a result
    importance: Matrix  # shape (k,): weight of each class for minimax and f1

    @property
    def utility(self) -> Utility:
        """Return the utility of one matrix, for an oracle."""
        return lambda matrix: float(self(matrix))

    def wobbled(self, spread: float, rng: np.random.Generator) -> NonLinear:
        """Return values whose log-ratios, of weights or of the importance of classes, are perturbed by `spread`."""
        if self.person.kind in ("minimax", "f1"):
            off = np.exp(spread / np.sqrt(2) * rng.standard_normal(len(self.importance)))
            return replace(self, importance=self.importance * off)
        return replace(self, metric=self.metric.wobbled(spread, rng))

    def __call__(self, matrices: Matrix) -> Matrix:
        """Return the utilities, shape (...), of matrices of rates, shape (..., k, k); greater is better."""
        matrices, amount = np.asarray(matrices, dtype=np.float64), self.person.amount
        costs, wrong = family_of(self.metric.family).costs(self.metric.weights), miss_rates(matrices)
        match self.person.kind:
            case "concave":
                felt = costs * (np.maximum(matrices, 0.0) * self.population) ** amount
            case "quadratic":
                shares = np.maximum(matrices, 0.0) / np.maximum(matrices.sum(axis=-1, keepdims=True), _TINY)
                felt = costs * matrices * (1.0 + amount * shares / 2)
            case "minimax":
                return np.asarray((-self.importance * wrong).min(axis=-1))
            case "threshold":
                missed = wrong[..., int(np.argmax(costs.max(axis=1)))]
                linear = -(costs * matrices).sum(axis=(-2, -1))
                # Costs are at most 1 and rates sum to 1, so every acceptable result is above -1.
                return np.where(missed <= amount + _SAME_RATE, linear, -1.0 - missed)
            case "f1":
                return np.asarray(np.average(f1_scores(matrices), axis=-1, weights=self.importance))
            case _:
                return self._mean(1.0 - wrong)
        return np.asarray(-felt.sum(axis=(-2, -1)))

    def _mean(self, right: Matrix) -> Matrix:
        """Return a weighted mean of the recalls of the classes that count, shape (...); 0 if one of these is 0."""
        counts = self.metric.weights > 0
        right, weights = right[..., counts], self.metric.weights[counts]
        if self.person.kind == "qmean":
            return np.asarray(1.0 - np.sqrt(((1.0 - right) ** 2) @ weights))
        with np.errstate(divide="ignore"):
            if self.person.kind == "gmean":
                return np.exp(np.log(np.maximum(right, 0.0)) @ weights)
            return np.asarray(1.0 / ((1.0 / np.maximum(right, 0.0)) @ weights))


@dataclass(frozen=True)
class Noise:
    """How a simulated expert errs."""

    # none; weights: log-ratios of the person's weights wobble at every answer; flip: inverts each answer independently;
    # logit: logistic noise, calibrated per run to a mean probability of answering random pairs correctly; bounded: a
    # coin toss if utilities differ by little
    kind: NoiseKind = "none"
    amount: float = 0.0  # standard deviation >= 0; probability in [0, 1]; accuracy in (0.5, 1); bound >= 0

    def __str__(self) -> str:
        """Return the text that denotes it."""
        return self.kind if self.kind == "none" else f"{self.kind}:{self.amount:g}"

    @classmethod
    def parse(cls, text: str, option: str = "noise") -> Noise:
        """Return the noise that a text such as "flip:0.1", the value of `option`, denotes.

        Raises WrongOption if the text denotes none.
        """
        kind, _, amount = text.partition(":")
        if text == "none":
            return cls()
        if kind not in _RANGES:
            raise WrongOption(f"`{option}` {text}: {_NOISE_FORMS} was expected.")
        number = _number(amount, f"`{option}` {text}: a number was expected after {kind}:, as in {_NOISE_FORMS}.")
        low, high = _RANGES[kind]
        inside = low < number < high if kind == "logit" else low <= number <= high
        if not inside or not np.isfinite(number):
            raise WrongOption(
                f"`{option}` {text}: the number must lie {'strictly ' if kind == 'logit' else ''}"
                + (f"between {low:g} and {high:g}." if np.isfinite(high) else "at 0 or above.")
            )
        return cls(cast(NoiseKind, kind), number)

    def oracle(
        self,
        values: Values,
        pairs: JudgedPairs | None,
        rng: np.random.Generator,
        *,
        matching: Matching | None = None,
        strength: bool = False,
    ) -> Oracle:
        """Return an expert with given values, who finds equal points by `matching`.

        Logistic noise is calibrated on `pairs`. With `strength`, answers say "clearly" if more than the pairs' typical
        difference is felt, else "slightly". `pairs` may be None if neither is used.
        """
        clear = pairs.typical_difference if strength and pairs is not None else None
        utility = values.utility
        if self.kind == "weights":
            return WobblingOracle(utility, lambda: values.wobbled(self.amount, rng).utility, clear, matching, rng)
        if self.kind == "logit":
            assert pairs is not None
            return LogitOracle(utility, pairs.sensitivity(self.amount), rng, clear, matching)
        if self.kind == "bounded":
            return BoundedNoiseOracle(utility, self.amount, rng, clear, matching)
        plain = UtilityOracle(utility, clear, matching, rng)
        return FlipOracle(plain, self.amount, rng) if self.kind == "flip" else plain


@dataclass(frozen=True)
class Voters:
    """Several experts who answer every question together, by the majority or, for counts, the median."""

    number: int  # at least 1
    # how each of them errs, independently; weights: how far each one's lasting values are from the true ones
    noise: Noise

    def __str__(self) -> str:
        """Return the text that denotes them."""
        return f"{self.number}:{self.noise}"

    @classmethod
    def parse(cls, text: str) -> Voters:
        """Return the voters that a text such as "5:weights:0.6" denotes.

        Raises WrongOption if the text denotes none.
        """
        number, _, noise = text.partition(":")
        if not number.isdecimal() or int(number) < 1 or not noise:
            raise WrongOption(f"`voters` {text}: N:NOISE was expected, as in 5:weights:0.6.")
        return cls(int(number), Noise.parse(noise, "voters"))

    def oracle(self, values: Values, pairs: JudgedPairs | None, rng: np.random.Generator, **how: Any) -> Oracle:
        """Return the voters as one oracle; parameters as in `Noise.oracle`."""
        rngs = rng.spawn(self.number)
        if self.noise.kind != "weights":
            return PopulationOracle([self.noise.oracle(values, pairs, one, **how) for one in rngs])
        lasting = [values.wobbled(self.noise.amount, one) for one in rngs]
        return PopulationOracle(
            [NO_NOISE.oracle(own, pairs, one, **how) for own, one in zip(lasting, rngs, strict=True)]
        )


NO_NOISE = Noise()


def _number(text: str, refused: str) -> float:
    """Return the number of an option, or refuse it with a sentence."""
    try:
        return float(text)
    except ValueError:
        raise WrongOption(refused) from None
