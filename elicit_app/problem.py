"""What went wrong, in one sentence that says what to do."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_OPTION = re.compile(r"`(\w+)`")


@dataclass(frozen=True)
class Finding:
    """One thing that has to be put right.

    Parameters
    ----------
    what : str
        The fault, with its place: "Row 214: the probabilities add up to 0.87, not 1".
    remedy : str
        What to do about it, one or two sentences.
    """

    what: str
    remedy: str = ""


class Problem(Exception):  # noqa: N818  a problem is told to people, it is not a crash
    """Work that could not be done: said in one sentence, never shown as a traceback.

    Parameters
    ----------
    sentence : str
        Which file, which row or field, what was expected, what to do.
    findings : tuple of Finding
        The single faults where there are several, in the order found.
    """

    def __init__(self, sentence: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.findings = findings


class WrongOption(Problem):
    """Options that do not exist or do not go together: wrong usage, not work that failed.

    Parameters
    ----------
    sentence : str
        Options stand in it between backquotes, by the name of their field: "`epsilon` must be below 1.".
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(_OPTION.sub(lambda found: found[1].replace("_", " "), sentence))
        self._marked = sentence

    def worded(self, name: Callable[[str], str]) -> str:
        """Return the sentence with every option named as where it was given, such as on a command line."""
        return _OPTION.sub(lambda found: name(found[1]), self._marked)
