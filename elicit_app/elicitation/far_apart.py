"""Two answers that plainly disagree: what they say about the same two mistakes, whatever is fitted to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.questions import Asked, Choice, Procedure

TWICE = 2.0  # "about equal", without a count to move, is said of sides of which neither weighs more than so many times


class FarApart(NamedTuple):
    """Two answers about the same two mistakes that no exchange rate of theirs explains.

    Parameters
    ----------
    more, fewer : int
        Indices of the answers: by the first of them mistake `grave` weighs more than by the other.
    grave, mild : int
        The two mistakes, as indices of weights; taken together the two answers find the first graver.
    most, least : float
        What one `grave` mistake counts as in `mild` ones: at least `most` by the first answer, at most `least` by the
        other, least < most.
    """

    more: int
    fewer: int
    grave: int
    mild: int
    most: float
    least: float

    @property
    def factor(self) -> float:
        """Return by how much, at least, the two answers differ."""
        return self.most / self.least


def farthest_apart(procedure: Procedure, history: Sequence[Asked], left_out: Sequence[int] = ()) -> FarApart | None:
    """Find the two answers that differ most about how two mistakes weigh against each other.

    An answer to a trade of one mistake for another bounds their exchange rate, on both sides where it names the equal
    point. A fit can call all such answers plausible by thinking little of the person: what they say does not depend
    on any fit.

    Parameters
    ----------
    procedure : Procedure
        What asked; None is found without a belief.
    history : sequence of Asked
        All answers.
    left_out : sequence of int
        Indices of answers that do not count.
    """
    belief = procedure.belief(history)
    if belief is None:
        return None
    lows: dict[tuple[int, int], tuple[float, int]] = {}  # of the logarithm of the rate of two mistakes, and by whom
    highs: dict[tuple[int, int], tuple[float, int]] = {}
    for n, asked in enumerate(history):
        gain = belief.prior.gain(*asked.shown.rates)
        traded = np.flatnonzero(np.abs(gain) > 0)
        if n in left_out or asked.answer.choice is Choice.UNSURE or len(traded) != 2 or gain[traded].prod() > 0:
            continue
        grave, mild = map(int, traded)
        low, high = _rate_bounds(asked, float(gain[grave]), float(gain[mild]))
        lows[grave, mild] = max(lows.get((grave, mild), (low, n)), (low, n))
        highs[grave, mild] = min(highs.get((grave, mild), (high, n)), (high, n))
    gaps = {pair: lows[pair][0] - highs[pair][0] for pair in lows}
    pair = max(gaps, key=lambda one: gaps[one], default=None)
    if pair is None or gaps[pair] <= 0:
        return None
    (most, more), (least, fewer) = lows[pair], highs[pair]
    if most + least < 0:
        return FarApart(fewer, more, *pair[::-1], float(np.exp(-least)), float(np.exp(-most)))
    return FarApart(more, fewer, *pair, float(np.exp(most)), float(np.exp(least)))


def _rate_bounds(asked: Asked, grave: float, mild: float) -> tuple[float, float]:
    """Return between which logarithms an answer puts the rate of two mistakes, of which the first side gains these."""
    rate = float(np.log(abs(mild) / abs(grave)))
    if asked.answer.choice is Choice.EQUAL:
        # Without a count to move, "about equal" is not said to be exact.
        slack = 0.0 if asked.answer.moved is not None else np.log(TWICE)
        return rate - slack, rate + slack
    return (rate, np.inf) if (asked.answer.choice is Choice.FIRST) == (grave > 0) else (-np.inf, rate)
