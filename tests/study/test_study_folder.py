"""Study folders: made whole or not at all, opened as they were made, refused in words."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_app.problem import Problem
from elicit_app.study import Mistake, create_study, open_study, save_study
from elicit_app.study.making import change_study, distinct_names, with_models
from elicit_app.study.model import default_wording
from elicit_app.study.reading import look_alike_notes, several_labels_notes
from elicit_app.study.writing import new_folder, write_whole
from metrics.inputs.labels import has_line_end

THREE = "y_true,proba_a,proba_b,proba_c\n" + "a,0.7,0.2,0.1\nb,0.6,0.3,0.1\nc,0.1,0.2,0.7\nb,0.1,0.8,0.1\n"


@pytest.fixture
def files(tmp_path):
    first, second = tmp_path / "first model.csv", tmp_path / "second.csv"
    first.write_text(THREE)
    second.write_text("y_true,proba_c,proba_a,proba_b\na,0,1,0\nb,0,0,1\nc,1,0,0\nb,1,0,0\n")
    return [first, second]


def same(one, other):
    plain = [replace(study, models=(), folder=None) for study in (one, other)]
    assert plain[0].__dict__ == plain[1].__dict__
    for a, b in zip(one.models, other.models, strict=True):
        assert a.name == b.name
        np.testing.assert_array_equal(a.y_true, b.y_true)
        np.testing.assert_array_equal(a.y_proba, b.y_proba)


def test_a_prevalence_stated_later_leaves_models_answers_and_yardstick(files, tmp_path):
    made = create_study(tmp_path / "s", files)
    save_study(replace(made, yardstick=(2, 1)))
    changed = change_study(open_study(tmp_path / "s"), prevalence={"c": 0.002})
    assert changed.prevalence == pytest.approx([0.998 / 3, 0.998 * 2 / 3, 0.002])
    assert (changed.population, changed.yardstick, changed.digest) == (100_000, (2, 1), made.digest)
    same(open_study(tmp_path / "s"), replace(changed, notes=()))
    assert change_study(changed, population=1_000_000).prevalence == pytest.approx(changed.prevalence)
    assert open_study(tmp_path / "s").population == 1_000_000


def test_a_new_study_opens_as_it_was_made(tmp_path, files):
    made = create_study(tmp_path / "skin lesions", files)
    assert made.name == "skin lesions"
    assert made.title == "Skin lesions"
    assert made.classes == ("a", "b", "c")
    assert [model.name for model in made.models] == ["first model", "second"]
    assert made.models[1].y_proba[0].tolist() == [1, 0, 0]
    assert made.yardstick == (1, 0)  # the most frequent mistake is a tie of two; the first in row-major order counts
    assert made.population == 1_000
    assert made.description == "3 classes, 2 models"
    same(open_study(tmp_path / "skin lesions"), made)
    same(open_study(tmp_path / "skin lesions" / "study.json"), made)


def test_what_is_stated_is_kept(tmp_path, files):
    wording = default_wording(("c", "b", "a"), "case", "cases")
    wording = replace(wording, mistakes=wording.mistakes | {(0, 1): Mistake("Lost", "lost one", "lost ones", "Gone.")})
    made = create_study(tmp_path / "s", files, name="Title", labels=("c", "b", "a"), population=500, purpose="costs")
    same(open_study(tmp_path / "s"), made)
    assert (made.title, made.population, made.purpose) == ("Title", 500, "costs")
    models = [replace(model, name=name) for model, name in zip(made.models, ("one", "two"), strict=True)]
    changed = with_models(replace(made, stated_prevalence=(0.2, 0.3, 0.5), wording=wording, yardstick=(0, 1)), models)
    save_study(changed)
    same(open_study(tmp_path / "s"), changed)
    assert made.models[0].y_true.tolist() == [2, 1, 0, 1]
    words = json.loads((tmp_path / "s" / "study.json").read_text())["wording"]
    assert [mistake["name"] for mistake in words["mistakes"]] == ["Lost"]


def test_what_was_changed_elsewhere_meanwhile_is_not_replaced(tmp_path, files):
    made = create_study(tmp_path / "s", files)
    opened = open_study(tmp_path / "s")
    save_study(replace(opened, title="Mine"), since=made)
    again = open_study(tmp_path / "s")
    more = change_study(again, remove=["second"])
    with pytest.raises(Problem, match="“Mine” was changed in another place since it was opened here"):
        save_study(replace(again, title="Theirs"), since=again)
    assert (open_study(tmp_path / "s").title, open_study(tmp_path / "s").earlier) == ("Mine", (made.digest,))
    save_study(replace(more, title="Theirs"), since=more)
    assert open_study(tmp_path / "s").title == "Theirs"


WORDS = st.text(min_size=1, max_size=30).filter(lambda text: text.strip() and not has_line_end(text))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=WORDS, one=WORDS, many=WORDS, consequence=st.text(max_size=45), case=WORDS, pair=st.sampled_from([0, 1, 2]))
def test_any_words_survive_saving(tmp_path_factory, files, name, one, many, consequence, case, pair):
    folder = tmp_path_factory.mktemp("s") / "study"
    study = create_study(folder, files)
    mistake = Mistake(name, one, many, consequence)
    wording = replace(
        default_wording(study.classes, case, many),
        any_mistake=tuple(mistake if index == pair else old for index, old in enumerate(study.wording.any_mistake)),
        mistakes=study.wording.mistakes | {(pair, (pair + 1) % 3): mistake},
        class_many=(many, one, many),
    )
    changed = replace(study, wording=wording, population=10_000, title=name)
    save_study(changed)
    same(open_study(folder), changed)


def test_what_is_done_and_what_answers_are_for_may_be_stated_or_missing(tmp_path, files):
    plain = create_study(tmp_path / "plain", files)
    document = json.loads((tmp_path / "plain" / "study.json").read_text())
    del document["purpose"]
    (tmp_path / "plain" / "study.json").write_text(json.dumps(document))
    older = open_study(tmp_path / "plain")
    assert (older.purpose, older.wording.class_action) == (None, ())
    wording = replace(plain.wording, class_action=("", "treat", ""))
    save_study(replace(plain, wording=wording, purpose="costs"))
    same(open_study(tmp_path / "plain"), replace(plain, wording=wording, purpose="costs"))
    with pytest.raises(Problem, match="for each of the 3 classes, or for none"):
        save_study(replace(plain, wording=replace(wording, class_action=("treat",))))


def test_models_of_other_cases_are_refused(tmp_path, files):
    shorter = tmp_path / "shorter.csv"
    shorter.write_text(THREE.rsplit("b", 1)[0])
    with pytest.raises(Problem, match=r"shorter\.csv has 3 rows, .* has 4"):
        create_study(tmp_path / "s", [files[0], shorter])
    other = tmp_path / "other.csv"
    other.write_text(THREE.replace("c,0.1", "b,0.1"))
    with pytest.raises(Problem, match=r"The true label of row 3 is “b” in .*other\.csv, “c” in"):
        create_study(tmp_path / "s", [files[0], other])
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("y_true,proba_a,proba_b\na,1,0\nb,0,1\n")
    with pytest.raises(Problem, match="no column for “c”"):
        create_study(tmp_path / "s", [files[0], fewer])
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"population": 9}, "The population must be 10 to 1,000,000, not 9"),
        ({"stated_prevalence": (0.5, 0.5)}, "must be 3 numbers between 0 and 1"),
        ({"stated_prevalence": (1.0, 0.0, 0.0)}, "must be 3 numbers between 0 and 1"),
        ({"stated_prevalence": (0.1, 0.2, 0.3)}, "must add up to 1, not to 0.6"),
        ({"yardstick": (1, 1)}, r"The yardstick \(1, 1\) is not a mistake among 3 classes"),
        ({"yardstick": (0, 3)}, r"The yardstick \(0, 3\) is not a mistake among 3 classes"),
    ],
)
def test_values_that_cannot_be_used_change_nothing(tmp_path, files, change, expected):
    made = create_study(tmp_path / "s", files)
    with pytest.raises(Problem, match=expected):
        save_study(replace(made, **change))
    same(open_study(tmp_path / "s"), made)


def test_shares_that_are_rounded_by_hand_add_up_to_one(tmp_path, files):
    create_study(tmp_path / "s", files)
    path = tmp_path / "s" / "study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"stated_prevalence": [0.333, 0.333, 0.333]}))
    assert open_study(tmp_path / "s").prevalence.tolist() == pytest.approx([1 / 3] * 3)


def test_a_study_that_cannot_be_made_leaves_nothing_behind(tmp_path, files):
    with pytest.raises(Problem, match="The population must be 10 to 1,000,000, not 9"):
        create_study(tmp_path / "s", files, population=9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first model.csv", "second.csv"]


def test_words_that_do_not_fit_are_refused(tmp_path, files):
    study = create_study(tmp_path / "s", files)
    long = replace(study.wording.mistakes[0, 1], consequence="x" * 46)
    with pytest.raises(Problem, match="the consequence of “a” called “b” has 46 characters"):
        save_study(replace(study, wording=replace(study.wording, mistakes=study.wording.mistakes | {(0, 1): long})))
    nameless = study.wording.mistakes | {(0, 1): replace(study.wording.mistakes[0, 1], one="")}
    with pytest.raises(Problem, match="the word for one of “a” called “b” is empty"):
        save_study(replace(study, wording=replace(study.wording, mistakes=nameless)))
    with pytest.raises(Problem, match="the word for one case is empty"):
        save_study(replace(study, wording=replace(study.wording, case=" ")))
    with pytest.raises(Problem, match="words for each of the 6 kinds"):
        save_study(replace(study, wording=replace(study.wording, mistakes={})))
    same(open_study(tmp_path / "s"), study)


def test_a_class_without_cases_is_refused(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(THREE.replace("c,0.1", "a,0.1"))
    with pytest.raises(Problem, match=r"No case has the true class “c”: .* stands for no answer, write the class"):
        create_study(tmp_path / "s", [path])


def test_a_folder_that_is_taken_is_left_alone(tmp_path, files):
    folder = tmp_path / "taken"
    folder.mkdir()
    create_study(folder, files)  # an empty folder will do
    before = (folder / "study.json").read_bytes()
    with pytest.raises(Problem, match="exists already"):
        create_study(folder, files)
    with pytest.raises(Problem, match="exists already"):
        create_study(files[0], files)
    with pytest.raises(Problem, match="could not be made"):
        create_study(files[0] / "below a file", files)
    assert (folder / "study.json").read_bytes() == before


def test_a_full_disk_leaves_nothing_half_written(tmp_path, files):
    script = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "from elicit_app.study import create_study\n"
        "from elicit_app.problem import Problem\n"
        "try: create_study(sys.argv[1], sys.argv[2:])\n"
        "except Problem as problem: print(problem.sentence); sys.exit(7)\n"
    )
    done = subprocess.run(
        # -B: bytecode would be cut at the limit too, for whoever imports it next
        [sys.executable, "-B", "-c", script, str(tmp_path / "s"), *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    assert "could not be written (File too large)" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first model.csv", "second.csv"]


def test_a_study_file_cut_anywhere_is_refused_in_words(tmp_path, files):
    create_study(tmp_path / "s", files)
    path = tmp_path / "s" / "study.json"
    content = path.read_bytes()
    for length in range(0, len(content) - 2, 3):
        path.write_bytes(content[:length])
        with pytest.raises(Problem, match=r"study\.json"):
            open_study(tmp_path / "s")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[" * 100_000, "lists are nested too deeply"),
        (b'{"format": "elicit-study", "version": 1' + b"0" * 5000 + b"}", "a whole number of 5,001 digits"),
        (b'{"format": "elicit-study", "version": 1, "title": "\\ud800"}', "not Unicode"),
        (b'{"format": "elicit-study", "format": "elicit-study"}', "field format occurs twice"),
        (b'{"format": "\xe9"}', "not UTF-8 text .byte 13."),
        (b"", "the file is empty"),
    ],
)
def test_what_is_no_json_is_refused_in_words(tmp_path, files, content, expected):
    create_study(tmp_path / "s", files)
    (tmp_path / "s" / "study.json").write_bytes(content)
    with pytest.raises(Problem, match=rf"study\.json.* {expected}.*make a new study"):
        open_study(tmp_path / "s")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"version": 2}, "was written by a newer elicit .version 2, known up to 1.: update elicit"),
        ({"version": "1"}, 'has no valid "version"'),
        ({"format": "elicited-metric"}, "is not a study file"),
        ({"popluation": 1}, "field “popluation”"),
        ({"population": "1000"}, "field “population”"),
        ({"classes": ["a"]}, "field “classes”"),
        ({"classes": ["a\n", "b", "c"]}, "field “classes.0”: a class name must be one line"),
        ({"wording": {"case": "case\nof", "cases": "cases"}}, "the word for one case has a line end in it"),
        ({"yardstick": ["a", "z"]}, "the yardstick “a” called “z” is not a mistake"),
        ({"yardstick": ["a", "a"]}, "the yardstick “a” called “a” is not a mistake"),
        ({"stated_prevalence": [0.5, 0.5, float("nan")]}, "study.json"),
        ({"stated_prevalence": [0.5, 0.6, 0.1]}, r"study\.json cannot be used: .* must add up to 1, not to 1\.2"),
        ({"models": [{"name": "x", "file": "../secret.parquet"}]}, "field “models.0.file”"),
        ({"models": [{"name": "x", "file": "gone.parquet"}]}, "There is no file"),
        ({"wording": {"classes": {"z": {"one": "z", "many": "zs"}}}}, "has words for 'z'"),
        ({"digest": "sha256:0"}, "are not those the study was made from"),
    ],
)
def test_study_files_that_were_changed_by_hand(tmp_path, files, change, expected):
    create_study(tmp_path / "s", files)
    path = tmp_path / "s" / "study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(Problem, match=expected):
        open_study(tmp_path / "s")


def test_what_is_no_study_is_said_with_a_hint(tmp_path):
    with pytest.raises(Problem, match="did you mean “digits”"):
        open_study("digts")
    with pytest.raises(Problem, match="come with elicit are breast-cancer, "):
        open_study("zzz")
    with pytest.raises(Problem, match=r"there is no study\.json in it"):
        open_study(tmp_path)
    with pytest.raises(Problem, match="paper-K and softmax-K have 2 to 10 classes"):
        open_study("paper-11")


def test_a_predictions_file_is_a_study_too(tmp_path, files):
    study = open_study(files[0])
    assert (study.kind, study.name, study.folder) == ("file", "first model", None)
    assert study.title == "First model"
    with pytest.raises(Problem, match="has no folder of its own"):
        save_study(study)


def test_models_of_files_with_one_name_are_told_apart(tmp_path, files):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.csv").write_text(THREE)
    twice = [tmp_path / "x" / "p.csv", tmp_path / "y" / "p.csv", tmp_path / "y" / "p.csv"]
    study = create_study(tmp_path / "s", twice)
    assert [model.name for model in study.models] == ["x/p.csv", "y/p.csv", "y/p.csv (2)"]
    same(open_study(tmp_path / "s"), study)


def test_names_hold_as_much_of_the_path_as_is_needed():
    def names(*files):
        return distinct_names([Path(file) for file in files])

    assert names("/a/x.csv", "/a/y.csv") == ["x", "y"]
    assert names("/a/x.csv", "/a/x.parquet") == ["x.csv", "x.parquet"]
    assert names("/a/x.csv", "/b/x.csv") == ["a/x.csv", "b/x.csv"]
    assert names("/a/x.csv", "/a/x.csv") == ["a/x.csv", "a/x.csv (2)"]


LOOK_ALIKE = ("cancer", "c\u0430ncer", "canc\u200ber", "cance\u0301r", "canc\u00e9r", "no case", "no\u00a0case")


def test_classes_that_look_alike_are_pointed_out(tmp_path) -> None:
    k = len(LOOK_ALIKE)
    table = {"y_true": [*LOOK_ALIKE, *LOOK_ALIKE]}
    for j, name in enumerate(LOOK_ALIKE):
        table[f"proba_{name}"] = [0.4 if i % k == j else 0.6 / (k - 1) for i in range(2 * k)]
    path = tmp_path / "model.parquet"
    pl.DataFrame(table).write_parquet(path)
    told = create_study(tmp_path / "made", [path]).notes
    assert len(told) == 4
    assert "cyrillic small letter a" in told[0]
    assert "zero width space" in told[1]
    assert open_study("wine").notes == ()
    (note,) = look_alike_notes(("Benign", "benign", "malignant"))
    assert "“Benign” and “benign”; they differ in capitals only" in note


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        (("calm", "calm|sad", "happy", "sad"), "“calm|sad” seems to be several labels of one case."),
        (("effusion", "mass", "mass; effusion"), "“mass; effusion” seems to be several labels"),
        (("adenoma", "adenoma, mild", "adenoma, severe"), ""),
        (("a+", "a", "b"), ""),
        (("|", "calm"), ""),
    ],
)
def test_a_class_made_of_others_is_pointed_out(classes, said):
    assert " ".join(several_labels_notes(classes)).startswith(said)
    assert said or not [*several_labels_notes(classes)]


def test_texts_that_no_window_can_lay_out_are_refused(tmp_path, files):
    with pytest.raises(Problem, match="has 9,000 characters; at most 2,000 can be shown"):
        create_study(tmp_path / "made", files, name="x" * 9_000)
    study = create_study(tmp_path / "made", files)
    path = tmp_path / "made" / "study.json"
    path.write_text(path.read_text().replace(study.title, "x" * 9_000))
    with pytest.raises(Problem, match="at most 2,000 can be shown"):
        open_study(tmp_path / "made")


def test_what_cannot_be_written_is_named_as_it_was_asked_for(tmp_path):
    with pytest.raises(Problem) as told, new_folder(tmp_path / "mine") as made:
        write_whole(made / "no folder" / "model.parquet", b"")
    assert f"{tmp_path / 'mine' / 'no folder' / 'model.parquet'} could not be written" in str(told.value)
    assert not [*tmp_path.iterdir()]


def test_where_one_of_two_classes_is_rare_false_alarms_are_the_unit(tmp_path):
    """Models that hardly ever call the rare class miss more than they call falsely."""

    def made(ill, missed, alarms):
        rows = [("ill", 0.4 if at < missed else 0.6) for at in range(ill)]
        rows += [("well", 0.6 if at < alarms else 0.4) for at in range(100 - ill)]
        text = "\n".join(["y_true,proba_ill,proba_well", *(f"{true},{p},{1 - p:.1f}" for true, p in rows)])
        file = tmp_path / f"{ill}.csv"
        file.write_text(f"{text}\n")
        return create_study(tmp_path / f"{ill}", [file]).yardstick

    assert made(10, 8, 2) == (1, 0), "a false alarm"
    assert made(90, 2, 8) == (0, 1)
    assert made(40, 8, 2) == (0, 1), "the most frequent mistake"
