"""Class weights in training, least-expected-cost decisions, or both: the cost of each on held-out cases.

    uv run --extra app python benchmarks/weights_or_decisions.py [--repeats N] [--seed S] [--vehicle FILE]

Each repeat draws a cost matrix, exp(1.2 N(0, 1)) per mistake, and a stratified half of the cases for training. Logistic
regression on standardised features is trained without weights and with the costs' class weights; both decide once for
the most probable class and once for the least expected cost. The table shows the mean cost per case on the other half,
in thousandths of the worst mistake, with standard errors over the repeats, and the paired differences named in its
head. Data sets are those of scikit-learn, reduced to features on which models err, and Statlog Vehicle if its file is
there.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metrics import ElicitedMetric

VEHICLE = Path(__file__).parents[2] / "shared" / "data" / "vehicle.csv"
WAYS = ("most probable", "decisions", "weights", "both")


def data_sets(vehicle: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return name -> features and classes 0, ..., k-1."""
    loaders = (load_breast_cancer, load_wine, load_iris, load_digits)
    breast, wine, iris, digits = (load(return_X_y=True) for load in loaders)
    found = {
        "breast cancer, 2 features": (breast[0][:, [1, 4]], breast[1]),
        "wine, 2 features": (wine[0][:, [0, 2]], wine[1]),
        "iris, sepals": (iris[0][:, :2], iris[1]),
        "digits, rows of ink": (digits[0].reshape(-1, 8, 8).sum(axis=2), digits[1]),
    }
    if vehicle.exists():
        table = pl.read_csv(vehicle)
        codes = np.unique(table[:, -1].to_numpy(), return_inverse=True)[1]
        found["vehicle silhouettes"] = (table[:, :-1].to_numpy().astype(float), codes)
    return found


def costs_of_ways(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[float]:
    """Return the costs of the four ways under one random metric, on one random half of the cases."""
    k = int(y.max()) + 1
    costs = np.exp(1.2 * rng.standard_normal((k, k))) * ~np.eye(k, dtype=bool)
    metric = ElicitedMetric.from_cost_matrix(range(k), costs)
    parts = train_test_split(X, y, test_size=0.5, stratify=y, random_state=int(rng.integers(2**31)))
    X_train, X_test, y_train, y_test = parts
    scores = {}
    for weight in (None, dict(metric.class_weight)):
        model = make_pipeline(StandardScaler(), LogisticRegression(class_weight=weight, max_iter=500))
        model.fit(X_train, y_train)
        proba = model.predict_proba(X_test)
        scores[weight is None] = metric.score(y_test, proba.argmax(axis=1)), metric.score(y_test, metric.decide(proba))
    return [*scores[True], *scores[False]]


def main() -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vehicle", type=Path, default=VEHICLE)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"| data set (n, classes) | {' | '.join(WAYS)} | decisions - weights | both - decisions |")
    print("|---|" + "---|" * (len(WAYS) + 2))
    for number, (name, (X, y)) in enumerate(data_sets(asked.vehicle).items()):
        rngs = [np.random.default_rng([asked.seed, number, repeat]) for repeat in range(asked.repeats)]
        table = 1_000 * np.array([costs_of_ways(X, y, rng) for rng in rngs])
        columns = [*table.T, table[:, 1] - table[:, 2], table[:, 3] - table[:, 1]]
        told = [f"{column.mean():.1f} ± {column.std(ddof=1) / np.sqrt(len(column)):.1f}" for column in columns]
        print(f"| {name} ({len(y):,}, {int(y.max()) + 1}) | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
