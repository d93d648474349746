"""A table with one row per cell of the cost matrix."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from metrics.elicited.exchange import mistake_words
from metrics.elicited.family import family_of

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

_COLUMNS = (
    "true_class",
    "predicted_class",
    "cost",
    "cost_low",
    "cost_high",
    "release_factor",
    "class_weight",
    "mistake",
)


def render(metric: ElicitedMetric) -> str:
    """Return the table: k^2 rows, true class by true class.

    ``cost_low`` and ``cost_high`` are empty without intervals, ``cost_high`` also where it is unbounded; ``mistake`` is
    empty for right answers.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    table.writerow(_COLUMNS)
    family = family_of(metric.family)
    factors = metric.release_factors()
    class_weight = [*metric.class_weight.values()]
    for i, true in enumerate(metric.classes):
        for j, predicted in enumerate(metric.classes):
            low, high = (math.nan, math.nan) if metric.intervals is None else metric.intervals[i, j]
            numbers = (metric.cost_matrix[i, j], low, high, factors[i, j], class_weight[i])
            cells = [float(x) if math.isfinite(x) else "" for x in numbers]
            mistake = "" if i == j else mistake_words(metric, family.mistake_at(i, j)).name
            table.writerow([true, predicted, *cells, mistake])
    return text.getvalue()
