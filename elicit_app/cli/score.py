"""`elicit score`: models ranked by an elicited metric."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from elicit_app.study.scoring import ModelScore, Tally
    from metrics import ElicitedMetric

_FIELDS = (
    "name",
    "cost_per_population",
    "misclassification_cost",
    "expected_misclassification_cost",
    "decided_cost",
    "mpcs",
    "accuracy",
    "balanced_error_rate",
    "rank",
    "probability_best",
)


def register(app: typer.Typer) -> None:
    """Add `score`."""
    app.command()(score)


def score(
    metric: Annotated[Path, typer.Argument(metavar="METRIC", help="An elicited metric file (*.metric.json).")],
    predictions: Annotated[
        list[Path], typer.Argument(metavar="PREDICTIONS", help="One predictions file a model, all of the same cases.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
    engine: Annotated[
        Literal["local", "dask"],
        typer.Option(help="dask: on several processes or machines; a model may then be a folder of Parquet files."),
    ] = "local",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler; by default workers on this machine.")
    ] = None,
) -> None:
    """Judge models by what their mistakes cost; files may be larger than memory."""
    from elicit_app.cli.reading_metric import load_metric
    from elicit_app.study.making import distinct_names
    from elicit_app.study.reading import numbering_notes, rescaling_notes
    from elicit_app.study.scoring import ranked

    if scheduler is not None and engine != "dask":
        raise typer.BadParameter("it goes with --engine dask.", param_hint="--scheduler")
    loaded = load_metric(metric)
    tallies = _on_dask(loaded, predictions, scheduler) if engine == "dask" else _here(loaded, predictions)
    for path, tally in zip(predictions, tallies, strict=True):
        numbered = numbering_notes(path, loaded.classes) if tally.numbered else ()
        for note in (*numbered, *rescaling_notes(path, tally.rescaled)):
            print(note, file=sys.stderr)
    scores = ranked(loaded, [*zip(distinct_names(predictions), tallies, strict=True)])
    print(_as_json(loaded, scores)) if as_json else _print_table(loaded, scores)


def _here(metric: ElicitedMetric, predictions: list[Path]) -> list[Tally]:
    from elicit_app.cli.progress import progress
    from elicit_app.study.reading import open_predictions
    from elicit_app.study.scoring import tally_file

    files = [open_predictions(path) for path in predictions]
    known = [file.table.rows for file in files]
    with progress("Scoring", None if None in known else sum(rows or 0 for rows in known)) as advance:
        return [tally_file(file, metric, advance) for file in files]


def _on_dask(metric: ElicitedMetric, predictions: list[Path], scheduler: str | None) -> list[Tally]:
    from elicit_app.cli.progress import progress
    from elicit_app.study.cluster import parts_of, tally_on_cluster

    parts = parts_of(predictions)
    with progress("Scoring", len(parts)) as advance:
        return tally_on_cluster(metric, parts, scheduler=scheduler, advance=advance)


def _as_json(metric: ElicitedMetric, scores: tuple[ModelScore, ...]) -> str:
    import json

    models = [{field: getattr(score, field) for field in _FIELDS} for score in scores]
    return json.dumps({"metric": metric.name, "models": models}, ensure_ascii=False, indent=2, allow_nan=False)


def _print_table(metric: ElicitedMetric, scores: tuple[ModelScore, ...]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    from elicit_app.study.scoring import DEFAULT_POPULATION

    population = metric.population or DEFAULT_POPULATION
    sampled = scores[0].probability_best is not None
    headings = ["cost", *(["above first, 90 %", "best"] if sampled else []), "least-cost", "MPCS", "accuracy"]
    table = Table(
        box=SIMPLE,
        title=f"{metric.name}: cost per {population:,} cases, the worst mistake counts 1",
        caption="least-cost: the same models, deciding for the class of least expected cost",
    )
    table.add_column("rank", justify="right")
    table.add_column("model")
    for heading in headings:
        table.add_column(heading, justify="right")
    for score in sorted(scores, key=lambda one: one.cost_per_population):
        table.add_row(*_cells(score, population))
    # what goes into a file or a pipe is not cut to the width of a terminal
    Console(width=None if sys.stdout.isatty() else 160, markup=False, highlight=False).print(table)


def _cells(score: ModelScore, population: int) -> list[str]:
    cells = [str(score.rank), score.name, f"{score.cost_per_population:.1f}"]
    if score.probability_best is not None and score.difference_range is not None:
        low, high = score.difference_range
        first = score.rank == 1 and low == high == 0
        cells += ["" if first else f"{low:+.1f} to {high:+.1f}", f"{100 * score.probability_best:.0f} %"]
    cells += [f"{population * score.decided_cost:.1f}", "–" if score.mpcs is None else f"{score.mpcs:.3f}"]
    return [*cells, f"{100 * score.accuracy:.1f} %"]
