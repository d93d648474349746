"""Session files of older versions, line by line. Imports nothing of ours: the old names must stay what they were.

Version 1 named the two sides of a pair "a" and "b"; since version 2 they are "first" and "second".
"""

from __future__ import annotations

from typing import Any

_SIDES = {"a": "first", "b": "second"}


def migrated(event: dict[str, Any]) -> dict[str, Any]:
    """Return one event of any version as the newest version writes it.

    A session that an older version began may have newer lines at its end, so every line is looked at by itself.
    """
    new = dict(event)
    for key in ("choice", "left"):
        if isinstance(side := event.get(key), str):
            new[key] = _SIDES.get(side, side)
    if isinstance(pair := event.get("pair"), dict):
        new["pair"] = {_SIDES.get(key, key): value for key, value in pair.items()}
    return new
