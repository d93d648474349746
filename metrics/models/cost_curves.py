"""How the cost of models depends on one exchange rate, and where the cheapest model changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.elicited.exchange import exchange_rates
from metrics.errors import InputError
from metrics.inputs.arguments import number_array
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.tables import matrix_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from metrics.elicited.elicited_metric import ElicitedMetric

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BreakEven:
    """Where the cheapest model changes.

    Parameters
    ----------
    ratio : float
        The exchange rate at which both cost the same.
    below, above : str
        The cheapest model below and above it.
    """

    ratio: float
    below: str
    above: str


@dataclass(frozen=True)
class Segment:
    """From `low` to `high` of the ratio the model `name` is cheapest."""

    low: float
    high: float
    name: str


@dataclass(frozen=True, eq=False)
class CostLines:
    """Costs of models as straight lines over one number v >= 0, such as an exchange rate or the share of a class.

    The cost of model m at v is ``fixed[m] + slope[m] * v``.

    Parameters
    ----------
    models : tuple of str
        Names.
    fixed, slope : ndarray of shape (models,)
        The part of the cost that does not depend on v, and how much it grows with v.
    """

    models: tuple[str, ...]
    fixed: Floats
    slope: Floats

    def cost(self, ratio: ArrayLike) -> Floats:
        """Return the mean cost of each model.

        Parameters
        ----------
        ratio : array-like of shape (...)
            Values of v.

        Returns
        -------
        ndarray of shape (models, ...)
            Their costs.
        """
        ratios = np.asarray(ratio, dtype=np.float64)
        return np.asarray(np.add.outer(self.fixed, 0 * ratios) + np.multiply.outer(self.slope, ratios))

    def cheapest(self, ratio: float) -> str:
        """Return the model of least cost.

        Parameters
        ----------
        ratio : float
            A value of v.

        Returns
        -------
        str
            Of equally cheap models the one that stays cheapest above the ratio, then the first.
        """
        cost = self.cost(ratio)
        tied = np.flatnonzero(cost <= cost.min() + 1e-12 * max(1.0, float(cost.min())))
        return self.models[int(tied[np.argmin(self.slope[tied])])]

    def break_even_points(self) -> tuple[BreakEven, ...]:
        """Return where the cheapest model changes, for ratios above 0, ascending: the corners of the lower envelope."""
        points: list[BreakEven] = []
        ratio, current = 0.0, self.models.index(self.cheapest(0.0))
        while True:
            gentler = np.flatnonzero(self.slope < self.slope[current])
            if not len(gentler):
                return tuple(points)
            crossings = (self.fixed[gentler] - self.fixed[current]) / (self.slope[current] - self.slope[gentler])
            ratio = max(ratio, float(crossings.min()))
            first = gentler[crossings <= crossings.min() * (1 + 1e-12)]
            following = int(first[np.argmin(self.slope[first])])
            points.append(BreakEven(ratio, self.models[current], self.models[following]))
            current = following

    def segments(self, low: float, high: float) -> tuple[Segment, ...]:
        """Return who is cheapest between two values of v, 0 < `low` < `high`, in order."""
        ends = [low, *(point.ratio for point in self.break_even_points() if low < point.ratio < high), high]
        return tuple(Segment(start, end, self.cheapest(math.sqrt(start * end))) for start, end in pairwise(ends))


@dataclass(frozen=True, eq=False)
class CostCurve(CostLines):
    """Mean costs of models over one exchange rate, per case, in units of the yardstick mistake.

    Parameters
    ----------
    models, fixed, slope
        As in `CostLines`; the slope is the share of cases with the mistake.
    elicited : float
        The ratio that was elicited.
    plausible : tuple of float or None
        Its 90 % range, where the metric has one; the upper end may be inf.
    mistake : str
        Name of the mistake.
    """

    elicited: float
    plausible: tuple[float, float] | None
    mistake: str

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the lines, the break-even points and the elicited ratio.

        On `ax` or a new figure, whose axes it returns; see `metrics.plots.plot_cost_curve`.
        """
        from metrics.display.curves import plot_cost_curve

        return plot_cost_curve(self, ax)


def cost_curve(metric: ElicitedMetric, matrices: Mapping[str, ArrayLike], mistake: tuple[object, object]) -> CostCurve:
    """Return how the cost of models depends on how bad one mistake is.

    Parameters
    ----------
    metric : ElicitedMetric
        The other costs; the yardstick is the one of `exchange_rates`.
    matrices : mapping of str to array-like of shape (k, k)
        Per model a confusion matrix, counts or rates; rows are true classes, columns are predicted classes, in the
        order of the metric's or with labels of their own, as `metrics.confusion_matrix` gives them.
    mistake : tuple
        (true, predicted): the mistake whose cost varies; for family "dlpm" any wrong answer for that true class.

    Returns
    -------
    CostCurve
        One line per model.

    Raises
    ------
    InputError
        Where the mistake is the yardstick or none, or a matrix has another shape or no cases.
    """
    if isinstance(mistake, str) or len(mistake) != 2:
        raise InputError(f"mistake: a pair (true class, predicted class) was expected, found {mistake!r}.")
    if not matrices:
        raise InputError("matrices: the confusion matrix of at least one model was expected.")
    true, predicted = map(int, metric.class_index.indices_of(mistake, "mistake"))
    if true == predicted:
        raise InputError(f"mistake: {metric.classes[true]!r} called {metric.classes[true]!r} is a right answer.")
    rates = exchange_rates(metric)
    rate = next(r for r in rates if r.true == true and r.predicted in (predicted, None))
    if rate.is_yardstick:
        raise InputError(f"mistake: {rate.mistake.name} is the yardstick; choose another one.")
    varied = np.zeros_like(metric.cost_matrix)
    varied[true, predicted if rate.predicted is not None else np.arange(len(varied)) != true] = 1
    others = np.zeros_like(varied)
    for other in (r for r in rates if r is not rate):
        columns = other.predicted if other.predicted is not None else np.arange(len(varied)) != other.true
        others[other.true, columns] = other.ratio
    shares = [_shares(name, matrix, metric.class_index) for name, matrix in matrices.items()]
    return CostCurve(
        models=tuple(matrices),
        fixed=np.array([(share * others).sum() for share in shares]),
        slope=np.array([(share * varied).sum() for share in shares]),
        elicited=rate.ratio,
        plausible=rate.ninety,
        mistake=rate.mistake.name,
    )


def _shares(name: str, matrix: ArrayLike, classes: ClassIndex) -> Floats:
    values = number_array(matrix_by_name(matrix, classes, f"matrices, {name!r}"), f"matrices, {name!r}")
    shape = (len(classes),) * 2
    if values.shape != shape:
        raise InputError(f"matrices, {name!r}: the shape {shape} was expected, found {values.shape}.")
    if (values < 0).any() or not values.any():
        raise InputError(f"matrices, {name!r}: numbers >= 0, not all 0, were expected.")
    return np.asarray(values / values.sum())
