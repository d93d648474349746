"""The sphere of a study from the command line: its radius, and classifiers that really have the matrices on it."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from elicit_app.cli.main import app
from elicit_app.experiments.measures import feasible_sphere
from elicit_app.problem import Problem
from elicit_app.study import open_study


def run(*arguments):
    return CliRunner().invoke(app, ["study", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def eta(tmp_path):
    proba = np.random.default_rng(4).dirichlet([0.4, 0.8, 1.2], 60)
    path = tmp_path / "own.csv"
    pl.DataFrame({f"proba_{name}": proba[:, place] for place, name in enumerate("abc")}).write_csv(path)
    return path, proba


def table(path, classes, matrix):
    lines = ["," + ",".join(classes)]
    lines += [f"{name}," + ",".join(map(str, row)) for name, row in zip(classes, matrix, strict=True)]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(("name", "radius"), [("softmax-3", 0.0407), ("paper-3", 0.0055), ("paper-4", 0.0013)])
def test_the_published_radii(name, radius):
    assert json.loads(run("radius", name, "--json").stdout)["radius"] == pytest.approx(radius, abs=5e-5)


def test_a_classifier_has_the_matrix_that_was_named(eta, tmp_path):
    path, proba = eta
    sphere = feasible_sphere(open_study(f"eta:{path}")).sphere
    away = np.array([-0.5, 0.3, -0.2, 0.6, -0.1, -0.4])
    wanted = sphere.point(0.9 * away / np.linalg.norm(away))
    matrix = table(tmp_path / "matrix.csv", "abc", wanted / wanted.sum(axis=1, keepdims=True))
    run("classifier", f"eta:{path}", matrix, "--out", tmp_path / "h.csv")
    h = pl.read_csv(tmp_path / "h.csv")
    assert h.columns == ["answer_a", "answer_b", "answer_c"]
    np.testing.assert_allclose(h.to_numpy().sum(axis=1), 1)
    np.testing.assert_allclose(proba.T @ h.to_numpy() / len(proba), wanted, atol=1e-9)


def test_a_matrix_beyond_the_sphere_is_refused_in_words(eta, tmp_path):
    matrix = table(tmp_path / "matrix.csv", "abc", np.eye(3))
    with pytest.raises(Problem, match="times as far from the centre as the sphere reaches"):
        run("classifier", f"eta:{eta[0]}", matrix, "--out", tmp_path / "h.csv")
    assert not (tmp_path / "h.csv").exists()


def test_a_file_is_a_law_whose_points_are_its_rows(eta):
    path, proba = eta
    study = open_study(f"eta:{path}")
    np.testing.assert_allclose(study.distribution.eta, proba)
    assert (study.classes, study.models, study.kind) == (("a", "b", "c"), (), "synthetic")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("proba_a\n1\n", "There are 1 columns proba_<class>"),
        ("proba_a,proba_b\n.5,.7\n", "add up to 1.2"),
        ("proba_a,proba_b\n1,0\n1,0\n", "Class “b” has the probability 0 in every row"),
    ],
)
def test_what_is_no_law_is_told(tmp_path, text, sentence):
    path = tmp_path / "eta.csv"
    path.write_text(text)
    with pytest.raises(Problem, match=sentence):
        open_study(f"eta:{path}")


@pytest.mark.parametrize(("name", "k"), [("paper-2", 2), ("paper-10", 10), ("softmax-7", 7)])
def test_laws_of_more_classes(name, k):
    assert open_study(name).distribution.eta.shape[1] == k


@pytest.mark.parametrize("name", ["paper-1", "paper-11", "softmax-03", "eta:nowhere.csv"])
def test_no_other_laws(name):
    with pytest.raises(Problem):
        open_study(name)
