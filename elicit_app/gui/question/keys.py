"""The keys of the question page. Each answers once: a held key does not repeat, and sliders elsewhere keep theirs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from elicit_app.elicitation.questions import Strength
from elicit_app.session.views.asked import Reply

ANSWER_KEYS: dict[str, tuple[Reply, Strength | None]] = {
    "Left": ("left", None),
    "1": ("left", None),
    "Right": ("right", None),
    "2": ("right", None),
    "Down": ("equal", None),
    "0": ("equal", None),
    "S": ("unsure", None),
    "Shift+Left": ("left", Strength.SLIGHTLY),
    "Shift+Right": ("right", Strength.SLIGHTLY),
    "Ctrl+Left": ("left", Strength.CLEARLY),
    "Ctrl+Right": ("right", Strength.CLEARLY),
}


def bind(page: QWidget, key: str, action: Callable[[], object]) -> QShortcut:
    """Let `key` do `action` while `page`, or anything on it, has the focus; holding it down does it once."""
    shortcut = QShortcut(QKeySequence(key), page)
    shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    shortcut.setAutoRepeat(False)
    shortcut.activated.connect(action)
    return shortcut


def bind_answers(page: QWidget, answer: Callable[[Reply, Strength | None], object]) -> list[QShortcut]:
    """Let the keys of the answers give them."""
    return [bind(page, key, partial(answer, reply, strength)) for key, (reply, strength) in ANSWER_KEYS.items()]
