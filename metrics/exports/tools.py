"""Costs for other tools: Python for scikit-learn, a cost file for Weka, R for mlr3, a plain table, an MLflow run."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
from numpy.typing import NDArray

from metrics.elicited.elicited_metric import ElicitedMetric, require_metric
from metrics.elicited.exchange import mistake_words
from metrics.elicited.family import family_of
from metrics.exports.page import one_line
from metrics.files import csv_cell
from metrics.inputs.class_index import ClassIndex
from metrics.measures.costs import EQUAL_COST

_PYTHON = '''# {title}
# Costs of mistakes from an elicited metric; needs numpy and scikit-learn only.
#   cross_val_score(model, X, y, scoring=scorer)                    the negated mean cost, greater is better
#   decide(model.predict_proba(X), model.classes_)                  labels of least expected cost
#   LogisticRegression(class_weight=class_weight(np.unique(y)))     weights of the true classes, mean 1

import numpy as np
from sklearn.metrics import make_scorer

CLASSES = {classes}
PLACES = {{name: i for i, name in enumerate(CLASSES)}}{also}

# Rows are true classes, columns are predicted classes; 1 is the worst mistake.
COST_MATRIX = np.array(
    [
{costs}
    ]
)

CLASS_WEIGHT = {weights}


def text(label):
    """Return a label as text, without blanks around it; 2.0 and "2.0" read as 2."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    label = str(label).strip()
    whole, point, rest = label.partition(".")
    return whole if point and whole.lstrip("+-").isdigit() and not rest.strip("0") else label


def index(labels):
    """Return the positions of labels among CLASSES, compared as text."""
    texts = [text(label) for label in labels]
    for name in texts:
        if name not in PLACES:
            raise ValueError(f"{{name!r}} is not one of the classes {{CLASSES}}")
    return [PLACES[name] for name in texts]


def mean_cost(y_true, y_pred, sample_weight=None):
    """Return the mean cost per case; lower is better."""
    return float(np.average(COST_MATRIX[index(y_true), index(y_pred)], weights=sample_weight))


def decide(proba, classes):
    """Return the label of least expected cost for each row of probabilities; classes names its columns.

    Costs that differ by rounding only count as equal; then the first label is taken.
    """
    columns = index(classes)
    cost = np.asarray(proba) @ COST_MATRIX[np.ix_(columns, columns)]
    equal = cost <= cost.min(axis=1, keepdims=True) + {equal} * COST_MATRIX.max()
    return np.asarray(classes)[equal.argmax(axis=1)]


def class_weight(classes):
    """Return the weights of the true classes as scikit-learn's estimators take them."""
    return {{label: CLASS_WEIGHT[i] for label, i in zip(classes, index(classes))}}


