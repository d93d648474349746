"""Services shared by the flows: background work, system dialogs, file names and file writes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QBuffer, QObject, QStandardPaths, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QPixmap
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from elicit_app.gui.elements.page import Page
from elicit_app.gui.elements.surfaces import Notice
from elicit_app.gui.flow.pages import Pages
from elicit_app.problem import Problem, in_words
from elicit_app.session.views import CurvesView
from elicit_app.study.packs import ENDING as PACK_ENDING
from elicit_app.study.tables import ENDINGS
from elicit_app.study.writing import file_name, metric_stem, write_picture
from metrics import ElicitedMetric

_SOON = 300  # milliseconds after which it is said that a file is on its way

_log = logging.getLogger(__name__)


class MainThread(QObject):
    """Calls functions on the main thread, in the order in which other threads `post` them.

    None is called after `close`, not even one already posted.
    """

    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        self._posted.connect(self._call, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], object]) -> None:
        if self._open:
            self._posted.emit(call)

    def close(self) -> None:
        self._open = False

    @Slot(object)
    def _call(self, call: Callable[[], object]) -> None:
        if self._open:
            call()


class Background(QObject):
    """Runs jobs one after another on a worker thread; except for saving, only the newest request is answered.

    The answer arrives on the main thread: `done` with the result, or `failed` with a `Problem`.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="window")
        self._main = MainThread(self)
        self._newest = self._running = 0
        self._saving = set[Future[Any]]()
        self._open = True

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[Problem], None],
        *,
        dropped: Callable[[Any], None] | None = None,
    ) -> None:
        """Run `work`; `dropped` receives its result if nobody waits for it any more, for example to close a file."""
        if not self._open:
            return
        self._newest = request = self._newest + 1

        def answer(future: Future[Any]) -> None:
            if request == self._newest:
                _answer(future, done, failed)
            elif dropped is not None and future.exception() is None:
                dropped(future.result())

        def finished(future: Future[Any]) -> None:  # on the worker's thread
            if request == self._newest:
                self._main.post(partial(answer, future))
            elif not future.cancelled():
                answer(future)

        def started() -> Any:
            self._running = request
            return work()

        self._worker.submit(started).add_done_callback(finished)

    @property
    def is_waited_for(self) -> bool:
        """Return whether the job of `run` that was started last is also the newest request."""
        return self._running == self._newest

    def save(self, work: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[Problem], None]) -> None:
        """Run `work`, which writes a file: it is finished and answered whatever is requested next."""
        if not self._open:
            return

        def finished(future: Future[Any]) -> None:  # on the worker's thread
            self._saving.discard(future)
            if self._open and not future.cancelled():
                self._main.post(partial(_answer, future, done, failed))

        future = self._worker.submit(work)
        self._saving.add(future)
        future.add_done_callback(finished)

    @property
    def is_saving(self) -> bool:
        return bool(self._saving)

    def forget(self) -> None:
        """Ignore the newest request."""
        self._newest += 1

    def close(self) -> None:
        """Wait for the current job and drop the rest."""
        self.stop()
        wait(tuple(self._saving))
        self._worker.shutdown(wait=True, cancel_futures=True)

    def stop(self) -> None:
        """Accept no more jobs, and do not wait."""
        self._open = False
        self.forget()


def _answer(future: Future[Any], done: Callable[[Any], None], failed: Callable[[Problem], None]) -> None:
    error = future.exception()
    if error is None:
        done(future.result())
    else:
        failed(error if isinstance(error, Problem) else _unexpected(error))


def _unexpected(error: BaseException) -> Problem:
    """Return an unforeseen error as a problem; the log has the details."""
    _log.error("unexpected failure in the background", exc_info=error)
    return Problem(f"{in_words(error)} Nothing was changed.")


METRIC_ENDING = ".metric.json"
_OPENED = " ".join(f"*{ending}" for ending in (*ENDINGS, PACK_ENDING))
PREDICTIONS = f"Predictions, or a study sent to you ({_OPENED});;All files (*)"
ANSWERS = "Answers (*.session.jsonl);;All files (*)"


