"""What a procedure asks a person next: its steps after the answers, computed once."""

from __future__ import annotations

from collections.abc import Sequence

from elicit_app.elicitation.questions import Asked, Outcome, Procedure, Step
from elicit_app.registry import Setting, entry_named, procedure_for
from elicit_app.session.journal.state import SessionState
from elicit_app.study.model import Study

_REMEMBERED = 64


class Steps:
    """The steps of one session, so that undo and what was computed before a click cost nothing.

    Parameters
    ----------
    study : Study
        What is asked about.
    setting : Setting
        The procedure and its settings.
    """

    def __init__(self, study: Study, setting: Setting) -> None:
        self._study, self._setting = study, setting
        self._procedures: dict[tuple[int | None, bool], Procedure] = {}
        self._steps: dict[object, Step | Outcome] = {}

    def procedure(self, state: SessionState) -> Procedure:
        """Return the procedure with the number of questions that the expert asked for."""
        key = (state.questions, state.early_stop)
        if key not in self._procedures:
            self._procedures[key] = procedure_for(self._study, self._setting.with_budget(*key))
        return self._procedures[key]

    def after(self, state: SessionState) -> Step | Outcome:
        """Return the next step after a state, or what was learned when there is no further question."""
        key = _key(state)
        if key not in self._steps:
            while len(self._steps) >= _REMEMBERED:
                del self._steps[next(iter(self._steps))]
            self._steps[key] = first_step(self.procedure(state), state.history)
        return self._steps[key]


def _key(state: SessionState) -> object:
    """Return what the next question depends on; not the time that the last answer took (`agenda.slow_half`)."""
    answers = [asked.answer for asked in state.history]
    told = tuple(
        (index, state.entries[index].event.pair, answer.choice, answer.strength, answer.moved)
        for index, answer in zip(state.used, answers, strict=True)
    )
    return state.questions, state.early_stop, told, tuple(answer.seconds for answer in answers[:-1])


def first_step(procedure: Procedure, history: Sequence[Asked]) -> Step | Outcome:
    """Return what a procedure yields first after a history, or what it returns."""
    elicitation = procedure.begin(history)
    try:
        return next(elicitation)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    finally:
        elicitation.close()


def note_about(setting: Setting, step: Step | Outcome) -> str:
    """Return how many questions a published search needs, or an empty sentence."""
    if isinstance(step, Outcome) or not entry_named(setting.procedure).narrows:
        return ""
    total = step.progress.asked + step.progress.most
    return f"This procedure asks about {total:,} questions; the late ones look alike."
