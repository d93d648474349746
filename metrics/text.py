"""Formatting of numbers, dates and names for pages, tables and sentences, and HTML tables for notebooks."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray  # the command prints its first line before it loads numpy


NOT_KNOWN, BOUNDED = "not known", "bounded"

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def two_digits(value: float) -> str:
    """Return a number with two significant digits: "7.5", "12", "1,200", "0.013".

    >>> [two_digits(x) for x in (7.54, 12.3, 1234.0, 0.0999, 0.0)]
    ['7.5', '12', '1,200', '0.1', '0']
    """
    return _significant(value, 2)


def _significant(value: float, digits: int) -> str:
    if value == 0 or math.isinf(value):
        return "0" if value == 0 else "∞"
    value = float(f"{value:.12g}")  # a half that came through a logarithm is rounded as one that did not
    places = digits - 1 - math.floor(math.log10(float(f"{abs(value):.{digits - 1}e}")))
    rounded = round(value, places)
    return f"{rounded:,.{places}f}".rstrip("0").rstrip(".") if places > 0 else f"{rounded:,.0f}"


def span(low: float, high: float) -> str:
    """Return a range of numbers >= 0, with enough digits to distinguish its ends.

    >>> span(5, 12), span(14, math.inf), span(0, 0.2), span(0, math.inf), span(1.01, 1.02)
    ('5 to 12', 'at least 14', 'at most 0.2', 'not known', '1.01 to 1.02')
    """
    if math.isinf(high):
        return f"at least {two_digits(low)}" if low > 0 else NOT_KNOWN
    if low <= 0:
        return f"at most {two_digits(high)}"
    for digits in (2, 3, 4):
        ends = _significant(low, digits), _significant(high, digits)
        if ends[0] != ends[1]:
            return f"{ends[0]} to {ends[1]}"
    return f"about {_significant(low, 3)}"


def cost_text(cost: float, interval: Sequence[float] | None) -> tuple[str, str]:
    """Return the texts of a cost and of its 90 % interval for a cell of a matrix: ("0.13", "0.08 to 0.2").

    The ends are 0 or inf if the cost is not bounded on that side; the second text is empty without an interval.
    """
    if interval is None:
        return two_digits(cost), ""
    low, high = map(float, interval)
    if low == 0 and math.isinf(high):
        return two_digits(cost), NOT_KNOWN
    if math.isinf(high):
        return f"≥ {two_digits(low)}", BOUNDED
    if low == 0 < high:
        return f"≤ {two_digits(high)}", BOUNDED
    return two_digits(cost), span(low, high) if low < high else ""


def cost_cells(costs: NDArray[Any], intervals: NDArray[Any] | None) -> list[list[tuple[str, str]]]:
    """Return `cost_text` of every cost of a matrix, shape (k, k), with its interval, from shape (k, k, 2), if any."""
    return [
        [cost_text(float(cost), None if intervals is None or i == j else intervals[i, j]) for j, cost in enumerate(row)]
        for i, row in enumerate(costs)
    ]


def are_rates(matrix: NDArray[Any]) -> bool:
    """Return whether a confusion matrix, or a difference of two, holds rates: none exceeds 1, one is fractional."""
    return bool((abs(matrix) <= 1).all() and (matrix != matrix.round()).any())


def confusion_cells(matrix: NDArray[Any]) -> list[list[str]]:
    """Return the texts of a confusion matrix: counts with row rates beneath, rates, or a difference."""
    if (matrix < 0).any():
        return difference_cells(matrix, are_rates(matrix))
    if are_rates(matrix):
        return [[percent(cell) for cell in row] for row in matrix.tolist()]
    return [
        [f"{amount(cell)}\n{percent(cell / sum(row))}" if sum(row) else "0" for cell in row] for row in matrix.tolist()
    ]


def difference_cells(difference: NDArray[Any], rates: bool) -> list[list[str]]:
    """Return the texts of a difference of two confusion matrices, of counts or of rates, with their signs."""
    signs = {True: "+", False: "\N{MINUS SIGN}"}
    shown = percent if rates else amount
    return [[f"{signs[cell > 0] if cell else ''}{shown(abs(cell))}" for cell in row] for row in difference.tolist()]


def total_cost(value: float) -> str:
    """Return a cost per population: a whole number from 10 up, otherwise two significant digits.

    >>> total_cost(1441.7), total_cost(3.14159)
    ('1,442', '3.1')
    """
    return f"{value:,.0f}" if abs(value) >= 9.95 else two_digits(value)


def concern(score: float | None) -> str:
    """Return a Meta Pattern Concern Score with two significant digits; "–" for None, if no case has a weight.

    >>> concern(0.00316), concern(None)
    ('0.0032', '–')
    """
    return "–" if score is None else two_digits(score)


def percent(share: float) -> str:
    """Return a share as a percentage, with one decimal below 10 %: "4.0 %", "33 %"."""
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.095 else f"{100 * share:.1f} %"


def accuracy_text(share: float) -> str:
    """Return the share of cases that are right, with one decimal, at which models differ: "93.2 %"."""
    return f"{100 * share:.1f} %"


def threshold_text(share: float) -> str:
    """Return a threshold, or another share near 0 or 1, in percent; see `threshold_number`."""
    return f"{threshold_number(share)} %"


def threshold_number(share: float) -> str:
    """Return a threshold in percent without its sign, with two significant digits, or more where it is close to 100.

    >>> [threshold_number(share) for share in (0.224, 0.0035, 0.926, 0.9953, 1.0)]
    ['22', '0.35', '93', '99.5', '100']
    """
    left = 100 * (1 - share)
    if not 0 < left < 1:
        return two_digits(100 * share)
    return f"{100 * share:.{-math.floor(math.log10(left))}f}".rstrip("0").rstrip(".")


def probability(share: float | None) -> str:
    """Return a probability in percent, limited to "< 1 %" and "> 99 %"; "–" for None.

    >>> probability(0.001), probability(0.514), probability(None)
    ('< 1 %', '51 %', '–')
    """
    if share is None:
        return "–"
    if share < 0.01:
        return "< 1 %"
    return "> 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def amount(value: float) -> str:
    """Return a whole number with thousands separators, or another number with three digits: "1,600", "2.5"."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"


