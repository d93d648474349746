"""What `elicit ask` does: opens or begins a session, runs it in the terminal, prints and writes the result."""

from __future__ import annotations

import secrets
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elicit_app.cli.terminal import Read, Terminal
from elicit_app.problem import Problem
from elicit_app.session.events import Guess
from elicit_app.session.listing import SUFFIX, list_sessions, new_session_path, sessions_folder
from elicit_app.session.procedures import ProcedureSetting
from elicit_app.session.session import Session
from elicit_app.session.views import QuestionView, ResultView
from elicit_app.study import open_study
from elicit_app.study.model import Mistake, Study

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line; see `elicit ask --help`."""

    study: str
    procedure: Literal["bayes", "dlpm", "lpm"] = "bayes"
    family: Literal["dlpm", "lpm"] | None = None
    questions: int | None = None
    expert: str | None = None
    session: Path | None = None
    seed: int | None = None
    simulate: str | None = None
    out: Path | None = None


class WrongWeights(Problem):
    """Weights of a simulated expert that are none: wrong usage."""


def ask_in_terminal(wish: Wish, *, data: Path | None = None) -> ResultView | None:
    """Run a session in the terminal and return its result, or None where there is none yet.

    Questions and messages go to standard error, the result to standard output.

    Parameters
    ----------
    wish : Wish
        What was asked for.
    data : Path, optional
        The user's data folder; by default the real one.

    Raises
    ------
    Problem
        In one sentence.
    """
    from rich.console import Console

    talk = Console(stderr=True, markup=False, highlight=False, emoji=False)
    study = open_study(wish.study)
    if wish.simulate is None:
        return _run(wish, study, _path(wish, study, talk, data), talk, None)
    with tempfile.TemporaryDirectory(prefix="elicit-") as folder:
        # A simulated expert leaves nothing among the sessions of people, unless a file is named.
        path = wish.session or Path(folder) / f"simulated{SUFFIX}"
        return _run(wish, study, path, talk, folder)


def _run(wish: Wish, study: Study, path: Path, talk: Console, scratch: str | None) -> ResultView | None:
    from rich.console import Console

    from elicit_app.cli.result_text import print_result
    from elicit_app.session.results import export

    session = _open(wish, study, path, talk)
    if scratch is None:
        talk.print(f"Every answer is kept in {session.path} as it is given. Nothing leaves this computer.")
    read = lines if wish.simulate is None else _simulated(session, wish.simulate, talk)
    view = Terminal(session, talk, read, waits=wish.simulate is None and sys.stdin.isatty()).run()
    if view is None:
        talk.print(f"There is no result yet. Every answer is kept in {path}; go on with --session {path}.")
        return None
    print_result(Console(markup=False, highlight=False, emoji=False), view, study)
    out = wish.out or (path.with_name(path.name.removesuffix(SUFFIX) + ".metric.json") if scratch is None else None)
    if out is None or not view.can_export:
        if not view.can_export:
            talk.print("Too few answers for a metric file yet: at least 5 that say something.")
        return view
    print(f"Metric file: {export(view, out)}")
    return view


def _path(wish: Wish, study: Study, talk: Console, data: Path | None) -> Path:
    """Return the session to go on with or to begin."""
    if wish.session is not None:
        return wish.session
    folder = sessions_folder(study, data)
    open_ones = [
        one
        for one in list_sessions(*([study.folder] if study.kind == "folder" and study.folder else []), data=data)
        if one.path.parent == folder.resolve() and not one.finished and not one.problem and one.answers
    ]
    if open_ones:
        last = open_ones[0]
        assert last.last is not None
        kept = f"{last.answers} answers kept, the last one on {last.last.astimezone():%d %B, %H:%M}"
        if not sys.stdin.isatty():
            talk.print(f"There is an unfinished session ({kept}); go on with it by --session {last.path}")
        elif _prompt(talk, f"Go on with the session you began ({kept})? [Y/n] ").strip().lower() not in ("n", "no"):
            return last.path
    return new_session_path(study, datetime.now(UTC), expert=wish.expert, data=data)


def _open(wish: Wish, study: Study, path: Path, talk: Console) -> Session:
    if path.exists():
        session = Session.open(path, study)
        talk.print(f"Going on after {len(session.state.entries)} answers.")
        return session
    person = wish.simulate is None and sys.stdin.isatty()
    family = wish.family or (_family(study, talk) if person and wish.procedure == "bayes" else None)
    setting = ProcedureSetting(
        procedure=wish.procedure,
        family=family,
        questions=wish.questions,
        seed=secrets.randbits(32) if wish.seed is None else wish.seed,
    )
    guesses = _guesses(study, family or ("dlpm" if wish.procedure == "dlpm" else "lpm"), talk) if person else ()
    location = Path(wish.study).resolve() if study.kind == "file" else None
    expert = wish.expert or ("simulated expert" if wish.simulate is not None else None)
    return Session.create(study, setting, path, expert=expert, guesses=guesses, location=location)


def _family(study: Study, talk: Console) -> Literal["dlpm", "lpm"]:
    """Ask the question that decides the family, in words."""
    if study.n_classes == 2:
        return "lpm"
    truth = study.wording.class_one[study.yardstick[0]]
    talk.print(f"Think of one {study.wording.case} that is {truth}. Are all wrong answers for it equally bad?")
    answer = _prompt(talk, "y: yes, wrong is wrong. Enter: no, some wrong answers hurt more than others. ")
    return "dlpm" if answer.strip().lower() in ("y", "yes") else "lpm"


def _guesses(study: Study, family: str, talk: Console, most: int = 3) -> tuple[Guess, ...]:
    """Ask for a first guess of some ratios, before the first question; Enter skips one."""
    words, (true, predicted) = study.wording, study.yardstick
    asked: list[tuple[int, int | None, Mistake]]
    if family == "dlpm":
        asked = [(i, None, words.any_mistake[i]) for i in range(study.n_classes) if i != true]
        yardstick = words.any_mistake[true]
    else:
        asked = [(i, j, words.mistakes[i, j]) for i, j in sorted(words.mistakes) if (i, j) != (true, predicted)]
        yardstick = words.mistakes[true, predicted]
    guesses = []
    for i, j, mistake in asked[:most]:
        line = _prompt(talk, f"First guess: one {mistake.one} counts as how many {yardstick.many}? (Enter skips) ")
        try:
            guesses.append(Guess(true=i, predicted=j, ratio=float(line.strip().replace(",", "."))))
        except ValueError:
            continue
    return tuple(guesses)


def lines(view: QuestionView | None) -> str | None:
    """Return the next line of standard input without its newline, or None at its end."""
    if sys.stdin.isatty():
        print("> ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if line and not sys.stdin.isatty():
        print(f"> {line.rstrip()}", file=sys.stderr)
    return line.rstrip("\n") if line else None


def _prompt(talk: Console, text: str) -> str:
    talk.print(text, end="")
    return sys.stdin.readline()


def _simulated(session: Session, truth: str, talk: Console) -> Read:
    """Return a reader that answers by itself, from stated or random weights."""
    import numpy as np

    from elicit_app.elicitation.oracles import LinearOracle
    from elicit_app.elicitation.questions import Choice, Question
    from metrics.weights import normalise_weights, weight_matrix

    family = session.procedure().family
    k = session.study.n_classes
    if truth == "random":
        rng = np.random.default_rng(np.random.SeedSequence([session.state.begun.seed, 1]))
        weights = rng.dirichlet(np.ones(k)) if family == "dlpm" else -np.exp(1.2 * rng.standard_normal(k * k - k))
    else:
        weights = np.array(stated_weights(truth))
    try:
        oracle = LinearOracle(weight_matrix(normalise_weights(weights, family), family))
    except ValueError as error:
        raise WrongWeights(f"--simulate {truth}: {error}") from error
    talk.print(f"A simulated expert answers, with the weights {', '.join(f'{one:.3g}' for one in weights)}.")

    def read(view: QuestionView | None) -> str | None:
        if view is None:
            return None
        question = Question(view.left / view.population, view.right / view.population, population=view.population)
        choice = oracle.answer(question).choice
        key = {Choice.A: "1", Choice.B: "2", Choice.EQUAL: "0", Choice.UNSURE: "s"}[choice]
        talk.print(f"> {key}")
        return key

    return read


def stated_weights(text: str) -> list[float]:
    """Return the numbers of "W1,W2,..."."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise WrongWeights(f"--simulate {text}: numbers with commas, or random, were expected.") from None
