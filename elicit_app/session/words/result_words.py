"""The sentences and numbers of a result, for the window and the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elicit_app.session.views.figures import ModelView, RatioView
from elicit_app.session.views.outcome import ResultView
from elicit_app.study.model import Mistake, Wording

NOT_KNOWN = "–"
_ROUGH = 10.0  # a 90 % range from one end to this many times as much is said as a range, not as a number


def amount(value: float, digits: int = 2) -> str:
    """Return a ratio for people: a few significant digits, no exponent: 7.5, 0.04, 12, 1,300."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "any number"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    if decimals <= 0 or abs(rounded) >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    # Rounding may have gained a digit: 0.0999 is 0.10, said as 0.1.
    return f"{rounded:,.{decimals}f}".rstrip("0").rstrip(".")


def cost(value: float) -> str:
    """Return a cost for people: whole numbers from 10 on, else two significant digits."""
    return f"{value:,.0f}" if abs(value) >= 9.95 else amount(value)


def percent(share: float | None) -> str:
    """Return a probability in percent; the ends are said as less than 1 % and more than 99 %."""
    if share is None:
        return NOT_KNOWN
    if share < 0.01:
        return "< 1 %"
    return "> 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def span(bounds: tuple[float, float]) -> str:
    """Return a range in words: "5 to 12", "at least 5" or "at most 0.2"."""
    low, high = bounds
    if math.isinf(high):
        return f"at least {amount(low)}" if low > 0 else "any number"
    if low <= 0:
        return f"at most {amount(high)}"
    for digits in (2, 3, 4):
        ends = amount(low, digits), amount(high, digits)
        if ends[0] != ends[1]:
            return f"{ends[0]} to {ends[1]}"
    return f"about {amount(low, 3)}"


def mistake_of(ratio: RatioView, wording: Wording) -> Mistake:
    """Return the words of the mistake that `ratio` is about."""
    if ratio.predicted is None:
        return wording.any_mistake[ratio.true]
    return wording.mistakes[ratio.true, ratio.predicted]


def yardstick_of(view: ResultView) -> RatioView:
    """Return the mistake that the others are compared with."""
    return next((ratio for ratio in view.ratios if ratio.is_yardstick), view.headline)


def flow_of(ratio: RatioView, wording: Wording) -> str:
    """Return truth and prediction in words: "melanoma called naevus"."""
    # With two classes there is only one wrong answer, and it has a name.
    only = 1 - ratio.true if len(wording.class_one) == 2 else None
    predicted = only if ratio.predicted is None else ratio.predicted
    called = "something else" if predicted is None else wording.class_one[predicted]
    return f"{wording.class_one[ratio.true]} called {called}"


def value_of(ratio: RatioView) -> str:
    """Return the number of a row: "7.5", or its bound where no question could tell more."""
    if ratio.bounded and ratio.ninety is not None:
        return span(ratio.ninety)
    return amount(ratio.ratio)


def below_value(ratio: RatioView) -> str:
    """Return what stands under the number of a row: its 90 % range, the yardstick, or that it is only bounded."""
    if ratio.is_yardstick:
        return "the yardstick"
    if ratio.bounded:
        return "only bounded"
    return span(ratio.ninety) if ratio.ninety is not None else ""


def many(number: str, mistake: Mistake) -> str:
    """Return a number of mistakes: "7.5 needless excisions", "1 needless excision"."""
    return f"{number} {mistake.one if number == '1' else mistake.many}"


def rough(ratio: RatioView) -> bool:
    """Tell whether the answers leave so wide a range that one number out of it would say too much."""
    return not ratio.bounded and ratio.ninety is not None and ratio.ninety[1] > _ROUGH * ratio.ninety[0]


def headline(ratio: RatioView, yardstick: Mistake, wording: Wording) -> tuple[str, str]:
    """Return the result sentence in two parts, the second the one to stress, without the full stop."""
    one = f"One {mistake_of(ratio, wording).one}"
    if ratio.ninety is not None and rough(ratio):
        return f"{one} counts as", many(span(ratio.ninety), yardstick)
    return f"{one} counts as{'' if ratio.bounded else ' much as'}", many(value_of(ratio), yardstick)


def below_headline(ratio: RatioView) -> tuple[str, str]:
    """Return what stands under the result sentence in two parts, the second the one to stress; empty without ranges."""
    if ratio.bounded:
        return "Only bounded: no question here could tell more.", ""
    if rough(ratio):
        return "90 % plausible, not known more closely.", ""
    return ("Plausible (90 %): ", span(ratio.ninety)) if ratio.ninety is not None else ("", "")


def model_headline(models: Sequence[ModelView]) -> tuple[str, str]:
    """Return the headline of the page on models and the sentence under it."""
    first = _first(models)
    others = len(models) - len(first)
    if len(models) == 1:
        return (
            f"One model: {first[0]}",
            "With the predictions of a second model this page says which of them is cheaper.",
        )
    if len(first) == 1 and models[0].probability_best is None:
        unsure = "The procedure that asked gives no ranges, so nobody can say how sure that is."
        return f"{first[0]} is cheapest", f"So the estimate says. {unsure}"
    if len(first) == 1:
        which = "the other" if others == 1 else "the others"
        return f"{first[0]} is cheapest", f"Your answers put it clearly ahead of {which}."
    pair = "the two" if len(first) == 2 else f"the {len(first)}"
    sentence = f"Your answers cannot say which of {pair} is cheaper."
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
        return f"{models[0].name} would cost {cost(models[0].cost)}", f"In your study it costs {cost(today[0].cost)}."
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
