"""The conclusion in words: what to do, the gain, how sure it is, where the doubt lies, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from metrics.elicited.exchange import exchange_rates, headline_of
from metrics.elicited.family import error_cells, family_of, rare_class
from metrics.elicited.metric_parts import NOT_TO_DECIDE_BY, CaseWords
from metrics.policies.ranking import ENDS_WITH_FEW
from metrics.text import capitalised, percent, probability, threshold_number, threshold_text, total_cost, two_digits

if TYPE_CHECKING:
    from metrics.elicited.exchange import ExchangeRate
    from metrics.policies.cases import Policy
    from metrics.policies.ranking import JudgedPolicy, Range, Ranking


# If one uncertainty's range is this many times narrower than the other's, it is negligible.
_HARDLY = 3.0
# Below this probability, the bare recommendation would claim too much.
UNSURE = 0.5
# From this share of the cost on, what the choice of the cheapest hides is told.
_SEEMS = 0.05


@dataclass(frozen=True)
class Piece:
    """A piece of a sentence, and whether it is stressed."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Recommendation:
    """A recommendation in words.

    Parameters
    ----------
    pieces : tuple of Piece
        The sentence: "Call it cancer where **Size and texture** says **22 % or more**." It begins with "Best guess
        only." if it is more likely than not that another policy is better, or if these costs should not be used for
        decisions.
    spares : str
        The gain, in whole cases, over present practice or the best policy without a model.
    sureness : str
        How sure the recommendation is, and the source of the remaining doubt; empty without draws.
    reservation : str
        What readers need to know before they use the costs, if the metric is provisional; otherwise empty.
    """

    pieces: tuple[Piece, ...]
    spares: str
    sureness: str
    reservation: str

    @property
    def sentence(self) -> str:
        """Return the sentence as plain text."""
        return "".join(piece.text for piece in self.pieces)


def recommendation(ranking: Ranking) -> Recommendation:
    """Return what a ranking of policies recommends, in words."""
    pieces = _pieces(ranking)
    if _is_a_guess(ranking):
        pieces = (Piece("Best guess only. "), *pieces)
    return Recommendation(pieces, _spares(ranking), _sureness(ranking), ranking.metric.quality.caveat)


def name_and_manner(
    one: JudgedPolicy, words: CaseWords, positive: int | None, *, ranges: bool = True, costs: str = "these costs"
) -> tuple[str, str]:
    """Return a policy's name and manner for a table: "Size and texture", "cancer from 22 % (16 to 29)"."""
    policy = one.policy
    if policy.decides == "practice":
        return "Present practice", "as typed in"
    if policy.decides == "always":
        assert policy.predicted is not None
        return capitalised(words.rule(policy.predicted)), "no model"
    name = f"{policy.model}{_first(policy, 'corrected')}"
    if policy.decides == "as-is":
        return name, "labels only" if policy.labels_only else "as it decides now"
    if one.threshold is None or positive is None:
        return name, f"with {costs}"
    low, high = threshold_number(one.threshold.low), threshold_number(one.threshold.high)
    range_ = f" ({low} to {high})" if ranges and low != high else ""
    action = words.action(positive) or words.classes[positive]
    return name, f"{action} from {threshold_text(one.threshold.value)}{range_}"


def difference_words(one: JudgedPolicy) -> str:
    """Return a policy's extra cost: "12 more than the first, plausible 3 less to 20 more"; "" for the first."""
    if not one.difference_to_best:
        return ""
    text = f"{total_cost(one.difference_to_best)} more than the first"
    if one.difference_interval is None:
        return text
    ends = (f"{total_cost(abs(end))} {'less' if end < 0 else 'more'}" for end in one.difference_interval)
    return f"{text}, plausible {' to '.join(ends)}"


def short_recommendation(ranking: Ranking, costs: str) -> tuple[str, str]:
    """Return the recommendation in a few words, "Lamp position, with their own costs", and how sure it is, "61 % sure".

    `costs` are those that it rests on, in words.
    """
    said = ["best guess only"] if _is_a_guess(ranking) else []
    said += [] if ranking.sure is None else [f"{_sure(ranking).lower()} sure"]
    return _action_text(ranking, ranking.best, costs), ", ".join(said)


