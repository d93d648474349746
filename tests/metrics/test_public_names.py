import subprocess
import sys
from pathlib import Path

import pytest

import metrics
from metrics.displays import CostCurveDisplay, CostDisplay, DecisionCurveDisplay

PUBLIC = """
confusion_matrix error_rate balanced_error_rate class_weighted_error_rate misclassification_cost
expected_misclassification_cost cost_sensitive_decisions negative_log_likelihood calibration_curve
expected_calibration_error meta_pattern_concern_score release_matrix probability_squared_error
relevance_score penalized_multilabel_score gaussian_negative_log_likelihood interval_coverage accuracy_score
precision_score recall_score f1_score matthews_corrcoef roc_curve roc_auc_score multilabel_confusion_matrix
mean_squared_error root_mean_squared_error mean_absolute_error r2_score ElicitedMetric
"""


@pytest.mark.parametrize("name", PUBLIC.split())
def test_the_public_names_are_there(name):
    assert callable(getattr(metrics, name))
    assert name in dir(metrics)


def test_the_names_are_those_that_type_checkers_see():
    source = Path(metrics.__file__).read_text(encoding="utf-8")
    imported = {line.split(" as ")[1] for line in source.splitlines() if line.startswith("    from ")}
    assert imported == set(metrics.__all__)
    with pytest.raises(AttributeError, match="no attribute 'accuracy'"):
        _ = metrics.accuracy


def test_no_public_name_is_hidden_by_a_module():
    folder = Path(metrics.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert not modules & set(metrics.__all__)


@pytest.mark.parametrize("given", [[[0, 1], [1, 0]], "lesions.metric.json", None])
@pytest.mark.parametrize(
    "use",
    [
        lambda given: metrics.judge(given, [0, 1], {"a": [[0.5, 0.5], [0.1, 0.9]]}),
        lambda given: metrics.policy_curves(given, [0, 1], {"a": [[0.5, 0.5], [0.1, 0.9]]}),
        lambda given: metrics.export(given, "csv"),
        lambda given: metrics.export(given, "html"),
        lambda given: metrics.cost_curve(given, {"a": [[1, 0], [0, 1]]}, (0, 1)),
        lambda given: metrics.operating_point([0, 1], [0.5, 0.9], given, pos_label=1),
        metrics.exchange_rates,
        metrics.ExpectedCostObjective,
        lambda given: CostDisplay.from_predictions([0, 1], [1, 1], given),
        lambda given: CostCurveDisplay.from_predictions([0, 1], [1, 1], given, (0, 1)),
        lambda given: DecisionCurveDisplay.from_predictions([0, 1], [0.1, 0.9], metric=given or "no metric"),
    ],
)
def test_what_is_no_metric_is_refused_in_words(use, given):
    with pytest.raises(TypeError, match=r"^metric: an ElicitedMetric was expected, found ") as caught:
        use(given)
    assert isinstance(caught.value, metrics.InputError)


def test_importing_metrics_imports_nothing_heavy():
    code = "import sys, metrics; print([m for m in ('numpy', 'scipy', 'sklearn', 'matplotlib') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
