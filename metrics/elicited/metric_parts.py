"""What an elicited metric tells about itself besides its costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

from numpy.typing import ArrayLike

from metrics.errors import InputError

if TYPE_CHECKING:
    from pydantic import ConfigDict

# How the reader of files takes these parts: no unknown field, no text for a number.
_STRICT: ConfigDict = {"extra": "forbid", "strict": True}


@dataclass(frozen=True)
class Consequence:
    """The expert's words for one mistake.

    Parameters
    ----------
    true : str
        The true class.
    predicted : str or None
        The predicted class; None for any wrong answer for that truth.
    name : str
        Title: "Missed melanoma".
    one, many : str
        Inside a sentence: "missed melanoma", "missed melanomas"; may be empty.
    consequence : str
        One sentence: "Sent home. Found later, harder to treat."; may be empty.
    """

    true: str
    predicted: str | None
    name: str
    one: str = ""
    many: str = ""
    consequence: str = ""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT


@dataclass(frozen=True)
class Provenance:
    """Where the weights come from.

    Parameters
    ----------
    procedure : str
        What asked: "dlpm", "lpm", "bayes", ...; "stated" where the costs were written down by somebody.
    version : str
        Version of the program.
    parameters : mapping
        The settings of the procedure, as JSON values.
    seed : int or None
        Seed of everything random.
    questions : int
        Answers used.
    study_digest, answers_digest : str or None
        SHA-256 of the study and of the answers, hexadecimal.
    expert : str or None
        Who answered, where they want to be named.

    Raises
    ------
    InputError
        Where a parameter is no JSON value.
    """

    procedure: str = "stated"
    version: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    questions: int = 0
    study_digest: str | None = None
    answers_digest: str | None = None
    expert: str | None = None

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    def __post_init__(self) -> None:
        try:
            json.dumps(dict(self.parameters), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"parameters: JSON values were expected ({error})") from None


@dataclass(frozen=True)
class Tally:
    """So many of so many.

    Parameters
    ----------
    agreed : int
        How many did, at least 0.
    of : int
        Of how many, at least `agreed`.

    Raises
    ------
    InputError
        Where `agreed` is negative or more than `of`.
    """

    agreed: int
    of: int

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    def __post_init__(self) -> None:
        if not 0 <= self.agreed <= self.of:
            raise InputError(f"{self.agreed} of {self.of}: a number from 0 to {self.of} was expected")

    def __str__(self) -> str:
        """Return "13 of 15"."""
        return f"{self.agreed} of {self.of}"


@dataclass(frozen=True)
class Quality:
    """How far the answers support the weights; None where it was not looked at.

    Parameters
    ----------
    repeats_agreed : Tally or None
        Repeated questions that got the same answer again.
    answers_explained : Tally or None
        Answers that the weights would give too.
    held_out_agreement : Tally or None
        Answers kept aside that the weights of the others predict.
    purpose : str or None
        What the answers were asked for, in words: "choose between these models", "write down the costs".
    provisional : str or None
        Why the weights should not be used for anything else yet, in words; None where nothing speaks against it.
    never_asked : tuple of (str, str or None)
        Mistakes, as (true, predicted) with None for any wrong answer, that no question was about.
    linear : bool, str or None
        Whether the answers fit costs that add up: True, or the name of the rule that fits better.
    simulated : bool
        Whether a program answered instead of a person.
    """

    repeats_agreed: Tally | None = None
    answers_explained: Tally | None = None
    held_out_agreement: Tally | None = None
    purpose: str | None = None
    provisional: str | None = None
    never_asked: tuple[tuple[str, str | None], ...] = ()
    linear: bool | str | None = None
    simulated: bool = False

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT


class MetricDetails(TypedDict, total=False):
    """What may be said about a metric when it is made, beside classes and weights; see `ElicitedMetric`."""

    name: str
    created: datetime
    intervals: ArrayLike | None
    samples: ArrayLike | None
    prevalence: ArrayLike | None
    population: int | None
    consequences: Sequence[Consequence]
    yardstick: tuple[object, object] | None
    provenance: Provenance
    quality: Quality
