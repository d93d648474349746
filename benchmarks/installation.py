"""What each extra installs in a clean environment, and how long the library takes to load a metric and score.

    uv run --extra app python benchmarks/installation.py [--extras "" cli app ...] [--repeats N]

Builds the wheel and makes an environment for each extra with uv. Prints its packages and size; the processor time,
memory and heavy imports of loading a metric file and scoring 10,000 cases in a fresh Python; and what the command does:
its help or the sentence that names the missing extra, the demonstration's window under offscreen, and the message it
prints beside a file named metrics.py.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from metrics import ElicitedMetric

ROOT = Path(__file__).parents[1]
HEAVY = ("PySide6", "polars", "matplotlib", "sklearn", "scipy", "typst", "torch")
SCORE = f"""
import resource, sys
from metrics import ElicitedMetric
metric = ElicitedMetric.load(sys.argv[1])
true = ["malignant", "benign"] * 5_000
metric.score(true, true[::-1])
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, *(name for name in {HEAVY} if name in sys.modules))
"""
WINDOW_SECONDS = 8


def run(*command: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command and capture its output."""
    return subprocess.run([*map(str, command)], capture_output=True, encoding="utf-8", check=False, **more)


def uv() -> str:
    """Return the path of uv."""
    found = shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
    if not Path(found).exists():
        sys.exit("uv is not there: run tools/prepare.sh first, or put it on PATH.")
    return found


def installed(folder: Path, wheel: Path, extra: str) -> Path:
    """Make an environment with the wheel and an extra; return its folder of programs."""
    run(uv(), "venv", "--quiet", "--python", sys.executable, folder)
    target = f"elicit-metrics{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
    done = run(uv(), "pip", "install", "--quiet", "--python", folder / "bin" / "python", target)
    if done.returncode:
        sys.exit(done.stderr)
    return folder / "bin"


def size(folder: Path) -> float:
    """Return the size of all files below a folder in megabytes (10^6 bytes), without following links."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink()) / 1e6


def loading(programs: Path, metric: Path, repeats: int) -> str:
    """Return the processor time and memory of loading and scoring, and the heavy packages imported."""
    done = [run(programs / "python", "-c", SCORE, metric, cwd=metric.parent) for _ in range(repeats)]
    rows = [one.stdout.split() for one in done]
    seconds = [float(row[0]) for row in rows]
    memory = statistics.median(int(row[1]) for row in rows) / 1024
    heavy = ", ".join(rows[0][2:]) or "nothing heavy"
    return f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), {memory:.0f} MiB, {heavy}"


def window(programs: Path, home: Path) -> str:
    """Return the result of `elicit demo` under offscreen: whether its window is still open after some seconds."""
    places = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(home), "XDG_DATA_HOME": str(home)}
    command = [str(programs / "elicit"), "demo"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=places, cwd=home)
    time.sleep(WINDOW_SECONDS)
    open_still = demo.poll() is None
    demo.terminate()
    said = demo.communicate()[0].strip().splitlines()
    return (said or ["ended"])[0] if said or not open_still else f"window open after {WINDOW_SECONDS} s"


def shadowed(programs: Path, folder: Path) -> str:
    """Return what the command prints beside a file named metrics.py."""
    folder.mkdir()
    (folder / "metrics.py").write_text("accuracy = 1\n", encoding="utf-8")
    said = run(programs / "elicit", "--version", env={**os.environ, "PYTHONPATH": str(folder)}).stderr.strip()
    return said.replace(f"{folder}{os.sep}", "")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extras", nargs="+", default=["", "sklearn", "cli", "app"], help='"" is the library alone')
    parser.add_argument("--repeats", type=int, default=7)
    asked = parser.parse_args()
    for variable in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # users' programs are compiled once, not at every start
        os.environ.pop(variable, None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(uv(), "build", "--quiet", "--wheel", "--out-dir", folder / "dist", ROOT)
        wheel = next((folder / "dist").glob("*.whl"))
        metric = folder / "m.metric.json"
        ElicitedMetric.from_cost_matrix(["malignant", "benign"], [[0.0, 3.6], [1.0, 0.0]]).save(metric)
        print(f"wheel: {wheel.stat().st_size / 1e6:.1f} MB")
        for extra in asked.extras:
            programs = installed(folder / f"env-{extra}", wheel, extra)
            packages = len(run(uv(), "pip", "list", "--python", programs / "python").stdout.splitlines()) - 2
            print(f"\n{extra or 'library alone'}: {packages} packages, {size(folder / f'env-{extra}'):.0f} MB")
            print(f"  load and score: {loading(programs, metric, asked.repeats)}")
            said = run(programs / "elicit", "--help", cwd=folder)
            print(f"  elicit --help: {(said.stderr or said.stdout).strip().splitlines()[0]}")
            print(f"  elicit demo: {window(programs, folder)}")
            print(f"  beside metrics.py: {shadowed(programs, folder / f'beside-{extra}')}", flush=True)


if __name__ == "__main__":
    main()
