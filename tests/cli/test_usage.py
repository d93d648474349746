"""What the help of every command shows: arguments and options in words, as somebody types them."""

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
