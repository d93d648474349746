"""What every reproduced experiment is: parts that are computed, rows that are compared, panels that are drawn.

A row sets one published value beside ours and says what the difference comes from. An experiment is cut into parts so
that it can show progress, be interrupted and go on; its record is a pure function of what the parts return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

Value = float | int | str | tuple[float, ...] | None
"""A number, several numbers that belong together, words, or None where there is none."""

Style = Literal["ours", "published", "other", "bound", "third", "series"]
NOT_PUBLISHED = "not published"
AGREES = "Agrees to the printed digits."


@dataclass(frozen=True)
class Row:
    """One published value beside ours.

    Parameters
    ----------
    quantity : str
        What it is, with its unit.
    published : Value
        As printed in the source; None where the source prints none.
    ours : Value
        Computed by this program; None where it could not be computed here.
    cause : str
        One sentence: what the difference comes from. It may be left out where ours rounds to the published digits,
        and where nothing is published.
    digits : int
        Decimals that the source prints.
    """

    quantity: str
    published: Value
    ours: Value
    cause: str = ""
    digits: int = 2

    @property
    def difference(self) -> float | None:
        """Return ours minus published, of several numbers the one of largest size; None unless both are numbers."""
        ours, published = _numbers(self.ours), _numbers(self.published)
        if ours is None or published is None or ours.shape != published.shape:
            return None
        apart = ours - published
        return float(apart[np.abs(apart).argmax()])

    @property
    def agrees(self) -> bool:
        """Tell whether ours rounds to what is printed, or says the same in words."""
        apart = self.difference
        if apart is None:
            return self.published is not None and self.published == self.ours
        return abs(apart) <= 0.5 * 10.0**-self.digits * (1 + 1e-9)

    @property
    def explanation(self) -> str:
        """Return the cause, or that there is nothing to explain."""
        if self.cause or self.published is None:
            return self.cause
        return AGREES if self.agrees else ""

    def as_json(self) -> dict[str, Any]:
        """Return the row as a record holds it."""
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
    """Points of a plot.

    Parameters
    ----------
    label : str
        What they are; empty keeps them out of the legend.
    x, y : sequence of float
        The points.
    style : str
        ours, published, bound (a theorem's line), third or other (further curves), series (one of several in an order).
    marks : bool
        Single marks instead of a line.
    spread : sequence of float, optional
        Half the length of a bar through every point.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Style = "ours"
    marks: bool = False
    spread: Sequence[float] | None = None


@dataclass(frozen=True)
class Panel:
    """One set of axes.

    Parameters
    ----------
    title, xlabel, ylabel : str
        Their words.
    curves : tuple of Curve
        What is drawn.
    log : str
        Which axes are logarithmic: "", "x", "y" or "xy".
    equal : bool
        One unit is as long in both directions.
    names : tuple of str
        What stands at x = 0, 1, 2, ... in place of numbers.
    """

    title: str
    xlabel: str
    ylabel: str
    curves: tuple[Curve, ...]
    log: Literal["", "x", "y", "xy"] = ""
    equal: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """What an experiment came to.

    Parameters
    ----------
    rows : tuple of Row
        Published beside ours.
    panels : tuple of Panel
        The plot.
    notes : tuple of str
        Sentences that belong to the whole table.
    """

    rows: tuple[Row, ...]
    panels: tuple[Panel, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """What a run is told.

    Parameters
    ----------
    quick : bool
        Fewer runs or smaller data: minutes for all experiments instead of an hour.
    seed : int
        Of everything random.
    data : Path or None
        Folder of data files that are not part of the project; None: where downloads are kept.
    """

    quick: bool = False
    seed: int = 0
    data: Path | None = None

    def rng(self, *stream: int) -> np.random.Generator:
        """Return the chance of one stream; streams do not depend on each other."""
        return np.random.default_rng([self.seed, *stream])


@dataclass(frozen=True)
class Part:
    """A piece of work whose result is kept on disk until the experiment is done.

    Parameters
    ----------
    key : str
        Its name within the experiment.
    compute : callable
        A function of a module; returns what JSON can hold.
    arguments : tuple
        What it is called with.
    """

    key: str
    compute: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A table, a figure or a claim of a source that can be computed anew.

    Parameters
    ----------
    name : str
        As `elicit reproduce` takes it.
    title : str
        What it shows, a few words.
    source : str
        Paper and place.
    parts : callable
        Options to the parts; they do not depend on each other.
    report : callable
        Options and the parts' results, by key, to the findings. It does no long work.
    times : bool
        The parts measure time: what they return is written beside the record, not into it.
    """

    name: str
    title: str
    source: str
    parts: Callable[[Options], Sequence[Part]]
    report: Callable[[Options, Mapping[str, Any]], Findings]
    times: bool = field(default=False)


def mean_and_error(values: Sequence[float] | np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else 0.0


def _numbers(value: Value) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    if value is None or isinstance(value, str):
        return None
    return np.atleast_1d(np.asarray(value, dtype=np.float64))


def _plain(value: Value) -> Any:
    """Return a value for JSON; thirteen digits are kept, so that another processor writes the same."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.13g}")
    return [float(f"{one:.13g}") for one in value]
