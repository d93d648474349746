"""Files with random damage are read or refused in words, never anything else."""

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_app.problem import Problem
from elicit_app.study import read_predictions

CLASSES = np.array(["a", "b", "c"])
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(["change", "delete", "insert"]),
        st.binary(min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    generator = np.random.default_rng(0)
    truth, proba = generator.integers(0, 3, 30), generator.dirichlet(np.ones(3), size=30)
    frame = pl.DataFrame({"y_true": CLASSES[truth], **{f"proba_{name}": proba[:, j] for j, name in enumerate(CLASSES)}})
    frame.write_csv(folder / "p.csv")
    np.savez(folder / "p.npz", y_true=truth, y_proba=proba)
    frame.write_parquet(folder / "p.parquet")
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ending=st.sampled_from([".csv", ".npz", ".parquet"]), edits=EDITS)
def test_random_damage_is_read_or_refused(tmp_path, sound, ending, edits):
    content = bytearray(sound[ending])
    for place, kind, added in edits:
        at = int(place * len(content))
        content[at : at if kind == "insert" else at + len(added)] = b"" if kind == "delete" else added
    path = tmp_path / f"p{ending}"
    path.write_bytes(content)
    told = ""
    try:
        read = read_predictions(path)
    except Problem as problem:
        told = problem.sentence
    if told:
        assert path.name in told
        assert "\n" not in told
    else:
        assert np.isfinite(read.predictions.y_proba).all()
        assert read.predictions.y_proba.sum(axis=1) == pytest.approx(1, abs=2e-3)
        assert len(read.predictions.y_true) == len(read.predictions.y_proba)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ending=st.sampled_from([".csv", ".npz", ".parquet"]), content=st.binary(max_size=200))
def test_random_bytes_are_refused(tmp_path, ending, content):
    path = tmp_path / f"p{ending}"
    path.write_bytes(content)
    with pytest.raises(Problem):
        read_predictions(path)
