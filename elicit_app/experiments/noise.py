"""How simulated experts err: what ``noise``, ``equal``, ``rounding``, ``shrink`` and `--voters` say, as an oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from elicit_app.elicitation.oracles import (
    BoundedNoiseOracle,
    FlipOracle,
    LogitOracle,
    Matching,
    Oracle,
    PopulationOracle,
    UtilityOracle,
    WobblingOracle,
)
from elicit_app.elicitation.questions import Matrix
from elicit_app.experiments.measures import JudgedPairs
from elicit_app.experiments.truths import Values
from elicit_app.problem import WrongOption

Kind = Literal["none", "flip", "logit", "bounded", "weights"]
_RANGES = {"flip": (0.0, 1.0), "logit": (0.5, 1.0), "bounded": (0.0, np.inf), "weights": (0.0, np.inf)}
NOISE_FORMS = "none, weights:S, flip:P, logit:ACCURACY or bounded:E"


@dataclass(frozen=True)
class Noise:
    """How an expert errs.

    Parameters
    ----------
    kind : str
        none; weights: log-ratios of the person's weights wobble at every answer; flip: inverts each answer
        independently; logit: logistic noise, calibrated per run so that random pairs are answered rightly with a mean
        probability; bounded: a coin where utilities differ by little.
    amount : float
        Standard deviation >= 0; probability in [0, 1]; accuracy in (0.5, 1); bound >= 0.
    """

    kind: Kind = "none"
    amount: float = 0.0

    def __str__(self) -> str:
        """Return the text that stands for it."""
        return self.kind if self.kind == "none" else f"{self.kind}:{self.amount:g}"

    @classmethod
    def parse(cls, text: str) -> Noise:
        """Return the noise that a text such as "flip:0.1" stands for.

        Raises
        ------
        WrongOption
            Another text.
        """
        kind, _, amount = text.partition(":")
        if text == "none":
            return cls()
        if kind not in _RANGES:
            raise WrongOption(f"`noise` {text}: {NOISE_FORMS} was expected.")
        try:
            number = float(amount)
        except ValueError:
            raise WrongOption(f"`noise` {text}: a number was expected after {kind}:, as in {NOISE_FORMS}.") from None
        low, high = _RANGES[kind]
        inside = low < number < high if kind == "logit" else low <= number <= high
        if not inside or not np.isfinite(number):
            raise WrongOption(
                f"`noise` {text}: the number must lie {'strictly ' if kind == 'logit' else ''}"
                + (f"between {low:g} and {high:g}." if np.isfinite(high) else "at 0 or above.")
            )
        return cls(cast(Kind, kind), number)

    def oracle(
        self,
        values: Values,
        pairs: JudgedPairs | None,
        rng: np.random.Generator,
        *,
        matching: Matching | None = None,
        strength: bool = False,
    ) -> Oracle:
        """Return the expert.

        Parameters
        ----------
        values : Values
            What the expert values.
        pairs : JudgedPairs
            What logistic noise is calibrated on. "Clearly" means: more than their typical difference is felt. None
            where neither is used.
        rng : numpy.random.Generator
            Chance.
        matching : Matching, optional
            How equal points are found.
        strength : bool
            Answers say slightly or clearly.
        """
        clear = pairs.typical_difference if strength and pairs is not None else None
        utility = values.utility
        if self.kind == "weights":

            def wobbled() -> Callable[[Matrix], float]:
                return values.wobbled(self.amount, rng).utility

            return WobblingOracle(utility, wobbled, clear, matching, rng)
        if self.kind == "logit":
            assert pairs is not None
            return LogitOracle(utility, pairs.sensitivity(self.amount), rng, clear, matching)
        if self.kind == "bounded":
            return BoundedNoiseOracle(utility, self.amount, rng, clear, matching)
        plain = UtilityOracle(utility, clear, matching, rng)
        return FlipOracle(plain, self.amount, rng) if self.kind == "flip" else plain


@dataclass(frozen=True)
class Voters:
    """Several experts who answer every question together: the majority counts, of counts the middle one.

    Parameters
    ----------
    number : int
        How many, at least 1.
    noise : Noise
        How each of them errs, independently; weights: how far the lasting values of each lie from the true ones.
    """

    number: int
    noise: Noise

    def __str__(self) -> str:
        """Return the text that stands for them."""
        return f"{self.number}:{self.noise}"

    @classmethod
    def parse(cls, text: str) -> Voters:
        """Return what a text such as "5:weights:0.6" stands for.

        Raises
        ------
        WrongOption
            Another text.
        """
        number, _, noise = text.partition(":")
        if not number.isdecimal() or int(number) < 1 or not noise:
            raise WrongOption(f"`voters` {text}: N:NOISE was expected, as in 5:weights:0.6.")
        return cls(int(number), Noise.parse(noise))

    def oracle(
        self,
        values: Values,
        pairs: JudgedPairs | None,
        rng: np.random.Generator,
        *,
        matching: Matching | None = None,
        strength: bool = False,
    ) -> Oracle:
        """Return the voters as one oracle; parameters as in `Noise.oracle`."""
        lasting = self.noise.kind == "weights"
        noise = NO_NOISE if lasting else self.noise
        return PopulationOracle(
            [
                noise.oracle(
                    values.wobbled(self.noise.amount, one) if lasting else values,
                    pairs,
                    one,
                    matching=matching,
                    strength=strength,
                )
                for one in rng.spawn(self.number)
            ]
        )


NO_NOISE = Noise()
