"""Files whose columns have other names than the usual ones, and several models in one file."""

import json
import re
import shutil

import numpy as np
import polars as pl
import pytest

from elicit_app.study import open_study
from elicit_app.study.making import change_study
from elicit_app.study.opening import datasets_folder
from metrics import ElicitedMetric

DR_A, DR_B = '--predicted "Dr. A"', '--predicted "Dr. B"'


def test_readers_and_models_make_one_study(run_line, tmp_path):
    (tmp_path / "model.csv").write_text("y_true,proba_x,proba_y\nx,0.9,0.1\nx,0.4,0.6\ny,0.2,0.8\n")
    (tmp_path / "reader.csv").write_text("y_true,Dr. A\nx,x\nx,x\ny,x\n")
    for number, files in enumerate(("model.csv reader.csv", "reader.csv model.csv")):
        run_line(f"study new {number} --predictions {files} {DR_A}")
        assert "reader.csv holds decided labels" in run_line.messages[-1]
        assert "model.csv holds" not in run_line.messages[-1]
        found = {model.name: model.y_proba.tolist() for model in open_study(tmp_path / str(number)).models}
        assert found == {"model": [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], "reader": [[1, 0], [1, 0], [1, 0]]}
    run_line("study new more --predictions model.csv")
    shutil.copy(tmp_path / "model.csv", tmp_path / "other.csv")
    run_line(f"study change more --add other.csv --add reader.csv {DR_A}")
    assert "reader.csv holds decided labels" in run_line.messages[-1]
    decided = [model.y_proba.argmax(axis=1).tolist() for model in open_study(tmp_path / "more").models]
    assert decided == [[0, 1, 1], [0, 1, 1], [0, 0, 0]]


def test_a_file_may_hold_a_model_and_several_readers(run_line, tmp_path):
    rows = "x,x,x,0.9,0.1\nx,x,y,0.4,0.6\ny,x,y,0.2,0.8\n"
    (tmp_path / "all.csv").write_text(f"truth,Dr. A,Dr. B,p x,p y\n{rows}")
    truth, columns = "--truth truth", "--columns 'x=p x,y=p y'"
    run_line(f"study new at-once all.csv {truth} {columns} {DR_A} {DR_B}")
    assert "Dr. A and Dr. B of all.csv hold decided labels: they are judged" in run_line.messages[-1]
    run_line(f"study new in-turn all.csv {truth} {columns}")
    for reader in (DR_A, DR_B):
        run_line(f"study change in-turn --add all.csv {truth} {reader}")
    first, second = (open_study(tmp_path / name) for name in ("at-once", "in-turn"))
    assert first.model_names == second.model_names == ("all", "Dr. A", "Dr. B")
    assert first.digest == second.digest
    assert [model.y_proba.argmax(axis=1).tolist() for model in first.models] == [[0, 1, 1], [0, 0, 0], [0, 1, 1]]


def test_a_file_of_usual_names_holds_its_model_and_the_readers(run_line, tmp_path):
    rows = (("x", "x", 0.9), ("x", "x", 0.4), ("y", "x", 0.2))
    for name, shift in (("one", 0.0), ("two", 0.05)):
        lines = [f"{true},{said},{p + shift:.2f},{1 - p - shift:.2f}" for true, said, p in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(["y_true,Dr. A,proba_x,proba_y", *lines]) + "\n")
    run_line(f"study new both one.csv two.csv {DR_A}")
    run_line("study new in-turn one.csv")
    run_line(f"study change in-turn --add one.csv {DR_A}")
    run_line(f"study change in-turn --add two.csv {DR_A}")
    both, in_turn = (open_study(tmp_path / name) for name in ("both", "in-turn"))
    assert both.model_names == in_turn.model_names == ("one", "Dr. A", "two")
    assert both.digest == in_turn.digest
    assert both.models[1].y_proba.argmax(axis=1).tolist() == [0, 0, 0]
    assert both.models[2].y_proba[:, 0].tolist() == [0.95, 0.45, 0.25]


