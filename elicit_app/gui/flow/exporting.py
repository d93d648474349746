"""Saving and copying from the result page: where to, and what came of it."""

from __future__ import annotations

import re
from pathlib import Path

from elicit_app.problem import Problem
from elicit_app.session.views.outcome import ResultView
from metrics.files.atomic_write import write_atomically


def proposed_name(view: ResultView, ending: str) -> str:
    """Return a file name for something made from a result: "skin-lesions-dermatology.metric.json"."""
    plain = re.sub(r"[^\w]+", "-", view.metric.name.lower()).strip("-")
    return (plain or "result") + ending


def with_ending(path: Path, ending: str) -> Path:
    """Return `path` with `ending`, where the person typed none."""
    return path if path.suffix else path.with_name(path.name + ending)


def save_format(view: ResultView, key: str, path: Path) -> Path:
    """Write the metric of a result in one of the formats, whole or not at all.

    Raises
    ------
    Problem
        Too few answers, or the file cannot be written.
    """
    if key == "metric":
        from elicit_app.session.results.result import export as export_metric

        return export_metric(view, path)
    from metrics.exports import export

    try:
        write_atomically(path, export(view.metric, key))
    except OSError as error:
        sentence = f"{path} could not be written ({error.strerror or error}). Choose another place; nothing is lost."
        raise Problem(sentence) from error
    return path


def sklearn_lines(view: ResultView) -> str:
    """Return the lines to paste into a program that uses scikit-learn."""
    from metrics.exports import export

    lines = export(view.metric, "sklearn")
    assert isinstance(lines, str)
    return lines
