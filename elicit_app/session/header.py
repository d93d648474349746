"""The first line of a session, which names its study and procedure, and finding both when the session is opened."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

import elicit_app
from elicit_app.problem import Problem, WrongOption, differences_first
from elicit_app.registry.entries import Setting, entry_named, setting_from
from elicit_app.session.journal.events import Begun, Event, StudyMark
from elicit_app.session.journal.state import OutOfPlaceError, SessionState, fold
from elicit_app.study import list_studies, open_study
from elicit_app.study.folder import document_in
from elicit_app.study.model import Study
from elicit_app.study.packs import ENDING, pack_bytes
from elicit_app.study.writing import write_whole
from metrics.files import real_path


def stored(setting: Setting) -> dict[str, object]:
    """Return a setting as sessions and metric files hold it."""
    return setting.model_dump(mode="json", exclude_none=True)


def begun(study: Study, setting: Setting, now: datetime, expert: str | None, *, simulated: bool = False) -> Begun:
    """Return the first event of a session. It holds no path, because that would be opened on another computer."""
    mark = StudyMark(
        name=study.name,
        title=study.title,
        kind=study.kind,
        digest=study.digest,
        classes=study.classes,
        pack=None if study.pack is None else study.pack.digest,
        round=None if study.pack is None else study.pack.round,
    )
    return Begun(
        at=now,
        study=mark,
        setting=stored(setting),
        seed=setting.seed,
        expert=expert or None,
        simulated=simulated or None,
        software={
            "elicit": elicit_app.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
        },
    )


def fold_events(events: Sequence[Event], path: Path) -> SessionState:
    """Return the session that a journal holds.

    Raises Problem if an event cannot follow the previous ones, which only a change from outside can cause.
    """
    try:
        return fold(events)
    except OutOfPlaceError as error:
        raise Problem(
            f"{path} was changed outside elicit and is no longer consistent ({error}). "
            "Recover it into a copy to continue with the consistent part."
        ) from error


def read_setting(begun: Begun, path: Path) -> Setting:
    """Return the setting of the procedure as it was recorded."""
    try:
        setting = setting_from(begun.setting)
    except (ValueError, WrongOption) as error:
        raise Problem(
            f"{path} names a procedure setting that this version does not know. Install the version that wrote it, "
            f"{begun.software.get('elicit', 'which it does not name')}."
        ) from error
    if not (setting.person and entry_named(setting.procedure).people):
        raise Problem(f"{path} is set up for simulations, not for a person. Begin a new session.")
    return setting


class StudyNeeded(WrongOption):
    """A session whose study is not where it is looked for. A folder, or a file that was sent or read, would help."""

    def __init__(self, sentence: str, mark: StudyMark) -> None:
        super().__init__(sentence)
        self.is_folder = mark.kind == "folder"


def study_of(mark: StudyMark, path: Path) -> Study:
    """Open the study on which a session was begun.

    A study folder is the one around the session's folder or that folder itself, so that it may be moved together with
    its sessions; the copy of a packed study is searched beside the session. Nothing else that a session names is
    opened, because it may be from a stranger. Raises StudyNeeded if the study is not found there.
    """
    if mark.kind in ("bundled", "synthetic"):
        if mark.name not in {one.name for one in list_studies()}:
            raise Problem(f"{path} names “{mark.name}”, which is not among the studies that come with this elicit.")
        return open_study(mark.name)
    here = real_path(path).parent
    for folder in (here.parent, here) if mark.kind in ("folder", "pack") else ():
        if document_in(folder) is not None:
            study = open_study(folder)
            # What lies beside an answer that came by mail may be another study that did.
            if folder == here.parent or mark.digest in study.digests or mark.kind == "folder":
                return study
    if mark.kind == "pack" and mark.pack is not None and (copy := _pack_beside(path, mark.pack)).is_file():
        return open_study(copy)
    if mark.kind == "pack":
        sent = f"{path} holds answers to “{mark.title}”, which was sent as a file."
        raise StudyNeeded(f"{sent} Its `study` is needed as well: that file, or the study that it was made from.", mark)
    where = f" It was begun with {mark.location}." if mark.location else ""
    elsewhere = f"{path} is not in the folder of its study “{mark.title}”.{where}"
    raise StudyNeeded(f"{elsewhere} Its `study` is needed as well.", mark)


def _pack_beside(path: Path, digest: str) -> Path:
    """Return the path of the copy of a packed study beside a session."""
    return real_path(path).parent / f"{digest.removeprefix('sha256:')[:16]}{ENDING}"


def keep_pack(study: Study, path: Path) -> None:
    """Keep a copy of a packed study beside a session, because the original attachment may be deleted.

    Raises Problem if the copy cannot be written.
    """
    if study.kind != "pack" or study.pack is None:
        return
    copy = _pack_beside(path, study.pack.digest)
    if not copy.is_file():
        write_whole(copy, pack_bytes(study))


def check_study(mark: StudyMark, study: Study, path: Path) -> None:
    """Refuse a study whose data differ from those that the answers are about.

    Raises Problem if classes or predictions differ.
    """
    if mark.classes != study.classes:
        theirs, ours = differences_first(mark.classes, study.classes)
        raise Problem(
            f"{path} is about the classes {theirs}, but the study “{study.title}” has {ours}. "
            "Open it with the study it was begun on."
        )
    if mark.digest not in study.digests:
        raise Problem(
            f"The predictions of “{study.title}” have changed since {path} was begun, so its answers are about other "
            "numbers. Restore the old predictions to go on, or begin a new session."
        )
