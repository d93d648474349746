"""Opening of studies by name or path, and the bundled and synthetic studies.

Synthetic studies are finite distributions of class probabilities, used to check the published results. Source of
`paper-3` and `paper-4`: Hiranandani, Boodaghians, Mehta, Koyejo, *Multiclass Performance Metric Elicitation*, NeurIPS
2019, section 6.1; `paper-K` continues their slopes 1, 3, 6, 10 with 15, 21, ... `softmax-K` are our own; on them every
ratio is identifiable. `eta:FILE` uses the probabilities in a file as a distribution.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from glob import escape
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import elicit_app
from elicit_app.problem import Finding, Problem, file_problem
from elicit_app.study.checking import RowCheck
from elicit_app.study.folder import AMOUNTS_FILE, STUDY_FILE, document_in, read_document, read_folder
from elicit_app.study.making import study_of, with_defaults
from elicit_app.study.model import Distribution, Study
from elicit_app.study.packs import ENDING as PACK_ENDING
from elicit_app.study.packs import read_amounts_folder, read_pack
from elicit_app.study.reading import require_askable
from elicit_app.study.tables import PROBABILITY, TRUTH, class_of_column, open_table
from metrics.text import number_word, series

BUNDLED = ("breast-cancer", "wine", "traffic-light", "digits")


@dataclass(frozen=True)
class StudySummary:
    """One line of a list of studies."""

    name: str  # what `elicit open` takes
    title: str  # for a page: "Chest X-rays of children"
    description: str  # "pneumonia or healthy, 1 model"
    minutes: int | None  # approximate length of a sitting; None for a synthetic study, which no person answers
    kind: Literal["bundled", "synthetic"]


def datasets_folder() -> Path:
    """Return the folder of the bundled studies: inside the package if installed, at the root of a checkout."""
    package = Path(elicit_app.__file__).parent
    installed = package / "datasets"
    return installed if installed.is_dir() else package.parent / "datasets"


def list_studies() -> tuple[StudySummary, ...]:
    """Return the bundled and the synthetic studies, without reading predictions."""
    synthetic = (
        StudySummary(name, synthetic_title(name), synthetic_description(name), None, "synthetic") for name in LISTED
    )
    return (*map(_bundled_summary, BUNDLED), *synthetic)


def _bundled_summary(name: str) -> StudySummary:
    document = json.loads((datasets_folder() / name / STUDY_FILE).read_bytes())
    minutes = minutes_for(len(document["classes"]))
    return StudySummary(name, document["title"], document["description"], minutes, "bundled")


_SITTING, _SITTING_OF_TWO, _EXTRAS = 18, 12, 4
_SECONDS = 25


def minutes_for(n_classes: int, questions: int = _SITTING) -> int:
    """Return the approximate length of a sitting in minutes: 25 seconds per question, including repeats and a check.

    Two classes need fewer questions than the limit.
    """
    asked = min(questions, _SITTING_OF_TWO) if n_classes == 2 else questions
    return max(1, round((asked + _EXTRAS) * _SECONDS / 60))


def open_study(ref: str | Path) -> Study:
    """Open a bundled or synthetic study by name, a study folder, a packed study (`*.elicit`), or a predictions file.

    ``eta:FILE`` uses the probabilities in a file as a distribution. Words, population and yardstick that are not stated
    have defaults. Raises Problem if there is no such study, or it is invalid.
    """
    if isinstance(ref, str) and comes_with_elicit(ref):
        return _bundled(ref) if ref in BUNDLED else synthetic_study(ref)
    if isinstance(ref, str) and ref.startswith(ETA):
        return study_of_eta(Path(ref.removeprefix(ETA)))
    path = Path(ref)
    if (path / AMOUNTS_FILE).is_file():
        return read_amounts_folder(path)
    if path.is_dir():
        return read_folder(path)
    if path.suffix == PACK_ENDING:
        return read_pack(path)
    if path.name == STUDY_FILE:
        return read_folder(path.parent)
    if not os.path.lexists(path):  # a dangling link has its own message
        close = get_close_matches(str(ref), [*BUNDLED, *LISTED], n=1)
        if ANY_SIZE.fullmatch(str(ref)):
            raise Problem(
                f"There is no study “{ref}”: paper-K and softmax-K have 2 to {MOST_SYNTHETIC_CLASSES} classes."
            )
        hint = f"did you mean “{close[0]}”?" if close else f"those that come with elicit are {series(BUNDLED)}."
        raise Problem(f"There is no study “{ref}”, and no folder or file of that name: {hint}")
    try:
        return study_of([path], kind="file", name=path.stem)
    except Problem:
        from elicit_app.study.amounts import is_of_amounts

        if is_of_amounts(path):
            raise Problem(f"{path} is about several labels, or about contexts: make a study of it first.") from None
        raise


def comes_with_elicit(name: str) -> bool:
    """Return whether a name is that of a bundled or a synthetic study."""
    return name in BUNDLED or _NAME.fullmatch(name) is not None


@cache
def _bundled(name: str) -> Study:
    return read_folder(datasets_folder() / name, "bundled")


LISTED = ("paper-3", "paper-4", "softmax-3", "softmax-4")
"""The synthetic studies listed to users; K may be up to `MOST_SYNTHETIC_CLASSES`."""
MOST_SYNTHETIC_CLASSES = 10
ANY_SIZE = re.compile(r"(paper|softmax)-\d+")
_NAME = re.compile(r"(paper|softmax)-([2-9]|10)")
ETA = "eta:"
_GRID = 20_001
_PAPER_RADIUS_POINTS = 201
_SOFTMAX_POINTS = 4_096
_SOFTMAX_RADIUS_POINTS = 512

Probabilities = NDArray[np.float64]


def studies_beside(file: Path, digest: str) -> tuple[Path, ...]:
    """Return the study folders beside a predictions file that are named after it and hold the same predictions."""
    found = []
    for folder in sorted(file.parent.glob(f"{escape(file.stem)}-study*/")):
        path = document_in(folder)
        try:
            about = None if path is None else read_pack(path) if path.name == AMOUNTS_FILE else read_document(path)
        except Problem:
            continue
        if about is not None and about.digest == digest:
            found.append(folder)
    return tuple(found)


def synthetic_title(name: str) -> str:
    """Return the title of `paper-K` or `softmax-K`."""
    kind, k = _parts(name)
    number = number_word(k)
    return f"The paper's {number} classes" if kind == "paper" else f"{number.capitalize()} overlapping classes"


def synthetic_description(name: str) -> str:
    """Return a one-line description of `paper-K` or `softmax-K`, without computing the study."""
    kind, k = _parts(name)
    return f"{k} classes, {_GRID if kind == 'paper' else _SOFTMAX_POINTS:,} points, no data"


def _parts(name: str) -> tuple[str, int]:
    found = _NAME.fullmatch(name)
    if found is None:
        raise KeyError(name)
    return found[1], int(found[2])


def _slopes(n_classes: int) -> tuple[float, ...]:
    """Return the slopes of the paper: 1, 3, 5 for three classes, otherwise the triangular numbers, as for four."""
    if n_classes == 3:
        return 1.0, 3.0, 5.0
    return tuple(n * (n + 1) / 2 for n in range(1, n_classes + 1))


@cache
def synthetic_study(name: str) -> Study:
    """Return the synthetic study `paper-K` or `softmax-K`, K from 2 to 10.

    It has no models: the distribution is the study, with C_ij the mean over all points of eta_i 1[class j predicted].
    Raises KeyError if there is no synthetic study with that name.
    """
    kind, k = _parts(name)
    distribution = _paper_distribution(_slopes(k)) if kind == "paper" else _softmax_distribution(k)
    classes = tuple(str(index + 1) for index in range(k))
    title, description = synthetic_title(name), synthetic_description(name)
    return with_defaults(classes, (), distribution, name=name, title=title, kind="synthetic", description=description)


def study_of_eta(path: Path) -> Study:
    """Return the study whose distribution is a file: rows are equally likely and their probabilities are true.

    The file has one column `proba_<class>` per class; a column `y_true` is ignored. Raises Problem if the file is
    invalid.
    """
    table = open_table(path)
    found = {index: name for index, column in enumerate(table.columns) if (name := class_of_column(column.strip()))}
    classes = tuple(found.values())
    if len(classes) < 2 or len(set(classes)) < len(classes):
        remedy = "A distribution needs one such column for each of at least two classes."
        raise file_problem(path, Finding(f"There are {len(set(classes))} columns {PROBABILITY}<class>", remedy))
    require_askable(path, len(classes))
    import polars as pl

    check = RowCheck(table, classes)
    frames = (frame.insert_column(0, pl.lit(classes[0]).alias(TRUTH)) for frame in table.frames(tuple(found), 0, None))
    eta = np.concatenate([batch.y_proba for batch in check.batches(frames)]).astype(np.float64)
    if (eta.mean(axis=0) == 0).any():
        never = classes[int(np.flatnonzero(eta.mean(axis=0) == 0)[0])]
        raise file_problem(path, Finding(f"Class “{never}” has the probability 0 in every row", "Take it out."))
    eta /= eta.sum(axis=1, keepdims=True)
    described = f"{len(classes)} classes, {len(eta):,} points of a distribution"
    return with_defaults(
        classes, (), Distribution(eta), name=f"{ETA}{path}", title=path.stem, kind="synthetic", description=described
    )


def _paper_distribution(slopes: tuple[float, ...]) -> Distribution:
    """Return eta_i proportional to 1/(1 + exp(p_i x)), x uniform on [-1, 1] (as printed, eta does not sum to 1)."""
    midpoints = (2 * np.arange(_GRID) + 1) / _GRID - 1
    return Distribution(
        _logistic(midpoints, slopes), radius_points=_logistic(np.linspace(-1, 1, _PAPER_RADIUS_POINTS), slopes)
    )


def _logistic(x: NDArray[np.float64], slopes: tuple[float, ...]) -> Probabilities:
    raw = 1 / (1 + np.exp(np.outer(x, slopes)))
    eta: Probabilities = raw / raw.sum(axis=1, keepdims=True)
    return eta


def _softmax_distribution(n_classes: int) -> Distribution:
    """Return the softmax of the scores (0, 2 x_1, ..., 2 x_d), x standard normal on an additive recurrence."""
    from scipy.special import ndtri, softmax

    d = n_classes - 1
    n = np.arange(1, _SOFTMAX_POINTS + 1)
    u = np.modf(0.5 + np.outer(n, _generalised_golden_ratio(d) ** -np.arange(1.0, d + 1)))[0]
    scores = np.column_stack([np.zeros(len(n)), 2 * ndtri(u)])
    eta: Probabilities = softmax(scores, axis=1)
    return Distribution(eta, radius_points=eta[:_SOFTMAX_RADIUS_POINTS])


def _generalised_golden_ratio(d: int) -> float:
    """Return the g > 0 with g^(d+1) = g + 1, the fixed point of the contraction g = (1 + g)^(1/(d+1))."""
    g = 2.0
    for _ in range(100):
        g = (1 + g) ** (1 / (d + 1))
    return g
