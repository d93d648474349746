import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.events import (
    Answered,
    Begun,
    Changed,
    Event,
    Guess,
    Guessed,
    Noted,
    Pair,
    Redone,
    Remaining,
    Resolved,
    StudyMark,
    TakenOut,
    Undone,
)
from elicit_app.session.session import Session
from elicit_app.study import open_study
from elicit_app.study.model import Study

START = datetime(2025, 3, 1, 9, 30, tzinfo=UTC)


class EventFactory:
    """Builds events with a clock that ticks once an event."""

    def __init__(self) -> None:
        self.ticks = 0

    def at(self) -> datetime:
        self.ticks += 1
        return START + timedelta(seconds=self.ticks)

    def begun(self, title: str = "Läsionen") -> Begun:
        mark = StudyMark(name="lesions", title=title, kind="bundled", digest="sha256:0", classes=("melanoma", "naevus"))
        return Begun(at=self.at(), study=mark, setting={"procedure": "dlpm"}, seed=7, expert="Dr. Š")

    def guessed(self, ratio: float = 20.0) -> Guessed:
        return Guessed(at=self.at(), guesses=(Guess(true=0, predicted=1, ratio=ratio),))

    def pair(self, missed: int = 30, needless: int = 40, **more: object) -> Pair:
        return Pair(
            first=((120 - missed, missed), (needless, 880 - needless)),
            second=((110, 10), (100, 780)),
            population=1000,
            **more,
        )

    def answered(self, choice: str = "first", pair: Pair | None = None, **more: object) -> Answered:
        still = Remaining(fewest=3, most=9)
        return Answered(
            at=self.at(), pair=pair or self.pair(), left="second", subject="left", choice=choice, still=still, **more
        )

    def taken_out(self, number: int) -> TakenOut:
        return TakenOut(at=self.at(), number=number)

    def changed(self, number: int, choice: str) -> Changed:
        return Changed(at=self.at(), number=number, choice=choice)

    def resolved(self, first: int, second: int, kept: str) -> Resolved:
        return Resolved(at=self.at(), first=first, second=second, kept=kept)

    def undone(self) -> Undone:
        return Undone(at=self.at())

    def redone(self) -> Redone:
        return Redone(at=self.at())

    def noted(self, sentence: str) -> Noted:
        return Noted(at=self.at(), sentence=sentence)


@pytest.fixture(scope="session")
def write() -> EventFactory:
    return EventFactory()


@pytest.fixture
def a_session(write: EventFactory) -> list[Event]:
    return [
        write.begun(),
        write.guessed(),
        write.answered("first", strength="slightly", seconds=9.25),
        write.answered("unsure"),
        write.undone(),
        write.answered("equal", seconds=31.5, full_picture=True),
        write.changed(1, "second"),
        write.noted("Ω: eine Notiz"),
    ]


@pytest.fixture(scope="session")
def study() -> Study:
    return open_study("breast-cancer")


@pytest.fixture
def session(study: Study, journal_path: Path) -> Iterator[Session]:
    with Session.create(study, BayesSetting(seed=3), journal_path) as opened:
        yield opened


@pytest.fixture
def journal_path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "first.session.jsonl"


@pytest.fixture
def file_limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Lets files grow no further than a number of bytes: a real write that stops halfway, as on a full disk."""
    resource = pytest.importorskip("resource", reason="Windows has no limit of this kind")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut as well
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="session")
def finish_sitting(answer_by_costs: Callable[..., None]) -> Callable[..., None]:
    """Returns what finishes a session of somebody for whom one missed cancer counts as `missed` needless biopsies."""

    def finish(study: Study, path: Path, expert: str, missed: float, answers: int) -> None:
        with Session.create(study, BayesSetting(seed=5, questions=answers), path, expert=expert) as session:
            answer_by_costs(session, [[0, missed], [1, 0]])
            session.finish()

    return finish
