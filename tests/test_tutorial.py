import re
import runpy
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from metrics import FORMATS, ElicitedMetric

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial" / "from_predictions_to_model_choice.py"


@pytest.mark.long
def test_the_tutorial_runs_and_arrives_at_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mpl.use("agg")
    from matplotlib import pyplot

    try:
        names = runpy.run_path(str(TUTORIAL))
    finally:
        pyplot.close("all")
    (folder,) = tmp_path.iterdir()
    pictures = {"confusion", "calibration", "costs", "break_even", "roc"}
    assert {path.stem for path in folder.glob("*.png")} == pictures
    assert all((folder / f"wine{suffix}").stat().st_size for suffix in FORMATS.values())
    metric = ElicitedMetric.load(folder / "wine.metric.json")
    assert metric.provenance.questions == 20
    # The simulated expert is understood: five of the six costs within a factor of 2.
    errors = ~np.eye(3, dtype=bool)
    factor = np.exp(np.abs(np.log(metric.cost_matrix[errors] / names["merchant"][errors])))
    assert (factor < 2).sum() >= 5
    costs = {name: metric.score(names["y"], names["predicted"][name]) for name in names["models"]}
    shown = capsys.readouterr().out
    for name, cost in costs.items():
        assert f"{name:12} cost {1000 * cost:5.1f} per 1,000" in shown
    assert names["total"].result() == pytest.approx(costs["bayes"])
    below = names["missed"].score(names["y_test"], names["tuned"].predict(names["X_test"]))
    assert below < names["missed"].score(names["y_test"], names["plain"].predict(names["X_test"]))


def test_every_cell_is_marked_prose_is_commented_and_pandas_is_not_needed():
    text = TUTORIAL.read_text(encoding="utf-8")
    assert not re.search("pandas|as_frame", text)
    lines = text.splitlines()
    prose = False
    for line in lines:
        if line.startswith("# %%"):
            prose = "[markdown]" in line
        elif prose:
            assert not line or line.startswith("#")
        assert len(line) <= 120
