"""The command in this process: as `tests/acceptance` runs it, without the second that a process takes to start."""

import contextlib
import importlib.util
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
