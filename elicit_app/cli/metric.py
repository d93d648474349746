"""`elicit metric show|check|export|pool`: elicited metric files, read, compared and handed to other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elicit_app.cli.pool import pool
from elicit_app.cli.reading_metric import load_metric

if TYPE_CHECKING:
    from metrics import ElicitedMetric

_PAGES = ("html", "pdf", "markdown")
MetricFile = Annotated[Path, typer.Argument(metavar="METRIC", help="An elicited metric file (*.metric.json).")]


def register(app: typer.Typer) -> None:
    """Add `metric` with its commands."""
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Show, check, export and pool elicited metrics."
    )
    group.command()(show)
    group.command()(check)
    group.command()(export)
    group.command()(pool)
    app.add_typer(group, name="metric")


def show(metric: MetricFile) -> None:
    """Print a metric as a page: costs, class weights, release factors, and where they come from."""
    from metrics.exports import export as render

    page = str(render(load_metric(metric), "markdown"))
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        sys.stdout.write(page)


def check(metric: MetricFile) -> None:
    """Read a metric file and recompute its worked example; exit code 1 where it does not come out."""
    loaded = load_metric(metric)
    answers = f", {loaded.provenance.questions} answers" if loaded.provenance.questions else ""
    print(f"{metric} is in order: {len(loaded.classes)} classes, family {loaded.family}{answers}.")


def export(
    metric: MetricFile,
    predictions: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PREDICTIONS]...",
            help="For html, pdf and markdown: predictions of models, all of the same cases; the page then says what to "
            "do with them, as score does.",
        ),
    ] = None,
    format: Annotated[str | None, typer.Option(help="sklearn, weka, mlr3, csv, markdown, html or pdf.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Write a metric for another tool, or as a page or a report; the ending of --out can stand for --format."""
    from elicit_app.study.writing import require_new, write_whole
    from metrics.exports import FORMATS

    if format is None:
        endings = {ending.lower(): name for name, ending in FORMATS.items()}
        format = endings.get(out.suffix.lower(), "") if out else "sklearn"
    if format not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)} is needed.", param_hint="--format")
    if out is not None:
        require_new(out, force)
    if predictions and format not in _PAGES:
        raise typer.BadParameter(f"they go with --format {' or '.join(_PAGES)}.", param_hint="PREDICTIONS")
    content = _content(load_metric(metric), format, predictions or [])
    data = content.encode() if isinstance(content, str) else content
    if out is None:
        if format == "pdf" and sys.stdout.isatty():
            raise typer.BadParameter("a PDF needs a file to go to.", param_hint="--out")
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    write_whole(out, data)
    print(f"Wrote {out}.", file=sys.stderr)


def _content(metric: ElicitedMetric, format: str, predictions: list[Path]) -> str | bytes:
    if not predictions:
        from metrics.exports import export as render

        return render(metric, format)
    from elicit_app.cli.score import scores_from_files
    from elicit_app.session.report import render_report, report_page

    judgement = scores_from_files(metric, predictions).judgement
    return render_report(report_page(metric, judgement), metric, format)
