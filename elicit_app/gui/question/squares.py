"""Geometry of a count bar: one square per case, in columns that grow outwards, filled from below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainterPath

MOST_SQUARES = 500
"""Above this many cases in one mistake a solid bar stands for the squares."""

LARGEST_PITCH, SMALLEST_PITCH, SMALLEST_OF_FIVE = 12.0, 3.0, 7.0
OUTLINE = 1.5
_BEYOND_GAP = 0.25
"""How far beyond the gap around the squares the middle of the outline is."""


@dataclass(frozen=True)
class Scale:
    """What a length means, for all bars of a page.

    Parameters
    ----------
    rows : int
        Squares in a column: five, or ten where five would be too small; also the height of a solid bar.
    pitch : float
        Distance of two squares in pixels, in half-pixel steps.
    solid : bool
        True where bars are solid.
    per_case : float
        Pixels per case of a solid bar.
    """

    rows: int
    pitch: float
    solid: bool = False
    per_case: float = 0.0

    @property
    def gap(self) -> float:
        """Return the space between two squares."""
        return 2.0 if self.pitch >= 8 else 1.5 if self.pitch >= 6 else 1.0

    @property
    def height(self) -> float:
        """Return the height of a full column."""
        return self.rows * self.pitch - self.gap

    def length(self, count: int) -> float:
        """Return how long the bar of `count` cases is."""
        if self.solid:
            return count * self.per_case
        return -(-count // self.rows) * self.pitch - self.gap if count else 0.0


def scale_for(largest: int, width: float, height: float) -> Scale:
    """Return the scale that shows up to `largest` cases in `width` by `height` pixels.

    Five squares a column where a square then is large enough, otherwise ten; above 500 cases, or where even ten in a
    column would be too small, a solid bar.
    """
    five, ten = (_pitch(largest, rows, width, height) for rows in (5, 10))
    rows, pitch = (5, five) if five >= SMALLEST_OF_FIVE or five >= ten else (10, ten)
    if largest <= MOST_SQUARES and pitch >= SMALLEST_PITCH:
        return Scale(rows, pitch)
    pitch = max(1.0, _half_steps(min(8.0, height / 5)))
    return Scale(5, pitch, solid=True, per_case=width / max(1, largest))


def _pitch(largest: int, rows: int, width: float, height: float) -> float:
    in_row = max(1, -(-largest // rows))
    return _half_steps(min(LARGEST_PITCH, width / in_row, height / rows))


def _half_steps(length: float) -> float:
    return int(length * 2) / 2


class Bar:
    """The squares of one bar, or its solid stretch: the common part first, then the surplus.

    Parameters
    ----------
    count, common : int
        Cases on this side, and how many of them are on both sides.
    scale : Scale
        What a length means.
    x, y : float
        Where the bar begins, and its upper edge.
    outwards : {-1, 1}
        -1 grows to the left (side A), 1 to the right.
    """

    def __init__(self, count: int, common: int, scale: Scale, x: float, y: float, outwards: int) -> None:
        self.scale, self._x, self._y, self._outwards = scale, x, y, outwards
        if scale.solid:
            self.common = [self._stretch(0, common)] if common else []
            self.surplus = [self._stretch(common, count)] if count > common else []
        else:
            self.common = [self._square(n) for n in range(common)]
            self.surplus = [self._square(n) for n in range(common, count)]

    @cached_property
    def outline(self) -> QPainterPath:
        """Return one outline around the surplus."""
        at = self.scale.gap + _BEYOND_GAP
        # The squares of a column are one rectangle: to simplify a path takes long for many of them.
        columns: dict[float, QRectF] = {}
        for rect in self.surplus:
            columns[rect.x()] = columns.get(rect.x(), rect).united(rect)
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        for column in columns.values():
            path.addRect(column.adjusted(-at, -at, at, at))
        return path.simplified()

    def _square(self, number: int) -> QRectF:
        scale = self.scale
        side = scale.pitch - scale.gap
        column, above = divmod(number, scale.rows)
        start = self._x + self._outwards * column * scale.pitch
        return QRectF(
            start if self._outwards > 0 else start - side,
            self._y + (scale.rows - 1 - above) * scale.pitch,
            side,
            side,
        )

    def _stretch(self, first: int, last: int) -> QRectF:
        near = self._x + self._outwards * first * self.scale.per_case
        far = self._x + self._outwards * last * self.scale.per_case
        return QRectF(min(near, far), self._y, abs(far - near), self.scale.height)


_PROBE = 1000


class ScaleMemory:
    """Remembers the largest count shown so far, and the scale of each size of the window.

    The largest count of a sitting is not known beforehand, so a larger one may still shrink the scale; nothing else
    changes it, and it never grows again.
    """

    def __init__(self) -> None:
        self._largest = 0
        self._scales: dict[tuple[int, ...], Scale] = {}

    @property
    def largest(self) -> int:
        """Return the largest count shown so far."""
        return self._largest

    def see(self, counts: list[int]) -> None:
        """Take note of counts that are going to be shown."""
        self._largest = max(self._largest, *counts, 0)

    def scale(self, width: float, height: float, window: tuple[int, ...]) -> Scale:
        """Return the scale for bars in `width` by `height` pixels.

        Parameters
        ----------
        width, height : float
            Room of the squares.
        window : tuple of int
            What identifies the size of window and font.
        """
        wanted, kept = scale_for(self._largest, width, height), self._scales.get(window)
        if kept is not None:
            fits = kept.height <= height and kept.length(self._largest) <= width
            longest = kept.length(_PROBE)
            if fits and longest <= wanted.length(_PROBE) and kept.solid >= wanted.solid:
                return kept
            if wanted.solid:
                wanted = replace(wanted, per_case=min(wanted.per_case, longest / _PROBE))
        self._scales[window] = wanted
        return wanted
