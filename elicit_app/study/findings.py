"""Findings about a file as one sentence."""

from __future__ import annotations

import re
from pathlib import Path

from elicit_app.problem import Finding, Problem

_TOLD = 3
_ROW = re.compile(r"\b[Rr]ow \d")


def file_problem(path: Path, *findings: Finding) -> Problem:
    """Return the problem with a file as one sentence; all findings are kept.

    Parameters
    ----------
    path : Path
        The file.
    *findings : Finding
        What has to be put right; the first three are told in the sentence.
    """
    parts = [f"{found.what} ({_clause(found.remedy)})" if found.remedy else found.what for found in findings[:_TOLD]]
    if len(findings) > _TOLD:
        parts.append(f"and {len(findings) - _TOLD} more")
    if any(_ROW.search(found.what) for found in findings):
        parts.append(
            "row 1 is the first below the header" if path.suffix.lower() == ".csv" else "the first row is row 1"
        )
    return Problem(f"{path.name} cannot be used: {'; '.join(parts)}.", findings)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: "1 row", "1,512 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(items: list[str], most: int = 5) -> str:
    """Return the first items in quotation marks, and how many more there are."""
    shown = ", ".join(f"“{shortened(item)}”" for item in items[:most])
    return shown + (f" and {len(items) - most:,} more" if len(items) > most else "")


def shortened(text: str, most: int = 40) -> str:
    """Return text from a file as it may be shown: at most 40 characters, all of them printable."""
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text.strip())
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def _clause(remedy: str) -> str:
    """Return the sentences of a remedy as one clause."""
    return "; ".join(part.strip().rstrip(".") for part in remedy.split(". "))
