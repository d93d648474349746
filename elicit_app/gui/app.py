"""Start of the app: the application object, its appearance, the window, and what it opens first."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QFileOpenEvent, QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QStyle

from elicit_app.gui import theme
from elicit_app.gui.flow.background import Dialogs
from elicit_app.gui.flow.navigation import AppPaths, Flow
from elicit_app.gui.flow.pages import Pages
from elicit_app.gui.settings import Settings, load_settings, save_settings

SIZE = QSize(1280, 800)
_BORDER = 6


class Window(QMainWindow):
    """The one window of the app; closing it is always safe, and words that are not saved are asked about.

    Emits `settings_changed` with the new `Settings` if the appearance or text size may have changed.
    """

    settings_changed = Signal(object)

    def __init__(self, paths: AppPaths, settings: Settings, dialogs: Dialogs | None = None) -> None:
        super().__init__()
        self.setWindowTitle("elicit")
        self._paths = paths
        self.at_rest = True
        self._interrupted = False
        self._stack = QStackedWidget()
        self.setCentralWidget(self._stack)
        self.pages = Pages(self._stack)
        self.flow = Flow(self.pages, paths, settings, dialogs or Dialogs(), self)
        self.flow.settings_changed.connect(self._keep)
        for keys, act in (
            ("F1", self.flow.show_help),
            ("Ctrl+,", self.flow.show_settings),
            ("Ctrl+O", self.flow.choose_files),
            ("Ctrl+W", self.close),
            ("Ctrl+Q", self.close),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(act)
        self._place(settings)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Disappear at once, without waiting for computations (`Flow.close`), unless the page asks first."""
        if not (self._interrupted or self.pages.shown.may_close()):
            event.ignore()
            return
        self._keep(self.flow.with_session(self.flow.settings))
        self.hide()
        self.at_rest = self.flow.close()
        super().closeEvent(event)

    def interrupt(self) -> None:
        """Close without a question."""
        self._interrupted = True
        self.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Only a shown window knows its system frame.
        QTimer.singleShot(0, self, self._fit_screen)

    def _place(self, settings: Settings) -> None:
        """Restore the last geometry, or take a size that fits on the screen with the usual frame."""
        if settings.geometry and self.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode())):
            return
        screen = QGuiApplication.primaryScreen()
        if screen is not None:
            title = self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
            self.resize(SIZE.boundedTo(screen.availableSize() - QSize(2 * _BORDER, title + _BORDER)))

    def _fit_screen(self) -> None:
        """Shrink the window if it does not fit on the screen with its frame."""
        screen = self.screen()
        if screen is None or self.isMaximized() or self.isFullScreen():
            return
        room, frame = screen.availableGeometry(), self.frameGeometry()
        over = frame.size() - frame.size().boundedTo(room.size())
        if not over.isNull():
            self.resize(self.size() - over)
            self.move(room.topLeft())

    def _keep(self, settings: object) -> None:
        assert isinstance(settings, Settings)
        geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        self.flow.settings = replace(settings, geometry=geometry)
        save_settings(self.flow.settings, self._paths.settings)
        self.settings_changed.emit(self.flow.settings)


def app_paths() -> AppPaths:
    """Return the user's own folders."""
    import platformdirs

    config = Path(platformdirs.user_config_dir("elicit", appauthor=False))
    data = Path(platformdirs.user_data_dir("elicit", appauthor=False))
    return AppPaths(config / "settings.json", data)


def application() -> QApplication:
    """Return the application object; make it if there is none yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
    app.setApplicationName("elicit")
    app.setApplicationDisplayName("elicit")
    return app


def apply_settings(app: QApplication, settings: Settings) -> None:
    """Apply the appearance and text size in `settings` to the application."""
    dark = settings.appearance == "dark"
    if settings.appearance == "system":
        dark = app.styleHints().colorScheme() == Qt.ColorScheme.Dark
    theme.apply(app, dark=dark, scale=settings.font_percent / 100)


def make_window(app: QApplication, paths: AppPaths, dialogs: Dialogs | None = None) -> Window:
    """Return the window, not yet shown; it follows its settings and the system's light or dark appearance."""
    settings = load_settings(paths.settings)
    apply_settings(app, settings)
    window = Window(paths, settings, dialogs)
    window.settings_changed.connect(lambda changed: apply_settings(app, changed))
    app.styleHints().colorSchemeChanged.connect(lambda: apply_settings(app, window.flow.settings))
    return window


def run(ref: str | None = None, paths: AppPaths | None = None) -> int:
    """Open the window, stay until it is closed, and return the exit code.

    `ref` is a study's name, a study folder, a predictions file or a session to open. Without it the window resumes the
    session that was open when it was closed, or shows the start page. `paths` are the locations of settings and
    sessions.
    """
    app = application()
    window = make_window(app, paths or app_paths())
    opened = OpenedFiles(window)
    app.installEventFilter(opened)
    if ref is None:
        window.flow.restore()
    else:
        # The window is painted first; reading starts with the event loop.
        window.flow.announce(ref)
        QTimer.singleShot(0, lambda: window.flow.open(ref))
    window.show()
    with _interrupted_by_ctrl_c(window):
        code = app.exec()
    if not window.at_rest:
        # Nobody needs the computation that still runs, but Python would wait for its thread.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


class OpenedFiles(QObject):
    """Opens files that macOS passes to the program."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self._window.flow.open(event.file())
            return True
        return False


@contextmanager
def _interrupted_by_ctrl_c(window: Window) -> Iterator[None]:
    """Let Ctrl+C in the terminal close the window."""
    before = signal.signal(signal.SIGINT, lambda *_: window.interrupt())
    # Python handles signals only between its own instructions; while Qt waits there are none.
    awake = QTimer()
    awake.timeout.connect(lambda: None)
    awake.start(100)
    try:
        yield
    finally:
        awake.stop()
        signal.signal(signal.SIGINT, before)
