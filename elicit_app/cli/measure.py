"""`elicit measure`: every measure of the sources, taken of files."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from elicit_app.cli import output
from elicit_app.cli.output import flag, require_picture

if TYPE_CHECKING:
    from elicit_app.study.measuring import Measure, Measurement, Options


def register(app: typer.Typer) -> None:
    """Add `measure`."""
    app.command(short_help="Take a measure of files.")(measure)


def measure(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="MEASURE", help="A measure of --list.", show_default=False)
    ] = None,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE ...", help="Files of cases: CSV, Parquet or NPZ.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Name all measures and the columns they need.")] = False,
    metric: Annotated[
        Path | None,
        typer.Option(metavar="METRIC", help="An elicited metric file: costs, class weights, factors, penalties."),
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Costs: a row per true class, a column per decision, both named.")
    ] = None,
    class_weight: Annotated[str | None, typer.Option(metavar="CLASS=NUMBER,...", help="Classes left out: 1.")] = None,
    prevalence: Annotated[
        str | None, typer.Option(metavar="CLASS=RATE,...", help="Judge at another prevalence of the true classes.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The positive class; of two the second.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Probability from which a case is called positive; 0.5.")
    ] = None,
    bins: Annotated[int | None, typer.Option(min=1, help="Bins of a calibration curve; 10.")] = None,
    level: Annotated[float | None, typer.Option(help="What share intervals should cover; 0.95.")] = None,
    distribution: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of scipy.stats; its parameters are columns: loc, scale, df ...")
    ] = None,
    top_k: Annotated[int | None, typer.Option("--top-k", min=1, metavar="K", help="MPCS: classes looked at.")] = None,
    intervals: Annotated[int | None, typer.Option(min=2, metavar="T", help="MPCS: confidence intervals; 50.")] = None,
    true_concern: Annotated[
        Literal["sum", "count"] | None, typer.Option(help="MPCS: concern of the true class.")
    ] = None,
    release: Annotated[
        Literal["list", "graded"] | None, typer.Option(help="MPCS: the metric's release list, or graded factors.")
    ] = None,
    false_positive_penalty: Annotated[
        float | None, typer.Option(metavar="P", help="Of a false label, in units of a correct one; 1.")
    ] = None,
    false_negative_penalty: Annotated[
        float | None, typer.Option(metavar="P", help="Of a missed label, in units of a correct one; 1.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Relevance: of the distance from the most frequent outcome; 2.")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="Relevance: of the distance from the actual outcome; 1.")] = None,
    reference: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Relevance: the data set that outcomes are frequent in.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: PNG, SVG or PDF.")] = None,
) -> None:
    """Take a measure of files, one row per file."""
    from elicit_app.cli.files import load_metric
    from elicit_app.study.measuring import Options, measure_named

    if show_list:
        _print_list(as_json)
        return
    if name is None or not files:
        raise typer.BadParameter("a measure and at least one file are needed; --list names the measures.")
    said = {one.name: context.params[one.name] for one in fields(Options)}
    options = Options(**said | {"metric": None if metric is None else load_metric(metric)})
    with output.refusing_wrong_options():
        chosen = measure_named(name)
        found = [chosen.of(file, options) for file in files]
        if plot is not None:
            _draw(chosen, files, options, plot)
    _print_json(chosen, files, found) if as_json else _print_table(chosen, files, found)


def _print_json(chosen: Measure, files: list[Path], found: list[Measurement]) -> None:
    output.print_json(
        {
            "measure": chosen.name,
            "title": chosen.title,
            "better": chosen.better,
            "files": [
                {"file": str(file), "value": taken.value, "details": taken.details}
                for file, taken in zip(files, found, strict=True)
            ],
        }
    )


def _print_table(chosen: Measure, files: list[Path], found: list[Measurement]) -> None:
    console = output.console()
    console.print(f"{chosen.title} ({chosen.name}), {chosen.better} is better", style="bold")
    table = output.table(("File", "value"))
    for file, taken in zip(files, found, strict=True):
        table.add_row(str(file), f"{taken.value:.6g}")
    console.print(table)
    for file, taken in zip(files, found, strict=True):
        details = ", ".join(f"{name.replace('_', ' ')} {_in_words(value)}" for name, value in taken.details.items())
        if details:
            console.print(f"{file.name}: {details}.", soft_wrap=True)


def _in_words(value: object) -> str:
    """Return a detail in one line."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {_in_words(one)}" for name, one in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_in_words, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _draw(chosen: Measure, files: list[Path], options: Options, path: Path) -> None:
    """Draw the measure of every file beside each other and write the picture, whole or not at all."""
    from matplotlib.figure import Figure

    from elicit_app.study.writing import write_picture

    require_picture(path)
    figure = Figure(figsize=(6.4 * len(files), 4.8), layout="constrained")
    for axes, file in zip(figure.subplots(1, len(files), squeeze=False)[0], files, strict=True):
        chosen.drawn(file, options, axes)
        said = axes.get_title()
        axes.set_title(f"{file.name}: {said}" if said else file.name, parse_math=False)
    write_picture(figure, path, dpi=100)
    print(f"Wrote {path}.", file=sys.stderr)


def _print_list(as_json: bool) -> None:
    from elicit_app.study.measuring import COLUMNS, measures

    if as_json:
        output.print_json(
            [
                {"name": one.name, "title": one.title, "columns": COLUMNS[one.needs], "options": [*one.options]}
                for one in measures().values()
            ]
        )
        return
    for needs, columns in COLUMNS.items():
        print(f"Of {needs} ({columns}):")
        for one in measures().values():
            if one.needs == needs:
                taken = ", ".join(map(flag, one.options))
                print(f"  {one.name:22}  {one.title}{f'; {taken}' if taken else ''}")
