"""Counts that plainly disagree: what they say about the same two mistakes, whatever is fitted to all answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from elicit_app.elicitation.procedure import Procedure
from elicit_app.elicitation.questions import Asked, Choice
from elicit_app.elicitation.response import USUAL_ERROR

_HARDLY = 0.01  # probability below which people whose counts err as usual would not differ so much


class FarApart(NamedTuple):
    """The two counts farthest from each other, of counts about two mistakes that differ more than most people's do.

    Parameters
    ----------
    more, fewer : int
        Indices of the answers: by the first of them mistake `grave` weighs more than by the other.
    grave, mild : int
        The two mistakes, as indices of weights; taken together the two answers find the first graver.
    most, least : float
        What one `grave` mistake counts as in `mild` ones by the first answer, and by the other, least < most.
    """

    more: int
    fewer: int
    grave: int
    mild: int
    most: float
    least: float

    @property
    def factor(self) -> float:
        """Return by how much the two answers differ."""
        return self.most / self.least


def far_apart(procedure: Procedure, history: Sequence[Asked], left_out: Sequence[int] = ()) -> FarApart | None:
    """Find two mistakes about which the counts that were named differ more than the counts of most people do.

    A fit can call any counts plausible by thinking little of the person. These are compared with each other: their
    logarithms, of which there are n, spread as those of people who err as usual do in one case of a hundred or less
    (chi-squared with n - 1 degrees of freedom, times the number of such pairs of mistakes). Choices are left alone:
    people whose errors do not grow with what is at stake answer small trades like a coin, and are honest.

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
    named: dict[tuple[int, int], list[tuple[float, int]]] = {}  # logarithms of the rate of two mistakes, and by which
    for n, (shown, answer) in enumerate((asked.shown, asked.answer) for asked in history):
        if n in left_out or answer.choice is not Choice.EQUAL or answer.moved is None:
            continue
        gain = belief.prior.gain(*shown.rates)
        traded = np.flatnonzero(gain)
        if len(traded) == 2 and gain[traded].prod() < 0:
            grave, mild = map(int, traded)
            named.setdefault((grave, mild), []).append((float(np.log(abs(gain[mild] / gain[grave]))), n))
    chances = {pair: _chance([rate for rate, _ in rates]) for pair, rates in named.items()}
    pair = min(chances, key=lambda one: chances[one], default=None)
    if pair is None or chances[pair] * len(chances) > _HARDLY:
        return None
    (least, fewer), (most, more) = min(named[pair]), max(named[pair])
    if most + least < 0:
        return FarApart(fewer, more, *pair[::-1], float(np.exp(-least)), float(np.exp(-most)))
    return FarApart(more, fewer, *pair, float(np.exp(most)), float(np.exp(least)))


def _chance(logs: Sequence[float]) -> float:
    """Return how probable it is that counts which err as usual spread as much as these."""
    return float(chdtrc(len(logs) - 1, len(logs) * np.var(logs) / USUAL_ERROR**2)) if len(logs) > 1 else 1.0
