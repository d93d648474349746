"""The work of `elicit ask`: open or begin a session, run it in the terminal, print and write the result."""

from __future__ import annotations

import secrets
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elicit_app.cli import output
from elicit_app.cli.output import flag, quoted, require_new
from elicit_app.cli.terminal import Read, Terminal, read_line
from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.orders import StatedOrder, may_be_in_order
from elicit_app.elicitation.questions import Choice, Family, Question
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import entry_named, setting_of
from elicit_app.registry.entries import as_packed, read_stated, stated_orders
from elicit_app.session.journal.events import Guess
from elicit_app.session.journal.listing import (
    SUFFIX,
    can_resume,
    list_sessions,
    matching_pack,
    new_session_path,
    sessions_folder,
    sessions_of,
    slug,
)
from elicit_app.session.journal.state import FEWEST_TO_EXPORT
from elicit_app.session.packing import (
    ANSWERS_ENDING,
    INTRODUCTION,
    answers_path,
    is_earlier_copy,
    own_answers,
    proposed_name,
    require_name,
    save_answers,
    stated_opinions,
)
from elicit_app.session.sentences import SEND_BACK, USUAL, purpose_words, stated_words
from elicit_app.session.session import Session
from elicit_app.session.views import QuestionView, ResultView
from elicit_app.session.warm_up import keys_to_guess, ratio_typed, yardstick_key
from elicit_app.study import open_study
from elicit_app.study.guessing import in_grades
from elicit_app.study.model import Study
from elicit_app.study.writing import free_path
from metrics.elicited.kinds import AnswersFor
from metrics.files import real_path
from metrics.text import counted, day, in_zone

if TYPE_CHECKING:
    from rich.console import Console

    from elicit_app.experiments.truths import Metric
    from elicit_app.registry import Setting
    from metrics import ElicitedMetric

_NONE_OF_THEM = "“{}” is not one of them."
_MOST_GUESSES = 3  # the window asks for more
_MOST_WEIGHTS = 90  # all of ten classes


@dataclass(frozen=True)
class AskOptions:
    """The command-line options; see `elicit ask --help`."""

    study: str
    procedure: str | None = None
    family: Family | None = None
    purpose: AnswersFor | None = None
    questions: int | None = None
    never_worse: tuple[str, ...] = ()
    ordered: str | None = None
    expert: str | None = None
    session: Path | None = None
    withdraw_orders: bool = False
    seed: int | None = None
    simulate: str | None = None
    denominator: str | None = None
    out: Path | None = None
    force: bool = False


_TOO_FEW = f"Too few answers for a metric file yet: at least {FEWEST_TO_EXPORT} informative ones."


def ask_in_terminal(options: AskOptions) -> ResultView | None:
    """Run a session in the terminal and return its result, or None if there is none yet.

    Questions and messages go to standard error, the result to standard output.
    """
    console = output.console(errors=True)
    study = open_study(options.study)
    if options.out is not None:
        if study.answered_elsewhere:
            require_new(answers_path(options.out), options.force)
        else:
            output.require_metric_name(options.out)
            require_new(options.out, options.force)
    if options.simulate is None:
        return _run(options, study, _path(options, study, console), console, None)
    with tempfile.TemporaryDirectory(prefix="elicit-") as folder:
        # Without --session, a simulated run must not appear among people's sessions.
        path = options.session or Path(folder) / f"simulated{SUFFIX}"
        return _run(options, study, path, console, folder if options.session is None else None)