def day(moment: datetime) -> str:
    """Return a date in English, regardless of the system's language.

    >>> day(datetime(2026, 11, 20))
    '20 November 2026'
    """
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def in_zone(moment: datetime, zone: tzinfo | None = None) -> datetime:
    """Return a time in a time zone, by default the local one; at the ends of the calendar only the zone is replaced.

    A file may state any time, and a wrong clock is no reason to lose an answer.

    >>> in_zone(datetime.fromisoformat("0001-01-01T00:00:00+14:00"), UTC).year
    1
    """
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return moment.replace(tzinfo=zone or UTC)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "row"), counted(1512, "row"), counted(2, "case of flu", "cases of flu")
    ('1 row', '1,512 rows', '2 cases of flu')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_word(number: int) -> str:
    """Return a small number as a word.

    >>> number_word(0), number_word(3), number_word(11)
    ('no', 'three', '11')
    """
    return _NUMBER_WORDS[number] if number < len(_NUMBER_WORDS) else f"{number:,}"


def series(names: Sequence[str], last: str = "and", *, most: int | None = None) -> str:
    """Return names as a list in words, with a word before the last; of more than `most`, the number of the others.

    >>> series(["A"]), series(["A", "B", "C"]), series([".png", ".svg"], "or")
    ('A', 'A, B and C', '.png or .svg')
    >>> series("ABCD", most=3), series("ABCDE", most=3)
    ('A, B, C and D', 'A, B, C and 2 more')
    """
    if most is not None and len(names) > most + 1:  # "1 more" is no shorter than the name
        names = [*names[:most], f"{len(names) - most:,} more"]
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
_RUN = re.compile(rf"{_LETTER}+(?:[ \u00a0'\u2019\u0300-\u036f0-9-]+{_LETTER}+)*")
_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
_CONTROL = (*range(9), *range(11, 32), *range(127, 160), 0x2028, 0x2029, *range(0xD800, 0xE000))
_REPLACED = {**dict.fromkeys(_TURNING), **dict.fromkeys(_CONTROL, "\N{REPLACEMENT CHARACTER}")}
_ESCAPED = {code: f"\\u{code:04x}" for code in (*_TURNING, *_CONTROL)}


