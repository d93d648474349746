"""Compare experts: their ratios, where they disagree most, what each would choose, and the pooled result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist

import numpy as np

from elicit_app.problem import Problem
from elicit_app.session.agreement import agreement_of
from elicit_app.session.header import study_of
from elicit_app.session.journal.files import read
from elicit_app.session.journal.listing import (
    SessionSummary,
    answered_before,
    finished_experts,
    first_round_of,
    sessions_folder,
    sessions_of,
)
from elicit_app.session.pooling import (
    ONE_BELIEF,
    Source,
    aligned,
    doubts,
    experts_agree,
    pool,
    select_sources,
    untrusted,
)
from elicit_app.session.result import by_the_yardstick, metric_of, result_view, scenarios_of
from elicit_app.session.session import Session
from elicit_app.study.model import Key, Mistake, Study, Wording, default_wording
from metrics import ElicitedMetric, exchange_rates
from metrics.elicited.exchange import ExchangeRate
from metrics.elicited.kinds import thing_of
from metrics.elicited.metric_parts import OPPOSED
from metrics.policies.judgement import Judgement
from metrics.policies.recommendation import short_recommendation
from metrics.text import NOT_KNOWN, counted, day, in_zone, series, two_digits

BY_MEAN = "Pooled by the geometric mean of the ratios: where one expert says 2 and another 8, the pooled ratio is 4."
IN_ONE_BELIEF = (
    "Pooled in one belief: the group's ratios are close to a geometric mean of theirs in which an expert known more "
    "precisely counts for more. Its range shows how well they are known, not how far apart the experts are."
)
_SAME = 1.05  # a smaller difference is not worth a sentence
_BEYOND = 1.2  # factor from the ratios of all experts at which that of their pool is explained
_BEYOND_ALL = (
    "All costs are pooled together, and not each ratio by itself, so that some pooled ratios lie beyond those of all "
    "experts."
)
_CHANCE = 0.05  # how often experts of the same values may be said to disagree, about whichever mistake
_NORMAL = NormalDist()


def compare(
    experts: Sequence[Expert],
    title: str,
    *,
    wording: Wording | None = None,
    pooled: ElicitedMetric | None = None,
    judgement: Judgement | None = None,
    notes: tuple[str, ...] = (),
) -> ComparisonView:
    """Compare at least two experts about the same classes; `title` says what they are about.

    By default the wording is the one that the metrics carry. `pooled` is the pooled metric if it exists already,
    `judgement` judges the policies for the study's models under it; `notes` say what was left out. Raises Problem as
    `pooling.aligned`.
    """
    sources = aligned([expert.source for expert in experts])
    metrics = [source.metric for source in sources]
    names = numbered_names([expert.name for expert in experts])
    pooled = pooled or pool(sources)
    wording = wording or wording_of(sources[0].metric)
    mistakes = _mistakes(sources, pooled, wording)
    headline, detail = disagreement(mistakes, names, opposed=pooled.quality.provisional == OPPOSED)
    agreement = agreement_of(metrics)
    parts = [_made_of(name, source.metric) for name, source in zip(names, sources, strict=True)]
    return ComparisonView(
        title=title,
        names=names,
        mistakes=mistakes,
        headline=headline,
        detail=detail,
        choice=choice([expert.judgement for expert in experts], names, judgement),
        made_of=f"Made of {series(parts)}.",
        pooled=pooled,
        how=_how(pooled, mistakes),
        agreement=agreement.sentence([one.mistake.many for one in mistakes], pooled.kind),
        untrusted=tuple(name for name, metric in zip(names, metrics, strict=True) if untrusted(metric)),
        notes=(*notes, *doubts(metrics, names, pooled, of=[one.mistake.many for one in mistakes])),
        judgement=judgement,
    )


def _how(pooled: ElicitedMetric, mistakes: Sequence[MistakeRates]) -> str:
    """Explain the pooling method, and how far the experts are from the pooled ratios."""
    in_one_belief = pooled.provenance.parameters.get("pooled_by") == ONE_BELIEF
    sentences = [IN_ONE_BELIEF if in_one_belief else BY_MEAN, spread_words(mistakes)]
    if in_one_belief and any(one.beyond_all for one in mistakes):
        sentences.append(_BEYOND_ALL)
    if experts_agree(pooled) and not any(one.plainly_apart for one in mistakes):
        sentences.append("These answers do not rule out that the experts agree.")
    return " ".join(filter(None, sentences))


def spread_words(mistakes: Sequence[MistakeRates]) -> str:
    """Return how far the experts' ratios are from the pooled ones; empty if there is nothing to compare.

    It uses the same numbers as the distance between experts, so that the two never contradict each other. Bounds are
    left out, because they are no estimates.
    """
    pairs = [(rate, one.pooled) for one in mistakes if not one.is_yardstick for rate in one.rates]
    factors = [
        max(rate.ratio / pooled.ratio, pooled.ratio / rate.ratio)
        for rate, pooled in pairs
        if rate.ratio > 0 and pooled.ratio > 0 and not (rate.bounded or pooled.bounded)
    ]
    if not factors or max(factors) < _SAME:
        return ""
    half, most = (two_digits(factor) for factor in (np.median(factors), max(factors)))
    which = "ratios" if len(factors) == len(pairs) else "ratios that are known and not 0"
    if half == most:
        return f"Their {which} lie within a factor of {most} of the pooled ones."
    near = f"Half of their {which} lie within a factor of {half} of the pooled ones"
    return f"{near}; the furthest is off by a factor of {most}."


def numbered_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, numbered if some are equal."""
    counts = {name: sum(other == name for other in names) for name in names}
    return tuple(
        name if counts[name] == 1 else f"{name} ({1 + sum(other == name for other in names[:index])})"
        for index, name in enumerate(names)
    )


