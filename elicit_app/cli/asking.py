"""What `elicit ask` does: opens or begins a session, runs it in the terminal, prints and writes the result."""

from __future__ import annotations

import secrets
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elicit_app.cli.beginning import ask_family, ask_guesses, prompt
from elicit_app.cli.line_input import read_line
from elicit_app.cli.simulated_answers import expert_weights, simulated
from elicit_app.cli.terminal import Terminal
from elicit_app.registry import entry_named, setting_of
from elicit_app.registry.binding import read_orders, stated_orders
from elicit_app.session.journal.listing import SUFFIX, can_go_on, list_sessions, new_session_path, sessions_folder
from elicit_app.session.session import FEWEST_TO_EXPORT, Session
from elicit_app.session.views.asked import QuestionView
from elicit_app.session.views.outcome import ResultView
from elicit_app.session.words.sentences import stated_words
from elicit_app.study import open_study
from elicit_app.study.model import Study
from elicit_app.study.writing import require_new

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line; see `elicit ask --help`."""

    study: str
    procedure: str | None = None
    family: Literal["dlpm", "lpm"] | None = None
    questions: int | None = None
    never_worse: tuple[str, ...] = ()
    expert: str | None = None
    session: Path | None = None
    seed: int | None = None
    simulate: str | None = None
    out: Path | None = None
    force: bool = False


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
    if wish.out is not None:
        require_new(wish.out, wish.force)
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
    from elicit_app.session.results.result import export

    session = _go_on(wish, study, path, talk) if path.exists() else _begin(wish, study, path, talk)
    for note in study.notes:
        talk.print(note)
    read = lines if wish.simulate is None else simulated(session, wish.simulate, talk)
    try:
        view = Terminal(session, talk, read, waits=wish.simulate is None and sys.stdin.isatty()).run()
    except KeyboardInterrupt:
        _tell(talk, f"\nLeft. Every answer is kept in {path}; go on with --session {path}.")
        raise
    if view is None:
        _tell(talk, f"There is no result yet. Every answer is kept in {path}; go on with --session {path}.")
        return None
    # what goes into a file or a pipe is not cut to the width of a terminal
    width = None if sys.stdout.isatty() else 160
    print_result(Console(width=width, markup=False, highlight=False, emoji=False), view, study)
    out = wish.out or (path.with_name(path.name.removesuffix(SUFFIX) + ".metric.json") if scratch is None else None)
    if not view.can_export:
        talk.print(f"Too few answers for a metric file yet: at least {FEWEST_TO_EXPORT} that say something.")
    elif out is not None:
        print(f"Metric file: {export(view, out)}")
    if scratch is None and session.state.phase != "finished":
        _tell(talk, f"The session is not finished: go on with --session {path}.")
    return view


def _path(wish: Wish, study: Study, talk: Console, data: Path | None) -> Path:
    """Return the session to go on with or to begin."""
    if wish.session is not None:
        return wish.session
    folder = sessions_folder(study, data)
    open_ones = [
        one
        for one in list_sessions(*([study.folder] if study.kind == "folder" and study.folder else []), data=data)
        if one.path.parent == folder.resolve() and one.digest == study.digest and can_go_on(one)
    ]
    if open_ones:
        last = open_ones[0]
        assert last.last is not None
        number = "1 answer" if last.answers == 1 else f"{last.answers} answers"
        kept = f"{number} kept, the last one on {last.last.astimezone():%d %B, %H:%M}"
        if not sys.stdin.isatty():
            _tell(talk, f"There is an unfinished session ({kept}); go on with it by --session {last.path}")
        elif prompt(talk, f"Go on with the session you began ({kept})? [Y/n] ").strip().lower() not in ("n", "no"):
            return last.path
    return new_session_path(study, datetime.now(UTC), expert=wish.expert, data=data)


def _go_on(wish: Wish, study: Study, path: Path, talk: Console) -> Session:
    session = Session.open(path, study)
    _tell_recap(session, talk)
    _tell_left_out(wish, session, talk)
    _tell_kept(path, talk)
    return session


def _begin(wish: Wish, study: Study, path: Path, talk: Console) -> Session:
    """Begin a session; a person says first what kind of mistakes matter, and guesses."""
    person = wish.simulate is None and sys.stdin.isatty()
    procedure = wish.procedure or "bayes"
    if person:
        _tell_kept(path, talk)
    family = wish.family or (ask_family(study, talk) if person and len(entry_named(procedure).families) > 1 else None)
    seed = secrets.randbits(32) if wish.seed is None else wish.seed
    setting = setting_of(
        procedure,
        family=family,
        questions=wish.questions,
        never_worse=read_orders(wish.never_worse, study.classes),
        seed=seed,
    )
    # What makes no sense is refused before a person is asked anything more.
    orders = stated_orders(setting, study.classes)
    _tell_stated(stated_words(orders, study.wording, setting.family), talk)
    if wish.simulate is not None:
        expert_weights(wish.simulate, setting, study)
    guesses = ask_guesses(study, setting.family, talk) if person else ()
    expert = wish.expert or ("simulated expert" if wish.simulate is not None else None)
    session = Session.create(study, setting, path, expert=expert, guesses=guesses)
    if wish.simulate is None and not person:
        _tell_kept(path, talk)
    return session


def _tell_recap(session: Session, talk: Console) -> None:
    """Say where the session stood: what is kept, the last answer, what is next."""
    from elicit_app.session.view_builders import recap_view

    view = recap_view(session)
    last = f" The last one: {view.last[0].lower()}{view.last[1:]}" if view.last else ""
    _tell(talk, f"Going on: {view.kept}.{last}")
    _tell_stated(view.stated, talk)
    _tell(talk, view.following)


def _tell_stated(said: str, talk: Console) -> None:
    if said:
        _tell(talk, f"Stated for certain: {said}")


def _tell_kept(path: Path, talk: Console) -> None:
    _tell(talk, f"Every answer is kept in {path} as it is given. Nothing leaves this computer.")


def _tell_left_out(wish: Wish, session: Session, talk: Console) -> None:
    """Say which options a session that was begun before does not take over."""
    begun, setting = session.state.begun, session.setting
    options = {
        "--procedure": (wish.procedure, setting.procedure),
        "--family": (wish.family, setting.family),
        "--questions": (wish.questions, setting.questions),
        "--expert": (wish.expert, begun.expert),
        "--seed": (wish.seed, begun.seed),
        "--never-worse": (read_orders(wish.never_worse, session.study.classes), setting.orders or None),
    }
    left_out = [f"{name} {_as_typed(wanted)}" for name, (wanted, had) in options.items() if wanted not in (None, had)]
    if left_out:
        _tell(talk, f"The session goes on as it was begun, without {', '.join(left_out)}.")


def _as_typed(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _tell(talk: Console, text: str) -> None:
    """Print a sentence with a path in it, which a pipe gets in one piece."""
    talk.print(text, soft_wrap=not talk.is_terminal)


def lines(view: QuestionView | None) -> str | None:
    """Return the next line of standard input without its newline, or None at its end."""
    if sys.stdin.isatty():
        print("> ", end="", file=sys.stderr, flush=True)
    line = read_line()
    if line and not sys.stdin.isatty():
        print(f"> {line.rstrip()}", file=sys.stderr)
    return line.rstrip("\n") if line else None
