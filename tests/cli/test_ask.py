import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import typer
from rich.console import Console

from elicit_app.cli import terminal
from elicit_app.cli.asking import AskOptions, ask_guesses, ask_in_terminal
from elicit_app.cli.terminal import Terminal, read_key
from elicit_app.elicitation.questions import Strength
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import setting_of
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal import listing
from elicit_app.session.journal.listing import finished_experts, list_sessions, summary
from elicit_app.session.packing import packed, write_pack
from elicit_app.session.session import Session
from elicit_app.study import open_study
from metrics import ElicitedMetric


@pytest.fixture
def typed(monkeypatch):
    """Returns what a piped run with these lines gives."""

    def run(lines, data, **options):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr(listing, "data_folder", lambda: data)
        return ask_in_terminal(AskOptions(**{"study": "breast-cancer", "seed": 4, **options}))

    return run


@pytest.mark.parametrize(
    ("line", "reply", "strength", "command"),
    [
        ("1", "left", None, "unknown"),
        (" A ", "left", None, "unknown"),
        ("2+", "right", Strength.CLEARLY, "unknown"),
        ("1-", "left", Strength.SLIGHTLY, "unknown"),
        ("0", "equal", None, "unknown"),
        ("s", "unsure", None, "unknown"),
        ("0+", None, None, "unknown"),
        ("s-", None, None, "unknown"),
        ("", None, None, "unknown"),
        ("+", None, None, "unknown"),
        ("u", None, None, "undo"),
        ("r", None, None, "redo"),
        ("Q", None, None, "stop"),
        ("f", None, None, "full"),
        ("?", None, None, "help"),
        ("3", None, None, "unknown"),
        ("2+: for a reason", "right", Strength.CLEARLY, "unknown"),
        ("u: for a reason", None, None, "unknown"),
        ("1 for a reason", None, None, "unknown"),
        ("\x1b[D", "left", None, "unknown"),
        ("\x1bOC", "right", None, "unknown"),
        ("\x1b[B", "equal", None, "unknown"),
        ("\x1b[A", None, None, "unknown"),
    ],
)
def test_keys(line, reply, strength, command):
    assert read_key(line)[:3] == (reply, strength, command)


def test_piped_answers_end_with_the_result_and_the_metric_file(typed, tmp_path, capsys):
    out = tmp_path / "ada.metric.json"
    lines = ["1", "2+", "nonsense", "?", "0", "u", "1-", "f", "2", "s", "r", "1", "2", "q", "", ""]
    result = typed(lines, tmp_path, expert="Ada", out=out)
    shown = capsys.readouterr()
    assert f"Metric file: {out}" in shown.out
    assert "counts as" in shown.out
    assert "which result would you rather have?" in shown.err
    assert "There is nothing to redo." in shown.err
    metric = ElicitedMetric.load(out)
    assert metric.provenance.expert == "Ada"
    (one,) = list_sessions(data=tmp_path)
    assert (one.answers, one.finished, one.expert) == (7, True, "Ada")
    assert result.answers == 7
    with Session.open(one.path) as session:
        entries = session.state.entries
        assert [entry.answer.strength for entry in entries[:3]] == [None, "clearly", "slightly"]
        assert [entry.event.full_picture for entry in entries] == [False] * 3 + [True] * 4
        assert all(entry.answer.seconds is None for entry in entries), "lines in a pipe take no time"


def test_a_reason_follows_an_answer_and_stays_with_it_until_another_is_given(typed, tmp_path, capsys):
    path = tmp_path / "mine.session.jsonl"
    given = ["1: fewer scars", "2", "=30: Thirty, at most", "q"]
    looked = ["l1", "1", "l 2", "2:so far", "l 3", "u", "l 3", "2", "q"]
    typed([*given, *looked], tmp_path, session=path)
    shown = " ".join(capsys.readouterr().err.split())
    assert shown.count("u leave it as it was") == 4
    assert "one counts as" in shown
    assert shown.count("“Thirty, at most”") >= 2
    with Session.open(path) as session:
        assert [entry.answer.reason for entry in session.state.entries] == ["fewer scars", "so far", ""]
        assert [entry.event.answer.reason for entry in session.state.entries] == ["fewer scars", "", "Thirty, at most"]


