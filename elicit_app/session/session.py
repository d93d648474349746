"""One expert's run over one study: the answers, the next question, and the journal beneath.

A session is used by one thread at a time. Every method that changes it writes the journal first: if it raises
`UnwrittenProblem`, nothing has changed and it may be called again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack

from elicit_app.elicitation.agenda import MOST_QUESTIONS, SITTING, n_informative
from elicit_app.elicitation.choosing import likely_counts
from elicit_app.elicitation.predictive import likely_answers
from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import PREFERENCES, Moved, Progress, Side, Step, Strength
from elicit_app.problem import Problem
from elicit_app.registry import Setting, for_person
from elicit_app.registry.entries import as_packed
from elicit_app.session.header import begun, check_study, fold_events, keep_pack, read_setting, study_of
from elicit_app.session.journal.events import (
    LONGEST_REASON,
    Answered,
    Changed,
    Continued,
    Event,
    Finished,
    Guess,
    Guessed,
    Kept,
    Noted,
    OrdersWithdrawn,
    Pair,
    PracticeStated,
    Practised,
    Redone,
    Remaining,
    Resolved,
    Stopped,
    TakenOut,
    Undone,
)
from elicit_app.session.journal.files import DamagedProblem, read, read_up_to_damage
from elicit_app.session.journal.state import OutOfPlaceError, apply
from elicit_app.session.journal.writing import ChangedElsewhereProblem, Journal, UnwrittenProblem, write_copy
from elicit_app.session.questions import (
    CurrentQuestion,
    EndOfQuestions,
    Steps,
    first_step,
    lay_out,
    on_screen,
    predicted_winner,
    procedure_note,
    setting_now,
    to_choice,
    to_reply,
)
from elicit_app.session.views import Reply
from elicit_app.study.model import Study

_MORE_AFTER = ("budget", "known", "best-model")


class ReplyDetails(TypedDict, total=False):
    """What may accompany a reply."""

    seconds: float | None  # duration of the answer
    moved: Moved | None  # the moved count, its first side the left one; the reply is about the pair with it
    reason: str  # typed remark about the answer


class Session:
    """An open session. Use `Session.create` or `Session.open`; close it, or use it in a `with`."""

    def __init__(self, study: Study, setting: Setting, journal: Journal, events: Sequence[Event]) -> None:
        self.study = study
        self._setting = setting
        self.state = fold_events(events, journal.path)
        self.damage = ""
        self._events = list(events)
        self._journal = journal
        self._copy: Path | None = None
        self._copied = 0
        self._steps = Steps(study, setting)
        self._clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    @classmethod
    def create(
        cls,
        study: Study,
        setting: Setting,
        path: Path,
        *,
        expert: str | None = None,
        guesses: tuple[Guess, ...] = (),
        simulated: bool = False,
    ) -> Session:
        """Begin a session in a new file.

        The setting is adapted to a person (whole cases of real decisions). `guesses` are first guesses of the ratios,
        made before the first question. If a program answers (`simulated`), the metric file says so. Raises Problem if
        the study and the setting do not fit together, or the file cannot be written.
        """
        setting = for_person(as_packed(study, setting))
        now = datetime.now(UTC)
        events: list[Event] = [begun(study, setting, now, expert, simulated=simulated)]
        if guesses:
            events.append(Guessed(at=now, guesses=guesses))
        steps = Steps(study, setting)
        # Refuse a bad combination before a file exists.
        steps.procedure(fold_events(events, path))
        session = cls(study, setting, Journal.create(path, events), events)
        keep_pack(study, path)
        session._steps = steps
        return session

    @classmethod
    def open(cls, path: Path, study: Study | None = None) -> Session:
        """Continue a session; unless its study is given, it is found by the session's first line.

        Raises Problem if the file is damaged, newer, open elsewhere or about another study; in one sentence.
        """
        journal, contents = Journal.open(path)
        try:
            study = study or study_of(contents.begun.study, path)
            check_study(contents.begun.study, study, path)
            return cls(study, read_setting(contents.begun, path), journal, contents.events)
        except BaseException:
            journal.close()
            raise

    @classmethod
    def open_read_only(cls, path: Path, study: Study | None = None, *, damaged: bool = False) -> Session:
        """Open a session read-only; it may be open elsewhere. See `open`.

        With `damaged`, a damaged session is shown up to the damage, which `damage` then names. Raises DamagedProblem if
        the file is damaged and `damaged` is False. Raises Problem if the file is newer, or about another study; in one
        sentence.
        """
        contents = read_up_to_damage(path) if damaged else read(path)
        study = study or study_of(contents.begun.study, path)
        check_study(contents.begun.study, study, path)
        session = cls(study, read_setting(contents.begun, path), Journal.closed(path, contents), contents.events)
        if contents.damage:
            session.damage = DamagedProblem(path, contents).sentence
        return session

    @property
    def path(self) -> Path:
        """Return the session file."""
        return self._journal.path

    @property
    def setting(self) -> Setting:
        """Return how questions are asked; the orders stated before them only as long as they hold."""
        return setting_now(self._setting, self.state)

    @property
    def events(self) -> tuple[Event, ...]:
        """Return everything that happened, oldest first."""
        return tuple(self._events)

    @property
    def note(self) -> str:
        """Return a remark about the procedure, or an empty string."""
        return procedure_note(self.setting, self.next())

    @property
    def can_export(self) -> bool:
        """Return whether there are enough answers for a metric file."""
        return self.state.can_export

    def answers_file(self) -> Path | None:
        """Return the file that holds every answer.

        If another program changed, moved or deleted the session's file, that is a copy beside it; None if even the copy
        cannot be written.
        """
        if self._journal.untouched():
            return self.path
        if self._copied != len(self._events):
            self._copy = None
            with suppress(OSError):
                self._copy, self._copied = write_copy(self.path, self._events), len(self._events)
        return self._copy

    def close(self) -> None:
        """Release the file. Nothing has to be saved, because every answer is in it."""
        self._journal.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what is asked next

    def procedure(self) -> Procedure:
        """Return the procedure with the number of questions that the expert asked for."""
        return self._steps.procedure(self.state)

    def next(self) -> Step | EndOfQuestions:
        """Return the next step of the procedure, or why there is no further question."""
        return self._steps.after(self.state)

    def over(self) -> EndOfQuestions | None:
        """Return why the procedure has no further question, or None where it has one."""
        return self._steps.over(self.state)

    def asking(self) -> CurrentQuestion | None:
        """Return the current question, or None if the procedure has no further one.

        After an undo it is the undone question, exactly as it was recorded.
        """
        number = len(self.state.entries) + 1
        step = self.next()
        back = self.state.redo_stack[-1] if self.state.redo_stack else None
        if isinstance(back, Answered):
            progress = step.progress if isinstance(step, Step) else Progress(number - 1, 1, 1)
            return CurrentQuestion(number, back.pair, back.left, back.subject, back.reversed_rows, progress)
        if isinstance(step, EndOfQuestions):
            return None
        pair = Pair.of(step.question, tuple(index + 1 for index in self.state.used))
        return lay_out(self.state, pair, step.progress, predicted_winner(step, self.setting.family))

    def look_ahead(
        self, asking: CurrentQuestion, reply: Reply, strength: Strength | None = None, *, moved: Moved | None = None
    ) -> Iterator[None]:
        """Compute what follows a reply before it is given, so that the answer finds it ready; see `Steps.prepare`."""
        yield from self._steps.prepare(apply(self.state, self._answered(asking, reply, strength, {"moved": moved})))

    def likely_replies(self, asking: CurrentQuestion) -> list[tuple[Reply, Strength | None]]:
        """Return the replies that name no count, the likeliest first if the procedure predicts answers."""
        answers = likely_answers(self.procedure().belief(self.state.history), asking.pair.question({}))
        return [(to_reply(asking.left, answer.choice), answer.strength) for answer in answers]

    def likely_counts(self, asking: CurrentQuestion) -> tuple[Moved, ...]:
        """Return the counts that this person is likely to name, in the order of the screen, likeliest first."""
        belief = self.procedure().belief(self.state.history)
        if belief is None:
            return ()
        found = likely_counts(belief, asking.pair.question({}))
        return tuple(moved if asking.left == "first" else moved.swapped() for moved in found)

    def look_further(self) -> None:
        """Compute the first question of a further sitting before it is asked for."""
        event = self.continuation()
        if event is not None:
            self._steps.after(apply(self.state, event))

    def outcome(self) -> Outcome:
        """Return what is known after the answers so far."""
        over = self.over()
        return self.procedure().conclude(self.state.history, "expert" if over is None else over.stopped)

    # --- what the expert does

    def answer(
        self,
        reply: Reply,
        strength: Strength | None = None,
        *,
        full_picture: bool = False,
        **details: Unpack[ReplyDetails],
    ) -> None:
        """Answer the current question; when this returns, the answer is on the disk.

        `full_picture` states whether every count was shown.
        """
        asking = self.asking()
        if asking is None or self.state.phase != "asking":
            raise Problem("There is no question to answer now. Ask for more questions first.")
        self._do(self._answered(asking, reply, strength, details, full_picture=full_picture))

    def _answered(
        self,
        asking: CurrentQuestion,
        reply: Reply,
        strength: Strength | None,
        details: ReplyDetails,
        *,
        full_picture: bool = False,
    ) -> Answered:
        return Answered(
            at=self._clock(),
            pair=asking.pair,
            left=asking.left,
            subject=asking.subject,
            reversed_rows=asking.reversed_rows,
            full_picture=full_picture,
            still=Remaining(fewest=asking.progress.fewest, most=asking.progress.most),
            **_given(asking.pair, asking.left, reply, strength, details),
        )

    def undo(self) -> None:
        """Take back the last action; may be repeated."""
        self._do(Undone(at=self._clock()))

    def redo(self) -> None:
        """Redo the last undone action, until a new one is made."""
        self._do(Redone(at=self._clock()))

    def take_out(self, number: int) -> None:
        """Exclude answer `number`. It stays in the file."""
        self._require_answer(number, "take out")
        self._do(TakenOut(at=self._clock(), number=number))

    def change(
        self, number: int, reply: Reply, strength: Strength | None = None, **details: Unpack[ReplyDetails]
    ) -> None:
        """Answer question `number` again with the original sides; parameters as in `answer`."""
        self._require_answer(number, "change")
        event = self.state.entries[number - 1].event
        given = _given(event.pair, event.left, reply, strength, details)
        self._do(Changed(at=self._clock(), number=number, **given))

    def resolve(self, first: int, second: int, kept: Kept) -> None:
        """Record which of two different answers to the same pair was meant: the first, the second, equal, or both."""
        self._do(Resolved(at=self._clock(), first=first, second=second, kept=kept))

    def practised(self) -> None:
        """Record that the practice questions were done."""
        self._do(Practised(at=self._clock()))

    def withdraw_orders(self) -> None:
        """Record that the orders stated before the questions do not hold; all answers remain."""
        if self.setting.all_orders:
            self._do(OrdersWithdrawn(at=self._clock()))

    def state_practice(self, table: Sequence[Sequence[float]] | None) -> None:
        """Record present practice, in counts or rates (k x k, rows are true classes); None removes it."""
        stated = None if table is None else tuple(tuple(map(float, row)) for row in table)
        if stated != self.state.practice:
            self._do(PracticeStated(at=self._clock(), table=stated))

    def stop(self) -> None:
        """Stop answering and review the answers."""
        if self.state.phase == "asking":
            self._do(Stopped(at=self._clock()))

    def finish(self) -> None:
        """Ask for the result, which needs one answer; a metric file needs more (`can_export`)."""
        if not self.state.informative:
            raise Problem("There is no result yet: answer at least one question first.")
        if self.state.phase != "finished":
            self._do(Finished(at=self._clock()))

    def more(self) -> None:
        """Continue asking: with a further sitting if the last one is over."""
        event = self.continuation()
        if event is None:
            raise Problem("This procedure has no further question: the answers so far are all that it needs.")
        if self.state.phase != "asking" or event.questions != self.state.questions:
            self._journal.back_up()
            self._do(event)

    def continuation(self) -> Continued | None:
        """Return what asking for more would write, or None where the procedure has no further question."""
        state, over = self.state, self.over()
        if over is None:
            return Continued(at=self._clock(), questions=state.questions, early_stop=state.early_stop)
        questions = n_informative(state.history) + SITTING
        if self.setting.questions is None or over.stopped not in _MORE_AFTER or questions > MOST_QUESTIONS:
            return None
        # Where the budget ended the sitting, it may end earlier again; where the answers did, only the expert ends it.
        early = over.stopped == "budget"
        return Continued(at=self._clock(), questions=questions, early_stop=early)

    def verify(self) -> bool:
        """Recompute the last recorded question, and add a note to the session if it differs."""
        entries = self.state.entries
        if not entries or len(self.state.history) != len(entries):
            return True
        *before, last = self.state.history
        step = first_step(self.procedure(), before)
        if isinstance(step, Step) and step.question.same_as(last.question, tolerance=1e-9):
            return True
        sentence = (
            f"This computer would ask a different question {len(entries)}; the recorded one counts, as it was shown."
        )
        if sentence not in self.state.notes:
            self._do(Noted(at=self._clock(), sentence=sentence))
        return False

    def _require_answer(self, number: int, what: str) -> None:
        if not 1 <= number <= len(self.state.entries):
            raise Problem(f"There is no answer {number} to {what}: there are {len(self.state.entries)}.")

    def _do(self, event: Event) -> None:
        """Write an event, then apply it; an event that cannot follow is refused before anything is written."""
        try:
            state = apply(self.state, event)
        except OutOfPlaceError as error:
            raise Problem(f"That cannot be done now: {error}.") from error
        try:
            self._journal.append(event)
        except ChangedElsewhereProblem as problem:
            kept = self.answers_file()
            if kept is None:
                raise
            more = f"Or go on in {kept}, which holds everything before it."
            raise UnwrittenProblem(f"{problem.sentence} {more}") from problem
        self.state = state
        self._events.append(event)


def _given(pair: Pair, left: Side, reply: Reply, strength: Strength | None, details: ReplyDetails) -> dict[str, Any]:
    """Return the fields of an answer: only a preference has a strength, and a count moves as the question allows."""
    choice = to_choice(left, reply)
    fields: dict[str, Any] = {"choice": choice, "seconds": details.get("seconds")}
    if choice in PREFERENCES:
        fields["strength"] = strength
    if (given := details.get("moved")) is not None:
        may, moved = pair.proposal, on_screen(left, given)
        assert moved is not None
        if may is None or (moved.side, moved.true, moved.predicted) != (may.side, may.true, may.predicted):
            raise Problem("This count cannot be moved in this question. Move the one that is offered, or choose.")
        if not may.least <= moved.count <= may.most:
            raise Problem(f"The count must lie between {may.least:,} and {may.most:,}, not at {moved.count:,}.")
        fields["moved"] = moved
    if reason := details.get("reason", "").strip():
        fields["reason"] = reason[:LONGEST_REASON]
    return fields
