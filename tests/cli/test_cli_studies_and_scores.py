"""What the commands for studies, metric files and scores print."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from elicit_app.cli.main import run
from elicit_app.problem import Problem
from elicit_app.session.result import scenarios_of
from elicit_app.study import list_studies, open_study
from elicit_app.study.folder import write_folder
from elicit_app.study.measuring import read_class_table, read_practice
from elicit_app.study.opening import datasets_folder
from elicit_app.study.reading import yardstick_for
from metrics import ElicitedMetric, judge, meta_pattern_concern_score
from metrics.text import concern, total_cost


@pytest.fixture
def elicit(capsys, monkeypatch, tmp_path):
    """Run a command in this process; returns its standard output, keeps what went to standard error in `messages`."""
    monkeypatch.chdir(tmp_path)

    messages = []

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["elicit", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        captured = capsys.readouterr()
        assert (ended.value.code or 0) == 0, captured.err
        messages.append(captured.err)
        return captured.out

    call.messages = messages
    return call


@pytest.fixture
def wine_metric(tmp_path):
    costs = np.array([[0, 0.5, 1], [0.1, 0, 0.2], [0.05, 0.3, 0]])
    draws = -np.random.default_rng(1).dirichlet(np.ones(6), size=50)
    path = tmp_path / "wine.metric.json"
    ElicitedMetric.from_cost_matrix(
        open_study("wine").classes, costs, name="Wine", samples=draws, population=10_000
    ).save(path)
    return path


def wine_files():
    return sorted((datasets_folder() / "wine").glob("*.parquet"))


def test_version_and_help(elicit):
    assert elicit("--version").startswith("elicit ")
    shown = elicit("--help")
    for command in ("demo", "open", "ask", "study", "simulate", "score", "metric", "screenshots"):
        assert f"\n  {command} " in shown


def test_study_list_as_table_and_as_json(elicit):
    to_answer, to_simulate = elicit("study", "list").split("For simulations:")
    listed = json.loads(elicit("study", "list", "--json"))
    assert [entry["name"] for entry in listed] == [summary.name for summary in list_studies()]
    for entry in listed:
        part = to_answer if entry["kind"] == "bundled" else to_simulate
        assert entry["description"] in part.partition(f"  {entry['name']} ")[2].split("\n")[0]


def test_a_study_is_made_from_files_after_one_option(elicit, tmp_path):
    first, second = wine_files()
    shown = elicit(
        *("study", "new", "cellar", "--predictions", first, second),
        *("--name", "The cellar", "--labels", "Barbera,Barolo,Grignolino", "--population", "500"),
    )
    assert "The cellar" in shown
    study = open_study(tmp_path / "cellar")
    assert (study.title, study.population) == ("The cellar", 500)
    assert study.classes == ("Barbera", "Barolo", "Grignolino")
    assert [model.name for model in study.models] == [first.stem, second.stem]
    assert elicit("study", "new", "again", "--predictions", first, "--predictions", second)
    assert len(open_study(tmp_path / "again").models) == 2


def test_a_study_may_state_how_common_the_classes_will_be(elicit, tmp_path):
    new = ("study", "new", "s", "--predictions", *wine_files(), "--prevalence", "Barolo=0.5 %,Barbera=0.199")
    elicit(*new)
    study, plain = open_study(tmp_path / "s"), open_study("wine")
    assert dict(zip(study.classes, study.prevalence, strict=True)) == pytest.approx(
        {"Barolo": 0.005, "Barbera": 0.199, "Grignolino": 0.796}
    )
    assert (study.population, study.digest) == (10_000, plain.digest)
    assert study.yardstick == yardstick_for(study)
    said = "is 40 % Barolo, 36 % Grignolino and 24 % Barbera; results are shown for 1,000 cases."
    assert said in elicit("study", "change", "s", "--prevalence", "Barolo=0.4")


def test_a_study_folder_stands_for_its_models(elicit, wine_metric, tmp_path):
    write_folder(tmp_path / "wine", open_study("wine"))
    found = json.loads(elicit("score", wine_metric, tmp_path / "wine", "--json", "--draws", "0"))
    assert [model["name"] for model in found["models"]] == list(open_study("wine").model_names)
    plain = json.loads(elicit("score", wine_metric, *wine_files(), "--json", "--draws", "0"))
    costs = [[model["cost_per_population"] for model in one["models"]] for one in (found, plain)]
    assert costs[0] == costs[1]


def test_scores_as_json_have_exactly_the_stated_fields(elicit, wine_metric):
    printed = json.loads(elicit("score", wine_metric, *wine_files(), "--json"))
    metric, study = ElicitedMetric.load(wine_metric), open_study("wine")
    assert {"metric", "models", "unit", "population", "prevalence", "recommendation", "policies", "information"} <= set(
        printed
    )
    assert printed["metric"] == "Wine"
    unit = metric.cost_matrix[metric.cost_matrix > 0].min()
    assert [model["name"] for model in printed["models"]] == [path.stem for path in wine_files()]
    for model, predictions in zip(printed["models"], study.models, strict=True):
        assert list(model) == [
            *("name", "cost_per_population", "misclassification_cost", "expected_misclassification_cost"),
            *("decided_cost", "mpcs", "accuracy", "balanced_error_rate", "rank", "probability_best", "mpcs_unweighted"),
        ]
        truth = np.array(study.classes)[predictions.y_true]
        decided = np.array(study.classes)[predictions.y_proba.argmax(axis=1)]
        assert model["misclassification_cost"] == pytest.approx(metric.score(truth, decided), abs=1e-12)
        assert model["cost_per_population"] == pytest.approx(10_000 * metric.score(truth, decided) / unit, rel=1e-9)
        expected = metric.expected_score(truth, predictions.y_proba)
        assert model["expected_misclassification_cost"] == pytest.approx(expected, abs=1e-12)
        assert model["decided_cost"] == pytest.approx(
            metric.score(truth, metric.decide(predictions.y_proba)), abs=1e-12
        )
        assert model["mpcs"] == pytest.approx(metric.meta_pattern_concern_score(truth, predictions.y_proba), abs=1e-12)
        plain = metric.meta_pattern_concern_score(truth, predictions.y_proba, by_class=False)
        assert model["mpcs_unweighted"] == pytest.approx(plain, abs=1e-12)
        assert plain != pytest.approx(model["mpcs"], rel=1e-3)
    assert min(model["rank"] for model in printed["models"]) == 1
    assert sum(model["probability_best"] for model in printed["models"]) == pytest.approx(1)


def test_mpcs_as_its_options_say(elicit, wine_metric):
    options = ("--top-k", "2", "--intervals", "200", "--true-concern", "count", "--release", "list")
    printed = json.loads(elicit("score", wine_metric, *wine_files(), *options, "--json"))
    metric, study = ElicitedMetric.load(wine_metric), open_study("wine")
    how = {"top_k": 2, "n_intervals": 200, "true_concern": "count", "release_factors": metric.release_factors("list")}
    assert len(np.unique(how["release_factors"])) == 2
    for model, predictions in zip(printed["models"], study.models, strict=True):
        expected = meta_pattern_concern_score(predictions.y_true, predictions.y_proba, **how)
        assert model["mpcs_unweighted"] == pytest.approx(expected, abs=1e-12)


def test_the_table_of_scores_lists_the_cheapest_first(elicit, wine_metric):
    printed = json.loads(elicit("score", wine_metric, *wine_files(), "--json"))
    table = elicit("score", wine_metric, *wine_files())
    lines = table.splitlines()
    assert lines[1] == printed["recommendation"]
    assert "Per 10,000 cases; costs in cases of Barbera called Barolo:" in lines
    costs = [policy["cost_per_population"] for policy in printed["policies"]]
    first = next(number for number, line in enumerate(lines) if line.lstrip().startswith("Rank"))
    shown = [line.split("  ")[1:] for line in lines[first + 1 : first + 1 + len(costs)]]
    for cost, cells in zip(costs, shown, strict=True):
        assert f"{cost:,.0f}" in [cell.strip() for cell in cells]
    for model in printed["models"]:
        assert concern(model["mpcs"]) in table


@pytest.fixture
def breast_metric(tmp_path):
    draws = np.array([-19.0, -1.0]) * np.exp(0.1 * np.random.default_rng(1).standard_normal((500, 2)))
    path = tmp_path / "breast.metric.json"
    ElicitedMetric.from_cost_matrix(
        ["malignant", "benign"],
        [[0, 19], [1, 0]],
        name="Breast",
        samples=draws,
        yardstick=("benign", "malignant"),
        population=1_000,
    ).save(path)
    return path


def breast_files():
    return sorted((datasets_folder() / "breast-cancer").glob("*.parquet"))


def test_policies_as_json_are_those_of_the_judge(elicit, breast_metric):
    printed = json.loads(elicit("score", breast_metric, *breast_files(), "--json", "--draws", 500, "--seed", 3))
    metric, study = ElicitedMetric.load(breast_metric), open_study("breast-cancer")
    models = {path.stem: next(m.y_proba for m in study.models if names_meet(m.name, path)) for path in breast_files()}
    judged = judge(metric, np.array(study.classes)[study.models[0].y_true], models, draws=500, seed=3)
    assert printed["unit"] == "benign called malignant"
    assert (printed["population"], printed["draws"], printed["cases"]) == (1_000, 500, 569)
    assert printed["prevalence"] == pytest.approx({"malignant": 212 / 569, "benign": 357 / 569})
    assert printed["recommendation"] == "Call it malignant where cell-outline says 5 % or more."
    assert [policy["name"] for policy in printed["policies"]] == [one.name for one in judged.policies]
    for policy, one in zip(printed["policies"], judged.policies, strict=True):
        for field in ("cost_per_population", "difference_to_best", "rank", "probability_best"):
            assert policy[field] == pytest.approx(getattr(one, field))
        for field in ("interval", "interval_answers", "interval_cases", "difference_interval"):
            assert policy[field] == pytest.approx(getattr(one, field))
    by_name = {policy["name"]: policy for policy in printed["policies"]}
    everybody = by_name["always malignant"]
    assert (everybody["model"], everybody["decides"], everybody["class"]) == (None, "always", "malignant")
    assert round(everybody["cost_per_population"]) == 627
    cut = by_name["cell-outline, with these costs"]
    assert (cut["model"], cut["decides"], cut["class"]) == ("cell-outline", "least-cost", None)
    assert cut["threshold"]["value"] == pytest.approx(0.05)
    assert cut["threshold"]["low"] < 0.05 < cut["threshold"]["high"]
    assert set(printed["information"]) >= {"expected_loss", "of_values", "of_cases"}


def names_meet(name, path):
    return name.lower().replace(" ", "-") == path.stem


def test_the_window_and_score_judge_alike(elicit, tmp_path):
    """The same file and the same predictions: the same costs, ranks, probabilities, unit and order."""
    for study, files in (("breast-cancer", breast_files()), ("wine", wine_files())):
        opened = open_study(study)
        k = opened.n_classes
        rng = np.random.default_rng(2)
        weights = -np.exp(rng.normal(0, 1, k * k - k))
        metric = ElicitedMetric.from_weights(
            opened.classes,
            weights,
            "lpm",
            samples=weights * np.exp(rng.normal(0, 0.4, (400, k * k - k))),
            prevalence=np.bincount(opened.models[0].y_true) / len(opened.models[0].y_true),
            population=opened.population,
            yardstick=tuple(opened.classes[i] for i in opened.yardstick),
        )
        path = tmp_path / f"{study}.metric.json"
        metric.save(path)
        ordered = [next(path for path in files if names_meet(model.name, path)) for model in opened.models]
        printed = json.loads(elicit("score", path, *ordered, "--json"))
        shown = scenarios_of(opened, ElicitedMetric.load(path)).judgement()
        assert [(p["decides"], p["class"], p["rank"]) for p in printed["policies"]] == [
            (
                one.policy.decides,
                None if one.policy.predicted is None else opened.classes[one.policy.predicted],
                one.rank,
            )
            for one in shown.policies
        ]
        for policy, one in zip(printed["policies"], shown.policies, strict=True):
            assert policy["cost_per_population"] == pytest.approx(one.cost_per_population)
            assert policy["probability_best"] == one.probability_best
            assert policy["difference_interval"] == pytest.approx(one.difference_interval)


def test_a_prevalence_can_be_stated(elicit, breast_metric):
    printed = json.loads(elicit("score", breast_metric, *breast_files(), "--prevalence", "malignant=0.1", "--json"))
    assert printed["prevalence"] == pytest.approx({"malignant": 0.1, "benign": 0.9})
    files = (*breast_files(), "--draws", 0, "--json")
    percent = json.loads(elicit("score", breast_metric, *files, "--prevalence", "malignant=10 %"))
    assert percent["prevalence"] == pytest.approx({"malignant": 0.1, "benign": 0.9})
    costs = {policy["name"]: policy["cost_per_population"] for policy in printed["policies"]}
    assert costs["always malignant"] == pytest.approx(900)
    assert costs["always benign"] == pytest.approx(1_900)


def test_classes_with_commas_stand_in_quotation_marks(elicit, tmp_path):
    names = ['a, "b"', "c"]
    (tmp_path / "p.csv").write_text('y_true,"proba_a, ""b""",proba_c\n"a, ""b""",0.8,0.2\nc,0.1,0.9\nc,0.6,0.4\n')
    ElicitedMetric.from_cost_matrix(names, [[0, 1], [0.5, 0]]).save(tmp_path / "m.metric.json")
    (tmp_path / "practice.csv").write_text(';"a, ""b""";c\n"a, ""b""";0,75;0,25\nc;0;1\n')
    line = ("score", "m.metric.json", "p.csv", "--practice", "practice.csv", "--json", "--draws", "0", "--prevalence")
    printed = json.loads(elicit(*line, 'c=0.9, "a, ""b"""=0.1'))
    assert printed["prevalence"] == {'a, "b"': 0.1, "c": 0.9}
    practice = next(policy for policy in printed["policies"] if policy["decides"] == "practice")
    assert practice["cost_per_population"] == pytest.approx(50)


