"""Predictions files as tables: one file of any format gives its column names and its rows in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elicit_app.problem import Finding, Problem
from elicit_app.study.findings import refused

if TYPE_CHECKING:
    import polars as pl

# A multiple of the rows that the measures take at a time, so that no batch ends with a few rows on their own.
BATCH_ROWS = 64_000
PARQUET = (".parquet", ".pq")
_WHERE = "Choose a CSV, Parquet or NPZ file of predictions."


@dataclass(frozen=True)
class Table:
    """A predictions file that has been opened, its rows not yet read.

    Parameters
    ----------
    path : Path
        The file.
    columns : tuple of str
        Names of the columns as written, in order.
    frames : callable
        ``frames(wanted, start, stop)`` yields polars frames of the columns at the positions `wanted`, in the order
        wanted, of the rows from `start` (from 0) up to `stop` (None: the end); a new iteration each time.
    rows : int or None
        Number of rows where that is known without reading them all.
    why_empty : callable or None
        For CSV, whose cells are text and in which blank lines do not count as rows: ``why_empty(row)`` tells for a row
        with an empty cell what is wrong with its shape, None where it is the cell alone.
    """

    path: Path
    columns: tuple[str, ...]
    frames: Callable[[Sequence[int], int, int | None], Iterator[pl.DataFrame]]
    rows: int | None
    why_empty: Callable[[int], str | None] | None = None


def open_table(path: Path) -> Table:
    """Open a predictions file, told apart by its ending.

    Parameters
    ----------
    path : Path
        A `.csv`, `.parquet` (or `.pq`) or `.npz` file.

    Returns
    -------
    Table
        Nothing but the header has been read, except from NPZ.

    Raises
    ------
    Problem
        There is no such file, or it is not what its ending says.
    """
    _demand_file(path)
    kinds = {".csv": _open_csv, ".npz": _open_npz, **dict.fromkeys(PARQUET, _open_parquet)}
    opener = kinds.get(path.suffix.lower())
    if opener is None:
        raise refused(path, Finding(f"The ending “{path.suffix}” is none of .csv, .parquet and .npz", _WHERE))
    try:
        return opener(path)
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from error


def _demand_file(path: Path) -> None:
    if path.is_dir():
        raise Problem(f"{path} is a folder, not a predictions file: {_WHERE[0].lower()}{_WHERE[1:]}")
    if not path.exists():
        raise Problem(f"There is no file {path}: check the name and the folder.")


def _open_csv(path: Path) -> Table:
    from elicit_app.study.csv_text import explain, read_header, short_row

    columns = read_header(path)

    def scan() -> pl.LazyFrame:
        import polars as pl

        # positions as names: the header may name a column twice
        return pl.scan_csv(
            path,
            infer_schema=False,
            glob=False,
            with_column_names=lambda names: [str(position) for position in range(len(names))],
        )

    def frames(wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        import polars as pl

        try:
            yield from _batches(scan(), [str(position) for position in wanted], start, stop)
        except pl.exceptions.PolarsError as error:
            raise explain(path, len(columns), str(error)) from error

    return Table(path, tuple(columns), frames, None, lambda row: short_row(path, row, len(columns)))


def _open_parquet(path: Path) -> Table:
    import polars as pl

    scan = pl.scan_parquet(path, glob=False)
    try:
        columns = scan.collect_schema().names()
        rows = int(scan.select(pl.len()).collect().item())
    except pl.exceptions.PolarsError as error:
        raise _damaged(path) from error

    def frames(wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        expected = (rows if stop is None else min(stop, rows)) - start
        try:
            for frame in _batches(scan, [columns[position] for position in wanted], start, stop):
                expected -= frame.height
                yield frame
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _damaged(path) from error
        if expected:
            raise _damaged(path)

    return Table(path, tuple(columns), frames, rows)


def _open_npz(path: Path) -> Table:
    from elicit_app.study.npz import read_arrays

    columns, frame = read_arrays(path)

    def frames(wanted: Sequence[int], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        part = frame[start:stop, list(wanted)]
        yield from part.iter_slices(BATCH_ROWS)

    return Table(path, columns, frames, frame.height)


def _batches(scan: pl.LazyFrame, names: list[str], start: int, stop: int | None) -> Iterator[pl.DataFrame]:
    rows = scan.select(names)
    if start or stop is not None:
        rows = rows.slice(start, None if stop is None else stop - start)
    return in_batches(rows.collect_batches(lazy=True))


def in_batches(frames: Iterable[pl.DataFrame], size: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """Yield the rows of frames of any height, cut anew, without copying them.

    Parameters
    ----------
    frames : iterable of polars DataFrame
        With the same columns.
    size : int
        Rows of every frame that is yielded; the last may have fewer.

    Yields
    ------
    polars DataFrame
        Never empty.
    """
    rest = None
    for frame in frames:
        found = frame if rest is None else rest.vstack(frame)
        end = found.height - found.height % size
        for start in range(0, end, size):
            yield found.slice(start, size)
        rest = found.slice(end)
    if rest is not None and rest.height:
        yield rest


def _damaged(path: Path) -> Problem:
    return refused(path, Finding("It is not a Parquet file, or it is cut short or damaged", "Write or copy it again."))
