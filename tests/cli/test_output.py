"""What a file holds is text to the terminal: no command prints an escape sequence, a turned direction or markup.

A progress bar appears on a terminal only.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from rich.table import Table

import elicit_app.cli
from elicit_app.cli import output
from elicit_app.cli.main import run
from metrics import ElicitedMetric
from metrics.text import isolated

CLI = Path(elicit_app.cli.__file__).parent
NAMES = ("\x1b]0;OWNED\x07\x1b[31m", "[red]benign[/red]", "\u202egnol", "סרטן")
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067\u200e\u200f]")


@pytest.fixture
def elicit(monkeypatch, capfd):
    """Run a command as from a shell, in this process; returns what it printed and its exit code."""

    def command(*arguments):
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["elicit", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            run()
        return out.getvalue(), err.getvalue(), ended.value.code

    return command


@pytest.fixture
def hostile(tmp_path):
    """A predictions file and a metric file of classes with hostile names."""
    k = len(NAMES)
    rows = [[0.7 if j == i % k else 0.1 for j in range(k)] for i in range(40)]
    truth = [NAMES[i % k] if i % 3 else NAMES[(i + 1) % k] for i in range(40)]
    table = {"y_true": truth, **{f"proba_{name}": [row[j] for row in rows] for j, name in enumerate(NAMES)}}
    predictions = tmp_path / "models.parquet"
    pl.DataFrame(table).write_parquet(predictions)
    costs = [[0 if i == j else (1 + i + 2 * j) / 20 for j in range(k)] for i in range(k)]
    metric = tmp_path / "hostile.metric.json"
    ElicitedMetric.from_cost_matrix(list(NAMES), costs).save(metric)
    return predictions, metric


def test_no_command_prints_what_a_terminal_obeys(elicit, hostile, tmp_path) -> None:
    predictions, metric = hostile
    commands = (
        ("study", "new", tmp_path / "made", "--predictions", predictions, "--name", NAMES[0]),
        ("metric", "show", metric),
        ("score", metric, predictions, "--draws", "0"),
        ("score", metric, predictions, "--prevalence", f"{NAMES[0]}=2"),
        ("simulate", tmp_path / "made", "--procedure", "lpm", "--space", "sphere", "--questions", "3"),
        ("metric", "check", tmp_path / f"none{NAMES[0]}.json"),
        ("ask", f"nothing {NAMES[2]}"),
        ("metric", NAMES[0]),
    )
    for command in commands:
        out, err, _ = elicit(*command)
        assert out + err
        assert not UNWANTED.search(out + err), command
    assert "[red]benign[/red]" in elicit("metric", "show", metric)[0].replace("\\", "")


def test_json_keeps_every_name_and_shows_none_of_the_characters(elicit, hostile) -> None:
    predictions, metric = hostile
    out, _, code = elicit("score", metric, predictions, "--draws", "0", "--json")
    assert code == 0
    assert not UNWANTED.search(out)
    assert set(json.loads(out)["prevalence"]) == set(NAMES)


def test_a_name_copied_from_the_terminal_is_the_name(elicit, hostile, tmp_path) -> None:
    predictions, metric = hostile
    shown = isolated(NAMES[3])
    assert shown != NAMES[3]
    told, copied = (
        elicit("score", metric, predictions, "--prevalence", f"{name}=0.7", "--draws", "0", "--json")
        for name in (NAMES[3], shown)
    )
    assert copied == told
    assert json.loads(told[0])["prevalence"][NAMES[3]] == pytest.approx(0.7)


def test_tables_know_no_markup_and_isolate_names(monkeypatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    output.install_safe_streams()
    table = Table("Class")
    for name in NAMES:
        table.add_row(name)
    output.console().print(table, "[bold]not bold[/bold]")
    shown = out.getvalue()
    assert "[red]benign[/red]" in shown
    assert "[bold]not bold[/bold]" in shown
    assert "\u2068סרטן\u2069" in shown
    assert not UNWANTED.search(shown)


def test_every_command_prints_through_the_one_sink() -> None:
    bare = re.compile(r"\bConsole\(|print\(json|sys\.__std")
    users = {path.name for path in CLI.glob("*.py") if bare.search(path.read_text("utf-8"))}
    assert not users, "print tables on output.console(), JSON by output.print_json()"


PROGRESS = """
import time
from elicit_app.cli import output
assert output._PATIENCE == 1.0
output._PATIENCE = 0.1
with output.progress("Scoring", 3) as advance:
    for _ in range(3):
        time.sleep(0.05)
        advance(1)
with output.progress("Reading") as advance:
    for _ in range(3):
        time.sleep(0.11)
        advance(1, 4)
with output.progress("Computing"):
    time.sleep(0.3)
"""


def test_a_progress_bar_appears_after_a_second_and_only_on_a_terminal():
    piped = subprocess.run([sys.executable, "-c", PROGRESS], capture_output=True, text=True, check=True)
    assert piped.stdout + piped.stderr == ""
    terminal, inside = os.openpty()
    shown = subprocess.run([sys.executable, "-c", PROGRESS], stdout=subprocess.PIPE, stderr=inside, check=True)
    os.close(inside)
    assert shown.stdout == b""
    written = b""
    with suppress(OSError):  # which Linux raises at the end of it
        while some := os.read(terminal, 10_000):
            written += some
    os.close(terminal)
    assert b"Scoring" in written
    assert b"Reading" in written
    assert b"25 %" in written  # out of a total that was found on the way
    assert b"Computing" in written
    assert b"%" not in written.partition(b"Computing")[2]  # where nothing is known of a total