def test_present_practice_is_read_from_a_file(elicit, breast_metric, tmp_path):
    path = tmp_path / "today.csv"
    path.write_text(",benign,malignant\nbenign,307,50\nmalignant,24,188\n")
    shown = elicit("score", breast_metric, *breast_files(), "--practice", path)
    assert "than in present practice." in shown
    printed = json.loads(elicit("score", breast_metric, *breast_files(), "--practice", path, "--json"))
    practice = next(policy for policy in printed["policies"] if policy["decides"] == "practice")
    assert practice["cost_per_population"] == pytest.approx(1_000 / 569 * (19 * 24 + 50))


CORRECTED = "Size-and-Texture, corrected, with these costs"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--prevalence", "cancer=0.1"), 2, "'cancer' is not one of the classes malignant, benign"),
        (("--prevalence", "malignant=0.1,benign=0.1"), 2, "the rates add up to 0.2, not 1"),
        (("--prevalence", "malignant"), 2, "'malignant' has no number; write CLASS=NUMBER,..."),
        (("--prevalence", "malignant=x"), 2, "'x' is not a number"),
        (("--prevalence", "malignant=%"), 2, "'%' is not a number"),
        (("--prevalence", "malignant=0.5,malignant=0.6"), 2, "'malignant' is named twice"),
        (("--prevalence", "malignant=1.5"), 2, "1.5 must lie between 0 and 1"),
        (("--top-k", "3"), 2, "the metric has 2 classes"),
        (("--fail-if-worse-than", "nothing"), 2, "'nothing' is not one of the policies"),
        (("--fail-if-worse-than", "always malignant"), 0, ""),
        (("--fail-if-worse-than", CORRECTED), 3, "cell-outline, corrected, with these costs, costs"),
        (("--fail-if-worse-than", "size-and-texture least-cost"), 0, ""),
        # the same model under another name costs as little as itself
        (("--fail-if-worse-than", "twin"), 0, ""),
    ],
)
def test_options_of_score_that_end_otherwise(breast_metric, capsys, monkeypatch, tmp_path, options, code, message):
    files = breast_files()[-1:] if options[-1] == "nothing" else breast_files()
    if "twin" in options:
        twin = tmp_path / "twin.parquet"
        shutil.copy(files[-1], twin)
        files = [files[-1], twin]
    if {CORRECTED, "twin"} & set(options):
        # cheaper than all that the other model can do where cancers are rare
        options = (*options, "--prevalence", "malignant=0.02")
    monkeypatch.setattr(sys, "argv", ["elicit", "score", str(breast_metric), *map(str, files), *options])
    with pytest.raises(SystemExit) as ended:
        run()
    told = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert (ended.value.code or 0) == code, told
    assert message in told


