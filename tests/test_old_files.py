"""What earlier states of the program wrote opens: a study, sessions about it and metric files made from them.

They were written by those states themselves, with the same commands: `elicit study new`, and `elicit ask` of six
questions to a simulated expert.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from elicit_app.session.journal.files import read
from elicit_app.session.journal.recovery import check_session
from elicit_app.session.result import answers_behind
from elicit_app.session.session import Session
from elicit_app.study import open_study
from metrics import ElicitedMetric

OLD = Path(__file__).parent / "old"
SESSIONS = sorted(OLD.glob("*.session.jsonl"))
METRICS = sorted(OLD.glob("*.metric.json.gz"))
UNPROTECTED = ("1-first", "2-rooms", "3-first-and-second")


def name_of(path):
    return path.name.split(".")[0]


@pytest.fixture(scope="module")
def study():
    return open_study(OLD / "study")


@pytest.mark.parametrize("path", SESSIONS, ids=name_of)
def test_a_session_opens_and_goes_on(path, study, tmp_path):
    copy = tmp_path / path.name
    shutil.copyfile(path, copy)
    found = check_session(copy)
    assert (found.damage, found.answers, found.protected) == ("", 10, name_of(path) not in UNPROTECTED)
    with Session.open(copy, study) as session:
        session.more()
        session.answer("left")
    assert len(read(copy).begun.study.classes) == 2
    assert read(copy).sound_answers == 11


@pytest.mark.parametrize("path", METRICS, ids=name_of)
def test_a_metric_file_says_what_it_said_and_knows_its_answers(path, tmp_path):
    text = gzip.decompress(path.read_bytes())
    plain = tmp_path / "a.metric.json"
    plain.write_bytes(text)
    metric, written = ElicitedMetric.load(plain), json.loads(text)
    np.testing.assert_array_equal(metric.cost_matrix, written["cost_matrix"])
    assert metric.classes == ("cat", "dog")
    again = ElicitedMetric.from_json(metric.to_json())
    np.testing.assert_array_equal(again.samples, metric.samples)
    events = read(OLD / f"{name_of(path)}.session.jsonl").events
    assert answers_behind(metric.provenance.answers_digest, events) is not None


def test_lines_that_lost_their_digests_are_damage(tmp_path):
    # a file whose lines never had any is read; one that lost some is not
    path = tmp_path / "a.session.jsonl"
    lines = (OLD / "6-now.session.jsonl").read_text().splitlines()
    bare = [line[: line.rindex(',"digest"')] + "}" for line in lines]
    for first, damaged in ((len(lines) - 1, True), (1, True), (0, False)):
        path.write_text("\n".join([*lines[:first], *bare[first:]]) + "\n")
        found = check_session(path)
        assert bool(found.damage) == damaged
        assert found.protected == damaged