def isolated(text: str) -> str:
    """Return `text` safe to display: right-to-left names are isolated and control characters replaced.

    A name from a file may contain escape sequences that a terminal executes, or marks that reverse the direction of
    writing. Without isolation a name in Arabic or Hebrew reorders the text around it, so that "X called Y" reads as
    "Y called X". Unicode's isolates confine a direction (Unicode Standard Annex 9, section 2.4.2). Direction controls
    in the text are dropped; line ends and tabs are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    return _RUN.sub(lambda run: f"{FIRST_STRONG_ISOLATE}{run[0]}{POP_ISOLATE}", text.translate(_REPLACED))


def unisolated(shown: str) -> str:
    """Undo the isolation in text that was copied from the output of `isolated`."""
    return shown.replace(FIRST_STRONG_ISOLATE, "").replace(POP_ISOLATE, "")


# Characters that most fonts draw alike, a selection from Unicode Technical Standard 39 (confusables).
_TWINS = str.maketrans(
    "аеорсухіјѕһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХІЈЅαινορυ\u2800\u2010\u2011\u2012\u2013\u2212",
    "aeopcyxijshdqwABEZHIKMNOPTYXABEKMHOPCTYXIJSaivopu -----",
)


def confusable_key(text: str) -> str:
    """Return a key that is equal for texts which most fonts draw alike, or which differ in capitals only.

    >>> confusable_key("cancer\u200b ") == confusable_key("C\u0430ncer")
    True
    """
    drawn = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cf"))
    return " ".join(unicodedata.normalize("NFKC", drawn).translate(_TWINS).casefold().split())


def capitalised(text: str) -> str:
    """Return `text` with its first letter capitalised and the rest unchanged."""
    return text[:1].upper() + text[1:]


def html_text(text: str) -> str:
    """Return `text` for an HTML page, isolated and escaped."""
    return html.escape(isolated(text))


def escaped_json(text: str) -> str:
    r"""Return equivalent JSON with control and direction characters escaped.

    >>> escaped_json('["\u202egpj"]')
    '["\\u202egpj"]'
    """
    return text.translate(_ESCAPED)


_MOST_CLASSES = 12
_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right; white-space:pre-line"'


def table_html(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return an HTML table with a title above and notes below it, without a script or style sheet of its own.

    The first column names the rows. Line feeds in cells are kept, and empty notes are omitted.
    """
    head = "".join(
        f"<th {_LEFT if index == 0 else _RIGHT}>{html_text(name)}</th>" for index, name in enumerate(columns)
    )
    body = "".join(
        f"<tr><th {_LEFT}>{html_text(row[0])}</th>"
        + "".join(f"<td {_RIGHT}>{html_text(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    below = "".join(f"<div>{html_text(note)}</div>" for note in notes if note)
    return (
        f"<div><b>{html_text(title)}</b><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def costs_html(
    title: str, classes: Sequence[str], costs: NDArray[Any], intervals: NDArray[Any] | None, notes: Sequence[str]
) -> str:
    """Return an HTML table of a cost matrix, shape (k, k), with its 90 % intervals (k, k, 2), if any."""
    cells = [["\n".join(filter(None, cell)) for cell in row] for row in cost_cells(costs, intervals)]
    return _matrix_html(title, classes, cells, notes)


def confusion_html(classes: Sequence[str], matrix: NDArray[Any]) -> str:
    """Return an HTML table of a confusion matrix, shape (k, k), or of a difference of two; see `confusion_cells`."""
    return _matrix_html("Confusion matrix", classes, confusion_cells(matrix), ())


def _matrix_html(title: str, classes: Sequence[str], cells: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    shown = classes[:_MOST_CLASSES]
    rows = [[name, *row[:_MOST_CLASSES]] for name, row in zip(shown, cells, strict=False)]
    left = f"The first {_MOST_CLASSES} of {len(classes)} classes are shown." if len(classes) > _MOST_CLASSES else ""
    heads = ["the truth is \N{DOWNWARDS ARROW}, the model says \N{RIGHTWARDS ARROW}", *shown]
    return table_html(title, heads, rows, [*notes, left])
