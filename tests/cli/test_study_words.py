"""`elicit study words`, and the words and the yardstick that `elicit study change` takes."""

import csv

import numpy as np
import pytest

from elicit_app.study import open_study


@pytest.fixture
def study(run_line, tmp_path):
    """Returns the study folder "lumps", with three classes."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), 60)
    rows = [f"{'abc'[number % 3]},{','.join(map(str, row))}" for number, row in enumerate(proba.tolist())]
    (tmp_path / "p.csv").write_text("\n".join(["y_true,proba_a,proba_b,proba_c", *rows]))
    run_line("study new lumps p.csv")
    return tmp_path / "lumps"


def test_words_filled_into_the_table_are_those_of_the_next_question(run_line, study, tmp_path):
    told = run_line("study words lumps words.csv")
    assert "elicit study change lumps --words words.csv" in told
    rows = list(csv.reader((tmp_path / "words.csv").read_text("utf-8-sig").splitlines()))
    assert len(rows) == 1 + 6 + 3
    assert rows[1][:2] == ["a", "b"]
    rows[1][2:] = ["Missed", "miss", "misses", "Treated weeks late."]
    with (tmp_path / "words.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    told = run_line("study change lumps --words words.csv --yardstick a:b --name Lungs")
    assert "“Lungs” has 1 model" in told
    assert "Mistakes are compared with “Missed”." in told
    changed = open_study(study)
    assert (changed.title, changed.yardstick) == ("Lungs", (0, 1))
    assert changed.wording.mistakes[0, 1].consequence == "Treated weeks late."


def test_names_by_default_follow_what_a_case_is_called(run_line, study, tmp_path):
    run_line("study words lumps words.csv")
    path = tmp_path / "words.csv"
    path.write_text(path.read_text("utf-8-sig").replace("called class b,\n", "called class b,Treated late.\n", 1))
    run_line("study change lumps --case patient,patients --words words.csv")
    wording = open_study(study).wording
    assert (wording.case, wording.cases) == ("patient", "patients")
    assert wording.mistakes[0, 1].many == "class a patients called class b"
    assert wording.mistakes[0, 1].consequence == "Treated late."
    assert wording.mistakes[2, 1].one == "class c patient called class b"
    assert "two words with a comma were expected" in run_line("study change lumps --case patient", code=2)


def test_what_cannot_be_taken_changes_nothing(run_line, study, tmp_path):
    (tmp_path / "long.csv").write_text("truth,called,name\na,b," + "x" * 5000)
    (tmp_path / "folder").mkdir()
    before = (study / "study.json").read_bytes()
    for options, said in (
        ("--yardstick a:a", "“a:a” is no mistake. Write TRUE:PREDICTED with two of the classes a, b, c."),
        ("--yardstick b", "“b” is no mistake."),
        ("--words missing.csv", "missing.csv cannot be read (No such file or directory)."),
        ("--words folder", "folder cannot be read"),
        ("--words p.csv", "p.csv has no columns “truth” and “called”"),
        ("--words long.csv", "characters"),
    ):
        assert said in run_line(f"study change lumps {options} --name Other", code=1)
        assert (study / "study.json").read_bytes() == before
    run_line("study words lumps words.csv")
    assert "exists already" in run_line("study words lumps words.csv", code=1)
    assert "has no folder of its own" in run_line("study words wine wine.csv", code=1)


def test_a_mistake_of_classes_with_colons_is_read_if_it_has_one_reading(run_line, tmp_path):
    rows = [f"{name},0.3,0.3,0.4" for name in ("a", "b:c", "c") * 2]
    (tmp_path / "p.csv").write_text("\n".join(["y_true,proba_a,proba_b:c,proba_c", *rows]))
    run_line("study new one p.csv")
    run_line("study change one --yardstick a:b:c")
    assert open_study(tmp_path / "one").yardstick == (0, 1)
    rows = [f"{name},0.2,0.2,0.2,0.4" for name in ("a", "b:c", "c", "a:b") * 2]
    (tmp_path / "q.csv").write_text("\n".join(["y_true,proba_a,proba_b:c,proba_c,proba_a:b", *rows]))
    run_line("study new two q.csv")
    assert "in more than one way" in run_line("study change two --yardstick a:b:c", code=1)