def test_a_report_on_files_takes_what_score_takes(elicit, breast_metric, tmp_path):
    (tmp_path / "today.csv").write_text(",benign,malignant\nbenign,307,50\nmalignant,24,188\n")
    options = ("--prevalence", "malignant=0.1", "--practice", "today.csv")
    named = shutil.copy(breast_metric, tmp_path / "our costs.metric.json")
    report = elicit("metric", "export", named, *breast_files(), "--format", "markdown", *options)
    for one in json.loads(elicit("score", breast_metric, *breast_files(), *options, "--json"))["policies"]:
        assert f"| {total_cost(one['cost_per_population'])} |" in report
    assert "It holds for 10 % " in report
    assert "| Command | elicit score 'our costs.metric.json' PREDICTIONS --draws" in report
    assert "--prevalence malignant=0.1,benign=0.9 --practice PRACTICE" in report
    with pytest.raises(AssertionError, match=r"they\s+require\s+predictions"):
        elicit("metric", "export", breast_metric, *options)


def test_a_short_name_that_several_policies_go_by_is_refused(elicit, breast_metric, tmp_path):
    (tmp_path / "today.csv").write_text(",benign,malignant\nbenign,307,50\nmalignant,24,188\n")
    files = [tmp_path / "always benign.parquet", tmp_path / "practice.parquet"]
    for file in files:
        shutil.copy(breast_files()[0], file)
    score = ("score", breast_metric, *files, "--practice", "today.csv", "--fail-if-worse-than")
    assert elicit(*score, "always benign"), "the policy that is named so in full, not the model"
    assert elicit(*score, "present practice")
    with pytest.raises(AssertionError, match=r"may\s+be\s+several"):
        elicit(*score, "practice")


