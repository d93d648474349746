"""DLPM on the vehicles: plug-in confusions reach what counted ones do not."""

import os
from pathlib import Path

import pytest

from elicit_app.experiments.vehicle import vehicle, vehicle_study
from elicit_app.problem import Problem


def shared_data() -> Path | None:
    stated = os.environ.get("ELICIT_SHARED_DATA")
    beside = Path(stated) if stated else Path(__file__).resolve().parents[3] / "shared" / "data"
    return beside if beside.is_dir() else None


@pytest.mark.long
def test_plug_in_confusions_are_within_004_for_95_of_100_metrics(capsys):
    data = shared_data()
    if data is None:
        pytest.skip("the folder of published predictions is not beside this checkout")
    found = vehicle(data / "vehicle.csv")
    shares = found.shares()
    with capsys.disabled():
        print(f"\nvehicle, within 0.04: plug-in {shares['plugin']:.2f}, counted {shares['counts']:.2f}")
    assert found.plugin.study.classes == ("bus", "opel", "saab", "van")
    assert len(found.plugin.study.models[0].y_true) == 423
    assert shares["plugin"] >= 0.95
    # Figure 3 of the paper: .01 at .04 and .05 at .05, where confusions are counted.
    assert shares["counts"] <= 0.1
    assert found.shares(0.14)["plugin"] >= 0.99


def test_another_file_is_refused_in_words(tmp_path):
    path = tmp_path / "vehicle.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(Problem, match="18 numbers and a class"):
        vehicle_study(path)
    with pytest.raises(Problem, match="18 numbers and a class"):
        vehicle_study(tmp_path / "missing.csv")
