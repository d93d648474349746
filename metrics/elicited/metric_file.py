"""Reading and writing the elicited metric file; a file is trusted only after its worked example is reproduced."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from metrics.elicited.family import error_cells
from metrics.elicited.kinds import KindName
from metrics.elicited.metric_parts import TOLERANCE, CaseWords, Consequence, MetricDetails, Provenance, Quality, frozen
from metrics.elicited.scoring import CostsOfCases
from metrics.errors import InputError, as_in_file, finding_words
from metrics.files import (
    canonical_pieces,
    document_digest,
    is_session,
    json_text,
    plain_numbers,
    read_regular_file,
    strict_json,
    version_of,
)
from metrics.measures.costs import mean_cost

FORMAT = "elicited-metric"
ORIENTATION = "rows are true classes, columns are predicted classes"

Rows = list[list[float]]
Interval = Annotated[list[float | None], Field(min_length=2, max_length=2)]


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, validate_by_name=True, validate_by_alias=True
    )


class Release(_Part):
    """Release factors of the Meta Pattern Concern Score, and the paper's two-level form."""

    factors: Rows = Field(description="k x k, in [0, 1]; 1 is full concern")
    releases: list[list[str]] = Field(
        alias="list", description="Sequences (true class, released class, released class, ...)"
    )
    factor: float = Field(ge=0, le=1, description="The one factor of all released errors")
    error: float = Field(ge=0, description="Root mean squared difference of the two-level form to the factors")


class WorkedExample(_Part):
    """A confusion matrix and its mean cost per case, recomputed by every reader."""

    counts: list[list[int]] = Field(description="k x k; rows are true classes, columns are predicted classes")
    mean_cost: float = Field(ge=0, description="sum(counts * cost_matrix) / sum(counts)")


class MetricDocument(_Part):
    """An elicited metric file, version 1."""

    format: Literal["elicited-metric"]
    version: Literal[1]
    name: str
    created: AwareDatetime = Field(description="UTC")
    classes: list[str] = Field(min_length=2, description="In the order of the rows and columns of every matrix")
    kind: KindName = Field(
        default="confusion",
        description="What is priced: mistakes between the classes; or amounts, each of which stands for a class, its "
        "price being the weight. multilabel: labels found, labels missed, false labels; relevance: alpha, beta",
    )
    family: Literal["dlpm", "lpm"]
    orientation: Literal["rows are true classes, columns are predicted classes"]
    weights: list[float] = Field(
        description="dlpm: k weights of the hits, >= 0, sum 1; lpm: k^2 - k weights of the errors, row-major, <= 0, "
        "L2 norm 1"
    )
    cost_matrix: Rows = Field(description="k x k, zero diagonal, largest entry 1")
    class_weight: dict[str, float] = Field(description="Per true class, mean 1")
    intervals: list[list[Interval | None]] | None = Field(
        default=None, description="k x k pairs [low, high] of costs: 90 %, or left open by a search; null: unbounded"
    )
    samples: Rows | None = Field(default=None, description="Posterior draws of the weights")
    release: Release
    prevalence: list[float] | None = Field(default=None, description="Shares of the true classes, sum 1")
    population: int | None = Field(default=None, ge=1, description="Costs and frequencies are per this many cases")
    consequences: list[Consequence] = Field(default=[], description="The expert's words for the mistakes")
    words: CaseWords | None = Field(default=None, description="The domain's words for cases and classes")
    yardstick: Annotated[list[str], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="[true class, predicted class] of the mistake that others are compared with"
    )
    provenance: Provenance
    quality: Quality = Quality()
    worked_example: WorkedExample
    digest: str | None = Field(default=None, description="SHA-256 of all other fields; see `document_digest`")


def metric_schema() -> dict[str, Any]:
    """Return the JSON Schema of the elicited metric file."""
    schema = MetricDocument.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Elicited metric file"}


if __name__ == "__main__":
    print(json.dumps(metric_schema(), indent=2))


CURRENT_VERSION = 1


Metric = TypeVar("Metric", bound=CostsOfCases)
Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: Mapping[int, Step] = {}

MOST_BYTES = 128 << 20
"""Size limit of a metric file in bytes; a file with 50 classes and 1,000 draws takes a quarter of it."""

