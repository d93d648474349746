"""What would be believed without some of the answers: refits that start from the belief after all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.questions import PREFERENCES, Asked, Choice, Matrix, Purpose
from elicit_app.elicitation.response import evidence

_FOLDS = 5
_FEWEST = 8  # preferences to hold some out


class HeldOut(NamedTuple):
    """How many of `total` preferences, each kept aside once, are predicted by each rule; a tie predicts nothing.

    Parameters
    ----------
    learned : int
        By the metric that was fitted without them.
    accuracy, f1 : int
        By the greater accuracy, and by the greater macro F1 score.
    total : int
        Preferences kept aside.
    """

    learned: int
    accuracy: int
    f1: int
    total: int


def refitted(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> Posterior:
    """Return the posterior after `history` alone, by moving draws of another posterior that is not far from it.

    Parameters
    ----------
    belief : Posterior
        After `history` and some more answers.
    history : sequence of Asked
        The answers that count.
    rng : numpy.random.Generator
        Source of chance.
    """
    return belief.refitted(evidence(history, belief.prior), rng)


def held_out(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> HeldOut | None:
    """Predict preferences by what is learned without them; None where there are too few.

    An answer is kept aside together with whatever else was answered about the same pair.

    Parameters
    ----------
    belief : Posterior
        After all of `history`.
    history : sequence of Asked
        The answers.
    rng : numpy.random.Generator
        Source of chance.
    """
    subjects = [
        n if asked.question.repeat_of is None else asked.question.repeat_of - 1 for n, asked in enumerate(history)
    ]
    aside = [
        n
        for n, (question, answer) in enumerate(history)
        if question.purpose is Purpose.INFORMATIVE and answer.choice in PREFERENCES
    ]
    if len(aside) < _FEWEST:
        return None
    right = np.zeros(3, dtype=int)
    # Every fifth: each fold holds early and late questions.
    for fold in (aside[start::_FOLDS] for start in range(_FOLDS)):
        out = {subjects[n] for n in fold}
        kept = [asked for subject, asked in zip(subjects, history, strict=True) if subject not in out]
        weights = np.abs(refitted(belief, kept, rng).estimate)
        for n in fold:
            question, sign = history[n].question, 1 if history[n].answer.choice is Choice.FIRST else -1
            learned = float(belief.prior.gain(*question.rates) @ weights)
            first, second = question.rates
            accuracy = float(np.trace(first) - np.trace(second))
            right += np.array([learned, accuracy, macro_f1(first) - macro_f1(second)]) * sign > 1e-12
    return HeldOut(int(right[0]), int(right[1]), int(right[2]), len(aside))


def macro_f1(rates: Matrix) -> float:
    """Return the mean over the classes of 2 C_ii / (row sum + column sum), C (k, k); 0 for a class without cases."""
    sums = rates.sum(axis=0) + rates.sum(axis=1)
    return float(np.divide(2 * np.diagonal(rates), sums, out=np.zeros(len(rates)), where=sums > 0).mean())
