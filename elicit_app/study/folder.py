"""Study folders: `study.json` and one Parquet file of predictions per model, written atomically.

History of `study.json`
-----------------------
1 : classes, title, population, stated prevalence, yardstick, wording, models with their files, digest; the purpose, and
    the actions for cases of a class, are optional.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from elicit_app.problem import Finding, Problem, shortened
from elicit_app.study.identity import CASE, PERSON, of_same_cases
from elicit_app.study.model import (
    LONGEST_TEXT,
    MOST_SHOWN,
    ColumnMap,
    Key,
    Mistake,
    Predictions,
    Study,
    Wording,
    check_wording,
    default_wording,
    study_digest,
)
from elicit_app.study.reading import normalised_prevalence, read_predictions, require_askable
from elicit_app.study.tables import INDETERMINATE, PROBABILITY, TRUTH
from elicit_app.study.writing import new_folder, write_whole
from metrics.elicited.kinds import AnswersFor
from metrics.elicited.metric_parts import Consequence
from metrics.errors import InputError, finding_words
from metrics.files import read_regular_file, real_path, strict_json, version_of
from metrics.inputs.labels import has_line_end

Text = Annotated[str, Field(min_length=1)]


def _on_one_line(name: str) -> str:
    if has_line_end(name):
        raise PydanticCustomError("line_end", "a class name must be one line, this one has a line end in it")
    return name


ClassName = Annotated[Text, AfterValidator(_on_one_line)]
Document = TypeVar("Document", bound="StudyDescription")
Pair = tuple[Text, Text]

_REMEDY = "Put a backup copy in its place, or make a new study from its predictions."


class StrictPart(BaseModel):
    """A part of a document, without unknown fields and without text in place of numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ClassWords(StrictPart):
    """The words for one and for several cases of a class, and what is done with a case predicted as it."""

    one: Text
    many: Text
    action: Text | None = None


def _with_predicted(found: Any) -> Any:
    """Allow a hand-written file to omit `predicted`, meaning any wrong answer for the same truth."""
    return {"predicted": None, **found} if isinstance(found, dict) else found


def _complete(consequence: Consequence) -> Consequence:
    if not (
        consequence.true and consequence.predicted != "" and consequence.name and consequence.one and consequence.many
    ):
        raise PydanticCustomError("empty", "true, predicted, name, one and many must not be empty")
    return consequence


class Words(StrictPart):
    """The stated words; the others are generic."""

    case: Text = "case"
    cases: Text = "cases"
    classes: dict[Text, ClassWords] = {}
    mistakes: list[Annotated[Consequence, BeforeValidator(_with_predicted), AfterValidator(_complete)]] = []


class ModelEntry(StrictPart):
    """A model's name and its predictions file in the study folder."""

    name: Text
    file: Annotated[str, Field(pattern=r"^[^/\\]+\.(parquet|csv|npz)$")]


class StudyDescription(StrictPart):
    """The fields that a study and its pack share. Rows of every matrix are true classes, columns predicted ones.

    `digest` is that of the predictions from which the study was made.
    """

    format: str
    version: int
    title: Text
    description: str = ""
    classes: Annotated[list[ClassName], Field(min_length=2)]
    population: Annotated[int, Field(ge=10, le=MOST_SHOWN)]
    stated_prevalence: list[Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]] | None = None
    yardstick: Pair = Field(description="true and predicted class of the mistake that others are compared with")
    wording: Words = Words()
    purpose: AnswersFor | None = Field(default=None, description="what answers are for, where that is stated")
    digest: str


class StudyDocument(StudyDescription):
    """The content of `study.json`."""

    format: Literal["elicit-study"] = "elicit-study"
    version: Literal[1] = 1
    models: Annotated[list[ModelEntry], Field(min_length=1)]
    columns: ColumnMap | None = None
    earlier: Annotated[list[Text], Field(description="digests before models were added or taken out")] = []
    unread: Annotated[int, Field(ge=0, description="cases left out because not everybody read them")] = 0


def parse_document(path: Path, content: bytes) -> StudyDocument:
    """Read `study.json` from its bytes; `path` is for error messages.

    Raises Problem if it is truncated, of a newer version, or has an invalid field.
    """
    return document_of(path, content, StudyDocument, "study file", _REMEDY)


