"""The words of a record: a table for the terminal, and the page of the documentation that all records make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elicit_app.experiments.reproduce.registry import experiments
from elicit_app.experiments.reproduce.running import read_record
from elicit_app.experiments.reproduce.shape import NOT_PUBLISHED

HEADINGS = ("quantity", "published", "ours", "difference", "cause")
_MORE = 2  # digits that are shown beyond the printed ones
_MOST_NUMBERS = 6

_INTRODUCTION = """# Published and reproduced

Every published number that can be computed anew, beside ours, with the difference and what it comes from. The page is
made by

    elicit reproduce all --out docs/method/reproduced --page docs/method/reproduced.md

and one experiment by `elicit reproduce NAME`; `elicit reproduce --list` names them. A difference is ours minus
published, of several numbers the one of largest size. “Not published” stands where a source prints no number, or none
that is at hand.

What the numbers below show, in short:

- Three of the four rows of table 2 cannot be had from the law as the paper states it; on laws that tell every ratio
  all four come out.
- The stated eta do not sum to one over the classes; they are normalised, which changes no decision between two classes.
- The cross-entropies of table I are sums of base-ten logarithms, not means of natural ones.
- Cross-entropy is the limit of the Meta Pattern Concern Score on rows that are right; on wrong rows the limit is
  -ln(1 - p_top).
- The 50.78 % of the case study is 50.80 %: 2605 of 5128.
- Figure 3 hangs on what the paper leaves open (the split, the strength of the regularisation, which class is the first,
  the law of the metrics): the shares on Vehicle move by more than the difference between its curves.
- The gain that the case study claims for a rate of learning that follows the score depends on the rate it begins with:
  the score falls from a high one, while the destructive errors do not.
"""


def cells(row: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    """Return the texts of a record's row, under `HEADINGS`."""
    digits = int(row["digits"])
    published = NOT_PUBLISHED if row["published"] is None else shown(row["published"], digits)
    ours = "not run" if row["ours"] is None else shown(row["ours"], digits + (0 if digits in (0, 1) else _MORE))
    apart = "" if row["difference"] is None else _apart(float(row["difference"]), digits + (_MORE if digits else 0))
    return str(row["quantity"]), published, ours, apart, str(row["cause"])


def _apart(difference: float, digits: int) -> str:
    return "0" if abs(difference) < 0.5 * 10.0**-digits else f"{difference:+,.{digits}f}"


def shown(value: Any, digits: int) -> str:
    """Return a value as it is read: numbers with so many decimals, tiny ones in powers of ten."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        texts = [shown(one, digits) for one in value[:_MOST_NUMBERS]]
        return ", ".join(texts) + (f" and {len(value) - _MOST_NUMBERS} more" if len(value) > _MOST_NUMBERS else "")
    number = float(value)
    if number and abs(number) < 0.5 * 10.0**-digits:
        return f"{number:.1e}"
    return f"{number:,.{digits}f}"


def page_text(folder: Path, page: Path) -> str:
    """Return the Markdown of all records in a folder; plots are linked as seen from the page."""
    text = [_INTRODUCTION]
    for name, experiment in experiments().items():
        path = folder / f"{name}.json"
        text.append(f"\n## {experiment.title} (`{name}`)\n\n{experiment.source}.\n")
        if not path.exists():
            text.append(f"\nNot run here: `elicit reproduce {name}` computes it where its data can be had.\n")
            continue
        record = read_record(path)
        text.append(_table(record))
        text.extend(f"\n{note}\n" for note in record["notes"])
        plot = folder / f"{name}.png"
        if plot.exists():
            target = Path(_relative(plot, page.parent)).as_posix()
            text.append(f"\n![{experiment.title}]({target})\n")
    return "".join(text)


def _relative(path: Path, start: Path) -> str:
    import os

    return os.path.relpath(path, start)


def _table(record: Mapping[str, Any]) -> str:
    lines = ["", "| " + " | ".join(HEADINGS) + " |", "|---|" + "---:|" * 3 + "---|"]
    lines += ["| " + " | ".join(one.replace("|", "\\|") for one in cells(row)) + " |" for row in record["rows"]]
    return "\n".join(lines) + "\n"
