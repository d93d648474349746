"""`elicit screenshots`: every page of the app as pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from elicit_app.problem import Problem


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("screenshots")(screenshots)


def screenshots(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the PNG files go; made where it is missing.")],
) -> None:
    """Render every page offscreen from a scripted session, light and dark, at several sizes, as PNG files."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from elicit_app.cli.window import no_window

    why = no_window()
    if why:
        raise Problem(why)
    from rich.console import Console
    from rich.progress import Progress

    from elicit_app.gui.screenshots import VARIANTS, take

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Pages", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        count = sum(1 for _ in take(folder, VARIANTS, tell))
    print(f"{count} pictures in {folder}")