def test_where_the_input_ends_the_session_can_go_on(typed, tmp_path, capsys):
    path = tmp_path / "mine.session.jsonl"
    assert typed(["1", "2"], tmp_path, session=path).answers == 2
    assert "Too few answers for a metric file" in capsys.readouterr().err
    assert typed(["1", "2", "0", "1"], tmp_path, session=path).answers == 6
    shown = capsys.readouterr()
    assert "Going on: 2 answers are kept. The last one: you preferred " in shown.err
    assert "Question 3" in shown.err
    assert str(tmp_path / "mine.metric.json") in shown.out
    assert typed([], tmp_path, session=tmp_path / "empty.session.jsonl") is None
    assert "There is no result yet" in capsys.readouterr().err


def test_what_a_session_was_begun_with_is_kept_and_said(typed, tmp_path, capsys):
    path = tmp_path / "mine.session.jsonl"
    typed(["1"], tmp_path, session=path, expert="Ada")
    assert f"The session is not finished: go on with --session {path}" in capsys.readouterr().err
    typed(["1"], tmp_path, session=path, expert="Ada", questions=30, procedure="bayes")
    assert "goes on as it was begun, without --questions 30." in capsys.readouterr().err
    typed(["1", "q", "", ""], tmp_path, session=path)
    said = capsys.readouterr().err
    assert "goes on as it was begun" not in said
    assert "is not finished" not in said


def test_how_a_study_that_was_sent_asks_is_not_up_to_the_expert(typed, tmp_path, capsys):
    pack = write_pack(packed(open_study("wine"), setting_of("bayes", family="lpm")), tmp_path / "wine.elicit")
    path = tmp_path / "mine.session.jsonl"
    typed(["1", "2"], tmp_path, study=str(pack), session=path, procedure="dlpm", family="dlpm", purpose="both")
    assert "This study is answered without --procedure dlpm, --family dlpm." in capsys.readouterr().err
    setting = Session.open_read_only(path).setting
    assert (setting.procedure, setting.family, setting.purpose, setting.seed) == ("bayes", "lpm", "both", 4)


def test_answers_to_a_study_that_was_sent_replace_their_own_and_no_others(typed, tmp_path):
    pack = write_pack(packed(open_study("wine"), setting_of("bayes", family="lpm")), tmp_path / "wine.elicit")
    for name in ("one", "other", "one"):
        typed(["1", "2"], tmp_path, study=str(pack), session=tmp_path / f"{name}.session.jsonl", expert="Ada")
    sent = {path.name: path.read_bytes() for path in tmp_path.glob("wine-*")}
    assert sent == {
        "wine-ada-answers.session.jsonl": (tmp_path / "one.session.jsonl").read_bytes(),
        "wine-ada-2-answers.session.jsonl": (tmp_path / "other.session.jsonl").read_bytes(),
    }


@pytest.mark.parametrize("out", ["", "in the way/x.metric.json"])
def test_where_the_metric_file_goes_is_looked_at_before_the_first_question(typed, tmp_path, capsys, out):
    (tmp_path / "in the way").write_text("")
    with pytest.raises(Problem, match=r"is a folder|is a file, not a folder"):
        typed(["1"], tmp_path, session=tmp_path / "x.session.jsonl", out=tmp_path / out)
    assert capsys.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["in the way"]


def test_weights_that_are_none_leave_no_session(typed, tmp_path):
    with pytest.raises(WrongOption, match="2 weights at 2 classes, 3 were given"):
        typed([], tmp_path, session=tmp_path / "x.session.jsonl", simulate="-1,-2,-3")
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_session_is_pointed_out(typed, tmp_path, capsys):
    typed(["1"], tmp_path)
    typed(["1"], tmp_path)
    assert "There is an unfinished session (1 answer" in capsys.readouterr().err
    assert len(list_sessions(data=tmp_path)) == 2


