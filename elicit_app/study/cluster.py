"""Adding up predictions on a Dask cluster: models of many or large files, in parts that workers read themselves."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from elicit_app.problem import Problem
from elicit_app.study.checking import demand_comparable
from elicit_app.study.folder import STUDY_FILE
from elicit_app.study.reading import open_predictions
from elicit_app.study.scoring import Advance, Tally, tally_rows
from elicit_app.study.tables import BATCH_ROWS, PARQUET
from metrics import ElicitedMetric

PART_ROWS = 32 * BATCH_ROWS
_RETRIES = 3
_PATIENCE = "20s"


@dataclass(frozen=True)
class Part:
    """Some rows of one file of a model.

    Parameters
    ----------
    model : int
        Position of the model.
    path : Path
        The file, as workers see it.
    start, stop : int, int or None
        Its rows; None: to the end.
    before : int
        Number of the model's rows before them.
    """

    model: int
    path: Path
    start: int
    stop: int | None
    before: int


def files_of_model(path: Path) -> list[Path]:
    """Return the files of one model: the file itself, or the Parquet files of a folder in the order of their names.

    Raises
    ------
    Problem
        The folder holds no Parquet files, or it is a study folder, whose files are of several models.
    """
    if not path.is_dir():
        return [path]
    if (path / STUDY_FILE).exists():
        raise Problem(f"{path} is a study folder: name the predictions files in it one by one.")
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise Problem(f"There are no Parquet files in the folder {path}: name files of predictions.")
    return files


def parts_of(models: Sequence[Path], rows: int = PART_ROWS) -> list[Part]:
    """Return the work to share out: all rows of all models, Parquet files in parts of at most `rows` rows.

    Parameters
    ----------
    models : sequence of Path
        Per model a predictions file, or a folder of Parquet files that follow each other in the order of their names.
    rows : int
        Most rows of a part; CSV and NPZ files stay whole.

    Raises
    ------
    Problem
        A file or folder cannot be used.
    """
    parts = []
    for model, path in enumerate(models):
        before = 0
        for file in files_of_model(path):
            known = open_predictions(file).table.rows or 1
            cut = rows if file.suffix.lower() in PARQUET else known
            starts = range(0, known, cut)
            for start in starts:
                stop = None if start == starts[-1] else start + cut
                parts.append(Part(model, file.resolve(), start, stop, before + start))
            before += known
    return parts


def tally_part(part: Part, metric: ElicitedMetric) -> Tally | Problem:
    """Add up one part, or return what is wrong with it; this is what a worker runs."""
    try:
        file = replace(open_predictions(part.path), start=part.start, stop=part.stop)
        return tally_rows(file, metric, part.before)
    except Problem as problem:
        # not raised: a file does not get better by trying again
        return problem


def tally_on_cluster(
    metric: ElicitedMetric,
    parts: Sequence[Part],
    *,
    scheduler: str | None = None,
    advance: Advance | None = None,
) -> list[Tally]:
    """Add up the predictions of models on a Dask cluster; what a lost worker had done is done again.

    Parameters
    ----------
    metric : ElicitedMetric
        What the models are judged by.
    parts : sequence of Part
        From `parts_of`.
    scheduler : str, optional
        Address of a scheduler whose workers have this package and see the same files; by default workers are started
        on this machine, one a core.
    advance : callable, optional
        Told the number of parts done.

    Returns
    -------
    list of Tally
        One a model, the same whatever was done where.

    Raises
    ------
    Problem
        Dask is missing, the scheduler does not answer, workers are lost again and again, or a file cannot be used.
    """
    bare = replace(metric, samples=None)  # the draws are not needed to add up, and there can be many
    done: dict[int, Tally] = {}
    distributed = _distributed()
    with _client(distributed, scheduler) as client:
        for position, tally in _finished(distributed, client, parts, bare):
            done[position] = tally
            if advance is not None:
                advance(1)
    tallies: dict[int, Tally] = {}
    for position, part in enumerate(parts):
        tallies.setdefault(part.model, Tally(metric)).merge(done[position])
    for part in parts:
        demand_comparable(part.path, metric.classes, tallies[part.model].cases)
    return [*tallies.values()]


def _finished(
    distributed: Any, client: Any, parts: Sequence[Part], metric: ElicitedMetric
) -> Iterator[tuple[int, Tally]]:
    """Yield the positions of parts and their tallies as they come."""
    futures = {
        client.submit(tally_part, part, metric, retries=_RETRIES, pure=False): position
        for position, part in enumerate(parts)
    }
    try:
        for future, done in distributed.as_completed(futures, with_results=True):
            if isinstance(done, Problem):
                raise done
            yield futures[future], done
    except distributed.KilledWorker as error:
        raise Problem("Workers were lost again and again: give them more memory.") from error


def _distributed() -> Any:
    """Return the module `distributed`, which has no types of its own."""
    try:
        distributed = import_module("distributed")
    except ModuleNotFoundError as error:
        raise Problem("Dask is not installed: pip install 'elicit[cluster]'.") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return distributed


@contextmanager
def _client(distributed: Any, scheduler: str | None) -> Iterator[Any]:
    if scheduler is None:
        with (
            distributed.LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise Problem(f"There is no Dask scheduler at {scheduler}: check the address and that it runs.") from error
    with client:
        yield client
