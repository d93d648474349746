"""What several rooms' tests share."""

import pytest


@pytest.fixture(scope="session")
def two_workers():
    """A Dask cluster of two processes, which take seconds to start."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster
