"""The window: one stack of pages, its geometry, and the keys that work everywhere."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QByteArray, QSize, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QStyle, QWidget

from elicit_app.gui.flow.between_sessions import Flow, Places
from elicit_app.gui.flow.pages import Pages
from elicit_app.gui.flow.saving import Dialogs
from elicit_app.gui.settings import Settings, save_settings

SIZE = QSize(1280, 800)
_BORDER = 6


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
        self.at_rest = True
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
        """Disappear at once; what is still computed is not waited for (`Flow.close`)."""
        self._keep(self.flow.settings)
        self.hide()
        self.at_rest = self.flow.close()
        super().closeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Only a shown window knows the frame that the system puts around it.
        QTimer.singleShot(0, self, self._fit_screen)

    def _place(self, settings: Settings) -> None:
        """Take the size and place of the last time, or what fits on the screen with the usual frame."""
        if settings.geometry and self.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode())):
            return
        screen = QGuiApplication.primaryScreen()
        if screen is not None:
            title = self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
            self.resize(SIZE.boundedTo(screen.availableSize() - QSize(2 * _BORDER, title + _BORDER)))

    def _fit_screen(self) -> None:
        """Become smaller where the window and its frame are larger than the screen has room for."""
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
        save_settings(self.flow.settings, self._places.settings)
        self.settings_changed.emit(self.flow.settings)
