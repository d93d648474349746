"""What the help of every command shows: arguments and options in words, as somebody types them."""

import json
import re
import shlex
from collections.abc import Iterator

import pytest
import typer

from elicit_app.cli.main import app


def commands(command, name) -> Iterator[tuple[str, ...]]:
    if not hasattr(command, "commands"):
        yield name
    for part, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*name, part))


EVERY = tuple(commands(typer.main.get_command(app), ()))


@pytest.mark.parametrize("name", EVERY, ids=" ".join)
def test_no_type_of_python_is_shown(elicit, name):
    shown = elicit(*name, "--help").stdout
    head, _, _ = shown.partition("\n\n")
    assert head.startswith(f"Usage: elicit {shlex.join(name)} [OPTIONS]")
    assert not re.search(r"[{}<>]", head)
    assert not re.search(r"<(path|str|int|float|list|Path|[a-z]+\|)|list\[|range>", shown)


def test_several_files_are_shown_as_such(elicit):
    assert "METRIC PREDICTIONS...\n" in elicit("score", "--help").stdout
    assert "STUDY FILE...\n" in elicit("study", "collect", "--help").stdout
    assert "--family dlpm|lpm|dlfpm|lfpm " in elicit("ask", "--help").stdout


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--questions", "x"), "it must be a whole number, not 'x'."),
        (("--questions", "0"), "it must be at least 1, not '0'."),
        (("--purpose", "sell"), "'sell' is not one of 'choose', 'costs', 'both'."),
    ],
)
def test_a_wrong_value_is_told_in_our_words(elicit, typed, words):
    refused = elicit("ask", "wine", *typed)
    assert refused.returncode == 2
    assert refused.stderr.endswith(f"Error: Invalid value for '{typed[0]}': {words}\n")


def test_a_study_here_comes_before_one_of_its_name_that_comes_with_elicit(run_line, tmp_path):
    (tmp_path / "p.csv").write_text("y_true,proba_a,proba_b\na,0.9,0.1\na,0.4,0.6\nb,0.2,0.8\n")
    (tmp_path / "digits").mkdir()  # not a study
    assert "Next: elicit open wine" in run_line("study new wine p.csv")
    assert "“Wine” has 1 model: other." in run_line("study change wine --rename p=other")
    line = "simulate wine --procedure dlpm --runs 1 --questions 4 --json"
    assert json.loads(run_line(line))["classes"] == ["a", "b"]
    assert len(json.loads(run_line(line.replace("wine", "digits")))["classes"]) == 10
