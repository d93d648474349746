"""A cost matrix file for Weka's CostSensitiveClassifier and MetaCost: rows are true classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metrics.exports.wording import one_line, rows_of_numbers

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric


def render(metric: ElicitedMetric) -> str:
    """Return the file: comments start with %, then the size, then the costs, one row per true class."""
    k = len(metric.classes)
    lines = [
        f"% {one_line(metric.name)}",
        "% Rows are true classes, columns are predicted classes, in the order of the nominal class attribute:",
        *(f"%   {i + 1} {one_line(name)}" for i, name in enumerate(metric.classes)),
        "% Rows\tColumns",
        f"{k}\t{k}",
        "% Matrix elements",
        *rows_of_numbers(metric.cost_matrix, "\t"),
    ]
    return "\n".join(lines) + "\n"
