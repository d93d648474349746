"""Prices of several labels, and alpha : beta, elicited from a person: from files of predictions to a score."""

import csv
import json
import re
import shutil

import numpy as np
import pytest

from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.questions import Question
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import procedure_for, setting_of
from elicit_app.registry.entries import as_packed
from elicit_app.session.journal.listing import sessions_folder
from elicit_app.session.packing import save_answers, stated_opinions
from elicit_app.session.pair_words import compare_pair, outcome_words
from elicit_app.session.questions import first_step
from elicit_app.session.result import models_under_prices
from elicit_app.session.sentences import preference
from elicit_app.session.session import Session
from elicit_app.study import open_study
from elicit_app.study.amounts import (
    ItemAmounts,
    ReadAmounts,
    is_of_amounts,
    priced_scores,
    read_amounts,
    study_of_amounts,
)
from elicit_app.study.first_rows import read_first_rows
from elicit_app.study.making import create_amounts_study
from metrics import ElicitedMetric, exchange_rates, penalized_multilabel_score, relevance_score
from metrics.elicited.kinds import multilabel_amounts
from metrics.elicited.metric_parts import UNTRUSTED


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models of 120 items with five labels, and two of 120 suggestions in two contexts."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(1)
    true = rng.random((120, 5)) < 0.3
    for name, shift in (("cautious", -1.0), ("eager", 0.3)):
        predicted = 1.5 * (2 * true - 1) + rng.standard_normal(true.shape) + shift > 0
        header = [*(f"true_{label}" for label in "abcde"), *(f"pred_{label}" for label in "abcde")]
        write(folder / f"{name}.csv", header, np.hstack([true, predicted]).astype(int).tolist())
    actual, rooms = rng.choice(list("xxyz"), 120), rng.choice(["hall", "office"], 120)
    for name, share in (("rules", 0.6), ("tree", 0.3)):
        predicted = np.where(rng.random(120) < share, rng.choice(list("xyz"), 120), "x")
        rows = zip(actual, predicted, rooms, strict=True)
        write(folder / f"{name}.csv", ["y_true", "y_pred", "context_room"], rows)
    return folder


def labels_study(folder):
    read = read_amounts([folder / "cautious.csv", folder / "eager.csv"], ["cautious", "eager"])
    return study_of_amounts(read, title="Moods", noun=("mood", "moods"))


def matrices(first, second, possible=100):
    """Return two outcomes (found, missed, false) as the questions have them."""

    def one(found, missed, false):
        right = np.array([found, possible - missed, possible - false])
        return np.array([[right[0], possible - right[0], 0], [0, right[1], missed], [false, 0, right[2]]])

    return one(*first), one(*second)


