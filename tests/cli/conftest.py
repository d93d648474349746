"""A command line in this process; `elicit` of `tests/conftest.py` runs it."""

import shlex

import pytest


@pytest.fixture
def run_line(elicit, tmp_path):
    """Returns what runs a command line in the test's folder: what it prints, or the words of what it refuses.

    What went to standard error is in its `messages`.
    """
    messages = []

    def run(line, code=0):
        done = elicit(*shlex.split(line), cwd=tmp_path)
        assert done.returncode == code, done.stderr
        messages.append(done.stderr)
        return done.stdout if code == 0 else " ".join(done.stderr.replace("│", " ").split())

    run.messages = messages
    return run
