"""Cost-sensitive metrics for classifiers, and metrics elicited from an expert.

In every matrix rows are true classes and columns are predicted classes. Names are imported on first use, so that
``import metrics`` costs nothing. `metrics.accumulating` computes the measures over batches of cases; `metrics.plots`
draws them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

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

    from metrics.elicited.elicited_metric import ElicitedMetric as ElicitedMetric
    from metrics.elicited.exchange import exchange_rates as exchange_rates
    from metrics.elicited.metric_file import MetricFileError as MetricFileError
    from metrics.elicited.metric_parts import CaseWords as CaseWords
    from metrics.elicited.metric_parts import Consequence as Consequence
    from metrics.elicited.metric_parts import Provenance as Provenance
    from metrics.elicited.metric_parts import Quality as Quality
    from metrics.elicited.metric_parts import Tally as Tally
    from metrics.errors import CostsCountTwice as CostsCountTwice
    from metrics.errors import InputError as InputError
    from metrics.exports import FORMATS as FORMATS
    from metrics.exports import export as export
    from metrics.exports.tools import load_from_mlflow as load_from_mlflow
    from metrics.exports.tools import log_to_mlflow as log_to_mlflow
    from metrics.measures.calibration import calibration_curve as calibration_curve
    from metrics.measures.calibration import expected_calibration_error as expected_calibration_error
    from metrics.measures.concern import MetaPatternConcernScore as MetaPatternConcernScore
    from metrics.measures.concern import meta_pattern_concern_score as meta_pattern_concern_score
    from metrics.measures.concern import release_matrix as release_matrix
    from metrics.measures.confusion import balanced_error_rate as balanced_error_rate
    from metrics.measures.confusion import class_weighted_error_rate as class_weighted_error_rate
    from metrics.measures.confusion import confusion_matrix as confusion_matrix
    from metrics.measures.confusion import error_rate as error_rate
    from metrics.measures.confusion import natural_frequencies as natural_frequencies
    from metrics.measures.costs import cost_sensitive_decisions as cost_sensitive_decisions
    from metrics.measures.costs import expected_misclassification_cost as expected_misclassification_cost
    from metrics.measures.costs import misclassification_cost as misclassification_cost
    from metrics.measures.costs import prevalence_shift as prevalence_shift
    from metrics.measures.likelihood import density_negative_log_likelihood as density_negative_log_likelihood
    from metrics.measures.likelihood import gaussian_negative_log_likelihood as gaussian_negative_log_likelihood
    from metrics.measures.likelihood import interval_coverage as interval_coverage
    from metrics.measures.likelihood import negative_log_likelihood as negative_log_likelihood
    from metrics.measures.likelihood import probability_squared_error as probability_squared_error
    from metrics.measures.multilabel import penalized_multilabel_score as penalized_multilabel_score
    from metrics.measures.relevance import relevance_score as relevance_score
    from metrics.models.cost_curves import cost_curve as cost_curve
    from metrics.models.cost_curves import operating_point as operating_point
    from metrics.models.cost_sensitive_classifier import CostSensitiveClassifier as CostSensitiveClassifier
    from metrics.models.learning import BestEpoch as BestEpoch
    from metrics.models.learning import ConcernLearningRate as ConcernLearningRate
    from metrics.models.learning import ExpectedCostObjective as ExpectedCostObjective
    from metrics.policies.curves import policy_curves as policy_curves
    from metrics.policies.judging import judge as judge
    from metrics.policies.net_benefit import decision_curve as decision_curve
    from metrics.policies.net_benefit import net_benefit as net_benefit

_NAMES = {
    "metrics.measures.confusion": (
        "balanced_error_rate",
        "class_weighted_error_rate",
        "confusion_matrix",
        "error_rate",
        "natural_frequencies",
    ),
    "metrics.measures.costs": (
        "cost_sensitive_decisions",
        "expected_misclassification_cost",
        "misclassification_cost",
        "prevalence_shift",
    ),
    "metrics.measures.multilabel": ("penalized_multilabel_score",),
    "metrics.measures.relevance": ("relevance_score",),
    "metrics.elicited.elicited_metric": ("ElicitedMetric",),
    "metrics.elicited.exchange": ("exchange_rates",),
    "metrics.elicited.metric_file": ("MetricFileError",),
    "metrics.elicited.metric_parts": ("CaseWords", "Consequence", "Provenance", "Quality", "Tally"),
    "metrics.errors": ("CostsCountTwice", "InputError"),
    "metrics.exports": ("FORMATS", "export"),
    "metrics.exports.tools": ("load_from_mlflow", "log_to_mlflow"),
    "metrics.models.cost_curves": ("cost_curve", "operating_point"),
    "metrics.models.cost_sensitive_classifier": ("CostSensitiveClassifier",),
    "metrics.models.learning": ("BestEpoch", "ConcernLearningRate", "ExpectedCostObjective"),
    "metrics.policies.curves": ("policy_curves",),
    "metrics.policies.judging": ("judge",),
    "metrics.policies.net_benefit": ("decision_curve", "net_benefit"),
    "metrics.measures.calibration": ("calibration_curve", "expected_calibration_error"),
    "metrics.measures.concern": ("MetaPatternConcernScore", "meta_pattern_concern_score", "release_matrix"),
    "metrics.measures.likelihood": (
        "density_negative_log_likelihood",
        "gaussian_negative_log_likelihood",
        "interval_coverage",
        "negative_log_likelihood",
        "probability_squared_error",
    ),
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


if not TYPE_CHECKING:  # type checkers and editors rely on the imports above and must not see a catch-all

    def __getattr__(name: str) -> Any:
        """Import a public name from its module on first use."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(_HOME[name]), name)
        except ModuleNotFoundError as error:
            raise import_module("metrics.errors").as_missing_package(error) from None
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
