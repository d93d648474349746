"""Creation of studies from predictions files, and changes to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elicit_app.problem import Problem
from elicit_app.study.first_rows import FirstRows, read_first_rows
from elicit_app.study.folder import (
    AMOUNTS_FILE,
    check_study,
    described_alike,
    read_folder,
    rewrite_folder,
    write_folder,
)
from elicit_app.study.guessing import answered_names
from elicit_app.study.identity import of_same_cases
from elicit_app.study.measuring import completed_prevalence
from elicit_app.study.model import ColumnMap, Distribution, Predictions, Study, default_wording, study_digest
from elicit_app.study.packs import pack_bytes, read_amounts_folder
from elicit_app.study.reading import (
    POPULATIONS,
    ReadPredictions,
    look_alike_notes,
    normalised_prevalence,
    open_predictions,
    people_notes,
    population_for,
    read_predictions,
    require_askable,
    several_labels_notes,
    swapped_column_notes,
    yardstick_for,
)
from elicit_app.study.same_cases import in_order_of_first, read_by_all
from elicit_app.study.tables import class_of_column
from elicit_app.study.words import read_words, with_mistakes, with_nouns
from elicit_app.study.writing import new_folder, write_whole
from metrics.elicited.kinds import AnswersFor
from metrics.files import real_path
from metrics.text import capitalised, counted, series


def create_study(
    folder: str | Path,
    files: Sequence[str | Path],
    *,
    name: str | None = None,
    labels: Sequence[str] | None = None,
    population: int | None = None,
    prevalence: Mapping[str, float] | None = None,
    purpose: AnswersFor | None = None,
    columns: ColumnMap | Sequence[ColumnMap | None] | None = None,
) -> Study:
    """Make a study folder from predictions files, one per model, for the same cases; return its study.

    The folder must be new or empty. Models are named after their files, and the title `name` is by default derived from
    that of the folder. `labels` are the classes in display order, or their names if the files number them 0..k-1. For
    `population` see `population_for`. `prevalence` are shares of classes where the models will be used; the other
    classes divide the rest as in the files. `columns` is the meaning of the columns, of all files or one each, if they
    do not have the usual names. Raises Problem if the input is invalid; it lists the faults, and nothing is written.
    """
    folder = Path(folder)
    study = study_of(
        [Path(file) for file in files],
        kind="folder",
        name=real_path(folder).name,
        title=name,
        labels=labels,
        columns=columns,
    )
    if prevalence is not None:
        study = _with_prevalence(study, prevalence)
    shown = population if population is not None else study.population
    return write_folder(folder, replace(study, population=shown, purpose=purpose))


def _with_prevalence(study: Study, shares: Mapping[str, float]) -> Study:
    """Return a study whose classes are as common as stated, with the population and the yardstick that suit that.

    Raises WrongOption if the shares do not sum to 1, and Problem if a class has no share.
    """
    assert study.case_counts is not None
    completed = completed_prevalence(shares, dict(zip(study.classes, study.case_counts.tolist(), strict=True)))
    stated = replace(study, stated_prevalence=normalised_prevalence(completed, study.n_classes))
    return replace(stated, population=population_for(stated.prevalence), yardstick=yardstick_for(stated))


def create_amounts_study(
    folder: str | Path,
    files: Sequence[str | Path],
    *,
    name: str | None = None,
    noun: tuple[str, str] | None = None,
    population: int | None = None,
) -> Study:
    """Make a study folder from files with several labels, or with outcomes in contexts; see `create_study`.

    The study holds only counts: the folder has one file, without any item. See `study_of_amounts` for `noun` and
    `population`. Raises Problem if the input is invalid; it lists the faults, and nothing is written.
    """
    study = amounts_study_of(files, _title(name, real_path(folder).name), noun=noun, population=population)
    with new_folder(Path(folder)) as temporary:
        write_whole(temporary / AMOUNTS_FILE, pack_bytes(study))
    return replace(read_amounts_folder(Path(folder)), notes=study.notes)


def amounts_study_of(
    files: Sequence[str | Path], title: str, *, noun: tuple[str, str] | None = None, population: int | None = None
) -> Study:
    """Read a study of amounts without writing it; see `create_amounts_study`."""
    from elicit_app.study.amounts import read_amounts, study_of_amounts

    paths = [Path(file) for file in files]
    read = read_amounts(paths, distinct_names(paths))
    return study_of_amounts(read, title=title, noun=noun or ("label", "labels"), population=population)


def _title(stated: str | None, name: str) -> str:
    return stated or capitalised(name.replace("-", " ").replace("_", " ").strip()) or "Study"


def study_of(
    files: Sequence[Path],
    *,
    kind: Literal["folder", "file"],
    name: str,
    title: str | None = None,
    labels: Sequence[str] | None = None,
    columns: ColumnMap | Sequence[ColumnMap | None] | None = None,
) -> Study:
    """Return a study with defaults from predictions files; parameters as in `create_study`."""
    if not files:
        raise Problem("A study needs at least one predictions file.")
    column_maps: Sequence[ColumnMap | None] = _maps(files, columns)
    reads = _read_models(files, labels, column_maps)
    files, column_maps, reads = _each_reader_once(files, column_maps, reads)
    classes = reads[0].classes
    names = distinct_names(files, column_maps)
    predictions = of_same_cases(
        [replace(read.predictions, name=called) for read, called in zip(reads, names, strict=True)]
    )
    study = with_defaults(
        classes,
        predictions,
        name=name,
        title=_title(title, name),
        kind=kind,
        description=_description(classes, len(predictions)),
        notes=(
            *dict.fromkeys(note for read in reads for note in read.notes),
            *_label_notes(reads),
            *_people_notes(files, reads),
            *look_alike_notes(classes),
            *several_labels_notes(classes),
            *swapped_column_notes(predictions, classes),
        ),
        columns=_remembered(files, column_maps),
        unread=reads[0].unread,
    )
    if column_maps[0] is not None:
        study = replace(study, wording=default_wording(answered_names(classes, column_maps[0].truth)))
    check_study(study)
    return replace(study, notes=(*study.unread_notes, *study.notes))


def _remembered(files: Sequence[Path], columns: Sequence[ColumnMap | None]) -> ColumnMap | None:
    """Return the map that further files are expected to have: the first that is not of a reader beside a model."""
    pairs = zip(files, columns, strict=True)
    found = (one for file, one in pairs if one is not None and not _stands_beside(file, one, files))
    return next((replace(one, skip_unread=False, only=None) for one in found), None)


def _stands_beside(file: Path, one: ColumnMap, files: Sequence[Path]) -> bool:
    """Return whether a map is of a reader whose labels stand in a file with other models."""
    return one.kind == "labels" and files.count(file) > 1


def with_defaults(
    classes: tuple[str, ...], models: tuple[Predictions, ...], distribution: Distribution | None = None, **details: Any
) -> Study:
    """Return a study with the default words, population and yardstick."""
    study = Study(
        classes=classes,
        models=models,
        distribution=distribution,
        population=POPULATIONS[0],
        stated_prevalence=None,
        wording=default_wording(classes),
        yardstick=(0, 1),
        digest=study_digest(classes, models, distribution),
        **details,
    )
    return replace(study, population=population_for(study.prevalence), yardstick=yardstick_for(study))


def _maps(
    files: Sequence[Path], columns: ColumnMap | Sequence[ColumnMap | None] | None, known: ColumnMap | None = None
) -> tuple[ColumnMap | None, ...]:
    """Return the column map of each file, as stated or, where nothing is, as `known` from earlier files.

    It is None if the columns have the usual names, or nothing is stated and known.
    """
    if columns is not None and not isinstance(columns, ColumnMap):
        return tuple(columns)
    one = columns or known
    if one is None:
        return (None,) * len(files)
    applies = FirstRows.suits if columns is None else FirstRows.holds
    return tuple(None if look.fits and not applies(look, one) else one for look in map(read_first_rows, files))


def _read_models(
    files: Sequence[Path], labels: Sequence[str] | None, columns: Sequence[ColumnMap | None]
) -> list[ReadPredictions]:
    require_askable(files[0], len(open_predictions(files[0], columns=columns[0]).classes))
    first = read_predictions(files[0], labels=labels, columns=columns[0])
    later = zip(files[1:], columns[1:], strict=True)
    reads = [first, *(read_predictions(file, labels=first.classes, columns=column_map) for file, column_map in later)]
    if any(one is not None and one.skip_unread for one in columns):
        one_table = len(set(files)) == 1 and all(one is None or one.only is None for one in columns)
        reads = read_by_all(files, reads, by_row=one_table)
    first_one, *others = [_rows_of(file, one) for file, one in zip(files, columns, strict=True)]
    pairs = zip(others, reads[1:], strict=True)
    return [reads[0], *(in_order_of_first(first_one, reads[0].predictions, file, read) for file, read in pairs)]


def _rows_of(file: Path, one: ColumnMap | None) -> Path:
    """Return what messages call the rows of one model in a file."""
    return file if one is None or one.only is None else Path(f"{file} ({one.called})")


def _each_reader_once(
    files: Sequence[Path],
    columns: Sequence[ColumnMap | None],
    reads: Sequence[ReadPredictions],
    here: Sequence[Predictions] = (),
) -> tuple[list[Path], list[ColumnMap | None], list[ReadPredictions]]:
    """Leave out readers who are `here` or in another file: those of one study stand in the file of each model."""
    decided_by = {model.name: model.y_proba for model in here}
    kept = []
    for file, one, read in zip(files, columns, reads, strict=True):
        if one is not None and _stands_beside(file, one, files):
            reader, decided = one.called, read.predictions.y_proba
            if reader in decided_by and np.array_equal(decided_by[reader], decided):
                continue
            decided_by[reader] = decided
        kept.append((file, one, read))
    return [file for file, _, _ in kept], [one for _, one, _ in kept], [read for _, _, read in kept]


def _label_notes(reads: Sequence[ReadPredictions]) -> tuple[str, ...]:
    """Return a note on the columns that hold decided labels."""
    columns: dict[str, list[str]] = {}
    for column, file in dict.fromkeys(filter(None, (read.decided for read in reads))):
        columns.setdefault(file, []).append(column)
    what = series([f"{series(found)} of {file}" for file, found in columns.items()])
    if sum(map(len, columns.values())) > 1:
        return (f"{what} hold decided labels: they are judged as they decide, without probabilities.",)
    return (f"{what} holds decided labels: it is judged as it decides, without probabilities.",) if what else ()


def _people_notes(files: Sequence[Path], reads: Sequence[ReadPredictions]) -> tuple[str, ...]:
    """Return a note if a file tells that several cases are of one person."""
    for file, read in zip(files, reads, strict=True):
        people = read.predictions.people
        if people is not None:
            return people_notes(file, read.person_column, len(np.unique(people)))
    return ()


def distinct_names(
    files: Sequence[Path], columns: Sequence[ColumnMap | None] = (), taken: Collection[str] = ()
) -> list[str]:
    """Return a unique name for each file: its stem if these differ, otherwise with more of the path or a number.

    Predicted labels, and scores if there are several of one file, are called by their columns if the file holds other
    models too, or its name is `taken`.
    """
    names = [file.stem for file in files]
    scored = [file for file, one in zip(files, columns, strict=False) if one is None or one.kind != "labels"]
    for at, (file, one) in enumerate(zip(files, columns, strict=False)):
        if one is None or (one.only is None and class_of_column(one.columns[0]) is not None):
            continue  # columns of the usual names say nothing of the model
        if _stands_beside(file, one, files) or scored.count(file) > 1 or file.stem in taken:
            names[at] = one.called
    for more in ([file.name for file in files], [f"{real_path(file).parent.name}/{file.name}" for file in files]):
        if len(set(names)) == len(names):
            return names
        names = more
    before = [names[:at].count(name) for at, name in enumerate(names)]
    return [f"{name} ({times + 1})" if times else name for name, times in zip(names, before, strict=True)]


def _description(classes: Sequence[str], n_models: int) -> str:
    what = " or ".join(classes) if len(classes) == 2 and len("".join(classes)) <= 30 else f"{len(classes)} classes"
    return f"{what}, {counted(n_models, 'model')}"


def change_study(
    study: Study,
    *,
    title: str | None = None,
    add: Sequence[Path] = (),
    rename: Mapping[str, str] | None = None,
    remove: Sequence[str] = (),
    columns: ColumnMap | Sequence[ColumnMap | None] | None = None,
    prevalence: Mapping[str, float] | None = None,
    population: int | None = None,
    case: tuple[str, str] | None = None,
    words: Path | None = None,
    yardstick: tuple[int, int] | None = None,
) -> Study:
    """Change the models, numbers or words of a study folder, and return the study now in the folder.

    Each file to add holds the predictions of one model for the same cases; its columns, one map for all or one per
    file, are by default read as those of the first files. `rename` maps old names to new ones. For `prevalence` and
    `population` see `create_study`. `case` is what one case is called, and several; `words` is a table as `write_words`
    writes it. Earlier answers remain valid. The notes of the returned study are about the added files. Raises Problem
    if there is no such model, a name is used twice, no model is left, the cases differ, or words cannot be read or
    shown; nothing is changed.
    """
    own_folder(study)
    here = [model.name for model in study.models]
    for name in (*remove, *(rename or {})):
        if name not in here:
            raise Problem(f"There is no model “{name}” in “{study.title}”. There are: {', '.join(here)}.")
    old = [replace(one, name=(rename or {}).get(one.name, one.name)) for one in study.models if one.name not in remove]
    reads = read_more(study, add, columns)
    changed = with_models(study, (*old, *(read.predictions for read in reads)))
    if prevalence is not None:
        changed = replace(_with_prevalence(changed, prevalence), yardstick=study.yardstick)
    if words is not None:
        changed = with_mistakes(changed, read_words(changed, words))
    if case is not None:  # last, so that names which the table left as they were follow it
        changed = with_nouns(changed, *case, changed.wording.class_one, changed.wording.class_many)
    changed = replace(
        changed,
        title=(title or "").strip() or changed.title,
        population=population or changed.population,
        yardstick=yardstick or changed.yardstick,
    )
    save_study(changed)
    return replace(changed, notes=(*dict.fromkeys(note for read in reads for note in read.notes), *_label_notes(reads)))


def with_models(study: Study, models: Sequence[Predictions]) -> Study:
    """Return a study with other models for the same cases, not yet saved.

    Raises Problem if there is none, or two have the same name.
    """
    called = [model.name for model in models]
    if not models:
        raise Problem("A study needs at least one model: add another one before removing this one.")
    if len(set(called)) < len(called) or not all(name.strip() for name in called):
        raise Problem(f"Every model needs a name of its own; these would be {', '.join(called)}: rename one.")
    digest = study_digest(study.classes, models)
    changed = replace(study, models=of_same_cases(models), digest=digest)
    if digest == study.digest:
        return changed
    # A study without a folder has no answers yet.
    earlier = tuple(one for one in study.digests if one != digest) if study.kind == "folder" else ()
    return replace(changed, earlier=earlier, description=_description(study.classes, len(models)))


def read_more(
    study: Study, files: Sequence[Path], columns: ColumnMap | Sequence[ColumnMap | None] | None = None
) -> list[ReadPredictions]:
    """Read further models for the cases of a study; see `change_study`.

    Raises Problem if a file cannot be read, or lists other cases.
    """
    if not files:
        return []
    column_maps: Sequence[ColumnMap | None] = _maps(files, columns, study.columns)
    if any(one is not None and one.skip_unread for one in column_maps):
        remedy = "to skip those that not everybody read, make another study of all files."
        raise Problem(f"“{study.title}” stays with its cases: {remedy}")
    reads = [
        read_predictions(file, labels=study.classes, columns=column_map)
        for file, column_map in zip(files, column_maps, strict=True)
    ]
    first = f"“{study.title}”", study.models[0]
    reads = [in_order_of_first(*first, file, read) for file, read in zip(files, reads, strict=True)]
    files, column_maps, reads = _each_reader_once(files, column_maps, reads, study.models)
    named = zip(reads, distinct_names(files, column_maps, study.model_names), strict=True)
    return [read._replace(predictions=replace(read.predictions, name=name)) for read, name in named]


def save_study(study: Study, *, since: Study | None = None) -> None:
    """Save the changed title, words, population, prevalence, yardstick or models of a study to its folder.

    `since` is the study as it was opened: what others changed meanwhile is not replaced. Raises Problem if the folder
    holds another study than that, the study has no folder of its own, or a value cannot be used.
    """
    folder = own_folder(study)
    before = read_folder(folder)
    if since is not None and not described_alike(before, since):
        raise Problem(
            f"“{since.title}” was changed in another place since it was opened here, so nothing was saved. Open it "
            "again, and make your changes there; words can be taken along as CSV."
        )
    places = [next((at for at, old in enumerate(before.models) if _same(old, one)), None) for one in study.models]
    rewrite_folder(folder, study, places)


def own_folder(study: Study) -> Path:
    """Return the folder in which a study can be changed; raise Problem if it has none."""
    if study.pack is not None:
        raise Problem(f"“{study.title}” holds only counts: to change it, make a new study from its predictions.")
    if study.kind != "folder" or study.folder is None:
        raise Problem(f"“{study.title}” has no folder of its own: make a new study from its predictions first.")
    return study.folder


def _same(one: Predictions, other: Predictions) -> bool:
    return one.y_proba is other.y_proba or np.array_equal(one.y_proba, other.y_proba)
