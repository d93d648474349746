"""Scoring on a Dask cluster: the same figures as here, also when a worker is killed in the middle."""

import os
import pickle
import signal
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from elicit_app.problem import Problem
from elicit_app.study.cluster import parts_of, tally_on_cluster, tally_part
from elicit_app.study.reading import open_predictions
from elicit_app.study.scoring import ranked, tally_file
from elicit_app.study.tables import BATCH_ROWS
from metrics import ElicitedMetric

CLASSES = ("a", "b", "c")
COSTS = np.array([[0, 0.2, 1], [0.3, 0, 0.1], [0.05, 0.4, 0]])


@pytest.fixture
def metric():
    return ElicitedMetric.from_cost_matrix(CLASSES, COSTS)


def frame(rows, seed=0):
    generator = np.random.default_rng(seed)
    truth, proba = generator.integers(0, 3, rows), generator.dirichlet([0.5, 0.7, 0.9], size=rows)
    columns = {f"proba_{name}": proba[:, j] for j, name in enumerate(CLASSES)}
    return pl.DataFrame({"y_true": np.array(CLASSES)[truth], **columns})


def figures(score):
    return {name: value for name, value in score.__dict__.items() if name not in ("name", "counts")}


@pytest.mark.long
def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path, metric):
    from distributed import LocalCluster

    whole = frame(12 * BATCH_ROWS + 5)
    whole.write_parquet(tmp_path / "one.parquet")
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(4):
        part = whole[number * 3 * BATCH_ROWS : None if number == 3 else (number + 1) * 3 * BATCH_ROWS]
        part.write_parquet(folder / f"part-{number}.parquet")
    parts = parts_of([tmp_path / "one.parquet", folder], BATCH_ROWS)
    assert len(parts) == 26
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victim = cluster.workers[0].pid
        done = []

        def advance(amount):
            done.append(amount)
            if len(done) == 1:
                os.kill(victim, signal.SIGKILL)

        tallies = tally_on_cluster(metric, parts, scheduler=cluster.scheduler_address, advance=advance)
        assert cluster.workers[0].pid != victim
    assert sum(done) == 26
    local = tally_file(open_predictions(tmp_path / "one.parquet"), metric)
    one, many, here = ranked(metric, [("one", tallies[0]), ("many", tallies[1]), ("here", local)])
    np.testing.assert_array_equal(one.counts, here.counts)
    assert figures(one) == pytest.approx(figures(many))
    assert figures(one) == pytest.approx(figures(here))


def test_parts_cover_every_row_once(tmp_path):
    frame(1_000).write_parquet(tmp_path / "m.parquet")
    frame(10).write_csv(tmp_path / "n.csv")
    parts = parts_of([tmp_path / "m.parquet", tmp_path / "n.csv"], 300)
    assert [(part.model, part.start, part.stop, part.before) for part in parts] == [
        (0, 0, 300, 0),
        (0, 300, 600, 300),
        (0, 600, 900, 600),
        (0, 900, None, 900),
        (1, 0, None, 0),
    ]


def test_a_worker_hands_back_what_is_wrong_with_a_file(tmp_path, metric):
    rows = frame(10)
    rows[7, "proba_a"] = 2.0
    rows.write_parquet(tmp_path / "m.parquet")
    (part,) = parts_of([tmp_path / "m.parquet"])
    problem = pickle.loads(pickle.dumps(tally_part(part, metric)))
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
        parts_of([tmp_path])
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(Problem, match="is a study folder"):
        parts_of([tmp_path])


def test_a_scheduler_that_is_not_there(tmp_path, metric, monkeypatch):
    frame(10).write_parquet(tmp_path / "m.parquet")
    monkeypatch.setattr("elicit_app.study.cluster._PATIENCE", "1s")
    with pytest.raises(Problem, match=r"There is no Dask scheduler at tcp://127\.0\.0\.1:9"):
        tally_on_cluster(metric, parts_of([tmp_path / "m.parquet"]), scheduler="tcp://127.0.0.1:9")
