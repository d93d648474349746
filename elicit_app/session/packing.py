"""Studies for experts elsewhere: packed into one file, answered there, collected here, and asked in a second round.

In the second round each expert sees the anonymous positions of the others and may answer again; both rounds are kept.
After Dalkey and Helmer, "An experimental application of the Delphi method to the use of experts", Management Science 9,
1963: opinions circulate without names, so that arguments count and not the people who make them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.pool import tallies_of
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import Setting
from elicit_app.registry.entries import cases_of
from elicit_app.session.answered_again import only_in_second_round
from elicit_app.session.comparing import ComparisonView, experts_of, metric_in
from elicit_app.session.disagreement import MistakeRates, furthest
from elicit_app.session.header import check_study, fold_events
from elicit_app.session.journal.events import PROTECTED
from elicit_app.session.journal.files import SUFFIX, Contents, examine, read, read_bytes, reason, write_new
from elicit_app.session.journal.listing import (
    SessionSummary,
    finished_experts,
    first_answers,
    first_round_of,
    latest_expert_name,
    new_session_path,
    sessions_folder,
    sessions_of,
    summary,
)
from elicit_app.session.journal.state import Entry, SessionState, fold
from elicit_app.session.result import answers_digest
from elicit_app.session.session import Session
from elicit_app.study.model import Key, Opinions, Pack, Study, TalliedModel
from elicit_app.study.packs import ENDING, pack_bytes, with_pack
from elicit_app.study.writing import write_whole
from metrics import Consequence, ElicitedMetric, exchange_rates
from metrics.elicited.exchange import ExchangeRate
from metrics.elicited.family import MistakeKey
from metrics.text import NOT_KNOWN, counted, number_word

ANSWERS_ENDING = f"-answers{SUFFIX}"
_UNSAID = ("seed", "person", "space")


def packed(study: Study, setting: Setting, others: Sequence[Opinions] = ()) -> Study:
    """Return a study without its cases for experts elsewhere, asked according to `setting` but each with an own seed.

    For a second round, `others` hold the positions of the experts of the first. Raises Problem if the study has no
    predictions, or the setting requires cases.
    """
    if not study.model_names or study.answered_elsewhere:
        raise Problem(f"“{study.title}” has no predictions of models: there is nothing to pack.")
    if setting.procedure != "bayes" or setting.space != "frontier":
        raise Problem("Remote experts can only be asked with the procedure bayes; the others need the cases.")
    models = _tallied(study) if study.pack is None else study.pack.models
    fixed = setting.model_dump(mode="json", exclude_none=True, exclude_defaults=True, exclude=set(_UNSAID))
    fixed |= {"procedure": setting.procedure, "family": setting.family}
    return with_pack(study, Pack(models, fixed, "", 2 if others else 1, tuple(others)))


def _tallied(study: Study) -> tuple[TalliedModel, ...]:
    tallies = tallies_of([cases_of(study, model) for model in study.models], study.stated_prevalence)
    return tuple(
        TalliedModel(model.name, tally.most_probable, tally.decided, tally.places)
        for model, tally in zip(study.models, tallies, strict=True)
    )


def write_pack(study: Study, path: Path) -> Path:
    """Write a packed study atomically and return its path; a missing suffix is added.

    Raises Problem if it cannot be written, or its suffix is not that of a packed study.
    """
    path = pack_path(path)
    return write_whole(path, pack_bytes(study))


def pack_path(path: Path) -> Path:
    """Return the path to which a packed study is written, with a missing suffix added; raises as `write_pack`."""
    path = path if path.suffix else path.with_name(path.name + ENDING)
    if path.suffix != ENDING:
        raise Problem(f"{path}: the name of a study to send ends in {ENDING}.")
    return path


def pseudonym() -> str:
    """Return a pseudonym for an expert who prefers to stay anonymous: "Expert 4821"."""
    return f"Expert {1000 + randbelow(9000)}"


def proposed_name(study: Study, sessions: Iterable[SessionSummary]) -> str:
    """Return the name under which somebody may answer a study that was sent: the earlier one, else a pseudonym.

    It is empty where nothing is sent back, and in a second round of somebody who is not known on this computer: answers
    under a new name would count as those of another person.
    """
    if not study.answered_elsewhere:
        return ""
    return latest_expert_name(sessions) or ("" if is_second_round(study) else pseudonym())


def require_name(study: Study, expert: str) -> None:
    """Raise WrongOption if answers in a second round would have no name, and so could not replace earlier ones."""
    if is_second_round(study) and not expert:
        raise WrongOption("Name the `expert` as in the first round: otherwise the same person would count twice.")


def is_second_round(study: Study) -> bool:
    """Return whether a study was sent to experts who have answered it before."""
    return study.pack is not None and study.pack.round > 1


def save_answers(session: Session, path: Path) -> Path:
    """Write a copy of a session, the only file that is sent back, and return its path.

    Raises Problem if there is no answer yet, or the file cannot be written.
    """
    if not session.state.entries:
        raise Problem("There is no answer to send yet: answer at least one question first.")
    path = answers_path(path)
    if is_earlier_copy(path, session):
        path.unlink()
    return write_whole(path, read_bytes(session.path))


def is_earlier_copy(path: Path, session: Session) -> bool:
    """Return whether a file is an earlier copy of the same answers and holds nothing else."""
    return path.is_file() and read_bytes(session.path).startswith(path.read_bytes())


def answers_path(path: Path) -> Path:
    """Return the path in which answers are saved, with a missing suffix added."""
    return path if path.name.endswith(SUFFIX) else path.with_name(path.name.removesuffix(".metric.json") + SUFFIX)


@dataclass(frozen=True)
class Filed:
    """What happened to one file of answers."""

    source: Path  # the given file
    sentence: str  # what was done, in words
    new: bool  # whether anything was written


def collect(study: Study, files: Sequence[Path]) -> tuple[Filed, ...]:
    """File answers that experts sent back among the sessions of a study; every file is checked before any is written.

    Raises Problem if a file is damaged, no session or about another study; then nothing is filed.
    """
    if study.kind == "synthetic" or study.answered_elsewhere:
        raise Problem(f"Collect answers about “{study.title}” with the study that it was made from.")
    found = sorted(((file, _sound(study, file)) for file in files), key=lambda one: one[1].begun.study.round or 1)
    folder = sessions_folder(study)
    filed = []
    for file, contents in found:
        # Searched anew for each file, because the same answers may have been given twice.
        already = _filed_already(folder)
        before = next((path for path, other in already if other.digests[0] == contents.digests[0]), None)
        state = fold_events(contents.events, file)
        alike = (path for path, other in already if answers_digest(fold(other.events)) == answers_digest(state))
        twin = next(alike, None) if before is None and state.used else None
        if twin is not None:
            text = f"Not filed: the same answers as in {twin.name}, filed before. An expert counts once."
            filed.append(Filed(file, text, False))
        else:
            filed.append(_file(study, file, contents, state, before))
    return tuple(filed)


def _sound(study: Study, file: Path) -> Contents:
    """Return the answers in a file after every check."""
    contents = read(file)
    mark = contents.begun.study
    check_study(mark, study, file)
    state = fold_events(contents.events, file)
    if not contents.protected:
        raise Problem(f"{file} was written by a version whose answers cannot be checked (below version {PROTECTED}).")
    if mark.location:
        raise Problem(f"{file} names a folder on another computer: ask for answers from a newer version.")
    if not state.entries:
        raise Problem(f"{file} holds no answers yet.")
    return contents


def _filed_already(folder: Path) -> list[tuple[Path, Contents]]:
    """Return the sound sessions in a folder; unreadable files are ignored."""
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            contents = examine(read_bytes(path), path)
        except Problem:
            continue
        if contents.digests:
            found.append((path, contents))
    return found


def _file(study: Study, file: Path, contents: Contents, state: SessionState, before: Path | None) -> Filed:
    begun, data = contents.begun, read_bytes(file)[: contents.length].removesuffix(b"\n") + b"\n"
    who = begun.expert or "an expert without a name"
    answers = f"{counted(len(state.entries), 'answer')} from {who}"
    answers += ", given by a program and never counted as a person's" if begun.simulated else ""
    answers += "" if state.phase == "finished" else ". The sitting is not finished"
    if before is None:
        path = new_session_path(study, begun.at, expert=begun.expert)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_new(path, data)
        except OSError as error:
            raise Problem(f"{path} could not be written ({reason(error)}).") from error
        again = (begun.study.round or 1) > 1
        alone = again and first_round_of(summary(path), sessions_of(path.parent, study.digests)) is None
        return Filed(file, f"Filed {answers}.{f' {only_in_second_round(who)}' if alone else ''}", True)
    kept = read_bytes(before)
    if kept.startswith(data):
        return Filed(file, f"Already filed: {answers}.", False)
    if not data.startswith(kept):
        raise Problem(f"{file} and {before.name} (filed before) are two continuations of one session. Keep one.")
    try:
        with before.open("ab") as journal:
            journal.write(data[len(kept) :])
            journal.flush()
            os.fsync(journal.fileno())
    except OSError as error:
        raise Problem(f"{before} could not be written ({reason(error)}).") from error
    return Filed(file, f"Added what is new: {answers}.", True)


_SAME = 1e-3  # relative difference of ratios from the same answers, computed on two machines
MOST_SHOWN = 3
"""Number of mistakes shown: those on which the experts differ most."""

INTRODUCTION = (
    "This is where the experts of the first round differed most, with everybody's answers, yours included. Think about "
    "it and answer again; you may keep or change your answers. Both rounds are kept."
)


class StatedOpinions(NamedTuple):
    """The experts' positions on one mistake, as numbers and in words."""

    mistake: str
    rates: tuple[ExchangeRate, ...]  # in units of the yardstick, ascending
    yours: int | None  # which of them is that of whoever answers, if known
    sentence: str
    reasons: tuple[str, ...]


