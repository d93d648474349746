"""Sweeps: many combinations of study, procedure and expert, one row per run; rows are kept, so a sweep can resume.

Results are summarised as one line per combination with standard errors, and plotted as error against questions.
"""

from __future__ import annotations

import itertools
import json
import platform
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy
from pydantic import ConfigDict, ValidationError, validate_call

from elicit_app.experiments.simulated import SimulatedRun, settings_used
from elicit_app.experiments.simulation import Experts, Laboratory, in_processes, split_options
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import setting_of
from elicit_app.registry.entries import read_orders, wrong_option
from elicit_app.study.model import Study
from elicit_app.study.opening import open_study
from elicit_app.study.writing import append_lines, require_folder, whole_lines, write_whole
from metrics.drawing import line_style
from metrics.errors import InputError, as_in_file
from metrics.files import read_regular_file, real_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
Engine = Literal["local", "dask"]
_MARKS = "os^Dv"  # five, so that with four hues they distinguish twenty searches, each of which is one point
_PORTION = 10  # runs that are computed and written together
_MOST_COMBINATIONS = 10_000
_MOST_BYTES = 1 << 20
_stated_experts = validate_call(config=ConfigDict(strict=True))(Experts.stated)


@dataclass(frozen=True)
class Combination:
    """One study with one setting and one kind of expert."""

    study: str  # bundled or synthetic name, study folder or predictions file
    procedure: str  # its registered name
    # options of `elicit simulate`, without dashes and with underscores
    options: tuple[tuple[str, Any], ...]
    runs: int  # number of simulated experts
    judged: bool  # whether agreement and regret are computed too

    def laboratory(self) -> Laboratory:
        """Return the laboratory of its simulated experts.

        Raises WrongOption if options do not exist, or do not fit together. Raises Problem if the study cannot be
        opened.
        """
        study = _opened(self.study)
        about_asking, about_experts = split_options(dict(self.options))
        try:
            experts = _stated_experts(**about_experts)
        except ValidationError as error:
            raise wrong_option(error, str(error.errors()[0]["loc"][0])) from error
        if "never_worse" in about_asking:
            stated = about_asking["never_worse"]
            texts = stated if isinstance(stated, tuple) else (stated,)
            if not all(isinstance(text, str) for text in texts):
                raise WrongOption("`never_worse`: it must be a text, or a list of texts.")
            about_asking["never_worse"] = read_orders(texts, study.classes)
        setting = setting_of(self.procedure, **about_asking)
        return Laboratory(study, setting, experts)

    def __str__(self) -> str:
        """Return the combination as one line."""
        values = {name: as_in_file(it) if isinstance(it, bool) else it for name, it in self.as_dict().items()}
        return ", ".join(f"{name} = {value}" for name, value in values.items())

    def as_dict(self) -> dict[str, Any]:
        """Return what identifies it among others, by name."""
        return {"study": self.study, "procedure": self.procedure, **dict(self.options)}


@dataclass(frozen=True)
class Sweep:
    """A sweep: combinations in order, and the key of each."""

    combinations: tuple[Combination, ...]  # in the order of the specification
    keys: tuple[str, ...]  # a digest of all settings, versions and data of each

    @property
    def n_runs(self) -> int:
        """Return the total number of runs."""
        return sum(one.runs for one in self.combinations)


