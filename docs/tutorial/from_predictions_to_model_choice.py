# %% [markdown]
# # From predictions to model choice with an elicited metric
#
# Every mistake of a classifier costs something, and mistakes do not cost the same. This tutorial covers the whole path:
# the predictions of some models, questions to an expert who knows the consequences, and the metric that the answers
# give. It then uses the metric to rank models, decide, tune thresholds, train, and export to other tools.
#
# Install `elicit-metrics[cli]`. Cells are marked with `# %%`. Run the file as a script, or cell by cell in an editor or
# a notebook.

# %%
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import metrics
from metrics import CostSensitiveClassifier, ElicitedMetric, Provenance
from metrics.plots import plot_difference

folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## 1. Predictions
#
# Three models classify three varieties of wine by three measurements. Models must be judged on cases that they were not
# trained on, so the probabilities come from cross-validation.

# %%
wine = load_wine()
X = wine.data[:, [0, 1, 5]]  # alcohol, malic acid, total phenols
varieties = ["barolo", "grignolino", "barbera"]
y = np.array(varieties)[wine.target]

models = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.05)),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    "bayes": GaussianNB(),
}
columns = sorted(varieties)  # scikit-learn sorts its classes
proba = {name: cross_val_predict(model, X, y, cv=5, method="predict_proba") for name, model in models.items()}
predicted = {name: np.array(columns)[p.argmax(axis=1)] for name, p in proba.items()}
for name in models:
    print(f"{name:12} accuracy {metrics.accuracy_score(y, predicted[name]):.3f}")

# %% [markdown]
# Accuracy says how many mistakes there are, but not which. Two confusion matrices and their difference say more. Rows
# are true classes, columns are predicted classes.

# %%
counts = {name: metrics.confusion_matrix(y, predicted[name], labels=varieties) for name in models}
figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained")
counts["logistic"].plot(axes[0])
axes[0].set_title("logistic")
counts["neighbours"].plot(axes[1])
axes[1].set_title("neighbours")
plot_difference(counts["logistic"], counts["neighbours"], axes[2])
axes[2].set_title("neighbours minus logistic")
figure.savefig(folder / "confusion.png")

# %% [markdown]
# The probabilities matter too, because least-cost decisions are made from them. Are they calibrated?

# %%
curve = metrics.calibration_curve(y == "barbera", proba["logistic"][:, columns.index("barbera")], n_bins=5)
error = metrics.expected_calibration_error(y, proba["logistic"], labels=columns)
axes = curve.plot()
axes.set_title(f"logistic, barbera (top-label error of all classes {error:.3f})")
axes.figure.savefig(folder / "calibration.png")

# %% [markdown]
# ## 2. Questions
#
# A study needs only a predictions file: a column `y_true` and a column `proba_<class>` for each class. An expert who
# knows what the mistakes lead to then answers about twenty questions. Each question compares two results near what the
# models do, and asks for a choice, or for a number that makes both results equally bad:
#
# ```
# elicit study new wines --predictions logistic.csv bayes.csv
# elicit open wines            # in a window; or: elicit ask wines, in the terminal
# ```
#
# At the end, "Save metric file" writes the metric file that section 3 reads. So that this tutorial runs by itself, a
# simulated merchant answers the same procedure here. To her, selling a barbera as barolo is the worst mistake.

# %%
for name in models:
    table = {"y_true": y} | {f"proba_{label}": proba[name][:, columns.index(label)] for label in varieties}
    pl.DataFrame(table).write_csv(folder / f"{name}.csv")

from elicit_app.elicitation import run  # noqa: E402
from elicit_app.elicitation.cases import Cases  # noqa: E402
from elicit_app.elicitation.oracles import LinearOracle  # noqa: E402
from elicit_app.elicitation.procedures.bayes import Bayes  # noqa: E402
from metrics.elicited.family import LPM  # noqa: E402

