"""Options for predictions files with columns of other names."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from elicit_app.cli import output
from elicit_app.problem import Problem, listed

if TYPE_CHECKING:
    from elicit_app.study.first_rows import FirstRows
    from elicit_app.study.model import ColumnMap

TruthOption = Annotated[
    str | None, typer.Option("--truth", metavar="COLUMN", help="The column of true labels, if not y_true.")
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="CLASS=COLUMN,...",
        help="The column of each class, if not proba_<class>; of two classes one is enough. May be given once for each "
        "model in a file.",
    ),
]
PredictedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--predicted",
        metavar="COLUMN",
        help="A column of predicted labels, as a human reader gives them, judged beside the model of its file; may be "
        "given several times. Files without it are read like the others.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="COLUMN",
        help="The column that says which model or reader gave a row, where a file has a row for each and every case.",
    ),
]
SkipUnreadOption = Annotated[
    bool,
    typer.Option(
        "--skip-unread",
        help="Leave out cases that not everybody read: those without a label, or missing in a reader's file.",
    ),
]
LogitsOption = Annotated[bool, typer.Option("--logits", help="The columns hold raw scores; their softmax is taken.")]


class ColumnOptions(NamedTuple):
    """The command-line options about the columns of predictions."""

    truth: str | None = None
    columns: tuple[str, ...] = ()
    predicted: tuple[str, ...] = ()
    logits: bool = False
    skip_unread: bool = False
    model: str | None = None

    def refuse(self, reason: str) -> None:
        """Refuse any of these options."""
        for name, value in self._asdict().items():
            if value:
                raise typer.BadParameter(reason, param_hint=output.flag(name))


def models_in(
    files: Sequence[Path], options: ColumnOptions, here: Collection[str] = (), *, known_classes: bool = False
) -> tuple[list[Path], list[ColumnMap | None]]:
    """Return the file and the column map of each model that the options name; None where columns have the usual names.

    A file holds a model for each group of its columns that is named, and for each column of predicted labels; beside
    these one more if its scores have the usual names and the model is not `here` already. If the classes are known,
    `y_pred` is a usual name too.
    """
    from elicit_app.study.first_rows import read_first_rows
    from elicit_app.study.mapping import column_map

    if options == ColumnOptions():
        return [*files], [require_usual_columns(file, known_classes=known_classes) for file in files]
    looks = [read_first_rows(file) for file in files]
    # if no file has a column, that is the fault to report
    anywhere = {name for first_rows in looks for name in first_rows.columns}
    stated = [_pairs(one) for one in options.columns]
    scores = {column for pairs in stated for _, column in pairs}
    named = scores | ({options.truth} if options.truth else set())
    found: list[tuple[Path, ColumnMap | None]] = []
    for first_rows in looks:
        read = partial(column_map, first_rows, truth=options.truth)
        decided = [name for name in options.predicted if name in first_rows.columns or name not in anywhere]
        own = [pairs for pairs in stated if {column for _, column in pairs} <= {*first_rows.columns}]
        elsewhere = named <= anywhere and not named <= {*first_rows.columns}
        as_usual = (first_rows.fits and elsewhere) or options._replace(predicted=()) == ColumnOptions()
        if first_rows.fits and decided and not stated and first_rows.path.stem not in here:
            found.append((first_rows.path, None))
        elif not decided and as_usual:
            usual = require_usual_columns(first_rows.path, first_rows, known_classes=known_classes)
            found.append((first_rows.path, usual))
        elif not decided or own:
            groups = own or stated[:1] or [()]  # if none of them is here, reading the first says so
            found += [(first_rows.path, read(columns=pairs, logits=options.logits)) for pairs in groups]
        found += [(first_rows.path, read(predicted=name, skip_unread=options.skip_unread)) for name in decided]
    if options.model is not None:
        found = _of_each_model(found, looks, options.model, skip_unread=options.skip_unread)
    return [path for path, _ in found], [one for _, one in found]


def _of_each_model(
    found: Sequence[tuple[Path, ColumnMap | None]], looks: Sequence[FirstRows], column: str, *, skip_unread: bool
) -> list[tuple[Path, ColumnMap | None]]:
    """Return a map for each model that a column of its file names; files without the column stay as they are."""
    from elicit_app.study.first_rows import MOST_MODELS

    of_file = {first_rows.path: first_rows for first_rows in looks}
    if not any(column in first_rows.columns for first_rows in looks):
        raise typer.BadParameter(f"no file has a column “{column}”.", param_hint="--model")
    each: list[tuple[Path, ColumnMap | None]] = []
    for file, one in found:
        first_rows = of_file[file]
        columns = one or first_rows.guess
        if columns is None or column not in first_rows.columns:
            each.append((file, one))
        else:
            columns = replace(columns, skip_unread=skip_unread)
            models = first_rows.of_each_model(columns, column)
            if len(models) > MOST_MODELS:
                said = (
                    f"“{column}” of {file.name} has {len(models):,} different values; models are at most {MOST_MODELS}."
                )
                raise typer.BadParameter(said, param_hint="--model")
            each += [(file, own) for own in models]
    return each


def require_usual_columns(
    file: Path, first_rows: FirstRows | None = None, *, known_classes: bool = False
) -> ColumnMap | None:
    """Return None for a file with the usual names; refuse any other, by its first rows, and propose options."""
    from elicit_app.study.first_rows import has_one_class, has_usual_columns, read_first_rows
    from elicit_app.study.mapping import as_options

    if has_usual_columns(file, known_classes=known_classes):
        return None  # before its rows are read, which takes seconds for fifty classes
    first_rows = first_rows or read_first_rows(file)
    if first_rows.guess is None and has_one_class(first_rows.columns):
        return None  # reading says what is missing
    there = f"{file} has no columns y_true and proba_<class>; it has {listed([*first_rows.columns], 8)}."
    if first_rows.fault:
        raise Problem(f"{there} {first_rows.fault}")
    if first_rows.guess is None:
        raise Problem(f"{there} Say which is which: --truth COLUMN --columns CLASS=COLUMN,...")
    more = f"; {others}" if (others := _of_others(first_rows)) else ""
    raise Problem(f"{there} Say which is which; it seems to be: {as_options(first_rows.guess)}{more}")


def notes_on_others(files: Sequence[Path], options: ColumnOptions) -> list[str]:
    """Return a note on each file with what may be human readers or other models, if the options name none of these."""
    from elicit_app.study.first_rows import has_further_columns, read_first_rows

    notes = []
    for file in () if options.predicted else dict.fromkeys(files):
        try:
            looked_at = read_first_rows(file) if has_further_columns(file) else None
        except Problem:  # of columns that the study does without
            continue
        others = "" if looked_at is None else _of_others(looked_at, stated=bool(options.columns or options.model))
        notes += [f"{file.name}: {others}."] if others else []
    return notes


def _of_others(first_rows: FirstRows, *, stated: bool = False) -> str:
    """Return which options would judge what may be labels of human readers or, unless some are stated, other models."""
    from elicit_app.study.mapping import option_of_model

    models = () if stated else first_rows.likely_models
    if models and first_rows.fits and first_rows.guess is not None:
        models = (first_rows.guess, *models)  # which is left out if others are named
    kinds = (first_rows.likely_readers, "labels of human readers"), (models, "scores of other models")
    told = [(" ".join(map(option_of_model, found)), what) for found, what in kinds if found]
    said = [f"{options} would judge, too, what may be {what}" for options, what in told]
    model, guess = first_rows.model_column, first_rows.guess
    if model is not None and guess is not None and not stated:
        read, cases = first_rows.cases_read(first_rows.of_each_model(guess, model))
        option = f"--model {shlex.quote(model)}{' --skip-unread' if read < cases else ''}"
        names = listed(list(first_rows.values[model]), 3)
        said.append(f"{option} would tell apart {names}, if these are models or readers")
    return "; ".join(said)


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the classes and columns in "CLASS=COLUMN,...", a line of CSV."""
    from elicit_app.study.mapping import parts_of

    parts = [part.partition("=") for part in parts_of(text)]
    if not all(name.strip() and column.strip() for name, _, column in parts):
        message = f"“{text}” must name a column for each class: CLASS=COLUMN, separated by commas."
        raise typer.BadParameter(message, param_hint="--columns")
    return tuple((name.strip(), column.strip()) for name, _, column in parts)