def document_of(path: Path, content: bytes, schema: type[Document], called: str, remedy: str) -> Document:
    """Parse a document with a schema whose defaults are its format and newest version.

    Raises Problem if it is not such a document, of a newer version, or damaged; `remedy` says what to do.
    """
    try:
        found = strict_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not UTF-8 text (byte {error.start + 1}). {remedy}") from error
    except ValueError as error:
        raise Problem(f"{path} cannot be read: {error}. {remedy}") from error
    form, newest = (schema.model_fields[name].default for name in ("format", "version"))
    if not isinstance(found, dict) or found.get("format") != form:
        raise Problem(f'{path} is not a {called}: its "format" must be "{form}". {remedy}')
    version_of(
        found,
        newest,
        lambda sentence: Problem(f"{path} {sentence}"),
        invalid='has no valid "version": a whole number from 1 to {newest} is expected.',
        newer="was written by a newer elicit (version {version}, known up to {newest}): update elicit.",
    )
    try:
        # strict JSON: lists are accepted as tuples, but not text as numbers
        return schema.model_validate_json(json.dumps(found))
    except ValidationError as error:
        findings = tuple(Finding(_worded(fault)) for fault in error.errors())
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        raise Problem(f"{path} is not a proper {called}: {findings[0].what}{more}. {remedy}", findings) from error


def _worded(fault: ErrorDetails) -> str:
    if not fault["loc"]:
        return "a text in it is not Unicode, or a list is nested too deeply"
    where = ".".join(str(part) for part in fault["loc"])
    return f"field “{shortened(where, 60)}”: {finding_words(fault)}"


def description_of(study: Study) -> dict[str, Any]:
    """Return the fields that a study and its pack share, by name."""
    classes = study.classes
    return {
        "title": study.title,
        "description": study.description,
        "classes": list(classes),
        "population": study.population,
        "stated_prevalence": list(study.stated_prevalence) if study.stated_prevalence else None,
        "yardstick": (classes[study.yardstick[0]], classes[study.yardstick[1]]),
        "wording": _stated_words(study.wording, classes),
        "purpose": study.purpose,
        "digest": study.digest,
    }


def _stated_words(wording: Wording, classes: tuple[str, ...]) -> Words:
    """Return only the words that differ from the generic ones."""
    generic = default_wording(classes, wording.case, wording.cases)
    actions = wording.class_action or ("",) * len(classes)
    words = {
        name: ClassWords(one=wording.class_one[i], many=wording.class_many[i], action=actions[i] or None)
        for i, name in enumerate(classes)
        if actions[i] or (wording.class_one[i], wording.class_many[i]) != (generic.class_one[i], generic.class_many[i])
    }
    mistakes = [
        mistake.of(classes[i], classes[j])
        for (i, j), mistake in sorted(wording.mistakes.items())
        if mistake != generic.mistakes[i, j]
    ]
    mistakes += [
        mistake.of(classes[i], None)
        for i, mistake in enumerate(wording.any_mistake)
        if mistake != generic.any_mistake[i]
    ]
    return Words(case=wording.case, cases=wording.cases, classes=words, mistakes=mistakes)


def study_fields(path: Path, document: StudyDescription) -> dict[str, Any]:
    """Return the fields of a study that a study file and its pack share, by name.

    Raises Problem if words or the yardstick refer to an unknown class or to a right answer.
    """
    return {
        "title": document.title,
        "description": document.description,
        "classes": tuple(document.classes),
        "population": document.population,
        "stated_prevalence": tuple(document.stated_prevalence) if document.stated_prevalence else None,
        "yardstick": _yardstick_of(path, document),
        "wording": _wording_of(path, document),
        "purpose": document.purpose,
    }


