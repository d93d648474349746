"""How long a person waits: from an answer to the next question, and from opening a session to its current question.

    uv run python benchmarks/answering.py [--answers N] [--thought SECONDS] [--study FOLDER]

The procedure is bayes as configured by the window. A simulated expert answers, sometimes with "slightly" or "clearly".
Where a count is asked for, the expert names it unrounded and confirms it .4 s later. A wait begins with the
press of an answer and ends when the next question comes out of the session, and when it is painted on the real page,
offscreen. Waits are measured after a second of thought, during which the session looks ahead, and without any thought.
Resuming means reading and replaying a session of 25 answers from a study folder, up to its question; imports are done
beforehand. Targets apply to the 95th percentile of the waits. If other programs keep the processors busy, the times say
little, so the load average is printed.
"""

from __future__ import annotations

import argparse
import os
import queue
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from elicit_app.cli.main import ONE_THREAD

os.environ.update({"QT_QPA_PLATFORM": "offscreen", **ONE_THREAD})  # as the command sets it; before numpy is imported

import numpy as np
from PySide6.QtCore import QEventLoop, QObject, QTimer, Slot

from elicit_app.elicitation.oracles import LogitOracle, Matching
from elicit_app.elicitation.questions import Answer, AnswersFor, Choice, Moved, Question
from elicit_app.gui import theme
from elicit_app.gui.app import application
from elicit_app.gui.flow.background import MainThread
from elicit_app.gui.flow.in_session import submit_answer
from elicit_app.gui.question.answers import AnswerChoice, GivenAnswer
from elicit_app.gui.question.page import QuestionPage
from elicit_app.gui.setup.asking import AskingSection
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.questions import to_reply
from elicit_app.session.runner import SessionRunner
from elicit_app.session.sentences import USUAL
from elicit_app.session.session import Session
from elicit_app.session.views import QuestionView, View
from elicit_app.study import create_study, open_study
from elicit_app.study.folder import write_folder
from elicit_app.study.model import Study

BUNDLED = {2: "breast-cancer", 3: "traffic-light", 10: "digits"}
CLASSES = (2, 3, 4, 5, 10, 20)
RESUMED_AFTER, RESUMED_WITHIN = 25, 2.0
TO_TAKE = 0.4  # seconds between a count and the press that takes it


@dataclass
class Waits:
    """Seconds from each answer until the next question was known, and until it was painted."""

    known: list[float] = field(default_factory=list)
    painted: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.painted)


def within(n_classes: int) -> float:
    """Return the target for a wait, in seconds."""
    return 0.08 if n_classes <= 5 else 0.12 if n_classes <= 10 else 0.2


def studies(folder: Path, classes: Sequence[int]) -> Iterator[Study]:
    """Yield study folders with given numbers of classes: bundled predictions, or generated ones of two models."""
    for k in classes:
        if k in BUNDLED:
            yield write_folder(folder / BUNDLED[k], open_study(BUNDLED[k]))
            continue
        rng = np.random.default_rng(k)
        y_true = np.arange(2000) % k
        files = [folder / f"model-{k}-{number}.npz" for number in (1, 2)]
        for skill, file in zip((1.2, 1.8), files, strict=True):
            proba = np.exp(rng.standard_normal((len(y_true), k)) + skill * np.eye(k)[y_true])
            np.savez(file, y_true=y_true, y_proba=proba / proba.sum(axis=1, keepdims=True))
        yield create_study(folder / f"made-{k}", files)


class Expert:
    """Expert with random costs, who answers most questions correctly."""

    def __init__(self, n_classes: int, seed: int, *, ordered: bool) -> None:
        rng = np.random.default_rng([n_classes, seed])
        costs = np.exp(1.2 * rng.standard_normal((n_classes, n_classes)))
        if ordered:
            distance = np.abs(np.subtract.outer(range(n_classes), range(n_classes)))
            costs = distance ** rng.uniform(0.5, 2) * np.where(np.tri(n_classes), costs[0, 0], costs[1, 1])
        np.fill_diagonal(costs, 0)
        self._oracle = LogitOracle(
            lambda matrix: -float((costs / costs.max() * matrix).sum()), 60.0, rng, clear=0.05, matching=Matching(0.4)
        )

    def answer(self, view: QuestionView) -> Answer:
        return self._oracle.answer(Question(view.left, view.right, view.population, proposal=view.proposal))