def test_a_sitting_that_is_over_can_go_on(tmp_path):
    study = open_study("breast-cancer")
    session = Session.create(study, BayesSetting(seed=4, questions=3), tmp_path / "x.session.jsonl")
    console = Console(file=io.StringIO(), markup=False, highlight=False, width=400)
    prompts = iter(["m", "l1", "t 2", "u", "m", ""])
    sittings = []

    def read(view):
        if view is None and console.file.getvalue().rstrip().endswith("keep both answers"):
            return "k"
        if view is None:
            sittings.append(len(session.state.entries))
            return next(prompts)
        if view.again is not None:
            return "0"
        # One more answer in the second sitting and in the third, then the review.
        return "1" if not sittings or view.number <= sittings[0] + (1 if len(sittings) == 1 else 2) else "q"

    result = Terminal(session, console, read).run()
    shown = console.file.getvalue()
    assert "This sitting is over" in shown
    assert "Question 1, again" in shown
    assert "taken out" in shown
    assert result.answers == sittings[0] + 2


def test_a_finished_session_can_go_on(tmp_path):
    state, _, _ = answered(tmp_path, [""], waits=True)
    assert state.phase == "finished"
    console = Console(file=io.StringIO(), markup=False, highlight=False, width=400)
    prompts = iter(["m", ""])

    def read(view):
        if view is None:
            return next(prompts)
        return "1" if view.number == 7 else "q"

    session = Session.open(tmp_path / "x.session.jsonl")
    result = Terminal(session, console, read, waits=True).run()
    assert "m asks more questions, Enter shows the result." in console.file.getvalue()
    assert result.answers == 7
    again = Session.open(tmp_path / "x.session.jsonl")
    assert Terminal(again, console, lambda _: None).run().answers == 7, "where the input has ended, the result is shown"


def answered(tmp_path, lines, *, waits, number=6):
    """Answer some questions, stop, and type `lines`; return the session's phase, what was shown, and what is left."""
    session = Session.create(open_study("breast-cancer"), BayesSetting(seed=4), tmp_path / "x.session.jsonl")
    console = Console(file=io.StringIO(), markup=False, highlight=False, width=400)
    left = iter(lines)

    def read(view):
        if view is not None:
            return "1" if view.number <= number else "q"
        return next(left, None)

    Terminal(session, console, read, waits=waits).run()
    return session.state, console.file.getvalue(), list(left)


def test_a_slip_at_the_review_does_not_finish_the_session(tmp_path):
    state, shown, left = answered(tmp_path, ["x", "t 99", "l ²", "", "unread"], waits=True)
    assert shown.count("That was not understood.") == 3
    assert "u takes back the last answer" in shown, "nothing was changed in the review"
    assert (state.phase, left) == ("finished", ["unread"])


def test_lines_of_a_pipe_without_end_come_to_an_end(tmp_path):
    state, _, left = answered(tmp_path, ["1", "1", "1"], waits=False)
    assert state.phase == "finished"
    assert left


def test_which_of_two_answers_was_meant_is_asked_until_it_is_said(tmp_path):
    session = Session.create(open_study("breast-cancer"), BayesSetting(seed=4), tmp_path / "x.session.jsonl")
    console = Console(file=io.StringIO(), markup=False, highlight=False, width=400)
    keys, terminal = iter(["nonsense", "1"]), None

    def read(view):
        return next(keys, None)

    terminal = Terminal(session, console, read, waits=True)
    assert terminal._ask_for_key("1", "2", "0", "k") == "1"
    assert "“nonsense” is not one of 1, 2, 0, k or Enter." in console.file.getvalue()
    assert terminal._ask_for_key("1") is None
    terminal._runner.close()


def test_a_first_guess_is_read_as_in_the_window(monkeypatch):
    study = open_study("traffic-light")
    console = Console(file=io.StringIO(), markup=False, highlight=False, width=400)
    monkeypatch.setattr(sys, "stdin", io.StringIO("lots\n1/4\n\n1,500\n"))
    guesses = ask_guesses(study, "lpm", console)
    assert "“lots” is not a number greater than 0." in console.file.getvalue()
    assert [guess.ratio for guess in guesses] == [0.25, 1500]
    assert ask_guesses(study, "lpm", console) == ()


