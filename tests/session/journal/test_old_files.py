"""Session files that older versions wrote still open, mean what they meant, and can be gone on with."""

import json
import shutil
from pathlib import Path

import pytest

from elicit_app.elicitation.questions import Choice
from elicit_app.session.journal.files import is_session, read
from elicit_app.session.session import Session

OLD = Path(__file__).parent / "old"
FILES = sorted(OLD.glob("*.session.jsonl"))
SIDES = {"a": Choice.FIRST, "b": Choice.SECOND}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_answer_means_what_it_meant(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(read(path).events) == len(lines)
    for event, old in zip(read(path).events, lines, strict=True):
        assert event.kind == old["kind"]
        if event.kind != "answered":
            continue
        assert event.choice == SIDES.get(old["choice"], old["choice"])
        assert event.left == SIDES[old["left"]]
        assert [list(row) for row in event.pair.first] == old["pair"]["a"]
        assert [list(row) for row in event.pair.second] == old["pair"]["b"]
        assert event.pair.repeat_of == old["pair"].get("repeat_of")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_known_by_any_name(path, tmp_path):
    assert is_session(shutil.copyfile(path, tmp_path / "alice"))


def test_nothing_else_is_taken_for_a_session(tmp_path):
    (tmp_path / "words").write_text('{"format":"elicit-study"}')
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    assert not any(is_session(tmp_path / name) for name in ("words", "bytes", "missing", "."))
    assert is_session(tmp_path / "missing.jsonl")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_can_be_gone_on_with(path, tmp_path):
    copy = tmp_path / path.name
    shutil.copyfile(path, copy)
    with Session.open(copy) as session:
        before = len(session.state.entries)
        session.more()
        left = session.asking().left
        session.answer("left")
    with Session.open(copy) as again:
        assert len(again.state.entries) == before + 1
        assert again.state.entries[-1].answer.choice == left
    assert json.loads(copy.read_text().splitlines()[-1])["choice"] in ("first", "second")
