"""The events of a session: a closed set of small records, one JSON object per line of the journal.

Format history: version 1 was the first; version 2 calls the sides of a pair first and second instead of a and b (older
lines are read through `migrated`), and every line ends in a running digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, model_validator

from elicit_app.elicitation.agenda import MOST_QUESTIONS
from elicit_app.elicitation.questions import Answer, Choice, Counts, Moved, Proposal, Purpose, Question, Side, Strength

FORMAT: Final = "elicit-session"
VERSION = 2
PROTECTED = 2
"""The first version whose lines carry a running digest: see `digest_after`."""

CountRows = tuple[tuple[int, ...], ...]
Subject = Literal["left", "right"]
Kept = Literal["first", "second", "equal", "both"]
LONGEST_REASON = 2_000
"""Largest number of characters typed about one answer."""
_LONGEST_DROPPED = 4_096
NAMELESS_PROGRAM = "simulated expert"


def as_counts(rows: CountRows) -> Counts:
    """Return recorded counts as a read-only matrix."""
    matrix = np.array(rows, dtype=np.int64)
    matrix.setflags(write=False)
    return matrix


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Event(_Record):
    at: AwareDatetime


class StudyMark(_Record):
    """The study of a session, and how to notice that it has changed.

    A study folder is found from the session's place in it, a bundled or synthetic study by its name, and a packed study
    by a copy beside the session; `pack` is its digest, and `round` is 2 if experts answered again. `location` is a path
    that earlier versions wrote; it is shown but never opened.
    """

    name: str
    title: str
    kind: Literal["bundled", "folder", "file", "synthetic", "pack"]
    digest: str
    classes: tuple[str, ...]
    pack: str | None = None
    round: int | None = Field(default=None, ge=1)
    location: str | None = None


class Guess(_Record):
    """A ratio that the expert guessed before the first question: one (true, predicted) in units of the yardstick.

    `predicted` is None if all wrong answers for the same truth are equally bad.
    """

    true: int = Field(ge=0)
    predicted: int | None = Field(default=None, ge=0)
    ratio: float = Field(gt=0)


class Pair(_Record):
    """A question as it was shown: two matrices of counts per `population`, in the procedure's own order.

    `repeat_of` is the number, from 1, of the repeated answer.
    """

    first: CountRows
    second: CountRows
    population: int = Field(gt=0)
    purpose: Purpose = Purpose.INFORMATIVE
    repeat_of: int | None = Field(default=None, ge=1)
    hypothetical: bool = False
    far: bool = False
    proposal: Proposal | None = None
    common_base: bool = False

    @model_validator(mode="after")
    def _check_shape(self) -> Pair:
        size = len(self.first)
        for name, rows in (("first", self.first), ("second", self.second)):
            if len(rows) != size or any(len(row) != size for row in rows) or size < 2:
                raise ValueError(f"the {name} matrix is not {size} x {size}")
            if min(map(min, rows)) < 0 or sum(map(sum, rows)) != self.population:
                raise ValueError(f"the counts of the {name} matrix do not add up to the population {self.population}")
        return self

    @classmethod
    def of(cls, question: Question, numbers: tuple[int, ...]) -> Pair:
        """Return the record of a question; `numbers[place]` is the answer number at an index of the history.

        Raises ValueError if the question has no population.
        """
        if question.population is None:
            raise ValueError("a person is asked in whole cases: the question has no population")
        return cls(
            first=question.first.tolist(),
            second=question.second.tolist(),
            population=question.population,
            purpose=question.purpose,
            repeat_of=None if question.repeat_of is None else numbers[question.repeat_of - 1],
            hypothetical=question.hypothetical,
            far=question.far,
            proposal=question.proposal,
            common_base=question.common_base,
        )

    def question(self, places: Mapping[int, int]) -> Question:
        """Return the recorded pair as a question; `places` maps answer numbers to indices of the history."""
        index = None if self.repeat_of is None else places.get(self.repeat_of)
        # A repeat whose original was taken out is the only answer to its pair, so it is informative.
        purpose = Purpose.INFORMATIVE if self.purpose is Purpose.REPEAT and index is None else self.purpose
        return Question(
            as_counts(self.first),
            as_counts(self.second),
            self.population,
            purpose=purpose,
            repeat_of=None if index is None else index + 1,
            hypothetical=self.hypothetical,
            far=self.far,
            proposal=self.proposal,
            common_base=self.common_base,
        )

    def order(self, other: Pair) -> bool | None:
        """Return True for the same pair in the same order, False for the swapped pair, None for another pair."""
        if self.population != other.population:
            return None
        if (self.first, self.second) == (other.first, other.second):
            return True
        return False if (self.first, self.second) == (other.second, other.first) else None


class Remaining(_Record):
    """The fewest and the most questions that the procedure expected before the answer."""

    fewest: int = Field(ge=0)
    most: int = Field(ge=0)


class Begun(_Event):
    """The first line of every journal; `simulated` is true if a program answers."""

    kind: Literal["begun"] = "begun"
    format: Literal["elicit-session"] = FORMAT
    version: int = VERSION
    study: StudyMark
    setting: dict[str, JsonValue]
    seed: int = Field(ge=0)
    expert: str | None = None
    simulated: bool | None = None
    software: dict[str, str] = Field(default_factory=dict)

    @property
    def who(self) -> str | None:
        """Return whose answers these are; the name says so if a program gave them."""
        if not self.simulated or (self.expert and "simulated" in self.expert.lower()):
            return self.expert
        return f"{self.expert} (simulated)" if self.expert else NAMELESS_PROGRAM


class Guessed(_Event):
    """First guesses of the ratios, asked before the first question."""

    kind: Literal["guessed"] = "guessed"
    guesses: tuple[Guess, ...]


class Practised(_Event):
    """The practice questions were done (they never count)."""

    kind: Literal["practised"] = "practised"


class _Given(_Event):
    """An answer in the pair's own order, whichever matrix was on the left; `moved` and `reason` as in `Answer`."""

    choice: Choice
    strength: Strength | None = None
    seconds: float | None = Field(default=None, ge=0)
    moved: Moved | None = None
    reason: str | None = Field(default=None, max_length=LONGEST_REASON)

    @model_validator(mode="after")
    def _check_answer(self) -> _Given:
        assert self.answer
        return self

    @property
    def answer(self) -> Answer:
        """Return the answer."""
        return Answer(self.choice, self.strength, self.seconds, self.moved, self.reason or "")