_PIECE = 1 << 16  # characters, so that a piece stays in the processor's cache
# The field of the draws as it is written. Strings in JSON hold no line ends, so it occurs nowhere else.
_NO_DRAWS = '\n  "samples": null'
_DRAWS, _DRAWS_END = '\n  "samples": [', "\n  ]"


# Pydantic's error types in our words; {x} are values from the error's context.
class MetricFileError(InputError):
    """An invalid elicited metric file; the message names the file, the field and what was expected."""


def metric_text(metric: CostsOfCases) -> Iterator[str]:
    """Yield the text of a metric's file in pieces, because the draws of many classes are long."""
    content = _content(metric)
    if metric.samples is None:
        yield json_text({**content, "digest": document_digest(content)})
        return
    before, after = json_text(content).removesuffix("\n}\n").split(_NO_DRAWS)
    yield before + _DRAWS
    # Formatting numbers takes most of the time, so those of the draws are formatted once for both file and digest.
    found, mark = hashlib.sha256(), ""
    for piece in canonical_pieces(content, {"samples": _canonical_draws(metric.samples)}):
        found.update(piece.encode())
        if isinstance(piece, _Draw):
            yield f"{mark}\n    {piece.written}"
            mark = ","
    yield f'{_DRAWS_END}{after},\n  "digest": "{found.hexdigest()}"\n}}\n'


def _content(metric: CostsOfCases) -> dict[str, Any]:
    """Return the document of a metric without its digest, and without its draws, which are already checked."""
    details = {name: getattr(metric, name) for name in MetricDetails.__optional_keys__}
    k = len(metric.classes)
    releases, factor, error = metric.release_list()
    counts = worked_counts(k)
    names = metric.classes
    fields = {
        **details,
        "format": FORMAT,
        "version": CURRENT_VERSION,
        "classes": list(names),
        "family": metric.family,
        "orientation": ORIENTATION,
        "weights": metric.weights.tolist(),
        "cost_matrix": metric.cost_matrix.tolist(),
        "class_weight": dict(zip(names, metric.class_weight.values(), strict=True)),
        "intervals": _with_null(details["intervals"]),
        "samples": None,
        "release": {
            "factors": metric.release_factors().tolist(),
            "list": [[names[i] for i in entry] for entry in releases],
            "factor": factor,
            "error": error,
        },
        "prevalence": None if metric.prevalence is None else metric.prevalence.tolist(),
        "consequences": list(details["consequences"]),
        "yardstick": None if details["yardstick"] is None else list(details["yardstick"]),
        "worked_example": {"counts": counts.tolist(), "mean_cost": mean_cost(counts, metric.cost_matrix)},
    }
    # Older versions do not know `kind`; leaving it out lets them read confusion metrics.
    left_out = {"digest", "kind"} if metric.kind == "confusion" else {"digest"}
    return MetricDocument.model_validate(fields).model_dump(mode="json", by_alias=True, exclude=left_out)


class _Draw(str):
    """The canonical text of a draw, with the text written to the file."""

    __slots__ = ("written",)
    written: str


def _canonical_draws(samples: NDArray[np.float64]) -> Iterator[str]:
    """Yield the canonical text of the draws in pieces; each draw is one piece."""
    for place, draw in enumerate(samples):
        yield "," if place else "["
        written = json.dumps(plain_numbers(draw.tolist()))
        piece = _Draw(written.replace(", ", ","))
        piece.written = written
        yield piece
    yield "]"


def _draws_in(text: str) -> slice:
    """Return the position of the draws in a text as this program writes it; an empty slice for any other text."""
    start = text.find(_DRAWS)
    end = text.find(_DRAWS_END, start)
    if min(start, end) < 0 or text.find('"', start + len(_DRAWS), end) >= 0:  # an empty list, and more after it
        return slice(0, 0)
    return slice(start + len(_DRAWS) - 1, end + len(_DRAWS_END))


def _without(text: str, draws: slice) -> str:
    """Return the text with null in place of the draws; line numbers are preserved, because error messages name them."""
    lines = "\n" * text.count("\n", draws.start, draws.stop)
    return f"{text[: draws.start]}null{lines}{text[draws.stop :]}" if draws.stop else text


