"""Navigation outside a session: start, opening, errors, help, settings."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QObject, Signal

from elicit_app.gui.elements.page import Page
from elicit_app.gui.flow.analysis import ComparisonFlow, LaboratoryFlow
from elicit_app.gui.flow.background import Background, Dialogs, Services
from elicit_app.gui.flow.pages import Pages
from elicit_app.gui.flow.preparation import ImportFlow, Preparation, folder_beside
from elicit_app.gui.settings import Settings, save_settings
from elicit_app.problem import Problem
from elicit_app.study.packs import ENDING as PACK_ENDING
from elicit_app.study.tables import ENDINGS
from elicit_app.study.writing import free_path

if TYPE_CHECKING:
    from elicit_app.gui.flow.in_session import SessionFlow
    from elicit_app.gui.pages.messages import DamagedPage, DamagedView, ErrorDetails, ErrorPage, HelpPage, SettingsPage
    from elicit_app.session.session import Session
    from elicit_app.study.model import Study

SESSION_ENDING = ".session.jsonl"

PATIENCE = 0.7  # seconds that closing waits for running computations


class AppPaths(NamedTuple):
    """Paths of the settings file, and of the data folder with sessions on bundled studies."""

    settings: Path
    data: Path


class Flow(QObject):
    """Navigates the window. Emits `settings_changed` with the new `Settings`, to be applied and saved."""

    settings_changed = Signal(object)

    def __init__(
        self, pages: Pages, paths: AppPaths, settings: Settings, dialogs: Dialogs, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._pages, self._paths, self._dialogs = pages, paths, dialogs
        pages.to_start = self.show_start
        self.settings = settings
        self.look_ahead = True  # whether new sessions compute ahead; off if nobody thinks before answering
        self.background = Background(self)
        self._services = Services(pages, self.background, dialogs)
        self.files = ImportFlow(self._services, self)
        self.files.reading.connect(lambda name: self._show_opening(f"Reading {name}", "Every row is checked."))
        self.preparation = Preparation(self._services, self.files, paths.data, self)
        self.comparing = ComparisonFlow(self._services, self)
        self.laboratory = LaboratoryFlow(self._services, self)
        self.laboratory.words_requested.connect(lambda: self._show_help_on("laboratory"))
        self._session_flow: SessionFlow | None = None
        self._return_page: Page | None = None
        self._connect_start()
        self._connect_flows()

    # --- start

    def show_start(self) -> None:
        self.background.forget()
        self._leave_session()
        self._keep_session()
        page = self._pages.start
        page.notice.say("")
        self._pages.show(page)
        self.background.run(self._overview, page.show_view, lambda problem: page.notice.say(problem.sentence))

    def _leave_session(self) -> None:
        """Close what runs, so that nothing computed for it takes the place of the page shown next."""
        self.laboratory.stop()
        if self._session_flow is not None and self._session_flow.path is not None:
            # In the background, because a running computation has to end first; what is opened next waits for it there.
            self.background.save(
                self._session_flow.detach(),
                lambda _: None,
                lambda problem: self._pages.start.notice.say(problem.sentence),
            )

    def restore(self) -> None:
        """Reopen the session that was open when the window was closed, otherwise show the start page."""
        path = Path(self.settings.session)
        if not self.settings.session or not path.is_file():
            self.show_start()
            return
        self.open(str(path))
        if self.settings.tab:
            self._sessions().show_tab(self.settings.tab)

    def with_session(self, settings: Settings) -> Settings:
        flow = self._session_flow
        path = None if flow is None else flow.path
        if flow is None or path is None:
            return replace(settings, session="", tab=0)
        return replace(settings, session=str(path), tab=flow.tab)

    def _keep_session(self) -> None:
        """Write at once which session is open, so that a start after a crash reopens no other one."""
        now = self.with_session(self.settings)
        if now.session != self.settings.session:
            self.settings = now
            save_settings(now, self._paths.settings)

    def close(self) -> bool:
        """Close everything, and return whether all work has ended.

        False means that a computation is still running after most of a second. Nobody needs its result, so the caller
        need not wait to end the program. All answers are in the session file in either case; for the disk alone, and
        for files being saved and a session just left, this method waits as long as it takes.
        """
        session = self._session_flow
        unwritten = session.unwritten() if session is not None else lambda: False
        close_session_file = session.detach() if session is not None else lambda: None
        self.background.stop()
        self.laboratory.stop()

        def close_all() -> None:
            close_session_file()
            self.background.close()

        closing = threading.Thread(target=close_all, daemon=True)
        closing.start()
        give_up = time.monotonic() + PATIENCE
        while closing.is_alive() and (time.monotonic() < give_up or unwritten() or self.background.is_saving):
            closing.join(0.02)
        return not closing.is_alive()

    def _overview(self) -> object:
        from elicit_app.gui.setup.overview import overview

        return overview(self._paths.data, self.settings.folders, datetime.now().astimezone())

    def _connect_start(self) -> None:
        page = self._pages.start
        page.open_requested.connect(self.open)
        page.current.open_requested.connect(self.open)
        page.files_dropped.connect(self.open_files)
        page.drop.choose_requested.connect(self.choose_files)
        page.folder.clicked.connect(self.choose_folder)
        page.help.clicked.connect(self.show_help)
        page.settings.clicked.connect(self.show_settings)
        page.laboratory.clicked.connect(self.laboratory.show)

    def _connect_flows(self) -> None:
        preparation, comparing = self.preparation, self.comparing
        preparation.saved.connect(lambda study: self._opened(study, study.folder))
        preparation.preparing.connect(
            lambda: self._show_opening("Preparing the questions", "This takes a moment, once.")
        )
        preparation.began.connect(self._practise)
        preparation.resumed.connect(self.open)
        preparation.compare_requested.connect(comparing.compare)
        comparing.reading.connect(lambda how_far: self._show_opening("Comparing experts", how_far))
        comparing.failed.connect(lambda problem: self._show_failure("These experts cannot be compared", problem))
        self._pages.start.compare_requested.connect(lambda path: comparing.compare(Path(path)))

    # --- opening

    def announce(self, ref: str) -> None:
        """Announce that `ref` is being opened, before anything is read."""
        self._show_opening(f"Opening {Path(ref).name}", "Reading the study.")

    def open(self, ref: str) -> None:
        """Open a study by name, a study folder, a predictions file, or a session."""
        self._leave_session()
        path = Path(ref)
        if _is_session(path):
            self._open_session(path)
            return
        if path.is_file() and path.suffix.lower() in ENDINGS:
            self._read((path,))
            return
        self.announce(ref)
        self.background.run(
            lambda: _study_to_ask(ref),
            lambda study: self._opened(study, path),
            lambda problem: self._show_open_problem(problem, (path,)),
        )

    def open_files(self, paths: Sequence[Path]) -> None:
        """Open chosen or dropped files: a study folder, a packed study, a session, or predictions of one study."""
        if not paths:
            return
        if len(paths) == 1 and (paths[0].is_dir() or paths[0].name.endswith(PACK_ENDING) or _is_session(paths[0])):
            self.open(str(paths[0]))
        elif all(_is_session(path) for path in paths):
            self._show_failure("These files are answers", Problem("Open their study, and drop them onto its page."))
        else:
            self._read(paths)

    def _read(self, files: Sequence[Path]) -> None:
        self._leave_session()
        self.files.open(
            files,
            lambda study: self._opened(study, files[0]),
            lambda problem: self._show_open_problem(problem, tuple(files)),
        )

    def choose_files(self) -> None:
        self.open_files(self._dialogs.predictions(self._pages.shown))

    def choose_folder(self) -> None:
        folder = self._dialogs.study_folder(self._pages.shown)
        if folder is not None:
            self.open(str(folder))

    def _show_opening(self, title: str, sentence: str) -> None:
        self._pages.opening.say(title, sentence)
        self._pages.show(self._pages.opening)

    def _opened(self, study: Study, source: Path) -> None:
        if study.kind == "file":
            self.preparation.edit_words(study, folder_beside(source))
            return
        if study.kind == "folder" and study.folder is not None:
            self.settings = self.settings.with_folder(study.folder)
            self.settings_changed.emit(self.settings)
        self.preparation.show_begin_page(study)

    def _open_session(self, path: Path, study: str | None = None) -> None:
        from elicit_app.session.session import Session
        from elicit_app.study import open_study

        self._show_opening("Opening the session", "Your answers are read and checked.")
        self.background.run(
            lambda: Session.open(path, None if study is None else open_study(study)),
            self._resume,
            lambda problem: self._session_not_opened(problem, path, study),
            dropped=lambda session: session.close(),
        )

    def _practise(self, session: Session) -> None:
        self._sessions().practise(session)
        self._keep_session()

    def _resume(self, session: Session) -> None:
        self._sessions().resume(session)
        self._keep_session()

    def _session_not_opened(self, problem: Problem, path: Path, study: str | None) -> None:
        """Show the readable part of a damaged session; for any other, show why it cannot be opened, and what helps."""
        from elicit_app.gui.pages.messages import ErrorDetails
        from elicit_app.session.header import StudyNeeded
        from elicit_app.session.journal.files import DamagedProblem

        def cannot(why: Problem) -> None:
            of_folder = Path(study).is_dir() if study is not None else None  # chosen, but not the right one
            if isinstance(why, StudyNeeded):
                of_folder = why.is_folder
            found = ErrorDetails("This session cannot be opened", why.sentence, why.findings, (path,))
            if of_folder is not None:
                found = found._replace(choose="study folder" if of_folder else "study file")
            self._show_error(found)

        if not isinstance(problem, DamagedProblem):
            cannot(problem)
            return

        def show(view: DamagedView) -> None:
            self._damaged_page.show_view(view)
            self._pages.show(self._damaged_page)

        self.background.run(lambda: _damaged_view(path, study), show, cannot)

    @cached_property
    def _damaged_page(self) -> DamagedPage:
        page = self._pages.damaged
        page.copy_requested.connect(self._resume_in_copy)
        return page

    def _resume_in_copy(self, path: Path) -> None:
        self.background.run(
            lambda: _recover(path),
            lambda copy: self.open(str(copy)),
            lambda problem: self._damaged_page.notice.say(problem.sentence),
        )

    def _sessions(self) -> SessionFlow:
        """Return the flow of sessions; it is made when the first session begins."""
        if self._session_flow is None:
            from elicit_app.gui.flow.in_session import SessionFlow

            flow = SessionFlow(self._services, self, look_ahead=self.look_ahead)
            flow.failed.connect(lambda problem: self._show_failure("The session cannot go on", problem))
            flow.compare_requested.connect(self.comparing.compare)
            flow.use_settings(self.settings)
            self._session_flow = flow
        return self._session_flow

    # --- errors

    def _show_open_problem(self, problem: Problem, sources: tuple[Path, ...]) -> None:
        from elicit_app.gui.pages.messages import ErrorDetails

        if sources[0].exists():
            self._show_error(ErrorDetails.of_files(problem, sources))
        else:
            self._show_failure("This study cannot be opened", problem)

    def _show_failure(self, title: str, problem: Problem, path: Path | None = None) -> None:
        from elicit_app.gui.pages.messages import ErrorDetails

        self._show_error(ErrorDetails(title, problem.sentence, problem.findings, () if path is None else (path,)))

    def _show_error(self, error: ErrorDetails) -> None:
        self._error_page.show_error(error)
        self._pages.show(self._error_page)

    def _choose_instead(self, error: ErrorDetails) -> None:
        """Choose another file or folder in place of the one at fault, or the study of a session."""
        if error.choose == "another":
            (self.choose_folder if error.is_folder else self.choose_files)()
            return
        ask = self._dialogs.study_folder if error.choose == "study folder" else self._dialogs.study_file
        chosen = ask(self._pages.shown)
        if chosen is not None:
            self._open_session(error.sources[0], str(chosen))

    @cached_property
    def _error_page(self) -> ErrorPage:
        page = self._pages.error
        page.choose_requested.connect(self._choose_instead)
        page.again_requested.connect(self.open_files)
        page.format_requested.connect(lambda: self._show_help_on("file"))
        return page

    # --- help and settings

    def show_help(self) -> None:
        self._show_with_return(self._help_page)

    @cached_property
    def _help_page(self) -> HelpPage:
        page = self._pages.help
        page.back_requested.connect(self._back)
        return page

    def _show_help_on(self, section: Literal["file", "laboratory"]) -> None:
        self.show_help()
        self._help_page.show_section(section)

    def show_settings(self) -> None:
        self._settings_page.show_settings(self.settings, str(self._paths.settings))
        self._show_with_return(self._settings_page)

    @cached_property
    def _settings_page(self) -> SettingsPage:
        page = self._pages.settings
        page.changed.connect(self._change_settings)
        page.back_requested.connect(self._back)
        return page

    def _show_with_return(self, page: Page) -> None:
        shown = self._pages.shown
        if shown not in (self._pages.help, self._pages.settings):
            self._return_page = shown
        self._pages.show(page)

    def _back(self) -> None:
        self._pages.show(self._return_page or self._pages.start)

    def _change_settings(self, settings: Settings) -> None:
        self.settings = settings
        if self._session_flow is not None:
            self._session_flow.use_settings(settings)
        self.settings_changed.emit(settings)


def _is_session(path: Path) -> bool:
    """Return `is_session`; the name of a study or of predictions is known without loading anything."""
    if path.suffix.lower() in ENDINGS or not (path.name.endswith(".jsonl") or path.is_file()):
        return False
    from elicit_app.session.journal.files import is_session

    return is_session(path)


def _study_to_ask(ref: str) -> Study:
    """Open a study, and check that this version supports the setting of a packed one."""
    from elicit_app.registry import setting_of
    from elicit_app.registry.entries import as_packed
    from elicit_app.study import open_study

    study = open_study(ref)
    as_packed(study, setting_of())
    return study


def _damaged_view(path: Path, study: str | None) -> DamagedView:
    """Read a damaged session up to the damage; unless its study is given, it is found by the session's first line."""
    from elicit_app.gui.pages.messages import DamagedView
    from elicit_app.gui.pages.review import answer_words
    from elicit_app.gui.setup.overview import session_title
    from elicit_app.session.journal.recovery import recoverable_answers
    from elicit_app.session.session import Session
    from elicit_app.session.view_builders import review_view
    from elicit_app.study import open_study

    with Session.open_read_only(path, None if study is None else open_study(study), damaged=True) as session:
        words, family = session.study.wording, session.setting.family
        answers = tuple(answer_words(one, words, family) for one in reversed(review_view(session).answers))
        title = session_title(session.study.title, session.state.begun.who)
        return DamagedView(path, title, session.damage, answers, recoverable_answers(path))


def _recover(path: Path) -> Path:
    """Save the readable part of a session to a new file beside it."""
    from elicit_app.session.journal.recovery import recover_session

    stem = f"{path.name.removesuffix(SESSION_ENDING)}-recovered"
    return recover_session(path, free_path(path.parent, stem, SESSION_ENDING)).path
