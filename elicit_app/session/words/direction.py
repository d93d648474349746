"""Names written right to left inside English sentences: kept apart, so that truth and prediction never swap.

Without isolation a name in Arabic or Hebrew turns the order of what stands around it, and "X called Y" is read as
"Y called X". Unicode's isolates keep a direction to itself (Unicode Standard Annex 9, section 2.4.2).
"""

from __future__ import annotations

import re

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
_RUN = re.compile(rf"{_LETTER}+(?:[ \u00a0'\u2019\u0300-\u036f0-9-]+{_LETTER}+)*")
_UNWANTED = {
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C]),
    **dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}"),
}


def isolated(text: str) -> str:
    """Return `text` as it may be shown: each name written right to left isolated, control characters replaced.

    Direction controls that the text brought along are dropped; line ends and tabs stay.
    """
    return _RUN.sub(lambda run: f"{FIRST_STRONG_ISOLATE}{run[0]}{POP_ISOLATE}", text.translate(_UNWANTED))
