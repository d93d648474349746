"""Bringing study files of older versions up to date. This module imports nothing of ours, so that it never changes.

History of `study.json`
-----------------------
1 : classes, title, population, stated prevalence, yardstick, wording, models with their files, digest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FORMAT = "elicit-study"
CURRENT = 1

# version -> what turns a document of that version into one of the next
STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def migrate(document: object) -> dict[str, Any]:
    """Return a study document in the current version.

    Parameters
    ----------
    document : object
        What was parsed from `study.json`.

    Raises
    ------
    ValueError
        It is not a study document, or it was written by a newer program; the text says so after "it".
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'is not a study file: its "format" must be "{FORMAT}"')
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f'has no proper "version": a whole number from 1 to {CURRENT} is expected')
    if version > CURRENT:
        raise ValueError(f"was written by a newer elicit (version {version}, known up to {CURRENT}): update elicit")
    while version < CURRENT:
        document = STEPS[version](document)
        version += 1
    return document
