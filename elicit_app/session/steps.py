"""What a procedure asks a person next: its settings for people, and its steps after the answers, computed once."""

from __future__ import annotations

from collections.abc import Sequence

from elicit_app.elicitation.agenda import SITTING as SITTING
from elicit_app.elicitation.questions import Answer, Asked, Outcome, Procedure, Step
from elicit_app.problem import Problem
from elicit_app.session.journal.state import SessionState
from elicit_app.session.procedures import ProcedureSetting, procedure_for
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


CELLS_FOR_PEOPLE = 4  # more rows than these cannot be weighed against each other at a glance


def for_person(setting: ProcedureSetting) -> ProcedureSetting:
    """Return the setting in whole cases of real decisions, few of them differing; without a number, in sittings.

    Raises
    ------
    Problem
        For a linear-fractional metric, which no elicited metric file can hold.
    """
    if setting.resolved_family not in ("dlpm", "lpm"):
        raise Problem(
            f"The procedure {setting.procedure} is for simulations: its metric is no cost matrix. "
            "Ask people with bayes, dlpm or lpm."
        )
    changes: dict[str, object] = {"person": True}
    if setting.procedure == "bayes":
        changes["checks"] = True
        if setting.max_cells is None:
            changes["max_cells"] = CELLS_FOR_PEOPLE
        if setting.questions is None:
            changes.update(questions=SITTING, stop=True)
    return setting.model_copy(update=changes)


def budget_of(setting: ProcedureSetting) -> int | None:
    """Return how many informative questions were asked for; None for a procedure that ends by itself."""
    return setting.questions


def with_budget(setting: ProcedureSetting, questions: int | None, early_stop: bool) -> ProcedureSetting:
    """Return the setting after the expert asked for more questions."""
    if questions is None:
        return setting
    return setting.model_copy(update={"questions": questions, "stop": setting.stop and early_stop})


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


def untimed(history: Sequence[Asked]) -> tuple[Asked, ...]:
    """Return a history without the time that its last answer took.

    The next question is computed before the answer is given. So that it is the same one then and after a restart, that
    one time never counts, as if the answer had been quick; all earlier ones do.
    """
    if not history:
        return ()
    *before, last = history
    quick = 0.0 if any(asked.answer.seconds is not None for asked in before) else None
    return (*before, Asked(last.question, Answer(last.answer.choice, last.answer.strength, quick)))


def note_about(setting: ProcedureSetting, step: Step | Outcome) -> str:
    """Return how many questions a published search needs, or an empty sentence."""
    if setting.procedure == "bayes" or isinstance(step, Outcome):
        return ""
    total = step.progress.asked + step.progress.most
    return f"This procedure asks about {total:,} questions; the late ones look alike."