merchant = np.array([[0.0, 0.10, 0.15], [0.40, 0.0, 0.05], [1.0, 0.20, 0.0]])
truth = LPM.weights(merchant)
order = [columns.index(label) for label in varieties]
true_index = np.array([varieties.index(label) for label in y])
cases = [Cases.counted(true_index, p[:, order]) for p in proba.values()]
procedure = Bayes(cases, family="lpm", seed=1, population=1000, questions=20)
outcome, asked = run(procedure, LinearOracle(LPM.weight_matrix(truth)))
print(f"{len(asked)} questions; the first one, of 1,000 bottles:")
print(asked[0].question.first, "or", asked[0].question.second, sep="\n")

# %% [markdown]
# ## 3. The elicited metric
#
# The answers become weights, with posterior draws that describe the remaining uncertainty. The file holds both, their
# provenance, and a worked example that every reader checks.

# %%
metric = ElicitedMetric.from_weights(
    varieties,
    outcome.weights,
    outcome.family,
    name="Italian wines",
    created=datetime.now(UTC),
    intervals=outcome.intervals,
    samples=outcome.samples,
    prevalence=cases[0].prevalence,
    population=1000,
    yardstick=("barolo", "grignolino"),
    provenance=Provenance(procedure="bayes", questions=outcome.questions, seed=1),
)
metric.save(folder / "wine.metric.json")
metric = ElicitedMetric.load(folder / "wine.metric.json")

for rate in metrics.exchange_rates(metric):
    mistake = f"{metric.classes[rate.true]} called {metric.classes[rate.predicted]}"
    stated = merchant[rate.true, rate.predicted] / merchant[0, 1]
    plausible = rate.range_in_words()
    print(f"{mistake:27} counts as {rate.in_words():>4} ({plausible:^13}), the merchant's own: {stated:.2g}")

metric.plot().figure.savefig(folder / "costs.png")

# %% [markdown]
# ## 4. Which model?
#
# For each model, the next cell prints what its mistakes cost, what least-cost decisions from its probabilities would
# cost, and its Meta Pattern Concern Score, which judges the probabilities and discounts mistakes of less concern.

# %%
for name in models:
    cost = 1000 * metric.score(y, predicted[name])
    decided = 1000 * metric.score(y, metric.decide(proba[name], labels=columns))
    concern = metric.meta_pattern_concern_score(y, proba[name], labels=columns)
    print(f"{name:12} cost {cost:5.1f} per 1,000   decided for least cost {decided:5.1f}   MPCS {concern:.3f}")

# %% [markdown]
# Least-cost decisions help if the probabilities are calibrated. Those of the logistic model are underconfident (see the
# calibration curve above: what it calls likely is more than likely), and deciding by them costs more. Calibrate first
# (`sklearn.calibration.CalibratedClassifierCV`), or choose another model.
#
# Would the choice change if one mistake were worse than the answers say? The break-even points tell from which ratio.

# %%
curve = metrics.cost_curve(metric, counts, ("grignolino", "barolo"))
print(f"one grignolino called barolo counts as {curve.elicited:.2g} barolos called grignolino")
for point in curve.break_even_points():
    print(f"from {point.ratio:.2g} on, {point.above} would be cheaper than {point.below}")
curve.plot().figure.savefig(folder / "break_even.png")

# %% [markdown]
# ## 5. In scikit-learn
#
# Pass `metric.as_scorer()` wherever scikit-learn takes `scoring`. `CostSensitiveClassifier` takes the decision of least
# expected cost, and works in searches and cross-validation like any classifier.

# %%
search = GridSearchCV(
    CostSensitiveClassifier(LogisticRegression(max_iter=1000), metric),
    {"estimator__C": [0.001, 0.01, 0.1, 1.0]},
    scoring=metric.as_scorer(),
    cv=5,
)
search.fit(StandardScaler().fit_transform(X), y)
print(f"least cost {-1000 * search.best_score_:.1f} per 1,000 with {search.best_params_}")

# %% [markdown]
# With two classes, a decision rule is a threshold. `TunedThresholdClassifierCV` finds it with the scorer, without
# trusting the probabilities. `decision_threshold` is the right one for calibrated probabilities. On the ROC curve, the
# best threshold is the point where a line of equal cost is tangent.

