"""`elicit study`: make studies, list them, send them to experts elsewhere, and collect what they answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from elicit_app.cli.ask import NeverWorseOption, flag
from elicit_app.problem import Problem, WrongOption

if TYPE_CHECKING:
    from elicit_app.registry import Setting
    from elicit_app.study.model import Study

StudyRef = Annotated[str, typer.Argument(metavar="STUDY", help="Bundled study, study folder or predictions file.")]
StudyFolder = Annotated[Path, typer.Argument(metavar="STUDY", help="A study folder.")]


def register(app: typer.Typer) -> None:
    """Add `study` with its commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Make studies from predictions; send them to experts elsewhere, collect and report their answers.",
    )
    group.command("new")(new)
    group.command("list")(show_list)
    group.command("pack")(pack)
    group.command("collect")(collect)
    group.command("report")(report)
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
) -> None:
    """Make a study folder from predictions files of one or several models of the same cases."""
    from elicit_app.study import create_study

    made = create_study(
        folder,
        [*predictions, *(more or [])],
        name=name,
        labels=None if labels is None else _split(labels),
        population=population,
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
        import json
        from dataclasses import asdict

        print(json.dumps([asdict(summary) for summary in summaries], ensure_ascii=False, indent=2, allow_nan=False))
        return
    width = max(len(summary.name) for summary in summaries)
    titles = max(len(summary.title) for summary in summaries)
    for kind, heading in (("bundled", "To answer questions about"), ("synthetic", "For simulations")):
        print(f"{heading}:")
        for summary in summaries:
            if summary.kind == kind:
                time = f", about {summary.minutes} min" if summary.minutes else ""
                print(f"  {summary.name:{width}}  {summary.title:{titles}}  {summary.description}{time}")


def pack(
    study: StudyRef,
    out: Annotated[Path, typer.Argument(metavar="OUT.elicit", help="The file to send.")],
    purpose: Annotated[
        Literal["choose", "costs", "both"] | None,
        typer.Option(help="What the answers are for; where not stated, each expert says it."),
    ] = None,
    family: Annotated[
        Literal["dlpm", "lpm"], typer.Option(help="dlpm: all wrong answers for the same truth are equally bad.")
    ] = "lpm",
    questions: Annotated[
        int | None, typer.Option(min=1, help="Ask this many informative questions instead of a sitting.")
    ] = None,
    never_worse: NeverWorseOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Write a study for experts elsewhere into one file: the words and what may be asked, without any case."""
    from elicit_app.cli.metric import require_new
    from elicit_app.session.experts.packing import packed, write_pack
    from elicit_app.study import open_study

    require_new(out, force)
    opened = open_study(study)
    setting = _setting(opened, purpose, family, questions, tuple(never_worse or ()))
    path = write_pack(packed(opened, setting), out)
    print(f"Wrote {path}: the words of “{opened.title}” and counts of decisions, no case.")
    print("Send it. Who gets it opens it with elicit (or: elicit ask), answers, and sends the saved answers back.")
    print(f"Then: elicit study collect {study} FILE...")


def _setting(
    study: Study,
    purpose: Literal["choose", "costs", "both"] | None,
    family: str,
    questions: int | None,
    never_worse: tuple[str, ...],
) -> Setting:
    from elicit_app.registry import setting_of
    from elicit_app.registry.entries import read_orders, stated_orders

    try:
        orders = read_orders(never_worse, study.classes)
        setting = setting_of("bayes", family=family, purpose=purpose, questions=questions, never_worse=orders)
        stated_orders(setting, study.classes)
    except WrongOption as wrong:
        raise typer.BadParameter(wrong.worded(flag)) from wrong
    return setting


def collect(
    study: StudyFolder,
    files: Annotated[list[Path], typer.Argument(metavar="FILE ...", help="What the experts saved and sent back.")],
) -> None:
    """Check the answers that experts sent back, and file them among the study's sessions."""
    from elicit_app.session.experts.packing import collect as file_answers
    from elicit_app.session.journal.listing import finished_experts, sessions_folder, sessions_of
    from elicit_app.study import open_study

    opened = open_study(study)
    for filed in file_answers(opened, files):
        print(f"{filed.source.name}: {filed.sentence}")
    finished = finished_experts(sessions_of(sessions_folder(opened), opened.digest))
    simulated = "simulated " if finished and finished[0].simulated else ""
    who = f"1 {simulated}expert has" if len(finished) == 1 else f"{len(finished)} {simulated}experts have"
    print(f"{who} finished “{opened.title}”.")
    if len(finished) > 1:
        print(f"Next: elicit study report {study} {opened.name}.pdf")


def report(
    study: StudyFolder,
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The report: .pdf, .html or .md.")],
    trusted_only: Annotated[
        bool, typer.Option("--trusted-only", help="Leave out whose answers do not hang together.")
    ] = False,
    metric: Annotated[Path | None, typer.Option(help="Where to write the pooled metric file too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Compare all experts who finished a study, pool them, and report what their costs say to do."""
    from rich.console import Console

    from elicit_app.cli.metric import print_comparison, require_new
    from elicit_app.session.experts.comparing import compare_study
    from elicit_app.session.report import pooled_report, save_report
    from elicit_app.session.results.result import save_metric
    from elicit_app.study import open_study

    for path in (out, *([metric] if metric else [])):
        require_new(path, force)
    view = compare_study(open_study(study), trusted_only=trusted_only)
    print_comparison(Console(markup=False, highlight=False, emoji=False), view)
    print(f"Report: {save_report(pooled_report(view), view.pooled, out)}")
    if metric is not None:
        print(f"Metric file: {save_metric(view.pooled, metric)}")


def _split(labels: str) -> list[str]:
    """Return the labels of one line of CSV: a label with a comma in it stands in quotation marks."""
    import csv

    names = [name.strip() for name in next(csv.reader([labels]), [])]
    if len(names) < 2 or not all(names):
        raise Problem(f"--labels “{labels}” must name at least two classes, separated by commas.")
    return names