class Answered(_Given):
    """One answer and the question as it was shown: the matrix on the left, and the layout of rows and sentence."""

    kind: Literal["answered"] = "answered"
    pair: Pair
    left: Side
    subject: Subject
    reversed_rows: bool = False
    full_picture: bool = False
    still: Remaining | None = None

    @model_validator(mode="after")
    def _check_moved(self) -> Answered:
        if self.moved is not None:
            self.pair.question({}).moved(self.moved)
        return self


class TakenOut(_Event):
    """An answer was taken out: it stays in the journal but no longer counts."""

    kind: Literal["taken out"] = "taken out"
    number: int = Field(ge=1)


class Changed(_Given):
    """An answer was reviewed and given anew."""

    kind: Literal["changed"] = "changed"
    number: int = Field(ge=1)


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
    """The last undone action was redone."""

    kind: Literal["redone"] = "redone"


class Stopped(_Event):
    """The expert stopped answering and went to the review."""

    kind: Literal["stopped"] = "stopped"


class Continued(_Event):
    """The expert asked for more questions.

    `questions` is the new maximum of informative questions in total (None: unchanged); `early_stop` states whether the
    procedure may stop earlier.
    """

    kind: Literal["continued"] = "continued"
    questions: int | None = Field(default=None, ge=1, le=MOST_QUESTIONS)
    early_stop: bool = True


class Finished(_Event):
    """The expert reviewed the answers and asked for the result."""

    kind: Literal["finished"] = "finished"


class OrdersWithdrawn(_Event):
    """The orders stated before the questions no longer hold."""

    kind: Literal["orders withdrawn"] = "orders withdrawn"


class PracticeStated(_Event):
    """Present practice as a typed table of counts or rates; rows are true classes. None removes it."""

    kind: Literal["practice told"] = "practice told"
    table: tuple[tuple[float, ...], ...] | None = None

    @model_validator(mode="after")
    def _check_shape(self) -> PracticeStated:
        rows = self.table or ()
        if any(len(row) != len(rows) or not any(row) or any(entry < 0 for entry in row) for row in rows):
            raise ValueError("the table of practice is not square, has an empty row or a number below 0")
        return self


class Recovered(_Event):
    """An unfinished last line was cut off when the session was reopened; `dropped` is its text."""

    kind: Literal["recovered"] = "recovered"
    dropped: str

    @classmethod
    def of(cls, line: bytes, at: datetime) -> Recovered:
        """Return the event for the bytes of a line, of which it keeps the beginning as text."""
        return cls(at=at, dropped=line.decode(errors="replace")[:_LONGEST_DROPPED])


class Noted(_Event):
    """A sentence worth keeping, such as that a recomputed question differs from the recorded one."""

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
    | OrdersWithdrawn
    | PracticeStated
    | Recovered
    | Noted,
    Field(discriminator="kind"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


SEALED = re.compile(rb',"digest":"[0-9a-f]{64}"}')
"""The end of every line with a digest."""

_SEAL = b',"digest":"'
_HEX = 64


def to_line(event: Event, previous: str | None) -> tuple[bytes, str | None]:
    """Return the event as one line of UTF-8 JSON, newline included, and the running digest after it.

    `previous` is the digest of the previous line: empty before the first line, None for a file of version 1, which has
    no digests.
    """
    payload = event.model_dump_json(exclude_none=True).encode()
    if previous is None:
        return payload + b"\n", None
    digest = digest_after(previous, payload)
    return sealed(payload, digest) + b"\n", digest


def digest_after(previous: str, payload: bytes) -> str:
    """Return the running digest: SHA-256 of the previous digest and the line's JSON without its own digest."""
    return hashlib.sha256(previous.encode() + payload).hexdigest()


def sealed(payload: bytes, digest: str) -> bytes:
    """Return a line: the JSON object with its digest as the last field."""
    return b"".join((payload[:-1], _SEAL, digest.encode(), b'"}'))


def unsealed(line: bytes) -> tuple[bytes, str]:
    """Return the JSON of a line without its digest, and the digest; raise ValueError if there is none."""
    start = len(line) - _HEX - 2
    if start < len(_SEAL) or line[start - len(_SEAL) : start] != _SEAL or line[-2:] != b'"}':
        raise ValueError("the line has no digest")
    return line[: start - len(_SEAL)] + b"}", line[start:-2].decode("ascii")
