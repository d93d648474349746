"""Sweeps: every combination once, the same rows whatever the engine, taken up again after a kill."""

import json
import subprocess
import sys
import time

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

from elicit_app.cli.main import app
from elicit_app.experiments.sweep import CombinationSummary, Runs, plot_summaries, read_sweep, run_sweep, summarise
from elicit_app.problem import Problem

SMALL = """
runs = 3
seed = 5
judge = false
study = "softmax-3"
procedure = "dlpm"
noise = ["none", "flip:0.1"]
epsilon = [0.05, 0.1]
"""


@pytest.fixture
def specification(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(SMALL)
    return path


def table(path):
    return pl.read_parquet(path).drop("seconds")


def test_every_combination_once_with_all_settings_and_versions(specification, tmp_path):
    sweep = read_sweep(specification)
    rows = run_sweep(sweep, tmp_path / "runs.parquet")
    found = pl.read_parquet(tmp_path / "runs.parquet")
    assert found.height == len(rows) == sweep.n_runs == 12
    assert found.select("noise", "epsilon", "run").n_unique() == 12
    assert {"version", "numpy", "scipy", "study_digest", "votes", "ask", "cycles", "seed"} - set(found.columns) == {
        "cycles"
    }
    assert found["agreement"].is_null().all()
    assert not (tmp_path / "runs.parquet.unfinished").exists()


def test_a_row_is_what_a_single_command_finds(specification, tmp_path):
    sweep = read_sweep(specification)
    run_sweep(sweep, tmp_path / "runs.parquet")
    alone = sweep.combinations[3].laboratory().run(2)
    assert table(tmp_path / "runs.parquet")["elicited_weights"][-1].to_list() == list(alone.elicited_weights)


def test_what_is_done_is_not_done_again(specification, tmp_path):
    sweep, out = read_sweep(specification), tmp_path / "runs.parquet"
    run_sweep(sweep, tmp_path / "whole.parquet")
    runs = Runs(sweep, out)
    one, numbers = runs.missing()[1]
    marked = [{**row, "seconds": -1.0} for row in rows_of(sweep, tmp_path / "whole.parquet", 1)][: len(numbers) - 1]
    runs.add(one, marked)
    with runs.path.open("a") as file:
        file.write('{"combination": "cut sho')
    told = []
    run_sweep(sweep, out, advance=told.append)
    assert told[0] == len(marked)
    assert sum(told) == sweep.n_runs
    assert pl.read_parquet(out)["seconds"].to_list().count(-1.0) == len(marked)
    assert_frame_equal(table(out), table(tmp_path / "whole.parquet"))


def rows_of(sweep, path, place):
    rows = pl.read_parquet(path).filter(pl.col("combination") == place).drop("combination")
    return rows.to_dicts()


@pytest.mark.long
def test_a_killed_sweep_goes_on_in_two_processes_and_loses_none(tmp_path):
    specification, out = tmp_path / "sweep.toml", tmp_path / "runs.parquet"
    specification.write_text(SMALL.replace("runs = 3", "runs = 40"))
    command = [sys.executable, "-c", "from elicit_app.cli.main import run; run()"]
    arguments = ["sweep", str(specification), "--out", str(out), "--jobs", "1"]
    first = subprocess.Popen([*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    unfinished = out.with_name("runs.parquet.unfinished")
    while not (unfinished.exists() and unfinished.stat().st_size):
        assert first.poll() is None
        time.sleep(0.01)
    first.kill()
    first.wait()
    kept = [json.loads(line) for line in unfinished.read_text().splitlines(keepends=True) if line.endswith("\n")]
    arguments[-1] = "2"
    subprocess.run([*command, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = pl.read_parquet(out)
    assert found.height == 160
    run_sweep(read_sweep(specification), tmp_path / "whole.parquet")
    assert_frame_equal(table(out), table(tmp_path / "whole.parquet"))
    seconds = found.select("combination", "run", "seconds").rows()
    kept_seconds = {(entry["row"]["run"], entry["row"]["seconds"]) for entry in kept}
    assert kept_seconds <= {(number, spent) for _, number, spent in seconds}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("study = ", "is not valid TOML"),
        ("runs = 3", "names no study"),
        ('study = "wine"\nruns = 0', "runs is 0; a whole number of at least 1"),
        ('study = "wine"\njudge = 1', "judge is 1; true or false"),
        ('study = "wine"\nprocedure = "nope"', "There is no procedure nope"),
        ('study = "wine"\nepsilom = 0.1', "The procedure bayes has no option epsilom"),
        ('study = "wine"\nnoise = "loud"', "noise loud: none, weights:S"),
        ('study = "wine"\nseed = [1, 1]', "states one combination twice"),
        ('study = "wine"\nseed = []', "seed must be a value or a list"),
        ('study = "wine"\nvotes = "three"', "votes: it must be a whole number, not 'three'"),
        ('study = "wine"\nvotes = 2.5', "votes: it must be a whole number, not 2.5"),
        ('study = "wine"\nnoise = 0.1', "noise: it must be a text, not 0.1"),
        ('study = "wine"\ntruth = "dominated"', "truth: it must be 'iid' or 'structured', not 'dominated'"),
        ('study = "wine"\nstrength = "yes"', "strength: it must be true or false, not 'yes'"),
        ('study = "wine"\nstop = 3', "stop: it must be true or false, not 3"),
        ('study = "wine"\nchecks = 1', "checks: it must be true or false, not 1"),
        ('study = "wine"\nquestions = true', "questions: it must be a whole number, not true"),
        ('study = "wine"\nweights = 3', "weights: it must be a list, not 3"),
        ('study = "wine"\ndenominator = "x"', "denominator: it must be a list, not 'x'"),
        ('study = "wine"\nnever_worse = [[3]]', "never worse: it must be a text"),
        ('study = "wine"\n[sweep]\nseed = 1', r"headed \[\[sweep\]\]"),
    ],
)
def test_a_wrong_specification_is_told_in_words(tmp_path, text, sentence):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(Problem, match=sentence):
        read_sweep(path)


def test_a_missing_folder_is_noticed_before_anything_runs(specification, tmp_path):
    done = []
    with pytest.raises(Problem, match="there is no folder"):
        run_sweep(read_sweep(specification), tmp_path / "none" / "runs.parquet", advance=done.append)
    assert not done


def test_a_table_is_named_as_what_it_is(specification, tmp_path):
    refused = CliRunner().invoke(app, ["sweep", str(specification), "--out", str(tmp_path / "runs.csv")])
    assert refused.exit_code == 2
    assert ".parquet" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == [specification.name]


def test_other_runs_are_neither_mixed_in_nor_replaced(specification, tmp_path):
    out = tmp_path / "runs.parquet"
    run_sweep(read_sweep(specification), out)
    refused = CliRunner().invoke(app, ["sweep", str(specification), "--out", str(out)])
    assert "exists already" in str(refused.exception)
    runs = Runs(read_sweep(specification), tmp_path / "other.parquet")
    runs.add(*next((one, rows_of(runs.sweep, out, 0)) for one, _ in runs.missing()))
    specification.write_text(SMALL.replace("seed = 5", "seed = 6"))
    with pytest.raises(Problem, match="another specification"):
        run_sweep(read_sweep(specification), tmp_path / "other.parquet")


def test_what_was_found_is_told_by_what_varies(specification, tmp_path):
    sweep = read_sweep(specification)
    found = summarise(sweep, run_sweep(sweep, tmp_path / "runs.parquet"))
    assert [one.label for one in found][:2] == ["noise none, epsilon 0.05", "noise none, epsilon 0.1"]
    errors = pl.read_parquet(tmp_path / "runs.parquet").filter(pl.col("combination") == 0)["error_l2"]
    assert found[0].means["error_l2"] == pytest.approx(errors.mean())
    assert found[0].errors["error_l2"] == pytest.approx(errors.std() / 3**0.5)
    (panel,) = plot_summaries(found).axes
    assert len(panel.containers) == 4


def test_searches_that_are_one_point_each_look_different():
    found = [
        CombinationSummary(name, name, 1, {"questions": 20.0, "error_l2": 0.1}, {"questions": 0.0, "error_l2": 0.01})
        for name in "abcdefgh"
    ]
    (panel,) = plot_summaries(found).axes
    points = [container.lines[0] for container in panel.containers]
    assert len({(point.get_color(), point.get_marker()) for point in points}) == len(found)
