"""What follows from a session's answers: the procedure's next step, computed once and remembered."""

from __future__ import annotations

from elicit_app.elicitation.questions import Outcome, Procedure, Step
from elicit_app.session.journal.state import SessionState
from elicit_app.session.procedures import ProcedureSetting, procedure_for
from elicit_app.session.sitting import first_step, untimed, with_budget
from elicit_app.study.model import Study

_REMEMBERED = 64


class Steps:
    """The steps of one session, so that undo and what was computed before a click cost nothing.

    Parameters
    ----------
    study : Study
        What is asked about.
    setting : ProcedureSetting
        The procedure and its settings.
    """

    def __init__(self, study: Study, setting: ProcedureSetting) -> None:
        self._study, self._setting = study, setting
        self._procedures: dict[tuple[int | None, bool], Procedure] = {}
        self._steps: dict[object, Step | Outcome] = {}

    def procedure(self, state: SessionState) -> Procedure:
        """Return the procedure with the number of questions that the expert asked for."""
        key = (state.questions, state.early_stop)
        if key not in self._procedures:
            self._procedures[key] = procedure_for(self._study, with_budget(self._setting, *key))
        return self._procedures[key]

    def after(self, state: SessionState) -> Step | Outcome:
        """Return the next step after a state, or what was learned when there is no further question."""
        key = _key(state)
        if key not in self._steps:
            while len(self._steps) >= _REMEMBERED:
                del self._steps[next(iter(self._steps))]
            self._steps[key] = first_step(self.procedure(state), untimed(state.history))
        return self._steps[key]


def _key(state: SessionState) -> object:
    """Return what the next question depends on; the time that the last answer took is not in it (see `untimed`)."""
    answers = [asked.answer for asked in state.history]
    told = tuple(
        (index, state.entries[index].event.pair, answer.choice, answer.strength)
        for index, answer in zip(state.used, answers, strict=True)
    )
    return state.questions, state.early_stop, told, tuple(answer.seconds for answer in answers[:-1])