scorer = make_scorer(mean_cost, greater_is_better=False)
'''

_R = """# {title}
# mlr3 wants predictions in rows and the truth in columns: transposed against the elicited metric file.
classes = c({classes})
costs = matrix(
  c(
{costs}
  ),
  nrow = {k}, byrow = TRUE, dimnames = list(response = classes, truth = classes)
)
measure = mlr3::msr("classif.costs", id = "elicited_cost", costs = costs)
"""

_SPELLINGS = ("False", "True", "FALSE", "TRUE", "false", "true", "0", "1")

_COLUMNS = (
    "true_class",
    "predicted_class",
    "cost",
    "cost_low",
    "cost_high",
    "release_factor",
    "class_weight",
    "mistake",
)


def sklearn_code(metric: ElicitedMetric) -> str:
    """Return a Python module with the costs, a scorer, least-cost decisions and class weights."""
    return _PYTHON.format(
        title=one_line(metric.name),
        classes=repr(list(metric.classes)),
        also=f" | {also}" if (also := _other_spellings(metric.class_index)) else "",
        costs="\n".join(f"        [{row}]," for row in rows_of_numbers(metric.cost_matrix)),
        weights=repr(list(metric.class_weight.values())),
        equal=EQUAL_COST,
    )


def _other_spellings(classes: ClassIndex) -> dict[str, int]:
    """Return the class of each text that means one without being its name, such as True where there is only 1."""
    places = {text: classes.place(text) for text in _SPELLINGS if text not in classes.names}
    return {text: place for text, place in places.items() if place >= 0}


def weka_file(metric: ElicitedMetric) -> str:
    """Return a Weka cost file: comments after %, then the size, then the costs, one row per true class."""
    k = len(metric.classes)
    lines = [
        f"% {one_line(metric.name)}",
        "% Rows are true classes, columns are predicted classes, in the order of the nominal class attribute:",
        *(f"%   {i + 1} {one_line(name)}" for i, name in enumerate(metric.classes)),
        "% Rows\tColumns",
        f"{k}\t{k}",
        "% Matrix elements",
        *rows_of_numbers(metric.cost_matrix, "\t"),
    ]
    return "\n".join(lines) + "\n"


def mlr3_code(metric: ElicitedMetric) -> str:
    """Return R code that makes the cost matrix and the measure ``classif.costs``."""
    return _R.format(
        title=_ascii(one_line(metric.name)),
        classes=", ".join(_quoted(name) for name in metric.classes),
        costs=",\n".join(f"    {row}" for row in rows_of_numbers(metric.cost_matrix.T)),
        k=len(metric.classes),
    )


def _quoted(text: str) -> str:
    r"""Return an R string in ASCII; other characters are written as \U{...}, which every locale reads alike."""
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    if letter in '\\"':
        return "\\" + letter
    return letter if " " <= letter <= "~" else f"\\U{{{ord(letter):x}}}"


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")


def csv_table(metric: ElicitedMetric) -> str:
    """Return a CSV table with k^2 rows, ordered by true class.

    ``cost_low`` and ``cost_high`` are empty without intervals; ``cost_high`` is also empty if it is unbounded.
    ``mistake`` is empty for right answers.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    table.writerow(_COLUMNS)
    family = family_of(metric.family)
    factors = metric.release_factors()
    class_weight = [*metric.class_weight.values()]
    for i, true in enumerate(metric.classes):
        for j, predicted in enumerate(metric.classes):
            low, high = (math.nan, math.nan) if metric.intervals is None else metric.intervals[i, j]
            numbers = (metric.cost_matrix[i, j], low, high, factors[i, j], class_weight[i])
            cells = [float(x) if math.isfinite(x) else "" for x in numbers]
            mistake = "" if i == j else mistake_words(metric, family.mistake_at(i, j)).name
            table.writerow([csv_cell(true), csv_cell(predicted), *cells, csv_cell(mistake)])
    return text.getvalue()


def rows_of_numbers(matrix: NDArray[np.float64], separator: str = ", ") -> list[str]:
    """Return each row of a matrix as text that parses back to the same numbers."""
    return [separator.join(repr(float(x)) for x in row) for row in matrix]


FILE = "elicited.metric.json"


def log_to_mlflow(metric: ElicitedMetric, artifact_file: str = FILE, *, run_id: str | None = None) -> str:
    """Log a metric to an MLflow run: its file as an artifact, its name and cost matrix as searchable tags.

    Parameters
    ----------
    metric : ElicitedMetric
        The metric.
    artifact_file : str
        Path among the run's artifacts.
    run_id : str, optional
        The run; by default the active run, or a new one.

    Returns
    -------
    str
        The address that `load_from_mlflow` takes: ``runs:/RUN/elicited.metric.json``.
    """
    import mlflow

    require_metric(metric)
    client = mlflow.MlflowClient()
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    client.log_text(run, metric.to_json(), artifact_file)
    client.set_tag(run, "elicited_metric", metric.name)
    client.set_tag(run, "elicited_metric.cost_matrix", str(metric.cost_matrix.tolist()))
    return f"runs:/{run}/{artifact_file}"


def load_from_mlflow(address: str) -> ElicitedMetric:
    """Read a metric logged by `log_to_mlflow`, with the checks of `ElicitedMetric.load`.

    Parameters
    ----------
    address : str
        ``runs:/RUN/FILE`` or any other address of an artifact.

    Raises
    ------
    MetricFileError
        If the artifact is not an elicited metric.
    """
    import mlflow

    return ElicitedMetric.from_json(mlflow.artifacts.load_text(address), address)
