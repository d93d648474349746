"""What holds for all tests: how many examples hypothesis tries, and one thread of linear algebra.

`pytest --hypothesis-profile=long` tries many examples of every law.
"""

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("suite", max_examples=40, deadline=None)
settings.register_profile("long", max_examples=500, deadline=None)
settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def one_thread_of_linear_algebra():
    """Matrices are small here: threads that wait for each other on a busy machine cost many times what they do."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(scope="session")
def two_workers():
    """A Dask cluster of two processes, which take seconds to start."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster
