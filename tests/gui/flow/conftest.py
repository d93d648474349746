"""A window on an empty folder, and the person at the system's dialogs."""

import pytest

from elicit_app.gui.app import make_window
from elicit_app.gui.flow.background import Dialogs
from elicit_app.gui.flow.navigation import AppPaths
from elicit_app.gui.question.page import QuestionPage


class FakeDialogs(Dialogs):
    """Chooses `files`, a `folder` or a `study`, saves as `save_as`, and remembers what was proposed."""

    def __init__(self):
        self.files = ()
        self.folder = self.study = None
        self.save_as = None
        self.asked = []
        self.titles = []
        self.shown = []
        self.can_show = True

    def predictions(self, parent):
        return self.files

    def study_folder(self, parent):
        return self.folder

    def study_file(self, parent):
        return self.study

    def save(self, parent, proposed, title="Save"):
        self.asked.append(proposed)
        self.titles.append(title)
        return self.save_as

    def show(self, path):
        self.shown.append(path)
        return self.can_show


@pytest.fixture
def places(tmp_path):
    return AppPaths(tmp_path / "config" / "settings.json", tmp_path / "data")


@pytest.fixture
def dialogs():
    return FakeDialogs()


@pytest.fixture
def window(qtbot, appearance, places, dialogs, monkeypatch):
    # A third of a second a question adds up over many of them; its own test holds the lock.
    monkeypatch.setitem(QuestionPage.__init__.__kwdefaults__, "lock_ms", 20)
    made = make_window(appearance, places, dialogs)
    made.flow.look_ahead = False  # keys follow each other here at once
    qtbot.addWidget(made, before_close_func=lambda w: w.flow.close())
    made.resize(1000, 700)
    with qtbot.waitActive(made):
        made.flow.show_start()
        made.show()
        made.activateWindow()
    return made


@pytest.fixture
def on(qtbot, window):
    """Wait for the page of a name to be shown, and return it."""

    def shown(name):
        qtbot.waitUntil(lambda: window.pages.shown is window.pages.__dict__.get(name))
        return getattr(window.pages, name)

    return shown
