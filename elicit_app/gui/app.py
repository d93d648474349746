"""Starting the app: the application object, its appearance, the window, and what it opens first."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from elicit_app.gui import theme
from elicit_app.gui.flow.between_sessions import Places
from elicit_app.gui.flow.saving import Dialogs
from elicit_app.gui.settings import Settings, load_settings
from elicit_app.gui.window import Window


def real_places() -> Places:
    """Return the user's own folders."""
    import platformdirs

    config = Path(platformdirs.user_config_dir("elicit", appauthor=False))
    data = Path(platformdirs.user_data_dir("elicit", appauthor=False))
    return Places(config / "settings.json", data)


def application() -> QApplication:
    """Return the application object, made where there is none yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
    app.setApplicationName("elicit")
    app.setApplicationDisplayName("elicit")
    return app


def apply_settings(app: QApplication, settings: Settings) -> None:
    """Give the application the appearance and the size of text of `settings`."""
    dark = settings.appearance == "dark"
    if settings.appearance == "system":
        dark = app.styleHints().colorScheme() == Qt.ColorScheme.Dark
    theme.apply(app, dark=dark, scale=settings.font_percent / 100)


def make_window(app: QApplication, places: Places, dialogs: Dialogs | None = None) -> Window:
    """Return the window, not yet shown, that follows its settings and the system's light and dark."""
    settings = load_settings(places.settings)
    apply_settings(app, settings)
    window = Window(places, settings, dialogs)
    window.settings_changed.connect(lambda changed: apply_settings(app, changed))
    app.styleHints().colorSchemeChanged.connect(lambda: apply_settings(app, window.flow.settings))
    return window


def run(ref: str | None = None, places: Places | None = None) -> int:
    """Open the window and stay until it is closed.

    Parameters
    ----------
    ref : str or None
        A study's name, a study folder, a predictions file or a session to open; None shows the start page.
    places : Places, optional
        Where settings and sessions are kept; by default the user's own folders.

    Returns
    -------
    int
        The exit code of the application.
    """
    app = application()
    window = make_window(app, places or real_places())
    if ref is None:
        window.flow.show_start()
    else:
        # The window is painted first; reading begins when the loop runs.
        window.flow.announce(ref)
        QTimer.singleShot(0, lambda: window.flow.open(ref))
    window.show()
    with _interrupted_by_ctrl_c(window):
        code = app.exec()
    if not window.at_rest:
        # Something is still computed that nobody needs; Python would wait for its thread.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


@contextmanager
def _interrupted_by_ctrl_c(window: Window) -> Iterator[None]:
    """Let Ctrl+C in the terminal close the window, as its own button does."""
    before = signal.signal(signal.SIGINT, lambda *_: window.close())
    # Python looks for signals between two of its own steps; while Qt waits there are none.
    awake = QTimer()
    awake.timeout.connect(lambda: None)
    awake.start(100)
    try:
        yield
    finally:
        awake.stop()
        signal.signal(signal.SIGINT, before)
