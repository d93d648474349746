"""What holds for all tests: how many examples hypothesis tries, and one thread of linear algebra.

The examples are the same every time; `pytest --hypothesis-profile=long` tries many others of every law.
"""

import contextlib
import functools
import gc
import importlib.util
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
import typer.main
import typer.testing
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("suite", max_examples=40, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=500, deadline=None)
settings.load_profile("suite")


gc.disable()  # what is read while tests are collected stays; looking through it for garbage takes a quarter of the time


def pytest_collection_finish():
    """Leave out of later searches for garbage what was read by now: half a million objects that no test drops."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """The long tests first, so that no process is left alone with one in the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(autouse=True, scope="session")
def one_thread_of_linear_algebra():
    """Matrices are small here: threads that wait for each other on a busy machine cost many times what they do."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(autouse=True, scope="session")
def one_building_of_the_command():
    """typer makes the program of its functions whenever it is called, which takes longer than most commands."""
    with pytest.MonkeyPatch.context() as patch:
        build = functools.cache(typer.main.get_command)
        patch.setattr(typer.main, "get_command", build)
        patch.setattr(typer.testing, "_get_command", build)
        yield


@pytest.fixture(scope="module")
def few_draws():
    """Questions are chosen, and rivals of linear costs tried, by a third of the draws; a result has no more of them.

    What is shown has so many more that making it takes as long as ten questions. Where a test is about what is done
    with a question or a result, and not about how well something is known, that says nothing more.
    """
    from elicit_app.elicitation import belief, linearity
    from elicit_app.elicitation.procedures import bayes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(belief, "ENOUGH_TO_SHOW", (0.0, 0.0))
        patch.setattr(bayes, "PARTICLES", 150)
        patch.setattr(linearity, "_PARTICLES", 200)
        yield


@pytest.fixture(autouse=True, scope="module")
def few_draws_where_results_are_only_used(request):
    """What is known after answers is tested in `tests/elicitation` and `tests/acceptance`; the other rooms use it."""
    room = request.path.relative_to(Path(__file__).parent).parts[0]
    others = ("cli", "experiments", "gui", "registry", "session", "test_old_files.py")
    if room in others and request.node.get_closest_marker("usual_draws") is None:
        request.getfixturevalue("few_draws")


@pytest.fixture(scope="session")
def answer_by_costs():
    """Returns what answers a session to its end for somebody with given costs, (k, k); the diagonal is 0."""

    def answer(session, costs, **details):
        while (asking := session.asking()) is not None:
            trade = np.subtract(asking.pair.first, asking.pair.second)
            session.answer("left" if ((trade * costs).sum() < 0) == (asking.left == "first") else "right", **details)

    return answer


@pytest.fixture(scope="session")
def elicit():
    """Returns what runs the command in this process: its arguments, its folder, and what is typed.

    `tests/acceptance` runs it in the same way, without the second that a process takes to start.
    """
    path = Path(__file__).parent / "acceptance" / "record.py"
    spec = importlib.util.spec_from_file_location("acceptance_record", path)
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)

    def run(*arguments, cwd=".", stdin=""):
        with contextlib.chdir(cwd):
            return CompletedProcess(arguments, *record.run_here([str(each) for each in arguments], stdin))

    return run