def _is_a_guess(ranking: Ranking) -> bool:
    """Return whether another policy is better more likely than not, or these costs should not be used for decisions."""
    unsure = ranking.sure is not None and ranking.sure < UNSURE
    return unsure or ranking.metric.quality.provisional in NOT_TO_DECIDE_BY


def _pieces(ranking: Ranking) -> tuple[Piece, ...]:
    best, words = ranking.best, ranking.words
    policy, name = best.policy, Piece(str(best.policy.model), True)
    if policy.decides == "practice":
        return Piece("Keep to "), Piece("present practice", True), Piece(_no_model(ranking))
    if policy.decides == "always":
        assert policy.predicted is not None
        return Piece(capitalised(words.rule(policy.predicted)), True), Piece(_no_model(ranking))
    if best.threshold is not None and ranking.positive is not None:
        action = words.action(ranking.positive) or f"call it {words.classes[ranking.positive]}"
        cut = Piece(f"{threshold_text(best.threshold.value)} or more", True)
        says = ", recalibrated, says " if policy.recalibrated else " says "
        return Piece(f"{capitalised(action)} where "), name, Piece(says), cut, Piece(".")
    if policy.labels_only:
        return Piece("Use "), name, Piece(".")
    as_it_is = " as it decides now" if policy.decides == "as-is" else _first(policy)
    which = "most probable answer" if policy.decides == "as-is" else "answer with the least expected cost"
    return Piece("Use "), name, Piece(f"{as_it_is}: each {words.case} gets the {which}.")


def _first(policy: Policy, corrected: str = "corrected for the prevalence") -> str:
    """Return what is done to a model's probabilities before they decide: ", recalibrated"; "" for nothing."""
    done = ["recalibrated"] if policy.recalibrated else []
    done += [] if policy.correction is None else [corrected]
    return f", {' and '.join(done)}" if done else ""


def _no_model(ranking: Ranking) -> str:
    """Return the reason to do without a model, as the end of a sentence."""
    tied = any(one.rank == 1 and one.policy.model is not None for one in ranking.policies)
    return ": nothing shows that a model does better." if tied else ": no model does better."


def _spares(ranking: Ranking) -> str:
    """Return the gain over the best policy without a model, or what the best model would cost in addition."""
    best, words = ranking.best, ranking.words
    per = f"Per {ranking.population:,} {words.cases}"
    if best.policy.model is None:
        found = [one for one in ranking.policies if one.policy.model is not None]
        if not found:
            return ""
        more = total_cost(found[0].difference_to_best)
        costs = "the same" if more == "0" else f"{_unit(ranking, more)} more"
        return f"{per} the best use of a model, {found[0].name}, costs {costs}."
    other = ranking.best_without_model
    if other is None:
        return ""
    than = f"than {'in' if other.policy.decides == 'practice' else 'by'} {_alternative(other, words)}"
    if len(ranking.classes) > 2:
        cost, less = total_cost(best.cost_per_population), total_cost(other.difference_to_best)
        return f"{per} it costs as much as {_unit(ranking, cost)}, {less} less {than}."
    parts = [_difference(ranking, other, true) for true in (0, 1)]
    parts = [one for one in parts if one] or ["no other mistakes"]
    return f"{per}: {' and '.join(sorted(parts, key=lambda one: ' more ' in one))} {than}."


def _difference(ranking: Ranking, other: JudgedPolicy, true: int) -> str:
    more = int(ranking.best.counts[true, 1 - true] - other.counts[true, 1 - true])
    if not more:
        return ""
    words = ranking.mistake(true, 1 - true)
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'} {words.one if abs(more) == 1 else words.many}"


def _alternative(one: JudgedPolicy, words: CaseWords) -> str:
    """Return a policy without a model as a noun phrase: "calling every patient cancer"."""
    if one.policy.decides == "practice":
        return "present practice"
    assert one.policy.predicted is not None
    return words.following(one.policy.predicted)


def _sureness(ranking: Ranking) -> str:
    if ranking.sure is None or len(ranking.policies) < 2:
        return ""
    few = ranking.too_few
    only = ""
    if few is not None:
        named, cases = ranking.words.classes[few.label], few.words(ranking.words)
        only = f": of “{named}” only {cases} {'was' if few.number == 1 else 'were'} counted"
        if few.of == "practice":
            only += " in present practice"
    sentences = [f"{_sure(ranking)} sure that nothing in the list is better{only}."]
    sentences += [_whose(ranking)] if ranking.sure < 1 else []
    if ranking.best.policy.model is not None:
        tied = [one for one in ranking.policies[1:] if one.rank == 1 and one.policy.model is None]
        sentences += [f"It may do no better than {_alternative(tied[0], ranking.words)}."] if tied else []
    return " ".join([*sentences, *_optimism(ranking)])


