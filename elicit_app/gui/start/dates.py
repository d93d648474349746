"""When something was, in words."""

from __future__ import annotations

from datetime import datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day_words(then: datetime, now: datetime) -> str:
    """Return the day for a list: "today", "yesterday", "18 Nov", "18 Nov 2024"; both times of the same time zone."""
    days = (now.date() - then.date()).days
    if days in (0, 1):
        return "today" if days == 0 else "yesterday"
    said = f"{then.day} {_MONTHS[then.month - 1]}"
    return said if then.year == now.year else f"{said} {then.year}"


def moment_words(then: datetime, now: datetime) -> str:
    """Return day and time: "yesterday, 17:42"."""
    return f"{day_words(then, now)}, {then:%H:%M}"
