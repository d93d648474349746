"""The keys of the terminal session: what is typed, and what it means."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from elicit_app.elicitation.questions import Strength
from elicit_app.session.views.asked import Reply

Command = Literal["undo", "redo", "stop", "full", "help", "unknown"]

_ARROWS: dict[str, Reply] = {"d": "left", "c": "right", "b": "equal"}
_REPLIES: dict[str, Reply] = {
    "1": "left",
    "a": "left",
    "2": "right",
    "b": "right",
    "0": "equal",
    "=": "equal",
    "s": "unsure",
    # What the arrow keys send, in both modes of a terminal: the keys of the window work here too.
    **{f"\x1b{mode}{letter}": reply for mode in "[o" for letter, reply in _ARROWS.items()},
}
_COMMANDS: dict[str, Command] = {"u": "undo", "r": "redo", "q": "stop", "f": "full", "?": "help"}
# "=40": equally bad with 40 of what may be moved; "1=40", "2=40": A, or B, is better even then.
_MOVED = re.compile(r"([12ab]?)=([\d,]{1,12})")
_STRENGTHS = {"+": Strength.CLEARLY, "-": Strength.SLIGHTLY}

LINE = "1 A   2 B   0 about equal   s cannot say, ask later   u undo   q stop and see the result   ? more keys"
HELP = (
    "1 or a: A is better. 2 or b: B is better. 1+ or 2+: clearly. 1- or 2-: slightly. 0: about equal. "
    "s: cannot say, ask later. u: undo, any number of times. r: redo. f: full picture. "
    "=40: equally bad with 40 of the mistake that may be moved; 1=40 or 2=40: A, or B, is better even then. "
    "q: stop and see the result. Ctrl+C: leave; every answer is kept."
)


class Typed(NamedTuple):
    """What one line means: a reply with its strength or with a count that was moved, or a command."""

    reply: Reply | None
    strength: Strength | None = None
    command: Command = "unknown"
    moved_to: int | None = None


def read_key(line: str) -> Typed:
    """Return what a typed line means."""
    text = line.strip().lower()
    if text in _COMMANDS:
        return Typed(None, command=_COMMANDS[text])
    moved = _MOVED.fullmatch(text)
    if moved is not None:
        return Typed(_REPLIES[moved[1] or "="], moved_to=int(moved[2].replace(",", "")))
    strength = _STRENGTHS.get(text[-1:])
    reply = _REPLIES.get(text[:-1] if strength else text)
    if reply is None or (strength and reply not in ("left", "right")):
        return Typed(None)
    return Typed(reply, strength)
