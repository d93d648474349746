"""The conclusion in words: what to do, what it spares, how sure that is and whose doubt it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from metrics.display.numbers import probability, total_cost, two_digits

if TYPE_CHECKING:
    from metrics.policies.judgement import JudgedPolicy, Judgement, Range

# A doubt whose range is so many times narrower than the other is hardly there.
_HARDLY = 3.0
_SETTLED = 0.95


@dataclass(frozen=True)
class CaseWords:
    """The words of the domain that sentences are made of.

    Parameters
    ----------
    case, cases : str
        What is classified: "patient", "patients".
    classes : tuple of str
        What one case of each class is called: "cancer".
    """

    case: str
    cases: str
    classes: tuple[str, ...]

    @classmethod
    def plain(cls, classes: Sequence[str]) -> Self:
        """Return the words of a metric file that names nothing but its classes."""
        return cls("case", "cases", tuple(classes))


@dataclass(frozen=True)
class Piece:
    """A part of a sentence, and whether it is stressed."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Recommendation:
    """What to do, in words.

    Parameters
    ----------
    pieces : tuple of Piece
        The sentence: "Call it cancer where **Size and texture** says **22 % or more**."
    spares : str
        What that brings, in whole cases, against present practice or the best policy without a model.
    sureness : str
        How sure it is, and whose doubt is left; empty without draws.
    reservation : str
        That the choice is settled and the costs are not, where a metric is provisional; else empty.
    """

    pieces: tuple[Piece, ...]
    spares: str
    sureness: str
    reservation: str

    @property
    def sentence(self) -> str:
        """Return the sentence without stress."""
        return "".join(piece.text for piece in self.pieces)


def recommendation(judgement: Judgement) -> Recommendation:
    """Return what a judgement recommends, in words."""
    return Recommendation(_pieces(judgement), _spares(judgement), _sureness(judgement), _reservation(judgement))


def what_one_does(one: JudgedPolicy, words: CaseWords, positive: int | None) -> tuple[str, str]:
    """Return name and manner for a table: "Size and texture", "cancer from 22 % (16 to 29)"."""
    policy = one.policy
    if policy.decides == "practice":
        return "Present practice", "as typed in"
    if policy.decides == "always":
        assert policy.predicted is not None
        return f"Call every {words.case} {words.classes[policy.predicted]}", "no model"
    name = f"{policy.model}, recalibrated" if policy.recalibrated else str(policy.model)
    if policy.decides == "as-is":
        return name, "as it decides now"
    if one.threshold is None or positive is None:
        return name, "with these costs"
    low, high = two_digits(100 * one.threshold.low), two_digits(100 * one.threshold.high)
    range_ = f" ({low} to {high})" if low != high else ""
    return name, f"{words.classes[positive]} from {_percent(one.threshold.value)}{range_}"


def _pieces(judgement: Judgement) -> tuple[Piece, ...]:
    best, words = judgement.best, judgement.words
    policy, name = best.policy, Piece(str(best.policy.model), True)
    if policy.decides == "practice":
        return (Piece("Keep to "), Piece("present practice", True), Piece(": no model does better."))
    if policy.decides == "always":
        assert policy.predicted is not None
        whom = Piece(f"every {words.case} {words.classes[policy.predicted]}", True)
        return Piece("Call "), whom, Piece(": no model does better.")
    if policy.decides == "as-is":
        return Piece("Use "), name, Piece(" as it decides now.")
    recalibrated = ", recalibrated," if policy.recalibrated else ""
    if best.threshold is not None and judgement.positive is not None:
        start = Piece(f"Call it {words.classes[judgement.positive]} where ")
        cut = Piece(f"{_percent(best.threshold.value)} or more", True)
        return start, name, Piece(f"{recalibrated} says "), cut, Piece(".")
    return Piece("Use "), name, Piece(f"{recalibrated or ','} decided with these costs.")


def _spares(judgement: Judgement) -> str:
    """Return what is gained against what one would do without a model."""
    best, words = judgement.best, judgement.words
    per = f"Per {judgement.population:,} {words.cases}"
    if best.policy.model is None:
        found = [one for one in judgement.policies if one.policy.model is not None]
        if not found:
            return ""
        more = total_cost(found[0].difference_to_best)
        return f"{per} the best use of a model, {found[0].name}, costs {_unit(judgement, more)} more."
    other = judgement.best_without_model
    if other is None:
        return ""
    than = f"than {_instead(other, words)}"
    if len(judgement.classes) > 2:
        cost, less = total_cost(best.cost_per_population), total_cost(other.difference_to_best)
        return f"{per} it costs {_unit(judgement, cost)}, {less} less {than}."
    told = [_difference(judgement, other, true) for true in (0, 1)]
    told = [one for one in told if one] or ["no other mistakes"]
    return f"{per}: {' and '.join(sorted(told, key=lambda one: ' more ' in one))} {than}."


def _difference(judgement: Judgement, other: JudgedPolicy, true: int) -> str:
    more = int(judgement.best.counts[true, 1 - true] - other.counts[true, 1 - true])
    if not more:
        return ""
    words = judgement.mistake(true, 1 - true)
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'} {words.one if abs(more) == 1 else words.many}"


def _instead(one: JudgedPolicy, words: CaseWords) -> str:
    if one.policy.decides == "practice":
        return "in present practice"
    assert one.policy.predicted is not None
    return f"by calling every {words.case} {words.classes[one.policy.predicted]}"


def _sureness(judgement: Judgement) -> str:
    if judgement.sure is None or len(judgement.policies) < 2:
        return ""
    said = [f"{_sure(judgement.sure)} sure that nothing in the list is better."]
    said += [_whose(judgement)] if judgement.sure < 1 else []
    if judgement.best.policy.model is not None:
        tied = [one for one in judgement.policies[1:] if one.rank == 1 and one.policy.model is None]
        said += [f"It may do no better {_instead(tied[0], judgement.words).replace('by ', 'than ')}."] if tied else []
    return " ".join(said)


def _reservation(judgement: Judgement) -> str:
    settled = judgement.sure is not None and judgement.sure >= _SETTLED
    provisional = judgement.metric.quality.provisional is not None
    return "The choice is settled, the costs are not." if settled and provisional else ""


def _whose(judgement: Judgement) -> str:
    """Return whose doubt the comparison with the policy is that comes closest."""
    others = [one for one in judgement.policies[1:] if _width(one.difference_interval) > 0]
    rival = max(others or judgement.policies[1:], key=lambda one: one.probability_best or 0.0)
    cases = f"the {judgement.n_cases:,} {judgement.words.cases}"
    of_cases, of_answers = _width(rival.difference_cases), _width(rival.difference_answers)
    if rival.difference_answers is None:
        return f"The doubt is that of {cases}; that of the costs is not known."
    if of_cases > _HARDLY * of_answers:
        return f"The doubt comes from {cases}, hardly from the answers."
    if of_answers > _HARDLY * of_cases:
        return f"The doubt comes from the answers, hardly from {cases}."
    return f"The doubt comes from the answers and from {cases}."


def _width(range_: Range | None) -> float:
    return 0.0 if range_ is None else range_[1] - range_[0]


def _unit(judgement: Judgement, number: str) -> str:
    words = judgement.mistake(*judgement.unit)
    return f"{number} {words.one if number == '1' else words.many}"


def _percent(share: float) -> str:
    return f"{two_digits(100 * share)} %"


def _sure(share: float) -> str:
    return probability(share).replace("> ", "more than ").replace("< ", "less than ").capitalize()
