"""Files of one study list the same cases: their rows are put in one order, and cases that not all have are left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np

from elicit_app.problem import Problem
from elicit_app.study.checking import require_comparable
from elicit_app.study.identity import SEVERAL_PLACES, in_order, order_of_cases
from elicit_app.study.model import Predictions
from elicit_app.study.reading import ReadPredictions
from metrics.text import counted


def read_by_all(files: Sequence[Path], reads: Sequence[ReadPredictions], *, by_row: bool) -> list[ReadPredictions]:
    """Return what was read of each file, restricted to the cases that all of them have, in the order of the first.

    Cases are known by a column that names them or, in one table, `by_row`. `unread` is then the number of all that
    were left out. Raises Problem if neither is given, or too few cases are left to compare.
    """
    known = [cases for read in reads if (cases := read.rows if by_row else read.predictions.cases) is not None]
    if len(known) < len(reads):
        fault = "tell which cases not everybody read: name each case in a column like case_id, the same in every file"
        raise Problem(f"{' and '.join(file.name for file in dict.fromkeys(files))} do not {fault}.")
    shared = known[0][np.isin(known[0], reduce(np.intersect1d, known))]
    of_all = max(
        len(reduce(np.union1d, known)), *(len(cases) + read.unread for cases, read in zip(known, reads, strict=True))
    )
    if len(shared) < 2:
        raise Problem(f"Everybody read {counted(len(shared), 'case')} of {of_all:,}: leave a reader out.")
    kept = []
    for read, cases in zip(reads, known, strict=True):
        by_case = np.argsort(cases)
        order = by_case[np.searchsorted(cases, shared, sorter=by_case)]
        kept.append(read._replace(predictions=in_order(read.predictions, order), unread=of_all - len(shared)))
    truth, classes = kept[0].predictions.y_true, kept[0].classes
    require_comparable(files[0], classes, np.bincount(truth, minlength=len(classes)))
    return kept


def in_order_of_first(first_file: Path | str, first: Predictions, file: Path, read: ReadPredictions) -> ReadPredictions:
    """Return what was read of a file, with its rows in the order of the first where a column names the cases.

    Raises Problem if the file lists other cases; both have the classes of `read`.
    """
    other = read.predictions
    a, b = first.y_true, other.y_true
    same = "all files of one study list the same cases in the same order, or each names them in a column like case_id."
    if len(a) != len(b):
        rows = f"{file} has {counted(len(b), 'row')}, {first_file} has {len(a):,}"
        raise Problem(f"{rows}: {same}{_what_is_missing(first, file, read)}")
    order, shown = order_of_cases(first, other), first_file.name if isinstance(first_file, Path) else first_file
    if order is not None and np.array_equal(b[order], a):
        if np.array_equal(order, np.arange(len(order))):
            return read
        note = f"{file.name}: its rows were put in the order of {shown}, by the column {read.case_column}."
        return read._replace(predictions=in_order(other, order), notes=(*read.notes, note))
    if not np.array_equal(a, b):
        at = int(np.argmax(a != b if order is None else a != b[order]))
        row = at if order is None else int(order[at])
        ours, theirs = read.classes[a[at]], read.classes[b[row]]
        if order is not None:
            which = f"Row {row + 1} of {file} and row {at + 1} of {first_file} are one case by the column"
            raise Problem(f"{which} {read.case_column}, but its true label is “{theirs}” and “{ours}”: correct one.")
        labels = f"The true label of row {at + 1} is “{theirs}” in {file}, “{ours}” in {first_file}"
        raise Problem(f"{labels}: {same}{_what_is_missing(first, file, read)}")
    if first.cases is None or other.cases is None:
        return read
    note = (
        f"{file.name}: by the column {read.case_column} its cases are not those of {shown}. Their true labels are "
        "the same row by row, so the rows were taken to be the same cases. If they are not, results are wrong."
    )
    return read._replace(notes=(*read.notes, note))


def _what_is_missing(first: Predictions, file: Path, read: ReadPredictions) -> str:
    """Return which cases of the first file another one lacks, if a column names the cases of both."""
    cases = read.predictions.cases
    if first.cases is None or cases is None:
        return ""
    missing = np.flatnonzero(~np.isin(first.cases, cases))
    if len(missing) == len(first.cases):
        return f" By the column {read.case_column}, they have no case in common. {SEVERAL_PLACES}"
    lacks = (
        f" By the column {read.case_column}, {file.name} lacks {counted(len(missing), 'case')} of it, first that of row"
    )
    if len(missing):
        remedy = "Leave them out of every file; what a reader did not read can be skipped when the study is made."
        return f"{lacks} {missing[0] + 1}. {remedy}"
    more = np.flatnonzero(~np.isin(cases, first.cases))
    if not len(more):
        return ""
    has = f" By the column {read.case_column}, {file.name} has {counted(len(more), 'case')} more, first that of row"
    return f"{has} {more[0] + 1}: leave them out."
