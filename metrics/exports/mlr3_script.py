"""R code for mlr3, whose cost matrices are transposed: rows are predictions, columns are the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metrics.exports.wording import one_line, rows_of_numbers

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

_CODE = """# {title}
# mlr3 wants predictions in rows and the truth in columns: transposed against the elicited metric file.
classes = c({classes})
costs = matrix(
  c(
{costs}
  ),
  nrow = {k}, byrow = TRUE, dimnames = list(response = classes, truth = classes)
)
measure = mlr3::msr("classif.costs", id = "elicited_cost", costs = costs)
"""


def render(metric: ElicitedMetric) -> str:
    """Return R code that makes the cost matrix and the measure ``classif.costs``."""
    return _CODE.format(
        title=_ascii(one_line(metric.name)),
        classes=", ".join(_quoted(name) for name in metric.classes),
        costs=",\n".join(f"    {row}" for row in rows_of_numbers(metric.cost_matrix.T)),
        k=len(metric.classes),
    )


def _quoted(text: str) -> str:
    r"""Return a string of R in ASCII; other letters as \u{...}, which every locale reads alike."""
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    if letter in '\\"':
        return "\\" + letter
    return letter if " " <= letter <= "~" else f"\\U{{{ord(letter):x}}}"


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")
