"""Check a session file that may be damaged, and recover what can be saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from elicit_app.elicitation.questions import Purpose
from elicit_app.problem import Problem
from elicit_app.session.journal import events
from elicit_app.session.journal.files import backups, event_of, examine, read_bytes, read_up_to_damage
from elicit_app.session.journal.state import OutOfPlaceError, StateBuilder, fold
from elicit_app.session.journal.writing import Journal
from metrics.text import counted

# Left around lines by editors and failing disks.
_BOM = b"\xef\xbb\xbf"
_MOST_TRIED = 2 * 10**9
"""Bytes to hash in the search for flipped bits: some seconds, or one line about fifty classes."""


@dataclass(frozen=True)
class SessionCheck:
    """What is sound in a session file."""

    lines: int  # sound lines
    # answers in them: for a sound file those not taken back; and all that a damaged file holds or held
    answers: int
    all_answers: int
    protected: bool  # whether every line carries the running digest, which reveals changes; False in files of version 1
    damage: str  # "is damaged in line 31"; empty for a sound file
    # whether the last line is incomplete, as after a power failure; the answers before it are complete
    unfinished: bool
    backups: tuple[Path, ...]  # copies from the beginnings of the latest sittings, oldest first


def check_session(path: Path) -> SessionCheck:
    """Check what is sound in a session file, without changing it.

    Raises Problem if it cannot be read, or its first line does not begin a session.
    """
    contents = read_up_to_damage(path)
    sound, damage = contents.events, contents.damage
    builder = StateBuilder()
    if not damage:
        for number, event in enumerate(sound, start=1):
            try:
                builder.add(event)
            except OutOfPlaceError as error:
                damage = f"is inconsistent from line {number} on ({error})"
                sound = sound[: number - 1]
                break
    given = sum(isinstance(event, events.Answered) for event in sound)
    answers = given if damage else len(builder.state.entries)
    return SessionCheck(
        lines=len(sound),
        answers=answers,
        all_answers=max(answers, contents.answers, contents.sound_answers),
        protected=contents.protected,
        damage=damage,
        unfinished=bool(contents.tail) or not contents.ended,
        backups=backups(path),
    )


@dataclass(frozen=True)
class Recovery:
    """What was saved into a new session file."""

    path: Path
    answers: int  # answers in it that were not taken back
    # damaged or misplaced lines restored exactly as they were written, as their digests prove
    restored: int
    # sound lines behind a gap that could not be kept, because they refer to something lost
    left_out: int
    gaps: int  # places at which lines are lost or unreadable


def recover_session(path: Path, out: Path) -> Recovery:
    """Save what can be saved of a session into a new file of the newest version, with digests.

    If lines carry digests, flipped bits and duplicated or swapped lines are repaired, and lost lines are taken from the
    backups. Behind a gap only answers are kept, and changes to answers before it. The session at `path` is not changed.
    Raises Problem if nothing can be saved, or `out` exists or cannot be written.
    """
    found, taken, left_out = _salvage(path)
    now = datetime.now(UTC)
    lost = [events.Recovered.of(line, now) for line in found.unproven]
    summary = _summary(path, found, left_out)
    noted = [events.Noted(at=now, sentence=summary)] if summary else []
    begun = taken[0].model_copy(update={"version": events.VERSION})
    Journal.create(out, [begun, *taken[1:], *lost, *noted]).close()
    return Recovery(out, len(fold(taken).entries), found.restored, left_out, found.gaps)


def recoverable_answers(path: Path) -> int:
    """Return the number of answers, without those taken back, that `recover_session` saves; it may take seconds.

    Raises Problem if nothing can be saved.
    """
    _, taken, _ = _salvage(path)
    return len(fold(taken).entries)


def _salvage(path: Path) -> tuple[_Found, list[events.Event], int]:
    """Return what was found in a file, the events to keep, and the number of events left out."""
    data = read_bytes(path)
    found = _sealed(data, path) if events.SEALED.search(data) else _plain(data, path)
    if not (found.before and isinstance(found.before[0], events.Begun)):
        raise Problem(f"Nothing can be saved of {path}: its first line, which says what it is about, is lost.")
    return found, *_replay(found.before, found.after)


@dataclass
class _Found:
    """The events of a damaged file: those before the first gap, those behind it, and how they were found."""

    before: list[events.Event]
    after: list[events.Event]
    restored: int = 0
    gaps: int = 0
    unproven: list[bytes] = field(default_factory=list)

    def add(self, payload: bytes) -> None:
        event = event_of(payload, events.PROTECTED)
        (self.after if self.gaps else self.before).append(event)


def _sealed(data: bytes, path: Path) -> _Found:
    """Restore the order of lines in which their digests follow each other."""
    lines = data.split(b"\n")
    bare = [line.removeprefix(_BOM).strip(b"\r\0") for line in lines]
    found = _Found([], [], restored=sum(one != other for one, other in zip(lines, bare, strict=True)))
    data = b"\n".join(bare)
    kept = [line for copy in backups(path) if copy.is_file() for line in read_bytes(copy).split(b"\n")]
    pool = dict.fromkeys([*bare, *kept])
    taken: set[bytes] = set()
    digest, start, budget, filled = "", 0, _MOST_TRIED, -1
    while start < len(data):
        end = data.find(b"\n", start) % (len(data) + 1)
        line, step = data[start:end], end + 1 - start
        if not line or line in taken:
            start, found.restored = start + step, found.restored + 1
            continue
        if not _follows(line, digest):
            if filled == start and _follows(data[end + 1 : data.find(b"\n", end + 1) % (len(data) + 1)], digest):
                # A backup has proven what belongs here; the file continues behind this line.
                start += step
                continue
            whole = next((other for other in pool if other not in taken and _follows(other, digest)), None)
            step, filled = (0, start) if whole else (step, filled)
            budget -= 0 if whole else 8 * len(line) ** 2
            if whole is None and budget > 0:
                whole = _repair_bit_flip(data[start : data.find(b"\n", end + 1) % (len(data) + 1)], len(line), digest)
            if whole is None:
                # Nothing proves that this line was not edited or replaced.
                found.gaps += 1
                found.unproven.append(line)
                digest, start = _digest_of(line) or digest, start + step
                continue
            found.restored += 1
            line, step = whole, step and len(whole) + 1
        payload, digest = events.unsealed(line)
        try:
            found.add(payload)
        except ValueError:
            # the digest is right, but no version of this program writes such a line
            found.gaps += 1
            found.unproven.append(line)
        taken.add(line)
        start += step
    return found


def _follows(line: bytes, digest: str) -> bool:
    """Return whether a line is, bit for bit, one that was written after the line with this digest."""
    try:
        payload, own = events.unsealed(line)
    except ValueError:
        return False
    return own == events.digest_after(digest, payload)


def _digest_of(line: bytes) -> str:
    try:
        return events.unsealed(line)[1]
    except ValueError:
        return ""


def _repair_bit_flip(data: bytes, length: int, digest: str) -> bytes | None:
    """Return the line at the beginning of `data` with one bit flipped back, if its digest then fits."""
    turned = bytearray(data)
    for place in range(min(length + 1, len(data))):
        for bit in range(8):
            turned[place] ^= 1 << bit
            line = bytes(turned[: turned.find(b"\n") % (len(turned) + 1)])
            if _follows(line, digest):
                return line
            turned[place] ^= 1 << bit
    return None


def _plain(data: bytes, path: Path) -> _Found:
    """Keep every line of an unprotected file that is an event."""
    contents = examine(data, path)
    found = _Found(list(contents.events), [])
    for line in data[contents.length :].split(b"\n"):
        if not line:
            continue
        try:
            event = event_of(line, 1)
        except ValueError:
            found.gaps += 1
            found.unproven.append(line)
        else:
            (found.after if found.gaps else found.before).append(event)
    return found


def _replay(before: Sequence[events.Event], after: Sequence[events.Event]) -> tuple[list[events.Event], int]:
    """Return the events that make sense without what is lost, and the number of those that do not."""
    builder, taken, left_out = StateBuilder(), [], 0
    for event in before:
        try:
            builder.add(event)
        except OutOfPlaceError:
            left_out += 1
        else:
            taken.append(event)
    known = len(builder.entries)
    floor = len(builder.undo_stack)
    builder.redo_stack.clear()
    for event in after:
        new = _adapt_after_gap(event, builder, known, floor)
        try:
            if new is None:
                raise OutOfPlaceError("it is about something that is lost")
            builder.add(new)
        except OutOfPlaceError:
            left_out += 1
        else:
            taken.append(new)
    return taken, left_out


def _adapt_after_gap(event: events.Event, builder: StateBuilder, known: int, floor: int) -> events.Event | None:
    """Return an event behind a gap in a form that holds without what is lost there; None if there is no such form."""
    match event:
        case events.Answered():
            return event.model_copy(update={"pair": _repeating(event.pair, builder)})
        case events.Undone():
            return event if len(builder.undo_stack) > floor else None
        case events.TakenOut() | events.Changed():
            return event if event.number <= known else None
        case events.Resolved():
            return event if max(event.first, event.second) <= known else None
        case events.Begun():
            return None
        case _:
            return event


def _repeating(pair: events.Pair, builder: StateBuilder) -> events.Pair:
    """Return the pair as a repeat of an answer that exists, or as no repeat."""
    if pair.repeat_of is None:
        return pair
    same = [number for number, entry in enumerate(builder.entries, 1) if entry.event.pair.order(pair) is not None]
    purpose = pair.purpose if same or pair.purpose is not Purpose.REPEAT else Purpose.INFORMATIVE
    return pair.model_copy(update={"repeat_of": same[-1] if same else None, "purpose": purpose})


def _summary(path: Path, found: _Found, left_out: int) -> str:
    """Return the new session's note about its recovery; empty if everything was sound."""
    parts = []
    if found.restored:
        parts.append(f"{counted(found.restored, 'damaged or misplaced line')} put right")
    if found.gaps:
        parts.append(f"{counted(found.gaps, 'line')} lost")
    if left_out:
        parts.append(f"{left_out} left out, which built on what is lost")
    return f"This session was recovered from {path.name}: {', '.join(parts)}." if parts else ""
