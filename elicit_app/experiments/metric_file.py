"""A simulated run as an elicited metric file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

import elicit_app
from elicit_app.experiments.simulated import Simulation
from elicit_app.problem import WrongOption
from elicit_app.session.results.judging import prevalence
from elicit_app.session.results.result import consequences
from elicit_app.study.writing import write_problem
from metrics import ElicitedMetric, Provenance, Quality
from metrics.elicited.family import family_of
from metrics.elicited.metric_parts import intervals_around


def check_has_costs(family: str) -> None:
    """Refuse a family that no cost matrix stands for.

    Raises
    ------
    WrongOption
        The family is linear-fractional.
    """
    if family not in ("dlpm", "lpm"):
        raise WrongOption(f"A metric of the family {family} is a fraction and has no cost matrix; leave `out` out.")


def save_metric(simulation: Simulation, path: Path) -> Path:
    """Write what the only run elicited, whole or not at all.

    Raises
    ------
    Problem
        The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        metric_of(simulation).save(path)
    except OSError as error:
        raise write_problem(path, error) from error
    return path


def metric_of(simulation: Simulation) -> ElicitedMetric:
    """Return what the only run elicited, with where it comes from."""
    study, setting, (run,) = simulation.study, simulation.setting, simulation.runs
    true, predicted = study.yardstick
    outcome = run.outcome
    return ElicitedMetric.from_weights(
        study.classes,
        outcome.weights,
        outcome.family,
        name=f"{study.title}, simulated expert",
        intervals=intervals_around(family_of(outcome.family).costs(outcome.weights), outcome.intervals),
        samples=outcome.samples,
        prevalence=prevalence(study),
        population=study.population,
        consequences=consequences(study, outcome.family == "dlpm"),
        yardstick=(study.classes[true], study.classes[predicted]),
        provenance=Provenance(
            procedure=setting.procedure,
            version=elicit_app.__version__,
            parameters=setting.model_dump(mode="json", exclude_none=True),
            seed=setting.seed,
            questions=run.questions,
            study_digest=study.digest.removeprefix("sha256:") or None,
            answers_digest=_digest(simulation),
            expert="simulated",
        ),
        quality=Quality(simulated=True),
    )


def _digest(simulation: Simulation) -> str:
    """Return the SHA-256 of the matrices asked about, as little-endian doubles, and the answers, in order."""
    digest = hashlib.sha256()
    for question, answer in simulation.runs[0].asked:
        digest.update(np.ascontiguousarray(question.rates, dtype="<f8").tobytes())
        digest.update(f"{answer.choice.value} {answer.strength and answer.strength.value}".encode())
    return digest.hexdigest()