def _wording_of(path: Path, document: StudyDescription) -> Wording:
    """Return the complete wording of a study: the stated words, and generic ones for the rest.

    Raises Problem if a word is stated for a class that the study does not have.
    """
    words = document.wording
    index = {name: position for position, name in enumerate(document.classes)}
    wording = default_wording(document.classes, words.case, words.cases)
    one, many, actions = list(wording.class_one), list(wording.class_many), [""] * len(index)
    mistakes: dict[Key, Mistake] = {}
    try:
        for name, stated in words.classes.items():
            one[index[name]], many[index[name]] = stated.one, stated.many
            actions[index[name]] = stated.action or ""
        for entry in words.mistakes:
            key = index[entry.true], None if entry.predicted is None else index[entry.predicted]
            mistakes[key] = Mistake(entry.name, entry.one, entry.many, entry.consequence)
    except KeyError as error:
        raise Problem(f"{path} has words for {error}, but that is not one of its classes.") from error
    done = tuple(actions) if any(actions) else ()
    named = wording.with_mistakes(mistakes)
    return replace(named, class_one=tuple(one), class_many=tuple(many), class_action=done)


def _yardstick_of(path: Path, document: StudyDescription) -> tuple[int, int]:
    """Return the yardstick as true and predicted class. Raises Problem if it is not a mistake of the study."""
    true, predicted = document.yardstick
    if true not in document.classes or predicted not in document.classes or true == predicted:
        raise Problem(f"{path}: the yardstick “{true}” called “{predicted}” is not a mistake of this study.")
    return document.classes.index(true), document.classes.index(predicted)


STUDY_FILE = "study.json"
AMOUNTS_FILE = "study.elicit"
"""The only file of a study of amounts: a packed study, which holds counts."""
MOST_DOCUMENT_BYTES = 16 * 2**20


def document_in(folder: Path) -> Path | None:
    """Return the file that describes the study in a folder; None if the folder holds no study."""
    return next((path for name in (AMOUNTS_FILE, STUDY_FILE) if (path := folder / name).is_file()), None)


def read_folder(folder: Path, kind: Literal["folder", "bundled"] = "folder") -> Study:
    """Read a study folder of a user, or one of the program (`kind` "bundled"), beside which nothing is written.

    Raises Problem if something is missing, damaged, of a newer version, or has changed since the study was made.
    """
    path = folder / STUDY_FILE
    document = read_document(path)
    classes = tuple(document.classes)
    require_askable(path, len(classes))
    own = kind == "bundled"
    models = of_same_cases(
        [
            replace(read_predictions(folder / entry.file, labels=classes, own=own).predictions, name=entry.name)
            for entry in document.models
        ]
    )
    study = Study(
        **study_fields(path, document),
        name=real_path(folder).name,
        models=models,
        kind=kind,
        folder=folder if kind == "folder" else None,
        digest=study_digest(classes, models),
        columns=document.columns,
        earlier=tuple(document.earlier),
        unread=document.unread,
    )
    try:
        check_study(study)
        if document.stated_prevalence:
            study = replace(study, stated_prevalence=normalised_prevalence(document.stated_prevalence, len(classes)))
    except Problem as problem:
        raise Problem(f"{path} cannot be used: {problem.sentence}") from None
    if study.digest != document.digest:
        raise Problem(f"The predictions in {folder} are not those the study was made from: make a new study from them.")
    return study


def model_files(folder: Path) -> tuple[tuple[str, Path], ...]:
    """Return the name and the predictions file of each model of a study folder.

    Raises Problem if it has no readable study file.
    """
    return tuple((entry.name, folder / entry.file) for entry in read_document(folder / STUDY_FILE).models)


def read_document(path: Path) -> StudyDocument:
    """Return the content of a study file. Raises Problem if it is missing, cannot be read, or is not a study file."""
    try:
        return parse_document(path, read_regular_file(path, MOST_DOCUMENT_BYTES))
    except FileNotFoundError as error:
        raise Problem(f"{path.parent} is not a study folder: there is no {path.name} in it.") from error
    except InputError as error:
        raise Problem(f"{path} {error}: a study file was expected.") from None
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror or error}).") from error


