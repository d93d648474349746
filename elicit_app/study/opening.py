"""Opening, listing and changing studies."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import elicit_app
from elicit_app.problem import Problem
from elicit_app.study.folder import STUDY_FILE, read_folder, rewrite_document
from elicit_app.study.making import study_of
from elicit_app.study.model import Study
from elicit_app.study.synthetic import TITLES as SYNTHETIC
from elicit_app.study.synthetic import synthetic_description, synthetic_study

BUNDLED = ("breast-cancer", "wine", "traffic-light", "digits")


@dataclass(frozen=True)
class StudySummary:
    """One line of a list of studies.

    Parameters
    ----------
    name : str
        What `elicit open` takes.
    title : str
        For a page: "Chest X-rays of children".
    description : str
        "pneumonia or healthy, 1 model".
    minutes : int or None
        About how long a sitting takes; None for a synthetic study, about which no person is asked.
    kind : str
        bundled or synthetic.
    """

    name: str
    title: str
    description: str
    minutes: int | None
    kind: Literal["bundled", "synthetic"]


def datasets_folder() -> Path:
    """Return where the bundled studies lie: beside the package's modules when installed, at the root of a checkout."""
    package = Path(elicit_app.__file__).parent
    installed = package / "datasets"
    return installed if installed.is_dir() else package.parent / "datasets"


def list_studies() -> tuple[StudySummary, ...]:
    """Return the bundled and the synthetic studies; no predictions are read."""
    return (*(_bundled_summary(name) for name in BUNDLED), *(_synthetic_summary(name) for name in SYNTHETIC))


def _bundled_summary(name: str) -> StudySummary:
    document = json.loads((datasets_folder() / name / STUDY_FILE).read_bytes())
    minutes = minutes_for(len(document["classes"]))
    return StudySummary(name, document["title"], document["description"], minutes, "bundled")


def _synthetic_summary(name: str) -> StudySummary:
    return StudySummary(name, SYNTHETIC[name], synthetic_description(name), None, "synthetic")


def minutes_for(n_classes: int) -> int:
    """Return about how many minutes a sitting takes: two classes are decided in fewer questions."""
    return 8 if n_classes == 2 else 15


def open_study(ref: str | Path) -> Study:
    """Open a study.

    Parameters
    ----------
    ref : str or Path
        The name of a bundled or synthetic study, a study folder, or a predictions file.

    Returns
    -------
    Study
        Complete: words, population and yardstick have defaults where nothing is stated.

    Raises
    ------
    Problem
        There is no such study, or what is wrong with it.
    """
    if isinstance(ref, str) and ref in BUNDLED:
        return read_folder(datasets_folder() / ref, "bundled")
    if isinstance(ref, str) and ref in SYNTHETIC:
        return synthetic_study(ref)
    path = Path(ref)
    if path.is_dir():
        return read_folder(path)
    if path.name == STUDY_FILE:
        return read_folder(path.parent)
    if not os.path.lexists(path):  # a link that leads nowhere is told as such
        close = get_close_matches(str(ref), [*BUNDLED, *SYNTHETIC], n=1)
        hint = f"did you mean “{close[0]}”?" if close else "`elicit study list` names those that come with it."
        raise Problem(f"There is no study “{ref}”, and no folder or file of that name: {hint}")
    return study_of([path], kind="file", name=path.stem)


def save_study(study: Study) -> None:
    """Write the changed title, words, population, prevalence or yardstick of a study into its folder.

    Raises
    ------
    Problem
        The study has no folder of its own, or a value cannot be used.
    """
    if study.kind != "folder" or study.folder is None:
        raise Problem(f"“{study.title}” has no folder of its own: make one with `elicit study new`.")
    rewrite_document(study.folder, study)
