"""What commands print and write: what stands in a file is text to the terminal, never an order.

A class name may hold escape sequences, marks that turn the direction of writing, or what `rich` takes for markup. So
the streams themselves replace them, whatever is printed, and tables go through `console`, which knows no markup.
"""

from __future__ import annotations

import gc
import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from elicit_app.problem import Problem, WrongOption
from metrics.text import escaped_json, isolated, series

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table


_PIPE_WIDTH = 160

# Options that several commands have.
Force = Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler; by default workers on this machine.")
]
TrustedOnly = Annotated[
    bool, typer.Option("--trusted-only", help="Leave out experts whose answers do not hang together.")
]


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Look for no cyclic garbage in a command that is over in seconds: it leaves none, and the search takes a tenth."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def typed(argument: object) -> str:
    """Return an argument as it has to be typed in a command that is shown: a folder may have a space in its name."""
    return shlex.quote(str(argument))


class SafeStream:
    """A text stream on which everything written is shown as text; all else is the stream's own.

    Attributes
    ----------
    unchanged : text stream
        The stream itself, for what has been made safe in another way.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.unchanged = stream

    def write(self, text: str) -> int:
        """Write text, control characters replaced and names written right to left isolated."""
        self.unchanged.write(isolated(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unchanged, name)


def show_as_text() -> None:
    """Let standard output and standard error show everything as text, from now on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, SafeStream):
            setattr(sys, name, SafeStream(stream))


def _unchanged(stream: Any) -> IO[str]:
    found: IO[str] = stream.unchanged if isinstance(stream, SafeStream) else stream
    return found


def print_json(value: Any) -> None:
    """Print one JSON object to standard output; control and direction characters are written as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    print(escaped_json(text), file=_unchanged(sys.stdout))


def console(*, errors: bool = False) -> Console:
    """Return a console for tables and styled lines: no markup, no control characters of foreign text.

    Questions and messages go to standard error (`errors`); what goes to standard output into a file or a pipe is not
    cut to the width of a terminal.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class TextConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            # before rich measures widths: a replaced character may be wider
            return super().render_str(isolated(text), **options)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(isolated(part.text), part.style)

    stream = _unchanged(sys.stderr if errors else sys.stdout)
    width = None if errors or stream.isatty() else _PIPE_WIDTH
    return TextConsole(file=stream, width=width, markup=False, highlight=False, emoji=False)


def tell(notes: Iterable[str]) -> None:
    """Print what a person should know beside the result, a line each, on standard error."""
    for note in notes:
        print(note, file=sys.stderr)


def line(console: Console, text: str, style: str = "") -> None:
    """Print a line: a terminal wraps it between words, a file or a pipe gets it whole."""
    console.print(text, style=style, soft_wrap=not console.is_terminal)


def table(heads: Iterable[str], left: Container[int] = (0,)) -> Table:
    """Return a table without lines; the columns `left` begin on the left, the others end on the right."""
    from rich.table import Table

    plain = Table(box=None, padding=(0, 2), show_edge=False)
    for index, head in enumerate(heads):
        plain.add_column(head, justify="left" if index in left else "right")
    return plain


_PATIENCE = 1.0


@contextmanager
def progress(task: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how much more has been done of a task ("Scoring"), out of `total` if that is known.

    The bar appears after a second, and only where standard error is a terminal.
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
    return Progress(*columns, console=console(errors=True), transient=True)


def flag(option: str) -> str:
    """Return the flag that an option of a setting is given by."""
    return f"--{option.replace('_', '-')}"


@contextmanager
def refusing_wrong_options() -> Iterator[None]:
    """Refuse options that do not exist or do not go together as wrong usage, named as they were typed."""
    try:
        yield
    except WrongOption as wrong:
        raise typer.BadParameter(wrong.worded(flag)) from wrong


def require_all_new(paths: Iterable[Path | None], force: bool) -> None:
    """Refuse what `require_new` does of several files that a command writes, and one name for two of them."""
    named = [path for path in paths if path is not None]
    for path in named:
        require_new(path, force)
    for same in repeated(named).values():
        raise typer.BadParameter(f"{same[1]} would be written twice: two options name it.")


def repeated(paths: Iterable[Path]) -> dict[Path, list[Path]]:
    """Return the files that are named more than once, each with its names, in order."""
    from metrics.files import real_path

    names: dict[Path, list[Path]] = {}
    for path in paths:
        names.setdefault(real_path(path), []).append(path)
    return {file: same for file, same in names.items() if len(same) > 1}


def require_new(path: Path, force: bool) -> None:
    """Refuse a file name that cannot be written, or that is taken, unless the user said that it may be replaced.

    Devices and pipes are not taken; a file with an expert's answers is never replaced (see `write_atomically`).

    Raises
    ------
    Problem
        It is a folder, lies in something that is none, exists, or is a file that nothing replaces.
    """
    from elicit_app.study.writing import require_writable, write_problem
    from metrics.files import require_replaceable

    require_writable(path)
    if path.is_file() and not force:
        raise Problem(f"{path} exists already. Name another file, or say with --force that this one may be replaced.")
    try:
        require_replaceable(path)
    except OSError as error:
        raise write_problem(path, error) from error


def require_picture(path: Path, force: bool) -> None:
    """Refuse what `require_new` does, and a name whose ending names no kind of picture, before anything is drawn."""
    from elicit_app.study.writing import PICTURES

    if path.suffix.lower() not in PICTURES:
        message = f"{path}: a name that ends in {series(PICTURES, 'or')} was expected."
        raise typer.BadParameter(message, param_hint="--plot")
    require_new(path, force)


_WORDS = {"path": "FILE", "file": "FILE", "str": "TEXT", "int": "N", "float": "NUMBER"}
_TYPE = re.compile(r"<(\w+?)(?: range)?>|<([^>]*)>")


class Command(TyperCommand):
    """A command whose arguments are shown as their `metavar` spells them: METRIC, FILE..., [NAME]."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the name of the command in its usage."""
        return ["[OPTIONS]", *(str(one.metavar) for one in self.params if one.param_type_name == "argument")]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options with their help."""
        arguments, options = [], []
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is None:
                continue
            if one.param_type_name == "argument":
                arguments.append((str(one.metavar), record[1]))
            else:
                options.append((_TYPE.sub(_in_words, record[0]), record[1]))
        for heading, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _in_words(found: re.Match[str]) -> str:
    plain, choices = found.groups()
    return _WORDS.get(plain, plain) if plain else choices


class Commands(typer.Typer):
    """A group of such commands."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Return the decorator that adds a command; settings are those of typer."""
        return super().command(name, **({"cls": Command} | settings))
