"""Numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def two_digits(value: float) -> str:
    """Return a number >= 0 with two significant digits, as people write it: "7.5", "12", "1,200", "0.013"."""
    if value == 0 or math.isinf(value):
        return "0" if value == 0 else "∞"
    places = 1 - math.floor(math.log10(float(f"{value:.1e}")))
    rounded = round(value, places)
    return f"{rounded:,.{max(places, 0)}f}".rstrip("0").rstrip(".") if places > 0 else f"{rounded:,.0f}"


def cost_text(cost: float, interval: Sequence[float] | None) -> tuple[str, str]:
    """Return a cost and its 90 % interval as people read them.

    Parameters
    ----------
    cost : float
        The cost, >= 0.
    interval : sequence of two floats or None
        Its ends; 0 and inf where the cost is not bounded on that side.

    Returns
    -------
    tuple of two str
        ("0.13", "0.08 to 0.2"); the second is empty where there is no interval.
    """
    if interval is None:
        return two_digits(cost), ""
    low, high = map(float, interval)
    if low == 0 and math.isinf(high):
        return two_digits(cost), "not known"
    if math.isinf(high):
        return f"≥ {two_digits(low)}", "bounded"
    if low == 0 < high:
        return f"≤ {two_digits(high)}", "bounded"
    return two_digits(cost), f"{two_digits(low)} to {two_digits(high)}" if low < high else ""


def percent(share: float) -> str:
    """Return a share as a percentage, with one decimal where it is below 10 %: "4.0 %", "33 %"."""
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.095 else f"{100 * share:.1f} %"


def amount(value: float) -> str:
    """Return a count with separated thousands, and what is no whole number with three digits: "1,600", "2.5"."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"
