"""The words of a study: generic ones for every class, and checks of those that people state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elicit_app.problem import Finding, Problem
from elicit_app.study.model import Mistake, Wording

LONGEST_CONSEQUENCE = 45


def default_wording(classes: Sequence[str], case: str = "case", cases: str = "cases") -> Wording:
    """Return words that fit any study: "Melanoma called naevus", "melanoma cases called naevus".

    Parameters
    ----------
    classes : sequence of str
        Names of the classes; numbers become "class 7".
    case, cases : str
        What is classified.
    """
    names = [f"class {name}" if name.lstrip("+-").isdigit() else name for name in classes]
    many = tuple(f"{name} {cases}" for name in names)
    k = len(names)

    def mistake(true: int, called: str) -> Mistake:
        name = f"{names[true]} called {called}"
        return Mistake(
            name[:1].upper() + name[1:], f"{names[true]} {case} called {called}", f"{many[true]} called {called}"
        )

    return Wording(
        case=case,
        cases=cases,
        class_one=tuple(names),
        class_many=many,
        mistakes={(i, j): mistake(i, names[j]) for i in range(k) for j in range(k) if i != j},
        any_mistake=tuple(mistake(i, names[1 - i] if k == 2 else "something else") for i in range(k)),
    )


def check_wording(wording: Wording, classes: Sequence[str]) -> None:
    """Refuse words that cannot be shown.

    Parameters
    ----------
    wording : Wording
        As stated, complete.
    classes : sequence of str
        Names of the study's classes, for the sentences.

    Raises
    ------
    Problem
        Every word that is empty, missing for a class, or a consequence too long for the page.
    """
    k = len(classes)
    findings = [*_counts(wording, k)] or [*_texts(wording, classes)]
    if findings:
        raise Problem(f"The words of the study need a change: {findings[0].what}.", tuple(findings))


def _counts(wording: Wording, k: int) -> Iterator[Finding]:
    pairs = {(i, j) for i in range(k) for j in range(k) if i != j}
    if not len(wording.class_one) == len(wording.class_many) == len(wording.any_mistake) == k:
        yield Finding(f"there must be words for each of the {k} classes")
    if set(wording.mistakes) != pairs:
        yield Finding(f"there must be words for each of the {len(pairs)} kinds of mistake")


def _texts(wording: Wording, classes: Sequence[str]) -> Iterator[Finding]:
    texts = [("the word for one case", wording.case), ("the word for several cases", wording.cases)]
    for name, one, many in zip(classes, wording.class_one, wording.class_many, strict=True):
        texts += [(f"the word for one “{name}”", one), (f"the word for several “{name}”", many)]
    said = {f"“{classes[i]}” called “{classes[j]}”": mistake for (i, j), mistake in wording.mistakes.items()}
    said |= {f"any wrong answer for “{classes[i]}”": mistake for i, mistake in enumerate(wording.any_mistake)}
    for where, mistake in said.items():
        texts += [(f"the {part} of {where}", getattr(mistake, part)) for part in ("name", "one", "many")]
        if len(mistake.consequence) > LONGEST_CONSEQUENCE:
            message = f"the consequence of {where} has {len(mistake.consequence)} characters"
            yield Finding(message, f"At most {LONGEST_CONSEQUENCE} fit on the page.")
    for where, text in texts:
        if not text.strip():
            yield Finding(f"{where} is empty", "Write a word or two.")
