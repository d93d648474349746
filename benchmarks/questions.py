"""What people are asked, and what it teaches: plausibility of questions, number of differing mistakes, agreement.

    uv run python benchmarks/questions.py [--people N] [--questions N] [--study NAME ...] [--answers KIND ...]

Studies: bundled ones; two generated here (six classes that overlap with their neighbours; three classes, one of them
rare and mostly missed); and, if present, real predictions from the folder `../shared/data` beside the checkout (or
ELICIT_SHARED_DATA). Simulated people answer with weights whose log-ratios wobble by 0.6 at every answer of either kind,
and name round counts. Agreement is the share of random pairs of achievable matrices that the elicited metric orders as
the person would.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
from elicitation import REAL, opened

from elicit_app.elicitation.asking import Answers
from elicit_app.elicitation.oracles import Matching, run
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Asked, Purpose, Question
from elicit_app.elicitation.region import WORST_ERROR
from elicit_app.experiments.measures import JudgedPairs, ModelDecisions
from elicit_app.experiments.people import Noise
from elicit_app.experiments.truths import Metric, random_metric
from elicit_app.registry.entries import cases_of
from elicit_app.study import open_study
from elicit_app.study.model import Study
from metrics.elicited.family import error_cells

STUDIES = ("breast-cancer", "wine", "emotions", "news", "digits", "neighbours", "rare")
MADE = ("neighbours", "rare")


@dataclass(frozen=True)
class Sitting:
    """One simulated person's answers, and what was learned from them."""

    asked: list[Asked]
    outcome: Outcome
    agreement: float
    said: float
    covered: float
    range_factor: float
    seconds: float


def differing(question: Question) -> int:
    """Return the number of mistakes in which the two sides of a question differ."""
    apart = np.asarray(question.first) != np.asarray(question.second)
    return int((apart & error_cells(len(apart))).sum())


def made(name: str, folder: Path) -> Study:
    """Return a generated study with two models of different skill."""
    rng = np.random.default_rng(7)
    k, shares = (6, np.full(6, 1 / 6)) if name == "neighbours" else (3, np.array([0.05, 0.45, 0.5]))
    y_true = rng.choice(k, 4000, p=shares)
    near = np.abs(np.arange(k)[:, None] - np.arange(k)) if name == "neighbours" else 2 * (1 - np.eye(k))
    files = []
    for skill in (1.0, 1.6):
        scores = rng.standard_normal((len(y_true), k)) - skill * near[y_true] + np.log(shares)
        proba = np.exp(scores - scores.max(axis=1, keepdims=True))
        files.append(folder / f"{name}-{skill}.npz")
        np.savez(files[-1], y_true=y_true, y_proba=proba / proba.sum(axis=1, keepdims=True))
    return open_study(files[-1])


def study_of(name: str, folder: Path) -> Study | None:
    """Return a study by its name in this benchmark, or None if its predictions are not on this machine."""
    return made(name, folder) if name in MADE else opened(name, folder)


def sittings(
    study: Study,
    people: int,
    questions: int,
    seed: int,
    answers: Answers,
    noise: Noise,
    worst_error: float,
    checks: bool,
) -> Iterator[Sitting]:
    """Ask simulated people; person n is the same for every way of asking."""
    cases = [cases_of(study, model) for model in study.models]
    achievable = ModelDecisions(cases)
    for person in range(people):
        of_truth, of_pairs, of_answers = (np.random.default_rng([seed, person, n]) for n in range(3))
        truth = random_metric("lpm", cases[0].prevalence, of_truth)
        pairs = JudgedPairs.draw(truth, achievable, of_pairs)
        matching = Matching(0.6 if noise.kind != "none" else None, rounded=True)
        oracle = noise.oracle(truth, pairs, of_answers, matching=matching)
        procedure = Bayes(
            cases,
            family="lpm",
            seed=1000 * seed + person,
            population=study.population,
            questions=questions,
            max_cells=3 if worst_error < 1 else 4,
            checks=checks,
            answers=answers,
            worst_error=worst_error,
        )
        started = time.perf_counter()
        outcome, asked = run(procedure, oracle)
        seconds = time.perf_counter() - started
        agreement = pairs.agreement(Metric.elicited(outcome))
        said = procedure.belief(asked).agreement(procedure.asker.targets)
        yield Sitting(asked, outcome, agreement, said, *ranges(truth, outcome), seconds)


