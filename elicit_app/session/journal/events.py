"""What can happen in a session: a closed set of small events, one JSON object a line in the journal.

Format history: version 1, the first; version 2 names the sides of a pair first and second instead of a and b
(older lines are read through `migrations`).
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, model_validator

from elicit_app.elicitation.questions import Choice, Purpose, Side, Strength

FORMAT: Final = "elicit-session"
VERSION = 2

CountRows = tuple[tuple[int, ...], ...]
Subject = Literal["left", "right"]
Kept = Literal["first", "second", "equal", "both"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Event(_Record):
    at: AwareDatetime


class StudyMark(_Record):
    """Which study a session is about, and how to notice that it is no longer the same one.

    `location` is the file of a study that is a single predictions file; a study folder is found from the session's own
    place in it, a bundled or synthetic study by its name.
    """

    name: str
    title: str
    kind: Literal["bundled", "folder", "file", "synthetic"]
    digest: str
    classes: tuple[str, ...]
    location: str | None = None


class Guess(_Record):
    """A ratio that the expert guessed before the first question: one (true, predicted) against the yardstick.

    `predicted` is None where any wrong answer for the same truth is equally bad.
    """

    true: int = Field(ge=0)
    predicted: int | None = Field(default=None, ge=0)
    ratio: float = Field(gt=0)


class Pair(_Record):
    """A question as it was shown: two matrices of counts per `population`, in the procedure's own order.

    `repeat_of` is the number, from 1, of the answer that is repeated.
    """

    first: CountRows
    second: CountRows
    population: int = Field(gt=0)
    purpose: Purpose = Purpose.INFORMATIVE
    repeat_of: int | None = Field(default=None, ge=1)
    hypothetical: bool = False

    @model_validator(mode="after")
    def _check_shape(self) -> Pair:
        size = len(self.first)
        for name, rows in (("first", self.first), ("second", self.second)):
            if len(rows) != size or any(len(row) != size for row in rows) or size < 2:
                raise ValueError(f"the {name} matrix is not {size} x {size}")
            if any(entry < 0 for row in rows for entry in row) or sum(map(sum, rows)) != self.population:
                raise ValueError(f"the counts of the {name} matrix do not add up to the population {self.population}")
        return self


class Still(_Record):
    """What the procedure said, before the answer, was still to come: the fewest and the most questions."""

    fewest: int = Field(ge=0)
    most: int = Field(ge=0)


class Begun(_Event):
    """The first line of every journal."""

    kind: Literal["begun"] = "begun"
    format: Literal["elicit-session"] = FORMAT
    version: int = VERSION
    study: StudyMark
    setting: dict[str, JsonValue]
    seed: int = Field(ge=0)
    expert: str | None = None
    software: dict[str, str] = Field(default_factory=dict)


class Guessed(_Event):
    """First guesses of the ratios, asked before the first question."""

    kind: Literal["guessed"] = "guessed"
    guesses: tuple[Guess, ...]


class Practised(_Event):
    """The practice questions were done (they never count)."""

    kind: Literal["practised"] = "practised"


class Answered(_Event):
    """One answer, with the question as it was shown: which matrix stood left and whom the strip's sentence was about.

    The choice is in the pair's own order, whichever matrix stood left.
    """

    kind: Literal["answered"] = "answered"
    pair: Pair
    left: Side
    subject: Subject
    choice: Choice
    strength: Strength | None = None
    seconds: float | None = Field(default=None, ge=0)
    full_picture: bool = False
    still: Still | None = None


class TakenOut(_Event):
    """An answer was taken out: it stays in the journal and is used no more."""

    kind: Literal["taken out"] = "taken out"
    number: int = Field(ge=1)


class Changed(_Event):
    """An answer was looked at again and given anew."""

    kind: Literal["changed"] = "changed"
    number: int = Field(ge=1)
    choice: Choice
    strength: Strength | None = None
    seconds: float | None = Field(default=None, ge=0)


class Resolved(_Event):
    """Two different answers to the same pair, and which one was meant."""

    kind: Literal["resolved"] = "resolved"
    first: int = Field(ge=1)
    second: int = Field(ge=1)
    kept: Kept


class Undone(_Event):
    """The last action was taken back."""

    kind: Literal["undone"] = "undone"


class Redone(_Event):
    """The action that was taken back last was put back."""

    kind: Literal["redone"] = "redone"


class Stopped(_Event):
    """The expert stopped answering and went to the review."""

    kind: Literal["stopped"] = "stopped"


class Continued(_Event):
    """The expert asked for more questions.

    `questions` is the number of informative questions to ask at most, in all, from now on (None: as before);
    `early_stop` tells whether the procedure may stop before that number.
    """

    kind: Literal["continued"] = "continued"
    questions: int | None = Field(default=None, ge=1)
    early_stop: bool = True


class Finished(_Event):
    """The expert looked back and asked for the result."""

    kind: Literal["finished"] = "finished"


class Recovered(_Event):
    """The end of an unfinished line was cut off when the session was opened again; `dropped` is what it held."""

    kind: Literal["recovered"] = "recovered"
    dropped: str


class Noted(_Event):
    """A sentence worth keeping, such as a recomputed question that differs from the recorded one."""

    kind: Literal["noted"] = "noted"
    sentence: str


Action = Answered | TakenOut | Changed | Resolved
Event = Annotated[
    Begun
    | Guessed
    | Practised
    | Answered
    | TakenOut
    | Changed
    | Resolved
    | Undone
    | Redone
    | Stopped
    | Continued
    | Finished
    | Recovered
    | Noted,
    Field(discriminator="kind"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def to_line(event: Event) -> bytes:
    """Return the event as one line of UTF-8 JSON, newline included."""
    return event.model_dump_json(exclude_none=True).encode() + b"\n"
