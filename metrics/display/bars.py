"""Numbers as bars, one below the other, each written out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from metrics.display.axes import FIRST, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
