"""A study while its words are being edited, without Qt."""

from __future__ import annotations

from dataclasses import replace

from elicit_app.study.model import Mistake, Study, Wording
from elicit_app.study.wording import default_wording

Key = tuple[int, int | None]
"""(true, predicted); None stands for any wrong answer for that truth."""


def keys_of(study: Study) -> tuple[Key, ...]:
    """Return every mistake that has words: by true class, then by predicted class, then any wrong answer."""
    k = study.n_classes
    pairs: list[Key] = [(i, j) for i in range(k) for j in range(k) if i != j]
    return (*pairs, *((i, None) for i in range(k)))


def mistake_at(wording: Wording, key: Key) -> Mistake:
    """Return the words of one mistake."""
    true, predicted = key
    return wording.any_mistake[true] if predicted is None else wording.mistakes[true, predicted]


def with_mistake(study: Study, key: Key, mistake: Mistake) -> Study:
    """Return the study with other words for one mistake."""
    true, predicted = key
    wording = study.wording
    if predicted is None:
        named = tuple(mistake if at == true else other for at, other in enumerate(wording.any_mistake))
        return replace(study, wording=replace(wording, any_mistake=named))
    return replace(study, wording=replace(wording, mistakes={**wording.mistakes, (true, predicted): mistake}))


def with_nouns(study: Study, case: str, cases: str, class_one: tuple[str, ...], class_many: tuple[str, ...]) -> Study:
    """Return the study with other nouns; words of mistakes that were still the default ones follow them."""
    before = study.wording
    old = default_wording(before.class_one, before.case, before.cases)
    new = default_wording(class_one, case, cases)
    mistakes = {
        key: new.mistakes[key] if _untouched(mistake, old.mistakes[key]) else mistake
        for key, mistake in before.mistakes.items()
    }
    named = tuple(
        new.any_mistake[at] if _untouched(mistake, old.any_mistake[at]) else mistake
        for at, mistake in enumerate(before.any_mistake)
    )
    return replace(study, wording=Wording(case, cases, class_one, class_many, mistakes, named))


def _untouched(mistake: Mistake, default: Mistake) -> bool:
    return (mistake.name, mistake.one, mistake.many) == (default.name, default.one, default.many)


def flow(study: Study, key: Key) -> str:
    """Return truth and prediction of a mistake: "melanoma called naevus"."""
    true, predicted = key
    called = "anything else" if predicted is None else study.wording.class_one[predicted]
    return f"{study.wording.class_one[true]} called {called}"


def matches(study: Study, key: Key, typed: str) -> bool:
    """Tell whether a mistake is found by what was typed: every word somewhere in its words."""
    mistake = mistake_at(study.wording, key)
    text = " ".join((flow(study, key), mistake.name, mistake.one, mistake.many, mistake.consequence)).lower()
    return all(word in text for word in typed.lower().split())
