"""JSON that people can read and that other programs accept: one row of a matrix a line, no NaN, no key twice."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from metrics.errors import InputError

_LONGEST_INTEGER = 400


def json_text(value: Any) -> str:
    """Return JSON with objects and lists of lists indented, and lists of plain values on one line.

    Parameters
    ----------
    value : JSON value
        Dicts, lists, strings, finite numbers, booleans, None.

    Returns
    -------
    str
        Ends in a line feed. Texts keep their letters (no escapes of non-ASCII).

    Raises
    ------
    InputError
        For NaN or infinity, which JSON does not have.
    """
    return _indented(value, "") + "\n"


def _indented(value: Any, margin: str) -> str:
    inner = margin + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{_plain(str(key))}: {_indented(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        rows = all(_is_row(item) for item in value)
        lines = [inner + (_plain(item) if rows else _indented(item, inner)) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{margin}]"
    return _plain(value)


def _is_row(value: Any) -> bool:
    """Tell whether a list fits a line: plain values, or pairs of them such as intervals."""
    if not isinstance(value, list):
        return False
    return all(not isinstance(x, dict | list) or (isinstance(x, list) and len(x) == 2 and _is_row(x)) for x in value)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def strict_json(text: str) -> Any:
    """Parse JSON; what Python's parser lets pass (NaN, a key twice) is refused.

    Parameters
    ----------
    text : str
        The JSON text.

    Returns
    -------
    JSON value
        Dicts, lists, strings, numbers, booleans, None.

    Raises
    ------
    InputError
        With a sentence on what is wrong and where.
    """
    if not text.strip():
        raise InputError("the file is empty, a JSON object was expected")
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_int=_integer, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        why = "ends in the middle; it is cut off" if cut_off else f"is not JSON ({error.msg[0].lower()}{error.msg[1:]})"
        raise InputError(f"the text {why}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError("lists are nested too deeply") from None


def _refuse_constant(constant: str) -> NoReturn:
    raise InputError(f"holds {constant}, which is no number of JSON; every number must be finite")


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise InputError(f"holds a whole number of {len(digits):,} digits; no number here needs that many")
    return int(digits)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        repeated = next(key for i, (key, _) in enumerate(pairs) if any(key == other for other, _ in pairs[:i]))
        raise InputError(f"field {repeated} stands twice; keep one of them")
    return result