def opinions_of(study: Study, advance: Callable[[int, int], object] = lambda done, of: None) -> tuple[Opinions, ...]:
    """Return the positions of the experts who finished a study, for the mistakes on which they differ most.

    `advance` is called as by `experts_of`. Raises Problem if fewer than two experts have a result.
    """
    view = experts_of(study, advance=advance).comparison()
    others = [one for one in view.mistakes if not _is(one, study.yardstick)]
    found = finished_experts(sessions_of(sessions_folder(study), study.digests))
    answers = [entry for one in found for entry in fold(read(one.path).events).entries]
    shown = furthest(others, MOST_SHOWN)
    return tuple(_opinions(view, one, study, _reasons(answers, _key(one))) for one in shown)


def own_answers(study: Study, sessions: Iterable[SessionSummary], name: str) -> ElicitedMetric | None:
    """Return what the person of a name said in the first round if that was on this computer; it takes a second or two.

    None if `study` is not for a second round, if nothing is known of the first, or if it cannot be read any more.
    """
    mine = first_answers(sessions, name) if is_second_round(study) else None
    try:
        return None if mine is None else metric_in(mine.path, study)
    except Problem:
        return None


def stated_opinions(study: Study, own: ElicitedMetric | None = None) -> tuple[StatedOpinions, ...]:
    """Return the positions of all experts in words if the study was packed for a second round, else nothing.

    By `own`, from `own_answers`, one of them is told to be that of whoever answers.
    """
    if study.pack is None:
        return ()
    unit = study.wording.mistake(study.yardstick)
    stood = {rate.key: rate.ratio for rate in exchange_rates(own)} if own is not None else {}
    found = []
    for opinions in study.pack.others:
        mistake, bounds = study.wording.mistake(opinions.mistake), opinions.bounds or (None,) * len(opinions.ratios)
        rates = tuple(_rate(of, ends) for of, ends in zip(opinions.ratios, bounds, strict=True))
        yours = _place_of(stood.get(MistakeKey(*opinions.mistake)), opinions.ratios)
        known = [
            f"{rate.with_range()}{', yours' if at == yours else ''}"
            for at, rate in enumerate(rates)
            if rate.in_words() != NOT_KNOWN
        ]
        if not known:
            sentence = f"Nobody's answers tell how many {unit.many} one {mistake.one} counts as."
        else:
            sentence = f"How many {unit.many} one {mistake.one} counts as, expert by expert: {'; '.join(known)}."
            if silent := len(rates) - len(known):
                sentence += f" The answers of {number_word(silent)} expert{'s' * (silent > 1)} leave it open."
        found.append(StatedOpinions(mistake.name, rates, yours, sentence, opinions.reasons))
    return tuple(found)


