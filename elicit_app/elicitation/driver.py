"""The reference driver: the same procedure that asks a person, answered by an oracle."""

from __future__ import annotations

from elicit_app.elicitation.oracles import Oracle
from elicit_app.elicitation.questions import Asked, Outcome, Procedure


def run(procedure: Procedure, oracle: Oracle) -> tuple[Outcome, list[Asked]]:
    """Ask until the procedure has learned what it can.

    Parameters
    ----------
    procedure : Procedure
        What asks.
    oracle : Oracle
        What answers.

    Returns
    -------
    tuple of Outcome and list of Asked
        What was learned, and every question with its answer.
    """
    asked: list[Asked] = []
    elicitation = procedure.begin()
    try:
        step = next(elicitation)
        while True:
            answer = oracle.answer(step.question)
            asked.append(Asked(step.question, answer))
            step = elicitation.send(answer)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome, asked
