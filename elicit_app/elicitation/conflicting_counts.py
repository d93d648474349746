"""Counts that plainly contradict each other about the same two mistakes, whatever fits all answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from elicit_app.elicitation.procedure import Procedure
from elicit_app.elicitation.questions import Asked, Choice
from elicit_app.elicitation.response import USUAL_ERROR

_HARDLY = 0.01  # probability below which people with usual errors would not differ so much


class ConflictingCounts(NamedTuple):
    """The two most distant counts about the same two mistakes, which differ more than most people's do.

    Parameters
    ----------
    higher_answer, lower_answer : int
        Indices of the answers: mistake `grave` weighs more by the first than by the second.
    grave, mild : int
        The two mistakes, as indices of weights; together the two answers make the first one graver.
    most, least : float
        Weight of `grave` in units of `mild` by the first answer, and by the second, least < most.
    """

    higher_answer: int
    lower_answer: int
    grave: int
    mild: int
    most: float
    least: float

    @property
    def factor(self) -> float:
        """Return the factor by which the two answers differ."""
        return self.most / self.least


def conflicting_counts(
    procedure: Procedure, history: Sequence[Asked], left_out: Sequence[int] = ()
) -> ConflictingCounts | None:
    """Find two mistakes about which the named counts differ more than those of most people do.

    A fit can make any counts plausible by assuming a very imprecise person. Here the counts are compared with each
    other: n log-rates are reported if they spread as people with usual errors do in one case of a hundred or less
    (chi-squared with n - 1 degrees of freedom, times the number of such pairs of mistakes). Choices are ignored,
    because honest people whose noise is constant in utility answer small trades almost at random.

    Parameters
    ----------
    procedure : Procedure
        The procedure that asked; without a belief the result is None.
    history : sequence of Asked
        All answers.
    left_out : sequence of int
        Indices of answers to ignore.
    """
    belief = procedure.belief(history)
    if belief is None:
        return None
    named: dict[tuple[int, int], list[tuple[float, int]]] = {}  # log-rates of two mistakes, with the answer of each
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
    (least, lower_answer), (most, higher_answer) = min(named[pair]), max(named[pair])
    if most + least < 0:
        return ConflictingCounts(lower_answer, higher_answer, *pair[::-1], float(np.exp(-least)), float(np.exp(-most)))
    return ConflictingCounts(higher_answer, lower_answer, *pair, float(np.exp(most)), float(np.exp(least)))


def _chance(logs: Sequence[float]) -> float:
    """Return the probability that counts with usual errors spread at least as much as these."""
    return float(chdtrc(len(logs) - 1, len(logs) * np.var(logs) / USUAL_ERROR**2)) if len(logs) > 1 else 1.0
