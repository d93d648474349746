"""`elicit study report`: experts of a study beside what is done today."""

import re

import numpy as np
import pytest

from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.session import Session
from elicit_app.study import create_study


@pytest.fixture
def lumps(tmp_path):
    """A study of a model that two people answered."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=200)
    ill = 1 / (1 + np.exp(-3 * (1 - 2 * true) - 2 * rng.standard_normal(200)))
    rows = [f"{('ill', 'well')[one]},{p:.6f},{1 - p:.6f}" for one, p in zip(true, ill, strict=True)]
    (tmp_path / "m.csv").write_text("\n".join(["y_true,proba_ill,proba_well", *rows]))
    study = create_study(tmp_path / "lumps", [tmp_path / "m.csv"])
    for number, name in enumerate(("Ada", "Ben"), start=1):
        path = study.folder / "sessions" / f"{number}.session.jsonl"
        path.parent.mkdir(exist_ok=True)
        with Session.create(study, BayesSetting(seed=number, questions=6), path, expert=name) as session:
            while (asking := session.asking()) is not None:
                a, b = (np.array(side) for side in (asking.pair.first, asking.pair.second))
                worse = ((a - b) * [[0, 5], [1, 0]]).sum() > 0
                session.answer("right" if worse == (asking.left == "first") else "left")
            session.finish()
    return study


def test_present_practice_takes_part(run_line, tmp_path, lumps):
    run_line("study report lumps --out without.md")
    assert "Present practice" not in (tmp_path / "without.md").read_text()
    (tmp_path / "today.csv").write_text("truth,ill,well\nill,99,1\nwell,2,98\n")
    run_line("study report lumps --out with.md --practice today.csv")
    page = (tmp_path / "with.md").read_text()
    assert "Keep to **present practice**" in page
    assert re.search("Best for Ada .* and Ben .*: present practice; pooled .*: present practice", page)
    (tmp_path / "today.csv").write_text("truth,ill,cured\nill,99,1\ncured,2,98\n")
    run_line("study report lumps --out bad.md --practice today.csv", code=1)
    assert not (tmp_path / "bad.md").exists()