def wording_of(metric: ElicitedMetric) -> Wording:
    """Return the wording that a metric carries, completed by plain words."""
    plain, place = default_wording(metric.classes), {name: i for i, name in enumerate(metric.classes)}
    words: dict[Key, Mistake] = {}
    for stated in metric.consequences:
        key = place[stated.true], None if stated.predicted is None else place[stated.predicted]
        usual = plain.mistake(key)
        words[key] = Mistake(
            stated.name or usual.name, stated.one or usual.one, stated.many or usual.many, stated.consequence
        )
    return plain.with_mistakes(words)


def _mistakes(sources: Sequence[Source], pooled: ElicitedMetric, wording: Wording) -> tuple[MistakeRates, ...]:
    each, of_all = [exchange_rates(source.metric) for source in sources], exchange_rates(pooled)
    others = sum(not one.is_yardstick for one in of_all)
    return tuple(
        MistakeRates(wording.mistake(one.key), tuple(rates[index] for rates in each), pooled=one, among=others)
        for index, one in enumerate(of_all)
    )


def _made_of(name: str, metric: ElicitedMetric) -> str:
    questions = metric.provenance.questions
    answers = f"{counted(questions, 'answer')}, " if questions else ""
    return f"{name} ({answers}{day(in_zone(metric.created))})"


def disagreement(mistakes: Sequence[MistakeRates], names: Sequence[str], *, opposed: bool = False) -> tuple[str, str]:
    """Return where the experts disagree most, in words: a headline, and what each of them says.

    Experts who are `opposed` disagree even if every ratio to the yardstick could be the same.
    """
    yardstick = next(one for one in mistakes if one.is_yardstick).mistake
    widest = _widest(mistakes)
    if widest.factor < _SAME:
        return "They agree", "Nothing counts more for one of them than for another."
    text = _ends_in_words(widest, names, yardstick)
    times = f": {widest.times}." if widest.times else "."
    plausible = all(rate.plausible for rate in widest.rates)
    ranges = "Their plausible ranges" if plausible else "Their ranges"
    if widest.plainly_apart:
        unlike = ", not a lack of answers" if plausible else " if every answer is right"
        return (
            f"They disagree most about {widest.mistake.many}",
            f"{text}{times} {ranges} do not meet, so this is a difference of opinion{unlike}.",
        )
    if widest.disjoint is None:
        return (
            f"They differ most about {widest.mistake.many}",
            f"{text}{times} Without ranges, it is unknown how certain that is.",
        )
    differ = f"They differ most about {widest.mistake.many}. {text}{times}" if widest.known else f"{text}."
    if opposed:
        return "They disagree about the order", differ
    meet = "nearly meet, which may be chance" if widest.disjoint else "meet"
    return "No clear disagreement", f"{differ} {ranges} {meet}, so more answers could bring them together."


def _widest(mistakes: Sequence[MistakeRates]) -> MistakeRates:
    return max((one for one in mistakes if not one.is_yardstick), key=lambda one: one.apart)


