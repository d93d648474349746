"""A sheet of A4 on which text is placed in inches from its upper left corner and never leaves its column."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

WIDTH, HEIGHT, MARGIN = 8.27, 11.69, 0.7
INK, QUIET, LINE, SUNKEN = "#161A20", "#48505E", "#D8DCE3", "#E9ECF0"

_LEADING = 1.3  # distance of lines in units of the font size
_SMALLEST = 4.0  # points; below this nobody reads


class Sheet:
    """The page; lengths are inches, sizes are points, y grows downwards."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=(WIDTH, HEIGHT))
        self._renderer = FigureCanvasAgg(self.figure).get_renderer()  # type: ignore[no-untyped-call]

    def paragraph(
        self, x: float, y: float, text: str, size: float, width: float, *, bold: bool = False, quiet: bool = False
    ) -> float:
        """Place text, broken into lines that fit the width; return the y below it."""
        leading = size / 72 * _LEADING
        for line in self._lines(text, size, width, bold):
            self._place(x, y + leading / 2, line, size, "left", bold, quiet)
            y += leading
        return y

    def label(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        width: float,
        *,
        align: str = "left",
        bold: bool = False,
        quiet: bool = False,
    ) -> None:
        """Place one line, its middle at y; smaller, then cut with an ellipsis, where it is wider than `width`."""
        shrunk = min(size, size * width / max(self._width(text, size, bold), 1e-9))
        if shrunk < _SMALLEST:
            shrunk = _SMALLEST
            while text and self._width(text + "…", shrunk, bold) > width:
                text = text[:-1]
            text += "…"
        self._place(x, y, text, shrunk, align, bold, quiet)

    def box(self, x: float, y: float, width: float, height: float, *, filled: bool) -> None:
        """Draw a cell."""
        face = SUNKEN if filled else "none"
        box = Rectangle(
            (x / WIDTH, 1 - (y + height) / HEIGHT), width / WIDTH, height / HEIGHT, fc=face, ec=LINE, lw=0.8
        )
        self.figure.add_artist(box)

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Return axes without a frame."""
        axes = self.figure.add_axes((x / WIDTH, 1 - (y + height) / HEIGHT, width / WIDTH, height / HEIGHT))
        axes.set_frame_on(False)
        return axes

    def _place(self, x: float, y: float, text: str, size: float, align: str, bold: bool, quiet: bool) -> Text:
        return self.figure.text(
            x / WIDTH,
            1 - y / HEIGHT,
            text,
            size=size,
            ha=align,
            va="center",
            weight="bold" if bold else "normal",
            color=QUIET if quiet else INK,
        )

    def _width(self, text: str, size: float, bold: bool) -> float:
        probe = self._place(0, 0, text, size, "left", bold, False)
        width = probe.get_window_extent(self._renderer).width / self.figure.dpi
        probe.remove()
        return float(width)

    def _lines(self, text: str, size: float, width: float, bold: bool) -> list[str]:
        lines = [""]
        for word in text.split():
            for piece in self._pieces(word, size, width, bold):
                longer = f"{lines[-1]} {piece}".strip()
                if self._width(longer, size, bold) <= width:
                    lines[-1] = longer
                else:
                    lines.append(piece)
        return lines

    def _pieces(self, word: str, size: float, width: float, bold: bool) -> list[str]:
        """Break a word that is wider than a line."""
        share = self._width(word, size, bold) / width
        letters = max(1, int(len(word) / share * 0.9)) if share > 1 else len(word)
        return [word[i : i + letters] for i in range(0, len(word), letters)]
