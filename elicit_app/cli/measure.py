"""`elicit measure`: the published measures of files."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from elicit_app.cli import output
from elicit_app.cli.columns import (
    ColumnOptions,
    ColumnsOption,
    LogitsOption,
    PredictedOption,
    TruthOption,
    models_in,
    require_usual_columns,
)
from elicit_app.cli.output import AsJson, flag, require_picture
from elicit_app.cli.score import load_metric

if TYPE_CHECKING:
    from elicit_app.study.measuring import Measure, Measurement, Options
    from elicit_app.study.model import ColumnMap


def register(app: typer.Typer) -> None:
    """Add `measure`."""
    app.command(short_help="Compute a measure of files.")(measure)


def measure(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[MEASURE]", help="A measure of --list.", show_default=False)
    ] = None,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", help="Files of cases: CSV, Parquet or NPZ.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List all measures and the columns they need.")] = False,
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
        str | None, typer.Option(metavar="CLASS", help="The positive class; default the second of two.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Probability from which a case is called positive; default 0.5.")
    ] = None,
    bins: Annotated[int | None, typer.Option(min=1, help="Bins of a calibration curve; default 10.")] = None,
    level: Annotated[float | None, typer.Option(help="Share that intervals should cover; default 0.95.")] = None,
    distribution: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of scipy.stats; its parameters are columns: loc, scale, df ...")
    ] = None,
    top_k: Annotated[int | None, typer.Option("--top-k", min=1, metavar="K", help="MPCS: top classes used.")] = None,
    intervals: Annotated[int | None, typer.Option(min=2, metavar="T", help="MPCS: intervals; default 50.")] = None,
    true_concern: Annotated[
        Literal["sum", "count"] | None, typer.Option(help="MPCS: concern of the true class.")
    ] = None,
    release: Annotated[
        Literal["list", "graded"] | None, typer.Option(help="MPCS: the metric's release list, or graded factors.")
    ] = None,
    false_positive_penalty: Annotated[
        float | None, typer.Option(metavar="P", help="Penalty of a false label, in units of a correct one; default 1.")
    ] = None,
    false_negative_penalty: Annotated[
        float | None, typer.Option(metavar="P", help="Penalty of a missed label, in units of a correct one; default 1.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="Relevance: weight of the commonest outcome; default 2.")] = None,
    beta: Annotated[float | None, typer.Option(help="Relevance: weight of the actual outcome; default 1.")] = None,
    reference: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Relevance: data set for the frequencies of outcomes.")
    ] = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    predicted: PredictedOption = None,
    logits: LogitsOption = False,
    as_json: AsJson = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Plot to write: PNG, SVG or PDF.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the plot if it exists.")] = False,
) -> None:
    """Compute a measure of files, one row per file, or per model that the options about columns name."""
    from elicit_app.study.class_measures import measure_named
    from elicit_app.study.measuring import Options

    if show_list:
        _print_list(as_json)
        return
    if name is None or not files:
        raise typer.BadParameter("a measure and at least one file are needed; --list names the measures.")
    said = {one.name: context.params[one.name] for one in fields(Options)}
    options = Options(**said | {"metric": None if metric is None else load_metric(metric)})
    with output.wrong_options_as_usage_errors():
        chosen = measure_named(name)
        if plot is not None:
            require_picture(plot, force)
        stated = ColumnOptions(truth, tuple(columns or ()), tuple(predicted or ()), logits=logits)
        subjects = _subjects(chosen, files, stated)
        found = [chosen.of(one.file, options, one.columns) for one in subjects]
        output.print_notes(dict.fromkeys(note for one in found for note in one.notes))
        if plot is not None:
            _draw(chosen, subjects, options, plot)
    _print_json(chosen, subjects, found) if as_json else _print_table(chosen, subjects, found)


class _Subject(NamedTuple):
    """What is measured: a file, or one of several models in it."""

    file: Path
    columns: ColumnMap | None  # their meaning, if they do not have the usual names
    model: str  # what it is called in its file; empty if it is the only one

    def called(self, file: str) -> str:
        """Return its name, given that of its file."""
        return f"{file}, {self.model}" if self.model else file


def _subjects(chosen: Measure, files: list[Path], stated: ColumnOptions) -> list[_Subject]:
    """Return what is to be measured; the options say what the columns of files of classes mean."""
    from elicit_app.study.case_columns import CaseColumns
    from elicit_app.study.tables import PREDICTED, TRUTH

    if stated == ColumnOptions():
        for file in files:
            if chosen.is_of_classes and not CaseColumns(file).has(TRUTH, PREDICTED):
                require_usual_columns(file, known_classes=True)
        return [_Subject(file, None, "") for file in files]
    if not chosen.is_of_classes:
        stated.refuse(f"{chosen.name} is no measure of classes; its columns have the names that --list shows.")
    each, column_maps = models_in(files, stated, known_classes=True)
    return [
        _Subject(file, one, "" if one is None or each.count(file) == 1 else one.called)
        for file, one in zip(each, column_maps, strict=True)
    ]


def _print_json(chosen: Measure, subjects: list[_Subject], found: list[Measurement]) -> None:
    output.print_json(
        {
            "measure": chosen.name,
            "title": chosen.title,
            "better": chosen.better,
            "files": [
                {"file": str(one.file)}
                | ({"model": one.model} if one.model else {})
                | {"value": taken.value, "details": taken.details}
                for one, taken in zip(subjects, found, strict=True)
            ],
        }
    )


def _print_table(chosen: Measure, subjects: list[_Subject], found: list[Measurement]) -> None:
    console = output.console()
    console.print(f"{chosen.title} ({chosen.name}), {chosen.better} is better", style="bold")
    table = output.table(("File", "value"))
    for one, taken in zip(subjects, found, strict=True):
        table.add_row(one.called(str(one.file)), f"{taken.value:.6g}")
    console.print(table)
    for one, taken in zip(subjects, found, strict=True):
        details = ", ".join(f"{name.replace('_', ' ')} {_in_words(value)}" for name, value in taken.details.items())
        if details:
            console.print(f"{one.called(one.file.name)}: {details}.", soft_wrap=True)


def _in_words(value: object) -> str:
    """Return a detail on one line."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {_in_words(one)}" for name, one in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_in_words, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _draw(chosen: Measure, subjects: list[_Subject], options: Options, path: Path) -> None:
    """Draw the measure of all files side by side and write the picture atomically."""
    from matplotlib.figure import Figure

    from elicit_app.study.writing import write_picture

    figure = Figure(figsize=(6.4 * len(subjects), 4.8), layout="constrained")
    for axes, one in zip(figure.subplots(1, len(subjects), squeeze=False)[0], subjects, strict=True):
        chosen.draw_on(one.file, options, axes, one.columns)
        name, said = one.called(one.file.name), axes.get_title()
        axes.set_title(f"{name}: {said}" if said else name, parse_math=False)
    write_picture(figure, path, dpi=100)
    print(f"Wrote {path}.", file=sys.stderr)


def _print_list(as_json: bool) -> None:
    from elicit_app.study.class_measures import measures
    from elicit_app.study.measuring import COLUMNS

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
