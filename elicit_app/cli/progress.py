"""A progress bar on standard error for work that takes more than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from elicit_app.cli import output

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0


@contextmanager
def progress(task: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how much more has been done.

    Parameters
    ----------
    task : str
        What is being done: "Scoring".
    total : int, optional
        How much there is to do; without it the bar only shows that work goes on.

    Yields
    ------
    callable
        ``advance(amount)``. The bar appears after a second, and only where standard error is a terminal.
    """
    bar: Progress | None = None
    started, done = time.monotonic(), 0

    def advance(amount: int) -> None:
        nonlocal bar, done
        done += amount
        if bar is None and sys.stderr.isatty() and time.monotonic() - started > _PATIENCE:
            begun = _bar()
            begun.add_task(task, total=total, completed=done)
            try:
                begun.start()
            except KeyboardInterrupt:
                begun.console.show_cursor(True)  # half begun it has hidden the cursor, but cannot be stopped
                raise
            bar = begun
        elif bar is not None:
            bar.update(bar.task_ids[0], completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=output.console(errors=True), transient=True)
