"""One A4 page for people: exchange rates as a plot, costs, release factors, class weights and provenance."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import font_manager

from metrics.display.log_axis import LogAxis
from metrics.display.numbers import two_digits
from metrics.elicited.exchange import ExchangeRate, called, exchange_rates, headline
from metrics.exports.pdf_sheet import HEIGHT, INK, LINE, MARGIN, QUIET, WIDTH, Sheet
from metrics.exports.wording import (
    Cells,
    cost_texts,
    day,
    factor_texts,
    one_line,
    provenance_rows,
    rates_question,
    release_sentence,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metrics.elicited.elicited_metric import ElicitedMetric

_INNER = WIDTH - 2 * MARGIN
_COLUMN = (_INNER - 0.4) / 2
_SECOND = MARGIN + _COLUMN + 0.4
_RATES_SHOWN = (10, 8, 6, 4)
_LONGEST_NAME = 110
_RATE_HEIGHT = 0.29
_MATRIX_HEIGHT = 1.9
_FEW_CLASSES = 5
_MOST_CLASSES = 20
_FONTS = ("Inter", "DejaVu Sans", "Noto Sans CJK JP", "Noto Sans", "Segoe UI", "Microsoft YaHei", "PingFang SC")


def render(metric: ElicitedMetric) -> bytes:
    """Return the page as PDF; the same metric gives the same bytes on the same system."""
    about = {"Title": metric.name, "Creator": "elicit", "CreationDate": metric.created}
    content = io.BytesIO()
    with mpl.rc_context(page_settings()), warnings.catch_warnings():
        # A letter that no installed font has is drawn as a box; that is no reason not to write the page.
        warnings.filterwarnings("ignore", message="Glyph")
        page_figure(metric).savefig(content, format="pdf", metadata=about)
    return content.getvalue()


def page_settings() -> dict[Any, Any]:
    """Return matplotlib settings: dollar signs are plain text, only installed fonts, letters stay text."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    families = [name for name in _FONTS if name in installed]
    return {"font.family": families, "text.parse_math": False, "pdf.fonttype": 42}


def page_figure(metric: ElicitedMetric) -> Figure:
    """Return the page as a figure, with as many exchange rates as fit on it."""
    for most_rates in _RATES_SHOWN:
        sheet = Sheet()
        if _compose(sheet, metric, most_rates) <= HEIGHT - MARGIN / 2:
            break
    return sheet.figure


def _compose(sheet: Sheet, metric: ElicitedMetric, most_rates: int) -> float:
    """Place everything; return the y below it."""
    name = one_line(metric.name)
    title = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    y = sheet.paragraph(MARGIN, MARGIN, title, 19, _INNER, bold=True)
    y = sheet.paragraph(MARGIN, y, f"What each mistake costs. {day(metric.created)}", 9, _INNER, quiet=True)
    y = sheet.paragraph(MARGIN, y + 0.15, headline(metric).in_words(), 14, _INNER, bold=True)
    y = _rates(sheet, y + 0.2, metric, most_rates)
    y = _matrices(sheet, y + 0.2, metric) + 0.15
    left = sheet.paragraph(MARGIN, y, "Class weights", 11, _COLUMN, bold=True)
    note = "They weigh the truths against each other. Their mean is 1."
    left = sheet.paragraph(MARGIN, left, note, 7.5, _COLUMN, quiet=True) + 0.05
    left = _class_weights(sheet, left, metric)
    right = sheet.paragraph(_SECOND, y, "Where this comes from", 11, _COLUMN, bold=True) + 0.05
    right = _facts(sheet, _SECOND, right, [(what, one_line(value)) for what, value in provenance_rows(metric)])
    return max(left, right)


def _class_weights(sheet: Sheet, y: float, metric: ElicitedMetric) -> float:
    """Place one class weight a line, of many classes one after the other."""
    weights = zip(map(one_line, metric.classes), map(two_digits, metric.class_weight.values()), strict=True)
    if len(metric.classes) <= _FEW_CLASSES:
        return _facts(sheet, MARGIN, y, weights)
    shown = [f"{name}: {weight}" for name, weight in weights][:_MOST_CLASSES]
    more = "; the others are in the metric file." if len(metric.classes) > _MOST_CLASSES else "."
    return sheet.paragraph(MARGIN, y, "; ".join(shown) + more, 7.5, _COLUMN)


def _rates(sheet: Sheet, y: float, metric: ElicitedMetric, most: int) -> float:
    """Draw the exchange rates, the worst ones where there are many; return the y below them."""
    everything = exchange_rates(metric)
    worst = sorted(everything, key=lambda rate: -rate.ratio)[: most - 1]
    shown = [rate for rate in everything if rate.is_yardstick or rate in worst]
    y = sheet.paragraph(MARGIN, y, rates_question(metric), 11, _INNER, bold=True) + 0.05
    name_width, plot = 2.2, (MARGIN + 2.4, _INNER - 2.4 - 1.2)
    for row, rate in enumerate(shown):
        middle = y + (row + 0.5) * _RATE_HEIGHT
        name, beneath = rate.mistake.name, called(metric.classes, rate.key)
        _stacked(sheet, MARGIN, middle, name, "" if name == beneath else beneath, name_width, "left")
        _stacked(sheet, MARGIN + _INNER, middle, rate.in_words(), rate.range_in_words(), 1.1, "right")
    height = len(shown) * _RATE_HEIGHT
    _rate_plot(sheet, plot[0], y, plot[1], height, shown)
    y += height + 0.2
    if len(shown) < len(everything):
        more = f"The mistakes that count most, and the yardstick; all {len(everything)} are in the metric file."
        y = sheet.paragraph(MARGIN, y, more, 7.5, _INNER, quiet=True)
    return y