def read_sweep(path: Path) -> Sweep:
    """Read a specification in TOML.

    Keys are those of `elicit simulate`, with underscores. A list stands for one combination per item; a list in a list
    is one value. `runs` (default 1) is the number of simulated experts of every combination; ``judge = false`` omits
    agreement and regret. Tables ``[[sweep]]`` share the keys above them. Raises Problem if the file cannot be read or
    states no sweep; the message names the key and what was expected.
    """
    try:
        document = tomllib.loads(read_regular_file(path, _MOST_BYTES).decode())
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror or error}): name a specification in TOML.") from error
    except RecursionError as error:
        raise Problem(f"{path} is not valid TOML: lists are nested too deeply.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, InputError) as error:
        raise Problem(f"{path} is not valid TOML: {error}.") from error
    tables = document.pop("sweep", [{}])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise Problem(f"{path}: sweep must be tables, each headed [[sweep]].")
    combinations = [one for table in tables for one in _combinations(path, {**document, **table})]
    if len(combinations) > _MOST_COMBINATIONS:
        raise Problem(f"{path} states {len(combinations):,} combinations; at most {_MOST_COMBINATIONS:,} are run.")
    keys = []
    for one in combinations:
        try:
            laboratory = one.laboratory()
            laboratory.truth(np.random.default_rng(0))
        except WrongOption as problem:
            raise Problem(f"{path}: {problem.sentence} (in {one})") from problem
        keys.append(_key(one, laboratory))
    if len(set(keys)) < len(keys):
        twice = next(one for index, one in enumerate(combinations) if keys[index] in keys[:index])
        raise Problem(f"{path} states one combination twice: {twice}. Remove one of them.")
    return Sweep(tuple(combinations), tuple(keys))


def _combinations(path: Path, table: Mapping[str, Any]) -> Iterator[Combination]:
    rest = dict(table)
    runs, judged = rest.pop("runs", 1), rest.pop("judge", True)
    if not isinstance(runs, int) or isinstance(runs, bool) or runs < 1:
        raise Problem(f"{path}: runs is {as_in_file(runs)}; a whole number of at least 1 was expected.")
    if not isinstance(judged, bool):
        raise Problem(f"{path}: judge is {as_in_file(judged)}; true or false was expected.")
    if "study" not in rest:
        raise Problem(f'{path} names no study: write, say, study = "paper-3".')
    for name, value in rest.items():
        if isinstance(value, dict) or value == []:
            raise Problem(f"{path}: {name} must be a value or a list of values.")
    dimensions = [value if isinstance(value, list) else [value] for value in rest.values()]
    for values in itertools.product(*dimensions):
        chosen = {
            name: tuple(value) if isinstance(value, list) else value for name, value in zip(rest, values, strict=True)
        }
        study, procedure = chosen.pop("study"), chosen.pop("procedure", "bayes")
        if not isinstance(study, str) or not isinstance(procedure, str):
            raise Problem(f"{path}: study and procedure must be texts.")
        if Path(study).exists():
            study = str(real_path(study))
        yield Combination(study, procedure, tuple(chosen.items()), runs, judged)


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}


def _key(one: Combination, laboratory: Laboratory) -> str:
    """Return a digest of everything that a run depends on, and of which measures are computed."""
    used = settings_used(laboratory.study, laboratory.setting, laboratory.experts.as_json())
    document = [used, laboratory.experts.weights, laboratory.study.digest, _versions(), one.judged]
    return sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()[:16]


@lru_cache(maxsize=4)
def _opened(ref: str) -> Study:
    return open_study(ref)  # read once for consecutive combinations


@lru_cache(maxsize=4)
def _laboratory(one: Combination) -> Laboratory:
    return one.laboratory()


def run_portion(one: Combination, numbers: Sequence[int]) -> list[Row] | Problem:
    """Simulate some runs of a combination, or return why that is impossible; this is the work of a worker."""
    try:
        laboratory = _laboratory(one)
        shared = _shared(laboratory)
        return [{"run": number, **shared, **_measured(laboratory.run(number, judged=one.judged))} for number in numbers]
    except Problem as problem:
        return Problem(f"{problem.sentence} (in {one})")  # not raised, because trying again does not help


def _shared(laboratory: Laboratory) -> Row:
    """Return every setting and version of a combination; values that a column cannot hold become JSON texts."""
    used = settings_used(laboratory.study, laboratory.setting, laboratory.experts.as_json())
    used["most_questions"] = used.pop("questions")  # the number of questions asked is another column
    texts = {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in used.items()}
    return {**texts, "study_digest": laboratory.study.digest, **_versions()}


