"""A study sent to experts elsewhere: what the file holds, the questions it gives, and the answers that come back."""

import getpass
import json
import math
import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import for_person, procedure_for, setting_of
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.comparing import experts_of, only_in_second_round
from elicit_app.session.header import study_of
from elicit_app.session.journal.files import read
from elicit_app.session.journal.listing import finished_experts, sessions_folder, sessions_of
from elicit_app.session.packing import (
    collect,
    opinions_of,
    own_answers,
    packed,
    proposed_name,
    require_name,
    save_answers,
    stated_opinions,
    write_pack,
)
from elicit_app.session.report import pooled_report, save_report
from elicit_app.session.result import result_view
from elicit_app.session.session import Session
from elicit_app.study import open_study
from elicit_app.study.folder import write_folder
from elicit_app.study.packs import pack_bytes, parse_pack, read_pack

COSTS = setting_of("bayes", purpose="costs", questions=5)


@pytest.fixture(scope="module")
def wine():
    return open_study("wine")


@pytest.fixture(scope="module")
def pack(wine):
    return packed(wine, COSTS)


def answer(study, path, worst, *, expert="Ada", seed=1, simulated=False, most=99):
    """Let somebody answer who minds one true class `worst` times as much as the others, and return the session file."""
    costs = np.ones((study.n_classes, study.n_classes))
    costs[0] = worst
    with Session.create(
        study, BayesSetting(seed=seed, questions=6), path, expert=expert, simulated=simulated
    ) as session:
        for _ in range(most):
            asking = session.asking()
            if asking is None:
                break
            gain = (np.array(asking.pair.first) - np.array(asking.pair.second)) * costs * (1 - np.eye(len(costs)))
            session.answer("left" if (gain.sum() < 0) == (asking.left == "first") else "right")
        session.finish()
    return path


@pytest.fixture(scope="module")
def experts(pack, tmp_path_factory):
    """Return answer files of three people and a program, each from a home of its own."""
    files = []
    for seed, (who, worst, simulated) in enumerate(
        (("Ada", 6.0, False), ("Ben", 0.5, False), ("expert 4821", 3.0, False), ("Dr Eva", 2.0, True))
    ):
        home = tmp_path_factory.mktemp(f"home{seed}")
        elsewhere = read_pack(write_pack(pack, home / "wine"))
        path = answer(elsewhere, home / "a.session.jsonl", worst, expert=who, seed=seed, simulated=simulated)
        files.append(save_answers(Session.open_read_only(path), home / f"answers{seed}"))
    return files


@pytest.fixture
def folder(wine, tmp_path):
    return write_folder(tmp_path / "wine", wine)


@pytest.fixture(scope="module")
def collected(wine, experts, tmp_path_factory):
    """Return the study with the answers of all, and the comparison of those that count."""
    study = write_folder(tmp_path_factory.mktemp("collected") / "wine", wine)
    collect(study, experts)
    return study, experts_of(study).comparison()


def test_the_questions_are_those_that_the_cases_give(wine, pack):
    setting = for_person(setting_of("bayes", purpose="costs", seed=4))
    here, there = (procedure_for(study, setting).begin() for study in (wine, pack))
    first, second = next(here), next(there)
    assert first.question.same_as(second.question, tolerance=0)
    np.testing.assert_array_equal(pack.usual_counts, wine.usual_counts)
    np.testing.assert_array_equal(pack.prevalence, wine.prevalence)
    assert (pack.n_cases, pack.model_names) == (wine.n_cases, wine.model_names)


def test_with_a_stated_prevalence_the_rates_are_those_of_the_cases_too(wine):
    from dataclasses import replace

    stated = replace(wine, stated_prevalence=(0.2, 0.5, 0.3))
    there = packed(stated, COSTS)
    setting = for_person(setting_of("bayes", seed=4))
    here, there = (procedure_for(study, setting) for study in (stated, there))
    np.testing.assert_allclose(here.source.pool.typical, there.source.pool.typical, atol=1e-12)


def test_a_pack_is_read_back_as_it_was_written(pack, tmp_path):
    path = write_pack(pack, tmp_path / "wine")
    assert path.name == "wine.elicit"
    again = open_study(str(path))
    assert pack_bytes(again) == path.read_bytes() == pack_bytes(pack)
    assert (again.wording, again.digest, again.yardstick) == (pack.wording, pack.digest, pack.yardstick)
    assert again.pack.setting["purpose"] == "costs"


