"""Compare experts: their ratios, where they disagree most, what each would choose, and the pooled result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from elicit_app.elicitation.questions import Matrix
from elicit_app.problem import Problem
from elicit_app.session.agreement import agreement_of
from elicit_app.session.answered_again import only_in_second_round, since_first_round, since_sitting_before
from elicit_app.session.disagreement import Disagreement, MistakeRates, compared_mistakes, spread_words, widest
from elicit_app.session.header import study_of
from elicit_app.session.journal.files import read
from elicit_app.session.journal.listing import (
    SessionSummary,
    finished_experts,
    first_round_of,
    sessions_folder,
    sessions_of,
    sittings_before,
)
from elicit_app.session.one_belief import stated_in
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
from elicit_app.session.scenarios import Scenarios
from elicit_app.session.sentences import orders_words
from elicit_app.session.session import Session
from elicit_app.study.model import Key, Mistake, Study, Wording, default_wording
from metrics import ElicitedMetric
from metrics.elicited.exchange import ExchangeRate
from metrics.elicited.family import family_of
from metrics.elicited.metric_parts import OPPOSED, range_of_draws
from metrics.policies.cases import Practice
from metrics.policies.judgement import Judgement
from metrics.policies.recommendation import short_recommendation
from metrics.text import counted, day, in_zone, percent, series

BY_MEAN = "Pooled by the geometric mean of the ratios: where one expert says 2 and another 8, the pooled ratio is 4."
IN_ONE_BELIEF = (
    "Pooled in one belief: the group's ratios are close to a geometric mean of theirs in which an expert known more "
    "precisely counts for more. Its range shows how well they are known, not how far apart the experts are."
)
_DEARER = 0.01  # share from which it is told that the pooled choice is dearer for somebody
_MOST_NAMED = 3  # of those for whom it is
_MOST_BESIDE = 4  # experts whose names a heading holds, and whose numbers a table holds side by side
_BEYOND_ALL = (
    "All costs are pooled together, and not each ratio by itself, so that some pooled ratios lie beyond those of all "
    "experts."
)


def compare(
    experts: Sequence[Expert],
    title: str,
    *,
    wording: Wording | None = None,
    pooled: ElicitedMetric | None = None,
    judgement: Judgement | None = None,
    dearer: Sequence[float] = (),
    notes: tuple[str, ...] = (),
) -> ComparisonView:
    """Compare at least two experts about the same classes; `title` says what they are about.

    By default the wording is the one that the metrics carry. `pooled` is the pooled metric if it exists already,
    `judgement` judges the policies for the study's models under it, `dearer` is as from `dearer_by_own_values`; `notes`
    say what was left out. Raises Problem as `pooling.aligned`.
    """
    sources = aligned([expert.source for expert in experts])
    metrics = [source.metric for source in sources]
    names = numbered_names([expert.name for expert in experts])
    pooled = pooled or pool(sources)
    wording = wording or wording_of(sources[0].metric)
    mistakes = compared_mistakes(metrics, pooled, wording)
    found = Disagreement.of(mistakes, metrics, pooled, wording)
    mistakes = found.marked(mistakes)
    headline, detail = found.in_words(names, opposed=pooled.quality.provisional == OPPOSED)
    agreement = agreement_of(metrics)
    return ComparisonView(
        title=title,
        names=names,
        mistakes=mistakes,
        headline=headline,
        detail=detail,
        choice=choice([expert.judgement for expert in experts], names, judgement, dearer),
        made_of=_made_of(names, metrics),
        pooled=pooled,
        how=" ".join(
            [_how(pooled, mistakes, plain=found.compared.plainly_apart), *_stated_by(metrics, names, wording)]
        ),
        agreement=agreement.sentence([one.mistake.many for one in mistakes], pooled.kind),
        untrusted=tuple(name for name, metric in zip(names, metrics, strict=True) if untrusted(metric)),
        notes=(*notes, *doubts(metrics, names, pooled, of=[one.mistake.many for one in mistakes])),
        judgement=judgement,
    )


def _how(pooled: ElicitedMetric, mistakes: Sequence[MistakeRates], *, plain: bool) -> str:
    """Explain the pooling method, and how far experts are from the pooled ratios; `plain` if they plainly disagree."""
    in_one_belief = pooled.provenance.parameters.get("pooled_by") == ONE_BELIEF
    sentences = [IN_ONE_BELIEF if in_one_belief else BY_MEAN, spread_words(mistakes)]
    if in_one_belief and any(one.beyond_all for one in mistakes):
        sentences.append(_BEYOND_ALL)
    if experts_agree(pooled) and not plain:
        sentences.append("These answers do not rule out that the experts agree.")
    return " ".join(filter(None, sentences))


def _stated_by(metrics: Sequence[ElicitedMetric], names: Sequence[str], wording: Wording) -> Iterator[str]:
    """Yield sentences on what experts stated as certain, to which their costs keep."""
    whose: dict[str, list[str]] = {}
    for metric, name in zip(metrics, names, strict=True):
        text = orders_words(*stated_in(metric), metric.classes, wording, family_of(metric.family).name)
        whose.setdefault(text, []).append(name)
    for text, who in whose.items():
        everybody = len(who) == len(names)
        by = "All experts" if everybody else _in_few_words(who)
        if text:
            yield (
                f"{by} stated as certain before the questions, so that "
                f"{'all costs' if everybody else 'these costs'} keep to it: {text}"
            )


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


def _in_few_words(names: Sequence[str]) -> str:
    """Return the names in a row or, of many experts, their number."""
    return series(names) if len(names) <= _MOST_BESIDE else f"{len(names)} experts"


def _made_of(names: Sequence[str], metrics: Sequence[ElicitedMetric]) -> str:
    """Return whose answers are pooled, how many each gave, and when."""
    days = [day(in_zone(metric.created)) for metric in metrics]
    same = len(set(days)) == 1
    parts = []
    for name, metric, when in zip(names, metrics, days, strict=True):
        number = metric.provenance.questions
        about = ", ".join(filter(None, (counted(number, "answer") if number else "", "" if same else when)))
        parts.append(f"{name} ({about})" if about else name)
    return f"Made of {series(parts)}{f', on {days[0]}' if same else ''}."


def choice(
    judgements: Sequence[Judgement | None],
    names: Sequence[str],
    pooled: Judgement | None = None,
    dearer: Sequence[float] = (),
) -> str:
    """Return what is best for each expert, and what the pooled choice costs them, in words; empty without models."""
    known = [one for one in judgements if one is not None]
    if len(known) < len(judgements):
        return ""
    by_action: dict[str, list[str]] = {}
    for name, one in zip(names, known, strict=True):
        action, sure = short_recommendation(one, "their own costs")
        by_action.setdefault(action, []).append(f"{name} ({sure})" if sure else name)
    most_first = sorted(by_action.items(), key=lambda item: -len(item[1]))
    parts = [f"for {series(whose)}: {action}" for action, whose in most_first]
    if pooled is not None:
        action, sure = short_recommendation(pooled, "the pooled costs")
        parts.append(f"pooled{f' ({sure})' if sure else ''}: {action}")
    best = f"Best {'; '.join(parts)}."
    return f"{best} {_dearer_words(names, dearer)}" if dearer else best


def dearer_by_own_values(experts: Sequence[Expert], scenarios: Scenarios) -> tuple[float, ...]:
    """Return by which share, at least, the choice under the pooled costs is dearer than the best for each expert.

    Both are judged by the expert's own values. Each best was chosen by the very answers that these come from, so that
    it seems better than it is: the low end of the 90 % range given the answers is taken. It is 0 where nothing shows
    that the pooled choice is dearer, or the best costs nothing.
    """
    pooled = scenarios.decided(scenarios.judgement().best.policy)
    found = []
    for expert in experts:
        own, metric = expert.decided, expert.source.metric
        assert own is not None
        costs = metric.cost_matrix[None] if metric.cost_samples is None else metric.cost_samples
        least, more = (np.einsum("sij,ij->s", costs, often) for often in (own, pooled - own))
        known = least > 0
        found.append(max(range_of_draws(more[known] / least[known])[0], 0.0) if known.any() else 0.0)
    return tuple(found)


def _dearer_words(names: Sequence[str], dearer: Sequence[float]) -> str:
    """Return what the pooled choice costs the experts for whom it is dearest, and whether it does the others."""
    pairs = sorted(zip(dearer, names, strict=True), key=lambda pair: -pair[0])
    much = [pair for pair in pairs if pair[0] >= _DEARER]
    if not much:
        return "By their own values, nothing shows that the pooled choice costs more than the best for each of them."
    parts = [
        f"{percent(share)}{' more than the best' if at == 0 else ''} for {name}"
        for at, (share, name) in enumerate(much[:_MOST_NAMED])
    ]
    left = pairs[len(parts) :]
    who = left[0][1] if len(left) == 1 else "the others"
    rest = f"; for {who} {'less' if len(much) > len(parts) else 'nothing shows that it costs more'}" if left else ""
    return f"By their own values, the pooled choice costs at least {series(parts)}{rest}."


@dataclass(frozen=True, eq=False)
class Expert:
    """One expert's result."""

    name: str  # the expert's name or, without one, the time of the answers
    source: Source  # the metric, named after its file or session
    # the policies for the study's models, judged under this metric, and how often cases of each truth are called what
    # under the best of them, (k, k); None without models
    judgement: Judgement | None = None
    decided: Matrix | None = None
    practice: tuple[tuple[float, ...], ...] | None = None  # what is done today, as the expert typed it


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
    def who(self) -> str:
        """Return the names in a row or, of many experts, their number."""
        return _in_few_words(self.names)

    @property
    def side_by_side(self) -> bool:
        """Return whether the experts are so few that a table can have a column for each."""
        return len(self.names) <= _MOST_BESIDE

    def lines(self, mistake: MistakeRates) -> tuple[tuple[str, ExchangeRate], ...]:
        """Return the experts' names and rates from top to bottom.

        Many are sorted by the ratio on which they are furthest apart, which shows whether there are camps.
        """
        each, apart = tuple(zip(self.names, mistake.rates, strict=True)), widest(self.mistakes).rates
        if self.side_by_side:
            return each
        return tuple(each[at] for at in sorted(range(len(each)), key=lambda at: apart[at].ratio))

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
    sitting_before : dict of str to Source
        What was learned in an earlier sitting from experts who answered again in the same round, by their last file.
    notes : tuple of str
        Who was left out and why, and which answers count.
    practice : Practice or None
        What is done today, if those who typed it agree; all experts are judged with it.
    """

    study: Study
    experts: tuple[Expert, ...]
    first_round: dict[str, Source]
    sitting_before: dict[str, Source]
    notes: tuple[str, ...]
    practice: Practice | None = None

    def comparison(self, *, trusted_only: bool = False) -> ComparisonView:
        """Compare and pool the experts; with `trusted_only`, those whose answers are inconsistent are left out.

        Raises Problem if fewer than two can be compared.
        """
        kept, left_out = select_sources([expert.source for expert in self.experts], trusted_only=trusted_only)
        notes = (*self.notes, *left_out)
        if len(kept) < 2:
            raise Problem(" ".join(["Fewer than two of these experts can be compared.", *notes]))
        compared = [expert for expert in self.experts if expert.source in kept]
        view, wording = _compared(compared, self.study, notes, self.practice), self.study.wording
        said = [
            since_sitting_before(one.name, self.sitting_before[one.source.name], one.source, view.pooled, wording)
            for one in compared
            if one.source.name in self.sitting_before
        ]
        if self.first_round:
            now = [one.source for one in compared]
            before = [self.first_round.get(source.name, source) for source in now]
            said.append(since_first_round(before, now, view.pooled, wording))
        return replace(view, notes=(*view.notes, *filter(None, said)))


def experts_beside(session: Path, advance: Callable[[int, int], object] = lambda done, of: None) -> FinishedExperts:
    """Return the experts who have finished the study of a session; theirs are in the same folder. See `experts_of`."""
    return experts_of(study_of(read(session).begun.study, session), session.parent, advance)


def experts_of(
    study: Study,
    folder: Path | None = None,
    advance: Callable[[int, int], object] = lambda done, of: None,
    practice: Practice | None = None,
) -> FinishedExperts:
    """Return the experts who have finished a study, by the sessions in `folder` or, by default, in the study's own.

    `advance` is called with the number of experts just read and the number of all. Present practice is by default what
    they typed. Raises Problem if fewer than two have finished.
    """
    sessions = sessions_of(folder or sessions_folder(study), study.digests)
    found = finished_experts(sessions)
    if len(found) < 2:
        raise Problem(
            f"Comparing needs two experts who have finished “{study.title}”; there is {'one' if found else 'none'}. "
            "Let another person answer, then compare."
        )
    experts, first_round, sitting_before = list[Expert](), dict[str, Source](), dict[str, Source]()
    notes = [f"Left out: {named(one)}, answered by a program." for one in _programs(sessions, found)]
    earlier = {one.path: before for one in found if (before := first_round_of(one, sessions)) is not None}
    again = {one.path: others for one in found if (others := sittings_before(one, sessions))}
    for done, one in enumerate(found, start=1):
        try:
            experts.append(_expert(one, study))
        except Problem as problem:
            notes.append(f"Left out: {problem.sentence}")
        else:
            if one.path in earlier:
                first_round[one.path.name] = _source_of(earlier[one.path], study)
            if (before := _sitting_before(one, again.get(one.path, ()))) is not None:
                sitting_before[one.path.name] = _source_of(before, study)
        advance(done, len(found))
    notes += [
        f"Several sessions are named {one.expert}: the last with enough answers counts."
        for one in found
        if one.path in again
    ]
    if earlier:
        notes.append(f"{len(earlier)} of {len(found)} answered again after seeing the other experts' positions.")
    notes += [only_in_second_round(named(one)) for one in found if one.round > 1 and one.path not in earlier]
    judged, practice, said = _with_one_practice(experts, study, practice)
    return FinishedExperts(study, judged, first_round, sitting_before, (*study.unread_notes, *notes, *said), practice)


def _with_one_practice(
    experts: Sequence[Expert], study: Study, given: Practice | None
) -> tuple[tuple[Expert, ...], Practice | None, tuple[str, ...]]:
    """Return the experts judged with the same present practice, by default what they typed, that, and a note on it."""
    if given is not None:
        return tuple(_judged_with(given, one, study) for one in experts), given, ()
    typed = [one for one in experts if one.practice is not None]
    if not typed:
        return tuple(experts), None, ()
    names, same = series([one.name for one in typed]), len({one.practice for one in typed}) == 1
    table = typed[0].practice if same else None
    practice = None if table is None else Practice.of(table, study.classes)
    said = f"as {names} typed it" if same else f"left out: {names} did not type the same"
    judged = tuple(one if one.practice == table else _judged_with(practice, one, study) for one in experts)
    return judged, practice, (f"Present practice is {said}.",)


def _sitting_before(one: SessionSummary, others: Sequence[SessionSummary]) -> SessionSummary | None:
    """Return the last of an expert's other sittings with enough answers; a copy that somebody continued is none."""
    begun = read(one.path).begun
    return next((other for other in others if other.can_export and read(other.path).begun != begun), None)


