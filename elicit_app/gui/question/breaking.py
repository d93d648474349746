"""Words that are wider than their column: broken with a hyphen, never cut."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF

_SOFT_HYPHEN = "\N{SOFT HYPHEN}"
_FEWEST_LETTERS = 4


def breakable(text: str, metrics: QFontMetricsF, width: float) -> str:
    """Return `text` with soft hyphens inside the words that are wider than `width`, so that they wrap uncut."""
    words = []
    for word in text.split(" "):
        whole = metrics.horizontalAdvance(word)
        if whole <= width:
            words.append(word)
            continue
        room = width - metrics.horizontalAdvance("-")
        piece = max(_FEWEST_LETTERS, int(len(word) * room / whole) - 1)
        words.append(_SOFT_HYPHEN.join(word[start : start + piece] for start in range(0, len(word), piece)))
    return " ".join(words)


def wrapped_height(text: str, face: QFont, width: float) -> float:
    """Return the height of `text`, wrapped and broken in `width` pixels."""
    metrics = QFontMetricsF(face)
    room = QRectF(0, 0, width, 10_000)
    return metrics.boundingRect(room, Qt.TextFlag.TextWordWrap.value, breakable(text, metrics, width)).height()
