"""The digest of a study's data: the same for the same numbers, whatever file they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elicit_app.study.model import Law, Predictions


def study_digest(classes: Sequence[str], models: Sequence[Predictions], law: Law | None = None) -> str:
    """Return the sha256 of classes, true labels and probabilities.

    Parameters
    ----------
    classes : sequence of str
        In order.
    models : sequence of Predictions
        In order; their names do not count.
    law : Law, optional
        For a synthetic study.

    Returns
    -------
    str
        "sha256:" and 64 hexadecimal digits. Names of files and models, wording and population leave it unchanged.
    """
    digest = hashlib.sha256(b"elicit study 1")
    for text in classes:
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    if law is not None:
        _add(digest, law.eta)
    for model in models:
        _add(digest, model.y_true)
        _add(digest, model.y_proba)
    return f"sha256:{digest.hexdigest()}"


def _add(digest: hashlib._Hash, array: NDArray[np.float64] | NDArray[np.int64]) -> None:
    """Add shape and little-endian numbers; adding 0 turns -0.0 into 0.0."""
    kind = "<i8" if array.dtype.kind == "i" else "<f8"
    digest.update(np.asarray(array.shape, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(array + 0, dtype=kind).tobytes())