def ranges(truth: Metric, outcome: Outcome) -> tuple[float, float]:
    """Return the share of true log-ratios within their 90 % ranges, and the median of sqrt(high / low)."""
    assert outcome.samples is not None
    one, other = np.triu_indices(len(truth.weights), 1)
    logs, true = np.log(np.abs(outcome.samples)), np.log(np.abs(truth.weights))
    low, high = np.quantile(logs[:, one] - logs[:, other], [0.05, 0.95], axis=0)
    ratios = true[one] - true[other]
    return float(np.mean((low <= ratios) & (ratios <= high))), float(np.exp(np.median(high - low) / 2))


def right_on_both_sides(asked: Asked) -> bool:
    """Return whether every class is right more often than not in both results of a question."""
    sides = (asked.question.first, asked.question.second)
    return all((2 * side.diagonal() > side.sum(axis=1)).all() for side in sides)


def line(name: str, study: Study, answers: str, noise: str, found: Sequence[Sitting]) -> str:
    """Return the line of the table for sittings of one kind."""
    everything = [asked for sitting in found for asked in sitting.asked]
    new = [asked for asked in everything if asked.question.purpose is Purpose.INFORMATIVE]
    cells = [differing(asked.question) for asked in new]
    agreement = np.array([sitting.agreement for sitting in found])
    mean, error = agreement.mean(), agreement.std() / np.sqrt(max(len(found) - 1, 1))
    return (
        f"| {name} | {study.n_classes} | {answers} | {noise} | {len(found)} | {len(new) / len(found):.0f} "
        f"| {np.mean([right_on_both_sides(asked) for asked in everything]):.3f} "
        f"| {np.mean([asked.question.far for asked in new]):.2f} "
        f"| {np.mean([asked.question.hypothetical for asked in new]):.2f} "
        f"| {np.median(cells):.0f} / {max(cells)} | {np.mean([asked.answer.moved is not None for asked in new]):.2f} "
        f"| {mean:.3f} +- {error:.3f} | {np.mean([sitting.said for sitting in found]):.3f} "
        f"| {np.mean([sitting.covered for sitting in found]):.2f} "
        f"| {np.median([sitting.range_factor for sitting in found]):.2f} "
        f"| {np.mean([sitting.seconds for sitting in found]):.1f} |"
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--people", type=int, default=12)
    options.add_argument("--questions", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--study", nargs="+", default=STUDIES, choices=STUDIES + tuple(REAL))
    options.add_argument("--answers", nargs="+", default=["choice", "mixed"], choices=get_args(Answers))
    options.add_argument("--noise", default="weights:0.6")
    options.add_argument("--worst-error", type=float, default=WORST_ERROR)
    options.add_argument("--checks", action="store_true", help="ask repeats and checks on top")
    chosen = options.parse_args()
    print(
        "| study | classes | answers | noise | people | questions | classes right on both sides | far | hypothetical "
        "| mistakes that differ, median / most | equal points | agreement | said | covered | range factor | s |"
    )
    print("|" + "---|" * 16)
    with TemporaryDirectory() as folder:
        for name in chosen.study:
            study = study_of(name, Path(folder))
            if study is None:
                print(f"{name}: the shared predictions are not here", file=sys.stderr)
                continue
            for answers in chosen.answers:
                how = (chosen.people, chosen.questions, chosen.seed, answers, Noise.parse(chosen.noise))
                found = list(sittings(study, *how, chosen.worst_error, chosen.checks))
                print(line(name, study, answers, chosen.noise, found), flush=True)


if __name__ == "__main__":
    main()