def _ends_in_words(compared: MistakeRates, names: Sequence[str], yardstick: Mistake) -> str:
    """Return what one of a mistake counts for the two experts furthest apart, one whose ratio is known first."""
    (first, one), (second, other) = sorted(
        ((names[index], compared.rates[index]) for index in compared.ends),
        key=lambda end: end[1].in_words() == NOT_KNOWN,
    )
    if one.in_words() == NOT_KNOWN:
        return f"What one {compared.mistake.one} counts is not known for {first} nor for {second}"
    unit = yardstick.one if _counts_as(one).endswith(" 1") else yardstick.many
    then = "it is not known" if other.in_words() == NOT_KNOWN else _counts_as(other)
    return f"For {first} one {compared.mistake.one} counts {_counts_as(one)} {unit}, for {second} {then}"


def _counts_as(rate: ExchangeRate) -> str:
    """Return "as much as 7.5"; of a bound or a wide range "as at least 40"."""
    return f"as {'' if rate.bounded or rate.wide else 'much as '}{rate.in_words()}"


def choice(judgements: Sequence[Judgement | None], names: Sequence[str], pooled: Judgement | None = None) -> str:
    """Return what is best for each expert, in words; empty without models."""
    known = [one for one in judgements if one is not None]
    if len(known) < len(judgements):
        return ""
    found, of_all = [short_recommendation(one) for one in known], short_recommendation(pooled) if pooled else ""
    text = "; ".join(f"for {name}: {one}" for name, one in zip(names, found, strict=True))
    return f"Best {text}{f'; pooled: {of_all}' if of_all else ''}."


@dataclass(frozen=True, eq=False)
class Expert:
    """One expert's result."""

    name: str  # the expert's name or, without one, the time of the answers
    source: Source  # the metric, named after its file or session
    # the policies for the study's models, judged under this metric; None without models
    judgement: Judgement | None = None


@dataclass(frozen=True)
class MistakeRates:
    """How bad each expert, and all of them pooled, find one mistake."""

    mistake: Mistake
    rates: tuple[ExchangeRate, ...]  # in the order of the experts
    pooled: ExchangeRate  # of the pooled metric
    among: int = 1  # mistakes that are compared with the yardstick

    @property
    def is_yardstick(self) -> bool:
        """Return whether this is the mistake that counts as 1 for every expert."""
        return self.pooled.is_yardstick

    @property
    def factor(self) -> float:
        """Return the largest ratio that an expert gives the mistake, divided by the smallest."""
        ratios = [rate.ratio for rate in self.rates]
        return max(ratios) / min(ratios) if min(ratios) > 0 else (math.inf if max(ratios) > 0 else 1.0)

    @property
    def known(self) -> bool:
        """Return whether the ratio is known, and not only bounded, for the two experts furthest apart."""
        return not any(self.rates[index].bounded for index in self.ends)

    @property
    def apart(self) -> tuple[bool, bool, float]:
        """Return how far apart the experts are, as a key for sorting.

        Those plainly apart come first, then differences of known ratios, then those of which an end is only bounded.
        """
        return self.plainly_apart, self.known and self.factor >= _SAME, self.factor

    @property
    def times(self) -> str:
        """Return "6 times apart"; empty if an end is a bound, a wide range or 0, which no expert stated as a number."""
        ends = [self.rates[index] for index in self.ends]
        unsaid = any(rate.bounded or rate.wide for rate in ends) or math.isinf(self.factor)
        return "" if unsaid else f"{two_digits(self.factor)} times apart"

    @property
    def beyond_all(self) -> bool:
        """Return whether the pooled ratio lies beyond those of all experts, where all are known."""
        apart = [self.pooled.ratio / rate.ratio for rate in self.rates if rate.ratio > 0 and not rate.bounded]
        known = len(apart) == len(self.rates) and not self.pooled.bounded
        return known and (min(apart) > _BEYOND or max(apart) < 1 / _BEYOND)

    @property
    def ends(self) -> tuple[int, int]:
        """Return the indices of the experts who mind it most and least."""
        ratios = [rate.ratio for rate in self.rates]
        return ratios.index(max(ratios)), ratios.index(min(ratios))

    @property
    def disjoint(self) -> bool | None:
        """Return whether the ranges of those two are disjoint; None if one has no range."""
        most, least = (self.rates[index] for index in self.ends)
        if most.low is None or least.high is None:
            return None
        return most.low > least.high

    @property
    def plainly_apart(self) -> bool:
        """Return whether the ranges of those two are disjoint by more than chance explains.

        Plausible ranges of 90 % are taken as normal on the log scale, and all pairs of experts and all mistakes as
        candidates (Bonferroni). Other ranges are as certain as the answers.
        """
        most, least = (self.rates[index] for index in self.ends)
        if not self.disjoint or not (most.plausible and least.plausible) or not (least.ratio and least.high):
            return bool(self.disjoint)
        assert most.low is not None
        spread = math.hypot(math.log(most.ratio / most.low), math.log(least.high / least.ratio)) / _NORMAL.inv_cdf(0.95)
        candidates = self.among * math.comb(len(self.rates), 2)
        return math.log(most.ratio / least.ratio) > spread * _NORMAL.inv_cdf(1 - _CHANCE / (2 * candidates))