def test_a_further_model_is_not_read_as_the_reader_in_its_file(run_line, tmp_path):
    (tmp_path / "model.csv").write_text("y_true,proba_x,proba_y\nx,0.9,0.1\nx,0.4,0.6\ny,0.2,0.8\n")
    (tmp_path / "reader.csv").write_text("y_true,Dr. A\nx,x\nx,x\ny,x\n")
    (tmp_path / "new.csv").write_text("y_true,Dr. A,proba_x,proba_y\nx,x,0.7,0.3\nx,x,0.8,0.2\ny,x,0.1,0.9\n")
    run_line(f"study new s model.csv reader.csv {DR_A}")
    assert open_study(tmp_path / "s").columns.columns == ("Dr. A",)
    shutil.copytree(tmp_path / "s", tmp_path / "t")
    run_line("study change s --add new.csv")
    changed = change_study(open_study(tmp_path / "t"), add=[tmp_path / "new.csv"])
    for study in (open_study(tmp_path / "s"), changed):
        assert study.models[2].y_proba[:, 0].tolist() == [0.7, 0.8, 0.1]


def test_columns_are_stated_for_some_files_and_usual_in_the_others(run_line, tmp_path):
    (tmp_path / "odd.csv").write_text("label,p x,p y\nx,0.9,0.1\nx,0.4,0.6\ny,0.2,0.8\n")
    (tmp_path / "usual.csv").write_text("y_true,proba_y,proba_x\nx,0.3,0.7\nx,0.2,0.8\ny,0.9,0.1\n")
    for number, files in enumerate(("odd.csv usual.csv", "usual.csv odd.csv")):
        run_line(f"study new {number} {files} --truth label --columns 'x=p x,y=p y'")
        study = open_study(tmp_path / str(number))
        x = study.classes.index("x")
        found = {model.name: model.y_proba[:, x].tolist() for model in study.models}
        assert found == {"odd": [0.9, 0.4, 0.2], "usual": [0.7, 0.8, 0.1]}


METRIC = ElicitedMetric.from_cost_matrix(["x", "y"], [[0.0, 1.0], [4.0, 0.0]])
USUAL = "y_true,proba_x,proba_y\nx,0.9,0.1\nx,0.4,0.6\ny,0.2,0.8\ny,0.7,0.3\nx,0.5,0.5\n"


def scored(run_line, files):
    return json.loads(run_line(f"score m.metric.json {files} --json"))


def test_files_of_other_names_are_scored_as_those_of_the_usual_ones(run_line, tmp_path):
    METRIC.save(tmp_path / "m.metric.json")
    (tmp_path / "m.csv").write_text(USUAL)
    wanted = scored(run_line, "m.csv")
    columns = "--columns 'x=p x,y=p y'"
    for text, options in (
        (USUAL.replace("y_true", "label").replace("proba_", "p "), columns),
        (re.sub(r"0\.\d", lambda found: f"{np.log(float(found[0])):.15f}", USUAL.replace("proba_", "p ")), columns),
        (re.sub(r",0\.\d(?=,)|,proba_x", "", USUAL).replace("y_true,proba_y", "label,risk"), "--columns y=risk"),
    ):
        (tmp_path / "odd").mkdir(exist_ok=True)
        (tmp_path / "odd" / "m.csv").write_text(text)
        logits = " --logits" if "-" in text else ""
        truth = "--truth label" if "label" in text else "--truth y_true"
        found = scored(run_line, f"odd/m.csv {truth} {options}{logits}")
        told = [{one["name"]: one["cost_per_population"] for one in each["policies"]} for each in (found, wanted)]
        assert told[0] == pytest.approx(told[1])
    both = scored(run_line, f"m.csv odd/m.csv {truth} {options}")
    assert [one["accuracy"] for one in both["models"]] == [0.6, 0.6]


def test_what_is_proposed_for_a_file_scores_it(run_line, tmp_path):
    METRIC.save(tmp_path / "m.metric.json")
    (tmp_path / "odd.csv").write_text(USUAL.replace("y_true", "label").replace("proba_", "p "))
    run_line("score m.metric.json odd.csv", code=1)
    proposed = run_line.messages[-1].partition("it seems to be: ")[2].strip()
    assert scored(run_line, f"odd.csv {proposed}")["cases"] == 5
    run_line(f"metric export m.metric.json odd.csv --out m.md {proposed}")
    assert "odd" in (tmp_path / "m.md").read_text()
    run_line(f"metric export m.metric.json --out n.md {proposed}", code=2)


