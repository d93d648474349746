"""Record what every command of `commands.toml` prints and writes, or compare it with what was recorded.

python tests/acceptance/record.py [--check] [NAME ...]
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import functools
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from unittest import mock

import typer.main

HERE = Path(__file__).parent
EXPECTED, INPUTS, DATASETS = HERE / "expected", HERE / "inputs", HERE.parents[1] / "datasets"
_LEFT_OUT = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "FORCE_COLOR", "TTY_COMPATIBLE", "PYTHONIOENCODING")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), "<time>"),
    (re.compile(rf"\d+ ({_MONTHS}) \d{{4}}(, \d\d:\d\d UTC)?"), "<date>"),
    (re.compile(r'("digest":")[0-9a-f]{64}(?="\})'), r"\1<digest>"),
    (re.compile(r'("(?:answers_)?digest": ")[0-9a-f]{64}'), r"\1<digest>"),
    (re.compile(r"(Answers, SHA-256(?:</th><td>|\W+))[0-9a-f]{16}"), r"\1<digest>"),
    (re.compile(r'"software":\{[^}]*\}'), '"software":<software>'),
    (re.compile(r'("version": "|elicit )\d+\.\d+\.\d+[\w.+]*'), r"\1<version>"),
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)")
_SAMPLES = re.compile(r'("samples": \[\n *\[.*\],\n)((?: *\[.*\],?\n)+)')


def read_commands() -> dict[str, dict]:
    """Return the commands by name, in the order they are run in."""
    return tomllib.loads((HERE / "commands.toml").read_text(encoding="utf-8"))


def observe(names: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Run commands, all or those named, in one new folder; yield each name with what was seen.

    What writes a file that a named command reads is run first.
    """
    commands = read_commands()
    with tempfile.TemporaryDirectory(prefix="acceptance-") as temporary, contextlib.ExitStack() as stack:
        folder = Path(temporary, "work").resolve()
        shutil.copytree(INPUTS, folder)
        shutil.copytree(DATASETS, folder / "datasets")
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(_controlled_environment(folder.parent / "home"))
        for name in _with_needed(commands, list(names) or list(commands)):
            yield name, _seen(commands[name], folder)


def differences(names: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the name and the unified diff of every command that does not do what was recorded."""
    for name, seen in observe(names):
        path = EXPECTED / f"{name}.txt"
        recorded = path.read_text(encoding="utf-8") if path.exists() else ""
        if seen != recorded:
            lines = recorded.splitlines(), seen.splitlines()
            yield name, "\n".join(difflib.unified_diff(*lines, f"recorded {name}", f"now {name}", lineterm=""))


def write(names: Iterable[str] = ()) -> None:
    """Record anew; without names, drop what belongs to no command any more."""
    EXPECTED.mkdir(exist_ok=True)
    names = list(names)
    written = {f"{name}.txt": seen for name, seen in observe(names)}
    for file, seen in written.items():
        (EXPECTED / file).write_text(seen, encoding="utf-8", newline="\n")
    if not names:
        for path in EXPECTED.iterdir():
            if path.name not in written:
                path.unlink()


def _with_needed(commands: dict[str, dict], names: list[str]) -> list[str]:
    unknown = set(names) - set(commands)
    if unknown:
        raise SystemExit(f"No such command: {', '.join(sorted(unknown))}")
    wanted = set(names)
    for name, command in reversed(commands.items()):
        if name not in wanted:
            continue
        words = set(shlex.split(command["run"]))
        for earlier, other in commands.items():
            if earlier == name:
                break
            if words & ({*other.get("files", ())} | {path.split("/")[0] for path in other.get("files", ())}):
                wanted.add(earlier)
    return [name for name in commands if name in wanted]


@contextlib.contextmanager
def _controlled_environment(home: Path) -> Iterator[None]:
    """No display, no colours, 80 columns, a home of its own, and a clock that measures no seconds."""
    environment = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"), str(home))
    environment |= homes | {"COLUMNS": "80", "LINES": "24", "TERM": "dumb", "NO_COLOR": "1"}
    with mock.patch.dict(os.environ, environment, clear=True), mock.patch("time.perf_counter", return_value=0.0):
        yield


def _seen(command: dict, folder: Path) -> str:
    code, out, err = run_here(shlex.split(command["run"]), command.get("stdin", ""))
    parts = [f"$ elicit {command['run']}\nexit {code}\n"]
    parts += [f"--- {name}\n{_normal(text, folder)}" for name, text in (("stdout", out), ("stderr", err)) if text]
    parts += [f"--- file {file}\n{_content(folder / file, folder)}" for file in command.get("files", ())]
    return "".join(parts)


def run_here(arguments: list[str], typed: str) -> tuple[int, str, str]:
    """Run the program in this process, with pipes for its three streams."""
    from elicit_app.cli.main import run

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with (
        mock.patch("sys.argv", ["elicit", *arguments]),
        mock.patch("typer.main.get_command", _kept_command()),
        mock.patch("sys.stdin", io.StringIO(typed)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            run()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except Exception as error:
            print(f"Traceback: {type(error).__name__}: {error}", file=sys.stderr)
            code = 1
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return code, *texts


@functools.cache
def _kept_command() -> Callable[[typer.Typer], Callable[..., object]]:
    """Return what makes the program of its functions, as typer does, but once: that takes longer than most commands."""
    return functools.cache(typer.main.get_command)


def _content(path: Path, folder: Path) -> str:
    if not path.exists():
        return "missing\n"
    data = path.read_bytes()
    if path.suffix == ".pdf":
        return f"pages: {len(re.findall(rb'/Type ?/Page[^s]', data))}\n"
    if path.suffix == ".parquet":
        return "Parquet\n" if data.startswith(b"PAR1") else "no Parquet\n"
    return _normal(data.decode(), folder)


def _normal(text: str, folder: Path) -> str:
    """Return a text without what differs from run to run, or from one linear algebra library to another."""
    text = text.replace(str(folder), "<folder>").replace(str(folder.parent), "<temporary>")
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    text = _SAMPLES.sub(lambda found: f"{found[1]}    <{found[2].count(chr(10))} more>\n", text)
    text = _NUMBER.sub(lambda found: _rounded(found[0]), text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _rounded(number: str) -> str:
    """Return six digits of a number printed in full; leave one that was printed in few as it is."""
    if "e" not in number and len(number.partition(".")[2]) < 7:
        return number
    value = float(number)
    short = f"{0.0 if abs(value) < 1e-12 else value:.6g}"
    return short if "." in short or "e" in short else f"{short}.0"


def main() -> int:
    """Run the script; the exit code is 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with what was recorded, and change nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="commands; by default all")
    given = parser.parse_args()
    if not given.check:
        write(given.names)
        return 0
    found = list(differences(given.names))
    for _, diff in found:
        print(diff)
    print(f"{len(found)} commands differ" if found else "Nothing differs", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[1]))
    sys.exit(main())
