"""What is noticed of every small change to a session file, and what of it can be saved."""

import json
import shutil
from pathlib import Path

import pytest

from elicit_app.problem import Problem
from elicit_app.session.journal.events import Answered, Noted, Recovered, digest_after, sealed, unsealed
from elicit_app.session.journal.files import (
    DamagedProblem,
    backup_folder,
    backups,
    delete_mark,
    examine,
    read,
    read_up_to_damage,
)
from elicit_app.session.journal.recovery import check_session, recover_session
from elicit_app.session.journal.state import fold
from elicit_app.session.journal.writing import Journal, to_lines

OLD = sorted((Path(__file__).parent / "old").glob("*.session.jsonl"))


@pytest.fixture
def sitting(write):
    """A short session: what is answered, undone, changed and taken out."""
    first = write.pair(30)
    return [
        write.begun(),
        write.guessed(),
        write.answered("first", first),
        write.answered("second", write.pair(31)),
        write.undone(),
        write.answered("equal", write.pair(32)),
        write.answered("second", write.pair(30, purpose="repeat", repeat_of=1)),
        write.changed(1, "second"),
        write.answered("first", write.pair(33)),
        write.answered("unsure", write.pair(34)),
    ]


@pytest.fixture
def kept(journal_path, sitting):
    """The session as the program wrote it, an event at a time."""
    with Journal.create(journal_path, sitting[:2]) as journal:
        for event in sitting[2:]:
            journal.append(event)
    return journal_path.read_bytes()


def events_of(path):
    """The events of a session without what its recovery added."""
    return [event for event in read(path).events if not isinstance(event, Noted | Recovered)]


def noticed(data, path, events):
    """Whether a changed file is told to be one, or holds every answer as it was given."""
    try:
        contents = examine(data, path)
    except Problem:
        return True
    if contents.damage or contents.tail:
        return list(contents.events) == events[: len(contents.events)]
    return list(contents.events) == events


def test_every_flip_of_one_bit_is_noticed_and_put_right(journal_path, kept, sitting, tmp_path):
    flips = [(place, bit) for place in range(len(kept)) for bit in range(8)]
    for place, bit in flips:
        damaged = bytearray(kept)
        damaged[place] ^= 1 << bit
        assert noticed(bytes(damaged), journal_path, sitting), (place, bit)
    # Putting one right tries every bit of its line: the whole way is gone here and there.
    for number, (place, bit) in enumerate(flips[:: len(flips) // 30]):
        damaged = bytearray(kept)
        damaged[place] ^= 1 << bit
        journal_path.write_bytes(damaged)
        out = tmp_path / f"{number}.session.jsonl"
        recovery = recover_session(journal_path, out)
        assert (events_of(out), recovery.gaps, recovery.left_out) == (sitting, 0, 0), (place, bit)


def test_lines_dropped_doubled_and_swapped_are_noticed(journal_path, kept, sitting, tmp_path):
    lines = kept.splitlines(keepends=True)
    delete_mark(journal_path)
    for place in range(len(lines)):
        doubled = [*lines[: place + 1], *lines[place:]]
        swapped = [*lines[:place], *lines[place : place + 2][::-1], *lines[place + 2 :]]
        for number, changed in enumerate((doubled, *([swapped] if place + 1 < len(lines) else []))):
            journal_path.write_bytes(b"".join(changed))
            if (place, number) != (0, 1):
                with pytest.raises(Problem, match="is damaged in line"):
                    read(journal_path)
            out = tmp_path / f"{place}-{number}.session.jsonl"
            assert recover_session(journal_path, out).gaps == 0
            assert events_of(out) == sitting
    for place in range(len(lines) - 1):
        journal_path.write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))
        with pytest.raises(Problem, match=r"is damaged in line|is not a session"):
            read(journal_path)


def test_a_lost_line_comes_back_from_a_backup(journal_path, kept, sitting, tmp_path):
    Journal.open(journal_path)[0].close()
    assert [copy.read_bytes() for copy in backups(journal_path)] == [kept]
    lines = kept.splitlines(keepends=True)
    for place in range(len(lines)):
        journal_path.write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))
        out = tmp_path / f"{place}.session.jsonl"
        recovery = recover_session(journal_path, out)
        if place < len(lines) - 1:
            assert (events_of(out), recovery.gaps) == (sitting, 0)


@pytest.mark.parametrize("spoilt", [1, 2])
def test_a_changed_line_comes_back_from_a_backup_and_no_answer_twice(journal_path, kept, sitting, tmp_path, spoilt):
    Journal.open(journal_path)[0].close()
    lines = kept.splitlines(keepends=True)
    for place in range(1, len(lines) - spoilt):
        changed = [line.replace(b'"', b"'", 4) for line in lines[place : place + spoilt]]
        journal_path.write_bytes(b"".join([*lines[:place], *changed, *lines[place + spoilt :]]))
        recovery = recover_session(journal_path, tmp_path / f"{place}.session.jsonl")
        saved = [event for event in events_of(recovery.path) if event.kind not in ("recovered", "noted")]
        assert saved == sitting
        if spoilt == 1:
            assert (recovery.gaps, recovery.restored) == (0, 1)


