"""What a sweep found: a line a combination with standard errors, and a picture of errors against questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elicit_app.experiments.sweep import Row, Sweep
from metrics.display.axes import line_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEASURES = {
    "questions": "questions",
    "error_l2": "error (L2)",
    "agreement": "agreement",
    "range_factor": "range factor",
    "covered": "covered",
}
"""What is told of every combination: column and heading."""
_QUESTIONS = "questions"


@dataclass(frozen=True)
class Found:
    """What the runs of one combination came to.

    Parameters
    ----------
    label : str
        What tells the combination from the others of the sweep; everything where it is alone.
    line : str
        The same without the number of questions: what is one line in the picture.
    runs : int
        How many.
    means, errors : dict of str to float
        Mean over the runs and its standard error, by column; a column without values is left out.
    """

    label: str
    line: str
    runs: int
    means: dict[str, float]
    errors: dict[str, float]


def found_by(sweep: Sweep, rows: Sequence[Row]) -> list[Found]:
    """Return what every combination came to, in the order of the specification."""
    stated = [one.as_dict() for one in sweep.combinations]
    names = list(dict.fromkeys(name for one in stated for name in one))
    varied = [name for name in names if len({one.get(name) for one in stated}) > 1] or names[:2]
    by_place: dict[int, list[Row]] = {place: [] for place in range(len(stated))}
    for row in rows:
        by_place[row["combination"]].append(row)
    return [_found(stated[place], varied, of_one) for place, of_one in by_place.items()]


def _found(stated: dict[str, object], varied: Sequence[str], rows: Sequence[Row]) -> Found:
    means, errors = {}, {}
    for name in MEASURES:
        values = np.array([row[name] for row in rows if row[name] is not None], dtype=np.float64)
        if len(values):
            means[name] = float(values.mean())
            errors[name] = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return Found(
        _label(stated, varied), _label(stated, [x for x in varied if x != _QUESTIONS]), len(rows), means, errors
    )


def _label(stated: dict[str, object], names: Sequence[str]) -> str:
    bare = ("study", "procedure")
    return ", ".join(str(stated[x]) if x in bare else f"{x} {stated[x]}" for x in names if x in stated)


def plot_found(found: Sequence[Found]) -> Figure:
    """Draw error, and range where there is a belief, against the questions asked; bars are two standard errors long."""
    from matplotlib.figure import Figure

    panels = [name for name in ("error_l2", "agreement", "range_factor") if any(name in one.means for one in found)]
    figure = Figure(figsize=(4.2 * len(panels), 4.4), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    lines = list(dict.fromkeys(one.line for one in found))
    for panel, name in zip(axes, panels, strict=True):
        _draw(panel, [one for one in found if name in one.means], name, lines)
    handles, labels = axes[0].get_legend_handles_labels()
    if any(labels):
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def _draw(panel: Axes, found: Sequence[Found], name: str, lines: Sequence[str]) -> None:
    for place, line in enumerate(lines):
        points = sorted((one for one in found if one.line == line), key=lambda one: one.means[_QUESTIONS])
        if not points:
            continue
        panel.errorbar(
            [one.means[_QUESTIONS] for one in points],
            [one.means[name] for one in points],
            yerr=np.nan_to_num([one.errors[name] for one in points]),
            label=line,
            **line_look(place),
            marker="o",
            ms=4,
            capsize=2,
        )
    panel.set(xlabel="questions asked", ylabel=MEASURES[name])
    panel.set_xlim(left=0)
    if name == "error_l2":
        panel.set_ylim(bottom=0)
    panel.spines[["top", "right"]].set_visible(False)
