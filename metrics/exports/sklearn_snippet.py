"""Python code for scikit-learn that needs nothing of this project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metrics.exports.wording import one_line, rows_of_numbers

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

_CODE = '''# {title}
# Costs of mistakes from an elicited metric; needs numpy and scikit-learn only.
#   cross_val_score(model, X, y, scoring=scorer)                    the negated mean cost, greater is better
#   decide(model.predict_proba(X), model.classes_)                  labels of least expected cost
#   LogisticRegression(class_weight=class_weight(np.unique(y)))     weights of the true classes, mean 1

import numpy as np
from sklearn.metrics import make_scorer

CLASSES = {classes}

# Rows are true classes, columns are predicted classes; 1 is the worst mistake.
COST_MATRIX = np.array(
    [
{costs}
    ]
)

CLASS_WEIGHT = {weights}


def index(labels):
    """Return the positions of labels among CLASSES, compared as text (2.0 reads as 2)."""
    labels = [x.item() if isinstance(x, np.generic) else x for x in labels]
    return [CLASSES.index(str(int(x)) if isinstance(x, float) and x.is_integer() else str(x)) for x in labels]


def mean_cost(y_true, y_pred, sample_weight=None):
    """Return the mean cost per case; lower is better."""
    return float(np.average(COST_MATRIX[index(y_true), index(y_pred)], weights=sample_weight))


def decide(proba, classes):
    """Return the label of least expected cost for each row of probabilities; classes names its columns."""
    columns = index(classes)
    return np.asarray(classes)[np.argmin(np.asarray(proba) @ COST_MATRIX[np.ix_(columns, columns)], axis=1)]


def class_weight(classes):
    """Return the weights of the true classes as scikit-learn's estimators take them."""
    return {{label: CLASS_WEIGHT[i] for label, i in zip(classes, index(classes))}}


scorer = make_scorer(mean_cost, greater_is_better=False)
'''


def render(metric: ElicitedMetric) -> str:
    """Return a Python module with costs, a scorer, decisions of least expected cost and class weights."""
    return _CODE.format(
        title=one_line(metric.name),
        classes=repr(list(metric.classes)),
        costs="\n".join(f"        [{row}]," for row in rows_of_numbers(metric.cost_matrix)),
        weights=repr(list(metric.class_weight.values())),
    )
