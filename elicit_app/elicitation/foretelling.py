"""How well each answer was foretold by those before it, set against who clicks without looking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.questions import PREFERENCES, Asked, Choice, Matrix
from elicit_app.elicitation.response import end_of_scale, evidence, rounding_cell

_NO_COUNT = 0.25  # probability, by chance, of saying that no count of the scale makes both sides equal


class Foretold(NamedTuple):
    """What was expected of each answer.

    Parameters
    ----------
    log_probability : ndarray of shape (n,)
        Natural logarithm of the probability that the belief before each answer gave it; 0 where nothing was said. The
        sum is the log-evidence of that belief's model (the statistic of a prequential test, Dawid 1984).
    over_chance : ndarray of shape (n,)
        By how much that is above the logarithm of its probability by chance: either side, any place of a count's scale,
        small and large ones alike. Ties come as often by chance as the belief expects, and score 0.
    """

    log_probability: Matrix
    over_chance: Matrix


def foretold(history: Sequence[Asked], before: Callable[[int], Posterior]) -> Foretold:
    """Set every answer against what was believed before it.

    Parameters
    ----------
    history : sequence of Asked
        All answers.
    before : callable
        From n to the belief after the first n answers.
    """
    found = np.zeros((2, len(history)))
    for n, asked in enumerate(history):
        if asked.answer.choice is not Choice.UNSURE:
            found[:, n] = _of_one(asked, before(n))
    return Foretold(*found)


def _of_one(asked: Asked, belief: Posterior) -> tuple[float, float]:
    question, answer = asked
    said = evidence([asked], belief.prior)
    if not said.n_answers:
        return 0.0, 0.0
    likely = belief.response.log_likelihood(belief.weights, belief.person, said)
    log_probability = float(np.log(np.exp(likely).mean()))
    if len(said.points.cell):
        return log_probability, log_probability - float(np.log(blind_chance(asked)))
    if answer.choice not in PREFERENCES:
        return log_probability, 0.0
    if answer.moved is not None:
        return log_probability, log_probability - float(np.log(_NO_COUNT))
    first, second, _ = belief.chances(belief.prior.gain(*question.rates)[None])[:, :, 0].mean(axis=1)
    chosen = first if answer.choice is Choice.FIRST else second
    return log_probability, float(np.log(2 * chosen / (first + second)))


def blind_chance(asked: Asked) -> float:
    """Return the probability of the count that was named, where any place on the log scale is as likely."""
    question, moved = asked.question, asked.answer.moved
    assert moved is not None
    start = 1 if question.proposal is None else max(question.proposal.least, 1)
    least, top = start - 0.5, end_of_scale(question, moved) + 0.5
    # Below the scale nothing can be named: a 0 counts as the first place.
    low, high = rounding_cell(max(moved.count, 1), int(top))
    low, high = max(low, least), max(min(high, top), least + 0.5)
    return float(np.log(high / low) / np.log(top / least))