def _measured(run: SimulatedRun) -> Row:
    found = run.as_json()
    linear = found.pop("linear")
    del found["asked"]
    asked = run.kinds
    return {
        **found,
        "linear": "linear" if linear is True else str(linear),
        "asked_choice": asked["choice"],
        "asked_equal": asked["equal"],
    }


def unfinished(out: Path) -> Path:
    """Return the file in which the runs of a sweep are kept until all are done."""
    return out.with_name(f"{out.name}.unfinished")


class Runs:
    """The finished runs of a sweep, in a file beside `out`, to which all of them are written at the end.

    Raises Problem if the file holds runs of another sweep, or cannot be read.
    """

    def __init__(self, sweep: Sweep, out: Path) -> None:
        self.sweep, self.out = sweep, out
        self._keys = dict(zip(sweep.combinations, sweep.keys, strict=True))
        self.path = unfinished(out)
        self.done: dict[tuple[str, int], Row] = {}
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        for number, line in enumerate(whole_lines(self.path), 1):
            try:
                entry = json.loads(line)
                self.done[entry["combination"], entry["row"]["run"]] = entry["row"]
            except (ValueError, KeyError, TypeError) as error:
                raise Problem(f"{self.path}, line {number} is damaged: delete the file to start over.") from error
        if not {key for key, _ in self.done} <= set(self.sweep.keys):
            raise Problem(
                f"{self.path} holds runs of another specification, study or version: finish that one, delete the "
                "file, or write to another one."
            )

    def missing(self) -> list[tuple[Combination, tuple[int, ...]]]:
        """Return the unfinished runs, in portions."""
        portions = []
        for one, key in self._keys.items():
            numbers = [number for number in range(one.runs) if (key, number) not in self.done]
            portions += [(one, tuple(numbers[at : at + _PORTION])) for at in range(0, len(numbers), _PORTION)]
        return portions

    def add(self, one: Combination, rows: Sequence[Row]) -> None:
        """Keep runs; they are on the disk when this returns."""
        key = self._keys[one]
        append_lines(self.path, ({"combination": key, "row": row} for row in rows))
        self.done.update({(key, row["run"]): row for row in rows})

    def rows(self) -> list[Row]:
        """Return all rows in the order of the specification, whatever was finished first."""
        return [
            {"combination": index, **self.done[key, number]}
            for index, (one, key) in enumerate(self._keys.items())
            for number in range(one.runs)
        ]

    def finish(self) -> list[Row]:
        """Write the Parquet file, and remove the unfinished one."""
        import io

        import polars as pl

        rows, content = self.rows(), io.BytesIO()
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(content)
        write_whole(self.out, content.getvalue())
        self.path.unlink(missing_ok=True)
        return rows


def run_sweep(
    sweep: Sweep,
    out: Path,
    *,
    jobs: int = 1,
    engine: Engine = "local",
    scheduler: str | None = None,
    advance: Callable[[int], object] = lambda done: None,
) -> list[Row]:
    """Run the unfinished part of a sweep, write all of it, and return its rows, one per run, in the order of the sweep.

    Until all runs are done they are kept in a file named as the Parquet file `out` with ``.unfinished`` appended, from
    which an interrupted sweep resumes. The rows do not depend on `jobs` (processes on this machine) or on the `engine`
    ("local", or "dask", with workers of its own unless there is a `scheduler`), except for the seconds. `advance` is
    called with the number of runs just finished, first with those of an earlier start. Raises Problem if `out` cannot
    be written, a study cannot provide what is asked for, or the workers are lost.
    """
    require_folder(out)
    runs = Runs(sweep, out)
    advance(len(runs.done))
    missing = runs.missing()
    for index, rows in _finished(missing, jobs, engine, scheduler):
        if isinstance(rows, Problem):
            raise rows
        runs.add(missing[index][0], rows)
        advance(len(rows))
    return runs.finish()