def furthest(mistakes: Sequence[MistakeRates], most: int) -> tuple[MistakeRates, ...]:
    """Return the `most` mistakes on which experts are furthest apart, in their original order."""
    order = sorted(range(len(mistakes)), key=lambda index: mistakes[index].apart, reverse=True)
    return tuple(mistakes[index] for index in sorted(order[:most]))


@dataclass(frozen=True, eq=False)
class ComparisonView:
    """Experts compared."""

    title: str  # the study, or what the metrics are about
    names: tuple[str, ...]
    mistakes: tuple[MistakeRates, ...]  # in study order
    # where they disagree most, in words
    headline: str
    detail: str
    choice: str  # what is best for each; empty without models
    made_of: str  # the metrics pooled, in words
    pooled: ElicitedMetric  # all of them pooled
    how: str  # what pooling means, and how far the experts are apart
    # how far they agree on the order of the mistakes, and the order they share; empty where there are only two
    agreement: str = ""
    untrusted: tuple[str, ...] = ()  # the experts whose answers are inconsistent but are pooled nevertheless
    notes: tuple[str, ...] = ()  # what was left out and why, and what speaks against pooling
    # the policies for the study's models, judged under the pooled metric; None without models
    judgement: Judgement | None = None

    @property
    def yardstick(self) -> MistakeRates:
        """Return the mistake that the others are compared with."""
        return next(one for one in self.mistakes if one.is_yardstick)


@dataclass(frozen=True)
class FinishedExperts:
    """The experts who have finished a study, with their results, which take seconds; comparing them takes less.

    Parameters
    ----------
    study : Study
        What they were asked about.
    experts : tuple of Expert
        Those who have a result.
    first_round : dict of str to Source
        What was learned in the first round from experts who answered again, by the file of their second round.
    notes : tuple of str
        Who was left out and why, and which answers count.
    """

    study: Study
    experts: tuple[Expert, ...]
    first_round: dict[str, Source]
    notes: tuple[str, ...]

    def comparison(self, *, trusted_only: bool = False) -> ComparisonView:
        """Compare and pool the experts; with `trusted_only`, those whose answers are inconsistent are left out.

        Raises Problem if fewer than two can be compared.
        """
        kept, left_out = select_sources([expert.source for expert in self.experts], trusted_only=trusted_only)
        notes = (*self.notes, *left_out)
        if len(kept) < 2:
            raise Problem(" ".join(["Fewer than two of these experts can be compared.", *notes]))
        compared = [expert for expert in self.experts if expert.source in kept]
        view = _compared(compared, self.study, notes)
        if not self.first_round:
            return view
        before = [self.first_round.get(one.source.name, one.source) for one in compared]
        closer = since_first_round(view, before, self.study.wording)
        return replace(view, notes=(*view.notes, closer)) if closer else view


def experts_beside(session: Path, advance: Callable[[int, int], object] = lambda done, of: None) -> FinishedExperts:
    """Return the experts who have finished the study of a session; theirs are in the same folder. See `experts_of`."""
    return experts_of(study_of(read(session).begun.study, session), session.parent, advance)