def _run(options: AskOptions, study: Study, path: Path, console: Console, scratch: str | None) -> ResultView | None:
    from elicit_app.cli.result_text import print_result

    session = _go_on(options, study, path, console) if path.exists() else _begin(options, study, path, console)
    for note in study.notes:
        console.print(note)
    read = (
        lines
        if options.simulate is None
        else simulated(session, options, console, ends=scratch is None or study.answered_elsewhere)
    )
    try:
        view = Terminal(session, console, read, waits=options.simulate is None and sys.stdin.isatty()).run()
    except KeyboardInterrupt:
        output.line(console, f"\nLeft. {_storage_sentence(session)}")
        raise
    if view is None:
        output.line(console, f"There is no result yet. {_storage_sentence(session)}")
        return None
    problem = None
    try:  # files first, because the reader of the output may stop, as `head` does
        written = _write_result(options, session, view, path if scratch is None else None)
    except Problem as found:
        written, problem = "", found
    print_result(output.console(), view, study)
    if written:
        print(written)
    if problem is not None:
        raise problem
    if study.answered_elsewhere:
        _print_send_instructions(session, console)
        return view
    if not view.can_export:
        console.print(_TOO_FEW)
    if scratch is None and session.state.phase != "finished":
        here = session.answers_file() == path
        sentence = f"The session is not finished: go on with --session {path}." if here else _storage_sentence(session)
        output.line(console, sentence)
    return view


def _write_result(options: AskOptions, session: Session, view: ResultView, path: Path | None) -> str:
    """Write the metric file, or the answers to a packed study; return a sentence with its path, "" if none is written.

    `path` is that of a session that is kept.
    """
    from elicit_app.session.result import export

    if session.study.answered_elsewhere:
        pack = Path(options.study)
        stem = f"{pack.stem}-{slug(session.state.begun.who or '')}"
        own = partial(is_earlier_copy, session=session)
        out = options.out or free_path(pack.parent, stem, ANSWERS_ENDING, replaceable=own)
        return f"Your answers: {save_answers(session, out)}"
    if not view.can_export:
        if options.out is not None:
            raise Problem(f"{_TOO_FEW} {options.out} was not written.")
        return ""
    beside = None if path is None else path.with_name(path.name.removesuffix(SUFFIX) + ".metric.json")
    chosen = options.out or beside
    if (
        options.out is None
        and chosen is not None
        and chosen.exists()
        and not (options.force or _is_own(chosen, session))
    ):
        raise Problem(f"{chosen} was not made from these answers, and was not replaced. Name another file with --out.")
    return "" if chosen is None else f"Metric file: {export(view, chosen)}"


def _is_own(metric: Path, session: Session) -> bool:
    """Return whether a metric file was made from present or earlier answers of a session."""
    from elicit_app.session.result import answers_behind
    from metrics import ElicitedMetric

    try:
        digest = ElicitedMetric.load(metric).provenance.answers_digest
    except (OSError, ValueError):
        return False
    return digest is not None and answers_behind(digest, session.events) is not None


def _storage_sentence(session: Session) -> str:
    """Return a sentence that says where the answers are and how to resume."""
    kept = session.answers_file()
    if kept is None:
        return f"Another program changed, moved or deleted {session.path}, and no copy could be written beside it."
    return f"Every answer is kept in {kept}; go on with --session {kept}."


def _print_send_instructions(session: Session, console: Console) -> None:
    """Tell the expert to send the answers to a packed study, which are all that its coordinator needs."""
    if session.state.phase != "finished":
        output.line(
            console, f"You have not finished: go on with --session {session.path}, and send the file saved then."
        )
    else:
        output.line(console, SEND_BACK)


def _path(options: AskOptions, study: Study, console: Console) -> Path:
    """Return the path of the session to resume or to begin."""
    if options.session is not None:
        return options.session
    folder = sessions_folder(study)
    open_ones = [
        one
        for one in list_sessions(*([study.folder] if study.kind == "folder" and study.folder else []))
        if one.path.parent == real_path(folder)
        and one.digest in study.digests
        and can_resume(one)
        and matching_pack([one], study)
    ]
    if open_ones:
        last = open_ones[0]
        assert last.last is not None
        when = in_zone(last.last)
        kept = f"{counted(last.answers, 'answer')} kept, the last one on {day(when)}, {when:%H:%M}"
        kept = kept if last.answers else f"no answers yet, begun on {day(when)}, {when:%H:%M}"
        if not sys.stdin.isatty():
            output.line(console, f"There is an unfinished session ({kept}); go on with --session {last.path}")
        elif _agreed(console, f"Go on with the session you began ({kept})? [Y/n] ", usual=True):
            return last.path
    return new_session_path(study, datetime.now(UTC), expert=options.expert)


