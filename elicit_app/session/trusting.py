"""Can the result be trusted? What repeats, fits and answers kept aside say, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from elicit_app.elicitation.questions import Asked, Choice, Matrix, Outcome, Purpose
from elicit_app.session.events import TakenOut
from elicit_app.session.fitting import fits, predicted, repeats
from elicit_app.session.result_words import flow_of, value_of
from elicit_app.session.session import Session
from elicit_app.session.state import SessionState, apply
from elicit_app.session.views import HeldOutView, RatioView, TrustView
from elicit_app.study.model import Study
from metrics import Quality, Tally

_ASIDE = 5
_FEWEST_TO_HOLD_OUT = 10
_NAMED = 4
_CHANCE = 0.05
_PREFERENCES = (Choice.A, Choice.B)
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, eq=False)
class Trust:
    """What was found about a result, in words and in numbers."""

    findings: tuple[TrustView, ...]
    sentence: str
    held_out: tuple[HeldOutView, ...]
    quality: Quality


def trust_of(session: Session, outcome: Outcome, ratios: tuple[RatioView, ...]) -> Trust:
    """Return how far the answers support the result.

    Parameters
    ----------
    session : Session
        With at least one answer.
    outcome : Outcome
        What was learned from all answers.
    ratios : tuple of RatioView
        For what is only bounded.
    """
    state = session.state
    same, repeated = repeats(state.entries)
    fitting = _fitting(state, outcome)
    # A search without one of its answers goes another way: only a belief can be asked what it would say without some.
    held_out = _held_out(session) if outcome.samples is not None else ()
    findings = [
        *_repeats_found(state, same, repeated),
        *_side_found(state),
        *_fits_found(fitting),
        *_held_out_found(held_out),
        *_bounded_found(session.study, ratios),
    ]
    return Trust(
        findings=tuple(findings),
        sentence=_sentence(findings),
        held_out=held_out,
        quality=Quality(
            repeats_agreed=Tally(same, repeated) if repeated else None,
            answers_explained=Tally(sum(fitting.values()), len(fitting)) if fitting else None,
            held_out_agreement=Tally(held_out[0].right, held_out[0].total) if held_out else None,
        ),
    )


def _fitting(state: SessionState, outcome: Outcome) -> dict[int, bool]:
    """Return answer number -> fits, for the answers that say something."""
    return {
        index + 1: fits(asked, outcome)
        for index, asked in zip(state.used, state.history, strict=True)
        if asked.answer.choice is not Choice.UNSURE
    }


def _repeats_found(state: SessionState, same: int, repeated: int) -> list[TrustView]:
    found = []
    if repeated:
        headline = f"{same} of {_plural(repeated, 'repeat')}: same answer"
        found.append(TrustView(2 * same > repeated, headline))
    for number, entry in enumerate(state.entries, start=1):
        if entry.event.pair.purpose is not Purpose.CHECK or entry.taken_out or entry.given.choice is Choice.UNSURE:
            continue
        if entry.given.choice is better_side(np.array(entry.event.pair.a), np.array(entry.event.pair.b)):
            found.append(TrustView(True, "The plainly better side, shown once, was chosen"))
        else:
            detail = "One side had fewer mistakes of one kind and no more of any other."
            found.append(TrustView(False, "The plainly better side was not chosen", detail, number))
    return found


def _side_found(state: SessionState) -> list[TrustView]:
    """Say so where nearly all answers were the same side, which a coin would give one time in twenty or less."""
    left = [entry.given.choice == entry.event.left for entry in state.entries if entry.given.choice in _PREFERENCES]
    most = max(sum(left), len(left) - sum(left))
    if not left or 2 * sum(comb(len(left), n) for n in range(most, len(left) + 1)) / 2 ** len(left) > _CHANCE:
        return []
    side = "A" if 2 * sum(left) > len(left) else "B"
    detail = "Sides are random, so about half of them would be expected."
    return [TrustView(False, f"{most} of {_plural(len(left), 'preference')} went to side {side}", detail)]


def better_side(a: Matrix, b: Matrix) -> Choice | None:
    """Return the side with no more mistakes of any kind and fewer of one, or None where neither has."""
    errors = ~np.eye(len(a), dtype=bool)
    more = (a - b)[errors]
    if not more.any():
        return None
    return Choice.A if (more <= 0).all() else Choice.B if (more >= 0).all() else None


def _fits_found(fitting: dict[int, bool]) -> list[TrustView]:
    if not fitting:
        return []
    fit = sum(fitting.values())
    found = [TrustView(fit * 4 >= len(fitting) * 3, f"{fit} of {_plural(len(fitting), 'answer')} fit these numbers")]
    misfits = [number for number, good in fitting.items() if not good]
    found += [
        TrustView(False, f"Answer {number} does not fit the rest", question=number) for number in misfits[:_NAMED]
    ]
    if len(misfits) > _NAMED:
        found.append(TrustView(False, f"Nor do {len(misfits) - _NAMED} more: the review shows them"))
    return found


def _held_out(session: Session) -> tuple[HeldOutView, ...]:
    """Learn without some answers and predict them; empty where there are too few."""
    state = session.state
    preferences = [number for number in state.informative if state.entries[number - 1].answer.choice in _PREFERENCES]
    if len(preferences) < _FEWEST_TO_HOLD_OUT:
        return ()
    # Spread over the session: the last questions alone would be the hardest ones.
    places = np.linspace(1, len(preferences) - 1, _ASIDE).round().astype(int)
    aside = [preferences[place] for place in places]
    outcome = session.procedure().conclude(_without(state, set(aside)).history)
    kept_aside = [state.history[state.used.index(number - 1)] for number in aside]

    def learned(asked: Asked) -> Choice:
        return predicted(outcome.weights, asked.question.a - asked.question.b, outcome.family)

    return (
        _tally("this result", kept_aside, learned),
        _tally("F1 score", kept_aside, lambda asked: _greater(macro_f1(asked.question.a), macro_f1(asked.question.b))),
        _tally("accuracy", kept_aside, lambda asked: _greater(np.trace(asked.question.a), np.trace(asked.question.b))),
    )


def _without(state: SessionState, aside: set[int]) -> SessionState:
    """Return the session without some answers and without whatever was asked about the same pairs."""
    for number, entry in enumerate(state.entries, start=1):
        if {number, entry.event.pair.repeat_of} & aside and not entry.taken_out:
            state = apply(state, TakenOut(at=entry.event.at, number=number))
    return state


def _tally(name: str, kept_aside: list[Asked], rule: Callable[[Asked], Choice]) -> HeldOutView:
    return HeldOutView(name, sum(rule(asked) is asked.answer.choice for asked in kept_aside), len(kept_aside))


def _greater(a: float, b: float) -> Choice:
    return Choice.EQUAL if abs(a - b) < 1e-12 else Choice.A if a > b else Choice.B


def macro_f1(rates: Matrix) -> float:
    """Return the mean over the classes of 2 C_ii / (row sum + column sum); 0 for a class that does not occur."""
    sums = rates.sum(axis=0) + rates.sum(axis=1)
    return float(np.divide(2 * np.diagonal(rates), sums, out=np.zeros(len(rates)), where=sums > 0).mean())


def _held_out_found(held_out: tuple[HeldOutView, ...]) -> list[TrustView]:
    if not held_out:
        return []
    ours, others = held_out[0], held_out[1:]
    detail = f"Agreement on {ours.total} answers kept aside:"
    if ours.right == ours.total or (2 * ours.right > ours.total and ours.right > max(other.right for other in others)):
        return [TrustView(True, "It predicts answers it was not shown", detail)]
    return [TrustView(False, "It predicts answers it was not shown no better than a plain score", detail)]


def _bounded_found(study: Study, ratios: tuple[RatioView, ...]) -> list[TrustView]:
    bounded = [view for view in ratios if view.bounded]
    if not bounded:
        return []
    told = [f"{_capital(flow_of(view, study.wording))}: {value_of(view)}." for view in bounded[:3]]
    more = [f"{len(bounded) - 3} more."] if len(bounded) > 3 else []
    headline = "One mistake is only bounded" if len(bounded) == 1 else f"{len(bounded)} mistakes are only bounded"
    return [TrustView(False, headline, " ".join([*told, *more, "No question could tell more."]))]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(findings: list[TrustView]) -> str:
    bad = sum(not finding.good for finding in findings)
    if not findings:
        return "There are too few answers to tell."
    if bad == 0:
        return "Yes, as far as the answers can tell."
    if 2 * bad > len(findings) + 1:
        return "Hardly: see the reservations below."
    number = _NUMBERS[bad] if bad < len(_NUMBERS) else str(bad)
    return f"Mostly, with {number} reservation{'' if bad == 1 else 's'}."


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
