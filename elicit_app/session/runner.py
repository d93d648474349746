"""Run a session on one worker thread: numbered requests in, frozen views out, and the next question precomputed.

The window and the terminal are listeners. This module knows no toolkit: a window's listener passes the view on to its
own thread.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

from elicit_app.elicitation.questions import Moved, Strength
from elicit_app.problem import Problem, in_words
from elicit_app.session.journal.events import Kept
from elicit_app.session.journal.listing import comparable_experts, experts_in_words, sessions_of
from elicit_app.session.journal.writing import UnwrittenProblem
from elicit_app.session.questions import CurrentQuestion
from elicit_app.session.session import ReplyDetails, Session
from elicit_app.session.view_builders import (
    looking_again_view,
    question_view,
    recap_view,
    review_view,
    sitting_over_view,
)
from elicit_app.session.views import (
    CurvesView,
    ProblemView,
    QuestionView,
    RecapView,
    Reply,
    ResultView,
    ReviewView,
    SittingOverView,
    UnsavedView,
    View,
)

if TYPE_CHECKING:
    from elicit_app.session.result import ResultBuilder

Listener = Callable[[View], None]
Task = Callable[[], None]

_PAINTING = 0.05  # seconds
_log = logging.getLogger(__name__)


class SessionRunner:
    """Owner of an open session on a one-worker executor; it closes the session.

    Every method returns at once. Its effect reaches the listener as a frozen view on the worker's thread, but never
    after `close` has returned. An answer to a question that is no longer current is dropped. With `look_ahead` the
    consequences of every reply are computed while the expert thinks, which is useless if nobody does.
    """

    def __init__(self, session: Session, listener: Listener, *, look_ahead: bool = True) -> None:
        self._session = session
        self._looks_ahead = look_ahead
        self._listener = listener
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session")
        self._requests = itertools.count(1)
        self._view: View | None = None
        self._pending: tuple[Task, Callable[[], View]] | None = None
        self._break_at: int | None = None
        self._to_calibrate = list(session.study.models)
        self._reviewed_answer: int | None = None
        self._result_builder: ResultBuilder | None = None
        # The number of expert actions, of those that are not in the file yet, and the work to do until the next one.
        # Guarded by the lock.
        self._turn = self._unwritten = 0
        self._idle_tasks: deque[Task] = deque()
        self._request_came = threading.Event()
        # The turn that the worker is at, and whether that is to change the file; only the worker uses them.
        self._working_on, self._writing = 0, False
        self._closed = threading.Event()
        self._worker_id: int | None = None
        self._lock = threading.Lock()

    @property
    def unwritten(self) -> bool:
        """Return whether something that was requested is not in the session's file yet."""
        return self._unwritten > 0

    # --- requests, from any thread

    def start(self, *, recap: bool = False) -> None:
        """Show the current view of the session: its question, the review, or the result.

        With `recap`, a summary of the answers so far precedes a question; `go_on` leads on to it.
        """
        self._submit(lambda: self._start(recap))

    def go_on(self) -> None:
        """Show the question after the recap."""
        self._submit(lambda: self._show(self._current_view()))

    def answer(
        self,
        request: int,
        reply: Reply,
        strength: Strength | None = None,
        *,
        full_picture: bool = False,
        **details: Unpack[ReplyDetails],
    ) -> None:
        """Answer the question of `request`; dropped if another question is current. See `Session.answer`."""
        self._submit(lambda: self._answer(request, reply, strength, full_picture, details), writes=True)

    def prepare_count(self, request: int, moved: Moved) -> None:
        """Prepare the next question for the count on the screen, should it be taken; its first side is the left one."""
        with self._lock:
            turn = self._turn
        self._queue_idle(lambda: self._look_at_count(request, moved), turn, first=True)

    def undo(self) -> None:
        """Take back the last action; during another look at an answer, leave it unchanged."""
        self._submit(self._undo, writes=True)

    def redo(self) -> None:
        """Redo the last undone action."""
        self._submit(lambda: self._change_session(self._session.redo, self._current_view), writes=True)

    def stop(self) -> None:
        """Stop answering and show the review."""
        self._submit(lambda: self._change_session(self._session.stop, self._review), writes=True)

    def more(self) -> None:
        """Ask for more questions."""
        self._submit(lambda: self._change_session(self._session.more, self._current_view), writes=True)

    def review(self) -> None:
        """Show the review again."""
        self._submit(lambda: self._show(self._review()))

    def result(self) -> None:
        """Show the result so far without finishing."""
        self._submit(lambda: self._show(self._result()))

    def withdraw_orders(self) -> None:
        """Record that the stated orders do not hold, and emit the result of the same answers without them."""
        self._submit(lambda: self._change_session(self._session.withdraw_orders, self._result), writes=True)

    def state_practice(self, table: Sequence[Sequence[float]] | None) -> None:
        """Record present practice, and show the result with it; None removes it."""
        self._submit(
            lambda: self._change_session(lambda: self._session.state_practice(table), self._result), writes=True
        )

    def curves(self) -> None:
        """Compute the curves of the current result, part by part; any other request ends that."""
        self._submit(self._curves)

    def take_out(self, number: int) -> None:
        """Exclude answer `number`."""
        self._submit(lambda: self._change_session(lambda: self._session.take_out(number), self._review), writes=True)

    def look_again(self, number: int) -> None:
        """Show question `number` again; a reply changes the answer, and the review follows."""
        self._submit(lambda: self._show(looking_again_view(self._session, next(self._requests), number)))

    def resolve(self, pair: tuple[int, int], kept: Kept) -> None:
        """Record which of two answers was meant; `pair` holds their numbers."""
        self._submit(
            lambda: self._change_session(lambda: self._session.resolve(*pair, kept), self._review), writes=True
        )

    def finish(self) -> None:
        """Finish, and show the result."""
        self._submit(lambda: self._change_session(self._session.finish, self._result), writes=True)

    def retry(self) -> None:
        """Try again to write what could not be written."""
        self._submit(self._retry, writes=True)

    def close(self) -> None:
        """Write what was answered, drop precomputed work and close the session; the listener is not called again.

        If the listener itself calls this on the worker's thread, the session closes once the listener has returned.
        """
        with self._lock:
            closed = self._closed.is_set()
            self._closed.set()
            self._request_came.set()
            self._idle_tasks.clear()  # they refer to this runner, which would keep its beliefs in memory
            if not closed:
                # Queued behind everything that is still to be written.
                self._worker.submit(self._session.close)
        self._worker.shutdown(wait=threading.get_ident() != self._worker_id)

    # --- the worker's side

    def _submit(self, work: Task, *, writes: bool = False) -> None:
        """Queue what was requested; `writes` if it changes the session's file."""
        with self._lock:
            if self._closed.is_set():
                return
            self._turn += 1
            self._idle_tasks.clear()
            self._request_came.set()
            self._unwritten += writes
            self._worker.submit(self._guarded, work, self._turn, writes)

    def _guarded(self, work: Task, turn: int, writes: bool = False) -> None:
        """Run a piece of work; the listener is told of any failure in words."""
        self._worker_id, self._working_on, self._writing = threading.get_ident(), turn, writes
        try:
            work()
        except Problem as problem:
            self._notify_listener(ProblemView(problem.sentence, problem.findings))
        except Exception as error:
            _log.exception("unexpected failure in a session")
            kept = f"Everything answered so far is kept in {self._session.path}."
            self._notify_listener(ProblemView(f"{in_words(error)} {kept}"))
        finally:
            self._written()

    def _written(self) -> None:
        """Note that the session's file holds what was requested; showing what follows takes longer."""
        with self._lock:
            self._unwritten -= self._writing
        self._writing = False

    def _notify_listener(self, view: View) -> None:
        if not self._closed.is_set():
            self._listener(view)

    def _show(self, view: View) -> None:
        self._view = view
        self._reviewed_answer = view.again if isinstance(view, QuestionView) else None
        if isinstance(view, QuestionView):
            self._result_builder = None  # it takes memory
        self._prepare()
        self._notify_listener(view)

    def _change_session(self, act: Task, then: Callable[[], View]) -> None:
        """Change the session and show what follows; if the change cannot be written, the old view stays."""
        self._pending = None
        try:
            act()
        except UnwrittenProblem as problem:
            self._pending = (act, then)
            self._unsaved(problem.sentence)
            return
        self._written()
        # The old question is answered: if the next view fails, a reply to the old one must not count for it.
        self._view = None
        if not self._closed.is_set():
            self._show(then())

    def _unsaved(self, sentence: str) -> None:
        view = self._view
        if isinstance(view, QuestionView):
            self._notify_listener(UnsavedView(sentence, view))
        elif view is not None and not isinstance(view, UnsavedView | ProblemView | RecapView | CurvesView):
            self._notify_listener(replace(view, unsaved=sentence))
        else:
            self._notify_listener(ProblemView(sentence))

    def _retry(self) -> None:
        if self._pending is not None:
            self._change_session(*self._pending)
        elif self._view is not None:
            self._notify_listener(self._view)
        else:
            self._show(self._current_view())

    def _start(self, recap: bool) -> None:
        view = self._current_view()
        if recap and isinstance(view, QuestionView) and self._session.state.entries:
            view = recap_view(self._session)
        self._show(view)
        self._queue_idle(self._verify)

    def _verify(self) -> None:
        # If the note cannot be written, the next answer reports that.
        with suppress(UnwrittenProblem):
            self._session.verify()

    def _answer(
        self, request: int, reply: Reply, strength: Strength | None, full_picture: bool, details: ReplyDetails
    ) -> None:
        view = self._view
        if not isinstance(view, QuestionView) or view.request != request:
            # A late second press must not discard what was prepared for the next question.
            self._prepare()
            return
        if self._reviewed_answer is not None:
            self._change_session(
                partial(self._session.change, self._reviewed_answer, reply, strength, **details), self._review
            )
        else:
            answer = partial(self._session.answer, reply, strength, full_picture=full_picture, **details)
            self._change_session(answer, self._after_answer)

    def _undo(self) -> None:
        if self._reviewed_answer is not None:
            self._show(self._review())
        else:
            self._change_session(self._session.undo, self._current_view)

    # --- views

    def _after_answer(self) -> View:
        answered = len(self._session.state.entries)
        self._break_at = answered if answered % 12 == 0 else None
        return self._current_view()

    def _current_view(self) -> View:
        """Return the view of the session's current state."""
        session = self._session
        if session.state.phase == "finished":
            return self._result()
        if session.state.phase == "stopped":
            return self._review()
        offer_break = self._break_at == len(session.state.entries)
        view = question_view(session, next(self._requests), offer_break=offer_break)
        return view or sitting_over_view(session)

    def _review(self) -> View:
        return review_view(self._session)

    def _result(self) -> View:
        builder = self._take_result_builder()
        view = builder.completed()
        self._result_builder = builder
        sessions = sessions_of(self._session.path.parent, self._session.study.digests)
        experts = comparable_experts(sessions)
        return replace(view, experts=experts_in_words(experts) if len(experts) > 1 else "")

    def _curves(self) -> None:
        if isinstance(self._view, ResultView):
            self._queue_parts([self._compute_curves(self._view)])

    def _compute_curves(self, view: ResultView) -> Iterator[None]:
        from elicit_app.session.curves import curves_of

        found = yield from curves_of(self._session.study, view)
        if found is not None:
            self._notify_listener(found)

    # --- the next question, before the click

    def _prepare(self) -> None:
        """Compute the consequences of every reply, part by part, so that the expert never waits."""
        if not self._looks_ahead:
            return
        view = self._view
        if isinstance(view, SittingOverView):
            self._queue_idle(self._session.look_further)
        if isinstance(view, SittingOverView | ReviewView) and self._session.state.informative:
            self._queue_idle(self._prepare_result)
        if isinstance(view, RecapView) or (isinstance(view, QuestionView) and view.again is None):
            self._prepare_next()
        self._queue_idle(self._calibrate)

    def _prepare_result(self) -> None:
        """Make the result ahead of the request, one part per piece of work."""
        builder = self._take_result_builder()
        with suppress(Problem):  # reported when the result is requested
            if not builder.build_next():
                self._queue_idle(self._prepare_result)
            self._result_builder = builder

    def _take_result_builder(self) -> ResultBuilder:
        """Return the result as far as it is made; if it failed or is outdated, start a new one."""
        # Imported here because judging models pulls in more than the first question needs.
        from elicit_app.session.result import ResultBuilder

        builder, self._result_builder = self._result_builder, None
        return (
            builder
            if builder is not None and builder.is_current_for(self._session.state)
            else ResultBuilder(self._session)
        )

    def _prepare_next(self) -> None:
        asking = self._session.asking()
        if asking is None:
            return
        self._queue_idle(self._wait_for_painting)
        if asking.pair.proposal is not None and asking.pair.proposal.at_once:
            self._queue_idle(partial(self._prepare_counts, asking))
        else:
            self._queue_idle(partial(self._prepare_choices, asking))

    def _wait_for_painting(self) -> None:
        """Wait until the question is painted, or answered, because doing both at once takes longer."""
        self._request_came.clear()
        self._request_came.wait(_PAINTING)

    def _prepare_choices(self, asking: CurrentQuestion) -> None:
        replies = self._session.likely_replies(asking)
        self._queue_parts(self._session.look_ahead(asking, reply, strength) for reply, strength in replies)

    def _prepare_counts(self, asking: CurrentQuestion) -> None:
        """Prepare the likely counts before the choices, which are what a person falls back to."""
        self._prepare_choices(asking)
        counts = self._session.likely_counts(asking)
        self._queue_parts(self._session.look_ahead(asking, "equal", moved=moved) for moved in counts)

    def _queue_parts(self, works: Iterable[Iterator[None]]) -> None:
        """Queue works that are done part by part, in their order, before what is waiting already."""
        for parts in reversed(list(works)):
            self._queue_idle(partial(self._prepare_part, parts), first=True)

    def _prepare_part(self, parts: Iterator[None]) -> None:
        """Do one part; an answer that arrives meanwhile waits for no more than that."""
        with suppress(StopIteration):
            next(parts)
            self._queue_idle(partial(self._prepare_part, parts), first=True)

    def _calibrate(self) -> None:
        """Calibrate one model after another, which later questions and a result need whatever the answers are."""
        if self._to_calibrate:
            self._to_calibrate.pop().calibration()
            self._queue_idle(self._calibrate)

    def _look_at_count(self, request: int, moved: Moved) -> None:
        """Compute what follows a count on the screen, unless another question is current."""
        view, asking = self._view, self._session.asking()
        if not isinstance(view, QuestionView) or view.request != request or view.again is not None or asking is None:
            return
        with suppress(Problem):  # a count that cannot be named is reported when it is named
            self._prepare_part(self._session.look_ahead(asking, "equal", moved=moved))

    def _queue_idle(self, work: Task, turn: int | None = None, *, first: bool = False) -> None:
        """Queue idle work, before or after what is waiting already.

        It is dropped as soon as the expert does anything after `turn`. The default turn is the worker's current one,
        which only the worker may use.
        """
        turn = self._working_on if turn is None else turn
        with self._lock:
            if turn == self._turn and not self._closed.is_set():
                (self._idle_tasks.appendleft if first else self._idle_tasks.append)(work)
                self._worker.submit(self._guarded, partial(self._run_next_idle_task, turn), turn)

    def _run_next_idle_task(self, turn: int) -> None:
        with self._lock:
            if turn != self._turn or self._closed.is_set():
                return
            work = self._idle_tasks.popleft()
        work()
