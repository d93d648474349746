"""What uncertainty costs in time: `python benchmarks/scoring.py [--rows N] [--models M] [--draws D] [--folder DIR]`.

Files of N rows and three classes are written for M models, then scored as `elicit score` does, with and without draws,
each in its own process, whose peak memory is recorded. Times are the minimum of three. Unless --calibrated is given,
the first model's probabilities are overconfident, so that it is recalibrated and all rows are read twice. With --people
M the rows of the first model are of people with M rows each, named in a column.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from elicit_app.study.scoring import ModelRows, Piece, scores_of, tally_models
from metrics import ElicitedMetric

CLASSES = ("benign", "naevus", "melanoma")
COSTS = np.array([[0, 0.1, 0.2], [0.1, 0, 0.3], [1, 0.8, 0]])


def metric() -> ElicitedMetric:
    rng = np.random.default_rng(1)
    samples = -COSTS[~np.eye(3, dtype=bool)] * np.exp(0.3 * rng.standard_normal((2_000, 6)))
    return ElicitedMetric.from_cost_matrix(CLASSES, COSTS, samples=samples, population=1_000)


def write_files(folder: Path, rows: int, models: int, calibrated: bool, people: int) -> None:
    rng = np.random.default_rng(0)
    scores = 1.5 * rng.standard_normal((rows, 3))
    proba = np.exp(scores)
    proba /= proba.sum(axis=1, keepdims=True)
    true = (proba.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(max=2)
    for model in range(models):
        seen = np.exp((1 if calibrated or model else 2) * (scores + 0.2 * model * rng.standard_normal((rows, 3))))
        seen /= seen.sum(axis=1, keepdims=True)
        columns = {f"proba_{name}": seen[:, j] for j, name in enumerate(CLASSES)}
        frame = pl.DataFrame({"y_true": np.array(CLASSES)[true], **columns})
        if people and not model:
            frame = frame.with_columns(pl.format("MRN {}", pl.int_range(rows) // people).alias("patient_id"))
        frame.write_parquet(folder / f"model-{model}.parquet")


def timed(folder: Path, draws: int) -> None:
    start, used = time.perf_counter(), time.process_time()
    under = metric()
    models = [ModelRows(path.stem, (Piece(path),)) for path in sorted(folder.glob("*.parquet"))]
    judgement = scores_of(tally_models(models, under), under, draws=draws).judgement
    elapsed, processor = time.perf_counter() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{elapsed:.3f} {processor:.3f} {peak:.0f} {judgement.grouped} {len(judgement.policies)}")


def measured(folder: Path, draws: int) -> tuple[float, float, float]:
    runs = []
    for _ in range(3):
        command = [sys.executable, __file__, "--folder", str(folder), "--draws", str(draws), "--inside"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        runs.append([float(number) for number in printed.split()[:3]])
    elapsed, processor, peak = np.array(runs).T
    print(f"{draws:,} draws: {elapsed.min():.2f} s, {processor.min():.2f} s of the processor, {peak.max():,.0f} MiB")
    return float(elapsed.min()), float(processor.min()), float(peak.max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--draws", type=int, default=4_000)
    parser.add_argument("--calibrated", action="store_true")
    parser.add_argument("--people", type=int, default=0, metavar="M")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        timed(options.folder, options.draws)
        return
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        write_files(folder, options.rows, options.models, options.calibrated, options.people)
        without, with_draws = (measured(folder, draws) for draws in (0, options.draws))
    times = with_draws[0] / without[0], with_draws[1] / without[1]
    print(f"with both doubts {times[0]:.1f} times as long, {times[1]:.1f} times the processor's time")


if __name__ == "__main__":
    main()
