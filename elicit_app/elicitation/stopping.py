"""When to stop by oneself: the ratios are known, or the best model is decided."""

from __future__ import annotations

from typing import Literal

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.questions import Matrix

KNOWN_FACTOR = 2.0
BEST_PROBABILITY = 0.95
FEWEST_ANSWERS = 8

_BITS_PER_ANSWER = 0.7


def ratio_factors(belief: Posterior) -> Matrix:
    """Return by which factor each weight, shape (m,), may be off, relative to the largest one.

    The factor spans half of the 90 % range: 2 says "between half and twice as much".
    """
    logs = np.log(belief.weights)
    yardstick = int(np.argmax(np.abs(belief.estimate)))
    low, high = np.quantile(logs - logs[:, [yardstick]], [0.05, 0.95], axis=0)
    return np.asarray(np.exp((high - low) / 2))


def probability_best(belief: Posterior, models: Matrix) -> Matrix:
    """Return for each model, matrices (n, k, k), the probability that the expert would rather have it than any other.

    Models with the same matrix share the probability.
    """
    utility = belief.weights @ belief.prior.gain(models, np.zeros_like(models[0])).T
    best = utility >= utility.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def enough(belief: Posterior, models: Matrix, answers: int) -> Literal["known", "best-model"] | None:
    """Tell why the answers are enough, or None.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    models : ndarray of shape (n, k, k)
        The matrices of the models as they are (most probable class).
    answers : int
        Informative answers so far, "cannot say" left out.
    """
    if answers < FEWEST_ANSWERS:
        return None
    if ratio_factors(belief).max() <= KNOWN_FACTOR:
        return "known"
    if len(models) > 1 and probability_best(belief, models).max() >= BEST_PROBABILITY:
        return "best-model"
    return None


def still_needed(belief: Posterior, answers: int, most: int) -> tuple[int, int]:
    """Estimate the fewest and the most informative answers until all ratios are known.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    answers : int
        Informative answers so far.
    most : int
        No more than these are asked for.
    """
    excess = np.log2(np.maximum(np.log(ratio_factors(belief)) / np.log(KNOWN_FACTOR), 1.0))
    likely = float(excess.sum()) / _BITS_PER_ANSWER
    fewest = min(most, max(1, FEWEST_ANSWERS - answers, int(0.7 * likely)))
    return fewest, min(most, max(fewest, int(np.ceil(1.4 * likely)) + 1))