def _optimism(ranking: Ranking) -> list[str]:
    """Return that the first was chosen for its luck, too, as a sentence; none if that is little."""
    cost = ranking.best.cost_per_population
    share = ranking.optimism / cost if cost > 0 else 0.0
    if share < _SEEMS:
        return []
    more = "twice as much or more" if share > 1 else f"about {100 * share:.0f} % more"
    seems = f"The cheapest of {len(ranking.policies)} seems cheaper than it is"
    return [f"{seems}: for other {ranking.words.cases}, expect it to cost {more}."]


def _whose(ranking: Ranking) -> str:
    """Return the source of the doubt in the comparison with the closest rival."""
    others = [one for one in ranking.policies[1:] if _width(one.difference_interval) > 0]
    rival = max(others or ranking.policies[1:], key=lambda one: one.probability_best or 0.0)
    cases = f"the {ranking.n_cases:,} {ranking.words.cases}"
    practice = next((one.cases for one in (ranking.best, rival) if one.policy.decides == "practice"), None)
    if practice is not None:
        cases += f" and the {int(practice.sum()):,} of present practice"
    if rival.difference_answers is None:
        return f"The doubt comes from {cases}; that from the answers is unknown."
    source, found = main_doubt(rival), ranking.information
    # The advice on what to learn looks at all rivals; the two must not contradict each other.
    if source == "cases" and (found is None or found.of_cases >= found.of_values):
        return f"The doubt comes from {cases}, hardly from the answers."
    if source == "answers" and (found is None or found.of_values >= found.of_cases):
        return f"The doubt comes from the answers, hardly from {cases}."
    return f"The doubt comes from the answers and from {cases}."


def main_doubt(policy: JudgedPolicy) -> Literal["none", "cases", "answers", "both"]:
    """Return the source of the uncertainty in a policy's difference to the best one."""
    of_cases, of_answers = _width(policy.difference_cases), _width(policy.difference_answers)
    if of_cases > _HARDLY * of_answers:
        return "cases"
    if of_answers > _HARDLY * of_cases:
        return "answers"
    return "both" if of_cases else "none"


def _width(range_: Range | None) -> float:
    return 0.0 if range_ is None else range_[1] - range_[0]


def _unit(ranking: Ranking, number: str) -> str:
    words = ranking.mistake(*ranking.unit)
    return f"{number} {words.one if number == '1' else words.many}"


def _sure(ranking: Ranking) -> str:
    assert ranking.sure is not None
    if ranking.too_few is not None:
        return f"At most {probability(float(np.clip(ranking.sure, *ENDS_WITH_FEW)))}"
    return probability(ranking.sure).replace("> ", "more than ").replace("< ", "less than ").capitalize()


_FURTHEST = 1_000.0  # nobody's value is off by this factor
_LEAST = 1e-6  # of a way on the log scale: where a cost is known exactly, nothing is near


def what_would_change(ranking: Ranking) -> tuple[tuple[str, str], ...]:
    """Return what would change a conclusion, other values, then cases, then models, each as a heading and a sentence.

    ("Other values.", "If decisions stay as they are, another choice is cheaper above about 12 needless biopsies ...")
    """
    return (
        ("Other values.", _other_values(ranking)),
        (f"Other {ranking.words.cases}.", _other_cases(ranking)),
        ("Other models.", _other_models(ranking)),
    )


class TurningPoint(NamedTuple):
    """A cost of a mistake, in units of the yardstick, at which another policy becomes cheaper."""

    away: float  # from its own cost, as a share of the way to the end of its range; on the log scale
    side: str  # "below" or "above" its own
    value: float
    policy: JudgedPolicy


