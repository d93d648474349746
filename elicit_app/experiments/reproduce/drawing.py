"""The plots of reproduced experiments: panels side by side, ours in one hue, what is published in the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elicit_app.experiments.reproduce.shape import Curve, Panel, Row, Style
from elicit_app.study.writing import write_picture
from metrics.display.axes import FIRST, INK, LINE, QUIET, SECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT, _MOST_IN_A_ROW = 4.4, 4.2, 3
_MARKERS, _SHORT_LABEL = "osD^vP", 14
_LOOKS: dict[Style, dict[str, Any]] = {
    "ours": {"color": FIRST, "ls": "-", "marker": "o", "lw": 1.6},
    "published": {"color": SECOND, "ls": "--", "marker": "s", "lw": 1.6, "mfc": "white"},
    "bound": {"color": QUIET, "ls": ":", "marker": "", "lw": 1.4},
    "third": {"color": "#5B8C5A", "ls": "-.", "marker": "^", "lw": 1.4},
    "other": {"color": QUIET, "ls": "-", "marker": ".", "lw": 1.0},
}


def draw(title: str, panels: Sequence[Panel], path: Path) -> None:
    """Write a plot as PNG; without panels nothing is written.

    Parameters
    ----------
    title : str
        Above all panels.
    panels : sequence of Panel
        What is drawn.
    path : Path
        The file; it is replaced.
    """
    if not panels:
        return
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = 2 if len(panels) == 4 else min(len(panels), _MOST_IN_A_ROW)
    rows = math.ceil(len(panels) / columns)
    figure = Figure((_WIDTH * columns, _HEIGHT * rows + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=11, color=INK)
    for place, panel in enumerate(panels):
        _draw_panel(figure.add_subplot(rows, columns, place + 1), panel)
    write_picture(figure, path, dpi=100)


def _draw_panel(axes: Axes, panel: Panel) -> None:
    from matplotlib.ticker import NullFormatter

    series = [curve for curve in panel.curves if curve.style == "series"]
    for curve in panel.curves:
        look = _series_look(series.index(curve), len(series)) if curve in series else dict(_LOOKS[curve.style])
        _draw_curve(axes, curve, look)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.xlabel, fontsize=9)
    axes.set_ylabel(panel.ylabel, fontsize=9)
    if "x" in panel.log:
        axes.set_xscale("log")
    if "y" in panel.log:
        axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    if panel.equal:
        axes.set_aspect("equal")
    if panel.names:
        axes.set_xticks(range(len(panel.names)), panel.names, rotation=30, ha="right")
    axes.tick_params(labelsize=8)
    axes.grid(color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if any(curve.label for curve in panel.curves):
        columns = 1 if max(len(curve.label) for curve in panel.curves) > _SHORT_LABEL else 3
        axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=columns)


def _series_look(place: int, number: int) -> dict[str, Any]:
    """Return the look of one of several curves that follow an order, dark to light."""
    from matplotlib import colormaps

    colour = colormaps["viridis"](0.85 * place / max(number - 1, 1))
    return {"color": colour, "ls": "-", "marker": _MARKERS[place % len(_MARKERS)], "lw": 1.3}


def _draw_curve(axes: Axes, curve: Curve, look: dict[str, Any]) -> None:
    if curve.marks:
        look["ls"] = ""
        look["marker"] = look["marker"] or "x"
    elif len(curve.x) > 30:
        look["marker"] = ""
    label = curve.label or "_"
    if curve.spread is None:
        axes.plot(curve.x, curve.y, label=label, ms=4, **look)
    else:
        axes.errorbar(curve.x, curve.y, curve.spread, label=label, ms=4, capsize=2, **look)


def agreement_panel(rows: Sequence[Row], title: str = "published and ours") -> Panel:
    """Return a panel of all numbers of rows: published to the right, ours upward; on the diagonal they are equal."""
    points: list[tuple[float, float]] = []
    for row in rows:
        if row.difference is not None:
            one = row.published if isinstance(row.published, tuple) else (row.published,)
            other = row.ours if isinstance(row.ours, tuple) else (row.ours,)
            points += [(float(x), float(y)) for x, y in zip(one, other, strict=True)]  # type: ignore[arg-type]
    x, y = zip(*points, strict=True)
    ends = [min((*x, *y)), max((*x, *y))]
    return Panel(
        title,
        "published",
        "ours",
        (Curve("equal", ends, ends, "bound"), Curve("", x, y, "ours", marks=True)),
        equal=True,
    )
