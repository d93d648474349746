"""From a file with odd columns to the first question by keys alone, and further models."""

import re
import shlex

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from elicit_app.study import open_study

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def cases():
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=300)
    return np.array(["sick", "well"])[truth], rng.standard_normal((300, 2)) + 1.6 * np.eye(2)[truth]


@pytest.fixture
def odd(tmp_path, cases):
    """Raw scores under odd names."""
    rows = [f"{n},{label},{a:.3f},{b:.3f}" for n, (label, (a, b)) in enumerate(zip(*cases, strict=True))]
    path = tmp_path / "hospital export.csv"
    path.write_text("\n".join(["case,Ground truth,logit sick,logit well", *rows]) + "\n")
    return path


@pytest.fixture
def reader(tmp_path, cases):
    """Decided labels of a human reader."""
    path = tmp_path / "reader.csv"
    said = np.array(["sick", "well"])[(cases[1] @ [-1, 0.7] > 0).astype(int)]
    path.write_text("\n".join(["y_true,y_pred", *(f"{t},{p}" for t, p in zip(cases[0], said, strict=True))]) + "\n")
    return path


def go_on(window):
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return, CTRL)


def test_from_odd_columns_to_the_first_question_by_keys_alone(window, odd, tmp_path, on):
    window.flow.open_files((odd,))
    page = on("columns")
    assert (page.truth.currentText(), page.kind) == ("Ground truth", "logits")
    assert [box.currentText() for box in page.boxes] == ["logit sick", "logit well"]
    assert "--truth 'Ground truth' --columns 'sick=logit sick,well=logit well' --logits" in page._command.text()
    go_on(window)
    on("study")
    go_on(window)
    on("begin")
    go_on(window)
    practice = on("practice")
    QTest.keyClick(practice.skip, Qt.Key.Key_Space)
    on("question")
    study = open_study(str(tmp_path / "hospital export-study"))
    assert (study.classes, study.columns.kind) == (("sick", "well"), "logits")


def test_a_reader_is_added_among_the_models_and_a_model_taken_out(window, dialogs, odd, reader, tmp_path, on):
    window.flow.open_files((odd,))
    on("columns")
    go_on(window)
    page = on("study")
    QTest.keyClicks(page.nouns.name, " of the night")
    dialogs.files = (reader,)
    page.models.add.click()
    on("columns").back.click()
    assert on("study").study.title == "Hospital export of the night", "what was typed is still there"
    page.models.add.click()
    columns = on("columns")
    assert (columns.kind, columns.columns.columns) == ("labels", ("y_pred",))
    go_on(window)
    on("study")
    assert [field.text() for field in page.models.fields] == ["hospital export", "reader"]
    assert "2 models" in page.header.line.text()
    page.models.fields[1].setFocus()
    page.models.fields[1].selectAll()
    QTest.keyClicks(page.models.fields[1], "Dr Ada")
    go_on(window)
    begin = on("begin")
    folder = tmp_path / "hospital export-study"
    assert open_study(str(folder)).model_names == ("hospital export", "Dr Ada")
    begin.words.click()
    page.models._take_out(0)
    assert [field.text() for field in page.models.fields] == ["Dr Ada"]
    assert "1 model," in page.header.line.text()
    go_on(window)
    on("begin")
    assert open_study(str(folder)).model_names == ("Dr Ada",)
    assert len(open_study(str(folder)).digests) == 2


def test_a_reader_in_files_of_usual_names_can_be_judged_too_and_once(window, cases, tmp_path, on):
    truth, scores = cases
    said = np.where(np.arange(300) % 5, truth, "sick")
    for name, sharper in (("mild", 0.5), ("sharp", 2)):
        sick = 1 / (1 + np.exp(sharper * (scores[:, 1] - scores[:, 0])))
        decided = np.where(sick > 0.5, "sick", "well")
        columns = (truth, sick, 1 - sick, decided, np.array(["sick", "well"])[np.arange(300) % 2], said)
        rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
        head = "y_true,proba_sick,proba_well,y_pred,bed,Dr. Ada"
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
    window.flow.open_files((tmp_path / "mild.csv", tmp_path / "sharp.csv"))
    page = on("columns")
    assert "what may be human readers or other models" in page.header.line.text()
    assert [one.columns for one in page.others] == [("bed",), ("Dr. Ada",)], "y_pred is the most probable class"
    next(row for one, row in page.others.items() if one.columns == ("Dr. Ada",)).box.click()
    go_on(window)
    on("study")
    go_on(window)
    on("begin")
    study = open_study(str(tmp_path / "mild-study"))
    assert (study.model_names, study.columns) == (("mild", "Dr. Ada", "sharp"), None)