def check_study(study: Study) -> None:
    """Check that a study can be shown and asked about.

    Raises Problem if the yardstick, population, stated prevalence, words or cases are invalid.
    """
    names = (study.title, study.description, *study.classes, *(model.name for model in study.models))
    longest = max(map(len, names))
    if longest > LONGEST_TEXT:
        raise Problem(f"A title or name has {longest:,} characters; at most {LONGEST_TEXT:,} can be shown. Shorten it.")
    if (name := next(filter(has_line_end, study.classes), None)) is not None:
        raise Problem(f"The name of the class “{name}” has a line end in it: write it on one line.")
    true, predicted = study.yardstick
    if true == predicted or not (0 <= true < study.n_classes and 0 <= predicted < study.n_classes):
        raise Problem(f"The yardstick ({true}, {predicted}) is not a mistake among {study.n_classes} classes.")
    if not 10 <= study.population <= MOST_SHOWN:
        raise Problem(f"The population must be 10 to {MOST_SHOWN:,}, not {study.population:,}.")
    if study.stated_prevalence is not None:
        normalised_prevalence(study.stated_prevalence, study.n_classes)
    cases = study.case_counts
    assert cases is not None, "only a study with cases is checked"
    for name, count in zip(study.classes, cases, strict=True):
        if count == 0:
            ways = f"add some, or leave the class out of the predictions; {INDETERMINATE}"
            raise Problem(f"No case has the true class “{name}”: {ways}.")
    check_wording(study.wording, study.classes)


def write_folder(folder: Path, study: Study) -> Study:
    """Write a study with at least one model into a new or empty folder, and return the study of that folder.

    Raises Problem if the folder is not empty or cannot be written; nothing is left behind.
    """
    files = _file_names([model.name for model in study.models])
    stored = replace(study, name=real_path(folder).name, kind="folder", folder=folder)
    check_study(stored)
    with new_folder(folder) as temporary:
        for model, file in zip(study.models, files, strict=True):
            write_whole(temporary / file, parquet_bytes(study.classes, model))
        write_whole(temporary / STUDY_FILE, _document_bytes(stored, files))
    return stored


def rewrite_folder(folder: Path, study: Study, kept: Sequence[int | None]) -> None:
    """Replace the content of a study folder: write new files, then `study.json`, then delete files without a model.

    `kept` gives for each model of the study its index among the models in the folder; None for a new one.
    """
    check_study(study)
    path = folder / STUDY_FILE
    before = [entry.file for entry in read_document(path).models]
    files: list[str] = []
    for model, index in zip(study.models, kept, strict=True):
        if index is not None:
            files.append(before[index])
            continue
        file = _free_name(model.name, [*before, *files])
        write_whole(folder / file, parquet_bytes(study.classes, model))
        files.append(file)
    write_whole(path, _document_bytes(study, files))
    for file in before:
        if file not in files:
            (folder / file).unlink(missing_ok=True)


def described_alike(one: Study, other: Study) -> bool:
    """Return whether two studies have the same content in `study.json`, apart from the names of files."""
    content, other_content = (_document_bytes(study, _file_names([*study.model_names])) for study in (one, other))
    return content == other_content


def parquet_bytes(classes: Sequence[str], model: Predictions) -> bytes:
    """Return one model's predictions as a Parquet file: `y_true` as text, `proba_<class>` as float64.

    If it is known, `person_digest` tells whose case each row is, and `case_digest` which case.
    """
    import polars as pl

    columns = {TRUTH: np.asarray(classes)[model.y_true]}
    columns |= {PROBABILITY + name: model.y_proba[:, column] for column, name in enumerate(classes)}
    columns |= {name: known for name, known in ((PERSON, model.people), (CASE, model.cases)) if known is not None}
    buffer = BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _document_bytes(study: Study, files: list[str]) -> bytes:
    """Return the content of `study.json` for a study whose models' predictions are in `files`."""
    models = [ModelEntry(name=model.name, file=file) for model, file in zip(study.models, files, strict=True)]
    described = description_of(study)
    document = StudyDocument(
        **described, models=models, columns=study.columns, earlier=list(study.earlier), unread=study.unread
    )
    content = document.model_dump(mode="json", exclude={"columns": {"skip_unread", "only"}})
    return (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _file_names(models: list[str]) -> list[str]:
    """Return a readable, unique file name for each model."""
    names: list[str] = []
    for model in models:
        names.append(_free_name(model, names))
    return names


def _free_name(model: str, taken: Sequence[str]) -> str:
    number = len(taken) + 1
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.").lower()[:80] or f"model-{number}"
    while f"{plain}.parquet" in taken:
        plain = f"{plain}-{number}"
    return f"{plain}.parquet"
