"""Tab goes where the eye goes: in the order of the layouts, also through what was made anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QLayout, QScrollArea, QWidget


def follow_the_eye(page: QWidget) -> None:
    """Let Tab visit everything on `page` that takes the focus in the order of its layouts."""
    for before, after in pairwise(_stops(page)):
        QWidget.setTabOrder(before, after)


def _stops(widget: QWidget) -> Iterator[QWidget]:
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if isinstance(widget, QScrollArea):
        inner: QWidget | None = widget.widget()
        if inner is not None:
            yield from _stops(inner)
        return
    layout = None if isinstance(widget, QAbstractScrollArea) else widget.layout()
    if layout is not None:
        yield from _stops_in(layout)


def _stops_in(layout: QLayout) -> Iterator[QWidget]:
    for at in range(layout.count()):
        item = layout.itemAt(at)
        if item is None:
            continue
        inner, nested = item.widget(), item.layout()
        if inner is not None:
            yield from _stops(inner)
        elif nested is not None:
            yield from _stops_in(nested)
