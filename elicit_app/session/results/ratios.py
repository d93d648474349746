"""How bad each mistake is, compared with the yardstick mistake."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Matrix, Outcome
from elicit_app.session.journal.events import Guess
from elicit_app.session.results.tolerances import Tolerance
from elicit_app.session.views.figures import RatioView
from metrics import ElicitedMetric

Range = tuple[float, float]


def ratios_of(
    metric: ElicitedMetric,
    outcome: Outcome,
    yardstick: tuple[int, int],
    guesses: tuple[Guess, ...] = (),
    tolerance: Tolerance | None = None,
) -> tuple[RatioView, ...]:
    """Return one ratio per mistake in study order; in the DLPM family one per true class.

    Parameters
    ----------
    metric : ElicitedMetric
        Its cost matrix and its draws, where there are any.
    outcome : Outcome
        For what was only bounded.
    yardstick : tuple of int
        (true, predicted) of the mistake that counts as 1.
    guesses : tuple of Guess
        First guesses, in the same terms.
    tolerance : Tolerance or None
        How closely a published search can tell; see `tolerances`.
    """
    k = len(metric.classes)
    dlpm = metric.family == "dlpm"
    cells = [(i, (i + 1) % k) for i in range(k)] if dlpm else [(i, j) for i in range(k) for j in range(k) if i != j]
    guessed = {(guess.true, guess.predicted): guess.ratio for guess in guesses}
    unit = yardstick[0] if dlpm else cells.index(yardstick)
    views = []
    for weight, (true, predicted) in enumerate(cells):
        is_yardstick = weight == unit
        half, ninety = (None, None) if is_yardstick else _ranges(metric, outcome, (true, predicted), yardstick)
        bounded = not is_yardstick and outcome.bounded[weight] is not None
        if tolerance is not None and not is_yardstick:
            ninety = float(tolerance.low[weight, unit]), float(tolerance.high[weight, unit])
            bounded = bool(tolerance.bounded[weight, unit])
        called = None if dlpm else predicted
        views.append(
            RatioView(
                true=true,
                predicted=called,
                ratio=1.0 if is_yardstick else _over(metric.cost_matrix, (true, predicted), yardstick),
                half=half,
                ninety=ninety,
                bounded=bounded,
                guess=guessed.get((true, called), guessed.get((true, predicted))),
                is_yardstick=is_yardstick,
            )
        )
    return tuple(views)


def headline_of(ratios: tuple[RatioView, ...]) -> RatioView:
    """Return the ratio that the result's first sentence is about: the worst mistake against the yardstick."""
    others = [view for view in ratios if not view.is_yardstick]
    told = [view for view in others if not view.bounded] or others
    return max(told, key=lambda view: view.ratio)


def _over(costs: Matrix, cell: tuple[int, int], yardstick: tuple[int, int]) -> float:
    below = float(costs[yardstick])
    return float(costs[cell]) / below if below > 0 else math.inf


def _ranges(
    metric: ElicitedMetric, outcome: Outcome, cell: tuple[int, int], yardstick: tuple[int, int]
) -> tuple[Range | None, Range | None]:
    """Return the 50 % and the 90 % range of a ratio, from draws of the weights or from the intervals of the costs."""
    unbounded = outcome.intervals is not None and math.isinf(outcome.intervals[cell][1])
    draws = metric.cost_samples
    if draws is None:
        return None, _from_intervals(outcome.intervals, cell, yardstick)
    below = draws[:, yardstick[0], yardstick[1]]
    above = draws[:, cell[0], cell[1]]
    values: NDArray[np.float64] = np.divide(above, below, out=np.full_like(above, np.inf), where=below > 0)
    # No interpolation: a ratio may be infinite.
    low, quarter, three_quarters, high = np.quantile(values, (0.05, 0.25, 0.75, 0.95), method="inverted_cdf")
    return (float(quarter), float(three_quarters)), (float(low), math.inf if unbounded else float(high))


def _from_intervals(intervals: Matrix | None, cell: tuple[int, int], yardstick: tuple[int, int]) -> Range | None:
    """Return the widest range that two intervals allow for a ratio."""
    if intervals is None:
        return None
    (low, high), (least, most) = intervals[cell], intervals[yardstick]
    lowest = float(low / most) if most > 0 else math.inf
    highest = float(high / least) if least > 0 else math.inf
    return (0.0 if math.isinf(most) else lowest), highest
