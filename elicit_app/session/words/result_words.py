"""The sentences about models in a result, for the window and the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from elicit_app.session.views.figures import ModelView
from elicit_app.study.model import Wording


def _first(models: Sequence[ModelView]) -> list[str]:
    """Return the models that share the first rank."""
    return [model.name for model in models if model.rank == models[0].rank]


def cheapest_words(models: Sequence[ModelView]) -> str:
    """Return the cheapest model, or which ones are tied: "ViT-B/16", "ViT-B/16 and ResNet-50 are tied"."""
    first = _first(models)
    return first[0] if len(first) == 1 else f"{_together(first)} are tied"


def _together(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= 3 else f"{len(names)} models"


def scenario_sentence(there: str, here: str) -> str:
    """Return how the recommendation of a scenario stands to that of the study itself."""
    return "As in your study." if there == here else f"In your study: {here}"


def cases_words(cases: Sequence[int], wording: Wording) -> str:
    """Return the cases of each true class in words: "120 melanomas, 880 naevi"; with many classes the largest six."""
    order = sorted(range(len(cases)), key=lambda i: -cases[i])[:6] if len(cases) > 6 else range(len(cases))
    named = [f"{cases[i]:,} {wording.class_one[i] if cases[i] == 1 else wording.class_many[i]}" for i in sorted(order)]
    left = sum(cases) - sum(cases[i] for i in order)
    return ", ".join([*named, f"{left:,} others"] if left else named)