def test_another_file_of_the_same_name_is_another_study(typed, tmp_path, capsys):
    files = []
    for folder, seed in (("one", 1), ("two", 2)):
        rng = np.random.default_rng(seed)
        proba = rng.dirichlet(np.ones(2), 60)
        path = tmp_path / folder / "predictions.csv"
        path.parent.mkdir()
        rows = [f"{'cat' if i % 2 else 'dog'},{p:.6f},{1 - p:.6f}" for i, p in enumerate(proba[:, 0])]
        path.write_text("\n".join(["y_true,proba_cat,proba_dog", *rows]) + "\n")
        files.append(str(path))
    typed(["1"], tmp_path, study=files[0])
    typed(["1"], tmp_path, study=files[1])
    assert "unfinished session" not in capsys.readouterr().err
    typed(["1"], tmp_path, study=files[0])
    assert "There is an unfinished session (1 answer" in capsys.readouterr().err


def test_a_simulated_expert_leaves_nothing_among_the_sessions(typed, tmp_path, capsys):
    result = typed([], tmp_path, simulate="-3,-1", questions=8)
    assert list_sessions(data=tmp_path) == ()
    other = next(view for view in result.ratios if not view.is_yardstick)
    expected = 3.0 if other.true == 0 else 1 / 3
    assert other.range_90[0] <= expected <= other.range_90[1]
    assert "A simulated expert answers" in capsys.readouterr().err


def test_a_rehearsal_that_is_kept_is_finished_so_that_it_can_be_compared(typed, tmp_path, capsys):
    for expert in ("Ada", "Ben"):
        typed([], tmp_path, simulate="random", questions=5, expert=expert, session=tmp_path / f"{expert}.session.jsonl")
    found = finished_experts(map(summary, tmp_path.glob("*.session.jsonl")))
    assert sorted(one.expert for one in found) == ["Ada (simulated)", "Ben (simulated)"]
    assert ElicitedMetric.load(tmp_path / "Ada.metric.json").quality.simulated
    assert f"Metric file: {tmp_path / 'Ben.metric.json'}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("weights", "words"), [("1,2", "wrong sign"), ("-1,x", "numbers separated by commas"), ("-1", "1 were given")]
)
def test_weights_that_are_none_are_refused(typed, tmp_path, weights, words):
    with pytest.raises((Problem, typer.BadParameter), match=words):
        typed([], tmp_path, simulate=weights)


