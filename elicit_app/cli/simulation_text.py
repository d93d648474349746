"""What `elicit simulate` prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from elicit_app.experiments.simulated import Simulation


def print_json(found: Simulation) -> None:
    """Print one JSON object."""
    import json

    print(json.dumps(found.as_json(), ensure_ascii=False, indent=2, allow_nan=False))


def print_tables(found: Simulation) -> None:
    """Print the weights of a single run, or how the measures of many are spread."""
    from rich.console import Console

    # What goes into a file or a pipe is not cut to the width of a terminal.
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(_weights(found) if len(found.runs) == 1 else _summary(found))
    if len(found.runs) == 1:
        run = found.runs[0]
        console.print(
            f"{run.questions} questions, stopped: {run.stopped}{_stopped_words(run.stopped)}. "
            f"Largest error {run.error_linf:.4f}, "
            f"agreement {run.agreement:.3f}, regret {run.regret:.4f}.",
            highlight=False,
        )
        for note in run.outcome.notes:
            console.print(note, highlight=False)


def _stopped_words(reason: str) -> str:
    """Return what a reason to stop says, where its name leaves a number open."""
    from elicit_app.elicitation.stopping import BEST_PROBABILITY, KNOWN_FACTOR

    said = {
        "known": f" (every weight within a factor of {KNOWN_FACTOR:g}, compared with the largest)",
        "best-model": f" (the best model decided with a probability of at least {100 * BEST_PROBABILITY:g} %)",
    }
    return said.get(reason, "")


def _weights(found: Simulation) -> Table:
    from rich.box import SIMPLE
    from rich.table import Table

    run, classes = found.runs[0], found.study.classes
    # A belief has a range for every weight; a search says which weights it could only bound.
    ranges, told = (run.bounded, "only bounded") if run.intervals is None else (run.intervals, "plausible (90 %)")
    table = Table(box=SIMPLE, title=f"{found.study.title}: {found.setting.procedure}, rows are true classes")
    hits = found.setting.family in ("dlpm", "dlfpm")
    for heading in ("class" if hits else "true → predicted", "true weight", "elicited", told):
        table.add_column(heading, justify="left" if table.columns == [] else "right")
    names = classes if hits else [f"{one} → {other}" for one in classes for other in classes if one != other]
    for name, true, elicited, ends in zip(names, run.true_weights, run.elicited_weights, ranges, strict=True):
        limits = "" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"
        table.add_row(name, f"{true:.4f}", f"{elicited:.4f}", limits)
    return table


def _summary(found: Simulation) -> Table:
    import numpy as np
    from rich.box import SIMPLE
    from rich.table import Table

    from elicit_app.experiments.simulated import MEASURES

    table = Table(
        box=SIMPLE,
        title=f"{found.study.title}: {found.setting.procedure}, {len(found.runs):,} simulated experts",
        caption=_why(found.summary),
    )
    table.add_column("measure")
    for heading in ("mean", "median", "least", "most"):
        table.add_column(heading, justify="right")
    for measure in MEASURES:
        values = found.values(measure)
        cells = (values.mean(), np.median(values), values.min(), values.max())
        table.add_row(measure.replace("_", " "), *(f"{value:.4g}" for value in cells))
    return table


def _why(summary: dict[str, object]) -> str:
    stopped = summary["stopped"]
    assert isinstance(stopped, dict)
    reasons = ", ".join(f"{reason} {count}" for reason, count in stopped.items())
    return f"stopped: {reasons}; with a weight that is only bounded: {summary['bounded']}"
