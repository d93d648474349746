"""The form of every reproduced experiment: parts to compute, rows to compare, panels to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elicit_app.study.writing import write_picture
from metrics.drawing import FIRST, INK, LINE, QUIET, SECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Value = float | int | str | tuple[float, ...] | None
"""A number, several related numbers, words, or None if there is no value."""

Style = Literal["ours", "published", "other", "bound", "third", "series"]
NOT_PUBLISHED = "not published"
AGREES = "Agrees to the printed digits."


@dataclass(frozen=True)
class Row:
    """One published value beside ours."""

    quantity: str  # the quantity, with its unit
    published: Value  # as printed in the source; None if the source prints none
    ours: Value  # computed by this program; None where it could not be computed here
    # one sentence on the cause of a difference; may be omitted if ours rounds to the published digits, or if nothing is
    # published
    cause: str = ""
    digits: int = 2  # decimals printed in the source

    @property
    def difference(self) -> float | None:
        """Return ours minus published, for several numbers the largest difference; None unless both are numbers."""
        ours, published = _numbers(self.ours), _numbers(self.published)
        if ours is None or published is None or ours.shape != published.shape:
            return None
        apart = ours - published
        return float(apart[np.abs(apart).argmax()])

    @property
    def agrees(self) -> bool:
        """Return whether ours rounds to the printed value, or says the same in words."""
        apart = self.difference
        if apart is None:
            return self.published is not None and self.published == self.ours
        return abs(apart) <= 0.5 * 10.0**-self.digits * (1 + 1e-9)

    @property
    def explanation(self) -> str:
        """Return the cause of the difference, or that there is nothing to explain."""
        if self.cause or self.published is None:
            return self.cause
        return AGREES if self.agrees else ""

    def as_json(self) -> dict[str, Any]:
        """Return the row in the form of a record."""
        return {
            "quantity": self.quantity,
            "published": _plain(self.published),
            "ours": _plain(self.ours),
            "difference": _plain(self.difference),
            "cause": self.explanation,
            "digits": self.digits,
        }


@dataclass(frozen=True)
class Curve:
    """Points of a plot."""

    label: str  # name of the points; empty keeps them out of the legend
    # coordinates of the points
    x: Sequence[float]
    y: Sequence[float]
    # ours, published, bound (of a theorem), third or other (further curves), series (one of several in an order)
    style: Style = "ours"
    marks: bool = False  # single marks instead of a line
    spread: Sequence[float] | None = None  # half the length of an error bar at every point


@dataclass(frozen=True)
class Panel:
    """One set of axes."""

    # title and axis labels
    title: str
    xlabel: str
    ylabel: str
    curves: tuple[Curve, ...]  # the curves to draw
    log: Literal["", "x", "y", "xy"] = ""  # which axes are logarithmic: "", "x", "y" or "xy"
    equal: bool = False  # whether one unit has the same length in both directions
    names: tuple[str, ...] = ()  # labels at x = 0, 1, 2, ... instead of numbers


Finding = Row | Panel | str
"""What a report yields: a comparison with a published value, a drawing, or a sentence about the whole table."""


@dataclass(frozen=True)
class Findings:
    """The results of an experiment."""

    rows: tuple[Row, ...]
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, found: Iterable[Finding]) -> Findings:
        """Sort the items of a report by kind."""
        kept = tuple(found)
        rows, panels, notes = (tuple(one for one in kept if isinstance(one, kind)) for kind in (Row, Panel, str))
        return cls(rows, panels, notes)  # type: ignore[arg-type]  # each of its kind


@dataclass(frozen=True)
class Options:
    """Options of a run."""

    quick: bool = False  # fewer runs or smaller data: minutes for all experiments instead of an hour
    seed: int = 0  # seed of all randomness
    data: Path | None = None  # folder of data files that the project does not include; None: the download folder


@dataclass(frozen=True)
class Part:
    """A piece of work whose result is kept on disk until the experiment is done."""

    key: str  # its name within the experiment
    compute: Callable[..., Any]  # a module-level function; its result must be representable in JSON
    arguments: tuple[Any, ...] = ()  # its arguments


@dataclass(frozen=True)
class Experiment:
    """A table, a figure or a claim of a source that can be recomputed."""

    name: str  # its name for `elicit reproduce`
    title: str  # what it shows, in a few words
    source: str  # paper and section
    parts: Callable[[Options], Sequence[Part]]  # from options to parts, which are independent of each other
    # from the parts' results, by key, to the findings; must be quick
    report: Callable[[Mapping[str, Any]], Iterable[Finding]]
    # whether the parts measure time; their results are then written beside the record instead of into it
    times: bool = field(default=False)


def no_parts(_: Options) -> Sequence[Part]:
    """Return no parts, because the report computes everything quickly itself."""
    return ()


def mean_and_error(values: Sequence[float] | np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else 0.0


def _numbers(value: Value) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    if value is None or isinstance(value, str):
        return None
    return np.atleast_1d(np.asarray(value, dtype=np.float64))


def _plain(value: Value) -> Any:
    """Return a value for JSON, rounded to thirteen digits, so that every processor writes the same."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.13g}")
    return [float(f"{one:.13g}") for one in value]


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
    """Write a plot as PNG, replacing an older one; without panels nothing is written."""
    if not panels:
        return
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = 2 if len(panels) == 4 else min(len(panels), _MOST_IN_A_ROW)
    rows = math.ceil(len(panels) / columns)
    figure = Figure((_WIDTH * columns, _HEIGHT * rows + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=11, color=INK)
    for index, panel in enumerate(panels):
        _draw_panel(figure.add_subplot(rows, columns, index + 1), panel)
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


def _series_look(index: int, number: int) -> dict[str, Any]:
    """Return the look of one of several ordered curves, from dark to light."""
    from matplotlib import colormaps

    colour = colormaps["viridis"](0.85 * index / max(number - 1, 1))
    return {"color": colour, "ls": "-", "marker": _MARKERS[index % len(_MARKERS)], "lw": 1.3}


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
    """Return a panel of all numbers in rows, ours against published; equal values lie on the diagonal."""
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
