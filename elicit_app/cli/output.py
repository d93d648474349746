"""Output of commands: text from files reaches the terminal as text, never as control sequences.

A class name may contain escape sequences, marks that reverse the direction of writing, or `rich` markup. The streams
therefore replace these in everything printed, and tables go through `console`, which disables markup.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from elicit_app.problem import Problem, WrongOption
from metrics.errors import finding_words
from metrics.text import escaped_json, isolated, series

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table


_PIPE_WIDTH = 160

# Options shared by several commands.
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]
ForceAll = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Questions = Annotated[int | None, typer.Option(min=1, help="Ask this many informative questions instead of a sitting.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler; by default workers on this machine.")
]
TrustedOnly = Annotated[
    bool, typer.Option("--trusted-only", help="Leave out experts whose answers do not hang together.")
]


def study_meant(ref: str | None) -> str | None:
    """Return what the name of a study in a command means: the folder here, before a study that comes with elicit."""
    if ref is None or not Path(ref).is_dir():
        return ref
    from elicit_app.study.folder import document_in
    from elicit_app.study.opening import comes_with_elicit

    return f".{os.sep}{ref}" if comes_with_elicit(ref) and document_in(Path(ref)) else ref


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable the cyclic garbage collector in a short command: it finds nothing, and takes a tenth of the time.

    At the end of the process it would search everything that was loaded once more, which takes a fifth of a second.
    """
    gc.disable()
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        gc.enable()


def quoted(argument: object) -> str:
    """Return an argument quoted for a command shown to the user, because a path may contain spaces."""
    return shlex.quote(str(argument))


class SafeStream:
    """A text stream that makes everything written to it safe to show; all else is delegated to the stream `wrapped`."""

    def __init__(self, stream: IO[str]) -> None:
        self.wrapped = stream

    def write(self, text: str) -> int:
        """Write text with control characters replaced and right-to-left names isolated."""
        self.wrapped.write(isolated(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)


def install_safe_streams() -> None:
    """Wrap standard output and standard error so that they show everything as text."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, SafeStream):
            setattr(sys, name, SafeStream(stream))


def _wrapped_stream(stream: Any) -> IO[str]:
    found: IO[str] = stream.wrapped if isinstance(stream, SafeStream) else stream
    return found


def print_json(value: Any) -> None:
    """Print one JSON object to standard output, with control and direction characters escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    print(escaped_json(text), file=_wrapped_stream(sys.stdout))


def console(*, errors: bool = False) -> Console:
    """Return a console for tables and styled lines, without markup and without control characters in foreign text.

    Questions and messages go to standard error (`errors`). Standard output to a file or a pipe is not cut to the width
    of a terminal.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class TextConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            # before rich measures widths, because a replacement character may be wider
            return super().render_str(isolated(text), **options)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(isolated(part.text), part.style)

    stream = _wrapped_stream(sys.stderr if errors else sys.stdout)
    width = None if errors or stream.isatty() else _PIPE_WIDTH
    return TextConsole(file=stream, width=width, markup=False, highlight=False, emoji=False)


def print_notes(notes: Iterable[str]) -> None:
    """Print what a person should know beside the result, a line each, on standard error."""
    for note in notes:
        print(note, file=sys.stderr)


def line(console: Console, text: str, style: str = "") -> None:
    """Print a line, wrapped between words on a terminal and unwrapped to a file or a pipe."""
    console.print(text, style=style, soft_wrap=not console.is_terminal)


def table(heads: Iterable[str], left: Container[int] = (0,)) -> Table:
    """Return a table without lines; the columns `left` are left-aligned, the others right-aligned."""
    from rich.table import Table

    plain = Table(box=None, padding=(0, 2), show_edge=False)
    for index, head in enumerate(heads):
        plain.add_column(head, justify="left" if index in left else "right")
    return plain


_PATIENCE = 1.0


@contextmanager
def progress(task: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Provide a function to report progress on a task ("Scoring"): a number of steps, out of `total`, if known.

    A total that is only found on the way is the function's second argument. Work of one part never calls it.

    The bar appears after a second, and only if standard error is a terminal.
    """
    bar: Progress | None = None
    done = 0

    def begin() -> None:
        nonlocal bar
        begun = _bar()
        begun.add_task(task, total=total, completed=done)
        begun.start()
        bar = begun

    def advance(amount: int, of: int | None = total) -> None:
        nonlocal done, total
        done, total = done + amount, of
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done, total=of)

    patience = Timer(_PATIENCE, begin)
    patience.daemon = True
    if sys.stderr.isatty():
        patience.start()
    try:
        yield advance
    finally:
        patience.cancel()
        if patience.is_alive():
            patience.join()  # it may be about to show the bar
        if bar is not None:
            bar.stop()


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console(errors=True), transient=True)


