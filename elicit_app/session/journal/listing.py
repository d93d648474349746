"""List sessions and their files; listing is quick and never fails as a whole."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from elicit_app.problem import Problem
from elicit_app.session.journal.events import Answered, Begun
from elicit_app.session.journal.files import SUFFIX as SUFFIX
from elicit_app.session.journal.files import DamagedProblem, read
from elicit_app.session.journal.state import OutOfPlaceError, Phase, SessionState, fold
from elicit_app.study.model import LONGEST_TEXT, Study
from elicit_app.study.writing import free_path
from metrics.files import real_path
from metrics.text import counted

_YEARS = 1970, 2200
_STATED = {"never_worse", "ordered", "piles"}  # settings that an expert enters


@dataclass(frozen=True)
class SessionSummary:
    """A session as shown in a list."""

    path: Path
    title: str  # title of the study; the file's name if the session cannot be read
    expert: str | None = None  # whose answers these are
    answers: int = 0  # answers given; of a finished session those that count
    # questions still to come, as estimated by the procedure at the last answer
    fewest: int = 0
    most: int = 0
    last: datetime | None = None  # time of the last answer (UTC), or of the beginning of the session
    phase: Phase = "asking"
    problem: str = ""  # why it cannot be read, in one sentence; empty for a sound session
    digest: str = ""  # of the study's predictions, because a folder may hold several files of the same name
    # whether the file is not as it was written; what precedes the damage can be viewed and recovered into a copy
    damaged: bool = False
    lost: int = 0  # answers behind the damage; `answers` precede it
    simulated: bool = False  # whether a program answered
    pack: str | None = None  # digest of the packed study that was answered
    round: int = 1  # 2 if the expert answered after seeing the positions of the others
    can_export: bool = False  # whether there are enough answers for a metric file
    prepared: bool = False  # whether something was guessed, sorted or stated before the first question

    @property
    def finished(self) -> bool:
        """Return whether the expert has asked for the result."""
        return self.phase == "finished"


def data_folder() -> Path:
    """Return the user's data folder, which holds the sessions on bundled studies and single files."""
    import platformdirs

    return Path(platformdirs.user_data_dir("elicit", appauthor=False))


def sessions_folder(study: Study, data: Path | None = None) -> Path:
    """Return the folder of a study's sessions.

    A study folder holds its own; those of bundled studies and single files are in `data`, by default `data_folder()`.
    """
    if study.kind == "folder" and study.folder is not None:
        return study.folder / "sessions"
    return (data or data_folder()) / "sessions" / slug(study.name)


def new_session_path(study: Study, now: datetime, *, expert: str | None = None, data: Path | None = None) -> Path:
    """Return an unused file name for a session that begins now."""
    stem = f"{now:%Y-%m-%d-%H%M%S}" + (f"-{slug(expert)}" if expert else "")
    return free_path(sessions_folder(study, data), stem, SUFFIX)


def list_sessions(*studies: Path, data: Path | None = None) -> tuple[SessionSummary, ...]:
    """Return the sessions in the data folder and in study folders, most recently answered first.

    Unreadable files follow the others, each with its problem.
    """
    folders = [study / "sessions" for study in studies]
    paths = {real_path(path) for folder in folders for path in folder.glob(f"*{SUFFIX}")}
    paths |= {real_path(path) for path in ((data or data_folder()) / "sessions").glob(f"*/*{SUFFIX}")}
    summaries = [summary(path) for path in sorted(paths)]
    sound = sorted((one for one in summaries if one.last is not None), key=_last, reverse=True)
    return (*sound, *(one for one in summaries if one.last is None))


def summary(path: Path) -> SessionSummary:
    """Read one session for a list; an unreadable file gets a problem instead of numbers."""
    try:
        contents = read(path)
        state = fold(contents.events)
        year = state.last.year if state.last else state.begun.at.year
        if not _YEARS[0] <= year <= _YEARS[1]:
            # Not every system can display such a year, and it would always sort first.
            return SessionSummary(path, path.name, problem=f"{path} has an impossible time: the year {year}.")
    except DamagedProblem as problem:
        return _damaged(path, problem)
    except Problem as problem:
        return SessionSummary(path, path.name, problem=problem.sentence)
    except OutOfPlaceError as error:
        return SessionSummary(path, path.name, problem=f"{path} was changed outside elicit ({error}).", damaged=True)
    except Exception as error:
        # Whatever is wrong with one file, the others must still be listed.
        return SessionSummary(path, path.name, problem=f"{path} cannot be read ({error}).")
    fewest, most = _remaining(state)
    study = state.begun.study
    return SessionSummary(
        path,
        **_said_first(state.begun),
        answers=len(state.used if state.phase == "finished" else state.entries),
        fewest=fewest,
        most=most,
        last=state.last,
        phase=state.phase,
        pack=study.pack,
        round=study.round or 1,
        can_export=state.can_export,
        prepared=bool(state.guesses or _STATED & {name for name, value in state.begun.setting.items() if value}),
    )


def _said_first(begun: Begun) -> dict[str, Any]:
    """Return what the first line of a session contributes to a list entry."""
    return {
        "title": begun.study.title[:LONGEST_TEXT],
        "expert": begun.who,
        "digest": begun.study.digest,
        "simulated": bool(begun.simulated),
    }


