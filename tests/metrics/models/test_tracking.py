"""A metric kept with a run of MLflow comes back as it was; runs where MLflow is installed."""

import numpy as np
import pytest

from metrics import ElicitedMetric, MetricFileError, load_from_mlflow, log_to_mlflow

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_a_metric_comes_back_from_a_run(tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("e", artifact_location=(tmp_path / "files").as_uri()))
    weights = -np.abs(np.random.default_rng(0).normal(size=(5, 2)))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 4], [1, 0]], samples=weights, name="Lumps")
    with mlflow.start_run() as run:
        address = log_to_mlflow(metric)
        other = mlflow.MlflowClient().log_text(run.info.run_id, "{}", "other.json")
        assert other is None
    assert load_from_mlflow(address) == metric
    assert mlflow.get_run(run.info.run_id).data.tags["elicited_metric"] == "Lumps"
    with pytest.raises(MetricFileError, match=r"other\.json"):
        load_from_mlflow(f"runs:/{run.info.run_id}/other.json")
