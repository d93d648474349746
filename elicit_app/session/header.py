"""The first line of a session: which study, which procedure; and finding both again when the session is opened."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

import elicit_app
from elicit_app.problem import Problem
from elicit_app.session.journal.events import Begun, Event, StudyMark
from elicit_app.session.journal.state import OutOfPlaceError, SessionState, fold
from elicit_app.session.procedures import ProcedureSetting, WrongPairing, check_setting
from elicit_app.study import open_study
from elicit_app.study.model import Study


def begun(
    study: Study, setting: ProcedureSetting, now: datetime, expert: str | None, location: Path | None = None
) -> Begun:
    """Return the first event of a session; `location` is the predictions file of a study that is a single file."""
    location = study.folder if study.kind == "folder" else location
    mark = StudyMark(
        name=study.name,
        title=study.title,
        kind=study.kind,
        digest=study.digest,
        classes=study.classes,
        location=None if location is None else str(location.resolve()),
    )
    return Begun(
        at=now,
        study=mark,
        setting=setting.model_dump(mode="json", exclude_none=True),
        seed=setting.seed,
        expert=expert or None,
        software={
            "elicit": elicit_app.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
        },
    )


def fold_events(events: Sequence[Event], path: Path) -> SessionState:
    """Return the session that a journal holds.

    Raises
    ------
    Problem
        Where an event cannot follow the ones before it, which only a change from outside can cause.
    """
    try:
        return fold(events)
    except OutOfPlaceError as error:
        raise Problem(
            f"{path} was changed from outside and makes no sense any more ({error}). "
            "Recover it into a copy to go on with what does."
        ) from error


def read_setting(begun: Begun, path: Path) -> ProcedureSetting:
    """Return the procedure's setting as it was recorded."""
    try:
        setting = ProcedureSetting.model_validate(begun.setting)
        check_setting(setting)
        return setting
    except (ValueError, WrongPairing) as error:
        raise Problem(
            f"{path} names a procedure setting that this version does not know. Install the version that wrote it, "
            f"{begun.software.get('elicit', 'which it does not name')}."
        ) from error


def study_of(mark: StudyMark, path: Path) -> Study:
    """Open the study that a session was begun on.

    A study folder is looked for around the session first, so that a folder may be moved with its sessions.

    Raises
    ------
    Problem
        When it is gone.
    """
    if mark.kind in ("bundled", "synthetic"):
        return open_study(mark.name)
    around = path.resolve().parent.parent
    if mark.kind == "folder" and (around / "study.json").is_file():
        return open_study(around)
    if mark.location is None:
        raise Problem(f"{path} does not say where the study “{mark.title}” lies. Open the study, then the session.")
    if not Path(mark.location).exists():
        raise Problem(
            f"The study “{mark.title}” of {path} is no longer at {mark.location}. "
            "Put it back there, or keep the session in the study's folder under sessions."
        )
    return open_study(Path(mark.location))


def check_study(mark: StudyMark, study: Study, path: Path) -> None:
    """Refuse to go on with other numbers than those the answers are about.

    Raises
    ------
    Problem
        When classes or predictions differ.
    """
    if mark.classes != study.classes:
        theirs, ours = ", ".join(mark.classes[:6]), ", ".join(study.classes[:6])
        raise Problem(
            f"{path} is about the classes {theirs}, but the study “{study.title}” has {ours}. "
            "Open it with the study it was begun on."
        )
    if mark.digest != study.digest:
        raise Problem(
            f"The predictions of “{study.title}” have changed since {path} was begun, so its answers are about other "
            "numbers. Put the old predictions back to go on, or begin a new session."
        )
