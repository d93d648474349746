"""`elicit study new` and `elicit study list`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_app.cli import output
from elicit_app.problem import Problem


def register(app: typer.Typer) -> None:
    """Add `study` with its two commands."""
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Make studies from predictions; list studies."
    )
    group.command("new")(new)
    group.command("list")(show_list)
    app.add_typer(group, name="study")


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make; it must not exist, or be empty.")],
    predictions: Annotated[
        list[Path],
        typer.Option(
            "--predictions",
            metavar="FILE [FILE ...]",
            help="Predictions of one model a file: CSV or Parquet with columns y_true and proba_<class>, "
            "or NPZ with arrays y_true, y_proba and optionally classes.",
        ),
    ],
    more: Annotated[list[Path] | None, typer.Argument(metavar="[FILE ...]", help="More predictions files.")] = None,
    name: Annotated[str | None, typer.Option(help="Title of the study; by default made from the folder.")] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Classes in the order to show them, with commas; names where the files number them 0..k-1."),
    ] = None,
    population: Annotated[
        int | None, typer.Option(help="Show results for this many cases; by default 1,000, more for rare classes.")
    ] = None,
    purpose: Annotated[
        Literal["choose", "costs", "both"] | None,
        typer.Option(
            help="What answers are for, preselected when they are given: choose between the models, write down what "
            "mistakes cost, or both."
        ),
    ] = None,
) -> None:
    """Make a study folder from predictions files of one or several models of the same cases."""
    from elicit_app.study import create_study

    made = create_study(
        folder,
        [*predictions, *(more or [])],
        name=name,
        labels=None if labels is None else _split(labels),
        population=population,
        purpose=purpose,
    )
    for note in made.notes:
        print(note, file=sys.stderr)
    print(f"Made the study “{made.title}” in {folder}: {made.description}, shown per {made.population:,} cases.")
    print(f"Next: elicit open {folder}")


def show_list(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list instead of a table.")] = False,
) -> None:
    """List the bundled and the synthetic studies."""
    from elicit_app.study import list_studies

    summaries = list_studies()
    if as_json:
        from dataclasses import asdict

        output.print_json([asdict(summary) for summary in summaries])
        return
    width = max(len(summary.name) for summary in summaries)
    titles = max(len(summary.title) for summary in summaries)
    for kind, heading in (("bundled", "To answer questions about"), ("synthetic", "For simulations")):
        print(f"{heading}:")
        for summary in summaries:
            if summary.kind == kind:
                time = f", about {summary.minutes} min" if summary.minutes else ""
                print(f"  {summary.name:{width}}  {summary.title:{titles}}  {summary.description}{time}")


def _split(labels: str) -> list[str]:
    """Return the labels of one line of CSV: a label with a comma in it stands in quotation marks."""
    import csv

    names = [name.strip() for name in next(csv.reader([labels]), [])]
    if len(names) < 2 or not all(names):
        raise Problem(f"--labels “{labels}” must name at least two classes, separated by commas.")
    return names
