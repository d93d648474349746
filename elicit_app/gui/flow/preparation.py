"""From a study to its first question: its words, the settings, and the new session."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from elicit_app.gui.flow.background import Services, documents, save_as, with_ending
from elicit_app.problem import Problem
from elicit_app.study.writing import free_path
from metrics.files import real_path

if TYPE_CHECKING:
    from elicit_app.gui.setup.begin_page import BeginPage, SessionRequest
    from elicit_app.gui.setup.columns_page import ColumnsPage
    from elicit_app.gui.setup.piles_page import PilesPage
    from elicit_app.gui.setup.start_page import ContinueView
    from elicit_app.gui.setup.study_page import EditedStudy, StudyPage
    from elicit_app.registry import Setting
    from elicit_app.session.journal.listing import SessionSummary
    from elicit_app.session.packing import Filed
    from elicit_app.session.session import Session
    from elicit_app.study.first_rows import FirstRows
    from elicit_app.study.model import ColumnMap, Study

Maps = tuple["ColumnMap | None", ...]


class ImportFlow(QObject):
    """Reads predictions files. Emits `reading` with the first file's name before anything is read."""

    reading = Signal(str)

    def __init__(self, services: Services, parent: QObject) -> None:
        super().__init__(parent)
        self._pages, self._background, _ = services
        self._previews: tuple[FirstRows, ...] = ()
        self._maps: dict[Path, Maps] = {}  # one for each model in a file
        # the last answer about each file, proposed when it is read again
        self._given: dict[Path, tuple[ColumnMap, ...]] = {}
        self._read: Callable[[tuple[Path, ...], Maps], Study] = _study_of
        self._done: Callable[[Study], None] = lambda study: None
        self._failed: Callable[[Problem], None] = lambda problem: None
        self._files: tuple[Path, ...] = ()
        self._to_words: Callable[[], None] | None = None

    def open(
        self,
        files: Sequence[Path],
        done: Callable[[Study], None],
        failed: Callable[[Problem], None],
        *,
        known: ColumnMap | None = None,
        taken: Collection[str] = (),
        read: Callable[[tuple[Path, ...], Maps], Study] | None = None,
        to_words: Callable[[], None] | None = None,
    ) -> None:
        """Read predictions files of one study, and pass the study to `done` or a problem to `failed`.

        Files with the columns of the earlier map `known` need no question, unless their name is `taken` by a model.
        `read` makes the study, given the file and the column map of each model; by default a new one. `to_words` leads
        back to the words of a study that models are added to; by default the start is shown.
        """
        self._to_words = to_words
        self._files, self._done, self._failed = tuple(files), done, failed
        self._read = read or _study_of
        self._maps = {}
        self.reading.emit(self._files[0].name)
        sources, new = self._files, read is None
        self._background.run(
            lambda: _previews(sources, new=new), lambda previews: self._take_previews(previews, known, taken), failed
        )

    def _take_previews(
        self, previews: tuple[FirstRows, ...] | Study, known: ColumnMap | None, taken: Collection[str]
    ) -> None:
        if not isinstance(previews, tuple):
            self._done(previews)
            return
        self._previews = previews
        if known is not None:
            alike = (one.path for one in previews if one.suits(known) and one.path.stem not in taken)
            self._maps = dict.fromkeys(alike, (known,))
        self._ask_or_read()

    def _ask_or_read(self) -> None:
        """Ask about the first file with unknown columns; if there is none, read all files."""
        unknown = [preview for preview in self._previews if preview.to_ask and preview.path not in self._maps]
        if unknown:
            first, given = unknown[0], self._given.get(unknown[0].path)
            if given is not None and not all(
                first.holds(one) and set(first.values.get(one.truth, ("",))) <= set(one.classes) for one in given
            ):
                given = None
            self._page.show_preview(first, given or (), back="Back to the start" if self._to_words is None else "Back")
            self._pages.show(self._page)
            return
        each = [(file, one) for file in self._files for one in self._maps.get(file, (None,))]
        files, maps = tuple(file for file, _ in each), tuple(one for _, one in each)
        read = self._read
        self.reading.emit(files[0].name)
        self._background.run(lambda: read(files, maps), self._done, self._failed)

    def _mapped(self, columns: tuple[ColumnMap, ...]) -> None:
        """Apply an answer to the file in question and to all others with these columns."""
        asked = next(preview for preview in self._previews if preview.to_ask and preview.path not in self._maps)
        self._given[asked.path] = columns
        for preview in self._previews:
            alike = preview.to_ask and preview.path not in self._maps and all(map(preview.holds, columns))
            if preview is asked or alike:
                self._maps[preview.path] = tuple(
                    None if preview.fits and one == preview.guess else one for one in columns
                )
        self._ask_or_read()

    @cached_property
    def _page(self) -> ColumnsPage:
        page = self._pages.columns
        page.mapped.connect(self._mapped)
        page.back_requested.connect(lambda: (self._to_words or self._pages.to_start)())
        return page


