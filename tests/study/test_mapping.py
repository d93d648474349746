"""Predictions as people have them: what columns seem to be, and what is read of them."""

import json
import tracemalloc

import numpy as np
import polars as pl
import pytest

from elicit_app.problem import Problem
from elicit_app.study import create_study, open_study
from elicit_app.study.first_rows import has_usual_columns, read_first_rows
from elicit_app.study.making import change_study
from elicit_app.study.mapping import as_options, column_map, parts_of
from elicit_app.study.model import ColumnMap
from elicit_app.study.reading import read_predictions

TRUTH = ["cat", "dog", "bird", "cat", "dog", "bird"]
SCORES = np.array([[2.0, 0.5, -1], [0.1, 3.0, 0.2], [-0.5, 0.0, 1.5], [1.0, 1.5, 0.0], [0.0, 2.0, -2], [0.3, 0.1, 0.9]])


def write(folder, text, name="odd.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def table(heads, *columns):
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join([",".join(heads), *lines]) + "\n"


def test_an_option_of_several_lines_is_one_part():
    assert parts_of("a,b\nc") == ["a,b\nc"]
    assert parts_of("") == [""]
    assert parts_of('a, "b, c"=.5') == ["a", "b, c=.5"]


@pytest.fixture
def logits(tmp_path):
    heads = ["id", "label", "split", "score_cat", "Score dog", "bird logit"]
    return write(tmp_path, table(heads, range(6), TRUTH, ["a"] * 6, *SCORES.T))


def test_raw_scores_under_odd_names_are_guessed_and_become_probabilities(logits):
    look = read_first_rows(logits)
    assert not look.fits
    assert look.guess == ColumnMap("label", ("cat", "dog", "bird"), ("score_cat", "Score dog", "bird logit"), "logits")
    assert look.rows[0] == ("0", "cat", "a", "2", "0.5", "-1")
    read = read_predictions(logits, columns=look.guess)
    expected = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(read.predictions.y_proba, expected, atol=1e-15)
    assert [read.classes[at] for at in read.predictions.y_true] == TRUTH


def test_columns_whose_names_say_no_class_belong_to_that_on_whose_cases_they_are_high(tmp_path):
    path = write(tmp_path, table(["label", "z1", "z2", "z3"], TRUTH, SCORES[:, 2], SCORES[:, 0], SCORES[:, 1]))
    assert dict(zip(read_first_rows(path).guess.classes, read_first_rows(path).guess.columns, strict=True)) == {
        "bird": "z1",
        "cat": "z2",
        "dog": "z3",
    }
    one = write(tmp_path, table(["target", "score"], ["well", "sick", "well", "sick"], [-1.5, 2, 0.2, 1.1]), "1.csv")
    assert read_first_rows(one).guess == ColumnMap("target", ("well", "sick"), ("score",), "logits")


def test_where_neither_names_nor_labels_say_anything_the_truth_is_what_the_others_score(tmp_path):
    truth = [2, 1, 0, 2, 1, 0]
    path = write(tmp_path, table("0123", *SCORES[:, [2, 1, 0]].T[:2], truth, SCORES[:, 0]))
    assert read_first_rows(path).guess == ColumnMap("2", ("0", "1", "2"), ("0", "1", "3"), "logits")
    assert not read_first_rows(path).fault
    either = write(tmp_path, table("ab", truth, truth))
    assert read_first_rows(either).guess is None


def test_a_column_that_counts_the_cases_is_no_score_whatever_its_name(tmp_path):
    path = write(tmp_path, table(["nr", "truth", "x", "y", "z"], range(7, 13), TRUTH, *SCORES.T))
    assert set(read_first_rows(path).guess.columns) == {"x", "y", "z"}


@pytest.mark.parametrize(
    ("heads", "meant"),
    [
        (["P(bird) %", "P(cat) %", "P(dog) %"], [1, 2, 0]),
        (["cnn p dog", "cnn p bird", "cnn p cat", "vit p cat", "vit p dog", "vit p bird"], [2, 0, 1]),
        (["cnn_dog_v2", "cnn_bird_v2", "cnn_cat_v2", "age"], [2, 0, 1]),
        (["ProbA cat", "other cat", "ProbA bird", "ProbA dog"], [0, 3, 2]),
    ],
)
def test_names_that_differ_only_in_the_class_belong_to_it(tmp_path, heads, meant):
    numbers = np.random.default_rng(5).normal(size=(len(heads), 6))
    path = write(tmp_path, table(["label", *heads], TRUTH, *numbers))
    guess = read_first_rows(path).guess
    found = dict(zip(guess.classes, guess.columns, strict=True))
    assert [found[name] for name in ("cat", "dog", "bird")] == [heads[at] for at in meant]


def made_arrays(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Labels of 90 cases and raw scores, which are highest at the true class of most."""
    rng = np.random.default_rng(4)
    truth = np.arange(90) % len(names)
    return truth, rng.normal(size=(90, len(names))) + 2 * np.eye(len(names))[truth]


def test_arrays_under_odd_names_are_columns(tmp_path):
    names = ["well", "ill", "worse"]
    truth, scores = made_arrays(names)
    wide = {"features": np.random.default_rng(5).normal(size=(90, 300)), "accuracy": np.float64(0.8)}
    np.savez(tmp_path / "numbered.npz", target=truth, logits=scores, **wide)
    np.savez(tmp_path / "named.npz", logits=scores, class_names=names, target=truth)
    np.savez(tmp_path / "words.npz", logits=scores[:, [2, 0, 1]], target=np.array(names)[truth])
    np.savez(tmp_path / "decided.npz", target=truth, reader=scores.argmax(axis=1), names=names)
    guesses = {path.stem: read_first_rows(path).guess for path in tmp_path.glob("*.npz")}
    numbers = tuple(f"logits_{j}" for j in range(3))
    assert len(read_first_rows(tmp_path / "numbered.npz").columns) == 4, "features are not read"
    assert guesses["numbered"] == ColumnMap("target", ("0", "1", "2"), numbers, "logits")
    assert guesses["named"] == ColumnMap("target", tuple(names), tuple(f"logits_{name}" for name in names), "logits")
    assert guesses["words"] == ColumnMap("target", ("worse", "well", "ill"), numbers, "logits")
    assert guesses["decided"] == ColumnMap("target", ("ill", "well", "worse"), ("reader",), "labels")
    read = read_predictions(tmp_path / "named.npz", columns=guesses["named"])
    assert read.predictions.y_true.tolist() == truth.tolist()
    assert (read.predictions.y_proba.argmax(axis=1) == scores.argmax(axis=1)).all()


def test_names_of_something_else_are_not_those_of_classes(tmp_path):
    truth, scores = made_arrays(["0", "1"])
    features = [f"gene {at}" for at in range(40)]
    np.savez(tmp_path / "p.npz", y=truth, logits=scores, genes=np.zeros((90, 40)), gene_names=features)
    first = read_first_rows(tmp_path / "p.npz")
    assert first.columns[:4] == ("y", "logits_0", "logits_1", "genes_gene 0")
    assert first.values["y"] == ("0", "1")


def test_arrays_that_are_no_columns_of_cases_are_refused(tmp_path):
    truth, scores = made_arrays(["a", "b"])
    for name, arrays in {"short": {"y": truth[:-1], "p": scores}, "alone": {"p": scores}, "flat": {"y": truth}}.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(Problem, match=f"no array y_true in it, only “{next(iter(arrays))}”"):
            read_first_rows(tmp_path / f"{name}.npz")


@pytest.mark.parametrize("ending", [".tsv", ".txt", ".TXT"])
def test_text_with_tabs_has_its_own_endings(tmp_path, ending):
    path = tmp_path / f"p{ending}"
    path.write_text("y_true\tproba_a\tproba_b\na\t0.9\t0.1\nb\t0.2\t1.8\n")
    with pytest.raises(Problem, match=r"Row 2: .* row 1 is the first below the header"):
        read_predictions(path)
    path.write_text(path.read_text().replace("1.8", "0.8"))
    assert read_predictions(path).predictions.y_proba.tolist() == [[0.9, 0.1], [0.2, 0.8]]


def test_a_spreadsheet_is_told_how_to_be_saved(tmp_path):
    (tmp_path / "p.xlsx").write_bytes(b"PK")
    with pytest.raises(Problem, match='save it again as "CSV UTF-8"'):
        read_predictions(tmp_path / "p.xlsx")


def test_a_class_within_the_name_of_another_is_told_from_it(tmp_path):
    labels = ["cancer", "no cancer"] * 3
    path = write(tmp_path, table(["y", "p_no_cancer", "p_cancer"], labels, np.arange(6) ** 2, -(np.arange(6) ** 2)))
    guess = read_first_rows(path).guess
    assert (guess.classes, guess.columns) == (("no cancer", "cancer"), ("p_no_cancer", "p_cancer"))


def test_other_numbers_than_scores_are_not_taken_for_them(tmp_path):
    age, weight = [71, 62, 55, 43, 39, 80], [60.5, 71, 80, 91, 55, 62.5]
    alike = write(tmp_path, table(["age", "label", "s a", "s b", "s c"], age, TRUTH, *SCORES.T))
    assert set(read_first_rows(alike).guess.columns) == {"s a", "s b", "s c"}
    proba = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
    whole = write(tmp_path, table(["age", "label", *"uvw", "weight"], age, TRUTH, *proba.T, weight))
    assert (read_first_rows(whole).guess.kind, set(read_first_rows(whole).guess.columns)) == ("probabilities", {*"uvw"})
    labels = ["well", "sick"] * 3
    one = write(tmp_path, table(["age", "label", "risk score"], age, labels, [-1, 2, 0.5, 3, -2, 1.5]))
    assert read_first_rows(one).guess.columns == ("risk score",)
    none = write(tmp_path, table(["age", "label", "weight"], age, labels, weight))
    assert read_first_rows(none).guess is None


def test_probabilities_of_one_class_by_two_models_are_not_those_of_two_classes(tmp_path):
    labels = ["well", "sick"] * 3
    first, second = [0.1, 0.8, 0.3, 0.9, 0.2, 0.6], [0.4, 0.9, 0.2, 0.7, 0.3, 0.8]
    path = write(tmp_path, table(["label", "model_a", "model_b"], labels, first, second))
    assert read_first_rows(path).guess == ColumnMap("label", ("well", "sick"), ("model_a",))


def test_numbers_of_single_labels_are_no_raw_scores(tmp_path):
    sigmoids = 1 / (1 + np.exp(-SCORES))
    path = write(tmp_path, table(["label", "cat", "dog", "bird"], TRUTH, *sigmoids.T))
    guess = read_first_rows(path).guess
    assert guess.kind == "probabilities"
    with pytest.raises(Problem, match=r"Row 1: the probabilities add up to 1\.772, not 1"):
        read_predictions(path, columns=guess)
    assert column_map(read_first_rows(path), logits=True).kind == "logits", "if somebody says so"


def test_the_truth_is_the_column_of_words_that_others_score(tmp_path):
    heads = ["sex", "hospital", "final finding", "p_cat", "p_dog", "p_bird"]
    path = write(tmp_path, table(heads, "fmfmfm", ["north", "south"] * 3, TRUTH, *SCORES.T))
    assert read_first_rows(path).guess.truth == "final finding"
    named = write(tmp_path, table(["predicted diagnosis", "Diagnosis (final)"], TRUTH, TRUTH))
    assert read_first_rows(named).guess == ColumnMap(
        "Diagnosis (final)", ("bird", "cat", "dog"), ("predicted diagnosis",), "labels"
    )


PERCENT = [[70, 20, 10], [10, 85, 5], [20, 20, 60], [50, 45, 5], [15, 80, 5], [20, 10, 70]]


@pytest.mark.parametrize(
    ("heads", "truth"),
    [
        ("pred obs cat dog rowIndex", "obs"),  # as caret writes them
        ("pred wirklich cat dog rowIndex", "wirklich"),
        ("row_ids truth response prob.cat prob.dog", "truth"),  # mlr3
        ("truth .pred_cat .pred_dog .pred_class", "truth"),  # tidymodels
        ("predict cat dog actual", "actual"),  # H2O
        ("predict cat dog disease", "disease"),
    ],
)
def test_what_other_tools_call_decisions_is_not_taken_for_the_truth(tmp_path, heads, truth):
    names = heads.split()
    labels = ["cat", "dog", "dog", "cat", "dog", "cat"]
    decided = ["cat", "dog", "cat", "cat", "dog", "dog"]
    p = np.array([0.9, 0.2, 0.6, 0.8, 0.1, 0.3])
    columns = {name: p if "cat" in name else 1 - p for name in names}
    columns |= {name: decided for name in names if name in ("pred", "predict", "response", ".pred_class")}
    columns |= {truth: labels, **{name: [3, 1, 4, 15, 9, 2] for name in ("rowIndex", "row_ids") if name in names}}
    guess = read_first_rows(write(tmp_path, table(names, *columns.values()))).guess
    assert (guess.truth, guess.kind, len(guess.columns)) == (truth, "probabilities", 2)
    assert [("cat" in one, "dog" in two) for one, two in [guess.columns]] == [(True, True)]


def test_shares_of_a_whole_are_not_raw_scores(tmp_path):
    rng, names = np.random.default_rng(1), [f"c{at}" for at in range(20)]
    shares = rng.dirichlet(np.full(20, 0.5), size=100)
    labels = [names[at % 20] for at in range(100)]
    votes = write(
        tmp_path, table(["label", *names], labels, *np.array([rng.multinomial(500, row) for row in shares]).T), "v.csv"
    )
    with pytest.raises(Problem, match=r"add up to 500 in every row: they are shares of it, not raw scores .*divide"):
        column_map(read_first_rows(votes))
    percent = write(tmp_path, table(["label", *names], labels, *np.rint(100 * shares).astype(int).T), "p.csv")
    assert column_map(read_first_rows(percent)).kind == "percentages", "although rounding shows in the sums"
    scores = write(tmp_path, table(["label", *names], labels, *rng.normal(3, 1, size=(20, 100)).clip(0)), "s.csv")
    assert column_map(read_first_rows(scores)).kind == "logits"


@pytest.mark.parametrize("whole", [1, 100])
def test_confidence_in_whichever_label_was_predicted_is_not_the_probability_of_one(tmp_path, whole):
    said, sure = ["well", "sick", "sick", "well"], whole * np.array([0.9, 0.75, 0.5, 0.6])
    path = write(tmp_path, table(["label", "predicted", "confidence"], ["well", "sick", "well", "well"], said, sure))
    first_rows = read_first_rows(path)
    assert first_rows.guess == ColumnMap("label", ("sick", "well"), ("predicted",), "labels")
    with pytest.raises(Problem, match="confidence is never below one half, whichever class predicted says"):
        column_map(first_rows, truth="label", columns=[("well", "confidence")])
    high = read_first_rows(write(tmp_path, table(["label", "pred"], said, sure / whole), "high.csv"))
    assert high.guess.kind == "probabilities", "a column is not its own label"
    alone = read_first_rows(write(tmp_path, table(["label", "score"], said, sure / whole), "alone.csv"))
    assert column_map(alone, columns=[("well", "score")]).columns == ("score",), "nothing says that it is not"


@pytest.mark.parametrize(
    ("form", "separator"), [("{}", ","), ("{} %", ","), ("{}%", ";"), ("{},0 %", ";"), ("{},0", ";")]
)
def test_percentages_are_read_as_such(tmp_path, form, separator):
    cells = [[form.format(cell) for cell in row] for row in PERCENT]
    lines = [["label", "cat", "dog", "bird"], *([name, *row] for name, row in zip(TRUTH, cells, strict=True))]
    path = write(tmp_path, "".join(separator.join(line) + "\n" for line in lines))
    first_rows = read_first_rows(path)
    assert first_rows.guess.kind != "logits"
    stated = column_map(first_rows, truth="label", columns=[(name, name) for name in ("cat", "dog", "bird")])
    for columns in (first_rows.guess, stated):
        read = read_predictions(path, columns=columns)
        np.testing.assert_allclose(read.predictions.y_proba, np.array(PERCENT) / 100, atol=1e-15)
    with pytest.raises(Problem, match=r"(probabilities|percentages) already, which add up to 1"):
        column_map(first_rows, logits=True)


def test_one_column_in_per_cent_is_read_as_such(tmp_path):
    path = write(tmp_path, table(["target", "p_sick"], ["well", "sick"] * 2, ["10 %", "80%", "2.5e1 %", " 90 % "]))
    read = read_predictions(path, columns=read_first_rows(path).guess)
    np.testing.assert_allclose(read.predictions.y_proba[:, 1], [0.1, 0.8, 0.25, 0.9])


def test_a_name_of_thousands_of_words_takes_no_more_than_its_length(tmp_path):
    heads = [" ".join(["p 1"] * 3_000 + [name]) for name in ("a", "b")]
    path = write(tmp_path, table(["label", *heads], ["cat", "dog", "cat"], [0.9, 0.2, 0.5], [3, -1, 0.5]))
    read_first_rows(path)  # imports what it needs, which takes memory too
    tracemalloc.start()
    try:
        assert read_first_rows(path).guess.truth == "label"
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_usual_names_are_known_before_any_row_is_read(tmp_path):
    usual = tmp_path / "usual.csv"
    usual.write_bytes(b"y_true, proba_a,proba_b\na,0.5,0.5\n\xff,,\n")
    assert has_usual_columns(usual)
    with pytest.raises(Problem, match="Line 3 is not UTF-8"):
        read_first_rows(usual)
    for names in ("y_true,y_pred", "label,proba_a,proba_b", "y_true,proba_a"):
        assert not has_usual_columns(write(tmp_path, f"{names}\n"))


def test_a_file_without_names_of_columns_is_known(tmp_path):
    path = write(tmp_path, table(["cat", "0.25", "0.75"], TRUTH[3:], [0.5, 0.25, 0.4], [0.5, 0.75, 0.6]))
    assert read_first_rows(path).fault.startswith("The names of the columns seem to be values")


@pytest.mark.parametrize("written", [str, lambda row: str(np.array(row)), lambda row: str({"a": row[0], "b": row[1]})])
def test_a_column_of_lists_is_told_from_one_of_scores(tmp_path, written):
    rows, said = [[0.25, 0.75], [0.5, 0.5], [0.6, 0.4]], "“probs” holds several numbers in a cell"
    path = write(tmp_path, table(["label", "probs"], ["a", "b", "a"], [f'"{written(row)}"' for row in rows]))
    assert read_first_rows(path).fault.startswith(said)
    pl.DataFrame({"label": ["a", "b", "a"], "probs": rows}).write_parquet(tmp_path / "lists.parquet")
    assert read_first_rows(tmp_path / "lists.parquet").fault.startswith(said)
    pl.DataFrame({"label": ["a", "b"], "image": [b"1 2", b"3 4"]}).write_parquet(tmp_path / "images.parquet")
    assert not read_first_rows(tmp_path / "images.parquet").fault


def test_a_column_with_an_enormous_cell_is_not_taken_for_the_truth(tmp_path):
    path = tmp_path / "open quote.csv"
    path.write_text(f"y_true,proba_a,proba_b\n{'a' * 2_000},0.5,0.5\nb,0.4,0.6\n", encoding="utf-8")
    assert read_first_rows(path).guess is None, "labels of fixed length would take as much for every row"


def test_exchanged_columns_are_pointed_out(tmp_path):
    scores = np.tile(SCORES, (60, 1))
    path = write(tmp_path, table(["label", "a", "b", "c"], TRUTH * 60, *scores.T))
    right = ColumnMap("label", ("cat", "dog", "bird"), ("a", "b", "c"), "logits")
    assert not create_study(tmp_path / "right", [path], columns=right).notes
    wrong = ColumnMap("label", ("cat", "dog", "bird"), ("b", "a", "c"), "logits")
    (note,) = create_study(tmp_path / "wrong", [path], columns=wrong).notes
    assert "right in 50 % of the cases; with the columns of “cat”, “dog” exchanged, in 83 %." in note


@pytest.mark.parametrize(("right", "notes"), [(12, 0), (3, 1)])
def test_a_weak_model_is_not_taken_for_one_with_exchanged_columns(tmp_path, right, notes):
    said = [(0.9, 0.1) if (at % 2 == 0) == (at < right) else (0.1, 0.9) for at in range(30)]
    path = write(tmp_path, table(["y_true", "proba_a", "proba_b"], [*"ab"] * 15, *zip(*said, strict=True)))
    assert len(create_study(tmp_path / "study", [path]).notes) == notes


def test_probabilities_are_told_from_raw_scores(tmp_path):
    proba = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
    path = write(tmp_path, table(["truth", "cat", "dog", "bird"], TRUTH, *proba.T))
    guess = read_first_rows(path).guess
    assert (guess.kind, guess.classes) == ("probabilities", ("cat", "dog", "bird"))


def test_probabilities_are_not_taken_for_raw_scores(tmp_path):
    path = write(tmp_path, table(["truth", "cat", "dog"], ["cat", "dog", "cat"], [0.9, 0.2, 0.5], [0.1, 0.8, 0.5]))
    with pytest.raises(Problem, match="are probabilities already"):
        column_map(read_first_rows(path), logits=True)


def test_one_column_for_two_classes_is_that_of_the_second(tmp_path):
    path = write(tmp_path, table(["target", "p_sick"], ["well", "sick", "well", "sick"], [0.1, 0.8, 0.4, 0.9]))
    stated = column_map(read_first_rows(path), columns=[("sick", "p_sick")])
    assert stated == read_first_rows(path).guess == ColumnMap("target", ("well", "sick"), ("p_sick",))
    np.testing.assert_allclose(read_predictions(path, columns=stated).predictions.y_proba[:, 1], [0.1, 0.8, 0.4, 0.9])


@pytest.mark.parametrize("labels", [("false", "true"), ("0", "1")])
@pytest.mark.parametrize("stated", ["True", "true", "1", "1.0"])
def test_the_class_of_one_column_may_be_spelt_in_another_way(tmp_path, labels, stated):
    path = write(tmp_path, table(["label", "p"], [labels[1], labels[0], labels[0]], [0.9, 0.1, 0.2]))
    columns = column_map(read_first_rows(path), truth="label", columns=[(stated, "p")])
    read = read_predictions(path, columns=columns)
    assert read.classes == labels
    assert read.predictions.y_true.tolist() == [1, 0, 0]
    np.testing.assert_allclose(read.predictions.y_proba[:, 1], [0.9, 0.1, 0.2])


def test_a_class_that_the_file_does_not_hold_is_told(tmp_path):
    path = write(tmp_path, table(["label", "p"], ["true", "false"], [0.9, 0.1]))
    with pytest.raises(Problem, match=r"“label” holds no label “yes” .it holds “false”, “true”"):
        column_map(read_first_rows(path), truth="label", columns=[("yes", "p")])


def test_labels_only_can_be_judged_beside_models(tmp_path, logits):
    said = ["cat", "cat", "bird", "dog", "dog", "bird"]
    reader = write(tmp_path, table(["y_true", "y_pred"], TRUTH, said), "reader.csv")
    meant = read_first_rows(reader).guess
    assert (meant.kind, meant.columns) == ("labels", ("y_pred",))
    study = create_study(tmp_path / "s", [logits, reader], columns=[read_first_rows(logits).guess, meant])
    decided = study.models[1].y_proba.argmax(axis=1)
    assert [study.classes[at] for at in decided] == said
    assert any("reader.csv holds decided labels" in note for note in study.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("label,cat,dog\ncat,1,x\ndog,0,2\n", "Row 1: dog is “x”, not a number"),
        ("label,cat,dog\ncat,1,0.5\ndog,,2\n", "Row 2: cat is empty"),
        ("label,cat,dog\ncat,1,0.5\n,1,2\n", "Row 2: label is empty"),
        ("label,cat,dog\ncat,1,0.5\ndog,inf,2\n", "Row 2: cat is NaN, not a finite number"),
        ("label,cat,dog\ncat,1,-inf\ndog,-inf,-inf\n", "Row 2: cat is NaN, not a finite number"),
        ("label,cat,dog\ncat,1,0.5\ncow,1,2\n", "no column: “cow” .every true class needs a column"),
    ],
)
def test_what_is_wrong_in_a_row_is_told_with_its_number(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(Problem, match=said):
        read_predictions(path, columns=ColumnMap("label", ("cat", "dog"), ("cat", "dog"), "logits"))


def test_a_reader_who_always_says_the_same_can_be_judged(tmp_path):
    path = write(tmp_path, table(["y_true", "Dr. A"], ["a", "b"], ["a", "a"]))
    assert column_map(read_first_rows(path), predicted="Dr. A") == ColumnMap("y_true", ("a", "b"), ("Dr. A",), "labels")
    with pytest.raises(Problem, match=r"the columns are “y_true”, “Dr\. A”\)"):
        column_map(read_first_rows(path), truth="nothing")


def test_an_unknown_predicted_label_is_told(tmp_path):
    path = write(tmp_path, table(["t", "p"], ["a", "b"], ["a", "c"]))
    with pytest.raises(Problem, match="Row 2: the predicted label “c”"):
        read_predictions(path, columns=ColumnMap("t", ("a", "b"), ("p",), "labels"))


@pytest.mark.parametrize(
    "columns",
    [
        ColumnMap("label", ("bird", "cat", "dog"), ("cat", "dog"), "logits"),
        ColumnMap("label", ("cat", "dog"), ("score_cat", "score_cat")),
        ColumnMap("label", ("cat", "cat"), ("score_cat", "Score dog")),
        ColumnMap("nothing", ("cat", "dog"), ("score_cat", "Score dog")),
    ],
)
def test_a_map_that_cannot_be_is_refused(logits, columns):
    with pytest.raises(Problem):
        read_predictions(logits, columns=columns)


def test_what_the_columns_meant_is_remembered_and_used_for_further_models(tmp_path, logits):
    study = create_study(tmp_path / "s", [logits], columns=read_first_rows(logits).guess)
    second = write(tmp_path, logits.read_text().replace("2.0", "2.5"), "second.csv")
    again = open_study(tmp_path / "s")
    assert again.columns == read_first_rows(logits).guess == study.columns
    more = change_study(again, add=[second], rename={"odd": "first"})
    assert more.model_names == ("first", "second")
    assert open_study(tmp_path / "s").model_names == ("first", "second")
    assert more.earlier == (study.digest,)
    assert study.digest in open_study(tmp_path / "s").digests
    back = change_study(more, remove=["second"])
    assert (back.digest, back.earlier) == (study.digest, (more.digest,))
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == ["odd.parquet", "study.json"]
    for wrong in ({"remove": ["first"]}, {"rename": {"x": "y"}}, {"add": [second], "rename": {"first": "second"}}):
        with pytest.raises(Problem):
            change_study(open_study(tmp_path / "s"), **wrong)
    assert json.loads((tmp_path / "s" / "study.json").read_text())["columns"]["kind"] == "logits"


def test_the_command_that_says_the_same(logits):
    guess = read_first_rows(logits).guess
    assert as_options(guess) == "--truth label --columns 'cat=score_cat,dog=Score dog,bird=bird logit' --logits"


@pytest.mark.parametrize("labels", [("1", "0"), ("True", "False"), ("TRUE", "FALSE")])
def test_predicted_labels_may_spell_true_and_false_in_another_way(tmp_path, labels):
    path = write(tmp_path, table(["y_true", "y_pred"], ["true", "false", "true"], [labels[0], labels[1], labels[1]]))
    for columns in (column_map(read_first_rows(path), predicted="y_pred"), read_first_rows(path).guess):
        read = read_predictions(path, columns=columns)
        assert read.classes == ("false", "true")
        assert read.predictions.y_true.tolist() == [1, 0, 1]
        assert read.predictions.y_proba.tolist() == [[0, 1], [1, 0], [1, 0]]


def test_columns_of_one_label_are_refused_by_name(tmp_path):
    path = write(tmp_path, table(["y_true", "y_pred"], ["cat"] * 3, ["cat"] * 3))
    with pytest.raises(Problem, match="The columns y_true and y_pred hold only the label “cat”"):
        column_map(read_first_rows(path), truth="y_true", predicted="y_pred")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (slice(0, 6), "second.csv has 5 rows, “S” has 6: all files of one study list the same cases"),
        ([0, 1, 3, 2, 4, 5, 6], "The true label of row 2 is “bird” in .*second.csv, “dog” in “S”"),
    ],
)
def test_a_further_model_of_other_cases_is_refused_with_the_first_difference(tmp_path, logits, lines, said):
    study = create_study(tmp_path / "s", [logits], columns=read_first_rows(logits).guess)
    rows = [row.split(",", 1)[1] for row in logits.read_text().splitlines()]  # without what tells the cases
    chosen = rows[lines] if isinstance(lines, slice) else [rows[at] for at in lines]
    second = write(tmp_path, "\n".join(chosen) + "\n", "second.csv")
    with pytest.raises(Problem, match=said):
        change_study(study, add=[second])
