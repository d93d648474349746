"""What a person is asked in the terminal before the first question: the family, the purpose, and first guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from elicit_app.cli.line_input import read_line
from elicit_app.elicitation.questions import Family
from elicit_app.session.journal.events import Guess
from elicit_app.session.warm_up import keys_to_guess, mistake_of_key, ratio_typed, yardstick_key
from elicit_app.study.model import Study
from metrics.elicited.metric_parts import ANSWERS_FOR, AnswersFor

if TYPE_CHECKING:
    from rich.console import Console


def ask_family(study: Study, talk: Console) -> Literal["dlpm", "lpm"]:
    """Ask the question that decides the family, in words."""
    if study.n_classes == 2:
        return "lpm"
    truth = study.wording.class_one[study.yardstick[0]]
    talk.print(f"Think of one {study.wording.case} that is {truth}. Are all wrong answers for it equally bad?")
    answer = prompt(talk, "y: yes, wrong is wrong. Enter: no, some wrong answers hurt more than others. ")
    return "dlpm" if answer.strip().lower() in ("y", "yes") else "lpm"


def ask_purpose(study: Study, talk: Console) -> AnswersFor:
    """Ask what the answers are for; Enter is a choice between the models, where there are several."""
    default: AnswersFor = "choose" if len(study.models) > 1 else "costs"
    talk.print(f"What are the answers for? 1: {ANSWERS_FOR['choose']}. 2: {ANSWERS_FOR['costs']}. 3: both.")
    typed = prompt(talk, f"1, 2 or 3 (Enter: {'1' if default == 'choose' else '2'}) ").strip()
    purposes: dict[str, AnswersFor] = {"1": "choose", "2": "costs", "3": "both"}
    return purposes.get(typed, default)


def ask_guesses(study: Study, family: Family, talk: Console, most: int = 3) -> tuple[Guess, ...]:
    """Ask for a first guess of some ratios, before the first question; Enter skips one."""
    yardstick = mistake_of_key(study, yardstick_key(study, family))
    guesses = []
    for true, predicted in keys_to_guess(study, family, most):
        mistake = mistake_of_key(study, (true, predicted))
        asks = f"First guess: one {mistake.one} counts as how many {yardstick.many}? (20, 0.5 or 1/3; Enter skips) "
        while True:
            try:
                ratio = ratio_typed(prompt(talk, asks))
            except ValueError as error:
                talk.print(f"{error}.")
                continue
            if ratio is not None:
                guesses.append(Guess(true=true, predicted=predicted, ratio=ratio))
            break
    return tuple(guesses)


def prompt(talk: Console, text: str) -> str:
    """Return the line typed after `text`; empty at the end of the input."""
    talk.print(text, end="")
    return read_line()
