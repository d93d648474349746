"""Watch the laboratory: the questions of simulated people, and what was known after every few answers."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from elicit_app.elicitation.questions import Asked
from elicit_app.experiments.people import NoiseKind, PersonKind
from elicit_app.experiments.simulated import SimulatedRun
from elicit_app.experiments.simulation import Experts, Laboratory
from elicit_app.registry import entry_named, setting_of
from elicit_app.session.questions import to_reply
from elicit_app.session.sentences import preference
from elicit_app.study.model import Study
from elicit_app.study.opening import open_study
from metrics.files import csv_cell
from metrics.measures.confusion import natural_frequencies
from metrics.text import counted

EVERY = 4
"""Number of answers between snapshots."""
NOISES: dict[NoiseKind, float | None] = {"none": None, "weights": 0.6, "logit": 0.8, "flip": 0.1, "bounded": 0.01}
"""Kinds of noise, with the usual amount of each."""
FRACTION = "fraction"
"""A person whose metric is linear-fractional, with a random denominator."""
PEOPLE: dict[PersonKind | Literal["fraction"], float | None] = {
    "linear": None,
    "concave": 0.6,
    "quadratic": 0.8,
    "minimax": None,
    "threshold": 0.05,
    "f1": None,
    "fraction": None,
}
"""Kinds of values, with the usual number of each."""


@dataclass(frozen=True)
class LabSettings:
    """What to watch."""

    study: str = "wine"  # a name or path for `open_study`
    procedure: str = "bayes"  # its registered name
    answers: str = "choice"  # {"choice", "equal", "mixed"}: kinds of answer asked for, if the procedure offers them
    # in the form of `elicit simulate`: "concave:0.6", "logit:0.8"; or `FRACTION`, which bayes elicits as a fraction
    person: str = "linear"
    noise: str = "weights:0.6"
    # number of questions and of people, and the seed of all randomness
    questions: int = 20
    people: int = 30
    seed: int = 1

    @property
    def steerable(self) -> bool:
        """Return whether kinds and number of questions can be set; a search asks what it needs."""
        return entry_named(self.procedure).offers("answers")

    def laboratory(self) -> Laboratory:
        """Return the laboratory that asks these people.

        Raises WrongOption if options do not fit together. Raises Problem if the study cannot be opened, or the
        procedure cannot ask about it.
        """
        steered: dict[str, object] = {"answers": self.answers, "questions": self.questions} if self.steerable else {}
        who: dict[str, Any] = {"person": self.person}
        if self.person == FRACTION:
            steered |= {"family": "lfpm"} if self.steerable else {}
            who = {"denominator": "random"}
        setting = setting_of(self.procedure, seed=self.seed, **steered)
        return Laboratory(open_study(self.study), setting, Experts.stated(noise=self.noise, **who))

    @property
    def command(self) -> str:
        """Return the command that simulates the same people."""
        parts = ["elicit", "simulate", self.study]
        if self.procedure != "bayes":
            parts += ["--procedure", self.procedure]
        if self.steerable:
            parts += ["--answers", self.answers, "--questions", str(self.questions)]
        if self.person == FRACTION:
            parts += [*(("--family", "lfpm") if self.steerable else ()), "--denominator", "random"]
        person = "linear" if self.person == FRACTION else self.person
        for option, value, usual in (("--person", person, "linear"), ("--noise", self.noise, "none")):
            if value != usual:
                parts += [option, value]
        return shlex.join([*parts, "--runs", str(self.people), "--seed", str(self.seed)])


@dataclass(frozen=True)
class Snapshot:
    """What was known about one person after some answers."""

    answers: int
    otherwise: float  # share of random pairs on which the elicited metric and the person disagree, in [0, 1]
    range_factor: float | None  # width of the 90 % ranges; None for a search


@dataclass(frozen=True, eq=False)
class SimulatedPerson:
    """One simulated person."""

    settings: LabSettings  # the settings used
    number: int  # number of the person, from 1
    snapshots: tuple[Snapshot, ...]  # after every few answers; the last is the end
    run: SimulatedRun
    study: Study  # what the questions were about

    @property
    def inside(self) -> tuple[int, int] | None:
        """Return the number of true ratios within their 90 % range, and the total number of ratios."""
        if self.run.covered is None:
            return None
        n = len(self.run.true_weights)
        ratios = n * (n - 1) // 2
        return round(self.run.covered * ratios), ratios

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Return the questions and answers."""
        return self.run.asked


