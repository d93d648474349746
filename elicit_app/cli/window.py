"""`elicit`, `elicit demo` and `elicit open`: the desktop app, or what to do where there is no display for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from elicit_app.cli import output
from elicit_app.problem import Problem

_DEMO = "breast-cancer"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("demo")(demo)
    app.command("open")(open_ref)
    app.command("screenshots")(screenshots)


def demo(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A bundled study; see elicit study list.")] = _DEMO,
) -> None:
    """Open the app on a bundled study; without a display a simulated expert answers in the terminal."""
    _demand(name)
    why = no_window()
    if why:
        print(f"{why} A simulated expert answers in the terminal instead.", file=sys.stderr)
        from elicit_app.cli.asking import AskOptions, ask_in_terminal

        ask_in_terminal(AskOptions(study=name, simulate="random", seed=0))
        return
    _run(name)


def open_ref(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Bundled study, study folder or predictions file.")],
) -> None:
    """Open the app on a study."""
    _demand(study)
    why = no_window()
    if why:
        raise Problem(f"{why} Answer in the terminal with: elicit ask {output.typed(study)}")
    _run(study)


def open_start() -> None:
    """Open the app on its start page."""
    why = no_window()
    if why:
        raise Problem(f"{why} In the terminal, elicit ask STUDY asks the same questions, elicit --help names the rest.")
    _run(None)


def _demand(ref: str) -> None:
    """Refuse at once what is neither a study that comes with the program nor a file or folder."""
    if ref == _DEMO or Path(ref).exists():
        return
    # The list of studies pulls in numpy, which the first page appears without.
    from elicit_app.study import list_studies, open_study

    if ref not in {one.name for one in list_studies()}:
        open_study(ref)


def _run(ref: str | None) -> None:
    from elicit_app.gui.app import run

    raise typer.Exit(run(ref))


def no_window() -> str:
    """Return in one sentence why no window can be opened here, or nothing where one can.

    Qt ends the program where it finds no display or a library is missing, so both are looked for before it starts.
    """
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if sys.platform.startswith("linux") and platform in ("", "xcb", "wayland"):
        if not (_x_display() or os.environ.get("WAYLAND_DISPLAY")):
            return "There is no display here."
        wayland = os.environ.get("WAYLAND_DISPLAY") and platform != "xcb"
        return _missing_library("wayland" if wayland and not _x_display() else "xcb")
    return _missing_library("")


def _x_display() -> bool:
    """Return whether the X server that DISPLAY names answers."""
    import socket

    name = os.environ.get("DISPLAY", "")
    host, colon, rest = name.rpartition(":")
    number = rest.split(".")[0]
    if not colon or not number.isdigit():
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
    """Return which library of the system Qt misses for its window, or nothing."""
    import ctypes

    from metrics.extras import MissingPackage, require

    try:
        require("PySide6")
        import PySide6
        from PySide6 import QtWidgets  # noqa: F401  importing it is the test
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


def screenshots(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the PNG files go; made where it is missing.")],
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
