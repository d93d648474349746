"""The session in the terminal: prints views, reads lines, and drives the same runner as the window."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from elicit_app.cli.keys import HELP, LINE, Typed, read_key
from elicit_app.elicitation.questions import Moved
from elicit_app.problem import Problem
from elicit_app.session.journal.events import Kept
from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.views.asked import QuestionView, ReviewView, SittingOverView, UnsavedView
from elicit_app.session.views.outcome import ProblemView, ResultView, View

if TYPE_CHECKING:
    from rich.console import Console

# A line without its newline, or None at the end of the input.
Read = Callable[[QuestionView | None], str | None]


class Terminal:
    """One session in the terminal.

    Parameters
    ----------
    session : Session
        The open session; it is closed at the end.
    console : Console
        Where questions and messages go (standard error, so that results stay apart).
    read : callable
        Returns the next line; given the question that stands, or None at another prompt.
    waits : bool
        Somebody types: how long answers take is kept, and used to compute what comes next.
    """

    def __init__(self, session: Session, console: Console, read: Read, *, waits: bool = False) -> None:
        self._session = session
        self._console = console
        self._read = read
        self._views: queue.SimpleQueue[View] = queue.SimpleQueue()
        self._runner = SessionRunner(session, self._views.put, look_ahead=waits)
        self._waits = waits
        self._full = False

    def run(self) -> ResultView | None:
        """Ask until the expert stops or the input ends; return the result, or None where there is none yet."""
        try:
            (self._runner.more if self._wants_more() else self._runner.start)()
            while True:
                view = self._views.get()
                if isinstance(view, ResultView):
                    return view
                if not self._meet(view):
                    return None
        finally:
            self._runner.close()

    def _wants_more(self) -> bool:
        """Ask who comes back to a finished session whether there shall be more questions."""
        session = self._session
        if session.state.phase != "finished" or session.continuation() is None:
            return False
        self._say("m asks more questions, Enter shows the result.")
        return self._key("m") == "m"

    def _meet(self, view: View) -> bool:
        """React to a view; False to leave without a result."""
        match view:
            case QuestionView():
                return self._ask(view)
            case UnsavedView():
                return self._unsaved(view)
            case SittingOverView():
                return self._sitting_over(view)
            case ReviewView():
                return self._look_back(view)
            case ProblemView():
                raise Problem(view.sentence, view.findings)
            case _:
                return True

    def _ask(self, view: QuestionView) -> bool:
        from elicit_app.cli.question_text import print_question

        study, family = self._session.study, self._session.procedure().family
        print_question(self._console, view, study.wording, family, full_picture=self._full)
        began = time.monotonic()
        while True:
            self._say(LINE, style="dim")
            line = self._read(view)
            if line is None:
                return self._leave()
            typed = read_key(line)
            wrong = count_problem(view, typed)
            if wrong:
                self._say(wrong)
                continue
            if typed.reply is not None:
                seconds = time.monotonic() - began if self._waits else None
                self._runner.answer(
                    view.request,
                    typed.reply,
                    typed.strength,
                    seconds=seconds,
                    full_picture=self._full,
                    moved=moved_to(view, typed.moved_to),
                )
                return True
            if typed.command == "full":
                self._full = not self._full
                print_question(self._console, view, study.wording, family, full_picture=self._full)
            elif typed.command == "undo" and view.undoes == "nothing" and view.again is None:
                self._say("There is nothing to undo.")
            elif typed.command == "redo" and not view.can_redo:
                self._say("There is nothing to redo.")
            elif typed.command in ("undo", "redo", "stop"):
                {"undo": self._runner.undo, "redo": self._runner.redo, "stop": self._runner.stop}[typed.command]()
                return True
            else:
                self._say(HELP)

    def _unsaved(self, view: UnsavedView) -> bool:
        self._say(view.sentence, style="bold")
        self._say("Enter tries again; q leaves, and this answer is asked again next time.")
        line = self._read(None)
        if line is None or line.strip().lower() == "q":
            return False
        self._runner.retry()
        return True

    def _sitting_over(self, view: SittingOverView) -> bool:
        self._say(view.unsaved or view.sentence, style="bold")
        more = "m asks more questions, " if view.can_continue else ""
        self._say(f"{more}u takes back the last answer, Enter goes on to the result.")
        key = self._key("u", "q", *("m" if view.can_continue else ""))
        if key is None:
            return self._leave()
        {"m": self._runner.more, "u": self._runner.undo}.get(key, self._runner.stop)()
        return True

    def _look_back(self, view: ReviewView) -> bool:
        from elicit_app.cli.question_text import print_contradiction, print_review

        self._say(view.unsaved or view.sentence, style="bold")
        wording, family = self._session.study.wording, self._session.procedure().family
        if view.contradictions:
            first, second = (view.answers[place] for place in view.contradictions[0])
            print_contradiction(self._console, first, second, wording, family)
            key = self._key("1", "2", "0", "k")
            if key is not None:
                kept = {"1": "first", "2": "second", "0": "equal"}.get(key, "both")
                self._runner.resolve((first.number, second.number), cast(Kept, kept))
                return True
        print_review(self._console, view, wording, family)
        finish = "Enter shows the result" if view.can_finish else "q leaves; every answer is kept"
        more = ", m asks more questions" if view.can_continue else ""
        undo = "" if view.undoes == "nothing" else f", u takes back the last {view.undoes}"
        self._say(f"{finish}{more}, l 4 looks at answer 4 again, t 4 takes it out{undo}.")
        line = self._read(None)
        return self._looked_back(view, line)

    def _looked_back(self, view: ReviewView, line: str | None) -> bool:
        key, _, rest = (line or "").strip().lower().partition(" ")
        number = int(rest) if rest.strip().isdigit() else 0
        if key == "m" and view.can_continue:
            self._runner.more()
        elif key in ("l", "t") and 1 <= number <= len(view.answers):
            (self._runner.look_again if key == "l" else self._runner.take_out)(number)
        elif key == "u" and view.undoes != "nothing":
            self._runner.undo()
        elif view.can_finish and (line is None or key in ("", "q") or not self._waits):
            self._runner.finish()
        elif line is None or key == "q":
            return False
        else:
            if key:
                self._say("That was not understood.")
            self._runner.review()
        return True

    def _key(self, *keys: str) -> str | None:
        """Return which of some keys was typed, or "" for Enter alone; None at the end of the input.

        Who types is asked again; of lines in a pipe, which may never end, any other one is taken for Enter.
        """
        while (line := self._read(None)) is not None:
            key = line.strip().lower()
            if key in ("", *keys):
                return key
            if not self._waits:
                return ""
            self._say(f"“{key[:20]}” is none of {', '.join(keys)} and Enter.")
        return None

    def _leave(self) -> bool:
        """The input has ended: show what is known so far and leave the session open."""
        if not self._session.state.informative:
            return False
        self._runner.result()
        return True

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style)


def moved_to(view: QuestionView, count: int | None) -> Moved | None:
    """Return the count that may be moved where it was typed to be."""
    may = view.proposal
    if may is None or count is None:
        return None
    return Moved(may.side, may.true, may.predicted, count, may.start)


def count_problem(view: QuestionView, typed: Typed) -> str:
    """Return why a typed count cannot be taken, or an empty text."""
    if typed.moved_to is None:
        return ""
    may = view.proposal
    if may is None:
        return "No count of this question can be moved: choose one of the results, or say that they are about equal."
    if not may.least <= typed.moved_to <= may.most:
        return f"That count lies between {may.least:,} and {may.most:,}."
    return ""
