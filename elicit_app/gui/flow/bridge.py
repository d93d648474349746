"""From worker threads to the main thread: views of a session, and results of work in the background."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal, Slot

from elicit_app.problem import Problem

if TYPE_CHECKING:
    # What follows pulls in numpy, which the first page does without.
    from elicit_app.session.views import View

_log = logging.getLogger(__name__)


class Bridge(QObject):
    """Brings the views of one `SessionRunner` to the main thread.

    Give `listen` to the runner as its listener and connect to `view`. Close the runner first, then the bridge: after
    `close` no view comes out any more, also none that was on its way.
    """

    view = Signal(object)
    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        self._arrived.connect(self._pass_on, Qt.ConnectionType.QueuedConnection)

    def listen(self, view: View) -> None:
        """Take a view, on any thread."""
        if self._open:
            self._arrived.emit(view)

    def close(self) -> None:
        """Drop everything from now on."""
        self._open = False

    @Slot(object)
    def _pass_on(self, view: View) -> None:
        if self._open:
            self.view.emit(view)


class _Done(NamedTuple):
    request: int
    value: Any
    problem: Problem | None
    dropped: Callable[[Any], None] | None


class Background(QObject):
    """Does one piece of work after another on a worker thread; only the newest request is answered.

    The answer comes on the main thread: `done` with what the work returned, or `failed` with a `Problem`.
    """

    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="window")
        self._requests = itertools.count(1)
        self._newest = 0
        self._waiting: tuple[Callable[[Any], None], Callable[[Problem], None]] | None = None
        self._open = True
        self._arrived.connect(self._pass_on, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[Problem], None],
        *,
        dropped: Callable[[Any], None] | None = None,
    ) -> None:
        """Do `work`; `dropped` is given what it returned where nobody waits for it any more (to close a file)."""
        if not self._open:
            return
        self._newest = next(self._requests)
        self._waiting = (done, failed)
        request = self._newest
        self._worker.submit(work).add_done_callback(lambda future: self._finished(request, future, dropped))

    def forget(self) -> None:
        """Wait no more for the newest request."""
        self._newest = next(self._requests)
        self._waiting = None

    def close(self) -> None:
        """Wait for the work at hand, drop the rest."""
        self.stop()
        self._worker.shutdown(wait=True, cancel_futures=True)

    def stop(self) -> None:
        """Take nothing more, and wait for nothing."""
        self._open = False
        self.forget()

    def _finished(self, request: int, future: Future[Any], dropped: Callable[[Any], None] | None) -> None:
        """On the worker's thread: pass the result on, or let go of it."""
        if future.cancelled():
            return
        error = future.exception()
        if not self._open or request != self._newest:
            if error is None and dropped is not None:
                dropped(future.result())
            return
        problem = None
        if error is not None:
            problem = error if isinstance(error, Problem) else _unexpected(error)
        self._arrived.emit(_Done(request, None if error is not None else future.result(), problem, dropped))

    @Slot(object)
    def _pass_on(self, result: _Done) -> None:
        if result.request != self._newest or self._waiting is None:
            if result.problem is None and result.dropped is not None:
                result.dropped(result.value)
            return
        (done, failed), self._waiting = self._waiting, None
        if result.problem is not None:
            failed(result.problem)
        else:
            done(result.value)


def _unexpected(error: BaseException) -> Problem:
    """Say a fault of the program in one sentence; the log has the rest."""
    _log.error("unexpected failure in the background", exc_info=error)
    if isinstance(error, MemoryError):
        return Problem("There is not enough memory for this; close other programs or use a smaller file.")
    if isinstance(error, OSError):
        return Problem(f"{error.filename or 'A file'}: {error.strerror or error}.")
    return Problem(f"Something went wrong inside elicit ({type(error).__name__}: {error}). Nothing was changed.")
