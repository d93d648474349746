"""Cost-sensitive metrics for classifiers, and metrics elicited from an expert.

In every matrix rows are true classes and columns are predicted classes. Names are imported when they are first used,
so that ``import metrics`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.metrics import accuracy_score as accuracy_score
    from sklearn.metrics import f1_score as f1_score
    from sklearn.metrics import matthews_corrcoef as matthews_corrcoef
    from sklearn.metrics import mean_absolute_error as mean_absolute_error
    from sklearn.metrics import mean_squared_error as mean_squared_error
    from sklearn.metrics import multilabel_confusion_matrix as multilabel_confusion_matrix
    from sklearn.metrics import precision_score as precision_score
    from sklearn.metrics import r2_score as r2_score
    from sklearn.metrics import recall_score as recall_score
    from sklearn.metrics import roc_auc_score as roc_auc_score
    from sklearn.metrics import roc_curve as roc_curve
    from sklearn.metrics import root_mean_squared_error as root_mean_squared_error

    from metrics.elicited_metric import ElicitedMetric as ElicitedMetric
    from metrics.frequencies import natural_frequencies as natural_frequencies
    from metrics.metric_file import MetricFileError as MetricFileError
    from metrics.metric_parts import Consequence as Consequence
    from metrics.metric_parts import Provenance as Provenance
    from metrics.metric_parts import Quality as Quality
    from metrics.metric_parts import Tally as Tally

_NAMES = {
    "metrics.elicited_metric": ("ElicitedMetric",),
    "metrics.frequencies": ("natural_frequencies",),
    "metrics.metric_file": ("MetricFileError",),
    "metrics.metric_parts": ("Consequence", "Provenance", "Quality", "Tally"),
    "sklearn.metrics": (
        "accuracy_score",
        "f1_score",
        "matthews_corrcoef",
        "mean_absolute_error",
        "mean_squared_error",
        "multilabel_confusion_matrix",
        "precision_score",
        "r2_score",
        "recall_score",
        "roc_auc_score",
        "roc_curve",
        "root_mean_squared_error",
    ),
}

_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name from its module at its first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
