"""The sentences about models in a result, for the window and the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from elicit_app.session.views.figures import ModelView
from elicit_app.study.model import Wording
from metrics.display.numbers import total_cost


def model_headline(models: Sequence[ModelView]) -> tuple[str, str]:
    """Return the headline of the page on models and the sentence under it."""
    first = _first(models)
    others = len(models) - len(first)
    if len(models) == 1:
        return (
            f"One model: {first[0]}",
            "With the predictions of a second model this page says which of them is cheaper.",
        )
    if len(first) == 1:
        which = "the other" if others == 1 else "the others"
        return f"{first[0]} is cheapest", f"Your answers and these cases put it clearly ahead of {which}."
    pair = "the two" if len(first) == 2 else f"the {len(first)}"
    sentence = f"Your answers and these cases cannot say which of {pair} is cheaper."
    if others:
        all_of = "Both" if len(first) == 2 else "All"
        sentence += f" {all_of} are clearly ahead of {'the other' if others == 1 else 'the others'}."
    return f"{_together(first)} are tied", sentence


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


def scenario_headline(models: Sequence[ModelView], today: Sequence[ModelView]) -> tuple[str, str]:
    """Return the headline of a scenario and the sentence under it, which compares it with the study's own prevalence.

    Parameters
    ----------
    models, today : sequence of ModelView
        The same models, the cheapest first: in the scenario, and as the classes are in the study.
    """
    first, now = _first(models), _first(today)
    if len(models) == 1:
        return (
            f"{models[0].name} would cost {total_cost(models[0].cost)}",
            f"In your study it costs {total_cost(today[0].cost)}.",
        )
    would = f"{first[0]} would be cheapest" if len(first) == 1 else f"{_together(first)} would be tied"
    if set(first) == set(now):
        return would, "As in your study."
    before = f"{now[0]} is cheapest" if len(now) == 1 else f"{_together(now)} are tied"
    return would, f"In your study {before}."


def cases_words(cases: Sequence[int], wording: Wording) -> str:
    """Return the cases of each true class in words: "120 melanomas, 880 naevi"; with many classes the largest six."""
    order = sorted(range(len(cases)), key=lambda i: -cases[i])[:6] if len(cases) > 6 else range(len(cases))
    named = [f"{cases[i]:,} {wording.class_one[i] if cases[i] == 1 else wording.class_many[i]}" for i in sorted(order)]
    left = sum(cases) - sum(cases[i] for i in order)
    return ", ".join([*named, f"{left:,} others"] if left else named)
