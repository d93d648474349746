"""What the answers are for, as window and terminal ask it before the first question."""

from __future__ import annotations

from typing import NamedTuple

from elicit_app.elicitation.agenda import owed_left, questions_left
from elicit_app.elicitation.questions import AnswersFor
from elicit_app.elicitation.stopping import FEWEST_ANSWERS
from elicit_app.study.model import Study

USUAL: AnswersFor = "choose"
"""What answers are for where neither the study nor the person says so."""


class PurposeWords(NamedTuple):
    """One thing that answers are for.

    Parameters
    ----------
    purpose : {"choose", "costs", "both"}
        As the setting has it.
    title : str
        "To choose between these models".
    sentence : str
        What comes with it, and when the questions stop.
    questions : str
        How many to expect: "10 to 22 questions".
    """

    purpose: AnswersFor
    title: str
    sentence: str
    questions: str


def purpose_words(study: Study, questions: int, *, early: bool = True) -> tuple[PurposeWords, ...]:
    """Return what answers about a study may be for, the usual one first.

    Parameters
    ----------
    study : Study
        Its models are what is chosen between.
    questions : int
        The most informative questions of a sitting; repeats and a check come on top.
    early : bool
        Whether the questions may stop before that.
    """
    most = questions_left((), questions, checks=True)
    fewest = min(FEWEST_ANSWERS + owed_left(()), most)
    several = len(study.models) > 1
    count = f"{fewest} to {most} questions" if early and fewest < most else f"{most} questions"
    at_most = f"up to {most} questions" if early else f"{most} questions"
    stops = " Stops when the choice is settled." if early else ""
    known = " Stops when the costs are known closely." if early else ""
    also = "where to cut" if study.n_classes == 2 else "how to decide with your costs"
    return (
        PurposeWords(
            "choose",
            "To choose between these models" if several else "To decide how to use this model",
            f"Also: {also}.{stops}",
            count,
        ),
        PurposeWords(
            "costs",
            "To write down what mistakes cost",
            f"For training and judging models later.{known}",
            at_most,
        ),
        PurposeWords("both", "For both", "", at_most),
    )
