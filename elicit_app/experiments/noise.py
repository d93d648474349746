"""Noisy experts for simulations: what a `--noise` says, and the oracle it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from elicit_app.elicitation.oracles import (
    BoundedNoiseOracle,
    FlipOracle,
    LogitOracle,
    MajorityOracle,
    Oracle,
    UtilityOracle,
)
from elicit_app.experiments.measures import JudgedPairs
from elicit_app.experiments.truths import Metric
from elicit_app.problem import WrongOption

Kind = Literal["none", "flip", "logit", "bounded"]
_RANGES = {"flip": (0.0, 1.0), "logit": (0.5, 1.0), "bounded": (0.0, np.inf)}
_FORMS = "none, flip:P, logit:ACCURACY or bounded:E"


@dataclass(frozen=True)
class Noise:
    """How an expert errs.

    Parameters
    ----------
    kind : str
        none; flip: inverts each answer independently; logit: logistic noise, calibrated per run so that random pairs
        are answered rightly with a mean probability; bounded: a coin where utilities differ by little.
    amount : float
        Probability in [0, 1]; accuracy in (0.5, 1); bound >= 0.
    """

    kind: Kind = "none"
    amount: float = 0.0

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
            raise WrongOption(f"`noise` {text}: {_FORMS} was expected.")
        try:
            number = float(amount)
        except ValueError:
            raise WrongOption(f"`noise` {text}: a number was expected after {kind}:, as in {_FORMS}.") from None
        low, high = _RANGES[kind]
        inside = low < number < high if kind == "logit" else low <= number <= high
        if not inside or not np.isfinite(number):
            raise WrongOption(
                f"`noise` {text}: the number must lie {'strictly ' if kind == 'logit' else ''}"
                + (f"between {low:g} and {high:g}." if np.isfinite(high) else "at 0 or above.")
            )
        return cls(cast(Kind, kind), number)

    def oracle(
        self, truth: Metric, pairs: JudgedPairs, rng: np.random.Generator, *, votes: int = 1, strength: bool = False
    ) -> Oracle:
        """Return the expert.

        Parameters
        ----------
        truth : Metric
            What the expert values.
        pairs : JudgedPairs
            What logistic noise is calibrated on. "Clearly" means: more than their typical difference is felt.
        rng : numpy.random.Generator
            Chance.
        votes : int
            Each question is asked this often, and the majority counts.
        strength : bool
            Answers say slightly or clearly.
        """
        clear = pairs.typical_difference if strength else None
        utility = truth.utility
        oracle: Oracle = UtilityOracle(utility, clear)
        if self.kind == "flip":
            oracle = FlipOracle(oracle, self.amount, rng)
        elif self.kind == "logit":
            oracle = LogitOracle(utility, pairs.sensitivity(self.amount), rng, clear)
        elif self.kind == "bounded":
            oracle = BoundedNoiseOracle(utility, self.amount, rng, clear)
        return oracle if votes == 1 else MajorityOracle(oracle, votes)


NO_NOISE = Noise()
