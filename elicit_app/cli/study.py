"""`elicit study`: making and listing studies, and what classifiers can be had on the sphere of one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_app.cli import experts, output
from elicit_app.cli.metric import require_new
from elicit_app.problem import Problem


def register(app: typer.Typer) -> None:
    """Add `study` with its commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Make, list, send and collect studies.",
    )
    group.command("new")(new)
    group.command("list")(show_list)
    group.command("radius")(radius)
    group.command("classifier")(classifier)
    experts.register(group)
    app.add_typer(group, name="study")


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make; it must not exist, or be empty.")],
    predictions: Annotated[
        list[Path],
        typer.Option(
            "--predictions",
            metavar="FILE [FILE ...]",
            help="Predictions of one model a file: CSV or Parquet with columns y_true and proba_<class>, "
            "or NPZ with arrays y_true, y_proba and optionally classes; or with columns true_<label> and "
            "pred_<label>; or with y_true, y_pred and context_<feature>.",
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
    noun: Annotated[
        str | None,
        typer.Option(metavar="ONE,MANY", help="Of several labels: what one is called, and many: mood,moods."),
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
    from elicit_app.study.amounts import is_of_amounts

    if is_of_amounts(predictions[0]):
        _new_of_amounts(folder, [*predictions, *(more or [])], name, labels, population, noun)
        return
    if noun is not None:
        raise typer.BadParameter("it is about files of several labels.", param_hint="--noun")
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


def _new_of_amounts(
    folder: Path, files: list[Path], name: str | None, labels: str | None, population: int | None, noun: str | None
) -> None:
    """Make a study of several labels, or of outcomes in contexts."""
    from elicit_app.study.making import create_amounts_study

    if labels is not None:
        raise typer.BadParameter("these files name their labels themselves.", param_hint="--labels")
    words = None if noun is None else [part.strip() for part in noun.split(",")]
    if words is not None and (len(words) != 2 or not all(words)):
        raise typer.BadParameter("two words with a comma were expected, such as mood,moods.", param_hint="--noun")
    made = create_amounts_study(
        folder, files, name=name, noun=None if words is None else (words[0], words[1]), population=population
    )
    print(f"Made the study “{made.title}” in {folder}: {made.description}.")
    print(f"Next: elicit ask {folder}")


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


def radius(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Bundled or synthetic name, folder, or predictions.")],
    model: Annotated[str | None, typer.Option(help="Of several models, this one; by default the first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with the centre.")] = False,
) -> None:
    """Print lambda, the radius of the largest sphere of feasible confusion matrices (the paper's algorithm 3)."""
    from elicit_app.experiments.feasible import feasible_sphere
    from elicit_app.study import open_study

    found = feasible_sphere(open_study(study), model)
    if as_json:
        output.print_json(found.as_json())
        return
    whose = found.study.title if found.model is None else f"{found.model}, {found.study.title}"
    print(f"{whose}: radius {found.sphere.radius:.6f} around every answer equally often.")
    for name, reach in zip(found.study.classes, found.sphere.reaches, strict=True):
        print(f"  errors of true class {name} can move by {reach.length:.6f} along their axis")


def classifier(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Bundled or synthetic name, folder, or predictions.")],
    matrix: Annotated[
        Path,
        typer.Argument(
            metavar="MATRIX",
            help="CSV of counts or rates: predicted classes in the first line, true classes in the first column.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="CSV: for each case the probability of answering each class.")
    ],
    model: Annotated[str | None, typer.Option(help="Of several models, this one; by default the first.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE where it exists.")] = False,
) -> None:
    """Write the randomised classifier that has a confusion matrix on the sphere, such as one that was asked about."""
    from elicit_app.experiments.feasible import feasible_sphere, shown_matrix, write_probabilities
    from elicit_app.study import open_study

    opened = open_study(study)
    shown = shown_matrix(matrix, opened)
    require_new(out, force)
    probabilities = feasible_sphere(opened, model).classifier(shown)
    write_probabilities(out, opened.classes, probabilities)
    print(f"Wrote {out}: {len(probabilities):,} cases in the order of the predictions.", file=sys.stderr)


def _split(labels: str) -> list[str]:
    """Return the labels of one line of CSV: a label with a comma in it stands in quotation marks."""
    import csv

    names = [name.strip() for name in next(csv.reader([labels]), [])]
    if len(names) < 2 or not all(names):
        raise Problem(f"--labels “{labels}” must name at least two classes, separated by commas.")
    return names