def _previews(files: tuple[Path, ...], *, new: bool) -> tuple[FirstRows, ...] | Study:
    """Return the first rows of each file; for files that are not about classes, the study made from them."""
    from elicit_app.study import open_study
    from elicit_app.study.amounts import is_of_amounts
    from elicit_app.study.first_rows import read_first_rows
    from elicit_app.study.making import amounts_study_of, create_amounts_study
    from elicit_app.study.opening import studies_beside

    previews = tuple(read_first_rows(file) for file in files)
    not_classes = [file for file in files if file.suffix.lower() != ".npz" and is_of_amounts(file)]
    if not not_classes:
        return previews
    if not new:
        raise Problem(f"{not_classes[0].name} is not about classes, as this study is: make another study of it.")
    there = studies_beside(real_path(files[0]), amounts_study_of(files, files[0].stem).digest)
    if there:  # nothing was stated, so another study would be the same
        study = open_study(str(there[0]))
        note = f"This study of these predictions was there already, in the folder {there[0].name} beside them."
        return replace(study, notes=(*study.notes, note))
    return create_amounts_study(folder_beside(files[0]), files)


def _study_of(files: tuple[Path, ...], maps: Maps) -> Study:
    from elicit_app.study.making import study_of
    from elicit_app.study.opening import studies_beside

    study = study_of(files, kind="file", name=files[0].stem, columns=maps)
    there = studies_beside(real_path(files[0]), study.digest)
    if not there:
        return study
    note = (
        f"There is a study of these predictions already, in the folder {there[0].name} beside them: open that folder "
        "to go on with its words and answers. Saving here makes another study."
    )
    return replace(study, notes=(*study.notes, note))


