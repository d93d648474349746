"""What a length means during a session: at one size of the window it only ever shrinks."""

from __future__ import annotations

from dataclasses import replace

from elicit_app.gui.question.squares import Scale, scale_for

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
