"""A session in the terminal: prints views, reads lines, and drives the same runner as the window."""

from __future__ import annotations

import os
import queue
import re
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from elicit_app.cli import output
from elicit_app.elicitation.questions import Family, Moved, Proposal, Strength
from elicit_app.problem import Problem
from elicit_app.session.journal.events import Kept
from elicit_app.session.pair_words import branches, compare_pair
from elicit_app.session.runner import SessionRunner
from elicit_app.session.sentences import FIT_WORDS, WHICH_MEANT, last_words, mark_words, preference_of, progress_words
from elicit_app.session.session import Session
from elicit_app.session.views import (
    AnsweredView,
    ProblemView,
    QuestionView,
    Reply,
    ResultView,
    ReviewView,
    Side,
    SittingOverView,
    UnsavedView,
    View,
)
from elicit_app.study.model import Wording
from metrics.elicited.family import linear_family

if TYPE_CHECKING:
    from rich.console import Console

Command = Literal["undo", "redo", "stop", "full", "help", "unknown"]

_ARROWS: dict[str, Reply] = {"d": "left", "c": "right", "b": "equal"}
_REPLIES: dict[str, Reply] = {
    "1": "left",
    "a": "left",
    "2": "right",
    "b": "right",
    "0": "equal",
    "=": "equal",
    "s": "unsure",
    # Codes of the arrow keys in both modes of a terminal, so that the window's keys work here too.
    **{f"\x1b{mode}{letter}": reply for mode in "[o" for letter, reply in _ARROWS.items()},
}
_COMMANDS: dict[str, Command] = {"u": "undo", "r": "redo", "q": "stop", "f": "full", "?": "help"}
# "=40": equally bad with 40 of the movable count; "1=40", "2=40": A, or B, is better even then.
_MOVED = re.compile(r"([12ab]?)=([\d,]{1,12})")
_STRENGTHS = {"+": Strength.CLEARLY, "-": Strength.SLIGHTLY}

_SIDES: tuple[Side, Side] = ("left", "right")

LINE = "1 A   2 B   0 about equal   s cannot say, ask later   u undo   q stop and see the result   ? more keys"
AGAIN = "1 A   2 B   0 about equal   s cannot say   u leave it as it was   ? more keys"
HELP = (
    "1 or a: A is better. 2 or b: B is better. 1+ or 2+: clearly. 1- or 2-: slightly. 0: about equal. "
    "s: cannot say, ask later. u: undo, any number of times. r: redo. f: full picture. "
    "=40: equally bad with 40 of the mistake that may be moved; 1=40 or 2=40: A, or B, is better even then. "
    "A reason may follow any answer after a colon, as in 1: fewer operations. "
    "q: stop and see the result. Ctrl+C: leave; every answer is kept."
)


class TypedLine(NamedTuple):
    """The meaning of a line: a reply with its strength or with a moved count, and a reason if typed; or a command."""

    reply: Reply | None
    strength: Strength | None = None
    command: Command = "unknown"
    moved_to: int | None = None
    reason: str | None = None


def read_key(line: str) -> TypedLine:
    """Return the meaning of a typed line."""
    key, colon, remark = line.partition(":")
    text, reason = key.strip().lower(), remark.strip() if colon else None
    if text in _COMMANDS and not colon:
        return TypedLine(None, command=_COMMANDS[text])
    moved = _MOVED.fullmatch(text)
    if moved is not None:
        return TypedLine(_REPLIES[moved[1] or "="], moved_to=int(moved[2].replace(",", "")), reason=reason)
    strength = _STRENGTHS.get(text[-1:])
    reply = _REPLIES.get(text[:-1] if strength else text)
    if reply is None or (strength and reply not in ("left", "right")):
        return TypedLine(None)
    return TypedLine(reply, strength, reason=reason)


def read_line() -> str:
    """Return the next line of standard input, empty at its end; Ctrl+C interrupts the wait."""
    if sys.platform != "win32":
        # polars takes over the signal and restarts the read, so that Ctrl+C would take effect only after Enter.
        signal.siginterrupt(signal.SIGINT, True)
        if sys.stdin.isatty():
            _wait_for_typing()
    return sys.stdin.readline()


def _wait_for_typing() -> None:
    """Wait for a line or Ctrl+C; a plain read misses a Ctrl+C that arrives immediately before it begins."""
    heard, rings = os.pipe()
    os.set_blocking(rings, False)
    before = signal.set_wakeup_fd(rings)
    try:
        select.select([sys.stdin, heard], [], [])
    finally:
        signal.set_wakeup_fd(before)
        os.close(heard)
        os.close(rings)


# A line without its newline, or None at the end of the input.
Read = Callable[[QuestionView | None], str | None]


