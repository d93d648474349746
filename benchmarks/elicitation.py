"""Questions and error of every procedure, noise-free and noisy, on synthetic and real predictions, in one table.

    uv run python benchmarks/elicitation.py [--only TEXT] [--runs N] [--jobs J] [--seed S]

`bayes` is asked with the same freedom as the searches: choices only, about anything achievable or imagined.
Real predictions are read from the folder `../shared/data` beside the checkout (or ELICIT_SHARED_DATA); without it their
rows are omitted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.choosing import Goal
from elicit_app.elicitation.pairs import PairSet
from elicit_app.elicitation.procedure import Procedure
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Matrix
from elicit_app.experiments.people import Noise
from elicit_app.experiments.simulated import Simulation
from elicit_app.experiments.simulation import Experts, Laboratory, simulate
from elicit_app.registry import setting_of
from elicit_app.study import open_study
from elicit_app.study.model import Study

ANY_CELLS = 1_000  # differing cells of a random pair
REAL = {"pneumonia": "pneumoniamnist_resnet50", "emotions": "iemocap_wav2vec_pt", "news": "agnews_gpt2"}


@dataclass(frozen=True)
class Row:
    """One line of the table: study, procedure and expert, and the measure reported."""

    study: str
    measure: str
    procedure: str = "bayes"
    noise: str = "none"
    runs: int = 60
    statistic: str = "median"
    asks: dict[str, object] = field(default_factory=dict)
    truth: str = "iid"
    votes: int = 1
    floor: str = ""

    @property
    def label(self) -> str:
        said = [f"{name}={value}" for name, value in self.asks.items() if value is not None]
        said += [f"votes={self.votes}"] * (self.votes > 1) + [f"truth={self.truth}"] * (self.truth != "iid")
        return f"{self.procedure} {' '.join(said)}".strip()


class AtRandom(Laboratory):
    """The belief of bayes with random questions: each is a random pair of achievable matrices."""

    def procedure(self, seed: int) -> Procedure:
        procedure = super().procedure(seed)
        assert isinstance(procedure, Bayes)
        procedure.asker.choose = first_of
        return procedure


def first_of(belief: Posterior, pairs: PairSet, goal: Goal, targets: Matrix, graded: bool) -> int:
    """Return the first candidate: they come in random order, achieved pairs before constructed ones."""
    return 0


def bayes(study: str, measure: str, questions: int, floor: str, **more: object) -> Row:
    own = {name: more.pop(name) for name in ("noise", "runs", "statistic", "truth") if name in more}
    return Row(study, measure, asks={"questions": questions, **more}, floor=floor, **own)  # type: ignore[arg-type]


def rows() -> list[Row]:
    """Return all lines."""
    table = [
        Row("paper-3", "error_l2", "lpm", asks={"ask": "all", "cycles": 2}),
        Row("paper-3", "error_l2", "lpm", asks={"ask": "needed", "cycles": 2}),
        bayes("paper-3", "error_l2", 20, "<= .04", space="sphere"),
        bayes("paper-3", "error_l2", 40, "<= .0035", space="sphere"),
        Row("paper-3", "error_l2", "lpm", "flip:0.1", asks={"ask": "all", "cycles": 2}),
        Row("paper-3", "error_l2", "lpm", "flip:0.1", asks={"ask": "all", "cycles": 2, "repair": True}),
        Row("paper-3", "error_l2", "lpm", "flip:0.1", asks={"ask": "all", "cycles": 2}, votes=3),
        bayes("paper-3", "error_l2", 40, "", noise="flip:0.1", space="sphere"),
        Row("paper-4", "error_l2", "lpm", asks={"ask": "all", "cycles": 2}),
        Row("paper-4", "error_l2", "lpm", asks={"ask": "needed", "cycles": 2}),
        bayes("paper-4", "error_l2", 60, "<= .018", space="sphere"),
    ]
    for study, few in (("softmax-3", 12), ("softmax-4", 17)):
        table += [
            Row(study, "error_linf", "dlpm", asks={"ask": "all"}),
            Row(study, "error_linf", "dlpm", asks={"ask": "needed"}),
            bayes(study, "error_linf", few, "<= .01", family="dlpm", runs=180),
        ]
        flips: dict[str, object] = {"noise": "flip:0.1", "statistic": "mean", "runs": 100}
        table += [
            Row(study, "error_linf", "dlpm", asks={"ask": "all"}, **flips),  # type: ignore[arg-type]
            Row(study, "error_linf", "dlpm", asks={"ask": "all", "repair": True}, **flips),  # type: ignore[arg-type]
            Row(study, "error_linf", "dlpm", asks={"ask": "all"}, votes=3, **flips),  # type: ignore[arg-type]
            bayes(study, "error_linf", 20, "<= .028" if study == "softmax-3" else "<= .04", family="dlpm", **flips),
        ]
        table += [bayes(study, "error_linf", 56, "<= .007", family="dlpm", **flips)] * (study == "softmax-3")
        at_random = Row(study, "error_linf", "random pairs", asks={"questions": 20, "family": "dlpm"})
        table += [at_random, replace(at_random, **flips)]  # type: ignore[arg-type]
    for study in ("pneumonia", "emotions", "news"):
        two = study == "pneumonia"
        table += [
            Row(study, "agreement", "lpm", asks={"ask": "all", "cycles": 2}, runs=30),
            Row(study, "agreement", "lpm", asks={"ask": "needed", "cycles": 2, "questions": 20}, runs=30),
            Row(study, "agreement", "dlpm", asks={"ask": "all"}, runs=30),
            bayes(study, "agreement", 20, "", family="dlpm", runs=30),
            bayes(study, "agreement", 20, ">= .998" if two else ">= .93"),
            bayes(study, "agreement", 20, ">= .97" if two else ">= .87", noise="logit:0.8"),
            Row(study, "agreement", "lpm", "logit:0.8", asks={"ask": "all", "cycles": 2}, runs=30),
            Row(study, "agreement", "random pairs", asks={"questions": 20, "max_cells": ANY_CELLS}),
            Row(study, "agreement", "random pairs", "logit:0.8", asks={"questions": 20, "max_cells": ANY_CELLS}),
        ]
        if not two:
            table += [
                bayes(study, "agreement", 20, ">= .89", noise="logit:0.8", strength=True),
                bayes(study, "agreement", 20, ">= .91", max_cells=4),
                bayes(study, "agreement", 20, ">= .85", noise="logit:0.8", max_cells=4),
                bayes(study, "agreement", 20, "", noise="flip:0.1"),
            ]
    for questions, iid, structured in ((60, ">= .80", ">= .84"), (100, ">= .86", ">= .89")):
        table.append(bayes("digits", "agreement", questions, iid, runs=30))
        table.append(bayes("digits", "agreement", questions, structured, runs=30, truth="structured"))
    return table


def opened(name: str, folder: Path) -> Study | None:
    """Return a study by its name in this benchmark, or None if the real predictions are not on this machine."""
    if name not in REAL:
        return open_study(name)
    here = Path(__file__).resolve().parents[1]
    source = Path(os.environ.get("ELICIT_SHARED_DATA", here.parent / "shared" / "data")) / REAL[name]
    if not source.is_dir():
        return None
    scores = np.load(source / "scores.npy").astype(np.float64)
    proba = np.exp(scores - scores.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    path = folder / f"{name}.npz"
    np.savez(path, y_true=np.load(source / "targets.npy").astype(np.int64), y_proba=proba)
    return open_study(path)


def measured(row: Row, study: Study, seed: int, jobs: int) -> Simulation:
    name = "bayes" if row.procedure == "random pairs" else row.procedure
    asks = dict(row.asks)
    if name == "bayes" and asks.get("space") != "sphere":
        # As in the published searches, answers are choices and anything may be asked about.
        asks = {"worst_error": 1.0, "answers": "choice"} | asks
    setting = setting_of(name, seed=seed, **asks)
    strength = bool(row.asks.get("strength"))
    experts = Experts(noise=Noise.parse(row.noise), truth=row.truth, votes=row.votes, strength=strength)  # type: ignore[arg-type]
    if name != row.procedure:
        laboratory = AtRandom(study, setting, experts)
        return Simulation(study, setting, tuple(laboratory.run(number) for number in range(row.runs)))
    return simulate(study, setting, experts, runs=row.runs, jobs=jobs)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", action="append", default=[], help="print only lines that contain this text")
    options.add_argument("--runs", type=int, help="runs of every line")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    print("| study | procedure | noise | questions | measure | value (mean; 10 % to 90 %) | floor | runs | s a run |")
    print("|---|---|---|---|---|---|---|---|---|")
    statistics: dict[str, Callable[[np.ndarray], float]] = {"median": np.median, "mean": np.mean}
    with TemporaryDirectory() as folder:
        for row in rows():
            text = f"{row.study} {row.label} {row.noise} {row.measure}"
            if not all(only in text for only in chosen.only):
                continue
            study = opened(row.study, Path(folder))
            if study is None:
                print(f"{row.study}: the shared predictions are not here", file=sys.stderr)
                continue
            row = row if chosen.runs is None else replace(row, runs=chosen.runs)
            found = measured(row, study, chosen.seed, chosen.jobs)
            values = found.values(row.measure)
            value, low, high = statistics[row.statistic](values), *np.quantile(values, [0.1, 0.9])
            seconds = float(np.mean([run.seconds for run in found.runs]))
            asked = found.values("questions").mean()
            print(
                f"| {row.study} | {row.label} | {row.noise} | {asked:.0f} | {row.statistic} {row.measure} "
                f"| **{value:.4f}** ({values.mean():.4f}; {low:.4f} to {high:.4f}) | {row.floor} | {row.runs} "
                f"| {seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
