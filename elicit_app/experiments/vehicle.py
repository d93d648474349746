"""DLPM on real predictions: what plug-in confusions change, on the Statlog vehicle silhouettes.

Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019, figure 3, count
labels: their confusions are step functions, on which the search sticks. With confusions estimated from the
probabilities themselves it does not. Data: Statlog (Vehicle Silhouettes), UCI Machine Learning Repository, CC BY 4.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elicit_app.experiments.simulated import Simulation
from elicit_app.experiments.simulation import Experts, simulate
from elicit_app.problem import Problem
from elicit_app.registry.published import DlpmSetting
from elicit_app.study.counting import population_for, prevalence_of, yardstick_for
from elicit_app.study.model import Predictions, Study, default_wording, study_digest

OMEGA = 0.04
_FEATURES = 18


@dataclass(frozen=True, eq=False)
class VehicleResult:
    """What 100 noise-free experts with random metrics came to.

    Parameters
    ----------
    plugin, counts : Simulation
        The same experts, asked with estimated and with counted confusions.
    """

    plugin: Simulation
    counts: Simulation

    def shares(self, omega: float = OMEGA) -> dict[str, float]:
        """Return the share of metrics whose largest error is at most `omega`."""
        return {
            name: float(np.mean(simulation.values("error_linf") <= omega))
            for name, simulation in (("plugin", self.plugin), ("counts", self.counts))
        }


def vehicle(path: Path, *, runs: int = 100, seed: int = 0, jobs: int = 1) -> VehicleResult:
    """Elicit random metrics, Dirichlet(1), from a logistic regression of the vehicles.

    Parameters
    ----------
    path : Path
        CSV of 18 features and the class, with a line of headings.
    runs, seed, jobs : int
        See `simulate`.
    """
    study = vehicle_study(path)
    found = [
        simulate(
            study,
            DlpmSetting(ask="needed", confusions=confusions, seed=seed),
            Experts(),
            runs=runs,
            jobs=jobs,
        )
        for confusions in ("plugin", "counts")
    ]
    return VehicleResult(*found)


def vehicle_study(path: Path) -> Study:
    """Return the predictions for one half of the vehicles by a model of the other half.

    StandardScaler and LogisticRegression(C=1), halves by ``default_rng(0).permutation``, classes in alphabetical order.

    Raises
    ------
    Problem
        The file is not that data set.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features, y_true, classes = _read(path)
    order = np.random.default_rng(0).permutation(len(y_true))
    train, test = np.split(order, [len(order) // 2])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=10_000))
    model.fit(features[train], y_true[train])
    proba = np.asarray(model.predict_proba(features[test]), dtype=np.float64)
    models = (Predictions("logistic regression", y_true[test], proba),)
    return Study(
        name="vehicle",
        title="Vehicle silhouettes",
        classes=classes,
        models=models,
        population=population_for(prevalence_of(models, None, len(classes))),
        stated_prevalence=None,
        wording=default_wording(classes),
        yardstick=yardstick_for(models, None),
        kind="file",
        digest=study_digest(classes, models),
    )


def _read(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64], tuple[str, ...]]:
    import polars as pl

    try:
        table = pl.read_csv(path)
        features = table[:, :_FEATURES].to_numpy().astype(np.float64)
        labels = table[:, _FEATURES].cast(pl.String)
    except (OSError, ValueError, IndexError, pl.exceptions.PolarsError) as error:
        raise Problem(f"{path} does not hold {_FEATURES} numbers and a class a row, with headings: {error}.") from error
    classes = tuple(sorted(labels.unique()))
    return features, np.searchsorted(classes, labels.to_numpy()).astype(np.int64), classes
