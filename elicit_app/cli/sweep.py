"""`elicit sweep`: many combinations of study, procedure and expert in one table, taken up again where it stopped."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from elicit_app.cli.metric import require_new, require_picture

if TYPE_CHECKING:
    from elicit_app.experiments.sweep_results import Found


def register(app: typer.Typer) -> None:
    """Add `sweep`."""
    app.command()(sweep)


def sweep(
    specification: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml",
            help="Options of simulate by name (study, procedure, noise, questions, ...); a list is run through.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="RUNS.parquet", help="The table: one row a run.")],
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes at once; by default one a processor.")] = None,
    engine: Annotated[Literal["local", "dask"], typer.Option(help="dask: workers of a cluster do the runs.")] = "local",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler; by default workers on this machine.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw error and range against questions (png, svg or pdf).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace RUNS.parquet where it exists.")] = False,
) -> None:
    """Run every combination that a specification states; the same command goes on after an interruption."""
    import os

    from elicit_app.cli.output import progress
    from elicit_app.experiments.sweep import read_sweep, run_sweep, unfinished
    from elicit_app.experiments.sweep_results import found_by, plot_found
    from elicit_app.study.writing import write_picture
    from metrics.display.numbers import counted

    if scheduler is not None and engine != "dask":
        raise typer.BadParameter("it goes with --engine dask.", param_hint="--scheduler")
    if plot is not None:
        require_picture(plot)
    stated = read_sweep(specification)
    require_new(out, force or unfinished(out).exists())
    done = 0
    with progress("Simulating", stated.n_runs) as advance:

        def count(more: int) -> None:
            nonlocal done
            done += more
            advance(more)

        try:
            rows = run_sweep(
                stated,
                out,
                jobs=jobs or os.cpu_count() or 1,
                engine=engine,
                scheduler=scheduler,
                advance=count,
            )
        except KeyboardInterrupt:
            print(f"Stopped after {done:,} of {stated.n_runs:,} runs; the same command goes on.", file=sys.stderr)
            raise
    found = found_by(stated, rows)
    _print_table(found)
    of = f"{counted(len(rows), 'run')} of {counted(len(found), 'combination')}"
    print(f"Wrote {out}: {of}.", file=sys.stderr)
    if plot is not None:
        write_picture(plot_found(found), plot)
        print(f"Wrote {plot}.", file=sys.stderr)


def _print_table(found: list[Found]) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from elicit_app.cli.output import console
    from elicit_app.experiments.sweep_results import MEASURES

    shown = [name for name in MEASURES if any(name in one.means for one in found)]
    table = Table(box=SIMPLE, caption="means over runs ± standard errors")
    table.add_column("combination")
    table.add_column("runs", justify="right")
    for name in shown:
        table.add_column(MEASURES[name], justify="right")
    for one in found:
        table.add_row(one.label, f"{one.runs:,}", *(_mean(one, name) for name in shown))
    console().print(table)


def _mean(one: Found, name: str) -> str:
    if name not in one.means:
        return ""
    mean, error = one.means[name], one.errors[name]
    return f"{mean:.4g}" if math.isnan(error) else f"{mean:.4g} ± {error:.2g}"  # one run has no standard error
