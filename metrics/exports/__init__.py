"""An elicited metric in the formats of other tools, and as a page for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from metrics.errors import InputError

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

FORMATS: Mapping[str, str] = {
    "sklearn": ".py",
    "weka": ".cost",
    "mlr3": ".R",
    "csv": ".csv",
    "markdown": ".md",
    "html": ".html",
    "pdf": ".pdf",
}
"""Name of each format -> suffix of its files."""

_MAKERS = {
    "sklearn": ("tools", "sklearn_code"),
    "weka": ("tools", "weka_file"),
    "mlr3": ("tools", "mlr3_code"),
    "csv": ("tools", "csv_table"),
    "markdown": ("markdown_page", "markdown_page"),
    "html": ("html_page", "html_page"),
    "pdf": ("typst_page", "pdf_page"),
}


def export(metric: ElicitedMetric, format: str) -> str | bytes:
    """Return the content of a file in one of the formats.

    Parameters
    ----------
    metric : ElicitedMetric
        What is exported.
    format : str
        A key of `FORMATS`: "sklearn" (Python code), "weka" (cost matrix file, rows are truth), "mlr3" (R code, rows are
        predictions), "csv" (one row per cell), "markdown", "html" (one self-contained page) or "pdf" (tagged, on A4).

    Returns
    -------
    str or bytes
        Text, to be written as UTF-8; bytes for "pdf". The same metric gives the same content.

    Raises
    ------
    InputError
        For an unknown format, or one for tools where the metric prices no mistakes between classes.

    Examples
    --------
    >>> from metrics import ElicitedMetric, export
    >>> metric = ElicitedMetric.from_cost_matrix(['ill', 'well'], [[0, 10], [1, 0]])
    >>> print(export(metric, 'csv').splitlines()[2])
    "ill","well",1.0,"","",1.0,1.8181818181818181,"ill called well"
    """
    if format not in _MAKERS:
        raise InputError(f"format is {format!r}; one of {', '.join(FORMATS)} was expected.")
    module, name = _MAKERS[format]
    if module == "tools":
        metric.require_kind("confusion")
    make: Callable[[ElicitedMetric], str | bytes] = getattr(import_module(f"metrics.exports.{module}"), name)
    return make(metric)
