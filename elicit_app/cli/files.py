"""`elicit metric` and `elicit session`: show, check, export and pool metrics; check, recover and report on sessions."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elicit_app.cli import output
from elicit_app.cli.columns import ColumnOptions, ColumnsOption, LogitsOption, ModelOption, PredictedOption, TruthOption
from elicit_app.cli.output import Commands, Force, TrustedOnly, quoted, repeated, require_new, study_meant
from elicit_app.cli.score import PracticeOption, PrevalenceOption, load_metric, read_metric, scores_from_files
from elicit_app.problem import Problem
from metrics.text import counted

if TYPE_CHECKING:
    from elicit_app.session.journal.recovery import SessionCheck

_PAGES = ("html", "pdf", "markdown")
MetricFile = Annotated[Path, typer.Argument(metavar="METRIC", help="An elicited metric file (*.metric.json).")]


def register_session(app: typer.Typer) -> None:
    """Add `session` with its commands."""
    group = Commands(no_args_is_help=True, rich_markup_mode=None, help="Check, recover and report on session files.")
    group.command("check", short_help="Check whether a session file is sound.")(check_session_file)
    group.command(short_help="Save what is left of a damaged session.")(recover)
    group.command(short_help="Write the report on a session.")(report)
    app.add_typer(group, name="session")


def register_metric(app: typer.Typer) -> None:
    """Add `metric` with its commands."""
    group = Commands(no_args_is_help=True, rich_markup_mode=None, help="Show, check, export and pool elicited metrics.")
    group.command(short_help="Print a metric as a page.")(show)
    group.command(short_help="Recompute a metric's worked example.")(check)
    group.command(short_help="Write a metric for other tools, or a report.")(export)
    group.command(short_help="Pool the metrics of several experts.")(pool)
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
    """Read a metric file and recompute its worked example; exit code 1 if it is wrong."""
    loaded, protected = read_metric(metric)
    answers = f", {counted(loaded.provenance.questions, 'answer')}" if loaded.provenance.questions else ""
    about = "classes" if loaded.kind == "confusion" else "amounts"
    print(f"{metric} is in order: {len(loaded.classes)} {about}, family {loaded.family}{answers}.")
    if not protected:
        print("It carries no digest, so a change would not be noticed.")


def export(
    metric: MetricFile,
    predictions: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PREDICTIONS...]",
            help="Predictions files, one per model, all of the same cases (CSV, Parquet or NPZ). With them html, pdf "
            "and markdown become a report on what to do with these models, as score gives it; without, a page about "
            "the metric. A study stands for its models. `elicit session report` adds every answer.",
        ),
    ] = None,
    format: Annotated[str | None, typer.Option(help="sklearn, weka, mlr3, csv, markdown, html or pdf.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default standard output.")] = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    model: ModelOption = None,
    predicted: PredictedOption = None,
    logits: LogitsOption = False,
    prevalence: PrevalenceOption = None,
    practice: PracticeOption = None,
    force: Force = False,
) -> None:
    """Write a metric for another tool, or as a page or a report; the ending of --out can stand for --format."""
    from elicit_app.session.report import report_page
    from elicit_app.study.writing import write_whole
    from metrics.elicited.kinds import WHAT_IS_PRICED
    from metrics.exports import FORMATS, rendered
    from metrics.exports import export as render

    if format is None:
        format = output.format_of(out) if out else "sklearn"
    if format not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)} is needed.", param_hint="--format")
    if out is not None:
        require_new(out, force)
    if predictions and format not in _PAGES:
        raise typer.BadParameter(f"they require --format {' or '.join(_PAGES)}.", param_hint="PREDICTIONS")
    options = ColumnOptions(truth, tuple(columns or ()), tuple(predicted or ()), logits=logits, model=model)
    if not predictions:
        options.refuse("it requires predictions.")
        if (prevalence, practice) != (None, None):
            raise typer.BadParameter("they require predictions.", param_hint="--prevalence, --practice")
    loaded = load_metric(metric)
    if predictions and loaded.kind != "confusion":
        reason = f"the report is about classes, the metric of kind {loaded.kind}: elicit score compares its models."
        raise typer.BadParameter(reason, param_hint="PREDICTIONS")
    if loaded.kind != "confusion" and format not in _PAGES:
        instead = f"Export {' or '.join(_PAGES)}, or use `elicit measure {loaded.kind} --metric`."
        raise Problem(f"{metric} prices {WHAT_IS_PRICED[loaded.kind]}, and {format} takes costs of classes. {instead}")
    if predictions:
        scores = scores_from_files(loaded, predictions, options, prevalence=prevalence, practice=practice)
        content = rendered(report_page(loaded, scores.judgement, metric_file=metric.name), format, loaded.created)
    else:
        content = render(loaded, format)
    data = content.encode() if isinstance(content, str) else content
    if out is None:
        if format == "pdf" and sys.stdout.isatty():
            raise typer.BadParameter("a PDF needs an output file.", param_hint="--out")
        if sys.stdout.isatty():
            print(data.decode(), end="")
        else:
            sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    write_whole(out, data)
    print(f"Wrote {out}.", file=sys.stderr)


def pool(
    metrics: Annotated[
        list[Path], typer.Argument(metavar="METRIC METRIC...", help="Metric files of two or more experts.")
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the pooled metric file.")] = None,
    name: Annotated[str | None, typer.Option(help="What the pooled metric is called.")] = None,
    trusted_only: TrustedOnly = False,
    force: Force = False,
) -> None:
    """Compare experts and pool their metrics in one belief; where one has no draws, by the geometric mean of ratios."""
    from elicit_app.cli.result_text import print_comparison
    from elicit_app.session.comparing import Expert, compare
    from elicit_app.session.pooling import Source, select_sources
    from elicit_app.session.pooling import pool as pooled_of
    from elicit_app.study.writing import write_whole

    if len(metrics) < 2:
        raise typer.BadParameter("at least two metric files are needed.", param_hint="METRIC")
    if out is not None:
        output.require_metric_name(out)
        require_new(out, force)
    for same in repeated(metrics).values():
        # Without answers, a second copy could not be distinguished from another expert's metric.
        raise Problem(f"{same[1]} is given twice: an expert counts once.")
    given = [Source(path.name, load_metric(path)) for path in metrics]
    sources, notes = select_sources(given, trusted_only=trusted_only)
    if len(sources) < 2 <= len(given):
        raise Problem(" ".join(["Fewer than two of these experts can be pooled.", *notes]))
    with output.progress("Pooling"):
        pooled = pooled_of(sources, name)
        experts = [Expert(source.who, source) for source in sources]
        view = compare(experts, pooled.name, pooled=pooled, notes=notes)
    if out is not None:
        write_whole(out, pooled.to_json())  # before anything is printed, whose reader may go away
    print_comparison(output.console(), view)
    if out is not None:
        print(f"Metric file: {out}")


SessionFile = Annotated[Path, typer.Argument(metavar="FILE", help="A session file (*.session.jsonl).")]


def check_session_file(
    file: SessionFile,
    metric: Annotated[
        Path | None, typer.Argument(metavar="[METRIC]", help="A metric file to check against these answers.")
    ] = None,
) -> None:
    """Check whether a session file is sound; exit code 1 if it is damaged or the metric is not made from it."""
    from elicit_app.session.journal.recovery import check_session

    found = check_session(file)
    if found.damage:
        kept = f" Its last backup is {found.backups[-1]}." if found.backups else ""
        raise Problem(
            f"{file} {found.damage}: {found.answers} of {counted(found.all_answers, 'answer')} can be read. "
            f"`elicit session recover {quoted(file)} --out NEW` saves them.{kept}"
        )
    lines = counted(found.lines, "line")
    print(f"{file} is sound: {counted(found.answers, 'answer')} in {lines}. {_protection(found)}")
    if found.unfinished:
        print("Its last line is incomplete; the answers before it are complete.")
    if metric is not None:
        _check_metric(file, metric)


def _protection(found: SessionCheck) -> str:
    if found.protected:
        return "Every line carries a running digest."
    return "It is not protected: it was begun by an earlier version, so a change would not be noticed."


def _check_metric(file: Path, metric: Path) -> None:
    from elicit_app.session.journal.files import read
    from elicit_app.session.journal.state import fold
    from elicit_app.session.result import answers_behind

    provenance = load_metric(metric).provenance
    stated = [provenance.answers_digest, *(one.get("answers_digest") for one in provenance.pooled)]
    digests = [digest for digest in stated if digest is not None]
    if not digests:
        raise Problem(f"{metric} does not say which answers it was made from, so nothing can be compared.")
    events = read(file).events
    behind = next((found for digest in digests if (found := answers_behind(digest, events)) is not None), None)
    if behind is None:
        raise Problem(f"{metric} was not made from the answers in {file}.")
    answers, now = len(fold(events[:behind]).entries), len(fold(events).entries)
    later = "" if answers == now else f", as they were after {counted(answers, 'answer')}"
    others = len(provenance.pooled) - 1
    among = f" and those of {counted(others, 'other expert')}" if others > 0 else ""
    print(f"{metric} was made from these answers{among}{later}.")


def recover(
    file: SessionFile, out: Annotated[Path, typer.Option(help="The new session file; it must not exist.")]
) -> None:
    """Save what can be saved of a damaged session into a new file; the damaged one is not changed."""
    from elicit_app.session.journal.recovery import recover_session

    saved = recover_session(file, out)
    print(f"{counted(saved.answers, 'answer')} saved in {saved.path}.")
    if saved.restored:
        print(f"{counted(saved.restored, 'line was', 'lines were')} damaged or out of place, and restored exactly.")
    if saved.gaps:
        print(f"{counted(saved.gaps, 'line was', 'lines were')} lost.")
    if saved.left_out:
        print(f"{counted(saved.left_out, 'line was', 'lines were')} left out: dependent on lost lines.")


def require_report_name(out: Path) -> None:
    """Check that the suffix of a file is one of a report's."""
    from elicit_app.session.report import FORMATS

    if out.suffix.lower() not in FORMATS:
        raise typer.BadParameter(f"{out} must end in {', '.join(FORMATS)}.", param_hint="--out")


@output.without_garbage_collection()
def report(
    file: SessionFile,
    out: Annotated[Path, typer.Option(help="The report: .pdf, .html or .md.")],
    study: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY", help="Its study, if the session is not in the study's folder.", callback=study_meant
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the report if it exists.")] = False,
) -> None:
    """Write the report on a session, as the window does: what to do and why, both doubts, and every answer in words."""
    from elicit_app.study import parquet

    parquet.start()  # most studies are in such files; the child is ready once the imports are done
    from elicit_app.session.report import report_of, save_report
    from elicit_app.session.result import result_view
    from elicit_app.session.session import Session
    from elicit_app.study import open_study

    require_report_name(out)
    require_new(out, force)
    with output.wrong_options_as_usage_errors():
        session = Session.open_read_only(file, None if study is None else open_study(study))
    with session:
        models = session.study.models
        # In parallel with the computation on the answers, which does not need it yet.
        threading.Thread(target=lambda: [model.calibration() for model in models], daemon=True).start()
        with output.progress("Computing the result"):
            view = result_view(session)
        save_report(report_of(session, view), view.metric, out)
    print(f"Wrote {out}.", file=sys.stderr)
