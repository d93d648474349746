"""`elicit metric show|check|export|pool`: elicited metric files, read, compared and handed to other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elicit_app.cli import output
from elicit_app.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

    from elicit_app.session.experts.comparing import ComparisonView
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
        from rich.markdown import Markdown

        output.console().print(Markdown(page, hyperlinks=False))
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
            help="Predictions files, one a model, all of the same cases (CSV, Parquet or NPZ). With them html, pdf and "
            "markdown become a report on what to do with these models, as score says it; without, a page about the "
            "metric. A study folder stands for its models. `elicit session report` adds every answer.",
        ),
    ] = None,
    format: Annotated[str | None, typer.Option(help="sklearn, weka, mlr3, csv, markdown, html or pdf.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Write a metric for another tool, or as a page or a report; the ending of --out can stand for --format."""
    from elicit_app.study.writing import write_whole
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
        if sys.stdout.isatty():
            print(data.decode(), end="")
        else:
            sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    write_whole(out, data)
    print(f"Wrote {out}.", file=sys.stderr)


def _content(metric: ElicitedMetric, format: str, predictions: list[Path]) -> str | bytes:
    from metrics.exports import export as render
    from metrics.exports import rendered

    if not predictions:
        return render(metric, format)
    from elicit_app.cli.score import scores_from_files
    from elicit_app.session.report import report_page

    judgement = scores_from_files(metric, predictions).judgement
    return rendered(report_page(metric, judgement), format, metric.created)


def require_new(path: Path, force: bool) -> None:
    """Refuse a file name that cannot be written, or that is taken, unless the user said that it may be replaced.

    Parameters
    ----------
    path : Path
        The file to be written; a device or a pipe is not taken.
    force : bool
        An existing file may be replaced; never one with an expert's answers (see `write_atomically`).

    Raises
    ------
    Problem
        It is a folder, lies in something that is none, or exists.
    """
    from elicit_app.study.writing import require_writable

    require_writable(path)
    if path.is_file() and not force:
        raise Problem(f"{path} exists already. Name another file, or say with --force that this one may be replaced.")


def require_picture(path: Path) -> None:
    """Refuse a file name that `--plot` cannot be written to, before anything is drawn.

    Raises
    ------
    typer.BadParameter
        Its ending names no kind of picture.
    Problem
        No file can get the name.
    """
    from elicit_app.study.writing import PICTURES, require_writable
    from metrics.display.text import series

    if path.suffix.lower() not in PICTURES:
        said = f"{path}: a name that ends in {series(PICTURES, 'or')} was expected."
        raise typer.BadParameter(said, param_hint="--plot")
    require_writable(path)


def load_metric(path: Path) -> ElicitedMetric:
    """Return the metric of a file that people named.

    Raises
    ------
    Problem
        The file is missing, damaged, of a newer version, or contradicts itself; said in one sentence.
    """
    from metrics import ElicitedMetric

    if path.is_dir():
        raise Problem(f"{path} is a folder: name an elicited metric file (*.metric.json).")
    try:
        return ElicitedMetric.load(path)
    except FileNotFoundError as error:
        raise Problem(f"There is no file {path}: name an elicited metric file (*.metric.json).") from error
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise Problem(str(error)) from error


def pool(
    metrics: Annotated[
        list[Path], typer.Argument(metavar="METRIC METRIC ...", help="Metric files of two or more experts.")
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the pooled metric file.")] = None,
    name: Annotated[str | None, typer.Option(help="What the pooled metric is called.")] = None,
    trusted_only: Annotated[
        bool, typer.Option("--trusted-only", help="Leave out whose answers do not hang together.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Compare experts and pool their metrics in one belief; where one has no draws, by the geometric mean of ratios."""
    from elicit_app.session.experts.comparing import Expert, compare
    from elicit_app.session.experts.pooling import Source, who_counts
    from elicit_app.session.experts.pooling import pool as pooled_of
    from elicit_app.study.writing import write_whole

    if len(metrics) < 2:
        raise typer.BadParameter("two metric files are needed at least.", param_hint="METRIC")
    if out is not None:
        require_new(out, force)
    given = [Source(path.name, load_metric(path)) for path in metrics]
    sources, notes = who_counts(given, trusted_only=trusted_only)
    if len(sources) < 2 <= len(given):
        raise Problem(" ".join(["Fewer than two of these experts can be pooled.", *notes]))
    pooled = pooled_of(sources, name)
    experts = [Expert(source.who, source) for source in sources]
    view = compare(experts, pooled.name, pooled=pooled, notes=notes)
    print_comparison(output.console(), view)
    if out is not None:
        write_whole(out, pooled.to_json())
        print(f"Metric file: {out}")


def print_comparison(console: Console, view: ComparisonView) -> None:
    """Print where experts disagree, every ratio of each of them, and what pooling means."""
    table = output.table(("Mistake", *view.names, "pooled"))
    for row in view.mistakes:
        cells = (*row.rates, row.pooled)
        said = ["1" for _ in cells] if row.is_yardstick else ["\n".join(filter(None, cell.columns())) for cell in cells]
        table.add_row(row.mistake.name, *said)
    _line(console, f"{view.headline}.", style="bold")
    _line(console, view.detail)
    _line(console, f"One of each counts as so many {view.yardstick.mistake.many}:")
    console.print(table)
    for line in (view.choice, view.agreement, view.how, view.made_of, *view.notes):
        if line:
            _line(console, line)


def _line(console: Console, text: str, style: str = "") -> None:
    # A terminal wraps between words; a file or a pipe gets whole lines.
    console.print(text, style=style, soft_wrap=not console.is_terminal)
