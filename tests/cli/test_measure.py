"""Measures of files: the sources' worked figures, what is refused, and the page that describes them."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from elicit_app.study.class_measures import measures
from elicit_app.study.measuring import COLUMNS, completed_prevalence
from metrics import ElicitedMetric

PAGE = Path(__file__).parents[2] / "docs" / "user" / "measures.md"

# The lecture's figures (B. Marlin, COMPSCI 589, lecture 14): classes a, b, c for 0, 1, 2.
TRUE, PRED, PROBA = (
    "aaabc",
    "ababb",
    [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.5, 0.4]],
)
FILES = {
    "three.csv": "y_true,y_pred,proba_a,proba_b,proba_c\n"
    + "".join(f"{t},{p},{','.join(map(str, row))}\n" for t, p, row in zip(TRUE, PRED, PROBA, strict=True)),
    "costs3.csv": ",a,b,c\na,0,1,4\nb,2,0,1\nc,8,3,0\n",
    "predictions.csv": "y_true,proba_a,proba_b\na,0.9,0.1\na,0.4,0.6\nb,0.2,0.8\nb,0.65,0.35\n",
    "costs.csv": ",a,b\na,0,1\nb,4,0\n",
    "numbers.csv": "y_true,mean,std\n1,1.1,0.5\n2,1.5,0.2\n3,3.5,0.4\n4,6,1\n",
    "densities.csv": "y_true,loc,scale\n0,0,1\n2,1,1\n",
    "intervals.csv": "y_true,lower,upper\n1,0,2\n2,3,4\n",
    "labels.csv": "true_x,true_y,true_z,true_w,pred_x,pred_y,pred_z,pred_w\n"
    "1,0,0,1,1,0,0,0\n0,0,1,0,0,1,1,0\n1,1,0,0,0,0,0,0\n",
    "below.csv": "y_true,mean,std\n1,1,1\n2,2,-1\n",
    "contexts.csv": "y_true,y_pred,context_room\nLA,LA,c\nLB,LC,c\nLC,LA,c\nLA,LB,c\nLB,LB,c\n",
    "readers.csv": "said,Dr. A,Dr. B\nill,ill,well\nwell,well,well\nill,ill,ill\nwell,ill,ill\n",
    "score.csv": "y_true,score\nill,0.9\nwell,0.2\nill,0.6\nwell,0.7\n",
    "usual.csv": "y_true,proba_well,proba_ill\nill,0.1,0.9\nwell,0.8,0.2\nill,0.4,0.6\nwell,0.3,0.7\n",
    "given.csv": "y_true,y_pred\n1,1.1\n2,1.5\n3,3.5\n4,6\n",
    "reference.csv": "y_true,y_pred,context_room\n" + "".join(f"{x},LA,c\n" for x in ["LA", "LA", "LB", "LB", "LC"]),
}


@pytest.fixture
def elicit(run_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    ElicitedMetric.from_cost_matrix(["b", "a"], [[0, 4], [1, 0]]).save(tmp_path / "ab.metric.json")
    return lambda command, code=0: run_line(f"measure {command}", code)


def value_of(printed):
    return json.loads(printed)["files"][0]["value"]


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("error three.csv", 0.4),
        ("balanced-error three.csv", 0.4444444444),
        ("class-weighted-error three.csv --class-weight a=1,b=2,c=5", 0.6),
        ("misclassification-cost three.csv --costs costs3.csv", 0.8),
        ("nll three.csv", 0.6997179455),
        ("class-weighted-nll three.csv --class-weight b=2,c=5", 0.7674578279),
        ("expected-cost three.csv --costs costs3.csv", 1.1),
        ("calibration three.csv --positive c", (2 * 0.1 + 2 * 0.2 + 0.6) / 5),
        ("misclassification-cost predictions.csv --metric ab.metric.json", (1 + 4) / 4 / 4),
        ("true-positive-rate predictions.csv --threshold 0.35", 1),
        ("false-positive-rate predictions.csv --threshold 0.35 --positive b", 0.5),
        ("auc predictions.csv", 0.75),
        ("recall predictions.csv --positive a", 0.5),
        ("error predictions.csv --prevalence b=0", 0.5),
        ("mse numbers.csv", 1.1275),
        ("rmse numbers.csv", 1.06183802908),
        ("mae numbers.csv", 0.775),
        ("r2 numbers.csv", 0.098),
        ("gaussian-nll numbers.csv", 1.59578207699),
        ("coverage numbers.csv", 0.5),
        ("coverage intervals.csv", 0.5),
        ("density-nll densities.csv --distribution laplace", np.log(2) + 0.5),
        ("label-accuracy labels.csv", 8 / 12),
        ("multilabel labels.csv --false-negative-penalty 5", -0.6666666667),
        ("relevance contexts.csv --reference reference.csv", 94.6666666667),
        ("relevance contexts.csv --reference reference.csv --alpha 1 --beta 2", 93.3333333333),
    ],
)
def test_worked_figures_of_the_sources(elicit, command, value):
    assert value_of(elicit(f"{command} --json")) == pytest.approx(value, abs=1e-9)


def test_mpcs_plain_and_by_class_weight(elicit):
    rows = "".join("a,0.99,0.01\n" for _ in range(99)) + "a,0.49,0.51\n"
    Path("binary.csv").write_text(f"y_true,proba_a,proba_b\n{rows}b,0.5,0.5\n")
    plain = value_of(elicit("mpcs binary.csv --metric ab.metric.json --json"))
    weighted = json.loads(elicit("mpcs-by-class-weight binary.csv --metric ab.metric.json --json"))["files"][0]
    stated = json.loads(elicit("mpcs-by-class-weight binary.csv --class-weight a=0.4,b=1.6 --json"))["files"][0]
    assert stated == weighted
    last = -np.log(25 / 49) / 2 - np.log(24 / 49) / 2
    hundred = 100 * 0.007137664678
    assert plain == pytest.approx((hundred + last) / 101, abs=1e-9)
    assert weighted["value"] == pytest.approx((0.4 * hundred + 1.6 * last) / (0.4 * 100 + 1.6), abs=1e-9)


def test_a_row_a_file_details_in_words_and_a_picture(elicit):
    shown = elicit("relevance contexts.csv reference.csv --plot both.png")
    assert [line.split()[0] for line in shown.splitlines()[2:4]] == ["contexts.csv", "reference.csv"]
    assert "alpha only" in shown
    assert Path("both.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize("name", ["accuracy", "auc", "nll", "mpcs", "mae", "multilabel", "density-nll", "coverage"])
def test_every_kind_of_plot(elicit, name):
    files = {"decisions": "predictions.csv", "probabilities": "predictions.csv", "numbers": "numbers.csv"}
    file = {"auc": "three.csv", "density-nll": "densities.csv --distribution norm", "coverage": "intervals.csv"}.get(
        name
    )
    elicit(f"{name} {file or files.get(measures()[name].needs, 'labels.csv')} --plot it.svg")
    assert Path("it.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("what", ["density-nll waits.csv --distribution expon", "coverage numbers.csv --level 0.8"])
def test_a_plot_takes_the_columns_of_its_measure_and_no_more(elicit, what):
    Path("waits.csv").write_text("y_true,scale\n1,2\n0.5,1\n")
    assert elicit(f"{what} --plot it.svg") == elicit(what)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("gaussian-nll intervals.csv", 1, "There is no column mean"),
        ("gaussian-nll below.csv", 1, "below.csv: std, row 2: a standard deviation above 0 was expected"),
        ("relevance three.csv", 1, "There is no column context or context_<feature>"),
        ("multilabel three.csv", 1, "There is no column true_<label>"),
        ("accuracy numbers.csv", 1, "“std”. Say which is which: --truth COLUMN --columns CLASS=COLUMN,..."),
        ("accuracy readers.csv", 1, "it seems to be: --truth said --predicted"),
        ("nll readers.csv --truth said --predicted 'Dr. A'", 1, "The column Dr. A holds labels, not probabilities"),
        ("auc score.csv", 1, "it seems to be: --truth y_true --columns ill=score"),
        ("auc score.csv --truth y_true --columns ill=gone", 1, "There is no column “gone”"),
        ("nll two.csv", 1, "There is no column proba_<class>"),
        ("mse three.csv", 1, "Row 1 has “a” in the column y_true (a number is expected)"),
        ("mse densities.csv", 1, "There is no column mean"),
        ("r2 single.csv", 1, "single.csv: the measure r2 cannot be computed. R^2 score is not well-defined with"),
        ("mse numbers.csv --truth y_true", 2, "--truth: mse is no measure of classes"),
        ("density-nll densities.csv --distribution t", 1, "There is no column df (it is a parameter of t)"),
        (
            "density-nll numbers.csv --distribution norm",
            1,
            "There is no column loc or scale (name the parameters of norm",
        ),
        ("density-nll densities.csv --distribution nothing", 2, "scipy.stats has no distribution 'nothing'"),
        ("accuracy gone.csv", 1, "There is no file gone.csv"),
        ("acuracy three.csv", 2, "did you mean accuracy?"),
        ("accuracy three.csv --alpha 2", 2, "--alpha does not apply to the measure accuracy"),
        ("misclassification-cost three.csv", 2, "state them by --metric or --costs"),
        ("auc three.csv --positive d", 2, "'d' is not one of a, b, c"),
        ("class-weighted-error three.csv --class-weight d=1", 2, "not one of the classes a, b, c"),
        ("error comma.csv --prevalence 'a, b=0.2'", 2, "'a' has no number; write CLASS=NUMBER,... and \"a, b\"=NUMBER"),
        ("error predictions.csv --prevalence a=0.2,b=0.2", 2, "the rates add up to 0.4, not 1"),
        ("accuracy", 2, "a measure and at least one file are needed"),
        ("misclassification-cost three.csv --metric ab.metric.json", 1, "classes that the metric does not know"),
        ("multilabel labels.csv --metric ab.metric.json", 2, "takes a metric that prices labels of items"),
        ("coverage numbers.csv --level 2", 2, "--level: a number in (0, 1) was expected, found 2.0"),
        ("accuracy three.csv --plot it.txt", 2, "ends in .png, .svg or .pdf"),
    ],
)
def test_what_is_refused(elicit, command, code, said):
    Path("two.csv").write_text("y_true,y_pred\nill,well\nwell,well\n")
    Path("single.csv").write_text("y_true,y_pred\n1,2\n")
    Path("comma.csv").write_text('y_true,y_pred\n"a, b",c\nc,c\n')
    assert said in elicit(command, code)


def test_what_a_measure_leaves_out_is_told_once(elicit, run_line):
    Path("odd.csv").write_text("y_true,y_pred\nill,odd\nwell,well\n")
    assert "0.5" in elicit("balanced-error odd.csv --plot odd.svg")
    (told,) = run_line.messages
    assert told.splitlines() == [
        "odd.csv: Never true, so without an error rate, and left out of the mean: odd.",
        "Wrote odd.svg.",
    ]


def test_columns_may_have_other_names_and_one_file_several_models(elicit):
    both = ["--predicted 'Dr. A'", "--predicted 'Dr. B'"]
    for name, right, options in (("Dr. A", 0.75, both[:1]), ("Dr. B", 0.5, both[1:])):
        assert value_of(elicit(f"accuracy readers.csv --truth said {' '.join(options)} --json")) == right, name
    found = json.loads(elicit(f"accuracy readers.csv --truth said {' '.join(both)} --json"))["files"]
    assert [(one["file"], one["model"], one["value"]) for one in found] == [
        ("readers.csv", "Dr. A", 0.75),
        ("readers.csv", "Dr. B", 0.5),
    ]
    table = elicit(f"f1 readers.csv --truth said {' '.join(both)} --positive ill --plot both.svg --force")
    assert re.search(r"readers\.csv, Dr\. A +0\.8\b.*readers\.csv, Dr\. B: positive ill", table, re.DOTALL)
    assert "readers.csv, Dr. B" in Path("both.svg").read_text()
    usual = value_of(elicit("nll usual.csv --json"))
    assert value_of(elicit("nll score.csv --truth y_true --columns ill=score --json")) == pytest.approx(usual)
    assert value_of(elicit("rmse given.csv --json")) == value_of(elicit("rmse numbers.csv --json"))


def test_cells_that_cannot_be_are_named_by_row(elicit):
    Path("bad.csv").write_text("y_true,mean\n1,2\n3,x\n")
    assert "Row 2 has “x” in the column mean" in elicit("mse bad.csv", 1)
    Path("bad.csv").write_text("true_a,pred_a\n1,1\n1,2\n")
    assert "Row 2 has 2 in the column pred_a (0 or 1 is expected)" in elicit("multilabel bad.csv", 1)


COLUMNS_OF = {
    "three.csv": ("accuracy", "nll", "misclassification-cost --costs costs3.csv"),
    "numbers.csv": ("gaussian-nll", "coverage", "mse"),
    "labels.csv": ("multilabel", "label-accuracy"),
    "contexts.csv": ("relevance --reference reference.csv",),
}


@pytest.mark.parametrize("name", COLUMNS_OF)
def test_every_format_holds_the_columns_of_every_measure(elicit, name):
    table = pl.read_csv(name)
    table.write_parquet("same.parquet")
    np.savez("same.npz", **{column: np.array(table[column].to_list()) for column in table.columns})
    Path("same.csv").write_text(Path(name).read_text().replace(",", ";").replace(".", ","), encoding="utf-8-sig")
    for measure in COLUMNS_OF[name]:
        found = json.loads(elicit(f"{measure} {name} same.parquet same.csv same.npz --json"))["files"]
        assert [one["value"] for one in found] == pytest.approx([found[0]["value"]] * 4, abs=1e-12)


def test_labels_that_were_given_may_be_true_and_false(elicit):
    table = pl.read_csv("labels.csv")
    table.select(pl.all().cast(pl.Boolean)).write_parquet("booleans.parquet")
    np.savez("booleans.npz", **{column: table[column].to_numpy() == 1 for column in table.columns})
    lines = Path("labels.csv").read_text().splitlines()
    Path("words.csv").write_text(
        "\n".join([lines[0], *(x.replace("1", "True").replace("0", "FALSE") for x in lines[1:])])
    )
    files = "labels.csv booleans.parquet booleans.npz words.csv"
    found = json.loads(elicit(f"multilabel {files} --false-negative-penalty 5 --json"))["files"]
    assert [one["value"] for one in found] == pytest.approx([-2 / 3] * 4)


def test_costs_may_come_from_a_spreadsheet_with_decimal_commas(elicit):
    Path("costs3.csv").write_text("truth;c;a;b\nc;0;8;3,5\na;4;0;1\nb;1;2;0\n", encoding="utf-8-sig")
    found = json.loads(elicit("misclassification-cost three.csv --costs costs3.csv --json"))["files"][0]
    assert found["details"]["cost_matrix"] == [[0, 1, 4], [2, 0, 1], [8, 3.5, 0]]
    assert found["value"] == pytest.approx((1 + 3.5) / 5)


@pytest.mark.parametrize("measure", ["expected-cost", "misclassification-cost", "mpcs", "class-weighted-nll"])
def test_an_array_file_may_number_the_classes_of_a_metric(elicit, run_line, measure):
    table = pl.read_csv("predictions.csv")
    proba = table["proba_b", "proba_a"].to_numpy()
    np.savez("numbered.npz", y_true=[1, 1, 0, 0], y_proba=proba)
    found = json.loads(elicit(f"{measure} predictions.csv numbered.npz --metric ab.metric.json --json"))["files"]
    assert found[0]["value"] == pytest.approx(found[1]["value"], abs=1e-12)
    assert "numbered.npz: the classes are numbered; 0 for “b”, 1 for “a”." in run_line.messages[-1]


def test_labels_may_number_the_classes_of_a_metric(elicit, run_line):
    Path("named.csv").write_text("y_true,y_pred\nb,a\nb,b\na,a\n")
    Path("numbered.csv").write_text("y_true,y_pred\n0,1\n0,0\n1,1\n")
    found = json.loads(elicit("misclassification-cost named.csv numbered.csv --metric ab.metric.json --json"))["files"]
    assert [one["value"] for one in found] == pytest.approx([1 / 3] * 2)
    assert "numbered.csv: the classes are numbered; 0 for “b”, 1 for “a”." in run_line.messages[-1]
    assert "named.csv" not in run_line.messages[-1]


def test_a_column_that_weighs_cases_is_said_not_to_be_used(elicit, run_line):
    for name in ("predictions.csv", "numbers.csv"):
        head, *rows = Path(name).read_text().splitlines()
        Path("weighed.csv").write_text("\n".join([f"{head},weight", *(f"{row},2" for row in rows)]))
        for measure in ("accuracy", "nll") if name == "predictions.csv" else ("mse",):
            elicit(f"{measure} weighed.csv --json")
            said = "weighed.csv: the column weight is not used; every case counts alike."
            assert run_line.messages[-1].splitlines() == [said]


def test_the_list_names_every_measure_with_its_columns(elicit):
    listed, found = elicit("--list"), json.loads(elicit("--list --json"))
    assert [one["name"] for one in found] == [*measures()]
    for one in measures().values():
        assert f"  {one.name} " in listed
    assert all(columns in listed for columns in COLUMNS.values())


def test_the_page_has_a_section_with_an_example_for_every_measure(elicit):
    sections = re.findall(r"^### `([\w-]+)`\n\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    assert [name for name, _ in sections] == [*measures()]
    for name, text in sections:
        assert "**Formula:**" in text
        assert "**Use it when:**" in text
        example = re.search(rf"`elicit measure ({name} [^`]+)`", text)
        assert example is not None, name
        assert measures()[name].title in elicit(example[1])


def test_classes_that_are_left_out_share_the_rest_as_their_cases_do():
    counts = {"a": 5, "b": 30, "c": 10, "d": 0}
    assert completed_prevalence({"a": 0.4}, counts) == pytest.approx([0.4, 0.45, 0.15, 0])
    assert completed_prevalence({"a": 0.4, "b": 0.3, "c": 0.3}, counts) == pytest.approx([0.4, 0.3, 0.3, 0])


SPELLINGS = [("True", "False"), ("true", "false"), ("TRUE", "FALSE"), ("1", "0")]


@pytest.mark.parametrize(("yes", "no"), SPELLINGS)
@pytest.mark.parametrize(("named", "other"), SPELLINGS)
def test_true_is_one_class_however_the_columns_spell_it(elicit, yes, no, named, other):
    truth, decided, proba = [yes, no, yes, no], [named, other, other, other], [0.8, 0.3, 0.4, 0.1]
    rows = zip(truth, decided, strict=True)
    Path("decided.csv").write_text("\n".join(["y_true,y_pred", *map(",".join, rows)]))
    scored = (f"{label},{1 - p},{p}" for label, p in zip(truth, proba, strict=True))
    Path("scored.csv").write_text("\n".join([f"y_true,proba_{other},proba_{named}", *scored]))
    ElicitedMetric.from_cost_matrix([False, True], [[0, 1], [4, 0]]).save("truth.metric.json")
    for options, value in {
        "accuracy": 0.75,
        "balanced-error": 0.25,
        "misclassification-cost --metric truth.metric.json": 0.25,
    }.items():
        found = json.loads(elicit(f"{options} decided.csv scored.csv --json"))["files"]
        assert [one["value"] for one in found] == [value, value], options
