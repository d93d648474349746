"""The command `elicit`: the modules of the commands; heavy modules are imported only where a command needs them."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from elicit_app.cli import (
    ask,
    measure,
    metric,
    reproduce,
    score,
    session,
    simulate,
    study,
    sweep,
    window,
)
from elicit_app.cli.output import show_as_text
from elicit_app.problem import Problem
from metrics import __version__
from metrics.errors import InputError

_WRONG_USAGE, _INTERRUPTED = 2, 130
OPENED = (".elicit", ".session.jsonl")
"""Endings of the files that the program opens where nothing but their name is given."""
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")
"""What keeps linear algebra to one thread, in the environment of a program that has not imported numpy yet."""

app = typer.Typer(
    name="elicit",
    help="Learn from a domain expert which mistakes matter more, and score models accordingly.",
    epilog="STUDY is the name of a bundled study, a study folder, or a predictions file (CSV, Parquet, NPZ).",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _command in (window, ask, session, study, simulate, sweep, reproduce, score, measure, metric):
    _command.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"elicit {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Open the desktop app where no command is given."""
    if context.invoked_subcommand is None:
        window.open_start()


def run() -> None:
    """Run the command; what cannot be done is one sentence on standard error and exit code 1, wrong usage 2."""
    _prepare_streams()
    _limit_blas_threads()
    if len(sys.argv) == 2 and sys.argv[1].endswith(OPENED) and Path(sys.argv[1]).is_file():
        # What a double click on a file gives.
        sys.argv.insert(1, "open")
    for argument in sys.argv[1:]:
        if not _is_text(argument):
            _fail(f"{argument!a} is not UTF-8 text: rename the file or write the text anew.", _WRONG_USAGE)
    try:
        app(prog_name="elicit")
    except Problem as problem:
        _fail(problem.sentence)
    except InputError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output has gone; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}.")
    except MemoryError:
        _fail("There is not enough memory for this; close other programs or use a smaller file.")


def _limit_blas_threads() -> None:
    """Let linear algebra use one thread, unless the user said otherwise.

    The matrices of a belief are small: where another program keeps a processor busy, a second thread that waits for it
    makes the next question of ten classes take ten times as long.
    """
    for variable, number in ONE_THREAD.items():
        os.environ.setdefault(variable, number)


def _prepare_streams() -> None:
    """Let no letter that a terminal cannot show, and no stream that is closed, end the program."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  open to the end
        elif name != "stderr" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    show_as_text()


def _is_text(argument: str) -> bool:
    """Return whether an argument can be written to a file; names of files may be any bytes."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fail(sentence: str, code: int = 1) -> None:
    print(f"elicit: {sentence}", file=sys.stderr)
    sys.exit(code)
