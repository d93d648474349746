"""The fields of the elicited metric file, version 1, and their JSON Schema.

Version history: 1, the first. The schema is published as ``metrics/schema/elicited-metric.schema.json``,
which ``python -m metrics.elicited.metric_document`` prints.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from metrics.elicited.metric_parts import CaseWords, Consequence, Provenance, Quality

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
    family: Literal["dlpm", "lpm"]
    orientation: Literal["rows are true classes, columns are predicted classes"]
    weights: list[float] = Field(
        description="dlpm: k weights of the hits, >= 0, sum 1; lpm: k^2 - k weights of the errors, row-major, <= 0, "
        "L2 norm 1"
    )
    cost_matrix: Rows = Field(description="k x k, zero diagonal, largest entry 1")
    class_weight: dict[str, float] = Field(description="Per true class, mean 1")
    intervals: list[list[Interval | None]] | None = Field(
        default=None,
        description="k x k pairs [low, high], 90 % intervals of the costs; high null where unbounded",
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
