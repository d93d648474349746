"""`elicit reproduce`: published tables and figures computed anew, published beside ours."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elicit_app.cli import output
from elicit_app.cli.output import flag, progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elicit_app.experiments.reproduce.shape import Experiment, Options

_EVERYTHING = "all"


def register(app: typer.Typer) -> None:
    """Add `reproduce`."""
    app.command(short_help="Reproduce a published result.")(reproduce)


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An experiment of --list, or all.", show_default=False)
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Name all experiments and their sources.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: minutes for all, with wider errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The record instead of a table.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where records (JSON) and plots (PNG) are written.")] = Path(
        "reproduced"
    ),
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of data files; without it they are downloaded once.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With all: write a Markdown page of all records.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at once; the result does not depend on it.")] = 1,
) -> None:
    """Compute a published table or figure again, and print the published numbers beside ours.

    After an interruption the same command goes on where it was.
    """
    from elicit_app.problem import Problem, WrongOption

    if find_spec("elicit_app.experiments.reproduce") is None:  # see tools/bundle/elicit.spec
        raise Problem("Published results are not computed by the program without Python: install elicit with pip.")
    from elicit_app.experiments.reproduce.running import discard_parts, experiment_named, experiments
    from elicit_app.experiments.reproduce.shape import Options

    if show_list:
        _print_list(as_json)
        return
    if name is None:
        raise typer.BadParameter("name an experiment, or use --list to see them.", param_hint="NAME")
    if page is not None and name != _EVERYTHING:
        raise typer.BadParameter("a page is made of all records: it goes with the name all.", param_hint="--page")
    options = Options(quick=quick, seed=seed, data=data)
    try:
        wanted = [*experiments().values()] if name == _EVERYTHING else [experiment_named(name)]
    except WrongOption as problem:
        raise typer.BadParameter(problem.worded(flag), param_hint="NAME") from problem
    records, not_run = [], list[str]()
    for record in _records(wanted, options, out, jobs, not_run):
        records.append(record)
        if not as_json:
            _print_table(record)
    if as_json:
        output.print_json(records if name == _EVERYTHING else records[0])
    print(f"Wrote records and plots to {out}.", file=sys.stderr)
    if page is not None:
        _write_page(out, page)
    discard_parts(wanted, out)
    if not_run:
        raise Problem(f"Not run: {', '.join(not_run)}; the reasons stand above, and everything else is written.")


def _records(
    wanted: list[Experiment], options: Options, out: Path, jobs: int, not_run: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the records; where one of several experiments lacks its data it is named, and the others go on."""
    from elicit_app.experiments.reproduce.running import reproduce as compute
    from elicit_app.problem import Problem

    for experiment in wanted:
        total = len(experiment.parts(options))
        with progress(experiment.name, total) as advance:
            seen = 0

            def begun(done: int, total: int) -> None:
                nonlocal seen
                advance(done - seen)
                seen = done

            try:
                record = compute(experiment, options, out, jobs=jobs, begun=begun)
            except Problem as problem:
                if len(wanted) == 1:
                    raise
                print(f"elicit: {experiment.name}: {problem.sentence}", file=sys.stderr)
                not_run.append(experiment.name)
                continue
        yield record


def _print_list(as_json: bool) -> None:
    from elicit_app.experiments.reproduce.running import experiments

    found = [{"name": one.name, "title": one.title, "source": one.source} for one in experiments().values()]
    if as_json:
        output.print_json(found)
        return
    width = max(len(one["name"]) for one in found)
    for one in found:
        print(f"{one['name']:{width}}  {one['title']} ({one['source']})")


def _print_table(record: dict[str, Any]) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from elicit_app.experiments.reproduce.running import HEADINGS, cells

    table = Table(box=SIMPLE, title=f"{record['title']}: {record['source']}")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("quantity", "cause") else "right")
    for row in record["rows"]:
        table.add_row(*cells(row))
    console = output.console()
    console.print(table)
    for note in record["notes"]:
        console.print(note)


def _write_page(folder: Path, page: Path) -> None:
    from elicit_app.experiments.reproduce.running import page_text
    from elicit_app.study.writing import write_whole

    write_whole(page, page_text(folder, page))
    print(f"Wrote {page}.", file=sys.stderr)
