"""An elicited metric file that people named: read, or said what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elicit_app.problem import Problem

if TYPE_CHECKING:
    from metrics import ElicitedMetric


def load_metric(path: Path) -> ElicitedMetric:
    """Return the metric of a file that people named.

    Raises
    ------
    Problem
        The file is missing, damaged, of a newer version, or contradicts itself; said in one sentence.
    """
    from metrics import ElicitedMetric

    if path.is_dir():
        raise Problem(f"{path} is a folder: name an elicited metric file (*.metric.json).")
    try:
        return ElicitedMetric.load(path)
    except FileNotFoundError as error:
        raise Problem(f"There is no file {path}: name an elicited metric file (*.metric.json).") from error
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise Problem(str(error)) from error
