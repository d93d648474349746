"""All experiments by name: run them, keep records and plots, and show them as a table and as a documentation page.

The parts of an unfinished run are in ``NAME.parts.jsonl``. Running the experiment again with the same options resumes
from there, and the record is byte for byte that of an uninterrupted run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import elicit_app
from elicit_app.experiments.reproduce import concern, concern_case, figure3, other_papers, tables, theory, worked
from elicit_app.experiments.reproduce.shape import NOT_PUBLISHED, Experiment, Findings, Options, Panel, Part, Row, draw
from elicit_app.experiments.simulation import in_processes
from elicit_app.problem import Problem, WrongOption
from elicit_app.study.writing import append_lines, json_lines, whole_lines, write_whole
from metrics.errors import InputError
from metrics.files import json_text, strict_json

_MODULES = (tables, figure3, theory, other_papers, concern, concern_case, worked)


@cache
def experiments() -> dict[str, Experiment]:
    """Return every experiment by its name, in the order of the sources."""
    return {one.name: one for module in _MODULES for one in module.EXPERIMENTS}


def experiment_named(name: str) -> Experiment:
    """Return an experiment. Raises WrongOption if there is no experiment of that name."""
    if name not in experiments():
        raise WrongOption(f"There is no experiment {name}. Choose one of {', '.join(experiments())} or all.")
    return experiments()[name]


FORMAT = "elicit-reproduced"
TIMED = "see the plot"


def reproduce(
    experiment: Experiment,
    options: Options,
    folder: Path,
    *,
    jobs: int = 1,
    begun: Callable[[int, int], object] = lambda done, total: None,
) -> dict[str, Any]:
    """Compute an experiment, write its record ``NAME.json`` and its plot ``NAME.png``, and return the record.

    `jobs` parts are computed at once, without effect on the record; `begun` is called after every part with the numbers
    of finished and of all parts. The parts stay on disk until `discard_parts`, so that several experiments can resume
    as one. Raises Problem if the folder cannot be created or written, or data are missing.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{folder}: the folder cannot be made: {error.strerror}; name another one.") from error
    kept = _Kept(_parts_of(experiment, folder), experiment, options)
    parts = experiment.parts(options)
    missing = [part for part in parts if part.key not in kept.results]
    begun(len(parts) - len(missing), len(parts))
    results = in_processes(_computed, [(part,) for part in missing], jobs)
    for part, result in zip(missing, results, strict=True):
        kept.add(part.key, result)
        begun(len(kept.results), len(parts))
    found = {part.key: kept.results[part.key] for part in parts}
    findings = Findings.of(experiment.report(found))
    if experiment.times:
        write_whole(folder / f"{experiment.name}.times.json", json_text({"format": f"{FORMAT}-times", "times": found}))
    record = record_of(experiment, options, findings)
    write_whole(folder / f"{experiment.name}.json", json_text(record))
    draw(experiment.title, findings.panels, folder / f"{experiment.name}.png")
    return record


def discard_parts(experiments: Sequence[Experiment], folder: Path) -> None:
    """Remove the parts of experiments whose records are written."""
    for experiment in experiments:
        _parts_of(experiment, folder).unlink(missing_ok=True)


def _parts_of(experiment: Experiment, folder: Path) -> Path:
    return folder / f"{experiment.name}.parts.jsonl"


def _computed(part: Part) -> Any:
    return part.compute(*part.arguments)


def record_of(experiment: Experiment, options: Options, findings: Findings) -> dict[str, Any]:
    """Return the record without measured times, which differ from run to run."""
    rows = [_untimed(row) if experiment.times else row for row in findings.rows]
    return {
        "format": FORMAT,
        "name": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "version": elicit_app.__version__,
        "quick": options.quick,
        "seed": options.seed,
        "rows": [row.as_json() for row in rows],
        "notes": list(findings.notes),
        "panels": [] if experiment.times else [_panel(panel) for panel in findings.panels],
    }