def _damaged(path: Path, problem: DamagedProblem) -> SessionSummary:
    """Return the list entry of a damaged file, as far as it can be read."""
    contents, sound = problem.contents, problem.contents.sound_answers
    return SessionSummary(
        path,
        **_said_first(contents.begun),
        answers=sound,
        problem=problem.sentence,
        damaged=True,
        lost=max(contents.answers - sound, 0),
    )


def can_resume(one: SessionSummary) -> bool:
    """Return whether a session holds something that somebody entered, is sound and is not finished."""
    return not one.finished and not one.problem and (one.answers > 0 or one.prepared)


def finished_experts(sessions: Iterable[SessionSummary]) -> tuple[SessionSummary, ...]:
    """Return the newest finished session of each expert, in the order of their last answers.

    One with too few answers for a metric file does not replace an earlier one with enough. Names that differ only in
    capitals or spaces are one expert; sessions without a name count as different people. Programs are never counted
    among people: they are experts only if there is nobody else.
    """
    newest: dict[object, SessionSummary] = {}
    known = [one for one in sessions if one.finished and not one.problem and one.last is not None]
    for one in people_if_any(known, lambda one: one.simulated):
        assert one.last is not None
        other = newest.get(_person(one))
        if other is None or (one.can_export, one.last) > (other.can_export, _last(other)):
            newest[_person(one)] = one
    return tuple(sorted(newest.values(), key=lambda one: (one.last, one.path)))


def comparable_experts(sessions: Iterable[SessionSummary]) -> tuple[SessionSummary, ...]:
    """Return those of `finished_experts` who have enough answers to be compared with others."""
    return tuple(one for one in finished_experts(sessions) if one.can_export)


def same_name(name: str, other: str) -> bool:
    """Return whether two names are of one person: capitals and spaces do not count."""
    return _plain(name) == _plain(other)


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


def _person(one: SessionSummary) -> object:
    return _plain(one.expert) if one.expert else one.path


def sittings_before(expert: SessionSummary, sessions: Iterable[SessionSummary]) -> tuple[SessionSummary, ...]:
    """Return the other finished sessions of one of `finished_experts` in the same round, the last first.

    They do not count; two people who gave the same name would be taken for one.
    """
    who = (_person(expert), expert.round, expert.simulated)
    others = (one for one in sessions if one.finished and one.last is not None and one.path != expert.path)
    mine = [one for one in others if not one.problem and (_person(one), one.round, one.simulated) == who]
    return tuple(sorted(mine, key=_last, reverse=True))


def first_answers(sessions: Iterable[SessionSummary], name: str) -> SessionSummary | None:
    """Return what the person of a name answered in a first round; None if that is not known here."""
    mine = [one for one in sessions if one.expert and same_name(one.expert, name) and one.round == 1]
    return next(iter(comparable_experts(one for one in mine if not one.simulated)), None)


def first_round_of(expert: SessionSummary, sessions: Iterable[SessionSummary]) -> SessionSummary | None:
    """Return what one of `finished_experts` answered in the first round, if the expert answered again in a second."""
    if expert.round == 1:
        return None
    who = (_person(expert), expert.simulated, 1)
    first = [one for one in sessions if (_person(one), one.simulated, one.round) == who]
    return next(iter(finished_experts(first)), None)


def experts_in_words(experts: Sequence[SessionSummary]) -> str:
    """Return the number of experts from `finished_experts` in words: "2 experts", "3 simulated experts"."""
    kind = "simulated expert" if experts and experts[0].simulated else "expert"
    return counted(len(experts), kind)


def matching_pack(sessions: Iterable[SessionSummary], study: Study) -> tuple[SessionSummary, ...]:
    """Return the sessions that can be resumed: for a packed study only those about this very file."""
    return tuple(one for one in sessions if study.pack is None or one.pack == study.pack.digest)


def latest_expert_name(sessions: Iterable[SessionSummary]) -> str | None:
    """Return the name under which somebody answered last, so that a second round is known to be theirs."""
    named = [one for one in sessions if one.expert and not one.simulated and one.last is not None]
    return max(named, key=_last).expert if named else None


Who = TypeVar("Who")


def people_if_any(experts: Sequence[Who], simulated: Callable[[Who], bool]) -> list[Who]:
    """Return the experts who are people; all of them if every one is a program, as in a rehearsal."""
    return [one for one in experts if not simulated(one)] or list(experts)


def sessions_of(folder: Path, digests: Collection[str]) -> tuple[SessionSummary, ...]:
    """Return the sessions in a folder that are about predictions with these digests, most recently begun first."""
    # File names start with the time at which the session began.
    found = (summary(path) for path in sorted(folder.glob(f"*{SUFFIX}"), reverse=True))
    return tuple(one for one in found if one.digest in digests)


def _remaining(state: SessionState) -> tuple[int, int]:
    back = state.redo_stack[-1] if state.redo_stack else None
    if isinstance(back, Answered) and back.still is not None:
        return back.still.fewest, back.still.most
    still = state.entries[-1].event.still if state.entries else None
    return (max(still.fewest - 1, 0), max(still.most - 1, 0)) if still else (0, 0)


def _last(one: SessionSummary) -> datetime:
    assert one.last is not None
    return one.last


def slug(text: str) -> str:
    """Return a part of a file name, made of letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-").lower()[:40] or "session"
