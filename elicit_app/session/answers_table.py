"""All answers as a table: every question as it was shown, for a spreadsheet or a notebook."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from elicit_app.session.journal.events import Answered
from elicit_app.session.journal.state import Entry, StateBuilder
from elicit_app.session.questions import on_screen, to_reply
from elicit_app.session.session import Session
from elicit_app.study.writing import write_whole
from metrics.files import csv_cell


def answers_csv(session: Session) -> str:
    """Return one row an answer, undone ones included, as CSV.

    Columns: number, state (kept, changed, taken out, undone), time in UTC, reply as first given, strength, seconds,
    the reply that counts now, purpose, repeat of, hypothetical, population, which of the procedure's two matrices stood
    left, whom the sentence was about, full picture, which count was moved, from where and where to, the reason that was
    typed; then the cases of both sides, one column a cell, named side, true
    class and predicted class.
    """
    classes = session.study.classes
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    cells = [f"{side}: {true} as {called}" for side in ("left", "right") for true in classes for called in classes]
    table.writerow([*_NAMES, *cells])
    table.writerows(_rows(session))
    return out.getvalue()


_NAMES = (
    "number",
    "state",
    "time",
    "reply",
    "strength",
    "seconds",
    "counts as",
    "purpose",
    "repeat of",
    "hypothetical",
    "population",
    "left is",
    "sentence about",
    "full picture",
    "moved",
    "moved from",
    "moved to",
    "reason",
)


def _rows(session: Session) -> Iterator[list[object]]:
    kept = {id(entry.event): entry for entry in session.state.entries}
    builder = StateBuilder()
    for event in session.events:
        builder.add(event)
        if isinstance(event, Answered):
            yield _row(len(builder.entries), event, kept.get(id(event)), session.study.classes)


def _row(number: int, event: Answered, entry: Entry | None, classes: tuple[str, ...]) -> list[object]:
    pair = event.pair
    left, right = (pair.first, pair.second) if event.left == "first" else (pair.second, pair.first)
    state = "undone"
    if entry is not None:
        changed = replace(entry.answer, seconds=None) != replace(event.answer, seconds=None)
        state = "taken out" if entry.taken_out else "changed" if changed else "kept"
    return [
        number,
        state,
        event.at.isoformat(timespec="seconds"),
        to_reply(event.left, event.choice),
        event.strength.value if event.strength else "",
        "" if event.seconds is None else f"{event.seconds:.2f}",
        to_reply(event.left, entry.answer.choice) if entry is not None and not entry.taken_out else "",
        pair.purpose.value,
        pair.repeat_of or "",
        "yes" if pair.hypothetical else "no",
        pair.population,
        event.left,
        event.subject,
        "yes" if event.full_picture else "no",
        *_moved(event, classes),
        csv_cell(event.reason or ""),
        *(count for row in left for count in row),
        *(count for row in right for count in row),
    ]


def _moved(event: Answered, classes: tuple[str, ...]) -> tuple[object, ...]:
    """Return which count was moved, from where and where to; empty cells where none was."""
    moved = on_screen(event.left, event.moved)
    if moved is None:
        return "", "", ""
    side = "left" if moved.side == "first" else "right"
    return f"{side}: {classes[moved.true]} as {classes[moved.predicted]}", moved.start, moved.count


def export_answers(session: Session, path: Path) -> Path:
    """Write all answers as CSV, whole or not at all, and return where.

    Raises
    ------
    Problem
        Where the file cannot be written.
    """
    write_whole(path, answers_csv(session))
    return path
