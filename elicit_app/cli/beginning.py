"""What a person is asked in the terminal before the first question: the family, and first guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from elicit_app.cli.line_input import read_line
from elicit_app.elicitation.questions import Family
from elicit_app.session.events import Guess
from elicit_app.study.model import Mistake, Study

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


def ask_guesses(study: Study, family: Family, talk: Console, most: int = 3) -> tuple[Guess, ...]:
    """Ask for a first guess of some ratios, before the first question; Enter skips one."""
    words, (true, predicted) = study.wording, study.yardstick
    asked: list[tuple[int, int | None, Mistake]]
    if family == "dlpm":
        asked = [(i, None, words.any_mistake[i]) for i in range(study.n_classes) if i != true]
        yardstick = words.any_mistake[true]
    else:
        asked = [(i, j, words.mistakes[i, j]) for i, j in sorted(words.mistakes) if (i, j) != (true, predicted)]
        yardstick = words.mistakes[true, predicted]
    guesses = []
    for i, j, mistake in asked[:most]:
        asks = f"First guess: one {mistake.one} counts as how many {yardstick.many}? (Enter skips) "
        line = prompt(talk, asks).strip()
        try:
            guesses.append(Guess(true=i, predicted=j, ratio=float(line.replace(",", "."))))
        except ValueError:
            if line:
                talk.print(f"“{line}” is no number above 0: left out.")
    return tuple(guesses)


def prompt(talk: Console, text: str) -> str:
    """Return the line typed after `text`; empty at the end of the input."""
    talk.print(text, end="")
    return read_line()
