"""How the help of a command names its arguments and what options take: in words, never as types of Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

_WORDS = {"path": "FILE", "file": "FILE", "str": "TEXT", "int": "N", "float": "NUMBER"}
_TYPE = re.compile(r"<(\w+?)(?: range)?>|<([^>]*)>")


class Command(TyperCommand):
    """A command whose arguments are shown as their `metavar` spells them: METRIC, FILE..., [NAME]."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the name of the command in its usage."""
        return ["[OPTIONS]", *(str(one.metavar) for one in self.params if one.param_type_name == "argument")]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options with their help."""
        arguments, options = [], []
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is None:
                continue
            if one.param_type_name == "argument":
                arguments.append((str(one.metavar), record[1]))
            else:
                options.append((_TYPE.sub(_in_words, record[0]), record[1]))
        for heading, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _in_words(found: re.Match[str]) -> str:
    plain, choices = found.groups()
    return _WORDS.get(plain, plain) if plain else choices


class Commands(typer.Typer):
    """A group of such commands."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Return the decorator that adds a command; settings are those of typer."""
        return super().command(name, **({"cls": Command} | settings))
