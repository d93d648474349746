"""Export of an elicited metric to the formats of other tools, and as a page for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

from metrics.errors import InputError

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric
    from metrics.exports.page import Page

FORMATS: Mapping[str, str] = {
    "sklearn": ".py",
    "weka": ".cost",
    "mlr3": ".R",
    "csv": ".csv",
    "markdown": ".md",
    "html": ".html",
    "pdf": ".pdf",
}
"""Format -> suffix of its files."""

_TOOLS = {"sklearn": "sklearn_code", "weka": "weka_file", "mlr3": "mlr3_code", "csv": "csv_table"}


def export(metric: ElicitedMetric, format: str) -> str | bytes:
    """Return a metric as the content of a file in one of the formats.

    Parameters
    ----------
    metric : ElicitedMetric
        The metric to export.
    format : str
        A key of `FORMATS`: "sklearn" (Python code), "weka" (cost matrix file, rows are truth), "mlr3" (R code, rows
        are predictions), "csv" (one row per cell), "markdown", "html" (one self-contained page) or "pdf" (tagged, A4).

    Returns
    -------
    str or bytes
        Text, to be written as UTF-8; bytes for "pdf". Equal metrics give equal content.

    Raises
    ------
    InputError
        If the format is unknown, or is a tool's and the metric does not price mistakes between classes.

    Examples
    --------
    >>> from metrics import ElicitedMetric, export
    >>> metric = ElicitedMetric.from_cost_matrix(['ill', 'well'], [[0, 10], [1, 0]])
    >>> print(export(metric, 'csv').splitlines()[2])
    "ill","well",1.0,"","",1.0,1.8181818181818181,"ill called well"
    """
    from metrics.elicited.elicited_metric import require_metric

    require_metric(metric)
    if format not in FORMATS:
        raise InputError(f"format is {format!r}; one of {', '.join(FORMATS)} was expected.")
    if format in _TOOLS:
        metric.require_kind("confusion")
        code: str = getattr(import_module("metrics.exports.tools"), _TOOLS[format])(metric)
        return code
    from metrics.exports.metric_page import metric_page

    return rendered(metric_page(metric), format, metric.created)


def rendered(page: Page, format: str, created: datetime) -> str | bytes:
    """Render a page as "html", "markdown" or "pdf"; `created` is the date in the properties of the PDF."""
    if format == "pdf":
        from metrics.exports.typst_page import page_as_pdf

        return page_as_pdf(page, created)
    if format == "html":
        from metrics.exports.html_page import page_as_html

        return page_as_html(page)
    from metrics.exports.page import page_as_markdown

    return page_as_markdown(page)