def _untimed(row: Row) -> Row:
    return Row(row.quantity, row.published, TIMED, row.cause, row.digits)


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "xlabel": panel.xlabel,
        "ylabel": panel.ylabel,
        "curves": [
            {"label": curve.label, "x": _rounded(curve.x), "y": _rounded(curve.y)}
            | ({} if curve.spread is None else {"spread": _rounded(curve.spread)})
            for curve in panel.curves
        ],
    }


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def read_record(path: Path) -> dict[str, Any]:
    """Return a record from an earlier run. Raises Problem if the file is not a record."""
    try:
        record = strict_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise Problem(f"{path}: not a record of a reproduced experiment ({error}); run the experiment again.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise Problem(f"{path}: not a record of a reproduced experiment; run the experiment again.")
    return record


class _Kept:
    """Results of parts on disk, one per line below a line that identifies the run.

    Lines are synced as they are written. Results of another version or of other options are discarded, and an
    incomplete last line is ignored.
    """

    def __init__(self, path: Path, experiment: Experiment, options: Options) -> None:
        self._path = path
        self._whose = {
            "name": experiment.name,
            "version": elicit_app.__version__,
            "quick": options.quick,
            "seed": options.seed,
        }
        self.results: dict[str, Any] = {}
        self._begun = False
        lines = self._lines()
        if lines and lines[0] == self._whose:
            self.results = {line["key"]: line["result"] for line in lines[1:]}

    def _parts(self) -> Iterator[Mapping[str, Any]]:
        return ({"key": key, "result": result} for key, result in self.results.items())

    def _lines(self) -> list[Any]:
        lines: list[Any] = []
        with suppress(OSError, ValueError):  # parts are computed again from a damaged line on
            lines.extend(map(json.loads, whole_lines(self._path)))
        return lines

    def add(self, key: str, result: Any) -> None:
        """Keep a result, in the form in which it will be read again."""
        if not self._begun:
            write_whole(self._path, json_lines((self._whose, *self._parts())))
            self._begun = True
        append_lines(self._path, [{"key": key, "result": result}])
        self.results[key] = json.loads(json.dumps(result))


HEADINGS = ("quantity", "published", "ours", "difference", "cause")
_MORE = 2  # digits shown beyond the printed ones
_MOST_NUMBERS = 6

_INTRODUCTION = """# Published and reproduced

This page sets every published number that can be recomputed beside the value that elicit computes, and explains each
difference. To recreate the page, run

    elicit reproduce all --out docs/method/reproduced --page docs/method/reproduced.md

`elicit reproduce NAME` runs one experiment, and `elicit reproduce --list` lists them all. The difference is ours minus
published. In a row with several numbers it is the one that is largest in absolute value. “Not published” means that the
source prints no number, or that the number was not available.

The main findings:

- Three of the four rows of table 2 cannot be reproduced under the law that the paper states. Under laws that identify
  every ratio, all four are reproduced.
- The stated eta do not sum to one over the classes. They are normalised here, which changes no decision between two
  classes.
- The cross-entropies of table I are sums of base-10 logarithms, not means of natural logarithms.
- Cross-entropy is the limit of the Meta Pattern Concern Score only on correctly predicted rows. On wrong rows the limit
  is -ln(1 - p_top).
- The published grid search for linear-fractional metrics does not find the numerator of its own example. The pencil of
  the two touching hyperplanes gives it in closed form.
- The 50.78 % of the case study should be 50.80 % (2605 of 5128).
- Figure 3 depends on choices that the paper does not state: the split, the strength of the regularisation, the first
  class and the law of the metrics. On Vehicle, they change the shares by more than the difference between its curves.
- The case study claims a gain from a learning rate that follows the score. That gain depends on the initial rate: from
  a high initial rate the score falls, but the destructive errors do not.
"""


def cells(row: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    """Return the texts of a record's row, in the order of `HEADINGS`."""
    digits = int(row["digits"])
    published = NOT_PUBLISHED if row["published"] is None else shown(row["published"], digits)
    ours = "not run" if row["ours"] is None else shown(row["ours"], digits + (0 if digits in (0, 1) else _MORE))
    apart = "" if row["difference"] is None else _apart(float(row["difference"]), digits + (_MORE if digits else 0))
    return str(row["quantity"]), published, ours, apart, str(row["cause"])


def _apart(difference: float, digits: int) -> str:
    return "0" if abs(difference) < 0.5 * 10.0**-digits else f"{difference:+,.{digits}f}"


def shown(value: Any, digits: int) -> str:
    """Return a value as text: numbers with a fixed number of decimals, tiny ones in scientific notation."""
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
    """Return the Markdown of all records in a folder; links to plots are relative to the page."""
    text = [_INTRODUCTION]
    for name, experiment in experiments().items():
        path = folder / f"{name}.json"
        text.append(f"\n## {experiment.title} (`{name}`)\n\n{experiment.source}.\n")
        if not path.exists():
            text.append(f"\nNot run here: `elicit reproduce {name}` computes it once its data are available.\n")
            continue
        record = read_record(path)
        text.append(_table(record))
        text.extend(f"\n{note}\n" for note in record["notes"])
        plot = folder / f"{name}.png"
        if plot.exists():
            target = Path(os.path.relpath(plot, page.parent)).as_posix()
            text.append(f"\n![{experiment.title}]({target})\n")
    return "".join(text)


def _table(record: Mapping[str, Any]) -> str:
    lines = ["", "| " + " | ".join(HEADINGS) + " |", "|---|" + "---:|" * 3 + "---|"]
    lines += ["| " + " | ".join(one.replace("|", "\\|") for one in cells(row)) + " |" for row in record["rows"]]
    return "\n".join(lines) + "\n"
