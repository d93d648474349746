"""Make the bundled studies: `uv run python datasets/make.py`. Sources and licences: README.md beside this file."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import words
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elicit_app.study import Predictions, Study, Wording
from elicit_app.study.folder import write_folder
from elicit_app.study.making import with_defaults

HERE = Path(__file__).resolve().parent
SUMS = "```sha256\n"

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]


def out_of_fold(name: str, estimator: ClassifierMixin, x: Floats, y: Labels) -> Predictions:
    """Return predictions of every case by a model that was fitted without it (five stratified folds)."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    proba = cross_val_predict(estimator, x, y, cv=folds, method="predict_proba")
    return Predictions(name, y.astype(np.int64), proba / proba.sum(axis=1, keepdims=True))


def regression() -> ClassifierMixin:
    """Return a logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression())


def forest(**options: int) -> ClassifierMixin:
    """Return a seeded random forest."""
    return RandomForestClassifier(random_state=0, **options)


def breast_cancer() -> Study:
    """Return 569 breast lumps: one model sees the size and texture of the cells, the other only their outline."""
    data = load_breast_cancer()
    names = list(data.feature_names)
    size = [names.index(name) for name in ("mean radius", "mean texture")]
    outline = ["mean smoothness", "mean compactness", "mean symmetry", "mean fractal dimension"]
    models = (
        out_of_fold("Size and texture", regression(), data.data[:, size], data.target),
        out_of_fold(
            "Cell outline",
            forest(n_estimators=200, min_samples_leaf=5),
            data.data[:, [names.index(name) for name in outline]],
            data.target,
        ),
    )
    title, description = "Breast lumps", "malignant or benign, 2 models"
    needless_biopsy = (1, 0)  # people state how many of these one missed cancer is worth, not the reverse
    return study(title, description, ("malignant", "benign"), models, words.BREAST_CANCER, needless_biopsy)


def wine() -> Study:
    """Return 178 bottles: one model knows alcohol and hue, the other four quick tests."""
    data = load_wine()
    names = list(data.feature_names)
    two = [names.index(name) for name in ("alcohol", "hue")]
    four = [names.index(name) for name in ("malic_acid", "alcalinity_of_ash", "proanthocyanins", "hue")]
    models = (
        out_of_fold("Alcohol and hue", regression(), data.data[:, two], data.target),
        out_of_fold("Four quick tests", forest(n_estimators=200, min_samples_leaf=3), data.data[:, four], data.target),
    )
    return study("Italian wines", "3 grape varieties, 2 models", words.WINES, models, words.WINE)


def digits() -> Study:
    """Return 1,797 handwritten digits: one model sees a 4 x 4 picture, the other the ink in each row and column."""
    data = load_digits()
    n = len(data.images)
    coarse = data.images.reshape(n, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(n, 16)
    profiles = np.hstack([data.images.sum(axis=2), data.images.sum(axis=1)])
    models = (
        out_of_fold("Coarse picture", regression(), coarse, data.target),
        out_of_fold("Ink profiles", forest(n_estimators=50, max_depth=6), profiles, data.target),
    )
    classes = tuple(str(digit) for digit in range(10))
    return study("Handwritten amounts", "10 digits, 2 models", classes, models, words.HANDWRITTEN_DIGITS)


def traffic_light() -> Study:
    """Return 3,000 made-up traffic lights, the running example of the Meta Pattern Concern Score paper.

    One model measures a hue in which red and yellow are close; a second model measures the height of the lamp, which
    glare makes worthless in one case out of eight. Both apply Bayes' rule to their measurement.
    """
    generator = np.random.default_rng(20_220_928)
    prevalence = np.array([0.45, 0.10, 0.45])
    truth = generator.permutation(np.repeat(np.arange(3), (prevalence * 3_000).round().astype(int)))
    hue = np.array([0.0, 0.9, 2.4])[truth] + 0.75 * generator.standard_normal(3_000)
    height = np.array([0.0, 1.0, 2.0])[truth] + 0.42 * generator.standard_normal(3_000)
    dazzled = generator.random(3_000) < 1 / 8
    height[dazzled] = generator.uniform(-1.5, 3.5, dazzled.sum())
    models = (
        by_bayes_rule("Colour camera", truth, prevalence, normal(hue, np.array([0.0, 0.9, 2.4]), 0.75)),
        by_bayes_rule(
            "Lamp position", truth, prevalence, 7 / 8 * normal(height, np.array([0.0, 1.0, 2.0]), 0.42) + 1 / 8 / 5
        ),
    )
    return study("Traffic lights", "3 lights, 2 models", words.LIGHTS, models, words.TRAFFIC_LIGHT)


def normal(measured: Floats, means: Floats, deviation: float) -> Floats:
    """Return the normal densities of n measurements under k means, shape (n, k)."""
    standard = (measured[:, None] - means) / deviation
    density: Floats = np.exp(-(standard**2) / 2) / (deviation * np.sqrt(2 * np.pi))
    return density


def by_bayes_rule(name: str, truth: Labels, prevalence: Floats, density: Floats) -> Predictions:
    """Return the class probabilities given prevalence and densities, by Bayes' rule."""
    joint = prevalence * density
    return Predictions(name, truth.astype(np.int64), joint / joint.sum(axis=1, keepdims=True))


def study(
    title: str,
    description: str,
    classes: tuple[str, ...],
    models: tuple[Predictions, ...],
    wording: Wording,
    yardstick: tuple[int, int] | None = None,
) -> Study:
    """Return a study of these models, with the program's default population and, if none is given, yardstick."""
    made = with_defaults(classes, models, name=title, title=title, kind="folder", description=description)
    return replace(made, wording=wording, yardstick=yardstick or made.yardstick)


def write_checksums(names: list[str]) -> None:
    """Write the checksums of all files of the studies into README.md, in the format of `sha256sum`."""
    readme = HERE / "README.md"
    before, rest = readme.read_text().split(SUMS)
    after = rest.split("```", 1)[1]
    files = sorted(file for name in names for file in (HERE / name).iterdir())
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(HERE).as_posix()}" for file in files]
    listing = "\n".join(lines)
    readme.write_text(f"{before}{SUMS}{listing}\n```{after}")


def main() -> None:
    """Rewrite all bundled studies."""
    made = {"breast-cancer": breast_cancer(), "wine": wine(), "digits": digits(), "traffic-light": traffic_light()}
    for name, content in made.items():
        shutil.rmtree(HERE / name, ignore_errors=True)
        write_folder(HERE / name, content)
        for model in content.models:
            print(f"{name:14} {model.name:18} accuracy {np.mean(model.y_proba.argmax(axis=1) == model.y_true):.3f}")
    write_checksums([*made])


if __name__ == "__main__":
    main()
