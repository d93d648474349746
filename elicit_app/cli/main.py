"""The command `elicit`: one small module a command, imported only when it is used."""

from __future__ import annotations


import typer

app = typer.Typer(name="elicit", no_args_is_help=False, add_completion=False, rich_markup_mode=None)


def run() -> None:
    """Run the command; a problem is one sentence on standard error and exit code 1."""
    app()
