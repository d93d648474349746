"""The application of all tests of the window: offscreen, DejaVu Sans, light; and a study with long words."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from elicit_app.gui import theme
from elicit_app.study import Study
from elicit_app.study.model import Predictions, default_wording

PATIENCE = 300_000
"""Milliseconds until a test gives up waiting: only a test that fails waits so long, however busy the machine is."""

for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitActive, QtBot.waitExposed):
    wait.__kwdefaults__["timeout"] = PATIENCE


@pytest.fixture(autouse=True)
def appearance(qapp):
    """Every test begins with the light theme and the widest common font."""
    theme.apply(qapp, family="DejaVu Sans")
    yield qapp
    theme.apply(qapp, family="DejaVu Sans")


@pytest.fixture
def tip():
    """Return the text of a widget's tooltip as it is read."""
    return lambda widget: QTextDocumentFragment.fromHtml(widget.toolTip()).toPlainText()


@pytest.fixture
def shown(qtbot):
    """Show a page by itself, 800 by 600, as the active window."""

    def show(page):
        qtbot.addWidget(page)
        page.resize(800, 600)
        with qtbot.waitActive(page):
            page.show()
            page.activateWindow()
        return page

    return show


@pytest.fixture
def visited():
    """Return what Tab visits from a widget on."""

    def visits(first, n):
        first.setFocus()
        found = [first]
        for _ in range(n):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            found.append(QApplication.focusWidget())
        return found

    return visits


def predictions(name, k, n, seed):
    rng = np.random.default_rng(seed)
    y_true = np.arange(n) % k
    scores = rng.standard_normal((n, k)) + 1.5 * np.eye(k)[y_true]
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return Predictions(name, y_true.astype(np.int64), proba)


def study_of(classes, *, cases="patients", n=400, models=("first model", "second model")):
    """Return a study of random predictions with default words."""
    k = len(classes)
    made = tuple(predictions(name, k, n, seed) for seed, name in enumerate(models))
    return Study(
        name="made-up",
        title="Made-up study",
        classes=tuple(classes),
        models=made,
        population=1000,
        stated_prevalence=None,
        wording=default_wording(classes, cases.rstrip("s"), cases),
        yardstick=(1, 0),
        kind="bundled",
        digest="sha256:" + "0" * 64,
    )


@pytest.fixture(scope="session")
def long_words():
    """A study whose words are as long as words get."""
    return study_of(
        ("Herzrhythmusstörungsverdacht", "Lungenentzündungsverdacht", "Nebenschilddrüsenunterfunktion"),
        cases="Krankenhauspatientinnen",
        models=("EfficientNet-B0-noisy-student-ensemble", "ViT-L/16-pretrained-imagenet21k"),
    )


@pytest.fixture(scope="session")
def many_classes():
    """Studies of any number of classes, by that number."""
    return lambda k: study_of([f"kind {n}" for n in range(k)], n=100 * k)


@pytest.fixture(scope="session")
def named_classes():
    """Studies of classes of any names, by those names."""
    return lambda names: study_of(names, n=60 * len(names))
