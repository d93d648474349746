"""Speed and memory of the measures, as ratios within one run: `python benchmarks/measures.py [--rows N] [--repeats R]`.

Every measure includes the validation of its arguments. A "read" is the time of `P.sum()`, one pass over the array.
scikit-learn is timed if it has the measure; the literal loop is the paper's algorithm row by row, timed on a sample of
the rows and scaled up. Times are the minimum of several repetitions; memory is the peak above the initial level. If
other programs keep the processors busy, elapsed times say little; then compare the reads of processor time, summed over
all threads.
"""

from __future__ import annotations

import argparse
import math
import os
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn import metrics as sklearn_metrics

import metrics

N_CLASSES, TOP_K, N_INTERVALS, FACTOR = 10, 5, 200, 0.5
# 28 released pairs: each digit may be taken for the next three, and the last one for the first.
RELEASES = [(i, *((i + j) % N_CLASSES for j in (1, 2, 3))) for i in range(9)] + [(9, 0)]


@dataclass
class Line:
    name: str
    seconds: float
    megabytes: float
    reads: float
    processor_reads: float
    times_faster: float | None
    target: str
    met: bool


def least_times(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the minimum elapsed time and the minimum processor time."""
    work()
    elapsed, used = [], []
    for _ in range(repeats):
        start, used_before = time.perf_counter(), time.process_time()
        work()
        elapsed.append(time.perf_counter() - start)
        used.append(time.process_time() - used_before)
    return min(elapsed), min(used)


def peak_megabytes(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def literal_concern(true: list[int], rows: list[list[float]], factors: list[list[float]]) -> float:
    total = 0.0
    for y, row in zip(true, rows, strict=True):
        chosen = sorted(range(len(row)), key=lambda j: -row[j])[:TOP_K]
        levels = {}
        for j in chosen:
            interval = min(int(row[j] * N_INTERVALS), N_INTERVALS - 1)
            levels[j] = interval if j == y else N_INTERVALS - 1 - interval
        penalty = {j: -math.log(max(level, 1e-7) / (N_INTERVALS - 1)) for j, level in levels.items()}
        if y not in penalty:
            total += sum(penalty.values()) / TOP_K
            continue
        concern = {j: factors[y][j] for j in chosen if j != y}
        others = sum(concern.values())
        total += penalty[y] / 2 + sum(c * penalty[j] for j, c in concern.items()) / others / 2
    return total / len(true)


def measure(n_rows: int, repeats: int) -> tuple[float, list[Line]]:
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(N_CLASSES, 0.3), n_rows)
    # A model that is right in most cases: the true class is drawn from its own probabilities.
    true = (proba.cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1).clip(max=N_CLASSES - 1)
    predicted = proba.argmax(axis=1)
    costs = rng.random((N_CLASSES, N_CLASSES))
    factors = metrics.release_matrix(RELEASES, FACTOR, N_CLASSES)
    read, read_processor = least_times(proba.sum, 3 * repeats)
    sample = min(n_rows, 20_000)
    small = true[:sample].tolist(), proba[:sample].tolist(), factors.tolist()
    literal = least_times(lambda: literal_concern(*small), 1)[0] * n_rows / sample

    def line(
        name: str,
        work: Callable[[], object],
        target: str,
        reference: float | None = None,
        *,
        faster: float = 0,
        most_reads: float = math.inf,
        most_megabytes: float = math.inf,
    ) -> Line:
        (seconds, processor), megabytes = least_times(work, repeats), peak_megabytes(work)
        ratio = None if reference is None else reference / seconds
        met = (ratio or math.inf) >= faster and seconds / read <= most_reads and megabytes <= most_megabytes
        return Line(name, seconds, megabytes, seconds / read, processor / read_processor, ratio, target, met)

    def concern() -> object:
        return metrics.meta_pattern_concern_score(
            true, proba, top_k=TOP_K, n_intervals=N_INTERVALS, release_factors=factors
        )

    few = max(2, repeats // 3)
    confusion, _ = least_times(lambda: sklearn_metrics.confusion_matrix(true, predicted), few)
    log_loss, _ = least_times(lambda: sklearn_metrics.log_loss(true, proba), few)
    return read, [
        line(
            "confusion_matrix",
            lambda: metrics.confusion_matrix(true, predicted),
            ">= 20x scikit-learn",
            confusion,
            faster=20,
        ),
        line(
            "negative_log_likelihood",
            lambda: metrics.negative_log_likelihood(true, proba),
            ">= 15x scikit-learn, <= 20 MB",
            log_loss,
            faster=15,
            most_megabytes=20,
        ),
        line(
            "meta_pattern_concern_score",
            concern,
            ">= 80x literal loop, <= 40 reads, <= 10 MB",
            literal,
            faster=80,
            most_reads=40,
            most_megabytes=10,
        ),
        line(
            "expected_misclassification_cost",
            lambda: metrics.expected_misclassification_cost(true, proba, costs),
            "<= 12 reads",
            most_reads=12,
        ),
        line(
            "expected_calibration_error",
            lambda: metrics.expected_calibration_error(true, proba, n_bins=15),
            "<= 20 reads",
            most_reads=20,
        ),
        line("misclassification_cost", lambda: metrics.misclassification_cost(true, predicted, costs), ""),
        line("cost_sensitive_decisions", lambda: metrics.cost_sensitive_decisions(proba, costs), ""),
        line("probability_squared_error", lambda: metrics.probability_squared_error(true, proba), ""),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="number of rows of 10 probabilities")
    parser.add_argument("--repeats", type=int, default=7, help="repetitions, of which the least time counts")
    options = parser.parse_args()
    read, lines = measure(options.rows, options.repeats)
    load, processors = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan, os.cpu_count() or 1
    missed = "MISSED: " if not load > processors else f"missed, but {load:.1f} programs share {processors} processors: "
    print(
        f"{options.rows:,} rows x {N_CLASSES} classes, float64; one read {1e3 * read:.2f} ms; load average {load:.1f}"
    )
    print(f"{'measure':33s}{'ms':>9s}{'MB':>8s}{'reads':>8s}{'CPU reads':>11s}{'faster':>9s}   target")
    for each in lines:
        faster = "" if each.times_faster is None else f"{each.times_faster:.1f}x"
        verdict = ("met: " if each.met else missed) + each.target if each.target else ""
        figures = (
            f"{1e3 * each.seconds:9.1f}{each.megabytes:8.1f}{each.reads:8.1f}{each.processor_reads:11.1f}{faster:>9s}"
        )
        print(f"{each.name:33s}{figures}   {verdict}")


if __name__ == "__main__":
    main()
