"""`elicit metric pool`: several experts' metric files beside each other, and pooled into one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from elicit_app.session.experts.comparing import ComparisonView


def pool(
    metrics: Annotated[
        list[Path], typer.Argument(metavar="METRIC METRIC ...", help="Metric files of two or more experts.")
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the pooled metric file.")] = None,
    name: Annotated[str | None, typer.Option(help="What the pooled metric is called.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Compare experts and pool their metrics: ratio by ratio the geometric mean, with where it comes from."""
    from rich.console import Console

    from elicit_app.cli.reading_metric import load_metric
    from elicit_app.session.experts.comparing import Expert, compare
    from elicit_app.session.experts.pooling import Source
    from elicit_app.session.experts.pooling import pool as pooled_of
    from elicit_app.study.writing import require_new, write_whole

    if len(metrics) < 2:
        raise typer.BadParameter("two metric files are needed at least.", param_hint="METRIC")
    if out is not None:
        require_new(out, force)
    sources = [Source(path.name, load_metric(path)) for path in metrics]
    pooled = pooled_of(sources, name)
    experts = [Expert(source.metric.provenance.expert or source.name, source) for source in sources]
    print_comparison(Console(markup=False, highlight=False, emoji=False), compare(experts, pooled.name, pooled=pooled))
    if out is not None:
        write_whole(out, pooled.to_json().encode())
        print(f"Metric file: {out}")


def print_comparison(console: Console, view: ComparisonView) -> None:
    """Print where experts disagree, every ratio of each of them, and what pooling means."""
    from rich.table import Table

    from elicit_app.session.experts.comparing import POOLED

    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Mistake")
    for name in (*view.names, "pooled"):
        table.add_column(name, justify="right")
    for row in view.mistakes:
        cells = (*row.rates, row.pooled)
        said = (
            ["1" for _ in cells]
            if row.is_yardstick
            else [f"{cell.in_words()}\n{cell.range_in_words()}" for cell in cells]
        )
        table.add_row(row.mistake.name, *said)
    _line(console, f"{view.headline}.", style="bold")
    _line(console, view.detail)
    _line(console, f"One of each counts as so many {view.yardstick.mistake.many}:")
    console.print(table)
    for line in (view.choice, POOLED, view.made_of):
        if line:
            _line(console, line)


def _line(console: Console, text: str, style: str = "") -> None:
    # A terminal wraps between words; a file or a pipe gets whole lines.
    console.print(text, style=style, soft_wrap=not console.is_terminal)