def test_the_command_itself(tmp_path, elicit):
    out = tmp_path / "x.metric.json"
    command = [sys.executable, "-c", "from elicit_app.cli.main import run; run()", "ask", "breast-cancer"]
    done = subprocess.run(
        [*command, "--seed", "1", "--out", str(out)],
        input="1\n2\n1\n2\n1\nq\n\n",
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["provenance"]["questions"] == 5
    refused = elicit("ask", "wine", "--procedure", "lpm", "--family", "dlpm")
    assert refused.returncode == 2
    assert "elicits the family lpm only" in refused.stderr
    assert "Traceback" not in refused.stderr


ORDER = "benign:malignant<=malignant:benign"


def test_a_fraction_is_asked_about_and_its_costs_near_the_models_are_kept(typed, tmp_path, capsys):
    out = tmp_path / "metric.json"
    view = typed([], tmp_path, family="lfpm", simulate="random", denominator="random", questions=6, out=out)
    said = capsys.readouterr()
    assert "in the numerator of a fraction" in " ".join(said.err.split())
    assert "no cost matrix, and no metric file holds it" in " ".join(said.out.split())
    metric = ElicitedMetric.load(out)
    assert (metric.family, metric.provenance.parameters["family"]) == ("lpm", "lfpm")
    assert metric.intervals is not None
    assert all(rate.low <= rate.ratio <= rate.high for rate in view.ratios if not rate.is_yardstick)
    assert not any("=" in line for line in said.err.splitlines() if line.startswith("> "))  # sides only


def test_a_denominator_is_of_a_simulated_expert_and_orders_say_nothing_of_a_fraction(typed, tmp_path):
    with pytest.raises(WrongOption, match="it requires simulate"):
        typed([], tmp_path, denominator="random")
    with pytest.raises(WrongOption, match="elicited by choices alone"):
        typed([], tmp_path, family="lfpm", never_worse=(ORDER,), simulate="random")


def test_stated_orders_are_said_kept_and_held_to_by_the_simulated_expert(typed, tmp_path, capsys):
    path = tmp_path / "one.session.jsonl"
    view = typed([], tmp_path, never_worse=(ORDER,), simulate="random", questions=5, session=path)
    assert (np.abs(view.metric.samples[:, 1]) <= np.abs(view.metric.samples[:, 0]) + 1e-12).all()
    assert "Stated as certain: One " in capsys.readouterr().err
    with Session.open(path) as session:
        assert [str(order) for order in session.setting.never_worse] == [ORDER]
    typed(["q", "q"], tmp_path, never_worse=("malignant:benign<=benign:malignant",), session=path)
    err = capsys.readouterr().err
    assert "Stated as certain: One " in err
    assert "without --never-worse malignant:benign<=benign:malignant" in " ".join(err.split())


def test_an_order_of_the_classes_is_stated_in_one_option(typed, tmp_path, capsys):
    path, ordered = tmp_path / "one.session.jsonl", "Barbera, Barolo, Grignolino"
    typed(["1", "q", "q"], tmp_path, study="wine", ordered=ordered, session=path)
    assert "Stated as certain: The classes are in an order: Barbera, Barolo" in " ".join(
        capsys.readouterr().err.split()
    )
    with Session.open(path) as session:
        assert session.setting.ordered == ("Barbera", "Barolo", "Grignolino")
    typed(["q", "q"], tmp_path, study="wine", ordered="Barolo,Barbera,Grignolino", session=path)
    assert "without --ordered Barolo,Barbera,Grignolino" in " ".join(capsys.readouterr().err.split())
    view = typed(["q", "q"], tmp_path, study="wine", session=path, withdraw_orders=True)
    assert "ordered" not in view.metric.provenance.parameters


def test_a_person_is_told_how_the_order_of_grades_is_stated(monkeypatch, tmp_path, capsys):
    class Keyboard(io.StringIO):
        def isatty(self):
            return True

    model = tmp_path / "model.csv"
    rows = [f"{true},{p},{(1 - p) / 2},{(1 - p) / 2}" for true in ("mild", "none", "severe") for p in (0.2, 0.4, 0.6)]
    model.write_text("\n".join(["y_true,proba_mild,proba_none,proba_severe", *rows]), encoding="utf-8")
    monkeypatch.setattr(listing, "data_folder", lambda: tmp_path)
    monkeypatch.setattr(terminal, "_wait_for_typing", lambda: None)
    said = []
    for ordered in (None, "none,mild,severe"):
        monkeypatch.setattr(sys, "stdin", Keyboard("1\n1\nq\nq\nq\n"))
        ask_in_terminal(AskOptions(study=str(model), seed=4, ordered=ordered))
        said.append(" ".join(capsys.readouterr().err.split()))
    assert "If these grades are in an order, --ordered none,mild,severe makes their costs much better known." in said[0]
    assert "If these grades" not in said[1]


def test_stated_orders_can_be_withdrawn_from_a_session(typed, tmp_path, capsys):
    path = tmp_path / "one.session.jsonl"
    typed(["1", "2", "1", "q", "q"], tmp_path, never_worse=(ORDER,), session=path)
    capsys.readouterr()
    view = typed(["q", "q"], tmp_path, session=path, withdraw_orders=True)
    assert "never_worse" not in view.metric.provenance.parameters
    assert "Stated as certain" not in capsys.readouterr().err
    with pytest.raises(WrongOption, match="no orders are stated in this session"):
        typed(["q", "q"], tmp_path, session=path, withdraw_orders=True)
    with pytest.raises(WrongOption, match="applies to a session that is resumed"):
        typed(["q", "q"], tmp_path, session=tmp_path / "new.session.jsonl", withdraw_orders=True)


def test_a_simulated_expert_who_breaks_a_stated_order_is_refused(typed, tmp_path):
    with pytest.raises(WrongOption, match="violate the stated order"):
        typed([], tmp_path, never_worse=(ORDER,), simulate="-1,-2")
