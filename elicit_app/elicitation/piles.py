"""Piles of mistakes that are about as bad, as somebody states them before the questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from elicit_app.elicitation.orders import StatedMistake
from elicit_app.problem import WrongOption


@dataclass(frozen=True)
class StatedPile:
    """Mistakes of about the same consequence.

    Parameters
    ----------
    name : str
        What they have in common: "Wrong treatment".
    mistakes : tuple of StatedMistake
        Each with its true and its predicted class, by name or index.
    """

    name: str
    mistakes: tuple[StatedMistake, ...]

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


def piles_of(stated: Sequence[StatedPile], classes: Sequence[str]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return stated piles as a belief takes them: per pile its mistakes as (true, predicted); empty ones left out.

    Raises
    ------
    WrongOption
        A class that there is not, a mistake that is none, or one that lies in two piles.
    """
    found, seen = [], set[tuple[int, int]]()
    for pile in stated:
        own = tuple(_place(mistake, pile, classes) for mistake in pile.mistakes)
        twice = seen & set(own) or (len(set(own)) < len(own))
        if twice:
            raise WrongOption(f"`piles`: a mistake of “{pile.name}” is stated twice; leave it in one pile.")
        seen |= set(own)
        if own:
            found.append(own)
    return tuple(found)


def _place(mistake: StatedMistake, pile: StatedPile, classes: Sequence[str]) -> tuple[int, int]:
    ends = []
    for of in (mistake.true, mistake.predicted):
        if isinstance(of, str) and of in classes:
            ends.append(list(classes).index(of))
        elif isinstance(of, int) and 0 <= of < len(classes):
            ends.append(of)
    if len(ends) != 2 or ends[0] == ends[1]:
        raise WrongOption(f"`piles`: {mistake} in “{pile.name}” is no mistake of this study.")
    return ends[0], ends[1]