class Dialogs:
    """The system's dialogs; every method returns None or () if the person cancels."""

    def predictions(self, parent: QWidget) -> tuple[Path, ...]:
        names, _ = QFileDialog.getOpenFileNames(parent, "Predictions of one or several models", "", PREDICTIONS)
        return tuple(Path(name) for name in names)

    def study_folder(self, parent: QWidget) -> Path | None:
        name = QFileDialog.getExistingDirectory(parent, "A study folder")
        return Path(name) if name else None

    def study_file(self, parent: QWidget) -> Path | None:
        name, _ = QFileDialog.getOpenFileName(parent, "The study of these answers", "", PREDICTIONS)
        return Path(name) if name else None

    def new_folder(self, parent: QWidget, proposed: Path) -> Path | None:
        name = QFileDialog.getExistingDirectory(parent, "Where the study is kept", str(proposed.parent))
        return Path(name) / proposed.name if name else None

    def answers(self, parent: QWidget) -> tuple[Path, ...]:
        names, _ = QFileDialog.getOpenFileNames(parent, "Answers that came back", "", ANSWERS)
        return tuple(Path(name) for name in names)

    def words(self, parent: QWidget) -> Path | None:
        name, _ = QFileDialog.getOpenFileName(parent, "The words of the mistakes", "", "CSV (*.csv);;All files (*)")
        return Path(name) if name else None

    def save(self, parent: QWidget, proposed: Path, title: str = "Save") -> Path | None:
        name, _ = QFileDialog.getSaveFileName(parent, title, str(proposed))
        return Path(name) if name else None

    def show(self, path: Path) -> bool:
        """Open a file with the system's program for it, and return whether there is one."""
        return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def documents() -> Path:
    """Return the user's documents folder."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return Path(folder) if folder and Path(folder).is_dir() else Path.home()


def proposal(metric: ElicitedMetric, ending: str) -> tuple[str, str]:
    """Return the stem of a file made from a metric, and the title of the dialog that asks where to save it.

    Both say if it is a metric whose numbers are not known well enough to rely on.
    """
    if ending != METRIC_ENDING:
        return file_name(metric.name, "result"), "Save"
    provisional = metric.quality.provisional is not None
    return metric_stem(metric), "Save: provisional, its numbers are not settled yet" if provisional else "Save"


def report_saved(notice: Notice, path: Path, dialogs: Dialogs, then: str = "") -> None:
    """Report where a file was saved and what to do next, with a button that opens it or, failing that, its folder."""

    def show() -> None:
        if not (dialogs.show(path) or dialogs.show(path.parent)):
            notice.say(f"There is no program here that opens it. Saved: {path}", good=True)

    notice.say(f"Saved: {path}. {then}" if then else f"Saved: {path}", good=True, button="Open", then=show)


class Services(NamedTuple):
    """What the flows share."""

    pages: Pages
    background: Background
    dialogs: Dialogs


def save_as(
    services: Services,
    page: Page,
    name: str,
    ending: str,
    write: Callable[[Path], Path],
    *,
    title: str = "Save",
    then: str = "",
) -> None:
    """Ask where to save a file, `write` it there, and report the path or the failure on the page that is open then.

    If writing takes longer than `_SOON`, the page says that it is under way.
    """
    path = services.dialogs.save(page, documents() / f"{name}{ending}", title)
    if path is None:
        return
    target = with_ending(path, ending)
    on_its_way = QTimer(page, singleShot=True, interval=_SOON)
    on_its_way.timeout.connect(lambda: _notice(page).say(f"{target.name} is being written.", good=True))
    on_its_way.start()

    def say(tell: Callable[[Notice], object]) -> None:
        on_its_way.stop()
        on_its_way.deleteLater()
        tell(_notice(page))

    services.background.save(
        lambda: write(target),
        lambda saved: say(lambda notice: report_saved(notice, saved, services.dialogs, then)),
        lambda problem: say(lambda notice: notice.say(problem.sentence)),
    )


def _notice(page: Page) -> Notice:
    """Return the notice of the open page for news about `page`, or that of `page` if the open one has none."""
    stack = page.parentWidget()
    shown = stack.currentWidget() if isinstance(stack, QStackedWidget) else page
    notice = shown.notice if isinstance(shown, Page) else None
    if notice is None:
        notice = page.notice
    assert notice is not None, "a page that saves has where to say so"
    return notice


def with_ending(path: Path, ending: str) -> Path:
    """Return `path` with `ending` if the person typed no suffix."""
    return path if path.suffix else path.with_name(path.name + ending)


def png_of(pixels: QPixmap) -> bytes:
    """Return a picture of a widget as the content of a PNG file."""
    buffer = QBuffer()
    pixels.save(buffer, "PNG")
    return bytes(buffer.data().data())


def save_pictures(view: CurvesView, path: Path) -> Path:
    """Draw the curves of a result side by side, black on white, and return the path.

    Raises
    ------
    Problem
        If the file cannot be written, or its suffix is not that of a picture.
    """
    from matplotlib.figure import Figure

    words = view.rate.mistake.one, view.yardstick.mistake.many
    over_ratio = f"one {words[0]} counts as this many {words[1]}"
    parts = [(view.cost, f"cost, in {words[1]}", over_ratio), (view.best, "probability of being best", over_ratio)]
    if view.net_benefit is not None:
        parts.insert(0, (view.net_benefit, "net benefit", "threshold"))
    figure = Figure(figsize=(6.4 * len(parts), 4.8), layout="constrained")
    for axes, (curves, y, x) in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
        for line in curves.lines:
            style = "-" if line.recommended else ":" if line.trivial else "--"
            axes.plot(curves.at, line.values, style, color="black" if line.recommended else None, label=line.name)
        if curves.band is not None:
            axes.fill_between(curves.at, curves.band.low, curves.band.high, color="0.7", alpha=0.5, lw=0)
        if curves.plausible is not None:
            axes.axvspan(*(min(max(end, curves.at[0]), curves.at[-1]) for end in curves.plausible), color="0.9")
        axes.axvline(curves.elicited, color="0.4", lw=1)
        axes.set(xlabel=x, ylabel=y, ylim=(0, None), xscale="linear" if y == "net benefit" else "log")
        axes.legend(fontsize="small", frameon=False)
    write_picture(figure, path, dpi=200)
    return path
