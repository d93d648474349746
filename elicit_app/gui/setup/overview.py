"""The content of the start page, read from disk: sessions, study folders, examples. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from elicit_app.gui.setup.start_page import ContinueView, RowView, StartView
from elicit_app.session.journal.listing import (
    SessionSummary,
    can_resume,
    comparable_experts,
    experts_in_words,
    list_sessions,
)
from elicit_app.session.sentences import how_many
from elicit_app.study import StudySummary, list_studies
from elicit_app.study.folder import MOST_DOCUMENT_BYTES, STUDY_FILE, document_in
from metrics.files import read_regular_file, real_path, strict_json
from metrics.text import counted, day, in_zone


def day_words(then: datetime, now: datetime) -> str:
    """Return a day for a list: "today", "yesterday", "18 Nov", "18 Nov 2024"; both times are in the same time zone."""
    days = (now.date() - then.date()).days
    if days in (0, 1):
        return "today" if days == 0 else "yesterday"
    number, month, year = day(then).split()
    text = f"{number} {month[:3]}"
    return text if then.year == now.year else f"{text} {year}"


def moment_words(then: datetime, now: datetime) -> str:
    """Return day and time: "yesterday, 17:42"."""
    return f"{day_words(then, now)}, {then:%H:%M}"


def overview(data: Path, folders: Sequence[str], now: datetime) -> StartView:
    """Return the content of the start page: `data` is the user's data folder, `now` has the local time zone.

    Recently opened study `folders` that no longer exist are omitted.
    """
    studies = [Path(folder) for folder in folders if _is_study_folder(Path(folder))]
    sessions = list_sessions(*studies, data=data)
    current = unfinished(sessions)
    compared = compare_rows(sessions)
    recent, own = [], {real_path(folder): folder for folder in studies}
    for one in sessions:
        recent.append(session_row(one, now))
        # The comparison stands below the newest session of its study,
        if (one.path.parent, one.digest) in compared:
            recent.append(compared.pop((one.path.parent, one.digest)))
        # and so does the study folder, for whoever answers next.
        if (folder := own.pop(real_path(one.path.parent.parent), None)) is not None:
            recent.append(folder_row(folder, begun=True))
    recent += map(folder_row, own.values())
    examples = tuple(example_row(one) for one in list_studies() if one.kind == "bundled")
    return StartView(None if current is None else continue_view(current, now), examples, tuple(recent))


def unfinished(sessions: Iterable[SessionSummary]) -> SessionSummary | None:
    """Return the first session that can be resumed: begun, sound, not finished."""
    return next(filter(can_resume, sessions), None)


def session_title(title: str, expert: str | None) -> str:
    """Return study and expert: "Skin lesions · dermatology"."""
    return f"{title} · {expert}" if expert else title


def continue_view(one: SessionSummary, now: datetime) -> ContinueView:
    """Return the card of a session to resume."""
    if not one.answers:
        return ContinueView(
            session_title(one.title, one.expert), "What you entered is kept · no answers yet", 0.0, str(one.path)
        )
    kept = f"{counted(one.answers, 'answer')} kept"
    fewest, most = one.fewest, one.most
    if one.phase == "stopped":
        still = "looking back"
    elif most == 0:
        still = "the result is next"
    else:
        still = f"{how_many(fewest, most)} more {'question' if most == 1 else 'questions'}"
    parts = [kept, still, *_kinds(one)]
    if one.last is not None:
        parts.append(f"last answer {moment_words(in_zone(one.last, now.tzinfo), now)}")
    middle = (fewest + most) / 2 if one.phase == "asking" else 0
    return ContinueView(
        session_title(one.title, one.expert), " · ".join(parts), one.answers / (one.answers + middle), str(one.path)
    )


def session_row(one: SessionSummary, now: datetime) -> RowView:
    """Return the row of a session."""
    when = "" if one.last is None else day_words(in_zone(one.last, now.tzinfo), now)
    answers = counted(one.answers, "answer")
    if one.damaged and one.digest:
        line = f"Damaged: {one.answers} of {one.answers + one.lost} answers can be read"
    elif one.problem:
        line = "Cannot be read; open it to see why"
    elif one.finished:
        line = f"Finished, {answers}"
    elif one.phase == "stopped":
        line = f"Looking back, {answers}"
    else:
        line = f"Stopped at question {one.answers + 1}"
    return RowView(session_title(one.title, one.expert), ", ".join([line, *_kinds(one)]), when, str(one.path))


def _kinds(one: SessionSummary) -> list[str]:
    """Return what sets a session apart from another one of the same name."""
    return ["second round"] * (one.round > 1) + ["by a program"] * one.simulated


def compare_rows(sessions: Sequence[SessionSummary]) -> dict[tuple[Path, str], RowView]:
    """Return a row for every study that two or more experts have finished, by its folder and digest."""
    studies: dict[tuple[Path, str], list[SessionSummary]] = {}
    for one in sessions:
        studies.setdefault((one.path.parent, one.digest), []).append(one)
    rows = {}
    for key, own in studies.items():
        experts = comparable_experts(own)
        if len(experts) > 1:
            last = experts[-1]
            rows[key] = RowView(
                last.title, f"Compare its {experts_in_words(experts)}", "", str(last.path), compares=True
            )
    return rows


def _is_study_folder(folder: Path) -> bool:
    try:
        return document_in(folder) is not None
    except OSError:
        # the disk may be missing or unreadable
        return False


def folder_row(folder: Path, *, begun: bool = False) -> RowView:
    """Return the row of a study folder, in which sessions were `begun` or not."""
    try:
        path = document_in(folder) or folder / STUDY_FILE
        title = str(strict_json(read_regular_file(path, MOST_DOCUMENT_BYTES).decode())["title"])
    except (OSError, ValueError, KeyError, TypeError):
        title = folder.name
    line = "Study folder: somebody else can answer" if begun else "Study folder, nothing answered yet"
    return RowView(title, line, "", str(folder))


def example_row(one: StudySummary) -> RowView:
    """Return the row of a bundled study."""
    return RowView(one.title, one.description, f"about {one.minutes} min" if one.minutes else "", one.name)
