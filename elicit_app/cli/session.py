"""`elicit session check|recover|report`: whether a session file is sound, what can be saved, and what it came to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elicit_app.cli.output import typed
from elicit_app.problem import Problem
from metrics.display.text import counted

if TYPE_CHECKING:
    from elicit_app.session.journal.recovery import SessionCheck

SessionFile = Annotated[Path, typer.Argument(metavar="FILE", help="A session file (*.session.jsonl).")]


def register(app: typer.Typer) -> None:
    """Add `session` with its commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Check and recover session files; report what they came to.",
    )
    group.command()(check)
    group.command()(recover)
    group.command()(report)
    app.add_typer(group, name="session")


def check(
    file: SessionFile,
    metric: Annotated[
        Path | None, typer.Argument(metavar="[METRIC]", help="A metric file that should come from these answers.")
    ] = None,
) -> None:
    """Say what is sound in a session file; exit code 1 where it is damaged or the metric is not made from it."""
    from elicit_app.session.journal.recovery import check_session

    found = check_session(file)
    if found.damage:
        kept = f" Its last backup is {found.backups[-1]}." if found.backups else ""
        raise Problem(
            f"{file} {found.damage}: {found.answers} of {counted(found.all_answers, 'answer')} can be read. "
            f"`elicit session recover {typed(file)} --out NEW` saves them.{kept}"
        )
    print(f"{file} is sound: {counted(found.answers, 'answer')} in {found.lines} lines. {_protection(found)}")
    if found.unfinished:
        print("Its last line was not completed; what was answered before it is complete.")
    if metric is not None:
        _check_metric(file, metric)


def _protection(found: SessionCheck) -> str:
    if found.protected:
        return "Every line carries a running digest."
    return "It is not protected: it was begun by an earlier version, so a change would not be noticed."


def _check_metric(file: Path, metric: Path) -> None:
    from elicit_app.cli.metric import load_metric
    from elicit_app.session.journal.reading import read
    from elicit_app.session.journal.state import fold
    from elicit_app.session.results.result import answers_behind

    digest = load_metric(metric).provenance.answers_digest
    if digest is None:
        raise Problem(f"{metric} does not say which answers it was made from, so nothing can be compared.")
    events = read(file).events
    behind = answers_behind(digest, events)
    if behind is None:
        raise Problem(f"{metric} was not made from the answers in {file}.")
    answers, now = len(fold(events[:behind]).entries), len(fold(events).entries)
    later = "" if answers == now else f", as they were after {counted(answers, 'answer')}"
    print(f"{metric} was made from these answers{later}.")


def recover(
    file: SessionFile,
    out: Annotated[Path, typer.Option(help="The new session file; it must not exist.")],
) -> None:
    """Save what can be saved of a damaged session into a new file; the damaged one stays as it is."""
    from elicit_app.session.journal.recovery import recover_session

    saved = recover_session(file, out)
    print(f"{counted(saved.answers, 'answer')} saved in {saved.path}.")
    if saved.restored:
        print(f"{_lines(saved.restored)} damaged or out of place, and put right exactly.")
    if saved.gaps:
        print(f"{_lines(saved.gaps)} lost.")
    if saved.left_out:
        print(f"{_lines(saved.left_out)} left out: about something that is lost.")


def require_report_name(out: Path) -> None:
    """Refuse a file whose ending is none that a report can have."""
    from elicit_app.session.report import FORMATS

    if out.suffix.lower() not in FORMATS:
        raise typer.BadParameter(f"{out} must end in {', '.join(FORMATS)}.", param_hint="--out")


def report(
    file: SessionFile,
    out: Annotated[Path, typer.Option(help="The report: .pdf, .html or .md.")],
    study: Annotated[
        str | None,
        typer.Option(metavar="STUDY", help="Its study, where the session does not lie in the folder of it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the report where it exists.")] = False,
) -> None:
    """Write the report on a session, as the window does: what to do and why, both doubts, and every answer in words."""
    from elicit_app.cli.metric import require_new
    from elicit_app.session.report import report_of, save_report
    from elicit_app.session.results.result import result_view
    from elicit_app.session.session import Session
    from elicit_app.study import open_study

    require_report_name(out)
    require_new(out, force)
    with Session.look(file, None if study is None else open_study(study)) as session:
        view = result_view(session)
        save_report(report_of(session, view), view.metric, out)
    print(f"Wrote {out}.", file=sys.stderr)


def _lines(number: int) -> str:
    return "1 line was" if number == 1 else f"{number} lines were"
