"""On a Dask cluster: the same figures as here, also when a worker is killed in the middle."""

import os
import pickle
import signal
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from elicit_app.experiments.sweep import read_sweep, run_sweep
from elicit_app.problem import Problem
from elicit_app.study.cluster import parts_of, tally_on_cluster, tally_part
from elicit_app.study.parquet import BATCH_ROWS
from elicit_app.study.reading import open_predictions
from elicit_app.study.scoring import AS_USUAL, ModelRows, Piece, scores_of, tally_models
from metrics import ElicitedMetric

CLASSES = ("a", "b", "c")
COSTS = np.array([[0, 0.2, 1], [0.3, 0, 0.1], [0.05, 0.4, 0]])


@pytest.fixture(scope="module")
def two_workers():
    """A Dask cluster of two processes, which take seconds to start and work on while nothing is asked of them."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture
def metric():
    return ElicitedMetric.from_cost_matrix(CLASSES, COSTS)


def frame(rows, seed=0):
    generator = np.random.default_rng(seed)
    truth, proba = generator.integers(0, 3, rows), generator.dirichlet([0.5, 0.7, 0.9], size=rows)
    columns = {f"proba_{name}": proba[:, j] for j, name in enumerate(CLASSES)}
    return pl.DataFrame({"y_true": np.array(CLASSES)[truth], **columns})


def figures(score):
    found = {name: value for name, value in score.__dict__.items() if name not in ("name", "counts", "judged")}
    return found | {"cost": score.judged.cost_per_population}


@pytest.mark.long
def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path, metric, two_workers):
    whole = frame(4 * BATCH_ROWS + 5)
    whole.write_parquet(tmp_path / "one.parquet")
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(4):
        part = whole[number * BATCH_ROWS : None if number == 3 else (number + 1) * BATCH_ROWS]
        part.write_parquet(folder / f"part-{number}.parquet")
    models = [("one", tmp_path / "one.parquet"), ("many", folder)]
    parts = parts_of(models, BATCH_ROWS)
    assert len(parts) == 5
    victim, done = next(iter(two_workers.workers.values())).pid, []

    def advance(amount):
        done.append(amount)
        if len(done) == 1:
            os.kill(victim, signal.SIGKILL)

    tally = tally_on_cluster(metric, parts, scheduler=two_workers.scheduler_address, advance=advance)
    assert victim not in [worker.pid for worker in two_workers.workers.values()]
    assert sum(done) == 5
    here = tally_models([ModelRows(name, (Piece(tmp_path / "one.parquet"),)) for name, _ in models], metric)
    there, local = (scores_of(one, metric, draws=200) for one in (tally, here))
    for one, other in zip(there.models, local.models, strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
        assert figures(one) == pytest.approx(figures(other), rel=1e-12)
    np.testing.assert_array_equal(there.judgement.drawn.both, local.judgement.drawn.both)


@pytest.mark.long
def test_a_sweep_on_a_cluster_that_loses_a_worker_finds_the_same(tmp_path, two_workers):
    (tmp_path / "sweep.toml").write_text(
        'runs = 3\njudge = false\nstudy = "softmax-3"\nprocedure = "dlpm"\nseed = [5, 6, 7, 8]'
    )
    sweep = read_sweep(tmp_path / "sweep.toml")
    run_sweep(sweep, tmp_path / "here.parquet")
    victim, done = next(iter(two_workers.workers.values())).pid, []

    def advance(amount):
        done.append(amount)
        if len(done) == 2:
            os.kill(victim, signal.SIGKILL)

    address = two_workers.scheduler_address
    run_sweep(sweep, tmp_path / "there.parquet", engine="dask", scheduler=address, advance=advance)
    assert sum(done) == sweep.n_runs
    here, there = (pl.read_parquet(tmp_path / f"{name}.parquet").drop("seconds") for name in ("here", "there"))
    assert_frame_equal(here, there)


def test_parts_cover_every_row_once_and_are_cut_alike(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    frame(1_000).write_parquet(tmp_path / "m.parquet")
    frame(450).write_parquet(folder / "a.parquet")
    frame(550).write_parquet(folder / "b.parquet")
    parts = parts_of([("m", tmp_path / "m.parquet"), ("f", folder)], 300)
    assert [part.first_row for part in parts] == [0, 300, 600, 900]
    first, second = ([model.pieces for model in place] for place in zip(*(part.models for part in parts), strict=True))
    assert [(one.start, one.stop) for (one,) in first] == [(0, 300), (300, 600), (600, 900), (900, None)]
    assert [[(one.path.name, one.start, one.stop) for one in pieces] for pieces in second] == [
        [("a.parquet", 0, 300)],
        [("a.parquet", 300, None), ("b.parquet", 0, 150)],
        [("b.parquet", 150, 450)],
        [("b.parquet", 450, None)],
    ]


def test_files_of_unknown_length_are_one_part_and_other_lengths_are_refused(tmp_path):
    frame(10).write_parquet(tmp_path / "m.parquet")
    frame(10).write_csv(tmp_path / "n.csv")
    frame(11).write_parquet(tmp_path / "o.parquet")
    (part,) = parts_of([("m", tmp_path / "m.parquet"), ("n", tmp_path / "n.csv")], 3)
    assert [[(one.start, one.stop) for one in model.pieces] for model in part.models] == [[(0, None)]] * 2
    with pytest.raises(Problem, match=r"o has 11 rows, m has 10: .* several places belong in one file\.$"):
        parts_of([("m", tmp_path / "m.parquet"), ("o", tmp_path / "o.parquet")])


def test_a_worker_hands_back_what_is_wrong_with_a_file(tmp_path, metric):
    rows = frame(10)
    rows[7, "proba_a"] = 2.0
    rows.write_parquet(tmp_path / "m.parquet")
    (part,) = parts_of([("m", tmp_path / "m.parquet")])
    problem = pickle.loads(pickle.dumps(tally_part(part, metric, None, AS_USUAL)))
    assert isinstance(problem, Problem)
    assert problem.findings[0].what.startswith("Row 8: proba_a is 2, above 1")
    assert problem.findings[0].what in problem.sentence


def test_faults_in_a_part_keep_their_row_numbers(tmp_path):
    rows = frame(1_000)
    rows[700, "proba_a"] = 2.0
    rows.write_parquet(tmp_path / "m.parquet")
    file = open_predictions(tmp_path / "m.parquet")
    with pytest.raises(Problem, match="Row 701: proba_a is 2, above 1"):
        list(replace(file, start=600, stop=900).batches())
    assert sum(len(batch.y_true) for batch in replace(file, start=100, stop=700).batches()) == 600


def test_folders_that_are_no_model(tmp_path):
    with pytest.raises(Problem, match="There are no Parquet files in the folder"):
        parts_of([("m", tmp_path)])
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(Problem, match="is a study folder"):
        parts_of([("m", tmp_path)])


def test_a_scheduler_that_is_not_there(tmp_path, metric, monkeypatch):
    frame(10).write_parquet(tmp_path / "m.parquet")
    monkeypatch.setattr("elicit_app.study.cluster._PATIENCE", "1s")
    with pytest.raises(Problem, match=r"There is no Dask scheduler at tcp://127\.0\.0\.1:9"):
        tally_on_cluster(metric, parts_of([("m", tmp_path / "m.parquet")]), scheduler="tcp://127.0.0.1:9")
