"""When to stop by oneself: the ratios are known, or the best model is decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.linearity import Linearity
from elicit_app.elicitation.questions import Matrix
from metrics.elicited.metric_parts import Use

KNOWN_FACTOR = 2.0
BEST_PROBABILITY = 0.95
FEWEST_ANSWERS = 8

_BITS_PER_ANSWER = 0.7


def ratio_factors(belief: Posterior) -> Matrix:
    """Return by which factor each weight, shape (m,), may be off, relative to the largest one.

    The factor spans half of the 90 % range: 2 says "between half and twice as much".
    """
    low, high = np.quantile(belief.log_ratios, [0.05, 0.95], axis=0)
    return np.asarray(np.exp((high - low) / 2))


def probability_best(belief: Posterior, models: Matrix) -> Matrix:
    """Return for each model, matrices (n, k, k), the probability that the expert would rather have it than any other.

    Models with the same matrix share the probability.
    """
    utility = belief.weights @ belief.prior.gain(models, np.zeros_like(models[0])).T
    best = utility >= utility.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def enough(
    belief: Posterior,
    models: Matrix,
    answers: int,
    linearity: Callable[[], Linearity | None] = lambda: None,
    purpose: Use | None = None,
) -> Literal["known", "best-model"] | None:
    """Tell why the answers are enough, or None.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    models : ndarray of shape (n, k, k)
        The matrices of the models as they are (most probable class).
    answers : int
        Informative answers so far, "cannot say" left out.
    linearity : callable
        Gives what rivals of linear costs say, or None where that is not judged. Asked only where linear costs alone
        would decide on a model: it takes half a second.
    purpose : {"choose", "costs", "both"} or None
        What the answers are for. Where the costs are to be written down, the choice of a model is no reason to stop;
        for both, the costs alone are none while the choice between several models is open.
    """
    if answers < FEWEST_ANSWERS:
        return None
    known = bool(ratio_factors(belief).max() <= KNOWN_FACTOR)
    if known and (purpose != "both" or len(models) < 2):
        return "known"
    if len(models) < 2 or purpose == "costs" or (purpose == "both" and not known):
        return None
    best = probability_best(belief, models)
    if best.max() >= BEST_PROBABILITY and (judged := linearity()) is not None:
        best = judged.probability_best(best)
    if best.max() < BEST_PROBABILITY:
        return None
    return "known" if known else "best-model"


def still_needed(belief: Posterior, answers: int, most: int, purpose: Use | None = None) -> tuple[int, int]:
    """Estimate the fewest and the most informative answers until all ratios are known.

    A choice may be settled long before, or at the next answer.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    answers : int
        Informative answers so far.
    most : int
        No more than these are asked for.
    purpose : {"choose", "costs", "both"} or None
        What the answers are for.
    """
    excess = np.log2(np.maximum(np.log(ratio_factors(belief)) / np.log(KNOWN_FACTOR), 1.0))
    likely = float(excess.sum()) / _BITS_PER_ANSWER
    sooner = 0 if purpose == "choose" else int(0.7 * likely)
    fewest = min(most, max(1, FEWEST_ANSWERS - answers, sooner))
    return fewest, min(most, max(fewest, int(np.ceil(1.4 * likely)) + 1))
