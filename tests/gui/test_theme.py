"""Colours and sizes: the contrasts of the specification, measured."""

from __future__ import annotations

from dataclasses import fields

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QFontInfo
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.theme import DARK, LIGHT, Role


def luminance(colour: QColor) -> float:
    parts = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in colour.getRgbF()[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, two: QColor) -> float:
    """WCAG 2.2, relative luminance."""
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("ink", "ground", "light", "dark"),
    [
        ("ink", "surface", 17.5, 14.5),
        ("ink", "bg", 15.9, 15.9),
        ("ink", "sunken", 14.7, 12.1),
        ("ink2", "bg", 7.4, 9.7),
        ("ink2", "sunken", 6.9, 7.4),
        ("ink3", "surface", 5.4, 6.1),
        ("ink3", "bg", 4.9, 6.7),
        ("line2", "surface", 3.7, 4.0),
        ("unit", "surface", 3.1, 3.5),
        ("primary", "onprimary", 14.6, 15.0),
        ("A", "surface", 6.2, 8.0),
        ("A", "Asoft", 5.4, 6.8),
        ("B", "surface", 6.3, 7.8),
        ("B", "Bsoft", 5.6, 6.8),
    ],
)
def test_contrasts_are_those_of_the_specification(ink, ground, light, dark) -> None:
    for colours, expected in ((LIGHT, light), (DARK, dark)):
        assert contrast(getattr(colours, ink), getattr(colours, ground)) == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_text_is_readable_wherever_it_stands(colours) -> None:
    for ground in ("bg", "surface", "sunken", "hover", "Asoft", "Bsoft"):
        assert contrast(colours.ink, getattr(colours, ground)) >= 12
        assert contrast(colours.ink2, getattr(colours, ground)) >= 4.5
    assert contrast(colours.A, colours.B) < 1.1, "neither side shouts"


def test_there_are_two_frozen_sets_of_tokens() -> None:
    assert len(fields(theme.Tokens)) == 16
    with pytest.raises(AttributeError):
        LIGHT.ink = QColor("red")  # type: ignore[misc]


def test_tokens_follow_the_palette_of_the_widget(qtbot, qapp) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    assert theme.tokens(widget) is LIGHT
    widget.setPalette(theme.palette(DARK))
    assert theme.tokens(widget) is DARK
    other = QWidget()
    qtbot.addWidget(other)
    theme.apply(qapp, dark=True)
    qtbot.waitUntil(lambda: theme.tokens(other) is DARK)
    assert other.palette().color(theme.INK2) == DARK.ink2


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_sizes_are_multiples_of_the_base(qapp, scale) -> None:
    theme.apply(qapp, scale=scale)
    base = theme.base()
    assert base == round(scale * max(15, QFontInfo(qapp.property("system_font")).pixelSize()))
    assert theme.font(Role.NUMBER).pixelSize() == round(44 * base / 15)
    assert theme.font(Role.HEADLINE, compact=True).pixelSize() == round(22 * base / 15)
    assert theme.em(64) == round(64 * base / 15)
    assert min(role.value[1] for role in Role) == 13, "never smaller"


def test_applying_twice_does_not_grow(qapp) -> None:
    theme.apply(qapp, scale=2)
    theme.apply(qapp, scale=2)
    assert theme.base() == 30
    theme.apply(qapp)
    assert theme.base() == 15


def test_digits_are_tabular() -> None:
    from PySide6.QtGui import QFont

    assert theme.font(Role.NUMBER).featureValue(QFont.Tag("tnum")) == 1


@pytest.mark.parametrize(
    ("size", "scale", "expected"),
    [
        ((1280, 800), 1.0, (False, False, False)),
        ((1280, 700), 1.0, (False, True, False)),
        ((1000, 760), 1.0, (False, False, False)),
        ((999, 759), 1.0, (True, True, False)),
        ((800, 600), 1.0, (True, True, False)),
        ((1280, 800), 1.6, (True, True, False)),
        ((1280, 800), 2.0, (True, True, True)),
    ],
)
def test_a_larger_font_counts_as_a_smaller_window(qapp, size, scale, expected) -> None:
    theme.apply(qapp, scale=scale)
    assert theme.breakpoint_for(QSize(*size)) == expected


def test_the_content_is_centred_and_never_wider_than_1128_at_the_base_font(qapp) -> None:
    assert theme.content_width(1280) == 1128
    assert theme.content_width(3000) == 1128
    assert theme.content_width(800) == 752
    theme.apply(qapp, scale=2.0)
    assert theme.content_width(1280) == 1232
    assert theme.content_width(3000) == 2256
