"""Answers as they stand: as given, changed, taken out, or two to the same pair made one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from elicit_app.elicitation.questions import Answer, Choice
from elicit_app.session.journal.events import Answered, Resolved
from elicit_app.session.journal.pairs import same_pair

Entries = tuple["Entry", ...]
Numbers = frozenset[tuple[int, int]]


class OutOfPlaceError(ValueError):
    """An event that cannot follow the ones before it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One answer as it stands now.

    Parameters
    ----------
    event : Answered
        The answer as it was given first, with the question as it was shown.
    answer : Answer
        The answer that counts: changed or resolved later, or as given.
    taken_out : bool
        The answer is used no more.
    """

    event: Answered
    answer: Answer
    taken_out: bool = False

    @property
    def given(self) -> Answer:
        """Return the answer as it was given first."""
        return Answer(self.event.choice, self.event.strength, self.event.seconds)

    @property
    def says(self) -> bool:
        """Tell whether it counts and says something: not taken out, not "cannot say"."""
        return not self.taken_out and self.answer.choice is not Choice.UNSURE


def changed(entries: Entries, number: int, *, answer: Answer | None = None, taken_out: bool = False) -> Entries:
    """Return the entries with another answer `number`, or without it."""
    entry = _entry(entries, number)
    new = replace(entry, answer=answer or entry.answer, taken_out=taken_out)
    return (*entries[: number - 1], new, *entries[number:])


def _entry(entries: Entries, number: int) -> Entry:
    if not 1 <= number <= len(entries):
        raise OutOfPlaceError(f"there is no answer {number}")
    return entries[number - 1]


def added(entries: Entries, event: Answered, n_classes: int) -> Entries:
    """Return the entries with one more answer, which must be about the study's classes and repeat an earlier one."""
    pair = event.pair
    if len(pair.first) != n_classes:
        raise OutOfPlaceError(f"answer {len(entries) + 1} is about {len(pair.first)} classes, not {n_classes}")
    if pair.repeat_of is not None:
        _entry(entries, pair.repeat_of)
    return (*entries, Entry(event, Answer(event.choice, event.strength, event.seconds)))


def resolved(entries: Entries, event: Resolved) -> Entries:
    """Return the entries with the answer that was meant, in both places."""
    first, second = _entry(entries, event.first), _entry(entries, event.second)
    order = same_pair(first.event.pair, second.event.pair)
    if order is None or event.first == event.second:
        raise OutOfPlaceError(f"answers {event.first} and {event.second} are not about the same pair")
    if event.kept == "both":
        return entries
    if event.kept == "equal":
        meant = {event.first: Answer(Choice.EQUAL), event.second: Answer(Choice.EQUAL)}
    elif event.kept == "first":
        meant = {event.second: first.answer if order else first.answer.swapped()}
    else:
        meant = {event.first: second.answer if order else second.answer.swapped()}
    for number, answer in meant.items():
        own = replace(answer, seconds=entries[number - 1].answer.seconds)
        entries = changed(entries, number, answer=own)
    return entries


def differ(one: Entry, other: Entry, first: Answer, second: Answer) -> bool:
    """Tell whether `first` and `second`, answers to these two entries, say different things about the same pair."""
    order = same_pair(one.event.pair, other.event.pair)
    if order is None:
        return False
    return first.choice != (second.choice if order else second.choice.swapped())


def said_already(entries: Entries, number: int, joined: Numbers) -> bool:
    """Tell whether answer `number` is a repeat that was made one with its original, which says it already."""
    entry = entries[number - 1]
    first = entry.event.pair.repeat_of
    if first is None or not {(first, number), (number, first)} & joined:
        return False
    original = entries[first - 1]
    return not original.taken_out and not differ(original, entry, original.answer, entry.answer)
