"""`elicit study pack`, `collect` and `report`: a study sent to experts elsewhere, and what they answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from elicit_app.cli import output
from elicit_app.cli.ask import NeverWorseOption, flag
from elicit_app.cli.metric import print_comparison, require_new
from elicit_app.problem import WrongOption

if TYPE_CHECKING:
    from elicit_app.registry import Setting
    from elicit_app.study.model import Study

StudyRef = Annotated[str, typer.Argument(metavar="STUDY", help="Bundled study, study folder or predictions file.")]
StudyFolder = Annotated[Path, typer.Argument(metavar="STUDY", help="A study folder.")]


def register(group: typer.Typer) -> None:
    """Add the commands to `study`."""
    group.command("pack")(pack)
    group.command("collect")(collect)
    group.command("report")(report)


def pack(
    study: StudyRef,
    out: Annotated[Path, typer.Argument(metavar="OUT.elicit", help="The file to send.")],
    purpose: Annotated[
        Literal["choose", "costs", "both"] | None,
        typer.Option(help="What the answers are for; where neither this nor the study says it, each expert does."),
    ] = None,
    family: Annotated[
        Literal["dlpm", "lpm"], typer.Option(help="dlpm: all wrong answers for the same truth are equally bad.")
    ] = "lpm",
    questions: Annotated[
        int | None, typer.Option(min=1, help="Ask this many informative questions instead of a sitting.")
    ] = None,
    never_worse: NeverWorseOption = None,
    round: Annotated[
        int,
        typer.Option(
            min=1, max=2, help="2: experts who have answered see where the others stand, unnamed, and answer again."
        ),
    ] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Write a study for experts elsewhere into one file: the words and what may be asked, without any case."""
    from elicit_app.session.experts.packing import packed, write_pack
    from elicit_app.session.experts.second_round import opinions_of
    from elicit_app.study import open_study

    require_new(out, force)
    opened = open_study(study)
    setting = _setting(opened, purpose or opened.purpose, family, questions, tuple(never_worse or ()))
    path = write_pack(packed(opened, setting, opinions_of(opened) if round == 2 else ()), out)
    others = ", and where the experts stand, without their names" if round == 2 else ""
    print(f"Wrote {path}: the words of “{opened.title}” and counts of decisions, no case{others}.")
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
    finished = finished_experts(sessions_of(sessions_folder(opened), opened.digests))
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
    from elicit_app.session.experts.comparing import compare_study
    from elicit_app.session.report import pooled_report, save_report
    from elicit_app.session.results.result import save_metric
    from elicit_app.study import open_study

    for path in (out, *([metric] if metric else [])):
        require_new(path, force)
    view = compare_study(open_study(study), trusted_only=trusted_only)
    print_comparison(output.console(), view)
    print(f"Report: {save_report(pooled_report(view), view.pooled, out)}")
    if metric is not None:
        print(f"Metric file: {save_metric(view.pooled, metric)}")
