"""The bundled studies: the files of the checksums, models worth comparing, words that fit."""

import hashlib
import re

import numpy as np
import pytest

from elicit_app.study import list_studies, open_study
from elicit_app.study.opening import BUNDLED, datasets_folder
from elicit_app.study.reading import yardstick_for


def test_every_file_has_its_checksum():
    folder = datasets_folder()
    lines = re.findall(r"^([0-9a-f]{64})  (\S+)$", (folder / "README.md").read_text(), re.M)
    stated = {file: digest for digest, file in lines}
    files = {path.relative_to(folder).as_posix(): path for name in BUNDLED for path in (folder / name).iterdir()}
    assert stated.keys() == files.keys()
    for name, path in files.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == stated[name], name


@pytest.mark.parametrize(
    ("name", "classes", "cases"),
    [
        ("breast-cancer", ("malignant", "benign"), 569),
        ("wine", ("Barolo", "Grignolino", "Barbera"), 178),
        ("digits", tuple("0123456789"), 1_797),
        ("traffic-light", ("red", "yellow", "green"), 3_000),
    ],
)
def test_bundled_studies_hold_two_models_that_differ_in_their_mistakes(name, classes, cases):
    study = open_study(name)
    assert (study.kind, study.folder, study.name, study.classes) == ("bundled", None, name, classes)
    assert len(study.models) == 2
    rates = [counts / cases for counts in study.usual_counts]
    for model, shares in zip(study.models, rates, strict=True):
        assert model.y_proba.shape == (cases, len(classes))
        np.testing.assert_allclose(model.y_proba.sum(axis=1), 1, rtol=1e-12)
        assert 0.8 < np.trace(shares) < 0.95
    fewer = rates[0] < rates[1]
    assert fewer[~np.eye(len(classes), dtype=bool)].any()
    assert (rates[0] > rates[1])[~np.eye(len(classes), dtype=bool)].any()
    assert study.population == 1_000
    # A missed cancer is told in needless biopsies; elsewhere the program's own rule chooses.
    assert study.yardstick == ((1, 0) if name == "breast-cancer" else yardstick_for(study))


@pytest.mark.parametrize("name", BUNDLED)
def test_every_mistake_has_words_of_its_own_and_a_consequence(name):
    wording = open_study(name).wording
    said = [*wording.mistakes.values(), *wording.any_mistake]
    assert all(0 < len(mistake.consequence) <= 45 for mistake in said)
    assert all(mistake.name[0].isupper() and mistake.one != mistake.many for mistake in said)
    assert len({mistake.name for mistake in wording.mistakes.values()}) == len(wording.mistakes)
    assert wording.cases not in ("cases", wording.case)


def test_the_list_names_all_studies_and_what_opens_under_a_name_is_what_it_says():
    summaries = list_studies()
    assert [summary.name for summary in summaries[:4]] == list(BUNDLED)
    for summary in summaries:
        study = open_study(summary.name)
        assert (summary.title, summary.description, summary.kind) == (study.title, study.description, study.kind)
        assert (summary.minutes is None) == (summary.kind == "synthetic")
