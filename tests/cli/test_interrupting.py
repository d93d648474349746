"""Ctrl+C ends the command at once and quietly, wherever it waits."""

import os
import re
import select
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals of this kind are not known there")

# What is typed, line by line, and the prompt it leads to: what the answers are for, a first guess, the questions.
PLACES = [
    pytest.param("", [b"(Enter: 1)"], id="purpose"),
    pytest.param("\n", [b"1/3;", b")"], id="guess"),
    pytest.param("\n\n1\n", [b"Question 2,", b"> "], id="question"),
]


def until(descriptor, *texts):
    """Read from the terminal until these texts have come up, one after the other; nothing new for ten minutes fails."""
    seen = b""
    while not re.search(b".*".join(map(re.escape, texts)), seen, re.DOTALL):
        assert select.select([descriptor], [], [], 600)[0], seen.decode()
        seen += os.read(descriptor, 4096)
    return seen


def interrupted(running):
    """Press Ctrl+C and return how the command ended; a second time where Python lost the first in a finalizer."""
    for patience in (60, 600):
        running.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return running.wait(timeout=patience)
    return None


def test_while_packages_are_loaded():
    code = (
        "import sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from elicit_command import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"")


@pytest.mark.parametrize(("typed", "prompts"), PLACES)
def test_while_somebody_should_type(tmp_path, typed, prompts):
    window, terminal = os.openpty()
    command = [
        sys.executable,
        "-c",
        "from elicit_app.cli.main import run; run()",
        "ask",
        "breast-cancer",
        "--seed",
        "1",
    ]
    with subprocess.Popen(
        command,
        stdin=terminal,
        stderr=terminal,
        stdout=subprocess.PIPE,
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path), "TERM": "dumb"},
        start_new_session=True,
    ) as running:
        os.close(terminal)
        os.write(window, typed.encode())
        shown = until(window, *prompts)
        try:
            assert interrupted(running) == 130
        finally:
            running.kill()
        assert running.stdout.read() == b""
        if prompts[-1] == b"> ":
            shown += until(window, b"Left. Every answer is kept in")
    assert b"Traceback" not in shown
    os.close(window)