def test_few_draws_are_told(elicit, breast_metric):
    for draws, told in ((0, False), (1, True), (200, False)):
        shown = elicit("score", breast_metric, *breast_files(), "--draws", str(draws))
        assert ("rough: they rest on 1 draw only." in " ".join(shown.split())) is told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a row and a column for each of malignant, benign was expected"),
        (",benign,other\nbenign,1,2\nmalignant,1,2\n", "a row and a column for each"),
        (",benign,malignant\nbenign,1\nmalignant,1,2\n", "the row of “benign” has 1 number, 2 were expected"),
        (",benign,malignant\nbenign,1,x\nmalignant,1,2\n", "“x” in the row of “benign” is not a number"),
        (",benign,malignant\nbenign,0,0\nmalignant,1,2\n", "the row of 'benign' is empty"),
        (";benign;malignant\nbenign;1.234;56\nmalignant;1;2\n", "“1.234” in the row of “benign” may be thousands"),
        ("\tbenign\tmalignant\nbenign\t9\t1\nmalignant\t1\t12,345\n", "“12,345” in the row of “malignant” may be"),
        (",benign,malignant\nbenign,1,2\nmalignant,1,'1,000'\n", "has 3 numbers, 2 were expected"),
        (',benign,malignant\nbenign,1,2\nmalignant,1,"1,000"\n', "“1,000” in the row of “malignant” is not a number"),
    ],
)
def test_a_table_of_practice_that_is_none(tmp_path, text, message):
    path = tmp_path / "today.csv"
    path.write_text(text)
    with pytest.raises(Problem, match=message):
        read_practice(path, ["malignant", "benign"])