# %%
cancer = load_breast_cancer()
tumours = np.array(["malignant", "benign"])[cancer.target]
measured = cancer.data[:, [0, 1]]  # mean radius, mean texture
X_train, X_test, y_train, y_test = train_test_split(measured, tumours, random_state=0, stratify=tumours)
missed = ElicitedMetric.from_cost_matrix(["malignant", "benign"], [[0, 1], [0.1, 0]], name="A miss is ten alarms")
plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
tuned = TunedThresholdClassifierCV(plain, scoring=missed.as_scorer(), cv=5).fit(X_train, y_train)
for name, model in (("plain", plain), ("tuned", tuned)):
    print(f"{name} costs {missed.score(y_test, model.predict(X_test)):.4f} a case")
print(f"threshold by costs alone: malignant from {missed.decision_threshold('malignant'):.3f}")

p_malignant = plain.predict_proba(X_test)[:, list(plain.classes_).index("malignant")]
point = metrics.operating_point(y_test, p_malignant, missed, pos_label="malignant")
point.plot().figure.savefig(folder / "roc.png")

# %% [markdown]
# ## 6. Training
#
# The paper behind the Meta Pattern Concern Score also trains with it: the learning rate follows the score, so learning
# slows down as predictions stop being of concern. Whatever was trained, the metric chooses the epoch.
# (In PyTorch: `metrics.models.learning.ConcernScheduler`. Multiplying the *loss* by the score, as the published
# program does, has hardly any effect under Adam, which divides by the size of the gradients.)

# %%
import copy  # noqa: E402
import warnings  # noqa: E402

from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402

from metrics import BestEpoch, ConcernLearningRate  # noqa: E402

inputs = StandardScaler().fit_transform(X)
train, held, label_train, label_held = train_test_split(inputs, y, random_state=0, stratify=y)
network = MLPClassifier((20,), solver="sgd", momentum=0, warm_start=True, max_iter=1, batch_size=10, random_state=0)
rate, best = ConcernLearningRate(0.2), BestEpoch(patience=15)
while len(best.scores) < 40 and not best.should_stop:
    network.set_params(learning_rate_init=rate.rate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one epoch at a time is meant
        network.fit(train, label_train)
    rate.step(metric.meta_pattern_concern_score(label_train, network.predict_proba(train), labels=network.classes_))
    decided = metric.decide(network.predict_proba(held), labels=network.classes_)
    best.update(metric.score(label_held, decided), lambda: copy.deepcopy(network))
print(f"epoch {best.epoch + 1} of {len(best.scores)} costs {1000 * best.scores[best.epoch]:.1f} per 1,000")

# %% [markdown]
# ## 7. Larger than memory
#
# Every measure that is a mean can be accumulated over batches, in any order: rows of a long file, or parts that other
# processes have seen. `elicit score` reads files this way, and with `--engine dask` on many machines.

# %%
from metrics.accumulating import MisclassificationCost  # noqa: E402

total = MisclassificationCost(metric.classes, cost_matrix=metric.cost_matrix)
for rows in np.array_split(np.arange(len(y)), 5):
    part = MisclassificationCost(metric.classes, cost_matrix=metric.cost_matrix)
    total.merge(part.update(y[rows], predicted["bayes"][rows]))
print(f"bayes costs {1000 * total.result():.1f} per 1,000, added up in five parts")

# %% [markdown]
# ## 8. In other tools
#
# The last cell writes the metric in the formats of other tools (mlr3 reads matrices transposed, which the export takes
# care of), and as a page for people who do not read code. In the shell: `elicit metric export wine.metric.json --format
# html`.

# %%
for name, suffix in metrics.FORMATS.items():
    content = metrics.export(metric, name)
    path = folder / f"wine{suffix}"
    path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content, encoding="utf-8")
print(metrics.export(metric, "mlr3"))
print(f"Everything is in {folder}")
