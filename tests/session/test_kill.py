import subprocess
import sys

import pytest

from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view

pytestmark = pytest.mark.usual_draws
SCRIPT = ("left", "equal", "right", "unsure", "right", "left", "left", "equal")

CHILD = """
import sys
from pathlib import Path
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.session import Session
from elicit_app.study import open_study

path, script = Path(sys.argv[1]), sys.argv[2].split(",")
session = Session.create(open_study("breast-cancer"), BayesSetting(seed=8), path)
print(0, flush=True)
for number, reply in enumerate(script, start=1):
    session.answer(reply)
    print(number, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("answers", [0, 5])
def test_killed_between_any_two_answers_the_session_goes_on_where_it_was(study, tmp_path, answers):
    path = tmp_path / "killed.session.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), ",".join(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        for expected in range(answers + 1):
            assert child.stdout.readline() == f"{expected}\n"
        child.kill()
    with (
        Session.open(path, study) as killed,
        Session.create(study, BayesSetting(seed=8), tmp_path / "whole.session.jsonl") as whole,
    ):
        # The child may have got further before the signal reached it; every answer it confirmed is there.
        given = len(killed.state.entries)
        assert given >= answers
        for reply in SCRIPT[:given]:
            whole.answer(reply)
        told = [(entry.event.pair, entry.event.left, entry.answer) for entry in killed.state.entries]
        assert told == [(entry.event.pair, entry.event.left, entry.answer) for entry in whole.state.entries]
        mine, theirs = question_view(killed, 0), question_view(whole, 0)
        assert (mine.left == theirs.left).all()
        assert (mine.right == theirs.right).all()
        killed.answer("left")