def _go_on(options: AskOptions, study: Study, path: Path, console: Console) -> Session:
    session = Session.open(path, study)
    if options.withdraw_orders:
        if not session.setting.all_orders:
            raise WrongOption("`withdraw_orders`: no orders are stated in this session.")
        session.withdraw_orders()
    _print_recap(session, console)
    _print_ignored_options(options, session, console)
    _print_storage_note(path, console)
    return session


def _begin(options: AskOptions, study: Study, path: Path, console: Console) -> Session:
    """Begin a session; a person first chooses the family and makes first guesses."""
    if options.withdraw_orders:
        raise WrongOption("`withdraw_orders` applies to a session that is resumed: name it with `session`.")
    person = options.simulate is None and sys.stdin.isatty()
    procedure = options.procedure or "bayes"
    if person:
        _print_storage_note(path, console)
    asks = person and study.pack is None and len(entry_named(procedure).families) > 1
    family = options.family or (ask_family(study, console) if asks else None)
    fixed = {} if study.pack is None else study.pack.setting
    purpose = options.purpose
    if purpose is None and "purpose" not in fixed:
        purpose = ask_purpose(study, options.questions, console) if person else study.purpose
    seed = secrets.randbits(32) if options.seed is None else options.seed
    stated = read_stated(options.never_worse, options.ordered, study.classes)
    setting = setting_of(procedure, family=family, purpose=purpose, questions=options.questions, **stated, seed=seed)
    setting = as_packed(study, setting)
    given = {name: getattr(options, name) for name in ("procedure", "family", "purpose")} | stated
    both = {name: (value, getattr(setting, name, None)) for name, value in given.items() if name in fixed}
    if without := answered_without({flag(name): values for name, values in both.items()}):
        output.line(console, without)
    # Reject invalid options before the person is asked anything.
    stated_orders(setting, study.classes)
    _print_stated_orders(stated_words(setting, study), console)
    if person and study.pack is None:
        _print_order_of_grades(setting, study, console)
    if options.simulate is not None:
        simulated_values(options, setting, study)
    elif options.denominator is not None:
        raise WrongOption("`denominator` applies to a simulated expert: it requires `simulate`.")
    expert = options.expert or ("simulated expert" if options.simulate is not None else None)
    sessions = sessions_of(path.parent, study.digests) if study.answered_elsewhere else ()
    proposed = proposed_name(study, sessions) if expert is None else ""
    _print_other_opinions(study, own_answers(study, sessions, expert or proposed), console)
    if proposed:
        expert = proposed
        output.line(console, f"Your answers are kept under the name “{expert}”; --expert sets another.")
    require_name(study, expert or "")
    guesses = ask_guesses(study, setting.family, console) if person else ()
    session = Session.create(
        study, setting, path, expert=expert, guesses=guesses, simulated=options.simulate is not None
    )
    if options.simulate is None and not person:
        _print_storage_note(path, console)
    return session


def _print_recap(session: Session, console: Console) -> None:
    """Print the state of the session: what is kept, the last answer, what is next."""
    from elicit_app.session.view_builders import recap_view

    view = recap_view(session)
    last = f" The last one: {view.last[0].lower()}{view.last[1:]}" if view.last else ""
    output.line(console, f"Going on: {view.kept}.{last}")
    _print_stated_orders(view.stated, console)
    output.line(console, view.following)


def _print_order_of_grades(setting: Setting, study: Study, console: Console) -> None:
    """Point out that an order of the classes can be stated, if they seem to be grades."""
    grades = in_grades(study.classes)
    may = entry_named(setting.procedure).offers("ordered") and may_be_in_order(study.n_classes, setting.family)
    if grades and may and not setting.classes_in_order:
        named = quoted(",".join(study.classes[grade] for grade in grades))
        output.line(console, f"If these grades are in an order, --ordered {named} makes their costs much better known.")