def experts_of(
    study: Study, folder: Path | None = None, advance: Callable[[int, int], object] = lambda done, of: None
) -> FinishedExperts:
    """Return the experts who have finished a study, by the sessions in `folder` or, by default, in the study's own.

    `advance` is called with the number of experts just read and the number of all. Raises Problem if fewer than two
    have finished.
    """
    sessions = sessions_of(folder or sessions_folder(study), study.digests)
    found = finished_experts(sessions)
    if len(found) < 2:
        raise Problem(
            f"Comparing needs two experts who have finished “{study.title}”; there is {'one' if found else 'none'}. "
            "Let another person answer, then compare."
        )
    experts, first_round = list[Expert](), dict[str, Source]()
    notes = [f"Left out: {named(one)}, answered by a program." for one in _programs(sessions, found)]
    earlier = {one.path: before for one in found if (before := first_round_of(one, sessions)) is not None}
    for done, one in enumerate(found, start=1):
        try:
            experts.append(_expert(one, study))
        except Problem as problem:
            notes.append(f"Left out: {problem.sentence}")
        else:
            if one.path in earlier:
                first_round[one.path.name] = _first_source(earlier[one.path].path, study)
        advance(done, len(found))
    notes += [
        f"Several sessions are named {name}: the last with enough answers counts."
        for name in answered_before(sessions, found)
    ]
    if earlier:
        notes.append(f"{len(earlier)} of {len(found)} answered again after seeing the other experts' positions.")
    notes += [only_in_second_round(named(one)) for one in found if one.round > 1 and one.path not in earlier]
    return FinishedExperts(study, tuple(experts), first_round, tuple(notes))


def _first_source(path: Path, study: Study) -> Source:
    """Return the metric of a session without its quality, which takes a third of the time of a result."""
    session = Session.open_read_only(path, study)
    return Source(path.name, metric_of(session, by_the_yardstick(session.outcome(), study)))


def only_in_second_round(name: str) -> str:
    """Return what to do if an expert of a second round is not known from the first."""
    return (
        f"{name} answered only in the second round: if this is an expert of the first under another name, who would "
        "count twice, take the file of the first round out of the folder of sessions."
    )


def since_first_round(view: ComparisonView, sources: Sequence[Source], wording: Wording) -> str:
    """Return how far apart experts were in the first round, and how far they are now.

    Where they differed most, chance alone brings them closer; so the mean over all mistakes is told, too.
    """
    then = _mistakes(aligned(sources), view.pooled, wording)
    most = _widest(then)
    now = view.mistakes[then.index(most)]
    if not (most.times and now.times) or most.factor < _SAME:
        return ""
    are = f"are {now.times}" if now.factor >= _SAME else "agree"
    said = f"About {most.mistake.many} they were {most.times} in the first round, and {are} now"
    both = [pair for pair in zip(then, view.mistakes, strict=True) if pair[0].times and pair[1].times]
    pairs = [(one.factor, other.factor) for one, other in both if not one.is_yardstick]
    if len(pairs) < 2:
        return f"{said}."
    before, after = (two_digits(float(factor)) for factor in np.exp(np.mean(np.log(pairs), axis=0)))
    average = f"on average over {len(pairs)} {thing_of(view.pooled.kind)}s, {before} times then and {after} times now"
    return f"{said}; {average}. Where differences were largest, chance alone makes them smaller."


def _programs(sessions: Sequence[SessionSummary], found: Sequence[SessionSummary]) -> list[SessionSummary]:
    """Return the simulated experts who finished and are not in `found`."""
    mine = finished_experts(one for one in sessions if one.simulated)
    return [one for one in mine if one not in found]


def _expert(one: SessionSummary, study: Study) -> Expert:
    session = Session.open_read_only(one.path, study)
    if not session.can_export:
        raise Problem(f"{named(one)} has too few answers.")
    view = result_view(session)
    return Expert(named(one), Source(one.path.name, view.metric), view.judgement)


def named(one: SessionSummary) -> str:
    """Return who answered or, without a name, when."""
    if one.expert:
        return one.expert
    assert one.last is not None
    last = in_zone(one.last)
    return f"{day(last)}, {last:%H:%M}"


def _compared(experts: list[Expert], study: Study, notes: tuple[str, ...]) -> ComparisonView:
    names = [expert.name for expert in experts]
    together = series(names) if len(names) <= 4 else f"{len(names)} experts"
    pooled = pool([expert.source for expert in experts], f"{study.title}, {together} pooled")
    scenarios = scenarios_of(study, pooled)
    judgement = None if scenarios is None else scenarios.judgement()
    return compare(experts, study.title, wording=study.wording, pooled=pooled, judgement=judgement, notes=notes)
