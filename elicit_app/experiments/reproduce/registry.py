"""All experiments by name."""

from __future__ import annotations

from functools import cache

from elicit_app.experiments.reproduce import (
    binary,
    concern,
    concern_case,
    figure3,
    quadratic,
    relevance,
    tables,
    theory,
    user_study,
    worked,
)
from elicit_app.experiments.reproduce.shape import Experiment
from elicit_app.problem import WrongOption

_MODULES = (tables, figure3, theory, binary, quadratic, user_study, concern, concern_case, relevance, worked)


@cache
def experiments() -> dict[str, Experiment]:
    """Return every experiment by its name, in the order of the sources."""
    return {one.name: one for module in _MODULES for one in module.EXPERIMENTS}


def experiment_named(name: str) -> Experiment:
    """Return an experiment.

    Raises
    ------
    WrongOption
        There is none of that name.
    """
    if name not in experiments():
        raise WrongOption(f"There is no experiment {name}. There are {', '.join(experiments())}, and all.")
    return experiments()[name]
