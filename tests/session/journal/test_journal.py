import os
import shutil
import stat
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from elicit_app.problem import Problem
from elicit_app.session.journal.events import Noted, Recovered, to_line
from elicit_app.session.journal.files import DamagedProblem, backup_folder, backups, delete_mark, examine, read
from elicit_app.session.journal.writing import Journal, UnwrittenProblem, to_lines

EXTRA = Noted(at=datetime(2025, 3, 2, tzinfo=UTC), sentence="written after the repair")


def create(path, events):
    return Journal.create(path, events)


def test_what_was_appended_is_read_again(journal_path, a_session):
    with create(journal_path, a_session[:2]) as journal:
        for event in a_session[2:]:
            journal.append(event)
    assert list(read(journal_path).events) == a_session


def test_every_event_is_on_the_disk_when_append_returns(journal_path, a_session):
    with create(journal_path, a_session[:1]) as journal:
        for count, event in enumerate(a_session[1:], start=2):
            journal.append(event)
            assert list(read(journal_path).events) == a_session[:count]


def ends_of(data):
    """Where each line ends, newline included."""
    return [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]


def test_cut_at_any_byte_it_loads_or_is_refused_in_one_sentence(journal_path, a_session):
    data = to_lines(a_session)
    ends = ends_of(data)
    journal_path.parent.mkdir()
    for cut in range(len(data) + 1):
        # The newline is not part of the event: a cut just before it loses nothing.
        complete = sum(end - 1 <= cut for end in ends)
        if complete == 0:
            with pytest.raises(Problem, match="holds no session yet"):
                examine(data[:cut], journal_path)
            continue
        contents = examine(data[:cut], journal_path)
        assert list(contents.events) == a_session[:complete]
        assert not contents.damage
        # Opening for writing repairs the file: the disk is asked at the ends of lines and here and there.
        if cut % 29 == 0 or min(abs(cut - end) for end in ends) <= 1:
            repaired(journal_path, data[:cut], a_session[:complete])


def repaired(path, data, expected):
    delete_mark(path)
    path.write_bytes(data)
    journal, contents = Journal.open(path)
    journal.append(EXTRA)
    journal.close()
    kept = [event for event in contents.events if not isinstance(event, Recovered)]
    assert kept == expected
    assert list(read(path).events) == [*contents.events, EXTRA], "what was recovered is on the disk"


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (b'{"format": "elicit-session", "version": 3, "new": 1}\n', "written by a newer elicit"),
        (b'{"format": "something", "version": 1}\n', "is not a session of elicit"),
        (b'{"format": "elicit-session"}\n', "has an invalid session version"),
        (b'{"format": "elicit-session", "version": 0}\n', "has an invalid session version"),
        (b'{"format": "elicit-session", "version": true}\n', "has an invalid session version"),
        (b"[1, 2]\n", "is not a session of elicit"),
        (b"[" * 100_000 + b"\n", "is not a session of elicit"),
        (b"\x00\xff\n", "is not a session of elicit"),
        (b"PK without a line end", "is not a session of elicit"),
        (b'{"format": "elicit-session", "version": 1\n', "is damaged in line 1, .* Nothing can be saved of it"),
        (b"", "holds no session yet"),
    ],
)
def test_foreign_files_are_refused_in_words(tmp_path, first, words):
    path = tmp_path / "x.session.jsonl"
    path.write_bytes(first)
    with pytest.raises(Problem, match=words):
        read(path)


def test_a_missing_file_and_a_folder_are_refused_in_words(tmp_path):
    for act in (read, Journal.open):
        with pytest.raises(Problem, match="There is no session file"):
            act(tmp_path / "none.session.jsonl")
        with pytest.raises(Problem, match=r"cannot be read|is a folder"):
            act(tmp_path)


def test_a_second_beginning_and_a_session_in_the_way_are_refused(journal_path, a_session, write):
    create(journal_path, a_session[:1]).close()
    before = journal_path.read_bytes()
    with pytest.raises(Problem, match="already a session"):
        create(journal_path, [write.begun("Another")])
    assert journal_path.read_bytes() == before
    assert {path.name for path in journal_path.parent.iterdir()} == {journal_path.name, "backups"}, "no leftovers"
    journal_path.write_bytes(before + to_line(a_session[0], read(journal_path).digests[-1])[0])
    with pytest.raises(Problem, match="damaged in line 2"):
        Journal.open(journal_path)


