import json
import os
import shutil
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from elicit_app.cli.main import app
from elicit_app.problem import Problem
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.result import export, result_view
from elicit_app.session.session import Session
from elicit_app.study import open_study
from elicit_app.study.folder import write_folder
from metrics import ElicitedMetric
from metrics.exports.page import one_line


def elicit(*arguments):
    """Exit code and what was printed, or the sentence of the problem."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, Problem):
        return 1, result.exception.sentence
    return result.exit_code, " ".join(result.output.split())


def sitting(path, replies=("left", "right", "equal", "left", "left", "right", "equal")):
    with Session.create(open_study("breast-cancer"), BayesSetting(seed=5), path) as session:
        for reply in replies:
            session.answer(reply)
        session.stop()
        return export(result_view(session), path.with_suffix(".metric.json"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A session of seven answers and the metric file made from it, which tests copy."""
    path = tmp_path_factory.mktemp("made") / "a.session.jsonl"
    return path, sitting(path)


@pytest.fixture
def answered(made):
    """Returns what puts the session in a place; the metric file comes beside it."""

    def put(path):
        shutil.copy(made[0], path)
        return shutil.copy(made[1], path.with_suffix(".metric.json"))

    return put


def test_a_sound_session_and_the_metric_made_from_it(answered, tmp_path):
    path = tmp_path / "a.session.jsonl"
    metric = answered(path)
    code, said = elicit("session", "check", path, metric)
    assert code == 0
    assert "is sound: 7 answers in 9 lines. Every line carries a running digest." in said
    assert "was made from these answers." in said
    mine = ElicitedMetric.load(metric)
    theirs = replace(mine, provenance=replace(mine.provenance, answers_digest="0" * 64, expert="Ben"))
    theirs.save(tmp_path / "b.metric.json")
    pooled = tmp_path / "both.metric.json"
    assert elicit("metric", "pool", metric, tmp_path / "b.metric.json", "--out", pooled)[0] == 0
    assert "was made from these answers and those of 1 other expert." in elicit("session", "check", path, pooled)[1]
    code, said = elicit("session", "check", path, path)
    assert code == 1
    assert said.startswith(f"{path}: this is a session, with an expert's answers; the metric file")
    with Session.open(path) as session:
        session.more()
        session.answer("left")
    assert "as they were after 7 answers" in elicit("session", "check", path, metric)[1]


def test_an_answer_that_was_taken_back_is_counted_nowhere_and_what_came_twice_is(tmp_path):
    path = tmp_path / "a.session.jsonl"
    with Session.create(open_study("breast-cancer"), BayesSetting(seed=5), path) as session:
        for reply in ("left", "right", "unsure", *["left"] * 7):
            session.answer(reply)
        session.undo()
        session.stop()
        purposes = [entry.event.pair.purpose.value for entry in session.state.entries]
    assert "is sound: 9 answers in 13 lines." in elicit("session", "check", path)[1]
    assert elicit("session", "recover", path, "--out", tmp_path / "b.session.jsonl")[1].startswith("9 answers saved")
    elicit("session", "report", path, "--out", tmp_path / "a.md")
    report = (tmp_path / "a.md").read_text("utf-8")
    assert "9 answers" in report
    # one to see whether the same answer is given, and one that nothing could be said to at first
    assert purposes.count("repeat") == 1
    assert "2 pairs came twice." in report


def test_a_metric_from_other_answers_is_told(answered, tmp_path):
    answered(tmp_path / "a.session.jsonl")
    other = sitting(tmp_path / "b.session.jsonl", ["right"] * 5)
    code, said = elicit("session", "check", tmp_path / "a.session.jsonl", other)
    assert (code, "was not made from the answers in" in said) == (1, True)


def test_a_damaged_session_is_told_and_recovered(answered, tmp_path):
    path, new = tmp_path / "a.session.jsonl", tmp_path / "new.session.jsonl"
    answered(path)
    path.write_bytes(path.read_bytes().replace(b'"choice":"equal"', b'"choice":"Equal"'))
    code, said = elicit("session", "check", path)
    assert (code, "is damaged in line 4: 2 of 7 answers can be read" in said) == (1, True)
    code, said = elicit("session", "recover", path, "--out", new)
    assert code == 0
    assert "7 answers saved in" in said
    assert elicit("session", "check", new)[0] == 0
    assert "already a session" in elicit("session", "recover", path, "--out", new)[1]


def test_the_report_of_a_session_has_the_recommendation_and_every_answer(answered, tmp_path):
    path = tmp_path / "a.session.jsonl"
    answered(path)
    assert elicit("session", "report", path, "--out", tmp_path / "r.md") == (0, f"Wrote {tmp_path / 'r.md'}.")
    told = (tmp_path / "r.md").read_text()
    session = Session.open_read_only(path)
    assert one_line(result_view(session).judgement.recommendation.sentence) in told.replace("**", "")
    assert told.count("\n| ", told.index("Every answer, in words")) == 7 + 2
    assert "exists already" in elicit("session", "report", path, "--out", tmp_path / "r.md")[1]
    assert elicit("session", "report", path, "--out", tmp_path / "r.md", "--force")[0] == 0
    assert "must end in .pdf, .html" in elicit("session", "report", path, "--out", tmp_path / "r.txt")[1]


