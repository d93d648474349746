"""Comparing experts in the window: reading their sessions, the page, saving the pooled metric file."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from elicit_app.gui.elements import Page
from elicit_app.gui.flow.bridge import Background
from elicit_app.gui.flow.pages import Pages
from elicit_app.gui.flow.saving import Dialogs
from elicit_app.problem import Problem

if TYPE_CHECKING:
    from elicit_app.gui.compare import ComparePage
    from elicit_app.session.experts.comparing import ComparisonView

ENDING = ".metric.json"


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
        self._view: ComparisonView | None = None

    def compare(self, path: Path) -> None:
        """Compare all experts who finished the study of a session; "Back" leads to the page that is shown now."""
        self._before = self._pages.shown
        self.reading.emit()
        self._background.run(lambda: _compared(path), self._show, self.failed.emit)

    def _show(self, view: ComparisonView) -> None:
        self._view = view
        self._page.show_view(view)
        self._pages.show(self._page)

    @cached_property
    def _page(self) -> ComparePage:
        page = self._pages.compare
        page.back_requested.connect(self._back)
        page.save_requested.connect(self._save)
        return page

    def _back(self) -> None:
        if self._before is None or self._before is self._pages.start:
            self.left.emit()
        else:
            self._pages.show(self._before)

    def _save(self) -> None:
        from elicit_app.gui.flow.saving import documents, say_saved, with_ending

        view, page = self._view, self._page
        if view is None:
            return
        name = re.sub(r"[^\w]+", "-", view.pooled.name.lower()).strip("-")[:80] or "pooled"
        path = self._dialogs.save(page, documents() / f"{name}{ENDING}")
        if path is None:
            return
        target = with_ending(path, ENDING)
        self._background.run(
            lambda: _saved(view, target),
            lambda saved: say_saved(page.notice, saved, self._dialogs),
            lambda problem: page.notice.say(problem.sentence),
        )


def _compared(path: Path) -> ComparisonView:
    from elicit_app.session.experts.comparing import compare_experts

    return compare_experts(path)


def _saved(view: ComparisonView, path: Path) -> Path:
    try:
        view.pooled.save(path)
    except OSError as error:
        sentence = f"{path} could not be written ({error.strerror or error}). Choose another place; nothing is lost."
        raise Problem(sentence) from error
    return path
