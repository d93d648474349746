"""Small versions of what `make attack` and `make fuzz` count."""

from __future__ import annotations

import importlib.util
import random
import re
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("the commands need limits and signals of Unix", allow_module_level=True)

FOLDER = Path(__file__).parents[1] / "reliability"
READER_NAMES = (
    "predictions-csv",
    "odd-columns",
    "predictions-npz",
    "npz-probabilities",
    "odd-arrays",
    "npz-labels",
    "session",
    "session-lines",
    "metric",
    "study",
    "pack",
    "settings",
    "measures",
    "words",
    "practice",
)


def loaded(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return loaded("file_attacks").Sound(tmp_path_factory.mktemp("attack"), answers=3)


@pytest.mark.parametrize("part", ["cuts", "flips", "lines", "edits", "ends", "disks", "clocks"])
def test_no_change_is_silent_and_no_answer_is_lost(sound, part):
    for row in loaded("file_attacks").PARTS[part](sound, 211 if part in ("cuts", "flips") else 1):
        assert row.tried
        assert (row.silent, row.lost) == (0, 0), row


@pytest.mark.parametrize("name", READER_NAMES)
def test_a_damaged_file_is_read_or_refused_in_one_sentence(name, tmp_path):
    loaded("readers")
    fuzz = loaded("fuzz")
    attempts = fuzz.Attempts(name, tmp_path, tmp_path / "report.json")
    rng = random.Random(1)
    for data in [*attempts.seeds, *(fuzz.mutated(attempts.seeds, rng) for _ in range(12))]:
        attempts.give(data)
    assert attempts.uncaught == 0
    assert attempts.tried >= 13


def test_all_readers_are_tried():
    # Parquet is read in a child, and a setting is asked by: too slow for many tries here.
    assert {*READER_NAMES, "predictions-parquet", "session-setting"} == set(loaded("readers").READERS)


def test_every_test_that_a_promise_names_exists():
    root = FOLDER.parent
    page = (root / "docs" / "user" / "reliability.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)
    assert len(named) > 20
    missing = [f"{file}::{name}" for file, name in named if f"def {name}(" not in (root / file).read_text("utf-8")]
    assert not missing
