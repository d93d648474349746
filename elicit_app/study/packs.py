"""A study in one file without any case, to be answered elsewhere: the words, and what is asked and how.

A pack (`*.elicit`, UTF-8 JSON) holds only counts of decisions: a confusion matrix under each of a few hundred random
cost matrices. It contains no case, label, probability or path.

History of the format
---------------------
1 : the study's description as in `study.json`, setting, counts per model, round, opinions of others, digests.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from elicit_app.problem import Problem
from elicit_app.study.folder import (
    AMOUNTS_FILE,
    StrictPart,
    StudyDescription,
    Text,
    check_study,
    description_of,
    document_of,
    study_fields,
)
from elicit_app.study.model import MOST_CLASSES, Opinions, Pack, Study, TalliedModel
from elicit_app.study.tables import require_regular_file
from elicit_app.study.writing import file_name
from metrics.files import json_text, real_path

ENDING = ".elicit"
_MOST_BYTES = 64 * 2**20
_REMEDY = "Ask for the file to be sent again."

Counts = list[Annotated[int, Field(ge=0, le=10**12)]]


class ModelCounts(StrictPart):
    """One model: every matrix is a list of k * k counts in row-major order."""

    name: Text
    usual: Counts
    decided: list[Counts]
    places: Counts


NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class EarlierOpinions(StrictPart):
    """The opinions of the experts of an earlier round about one mistake."""

    true: Text
    predicted: Text | None = None
    ratios: tuple[NonNegative, ...]
    reasons: tuple[str, ...] = ()
    bounds: tuple[tuple[NonNegative, NonNegative | None] | None, ...] = Field(
        default=(), description="The 90 % range of each ratio, null for no end; left out where none has one"
    )


class PackDocument(StudyDescription):
    """The content of a pack."""

    format: Literal["elicit-pack"] = "elicit-pack"
    version: Literal[1] = 1
    name: Text
    setting: dict[str, Any]
    models: Annotated[list[ModelCounts], Field(min_length=1)]
    round: Annotated[int, Field(ge=1, le=2)] = 1
    others: tuple[EarlierOpinions, ...] = ()
    amounts: Literal["multilabel", "relevance"] | None = Field(
        default=None, description="What is counted in place of mistakes; left out where mistakes are"
    )
    content_digest: str = ""


def pack_bytes(study: Study) -> bytes:
    """Return a packed study as the bytes of its file; equal studies give equal bytes."""
    assert study.pack is not None, "only a packed study is written as a pack"
    classes = study.classes
    document = PackDocument(
        **description_of(study),
        name=study.name,
        setting=study.pack.setting,
        models=[
            ModelCounts(
                name=model.name,
                usual=model.usual.ravel().tolist(),
                decided=[counts.ravel().tolist() for counts in model.decided],
                places=model.places.tolist(),
            )
            for model in study.pack.models
        ],
        round=study.pack.round,
        others=tuple(
            EarlierOpinions(
                true=classes[opinions.mistake[0]],
                predicted=None if opinions.mistake[1] is None else classes[opinions.mistake[1]],
                ratios=opinions.ratios,
                reasons=opinions.reasons,
                bounds=tuple(
                    None if ends is None else (ends[0], None if math.isinf(ends[1]) else ends[1])
                    for ends in opinions.bounds
                ),
            )
            for opinions in study.pack.others
        ),
        amounts=study.wording.priced,
    )
    fields = _content(document)
    return json_text({**fields, "content_digest": _content_digest(fields)}).encode()


def _content(document: PackDocument) -> dict[str, Any]:
    """Return the fields of a pack without its digest; a pack about mistakes omits the fields of amounts."""
    left_out = {"content_digest"} if document.amounts else {"content_digest", "amounts"}
    fields = document.model_dump(mode="json", exclude=left_out)
    for opinions in fields["others"]:
        if not opinions["bounds"]:
            del opinions["bounds"]
    return fields


def _content_digest(fields: dict[str, Any]) -> str:
    """Return the sha256 of a pack's fields without its own digest, independent of white space."""
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def pack_name(title: str) -> str:
    """Return the name of a packed study, derived from its title, because a folder's name is private."""
    return file_name(title, "study")