def test_no_case_is_in_it(wine, pack):
    document = json.loads(pack_bytes(pack))
    assert "y_true" not in json.dumps(document)
    numbers = [value for model in document["models"] for row in model["decided"] for value in row]
    assert all(isinstance(value, int) for value in numbers)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(title="Beer"), "was changed since it was made"),
        (lambda d: d.update(version=2), "newer elicit"),
        (lambda d: d.update(format="elicit-study"), "is not a study to answer"),
        (lambda d: d["models"][0]["usual"].pop(), "was changed|do not have"),
        (lambda d: d.pop("setting"), "setting"),
    ],
)
def test_a_pack_that_is_not_as_it_was_made_is_refused_in_words(pack, change, said):
    document = json.loads(pack_bytes(pack))
    change(document)
    with pytest.raises(Problem, match=said):
        parse_pack(Path("wine.elicit"), json.dumps(document).encode())


def test_what_needs_cases_is_left_to_the_coordinator(pack, experts):
    with pytest.raises(Problem, match="computes decisions from the cases"):
        procedure_for(pack, for_person(setting_of("lpm")))
    with pytest.raises(Problem, match="no predictions"):
        packed(pack, COSTS)
    with pytest.raises(Problem, match="procedure bayes"):
        packed(open_study("wine"), setting_of("dlpm"))
    assert read(experts[0]).begun.setting["questions"] == 5  # the coordinator's, not the expert's


def test_answers_come_back_once_and_only_to_their_own_study(folder, experts, tmp_path):
    filed = collect(folder, experts[:2])
    assert [one.new for one in filed] == [True, True]
    assert re.fullmatch(r"Filed \d+ answers from Ada\.", filed[0].sentence)
    again = collect(folder, experts[:1])
    assert (again[0].new, "Already filed" in again[0].sentence) == (False, True)
    assert len(list(sessions_folder(folder).glob("*.jsonl"))) == 2
    other = write_folder(tmp_path / "traffic", open_study("traffic-light"))
    with pytest.raises(Problem, match="about the classes"):
        collect(other, experts[:1])
    broken = tmp_path / "broken.session.jsonl"
    broken.write_bytes(experts[2].read_bytes().replace(b'"Ada"', b'"Eve"').replace(b"expert 4821", b"expert 4822"))
    with pytest.raises(Problem, match="damaged"):
        collect(folder, [experts[2], broken])
    assert len(list(sessions_folder(folder).glob("*.jsonl"))) == 2, "nothing is filed where one file is refused"


def test_answers_of_a_sitting_that_is_not_finished_are_filed_as_such(folder, pack, tmp_path):
    with Session.create(pack, BayesSetting(seed=1, questions=6), tmp_path / "a.session.jsonl", expert="Ada") as session:
        session.answer("left")
    (filed,) = collect(folder, [tmp_path / "a.session.jsonl"])
    assert filed.sentence == "Filed 1 answer from Ada. The sitting is not finished."


def test_the_same_answers_in_another_sitting_are_not_filed_again(folder, pack, tmp_path):
    first, second = (answer(pack, tmp_path / f"{n}.session.jsonl", 3.0, most=3) for n in "ab")
    assert read(first).digests[0] != read(second).digests[0]
    assert [one.new for one in collect(folder, [first, second])] == [True, False]


def test_who_took_every_answer_out_gave_the_same_answers_as_nobody(folder, pack, tmp_path):
    files = []
    for seed in (1, 2):
        with Session.create(pack, BayesSetting(seed=seed, questions=6), tmp_path / f"{seed}.session.jsonl") as session:
            session.answer("left")
            session.take_out(1)
            files.append(session.path)
    assert [one.new for one in collect(folder, files)] == [True, True]


