"""One session in the window: its views go to the pages, what is pressed there to its runner. No rule lives here."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from elicit_app.elicitation.questions import Strength
from elicit_app.gui.flow.bridge import Background, Bridge
from elicit_app.gui.flow.pages import Pages
from elicit_app.gui.flow.saving import Dialogs
from elicit_app.gui.settings import Settings
from elicit_app.gui.start.overview import titled
from elicit_app.problem import Problem
from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.views.asked import QuestionView, RecapView, Reply, ReviewView, SittingOverView, UnsavedView
from elicit_app.session.views.outcome import ProblemView, ResultView, View


class SessionFlow(QObject):
    """Runs one session at a time. Emits `left` when the expert goes back to the start, and `troubled` with a sentence.

    Emits `compare_wanted` with the session file, to see other experts beside this one.

    Parameters
    ----------
    pages : Pages
        The pages of the window.
    background : Background
        For work on files that may take a moment.
    dialogs : Dialogs
        Asks where to save.
    """

    left = Signal()
    troubled = Signal(object)
    compare_wanted = Signal(object)

    def __init__(self, pages: Pages, background: Background, dialogs: Dialogs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pages, self._background, self._dialogs = pages, background, dialogs
        self._settings = Settings()
        self._session: Session | None = None
        self._runner: SessionRunner | None = None
        self._bridge: Bridge | None = None
        self._result: ResultView | None = None

    @property
    def running(self) -> bool:
        """Tell whether a session is open."""
        return self._session is not None

    def use_settings(self, settings: Settings) -> None:
        """Take over how questions are shown."""
        self._settings = settings
        if self._pages.is_made("question"):
            self._pages.question.set_animated(settings.animation)
            self._pages.question.set_numbers_only(settings.numbers_only)

    # --- beginning and ending

    def practise(self, session: Session) -> None:
        """Begin a new session with the practice questions."""
        self.close()
        self._session = session
        page = self._pages.practice
        if self._pages.first_use("practice"):
            page.finished.connect(self._practised)
            page.skipped.connect(self._run_unpractised)
        page.card.set_numbers_only(self._settings.numbers_only)
        self._pages.show(page)
        page.begin(session.study, session.setting.resolved_family)

    def go_on(self, session: Session) -> None:
        """Show where a session stands."""
        self.close()
        self._session = session
        self._run(recap=True)

    def close(self) -> None:
        """Close the session; everything answered is on the disk."""
        runner, bridge, session = self._runner, self._bridge, self._session
        self._runner = self._bridge = self._session = self._result = None
        if runner is not None:
            runner.close()
        elif session is not None:
            session.close()
        if bridge is not None:
            bridge.close()
            bridge.deleteLater()

    def _practised(self) -> None:
        if self._session is None or self._runner is not None:
            return
        try:
            self._session.practised()
        except Problem as problem:
            self.troubled.emit(problem.sentence)
        self._run()

    def _run_unpractised(self) -> None:
        if self._session is not None and self._runner is None:
            self._run()

    def _run(self, *, recap: bool = False) -> None:
        assert self._session is not None
        self._connect_question()
        self._pages.question.begin(self._session.study, self._session.setting.resolved_family)
        self._bridge = Bridge(self)
        self._bridge.view.connect(self.show_view)
        self._runner = SessionRunner(self._session, self._bridge.listen)
        self._runner.start(recap=recap)

    # --- views

    @Slot(object)
    def show_view(self, view: View) -> None:
        """Show a view on its page."""
        session = self._session
        if session is None:
            return
        if isinstance(view, QuestionView):
            self._pages.show(self._pages.question)
            self._pages.question.show_question(view)
        elif isinstance(view, RecapView):
            self._connect_recap()
            self._pages.recap.show_view(view, titled(session.study.title, session.state.begun.expert))
            self._pages.show(self._pages.recap)
        elif isinstance(view, UnsavedView):
            self._pages.question.show_unsaved(view)
        elif isinstance(view, SittingOverView):
            self._connect_sitting_over()
            self._pages.sitting_over.show_view(view)
            self._pages.show(self._pages.sitting_over)
        elif isinstance(view, ReviewView):
            self._connect_review()
            self._pages.review.show_review(view, session.study.wording, session.setting.resolved_family)
            self._pages.show(self._pages.review)
        elif isinstance(view, ResultView):
            self._result = view
            self._connect_results()
            self._pages.results.show_result(view, session.study, session.state.begun.expert or "")
            self._pages.show(self._pages.results)
        else:
            self._say_problem(view)

    def _say_problem(self, view: ProblemView) -> None:
        """Say it on the page that stands, or where there is none yet, on its own."""
        page: QWidget = self._pages.shown
        notice = getattr(page, "banner", None) or getattr(page, "notice", None)
        if notice is not None:
            notice.say(view.sentence)
        else:
            self.troubled.emit(view.sentence)

    # --- what is pressed

    def _connect_question(self) -> None:
        if not self._pages.first_use("question"):
            return
        page = self._pages.question
        page.chosen.connect(self._answer)
        page.undo_requested.connect(lambda: self._ask("undo"))
        page.redo_requested.connect(lambda: self._ask("redo"))
        page.stop_requested.connect(lambda: self._ask("stop"))
        page.retry_requested.connect(lambda: self._ask("retry"))
        page.leave_requested.connect(self._leave)
        self.use_settings(self._settings)

    def _connect_recap(self) -> None:
        if not self._pages.first_use("recap"):
            return
        self._pages.recap.go_on_wanted.connect(lambda: self._ask("go_on"))
        self._pages.recap.start_wanted.connect(self._leave)

    def _connect_sitting_over(self) -> None:
        if not self._pages.first_use("sitting over"):
            return
        page = self._pages.sitting_over
        page.start_wanted.connect(self._leave)
        page.stop_wanted.connect(lambda: self._ask("stop"))
        page.more_wanted.connect(lambda: self._ask("more"))
        page.undo_wanted.connect(lambda: self._ask("undo"))
        page.retry_wanted.connect(lambda: self._ask("retry"))

    def _connect_review(self) -> None:
        if not self._pages.first_use("review"):
            return
        page = self._pages.review
        page.start_wanted.connect(self._leave)
        page.finish_wanted.connect(lambda: self._ask("finish"))
        page.more_wanted.connect(lambda: self._ask("more"))
        page.undo_wanted.connect(lambda: self._ask("undo"))
        page.redo_wanted.connect(lambda: self._ask("redo"))
        page.retry_wanted.connect(lambda: self._ask("retry"))
        page.look_at.connect(lambda number: self._ask("look_again", number))
        page.take_out.connect(lambda number: self._ask("take_out", number))
        page.meant.connect(lambda meant: self._ask("resolve", meant.pair, meant.kept))

    def _connect_results(self) -> None:
        if not self._pages.first_use("results"):
            return
        page = self._pages.results
        page.more_wanted.connect(lambda: self._ask("more"))
        page.review_wanted.connect(lambda: self._ask("review"))
        page.retry_wanted.connect(lambda: self._ask("retry"))
        page.look_at.connect(lambda number: self._ask("look_again", number))
        page.start_wanted.connect(self._leave)
        page.export_wanted.connect(self._export)
        page.compare_wanted.connect(self._compare)

    def _compare(self) -> None:
        if self._session is not None:
            self.compare_wanted.emit(self._session.path)

    def _ask(self, request: str, *arguments: object) -> None:
        if self._runner is not None:
            getattr(self._runner, request)(*arguments)

    @Slot(object, object, object, object, object)
    def _answer(
        self, request: int, reply: Reply, strength: Strength | None, seconds: float | None, full_picture: bool
    ) -> None:
        if self._runner is not None:
            self._runner.answer(request, reply, strength, seconds=seconds, full_picture=full_picture)

    def _leave(self) -> None:
        self.close()
        self.left.emit()

    # --- files

    def _export(self, key: str) -> None:
        from elicit_app.gui.flow.saving import proposed_name, save_format, sklearn_lines, with_ending
        from elicit_app.gui.results.files import ANSWERS, COPIED, format_of

        view, page, session = self._result, self._pages.results, self._session
        if view is None or session is None:
            return
        if key == COPIED:
            QGuiApplication.clipboard().setText(sklearn_lines(view))
            page.costs.files.say_copied()
            return
        ending = format_of(key).ending
        folder = Path.home() if view.journal is None else view.journal.parent
        path = self._dialogs.save(page, folder / proposed_name(view, ending))
        if path is None:
            return
        path = with_ending(path, ending)
        work = (lambda: _export_answers(session, path)) if key == ANSWERS.key else lambda: save_format(view, key, path)
        self._background.run(
            work,
            lambda saved: page.notice.say(f"Saved: {saved}", good=True),
            lambda problem: page.notice.say(problem.sentence),
        )


def _export_answers(session: Session, path: Path) -> Path:
    from elicit_app.session.answers_table import export_answers

    return export_answers(session, path)
