"""Build the views of a session: the question, the review, the end of a sitting and the recap; and answers as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elicit_app.elicitation.agenda import BEST_PROBABILITY, KNOWN_FACTOR, better_side
from elicit_app.elicitation.conflicting_counts import conflicting_counts
from elicit_app.elicitation.questions import Choice, Counts, Progress, Purpose, Side
from elicit_app.elicitation.trust import misfits
from elicit_app.problem import Problem
from elicit_app.session.journal.events import Answered, Pair, as_counts
from elicit_app.session.journal.state import FEWEST_TO_EXPORT, Entry, StateBuilder, is_merged_repeat
from elicit_app.session.pair_words import nothing_traded
from elicit_app.session.questions import CurrentQuestion, on_screen, to_reply
from elicit_app.session.sentences import last_words, progress_words, stated_words, with_moved
from elicit_app.session.session import Session
from elicit_app.session.trust_findings import (
    conflicting_counts_words,
    contradictions,
    kept_contradictions,
    misfit_numbers,
)
from elicit_app.session.views import AnsweredView, Fit, QuestionView, RecapView, ReviewView, SittingOverView
from elicit_app.study.writing import write_whole
from metrics.files import csv_cell
from metrics.text import counted, number_word

_OVER = {
    "budget": "{answers}, all kept. This sitting is over: see the result, or go on.",
    "known": f"Your answers tell {{what}}, within a factor of {KNOWN_FACTOR:g} (90 % plausible).",
    "best-model": "More answers would hardly change the choice: "
    f"with a probability of at least {100 * BEST_PROBABILITY:g} % they would not.",
    "tolerance": "The search has found its answer, to the requested accuracy.",
    "cycles": "The search has made all its rounds.",
    "bounded": "No further question of this kind can tell more.",
    "expert": "{answers}, all kept.",
}


def shown(pair: Pair, left: Side) -> tuple[Counts, Counts]:
    """Return the matrices of a pair as they were shown: left, right."""
    first, second = (pair.first, pair.second) if left == "first" else (pair.second, pair.first)
    return as_counts(first), as_counts(second)


def remaining_after(progress: Progress) -> Progress:
    """Return the progress with the questions that remain after the current one, as a page shows it."""
    return replace(progress, fewest=max(progress.fewest - 1, 0), most=max(progress.most - 1, 0))


def question_view(session: Session, request: int, *, offer_break: bool = False) -> QuestionView | None:
    """Return the current question, or None if the procedure has no further one; no break is offered before the last."""
    asking = session.asking()
    if asking is None:
        return None
    state, last = session.state, asking.progress.most <= 1
    return _as_asked(
        asking,
        request=request,
        number=asking.number,
        progress=remaining_after(asking.progress),
        last=last,
        offer_break=offer_break and not last,
        previous=last_answer(session),
        can_redo=bool(state.redo_stack),
        note=session.note,
        undoes=_undoes(session),
        full_picture=state.full_picture,
    )


def _as_asked(question: CurrentQuestion | Answered, **more: Any) -> QuestionView:
    """Return the view of a question as it is or was shown."""
    pair = question.pair
    left, right = shown(pair, question.left)
    return QuestionView(
        left=left,
        right=right,
        population=pair.population,
        subject=question.subject,
        hypothetical=pair.hypothetical,
        proposal=on_screen(question.left, pair.proposal),
        reversed_rows=question.reversed_rows,
        far=pair.far,
        **more,
    )


def _undoes(session: Session) -> Literal["answer", "change", "nothing"]:
    done = session.state.undo_stack
    if not done:
        return "nothing"
    return "answer" if isinstance(done[-1].event, Answered) else "change"


def looking_again_view(session: Session, request: int, number: int) -> QuestionView:
    """Return question `number` as it was shown, to be answered again.

    Raises
    ------
    Problem
        If there is no such answer.
    """
    entries = session.state.entries
    if not 1 <= number <= len(entries):
        raise Problem(f"There is no answer {number} to look at again: there are {len(entries)}.")
    event = entries[number - 1].event
    return _as_asked(
        event,
        request=request,
        number=number,
        progress=Progress(len(entries), 0, 0),
        last=False,
        offer_break=False,
        previous=_plain(entries, number),
        can_redo=False,
        undoes="nothing",
        again=number,
        full_picture=event.full_picture,
    )


def sitting_over_view(session: Session) -> SittingOverView:
    """Return the end of a sitting: why it is over, and whether there can be more."""
    over = session.over()
    reason = "expert" if over is None else over.stopped
    what = "how bad each mistake is, compared with the worst one"
    if session.study.wording.priced:
        what = "how much each amount counts, compared with the one that counts most"
    sentence = _OVER[reason].format(answers=counted(len(session.state.entries), "answer"), what=what)
    return SittingOverView(reason, sentence, can_continue=session.continuation() is not None)


def review_view(session: Session) -> ReviewView:
    """Return all answers, newest last, with their fit and any contradictions."""
    pairs = contradictions(session.state)
    answers = answered_views(session, pairs)
    return ReviewView(
        answers=answers,
        contradictions=tuple((first - 1, second - 1) for first, second in pairs),
        can_finish=bool(session.state.informative),
        sentence=_review_sentence(session, answers, len(pairs)),
        can_continue=session.continuation() is not None,
        undoes=_undoes(session),
    )


def answered_views(session: Session, pairs: tuple[tuple[int, int], ...]) -> tuple[AnsweredView, ...]:
    """Return every answer with its fit; `pairs` holds the numbers of contradicting answers."""
    state = session.state
    wrong = misfits(session.procedure(), state.history)
    odd, conflict = misfit_numbers(state, wrong), conflicting_counts(session.procedure(), state.history, wrong)
    far = (
        set()
        if conflict is None
        else {state.used[place] + 1 for place in (conflict.higher_answer, conflict.lower_answer)}
    )
    doubled = {number for pair in pairs for number in pair}
    views = []
    for number, entry in enumerate(state.entries, start=1):
        fit: Fit
        if entry.taken_out:
            fit = "taken out"
        elif entry.answer.choice == "unsure":
            fit = "left open" if _asked_again_as(state.entries, number) is None else "asked again"
        elif number in doubled:
            fit = "two answers"
        elif entry.answer.choice is Choice.EQUAL and _nothing_traded(session, entry):
            fit = "level"
        elif entry.event.pair.purpose is Purpose.CHECK:
            first, second = entry.event.pair.first, entry.event.pair.second
            better = better_side(np.array(first, dtype=float), np.array(second, dtype=float))
            fit = "check" if entry.answer.choice == better else "worse side"
        elif number in odd:
            fit = "does not fit"
        elif number in far:
            fit = "far apart"
        else:
            fit = "fits"
        views.append(_answered_view(state.entries, number, fit))
    return tuple(views)


def _nothing_traded(session: Session, entry: Entry) -> bool:
    """Return whether one side of a pair, with the moved count, was better in everything."""
    first, second = as_counts(entry.event.pair.first), as_counts(entry.event.pair.second)
    if entry.answer.moved is not None:
        first, second = with_moved(first, second, entry.answer.moved)
    return nothing_traded(first, second, session.study.wording, session.procedure().family)


def last_answer(session: Session) -> AnsweredView | None:
    """Return the last answer, without judging its fit; None if there is none."""
    entries = session.state.entries
    return _plain(entries, len(entries)) if entries else None


def _plain(entries: tuple[Entry, ...], number: int) -> AnsweredView:
    """Return an answer without judging its fit, which the question page does not show."""
    return _answered_view(entries, number, "fits")


def _answered_view(entries: tuple[Entry, ...], number: int, fit: Fit) -> AnsweredView:
    entry = entries[number - 1]
    left, right = shown(entry.event.pair, entry.event.left)
    return AnsweredView(
        number=number,
        left=left,
        right=right,
        reply=to_reply(entry.event.left, entry.answer.choice),
        strength=entry.answer.strength,
        seconds=entry.answer.seconds,
        fit=fit,
        asked_again_as=_asked_again_as(entries, number) if entry.answer.choice == "unsure" else None,
        moved=on_screen(entry.event.left, entry.answer.moved),
        reason=entry.answer.reason,
        changed=entry.changed,
    )


def _asked_again_as(entries: tuple[Entry, ...], number: int) -> int | None:
    pair = entries[number - 1].event.pair
    for later in range(number, len(entries)):
        if pair.order(entries[later].event.pair) is not None:
            return later + 1
    return None


def _review_sentence(session: Session, answers: tuple[AnsweredView, ...], doubled: int) -> str:
    odd = [view.number for view in answers if view.fit == "does not fit"]
    twice = sum(is_merged_repeat(session.state.entries, number, session.state.joined) for number in odd)
    parts = []
    if doubled:
        pairs = "one pair has" if doubled == 1 else f"{doubled} pairs have"
        parts.append(f"{pairs} two different answers")
    if odd:
        parts.append(_misfit_words(len(odd) - twice, twice))
    worse = sum(view.fit == "worse side" for view in answers)
    if worse:
        parts.append("one took the plainly worse side" if worse == 1 else f"{worse} took the plainly worse side")
    level = sum(view.fit == "level" for view in answers)
    if level:
        which = "one calls" if level == 1 else f"{level} call"
        parts.append(f"{which} two results equal although one was plainly better")
    state, procedure = session.state, session.procedure()
    conflict = conflicting_counts(procedure, state.history, misfits(procedure, state.history))
    if conflict is not None:
        parts.append(conflicting_counts_words(conflict, state))
    out = sum(view.fit == "taken out" for view in answers)
    total = f"{counted(len(answers), 'answer')}{f', {out} taken out' if out else ''}."
    found = f" {', and '.join(parts).capitalize()}." if parts else ""
    missing = FEWEST_TO_EXPORT - len(session.state.informative)
    if missing > 0:
        more = "one more answer" if missing == 1 else f"{missing} more answers"
        unsure = any(entry.answer.choice is Choice.UNSURE for entry in state.entries)
        which = " other than “cannot say”" if unsure else ""
        found += f" A metric file needs at least {FEWEST_TO_EXPORT}{which}: {more}."
    elif not parts:
        kept = len(kept_contradictions(state))
        found = " One pair keeps" if kept == 1 else f" {kept} pairs keep" if kept else " No pair has"
        found += " two different answers."
    return total + found


def _misfit_words(answers: int, twice: int) -> str:
    """Say how many answers do not fit the rest; `twice` of them were given twice, and made one since."""
    if answers == 1:
        return f"one answer{', given twice,' if twice else ''} does not fit the rest"
    given = f", {number_word(twice)} of them given twice," if twice else ""
    return f"{answers} answers{given} do not fit the rest"


def recap_view(session: Session) -> RecapView:
    """Return the current state of a session for somebody who comes back."""
    study, state = session.study, session.state
    last = last_answer(session)
    answers = len(state.entries)
    kept = "1 answer is kept" if answers == 1 else f"{answers} answers are kept"
    return RecapView(
        kept="No answers yet" if last is None else kept,
        last="" if last is None else last_words(last, study.wording, session.procedure().family),
        following=_following(session),
        stated=stated_words(session.setting, study),
    )


def _following(session: Session) -> str:
    """Return in words what comes next."""
    if session.state.phase == "finished":
        return "The result is next."
    if session.state.phase == "stopped":
        return "You were looking back at your answers."
    view = question_view(session, 0)
    if view is None:
        return "This sitting is over: see the result, or go on."
    progress = progress_words(view)
    return f"{progress.question.rstrip(',')} is next" + (", the last one." if view.last else f", then {progress.rest}.")


def answers_csv(session: Session) -> str:
    """Return one row per answer, including undone ones, as CSV.

    The state is kept, changed, taken out or undone; times are in UTC. "reply" is the original reply, "counts as" the
    one that counts now, "left is" which of the procedure's two matrices was on the left. After the columns of
    `_COLUMNS` come the cases of both sides, one column per cell, named by side, true class and predicted class.
    """
    classes = session.study.classes
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    cells = [f"{side}: {true} as {called}" for side in ("left", "right") for true in classes for called in classes]
    table.writerow([*_COLUMNS, *cells])
    table.writerows(_rows(session))
    return out.getvalue()


_COLUMNS = (
    "number",
    "state",
    "time",
    "reply",
    "strength",
    "seconds",
    "counts as",
    "purpose",
    "repeat of",
    "hypothetical",
    "population",
    "left is",
    "sentence about",
    "full picture",
    "moved",
    "moved from",
    "moved to",
    "reason",
)


def _rows(session: Session) -> Iterator[list[object]]:
    kept = {id(entry.event): entry for entry in session.state.entries}
    builder = StateBuilder()
    for event in session.events:
        builder.add(event)
        if isinstance(event, Answered):
            yield _row(len(builder.entries), event, kept.get(id(event)), session.study.classes)


def _row(number: int, event: Answered, entry: Entry | None, classes: tuple[str, ...]) -> list[object]:
    pair = event.pair
    state = "undone"
    if entry is not None:
        state = "taken out" if entry.taken_out else "changed" if entry.changed else "kept"
    return [
        number,
        state,
        event.at.isoformat(timespec="seconds"),
        to_reply(event.left, event.choice),
        event.strength.value if event.strength else "",
        "" if event.seconds is None else f"{event.seconds:.2f}",
        to_reply(event.left, entry.answer.choice) if entry is not None and not entry.taken_out else "",
        pair.purpose.value,
        pair.repeat_of or "",
        "yes" if pair.hypothetical else "no",
        pair.population,
        event.left,
        event.subject,
        "yes" if event.full_picture else "no",
        *_moved(event, classes),
        csv_cell(event.reason or ""),
        *(count for side in shown(pair, event.left) for count in side.ravel().tolist()),
    ]


def _moved(event: Answered, classes: tuple[str, ...]) -> tuple[object, ...]:
    """Return the moved count's name, start and end; empty cells if none was moved."""
    moved = on_screen(event.left, event.moved)
    if moved is None:
        return "", "", ""
    side = "left" if moved.side == "first" else "right"
    return f"{side}: {classes[moved.true]} as {classes[moved.predicted]}", moved.start, moved.count


def export_answers(session: Session, path: Path) -> Path:
    """Write all answers as CSV atomically, and return the path.

    Raises
    ------
    Problem
        If the file cannot be written.
    """
    return write_whole(path, answers_csv(session))
