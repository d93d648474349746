"""Whether the result can be trusted: the findings about the answers, in words."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elicit_app.elicitation.agenda import FEWEST_ANSWERS, KNOWN_FACTOR, n_answered, unasked_mistakes
from elicit_app.elicitation.orders import ContradictedOrder, contradicted_by
from elicit_app.elicitation.procedure import Outcome, Tolerance
from elicit_app.elicitation.questions import Asked, Choice, Family
from elicit_app.problem import first_of
from elicit_app.registry.entries import procedure_for, stated_orders
from elicit_app.session.journal.state import Entry, SessionState, contradict, is_merged_repeat
from elicit_app.session.sentences import order_words
from elicit_app.session.session import Session
from elicit_app.session.views import HeldOutView, TrustView
from elicit_app.study.model import Study
from metrics import Quality, Tally
from metrics.elicited.exchange import ExchangeRate, called
from metrics.elicited.kinds import thing_of
from metrics.elicited.metric_parts import AGAINST_AN_ORDER, CHOICE_SETTLED, UNTRUSTED
from metrics.text import NOT_KNOWN, capitalised, counted, number_word, probability, span, two_digits

if TYPE_CHECKING:
    from elicit_app.elicitation.conflicting_counts import ConflictingCounts
    from elicit_app.elicitation.trust import TrustReport

_NAMED = 4
_MOST_ODD = 0.25

# Headline and detail of each suspicion about the answers as a whole; see `Suspicion`.
_SUSPICIONS = {
    "random": (
        "The answers do not hang together",
        "Repeats, plain questions and the rest say different things, as if the numbers had not been looked at.",
    ),
    "reversed": (
        "The worse side seems to have been chosen throughout",
        "Where one side was plainly better, the other one was chosen. Were the answers meant the other way round?",
    ),
    "changed": (
        "Later answers disagree with earlier ones",
        "The view or the attention may have changed. Reviewing the early answers settles it.",
    ),
}
_OUTWEIGHS = "One mistake outweighs all others"
_MOST_TIMES = 1_000  # beyond, only that is said


@dataclass(frozen=True, eq=False)
class Trust:
    """What was found about a result, in words and in numbers."""

    findings: tuple[TrustView, ...]
    sentence: str
    held_out: tuple[HeldOutView, ...]
    quality: Quality


def trust_of(
    session: Session, outcome: Outcome, ratios: tuple[ExchangeRate, ...], contradicted: tuple[ContradictedOrder, ...]
) -> Trust:
    """Return how far the answers of a session, at least one, support the result; they may contradict stated orders."""
    from elicit_app.elicitation.trust import trust_report

    state, procedure = session.state, session.procedure()
    sides = [state.entries[index].event.left for index in state.used]
    report = trust_report(procedure, state.history, sides, outcome)
    failed = [state.used[place] + 1 for place in report.failed_checks]
    odd = sorted(state.used[place] + 1 for place in report.misfits)  # a judgement that was given twice, once
    explained = Tally(report.explained.right, report.explained.total)
    same, repeated = report.repeats.right, report.repeats.total
    held_out = _held_out(report, session.study)
    tested = bool(repeated or report.checks.total or held_out)
    findings = (
        *_orders_found(contradicted, session, explained),
        *_repeats_found(report, failed, session.study),
        *_fits_found(
            explained, [number for number in odd if number not in failed], report, contradicted=bool(contradicted)
        ),
        *_apart_found(report, state, ratios, explained),
        *_held_out_found(report, held_out),
        *_suspicions_found(state, report, ratios, explained),
        *_other_values_found(outcome, session.study),
        *_bounded_found(session.study, ratios, outcome.tolerance),
    )
    return Trust(
        findings=findings,
        sentence=_sentence(
            findings,
            tested=tested,
            checked=report.checks.total > 0,
            hardly=bool(contradicted) or report.verdict == "untrusted",
        ),
        held_out=held_out,
        quality=Quality(
            repeats_agreed=Tally(same, repeated) if repeated else None,
            answers_explained=explained if explained.of else None,
            held_out_agreement=Tally(held_out[0].right, held_out[0].total) if held_out else None,
            purpose=session.setting.purpose,
            provisional=why_provisional(
                outcome,
                ratios,
                n_answered(state.history),
                untrusted=report.verdict == "untrusted",
                contradicted=bool(contradicted),
            ),
            never_asked=never_asked(session.study, outcome.family, state.history),
            linear=outcome.linear,
            simulated=bool(state.begun.simulated),
        ),
    )


def orders_contradicted(session: Session) -> Generator[None, None, tuple[ContradictedOrder, ...]]:
    """Return, computed in parts, the stated orders that the answers contradict if the belief is not told the orders."""
    orders = stated_orders(session.setting, session.study.classes)
    if not orders:
        return ()
    told, untold = session.procedure(), procedure_for(session.study, session.setting.without_orders())
    history, n_single = session.state.history, len(session.setting.orders)
    for procedure in (told, untold):
        yield from procedure.prepare(history)
    return contradicted_by(history, told, untold, orders[:n_single], orders[n_single:])


def reliance_on_prior(outcome: Outcome, answers: int) -> tuple[str, ...]:
    """Return a note that ranges rest on the prior, if they would be much wider under another one.

    With hardly any answers all of them would; they are then called provisional.
    """
    factor = outcome.reliance_on_prior
    if factor is None or factor <= KNOWN_FACTOR or answers < FEWEST_ANSWERS:
        return ()
    moves = "more than 10" if factor > 10 else two_digits(factor)
    return (
        "The ranges rest partly on the belief that extreme ratios are rare: if they were less so, the end of a "
        f"range would move by a factor of {moves}. More answers would tell, counts more than choices.",
    )


def why_provisional(
    outcome: Outcome, ratios: tuple[ExchangeRate, ...], answers: int, *, untrusted: bool, contradicted: bool = False
) -> str | None:
    """Return why the costs should not yet be used for anything else, or None.

    For a sitting that ran to its end the ranges speak for themselves; a search that was cut short may have none.
    """
    if untrusted:
        return UNTRUSTED
    if contradicted:
        return AGAINST_AN_ORDER
    if outcome.stopped not in ("best-model", "budget", "expert"):
        return None
    if answers < FEWEST_ANSWERS:
        return f"they rest on {counted(answers, 'answer')} only"
    ranged = all(rate.is_yardstick or rate.range_90 is not None for rate in ratios)
    if (outcome.stopped == "budget" and ranged) or all(map(_known, ratios)):
        return None
    return CHOICE_SETTLED if outcome.stopped == "best-model" else "the questions ended before the costs were known"


def _known(rate: ExchangeRate) -> bool:
    """Return whether a ratio is known as closely as the questions aim for: within `KNOWN_FACTOR` each way."""
    if rate.is_yardstick:
        return True
    if rate.range_90 is None:
        return False
    low, high = rate.range_90
    return low > 0 and high <= KNOWN_FACTOR**2 * low


def never_asked(study: Study, family: Family, history: Sequence[Asked]) -> tuple[tuple[str, str | None], ...]:
    """Return the mistakes that no question covered, as names of classes; None stands for any wrong answer."""
    names = study.classes
    return tuple(
        (names[true], None if predicted is None else names[predicted])
        for true, predicted in unasked_mistakes(history, family, study.n_classes)
    )


def misfit_numbers(state: SessionState, places: Sequence[int]) -> frozenset[int]:
    """Return the numbers of misfits, given their indices in the history; a repeat merged with a misfit is one too."""
    odd = {state.used[index] + 1 for index in places}
    return frozenset(
        odd
        | {
            number
            for number, entry in enumerate(state.entries, start=1)
            if is_merged_repeat(state.entries, number, state.joined) and entry.event.pair.repeat_of in odd
        }
    )


def contradictions(state: SessionState) -> tuple[tuple[int, int], ...]:
    """Return the pairs of answer numbers that contradict each other about the same pair of matrices.

    Excluded answers, "cannot say", and pairs whose two answers were deliberately kept do not count.
    """
    live = [(number, entry) for number, entry in enumerate(state.entries, start=1) if _says_something(entry)]
    return tuple(
        (first, second)
        for index, (first, one) in enumerate(live)
        for second, other in live[index + 1 :]
        if (first, second) not in state.settled and contradict(one, other, one.answer, other.answer)
    )


def kept_contradictions(state: SessionState) -> tuple[tuple[int, int], ...]:
    """Return the pairs of answer numbers that contradict each other and were deliberately kept."""
    pairs = [(pair, [state.entries[number - 1] for number in pair]) for pair in sorted(state.settled)]
    return tuple(
        pair
        for pair, (one, other) in pairs
        if _says_something(one) and _says_something(other) and contradict(one, other, one.answer, other.answer)
    )


def _says_something(entry: Entry) -> bool:
    return not entry.taken_out and entry.answer.choice is not Choice.UNSURE


def _orders_found(contradicted: Sequence[ContradictedOrder], session: Session, explained: Tally) -> list[TrustView]:
    fit = f"{_fit(explained)}, but they" if _fits_well(explained) else "They"
    wording, family = session.study.wording, session.setting.family
    return [
        TrustView(
            False,
            capitalised(AGAINST_AN_ORDER),
            f"{_why_not(one)}“{order_words(one.order, wording, family)}.” By the answers alone it is "
            f"{two_digits(one.ratio)} times as bad ({span(one.low, one.high)}). All costs keep to the order. {fit} "
            "mean little until it is clear which is right.",
            may_withdraw=one is contradicted[-1],
        )
        for one in contradicted
    ]


def _why_not(one: ContradictedOrder) -> str:
    if one.times_likelier is None:
        return ""
    most = one.times_likelier > _MOST_TIMES
    times = f"more than {_MOST_TIMES:,}" if most else two_digits(one.times_likelier)
    return f"The answers are {times} times as likely if the classes are in no order. What fits least: "


def _repeats_found(report: TrustReport, failed: Sequence[int], study: Study) -> list[TrustView]:
    """Return the findings on repeats, and on answers to pairs in which one side was plainly better."""
    same, repeated, chosen = report.repeats.right, report.repeats.total, report.checks.right
    times = "once" if chosen == 1 else f"{chosen} times"
    plain = f"The plainly better side{f' was chosen {times}' if failed else f', shown {times}, was chosen'}"
    found = []
    if repeated:
        headline = f"{same} of {counted(repeated, 'repeat')}: same answer"
        found.append(TrustView(2 * same > repeated, headline, f"{plain}." if chosen else ""))
    elif chosen:
        found.append(TrustView(True, plain))
    detail = "One side had fewer mistakes of some kinds and no more of any other."
    if study.wording.priced is not None:
        detail = "One side was better in some amounts and worse in none."
    text = "the plainly better side was not chosen"
    return [*found, *(TrustView(False, f"Answer {number}: {text}", detail, number) for number in failed)]


def _fits_found(explained: Tally, odd: Sequence[int], report: TrustReport, *, contradicted: bool) -> list[TrustView]:
    if not explained.of:
        return []
    good = _fits_well(explained)
    # Beside "do not hang together", "far apart" or "contradict" a good fit would seem odd; their details mention it.
    shown_there = good and (contradicted or report.conflict is not None or report.flagged("random"))
    found = [] if shown_there else [TrustView(good, _fit(explained))]
    named = first_of(odd, _NAMED)
    found += [TrustView(False, f"Answer {number} does not fit the rest", question=number) for number in named]
    if len(odd) > len(named):
        found.append(TrustView(False, f"Nor do {len(odd) - len(named)} more: they are marked among the answers"))
    return found


def _fit(explained: Tally) -> str:
    fit = "fits" if explained.of == 1 else "fit"
    return f"{explained.agreed} of {counted(explained.of, 'answer')} {fit} these numbers"


def _fits_well(explained: Tally) -> bool:
    return explained.of - explained.agreed <= _MOST_ODD * explained.of


def conflicting_counts_words(conflict: ConflictingCounts, state: SessionState) -> str:
    """Return which two counts are far apart: "Answers 2 and 5 are a factor of 9 apart"."""
    first, second = sorted(state.used[place] + 1 for place in (conflict.higher_answer, conflict.lower_answer))
    return f"Answers {first} and {second} are a factor of {two_digits(conflict.factor)} apart"


def _apart_found(
    report: TrustReport, state: SessionState, rates: tuple[ExchangeRate, ...], explained: Tally
) -> list[TrustView]:
    """Return the two most distant answers about the same mistakes, if they are far apart."""
    conflict = report.conflict
    if conflict is None:
        return []
    higher_answer, lower_answer = (state.used[place] + 1 for place in (conflict.higher_answer, conflict.lower_answer))
    grave, mild = rates[conflict.grave].mistake, rates[conflict.mild].mistake
    detail = (
        f"By answer {higher_answer} one {grave.one} counts as {two_digits(conflict.most)} {mild.many}, by answer "
        f"{lower_answer} as {two_digits(conflict.least)}. Most people's answers differ less."
    )
    if _fits_well(explained) and not report.flagged("random"):
        detail += f" {_fit(explained)}, but only if the person errs that much."
    return [TrustView(False, conflicting_counts_words(conflict, state), detail, max(higher_answer, lower_answer))]


def _held_out(report: TrustReport, study: Study) -> tuple[HeldOutView, ...]:
    kept = report.held_out
    if kept is None:
        return ()
    this = HeldOutView("this result", kept.learned, kept.total, round(kept.expected))
    others = [("F1 score", kept.f1), ("accuracy", kept.accuracy)]
    if study.wording.priced is not None:
        # The diagonal of amounts holds what is good of each. Its sum prices all alike, and F1 has no meaning here.
        others = [("equal prices", kept.accuracy)]
    return (this, *(HeldOutView(name, right, kept.total) for name, right in others))


def held_out_caption(table: Sequence[HeldOutView]) -> str:
    """Return the line above the held-out answers that each rule predicts."""
    this = table[0]
    return f"Agreement on {this.total} answers, each held out once; about {this.expected} expected of this result:"


def held_out_words(table: Sequence[HeldOutView]) -> str:
    """Return what stands below that line: "this result 10 of 12, F1 score 8 of 12, accuracy 7 of 12"."""
    return ", ".join(f"{rule.name} {rule.right} of {rule.total}" for rule in table)


def _held_out_found(report: TrustReport, table: Sequence[HeldOutView]) -> list[TrustView]:
    """Return how well held-out answers are predicted; nothing if that is no evidence for or against the result.

    Questions are near ties, so that even an honest person's next answers may be as open as a coin toss.
    """
    poor = report.suspicion("no_better")
    if report.held_out is None or poor is None:
        return []
    kept, headline = report.held_out, "It predicts answers it was not shown"
    lead = kept.learned - max(kept.accuracy, kept.f1)
    detail = held_out_caption(table)
    if poor.flagged:
        return [TrustView(False, f"{headline} no better than a plain score", detail)]
    # One standard error of a coin's number of right answers is half the root of all answers.
    if kept.learned - kept.total / 2 <= math.sqrt(kept.total) / 2 or lead < -1:
        return []
    if lead <= 1:
        headline += " as well as a plain score; there are too few to tell them apart"
    return [TrustView(True, headline, detail)]


def _suspicions_found(
    state: SessionState, report: TrustReport, rates: tuple[ExchangeRate, ...], explained: Tally
) -> list[TrustView]:
    """Return the suspicions that no other finding mentions."""
    found = []
    for suspicion in report.suspicions:
        if not suspicion.flagged:
            continue
        if suspicion.name == "same_side":
            found.append(_side_found(state))
        elif suspicion.name == "insensitive":
            share = probability(suspicion.value)
            detail = f"Such answers are expected to name the better of two results {share} of the time."
            found.append(TrustView(False, "Many answers are close to a coin toss", detail))
        elif suspicion.name == "lexicographic":
            found.append(TrustView(False, _OUTWEIGHS, _how_to_read(rates)))
        elif suspicion.name in _SUSPICIONS:
            headline, detail = _SUSPICIONS[suspicion.name]
            if suspicion.name == "random" and explained.of and _fits_well(explained):
                detail += f" {_fit(explained)} only because the numbers were fitted to them."
            found.append(TrustView(False, headline, detail))
    return found


def _how_to_read(rates: tuple[ExchangeRate, ...]) -> str:
    """Return how to read the numbers where one mistake outweighs all others, which may be the yardstick."""
    if not max(rates, key=lambda rate: rate.ratio).is_yardstick:
        read = "its number as a lower bound"
    else:
        read = "the other number as an upper bound" if len(rates) == 2 else "the other numbers as upper bounds"
    return f"These questions cannot show by how much: read {read}."


def _side_found(state: SessionState) -> TrustView:
    """Return the side that nearly all preferences went to."""
    asked = zip(state.used, state.history, strict=True)
    left = [answer.choice == state.entries[index].event.left for index, (_, answer) in asked if answer.picks_a_side]
    side, most = ("A", sum(left)) if 2 * sum(left) > len(left) else ("B", len(left) - sum(left))
    detail = "Sides are random, so about half of them would be expected."
    return TrustView(False, f"{most} of {counted(len(left), 'preference')} went to side {side}", detail)


def _other_values_found(outcome: Outcome, study: Study) -> list[TrustView]:
    """Return the finding that other values than costs that add up explain the answers better, if they do."""
    values = Quality(linear=outcome.linear).other_values
    if not values:
        return []
    detail = "Costs that add up explain the answers less well: discuss these before anybody decides by them."
    if outcome.linear == "f1":
        beside = ": the table of what one can do has macro F1 beside the costs" if study.models else ""
        detail += f" F1 itself may be the better measure{beside}."
    return [TrustView(False, values, detail)]


def _bounded_found(study: Study, rates: tuple[ExchangeRate, ...], tolerance: Tolerance | None) -> list[TrustView]:
    unit = next(index for index, rate in enumerate(rates) if rate.is_yardstick)
    bounded = [
        rate
        for index, rate in enumerate(rates)
        if rate.bounded or (tolerance is not None and tolerance.bounded[index, unit] and not rate.is_yardstick)
    ]
    if not bounded:
        return []
    sentences = [
        f"{rate.mistake.name if study.wording.priced else capitalised(called(study.wording.class_one, rate.key))}: "
        f"{span(*rate.range_90)}."
        for rate in bounded[:3]
        if rate.range_90 is not None
    ]
    more = [f"{len(bounded) - 3} more."] if len(bounded) > 3 else []
    one = thing_of(study.wording.priced or "confusion")
    unknown = sum(rate.in_words() == NOT_KNOWN for rate in bounded)
    known = NOT_KNOWN if unknown == len(bounded) else f"only bounded or {NOT_KNOWN}" if unknown else "only bounded"
    headline = f"One {one} is {known}" if len(bounded) == 1 else f"{len(bounded)} {one}s are {known}"
    # A search ends where nothing more can be learned; a belief leaves open what lies beyond the largest trade.
    why = "No question could narrow this."
    if tolerance is None:
        ends = "The other end lies" if len(bounded) == 1 else "The other ends lie"
        why = f"{'What is open lies' if unknown else ends} beyond any trade that could be asked about."
    return [TrustView(False, headline, " ".join([*sentences, *more, why]))]


def _sentence(findings: Sequence[TrustView], *, tested: bool, checked: bool, hardly: bool) -> str:
    bad = sum(not finding.good for finding in findings)
    if bad == 0:
        if not tested:
            return "There are too few answers to tell."
        # A person who clicks without looking may agree with a repeat by luck.
        return (
            "Yes, as far as the answers can tell." if checked else "So far, yes; but the questions included no check."
        )
    if hardly:
        return "Hardly: see the reservations below."
    return f"Mostly, with {number_word(bad)} {'reservation' if bad == 1 else 'reservations'}."
