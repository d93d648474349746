"""Tables that people fill in elsewhere: the words of all mistakes, and confusion matrices such as present practice."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, Problem
from elicit_app.study.model import Mistake, Study
from elicit_app.study.writing import write_whole
from metrics.errors import InputError
from metrics.files import cell_text, csv_cell, read_regular_file
from metrics.policies.cases import Practice
from metrics.text import counted

HEADS = ("truth", "called", "name", "one", "several", "what follows")
_MOST_BYTES = 16 << 20
ANYTHING_ELSE = "(anything else)"

Key = tuple[int, int | None]
"""(true, predicted); None stands for any wrong answer for that truth."""


def keys_of(study: Study) -> tuple[Key, ...]:
    """Return every mistake that has words: by true class, then by predicted class, then any wrong answer."""
    k = study.n_classes
    pairs: list[Key] = [(i, j) for i in range(k) for j in range(k) if i != j]
    return (*pairs, *((i, None) for i in range(k)))


def with_mistakes(study: Study, words: dict[Key, Mistake]) -> Study:
    """Return the study with other words for some mistakes."""
    return replace(study, wording=study.wording.with_mistakes(words))


def words_csv(study: Study) -> str:
    """Return the words of all mistakes as CSV, one line each, classes by their names in the predictions."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADS)
    for true, predicted in keys_of(study):
        called = ANYTHING_ELSE if predicted is None else study.classes[predicted]
        mistake = study.wording.mistake((true, predicted))
        words = (study.classes[true], called, mistake.name, mistake.one, mistake.many, mistake.consequence)
        rows.writerow(map(csv_cell, words))
    return text.getvalue()


def write_words(study: Study, path: Path) -> Path:
    """Write the words of all mistakes; the file begins with a mark that spreadsheets know UTF-8 by.

    Raises
    ------
    Problem
        When it cannot be written.
    """
    write_whole(path, words_csv(study).encode("utf-8-sig"))
    return path


def read_words(study: Study, path: Path) -> dict[Key, Mistake]:
    """Return the words that a CSV file has for mistakes of `study`; an empty cell leaves what there is.

    Raises
    ------
    Problem
        When it cannot be read, has no columns "truth" and "called", or names a class that there is not.
    """
    try:
        text = read_regular_file(path, _MOST_BYTES).decode("utf-8-sig")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        lines = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except (OSError, UnicodeDecodeError, InputError, csv.Error) as error:
        raise Problem(f"{path} cannot be read as text in UTF-8 ({error}). Save it as CSV UTF-8.") from error
    rows = [{name.strip().lower(): cell_text(cell or "") for name, cell in line.items() if name} for line in lines]
    if not rows or not {"truth", "called"} <= set(rows[0]):
        raise Problem(f"{path.name} has no columns “truth” and “called”. Save the words as CSV, and fill that in.")
    found: dict[Key, Mistake] = {}
    findings = []
    for number, row in enumerate(rows, start=2):
        key = _key(study, row.get("truth", ""), row.get("called", ""))
        if key is None:
            mistake = f"“{row.get('truth')}” called “{row.get('called')}”"
            what = f"line {number} is about {mistake}, which is not a mistake in this study"
            findings.append(Finding(what, "Write the classes as the predictions file does."))
            continue
        found[key] = _filled(study, key, row)
    if findings:
        raise Problem(f"{path.name}: {findings[0].what}.", tuple(findings))
    return found


def _key(study: Study, truth: str, called: str) -> Key | None:
    truth, called = truth.strip(), called.strip()
    if truth not in study.classes or truth == called:
        return None
    if called == ANYTHING_ELSE:
        return study.classes.index(truth), None
    return (study.classes.index(truth), study.classes.index(called)) if called in study.classes else None


def _filled(study: Study, key: Key, row: dict[str, str]) -> Mistake:
    before = study.wording.mistake(key)
    cells = {part: row.get(head, "").strip() for part, head in _PARTS.items()}
    return replace(before, **{part: text for part, text in cells.items() if text})


_PARTS = {"name": "name", "one": "one", "many": "several", "consequence": "what follows"}


def read_practice(path: Path, classes: Sequence[str]) -> Practice:
    """Read a table of present practice, or of any other matrix whose rates a row matter.

    In the CSV file the first line names what is decided, after an empty or any first cell; every other line names a
    true class and gives a count or a rate for each decision. Classes may stand in any order.

    Raises
    ------
    Problem
        What is wrong with the file, in one sentence.
    """
    table = read_class_table(path, classes)
    try:
        return Practice.of(table, classes)
    except InputError as error:
        raise Problem(f"{path}: {error}") from error


def read_class_table(path: Path, classes: Sequence[str]) -> NDArray[np.float64]:
    """Read a table of numbers whose rows are true classes and whose columns are decisions, both named.

    It is returned in the order of `classes`, shape (k, k); see `read_practice`.
    """
    try:
        text = read_regular_file(path, _MOST_BYTES).decode("utf-8-sig")
        found = ([cell_text(cell.strip()) for cell in line] for line in csv.reader(io.StringIO(text, newline="")))
        lines = [line for line in found if any(line)]
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error, InputError) as error:
        raise Problem(f"{path} is not a CSV file of a table.") from error
    expected = f"a row and a column for each of {', '.join(classes)}"
    if not lines or sorted(lines[0][1:]) != sorted(classes) or sorted(line[0] for line in lines[1:]) != sorted(classes):
        raise Problem(f"{path}: {expected} was expected, the true classes in the first column.")
    table = np.zeros((len(classes), len(classes)))
    for line in lines[1:]:
        if len(line) != len(lines[0]):
            numbers = counted(len(line) - 1, "number")
            raise Problem(f"{path}: the row of “{line[0]}” has {numbers}, {len(classes)} were expected.")
        for name, cell in zip(lines[0][1:], line[1:], strict=True):
            try:
                table[classes.index(line[0]), classes.index(name)] = float(cell)
            except ValueError:
                raise Problem(f"{path}: “{cell}” in the row of “{line[0]}” is not a number.") from None
    return table
