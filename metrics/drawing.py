"""What all plots share, in the library, the window and reports: colours, axes and bars.

Colours are two hues of equal lightness and greys; they stay legible in greyscale and with colour-vision deficiency.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError, require
from metrics.inputs.arguments import Floats, square_matrix
from metrics.inputs.labels import label_text
from metrics.text import are_rates, confusion_cells, cost_cells, difference_cells, percent, two_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INK, QUIET, LINE = "#161A20", "#48505E", "#D8DCE3"
FIRST, SECOND = "#2A62A6", "#984B0A"
_HUES, _STYLES = (FIRST, SECOND, QUIET, INK), ("-", "--", ":", "-.")


def axes_for(ax: Axes | None) -> Axes:
    """Return `ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    require("matplotlib")
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def tidy(axes: Axes, place: Literal["upper left", "upper right", "lower right"]) -> Axes:
    """Add the legend and remove the spines that are not needed."""
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(loc=place, frameon=False, fontsize=9)
    # Names are not formulas: a dollar sign is shown as it is.
    for text in (*legend.get_texts(), axes.xaxis.label, axes.yaxis.label):
        text.set_parse_math(False)
    return axes


def plot_bars(names: Sequence[str], values: ArrayLike, texts: Sequence[str], ax: Axes | None, xlabel: str) -> Axes:
    """Draw one bar per name, the first on top, with lengths >= 0 and texts at their ends, and return the axes."""
    axes, lengths = axes_for(ax), np.asarray(values, dtype=np.float64)
    places = range(len(names))
    axes.barh(places, lengths, color=FIRST, height=0.6)
    for place, length, text in zip(places, lengths, texts, strict=True):
        axes.annotate(text, (length, place), (4, 0), textcoords="offset points", va="center", size=9, parse_math=False)
    axes.set_yticks(places, names, parse_math=False)
    axes.set(xlabel=xlabel, xlim=(0, 1.4 * (lengths.max() or 1.0)))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return axes


_MOST_TICKS = 7
_WIDEST, _ROOM = 1e4, 1.3
_STEPS = (1.0, 2.0, 5.0, 10.0)
_MARGIN = 0.06  # of the span, on either side
_NOTHING = 1e-12  # smaller differences count as none
# Cut off, so as not to squeeze everything else: a difference or end of a range this many times beyond the others (the
# third number, on a log scale), and a tail this many times as long as the costs themselves.
_TOO_FAR, _TAIL, _TOO_FAR_IN_LOGS = 2.3, 3.0, 3.0


@dataclass(frozen=True)
class LogAxis:
    """An axis from `low` to `high`, both > 0."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float], ends: Iterable[float] = ()) -> LogAxis:
        """Return an axis of ratios that holds 1, the values and the ends of ranges, with a margin.

        It leaves out ratios beyond 10,000 to 1, and ends so far beyond the others that they would squeeze the rest.
        """
        numbers, tails = ([x for x in some if 1 / _WIDEST <= x <= _WIDEST] for some in (values, ends))
        for side in (-1.0, 1.0):
            held = [math.log(3.0), *(side * math.log(x) for x in numbers)]
            logs = [max(side * math.log(x), 0.0) for x in tails]
            numbers += [math.exp(side * x) for x in _cut(logs, held, _TOO_FAR_IN_LOGS)]
        around = cls.over([1.0, *numbers], _ROOM)
        return cls(min(around.low, 0.3), max(around.high, 3.0))

    @classmethod
    def over(cls, values: Iterable[float], room: float) -> LogAxis:
        """Return an axis that holds all positive finite values and extends `room` times further on both sides."""
        shown = [x for x in values if 0 < x < math.inf] or [1.0]
        return cls(min(shown) / room, max(shown) * room)

    def position(self, value: float) -> float:
        """Return the position of a value, from 0 (left) to 1 (right); values outside are placed at the nearer end."""
        if value <= self.low:
            return 0.0
        return min(1.0, math.log(value / self.low) / math.log(self.high / self.low))

    def value(self, position: float) -> float:
        """Return the number at a position from 0 (left) to 1 (right)."""
        return self.low * math.pow(self.high / self.low, min(max(position, 0.0), 1.0))

    def ticks(self, most: int = _MOST_TICKS) -> list[float]:
        """Return the 1-3-10 numbers on the axis; above `most`, only powers of ten, or every nth of them. Includes 1."""
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ticks = [m * 10.0**e for e in exponents for m in (1, 3) if self.low <= m * 10.0**e <= self.high]
        step = 1
        while len(ticks) > most:
            ticks = [10.0**e for e in exponents if e % step == 0 and self.low <= 10.0**e <= self.high]
            step += 1
        return ticks


@dataclass(frozen=True)
class LinearAxis:
    """A linear axis from `low` to `high`, low < high."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> LinearAxis:
        """Return an axis that holds 0 and all finite `values`, with a margin."""
        kept = [0.0, *(value for value in values if math.isfinite(value))]
        low, high = min(kept), max(kept)
        span = high - low if high - low > _NOTHING else 1.0
        return cls(low - _MARGIN * span, high + _MARGIN * span)

    @classmethod
    def of_differences(cls, differences: Iterable[tuple[float, tuple[float, float] | None]], cost: float) -> LinearAxis:
        """Return an axis for extra costs, with ranges, over the cheapest `cost`.

        Far outliers are left out, unless their range includes no difference: they may be the best.
        """
        held = [0.0]
        lows: list[float] = []
        highs: list[float] = []
        reach = 0.0  # of the differences so far, and of the ranges that include no difference
        for index, (difference, range_) in enumerate(sorted(differences, key=lambda one: one[0])):
            if index > 1 and 0 < _TOO_FAR * reach < difference and (range_ is None or range_[0] > 0):
                break
            held.append(difference)
            reach = max(reach, difference)
            if range_ is not None:
                longest = _TAIL * max(cost, difference)
                lows.append(max(range_[0], -longest))
                highs.append(min(range_[1], longest))
                if range_[0] <= 0:
                    reach = max(reach, *_cut(highs, held, _TOO_FAR))
        reach = max([*held, *_cut(highs, held, _TOO_FAR)])
        return cls.around([reach, *(max(low, -_TOO_FAR * reach) if reach > 0 else low for low in lows)])

    def position(self, value: float) -> float:
        """Return the position of a value, from 0 (low end) to 1 (high end); values outside are placed at an end."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        """Return the value at a share of the length, 0 to 1."""
        return self.low + min(max(share, 0.0), 1.0) * (self.high - self.low)

    def holds(self, range_: tuple[float, float]) -> bool:
        """Return whether a range overlaps the axis."""
        return range_[0] <= self.high and range_[1] >= self.low

    def ticks(self, most: int = 5) -> tuple[float, ...]:
        """Return about `most` round values on the axis, including 0 if it lies on it."""
        rough = (self.high - self.low) / max(most, 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in _STEPS if power * m >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(index * step for index in range(first, last + 1))


def _cut(ends: Sequence[float], held: Sequence[float], times: float) -> list[float]:
    """Return the ends, each limited to `times` the larger of the greatest value held and the median end."""
    most = times * max(*held, median(ends)) if ends else 0.0
    return [min(end, most) for end in ends]


def line_style(index: int) -> dict[str, Any]:
    """Return the style of a model's or policy's line: the colours in turn, then again dashed."""
    return {"color": _HUES[index % len(_HUES)], "ls": _STYLES[index // len(_HUES) % len(_STYLES)], "lw": 1.6}


def set_ratio_axis(
    axes: Axes, scale: LogAxis, mistake: str, elicited: float, plausible: tuple[float, float] | None
) -> None:
    """Set up the ratio axis of a plot, and mark the elicited ratio and the plausible range."""
    if plausible is not None:
        axes.axvspan(
            max(plausible[0], scale.low), min(plausible[1], scale.high), color=LINE, alpha=0.5, lw=0, label="plausible"
        )
    if 0 < elicited < math.inf:
        axes.axvline(elicited, color=INK, lw=1.2, ls=":", label=f"elicited: {two_digits(elicited)}")
    axes.set_xscale("log")
    axes.set_xticks(scale.ticks(), map(two_digits, scale.ticks()))
    axes.set_xticks([], minor=True)
    axes.set(xlim=(scale.low, scale.high))
    axes.set_xlabel(f"{mistake}: cost in units of the yardstick")


@runtime_checkable
class CostsOfClasses(Protocol):
    """The part of an elicited metric that drawing its cost matrix needs."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the names of the k classes."""

    @property
    def cost_matrix(self) -> Floats:
        """Return the costs, shape (k, k)."""

    @property
    def intervals(self) -> Floats | None:
        """Return their 90 % intervals, shape (k, k, 2), or None."""


def plot_confusion(matrix: ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None) -> Axes:
    """Draw a confusion matrix: counts with row rates beneath, rates, or a difference.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Counts; rates, if no entry exceeds 1 in size and one is fractional; or a difference, if an entry is negative.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    labels : sequence of k labels, optional
        Names of the classes; by default the matrix's own ``labels``, otherwise 0..k-1.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.
    """
    values = square_matrix(np.asarray(matrix), "matrix", 1)
    names = labels if labels is not None else getattr(matrix, "labels", None)
    if (values < 0).any():
        return _draw_difference(values, are_rates(values), names, ax)
    of_row = values / np.maximum(values.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return _heat_map(of_row, confusion_cells(values), names, ax)


def plot_difference(
    first: ArrayLike, second: ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None
) -> Axes:
    """Draw the second confusion matrix minus the first, with signs, on a scale symmetric about 0.

    Parameters
    ----------
    first, second : array-like of shape (k, k)
        Both counts, or both rates.
    ax, labels
        As in `plot_confusion`.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Raises
    ------
    InputError
        If their shapes or classes differ.
    """
    a, b = square_matrix(np.asarray(first), "first", 1), square_matrix(np.asarray(second), "second", 1)
    if a.shape != b.shape:
        raise InputError(f"second: the shape {a.shape} of first was expected, found {b.shape}.")
    own: Sequence[object] | None = getattr(first, "labels", None)
    other: Sequence[object] | None = getattr(second, "labels", None)
    if own is not None and other is not None and [*map(label_text, own)] != [*map(label_text, other)]:
        raise InputError(f"second: the labels {own} of first were expected, found {other}.")
    names = labels if labels is not None else own
    return _draw_difference(b - a, are_rates(np.stack([a, b])), names, ax)


def plot_cost_matrix(
    costs: CostsOfClasses | ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None
) -> Axes:
    """Draw a cost matrix, with 90 % intervals if an elicited metric has them.

    Parameters
    ----------
    costs : ElicitedMetric or array-like of shape (k, k)
        Costs >= 0.
    ax, labels
        As in `plot_confusion`; an elicited metric names its classes itself.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.
    """
    intervals = None
    if isinstance(costs, CostsOfClasses):
        intervals, labels = costs.intervals, costs.classes if labels is None else labels
        costs = costs.cost_matrix
    values = square_matrix(costs)
    cells = [["\n".join(filter(None, cell)) for cell in row] for row in cost_cells(values, intervals)]
    return _heat_map(values / (values.max() or 1.0), cells, labels, ax)


def plot_shares(shares: ArrayLike, ax: Axes | None, labels: Sequence[object]) -> Axes:
    """Draw a matrix (k, k) of shares in percent of the total; otherwise as `plot_confusion`."""
    values = square_matrix(shares, "shares")
    cells = [[percent(share) for share in row] for row in values.tolist()]
    return _heat_map(values / (values.max() or 1.0), cells, labels, ax)


def _draw_difference(values: NDArray[Any], rates: bool, names: Sequence[object] | None, ax: Axes | None) -> Axes:
    shade = values / (np.abs(values).max() or 1.0)
    return _heat_map(shade, difference_cells(values, rates), names, ax, signed=True)


def _heat_map(
    shade: NDArray[Any],
    cells: Sequence[Sequence[str]],
    names: Sequence[object] | None,
    ax: Axes | None,
    *,
    signed: bool = False,
) -> Axes:
    """Draw a matrix with a text in each cell, shaded by a value in [0, 1], or in [-1, 1] if `signed`."""
    require("matplotlib")
    from matplotlib.colors import LinearSegmentedColormap

    axes = axes_for(ax)
    k = len(shade)
    if names is not None and len(names) != k:
        raise InputError(f"labels: {k} names were expected, {len(names)} given.")
    hues = [FIRST, "#F3F4F6", SECOND] if signed else ["#F3F4F6", FIRST]
    colours = LinearSegmentedColormap.from_list("hues", hues)
    axes.imshow(shade, cmap=colours, vmin=-1 if signed else 0, vmax=1, aspect="equal")
    size = max(4.0, min(10.0, 60 / k))
    for i in range(k):
        for j in range(k):
            ink = "white" if abs(shade[i, j]) > 0.6 else INK
            axes.text(j, i, cells[i][j], ha="center", va="center", color=ink, size=size, parse_math=False)
    texts = [label_text(name) for name in names] if names is not None else [str(i) for i in range(k)]
    crowded = max(map(len, texts)) * k > 40
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(range(k), texts, parse_math=False, **turned)
    axes.set_yticks(range(k), texts, parse_math=False)
    axes.set_xticks(np.arange(k + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(k + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.5)
    axes.tick_params(which="both", length=0)
    axes.set(xlabel="the model says", ylabel="the truth is")
    axes.spines[:].set_visible(False)
    return axes