def test_an_edited_answer_is_noticed_and_never_taken_over(journal_path, kept, sitting, tmp_path):
    lines = kept.splitlines(keepends=True)
    for place, line in enumerate(lines):
        if b'"kind":"answered"' not in line:
            continue
        edited = line.replace(b'"choice":"first"', b'"choice":"second"')
        edited = line.replace(b'"choice":"', b'"choice":"equal","was":"') if edited == line else edited
        journal_path.write_bytes(b"".join([*lines[:place], edited, *lines[place + 1 :]]))
        with pytest.raises(DamagedProblem, match=f"is damaged in line {place + 1}: .* of 6 answers can be read"):
            read(journal_path)
        recovery = recover_session(journal_path, tmp_path / f"{place}.session.jsonl")
        saved = events_of(recovery.path)
        assert recovery.gaps == 1
        assert {event.at for event in saved} < {event.at for event in sitting}
        assert all(event.choice != "equal" or event in sitting for event in saved if isinstance(event, Answered))
        before = [event for event in sitting[:place] if isinstance(event, Answered)]
        behind = [event.at for event in sitting[place + 1 :] if isinstance(event, Answered)]
        assert [event for event in saved if isinstance(event, Answered)][: len(before)] == before
        assert {event.at for event in saved} >= set(behind), "answers behind it are saved"
        fold(saved)


def test_a_chain_written_anew_is_noticed_where_the_session_was_kept(journal_path, kept):
    digest, lines = "", []
    for line in kept.replace(b'"choice":"unsure"', b'"choice":"first"').splitlines():
        payload, _ = unsealed(line)
        digest = digest_after(digest, payload)
        lines.append(sealed(payload, digest))
    journal_path.write_bytes(b"\n".join([*lines, b""]))
    with pytest.raises(DamagedProblem, match="is not the file that was written here"):
        read(journal_path)


def test_a_damaged_session_says_what_can_be_read(journal_path, kept):
    journal_path.write_bytes(kept.replace(b'"unsure"', b'"equal"'))
    contents = read_up_to_damage(journal_path)
    assert (contents.sound_answers, contents.answers, contents.damage) == (5, 6, "is damaged in line 10")
    check = check_session(journal_path)
    assert (check.answers, check.all_answers, check.lines, check.protected) == (5, 6, 9, True)
    with pytest.raises(DamagedProblem, match="5 of 6 answers can be read"):
        Journal.open(journal_path)


def test_what_is_sound_but_out_of_place_and_a_line_without_an_end_are_told(journal_path, sitting, write):
    journal_path.parent.mkdir()
    repeat = write.answered("first", write.pair(30, purpose="repeat", repeat_of=9))
    journal_path.write_bytes(to_lines([*sitting[:3], repeat, *sitting[3:4]]))
    check = check_session(journal_path)
    assert check.damage.startswith("is inconsistent from line 4 on")
    assert (check.lines, check.answers, check.all_answers, check.unfinished) == (3, 1, 3, False)
    whole = to_lines(sitting[:4])
    for cut, lines in ((whole, 4), (whole[:-1], 4), (whole[:-2], 3)):
        journal_path.write_bytes(cut)
        check = check_session(journal_path)
        assert (check.damage, check.lines, check.unfinished) == ("", lines, cut != whole)


def test_of_a_session_cut_between_lines_it_is_known_how_many_answers_there_were(journal_path, kept):
    journal_path.write_bytes(b"".join(kept.splitlines(keepends=True)[:4]))
    check = check_session(journal_path)
    assert check.damage == "is cut off (its last 6 lines are missing)"
    assert (check.lines, check.answers, check.all_answers) == (4, 2, 6)


def test_a_recovered_session_is_sound_and_the_damaged_one_as_it_was(journal_path, kept, tmp_path):
    damaged = kept.replace(b'"unsure"', b'"equal"')
    journal_path.write_bytes(damaged)
    out = tmp_path / "new.session.jsonl"
    recover_session(journal_path, out)
    assert journal_path.read_bytes() == damaged
    check = check_session(out)
    assert (check.damage, check.protected, check.answers) == ("", True, 4)  # one of five was taken back
    with pytest.raises(Problem, match="already a session"):
        recover_session(journal_path, out)


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.stem)
def test_sessions_of_earlier_versions_open_go_on_and_are_marked(old, journal_path, tmp_path, write):
    journal_path.parent.mkdir()
    shutil.copy(old, journal_path)
    contents = read(journal_path)
    before = fold(contents.events)
    check = check_session(journal_path)
    assert (check.damage, check.protected, check.answers) == ("", False, len(before.entries))
    recorded = [json.loads(line) for line in old.read_text().splitlines()]
    given = [{"a": "first", "b": "second"}.get(line["choice"], line["choice"]) for line in recorded if "choice" in line]
    assert [event.choice for event in contents.events if isinstance(event, Answered)] == given
    with Journal.open(journal_path)[0] as journal:
        journal.append(write.noted("gone on with"))
    assert journal_path.read_bytes().startswith(old.read_bytes())
    assert fold(read(journal_path).events).notes[-1] == "gone on with"
    out = tmp_path / "protected.session.jsonl"
    recover_session(journal_path, out)
    after = fold(read(out).events)
    assert check_session(out).protected
    assert [entry.answer for entry in after.entries] == [entry.answer for entry in before.entries]
    assert backup_folder(journal_path).is_dir()


def test_a_session_without_its_beginning_cannot_be_saved(journal_path, kept, tmp_path):
    delete_mark(journal_path)
    journal_path.write_bytes(b"".join(kept.splitlines(keepends=True)[1:]))
    with pytest.raises(Problem, match="Nothing can be saved"):
        recover_session(journal_path, tmp_path / "out.session.jsonl")


def test_ten_thousand_answers_are_read_again(journal_path, write):
    events = [write.begun(), *(write.answered("first", write.pair(20 + n % 50)) for n in range(10_000))]
    data = to_lines(events)
    state = fold(examine(data, journal_path).events)
    assert len(state.entries) == 10_000
