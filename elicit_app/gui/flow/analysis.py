"""Flows outside sessions: the comparison of experts who have finished, and the laboratory of simulated people."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cached_property, partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from elicit_app.gui.elements.page import Page
from elicit_app.gui.flow.background import METRIC_ENDING, MainThread, Services, png_of, proposal, save_as
from elicit_app.problem import Problem
from elicit_app.study.writing import write_whole

if TYPE_CHECKING:
    from elicit_app.experiments.watching import LabSettings, SimulatedPerson
    from elicit_app.gui.pages.compare import ComparePage
    from elicit_app.gui.pages.laboratory import LaboratoryPage
    from elicit_app.session.comparing import ComparisonView, FinishedExperts


class LaboratoryFlow(QObject):
    """Runs the laboratory. Emits `words_requested` for help on its words."""

    words_requested = Signal()

    def __init__(self, services: Services, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._pages = services, services.pages
        self._main, self._stop = MainThread(self), threading.Event()

    def show(self) -> None:
        self._pages.show(self._page)

    def stop(self) -> None:
        """Stop simulating; the person in progress is not shown."""
        self._stop.set()
        if "_page" in self.__dict__:
            self._page.end()

    @cached_property
    def _page(self) -> LaboratoryPage:
        page = self._pages.laboratory
        page.run_requested.connect(self._run)
        page.stop_requested.connect(self.stop)
        page.words.clicked.connect(self.words_requested)
        page.picture.clicked.connect(self._save_picture)
        page.save_rows.clicked.connect(self._save_rows)
        page.questions.clicked.connect(self._save_questions)
        return page

    def _run(self, chosen: Sequence[LabSettings]) -> None:
        self._stop.set()
        stop = self._stop = threading.Event()
        self._page.begin(chosen)
        # A daemon thread, because none of its results are kept.
        threading.Thread(target=self._simulate, args=(tuple(chosen), stop), daemon=True).start()

    def _simulate(self, chosen: Sequence[LabSettings], stop: threading.Event) -> None:
        """On the thread, simulate the people of all settings in turn."""
        from elicit_app.experiments.watching import watch

        try:
            for person in _in_turn([watch(settings) for settings in chosen]):
                if stop.is_set():
                    return
                self._main.post(partial(self._take, stop, person))
        except Problem as problem:
            self._main.post(partial(self._take, stop, problem))
            return
        self._main.post(partial(self._take, stop, None))

    def _take(self, stop: threading.Event, found: SimulatedPerson | Problem | None) -> None:
        if stop.is_set():
            return
        if found is None or isinstance(found, Problem):
            self._page.end("" if found is None else found.sentence)
        else:
            self._page.add(found)

    # --- saving

    def _save_picture(self) -> None:
        card = self._page.sentence.parentWidget()
        if card is not None:
            self._save("laboratory", ".png", png_of(card.grab()))

    def _save_rows(self) -> None:
        from elicit_app.experiments.watching import rows_csv

        self._save("rows", ".csv", rows_csv(self._page.people))

    def _save_questions(self) -> None:
        from elicit_app.experiments.watching import questions_text

        self._save("questions", ".txt", questions_text(self._page.people[-1]))

    def _save(self, name: str, ending: str, content: str | bytes) -> None:
        dated = f"{name} {datetime.now().astimezone():%Y-%m-%d}"
        save_as(self._services, self._page, dated, ending, lambda path: write_whole(path, content))


def _in_turn(people: Sequence[Iterable[SimulatedPerson]]) -> Iterable[SimulatedPerson]:
    """Yield the first person of each series, then the second of each, and so on."""
    return (person for person in chain.from_iterable(zip_longest(*people)) if person is not None)


class ComparisonFlow(QObject):
    """Compares experts. Emits `failed` with a `Problem` if they cannot be compared.

    `reading` says in words how far the sessions are read: first before the first, then after each.
    """

    reading = Signal(str)
    failed = Signal(object)

    def __init__(self, services: Services, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._pages, self._background = services, services.pages, services.background
        self._main = MainThread(self)
        self._before: Page | None = None
        self._experts: FinishedExperts | None = None
        self._view: ComparisonView | None = None

    def compare(self, path: Path) -> None:
        """Compare all experts who finished the study of a session; "Back" leads to the current page."""
        self._before = self._pages.shown
        self.reading.emit("Reading their answers.")
        self._background.run(lambda: self._read(path), lambda found: self._show(*found), self.failed.emit)

    def _read(self, path: Path) -> tuple[FinishedExperts, ComparisonView]:
        """On the worker's thread, return the experts and what they say together."""
        from elicit_app.session.comparing import experts_beside

        experts = experts_beside(path, self._advance)
        return experts, experts.comparison()

    def _advance(self, done: int, of: int) -> None:
        if not self._background.is_waited_for:
            raise InterruptedError  # the person went elsewhere, where something else may have to be read
        self._main.post(partial(self._tell, f"Reading their answers: {done} of {of} done."))

    def _tell(self, how_far: str) -> None:
        if self._background.is_waited_for:
            self.reading.emit(how_far)

    def _pool(self, *, trusted_only: bool) -> None:
        if (experts := self._experts) is not None:
            self._background.run(
                lambda: experts.comparison(trusted_only=trusted_only),
                lambda view: self._show(experts, view, trusted_only=trusted_only),
                self.failed.emit,
            )

    def _show(self, experts: FinishedExperts, view: ComparisonView, *, trusted_only: bool = False) -> None:
        self._experts, self._view = experts, view
        self._page.show_view(view, trusted_only=trusted_only)
        self._pages.show(self._page)

    @cached_property
    def _page(self) -> ComparePage:
        page = self._pages.compare
        page.back_requested.connect(self._back)
        page.save.clicked.connect(lambda: self._save(METRIC_ENDING, _save_metric))
        page.report.clicked.connect(lambda: self._save(".pdf", _save_report))
        page.trusted_only_requested.connect(lambda only: self._pool(trusted_only=only))
        return page

    def _back(self) -> None:
        self._background.forget()  # a pool that is still being made
        if self._before is None or self._before is self._pages.start:
            self._pages.to_start()
        else:
            self._pages.show(self._before)

    def _save(self, ending: str, write: Callable[[ComparisonView, Path], Path]) -> None:
        if (view := self._view) is not None:
            name, title = proposal(view.pooled, ending)
            save_as(self._services, self._page, name, ending, lambda path: write(view, path), title=title)


def _save_report(view: ComparisonView, path: Path) -> Path:
    from elicit_app.session.report import pooled_report, save_report

    return save_report(pooled_report(view), view.pooled, path)


def _save_metric(view: ComparisonView, path: Path) -> Path:
    from elicit_app.session.result import save_metric

    return save_metric(view.pooled, path)