def pack_stem(title: str, *, again: bool = False) -> str:
    """Return the proposed name of a pack's file; that of a second round (`again`) does not replace the first."""
    return f"{pack_name(title)}-round-2" if again else pack_name(title)


def with_pack(study: Study, pack: Pack) -> Study:
    """Return `study` as a packed study, with the counts of `pack` in place of predictions or another pack.

    The digest of the pack is recomputed.
    """
    packed = replace(study, name=pack_name(study.title), models=(), pack=pack)
    return parse_pack(Path(f"{packed.name}{ENDING}"), pack_bytes(packed))


def read_pack(path: Path) -> Study:
    """Read a pack.

    Raises Problem if it is missing, damaged, of a newer version, or has been changed since it was made.
    """
    try:
        require_regular_file(path, _MOST_BYTES)
        content = path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror or error}).") from error
    return parse_pack(path, content)


def read_amounts_folder(folder: Path) -> Study:
    """Read a study of amounts from its folder, where its sessions are kept; raises as `read_pack`."""
    study = read_pack(folder / AMOUNTS_FILE)
    if study.wording.priced is None:  # one that was sent, and saved under this name
        return study
    return replace(study, name=real_path(folder).name, kind="folder", folder=folder)


def parse_pack(path: Path, content: bytes) -> Study:
    """Return the packed study in the bytes of a pack; `path` is for error messages."""
    document = document_of(path, content, PackDocument, "study to answer", _REMEDY)
    fields = _content(document)
    if document.content_digest != _content_digest(fields):
        raise Problem(f"{path} was changed since it was made. {_REMEDY}")
    if not 2 <= len(document.classes) <= MOST_CLASSES:
        raise Problem(f"{path} has {len(document.classes)} classes; 2 to {MOST_CLASSES} can be asked about.")
    described = study_fields(path, document)
    described["wording"] = replace(described["wording"], priced=document.amounts)
    pack = _pack(path, document)
    study = Study(**described, name=document.name, models=(), kind="pack", digest=document.digest, pack=pack)
    check_study(study)
    return study


def _pack(path: Path, document: PackDocument) -> Pack:
    models = tuple(_model(path, counts, len(document.classes)) for counts in document.models)
    sums = models[0].usual.sum(axis=1)
    for model in models:
        matrices = np.concatenate([model.usual[None], model.decided])
        if not (matrices.sum(axis=2) == sums).all():
            raise Problem(f"{path}: the matrices of “{model.name}” do not all count the same cases. {_REMEDY}")
    index = {name: place for place, name in enumerate(document.classes)}
    others = []
    for opinions in document.others:
        if opinions.true not in index or (opinions.predicted is not None and opinions.predicted not in index):
            raise Problem(
                f"{path} has answers about “{opinions.true}” called “{opinions.predicted}”, which is not a mistake "
                "in this study."
            )
        if opinions.bounds and len(opinions.bounds) != len(opinions.ratios):
            raise Problem(f"{path} has bounds that do not match its ratios. {_REMEDY}")
        mistake = index[opinions.true], None if opinions.predicted is None else index[opinions.predicted]
        bounds = tuple(ends and (ends[0], math.inf if ends[1] is None else ends[1]) for ends in opinions.bounds)
        others.append(Opinions(mistake, opinions.ratios, opinions.reasons, bounds))
    return Pack(models, document.setting, document.content_digest, document.round, tuple(others))


def _model(path: Path, counts: ModelCounts, k: int) -> TalliedModel:
    lengths = {len(counts.usual), *map(len, counts.decided)}
    if lengths != {k * k} or len(counts.places) != len(counts.decided):
        raise Problem(f"{path}: the matrices of “{counts.name}” do not have {k} x {k} counts. {_REMEDY}")
    decided = _integers(counts.decided).reshape(-1, k, k)
    return TalliedModel(counts.name, _integers(counts.usual).reshape(k, k), decided, _integers(counts.places))


def _integers(numbers: object) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64)
