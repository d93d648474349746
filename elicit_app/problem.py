"""What went wrong, in one sentence that says what to do."""

from dataclasses import dataclass


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
