"""The command in this process: as `tests/acceptance` runs it, without the second that a process takes to start."""

import contextlib
import importlib.util
import shlex
from pathlib import Path
from subprocess import CompletedProcess

import pytest


@pytest.fixture(scope="session")
def elicit():
    """Returns what runs the command: its arguments, its folder, and what is typed."""
    path = Path(__file__).parents[1] / "acceptance" / "record.py"
    spec = importlib.util.spec_from_file_location("acceptance_record", path)
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)

    def run(*arguments, cwd=".", stdin=""):
        with contextlib.chdir(cwd):
            return CompletedProcess(arguments, *record.run_here([str(each) for each in arguments], stdin))

    return run


@pytest.fixture
def run_line(elicit, tmp_path):
    """Returns what runs a command line in the test's folder: what it prints, or the words of what it refuses."""

    def run(line, code=0):
        done = elicit(*shlex.split(line), cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else " ".join(done.stderr.replace("│", " ").split())

    return run
