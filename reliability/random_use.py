"""Random use: keys, clicks and typing in one window, and lines in the terminal; nothing may fail or be damaged.

python reliability/random_use.py [--minutes M] [--transcripts N] [--seed S]

A fault is an error that nobody caught, a message of Qt's, or a session that cannot be opened afterwards.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPoint, Qt, qInstallMessageHandler
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit, QWidget

from elicit_app.gui.app import application, make_window
from elicit_app.gui.flow.background import Dialogs
from elicit_app.gui.flow.navigation import AppPaths
from elicit_app.registry import setting_of
from elicit_app.registry.entries import as_packed
from elicit_app.session.packing import packed, write_pack
from elicit_app.session.session import Session
from elicit_app.study import open_study
from elicit_app.study.folder import write_folder
from elicit_app.study.making import create_amounts_study

STUDIES = ("breast-cancer", "traffic-light", "wine", "digits")
_TEXTS = ("12", "3,5", "0", "-1", "1e9", "abc", "²", "", "x" * 70, "<b>bold</b>", "عربي")
_LINES = (
    *("1", "2", "0", "e", "=40", "=²", "=-3", "=999999", "u", "?", "q", "l 1", "t 2", "m", "k", "", "r too many"),
    "é",
)
_KEYS = (
    *("Return", "Return", "Space", "Tab", "Backtab", "Escape", "Left", "Right", "Up", "Down", "Home", "End"),
    *("PageDown", "Delete", "Backspace", "F1", "F5", "A", "B", "E", "S", "U", "1", "2", "0"),
)
_OF_PLATFORM = ("propagateSizeHints", "grabbing the keyboard", "raise()")  # what the offscreen platform cannot do
_LEAD_AWAY = ("start", "Laboratory", "Settings", "Help", "words mean")  # from the pages where most is done
_PATIENCE = 300


class RandomUse:
    """One window used at random; counts what failed."""

    def __init__(self, rng: random.Random, folder: Path, studies: Sequence[str]) -> None:
        self._rng, self._studies = rng, studies
        self.faults: list[str] = []
        self.pages: Counter[str] = Counter()
        self._trail: deque[str] = deque(maxlen=8)
        sys.excepthook = self._uncaught
        threading.excepthook = lambda args: self._uncaught(args.exc_type, args.exc_value, args.exc_traceback)
        qInstallMessageHandler(self._told)
        app = application()
        assert isinstance(app, QApplication)
        self._app = app
        self.window = make_window(app, AppPaths(folder / "settings.json", folder / "data"), _dialogs(rng, folder))
        self.window.show()

    def _uncaught(self, *error: Any) -> None:
        self._fault("".join(traceback.format_exception(*error)))

    def _told(self, _: object, __: object, text: str) -> None:
        if not any(part in text for part in _OF_PLATFORM):
            self._fault(f"Qt: {text}")

    def _fault(self, text: str) -> None:
        self.faults.append(text)
        print(f"{text}\nafter: {'; '.join(self._trail)}", flush=True)

    def use(self, minutes: float) -> None:
        """Act until the time is over."""
        ends = time.monotonic() + 60 * minutes
        while time.monotonic() < ends:
            page = type(self.window.pages.shown).__name__
            self.pages[page] += 1
            if page in ("StartPage", "LaboratoryPage", "SettingsPage", "HelpPage") and self._rng.random() < 0.15:
                self._open()
            acts = (self._click, self._press, self._type, self._drag, self._resize)
            (act,) = self._rng.choices(acts, (45, 35, 8, 10, 2))
            act()
            self._wait(300 if page == "OpeningPage" else self._rng.choice((0, 1, 5, 30, 200)))
            self.window.show()

    def _wait(self, milliseconds: int) -> None:
        """Let the window work; QTest would keep the other threads waiting."""
        ends = time.monotonic() + milliseconds / 1000
        self._app.processEvents()
        while time.monotonic() < ends:
            self._app.processEvents()
            time.sleep(0.003)

    def _open(self) -> None:
        study = self._rng.choice(self._studies)
        self._trail.append(f"open {study}")
        self.window.flow.open(study)

    def _seen(self, *kinds: type[QWidget]) -> list[Any]:
        top = self._app.activePopupWidget() or self._app.activeModalWidget() or self.window
        found = [widget for kind in kinds for widget in top.findChildren(kind)]
        return [widget for widget in found if widget.isVisible() and widget.isEnabled() and widget.width() > 3]

    def _click(self) -> None:
        buttons = self._seen(QAbstractButton)
        near = [one for one in buttons if not any(word in one.text() for word in _LEAD_AWAY)]
        for button in self._rng.sample(near if near and self._rng.random() < 0.9 else buttons, k=min(1, len(buttons))):
            self._trail.append(f"click {button.text() or button.accessibleName()}")
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def _press(self) -> None:
        key, modifiers = self._rng.choice(_KEYS), Qt.KeyboardModifier
        held = self._rng.choice((*[modifiers.NoModifier] * 6, modifiers.ControlModifier, modifiers.ShiftModifier))
        self._trail.append(f"press {held.name} {key}")
        QTest.keyClick(self._app.focusWidget() or self.window, Qt.Key[f"Key_{key}"], held)

    def _type(self) -> None:
        fields = self._seen(QLineEdit, QAbstractSpinBox, QPlainTextEdit)
        for field in self._rng.sample(fields, k=min(1, len(fields))):
            text = self._rng.choice(_TEXTS)
            self._trail.append(f"type {text}")
            field.setFocus()
            if isinstance(field, QLineEdit) and not text.isascii():
                field.insert(text)  # no key gives this
            elif text.isascii():
                QTest.keyClicks(field, text)

    def _drag(self) -> None:
        for widget in self._rng.sample(self._seen(QWidget), k=1):
            across, down = widget.width(), max(widget.height(), 1)
            places = [QPoint(self._rng.randrange(across), self._rng.randrange(down)) for _ in range(2)]
            self._trail.append(f"drag in {type(widget).__name__}")
            QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=places[0])
            QTest.mouseMove(widget, places[1])
            QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=places[1])

    def _resize(self) -> None:
        self.window.resize(self._rng.randrange(640, 1500), self._rng.randrange(480, 1000))


def _dialogs(rng: random.Random, folder: Path) -> Dialogs:
    """Return dialogs that are cancelled, except those for saving, which name one of a few files."""
    dialogs = Dialogs()
    endings = ("", ".csv", ".pdf")
    chosen: dict[str, Callable[..., Any]] = {"predictions": lambda *_: ()}
    chosen["answers"] = lambda *_: rng.sample(answers, 1) if (answers := [*folder.rglob("*.session.jsonl")]) else ()
    chosen |= dict.fromkeys(("study_folder", "study_file", "words", "new_folder", "show"), lambda *_: None)
    chosen["save"] = lambda *_: rng.choice((None, folder / f"{rng.randrange(9)}{rng.choice(endings)}"))
    dialogs.__dict__.update(chosen)
    return dialogs


def studies_in(folder: Path) -> list[str]:
    """Make a study folder, one of prices, and one of each to be sent, and return all studies that are used."""
    wine, prices = open_study("wine"), folder / "prices"
    made = np.random.default_rng(1).random((120, 8)) < [*[0.3] * 4, *[0.4] * 4]
    names = [f"{part}_{label}" for part in ("true", "pred") for label in "abcd"]
    np.savetxt(folder / "labels.csv", made, fmt="%d", delimiter=",", header=",".join(names), comments="")
    sent = write_pack(packed(wine, setting_of("bayes", questions=8)), folder / "wine.elicit")
    of_prices = create_amounts_study(prices, [folder / "labels.csv"])
    prices_sent = write_pack(packed(of_prices, as_packed(of_prices, setting_of("bayes"))), folder / "prices.elicit")
    kept = write_folder(folder / "wine", wine).folder
    return [*STUDIES, *map(str, (kept, sent, prices, prices_sent))]


def transcripts(
    number: int, rng: random.Random, folder: Path, studies: Sequence[str]
) -> tuple[list[str], dict[Path, str]]:
    """Type random lines into `elicit ask`; return what failed, and the study of each session."""
    faults, begun = [], {}
    for at in range(number):
        lines = "\n".join(rng.choice(_LINES) for _ in range(rng.randrange(5, 70)))
        files = ["--session", str(folder / f"{at}.session.jsonl"), "--out", str(folder / f"{at}.metric.json")]
        begun[folder / f"{at}.session.jsonl"] = study = rng.choice(studies)
        asked = [sys.executable, "-m", "elicit_app", "ask", study, *files]
        told = subprocess.run(asked, input=lines.encode(), capture_output=True, timeout=_PATIENCE, check=False)
        if told.returncode not in (0, 1, 2) or b"Traceback" in told.stderr:
            faults.append(f"{lines!r}: {told.stderr.decode(errors='replace')[-1000:]}")
    return faults, begun


def unsound(sessions: Iterable[Path], begun: Mapping[Path, str]) -> list[str]:
    """Return why sessions cannot be opened, if any cannot; those in `begun` are not beside their study."""
    faults = []
    for path in sessions:
        try:
            Session.open(path, open_study(begun[path]) if path in begun else None).close()
        except Exception as error:
            faults.append(f"{path.name}: {error}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--transcripts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    given = parser.parse_args()
    print(f"Seed {given.seed}", flush=True)
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="random-use-") as place:
        folder = Path(place)
        studies = studies_in(folder)
        used = RandomUse(rng, folder, studies)
        used.use(given.minutes)
        used.window.close()
        used._wait(2_000)
        failed, begun = transcripts(given.transcripts, rng, folder, studies)
        sessions = [path for path in folder.rglob("*.session.jsonl") if "backups" not in path.parts]
        faults = used.faults + failed + unsound(sessions, begun)
    acts = ", ".join(f"{page} {times}" for page, times in used.pages.most_common())
    print(f"{used.pages.total():,} acts ({acts}), {given.transcripts} transcripts, {len(sessions)} sessions")
    print("\n".join([f"{len(faults)} faults", *faults]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