def test_who_went_on_answering_is_filed_as_the_same_session(folder, pack, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    path = answer(pack, home / "a.session.jsonl", 3.0, most=3)
    early = save_answers(Session.open_read_only(path), home / "early.metric.json")
    assert early.name == "early.session.jsonl"
    with Session.open(path) as session:
        session.more()
        session.answer("left")
        session.answer("left")
        session.undo()
        session.finish()
    late = save_answers(Session.open_read_only(path), home / "late")
    assert collect(folder, [early])[0].new
    assert "Added what is new: 4 answers from Ada" in collect(folder, [late])[0].sentence
    assert "Already filed" in collect(folder, [early])[0].sentence
    (filed,) = sessions_of(sessions_folder(folder), folder.digests)
    assert filed.answers == 4


def test_the_copy_beside_a_session_is_enough_to_go_on(pack, tmp_path):
    path = answer(pack, tmp_path / "home" / "a.session.jsonl", 3.0, most=2)
    assert study_of(read(path).begun.study, path).digest == pack.digest
    for copy in path.parent.glob("*.elicit"):
        copy.unlink()
    with pytest.raises(Problem, match="Its study is needed as well: that file, or"):
        Session.open(path)


def test_another_study_that_came_by_mail_lies_in_nobodys_way(pack, tmp_path):
    """A study that was sent may be saved as study.elicit, as the file of a study of amounts is called."""
    path = answer(pack, tmp_path / "a.session.jsonl", 3.0, most=2)
    other = packed(open_study("traffic-light"), COSTS)
    write_pack(other, tmp_path / "study.elicit")
    assert study_of(read(path).begun.study, path).digest == pack.digest
    beside = open_study(tmp_path)
    assert (beside.digest, beside.kind, beside.answered_elsewhere) == (other.digest, "pack", True)


def test_programs_are_marked_for_good_and_never_counted_among_people(collected):
    folder, view = collected
    found = sessions_of(sessions_folder(folder), folder.digests)
    assert sorted(one.expert for one in finished_experts(found)) == ["Ada", "Ben", "expert 4821"]
    program = next(one for one in found if one.simulated)
    assert program.expert == "Dr Eva (simulated)"
    metric = result_view(Session.open_read_only(program.path)).metric
    assert metric.quality.simulated
    assert (metric.provenance.expert, metric.name) == ("Dr Eva (simulated)", "Italian wines, Dr Eva (simulated)")
    assert view.names == ("Ada", "Ben", "expert 4821")
    assert "Left out: Dr Eva (simulated), answered by a program." in view.notes


def test_from_three_homes_to_one_report_and_nothing_private_in_any_file(wine, collected, pack, experts, tmp_path):
    folder, view = collected
    assert "Kendall's W" in view.agreement
    out = tmp_path / "out"
    out.mkdir()
    page = pooled_report(view, "our costs.metric.json")
    for name in ("report.pdf", "report.html", "report.md"):
        save_report(page, view.pooled, out / name)
    shown = (out / "report.md").read_text()
    assert view.agreement in shown
    assert "| elicit score 'our costs.metric.json' PREDICTIONS --draws" in shown
    conclusion, rest = shown.split("## What the answers say")
    assert "**One expert alone.**" in conclusion
    assert view.headline in conclusion
    assert view.choice in conclusion
    assert view.choice not in rest, "it is said once"
    write_pack(pack, out / "wine.elicit")
    view.pooled.save(out / "pooled.metric.json")
    produced = [*out.iterdir(), *experts, *sessions_folder(folder).rglob("*.jsonl")]
    private = {str(Path.home()), str(tmp_path), str(folder.folder.parent), *(str(file.parent) for file in experts)}
    if getpass.getuser() != "root":
        private.add(getpass.getuser())
    probabilities = {repr(float(value)) for model in wine.models for value in model.y_proba.ravel()}
    probabilities = {text for text in probabilities if len(text) > 6}
    for path in produced:
        text = "".join(part.decode("latin-1") for part in parts_of(path.read_bytes()))
        assert not [word for word in private if word in text], path
        assert not probabilities & set(re.findall(r"\d+\.\d+(?:e-\d+)?", text)), path


def test_in_a_second_round_experts_see_where_the_others_stand_and_both_rounds_are_kept(folder, experts, tmp_path):
    collect(folder, experts[:2])
    opinions = opinions_of(folder)
    assert len(opinions) == 3
    assert all(len(said.ratios) == 2 and said.ratios == tuple(sorted(said.ratios)) for said in opinions)
    again = packed(folder, COSTS, opinions)
    assert (again.pack.round, again.pack.others) == (2, opinions)
    text = pack_bytes(again).decode()
    assert "Ada" not in text
    assert "Ben" not in text
    first = stated_opinions(read_pack(write_pack(again, tmp_path / "second")))[0]
    one = opinions[0]
    words = folder.wording.mistakes[one.mistake]
    assert first.mistake == words.name
    assert f" one {words.one} counts as, expert by expert: " in first.sentence
    (said,) = [row for row in experts_of(folder).comparison().mistakes if row.mistake.name == words.name]
    for rate in said.rates:
        below = "" if rate.bounded else rate.range_in_words().removeprefix("90 % plausible")
        assert all(text in first.sentence for text in (rate.in_words(), below))
    home = tmp_path / "home"
    home.mkdir()
    path = answer(again, home / "a.session.jsonl", 1.0, expert="Ada", seed=7)
    collect(folder, [save_answers(Session.open_read_only(path), home / "again")])
    found = sessions_of(sessions_folder(folder), folder.digests)
    assert sorted((one.expert, one.round) for one in found) == [("Ada", 1), ("Ada", 2), ("Ben", 1)]
    assert [(one.expert, one.round) for one in finished_experts(found) if one.expert == "Ada"] == [("Ada", 2)]
    own = own_answers(again, found, "Ada")
    assert all(said.yours is not None for said in stated_opinions(again, own)), "those of the first round"
    assert "1 of 2 answered again after seeing the other experts' positions." in experts_of(folder).comparison().notes
    path = answer(again, home / "other.session.jsonl", 0.5, expert="Benno", seed=8)
    (filed,) = collect(folder, [save_answers(Session.open_read_only(path), home / "sent")])
    assert "answers from Benno. Benno answered only in the second round: if this is " in filed.sentence
    notes = experts_of(folder).comparison().notes
    assert only_in_second_round("Benno") in notes
    assert "1 of 3 answered again after seeing the other experts' positions." in notes


def test_in_a_second_round_experts_are_shown_which_position_is_their_own(folder, experts, tmp_path):
    collect(folder, experts[:2])
    second = read_pack(write_pack(packed(folder, COSTS, opinions_of(folder)), tmp_path / "second"))
    here = sessions_of(sessions_folder(folder), folder.digests)
    view = experts_of(folder).comparison()
    for name, typed in (("Ada", " ada"), ("Ben", "Ben")):
        own = own_answers(second, here, typed)
        for said in stated_opinions(second, own):
            (row,) = [one for one in view.mistakes if one.mistake.name == said.mistake]
            ratio = row.rates[view.names.index(name)].ratio
            assert said.rates[said.yours].ratio == pytest.approx(ratio)
            assert said.sentence.count(", yours") == 1
    assert own_answers(second, here, "Eve") is None
    assert own_answers(folder, here, "Ada") is None, "no second round"
    assert {said.yours for said in stated_opinions(second)} == {None}
    here[0].path.unlink()
    assert own_answers(second, here, here[0].expert) is None, "it cannot be read any more"


def test_a_name_is_proposed_unless_it_would_make_another_person_of_an_expert(folder, wine, experts, tmp_path):
    collect(folder, experts[:2])
    found = sessions_of(sessions_folder(folder), folder.digests)
    first, second = packed(folder, COSTS), packed(folder, COSTS, opinions_of(folder))
    assert proposed_name(wine, found) == "", "nothing is sent back"
    assert proposed_name(first, ()).startswith("Expert ")
    assert proposed_name(second, ()) == ""
    assert proposed_name(first, found) == proposed_name(second, found) == "Ben"
    require_name(first, "")
    require_name(second, "Ada")
    with pytest.raises(WrongOption, match="Name the expert as in the first round"):
        require_name(second, "")


def test_where_somebody_stands_is_a_bound_where_the_answers_only_bound_it(folder, experts, tmp_path):
    collect(folder, experts[:2])
    one, *rest = opinions_of(folder)
    bounded = replace(one, ratios=(0.03, 20.0), bounds=((0.0, 0.075), (4.0, math.inf)))
    again = read_pack(write_pack(packed(folder, COSTS, (bounded, *rest)), tmp_path / "second"))
    assert again.pack.others[0] == bounded
    assert ": at most 0.075; at least 4." in stated_opinions(again)[0].sentence
    known = replace(one, ratios=(2.0, 12.0), bounds=((0.1, 7.1), (11.0, 14.0)))
    again = packed(folder, COSTS, (known, *rest))
    assert ": 0.1 to 7.1; 12 (11 to 14)." in stated_opinions(again)[0].sentence
    unknown = replace(one, ratios=(1.0, 2.0, 12.0), bounds=((0.0, math.inf), (0.1, 7.1), (11.0, 14.0)))
    said = stated_opinions(packed(folder, COSTS, (unknown, *rest)))[0].sentence
    assert ": 0.1 to 7.1; 12 (11 to 14)." in said
    assert said.endswith(" The answers of one expert leave it open.")
    nothing = replace(one, ratios=(1.0, 2.0), bounds=((0.0, math.inf), (0.0, math.inf)))
    said = stated_opinions(packed(folder, COSTS, (nothing, *rest)))[0].sentence
    assert said.startswith("Nobody's answers tell how many ")
    plain = [replace(said, bounds=()) for said in rest]
    assert '"bounds"' not in pack_bytes(packed(folder, COSTS, plain)).decode(), "as packs were before"


def test_reasons_go_round_without_names(folder, experts, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    pack = packed(folder, COSTS)
    with Session.create(pack, BayesSetting(seed=3, questions=5), home / "a.session.jsonl", expert="Cleo") as session:
        while session.asking() is not None:
            session.answer("left", reason="because of the cellar")
        session.finish()
        sent = save_answers(session, home / "answers")
    collect(folder, [experts[0], sent])
    assert {reason for said in opinions_of(folder) for reason in said.reasons} == {"because of the cellar"}


def parts_of(content):
    """Return a file's bytes, and what its compressed streams hold."""
    parts = [content]
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        try:
            parts.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return parts


def test_answers_about_a_bundled_study_lie_where_its_sessions_lie(wine, pack, experts, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert collect(wine, experts[:1])[0].new
    assert len(sessions_of(sessions_folder(wine), wine.digests)) == 1
    with pytest.raises(Problem, match="with the study that it was made from"):
        collect(read_pack(write_pack(pack, tmp_path / "wine")), experts[:1])