def test_the_study_of_a_session_that_lies_elsewhere_is_named(tmp_path):
    study = write_folder(tmp_path / "lumps", open_study("breast-cancer"))
    elsewhere = tmp_path / "mail" / "a.session.jsonl"
    elsewhere.parent.mkdir()
    with Session.create(study, BayesSetting(seed=5), elsewhere) as session:
        session.answer("left")
    code, said = elicit("session", "report", elsewhere, "--out", tmp_path / "r.html")
    assert (code, "is not in the folder of its study" in said) == (2, True)
    assert "Its --study is needed as well." in said
    assert elicit("session", "report", elsewhere, "--out", tmp_path / "r.html", "--study", tmp_path / "lumps")[0] == 0
    code, said = elicit("session", "report", elsewhere, "--out", tmp_path / "s.html", "--study", "wine")
    assert (code, "is about the classes malignant, benign" in said) == (1, True)


def test_no_writer_replaces_answers_or_writes_through_a_link_and_others_only_with_force(answered, tmp_path):
    path = tmp_path / "a.session.jsonl"
    metric = answered(path)
    before = path.read_bytes()
    for force in ([], ["--force"]):
        code, said = elicit("metric", "export", metric, "--format", "csv", "--out", path, *force)
        assert (code, path.read_bytes()) == (1, before)
        assert "exists already" in said or "it holds an expert's answers" in said
    csv = tmp_path / "a.csv"
    csv.write_text("mine")
    assert "exists already" in elicit("metric", "export", metric, "--format", "csv", "--out", csv)[1]
    assert csv.read_text() == "mine"
    assert elicit("metric", "export", metric, "--format", "csv", "--out", csv, "--force")[0] == 0
    assert csv.read_text() != "mine"
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "elsewhere.csv")
    assert "is a link" in elicit("metric", "export", metric, "--format", "csv", "--out", link)[1]
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert "nobody reads from this pipe" in elicit("metric", "export", metric, "--format", "csv", "--out", pipe)[1]
    assert not (tmp_path / "elsewhere.csv").exists()


@pytest.mark.parametrize("option", ["--transcript", "--out"])
def test_a_simulation_replaces_neither_answers_nor_anything_else_unasked(answered, tmp_path, option):
    path, link = tmp_path / "a.session.jsonl", tmp_path / "link.json"
    answered(path)
    mine = tmp_path / "mine.json"
    mine.write_text("mine")
    link.symlink_to(mine)
    answers = path.read_bytes()
    for taken in (path, mine, link):
        code, said = elicit("simulate", "wine", "--questions", "1", option, taken)
        assert (code, "exists already" in said) == (1, True), said
    for protected, why in ((path, "it holds an expert's answers"), (link, "is a link")):
        code, said = elicit("simulate", "wine", "--questions", "1", option, protected, "--force")
        assert (code, why in said) == (1, True), said
    assert (path.read_bytes(), mine.read_text()) == (answers, "mine")
    assert elicit("simulate", "wine", "--questions", "1", option, mine, "--force")[0] == 0
    assert mine.read_text() != "mine"


def test_what_gets_its_ending_or_its_name_here_replaces_nothing_either(tmp_path):
    sent, session = tmp_path / "sent.elicit", tmp_path / "a.session.jsonl"
    taken = [tmp_path / name for name in ("two.elicit", "b.session.jsonl", "a.metric.json")]
    for path in taken:
        path.write_text("mine")
    assert elicit("study", "pack", "breast-cancer", sent.with_suffix(""), "--questions", "1")[0] == 0
    commands = (
        ("study", "pack", "breast-cancer", tmp_path / "two"),
        ("ask", sent, "--simulate", "random", "--seed", "1", "--out", tmp_path / "b"),
        ("ask", "breast-cancer", "--simulate", "random", "--seed", "1", "--questions", "5", "--session", session),
    )
    for command, said in zip(commands, ("exists already", "exists already", "was not made from these"), strict=True):
        code, told = elicit(*command)
        assert (code, said in told) == (1, True), told
    assert [path.read_text() for path in taken] == ["mine"] * 3
    taken[2].unlink()
    for _ in range(2):  # a metric file that was made from the session is its own
        assert elicit("ask", "breast-cancer", "--simulate", "random", "--session", session)[0] == 0
    assert "was made from these answers" in elicit("session", "check", session, taken[2])[1]


def test_two_options_do_not_write_the_same_file(tmp_path):
    same = ["--out", tmp_path / "a.json", "--transcript", tmp_path / "." / "a.json"]
    code, said = elicit("simulate", "wine", "--questions", "1", *same)
    assert (code, "would be written twice" in said) == (2, True), said
    assert not (tmp_path / "a.json").exists()


def test_a_picture_is_replaced_only_with_force(tmp_path):
    cases, picture = tmp_path / "cases.csv", tmp_path / "auc.png"
    cases.write_text("y_true,proba_a,proba_b\na,0.8,0.2\nb,0.3,0.7\na,0.4,0.6\n")
    picture.write_bytes(b"mine")
    assert "exists already" in elicit("measure", "auc", cases, "--plot", picture)[1]
    assert picture.read_bytes() == b"mine"
    assert elicit("measure", "auc", cases, "--plot", picture, "--force")[0] == 0


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_clock_that_was_wrong_keeps_no_answer_back(answered, tmp_path, moment):
    path = tmp_path / "a.session.jsonl"
    answered(path)
    events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for event in events:
        event["at"] = moment
        event.pop("digest", None)
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events), "utf-8")
    code, said = elicit("session", "report", path, "--out", tmp_path / "a.html")
    assert (code, "Wrote" in said) == (0, True), said
    assert moment[:4].lstrip("0") in (tmp_path / "a.html").read_text("utf-8")