class Preparation(QObject):
    """Emits `saved` with a study whose words were saved, `preparing`, and then `began` with a session.

    Emits `resumed` with the file of a session to resume instead, and `compare_requested` with one of the sessions to
    compare.
    """

    saved = Signal(object)
    preparing = Signal()
    began = Signal(object)
    resumed = Signal(object)
    compare_requested = Signal(object)

    def __init__(self, services: Services, files: ImportFlow, data: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._files, self._data = services, files, data
        self._pages, self._background, self._dialogs = services
        self._study: Study | None = None
        self._experts: tuple[SessionSummary, ...] = ()
        self.draw_seed: Callable[[], int] = lambda: secrets.randbits(32)  # each session gets a seed of its own

    def edit_words(self, study: Study, folder: Path | None) -> None:
        """Show the words of `study`; `folder` is proposed for a new study, None keeps its folder."""
        self._words_page.show_study(study, folder)
        self._pages.show(self._words_page)

    @cached_property
    def _words_page(self) -> StudyPage:
        page = self._pages.study
        page.save_requested.connect(self._save_words)
        page.place.choose.clicked.connect(self._choose_place)
        page.mistakes.open_csv.clicked.connect(self._open_words)
        page.mistakes.save_csv.clicked.connect(self._save_words_as)
        page.models.add.clicked.connect(self._add_models)
        return page

    def _choose_place(self) -> None:
        page = self._words_page
        chosen = self._dialogs.new_folder(page, Path(page.place.path.text() or "study"))
        if chosen is not None:
            page.place.path.setText(str(chosen))

    def _add_models(self) -> None:
        """Ask for predictions of further models, and add them to the study shown."""
        from elicit_app.study.making import read_more, with_models

        page = self._words_page
        study, files = page.study, self._dialogs.predictions(page)
        if study is None or not files:
            return

        def with_more(files: tuple[Path, ...], maps: Maps) -> Study:
            more = (read.predictions for read in read_more(study, files, maps))
            return with_models(study, (*study.models, *more))

        def back(problem: Problem) -> None:
            self._pages.show(page)
            page.show_problem(problem)

        def added(changed: Study) -> None:
            self._pages.show(page)
            page.take_study(changed)

        self._files.open(
            files,
            added,
            back,
            known=study.columns,
            taken=study.model_names,
            read=with_more,
            to_words=lambda: self._pages.show(page),
        )

    def _open_words(self) -> None:
        from elicit_app.study.words import read_words

        page = self._words_page
        path, study = self._dialogs.words(page), page.study
        if path is not None and study is not None:
            self._background.run(
                lambda: read_words(study, path), lambda words: page.take_words(words, path.name), page.show_problem
            )

    def _save_words_as(self) -> None:
        from elicit_app.study.words import write_words

        page = self._words_page
        study = page.study
        if study is None:
            return
        folder = study.folder or documents()
        path = self._dialogs.save(page, folder / f"{study.name}-words.csv")
        if path is not None:
            to = with_ending(path, ".csv")
            self._background.run(
                lambda: write_words(study, to), lambda saved: page.show_status(f"Saved: {saved}"), page.show_problem
            )

    def _save_words(self, edited: EditedStudy) -> None:
        self._background.run(lambda: _save_study(edited), self.saved.emit, self._words_page.show_problem)

    def show_begin_page(self, study: Study) -> None:
        from elicit_app.session.journal.listing import comparable_experts, matching_pack, sessions_folder, sessions_of
        from elicit_app.session.packing import is_second_round, own_answers, proposed_name

        page, self._study = self._begin_page, study
        folder = sessions_folder(study, self._data)
        sessions = sessions_of(folder, study.digests)
        self._experts = comparable_experts(sessions)
        current = _resumable_view(matching_pack(sessions, study))
        page.show_study(study, str(folder.absolute()), self.draw_seed(), current, self._experts)
        name = proposed_name(study, sessions)
        page.propose_name(name)
        if name and is_second_round(study):
            self._background.run(
                lambda: own_answers(study, sessions, name),
                lambda own: page.show_own_answers(name, own) if self._study is study else None,
                lambda _: None,  # the opinions stand without it
            )
        self._pages.show(page)

    @cached_property
    def _begin_page(self) -> BeginPage:
        page = self._pages.begin
        page.begin_requested.connect(self._begin)
        page.words.clicked.connect(self._change_words)
        page.current.open_requested.connect(self.resumed)
        page.compare.clicked.connect(self._compare)
        page.send_requested.connect(self._send)
        page.elsewhere.add.clicked.connect(lambda: self._add(self._dialogs.answers(page)))
        page.answers_dropped.connect(self._add)
        return page

    def _send(self, setting: Setting, again: bool) -> None:
        """Write the study to a file for an expert elsewhere; in a second round with the opinions of the others."""
        from elicit_app.session.packing import opinions_of, packed, write_pack
        from elicit_app.study.packs import ENDING, pack_stem

        if (study := self._study) is not None:
            save_as(
                self._services,
                self._begin_page,
                pack_stem(study.title, again=again),
                ENDING,
                lambda path: write_pack(packed(study, setting, opinions_of(study) if again else ()), path),
                title="Send to an expert",
            )

    def _add(self, files: Sequence[Path]) -> None:
        """File answers that came back among the sessions of the study shown."""
        from elicit_app.session.packing import collect

        page, study = self._begin_page, self._study
        if files and study is not None:
            self._background.run(
                lambda: collect(study, files),
                lambda filed: self._added(study, filed),
                lambda problem: page.show_problem(problem.sentence),
            )

    def _added(self, study: Study, filed: Sequence[Filed]) -> None:
        if self._study is study:
            self.show_begin_page(study)
            self._begin_page.notice.say(" ".join(one.sentence for one in filed), good=all(one.new for one in filed))

    def _compare(self) -> None:
        if self._experts:
            self.compare_requested.emit(self._experts[-1].path)

    def _change_words(self) -> None:
        if self._study is not None:
            self.edit_words(self._study, None)

    def _begin(self, request: SessionRequest) -> None:
        """Begin; if there are many mistakes, first show the piles."""
        if request.offers_piles:
            self._piles_page.show_request(request)
            self._pages.show(self._piles_page)
        else:
            self._create(request)

    @cached_property
    def _piles_page(self) -> PilesPage:
        page = self._pages.piles
        page.finished.connect(self._create)
        page.back_requested.connect(lambda: self._pages.show(self._begin_page))
        return page

    def _create(self, request: SessionRequest) -> None:
        self.preparing.emit()
        self._background.run(
            lambda: _create_session(request, self._data),
            lambda session: self._has_begun(session, request),
            self._could_not_begin,
            dropped=lambda session: session.close(),
        )

    def _has_begun(self, session: Session, request: SessionRequest) -> None:
        """Begin, and leave nothing on the pages that whoever answers next could take for their own."""
        self._begin_page.forget()
        if request.offers_piles:
            self._piles_page.forget()
        self.began.emit(session)

    def _could_not_begin(self, problem: Problem) -> None:
        self._pages.show(self._begin_page)
        self._begin_page.show_problem(problem.sentence)


def _resumable_view(sessions: tuple[SessionSummary, ...]) -> ContinueView | None:
    """Return the first unfinished session."""
    from elicit_app.gui.setup.overview import continue_view, unfinished

    one = unfinished(sessions)
    return None if one is None else continue_view(one, datetime.now().astimezone())


def _save_study(edited: EditedStudy) -> Study:
    """Write a study to its folder or to a new one."""
    from elicit_app.study import save_study
    from elicit_app.study.folder import write_folder

    if edited.folder is not None:
        return write_folder(edited.folder, edited.study)
    save_study(edited.study, since=edited.opened)
    return edited.study


def _create_session(request: SessionRequest, data: Path) -> Session:
    """Begin a session and compute its first question."""
    from elicit_app.session.journal.listing import new_session_path
    from elicit_app.session.session import Session

    path = new_session_path(request.study, datetime.now(UTC), expert=request.expert or None, data=data)
    path.parent.mkdir(parents=True, exist_ok=True)
    expert = request.expert or None
    session = Session.create(request.study, request.setting, path, expert=expert, guesses=request.guesses)
    session.next()
    return session


def folder_beside(file: Path) -> Path:
    """Return the folder for a study, beside its predictions, with a number if the name is taken."""
    return free_path(real_path(file).parent, f"{file.stem}-study")
