"""The small plots of a page as SVG, drawn once for every format, each with a text that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metrics.display.axes import SECOND, LinearAxis, LogAxis
from metrics.display.text import html_text, total_cost, two_digits
from metrics.elicited.exchange import ExchangeRate
from metrics.policies.judgement import JudgedPolicy

WIDTH, NARROW, HEIGHT, _NUMBERS = 300, 150, 24, 14
_MOST_NUMBERS = 4
_MARGIN = 12  # keeps numbers and marks at the ends of an axis inside


@dataclass(frozen=True)
class Picture:
    """A drawing: SVG that names its own size, what it shows in words, and how wide it is."""

    svg: str
    alt: str
    width: int


def rate_mark(rate: ExchangeRate, axis: LogAxis, guess: float | None = None) -> Picture:
    """Draw one exchange rate on an axis: dot, 50 % bar and 90 % line, dashed where it is only bounded; first guess."""
    middle = HEIGHT / 2
    parts = [_upright(_at(axis, x), strong=x == 1) for x in axis.ticks()]
    for shape, *ends in rate.marks(guess):
        low, high = (_at(axis, end) for end in ends)
        match shape:
            case "square":
                parts.append(_bar(low - 4, low + 4, middle - 4, 8, 'fill="currentColor"'))
            case "bound":
                parts.append(_line(low, high, middle, ' stroke-dasharray="5 3"'))
            case "line":
                parts.append(_line(low, high, middle))
            case "bar":
                parts.append(_bar(low, high, middle - 4, 8, 'fill="currentColor" fill-opacity="0.4"'))
            case "dot":
                parts.append(_dot(low, middle))
            case "diamond":
                parts.append(_diamond(low, middle))
    said = ", ".join(one for one in (rate.in_words(), rate.range_in_words()) if one)
    return _picture(parts, said if guess is None else f"{said}; first guess {two_digits(guess)}")


def log_numbers(axis: LogAxis) -> Picture:
    """Draw the numbers of a logarithmic axis."""
    ticks = axis.ticks()
    parts = [_text(_at(axis, x), 11, two_digits(x)) for x in ticks]
    return _picture(parts, f"Axis from {two_digits(ticks[0])} to {two_digits(ticks[-1])}", _NUMBERS)


def difference_mark(one: JudgedPolicy, axis: LinearAxis) -> Picture:
    """Draw what a policy costs above the first: line of both doubts, bar above of the answers, below of the cases."""
    parts, middle = [_upright(_across(axis, 0), strong=True)], HEIGHT / 2
    if one.difference_to_best > axis.high:
        end = _across(axis, axis.high)
        said = f"+{total_cost(one.difference_to_best)}"
        parts.append(_line(end - 34, end, middle, ' stroke-dasharray="3 3"'))
        head = f"{end - 5:.1f},{middle - 4} {end:.1f},{middle} {end - 5:.1f},{middle + 4}"
        parts.append(f'<polyline points="{head}" {_STROKE}/>')
        parts.append(_text(end - 40, middle + 4, said, "end"))
    else:
        for range_, top, look in (
            (one.difference_answers, middle - 8, 'fill="currentColor" fill-opacity="0.7"'),
            (one.difference_cases, middle + 4, 'fill="none" stroke="currentColor" stroke-width="0.8"'),
        ):
            if range_ is not None and range_[0] < range_[1]:
                parts.append(_bar(_across(axis, range_[0]), _across(axis, range_[1]), top, 4, look))
        if one.difference_interval is not None:
            low, high = (_across(axis, end) for end in one.difference_interval)
            parts.append(_line(low, high, middle))
        parts.append(_dot(_across(axis, one.difference_to_best), middle))
    return _picture(parts, _difference_words(one), width=NARROW)


def difference_numbers(axis: LinearAxis) -> Picture:
    """Draw the numbers of an axis of differences."""
    ticks = [x for x in axis.ticks(_MOST_NUMBERS) if x >= 0]
    parts = [_text(_across(axis, x), 11, f"+{total_cost(x)}" if x else "0") for x in ticks]
    return _picture(parts, f"Axis from 0 to {total_cost(ticks[-1])}", _NUMBERS, NARROW)


def _difference_words(one: JudgedPolicy) -> str:
    if not one.difference_to_best:
        return "the first"
    said = f"{total_cost(one.difference_to_best)} more than the first"
    if one.difference_interval is None:
        return said
    low, high = one.difference_interval
    ends = " to ".join(f"{total_cost(abs(end))} {'less' if end < 0 else 'more'}" for end in (low, high))
    return f"{said}, plausible {ends}"


# Colours are attributes, because not every reader styles SVG.
_STROKE = 'stroke="currentColor" stroke-width="1.6" fill="none"'


def _picture(parts: Sequence[str], alt: str, height: int = HEIGHT, width: int = WIDTH) -> Picture:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    inside = "".join(parts)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{html_text(alt)}">{inside}</svg>'
    return Picture(svg, alt, width)


def _at(axis: LogAxis, value: float) -> float:
    return _MARGIN + axis.position(value) * (WIDTH - 2 * _MARGIN)


def _across(axis: LinearAxis, value: float) -> float:
    return _MARGIN + axis.position(value) * (NARROW - 2 * _MARGIN)


def _line(start: float, end: float, y: float, more: str = "") -> str:
    return f'<line x1="{start:.1f}" x2="{end:.1f}" y1="{y}" y2="{y}" {_STROKE}{more}/>'


def _upright(x: float, *, strong: bool) -> str:
    opacity = 0.6 if strong else 0.18
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}" stroke="currentColor" stroke-opacity="{opacity}"/>'


def _bar(left: float, right: float, top: float, height: float, look: str) -> str:
    return f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 0.5):.1f}" height="{height}" {look}/>'


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="currentColor"/>'


def _diamond(x: float, y: float) -> str:
    corners = f"{x:.1f},{y - 6} {x + 6:.1f},{y} {x:.1f},{y + 6} {x - 6:.1f},{y}"
    return f'<polygon points="{corners}" fill="#FFFFFF" stroke="{SECOND}" stroke-width="1.6"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    look = f'font-family="Inter, DejaVu Sans, sans-serif" font-size="11" fill="currentColor" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y}" {look}>{html_text(text)}</text>'