def test_labels_that_may_be_of_a_reader_are_pointed_out_where_no_option_names_them(run_line, tmp_path):
    text = "x,x,0.9,0.1,x\nx,x,0.4,0.6,y\ny,y,0.2,0.8,y\ny,y,0.6,0.4,x\nx,y,0.7,0.3,x\ny,y,0.1,0.9,y\n"
    (tmp_path / "m.csv").write_text(f"y_true,Dr. A,proba_x,proba_y,chosen\n{text}")
    note = f"m.csv: {DR_A.replace(chr(34), chr(39))} would judge, too, what may be labels of human readers."
    run_line("study new one m.csv")
    assert note in run_line.messages[-1]
    run_line(f"study new two m.csv {DR_A}")
    assert "would judge" not in run_line.messages[-1]
    shutil.copy(tmp_path / "m.csv", tmp_path / "other.csv")
    run_line("study change one --add other.csv")
    assert note.replace("m.csv", "other.csv") in run_line.messages[-1]
    (tmp_path / "odd.csv").write_text(f"finding,Dr. A,p x,p y,chosen\n{text}")
    run_line("study new three odd.csv", code=1)
    assert "it seems to be: --truth finding --columns 'x=p x,y=p y'; --predicted 'Dr. A' would" in run_line.messages[-1]
    for number, names in enumerate(("case_id", "note,note")):
        cells = "1" + ",2" * names.count(",")
        (tmp_path / "more.csv").write_text(f"y_true,proba_x,proba_y,{names}\nx,0.9,0.1,{cells}\ny,0.2,0.8,{cells}\n")
        run_line(f"study new more-{number} more.csv")
        assert "would judge" not in run_line.messages[-1]


def test_a_case_that_a_reader_did_not_read_is_no_missing_probability(run_line, tmp_path):
    (tmp_path / "m.csv").write_text("y_true,Dr. A,proba_x,proba_y\nx,x,0.9,0.1\nx,,0.4,0.6\ny,x,0.2,0.8\n")
    run_line(f"study new one m.csv {DR_A}", code=1)
    assert "Row 2: Dr. A is empty (write a label in every row, or skip unread cases when" in run_line.messages[-1]
    run_line(f"study new one m.csv {DR_A} --skip-unread")
    assert "Only the 2 of 3 cases that everybody read are compared." in run_line.messages[-1]
    run_line("study new more m.csv --skip-unread", code=2)
    assert "--skip-unread: name the columns of the readers with --predicted" in run_line.messages[-1]
    (tmp_path / "n.csv").write_text("y_true,proba_x,proba_y\nx,0.9,0.1\nx,,0.6\n")
    run_line("study new two n.csv", code=1)
    assert "Row 2: proba_x is empty (write a probability in every cell" in run_line.messages[-1]


def test_a_reader_is_scored_beside_a_model_and_need_not_say_every_class(run_line, tmp_path):
    METRIC.save(tmp_path / "m.metric.json")
    (tmp_path / "m.csv").write_text("y_true,Dr. A,proba_x,proba_y\nx,x,0.9,0.1\nx,x,0.4,0.6\ny,x,0.2,0.8\n")
    found = scored(run_line, f"m.csv {DR_A}")
    assert {one["name"]: one["accuracy"] for one in found["models"]} == pytest.approx({"m": 2 / 3, "Dr. A": 2 / 3})
    (tmp_path / "numbers.csv").write_text("truth,said\n0,1\n1,1\n1,1\n")
    alone = scored(run_line, "numbers.csv --truth truth --predicted said")
    assert [one["misclassification_cost"] for one in alone["models"]] == pytest.approx([1 / 12])
    assert "0 for “x”, 1 for “y”" in run_line.messages[-1]


def test_a_folder_of_parquet_files_has_the_usual_names(run_line, tmp_path):
    METRIC.save(tmp_path / "m.metric.json")
    (tmp_path / "parts").mkdir()
    pl.read_csv(USUAL.encode()).write_parquet(tmp_path / "parts" / "one.parquet")
    run_line("score m.metric.json parts --engine dask --truth y_true", code=2)
    assert "must have the usual names" in run_line.messages[-1]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ("Barolo=1", "must be 3 numbers between 0 and 1, one per class"),
        ("Barolo=0.2,Grignolino=0.2,Barbera=0.2", "--prevalence: the rates add up to 0.6, not 1"),
        ("barolo=0.1", "--prevalence: 'barolo' is not one of the classes Barolo, Grignolino, Barbera"),
    ],
)
def test_shares_that_are_no_prevalence_are_refused_before_anything_is_written(run_line, tmp_path, shares, said):
    files = " ".join(map(str, (datasets_folder() / "wine").glob("*.parquet")))
    code = 1 if "between" in said else 2
    assert said in run_line(f"study new s --predictions {files} --prevalence {shares}", code)
    assert not (tmp_path / "s").exists()