def test_amounts_of_items():
    true, predicted = [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]], [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    assert multilabel_amounts(true, predicted).tolist() == [[1, 1, 0], [1, 0, 1], [0, 2, 0]]


def test_of_every_amount_there_is_room_for_more_and_for_less():
    amounts = np.tile([2.0, 1.0, 0.5], (40, 1))  # shown as 60 found, 30 missed, 15 false
    read = ReadAmounts("multilabel", (ItemAmounts("m", amounts),))
    study = study_of_amounts(read, title="Moods", noun=("mood", "moods"), population=10)
    assert study.pack.models[0].usual.sum(axis=1).tolist() == [75, 120, 60]


def test_a_step_between_frequencies_is_the_usual_size_of_those_there_are(tmp_path):
    actual = [*"xxxxxxyyzz"]  # x is usual in .6, y and z in .2 of the cases
    rows = [(true, "z" if at == 6 else true, "hall") for at, true in enumerate(actual)]
    file = write(tmp_path / "m.csv", ["y_true", "y_pred", "context_room"], rows)
    assert read_amounts([file], ["m"]).step == 0.4


def test_where_both_distances_are_always_the_same_there_is_nothing_to_ask(tmp_path):
    def made(name, rows):
        file = write(tmp_path / name, ["y_true", "y_pred", "context_room"], rows)
        return study_of_amounts(read_amounts([file], ["m"]), title="Rooms", noun=("label", "labels"))

    once = [(true, said, f"room {at}") for at, (true, said) in enumerate(zip("xyxyxy", "xxyyxy", strict=True))]
    with pytest.raises(Problem, match="If contexts occur only once"):
        made("once.csv", once)
    with pytest.raises(Problem, match="Nothing was missed, wrong or found"):
        made("right.csv", [(true, true, "hall") for true in "xxyyz"])
    assert made("twice.csv", [*once, ("y", "x", "room 0"), ("x", "x", "room 0")]).pack.models


def test_a_model_that_is_always_right_can_be_compared_and_scored(tmp_path):
    actual = [*"xxyxxz"] * 20
    files = []
    for name, said in (("right", actual), ("other", [*"xzxyxz"] * 20)):
        rows = zip(actual, said, ["hall"] * 120, strict=True)
        files.append(write(tmp_path / f"{name}.csv", ["y_true", "y_pred", "context_room"], rows))
    study = study_of_amounts(read_amounts(files, ["right", "other"]), title="Rooms", noun=("label", "labels"))
    setting = as_packed(study, setting_of("bayes", family="dlpm"))
    assert isinstance(first_step(procedure_for(study, setting), []).question, Question)
    metric = ElicitedMetric.from_weights(["unusual", "off"], [0.5, 0.5], "dlpm", kind="relevance")
    right, alone = (
        priced_scores(metric, each, [f"{n}" for n in range(len(each))], draws=0, seed=0) for each in (files, files[:1])
    )
    assert right[0].score == alone[0].score == 100.0


def test_a_study_of_amounts_counts_what_the_models_do(folder):
    study = labels_study(folder)
    read = read_amounts([folder / "cautious.csv", folder / "eager.csv"], ["cautious", "eager"])
    assert study.pack is not None
    assert study.wording.priced == "multilabel"
    for model, items in zip(study.pack.models, read.models, strict=True):
        usual = model.usual
        shown = np.array([usual[0, 0], usual[1].sum() - usual[1, 1], usual[2].sum() - usual[2, 2]])
        expected = items.amounts.mean(axis=0)
        np.testing.assert_allclose(shown / shown[0], expected / expected[0], atol=0.03)
        assert (model.decided.sum(axis=2) == usual.sum(axis=1)).all()


def test_an_outcome_in_words_and_which_side_is_better():
    left, right = matrices((12, 3, 4), (20, 10, 4))
    words = labels_words()
    assert outcome_words(left, right, words) == (
        "A finds 12 of 15 moods and adds 4 wrong ones; B finds 20 of 30 and adds 4."
    )
    told = compare_pair(left, right, words, 300, "dlpm")
    assert told.strip.sentence == "B: 8 more moods found, 7 more missed moods than A"
    assert told.fold_sentence == "The same in A and B: 4 false moods"
    said = preference(left, right, "left", words, "dlpm")
    assert said.sentence == "you preferred 7 fewer missed moods"
    assert said.rather_than == "8 more moods found"


def labels_words():
    from elicit_app.study.amounts import ReadAmounts, _words

    return _words(ReadAmounts("multilabel", ()), ("mood", "moods"))


def test_what_is_found_is_never_moved_and_values_follow_the_prices(folder):
    study = labels_study(folder)
    setting = as_packed(study, setting_of("bayes", questions=3, seed=2)).model_copy(update={"answers": "equal"})
    step = first_step(procedure_for(study, setting), ())
    question: Question = step.question
    assert question.proposal is not None
    assert question.proposal.true in (1, 2)


@pytest.mark.parametrize(
    ("prices", "best", "other"), [((0.05, 0.9, 0.05), "eager", "cautious"), ((0.05, 0.05, 0.9), "cautious", "eager")]
)
def test_the_result_says_which_model_does_better_under_the_prices(folder, prices, best, other):
    weights = np.array(prices)
    outcome = Outcome("dlpm", weights, (None,) * 3, "budget", 12, samples=np.stack([weights, weights, weights[::-1]]))
    (note,) = models_under_prices(labels_study(folder), outcome)
    assert note.startswith(f"Under these prices {best} does better than {other} on the counted moods: probability ")
    assert "given the answers alone" in note
    assert "scoring the models' predictions with the metric file shows how certain this is" in note
    assert models_under_prices(open_study("wine"), outcome) == ()
    left_open = "Which model does better is left open, because the answers do not hang together."
    assert models_under_prices(labels_study(folder), outcome, UNTRUSTED) == (left_open,)
    assert models_under_prices(labels_study(folder), outcome, "they rest on 3 answers only") == (note,)


def test_only_bayes_asks_about_amounts(folder):
    study = labels_study(folder)
    with pytest.raises(WrongOption, match="leave it at bayes"):
        procedure_for(study, as_packed(study, setting_of("bayes")).model_copy(update={"procedure": "dlpm"}))


@pytest.fixture
def elicit(run_line, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return lambda line, code=0: run_line(line.format(folder=folder), code)


def test_from_files_of_labels_to_a_score(elicit, folder, tmp_path):
    made = elicit("study new moods --predictions {folder}/cautious.csv {folder}/eager.csv --noun mood,moods")
    assert "several labels, 120 items, 2 models" in made
    assert open_study(tmp_path / "moods").name == "moods"
    elicit("ask moods --simulate 1,4,0.5 --seed 3 --questions 9 --session s.session.jsonl --out m.metric.json")
    metric = ElicitedMetric.load(tmp_path / "m.metric.json")
    assert (metric.kind, metric.classes) == ("multilabel", ("found", "missed", "false"))
    false_positive, false_negative = metric.penalties()
    assert 2 < false_negative < 8
    assert 0.2 < false_positive < 1.2
    printed = json.loads(elicit("score m.metric.json {folder}/cautious.csv {folder}/eager.csv --json"))
    bits = np.loadtxt(folder / "eager.csv", delimiter=",", skiprows=1)
    eager = metric.multilabel_score(bits[:, :5], bits[:, 5:])
    assert printed["models"][1]["score"] == pytest.approx(float(eager))
    assert sum(one["probability_best"] for one in printed["models"]) == pytest.approx(1)
    assert {one["rank"] for one in printed["models"]} == {1, 2}
    measured = json.loads(elicit("measure multilabel {folder}/eager.csv --metric m.metric.json --json"))
    assert measured["files"][0]["value"] == pytest.approx(float(eager))
    plain = penalized_multilabel_score(
        bits[:, :5],
        bits[:, 5:],
        false_positive_penalty=false_positive,
        false_negative_penalty=false_negative,
        true_negative_reward=0,
    )
    assert eager == pytest.approx(float(plain))
    elicit("session report s.session.jsonl --study moods --out s.md")
    assert not re.search("cost|mistake|class", (tmp_path / "s.md").read_text(), re.IGNORECASE), "not about amounts"
    page = elicit("metric show m.metric.json")
    said = {rate.mistake.true: rate.ratio for rate in exchange_rates(metric)}
    assert (false_positive, false_negative) == pytest.approx((said["false"], said["missed"])), "the table and the score"
    assert "In the multi-label score" in page
    assert "Cost matrix" not in page
    assert "| Amount | counts as |" in page
    said = elicit("metric export m.metric.json --format weka", 1)
    assert "m.metric.json prices labels of items, and weka takes costs of classes." in said
    assert "use `elicit measure multilabel --metric`" in said
    assert "--draws, --seed and --json only" in elicit(
        "score m.metric.json {folder}/eager.csv --prevalence found=0.5", 2
    )
    said = elicit("score m.metric.json moods", 1)
    assert said.endswith("moods keeps sums, no items: name the predictions files, one for each model.")
    assert "about outcomes in contexts, the metric prices several labels" in elicit(
        "score m.metric.json {folder}/rules.csv", 1
    )
    (tmp_path / "classes.csv").write_text("y_true,y_pred\na,b\nb,b\n")
    assert "classes.csv is neither about several labels" in elicit("score m.metric.json classes.csv", 1)
    exported = elicit("metric export m.metric.json {folder}/eager.csv --format html", 2)
    assert "elicit score compares its models" in " ".join(exported.split())
    assert "prices labels of items" in elicit("measure misclassification-cost classes.csv --metric m.metric.json", 2)


def test_experts_elsewhere_set_prices_in_two_rounds(elicit, folder, tmp_path):
    elicit("study new moods --predictions {folder}/cautious.csv {folder}/eager.csv --noun mood,moods")
    ordered = '--never-worse "false<=missed" --family lpm --purpose choose'
    assert "answered without --family lpm, --purpose choose." in elicit(f"study pack moods ordered.elicit {ordered}")
    elicit("study pack moods sent.elicit")
    for number, name in enumerate(("Ada", "Ben")):
        sent = open_study(tmp_path / "sent.elicit")
        assert sent.answered_elsewhere
        with Session.create(
            sent, as_packed(sent, setting_of("bayes", seed=number)), tmp_path / f"{name}.jsonl", expert=name
        ) as session:
            while session.asking() is not None:
                session.answer("left" if number else "right")
            session.finish()
            assert "Filed" in elicit(f"study collect moods {save_answers(session, tmp_path / name).name}")
    moods = open_study(tmp_path / "moods")
    assert (moods.kind, sessions_folder(moods)) == ("folder", tmp_path / "moods" / "sessions")
    assert not moods.answered_elsewhere
    elicit("study report moods --out r.md")
    page = (tmp_path / "r.md").read_text()
    assert not re.search("cost|mistake|class", page, re.IGNORECASE), "words that are not about amounts"
    elicit("study pack moods again.elicit --round 2")
    stands = stated_opinions(open_study(tmp_path / "again.elicit"))
    assert {one.mistake for one in stands} == {"Missed moods", "False moods"}
    assert "holds only counts" in elicit("study change moods --rename eager=keen", 1)


def test_the_file_of_a_study_of_prices_is_itself_a_study_to_answer(elicit, folder, tmp_path):
    elicit("study new moods --predictions {folder}/cautious.csv {folder}/eager.csv --noun mood,moods")
    sent = open_study(shutil.copy(tmp_path / "moods" / "study.elicit", tmp_path / "sent.elicit"))
    setting = as_packed(sent, setting_of("bayes", questions=6, seed=2))
    with Session.create(sent, setting, tmp_path / "ada.session.jsonl", expert="Ada") as session:
        for _ in range(6):
            session.answer("left")
    assert "Filed 6 answers from Ada." in elicit("study collect moods ada.session.jsonl")
    assert "Already filed: 6 answers from Ada" in elicit("study collect moods ada.session.jsonl")


def test_from_suggestions_to_alpha_and_beta(elicit, folder, tmp_path):
    elicit("study new lights --predictions {folder}/rules.csv {folder}/tree.csv")
    shown = elicit("simulate lights --weights 2,1 --questions 8 --seed 1 --out m.metric.json --json")
    assert json.loads(shown)["study"] == "lights"
    metric = ElicitedMetric.load(tmp_path / "m.metric.json")
    share = metric.alpha_share()
    assert 1.2 < share / (1 - share) < 3.4
    with (folder / "rules.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = [[row[name] for row in rows] for name in ("y_true", "y_pred", "context_room")]
    printed = json.loads(elicit("score m.metric.json {folder}/rules.csv --json --draws 50"))
    expected = relevance_score(*columns, alpha=share, beta=1 - share)
    assert printed["models"][0]["score"] == pytest.approx(float(expected))
    measured = json.loads(elicit("measure relevance {folder}/rules.csv --metric m.metric.json --json"))
    assert measured["files"][0]["value"] == pytest.approx(float(expected))


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("study new d --predictions {folder}/cautious.csv {folder}/rules.csv", 1, "all be about several labels"),
        ("study new d --predictions {folder}/cautious.csv --noun mood", 2, "two words with a comma"),
        ("study new d --predictions {folder}/cautious.csv --labels a,b", 2, "does not apply to several labels"),
        ("study new d --predictions {folder}/cautious.csv --purpose choose", 2, "does not apply to several labels"),
        ("study new d --predictions {folder}/rules.csv --population 600000", 1, "At most 500,000 of each amount"),
        ("study new d --predictions {folder}/rules.csv --truth y_true", 2, "name their columns themselves"),
        ("ask {folder}/rules.csv", 1, "make a study of it first"),
        ("study radius {folder}/cautious.csv", 1, "make a study of it first"),
        ("measure multilabel {folder}/cautious.csv --metric none.metric.json", 1, "none.metric.json"),
    ],
)
def test_what_is_refused(elicit, command, code, said):
    assert said in elicit(command, code)


def test_items_of_different_number_are_refused(folder, tmp_path):
    lines = (folder / "eager.csv").read_text().splitlines()
    (tmp_path / "short.csv").write_text("\n".join(lines[:-3]))
    with pytest.raises(Problem, match="has 117 rows"):
        read_amounts([folder / "cautious.csv", tmp_path / "short.csv"], ["a", "b"])


def rows_of(path):
    head, *rows = path.read_text().splitlines()
    return head, rows


def test_classes_written_as_a_column_each_are_pointed_out(folder, tmp_path):
    true = np.eye(3, dtype=int)[np.arange(30) % 3]
    header = [*(f"true_{label}" for label in "abc"), *(f"pred_{label}" for label in "abc")]
    path = write(tmp_path / "one.csv", header, np.hstack([true, np.roll(true, 1, axis=1)]).tolist())
    said = "Every item in one.csv has exactly one label. If none can have two, write it into a column y_true: then"
    assert create_amounts_study(tmp_path / "one", [path]).notes[0].startswith(said)
    assert create_amounts_study(tmp_path / "several", [folder / "eager.csv"]).notes == ()


@pytest.mark.parametrize("name", ["eager.csv", "rules.csv"])
def test_models_of_other_items_are_not_compared(folder, tmp_path, name):
    head, rows = rows_of(folder / name)
    other = tmp_path / "other.csv"
    other.write_text("\n".join([head, *rows[::-1]]))
    with pytest.raises(Problem, match=r"differ in what is true of row \d+: .* same items in the same order"):
        read_amounts([folder / name, other], ["a", "b"])
    other.write_text("\n".join([head, *rows]))
    assert len(read_amounts([folder / name, other], ["a", "b"]).models) == 2


@pytest.mark.parametrize("given", ["{}_pred", "{}_proba"])
def test_a_file_may_name_labels_first_and_say_yes_and_no(folder, tmp_path, given):
    rows = [[["no", "yes"][int(cell)] for cell in line.split(",")] for line in rows_of(folder / "eager.csv")[1]]
    if given == "{}_proba":
        rows = [[*row[:5], *({"no": 0.2, "yes": 0.5}[cell] for cell in row[5:])] for row in rows]
    header = [f"{label}_true" for label in "abcde"] + [given.format(label) for label in "abcde"]
    merged = write(tmp_path / "merged.csv", header, rows)
    found, usual = (read_amounts([file], ["one"]) for file in (merged, folder / "eager.csv"))
    assert found.kind == "multilabel"
    np.testing.assert_array_equal(found.models[0].amounts, usual.models[0].amounts)


def test_outcomes_that_are_called_like_labels_are_none(tmp_path):
    rows = [cell.split() for cell in ("cat cat f f", "dog cat m m", "cat cat f m", "dog dog m m")]
    path = write(tmp_path / "two.csv", ["species_true", "species_pred", "sex_true", "sex_pred"], rows)
    assert not is_of_amounts(path)
    assert read_first_rows(path).guess.columns == ("species_pred",)


def test_models_of_other_labels_are_not_compared_and_those_of_the_same_in_another_order_are(folder, tmp_path):
    head, rows = rows_of(folder / "eager.csv")
    order = range(len(head.split(",")))[::-1]
    turned = [",".join(line.split(",")[j] for j in order) for line in (head, *rows)]
    label = next(name for name in head.split(",") if name.startswith("true_")).removeprefix("true_")
    other = tmp_path / "other.csv"
    other.write_text("\n".join(turned))
    one, same = (model.amounts for model in read_amounts([folder / "eager.csv", other], ["a", "b"]).models)
    assert (one == same).all()
    other.write_text("\n".join([head.replace(f"_{label}", "_bored"), *rows]))
    with pytest.raises(Problem, match=r"“true_bored”.* are about the same items"):
        read_amounts([folder / "eager.csv", other], ["a", "b"])


def test_kinds_of_metrics_are_told_apart():
    metric = ElicitedMetric.from_weights(("found", "missed", "false"), [2, 6, 1], "dlpm", kind="multilabel")
    again = ElicitedMetric.from_json(metric.to_json())
    assert again.kind == "multilabel"
    assert again.penalties() == pytest.approx((0.5, 3.0))
    with pytest.raises(ValueError, match="prices labels of items; use multilabel_score"):
        again.score(["found"], ["missed"])
    with pytest.raises(ValueError, match="prices labels of items"):
        again.alpha_share()
    with pytest.raises(ValueError, match="'relevance' has 2 prices in the family dlpm, not 3 classes"):
        ElicitedMetric.from_weights(("a", "b", "c"), [1, 1, 1], "dlpm", kind="relevance")
    plain = ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [2, 0]])
    assert '"kind"' not in plain.to_json()
    with pytest.raises(ValueError, match="prices mistakes between classes; use score"):
        plain.penalties()


def test_pooled_prices_stay_prices(elicit, tmp_path):
    for name, weights in (("ada", [2, 6, 1]), ("bob", [2, 24, 4])):
        metric = ElicitedMetric.from_weights(
            ("found", "missed", "false"), weights, "dlpm", kind="multilabel", name=name
        )
        metric.save(tmp_path / f"{name}.metric.json")
    elicit("metric pool ada.metric.json bob.metric.json --out both.metric.json")
    pooled = ElicitedMetric.load(tmp_path / "both.metric.json")
    assert pooled.kind == "multilabel"
    assert pooled.penalties() == pytest.approx((1.0, 6.0))
    classes = ElicitedMetric.from_weights(("found", "missed", "false"), [1, 1, 1], "dlpm")
    classes.save(tmp_path / "other.metric.json")
    assert "only metrics of the same kind" in elicit("metric pool ada.metric.json other.metric.json --out x.json", 1)