def test_two_writers_are_refused_until_the_first_closes(journal_path, a_session):
    first = create(journal_path, a_session[:1])
    with pytest.raises(Problem, match="open in another window"):
        Journal.open(journal_path)
    first.close()
    Journal.open(journal_path)[0].close()


def test_the_lock_goes_when_its_process_is_killed(journal_path, a_session):
    create(journal_path, a_session[:1]).close()
    program = (
        "import sys, time; from pathlib import Path; from elicit_app.session.journal.writing import Journal\n"
        f"journal = Journal.open(Path({str(journal_path)!r}))[0]; print('open', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(Problem, match="open in another window"):
            Journal.open(journal_path)
        child.kill()
    Journal.open(journal_path)[0].close()


@pytest.mark.parametrize("room", [0, 1, 40])
def test_a_full_disk_loses_nothing_and_trying_again_works(journal_path, a_session, file_limit, room):
    with create(journal_path, a_session[:2]) as journal:
        before = journal_path.read_bytes()
        file_limit(len(before) + room)
        for _ in range(2):
            with pytest.raises(UnwrittenProblem, match=r"This answer could not be written \(the disk is full\)"):
                journal.append(a_session[2])
        file_limit(-1)
        assert journal_path.read_bytes() == before
        journal.append(a_session[2])
    assert list(read(journal_path).events) == a_session[:3]


@contextmanager
def refused(monkeypatch, *calls):
    """Let these calls of the system fail: no disk fails on demand."""

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        for call in calls:
            patch.setattr(os, call, refuse)
        yield


def test_when_the_disk_does_not_confirm_the_answer_is_not_given(journal_path, a_session, monkeypatch):
    with create(journal_path, a_session[:2]) as journal:
        before = journal_path.read_bytes()
        with refused(monkeypatch, "fsync"), pytest.raises(UnwrittenProblem, match="input/output error"):
            journal.append(a_session[2])
        assert journal_path.read_bytes() == before
        journal.append(a_session[2])
    assert len(read(journal_path).events) == 3


def test_a_half_line_that_could_not_be_removed_is_removed_before_the_next_write(journal_path, a_session, monkeypatch):
    with create(journal_path, a_session[:2]) as journal:
        with refused(monkeypatch, "fsync", "ftruncate"), pytest.raises(UnwrittenProblem):
            journal.append(a_session[2])
        journal.append(a_session[3])
    assert list(read(journal_path).events) == [*a_session[:2], a_session[3]]


def test_a_file_changed_underneath_is_refused_and_left_alone(journal_path, a_session):
    with create(journal_path, a_session[:2]) as journal:
        other = journal_path.read_bytes().replace(b"lesions", b"lessons")
        with journal_path.open("r+b") as file:
            file.write(other)
        with pytest.raises(UnwrittenProblem, match="another program changed"):
            journal.append(a_session[2])
        assert journal_path.read_bytes() == other


def test_a_file_that_is_moved_away_can_be_put_back(journal_path, a_session):
    aside = journal_path.with_name("aside")
    with create(journal_path, a_session[:2]) as journal:
        journal_path.rename(aside)
        with pytest.raises(UnwrittenProblem, match="moved or deleted"):
            journal.append(a_session[2])
        aside.rename(journal_path)
        journal.append(a_session[2])
    assert len(read(journal_path).events) == 3


def test_a_touched_file_with_the_same_bytes_is_no_change(journal_path, a_session):
    with create(journal_path, a_session[:2]) as journal:
        os.utime(journal_path)
        journal.append(a_session[2])
        journal.append(a_session[3])
    assert len(read(journal_path).events) == 4


def test_a_closed_journal_refuses(journal_path, a_session):
    journal = create(journal_path, a_session[:2])
    journal.close()
    journal.close()
    with pytest.raises(UnwrittenProblem, match="the session is closed"):
        journal.append(a_session[2])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="an administrator may write everywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path, a_session):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(Problem, match="not allowed"):
            create(tmp_path / "x.session.jsonl", a_session[:1])
    finally:
        tmp_path.chmod(0o700)


def test_a_file_where_the_folder_should_be_is_said(tmp_path, a_session):
    (tmp_path / "sessions").write_text("in the way")
    with pytest.raises(Problem, match="sessions is a file, not a folder"):
        create(tmp_path / "sessions" / "x.session.jsonl", a_session[:1])
    assert [file.name for file in tmp_path.iterdir()] == ["sessions"]


def test_a_change_from_outside_is_noticed_even_after_a_failed_write(journal_path, a_session, monkeypatch):
    with create(journal_path, a_session[:2]) as journal:
        with refused(monkeypatch, "fsync", "ftruncate"), pytest.raises(UnwrittenProblem):
            journal.append(a_session[2])
        with journal_path.open("r+b") as file:
            file.write(b"?")
        with pytest.raises(UnwrittenProblem, match="another program changed"):
            journal.append(a_session[2])


@pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
def test_a_session_is_for_its_owner_alone_and_never_written_through_a_link(tmp_path, a_session):
    path, aside, link = (tmp_path / name for name in ("a.session.jsonl", "aside", "b.session.jsonl"))
    create(path, a_session[:3]).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link.symlink_to(aside)
    with pytest.raises(Problem, match="already a session"):
        create(link, a_session[:1])
    assert not aside.exists()
    path.rename(aside)
    with pytest.raises(Problem, match="is a link"):
        Journal.open(link)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_a_pipe_in_place_of_a_session_is_refused_at_once(tmp_path):
    pipe = tmp_path / "x.session.jsonl"
    os.mkfifo(pipe)
    for act in (read, Journal.open):
        with pytest.raises(Problem, match="not a regular file"):
            act(pipe)


def test_a_copy_is_kept_at_the_beginning_of_every_sitting_and_the_last_five_stay(journal_path, a_session, write):
    create(journal_path, a_session[:3]).close()
    kept = []
    for _ in range(7):
        journal, _ = Journal.open(journal_path)
        kept.append(journal_path.read_bytes())
        journal.append(write.answered())
        journal.close()
    assert [path.read_bytes() for path in backups(journal_path)] == kept[-5:]
    Journal.open(journal_path)[0].close()
    Journal.open(journal_path)[0].close()
    assert len(backups(journal_path)) == 5, "nothing new, no new copy"


def test_a_cut_at_the_end_of_a_line_is_noticed(journal_path, a_session):
    with create(journal_path, a_session[:3]) as journal:
        for event in a_session[3:]:
            journal.append(event)
    whole = journal_path.read_bytes()
    for end in ends_of(whole)[:-1]:
        journal_path.write_bytes(whole[:end])
        for act in (read, Journal.open):
            with pytest.raises(DamagedProblem, match=r"is cut off \(its last"):
                act(journal_path)
    journal_path.write_bytes(whole)
    assert list(read(journal_path).events) == a_session


@pytest.mark.parametrize("up", [False, True])
def test_backups_are_never_kept_through_a_link_nor_is_anything_there_removed(journal_path, a_session, up):
    others = journal_path.parent.parent / "others" / backup_folder(journal_path).name
    others.mkdir(parents=True)
    kept = [others / f"2025-01-0{day}-120000-00000{day}.session.jsonl" for day in range(1, 9)]
    for one in kept:
        one.write_bytes(to_lines(a_session))
    with create(journal_path, a_session):
        pass
    folder = backup_folder(journal_path)
    linked, there = (folder.parent, others.parent) if up else (folder, others)
    shutil.rmtree(linked)
    linked.symlink_to(there)
    for _ in range(2):
        with Journal.open(journal_path)[0] as journal:
            journal.append(EXTRA)
    assert sorted(others.iterdir()) == kept


@pytest.mark.parametrize(
    "mark", ['[0, "x", 0]', '[true, "x", 0]', "[1, 2, 3]", '["1", "x", 0]', '[1, "x"]', "{}", "\xff"]
)
def test_a_damaged_mark_says_nothing_about_a_sound_session(journal_path, a_session, mark):
    create(journal_path, a_session).close()
    (backup_folder(journal_path) / "written.json").write_text(mark, encoding="latin-1")
    assert list(read(journal_path).events) == a_session
