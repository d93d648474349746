"""The report on a conclusion, for a board to sign: what to do and why, and every answer behind it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import elicit_app
from elicit_app.elicitation.questions import Purpose
from elicit_app.problem import first_of
from elicit_app.session.journal.events import NAMELESS_PROGRAM
from elicit_app.session.policy_words import information_texts, policy_texts
from elicit_app.session.sentences import preference_of
from elicit_app.session.session import Session
from elicit_app.session.trust_findings import contradictions, held_out_words
from elicit_app.session.view_builders import answered_views
from elicit_app.session.views import AnsweredView, ResultView
from elicit_app.study.mapping import as_option_value
from elicit_app.study.model import Study
from elicit_app.study.writing import metric_stem, write_whole
from metrics import ElicitedMetric
from metrics.drawing import LinearAxis
from metrics.elicited.exchange import beside_name, called, exchange_rates, headline_of, unasked_ratios
from metrics.elicited.kinds import answers_for, thing_of
from metrics.elicited.metric_parts import MOST_WEIGHTS_OF_ALL_DRAWS
from metrics.exports import rendered
from metrics.exports.page import (
    MOST_LISTED,
    MOST_RATES,
    Block,
    Bullets,
    Card,
    Cell,
    Facts,
    Finding,
    Findings,
    Page,
    Paragraph,
    Picture,
    RatePlot,
    Section,
    Signatures,
    Table,
    difference_mark,
    difference_numbers,
    one_line,
)
from metrics.policies.recommendation import Piece, decisive_mistake, what_would_change
from metrics.text import NOT_KNOWN, capitalised, counted, day, series, total_cost, two_digits

if TYPE_CHECKING:
    from elicit_app.session.comparing import ComparisonView
    from elicit_app.session.disagreement import MistakeRates
    from metrics.elicited.family import MistakeKey
    from metrics.policies.judgement import Judgement

FORMATS = {".pdf": "pdf", ".html": "html", ".htm": "html", ".md": "markdown"}
"""Format of a report by the suffix of its file."""

_MOST_POLICIES = 9
_FITS = {
    "fits": "",
    "check": "one side plainly better",
    "worse side": "the other side was plainly better",
    "level": "one side was plainly better",
    "does not fit": "does not fit the rest",
    "far apart": "far from another answer about the same mistakes",
    "two answers": "answered twice, differently",
    "asked again": "",
    "left open": "left open",
    "taken out": "taken out",
}


@dataclass(frozen=True)
class SessionFacts:
    """What a session adds to a metric and a judgement, in words."""

    title: str
    about: str  # "569 patients, 2 models"
    day: str
    # how far the answers can be trusted, with every reservation
    trust_sentence: str
    findings: tuple[Finding, ...]
    guesses: Mapping[MistakeKey, float]  # first guesses of ratios, by mistake
    notes: tuple[str, ...]  # notes of the result: what was bounded, stated with certainty, or interpreted
    # how the questions were asked, how the costs follow from the answers, and what was shown
    how: str
    method: str
    shown: str
    answers: tuple[tuple[int, str, str], ...]  # number, answer in words, and remark


def report_of(session: Session, view: ResultView) -> Page:
    """Return the report on the result of a session with at least one answer."""
    return report_page(view.metric, view.judgement, _asked(session, view))


def pooled_report(view: ComparisonView, metric_file: str = "") -> Page:
    """Return the report on several experts: what their pooled costs recommend, and how far they agree."""
    return report_page(view.pooled, view.judgement, experts=view, metric_file=metric_file)


def save_report(page: Page, metric: ElicitedMetric, path: Path) -> Path:
    """Write a report atomically in the format of its suffix (.html, .md, else PDF), and return its path.

    Raises Problem if the file cannot be written.
    """
    return write_whole(path, rendered(page, FORMATS.get(path.suffix.lower(), "pdf"), metric.created))


def report_page(
    metric: ElicitedMetric,
    judgement: Judgement | None,
    asked: SessionFacts | None = None,
    experts: ComparisonView | None = None,
    metric_file: str = "",
) -> Page:
    """Return the report: two sheets and, for a session, every answer.

    `judgement` is None without models; `experts` are those whose answers were pooled. `metric_file` is the name of the
    metric's file, if it is known; by default the name that the program proposes for it.
    """
    about = asked or experts
    title = one_line(metric.name if about is None else about.title) or "Report"
    who = metric.provenance.expert or "one person"
    if experts is not None:
        who = experts.who
    elif who == NAMELESS_PROGRAM:
        who = f"a {who}"
    models = () if judgement is None else judgement.model_names
    what = "mistakes cost" if metric.kind == "confusion" else "each amount counts"
    subtitle = f"What the answers of {who} say about what {what}"
    if models:
        subtitle += f", and what to do with {models[0] if len(models) == 1 else f'{len(models)} models'}"
    sections = [
        *_head(metric, judgement, asked),
        *([] if judgement is None else _conclusion(judgement, experts)),
        *_costs(metric, asked, new_sheet=judgement is not None),
        *([] if asked is None else [_trust(asked)]),
        *([] if experts is None else _experts(experts)),
        *_method(metric, judgement, asked, metric_file),
        *([] if asked is None else [_answers(asked)]),
    ]
    when = day(metric.created) if asked is None else asked.day
    return Page(title, subtitle, tuple(sections), foot=f"{title}, report of {when}")


def _head(metric: ElicitedMetric, judgement: Judgement | None, asked: SessionFacts | None) -> list[Section]:
    """Return who was asked, when, about what and for what purpose; then the recommendation."""
    number, quality = metric.provenance.questions, metric.quality
    who = metric.provenance.expert or "one person"
    by = "a program, not a person" if quality.simulated else who
    cases = "" if judgement is None else f"{judgement.n_cases:,} {judgement.words.cases}"
    left = [("Asked", f"{by}, {counted(number, 'answer')}"), ("About", asked.about if asked else cases)]
    right = [("On", asked.day if asked else day(metric.created))]
    if quality.purpose is not None:
        right.append(("For", answers_for(quality.purpose, metric.kind)))
    facts = [Section("", (Facts(tuple(row for row in rows if row[1])),), half=True) for rows in (left, right)]
    if judgement is None:
        return facts
    recommended = judgement.recommendation
    lines = [Paragraph(recommended.pieces and tuple(recommended.pieces), "lead")]
    lines += [Paragraph(text) for text in (recommended.spares, recommended.sureness) if text]
    lines += [Paragraph((Piece(recommended.reservation, True),))] if recommended.reservation else []
    return [*facts, Section("", (Card(tuple(lines)),))]


def _conclusion(judgement: Judgement, experts: ComparisonView | None) -> list[Section]:
    """Return the policies, how certain the choice is, and what would change it."""
    sections = [Section("What one can do", _policies(judgement))]
    texts = information_texts(judgement)
    if texts is not None:
        sections.append(Section("How sure, and what would help", (Paragraph(texts.in_words),)))
        doubts = _doubts(judgement)
        sections += [Section(head, (Paragraph(text),), half=True, level=3) for head, text in doubts]
    changes = Bullets((*(() if experts is None else (_one_alone(experts),)), *what_would_change(judgement)))
    signed = Signatures(("Answered by", "Decided by", "Date"))
    return [*sections, Section("What would change the conclusion", (changes, signed), whole=True)]


def _one_alone(experts: ComparisonView) -> tuple[str, str]:
    """Return what each expert alone would choose, because nobody may hold the pooled view."""
    where = f"{experts.headline.rstrip('.')}."
    return "One expert alone.", f"{where} {experts.choice}".strip()


def _policies(judgement: Judgement) -> tuple[Block, ...]:
    """Return the table of policies, and what is needed to read it."""
    texts = policy_texts(judgement)
    shown = first_of(texts.rows, _MOST_POLICIES)
    judged = [row.judged for row in shown]
    ends = ((one.difference_to_best, one.difference_interval) for one in judged)
    axis = LinearAxis.of_differences(ends, judged[0].cost_per_population)
    drawn = bool(judgement.n_draws)
    heads = ["Rank", "What", *("\n".join(two).strip() for two in texts.heads), "Cost"]
    heads += ["Above the first", "Probably\nbest"] if drawn else []
    rows: list[tuple[Cell | Picture, ...]] = []
    for one, row in zip(judged, shown, strict=True):
        cells: list[Cell | Picture] = [
            Cell(str(one.rank), strong=row.shared),
            Cell(row.name, strong=True, beside=row.manner),
        ]
        cells += [Cell(count) for count in row.counts] + [Cell(total_cost(one.cost_per_population), strong=True)]
        cells += [difference_mark(one, axis), Cell(row.best)] if drawn else []
        rows.append(tuple(cells))
    right = frozenset({0, *range(2, 3 + len(texts.heads)), *({len(heads) - 1} if drawn else ())})
    table = Table(tuple(heads), tuple(rows), right, widest=1, foot=difference_numbers(axis) if drawn else None)
    notes = [f"Per {texts.per}; costs in {texts.unit}.", *texts.notes]
    if len(judgement.policies) > len(shown):
        notes.append(f"{counted(len(judgement.policies) - len(shown), 'other costs', 'others cost')} more.")
    answers = "" if judgement.drawn.answers is None else "dark bar above: doubt from the answers; "
    legend = f"Line: 90 % plausible; {answers}open bar below: doubt from the cases."
    legends = (Paragraph(legend, "legend"),) if drawn else ()
    remarks = (Paragraph(note, "quiet") for note in (" ".join(notes), *judgement.notes))
    return table, *legends, *remarks


def _doubts(judgement: Judgement) -> tuple[tuple[str, str], ...]:
    """Return the uncertainty from the answers and that from the cases, in words."""
    found, words = judgement.information, judgement.words
    assert found is not None
    rate, points = decisive_mistake(judgement)
    answers = counted(judgement.metric.provenance.questions, "answer")
    if rate.range_90 is None:
        first = "The metric has no ranges, so the doubt from the answers is not included."
    else:
        one, many = rate.mistake.one, judgement.mistake(*judgement.unit).many
        s = "s" if judgement.metric.provenance.questions == 1 else ""
        if rate.in_words() == NOT_KNOWN:
            told = f"leave{s} it open how many {many} one {one} counts for"
        elif rate.bounded:
            told = f"tell{s} only that one {one} counts as {rate.in_words()} {many}"
        else:
            told = f"leave{s} {rate.columns()[1]} {many} for one {one}"
        most = ", on which the choice depends most" if points and len(exchange_rates(judgement.metric)) > 2 else ""
        first = f"{capitalised(answers)} {told}{most}."
        if judgement.drawn.answers is None:
            first += " The ranges above do not include this doubt."
        elif found.of_values <= 0.03 * max(found.expected_loss, 1e-12):
            first += " Nearly every value in it gives the same first choice."
    counted_how = "counted, weighted to the stated prevalence" if judgement.stated else "counted"
    cases = f"{judgement.n_cases:,} {words.cases}"
    if judgement.people is None:
        second = f"{cases} were {counted_how} and taken as independent; others like them would give other counts."
    else:
        people = f"{cases} of {judgement.people.total:,} people were {counted_how}, the people taken as independent"
        second = f"{people}; other people would give other counts."
    return ("Doubt from the answers", first), ("Doubt from the cases", second)


def _costs(metric: ElicitedMetric, asked: SessionFacts | None, *, new_sheet: bool) -> list[Section]:
    """Return what the answers say: the exchange rates, beside the first guesses."""
    rates = exchange_rates(metric)
    head = headline_of(rates, metric.quality.provisional)
    guesses = {} if asked is None else asked.guesses
    text = head.in_words()
    if head.rate.key in guesses:
        text += f" First guess, before the questions: {two_digits(guesses[head.rate.key])}."
    unasked = unasked_ratios(metric)
    names, classes = [], metric.classes if metric.words is None else metric.words.classes
    for rate in rates:
        flow = beside_name(rate.mistake.name, called(classes, rate.key)) if metric.kind == "confusion" else ""
        beneath = [flow] if flow else []
        beneath += ["never asked about"] if rate.key in unasked else []
        names.append((rate.mistake.name, ", ".join(beneath)))
    plot = RatePlot(
        rates, tuple(names), tuple(guesses.get(rate.key) for rate in rates), capitalised(thing_of(metric.kind))
    )
    bar = "bar: 50 %, " if metric.samples is not None else ""
    legend = f"Dot: best estimate; {bar}line: {rates[0].range_words.legend}, dashed where it is only bounded"
    legend += "; diamond: first guess." if guesses else "."
    blocks: tuple[Block, ...] = (Paragraph(text), plot, Paragraph(legend, "legend"))
    if metric.quality.never_asked:
        blocks += (Paragraph("What no question asked about is inferred from the other answers alone.", "quiet"),)
    blocks += tuple(Paragraph(note, "quiet") for note in (asked.notes if asked else ()))
    return [Section("What the answers say", blocks, new_sheet=new_sheet, whole=True)]


def _trust(asked: SessionFacts) -> Section:
    return Section("Can the answers be trusted?", (Paragraph(asked.trust_sentence), Findings(asked.findings)))


def _experts(view: ComparisonView) -> list[Section]:
    """Return whose answers were pooled, how far they agree, and how bad each finds every mistake."""
    from elicit_app.session.disagreement import furthest

    # Of fifty classes there are 2,450, which would fill a hundred sheets and, in a PDF, 500 MB of memory.
    shown = furthest(view.mistakes, MOST_LISTED if view.side_by_side else MOST_RATES)
    unit = f"One of each counts as this many {view.yardstick.mistake.many}."
    if len(shown) < len(view.mistakes):
        things = f"{thing_of(view.pooled.kind)}s"
        unit += f" These are the {len(shown)} of {len(view.mistakes):,} {things} on which the experts differ most."
    sentences = [view.headline.rstrip(".") + ".", view.detail, view.agreement]
    agree, counts = Paragraph(" ".join(one for one in sentences if one)), Paragraph(unit, "quiet")
    sections = (
        [Section("The experts", (agree, _side_by_side(view, shown), counts))]
        if view.side_by_side
        else [Section("The experts", (agree, counts)), *_one_below_the_other(view, shown)]
    )
    how = [Paragraph(f"{view.how} {view.made_of}"), *(Paragraph(note) for note in view.notes)]
    return [*sections, Section("How they were pooled", tuple(how))]


def _side_by_side(view: ComparisonView, shown: Sequence[MistakeRates]) -> Table:
    """Return a table with a row per mistake and a column per expert."""
    heads = (capitalised(thing_of(view.pooled.kind)), *view.names, "Pooled")
    rows = []
    for one in shown:
        cells = [Cell("1") if one.is_yardstick else Cell(*rate.columns()) for rate in (*one.rates, one.pooled)]
        rows.append((Cell(one.mistake.name, strong=True), *cells))
    return Table(heads, tuple(rows), frozenset(range(1, len(heads))), widest=0)


def _one_below_the_other(view: ComparisonView, shown: Sequence[MistakeRates]) -> list[Section]:
    """Return a table per mistake with a row per expert, all on one axis: as many columns would not fit a sheet."""
    plots = []
    for one in shown:
        if not one.is_yardstick:
            names, rates = zip(*view.lines(one), ("All pooled", one.pooled), strict=True)
            plots.append((one.mistake.name, RatePlot(rates, tuple((name, "") for name in names), heading="Expert")))
    axis = RatePlot(tuple(rate for _, plot in plots for rate in plot.rates), ()).axis
    return [Section(name, (plot.table(axis),), level=3, whole=True) for name, plot in plots]


def _method(
    metric: ElicitedMetric, judgement: Judgement | None, asked: SessionFacts | None, metric_file: str
) -> list[Section]:
    sentences = [] if asked is None else [asked.how, *([asked.method] if asked.method else [])]
    if metric.samples is not None:
        n, all_kept = len(metric.samples), len(metric.weights) <= MOST_WEIGHTS_OF_ALL_DRAWS
        behind = f"those of {n:,} posterior draws" if all_kept else f"of more posterior draws than the {n:,} kept"
        sentences.append(f"The ranges are {behind}.")
    elif asked is not None and metric.intervals is not None:
        sentences.append("The ranges are what the questions leave open if every answer is right, not probabilities.")
    if judgement is not None:
        if any(one.threshold is not None for one in judgement.policies):
            sentences.append(
                "A policy with these costs calls a case positive where its probability is at least 1 / (1 + ratio) "
                "(Elkan 2001; Vickers and Elkin 2006)."
            )
        if any(one.policy.correction is not None for one in judgement.policies):
            sentences.append(
                "Corrected probabilities are those for the stated prevalence (Saerens, Latinne and Decaestecker 2002); "
                "a threshold given with them is for the probability before that."
            )
        if judgement.n_draws:
            sentences.append(
                "Doubt from the cases: Bayesian bootstrap, paired over policies (Rubin 1981), and for disagreements "
                "that no case shows Jeffreys' prior. What more would bring: expected value of partial perfect "
                "information (Claxton 1999)."
            )
    sections = [Section("How it was done", (Paragraph(" ".join(sentences)),))] if sentences else []
    if asked is not None and asked.shown:
        sections.append(Section("What was shown", (Paragraph(asked.shown),)))
    return [*sections, Section("To do it again", (Facts(_again(metric, judgement, asked, metric_file)),))]


def _again(
    metric: ElicitedMetric, judgement: Judgement | None, asked: SessionFacts | None, metric_file: str
) -> tuple[tuple[str, str], ...]:
    source, quality = metric.provenance, metric.quality
    study = asked.about if asked is not None else "" if judgement is None else f"{judgement.n_cases:,} cases"
    answers = f"{source.questions}, digest {_start(source.answers_digest)}" if source.answers_digest else "none"
    never = len(quality.never_asked)
    state = (
        "" if quality.provisional is None else f"provisional: {quality.provisional}",
        f"{counted(never, 'mistake')} never asked about" if never else "",
    )
    rows = [
        ("Study", ", ".join(filter(None, (study, source.study_digest and f"digest {_start(source.study_digest)}")))),
        ("Answers", answers),
        ("Metric file", "; ".join(filter(None, (metric.name, *state)))),
        ("Program", f"elicit {source.version or elicit_app.__version__}, procedure {source.procedure}"),
        ("Seed", "" if source.seed is None else str(source.seed)),
    ]
    if judgement is not None:
        of = shlex.quote(metric_file or f"{metric_stem(metric)}.metric.json")
        command = f"elicit score {of} PREDICTIONS --draws {judgement.n_draws}"
        if judgement.stated:
            shares = [f"{share:.12g}" for share in judgement.prevalence]  # no digits that are only rounding: 0.02
            command += f" --prevalence {as_option_value(zip(metric.classes, shares, strict=True))}"
        given = f"with the predictions of {', '.join(judgement.model_names)}"
        given += ", in this order" if len(judgement.model_names) > 1 else ""
        if any(one.policy.decides == "practice" for one in judgement.policies):
            command, given = f"{command} --practice PRACTICE", f"{given}, and present practice as it was typed in"
        rows.append(("Command", f"{command}, {given}"))
    return tuple(row for row in rows if row[1])


def _answers(asked: SessionFacts) -> Section:
    rows = tuple((Cell(str(number)), Cell(text), Cell(remark)) for number, text, remark in asked.answers)
    table = Table(("Number", "Answer", "Remark"), rows, frozenset({0}), widest=1)
    return Section("Every answer, in words", (table,), new_sheet=True)


def _asked(session: Session, view: ResultView) -> SessionFacts:
    study, family = session.study, session.procedure().family
    answers = answered_views(session, contradictions(session.state))
    findings = [Finding(found.good, found.headline, found.detail) for found in view.trust]
    if view.held_out:
        words = f" {held_out_words(view.held_out)}."
        findings = [replace(one, detail=one.detail + words) if one.detail.endswith(":") else one for one in findings]
    return SessionFacts(
        title=study.title,
        about=_about(study),
        day=view.date,
        trust_sentence=view.trust_sentence,
        findings=tuple(findings),
        guesses=view.guesses,
        notes=view.notes,
        how=_how(answers, study),
        method=view.method,
        shown=_shown(session),
        answers=tuple((one.number, *_in_words(one, study, family)) for one in answers),
    )


def _in_words(answer: AnsweredView, study: Study, family: str) -> tuple[str, str]:
    preference = preference_of(answer, study.wording, family)  # type: ignore[arg-type]
    strength = f" ({answer.strength.value})" if answer.strength and preference.is_preference else ""
    text = capitalised(preference.both.removeprefix("you ")) + strength
    reason = f"“{answer.reason}”" if answer.reason else ""
    remarks = (_FITS[answer.fit], "changed later" if answer.changed else "", reason)
    return f"{text}.", "; ".join(filter(None, remarks))


def _about(study: Study) -> str:
    if not study.n_cases:
        return f"{study.title}, a synthetic study"
    if study.wording.priced:
        return study.description
    cases = f"{study.n_cases:,} {study.wording.cases}"
    return f"{cases}, {counted(len(study.model_names), 'model')}"


def _how(answers: Sequence[AnsweredView], study: Study) -> str:
    moved = sum(one.moved is not None for one in answers)
    chosen = len(answers) - moved
    what = "batches of items" if study.wording.priced else f"{study.population:,} {study.wording.cases}"
    were = "was" if len(answers) == 1 else "were"
    text = f"{counted(len(answers), 'pair')} of results for {what} {were} compared"
    sentences = [f"{text} by choosing."]
    if moved:
        sentences = [
            f"{text}, {chosen} by choosing and {moved} by moving one number until both were equally bad.",
            "Choosing and matching are mixed because they differ (Tversky, Sattath and Slovic 1988).",
        ]
    out = sum(one.fit == "taken out" for one in answers)
    unsure = sum(one.fit in ("asked again", "left open") for one in answers)
    besides = ((out, "taken out afterwards"), (unsure, "answered “cannot say”"))
    parts = [f"{number} {'was' if number == 1 else 'were'} {what}" for number, what in besides if number]
    sentences += [f"Of these, {series(parts)}."] if parts else []
    return " ".join(sentences)


def _shown(session: Session) -> str:
    pairs = [entry.event.pair for entry in session.state.entries]
    imagined = sum(pair.hypothetical and pair.purpose is not Purpose.CHECK for pair in pairs)
    again = [n for n in Counter(frozenset((pair.first, pair.second)) for pair in pairs).values() if n > 1]
    sentences = []
    if imagined:
        of = f"{counted(imagined, 'pair')} of {len(pairs)}"
        sentences.append(f"{of} had a result that no model of the study gives; it was marked.")
    if again:
        sentences.append(f"{counted(len(again), 'pair')} came {'twice' if max(again) == 2 else 'more than once'}.")
    if based := sum(pair.common_base for pair in pairs):
        thing, add_up = ("amount", "prices") if session.study.wording.priced else ("mistake", "costs")
        came = f"{counted(based, 'trade')} came again with more of one {thing} on both sides"
        sentences.append(f"{came}, to see whether {add_up} add up.")
    starts = any(pair.proposal is not None and pair.proposal.at_once for pair in pairs)
    drawn = "Sides, the order of rows and the start of each moved number" if starts else "Sides and the order of rows"
    sentences.append(f"{drawn} were random, but sides were balanced; all are in the session file.")
    return " ".join(sentences)


def _start(digest: str | None) -> str:
    return "" if digest is None else f"{digest[:4]} {digest[4:8]} {digest[8:12]} {digest[12:16]}"
