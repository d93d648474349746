"""Which case each row of a predictions file is, and whose: the columns that tell it, and files in different orders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elicit_app.study.model import Predictions

if TYPE_CHECKING:
    import polars as pl

PERSON, CASE = "person_digest", "case_digest"  # in a study's own files
_WHO = "patient(en)?|paciente|paziente|person|subject|participant|proband|respondent|volunteer|donor|speaker"
_WHICH = r"(id|number|num|no\.?|nr\.?|nummer|name|code|key)"
_PERSON = re.compile(
    rf"({_WHO})([ _-]?{_WHICH})?|{_WHICH}[ _-]?({_WHO})|pat[ _-]?(id|nr\.?|no\.?)|mrn|{PERSON}", re.IGNORECASE
)
_WHAT = "case|fall|image|img|bild|file|sample|scan|slide|exam|examination|accession|record|specimen|lesion|study|item"
_ONLY_WITH_ID = "doc|document|text|sentence|utterance|clip|video|recording|visit|encounter|event|example|instance|obs"
_CASE = re.compile(
    rf"({_WHAT})([ _-]?({_WHICH}|uid|path))?|{_WHICH}[ _-]?({_WHAT})|({_ONLY_WITH_ID})[ _-]?u?id"
    rf"|u?id|[ug]uid|path|{CASE}",
    re.IGNORECASE,
)
_ROW = re.compile(r"row[ _-]?(index|id|no\.?|nr\.?|num|number)", re.IGNORECASE)  # as caret calls it
_MOST_REPEATS = 20
_LARGEST = 2**63 - 1
SEVERAL_PLACES = "Cases of one model from several places belong in one file."
"""What to do where files are about other cases, and may be so because each place has its own."""


def tells_person(column: str) -> bool:
    """Return whether a column seems to tell whose case each row is: `patient_id`, `subject`."""
    return _PERSON.fullmatch(column.strip()) is not None


def person_column(columns: Iterable[str]) -> str | None:
    """Return the first column that seems to tell whose case each row is; None if there is none."""
    return next(filter(tells_person, columns), None)


def names_something(column: str) -> bool:
    """Return whether a column seems to tell which case each row is, or whose."""
    return tells_person(column) or tells_case(column)


def tells_case(column: str) -> bool:
    """Return whether a column seems to tell which case each row is: `case_id`, `image`.

    A column that only counts the rows (`index`) does not: another file may count them anew.
    """
    return _CASE.fullmatch(column.strip()) is not None


def case_column(columns: Iterable[str]) -> str | None:
    """Return the first column that seems to tell which case each row is; None if there is none."""
    return next(filter(tells_case, columns), None)


def row_column(columns: Iterable[str]) -> str | None:
    """Return the first column that seems to count the rows; None if there is none."""
    return next(filter(_ROW.fullmatch, columns), None)


def numbered(column: pl.Series, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for what a column names in each row, with its number `rows`; below 0 if it names nothing.

    It is a digest of what the column holds, so that parts of a file need not know each other, and no file of a study
    holds what people or cases are called elsewhere.
    """
    import polars as pl

    nothing = -np.asarray(rows, dtype=np.int64)
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return nothing
    if column.name in (PERSON, CASE) and column.dtype == pl.Int64:
        return np.where(column.is_null().to_numpy(), nothing, column.fill_null(0).to_numpy())
    texts = column.cast(pl.String, strict=False).str.strip_chars().str.replace(r"^(-?\d+)\.0+$", "${1}").fill_null("")
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts.to_list())
    return np.where((texts == "").to_numpy(), nothing, np.frombuffer(digests, dtype="<u8").astype(np.int64) & _LARGEST)


def tell_cases(column: str, numbers: NDArray[np.int64]) -> bool:
    """Return whether a column names every case, and none twice, by the numbers of what it names."""
    named = names_something(column) and bool((numbers >= 0).all())
    return named and len(np.unique(numbers)) == len(numbers)


def repeated_cases(numbers: NDArray[np.int64]) -> int:
    """Return the number of cases if rows seem to repeat them, as in repeated cross-validation; otherwise 0.

    A column of a few values, such as the folders of the cases, does not tell cases at all.
    """
    different = len(np.unique(numbers)) if (numbers >= 0).all() else 0
    return different if different < len(numbers) <= _MOST_REPEATS * different else 0


def of_same_cases(models: Sequence[Predictions]) -> tuple[Predictions, ...]:
    """Return models for the same cases with which these are, and whose, by the first that tells it."""
    people = next((model.people for model in models if model.people is not None), None)
    cases = next((model.cases for model in models if model.cases is not None), None)
    return tuple(
        model if model.people is people and model.cases is cases else replace(model, people=people, cases=cases)
        for model in models
    )


def order_of_cases(first: Predictions, other: Predictions) -> NDArray[np.int64] | None:
    """Return the rows of `other`, in the order of the cases of `first`; None unless both name the same cases."""
    if first.cases is None or other.cases is None or len(first.cases) != len(other.cases):
        return None
    order = np.argsort(other.cases)
    order = order[np.searchsorted(other.cases, first.cases, sorter=order) % len(order)]
    return order if np.array_equal(other.cases[order], first.cases) else None


def in_order(model: Predictions, order: NDArray[np.int64]) -> Predictions:
    """Return predictions with their rows in another order."""
    people, cases = (None if one is None else one[order] for one in (model.people, model.cases))
    return replace(model, y_true=model.y_true[order], y_proba=model.y_proba[order], people=people, cases=cases)
