"""`elicit simulate`, `elicit sweep` and `elicit reproduce`: simulated experts and published results."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from elicit_app.cli import output
from elicit_app.cli.output import (
    AsJson,
    ForceAll,
    Scheduler,
    flag,
    progress,
    require_all_new,
    require_new,
    require_picture,
)
from elicit_app.cli.study import AnyStudy, NeverWorseOption, OrderedOption
from metrics.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from elicit_app.experiments.reproduce.shape import Experiment, Options
    from elicit_app.experiments.simulated import Simulation
    from elicit_app.experiments.sweep import CombinationSummary


# Options that do not describe the procedure or the expert.
_OF_THE_COMMAND = frozenset({"study", "procedure", "runs", "jobs", "out", "transcript", "force", "as_json"})


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(short_help="Ask simulated experts with known metrics.")(simulate)
    app.command(short_help="Simulate every combination of settings.")(sweep)
    app.command(short_help="Reproduce a published result.")(reproduce)


def simulate(
    context: typer.Context,
    study: AnyStudy,
    procedure: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Procedure that chooses the questions: bayes, dlpm, lpm, dlfpm, lfpm, binary or quadratic.",
        ),
    ] = "bayes",
    family: Annotated[
        Literal["dlpm", "lpm", "dlfpm", "lfpm"] | None,
        typer.Option(
            help="For bayes: all wrong answers for a truth equally bad (dlpm), or not (lpm); dlfpm, lfpm: fractions."
        ),
    ] = None,
    space: Annotated[
        Literal["frontier", "sphere"] | None, typer.Option(help="Source of the matrices; bayes can use either.")
    ] = None,
    radius: Annotated[float | None, typer.Option(help="Radius of the sphere; default the largest.")] = None,
    confusions: Annotated[
        Literal["plugin", "counts"] | None,
        typer.Option(help="Matrices steering dlpm; agreement and regret are counted."),
    ] = None,
    ask: Annotated[
        Literal["all", "needed", "bisect"] | None,
        typer.Option(
            help="All questions of the published search, only those that can change its result, or one per "
            "halving (finer with as many, if experts do not err). Default needed; bisect for dlfpm and lfpm."
        ),
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Tolerance of a published search; default 0.01.")] = None,
    cycles: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Passes of lpm; default 2 with --ask all, else auto.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Read a claimed descent followed by an ascent as an ascent.")
    ] = False,
    votes: Annotated[int, typer.Option(min=1, help="How often to ask each question; the majority counts.")] = 1,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Questions of bayes (default 20); a cap for the others.")
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Let bayes stop before that number.")] = False,
    model: Annotated[str | None, typer.Option(help="Ask about this model only.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Simulated experts.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    weights: Annotated[
        str | None, typer.Option(metavar="W1,W2,...", help="True weights, normalised; default: random.")
    ] = None,
    truth: Annotated[Literal["iid", "structured"], typer.Option(help="How random weights of lpm are drawn.")] = "iid",
    ratio: Annotated[
        float | None,
        typer.Option(metavar="R", help="Stretch random weights so that the largest is R times the smallest."),
    ] = None,
    denominator: Annotated[
        str | None,
        typer.Option(
            metavar="Q1,Q2,...[,Q0]|random",
            help="The true metric is a fraction: the weights over these, plus a constant (1).",
        ),
    ] = None,
    psi: Annotated[
        str | None,
        typer.Option(metavar="gmean|hmean|qmean", help="For the family dlpm: a monotone function of the hits."),
    ] = None,
    person: Annotated[
        str,
        typer.Option(
            metavar="linear|concave:P|quadratic:P|minimax|threshold:T|f1", help="How the experts value results."
        ),
    ] = "linear",
    noise: Annotated[
        str, typer.Option(metavar="none|weights:S|flip:P|logit:A|bounded:E", help="How the experts err.")
    ] = "none",
    equal: Annotated[
        float | None,
        typer.Option(metavar="S", help="Log-normal error of equal points; default: the noise of the choices."),
    ] = None,
    rounding: Annotated[bool, typer.Option("--rounding", help="Equal points in steps of 1, 2, 3, 5, 10.")] = False,
    shrink: Annotated[float, typer.Option(metavar="P", help="Raise the ratios of equal points to this power.")] = 1.0,
    voters: Annotated[
        str | None, typer.Option(metavar="N:NOISE", help="Several experts answer together; the majority counts.")
    ] = None,
    strength: Annotated[bool, typer.Option("--strength", help="Let answers say slightly or clearly.")] = False,
    max_cells: Annotated[int | None, typer.Option(min=2, help="Most differing cells in a question of bayes.")] = None,
    worst_error: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="In every question of bayes each class has a lower error rate; default 0.5; 1 allows anything.",
        ),
    ] = None,
    answers: Annotated[
        Literal["choice", "equal", "mixed"] | None,
        typer.Option(help="What bayes asks for: sides, equal points, or both (the default)."),
    ] = None,
    never_worse: NeverWorseOption = None,
    ordered: OrderedOption = None,
    checks: Annotated[bool, typer.Option("--checks", help="Add repeats and check questions of bayes.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Parallel processes.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="METRIC", help="Write the elicited metric file (needs --runs 1).")
    ] = None,
    transcript: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every question and answer, one JSON object per line.")
    ] = None,
    force: ForceAll = False,
    as_json: AsJson = False,
) -> None:
    """Ask simulated experts whose true metric is known, and report how close the procedure came."""
    from elicit_app.experiments.simulated import check_has_costs
    from elicit_app.experiments.simulation import Experts, split_options
    from elicit_app.experiments.simulation import simulate as run
    from elicit_app.registry import setting_of
    from elicit_app.registry.entries import as_packed, read_stated
    from elicit_app.study.opening import open_study

    if out is not None and runs != 1:
        raise typer.BadParameter("one metric file holds one run: it needs --runs 1.", param_hint="--out")
    with output.wrong_options_as_usage_errors():
        opened = open_study(study)
        about_asking, about_experts = split_options(
            {name: value for name, value in context.params.items() if name not in _OF_THE_COMMAND}
            | {
                "cycles": _cycles(cycles),
                "weights": None if weights is None else output.numbers(weights, "--weights"),
                "denominator": denominator
                if denominator in (None, "random")
                else output.numbers(denominator, "--denominator"),
            }
            | read_stated(never_worse or (), ordered, opened.classes)
        )
        setting = as_packed(opened, setting_of(procedure, **about_asking))
        if out is not None:
            output.require_metric_name(out)
            check_has_costs(setting)
        require_all_new((out, transcript), force)
        experts = Experts.stated(**about_experts)
        with output.progress("Simulating", runs) as advance:
            found = run(opened, setting, experts, runs=runs, jobs=jobs, advance=advance)
    _write(found, out, transcript)  # first, because the reader of the tables may stop, as `head` does
    output.print_json(found.as_json()) if as_json else _print_tables(found)


def _write(found: Simulation, metric: Path | None, transcript: Path | None) -> None:
    from elicit_app.experiments.simulated import metric_of, transcript_line
    from elicit_app.session.result import save_metric
    from elicit_app.study.writing import json_lines, write_whole

    if transcript is not None:
        lines = (transcript_line(n, asked) for n, one in enumerate(found.runs) for asked in one.asked)
        transcript.parent.mkdir(parents=True, exist_ok=True)
        write_whole(transcript, json_lines(lines))
        print(f"Wrote {transcript}.", file=sys.stderr)
    if metric is not None:
        save_metric(metric_of(found), metric)
        print(f"Wrote {metric}.", file=sys.stderr)


def _cycles(text: str | None) -> int | Literal["auto"] | None:
    if text is None or text == "auto":
        return "auto" if text else None
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r}: a number or auto was expected.", param_hint="--cycles") from None


def _print_tables(found: Simulation) -> None:
    """Print the weights of a single run, or a summary of the measures over many."""
    from elicit_app.cli.result_text import say_left_out

    console = output.console()
    console.print(_weights(found) if len(found.runs) == 1 else _summary(found))
    if len(found.runs) == 1:
        run = found.runs[0]
        say_left_out(console, len(run.true_weights), "the gravest", "--json")
        console.print(
            f"{counted(run.questions, 'question')}, stopped: {run.stopped}{_stopped_words(run.stopped)}. "
            f"Largest error {run.error_linf:.4f}, "
            f"agreement {run.agreement:.3f}, regret {run.regret:.4f}."
        )
        for note in run.outcome.notes:
            console.print(note)


def _stopped_words(reason: str) -> str:
    """Return the number behind a reason to stop, if it has one."""
    from elicit_app.elicitation.agenda import BEST_PROBABILITY, KNOWN_FACTOR

    words = {
        "known": f" (every weight within a factor of {KNOWN_FACTOR:g}, compared with the largest)",
        "best-model": f" (the choice settled with a probability of at least {100 * BEST_PROBABILITY:g} %)",
    }
    return words.get(reason, "")


def _table(heads: Sequence[str], *, left: Sequence[str] = (), title: str = "", caption: str = "") -> Table:
    """Return a table with lines; the first column and those headed `left` are left-aligned."""
    from rich.box import SIMPLE
    from rich.table import Table

    framed = Table(box=SIMPLE, title=title or None, caption=caption or None)
    for at, head in enumerate(heads):
        framed.add_column(head, justify="left" if not at or head in left else "right")
    return framed


def _weights(found: Simulation) -> Table:
    from metrics.elicited.exchange import PLAUSIBLE
    from metrics.elicited.family import linear_family
    from metrics.exports.page import MOST_LISTED

    run, classes = found.runs[0], found.study.classes
    # A belief has a range for every weight; a search reports the weights that it could only bound.
    ranges, heading = (run.bounded, "only bounded")
    if run.intervals is not None:
        ranges, heading = run.intervals, PLAUSIBLE.head
    hits = not linear_family(found.setting.family).distinguishes_errors
    heads = ("class" if hits else "true → predicted", "true weight", "elicited", heading)
    table = _table(heads, title=f"{found.study.title}: {found.setting.procedure}, rows are true classes")
    names = classes if hits else [f"{one} → {other}" for one in classes for other in classes if one != other]
    rows = [*zip(names, run.true_weights, run.elicited_weights, ranges, strict=True)]
    if len(rows) > MOST_LISTED:
        rows = sorted(rows, key=lambda row: -abs(row[1]))[:MOST_LISTED]
    for name, true, elicited, ends in rows:
        limits = "" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"
        table.add_row(name, f"{true:.4f}", f"{elicited:.4f}", limits)
    return table


def _summary(found: Simulation) -> Table:
    title = f"{found.study.title}: {found.setting.procedure}, {len(found.runs):,} simulated experts"
    kinds = ("mean", "median", "least", "most")
    table = _table(("measure", *kinds), title=title, caption=_why(found.summary))
    for measure in found.measures:
        values = found.summary[measure]
        assert isinstance(values, dict)
        table.add_row(measure.replace("_", " "), *(f"{values[kind]:.4g}" for kind in kinds))
    return table


def _why(summary: dict[str, object]) -> str:
    stopped = summary["stopped"]
    assert isinstance(stopped, dict)
    reasons = ", ".join(f"{reason} {count}" for reason, count in stopped.items())
    return f"stopped: {reasons}; with a weight that is only bounded: {summary['bounded']}"


def sweep(
    specification: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml",
            help="Options of simulate by name (study, procedure, noise, questions, ...); each value of a list is run.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="RUNS.parquet", help="The table: one row per run.")],
    jobs: Annotated[int | None, typer.Option(min=1, help="Parallel processes; by default one per processor.")] = None,
    engine: Annotated[Literal["local", "dask"], typer.Option(help="dask: run on the workers of a cluster.")] = "local",
    scheduler: Scheduler = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot error and range against questions (png, svg or pdf).")
    ] = None,
    force: ForceAll = False,
) -> None:
    """Run every combination that a specification states; the same command goes on after an interruption."""
    import os

    from elicit_app.experiments.sweep import plot_summaries, read_sweep, run_sweep, summarise, unfinished
    from elicit_app.study.writing import write_picture

    if scheduler is not None and engine != "dask":
        raise typer.BadParameter("it requires --engine dask.", param_hint="--scheduler")
    if plot is not None:
        require_picture(plot, force)
    if out.suffix.lower() != ".parquet":
        raise typer.BadParameter(f"{out}: a name that ends in .parquet was expected.", param_hint="--out")
    stated = read_sweep(specification)
    require_new(out, force or unfinished(out).exists())
    done = 0
    with output.progress("Simulating", stated.n_runs) as advance:

        def count(more: int) -> None:
            nonlocal done
            done += more
            advance(more)

        try:
            rows = run_sweep(
                stated, out, jobs=jobs or os.cpu_count() or 1, engine=engine, scheduler=scheduler, advance=count
            )
        except KeyboardInterrupt:
            print(f"Stopped after {done:,} of {stated.n_runs:,} runs; the same command resumes.", file=sys.stderr)
            raise
    found = summarise(stated, rows)
    of = f"{counted(len(rows), 'run')} of {counted(len(found), 'combination')}"
    print(f"Wrote {out}: {of}.", file=sys.stderr)
    if plot is not None:
        write_picture(plot_summaries(found), plot)
        print(f"Wrote {plot}.", file=sys.stderr)
    _print_combinations(found)


def _print_combinations(found: list[CombinationSummary]) -> None:
    from elicit_app.experiments.sweep import MEASURES

    shown = [name for name in MEASURES if any(name in one.means for one in found)]
    heads = ("combination", "runs", *(MEASURES[name] for name in shown))
    table = _table(heads, caption="means over runs ± standard errors")
    for one in found:
        table.add_row(one.label, f"{one.runs:,}", *(_mean(one, name) for name in shown))
    output.console().print(table)


def _mean(one: CombinationSummary, name: str) -> str:
    if name not in one.means:
        return ""
    mean, error = one.means[name], one.errors[name]
    return f"{mean:.4g}" if math.isnan(error) else f"{mean:.4g} ± {error:.2g}"  # one run has no standard error


_EVERYTHING = "all"


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="An experiment of --list, or all.", show_default=False)
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List all experiments and their sources.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: minutes for all, with wider errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The record instead of a table.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for records (JSON) and plots (PNG).")] = Path(
        "reproduced"
    ),
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of data files; without it they are downloaded once.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With all: write a Markdown page of all records.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Parallel processes; the result does not depend on them.")] = 1,
) -> None:
    """Recompute a published table or figure, and print the published numbers beside ours.

    After an interruption the same command resumes.
    """
    from elicit_app.problem import Problem, WrongOption

    if find_spec("elicit_app.experiments.reproduce") is None:  # see tools/bundle/elicit.spec
        raise Problem("The stand-alone program does not compute published results: install elicit with pip.")
    from elicit_app.experiments.reproduce.running import discard_parts, experiment_named, experiments
    from elicit_app.experiments.reproduce.shape import Options

    if show_list:
        _print_experiments(as_json)
        return
    if name is None:
        raise typer.BadParameter("name an experiment, or use --list to see them.", param_hint="NAME")
    if page is not None and name != _EVERYTHING:
        raise typer.BadParameter("the page covers all records: it requires the name all.", param_hint="--page")
    options = Options(quick=quick, seed=seed, data=data)
    try:
        wanted = [*experiments().values()] if name == _EVERYTHING else [experiment_named(name)]
    except WrongOption as problem:
        raise typer.BadParameter(problem.with_option_names(flag), param_hint="NAME") from problem
    records, not_run = [], list[str]()
    for record in _records(wanted, options, out, jobs, not_run):
        records.append(record)
        if not as_json:
            _print_record(record)
    if as_json:
        output.print_json(records if name == _EVERYTHING else records[0])
    print(f"Wrote records and plots to {out}.", file=sys.stderr)
    if page is not None:
        _write_page(out, page)
    discard_parts(wanted, out)
    if not_run:
        raise Problem(f"Not run: {', '.join(not_run)}; see the reasons above; everything else is written.")


def _records(
    wanted: list[Experiment], options: Options, out: Path, jobs: int, not_run: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the records; if one of several experiments lacks its data, name it and continue with the others."""
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


def _print_experiments(as_json: bool) -> None:
    from elicit_app.experiments.reproduce.running import experiments

    found = [{"name": one.name, "title": one.title, "source": one.source} for one in experiments().values()]
    if as_json:
        output.print_json(found)
        return
    width = max(len(one["name"]) for one in found)
    for one in found:
        print(f"{one['name']:{width}}  {one['title']} ({one['source']})")


def _print_record(record: dict[str, Any]) -> None:
    from elicit_app.experiments.reproduce.running import HEADINGS, cells

    table = _table(HEADINGS, left=("quantity", "cause"), title=f"{record['title']}: {record['source']}")
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
