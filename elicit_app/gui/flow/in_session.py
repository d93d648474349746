"""A session in the window: passes views to the pages and actions to the runner. It contains no rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from elicit_app.elicitation.questions import Moved
from elicit_app.gui.elements.page import Page
from elicit_app.gui.flow.background import MainThread, Services, proposal, save_as, save_pictures
from elicit_app.gui.settings import Settings
from elicit_app.gui.setup.overview import session_title
from elicit_app.problem import Problem
from elicit_app.session.runner import SessionRunner
from elicit_app.session.sentences import SEND_BACK
from elicit_app.session.session import Session
from elicit_app.session.view_builders import looking_again_view
from elicit_app.session.views import (
    CurvesView,
    ProblemView,
    QuestionView,
    RecapView,
    ResultView,
    ReviewView,
    SittingOverView,
    UnsavedView,
    View,
)
from elicit_app.study.writing import write_whole

if TYPE_CHECKING:
    from elicit_app.gui.pages.messages import RecapPage, SittingOverPage
    from elicit_app.gui.pages.review import ReviewPage
    from elicit_app.gui.question.answers import GivenAnswer
    from elicit_app.gui.question.page import PracticePage, QuestionPage
    from elicit_app.gui.results.page import ResultsPage

A = ParamSpec("A")
P = TypeVar("P", bound=Page)


class SessionFlow(QObject):
    """Runs one session at a time. Emits `failed` with a `Problem`.

    Emits `compare_requested` with the session file, to compare this expert with others. With `look_ahead`, the
    question after every possible reply is computed while the expert thinks; see `SessionRunner`.
    """

    failed = Signal(object)
    compare_requested = Signal(object)

    def __init__(self, services: Services, parent: QObject, *, look_ahead: bool) -> None:
        super().__init__(parent)
        self._services, self._pages, self._look_ahead = services, services.pages, look_ahead
        self._settings = Settings()
        self._session: Session | None = None
        self._runner: SessionRunner | None = None
        self._main: MainThread | None = None  # brings the views of the runner
        self._result: ResultView | None = None

    @property
    def path(self) -> Path | None:
        return None if self._session is None else self._session.path

    @property
    def tab(self) -> int:
        """Return the current tab of the result; 0 if no result is shown."""
        return self._results_page.tabs.currentIndex() if self._result is not None else 0

    def show_tab(self, tab: int) -> None:
        self._results_page.tabs.setCurrentIndex(tab)

    def use_settings(self, settings: Settings) -> None:
        self._settings = settings
        if self._session is not None:
            self._apply_settings()

    def _apply_settings(self) -> None:
        if self._runner is None:
            self._practice_page.set_numbers_only(self._settings.numbers_only)
        else:
            self._question_page.set_numbers_only(self._settings.numbers_only)
            self._question_page.animated = self._settings.animation

    # --- beginning and ending

    def practise(self, session: Session) -> None:
        self.close()
        self._session = session
        page = self._practice_page
        self._apply_settings()
        self._pages.show(page)
        page.begin(session.study, session.setting.family)

    def resume(self, session: Session) -> None:
        """Resume a session with a recap, or with the practice if it was left before its end."""
        if {event.kind for event in session.events}.isdisjoint({"practised", "answered"}):
            self.practise(session)
            return
        self.close()
        self._session = session
        self._run(recap=True)

    def close(self) -> None:
        """Close the session; all answers are on disk."""
        self.detach()()

    def detach(self) -> Callable[[], None]:
        """Forget the session, and return a function that closes it, on any thread, after running computations."""
        runner, main, session = self._runner, self._main, self._session
        if self._result is not None:
            self.show_tab(0)  # the next result begins with what to do
        if "_review_page" in self.__dict__:
            self._review_page.table.clearSelection()  # an answer of this session
        self._runner = self._main = self._session = self._result = None
        if main is not None:
            main.close()
            main.deleteLater()
        if runner is not None:
            return runner.close
        return session.close if session is not None else lambda: None

    def unwritten(self) -> Callable[[], bool]:
        """Return a function that tells whether a request is still missing from the session file."""
        runner = self._runner
        return lambda: runner is not None and runner.unwritten

    def _practised(self) -> None:
        if self._session is None or self._runner is not None:
            return
        try:
            self._session.practised()
        except Problem as problem:
            self.failed.emit(problem)
            return
        self._run()

    def _run(self, *, recap: bool = False) -> None:
        session = self._session
        if session is None or self._runner is not None:
            return
        shown = (looking_again_view(session, 0, 1 + number) for number in range(len(session.state.entries)))
        self._question_page.begin(session.study, session.setting.family, shown)
        main = self._main = MainThread(self)
        self._runner = SessionRunner(
            session, lambda view: main.post(partial(self.show_view, view)), look_ahead=self._look_ahead
        )
        self._apply_settings()
        self._runner.start(recap=recap)

    # --- views

    def show_view(self, view: View) -> None:
        session = self._session
        if session is None:
            return
        if isinstance(view, QuestionView):
            self._pages.show(self._question_page)
            self._question_page.show_question(view)
        elif isinstance(view, RecapView):
            self._recap_page.show_view(view, session_title(session.study.title, session.state.begun.who))
            self._pages.show(self._recap_page)
        elif isinstance(view, UnsavedView):
            self._question_page.show_unsaved(view)
        elif isinstance(view, SittingOverView):
            self._sitting_over_page.show_view(view)
            self._pages.show(self._sitting_over_page)
        elif isinstance(view, ReviewView):
            self._review_page.show_review(view, session.study.wording, session.setting.family)
            self._pages.show(self._review_page)
        elif isinstance(view, ResultView):
            self._result = view
            self._results_page.show_result(view, session.study, session.state.begun.who or "")
            self._pages.show(self._results_page)
        elif isinstance(view, CurvesView):
            self._results_page.show_curves(view)
        else:
            self._show_problem(view)

    def _show_problem(self, view: ProblemView) -> None:
        """Report a problem on the current page, or on the error page if it has no band."""
        notice = self._pages.shown.notice
        if notice is not None:
            notice.say(view.sentence)
        else:
            self.failed.emit(Problem(view.sentence))

    # --- the pages, each connected when it is first shown

    def _to_runner(self, act: Callable[Concatenate[SessionRunner, A], None]) -> Callable[A, None]:
        """Return a slot that requests `act` in the session that is open when it is called."""

        def slot(*args: A.args, **kwargs: A.kwargs) -> None:
            if self._runner is not None:
                act(self._runner, *args, **kwargs)

        return slot

    def _connected(self, page: P) -> P:
        """Connect the signals shared by several pages."""
        page.stop_requested.connect(self._to_runner(SessionRunner.stop))
        page.more_requested.connect(self._to_runner(SessionRunner.more))
        page.undo_requested.connect(self._to_runner(SessionRunner.undo))
        page.redo_requested.connect(self._to_runner(SessionRunner.redo))
        page.retry_requested.connect(self._to_runner(SessionRunner.retry))
        return page

    @cached_property
    def _practice_page(self) -> PracticePage:
        page = self._pages.practice
        page.finished.connect(self._practised)
        page.skipped.connect(self._run)
        return page

    @cached_property
    def _question_page(self) -> QuestionPage:
        page = self._connected(self._pages.question)
        page.answered.connect(self._to_runner(submit_answer))
        page.considered.connect(self._consider)
        return page

    @cached_property
    def _recap_page(self) -> RecapPage:
        page = self._pages.recap
        page.resume_requested.connect(self._to_runner(SessionRunner.go_on))
        return page

    @cached_property
    def _sitting_over_page(self) -> SittingOverPage:
        return self._connected(self._pages.sitting_over)

    @cached_property
    def _review_page(self) -> ReviewPage:
        page = self._connected(self._pages.review)
        page.finish_requested.connect(self._to_runner(SessionRunner.finish))
        page.look_again_requested.connect(self._to_runner(SessionRunner.look_again))
        page.take_out_requested.connect(self._to_runner(SessionRunner.take_out))
        page.contradiction.resolve_requested.connect(self._to_runner(SessionRunner.resolve))
        return page

    @cached_property
    def _results_page(self) -> ResultsPage:
        page = self._connected(self._pages.results)
        page.review_requested.connect(self._to_runner(SessionRunner.review))
        page.rates.trust.look_again_requested.connect(self._to_runner(SessionRunner.look_again))
        page.rates.trust.withdraw_requested.connect(self._to_runner(SessionRunner.withdraw_orders))
        page.export_requested.connect(self._export)
        page.compare.clicked.connect(self._compare)
        page.practice_stated.connect(self._to_runner(SessionRunner.state_practice))
        page.details.curves_requested.connect(self._to_runner(SessionRunner.curves))
        return page

    # --- actions

    def _compare(self) -> None:
        if self._session is not None:
            self.compare_requested.emit(self._session.path)

    def _consider(self, request: int, moved: Moved) -> None:
        if self._runner is not None:
            self._runner.prepare_count(request, moved)

    # --- files

    def _export(self, key: str) -> None:
        from elicit_app.gui.results.costs import COPIED, ENDINGS, TO_SEND_BACK
        from metrics.exports import export

        view, page, session = self._result, self._results_page, self._session
        if view is None or session is None:
            return
        if key == COPIED:
            QGuiApplication.clipboard().setText(str(export(view.metric, "sklearn")))
            page.costs.files.show_copied()
            return
        ending, back = ENDINGS[key], SEND_BACK if key == TO_SEND_BACK else ""
        name, title = proposal(view.metric, ending)
        save_as(
            self._services,
            page,
            name,
            ending,
            lambda path: self._save(key, view, session, path),
            title=title,
            then=back,
        )

    def _save(self, key: str, view: ResultView, session: Session, path: Path) -> Path:
        from elicit_app.gui.results.costs import ANSWERS, METRIC, PICTURES, TO_SEND_BACK
        from elicit_app.session.packing import save_answers
        from elicit_app.session.result import export as export_metric
        from elicit_app.session.view_builders import export_answers
        from metrics.exports import export

        if key == TO_SEND_BACK:
            return save_answers(session, path)
        curves = self._results_page.details.curves
        if key == PICTURES and curves is not None:
            return save_pictures(curves, path)
        if key == ANSWERS:
            return export_answers(session, path)
        if key == METRIC:
            return export_metric(view, path)
        return write_whole(path, export(view.metric, key))


def submit_answer(runner: SessionRunner, given: GivenAnswer) -> None:
    """Pass an answer from the page to the session."""
    runner.answer(**vars(given))
