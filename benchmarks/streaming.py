"""Scoring a Parquet file larger than memory: `python benchmarks/streaming.py [--rows N] [--compression NAME] [...]`.

A file of N rows (a label of three classes, three probabilities) is written in row groups to a temporary folder. It is
then read, checked and accumulated as `elicit score` does, in its own process, whose peak memory is recorded. For
comparison, another process feeds rows already in memory, the same 5,000,000 repeatedly, to the same accumulators; that
is the speed limit. Times are the minimum of several repetitions. If other programs keep the processors busy, elapsed
times say little; then compare the processor time, summed over all threads. Most of the cost of reading is
decompression: snappy is what pandas, Spark and Arrow write, zstd what polars writes.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from elicit_app.study.checking import Batch
from elicit_app.study.scoring import ModelRows, Piece, RowsTally, tally_rows
from metrics import ElicitedMetric

CLASSES = ("benign", "naevus", "melanoma")
Compression = Literal["snappy", "zstd", "lz4", "uncompressed"]
COSTS = [[0, 0.1, 0.2], [0.1, 0, 0.3], [1, 0.8, 0]]
PART_ROWS, ROW_GROUP, IN_MEMORY = 1_000_000, 262_144, 5_000_000
MOST_MEGABYTES, LEAST_SHARE = 1024 * 1.048576, 0.6


@dataclass(frozen=True)
class Run:
    """Seconds per row, of the clock and of the processors, and the peak memory of the process."""

    elapsed: float
    processor: float
    megabytes: float


def metric() -> ElicitedMetric:
    return ElicitedMetric.from_cost_matrix(CLASSES, COSTS)


def cases(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return true classes, drawn from the probabilities, and probabilities of shape (rows, 3)."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet((0.6, 0.4, 0.3), rows)
    return (proba.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(max=len(CLASSES) - 1), proba


def write_file(path: Path, rows: int, compression: Compression) -> None:
    """Write the predictions in parts, then as one file of many row groups."""
    parts = []
    for part, start in enumerate(range(0, rows, PART_ROWS)):
        true, proba = cases(min(PART_ROWS, rows - start), part)
        columns = {f"proba_{name}": proba[:, j] for j, name in enumerate(CLASSES)}
        parts.append(path.with_name(f"part-{part:05d}.parquet"))
        pl.DataFrame({"y_true": np.array(CLASSES)[true], **columns}).write_parquet(
            parts[-1], compression="uncompressed"
        )
    pl.scan_parquet(parts).sink_parquet(path, row_group_size=ROW_GROUP, compression=compression)
    for part_file in parts:
        part_file.unlink()


def timed_stream(path: Path) -> Run:
    start, used = time.perf_counter(), time.process_time()
    tally = tally_rows([ModelRows("model", (Piece(path),))], metric())
    return _run(start, used, int(tally.cases.counts[0].sum()))


def timed_memory(rows: int) -> Run:
    true, proba = cases(min(rows, IN_MEMORY), 0)
    RowsTally(metric(), ["model"]).update([Batch(true[:PART_ROWS], proba[:PART_ROWS])], 0)
    tally = RowsTally(metric(), ["model"])
    start, used = time.perf_counter(), time.process_time()
    for done in range(0, rows, IN_MEMORY):
        tally.update([Batch(true[: rows - done], proba[: rows - done])], done)
    return _run(start, used, int(tally.cases.counts[0].sum()))


def _run(start: float, used: float, rows: int) -> Run:
    elapsed, processor = time.perf_counter() - start, time.process_time() - used
    return Run(elapsed / rows, processor / rows, peak_megabytes())


def peak_megabytes() -> float:
    """Return the peak memory of this process; on Linux `ru_maxrss` includes that of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s*(\d+) kB", status.read_text())[0]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def in_own_process(kind: str, argument: object) -> Run:
    """Return the result of `timed_stream` or `timed_memory` in a fresh process, whose memory is its own."""
    command = [sys.executable, __file__, "--only", kind, str(argument)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Run(*map(float, done.stdout.split()))


def least(runs: list[Run]) -> Run:
    """Return the minimum times and the maximum memory."""
    return Run(min(run.elapsed for run in runs), min(run.processor for run in runs), max(run.megabytes for run in runs))


def report(folder: Path, rows: int, compression: Compression, repeats: int) -> None:
    """Write one file, measure, and print two lines and the verdict."""
    path = folder / f"{compression}.parquet"
    write_file(path, rows, compression)
    size = path.stat().st_size / 1e6
    pairs = [(in_own_process("stream", path), in_own_process("memory", rows)) for _ in range(repeats)]
    path.unlink()
    streamed, memory = (least([pair[i] for pair in pairs]) for i in range(2))
    share, of_processor = memory.elapsed / streamed.elapsed, memory.processor / streamed.processor
    met = "met" if share >= LEAST_SHARE and streamed.megabytes <= MOST_MEGABYTES else "MISSED"
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{rows:,} rows x {len(CLASSES)} classes, Parquet ({compression}) of {size:,.0f} MB; load average {load:.1f}")
    print(f"{'':12s}{'ns a row':>10s}{'processor ns':>14s}{'peak MB':>9s}")
    for name, run in (("streamed", streamed), ("in memory", memory)):
        print(f"{name:12s}{1e9 * run.elapsed:10.1f}{1e9 * run.processor:14.1f}{run.megabytes:9.0f}")
    print(f"streaming reaches {share:.0%} of the speed in memory, {of_processor:.0%} by processor time")
    print(f"{met}: >= {LEAST_SHARE:.0%} within {MOST_MEGABYTES:,.0f} MB\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the file (the target is 100,000,000)")
    parser.add_argument(
        "--compression", nargs="*", default=["snappy", "zstd"], help="of the file: snappy, zstd, lz4, uncompressed"
    )
    parser.add_argument("--folder", type=Path, help="where to write the file; a temporary folder by default")
    parser.add_argument("--repeats", type=int, default=3, help="repetitions, of which the least time counts")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        kind, argument = options.only
        run = timed_stream(Path(argument)) if kind == "stream" else timed_memory(int(argument))
        print(run.elapsed, run.processor, run.megabytes)
        return
    with TemporaryDirectory(dir=options.folder) as folder:
        for compression in options.compression:
            report(Path(folder), options.rows, compression, options.repeats)


if __name__ == "__main__":
    main()