def _unspaced(text: str, draws: slice) -> Iterator[str]:
    """Yield the text of the draws in pieces, without spaces and line ends."""
    for start in range(draws.start, draws.stop, _PIECE):
        piece = text[start : min(start + _PIECE, draws.stop)].encode()
        yield piece.translate(None, b" \n").decode()


def _digest_fits(digest: str, bare: dict[str, Any], text: str, draws: slice) -> bool:
    """Return whether a digest matches a file; `bare` is the document without the draws, which are in `text`."""
    if draws.stop:
        # The program writes draws in canonical form apart from spaces, so no number has to be formatted again.
        if digest == document_digest(bare, {"samples": _unspaced(text, draws)}):
            return True
        bare = strict_json(text)
    return digest == document_digest(bare)


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a metric file.

    Raises OSError if the file does not exist, is a folder or may not be read; the message is one sentence. Raises
    MetricFileError if the file is not UTF-8, not a regular file, or too large.
    """
    try:
        return read_regular_file(path, MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file; give the path of a .metric.json file.") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder; give the path of a .metric.json file.") from None
    except OSError as error:
        raise type(error)(f"{path} cannot be read ({error.strerror}).") from None
    except InputError as error:
        raise MetricFileError(f"{path} {error}; give the path of a .metric.json file.") from None
    except UnicodeDecodeError as error:
        raise MetricFileError(f"{path}: byte {error.start} is not UTF-8 text; a JSON file was expected.") from None


def metric_from_text(text: str, source: str, make: type[Metric]) -> tuple[Metric, bool]:
    """Make a metric from the text of an elicited metric file after checking all of it.

    Returns the metric, of the type `make`, and whether the file carries a digest; without one a change of it is not
    noticed. Raises MetricFileError if the text is not a valid metric file; the message calls it `source`.
    """
    try:
        if is_session(text):
            raise InputError("this is a session, with an expert's answers; the metric file made from it was expected")
        draws = _draws_in(text)
        raw = strict_json(_without(text, draws))
        document = _checked_document(raw, text)
        metric = make(**_fields(document))
        _check_derived_values(document, metric)
        _check_intervals(metric)
        if document.digest is not None and not _digest_fits(document.digest, raw, text, draws):
            raise InputError("digest: does not fit the rest of the file; the file was changed, export it again")
    except ValidationError as error:
        raise MetricFileError(f"{source}: {_in_words(error, text)}.") from None
    except ValueError as error:
        raise MetricFileError(f"{source}: {str(error).removesuffix('.')}.") from None
    return metric, document.digest is not None


def migrate(
    document: dict[str, Any], steps: Mapping[int, Step] = STEPS, current: int = CURRENT_VERSION
) -> dict[str, Any]:
    """Return a document as of version `current`; for each older version, `steps` has the step to the next.

    Raises ValueError if the version is missing, not a whole number >= 1, or newer than `current`.
    """
    version = version_of(
        document,
        current,
        ValueError,
        invalid="field version holds {version}; a whole number from 1 to {newest} was expected",
        newer="the file has version {version}, this program reads versions up to {newest}; "
        "update the program, or ask for a file of the older version",
    )
    for number in range(version, current):
        document = {**steps[number](dict(document)), "version": number + 1}
    return document


def worked_counts(k: int) -> NDArray[np.int64]:
    """Return the counts of the worked example; every error has a different count, so that no two can be confused."""
    counts = np.zeros((k, k), dtype=np.int64)
    counts[error_cells(k)] = np.arange(1, k * k - k + 1)
    return counts + 10 * k * np.eye(k, dtype=np.int64)


_KINDS = {list: "a list", str: "text", bool: "true or false", type(None): "null"}


def _checked_document(raw: Any, text: str) -> MetricDocument:
    if not isinstance(raw, dict):
        raise InputError(f"a JSON object was expected, found {_KINDS.get(type(raw), 'a number')}")
    if raw.get("format") != FORMAT:
        raise InputError(
            f"field format holds {as_in_file(raw.get('format'))}, {FORMAT!r} was expected; this is another kind of file"
        )
    current = migrate(raw)
    return MetricDocument.model_validate_json(text if current is raw else json.dumps(current))


def _fields(document: MetricDocument) -> dict[str, Any]:
    """Return those fields of the document that are fields of the metric."""
    names = {"family", "weights", "cost_matrix", *MetricDetails.__optional_keys__}
    return {
        **{name: getattr(document, name) for name in names},
        "classes": tuple(document.classes),
        "intervals": _with_infinity(document.intervals),
        "consequences": tuple(document.consequences),
        "yardstick": None if document.yardstick is None else tuple(document.yardstick),
    }


def _check_derived_values(document: MetricDocument, metric: CostsOfCases) -> None:
    """Check that the other numbers of the document follow from its weights and costs."""
    k = len(document.classes)
    counts = frozen(document.worked_example.counts, "worked_example.counts", (k, k))
    if (counts < 0).any() or not counts.any():
        raise InputError("worked_example.counts: counts >= 0, not all 0, were expected")
    found = mean_cost(counts, metric.cost_matrix)
    if not abs(found - document.worked_example.mean_cost) <= TOLERANCE:
        raise InputError(
            f"the worked example is wrong: with this cost matrix its counts cost {found:.6g} per case, the file "
            f"says {document.worked_example.mean_cost:.6g}; the file was changed, export it again"
        )
    if set(document.class_weight) != set(document.classes):
        raise InputError("class_weight: one number for each class was expected")
    weight = np.array([document.class_weight[name] for name in document.classes])
    factors = frozen(document.release.factors, "release.factors", (k, k))
    for name, given, expected in (
        ("class_weight", weight, np.array([*metric.class_weight.values()])),
        ("release.factors", factors, metric.release_factors()),
    ):
        if np.abs(given - expected).max() > TOLERANCE:
            raise InputError(f"{name}: does not follow from the cost matrix; the file was changed, export it again")
    _check_release_list(document.release, metric)


def _check_intervals(metric: CostsOfCases) -> None:
    """Check that every cost lies inside its interval."""
    if metric.intervals is None:
        return
    low, high, costs = metric.intervals[..., 0], metric.intervals[..., 1], metric.cost_matrix
    outside = error_cells(len(costs)) & ((costs < low - TOLERANCE) | (costs > high + TOLERANCE))
    if outside.any():
        i, j = map(int, np.argwhere(outside)[0])
        raise InputError(
            f"intervals: row {i}, column {j} holds [{low[i, j]:g}, {high[i, j]:g}], but the cost there is "
            f"{costs[i, j]:g}; one of them was changed"
        )


def _check_release_list(release: Release, metric: CostsOfCases) -> None:
    """Check that the list R differs from the factors by the error stated in the file."""
    two_level = np.ones_like(metric.cost_matrix)
    for names in release.releases:
        if len(names) < 2 or not set(names) <= set(metric.classes):
            raise InputError(f"release.list: {names} is not a true class followed by released classes of the metric")
        true, *released = (metric.classes.index(name) for name in names)
        two_level[true, released] = release.factor
    errors = error_cells(len(two_level))
    distance = math.sqrt(np.mean((two_level - metric.release_factors())[errors] ** 2))
    if abs(distance - release.error) > TOLERANCE:
        raise InputError(f"release.list: is off by {distance:.6g}, the file says {release.error:.6g}; export it again")


def _in_words(error: ValidationError, text: str) -> str:
    """Return pydantic's first error in words: the field, what was expected, and what was found."""
    finding = error.errors(include_url=False)[0]
    if finding["type"] == "json_invalid":
        try:
            strict_json(text)
        except InputError as found:  # among the draws
            return str(found)
        return f"holds a text that is not Unicode, or lists nested too deeply ({finding['ctx']['error']})"
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in finding["loc"]).lstrip(".")
    more = error.error_count() - 1
    others = f" ({more} more fault{'s' if more > 1 else ''} after it)" if more else ""
    return f"field {field} {finding_words(finding)}{others}"


def _with_null(intervals: NDArray[np.float64] | None) -> list[Any] | None:
    """Return intervals for JSON, with null for an infinite upper end."""
    if intervals is None:
        return None
    return [[[low, high if math.isfinite(high) else None] for low, high in row] for row in intervals.tolist()]


def _with_infinity(intervals: list[Any] | None) -> list[Any] | None:
    """Return intervals as numbers: infinity for a null end, and [0, infinity] for an entry that is unknown."""
    if intervals is None:
        return None
    pairs = [[pair or [0.0, None] for pair in row] for row in intervals]
    return [
        [[math.nan if low is None else low, math.inf if high is None else high] for low, high in row] for row in pairs
    ]
