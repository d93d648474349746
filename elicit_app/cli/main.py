"""The command `elicit`: the commands of the other modules, and those that ask in the window or the terminal.

Heavy modules are imported only in the commands that need them.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_app.cli import experiments, files, measure, output, score, study
from elicit_app.cli.output import Commands, Force, Questions, install_safe_streams, study_meant
from elicit_app.cli.study import NeverWorseOption, OrderedOption, StudyRef
from elicit_app.problem import Problem, in_words
from metrics import __version__
from metrics.errors import InputError, MissingPackage, require
from metrics.text import unisolated

_DEMO = "breast-cancer"
_WRONG_USAGE, _INTERRUPTED = 2, 130
OPENED = (".elicit", ".session.jsonl")
"""Suffixes of the files that the program opens if their name is the only argument."""
_M_ARENA_MAX = -8  # of glibc's malloc.h
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")
"""Environment variables that limit linear algebra to one thread, if set before NumPy is imported."""

app = Commands(
    name="elicit",
    help="Learn from a domain expert which mistakes matter more, and score models accordingly.",
    epilog="STUDY is the name of a bundled study, a study folder, or a predictions file (CSV, Parquet, NPZ).",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(short_help="Open the app on a bundled study.")
def demo(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A bundled study; see elicit study list.")] = _DEMO,
) -> None:
    """Open the app on a bundled study; without a display a simulated expert answers in the terminal."""
    _require_known(name)
    why = no_window()
    if why:
        print(f"{why} A simulated expert answers in the terminal instead.", file=sys.stderr)
        from elicit_app.cli.asking import AskOptions, ask_in_terminal

        ask_in_terminal(AskOptions(study=name, simulate="random", seed=0))
        return
    _run(name)


@app.command("open", short_help="Open the app on a study or a session.")
def open_ref(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="Bundled study, study folder, predictions file, study sent as one file (*.elicit), or session.",
            callback=study_meant,
        ),
    ],
) -> None:
    """Open the app on a study."""
    _require_known(study)
    why = no_window()
    if why:
        raise Problem(f"{why} Answer in the terminal with: elicit ask {output.quoted(study)}")
    _run(study)


def open_start() -> None:
    """Open the app on its start page."""
    why = no_window()
    if why:
        raise Problem(f"{why} In the terminal, elicit ask STUDY asks the same questions; elicit --help lists the rest.")
    _run(None)


def _require_known(ref: str) -> None:
    """Check early that a reference is a bundled or synthetic study, a file or a folder."""
    if ref == _DEMO or Path(ref).exists():
        return
    # The list of studies imports NumPy, which the first page does not need.
    from elicit_app.study import list_studies, open_study

    if ref not in {one.name for one in list_studies()}:
        open_study(ref)


def _run(ref: str | None) -> None:
    from elicit_app.gui.app import run

    raise typer.Exit(run(ref))


def no_window() -> str:
    """Return one sentence on why no window can be opened here; empty if one can.

    Qt aborts the program if there is no display or a library is missing, so both are checked before it starts.
    """
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if sys.platform.startswith("linux") and platform in ("", "xcb", "wayland"):
        if not (_x_display() or os.environ.get("WAYLAND_DISPLAY")):
            return "There is no display here."
        wayland = os.environ.get("WAYLAND_DISPLAY") and platform != "xcb"
        return _missing_library("wayland" if wayland and not _x_display() else "xcb")
    return _missing_library("")


def _x_display() -> bool:
    """Return whether the X server named by DISPLAY answers."""
    import socket

    name = os.environ.get("DISPLAY", "")
    host, colon, rest = name.rpartition(":")
    number = rest.split(".")[0]
    if not colon or not number.isdecimal():
        return False
    try:
        if host in ("", "unix") or host.startswith("/"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(2)
                connection.connect(f"/tmp/.X11-unix/X{number}")
        else:
            with socket.create_connection((host, 6000 + int(number)), timeout=2):
                pass
    except OSError:
        return False
    return True


def _missing_library(plugin: str) -> str:
    """Return a sentence naming the system library that Qt lacks for its window; empty if none."""
    import ctypes

    try:
        require("PySide6")
        import PySide6
        from PySide6 import QtWidgets  # noqa: F401  the import is the test
    except MissingPackage as error:
        return str(error)
    except ImportError as error:
        return f"The window's library cannot be loaded ({error}). Install what is missing; see the README."
    if not plugin:
        return ""
    names = {"xcb": "libqxcb.so", "wayland": "libqwayland.so"}
    path = Path(PySide6.__file__).parent / "Qt" / "plugins" / "platforms" / names[plugin]
    if not path.exists():
        return ""
    try:
        ctypes.CDLL(str(path))
    except OSError as error:
        missing = str(error).split(":")[0]
        return f"The window needs the system library {missing}, which is not installed; see the README."
    return ""


@app.command(short_help="Write pictures of every page.")
def screenshots(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the PNG files; created if missing.")],
) -> None:
    """Render every page offscreen from a scripted session, light and dark, at several sizes, as PNG files."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    why = no_window()
    if why:
        raise Problem(why)
    from rich.progress import Progress

    from elicit_app.gui.screenshots import VARIANTS, take

    with Progress(console=output.console(errors=True), transient=True) as bar:
        task = bar.add_task("Pages", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        count = sum(1 for _ in take(folder, VARIANTS, tell))
    print(f"{count} pictures in {folder}")


@app.command(short_help="Answer the questions in the terminal.")
def ask(
    context: typer.Context,
    study: StudyRef,
    procedure: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Procedure that chooses the questions: bayes, dlpm or lpm; default bayes."),
    ] = None,
    family: Annotated[
        Literal["dlpm", "lpm", "dlfpm", "lfpm"] | None,
        typer.Option(
            help="dlpm: all wrong answers for the same truth are equally bad; lpm: some hurt more than others. dlfpm "
            "and lfpm, with bayes: and they may count differently where results are bad and where they are good."
        ),
    ] = None,
    purpose: Annotated[
        Literal["choose", "costs", "both"] | None,
        typer.Option(
            help="What the answers are for: choose between the models, write down what mistakes cost, or both; the "
            "questions end when that is known."
        ),
    ] = None,
    questions: Questions = None,
    never_worse: NeverWorseOption = None,
    ordered: OrderedOption = None,
    expert: Annotated[str | None, typer.Option(help="Name of the expert; kept in the metric file.")] = None,
    session: Annotated[
        Path | None, typer.Option(help="Session file: resume it if it exists, otherwise create it.")
    ] = None,
    withdraw_orders: Annotated[
        bool, typer.Option("--withdraw-orders", help="In the session that is resumed, stated orders no longer hold.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the questions; by default a new one.")] = None,
    simulate: Annotated[
        str | None,
        typer.Option(
            metavar="W1,W2,...|random", help="Let a simulated expert answer, with these weights or random ones."
        ),
    ] = None,
    denominator: Annotated[
        str | None,
        typer.Option(
            metavar="Q1,Q2,...[,Q0]|random",
            help="With --simulate: the expert's metric is a fraction, the weights over these, plus a constant (1).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the metric file, or the answers to a packed study; by default beside the session."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Answer questions in the terminal: type a line per question, or pipe them in.

    Keys: 1 A, 2 B (1+ clearly, 1- slightly), 0 about equal, =40 makes both equal, s cannot say,
    u undo, q stop and see the result.
    """
    from elicit_app.cli.asking import AskOptions, ask_in_terminal

    options = AskOptions(**(context.params | {"never_worse": tuple(never_worse or ())}))
    with output.wrong_options_as_usage_errors():
        ask_in_terminal(options)


for _register in (
    files.register_session,
    study.register,
    experiments.register,
    score.register,
    measure.register,
    files.register_metric,
):
    _register(app)


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
    """Open the desktop app if no command is given."""
    if context.invoked_subcommand is None:
        open_start()


def run() -> None:
    """Run the command; failures print one sentence to standard error and exit with 1, usage errors with 2."""
    _prepare_streams()
    _limit_blas_threads()
    _share_one_heap()
    if len(sys.argv) == 2 and sys.argv[1].endswith(OPENED) and Path(sys.argv[1]).is_file():
        # A double click on a file starts the program with its name as the only argument.
        sys.argv.insert(1, "open")
    sys.argv[1:] = [_without_isolation_marks(argument) for argument in sys.argv[1:]]
    for argument in sys.argv[1:]:
        if not _is_text(argument):
            _fail(f"{argument!a} is not UTF-8 text: rename the file or type the text again.", _WRONG_USAGE)
    try:
        app(prog_name="elicit")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output is gone; avoid another error when flushing at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (Problem, InputError, OSError, MemoryError) as error:
        _fail(in_words(error))


def _limit_blas_threads() -> None:
    """Limit linear algebra to one thread, unless the user chose otherwise.

    The matrices of a belief are small. If another program keeps a processor busy, waiting for a second thread makes
    the next question of ten classes take ten times as long.
    """
    for variable, number in ONE_THREAD.items():
        os.environ.setdefault(variable, number)


def _share_one_heap() -> None:
    """Let all threads allocate from one heap, if the C library is glibc.

    Otherwise every thread keeps for itself what it has freed: 100 MB in a sitting of fifty classes.
    """
    if sys.platform == "linux":
        import ctypes

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)


def _prepare_streams() -> None:
    """Keep characters that the terminal cannot show, and closed streams, from ending the program."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  open to the end
        elif name != "stderr" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    install_safe_streams()


def _without_isolation_marks(argument: str) -> str:
    """Return an argument without isolation marks, which are copied along with a name from our own output."""
    with suppress(OSError):
        if Path(argument).exists():
            return argument
    return unisolated(argument)


def _is_text(argument: str) -> bool:
    """Return whether an argument can be encoded; file names may be arbitrary bytes."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fail(sentence: str, code: int = 1) -> None:
    print(f"elicit: {sentence}", file=sys.stderr)
    sys.exit(code)