def test_decimals_of_a_table_that_cannot_be_thousands_are_read(tmp_path):
    path = tmp_path / "today.csv"
    for text in (";a;b\na;0,125;0.875\nb;2,50;2.50\n", ",a,b\na,0.125,0.875\nb,2.500,2.500\n"):
        path.write_text(text)
        assert read_class_table(path, ["a", "b"]).tolist() == [[0.125, 0.875], [2.5, 2.5]]


def test_a_spreadsheet_may_spell_true_and_false_in_its_own_way(tmp_path):
    path = tmp_path / "today.csv"
    path.write_text(";FALSE;TRUE\nTRUE;1;2\nFALSE;3;4\n")
    assert read_class_table(path, ["True", "False"]).tolist() == [[2, 1], [4, 3]]


def test_rows_that_were_divided_by_their_sum_are_told(elicit, wine_metric, tmp_path):
    path = tmp_path / "rounded.csv"
    path.write_text(
        "y_true,proba_Barolo,proba_Grignolino,proba_Barbera\nBarolo,0.99,0,0\nBarbera,0,0,1\nGrignolino,0,1,0\n"
    )
    note = "rounded.csv: 1 row was divided by its sum"
    for arguments in (("score", wine_metric, path), ("study", "new", "s", "--predictions", path)):
        elicit(*arguments)
        assert note in elicit.messages[-1]