def _place_of(own: float | None, ratios: Sequence[float]) -> int | None:
    """Return which of the ratios is `own`, computed again from the same answers; None if there is none."""
    return next((at for at, ratio in enumerate(ratios) if own and math.isclose(own, ratio, rel_tol=_SAME)), None)


def _rate(ratio: float, ends: tuple[float, float] | None) -> ExchangeRate:
    low, high = ends or (None, None)
    return ExchangeRate(0, None, ratio, low, high, False, Consequence("", None, ""))


def _key(one: MistakeRates) -> Key:
    return one.pooled.true, one.pooled.predicted


def _is(one: MistakeRates, mistake: tuple[int, int]) -> bool:
    true, predicted = _key(one)
    return true == mistake[0] and predicted in (None, mistake[1])


def _opinions(view: ComparisonView, one: MistakeRates, study: Study, reasons: tuple[str, ...]) -> Opinions:
    """Return everybody's ratio to the study's yardstick, sorted so that positions do not reveal names."""
    unit = next(other for other in view.mistakes if _is(other, study.yardstick))
    stands = []
    for rate, of in zip(one.rates, unit.rates, strict=True):
        if of.ratio > 0:
            ends = rate.range_90
            stands.append((float(rate.ratio / of.ratio), ends and (ends[0] / of.ratio, ends[1] / of.ratio)))
    stands.sort(key=lambda stand: stand[0])
    bounds = tuple(ends for _, ends in stands)
    return Opinions(_key(one), tuple(ratio for ratio, _ in stands), reasons, bounds if any(bounds) else ())


def _reasons(answers: Sequence[Entry], mistake: Key) -> tuple[str, ...]:
    """Return the distinct reasons given for answers that traded a mistake, in an order independent of the experts."""
    true, predicted = mistake
    texts = set()
    for entry in answers:
        differs = np.array(entry.event.pair.first)[true] != np.array(entry.event.pair.second)[true]
        reason = (entry.answer.reason or "").strip()
        if reason and (differs.any() if predicted is None else differs[predicted]):
            texts.add(reason)
    return tuple(sorted(texts))
