"""The window: one stack of pages, its geometry, and the keys that work everywhere."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QByteArray, QSize, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QWidget

from elicit_app.gui.flow.between_sessions import Flow, Places
from elicit_app.gui.flow.pages import Pages
from elicit_app.gui.flow.saving import Dialogs
from elicit_app.gui.settings import Settings, save_settings

SIZE = QSize(1280, 800)


class Window(QMainWindow):
    """The one window of the app; closing it is always safe.

    Emits `settings_changed` with the new `Settings` where appearance or size of text may have changed.

    Parameters
    ----------
    places : Places
        Where settings and sessions are kept.
    settings : Settings
        As they were kept.
    dialogs : Dialogs, optional
        The system's dialogs.
    """

    settings_changed = Signal(object)

    def __init__(
        self, places: Places, settings: Settings, dialogs: Dialogs | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("elicit")
        self._places = places
        self._stack = QStackedWidget()
        self.setCentralWidget(self._stack)
        self.pages = Pages(self._stack)
        self.flow = Flow(self.pages, places, settings, dialogs or Dialogs(), self)
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
        self._keep(self.flow.settings)
        self.flow.close()
        super().closeEvent(event)

    def _place(self, settings: Settings) -> None:
        """Take the size and place of the last time, or what fits on the screen."""
        if settings.geometry and self.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode())):
            return
        screen = QGuiApplication.primaryScreen()
        self.resize(SIZE if screen is None else SIZE.boundedTo(screen.availableSize()))

    def _keep(self, settings: object) -> None:
        assert isinstance(settings, Settings)
        geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        self.flow.settings = replace(settings, geometry=geometry)
        save_settings(self.flow.settings, self._places.settings)
        self.settings_changed.emit(self.flow.settings)
