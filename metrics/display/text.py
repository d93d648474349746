"""Text from a file as it may be shown: no control characters, names written right to left kept apart.

A name may hold escape sequences that a terminal obeys, or marks that turn the direction of writing. And without
isolation a name in Arabic or Hebrew turns the order of what stands around it, so that "X called Y" is read as "Y called
X". Unicode's isolates keep a direction to itself (Unicode Standard Annex 9, section 2.4.2).
"""

from __future__ import annotations

import html
import re
import unicodedata

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
_RUN = re.compile(rf"{_LETTER}+(?:[ \u00a0'\u2019\u0300-\u036f0-9-]+{_LETTER}+)*")
_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
_CONTROL = (*range(9), *range(11, 32), *range(127, 160), 0x2028, 0x2029, *range(0xD800, 0xE000))
_REPLACED = {**dict.fromkeys(_TURNING), **dict.fromkeys(_CONTROL, "\N{REPLACEMENT CHARACTER}")}
_ESCAPED = {code: f"\\u{code:04x}" for code in (*_TURNING, *_CONTROL)}


def isolated(text: str) -> str:
    """Return `text` as it may be shown: each name written right to left isolated, control characters replaced.

    Direction controls that the text brought along are dropped; line ends and tabs stay.
    """
    return _RUN.sub(lambda run: f"{FIRST_STRONG_ISOLATE}{run[0]}{POP_ISOLATE}", text.translate(_REPLACED))


# Letters that most fonts draw alike, a selection of Unicode Technical Standard 39 (confusables).
_TWINS = str.maketrans(
    "аеорсухіјѕһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХІЈЅαινορυ\u2800\u2010\u2011\u2012\u2013\u2212",
    "aeopcyxijshdqwABEZHIKMNOPTYXABEKMHOPCTYXIJSaivopu -----",
)


def appearance(text: str) -> str:
    """Return what a text looks like: texts that most fonts draw alike have the same appearance.

    >>> appearance("cancer\u200b ") == appearance("c\u0430ncer")
    True
    """
    drawn = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cf"))
    return " ".join(unicodedata.normalize("NFKC", drawn).translate(_TWINS).split())


def capitalised(text: str) -> str:
    """Return `text` with its first letter as a capital, all else as it is."""
    return text[:1].upper() + text[1:]


def html_text(text: str) -> str:
    """Return `text` for a page in HTML: escaped, and as `isolated` has it."""
    return html.escape(isolated(text))


def escaped_json(text: str) -> str:
    r"""Return JSON that is the same to every reader, and shows no control or direction characters.

    >>> escaped_json('["\u202egpj"]')
    '["\\u202egpj"]'
    """
    return text.translate(_ESCAPED)
