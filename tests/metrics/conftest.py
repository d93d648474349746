"""Settings of these tests: no time limit per example, since machines are shared, and linear algebra on one thread."""

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def one_thread_of_linear_algebra():
    """Threads that wait for each other on a busy machine cost many times what they do."""
    with threadpool_limits(1, user_api="blas"):
        yield