def _finished(
    portions: Sequence[tuple[Combination, tuple[int, ...]]], jobs: int, engine: Engine, scheduler: str | None
) -> Iterator[tuple[int, list[Row] | Problem]]:
    """Yield the index of each portion and its rows, as they are done."""
    if engine == "dask":
        from elicit_app.study.cluster import cluster

        with cluster(scheduler) as finished:
            yield from finished(run_portion, portions)
    else:
        tasks = [(index, *portion) for index, portion in enumerate(portions)]
        yield from in_processes(_placed, tasks, jobs, ordered=False)


def _placed(index: int, one: Combination, numbers: Sequence[int]) -> tuple[int, list[Row] | Problem]:
    return index, run_portion(one, numbers)


MEASURES = {
    "questions": "questions",
    "error_l2": "error (L2)",
    "agreement": "agreement",
    "range_factor": "range factor",
    "covered": "covered",
}
"""Columns reported for every combination, and their headings."""
_QUESTIONS = "questions"


@dataclass(frozen=True)
class CombinationSummary:
    """Summary of the runs of one combination."""

    label: str  # what distinguishes the combination from the others of the sweep; everything if it is the only one
    line: str  # the same without the number of questions: the name of a line in the plot
    runs: int
    # mean over the runs and its standard error, by column; a column without values is omitted
    means: dict[str, float]
    errors: dict[str, float]


def summarise(sweep: Sweep, rows: Sequence[Row]) -> list[CombinationSummary]:
    """Return the summary of every combination, in the order of the specification."""
    stated = [one.as_dict() for one in sweep.combinations]
    names = list(dict.fromkeys(name for one in stated for name in one))
    varied = [name for name in names if len({one.get(name) for one in stated}) > 1] or names[:2]
    by_place = itertools.groupby(rows, key=lambda row: row["combination"])
    return [_found(stated[index], varied, list(of_one)) for index, of_one in by_place]


def _found(stated: dict[str, object], varied: Sequence[str], rows: Sequence[Row]) -> CombinationSummary:
    means, errors = {}, {}
    for name in MEASURES:
        values = np.array([row[name] for row in rows if row[name] is not None], dtype=np.float64)
        if len(values):
            means[name] = float(values.mean())
            errors[name] = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return CombinationSummary(
        _label(stated, varied), _label(stated, [x for x in varied if x != _QUESTIONS]), len(rows), means, errors
    )


def _label(stated: dict[str, object], names: Sequence[str]) -> str:
    bare = ("study", "procedure")
    return ", ".join(str(stated[x]) if x in bare else f"{x} {stated[x]}" for x in names if x in stated)


def plot_summaries(found: Sequence[CombinationSummary]) -> Figure:
    """Plot error, agreement and, with a belief, range factor against questions; bars span two standard errors."""
    from matplotlib.figure import Figure

    panels = [name for name in ("error_l2", "agreement", "range_factor") if any(name in one.means for one in found)]
    figure = Figure(figsize=(4.2 * len(panels), 4.4), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    lines = list(dict.fromkeys(one.line for one in found))
    for panel, name in zip(axes, panels, strict=True):
        _draw(panel, [one for one in found if name in one.means], name, lines)
    handles, labels = axes[0].get_legend_handles_labels()
    if any(labels):
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def _draw(panel: Axes, found: Sequence[CombinationSummary], name: str, lines: Sequence[str]) -> None:
    for index, line in enumerate(lines):
        points = sorted((one for one in found if one.line == line), key=lambda one: one.means[_QUESTIONS])
        if not points:
            continue
        panel.errorbar(
            [one.means[_QUESTIONS] for one in points],
            [one.means[name] for one in points],
            yerr=np.nan_to_num([one.errors[name] for one in points]),
            label=line,
            **line_style(index),
            marker=_MARKS[index % len(_MARKS)],
            ms=4,
            capsize=2,
        )
    panel.set(xlabel="questions asked", ylabel=MEASURES[name])
    panel.set_xlim(left=0)
    if name == "error_l2":
        panel.set_ylim(bottom=0)
    panel.spines[["top", "right"]].set_visible(False)