class Terminal:
    """A session in the terminal, closed at the end; questions and messages go to `console`, on standard error.

    `read` returns the next line, given the current question, or None at another prompt. If a person types (`waits`),
    the times of answers are recorded, and the next questions are computed while the person thinks.
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
        """Ask until the expert stops or the input ends; return the result, or None if there is none yet."""
        try:
            (self._runner.more if self._wants_more() else self._runner.start)()
            while True:
                with output.progress("Computing"):
                    view = self._views.get()
                if isinstance(view, ResultView):
                    return view
                if not self._handle_view(view):
                    return None
        finally:
            self._runner.close()

    def _wants_more(self) -> bool:
        """Ask an expert who returns to a finished session whether to continue with more questions."""
        session = self._session
        if session.state.phase != "finished" or session.continuation() is None:
            return False
        self._print("m asks more questions, Enter shows the result.")
        return self._ask_for_key("m") == "m"

    def _handle_view(self, view: View) -> bool:
        """React to a view; return False to leave without a result."""
        match view:
            case QuestionView():
                return self._ask(view)
            case UnsavedView():
                return self._unsaved(view)
            case SittingOverView():
                return self._sitting_over(view)
            case ReviewView():
                return self._review_answers(view)
            case ProblemView():
                raise Problem(view.sentence, view.findings)
            case _:
                return True

    def _ask(self, view: QuestionView) -> bool:
        study, family = self._session.study, self._session.procedure().family
        print_question(self._console, view, study.wording, family, full_picture=self._full)
        began = time.monotonic()
        while True:
            self._print(LINE if view.again is None else AGAIN, style="dim")
            line = self._read(view)
            if line is None:
                return self._leave()
            typed = read_key(line)
            wrong = count_problem(view, typed)
            if wrong:
                self._print(wrong)
                continue
            if typed.reply is not None:
                seconds = time.monotonic() - began if self._waits else None
                reason = typed.reason
                if reason is None and view.given is not None and typed.reply == view.given.reply:
                    reason = view.given.reason
                self._runner.answer(
                    view.request,
                    typed.reply,
                    typed.strength,
                    seconds=seconds,
                    full_picture=self._full,
                    moved=moved_to(view, typed.moved_to),
                    reason=reason or "",
                )
                return True
            if typed.command == "full":
                self._full = not self._full
                print_question(self._console, view, study.wording, family, full_picture=self._full)
            elif typed.command == "undo" and view.undoes == "nothing" and view.again is None:
                self._print("There is nothing to undo.")
            elif typed.command == "redo" and not view.can_redo:
                self._print("There is nothing to redo.")
            elif typed.command in ("undo", "redo", "stop"):
                {"undo": self._runner.undo, "redo": self._runner.redo, "stop": self._runner.stop}[typed.command]()
                return True
            else:
                self._print(HELP)

    def _unsaved(self, view: UnsavedView) -> bool:
        self._print(view.sentence, style="bold")
        self._print("Enter tries again; q leaves, and this answer is asked again next time.")
        line = self._read(None)
        if line is None or line.strip().lower() == "q":
            return False
        self._runner.retry()
        return True

    def _sitting_over(self, view: SittingOverView) -> bool:
        self._print(view.unsaved or view.sentence, style="bold")
        more = "m asks more questions, " if view.can_continue else ""
        self._print(f"{more}u takes back the last answer, Enter goes on to the result.")
        key = self._ask_for_key("u", "q", *("m" if view.can_continue else ""))
        if key is None:
            return self._leave()
        {"m": self._runner.more, "u": self._runner.undo}.get(key, self._runner.stop)()
        return True

    def _review_answers(self, view: ReviewView) -> bool:
        self._print(view.unsaved or view.sentence, style="bold")
        wording, family = self._session.study.wording, self._session.procedure().family
        if view.contradictions:
            first, second = (view.answers[index] for index in view.contradictions[0])
            print_contradiction(self._console, first, second, wording, family)
            key = self._ask_for_key("1", "2", "0", "k")
            if key is not None:
                kept = {"1": "first", "2": "second", "0": "equal"}.get(key, "both")
                self._runner.resolve((first.number, second.number), cast("Kept", kept))
                return True
        print_review(self._console, view, wording, family)
        finish = "Enter shows the result" if view.can_finish else "q leaves; every answer is kept"
        more = ", m asks more questions" if view.can_continue else ""
        undo = "" if view.undoes == "nothing" else f", u takes back the last {view.undoes}"
        one = min(4, len(view.answers))
        look = f", l {one} looks at answer {one} again, t {one} takes it out" if one else ""
        self._print(f"{finish}{more}{look}{undo}.")
        line = self._read(None)
        return self._handle_review_line(view, line)

    def _handle_review_line(self, view: ReviewView, line: str | None) -> bool:
        typed = (line or "").strip().lower()
        named = re.fullmatch(r"([lt]) *(\d{1,9})", typed)
        key, number = (named[1], int(named[2])) if named else (typed, 0)
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
                self._print("That was not understood.")
            self._runner.review()
        return True

    def _ask_for_key(self, *keys: str) -> str | None:
        """Return the key that was typed, "" for Enter alone, or None at the end of the input.

        A person is asked again after any other line; in a pipe, which may never end, any other line counts as Enter.
        """
        while (line := self._read(None)) is not None:
            key = line.strip().lower()
            if key in ("", *keys):
                return key
            if not self._waits:
                return ""
            self._print(f"“{key[:20]}” is not one of {', '.join(keys)} or Enter.")
        return None

    def _leave(self) -> bool:
        """After the end of the input, show what is known so far and leave the session open."""
        if not self._session.state.informative:
            return False
        self._runner.result()
        return True

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style)


def moved_to(view: QuestionView, count: int | None) -> Moved | None:
    """Return the move of a count to the typed number; None if no count can be moved or none was typed."""
    may = view.proposal
    if may is None or count is None:
        return None
    return Moved(may.side, may.true, may.predicted, count, may.start)


def count_problem(view: QuestionView, typed: TypedLine) -> str:
    """Return why a typed count is invalid; empty if it is valid."""
    if typed.moved_to is None:
        return ""
    may = view.proposal
    if may is None:
        return "No count of this question can be moved: choose one of the results, or say that they are about equal."
    if not may.least <= typed.moved_to <= may.most:
        return f"That count lies between {may.least:,} and {may.most:,}."
    return ""


def print_question(
    console: Console, view: QuestionView, wording: Wording, family: Family, *, full_picture: bool
) -> None:
    """Print a question: the differences in words, and every count with the full picture."""
    from rich.table import Table

    words = compare_pair(
        view.left, view.right, wording, view.population, family, subject=view.subject, reversed_rows=view.reversed_rows
    )
    console.print()
    progress = progress_words(view).line if view.again is None else f"Question {view.again}, again"
    console.print(progress, style="dim")
    console.print(words.headline, style="bold")
    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Result A", justify="right")
    table.add_column("What differs", justify="center")
    table.add_column("Result B")
    for row in words.rows:
        a, b = (
            f"{row.count(side):,}{f' ({rate})' if rate else ''}"
            + (f"  {row.surplus_words}" if row.larger == side else "")
            for side, rate in zip(_SIDES, row.rates, strict=True)
        )
        text = f"\n{row.mistake.consequence}" if row.mistake.consequence else ""
        table.add_row(a, f"{', '.join(filter(None, (row.mistake.name, row.flow)))}{text}", b)
    if full_picture:
        for branch in branches(view.left, view.right, wording):
            for leaf in branch.leaves:
                table.add_row(f"{leaf.left:,}", f"{branch.truth} called {leaf.called}", f"{leaf.right:,}")
    console.print(table)
    for line in (words.fold_sentence, words.strip.sentence, view.note):
        if line:
            console.print(line)
    if view.proposal is not None:
        console.print(_proposal_words(view.proposal, wording, family))
    if mark_words(view):
        console.print(mark_words(view))
    if view.given is not None:
        console.print(f"{last_words(view.given, wording, family)}{_quoted(view.given.reason)}")
    if view.offer_break:
        console.print(f"{view.number - 1} answers, all kept. Take a break? Ctrl+C stops for now.")


def _proposal_words(proposal: Proposal, wording: Wording, family: Family) -> str:
    """Return a sentence on which count can be moved, and how to type it."""
    letter = "A" if proposal.side == "first" else "B"
    mistake = wording.mistake(linear_family(family).mistake_at(proposal.true, proposal.predicted))
    return (
        f"How many {mistake.many} in {letter} make both results equally bad? "
        f"Type = and the number, {proposal.least:,} to {proposal.most:,} (now {proposal.start:,})."
    )


def _quoted(reason: str) -> str:
    """Return the reason that was typed with an answer, to follow its words; empty if there is none."""
    return f" “{reason}”" if reason else ""


def print_contradiction(
    console: Console, first: AnsweredView, second: AnsweredView, wording: Wording, family: Family
) -> None:
    """Print two answers to the same pair, and the keys to choose between them."""
    console.print(WHICH_MEANT)
    for key, answer in (("1", first), ("2", second)):
        console.print(f"{key}  question {answer.number}: {preference_of(answer, wording, family).both}")
    console.print("0  about equal        k or Enter  keep both answers")


def print_review(console: Console, view: ReviewView, wording: Wording, family: Family) -> None:
    """Print all answers, newest first, and whether each fits the rest."""
    table = output.table(("No.", "Answer", "how clearly", "seconds", "fits the rest"), left=(1, 2, 4))
    for answer in reversed(view.answers):
        seconds = "" if answer.seconds is None else f"{answer.seconds:.0f}"
        strength = answer.strength.value if answer.strength else ""
        words = preference_of(answer, wording, family).both + _quoted(answer.reason)
        table.add_row(str(answer.number), words, strength, seconds, FIT_WORDS[answer.fit])
    console.print(table)
