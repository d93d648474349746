"""What all plots share: their look, a logarithmic axis for exchange rates, and bars.

Colours are two hues of equal lightness and greys, which hold in greyscale and for colour-deficient eyes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from metrics.display.drawable import Rate
from metrics.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

INK, QUIET, LINE = "#161A20", "#48505E", "#D8DCE3"
FIRST, SECOND = "#2A62A6", "#984B0A"


def axes_for(ax: Axes | None) -> Axes:
    """Return the axes, or those of a new figure."""
    if ax is not None:
        return ax
    require("matplotlib")
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def tidy(axes: Axes, place: Literal["upper left", "upper right", "lower right"]) -> Axes:
    """Give axes their legend, and take away what is not needed."""
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(loc=place, frameon=False, fontsize=9)
    # A dollar sign in a name is a dollar sign.
    for text in (*legend.get_texts(), axes.xaxis.label, axes.yaxis.label):
        text.set_parse_math(False)
    return axes


def one_hue() -> Colormap:
    """Return colours from nearly white to the first hue."""
    require("matplotlib")
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("one hue", ["#F3F4F6", FIRST])


def two_hues() -> Colormap:
    """Return colours from the first hue over nearly white to the second."""
    require("matplotlib")
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("two hues", [FIRST, "#F3F4F6", SECOND])


def plot_bars(names: Sequence[str], values: ArrayLike, texts: Sequence[str], ax: Axes | None, xlabel: str) -> Axes:
    """Draw a bar per name, the first one on top.

    Parameters
    ----------
    names : sequence of m str
        What the bars are.
    values : array-like of shape (m,)
        How long they are, >= 0.
    texts : sequence of m str
        What stands at their ends.
    ax : matplotlib Axes or None
        Where to draw; None for a new figure.
    xlabel : str
        What the length means.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
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


@dataclass(frozen=True)
class LogAxis:
    """An axis from `low` to `high`, both > 0.

    Parameters
    ----------
    low, high : float
        The ends; `low` < `high`.
    """

    low: float
    high: float

    @classmethod
    def around(cls, rates: Iterable[Rate]) -> LogAxis:
        """Return an axis that holds 1 and every estimate and finite end of a range, with some room."""
        shown = [x for rate in rates for x in (rate.ratio, rate.low, rate.high) if x is not None]
        return cls.over([1.0, *shown], 1.6)

    @classmethod
    def over(cls, values: Iterable[float], room: float) -> LogAxis:
        """Return an axis that holds the values that are positive and finite, `room` times further on both sides."""
        shown = [x for x in values if 0 < x < math.inf] or [1.0]
        return cls(min(shown) / room, max(shown) * room)

    def position(self, value: float) -> float:
        """Return where a value stands, from 0 (left) to 1 (right); what lies outside stands at the end."""
        if value <= self.low:
            return 0.0
        return min(1.0, math.log(value / self.low) / math.log(self.high / self.low))

    def value(self, position: float) -> float:
        """Return the number at a position from 0 (left) to 1 (right)."""
        return self.low * math.pow(self.high / self.low, min(max(position, 0.0), 1.0))

    def ticks(self, most: int = _MOST_TICKS) -> list[float]:
        """Return 1-3-10 numbers inside the axis, thinned to powers of ten or further above `most`; 1 is one of them."""
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ticks = [m * 10.0**e for e in exponents for m in (1, 3) if self.low <= m * 10.0**e <= self.high]
        step = 1
        while len(ticks) > most:
            ticks = [10.0**e for e in exponents if e % step == 0 and self.low <= 10.0**e <= self.high]
            step += 1
        return ticks
