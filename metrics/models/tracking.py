"""An elicited metric beside the models it chose: kept in a run of MLflow, and read back from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metrics.elicited.elicited_metric import ElicitedMetric

if TYPE_CHECKING:
    pass

FILE = "elicited.metric.json"


def log_to_mlflow(metric: ElicitedMetric, artifact_file: str = FILE, *, run_id: str | None = None) -> str:
    """Keep a metric with an MLflow run: its file as an artifact, its name and cost matrix as tags to search for.

    Parameters
    ----------
    metric : ElicitedMetric
        The metric.
    artifact_file : str
        Path inside the run's artifacts.
    run_id : str, optional
        The run; by default the one that is active, or a new one.

    Returns
    -------
    str
        The address that `load_from_mlflow` takes: ``runs:/RUN/elicited.metric.json``.
    """
    import mlflow

    client = mlflow.MlflowClient()
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    client.log_text(run, metric.to_json(), artifact_file)
    client.set_tag(run, "elicited_metric", metric.name)
    client.set_tag(run, "elicited_metric.cost_matrix", str(metric.cost_matrix.tolist()))
    return f"runs:/{run}/{artifact_file}"


def load_from_mlflow(address: str) -> ElicitedMetric:
    """Read a metric that `log_to_mlflow` kept; everything in the file is checked as by `ElicitedMetric.load`.

    Parameters
    ----------
    address : str
        ``runs:/RUN/FILE`` or any other address of an artifact.

    Raises
    ------
    MetricFileError
        In one sentence, where the artifact is no elicited metric.
    """
    import mlflow

    return ElicitedMetric.from_json(mlflow.artifacts.load_text(address), address)
