"""The pages of the window, each made on first use, so that the first one appears at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtWidgets import QStackedWidget

from elicit_app.gui.elements.page import Page

if TYPE_CHECKING:
    from elicit_app.gui.pages.compare import ComparePage
    from elicit_app.gui.pages.laboratory import LaboratoryPage
    from elicit_app.gui.pages.messages import (
        DamagedPage,
        ErrorPage,
        HelpPage,
        OpeningPage,
        RecapPage,
        SettingsPage,
        SittingOverPage,
    )
    from elicit_app.gui.pages.review import ReviewPage
    from elicit_app.gui.question.page import PracticePage, QuestionPage
    from elicit_app.gui.results.page import ResultsPage
    from elicit_app.gui.setup.begin_page import BeginPage
    from elicit_app.gui.setup.columns_page import ColumnsPage
    from elicit_app.gui.setup.piles_page import PilesPage
    from elicit_app.gui.setup.start_page import StartPage
    from elicit_app.gui.setup.study_page import StudyPage

P = TypeVar("P", bound=Page)


def _page(module: str, kind: str, title: str = "") -> Any:
    """Return an attribute that makes a page on first access; one without a title sets its own."""
    return cached_property(lambda pages: pages.add(getattr(import_module(f"elicit_app.gui.{module}"), kind)(), title))


class Pages:
    """All pages, on one stack; the window title names the current page.

    `to_start` handles a page's request for the start.
    """

    start: StartPage = _page("setup.start_page", "StartPage", "Start")
    opening: OpeningPage = _page("pages.messages", "OpeningPage", "Opening")
    study: StudyPage = _page("setup.study_page", "StudyPage", "Words of the study")
    columns: ColumnsPage = _page("setup.columns_page", "ColumnsPage", "Which column is what")
    begin: BeginPage = _page("setup.begin_page", "BeginPage", "Before the questions")
    piles: PilesPage = _page("setup.piles_page", "PilesPage", "Piles")
    practice: PracticePage = _page("question.page", "PracticePage")
    question: QuestionPage = _page("question.page", "QuestionPage")
    recap: RecapPage = _page("pages.messages", "RecapPage", "Where you stopped")
    sitting_over: SittingOverPage = _page("pages.messages", "SittingOverPage")
    review: ReviewPage = _page("pages.review", "ReviewPage", "Look back")
    results: ResultsPage = _page("results.page", "ResultsPage", "Result")
    compare: ComparePage = _page("pages.compare", "ComparePage", "Experts compared")
    damaged: DamagedPage = _page("pages.messages", "DamagedPage", "A damaged session")
    error: ErrorPage = _page("pages.messages", "ErrorPage", "What cannot be read")
    help: HelpPage = _page("pages.messages", "HelpPage", "Help")
    settings: SettingsPage = _page("pages.messages", "SettingsPage", "Settings")

    def __init__(self, stack: QStackedWidget) -> None:
        self._stack = stack
        self.to_start: Callable[[], None] = lambda: None

    @cached_property
    def laboratory(self) -> LaboratoryPage:
        from elicit_app.gui.pages.laboratory import LaboratoryPage
        from elicit_app.registry import entries
        from elicit_app.study import list_studies

        studies = [(one.name, f"{one.title}, {one.description.split(',')[0]}") for one in list_studies()]
        procedures = [(entry.name, entry.label) for entry in entries()]
        return self.add(LaboratoryPage(studies, procedures), "Laboratory")

    @property
    def shown(self) -> Page:
        page = self._stack.currentWidget()
        assert isinstance(page, Page), "the stack always has the start page"
        return page

    def show(self, page: Page) -> None:
        """Show `page` and move the focus to its first widget."""
        if page is self._stack.currentWidget() and page.isVisible():
            return
        self._stack.setCurrentWidget(page)
        self._update_title()
        page.first_focus.setFocus()

    def add(self, page: P, title: str) -> P:
        """Add a page to the stack."""
        if title:
            page.setWindowTitle(title)
        page.windowTitleChanged.connect(self._update_title)
        page.start_requested.connect(lambda: self.to_start())
        self._stack.addWidget(page)
        return page

    def _update_title(self) -> None:
        self._stack.window().setWindowTitle(f"{self.shown.windowTitle()} - elicit")
