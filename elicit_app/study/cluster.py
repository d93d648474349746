"""Work on a Dask cluster, and tallying of large predictions files there, in parts that the workers read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from elicit_app.problem import Problem
from elicit_app.study.folder import STUDY_FILE
from elicit_app.study.model import ColumnMap
from elicit_app.study.parquet import BATCH_ROWS
from elicit_app.study.scoring import (
    AS_USUAL,
    Advance,
    ConcernSettings,
    ModelRows,
    Piece,
    RowsTally,
    Stated,
    as_counted,
    other_rows,
    require_same_cases,
    tally_rows,
)
from metrics import ElicitedMetric
from metrics.errors import require
from metrics.files import real_path
from metrics.policies.recalibration import Calibration

PART_ROWS = 32 * BATCH_ROWS
_RETRIES = 3
_PATIENCE = "20s"
_AT_ONCE = 64  # tasks submitted at a time

Finished = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Iterator[tuple[int, Any]]]
"""Applies a function to tuples of arguments and yields positions and results as they arrive."""


@dataclass(frozen=True)
class Part:
    """The same rows of all models."""

    models: tuple[ModelRows, ...]  # paths are as workers see the files
    first_row: int  # number of rows before these


def files_of_model(path: Path) -> list[Path]:
    """Return the files of one model: the file itself, or the Parquet files of a folder in the order of their names.

    Raises Problem if the folder holds no Parquet files, or it is a study folder, whose files are of several models.
    """
    if not path.is_dir():
        return [path]
    if (path / STUDY_FILE).exists():
        raise Problem(f"{path} is a study folder: name the predictions files in it one by one.")
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise Problem(f"There are no Parquet files in the folder {path}: name files of predictions.")
    return files


def parts_of(
    models: Sequence[tuple[str, Path]],
    rows: int = PART_ROWS,
    classes: Sequence[str] = (),
    columns: Sequence[ColumnMap | None] = (),
) -> list[Part]:
    """Split the rows of all models, each a predictions file or a folder of Parquet files, into parts at the same rows.

    A part has at most `rows` rows. `columns` is the meaning of the columns of each model, if not the usual names. The
    length of a CSV file is unknown before it is read, so with a CSV file everything is one part. Raises Problem if a
    file or folder cannot be used, or the models have different numbers of rows.
    """
    named = [name for name, _ in models]
    whole = [
        [Piece(real_path(file), columns=one) for file in files_of_model(path)]
        for (_, path), one in zip_longest(models, columns)
    ]
    known = [[(piece, piece.opened(classes).table.rows) for piece in pieces] for pieces in whole]
    if any(found is None for pieces in known for _, found in pieces):
        return [Part(tuple(ModelRows(name, tuple(own)) for name, own in zip(named, whole, strict=True)), 0)]
    totals = [sum(found or 0 for _, found in pieces) for pieces in known]
    for name, total in zip(named, totals, strict=True):
        if total != totals[0]:
            raise other_rows(name, total, named[0], totals[0])
    return [
        Part(
            tuple(
                ModelRows(name, tuple(_pieces(pieces, start, min(start + rows, totals[0]))))
                for name, pieces in zip(named, known, strict=True)
            ),
            start,
        )
        for start in range(0, max(totals[0], 1), rows)
    ]


def _pieces(whole: Sequence[tuple[Piece, int | None]], start: int, stop: int) -> Iterator[Piece]:
    """Yield the pieces with the rows from `start` to `stop` of consecutive files."""
    before = 0
    for piece, known in whole:
        here = known or 0
        first, last = max(start - before, 0), min(stop - before, here)
        if first < last or not here:
            # open-ended at the end of the file, so that a truncated file is noticed
            yield piece._replace(start=first, stop=None if last == here else last)
        before += here


TallySettings = tuple[ElicitedMetric, Sequence[Calibration] | None, ConcernSettings]


def tally_part(
    part: Part, metric: ElicitedMetric, calibrations: Sequence[Calibration] | None, concern: ConcernSettings
) -> RowsTally | Problem:
    """Tally one part, or return its problem; workers run this function."""
    try:
        return tally_rows(part.models, metric, part.first_row, calibrations, concern=concern)
    except Problem as problem:
        # returned, not raised: Dask would retry, and the file does not change
        return problem


def tally_on_cluster(
    metric: ElicitedMetric,
    parts: Sequence[Part],
    *,
    scheduler: str | None = None,
    advance: Advance | None = None,
    concern: ConcernSettings = AS_USUAL,
    stated: Stated = as_counted,
) -> RowsTally:
    """Tally the predictions of models, in parts from `parts_of`, on a Dask cluster; see `cluster`.

    The result is the same as in one process, whichever worker did what. `advance` is called with the number of parts
    done. Raises Problem if Dask is missing, the scheduler does not answer, workers are lost repeatedly, a file cannot
    be used, or the models were not tried on the same cases.
    """
    bare = replace(metric, samples=None)  # a tally does not need the draws, of which there may be many
    with cluster(scheduler) as finished:
        tally = _merged(finished, parts, (bare, None, concern), advance)
        require_same_cases(_whole(parts), tally)
        found = tally.calibrations(stated)
        if found is not None:
            tally = _merged(finished, parts, (bare, found, concern), None)
    return tally


def _whole(parts: Sequence[Part]) -> list[ModelRows]:
    return [
        ModelRows(model.name, tuple(piece for part in parts for piece in part.models[index].pieces))
        for index, model in enumerate(parts[0].models)
    ]


def _merged(finished: Finished, parts: Sequence[Part], settings: TallySettings, advance: Advance | None) -> RowsTally:
    """Return the tally of all parts, merged in order, so that the result does not depend on timing."""
    done: dict[int, RowsTally] = {}
    for position, tally in finished(tally_part, [(part, *settings) for part in parts]):
        done[position] = tally
        if advance is not None:
            advance(1)
    metric, calibrations, concern = settings
    whole = RowsTally(metric, [model.name for model in parts[0].models], calibrations, concern)
    for position in range(len(parts)):
        whole.merge(done[position])
    return whole


@contextmanager
def cluster(scheduler: str | None) -> Iterator[Finished]:
    """Provide a function that runs tasks on the workers of a Dask cluster.

    `scheduler` is the address of one whose workers have this package and see the same files; None starts workers on
    this machine, one per core. ``finished(function, tasks)`` yields the position of each task, a tuple of arguments,
    and the function's result as they arrive. The work of a lost worker is repeated; a Problem that is returned is
    raised. Raises Problem if Dask is missing, the scheduler does not answer, or workers are lost repeatedly.
    """
    distributed = _distributed()
    with _client(distributed, scheduler) as client:

        def finished(function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
            waiting = iter(enumerate(tasks))
            running: dict[Any, int] = {}
            while True:
                for position, task in islice(waiting, _AT_ONCE - len(running)):
                    running[client.submit(function, *task, retries=_RETRIES, pure=False)] = position
                if not running:
                    return
                for future in _first_done(distributed, client, running):
                    yield running.pop(future), _result(distributed, future)

        yield finished


def _first_done(distributed: Any, client: Any, running: dict[Any, int]) -> list[Any]:
    """Wait until some tasks are done; raise an error if no worker is left to do them."""
    lonely = False
    while True:
        try:
            return list(distributed.wait(list(running), timeout=_PATIENCE, return_when="FIRST_COMPLETED").done)
        except TimeoutError as error:
            alone = not client.scheduler_info()["workers"]
            if lonely and alone:
                raise Problem("There are no workers left: start some, or give them more memory.") from error
            lonely = alone


def _result(distributed: Any, future: Any) -> Any:
    try:
        done = future.result()
    except distributed.KilledWorker as error:
        raise Problem("Workers were lost again and again: give them more memory.") from error
    if isinstance(done, Problem):
        raise done
    return done


def _distributed() -> Any:
    """Return the module `distributed`, which is untyped."""
    require("distributed")
    distributed = import_module("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return distributed


@contextmanager
def _client(distributed: Any, scheduler: str | None) -> Iterator[Any]:
    if scheduler is None:
        with (
            distributed.LocalCluster(threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
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
