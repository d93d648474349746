"""Data files: the format of LIBSVM is read, downloads are checked, and what fails is said in words."""

import bz2
import http.server
import pickle
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elicit_app.experiments.reproduce.figure3 import (
    MAIN,
    SENSIT,
    VEHICLE,
    Variant,
    _cases,
    errors_of,
    fetched,
    labelled_cases,
    random_metric,
)
from elicit_app.problem import Problem

SMALL = replace(SENSIT, features=3)
TEXT = "2 1:0.5 3:-1\n1 2:2e-1 # a remark\n\n3 1:1 2:2 3:3\n"


@pytest.fixture
def server(tmp_path):
    """Serve a folder on this machine, over http."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as httpd:
        threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{httpd.server_port}/"
        httpd.shutdown()


def served(server, name: str = "acoustic.bz2") -> tuple[Path, object]:
    folder, url = server
    (folder / name).write_bytes(bz2.compress(TEXT.encode()))
    return folder / name, replace(SMALL, name=name, url=url + name)


def test_sparse_lines_are_read_plain_and_packed(tmp_path):
    for path in (tmp_path / "a.scale", tmp_path / "a.bz2"):
        path.write_bytes(TEXT.encode() if path.suffix == ".scale" else bz2.compress(TEXT.encode()))
        features, labels = labelled_cases(SMALL, path)
        assert features.tolist() == [[0.5, 0, -1], [0, 0.2, 0], [1, 2, 3]]
        assert labels.tolist() == [1, 0, 2]


def test_a_table_with_headings_is_read(tmp_path):
    (tmp_path / "v.csv").write_text("a,b,c,class\n1,2,3,van\n4,5,6,bus\n")
    features, labels = labelled_cases(SMALL, tmp_path / "v.csv")
    assert features.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert labels.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 4:1\n2 1:1\n", "contains 4 features"),
        ("1 2\n", "need more than 1 value"),
        ("1 1:x\n", "could not convert"),
        ("", "found 3 in 0 rows"),
    ],
)
def test_another_file_is_refused_in_words(tmp_path, text, words):
    (tmp_path / "a.scale").write_text(text)
    with pytest.raises(Problem, match=r"does not hold SensIT Vehicle \(acoustic\)") as refused:
        labelled_cases(SMALL, tmp_path / "a.scale")
    assert words in refused.value.sentence


def test_a_file_is_downloaded_once_and_checked_ever_after(server, tmp_path):
    original, source = served(server)
    first = fetched(source, tmp_path / "kept")
    assert len(labelled_cases(source, first)[0]) == 3
    assert len((tmp_path / "kept" / "acoustic.bz2.sha256").read_text().strip()) == 64
    original.unlink()
    assert fetched(source, tmp_path / "kept") == first


def test_a_wrong_checksum_is_said_for_a_file_at_hand_and_for_a_download(server, tmp_path):
    original, source = served(server)
    path = fetched(source, tmp_path / "kept")
    path.write_bytes(b"something else")
    with pytest.raises(Problem, match="SHA-256 differs"):
        fetched(source, tmp_path / "kept")
    path.unlink()
    original.write_bytes(bz2.compress(b"1 1:9\n"))
    with pytest.raises(Problem, match="SHA-256 differs"):
        fetched(source, tmp_path / "kept")
    assert not path.exists()


def test_without_a_connection_it_is_said_what_to_do(server, tmp_path):
    url = server[1]
    with pytest.raises(Problem, match="name its folder as that of the data"):
        fetched(replace(SMALL, url=url + "missing.bz2"), tmp_path / "kept")
    with pytest.raises(Problem, match="there is no connection"):
        fetched(replace(SMALL, url="http://127.0.0.1:9/acoustic.bz2"), tmp_path / "kept")


def test_another_process_reads_the_vehicles_alike(tmp_path):
    kinds = [name for name, cases in (("a", 199), ("b", 218), ("c", 212), ("d", 217)) for _ in range(cases)]
    rows = [",".join(["1"] * 18 + [kind]) for kind in kinds]
    (tmp_path / "vehicle.csv").write_text("\n".join([",".join(map(str, range(19))), *rows]))
    _, labels = _cases(pickle.loads(pickle.dumps(VEHICLE)), tmp_path)
    assert np.bincount(labels).tolist() == [212, 217, 218, 199], "in the order of the archive"


def test_plug_in_confusions_recover_what_counted_ones_do_not():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    features = rng.standard_normal((400, 4))
    features[np.arange(400), labels] += 1.5
    counts = errors_of(features, labels, MAIN, 0, 100, 0, runs=15)
    plugin = errors_of(features, labels, Variant(confusions="plug-in"), 0, 100, 0, runs=15)
    assert np.median(plugin) < 0.02 < np.median(counts)


def test_random_metrics_are_positive_and_sum_to_one():
    for law in ("Dirichlet(1)", "uniform / sum", "half-normal / sum"):
        weights = np.array([random_metric(law, 4, np.random.default_rng(n)) for n in range(200)])
        assert (weights > 0).all()
        assert weights.sum(axis=1) == pytest.approx(1)
    assert VEHICLE.features == 18
