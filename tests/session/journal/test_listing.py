import os
from datetime import UTC, datetime

import pytest

from elicit_app.session.journal.events import Finished, Guess, Guessed
from elicit_app.session.journal.files import LARGEST
from elicit_app.session.journal.listing import can_resume, list_sessions, new_session_path, sessions_folder, summary
from elicit_app.session.journal.writing import to_lines
from elicit_app.study import open_study


def written(path, events):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_lines(events))
    return path


def test_a_summary_says_where_a_session_stands(tmp_path, write):
    events = [write.begun(), write.answered("first"), write.answered("second"), write.undone()]
    one = summary(written(tmp_path / "x.session.jsonl", events))
    assert (one.title, one.expert, one.answers, one.problem) == ("Läsionen", "Dr. Š", 1, "")
    assert (one.fewest, one.most) == (3, 9), "what was still to come before the answer that was undone"
    assert one.last == events[2].at or one.last == events[1].at
    assert not one.finished
    events += [write.redone(), Finished(at=write.at())]
    two = summary(written(tmp_path / "y.session.jsonl", events))
    assert (two.answers, two.fewest, two.most, two.finished) == (2, 2, 8, True)
    without = [*events[:-1], write.taken_out(1)]
    assert summary(written(tmp_path / "z.session.jsonl", without)).answers == 2, "the next is question 3"
    three = summary(written(tmp_path / "z.session.jsonl", [*without, Finished(at=write.at())]))
    assert (three.answers, three.finished) == (1, True), "as its result counts them"


def test_a_session_without_answers_can_be_resumed_if_something_was_entered(tmp_path, write):
    bare, begun = write.begun(), write.begun()
    guessed = Guessed(at=write.at(), guesses=(Guess(true=0, predicted=1, ratio=5),))
    sorted_ = begun.model_copy(update={"setting": {**begun.setting, "piles": [{"name": "grave", "mistakes": []}]}})
    for events, can in (([bare], False), ([bare, guessed], True), ([sorted_], True)):
        one = summary(written(tmp_path / "x.session.jsonl", events))
        assert (one.answers, can_resume(one), one.last) == (0, can, events[0].at)


def test_listing_never_fails_and_puts_the_last_answered_first(tmp_path, write):
    data, study = tmp_path / "data", tmp_path / "study"
    first = written(data / "sessions" / "wine" / "a.session.jsonl", [write.begun(), write.answered()])
    second = written(study / "sessions" / "b.session.jsonl", [write.begun(), write.answered()])
    cut = written(study / "sessions" / "c.session.jsonl", [])
    foreign = written(data / "sessions" / "wine" / "d.session.jsonl", [])
    foreign.write_bytes(b"\xff\xfe\x00garbage\n{}\n")
    senseless = written(study / "sessions" / "e.session.jsonl", [write.begun(), write.undone()])
    (study / "sessions" / "folder.session.jsonl").mkdir()
    (study / "sessions" / "notes.txt").write_text("not a session")
    listed = list_sessions(study, data=data)
    assert [one.path.name for one in listed[:2]] == [second.name, first.name]
    assert {one.path.name for one in listed[2:]} == {cut.name, foreign.name, senseless.name, "folder.session.jsonl"}
    assert all(one.problem.count("\n") == 0 and one.problem for one in listed[2:])
    assert list_sessions(tmp_path / "nowhere", data=tmp_path / "nothing") == ()


def test_sessions_of_bundled_studies_lie_in_the_data_folder(tmp_path):
    study = open_study("traffic-light")
    assert sessions_folder(study, tmp_path) == tmp_path / "sessions" / "traffic-light"
    now = datetime(2025, 11, 20, 10, 42, 7, tzinfo=UTC)
    path = new_session_path(study, now, expert="Dr. Müller / Łódź", data=tmp_path)
    assert path.name == "2025-11-20-104207-dr-muller-odz.session.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    assert new_session_path(study, now, expert="Dr. Müller / Łódź", data=tmp_path).name.endswith("-2.session.jsonl")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links of POSIX")
def test_one_odd_file_is_one_row_with_a_problem(tmp_path, write):
    folder = tmp_path / "study" / "sessions"
    sound = written(folder / "a.session.jsonl", [write.begun(), write.answered()])
    os.mkfifo(folder / "b.session.jsonl")
    (folder / "c.session.jsonl").symlink_to(folder / "c.session.jsonl")
    (folder / "d.session.jsonl").symlink_to("/dev/zero")
    for name, year in (("e", 1), ("f", 9999)):
        at = datetime(year, 6, 1, tzinfo=UTC)
        written(folder / f"{name}.session.jsonl", [write.begun(), write.answered().model_copy(update={"at": at})])
    with (folder / "g.session.jsonl").open("wb") as file:
        file.truncate(LARGEST + 1)
    damaged = written(folder / "h.session.jsonl", [write.begun(), write.answered()])
    damaged.write_bytes(damaged.read_bytes().replace(b'"first"', b'"First"'))
    first, *others = list_sessions(tmp_path / "study", data=tmp_path / "data")
    assert first.path.name == sound.name
    assert {one.path.name[0] for one in others} == set("bcefghz"), "a link is listed as what it leads to"
    assert all(one.problem for one in others)
    assert [one.path.name[0] for one in others if one.damaged] == ["h"]
