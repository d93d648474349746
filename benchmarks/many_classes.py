"""Commands on a study of fifty classes, as whole processes: `python benchmarks/many_classes.py [--classes K] [...]`.

Makes a study of two models and three sittings of simulated experts in a temporary folder, or in a folder that is named
and kept. Each command then runs several times as its own process. Printed are the medians of the elapsed and of the
processor time, over all threads, and the greatest memory. If other programs keep the processors busy, elapsed times say
little; then compare the processor time, which must stay below the same limit.
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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from elicit_app.cli.main import ONE_THREAD

CLASSES, CASES, EXPERTS, QUESTIONS = 50, 5_000, 3, 30
MOST_SECONDS, MOST_MEBIBYTES = 2.0, 500.0
RESULT_PAGE = """
import sys
from pathlib import Path
from elicit_app.session.result import result_view
from elicit_app.session.session import Session
from elicit_app.study import open_study
result_view(Session.open_read_only(Path(sys.argv[2]), open_study(sys.argv[1])))
"""
_KIB = 1 if sys.platform == "darwin" else 1024  # bytes in the unit of `ru_maxrss`


@dataclass(frozen=True)
class Run:
    """Seconds of the clock and of the processors, and the peak memory of a command."""

    elapsed: float
    processor: float
    mebibytes: float


def run(command: list[str], folder: Path) -> Run:
    """Run a command in a folder; end the benchmark with what it printed if it fails."""
    start = time.perf_counter()
    with (folder / "printed").open("wb") as printed:
        alone = os.environ | ONE_THREAD  # as the program sets it for itself
        process = subprocess.Popen(command, cwd=folder, stdout=printed, stderr=subprocess.STDOUT, env=alone)
        _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{' '.join(command)}\n{(folder / 'printed').read_text(encoding='utf-8')}")
    return Run(elapsed, used.ru_utime + used.ru_stime, used.ru_maxrss * _KIB / 2**20)


def elicit(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "elicit_app", *arguments]


def write_predictions(path: Path, classes: int, cases: int, seed: int) -> None:
    """Write a model's predictions; models of other seeds are about the same cases."""
    names = np.array([f"class {number:02d}" for number in range(classes)])
    true = np.random.default_rng(0).permutation(np.arange(cases) % classes)
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((cases, classes))
    scores[np.arange(cases), true] += 4.0 * rng.random(cases)
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    pl.DataFrame({"y_true": names[true], **dict(zip(names, proba.T, strict=True))}).rename(
        {name: f"proba_{name}" for name in names.tolist()}
    ).write_csv(path)


def prepare(folder: Path, classes: int, cases: int) -> None:
    """Make the study and the sittings, unless they are there."""
    if (folder / f"{EXPERTS}-answers.session.jsonl").exists():
        return
    for seed, name in enumerate(("one.csv", "two.csv"), start=1):
        write_predictions(folder / name, classes, cases, seed)
    run(elicit("study", "new", "study", "one.csv", "two.csv"), folder)
    run(elicit("study", "pack", "study", "study.elicit", "--questions", str(QUESTIONS)), folder)
    for expert in range(1, EXPERTS + 1):
        asked = ("--simulate", "random", "--seed", str(expert), "--expert", f"Expert {expert}")
        sitting = ("--questions", str(QUESTIONS), "--session", f"study/sessions/{expert}.session.jsonl")
        (folder / "study" / "sessions").mkdir(exist_ok=True)
        run(elicit("ask", "study", *asked, *sitting, "--out", f"{expert}.metric.json"), folder)
        run(elicit("ask", "study.elicit", *asked, "--out", f"{expert}-answers.session.jsonl"), folder)


def commands() -> dict[str, list[str]]:
    """Return the commands by name; all are run in the folder of the study."""
    session, metric = "study/sessions/1.session.jsonl", "1.metric.json"
    metrics = [f"{expert}.metric.json" for expert in range(1, EXPERTS + 1)]
    answers = [f"{expert}-answers.session.jsonl" for expert in range(1, EXPERTS + 1)]
    exports = {
        "sklearn": "py",
        "weka": "txt",
        "mlr3": "R",
        "csv": "csv",
        "markdown": "md",
        "html": "html",
        "pdf": "pdf",
    }
    return {
        "session check": elicit("session", "check", session),
        "session check, with metric": elicit("session", "check", session, metric),
        **{
            f"session report, {ending}": elicit("session", "report", session, "--out", f"report.{ending}", "--force")
            for ending in ("md", "html", "pdf")
        },
        "metric show": elicit("metric", "show", metric),
        "metric check": elicit("metric", "check", metric),
        **{
            f"metric export, {name}": elicit(
                "metric", "export", metric, "--format", name, "--out", f"m.{ending}", "--force"
            )
            for name, ending in exports.items()
        },
        "metric export, with models": elicit("metric", "export", metric, "study", "--out", "models.html", "--force"),
        "metric pool, two": elicit("metric", "pool", *metrics[:2], "--out", "pooled.metric.json", "--force"),
        "metric pool, three": elicit("metric", "pool", *metrics, "--out", "pooled.metric.json", "--force"),
        "score": elicit("score", metric, "one.csv", "two.csv"),
        "study pack": elicit("study", "pack", "study", "again.elicit", "--force"),
        "study collect": elicit("study", "collect", "copy", *answers),
        "study report": elicit("study", "report", "study", "--out", "experts.pdf", "--force"),
        "the result's numbers": [sys.executable, "-c", RESULT_PAGE, "study", session],
    }


def measured(command: list[str], folder: Path, repeats: int) -> Run:
    """Return the median times and the greatest memory."""
    runs = []
    for _ in range(repeats):
        shutil.rmtree(folder / "copy", ignore_errors=True)
        if "copy" in command:  # answers are filed once
            shutil.copytree(folder / "study", folder / "copy", ignore=shutil.ignore_patterns("sessions"))
        runs.append(run(command, folder))
    elapsed, processor = (statistics.median(getattr(one, name) for one in runs) for name in ("elapsed", "processor"))
    return Run(elapsed, processor, max(one.mebibytes for one in runs))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=CLASSES)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="commands whose names contain this")
    parser.add_argument("--folder", type=Path, help="where to keep the study and the sittings for another run")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if asked.folder is None else asked.folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        prepare(folder, asked.classes, asked.cases)
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
        size = (folder / "1.metric.json").stat().st_size / 1e6
        print(f"{asked.classes} classes, {asked.cases:,} cases, {QUESTIONS} questions; metric file {size:.1f} MB")
        print(f"load average {load:.1f}; limits {MOST_SECONDS:g} s and {MOST_MEBIBYTES:g} MiB")
        print(f"{'':30s}{'s':>7s}{'processor s':>13s}{'MiB':>6s}")
        for name, command in commands().items():
            if asked.only not in name:
                continue
            found = measured(command, folder, asked.repeats)
            met = found.elapsed <= MOST_SECONDS and found.mebibytes <= MOST_MEBIBYTES
            numbers = f"{found.elapsed:7.2f}{found.processor:13.2f}{found.mebibytes:6.0f}"
            print(f"{name:30s}{numbers}{'' if met else '  MISSED'}", flush=True)


if __name__ == "__main__":
    main()
