"""Present practice as a table that people type: what is done today with the cases of each true class."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from elicit_app.problem import Problem
from metrics.errors import InputError
from metrics.files import cell_text
from metrics.policies.cases import Practice


def read_practice(path: Path, classes: Sequence[str]) -> Practice:
    """Read a table of present practice.

    Parameters
    ----------
    path : Path
        CSV. The first line names what is decided, after an empty or any first cell; every other line names a true class
        and gives a count or a rate for each decision. Classes may stand in any order.
    classes : sequence of str
        Those of the metric.

    Raises
    ------
    Problem
        What is wrong with the file, in one sentence.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [
                [cell_text(cell.strip()) for cell in line]
                for line in csv.reader(file)
                if any(cell.strip() for cell in line)
            ]
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise Problem(f"{path} is not a CSV file of present practice.") from error
    expected = f"a row and a column for each of {', '.join(classes)}"
    if not lines or sorted(lines[0][1:]) != sorted(classes) or sorted(line[0] for line in lines[1:]) != sorted(classes):
        raise Problem(f"{path}: {expected} was expected, the true classes in the first column.")
    table = np.zeros((len(classes), len(classes)))
    for line in lines[1:]:
        if len(line) != len(lines[0]):
            raise Problem(f"{path}: the row of “{line[0]}” has {len(line) - 1} numbers, {len(classes)} were expected.")
        for name, cell in zip(lines[0][1:], line[1:], strict=True):
            try:
                table[classes.index(line[0]), classes.index(name)] = float(cell)
            except ValueError:
                raise Problem(f"{path}: “{cell}” in the row of “{line[0]}” is not a number.") from None
    try:
        return Practice.of(table, classes)
    except InputError as error:
        raise Problem(f"{path}: {error}") from error
