"""Running an experiment: its parts are kept until it is done, then its record and its plot are written.

The parts of an unfinished run lie in ``NAME.parts.jsonl``; whoever runs the experiment again with the same options goes
on from there, and the record is the same, byte for byte, as that of a run that was never interrupted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import elicit_app
from elicit_app.experiments.reproduce.shape import Experiment, Findings, Options, Panel, Part, Row
from elicit_app.problem import Problem
from metrics.errors import InputError
from metrics.files import json_text, strict_json, write_atomically

FORMAT = "elicit-reproduced"
TIMED = "see the plot"


def reproduce(
    experiment: Experiment,
    options: Options,
    folder: Path,
    *,
    jobs: int = 1,
    keep_parts: bool = False,
    begun: Callable[[int, int], object] = lambda done, total: None,
) -> dict[str, Any]:
    """Compute an experiment, and write its record ``NAME.json`` and its plot ``NAME.png``.

    Parameters
    ----------
    experiment : Experiment
        What to compute.
    options : Options
        How.
    folder : Path
        Where to write; it is made where it is missing.
    jobs : int
        Parts computed at once; the record does not depend on it.
    keep_parts : bool
        Leave the parts on disk, so that a longer run of several experiments can go on; see `discard_parts`.
    begun : callable
        Told, after every part, how many of how many are done.

    Returns
    -------
    dict
        The record.

    Raises
    ------
    Problem
        The folder cannot be written, or data are missing.
    """
    from elicit_app.experiments.reproduce.drawing import draw

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{folder}: the folder cannot be made: {error.strerror}; name another one with --out.") from error
    kept = _Kept(_parts_of(experiment, folder), experiment, options)
    parts = experiment.parts(options)
    missing = [part for part in parts if part.key not in kept.results]
    begun(len(parts) - len(missing), len(parts))
    for part, result in _computed(missing, jobs):
        kept.add(part.key, result)
        begun(len(kept.results), len(parts))
    results = {part.key: kept.results[part.key] for part in parts}
    findings = experiment.report(options, results)
    if experiment.times:
        _write(folder / f"{experiment.name}.times.json", json_text({"format": f"{FORMAT}-times", "times": results}))
    record = record_of(experiment, options, findings)
    _write(folder / f"{experiment.name}.json", json_text(record))
    draw(experiment.title, findings.panels, folder / f"{experiment.name}.png")
    if not keep_parts:
        discard_parts([experiment], folder)
    return record


def discard_parts(experiments: Sequence[Experiment], folder: Path) -> None:
    """Remove the parts of experiments from a folder: their records are written."""
    for experiment in experiments:
        _parts_of(experiment, folder).unlink(missing_ok=True)


def _parts_of(experiment: Experiment, folder: Path) -> Path:
    return folder / f"{experiment.name}.parts.jsonl"


def _computed(parts: Sequence[Part], jobs: int) -> Iterator[tuple[Part, Any]]:
    if jobs == 1 or len(parts) < 2:
        for part in parts:
            yield part, part.compute(*part.arguments)
        return
    from joblib import Parallel, delayed

    results = Parallel(n_jobs=jobs, return_as="generator")(delayed(part.compute)(*part.arguments) for part in parts)
    yield from zip(parts, results, strict=True)


def record_of(experiment: Experiment, options: Options, findings: Findings) -> dict[str, Any]:
    """Return the record; times that a run measured are left out of it, as they differ from run to run."""
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
    """Return a record that was written before.

    Raises
    ------
    Problem
        The file is none.
    """
    try:
        record = strict_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise Problem(f"{path}: not a record of a reproduced experiment ({error}); run the experiment again.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise Problem(f"{path}: not a record of a reproduced experiment; run the experiment again.")
    return record


class _Kept:
    """Results of parts on disk, one a line below a line that says whose they are.

    Lines are synced as they are written. What another version or other options left behind is begun anew, and a line
    that a kill cut off is left out.
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
        try:
            texts = self._path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError):
            return []
        lines = []
        for text in texts[:-1]:  # what stands after the last line feed was cut off
            try:
                lines.append(json.loads(text))
            except ValueError:
                break
        return lines

    def add(self, key: str, result: Any) -> None:
        """Keep a result; it is taken as it will be read again."""
        if not self._begun:
            _write(self._path, "".join(_line(line) for line in (self._whose, *self._parts())))
            self._begun = True
        line = _line({"key": key, "result": result})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.results[key] = json.loads(line)["result"]


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, allow_nan=False) + "\n"


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text)
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {error.strerror}; name another folder with --out.") from error