def _stacked(sheet: Sheet, x: float, y: float, text: str, beneath: str, width: float, align: str) -> None:
    """Place a bold line and a quiet one beneath it, both centred on y together."""
    sheet.label(x, y - (0.06 if beneath else 0), one_line(text), 8.5, width, align=align, bold=True)
    if beneath:
        sheet.label(x, y + 0.07, one_line(beneath), 7, width, align=align, quiet=True)


def _rate_plot(sheet: Sheet, x: float, y: float, width: float, height: float, rates: Sequence[ExchangeRate]) -> None:
    """Draw dots with 90 % lines on a logarithmic axis; dashed to the edge where a rate is only bounded."""
    scale = LogAxis.around(rates)
    axes = sheet.axes(x, y, width, height)
    axes.set_xscale("log")
    axes.set(xlim=(scale.low, scale.high), ylim=(len(rates) - 0.5, -0.5), yticks=[])
    ticks = scale.ticks()
    axes.set_xticks(ticks, [two_digits(tick) for tick in ticks], fontsize=7, color=QUIET)
    axes.tick_params(axis="x", which="both", length=0)
    axes.set_xticks([], minor=True)
    for tick in ticks:
        axes.axvline(tick, color=QUIET if tick == 1 else LINE, lw=0.8, zorder=0)
    for row, rate in enumerate(rates):
        bounded = rate.low is not None and rate.high is not None and (rate.low == 0 or math.isinf(rate.high))
        if rate.low is not None and rate.high is not None:
            ends = max(rate.low, scale.low), min(rate.high, scale.high)
            axes.plot(ends, [row, row], color=INK, lw=1.3, ls=(0, (3, 2)) if bounded else "-")
        if not bounded:
            axes.plot([max(rate.ratio, scale.low)], [row], "s" if rate.is_yardstick else "o", color=INK, ms=4.5)


def _matrices(sheet: Sheet, y: float, metric: ElicitedMetric) -> float:
    """Draw costs and release factors side by side, of many classes the costs alone; return the y below them."""
    if len(metric.classes) > _MOST_CLASSES:
        note = f"The costs of {len(metric.classes)} classes do not fit on a page; they are in the metric file."
        return sheet.paragraph(MARGIN, y, note, 9, _INNER)
    few = len(metric.classes) <= _FEW_CLASSES
    width = _COLUMN if few else _INNER
    rows = sheet.paragraph(MARGIN, y, "Cost matrix", 11, width, bold=True) + 0.07
    sheet.label(
        MARGIN, rows, "Rows: truth. Columns: what the model says. 1 = the worst mistake.", 7.5, width, quiet=True
    )
    below = _matrix(sheet, MARGIN, rows + 0.1, width, metric.classes, cost_texts(metric))
    if not few:
        factors = "Release factors for MPCS: each row divided by its largest cost; they are in the metric file."
        return sheet.paragraph(MARGIN, below + 0.05, factors, 7.5, width, quiet=True)
    sheet.paragraph(_SECOND, y, "Release factors for MPCS", 11, width, bold=True)
    meaning = "How much each wrong name is of concern, within one truth. 1 = fully."
    sheet.label(_SECOND, rows, meaning, 7.5, width, quiet=True)
    _matrix(sheet, _SECOND, rows + 0.1, width, metric.classes, factor_texts(metric))
    return sheet.paragraph(_SECOND, below + 0.05, release_sentence(metric), 7.5, width, quiet=True)


def _matrix(sheet: Sheet, x: float, y: float, total: float, classes: Sequence[str], rows: Cells) -> float:
    """Draw one matrix of a total width, the truth in rows; return the y below it."""
    k = len(classes)
    head, gap = 0.2, 0.03
    name_width = min(1.2, total * 0.3)
    width, height = (total - name_width) / k, min(0.4, (_MATRIX_HEIGHT - head) / k)
    size = min(9.5, height * 72 * 0.5)
    for j, name in enumerate(classes):
        sheet.label(
            x + name_width + (j + 0.5) * width,
            y + head / 2,
            one_line(name),
            7.5,
            width - gap,
            align="center",
            bold=True,
        )
    for i, (name, row) in enumerate(zip(classes, rows, strict=True)):
        middle = y + head + (i + 0.5) * height
        sheet.label(x, middle, one_line(name), 7.5, name_width - 0.08, bold=True)
        for j, (number, beneath) in enumerate(row):
            left = x + name_width + j * width
            sheet.box(left + gap / 2, middle - height / 2 + gap / 2, width - gap, height - gap, filled=i == j)
            roomy = bool(beneath) and height > 0.3
            at = left + width / 2
            sheet.label(at, middle - (0.06 if roomy else 0), number, size, width - 2 * gap, align="center", bold=i != j)
            if roomy:
                sheet.label(at, middle + 0.09, beneath, 6.5, width - 2 * gap, align="center", quiet=True)
    return y + head + k * height


def _facts(sheet: Sheet, x: float, y: float, rows: Iterable[tuple[str, str]]) -> float:
    for what, value in rows:
        sheet.label(x, y + 0.07, what, 7.5, 1.6, quiet=True)
        y = sheet.paragraph(x + 1.7, y, value, 7.5, _COLUMN - 1.7)
    return y
