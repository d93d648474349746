"""`elicit metric show|check|export|pool`: elicited metric files, read, compared and handed to other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from elicit_app.cli.pool import pool
from elicit_app.cli.reading_metric import load_metric

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
    format: Annotated[str | None, typer.Option(help="sklearn, weka, mlr3, csv, markdown, html or pdf.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Write a metric for another tool or as a report; the ending of --out can stand for --format."""
    from elicit_app.study.writing import require_new, write_whole
    from metrics.exports import FORMATS
    from metrics.exports import export as render

    if format is None:
        endings = {ending.lower(): name for name, ending in FORMATS.items()}
        format = endings.get(out.suffix.lower(), "") if out else "sklearn"
    if format not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)} is needed.", param_hint="--format")
    if out is not None:
        require_new(out, force)
    content = render(load_metric(metric), format)
    data = content.encode() if isinstance(content, str) else content
    if out is None:
        if format == "pdf" and sys.stdout.isatty():
            raise typer.BadParameter("a PDF needs a file to go to.", param_hint="--out")
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    write_whole(out, data)
    print(f"Wrote {out}.", file=sys.stderr)