def _print_stated_orders(text: str, console: Console) -> None:
    if text:
        output.line(console, f"Stated as certain: {text}")


def _print_other_opinions(study: Study, own: ElicitedMetric | None, console: Console) -> None:
    """Print the opinions of all experts, in a second round, among them what this one said in the first."""
    found = stated_opinions(study, own)
    if found:
        output.line(console, INTRODUCTION)
    for opinion in found:
        reasons = f" Reasons: {' '.join(f'“{reason}”' for reason in opinion.reasons)}" if opinion.reasons else ""
        output.line(console, f"  {opinion.mistake}: {opinion.sentence}{reasons}")


def _print_storage_note(path: Path, console: Console) -> None:
    output.line(console, f"Every answer is kept in {path} as it is given. Nothing leaves this computer.")


def _print_ignored_options(options: AskOptions, session: Session, console: Console) -> None:
    """Print the options that a resumed session ignores."""
    begun, setting = session.state.begun, session.setting
    stated = read_stated(options.never_worse, options.ordered, session.study.classes)
    given = {
        "--procedure": (options.procedure, setting.procedure),
        "--family": (options.family, setting.family),
        "--purpose": (options.purpose, setting.purpose),
        "--questions": (options.questions, setting.questions),
        "--expert": (options.expert, begun.expert),
        "--seed": (options.seed, begun.seed),
    } | {flag(name): (value, getattr(setting, name, None)) for name, value in stated.items()}
    left_out = _different(given)
    if left_out:
        output.line(console, f"The session goes on as it was begun, without {left_out}.")


def answered_without(given: Mapping[str, tuple[object, object]]) -> str:
    """Return which options, as typed, a study overrides; parameters as in `_different`; empty if it overrides none."""
    left_out = _different(given)
    return f"This study is answered without {left_out}." if left_out else ""


def _different(given: Mapping[str, tuple[object, object]]) -> str:
    """Return the options, as typed, whose values differ from those in use; each has both, None if it was not given."""
    both = ((name, wanted) for name, (wanted, used) in given.items() if wanted not in (None, used))
    return ", ".join(f"{name} {_as_typed(wanted)}" for name, wanted in both)


