"""Pictures of every page of the app, from a real session answered by a simulated expert."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PySide6.QtCore import QEventLoop, QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from elicit_app.elicitation.oracles import Matching, WobblingOracle
from elicit_app.elicitation.questions import Question
from elicit_app.gui import theme
from elicit_app.gui.app import Window, application, make_window
from elicit_app.gui.flow.background import png_of
from elicit_app.gui.flow.navigation import AppPaths
from elicit_app.gui.question.answers import AnswerChoice, GivenAnswer
from elicit_app.gui.setup.begin_page import PILES_FROM
from elicit_app.problem import Problem
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.packing import opinions_of, packed, write_pack
from elicit_app.session.questions import to_reply
from elicit_app.session.session import Session
from elicit_app.session.views import QuestionView
from elicit_app.study import create_study, open_study
from elicit_app.study.folder import write_folder
from elicit_app.study.writing import write_whole

Progress = Callable[[int, int], None]
_PATIENCE = 600.0
_SEED = 3
_WOBBLE = 0.2
_CLEARLY = 0.05
_COME_BACK = 5
_COMMON_REDS = 40

_NAMES = {
    "19b-question-long-words": (
        "Herzrhythmusstörungsverdacht",
        "Lungenentzündungsverdacht",
        "Nebenschilddrüsenunterfunktion",
    ),
    "19c-question-arabic": ("سرطان الجلد", "ورم حميد", "تقران"),
    "19d-question-chinese": ("黑色素瘤", "良性痣", "角化病"),
    "19e-question-twenty-classes": tuple(f"rhythm {number}" for number in range(1, 21)),
}
"""Classes of studies invented for their names: long, right to left, without spaces, and many."""

_LESIONS = ("melanoma", "naevus", "keratosis")

_TABS = (
    "12-result-what-to-do",
    "12b-result-what-you-told-us",
    "13-result-what-more-can-be-seen",
    "14-result-other-prevalence",
    "15-result-costs-and-files",
)

Costs = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Rates = NDArray[np.float64]


class Variant(NamedTuple):
    """How a page is rendered: size in pixels, dark or light, text size (1 is the system's)."""

    width: int
    height: int
    dark: bool = False
    scale: float = 1.0

    @property
    def name(self) -> str:
        """Return the end of a file name: "1280x800-light", "1280x800-dark-150"."""
        size = f"-{round(100 * self.scale)}" if self.scale != 1 else ""
        return f"{self.width}x{self.height}-{'dark' if self.dark else 'light'}{size}"


VARIANTS = (
    Variant(1280, 800),
    Variant(1280, 800, dark=True),
    Variant(800, 600),
    Variant(800, 600, dark=True),
    Variant(1280, 800, scale=1.5),
    Variant(1280, 800, dark=True, scale=2.0),
)


def take(folder: Path, variants: Sequence[Variant] = VARIANTS, progress: Progress | None = None) -> Iterator[Path]:
    """Render every page in every variant as PNG files in a folder, made if missing; yield each file.

    `progress` is called with the number of pages done and the total.

    Raises
    ------
    Problem
        If the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{folder} cannot be made ({error.strerror or error}). Choose another folder.") from error
    before = qInstallMessageHandler(_print_except_size_hints)
    with TemporaryDirectory(prefix="elicit-") as scratch:
        script = Script(Path(scratch))
        try:
            for done, name in enumerate(script.stops()):
                for variant in variants:
                    yield script.picture(folder / f"{name}-{variant.name}.png", variant)
                if progress is not None:
                    progress(done + 1, PAGES)
        finally:
            script.close()
            qInstallMessageHandler(before)


def _print_except_size_hints(kind: QtMsgType, context: QMessageLogContext, message: str | None) -> None:
    """Print Qt's messages, except the one that its offscreen platform issues for every window shown."""
    if message and "propagateSizeHints" not in message:
        print(message, file=sys.stderr)


PAGES = 39  # that the script shows


class Script:
    """Drives the window from page to page, as a person would; a simulated expert answers."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._app: QApplication = application()
        self._window: Window = make_window(self._app, AppPaths(scratch / "settings.json", scratch / "data"))
        self._flow, self._pages = self._window.flow, self._window.pages
        self._rng = np.random.default_rng(np.random.SeedSequence(_SEED))
        self._flow.preparation.draw_seed = lambda: _SEED
        self._flow.look_ahead = False
        self._window.show()

    def close(self) -> None:
        """Close the window and what is open in it; the application keeps running."""
        self._window.close()
        self._window.deleteLater()

    def picture(self, path: Path, variant: Variant) -> Path:
        theme.apply(self._app, dark=variant.dark, scale=variant.scale)
        self._window.setMinimumSize(variant.width, variant.height)
        self._window.resize(variant.width, variant.height)
        # A size takes one round per layout to propagate from a row to its page.
        for _ in range(8):
            self._app.processEvents()
        write_whole(path, png_of(self._window.grab()))
        self._window.setMinimumSize(0, 0)
        return path

    def stops(self) -> Iterator[str]:
        """Go from page to page, and yield the name of each page once it is shown."""
        for part in (self._first_pages, self._session, self._other_classes, self._last_pages):
            yield from part()

    def _first_pages(self) -> Iterator[str]:
        pages = self._pages
        self._flow.show_start()
        self._until(lambda: bool(pages.start.examples.rows))
        yield "01-start-first-run"
        self._flow.open_files((self._faulty_file(),))
        self._until(lambda: pages.shown is pages.error)
        yield "02-error"
        self._flow.open_files((self._reader_file(),))
        self._until(lambda: pages.shown is pages.columns)
        next(iter(pages.columns.others.values())).box.setChecked(True)
        yield "02b-columns"
        study = write_folder(self._scratch / "traffic-light", open_study("traffic-light"))
        self._flow.open(str(study.folder))
        self._until(lambda: pages.shown is pages.begin)
        yield "03-before-the-questions"
        pages.begin.settings.open()
        pages.begin.area.ensureWidgetVisible(pages.begin.settings)
        yield "03b-settings-of-the-study"
        pages.begin.words.click()
        yield "04-words-of-the-study"
        pages.study.save.click()
        self._until(lambda: pages.shown is pages.begin)

    def _session(self) -> Iterator[str]:
        pages = self._pages
        truth = np.array([[0, 4.0, 9.0], [0.6, 0, 2.0], [1.0, 0.3, 0]])
        pages.begin.expert.setText("road safety")
        pages.begin.purpose.choose("both")  # a choice alone would be settled before the break
        for (true, predicted), field in pages.begin.guesses.fields.items():
            if predicted is not None:
                field.setText(f"{truth[true, predicted] / truth[2, 0] * np.exp(self._rng.normal(0.4, 0.5)):.1g}")
        pages.begin.begin.click()
        yield from self._practice()
        self._answer(truth, lambda view: view.number >= 7 and view.proposal is not None and not view.proposal.at_once)
        yield "07-question"
        pages.question.toggle_full_picture()
        yield "08-question-full-picture"
        pages.question.toggle_full_picture()
        yield from self._equal_and_far()
        self._answer(truth, lambda view: view.offer_break)
        yield "09-break"
        pages.question.break_card.proceed.click()
        self._answer(truth, lambda view: view.proposal is not None and view.proposal.at_once)
        yield "09b-question-opens-as-make-them-equal"
        self._answer(truth)
        yield "10-sitting-over"
        pages.sitting_over.stop.click()
        self._until(lambda: pages.shown is pages.review)
        yield "11-review"
        moved = next(row.number for row in pages.review.table.answers.rows if " as bad as " in row.preferred)
        pages.review.look_again_requested.emit(moved)
        self._until(lambda: pages.shown is pages.question)
        yield "11b-looked-at-again"
        pages.question.undo.click()
        self._until(lambda: pages.shown is pages.review)
        self._another_expert(self._scratch / "traffic-light")
        pages.review.finish.click()
        yield from self._results()

    def _results(self) -> Iterator[str]:
        pages = self._pages
        self._until(lambda: pages.shown is pages.results)
        details = pages.results.details
        for tab, name in enumerate(_TABS):
            pages.results.tabs.setCurrentIndex(tab)
            pages.results.prevalence.shares.box.setValue(_COMMON_REDS)
            self._until(lambda: not details.isVisible() or details.curves is not None)
            yield name
        pages.results.compare.click()
        self._until(lambda: pages.shown is pages.compare)
        yield "16-experts-compared"
        study = open_study(str(self._scratch / "traffic-light"))
        again = packed(study, BayesSetting(purpose="both"), opinions_of(study))
        self._flow.open(str(write_pack(again, self._scratch / "traffic-light-round-2")))
        self._until(lambda: pages.shown is pages.begin)
        yield "16b-second-round"

    def _practice(self) -> Iterator[str]:
        pages = self._pages
        self._until(lambda: pages.shown is pages.practice)
        yield "05-practice"
        pages.practice.answers.given.emit(AnswerChoice("right"))
        yield "06-practice-feedback"
        pages.practice.feedback.next.click()
        pages.practice.answers.given.emit(AnswerChoice("equal"))
        pages.practice.feedback.next.click()
        pages.practice.card.field.step(7)
        self._until(pages.practice.move_answers.equal.isEnabled)
        yield "06b-practice-make-them-equal"
        pages.practice.skip.click()
        self._until(lambda: self._question() is not None)

    def _equal_and_far(self) -> Iterator[str]:
        """Show the current question with its number being moved, and as one far from the models' results."""
        page, view = self._pages.question, self._question()
        assert view is not None
        page.begin_move()
        page.card.field.step(12)
        self._until(page.move_answers.equal.isEnabled)
        yield "08b-question-make-them-equal"
        page.show_question(replace(view, left=view.right, right=view.left, hypothetical=True, far=True))
        yield "08c-question-far"
        page.show_question(view)

    def _other_classes(self) -> Iterator[str]:
        pages = self._pages
        for study, number, name in (
            ("breast-cancer", 3, "17-question-two-classes"),
            ("digits", 4, "18b-question-ten-classes"),
        ):
            truth = self._some_costs(open_study(study).n_classes)
            self._open(study)
            if len(truth) >= PILES_FROM:
                yield from self._pile()
            self._skip_practice()
            self._answer(truth, until_number=number)
            yield name
            self._answer(truth, until_number=_COME_BACK)
        self._flow.open(str(write_folder(self._scratch / "digits", open_study("digits")).folder))
        self._until(lambda: pages.shown is pages.begin)
        pages.begin.words.click()
        pages.study.area.ensureWidgetVisible(pages.study.mistakes)
        yield "19-words-ten-classes"
        for name, classes in _NAMES.items():
            self._open(str(self._made_up(classes)))
            if len(classes) >= PILES_FROM:
                pages.piles.proceed.click()
            self._skip_practice()
            self._answer(self._some_costs(len(classes)), until_number=2)
            yield name

    def _open(self, study: str) -> None:
        pages = self._pages
        self._flow.open(study)
        self._until(lambda: pages.shown is pages.begin)
        pages.begin.begin.click()

    def _skip_practice(self) -> None:
        self._until(lambda: self._pages.shown is self._pages.practice)
        self._pages.practice.skip.click()

    def _some_costs(self, k: int) -> Costs:
        costs = np.exp(self._rng.standard_normal((k, k)))
        np.fill_diagonal(costs, 0.0)
        return costs

    def _made_up(self, classes: tuple[str, ...]) -> Path:
        """Write a study folder with classes of these names, and return its path."""
        k, n = len(classes), 60 * len(classes)
        truth = np.arange(n) % k
        scores = self._rng.standard_normal((n, k)) + 2.0 * np.eye(k)[truth]
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        path = self._scratch / f"{classes[0]}.csv"
        table = {"y_true": [classes[each] for each in truth]}
        pl.DataFrame(table | {f"proba_{name}": shares[:, at] for at, name in enumerate(classes)}).write_csv(path)
        return create_study(self._scratch / f"{classes[0]}-study", [path]).folder or path

    def _pile(self) -> Iterator[str]:
        """Put the first twelve mistakes into piles, and continue without the others."""
        page = self._pages.piles
        for pile in (0, 1, 2, 3, 4, 4, 4, 3, 3, 0, 1, 2):
            page.columns[pile].dropped.emit(page.piles.remaining[0])
        yield "18-piles-ten-classes"
        page.proceed.click()
        page.proceed.click()

    def _last_pages(self) -> Iterator[str]:
        pages = self._pages
        self._flow.show_start()
        self._until(lambda: not pages.start.current.isHidden())
        yield "20-start"
        next(row for row in pages.start.recent.rows if row.view.line.startswith("Stopped")).click()
        self._until(lambda: pages.shown is pages.recap)
        yield "21-where-you-stopped"
        self._flow.show_help()
        yield "22-help"
        self._flow.show_settings()
        yield "23-settings"
        self._flow.announce("lesions.csv")
        yield "24-opening"
        laboratory = pages.laboratory
        self._flow.laboratory.show()
        laboratory.procedure.setCurrentText("dlpm")
        laboratory.n_people.setValue(12)
        laboratory.go.click()
        self._until(lambda: len(laboratory.people) == 12)
        yield "25-laboratory"

    # --- answering

    def _question(self) -> QuestionView | None:
        """Return the question on the page; None if another page is shown."""
        page = self._pages.question
        return page._question if self._pages.shown is page else None

    def _answer(
        self, truth: Costs, until: Callable[[QuestionView], bool] = lambda _: False, *, until_number: int = 0
    ) -> None:
        """Answer until a question satisfies `until`, or has a number, or the sitting is over."""
        costs = truth / truth.max()

        def wobbled() -> Callable[[Rates], float]:
            felt = costs * np.exp(_WOBBLE * self._rng.standard_normal(costs.shape))
            return lambda rates: -float((felt * rates).sum())

        oracle = WobblingOracle(
            lambda rates: -float((costs * rates).sum()), wobbled, _CLEARLY, Matching(rounded=True), self._rng
        )
        answered = 0
        while True:
            self._until(partial(self._question_after, answered))
            view = self._question()
            if view is None or until(view) or view.number == until_number:
                return
            answer = oracle.answer(Question(view.left, view.right, view.population, proposal=view.proposal))
            seconds = float(np.exp(self._rng.normal(2.3, 0.5)))
            answered = view.request
            page = self._pages.question
            reply = to_reply("first", answer.choice)
            page.answered.emit(GivenAnswer(view.request, reply, answer.strength, seconds, False, answer.moved))

    def _another_expert(self, folder: Path) -> None:
        """Let an expert with other values finish the same study."""
        study = open_study(str(folder))
        truth = np.array([[0, 0.2, 0.3], [1.2, 0, 4.0], [1.0, 2.0, 0]])
        path = folder / "sessions" / "another.session.jsonl"
        with Session.create(study, BayesSetting(questions=8, seed=_SEED), path, expert="town council") as session:
            while (asking := session.asking()) is not None:
                a, b = (np.array(side) for side in (asking.pair.first, asking.pair.second))
                session.answer("left" if (((a - b) * truth).sum() < 0) == (asking.left == "first") else "right")
            session.finish()

    def _question_after(self, request: int) -> bool:
        view = self._question()
        return self._pages.shown is self._pages.sitting_over or (view is not None and view.request > request)

    def _faulty_file(self) -> Path:
        """Write a predictions file with two faults, and return its path."""
        path = self._scratch / "lesions.csv"
        rng = np.random.default_rng(5)
        lines = ["y_true," + ",".join(f"proba_{name}" for name in _LESIONS)]
        for row in range(1, 301):
            shares = rng.dirichlet(np.ones(3))
            if row == 214:
                shares[0] -= 0.13
            truth = "SCC" if row % 41 == 0 else _LESIONS[row % 3]
            lines.append(truth + "," + ",".join(f"{share:.4f}" for share in shares))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def _reader_file(self) -> Path:
        """Write a table as a hospital keeps it, with two readers beside the model, and return its path."""
        path = self._scratch / "biopsies.csv"
        rng = np.random.default_rng(6)
        truth = rng.integers(3, size=300)
        shares = np.array([rng.dirichlet(1.0 + 4.0 * np.eye(3)[true]) for true in truth])
        readers = [np.where(rng.random(300) < right, truth, rng.integers(3, size=300)) for right in (0.8, 0.7)]
        table = {
            "patient": [f"D-{number:04}" for number in range(1, 301)],
            "age": rng.integers(24, 91, size=300),
            "biopsy": [_LESIONS[true] for true in truth],
            **{f"P({name}) %": (100 * shares[:, at]).round(1) for at, name in enumerate(_LESIONS)},
            **{f"reader {number}": [_LESIONS[at] for at in given] for number, given in enumerate(readers, 1)},
        }
        pl.DataFrame(table).write_csv(path)
        return path

    def _until(self, condition: Callable[[], bool]) -> None:
        """Process events until `condition` holds."""
        give_up = time.monotonic() + _PATIENCE
        while not condition():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
            if time.monotonic() > give_up:
                shown = type(self._pages.shown).__name__
                raise Problem(f"The pictures could not be finished: the window is stuck at {shown}.")
            time.sleep(0.002)
        self._app.processEvents()
