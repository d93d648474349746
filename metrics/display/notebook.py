"""How results show themselves in a notebook: small tables in HTML, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from metrics.display.numbers import amount, cost_text, percent
from metrics.display.text import html_text

_MOST = 12
_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right; white-space:pre-line"'


def table_html(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return a table.

    Parameters
    ----------
    title : str
        What stands above it.
    columns : sequence of m str
        Heads; the first column names the rows.
    rows : sequence of sequences of m str
        Cells; a line feed in one stays.
    notes : sequence of str
        Lines below; empty ones are left out.

    Returns
    -------
    str
        HTML, without a script or style sheet of its own.
    """
    head = "".join(
        f"<th {_LEFT if place == 0 else _RIGHT}>{html_text(name)}</th>" for place, name in enumerate(columns)
    )
    body = "".join(
        f"<tr><th {_LEFT}>{html_text(row[0])}</th>"
        + "".join(f"<td {_RIGHT}>{html_text(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    below = "".join(f"<div>{html_text(note)}</div>" for note in notes if note)
    return (
        f"<div><b>{html_text(title)}</b><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def costs_html(
    title: str, classes: Sequence[str], costs: NDArray[Any], intervals: NDArray[Any] | None, notes: Sequence[str]
) -> str:
    """Return the table of a cost matrix, shape (k, k), with its 90 % intervals (k, k, 2) where there are any."""
    cells = [
        [
            "\n".join(filter(None, cost_text(float(cost), None if intervals is None or i == j else intervals[i, j])))
            for j, cost in enumerate(row)
        ]
        for i, row in enumerate(costs)
    ]
    return _matrix_html(title, classes, cells, notes)


def counts_html(classes: Sequence[str], counts: NDArray[Any]) -> str:
    """Return the table of a confusion matrix, shape (k, k), with the rate of each row beneath the counts."""
    cells = []
    for row in counts:
        whole = float(row.sum())
        cells.append([f"{amount(float(cell))}\n{percent(float(cell) / whole)}" if whole else "0" for cell in row])
    return _matrix_html("Confusion matrix", classes, cells, ())


def _matrix_html(title: str, classes: Sequence[str], cells: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    shown = classes[:_MOST]
    rows = [[name, *row[:_MOST]] for name, row in zip(shown, cells, strict=False)]
    left = f"The first {_MOST} of {len(classes)} classes are shown." if len(classes) > _MOST else ""
    heads = ["the truth is \N{DOWNWARDS ARROW}, the model says \N{RIGHTWARDS ARROW}", *shown]
    return table_html(title, heads, rows, [*notes, left])