def _as_typed(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return (" " if isinstance(value[0], StatedOrder) else ",").join(map(str, value))


def lines(view: QuestionView | None) -> str | None:
    """Return the next line of standard input without its newline, or None at its end."""
    if sys.stdin.isatty():
        print("> ", end="", file=sys.stderr, flush=True)
    line = read_line()
    if line and not sys.stdin.isatty():
        print(f"> {line.rstrip()}", file=sys.stderr)
    return line.rstrip("\n") if line else None


def ask_family(study: Study, console: Console) -> Literal["dlpm", "lpm"]:
    """Ask, in words, the question that decides the family."""
    if study.n_classes == 2:
        return "lpm"
    truth = study.wording.class_one[study.yardstick[0]]
    console.print(f"Think of one {study.wording.case} that is {truth}. Are all wrong answers for it equally bad?")
    alike = "y: yes, wrong is wrong. Enter: no, some wrong answers hurt more than others. "
    return "dlpm" if _agreed(console, alike, usual=False) else "lpm"


def ask_purpose(study: Study, questions: int | None, console: Console) -> AnswersFor:
    """Ask for the purpose, which decides when questions stop; Enter chooses the study's, otherwise the first."""
    purposes = purpose_words(study, questions or SITTING, early=questions is None)
    console.print("What are your answers for?")
    for number, one in enumerate(purposes, start=1):
        more = f" {one.sentence}" if one.sentence else ""
        console.print(f"  {number}  {one.title} ({one.questions}).{more}")
    usual = 1 + [one.purpose for one in purposes].index(study.purpose or USUAL)
    while True:
        typed = prompt(console, f"1, 2 or 3 (Enter: {usual}) ").strip() or str(usual)
        if typed in ("1", "2", "3"):
            return purposes[int(typed) - 1].purpose
        console.print(_NONE_OF_THEM.format(typed))


def ask_guesses(study: Study, family: Family, console: Console) -> tuple[Guess, ...]:
    """Ask for first guesses of some ratios, before the first question; Enter skips one."""
    yardstick = study.wording.mistake(yardstick_key(study, family))
    guesses = []
    for true, predicted in keys_to_guess(study, family, _MOST_GUESSES):
        mistake = study.wording.mistake((true, predicted))
        asks = f"First guess: one {mistake.one} counts as how many {yardstick.many}? (20, 0.5 or 1/3; Enter skips) "
        while True:
            try:
                ratio = ratio_typed(prompt(console, asks))
            except ValueError as error:
                console.print(f"{error}.")
                continue
            if ratio is not None:
                guesses.append(Guess(true=true, predicted=predicted, ratio=ratio))
            break
    return tuple(guesses)


def _agreed(console: Console, question: str, *, usual: bool) -> bool:
    """Ask until yes or no is typed; Enter stands for `usual`."""
    while True:
        typed = prompt(console, question).strip()
        if typed.lower() in ("y", "yes", "n", "no", ""):
            return typed.lower().startswith("y") if typed else usual
        console.print(_NONE_OF_THEM.format(typed))


def prompt(console: Console, text: str) -> str:
    """Print `text` and return the line typed after it; empty at the end of the input."""
    console.print(text, end="")
    return read_line()


def simulated(session: Session, options: AskOptions, console: Console, *, ends: bool = False) -> Read:
    """Return a reader that answers from stated or random weights; see `simulated_values`.

    With `ends` it also finishes the session, as a person does by pressing Enter.
    """
    from elicit_app.elicitation.oracles import LinearOracle, Oracle, UtilityOracle
    from metrics.elicited.family import is_fraction

    truth = simulated_values(options, session.setting, session.study)
    fraction = is_fraction(truth.family)
    oracle: Oracle = UtilityOracle(truth.utility) if fraction else LinearOracle(truth.numerator)
    weights = ", ".join(f"{one:.3g}" for one in truth.weights[:_MOST_WEIGHTS])
    if len(truth.weights) > _MOST_WEIGHTS:
        weights += f" and {len(truth.weights) - _MOST_WEIGHTS:,} more"
    over = " in the numerator of a fraction" if fraction else ""
    console.print(f"A simulated expert answers, with the weights {weights}{over}.")

    def read(view: QuestionView | None) -> str | None:
        if view is None:
            return "" if ends else None
        answer = oracle.answer(Question(view.left, view.right, view.population, proposal=view.proposal))
        key = {Choice.FIRST: "1", Choice.SECOND: "2", Choice.EQUAL: "0", Choice.UNSURE: "s"}[answer.choice]
        if answer.moved is not None:
            key = f"{key.replace('0', '')}={answer.moved.count}"
        console.print(f"> {key}")
        return key

    return read


def simulated_values(options: AskOptions, setting: Setting, study: Study) -> Metric:
    """Return the metric of a simulated expert: stated or random weights that respect the stated orders, or a fraction.

    Raises WrongOption if the weights do not fit the family and the classes, violate an order, or make no monotone
    fraction.
    """
    import numpy as np

    from elicit_app.experiments.truths import true_metric

    weights, denominator = options.simulate or "random", options.denominator
    stated = None if weights == "random" else output.numbers(weights, "--simulate")
    below: tuple[float, ...] | Literal["random"] | None = "random"
    if denominator != "random":
        below = None if denominator is None else output.numbers(denominator, "--denominator")
    rng = np.random.default_rng(np.random.SeedSequence([setting.seed, 1]))
    return true_metric(study, setting, rng, stated=stated, denominator=below)
