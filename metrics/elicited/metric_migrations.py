"""Versions of the elicited metric file, and the steps from each to the next. Imports nothing of this project.

Version 1 is the first. A step takes the document of its version, as `json.loads` gives it, and returns that of the next
version; it is written once and never changed again.
"""

from collections.abc import Callable, Mapping
from typing import Any

CURRENT_VERSION = 1

Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: Mapping[int, Step] = {}


def migrate(
    document: dict[str, Any], steps: Mapping[int, Step] = STEPS, current: int = CURRENT_VERSION
) -> dict[str, Any]:
    """Bring a document to the current version.

    Parameters
    ----------
    document : dict
        What the file holds; it is not changed.
    steps : mapping of int to callable
        For each older version the step to the next.
    current : int
        The version to arrive at.

    Returns
    -------
    dict
        The document of version `current`.

    Raises
    ------
    ValueError
        Where the version is missing, is no whole number >= 1, or is newer than `current`.
    """
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"field version holds {version!r}; a whole number from 1 to {current} was expected")
    if version > current:
        raise ValueError(
            f"the file has version {version}, this program reads versions up to {current}; "
            "update the program, or ask for a file of the older version"
        )
    for number in range(version, current):
        document = {**steps[number](dict(document)), "version": number + 1}
    return document
