"""When to stop by oneself: what the answers are for is reached. The ratios are known, or the choice is settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.linearity import Linearity
from elicit_app.elicitation.questions import AnswersFor, Matrix

KNOWN_FACTOR = 2.0
BEST_PROBABILITY = 0.95
FEWEST_ANSWERS = 8

_BITS_PER_ANSWER = 0.7
_LOG_ODDS_PER_ANSWER = 0.4


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
    utility = belief.utilities(models)
    best = utility >= utility.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def enough(
    belief: Posterior,
    models: Matrix,
    answers: int,
    linearity: Callable[[], Linearity | None] = lambda: None,
    purpose: AnswersFor | None = None,
    stays: Callable[[], float] = lambda: 1.0,
) -> Literal["known", "best-model"] | None:
    """Tell why the answers are enough, or None.

    A choice is settled, or cannot be settled by further answers of this kind, once the ratios are known; costs are
    written down only when they are known; for both, the ratios must be known and the choice be settled.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    models : ndarray of shape (n, k, k)
        The matrices of what can be chosen.
    answers : int
        Informative answers so far, "cannot say" left out.
    linearity : callable
        Gives what rivals of linear costs say, or None where that is not judged. Asked only where linear costs alone
        would decide on a model: it takes half a second.
    purpose : {"choose", "costs", "both"} or None
        What the answers are for; None stops for either reason.
    stays : callable
        Gives the probability that the choice would be the same if the values were known, and what can be chosen made
        the best of them. Asked only where the choice among `models` is settled.
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
    if best.max() < BEST_PROBABILITY or stays() < BEST_PROBABILITY:
        return None
    return "known" if purpose == "both" else "best-model"


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


def still_to_settle(best: Matrix, answers: int, most: int) -> tuple[int, int]:
    """Estimate the fewest and the most informative answers until a choice is settled.

    Parameters
    ----------
    best : ndarray of shape (n,)
        The probability of each choice to be the best, as it is now.
    answers : int
        Informative answers so far.
    most : int
        No more than these are asked for.
    """
    now = min(float(best.max()), BEST_PROBABILITY)
    likely = (_log_odds(BEST_PROBABILITY) - _log_odds(now)) / _LOG_ODDS_PER_ANSWER
    fewest = min(most, max(1, FEWEST_ANSWERS - answers, int(0.6 * likely)))
    return fewest, min(most, max(fewest, int(np.ceil(1.6 * likely)) + 1))


def _log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))
