"""The pages of the window, each made when it is first shown, so that the first one appears at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtWidgets import QStackedWidget

from elicit_app.gui.elements import Page
from elicit_app.gui.setup.start_page import StartPage

if TYPE_CHECKING:
    from elicit_app.gui.pages.aside import HelpPage, SettingsPage
    from elicit_app.gui.pages.compare import ComparePage
    from elicit_app.gui.pages.laboratory import LaboratoryPage
    from elicit_app.gui.pages.messages import DamagedPage, ErrorPage, OpeningPage, RecapPage, SittingOverPage
    from elicit_app.gui.pages.review import ReviewPage
    from elicit_app.gui.question import QuestionPage
    from elicit_app.gui.question.practice import PracticePage
    from elicit_app.gui.results.page import ResultsPage
    from elicit_app.gui.setup.begin_page import BeginPage
    from elicit_app.gui.setup.columns_page import ColumnsPage
    from elicit_app.gui.setup.piles_page import PilesPage
    from elicit_app.gui.setup.study_page import StudyPage

P = TypeVar("P", bound=Page)


class Pages:
    """All pages, on one stack; the title of the window names the page that is shown.

    Parameters
    ----------
    stack : QStackedWidget
        Where the pages lie.
    """

    def __init__(self, stack: QStackedWidget) -> None:
        self._stack = stack

    @property
    def shown(self) -> Page:
        """Return the page that is shown."""
        page = self._stack.currentWidget()
        assert isinstance(page, Page), "the stack always has the start page"
        return page

    def show(self, page: Page) -> None:
        """Turn to `page`; the focus goes to what it wants first."""
        if page is self._stack.currentWidget() and page.isVisible():
            return
        self._stack.setCurrentWidget(page)
        self._say_title()
        page.first_focus.setFocus()

    def _add(self, page: P, title: str = "") -> P:
        if title:
            page.setWindowTitle(title)
        page.windowTitleChanged.connect(self._say_title)
        self._stack.addWidget(page)
        return page

    def _say_title(self) -> None:
        self._stack.window().setWindowTitle(f"{self.shown.windowTitle()} - elicit")

    @cached_property
    def start(self) -> StartPage:
        """Return the start page."""
        return self._add(StartPage(), "Start")

    @cached_property
    def opening(self) -> OpeningPage:
        """Return the page that is shown while something is read."""
        from elicit_app.gui.pages.messages import OpeningPage

        return self._add(OpeningPage(), "Opening")

    @cached_property
    def study(self) -> StudyPage:
        """Return the page for the words of a study."""
        from elicit_app.gui.setup.study_page import StudyPage

        return self._add(StudyPage(), "Words of the study")

    @cached_property
    def columns(self) -> ColumnsPage:
        """Return the page on which columns of a predictions file are named."""
        from elicit_app.gui.setup.columns_page import ColumnsPage

        return self._add(ColumnsPage(), "Which column is what")

    @cached_property
    def begin(self) -> BeginPage:
        """Return the page before the first question."""
        from elicit_app.gui.setup.begin_page import BeginPage

        return self._add(BeginPage(), "Before the questions")

    @cached_property
    def piles(self) -> PilesPage:
        """Return the page on which mistakes are put into piles."""
        from elicit_app.gui.setup.piles_page import PilesPage

        return self._add(PilesPage(), "Piles")

    @cached_property
    def practice(self) -> PracticePage:
        """Return the practice page."""
        from elicit_app.gui.question.practice import PracticePage

        return self._add(PracticePage())

    @cached_property
    def question(self) -> QuestionPage:
        """Return the question page."""
        from elicit_app.gui.question import QuestionPage

        return self._add(QuestionPage())

    @cached_property
    def recap(self) -> RecapPage:
        """Return the page of where a session stood."""
        from elicit_app.gui.pages.messages import RecapPage

        return self._add(RecapPage(), "Where you stopped")

    @cached_property
    def sitting_over(self) -> SittingOverPage:
        """Return the page at the end of a sitting."""
        from elicit_app.gui.pages.messages import SittingOverPage

        return self._add(SittingOverPage(), "Enough for now")

    @cached_property
    def review(self) -> ReviewPage:
        """Return the page to look back on."""
        from elicit_app.gui.pages.review import ReviewPage

        return self._add(ReviewPage(), "Look back")

    @cached_property
    def results(self) -> ResultsPage:
        """Return the page of the result."""
        from elicit_app.gui.results.page import ResultsPage

        return self._add(ResultsPage(), "Result")

    @cached_property
    def compare(self) -> ComparePage:
        """Return the page of experts beside each other."""
        from elicit_app.gui.pages.compare import ComparePage

        return self._add(ComparePage(), "Experts compared")

    @cached_property
    def laboratory(self) -> LaboratoryPage:
        """Return the page of simulated people."""
        from elicit_app.gui.pages.laboratory import LaboratoryPage
        from elicit_app.registry import entries
        from elicit_app.study import list_studies

        studies = [(one.name, f"{one.title}, {one.description.split(',')[0]}") for one in list_studies()]
        procedures = [(entry.name, entry.label) for entry in entries()]
        return self._add(LaboratoryPage(studies, procedures), "Laboratory")

    @cached_property
    def damaged(self) -> DamagedPage:
        """Return the page of a damaged session."""
        from elicit_app.gui.pages.messages import DamagedPage

        return self._add(DamagedPage(), "A damaged session")

    @cached_property
    def error(self) -> ErrorPage:
        """Return the page of what cannot be used yet."""
        from elicit_app.gui.pages.messages import ErrorPage

        return self._add(ErrorPage(), "What cannot be read")

    @cached_property
    def help(self) -> HelpPage:
        """Return the help page."""
        from elicit_app.gui.pages.aside import HelpPage

        return self._add(HelpPage(), "Help")

    @cached_property
    def settings(self) -> SettingsPage:
        """Return the settings page."""
        from elicit_app.gui.pages.aside import SettingsPage

        return self._add(SettingsPage(), "Settings")