def turning_points(ranking: Ranking, rates: Sequence[ExchangeRate]) -> list[list[TurningPoint]]:
    """Return for each mistake the nearest costs, below and above its own, at which another policy becomes cheaper.

    The one that the mistake's range reaches first comes first. All else, including the decisions, is held fixed, so
    costs are linear in the value. Not for the yardstick.
    """
    family = family_of(ranking.metric.family)
    unit = ranking.metric.cost_matrix / ranking.metric.cost_matrix[ranking.unit]
    counts = np.array([one.counts * error_cells(len(unit)) for one in ranking.policies], dtype=np.float64)
    true, predicted = np.array([family.cell(rate.key) for rate in rates]).T
    many = (counts[:, true, predicted] if family.distinguishes_errors else counts.sum(axis=2)[:, true]).T
    now = unit[true, predicted]
    rest = (counts * unit).sum(axis=(1, 2)) - many * now[:, None]
    fewer, dearer = many[:, :1] - many, rest - rest[:, :1]
    saved = fewer * now[:, None]
    times = np.divide(dearer, saved, out=np.zeros(saved.shape), where=saved != 0)
    logs = np.log(times, out=np.full(times.shape, np.inf), where=times > 0)
    found = []
    for at, rate in enumerate(rates):
        points = []
        for side, sign, end in zip(("below", "above"), (-1, 1), rate.range_90 or (0.0, math.inf), strict=True):
            away = sign * logs[at]
            there = (sign * fewer[at] > 0) & (away >= 0) & (away < math.log(_FURTHEST))
            if there.any():
                first = int(np.where(there, away, np.inf).argmin())
                way = max(abs(math.log(np.clip(end / now[at], 1 / _FURTHEST, _FURTHEST))), _LEAST)
                value = float(now[at] * times[at, first])
                points.append(TurningPoint(float(away[first]) / way, side, value, ranking.policies[first]))
        found.append(sorted(points, key=lambda one: one.away))
    return found


def decisive_mistake(ranking: Ranking) -> tuple[ExchangeRate, list[TurningPoint]]:
    """Return the mistake whose range reaches a turning point first, and its turning points.

    Where no mistake alone changes the choice, it is that of the headline, without any.
    """
    rates = [rate for rate in exchange_rates(ranking.metric) if not rate.is_yardstick]
    turning = [one for one in zip(rates, turning_points(ranking, rates), strict=True) if one[1]]
    if not turning:
        return headline_of(exchange_rates(ranking.metric)).rate, []
    return min(turning, key=lambda one: one[1][0].away)


def _other_values(ranking: Ranking) -> str:
    """Return at which cost of the decisive mistake another policy is cheaper."""
    rate, points = decisive_mistake(ranking)
    one, many = rate.mistake.one, ranking.mistake(*ranking.unit).many
    if not points:
        alone = f"many {many} one {one}" if len(exchange_rates(ranking.metric)) == 2 else "much any one of the mistakes"
        return f"If decisions stay as they are, nothing else in the list is cheaper, however {alone} counts for."
    low, high = rate.range_90 or (math.inf, 0.0)
    units, parts = f" {many} for one {one}", []
    for point in points:
        is_open = ", which the answers do not rule out" if low < point.value < high else ""
        action = _action_text(ranking, point.policy)
        parts.append(f"{point.side} about {two_digits(point.value)}{units}{is_open}: {action}")
        units = ""
    return f"If decisions stay as they are, another choice is cheaper {'; '.join(parts)}."


def _action_text(ranking: Ranking, one: JudgedPolicy, costs: str = "these costs") -> str:
    name, manner = name_and_manner(one, ranking.words, ranking.positive, ranges=False, costs=costs)
    if one.policy.model is None:
        return name[:1].lower() + name[1:]
    return name if one.policy.labels_only else f"{name}, {manner}"


def _other_cases(ranking: Ranking) -> str:
    rare = rare_class(ranking.prevalence)  # what is rare differs most elsewhere
    of_many = int(np.argmax(ranking.prevalence)) if rare is None else rare
    at = of_many if ranking.positive is None else ranking.positive
    share, name, cases = percent(float(ranking.prevalence[at])), ranking.words.classes[at], ranking.words.cases
    first = f"It holds for {share} {name}, as stated" if ranking.stated else f"Of these {cases} {share} were {name}"
    if not any(one.policy.decides == "least-cost" for one in ranking.policies):
        return f"{first}. Where that differs, or {cases} are of another kind, the best choice may be a different one."
    return (
        f"{first}. Where that differs, or {cases} are of another kind, the models’ probabilities must be "
        "corrected first."
    )


def _other_models(ranking: Ranking) -> str:
    number = len(ranking.model_names)
    return "Only this one was looked at." if number < 2 else f"Only these {number} were compared."
