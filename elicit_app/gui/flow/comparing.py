"""Comparing experts in the window: reading their sessions, the page, saving the pooled metric file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from elicit_app.gui.elements import Page
from elicit_app.gui.flow.bridge import Background
from elicit_app.gui.flow.pages import Pages
from elicit_app.gui.flow.saving import Dialogs

if TYPE_CHECKING:
    from elicit_app.gui.pages.compare import ComparePage
    from elicit_app.session.experts.comparing import ComparisonView

METRIC_ENDING = ".metric.json"


class Comparing(QObject):
    """Emits `reading` before the sessions are read, and `failed` with a `Problem` where they cannot be compared.

    Parameters
    ----------
    pages : Pages
        The pages of the window.
    background : Background
        Reads sessions and writes files.
    dialogs : Dialogs
        Asks where to save.
    """

    reading = Signal()
    failed = Signal(object)
    left = Signal()

    def __init__(self, pages: Pages, background: Background, dialogs: Dialogs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pages, self._background, self._dialogs = pages, background, dialogs
        self._before: Page | None = None
        self._session: Path | None = None
        self._view: ComparisonView | None = None

    def compare(self, path: Path) -> None:
        """Compare all experts who finished the study of a session; "Back" leads to the page that is shown now."""
        self._before, self._session = self._pages.shown, path
        self._read(trusted_only=False)

    def _read(self, *, trusted_only: bool) -> None:
        path = self._session
        if path is None:
            return
        self.reading.emit()
        self._background.run(
            lambda: _compared(path, trusted_only=trusted_only),
            lambda view: self._show(view, trusted_only=trusted_only),
            self.failed.emit,
        )

    def _show(self, view: ComparisonView, *, trusted_only: bool) -> None:
        self._view = view
        self._page.show_view(view, trusted_only=trusted_only)
        self._pages.show(self._page)

    @cached_property
    def _page(self) -> ComparePage:
        page = self._pages.compare
        page.back_requested.connect(self._back)
        page.save_requested.connect(lambda: self._save(METRIC_ENDING, _saved))
        page.report_requested.connect(lambda: self._save(".pdf", _reported))
        page.trusted_only_requested.connect(lambda only: self._read(trusted_only=only))
        return page

    def _back(self) -> None:
        if self._before is None or self._before is self._pages.start:
            self.left.emit()
        else:
            self._pages.show(self._before)

    def _save(self, ending: str, write: Callable[[ComparisonView, Path], Path]) -> None:
        from elicit_app.gui.flow.saving import documents, say_saved, with_ending

        view, page = self._view, self._page
        if view is None:
            return
        name = re.sub(r"[^\w]+", "-", view.pooled.name.lower()).strip("-")[:80] or "pooled"
        path = self._dialogs.save(page, documents() / f"{name}{ending}")
        if path is None:
            return
        target = with_ending(path, ending)
        self._background.run(
            lambda: write(view, target),
            lambda saved: say_saved(page.notice, saved, self._dialogs),
            lambda problem: page.notice.say(problem.sentence),
        )


def _compared(path: Path, *, trusted_only: bool) -> ComparisonView:
    from elicit_app.session.experts.comparing import compare_experts

    return compare_experts(path, trusted_only=trusted_only)


def _reported(view: ComparisonView, path: Path) -> Path:
    from elicit_app.session.report import pooled_report, save_report

    return save_report(pooled_report(view), view.pooled, path)


def _saved(view: ComparisonView, path: Path) -> Path:
    from elicit_app.session.results.result import save_metric

    return save_metric(view.pooled, path)
