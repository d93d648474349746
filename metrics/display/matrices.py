"""Matrices as shaded cells with numbers in them; rows are the truth, columns what the model says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.display.axes import INK, axes_for, one_hue, two_hues
from metrics.display.text import amount, cost_text, percent
from metrics.errors import InputError
from metrics.inputs.arguments import Floats, square_matrix
from metrics.inputs.labels import label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


@runtime_checkable
class CostsOfClasses(Protocol):
    """An elicited metric, as far as its cost matrix is drawn."""

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
    """Draw a confusion matrix: counts with the rate of each row beneath, rates, or a difference.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Counts; or rates, where no entry exceeds 1; or a difference of either, where an entry is negative.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    labels : sequence of k labels, optional
        Names of the classes; by default the matrix's own ``labels``, else 0..k-1.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
    values = square_matrix(np.asarray(matrix), "matrix", 1)
    names = labels if labels is not None else getattr(matrix, "labels", None)
    rates = bool((np.abs(values) <= 1).all() and (values != np.round(values)).any())
    if (values < 0).any():
        return _draw_difference(values, rates, names, ax)
    of_row = values / np.maximum(values.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    def cell(i: int, j: int) -> str:
        return percent(values[i, j]) if rates else f"{amount(values[i, j])}\n{percent(of_row[i, j])}"

    return _heat_map(of_row, cell, names, ax, one_hue())


def plot_difference(
    first: ArrayLike, second: ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None
) -> Axes:
    """Draw the second confusion matrix minus the first, with signs, on a scale that is symmetric about 0.

    Parameters
    ----------
    first, second : array-like of shape (k, k)
        Both counts, or both rates.
    ax, labels
        As in `plot_confusion`.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Raises
    ------
    InputError
        Where the two are of different shapes or classes.
    """
    a, b = square_matrix(np.asarray(first), "first", 1), square_matrix(np.asarray(second), "second", 1)
    if a.shape != b.shape:
        raise InputError(f"second: the shape {a.shape} of first was expected, found {b.shape}.")
    own: Sequence[object] | None = getattr(first, "labels", None)
    other: Sequence[object] | None = getattr(second, "labels", None)
    if own is not None and other is not None and [*map(label_text, own)] != [*map(label_text, other)]:
        raise InputError(f"second: the labels {own} of first were expected, found {other}.")
    names = labels if labels is not None else own
    rates = bool((a <= 1).all() and (b <= 1).all() and ((a != np.round(a)).any() or (b != np.round(b)).any()))
    return _draw_difference(b - a, rates, names, ax)


def plot_cost_matrix(
    costs: CostsOfClasses | ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None
) -> Axes:
    """Draw a cost matrix; that of an elicited metric with its 90 % intervals.

    Parameters
    ----------
    costs : ElicitedMetric or array-like of shape (k, k)
        Costs >= 0.
    ax, labels
        As in `plot_confusion`; an elicited metric names its classes itself.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
    intervals = None
    if isinstance(costs, CostsOfClasses):
        intervals, labels = costs.intervals, costs.classes if labels is None else labels
        costs = costs.cost_matrix
    values = square_matrix(costs)

    def cell(i: int, j: int) -> str:
        interval = None if intervals is None or i == j else intervals[i, j]
        return "\n".join(filter(None, cost_text(float(values[i, j]), interval)))

    shade = values / (values.max() or 1.0)
    return _heat_map(shade, cell, labels, ax, one_hue())


def plot_shares(shares: ArrayLike, ax: Axes | None, labels: Sequence[object]) -> Axes:
    """Draw how a whole is made up of the cells of a matrix, each in percent of all.

    Parameters
    ----------
    shares : array-like of shape (k, k)
        In [0, 1].
    ax, labels
        As in `plot_confusion`, and returned as there.
    """
    values = square_matrix(shares, "shares")
    return _heat_map(values / (values.max() or 1.0), lambda i, j: percent(values[i, j]), labels, ax, one_hue())


def _draw_difference(values: NDArray[Any], rates: bool, names: Sequence[object] | None, ax: Axes | None) -> Axes:
    def cell(i: int, j: int) -> str:
        value = float(values[i, j])
        sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
        return sign + (percent(abs(value)) if rates else amount(abs(value)))

    return _heat_map(values / (np.abs(values).max() or 1.0), cell, names, ax, two_hues(), low=-1.0)


def _heat_map(
    shade: NDArray[Any],
    cell: Callable[[int, int], str],
    names: Sequence[object] | None,
    ax: Axes | None,
    colours: Colormap,
    low: float = 0.0,
) -> Axes:
    """Draw a matrix whose cells are shaded in [low, 1] and hold text."""
    axes = axes_for(ax)
    k = len(shade)
    if names is not None and len(names) != k:
        raise InputError(f"labels: {k} names were expected, {len(names)} given.")
    axes.imshow(shade, cmap=colours, vmin=low, vmax=1, aspect="equal")
    size = max(4.0, min(10.0, 60 / k))
    for i in range(k):
        for j in range(k):
            ink = "white" if abs(shade[i, j]) > 0.6 else INK
            axes.text(j, i, cell(i, j), ha="center", va="center", color=ink, size=size, parse_math=False)
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
