"""The look that all plots share.

Colours are two hues of equal lightness and greys, which hold in greyscale and for colour-deficient eyes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

INK, QUIET, LINE = "#161A20", "#48505E", "#D8DCE3"
FIRST, SECOND = "#2A62A6", "#984B0A"


def axes_for(ax: Axes | None) -> Axes:
    """Return the axes, or those of a new figure."""
    if ax is not None:
        return ax
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
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("one hue", ["#F3F4F6", FIRST])


def two_hues() -> Colormap:
    """Return colours from the first hue over nearly white to the second."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("two hues", [FIRST, "#F3F4F6", SECOND])
