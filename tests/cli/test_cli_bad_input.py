"""Whatever cannot be used ends in one sentence and exit code 1, wrong usage in 2; never a traceback."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from metrics import ElicitedMetric

HEAD = "y_true,proba_a,proba_b\n"
GOOD = HEAD + "a,0.75,0.25\nb,0.5,0.5\n"


@pytest.fixture
def desk(tmp_path):
    costs = np.array([[0, 1], [0.2, 0]])
    ElicitedMetric.from_cost_matrix(["a", "b"], costs).save(tmp_path / "ok.metric.json")
    (tmp_path / "good.csv").write_text(GOOD)
    return tmp_path


def refused(done, *expected):
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("elicit: ")
    assert "Traceback" not in done.stderr
    for part in expected:
        assert part in done.stderr


PREDICTIONS = {
    "empty": ("p.csv", b"", "The file is empty"),
    "ragged": ("p.csv", (GOOD + "b,0.5\n").encode(), "Row 3 has 2 fields"),
    "non-numeric": ("p.csv", (GOOD + "b,half,0.5\n").encode(), "Row 3: proba_a is “half”, not a number"),
    "NaN": ("p.csv", (GOOD + "b,nan,0.5\n").encode(), "Row 3: proba_a is NaN"),
    "negative": ("p.csv", (GOOD + "b,-0.5,1.5\n").encode(), "Row 3: proba_a is -0.5, below 0"),
    "sum": ("p.csv", (GOOD + "b,0.5,0.37\n").encode(), "add up to 0.87, not 1"),
    "unknown label": ("p.csv", (GOOD + "c,0.5,0.5\n").encode(), "no column: “c”"),
    "one class": ("p.csv", b"y_true,proba_a\na,1\na,1\n", "only one class"),
    "one row": ("p.csv", (HEAD + "a,1,0\n").encode(), "only one row"),
    "not UTF-8": ("p.csv", (GOOD + "é,1,0\n").encode("latin-1"), "Line 4 is not UTF-8 text"),
    "damaged": ("p.parquet", b"PAR1" + bytes(99), "cut short or damaged"),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_predictions_that_cannot_be_used(elicit, desk, name):
    file, content, expected = PREDICTIONS[name]
    (desk / file).write_bytes(content)
    refused(elicit("score", "ok.metric.json", "good.csv", file, cwd=desk), f"{file} cannot be used: ", expected)


def test_no_study_is_made_of_them(elicit, desk):
    (desk / "p.csv").write_text(GOOD + "b,0.5,0.37\n")
    before = sorted(desk.iterdir())
    refused(elicit("study", "new", "s", "--predictions", "good.csv", "p.csv", cwd=desk), "p.csv cannot be used: ")
    refused(elicit("study", "new", "s", "--predictions", ".", cwd=desk), "is a folder")
    refused(elicit("study", "new", "s", "--predictions", "gone.csv", cwd=desk), "There is no file gone.csv")
    assert sorted(desk.iterdir()) == before


def test_stated_columns_that_no_file_has(elicit, desk):
    stated = ("--columns", "a=p a,b=p b")
    refused(elicit("study", "new", "s", "good.csv", *stated, cwd=desk), "There is no column “p a”, “p b”")


def test_metric_files_that_cannot_be_used(elicit, desk):
    content = (desk / "ok.metric.json").read_text()
    (desk / "cut.metric.json").write_text(content[: len(content) // 2])
    (desk / "newer.metric.json").write_text(json.dumps(json.loads(content) | {"version": 99}))
    refused(elicit("metric", "check", "cut.metric.json", cwd=desk), "cut.metric.json")
    refused(elicit("score", "newer.metric.json", "good.csv", cwd=desk), "newer.metric.json", "99")
    refused(elicit("metric", "show", "gone.metric.json", cwd=desk), "There is no file gone.metric.json")
    refused(elicit("metric", "export", ".", cwd=desk), ". is a folder")


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("gone/x.csv", "there is no folder gone. Make it"),
        (".", "is a folder: name a file in it"),
        ("good.csv/x.csv", "good.csv is a file, not a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_left_as_it_was(elicit, desk, out, expected):
    before = sorted(desk.iterdir())
    refused(elicit("metric", "export", "ok.metric.json", "--format", "csv", "--out", out, cwd=desk), expected)
    assert sorted(desk.iterdir()) == before


@pytest.mark.parametrize(
    "command", [("metric", "pool", "ok.metric.json", "ok.metric.json"), ("simulate", "wine"), ("ask", "good.csv")]
)
def test_a_metric_file_is_not_named_like_a_page(elicit, desk, command):
    done = elicit(*command, "--out", "pooled.PDF", cwd=desk)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a name that ends in .metric.json was expected" in " ".join(done.stderr.replace("│", " ").split())
    assert not (desk / "pooled.PDF").exists()


def test_the_ending_of_a_file_stands_for_the_format_in_any_case(elicit, desk):
    done = elicit("metric", "export", "ok.metric.json", "--out", "COSTS.CSV", cwd=desk)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Wrote COSTS.CSV.\n")
    assert (desk / "COSTS.CSV").read_text().startswith('"true_class"')


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are never bytes there")
def test_an_argument_that_is_not_text_is_wrong_usage(elicit, desk):
    done = elicit("study", "new", "s", "--predictions", "good.csv", "--name", os.fsdecode(b"a\xff"), cwd=desk)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "elicit: 'a\\udcff' is not UTF-8 text: rename the file or type the text again.\n"
    assert not (desk / "s").exists()


def test_letters_that_the_output_cannot_show_and_closed_streams_end_nothing(desk):
    run = f"{sys.executable} -c 'from elicit_app.cli.main import run; run()'"
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "XDG_DATA_HOME": str(desk)}
    for command in (
        "metric show ok.metric.json",
        "study list >&-",
        "score ok.metric.json good.csv >&-",
        "ask wine --simulate random --seed 1 --questions 2 <&-",
    ):
        done = subprocess.run(
            f"{run} {command}", shell=True, capture_output=True, cwd=desk, text=True, env=ascii_only, check=False
        )
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), command


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense"], "No such command"),
        (["--nonsense"], "No such option"),
        (["score"], "Missing argument 'METRIC'"),
        (["score", "ok.metric.json"], "Missing argument 'PREDICTIONS"),
        (["study", "new", "s"], "name at least one predictions file"),
        (
            ["study", "new", "s", "--predictions", "good.csv", "--population", "many"],
            "Invalid value for '--population'",
        ),
        (["study", "new", "s", "--predictions", "good.csv", "--labels", "a\nb"], "must name at least two classes"),
        (["study", "new", "s", "--predictions", "good.csv", "--columns", ""], "must name a column for each class"),
        (["score", "ok.metric.json", "good.csv", "--prevalence", "a=0.5\nb=0.5"], "is not one of the classes"),
        (["score", "ok.metric.json", "good.csv", "--prevalence", ""], "has no number"),
        (["metric", "export", "ok.metric.json", "--format", "excel"], "one of sklearn, weka, mlr3"),
        (["metric", "export", "ok.metric.json", "--out", "x.xls"], "one of sklearn, weka, mlr3"),
    ],
)
def test_wrong_usage_exits_with_two(elicit, desk, arguments, expected):
    done = elicit(*arguments, cwd=desk)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_reader_that_goes_away_is_no_error(desk):
    done = subprocess.run(
        f"{sys.executable} -c 'from elicit_app.cli.main import run; run()' metric show ok.metric.json | head -c 1",
        shell=True,
        capture_output=True,
        cwd=desk,
        text=True,
        check=False,
    )
    assert done.stdout == "#"
    assert done.stderr == ""


def test_files_are_written_whole_for_a_reader_that_goes_away(tmp_path):
    ask = "ask breast-cancer --simulate random --procedure dlpm"
    made = [f"{ask} --seed {number} --out {name}.metric.json" for number, name in enumerate("mn", 1)]
    for arguments in (*made, "metric pool m.metric.json n.metric.json --out p.json"):
        command = f"{sys.executable} -c 'from elicit_app.cli.main import run; run()' {arguments} | true"
        subprocess.run(command, shell=True, capture_output=True, cwd=tmp_path, check=False)
    assert ElicitedMetric.load(tmp_path / "m.metric.json").provenance.questions >= 6
    assert ElicitedMetric.load(tmp_path / "p.json").classes == ("malignant", "benign")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("collect", "breast-cancer", "none.jsonl"),
            "There is no session file none.jsonl: check the name and the folder.",
        ),
        (("change", "breast-cancer", "--remove", "Cell outline"), "has no folder of its own"),
        (("change", "breast-cancer", "--add", "none.csv", "--truth", "y"), "has no folder of its own"),
    ],
)
def test_a_bundled_name_is_a_study_to_every_command(elicit, tmp_path, arguments, says):
    found = elicit("study", *arguments, cwd=tmp_path)
    assert found.returncode == 1
    assert says in found.stderr


def test_a_command_that_is_shown_can_be_typed(elicit, tmp_path):
    (tmp_path / "p.csv").write_text("y_true,proba_a,proba_b\na,0.9,0.1\nb,0.2,0.8\n", encoding="utf-8")
    made = elicit("study", "new", "my study", "p.csv", cwd=tmp_path)
    assert made.stdout.endswith("Next: elicit open 'my study'\n")
