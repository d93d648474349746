"""What the pages are built of. Everything here follows palette and font by itself.

Texts: `Label(text, Role, ink)`. Actions: `PrimaryButton`, `Button`, `MinorButton`, `FlatButton`, `LinkButton`,
and on the question page `AnswerButton`; all take `keys=("Ctrl+Z",)` and `glyph=Glyph.UNDO`.
Surfaces: `Card(Surface.IMPORTANT)`, `Divider()`. Signs: `Badge("A")`, `KeyCap("F")`, `GlyphSign(Glyph.CHECK)`,
`ProgressBar`. A page derives from `Page`. In a widget that paints itself use `paint_badge`, `paint_glyph`,
`paint_key_caps`, `box` and `focus_ring` with `theme.tokens(self)`.
"""

from elicit_app.gui.elements.buttons import (
    AnswerButton,
    Button,
    FlatButton,
    LinkButton,
    Look,
    MinorButton,
    PrimaryButton,
)
from elicit_app.gui.elements.page import Page
from elicit_app.gui.elements.painting import (
    Badge,
    Glyph,
    GlyphSign,
    KeyCap,
    Letter,
    box,
    focus_ring,
    key_cap_size,
    key_caps_width,
    paint_badge,
    paint_glyph,
    paint_key_caps,
    side_colours,
)
from elicit_app.gui.elements.surfaces import Card, Divider, ProgressBar, Surface
from elicit_app.gui.elements.texts import Label, StressedLabel, elided, tell

__all__ = [
    "AnswerButton",
    "Badge",
    "Button",
    "Card",
    "Divider",
    "FlatButton",
    "Glyph",
    "GlyphSign",
    "KeyCap",
    "Label",
    "Letter",
    "LinkButton",
    "Look",
    "MinorButton",
    "Page",
    "PrimaryButton",
    "ProgressBar",
    "StressedLabel",
    "Surface",
    "box",
    "elided",
    "focus_ring",
    "key_cap_size",
    "key_caps_width",
    "paint_badge",
    "paint_glyph",
    "paint_key_caps",
    "side_colours",
    "tell",
]
