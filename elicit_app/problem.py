"""Errors that people see: one sentence that says what went wrong and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from metrics.errors import InputError

_OPTION = re.compile(r"`(\w+)`")


@dataclass(frozen=True)
class Finding:
    """One fault to correct."""

    what: str  # the fault and its location: "Row 214: the probabilities add up to 0.87, not 1"
    remedy: str = ""  # what to do about it, one or two sentences


class Problem(Exception):  # noqa: N818  a problem is told to people, it is not a crash
    """Work that could not be done, described in one sentence; never shown as a traceback.

    The sentence names the file and the row or field, says what was expected and what to do. `findings` are the
    individual faults, in the order found, if there are several, and `file` is where they were found.
    """

    def __init__(self, sentence: str, findings: tuple[Finding, ...] = (), file: Path | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.findings = findings
        self.file = file


class WrongOption(Problem):
    """Options that do not exist or cannot be combined: a usage error, not a failure of the work.

    In the sentence options are given in backquotes by their field name: "`epsilon` must be below 1.".
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(_OPTION.sub(lambda found: found[1].replace("_", " "), sentence))
        self._marked = sentence

    def with_option_names(self, name: Callable[[str], str]) -> str:
        """Return the sentence with options named as where they were given, for example on the command line."""
        return _OPTION.sub(lambda found: name(found[1]), self._marked)


def in_words(error: BaseException) -> str:
    """Return any error as a sentence: a problem, wrong input, a failure of the machine, or a fault of the program."""
    if isinstance(error, Problem):
        return error.sentence
    if isinstance(error, InputError):
        return f"{error}".rstrip(".") + "."
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; close other programs or use a smaller file."
    return f"Something went wrong inside elicit ({type(error).__name__}: {error})."


HEADED = (".csv", ".tsv", ".txt")
"""Endings of the names of text files whose first line names the columns."""

_MOST_FINDINGS = 3
_SENTENCE_END = re.compile(r"\. (?![^“]*”)")  # not inside a name such as “Dr. A”
_CAPITAL = re.compile(r"^[A-Z](?=[a-z]|\b)")  # of a word, "Write" or "A", not of an abbreviation
_ROW = re.compile(r"\b[Rr]ow \d")


def file_problem(path: Path, *findings: Finding) -> Problem:
    """Return a problem with a file as one sentence, about its first findings; it keeps all of them."""
    told = first_of(findings, _MOST_FINDINGS)
    parts = [f"{found.what} ({_clause(found.remedy)})" if found.remedy else found.what for found in told]
    if len(findings) > len(told):
        parts.append(f"and {len(findings) - len(told)} more")
    if any(_ROW.search(found.what) for found in findings):
        parts.append(
            "row 1 is the first below the header" if path.suffix.lower() in HEADED else "the first row is row 1"
        )
    return Problem(f"{path.name} cannot be used: {'; '.join(parts)}.", findings, path)


Item = TypeVar("Item")


def listed(items: list[str], most: int = 5) -> str:
    """Return the first items in quotation marks, and the number of the others."""
    return _joined([f"“{shortened(item)}”" for item in items], most)


def _joined(texts: Sequence[str], most: int) -> str:
    shown = first_of(texts, most)
    return ", ".join(shown) + (f" and {len(texts) - len(shown):,} more" if len(texts) > len(shown) else "")


def first_of(items: Sequence[Item], most: int) -> Sequence[Item]:
    """Return the first `most` items; all of them if that leaves out only one, since "1 more" is no shorter."""
    return items if len(items) <= most + 1 else items[:most]


def differences_first(one: Sequence[str], other: Sequence[str], most: int = 6) -> tuple[str, str]:
    """Return two unequal lists of names in words; of many, what is not in the other list or elsewhere in it first.

    >>> differences_first("abcdefgh", "abcdefgk")
    ('h, a, b, c, d, e and 2 more', 'k, a, b, c, d, e and 2 more')
    """

    def in_words(names: Sequence[str], others: Sequence[str]) -> str:
        places = {name: place for place, name in enumerate(others)}
        order = [*enumerate(names)]
        if len(names) > most:
            order.sort(key=lambda item: (item[1] in places, places.get(item[1]) == item[0]))
        return _joined([shortened(name) for _, name in order], most)

    return in_words(one, other), in_words(other, one)


def shortened(text: str, most: int = 40) -> str:
    """Return text from a file in a form safe to show: at most 40 characters, all printable."""
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text.strip())
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def _clause(remedy: str) -> str:
    """Return the sentences of a remedy as one clause, each without its capital; abbreviations keep theirs."""
    parts = (part.strip().rstrip(".") for part in _SENTENCE_END.split(remedy))
    return "; ".join(_CAPITAL.sub(lambda found: found[0].lower(), part) for part in parts)