def test_files_that_number_the_classes_are_scored_like_those_the_study_was_made_of(elicit, tmp_path):
    truth, proba = np.array([0, 1, 2, 0, 1, 2]), np.random.default_rng(2).dirichlet(np.ones(3), size=6)
    np.savez(tmp_path / "p.npz", y_true=truth, y_proba=proba)
    elicit("study", "new", "s", "--predictions", "p.npz", "--labels", "cat,dog,fox")
    costs = np.array([[0, 0.5, 1], [0.1, 0, 0.2], [0.05, 0.3, 0]])
    ElicitedMetric.from_cost_matrix(open_study("s").classes, costs).save(tmp_path / "m.metric.json")
    (model,) = json.loads(elicit("score", "m.metric.json", "p.npz", "--json"))["models"]
    assert model["misclassification_cost"] == pytest.approx(costs[truth, proba.argmax(axis=1)].mean())
    assert elicit.messages[-1] == "p.npz: the classes are numbered; 0 for “cat”, 1 for “dog”, 2 for “fox”.\n"


def test_a_column_that_weighs_cases_is_said_not_to_be_used(elicit, breast_metric, tmp_path):
    rows = "y_true,sample_weight,proba_malignant,proba_benign\nmalignant,5,0.8,0.2\nbenign,1,0.1,0.9\n"
    (tmp_path / "m.csv").write_text(rows)
    said = "m.csv: the column sample_weight is not used; every case counts alike.\n"
    elicit("score", breast_metric, "m.csv")
    assert elicit.messages[-1] == said
    elicit("study", "new", "s", "--predictions", "m.csv")
    assert said in elicit.messages[-1]
    mapped = ("--truth", "y_true", "--columns", "malignant=proba_malignant,benign=proba_benign")
    elicit("study", "new", "t", "--predictions", "m.csv", *mapped)
    assert said in elicit.messages[-1]


def test_names_are_printed_as_they_are(elicit, wine_metric, tmp_path):
    for name in ("[bold]a", "[/]b"):
        (tmp_path / f"{name.replace('/', '')}.parquet").write_bytes(wine_files()[0].read_bytes())
    assert "[bold]a" in elicit("score", wine_metric, tmp_path / "[bold]a.parquet", tmp_path / "[]b.parquet")


def test_metric_files_are_shown_checked_and_exported(elicit, wine_metric, tmp_path):
    assert "Barolo" in elicit("metric", "show", wine_metric)
    said = elicit("metric", "check", wine_metric)
    assert "is in order: 3 classes" in said
    assert "digest" not in said
    document = json.loads(wine_metric.read_text())
    del document["digest"]
    bare = tmp_path / "bare.metric.json"
    bare.write_text(json.dumps(document))
    assert "carries no digest" in elicit("metric", "check", bare)
    for command in (("score", bare, "wine"), ("metric", "show", bare)):
        elicit(*command)
        assert elicit.messages[-1].count("carries no digest") == 1, command
    for name, ending in (("sklearn", "py"), ("weka", "cost"), ("mlr3", "R"), ("csv", "csv"), ("markdown", "md")):
        elicit("metric", "export", wine_metric, "--out", f"m.{ending}")
        assert (tmp_path / f"m.{ending}").read_text() == elicit("metric", "export", wine_metric, "--format", name)
    assert elicit("metric", "export", wine_metric) == (tmp_path / "m.py").read_text()


def test_help_imports_nothing_heavy():
    script = """
import sys
sys.argv = ["elicit", "--help"]
from elicit_app.cli.main import run
try:
    run()
finally:
    print([name for name in ("numpy", "polars", "PySide6", "sklearn", "pydantic") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_interrupt_ends_quietly(tmp_path, wine_metric):
    rows = pl.concat([pl.read_parquet(wine_files()[0])] * 2_000)
    rows.write_parquet(tmp_path / "0.parquet")
    files = [tmp_path / f"{number}.parquet" for number in range(40)]
    for file in files[1:]:
        file.symlink_to(files[0])
    script = "from elicit_app.cli.main import run; run()"
    terminal, inside = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script, "score", wine_metric, *files], stdout=subprocess.PIPE, stderr=inside
    ) as process:
        os.close(inside)
        shown = os.read(terminal, 10_000)  # the bar comes up while it works
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=600)
        finally:
            process.kill()
        assert process.stdout.read() == b""
    while select.select([terminal], [], [], 0)[0]:
        try:
            shown += os.read(terminal, 10_000)
        except OSError:  # nobody holds the other end any more
            break
    os.close(terminal)
    assert process.returncode == 130, shown.decode()
    assert b"Traceback" not in shown


def test_a_file_given_twice_is_told(elicit, breast_metric):
    first, _ = breast_files()
    elicit("score", breast_metric, first, first, "--draws", "0")
    assert f"{first.name} is given 2 times and judged as 2 models." in elicit.messages[-1]