def _source_of(one: SessionSummary, study: Study) -> Source:
    return Source(one.path.name, metric_in(one.path, study))


def metric_in(path: Path, study: Study) -> ElicitedMetric:
    """Return the metric of a session without its quality, which takes a third of the time of a result."""
    session = Session.open_read_only(path, study)
    return metric_of(session, by_the_yardstick(session.outcome(), study))


def _programs(sessions: Sequence[SessionSummary], found: Sequence[SessionSummary]) -> list[SessionSummary]:
    """Return the simulated experts who finished and are not in `found`."""
    mine = finished_experts(one for one in sessions if one.simulated)
    return [one for one in mine if one not in found]


def _expert(one: SessionSummary, study: Study) -> Expert:
    session = Session.open_read_only(one.path, study)
    if not session.can_export:
        raise Problem(f"{named(one)} has too few answers.")
    view = result_view(session)
    found = Expert(named(one), Source(one.path.name, view.metric), practice=view.practice)
    return _judged_by(view.scenarios, found)


def _judged_with(practice: Practice | None, expert: Expert, study: Study) -> Expert:
    """Return an expert's result with the practice that all of them are judged with."""
    return _judged_by(scenarios_of(study, expert.source.metric, practice), expert)


def _judged_by(scenarios: Scenarios | None, expert: Expert) -> Expert:
    if scenarios is None:
        return expert
    judgement = scenarios.judgement()
    return replace(expert, judgement=judgement, decided=scenarios.decided(judgement.best.policy))


def named(one: SessionSummary) -> str:
    """Return who answered or, without a name, when."""
    if one.expert:
        return one.expert
    assert one.last is not None
    last = in_zone(one.last)
    return f"{day(last)}, {last:%H:%M}"


def _compared(experts: list[Expert], study: Study, notes: tuple[str, ...], practice: Practice | None) -> ComparisonView:
    together = _in_few_words([expert.name for expert in experts])
    pooled = pool([expert.source for expert in experts], f"{study.title}, {together} pooled")
    scenarios = scenarios_of(study, pooled, practice)
    judgement = None if scenarios is None else scenarios.judgement()
    alone = all(expert.decided is not None for expert in experts)
    dearer = dearer_by_own_values(experts, scenarios) if alone and scenarios is not None else ()
    return compare(
        experts, study.title, wording=study.wording, pooled=pooled, judgement=judgement, dearer=dearer, notes=notes
    )