def test_labels_that_have_little_to_do_with_the_truth_raise_no_question(window, cases, tmp_path, on):
    truth, scores = cases
    sick = 1 / (1 + np.exp(scores[:, 1] - scores[:, 0]))
    beds = np.array(["sick", "well"])[np.arange(300) // 2 % 2]
    rows = [f"{t},{p},{1 - p},{bed}" for t, p, bed in zip(truth, sick, beds, strict=True)]
    (tmp_path / "p.csv").write_text("\n".join(["y_true,proba_sick,proba_well,bed", *rows]) + "\n")
    window.flow.open_files((tmp_path / "p.csv",))
    assert on("study").study.model_names == ("p",)


def test_a_first_line_of_values_is_pointed_out_as_in_the_terminal(window, odd, on, elicit):
    window.flow.open_files((odd,))
    assert on("columns").notice.sentence == ""
    window.flow.show_start()
    on("start")
    odd.write_text("\n".join(odd.read_text().splitlines()[1:]) + "\n")
    window.flow.open_files((odd,))
    sentence = on("columns").notice.sentence
    assert sentence == "The names of the columns seem to be values: write the names into a line above them."
    refused = elicit("study", "new", odd.parent / "study", "--predictions", odd)
    assert refused.returncode == 1
    assert sentence.partition("columns ")[2] in " ".join(refused.stderr.split())


def test_what_was_said_of_the_columns_is_still_there_when_a_mended_file_is_read_again(window, odd, on):
    text = odd.read_text()
    odd.write_text(text + "300,sick,high,low\n")
    window.flow.open_files((odd,))
    page = on("columns")
    page.boxes[0].setCurrentText("logit well")
    page.boxes[1].setCurrentText("logit sick")
    page.area.verticalScrollBar().setValue(10_000)
    go_on(window)
    error = on("error")
    odd.write_text(text)
    QTest.keyClick(error, Qt.Key.Key_F5)
    assert on("columns") is page
    assert page.columns.columns == ("logit well", "logit sick")
    assert page.area.verticalScrollBar().value() == 0


def test_another_true_class_changes_what_is_guessed(window, reader, on):
    window.flow.open_files((reader,))
    page = on("columns")
    assert page.kind == "labels"
    page.truth.setCurrentText("y_pred")
    assert page.columns.columns == ("y_true",)
    page.kinds["probabilities"].radio.setChecked(True)
    assert [box.currentIndex() for box in page.boxes] == [-1, -1], "nothing is proposed that is no guess"
    page.proceed.click()
    assert page.notice.sentence == f"Choose the column of {page._classes[0]}."
    assert "elicit study new" not in page._command.text()
    page.boxes[0].setCurrentText("y_true")
    page.boxes[1].setCurrentText("y_true")
    page.proceed.click()
    assert "is named twice" in page.notice.sentence


def test_labels_without_a_column_are_asked_for_in_plain_words(window, odd, on):
    window.flow.open_files((odd,))
    page = on("columns")
    page.kinds["labels"].radio.setChecked(True)
    page.proceed.click()
    assert page.notice.sentence == "Choose the column of the predicted class."


@pytest.fixture
def reader_study(tmp_path):
    """A file with the scores of a model and the labels of two readers."""
    rng = np.random.default_rng(4)
    true = rng.integers(2, size=200)
    said = [np.where(rng.random(200) < wrong, 1 - true, true) for wrong in (0.1, 0.3)]
    lines = ["case,truth,Dr. A,Dr. B,p sick"]
    score = np.clip(0.3 + 0.4 * true + rng.normal(0, 0.2, 200), 0, 1)
    for at, (one, a, b, p) in enumerate(zip(true, *said, score, strict=True)):
        lines.append(",".join([f"c{at}", *("sick" if of else "well" for of in (one, a, b)), f"{p:.4f}"]))
    path = tmp_path / "readers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_human_readers_in_the_file_of_a_model_are_judged_too(window, reader_study, on, elicit):
    window.flow.open_files((reader_study,))
    page = on("columns")
    assert page.columns.columns == ("p sick",)
    assert [one.columns[0] for one in page.others] == ["Dr. A", "Dr. B"]
    command = page._command.text()
    assert "--predicted" not in command
    for row in page.others.values():
        row.box.click()
    assert page._command.text() == f"{command} --predicted 'Dr. A' --predicted 'Dr. B'"
    options = shlex.split(page._command.text().partition("FILE ")[2])
    page.proceed.click()
    words = on("study")
    assert words.study.model_names == ("readers", "Dr. A", "Dr. B")
    folder = reader_study.parent / "as told"
    done = elicit("study", "new", folder, "--predictions", reader_study, *options)
    assert done.returncode == 0
    assert open_study(str(folder)).digest == words.study.digest


def test_several_models_in_one_file_are_told_apart_and_ticked(window, tmp_path, on, elicit):
    rng = np.random.default_rng(3)
    true = rng.integers(2, size=200)
    nets = [(0.5 + 0.4 * (2 * true - 1) * rng.random(200)).round(3) for _ in range(3)]
    age = rng.integers(20, 90, 200)
    rows = [",".join(map(str, row)) for row in zip(np.array(["well", "ill"])[true], *nets, age, strict=True)]
    path = tmp_path / "risks.csv"
    path.write_text("\n".join(["outcome,logistic,forest,boosted,age", *rows]) + "\n")
    window.flow.open_files((path,))
    page = on("columns")
    assert page.columns.columns == ("logistic",)
    assert [one.called for one in page.others] == ["forest", "boosted"], "the age says little of the outcome"
    next(iter(page.others.values())).box.click()
    options = shlex.split(page._command.text().partition("FILE ")[2])
    assert options.count("--columns") == 2
    page.proceed.click()
    study = on("study").study
    assert study.model_names == ("logistic", "forest")
    folder = tmp_path / "as told"
    assert elicit("study", "new", folder, "--predictions", path, *options).returncode == 0
    assert open_study(str(folder)).digest == study.digest


def test_a_row_for_each_model_and_case_is_told_by_a_tick(window, tmp_path, on, elicit):
    rng = np.random.default_rng(3)
    true = rng.integers(2, size=100)
    rows = [
        f"i{at:02d},{net},{('well', 'ill')[one]},{0.5 + 0.4 * (2 * one - 1) * rng.random():.3f}"
        for net in ("vit", "lenet")
        for at, one in enumerate(true)
    ]
    path = tmp_path / "nets.csv"
    path.write_text("\n".join(["image,net,diagnosis,risk", *rows]) + "\n")
    window.flow.open_files((path,))
    page = on("columns")
    assert page.by_model.box.isChecked(), "by the name of its column"
    assert page.by_model.box.accessibleDescription() == "Each case has a row for “lenet”, “vit”."
    assert page.skip_unread.isHidden(), "both have all cases"
    options = shlex.split(page._command.text().partition("FILE ")[2])
    assert options[-2:] == ["--model", "net"]
    page.proceed.click()
    study = on("study").study
    assert study.model_names == ("lenet", "vit")
    assert [len(one.y_true) for one in study.models] == [100, 100]
    folder = tmp_path / "as told"
    assert elicit("study", "new", folder, "--predictions", path, *options).returncode == 0
    assert open_study(str(folder)).digest == study.digest


def test_cases_that_not_everybody_read_are_left_out_if_the_person_says_so(window, reader_study, on, elicit):
    lines = reader_study.read_text().splitlines()
    lines[5:8] = [re.sub(r"^(\w+,\w+,)\w+", r"\1", line) for line in lines[5:8]]
    reader_study.write_text("\n".join(lines) + "\n")
    window.flow.open_files((reader_study,))
    page = on("columns")
    assert page.skip_unread.isHidden(), "it is about readers"
    for row in page.others.values():
        row.box.click()
    assert not page.skip_unread.isHidden()
    assert page.skip_unread.box.accessibleDescription() == "Leaves 197 of 200 cases."
    assert page._command.text().endswith("--predicted 'Dr. A' --predicted 'Dr. B' --skip-unread")
    options = shlex.split(page._command.text().partition("FILE ")[2])
    page.skip_unread.box.click()
    page.proceed.click()
    on("error").copy.click()
    assert "Row 5: Dr. A is empty, and so in 2 more rows" in QGuiApplication.clipboard().text()
    window.flow.open_files((reader_study,))
    page = on("columns")
    assert not page.skip_unread.box.isChecked(), "as it was said before"
    page.skip_unread.box.click()
    page.proceed.click()
    study = on("study").study
    assert [len(one.y_true) for one in study.models] == [197] * 3
    assert "Only the 197 of 200 cases that everybody read are compared." in study.notes
    folder = reader_study.parent / "as told"
    assert elicit("study", "new", folder, "--predictions", reader_study, *options).returncode == 0
    assert open_study(str(folder)).digest == study.digest


def test_readers_in_files_of_their_own_are_compared_on_the_cases_that_all_have(window, tmp_path, on):
    rng = np.random.default_rng(5)
    true = rng.integers(2, size=90)
    files = [tmp_path / f"{name}.csv" for name in ("model", "Dr. A", "Dr. B")]
    rows = [f"c{at},{('sick', 'well')[one]},{0.8 - 0.6 * one},{0.2 + 0.6 * one}" for at, one in enumerate(true)]
    files[0].write_text("\n".join(["case_id,y_true,proba_sick,proba_well", *rows]))
    for path, unread in zip(files[1:], (slice(0, 10), slice(5, 20)), strict=True):
        said = [f"c{at},{('sick', 'well')[one]},{('sick', 'well')[one]}" for at, one in enumerate(true)]
        del said[unread]
        path.write_text("\n".join(["case_id,y_true,y_pred", *said]))
    window.flow.open_files(files)
    page = on("columns")
    assert (page.kind, page.skip_unread.box.isChecked()) == ("labels", False), "nothing is empty in this file"
    page.skip_unread.box.click()
    page.proceed.click()
    study = on("study").study
    assert study.model_names == ("model", "Dr. A", "Dr. B")
    assert study.notes[0] == "Only the 70 of 90 cases that everybody read are compared."


def test_a_reader_is_added_from_the_file_that_the_study_was_made_of(window, dialogs, reader_study, on):
    window.flow.open_files((reader_study,))
    on("columns").proceed.click()
    words = on("study")
    dialogs.files = (reader_study,)
    words.models.add.click()
    page = on("columns")
    page.kinds["labels"].radio.click()
    page.boxes[0].setCurrentText("Dr. B")
    page.proceed.click()
    assert on("study").study.model_names == ("readers", "Dr. B")


def test_files_of_several_labels_become_a_study_that_is_asked_at_once(window, tmp_path, on):
    rng = np.random.default_rng(2)
    true = rng.integers(2, size=(40, 2))
    for name in ("first", "second"):
        rows = np.hstack([true, np.where(rng.random(true.shape) < 0.3, 1 - true, true)])
        np.savetxt(tmp_path / f"{name}.csv", rows, "%d", ",", header="true_a,true_b,pred_a,pred_b", comments="")
    window.flow.open_files((tmp_path / "first.csv", tmp_path / "second.csv"))
    on("begin")
    study = open_study(tmp_path / "first-study")
    assert (study.wording.priced, [one.name for one in study.pack.models]) == ("multilabel", ["first", "second"])
    window.flow.show_start()
    on("start")
    window.flow.open_files((tmp_path / "first.csv", tmp_path / "second.csv"))
    on("begin")
    assert [path.name for path in tmp_path.glob("*-study*")] == ["first-study"], "dropped again it is the same study"
    assert "in the folder first-study beside them" in on("begin").notice.sentence


def test_which_case_each_row_is_and_whose_is_seen_among_odd_columns_and_kept(window, cases, tmp_path, on):
    pairs = enumerate(zip(*cases, strict=True))
    rows = [f"MRN {n // 3},{n}.png,{label},{a:.3f},{b:.3f}" for n, (label, (a, b)) in pairs]
    for name, ordered in (("visits", rows), ("other", rows[::-1])):
        head = "Patient ID,image,truth,logit sick,logit well"
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *ordered]) + "\n")
    window.flow.open_files((tmp_path / "visits.csv", tmp_path / "other.csv"))
    page = on("columns")
    assert {"which case it is", "whose case it is"} <= {label.text() for label in page._first.findChildren(QLabel)}
    go_on(window)
    notice = on("study").notice.sentence
    assert "by the column Patient ID these cases are of 100 people" in notice
    assert "other.csv: its rows were put in the order of visits.csv, by the column image." in notice
    go_on(window)
    on("begin")
    assert len(np.unique(open_study(str(tmp_path / "visits-study")).people)) == 100