class Sitting(QObject):
    """A session on the window's question page, run as the window runs it."""

    def __init__(self, page: QuestionPage, session: Session) -> None:
        super().__init__()
        self._page = page
        self._known_at = 0.0
        self._view: View | None = None
        self._loop = QEventLoop()
        self._main = MainThread()
        self._runner = SessionRunner(session, self._listen)
        page.answered.connect(self._answer)
        page.considered.connect(self._consider)
        page.begin(session.study, session.setting.family)

    def run(self, expert: Expert, thought: float, most: int) -> Waits:
        """Answer up to `most` questions, or until the sitting is over."""
        waits = Waits()
        self._runner.start()
        self._loop.exec()
        while isinstance(self._view, QuestionView) and len(waits) < most:
            self._wait(thought)
            answer = expert.answer(self._view)
            counts = self._page.moving and answer.choice is Choice.EQUAL
            if counts:
                assert answer.moved is not None
                self._page.card.field.moved.emit(answer.moved.count)
                self._wait(TO_TAKE)
            pressed = time.perf_counter()
            if counts:
                self._page.card.field.confirmed.emit()
            else:
                self._page.answers.given.emit(AnswerChoice(to_reply("first", answer.choice), answer.strength))
            self._loop.exec()
            if isinstance(self._view, QuestionView):
                waits.known.append(self._known_at - pressed)
                waits.painted.append(time.perf_counter() - pressed)
                self._page.break_card.proceed.click()
                self._paint()
        return waits

    def _wait(self, seconds: float) -> None:
        if seconds:
            QTimer.singleShot(round(1000 * seconds), self._loop.quit)
            self._loop.exec()

    def close(self) -> None:
        self._page.answered.disconnect(self._answer)
        self._page.considered.disconnect(self._consider)
        self._runner.close()
        self._main.close()

    def _listen(self, view: View) -> None:
        """Receive a view; runs on the session's thread."""
        self._known_at = time.perf_counter()
        self._main.post(partial(self._show, view))

    def _show(self, view: View) -> None:
        """Show a question as the window does, and continue once it is painted."""
        self._view = view
        if isinstance(view, QuestionView):
            self._page.show_question(view)
            self._paint()
        self._loop.quit()

    def _paint(self) -> None:
        """Lay out and paint the page, as the event loop would."""
        application().sendPostedEvents()
        if not self._page.on_screen:
            self._page.repaint()

    @Slot(object)
    def _answer(self, given: GivenAnswer) -> None:
        submit_answer(self._runner, given)

    @Slot(int, object)
    def _consider(self, request: int, moved: Moved) -> None:
        self._runner.prepare_count(request, moved)


def answering(page: QuestionPage, study: Study, thought: float, folder: Path, options: argparse.Namespace) -> Waits:
    """Answer the questions of as many sittings as needed, each with another expert."""
    waits, asking, seed = Waits(), AskingSection(), options.seed
    while len(waits) < options.answers:
        seed += 1
        setting = asking.setting("lpm", seed, options.purpose)
        if options.ordered:
            setting = setting.model_copy(update={"ordered": study.classes})
        path = folder / f"{study.name}-{thought:g}-{seed}.session.jsonl"
        sitting = Sitting(page, Session.create(study, setting, path))
        try:
            more = sitting.run(
                Expert(study.n_classes, seed, ordered=options.ordered), thought, options.answers - len(waits)
            )
        finally:
            sitting.close()
        if not more:
            raise SystemExit(f"{study.name}: no question was answered.")
        waits.known += more.known
        waits.painted += more.painted
    return waits


def resuming(study: Study, seed: int, folder: Path) -> float:
    """Return the seconds from opening a session of 25 answers to its question."""
    path = (study.folder or folder) / "sessions" / "resumed.session.jsonl"
    path.parent.mkdir(exist_ok=True)
    views: queue.Queue[View] = queue.Queue()
    with Session.create(study, BayesSetting(family="lpm", questions=RESUMED_AFTER, seed=seed), path) as session:
        rng = np.random.default_rng(seed)
        for _ in range(RESUMED_AFTER):
            session.answer("left" if rng.integers(2) else "right", seconds=float(rng.uniform(5, 20)))
    start = time.perf_counter()
    runner = SessionRunner(Session.open(path), views.put)
    runner.start()
    view = views.get(timeout=600)
    seconds = time.perf_counter() - start
    runner.close()
    if not isinstance(view, QuestionView) or view.number != RESUMED_AFTER + 1:
        raise SystemExit(f"{study.name}: the session did not come back to its question: {view}.")
    return seconds


def share(values: list[float], percent: float) -> float:
    return float(np.percentile(values, percent))


def load() -> str:
    said = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return f"load average {said} on {os.cpu_count()} processors"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=20, help="answers at each number of classes, each way")
    parser.add_argument("--classes", type=int, nargs="+", default=CLASSES)
    parser.add_argument("--study", type=Path, help="a study of your own instead, with many cases for example")
    parser.add_argument("--thought", type=float, default=1.0, help="seconds of thought before an answer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--purpose", choices=get_args(AnswersFor), default=USUAL, help="what the answers are for")
    parser.add_argument("--ordered", action="store_true", help="the classes are in an order, which is stated")
    options = parser.parse_args()
    app = application()
    theme.apply(app)
    page = QuestionPage(lock_ms=0)
    page.animated = False
    page.resize(1280, 800)
    page.show()
    print(f"Before: {load()}. Waits in ms: median / 95th of 100, to the question known, to the question painted.")
    print(f"{'classes':7s} {'':26s}{'known':>15s}{'painted':>15s}   target")
    missed = 0
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        own = options.study and [write_folder(folder / "own", open_study(options.study))]
        for study in own or studies(folder, options.classes):
            k = study.n_classes
            for thought in (options.thought, 0.0):
                waits = answering(page, study, thought, folder, options)
                late = share(waits.painted, 95) > within(k)
                missed += late
                figures = "".join(
                    f"{1e3 * share(each, 50):8.0f} /{1e3 * share(each, 95):5.0f}"
                    for each in (waits.known, waits.painted)
                )
                said = f"after {thought:g} s of thought" if thought else "without thought"
                verdict = "MISSED" if late else "met"
                print(f"{k:7d} {said:26s}{figures}   {verdict}: <= {1e3 * within(k):.0f} ms", flush=True)
            seconds = resuming(study, options.seed, folder)
            late = seconds > RESUMED_WITHIN
            missed += late
            came_back = f"back to question {RESUMED_AFTER + 1}"
            verdict = "MISSED" if late else "met"
            print(
                f"{k:7d} {came_back:26s}{1e3 * seconds:15.0f}{'':15s}   {verdict}: <= {RESUMED_WITHIN:g} s", flush=True
            )
    print(f"After: {load()}. {missed or 'No'} target{'' if missed == 1 else 's'} missed.")


if __name__ == "__main__":
    main()