def flag(option: str) -> str:
    """Return the command-line flag of an option."""
    return f"--{option.replace('_', '-')}"


@contextmanager
def wrong_options_as_usage_errors() -> Iterator[None]:
    """Turn `WrongOption` into a usage error that names options as typed."""
    try:
        yield
    except WrongOption as wrong:
        raise typer.BadParameter(wrong.with_option_names(flag)) from wrong


def numbers(text: str, option: str) -> tuple[float, ...]:
    """Return the numbers of an option that takes several, or refuse what is none."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}: numbers separated by commas were expected.", param_hint=option) from None


def require_all_new(paths: Iterable[Path | None], force: bool) -> None:
    """Apply `require_new` to all files that a command writes, and check that no two are the same."""
    named = [path for path in paths if path is not None]
    for path in named:
        require_new(path, force)
    for same in repeated(named).values():
        raise typer.BadParameter(f"{same[1]} would be written twice: two options name it.")


def repeated(paths: Iterable[Path]) -> dict[Path, list[Path]]:
    """Return the files that are named more than once, each with its names in order."""
    from metrics.files import real_path

    names: dict[Path, list[Path]] = {}
    for path in paths:
        names.setdefault(real_path(path), []).append(path)
    return {file: same for file, same in names.items() if len(same) > 1}


def require_new(path: Path, force: bool) -> None:
    """Check that a file can be written and does not exist, unless `force` allows replacing it.

    Devices and pipes count as new. A file with an expert's answers is never replaced (see `write_atomically`). Raises
    Problem if it is a folder, has a parent that is not a folder, exists, or may never be replaced.
    """
    from elicit_app.study.writing import require_writable, write_problem
    from metrics.files import require_replaceable

    require_writable(path)
    if path.is_file() and not force:
        raise Problem(f"{path} exists already. Name another file, or replace this one with --force.")
    try:
        require_replaceable(path)
    except OSError as error:
        raise write_problem(path, error) from error


def format_of(path: Path) -> str:
    """Return the format of `metric export` that the ending of a file stands for, in any case; "" for none."""
    from metrics.exports import FORMATS

    return next((name for name, ending in FORMATS.items() if ending.lower() == path.suffix.lower()), "")


def require_metric_name(path: Path) -> None:
    """Refuse the ending of a page, or of another tool's file, for a metric file."""
    if format_of(path):
        message = f"{path}: a name that ends in .metric.json was expected; elicit metric export makes others of it."
        raise typer.BadParameter(message, param_hint="--out")


def require_picture(path: Path, force: bool) -> None:
    """Apply `require_new` and check the suffix of a picture, before anything is drawn."""
    from elicit_app.study.writing import PICTURES

    if path.suffix.lower() not in PICTURES:
        message = f"{path}: a name that ends in {series(PICTURES, 'or')} was expected."
        raise typer.BadParameter(message, param_hint="--plot")
    require_new(path, force)


_WORDS = {"path": "FILE", "file": "FILE", "str": "TEXT", "int": "N", "float": "NUMBER"}
_TYPE = re.compile(r"<(\w+?)(?: range)?>|<([^>]*)>")


class Command(TyperCommand):
    """A command whose arguments are shown by their `metavar`: METRIC, FILE..., [NAME]."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; what pydantic finds wrong with a value is told in words."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as wrong:
            from pydantic import ValidationError

            if isinstance(wrong.__cause__, ValidationError):
                finding = wrong.__cause__.errors()[0]
                own = finding["type"] == "value_error"
                wrong.message = str(finding["ctx"]["error"]) if own else f"it {finding_words(finding)}."
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the text after the command's name in its usage line."""
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
    """A group of `Command`s."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Return a decorator that adds a command; the settings are those of typer."""
        return super().command(name, **({"cls": Command} | settings))