def watch(settings: LabSettings) -> Iterator[SimulatedPerson]:
    """Simulate the people of some settings, one after another.

    Raises Problem if the study cannot provide what is asked for, or options do not fit together.
    """
    laboratory = settings.laboratory()
    for number in range(settings.people):
        runs = laboratory.run_with_snapshots(number, EVERY) if settings.steerable else [laboratory.run(number)]
        snapshots = tuple(Snapshot(one.questions, 1 - one.agreement, one.range_factor) for one in runs)
        yield SimulatedPerson(settings, number + 1, snapshots, runs[-1], laboratory.study)


_QUARTERS = 4  # with fewer people there is no middle half


def usual_answers(people: Sequence[SimulatedPerson]) -> int:
    """Return the median number of answers; searches end after different numbers."""
    return round(float(np.median([one.snapshots[-1].answers for one in people])))


def width_sentence(people: Sequence[SimulatedPerson]) -> tuple[str, str]:
    """Return how wide the ranges will be, and on how many people, all with the same settings, that is based."""
    asked = usual_answers(people)
    factors = [one.snapshots[-1].range_factor for one in people if one.snapshots[-1].range_factor is not None]
    values = np.array(factors or [100 * one.snapshots[-1].otherwise for one in people])
    few = len(values) < _QUARTERS
    low, middle, high = (f"{end:.1f}" for end in np.quantile(values, [0, 0.5, 1] if few else [0.25, 0.5, 0.75]))
    so_far = f"So far {counted(len(people), 'person', 'people')}"
    if len(values) > 1:
        so_far += f"; {'all' if few else 'half'} of them {f'between {low} and' if low != high else 'at'} {high}"
    if factors:
        return f"With {asked} answers the ranges reach a factor of {middle} each way.", f"{so_far}."
    sentence = f"With {asked} answers {middle} % of pairs are judged differently; a search gives no ranges."
    return sentence, f"{so_far}{' %' if len(values) > 1 else ''}."


def questions_text(person: SimulatedPerson) -> str:
    """Return the questions and answers of one person in words, one per line."""
    family = person.run.outcome.family
    lines = [f"{person.study.title}: what simulated person {person.number} was asked ({person.settings.command})", ""]
    for number, (question, answer) in enumerate(person.asked, 1):
        population = question.population or person.study.population
        shown = [natural_frequencies(side, population) for side in question.rates]
        reply = to_reply("first", answer.choice)
        words = preference(shown[0], shown[1], reply, person.study.wording, family, moved=answer.moved)
        lines.append(
            f"{number}. {words.preferred}" + (f", rather than {words.rather_than}" if words.rather_than else "")
        )
    return "\n".join(lines) + "\n"


_COLUMNS = (
    *("study", "procedure", "answers_by", "person", "noise", "seed", "number", "answers", "otherwise"),
    *("range_factor", "covered", "seconds"),
)


def rows_csv(people: Sequence[SimulatedPerson]) -> str:
    """Return everybody's snapshots as CSV, with the settings in every row."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in people:
        settings = one.settings
        for look in one.snapshots:
            last = look is one.snapshots[-1]
            asked = (
                csv_cell(settings.study),
                settings.procedure,
                settings.answers if settings.steerable else "",
                settings.person,
                settings.noise,
                settings.seed,
            )
            found = one.number, look.answers, look.otherwise, look.range_factor
            writer.writerow((*asked, *found, *((one.run.covered, round(one.run.seconds, 3)) if last else ("", ""))))
    return buffer.getvalue()
