"""Long use: thousands of questions in one session, many studies in one window; no resource may grow.

python reliability/soak.py [--questions N] [--think SECONDS] [--studies N]

A simulated expert answers after a given time for looking ahead. The first 200 questions may fill caches; after them
memory may grow by 20 MiB, and the numbers of open files and threads not at all.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

for name in ("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np

from elicit_app.elicitation.oracles import LinearOracle
from elicit_app.elicitation.questions import Question
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.questions import to_reply
from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.views import QuestionView, SittingOverView
from elicit_app.study import open_study

WARM, GROWTH = 200, 20.0
STUDIES_WARM = 10
_PATIENCE = 600


class Use(NamedTuple):
    """Resources of this process: resident MiB, open files, threads."""

    memory: float
    handles: int
    threads: int


def use() -> Use:
    own = Path("/proc/self")
    memory = int((own / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    handles, threads = (sum(1 for _ in (own / part).iterdir()) for part in ("fd", "task"))
    return Use(memory, handles, threads)


def questions(number: int, think: float, folder: Path) -> bool:
    """Ask `number` questions in one session; return whether nothing grew."""
    study = open_study("traffic-light")
    rng = np.random.default_rng(0)
    costs = rng.lognormal(0, 1, (study.n_classes, study.n_classes))
    np.fill_diagonal(costs, 0)
    expert = LinearOracle(-costs / np.linalg.norm(costs))
    views: queue.Queue[object] = queue.Queue()
    session = Session.create(study, BayesSetting(seed=1, questions=number), folder / "soak.session.jsonl")
    runner = SessionRunner(session, views.put)
    runner.start()
    asked, warm, began = 0, None, time.process_time()
    try:
        while asked < number:
            view = views.get(timeout=_PATIENCE)
            if isinstance(view, SittingOverView):
                runner.more()
                continue
            assert isinstance(view, QuestionView), view
            time.sleep(think)
            answer = expert.answer(Question(view.left, view.right, view.population, proposal=view.proposal))
            runner.answer(view.request, to_reply("first", answer.choice), moved=answer.moved, seconds=think)
            asked += 1
            if asked % 100 == 0 or asked == number:
                now = use()
                each = 1000 * (time.process_time() - began) / 100
                _say(f"{asked:6} questions", now, f"{each:7.0f} ms of processor time each")
                began = time.process_time()
                warm = warm or (now if asked >= min(WARM, number) else None)
    finally:
        runner.close()
    return _held(warm, now)


def studies(number: int, folder: Path) -> bool:
    """Open and close `number` studies in one window; return whether nothing grew."""
    from PySide6.QtTest import QTest

    from elicit_app.gui.app import application, make_window
    from elicit_app.gui.flow.navigation import AppPaths

    application()
    window = make_window(application(), AppPaths(folder / "settings.json", folder / "data"))
    window.show()
    names = ("breast-cancer", "traffic-light", "wine")
    warm = now = None
    for opened in range(1, number + 1):
        window.flow.open(names[opened % len(names)])
        _until(QTest, lambda: "begin" in window.pages.__dict__ and window.pages.shown is window.pages.begin)
        window.flow.show_start()
        _until(QTest, lambda: window.pages.shown is window.pages.start)
        if opened % STUDIES_WARM == 0:
            now = use()
            warm = warm or now
            _say(f"{opened:6} studies", now)
    window.close()
    return _held(warm, now)


def _until(test: Any, condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < ends, "waited in vain"
        test.qWait(20)


def _say(what: str, now: Use, more: str = "") -> None:
    print(f"{what:18}{now.memory:8.1f} MiB {now.handles:4} files {now.threads:3} threads {more}", flush=True)


def _held(warm: Use | None, now: Use | None) -> bool:
    if warm is None or now is None:
        return True
    grown = now.memory - warm.memory
    held = grown <= GROWTH and now.handles <= warm.handles and now.threads <= warm.threads
    files, threads = now.handles - warm.handles, now.threads - warm.threads
    print(f"{'held' if held else 'GREW'}: {grown:+.1f} MiB, {files:+} files, {threads:+} threads", flush=True)
    return held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--think", type=float, default=0.2)
    parser.add_argument("--studies", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as place:
        held = [questions(given.questions, given.think, Path(place))] if given.questions else []
        held += [studies(given.studies, Path(place))] if given.studies else []
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
