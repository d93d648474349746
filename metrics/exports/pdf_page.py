"""The page as PDF on sheets of A4: the same sections as in HTML, from top to bottom, half sections side by side."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import font_manager

from metrics.display.axes import LogAxis
from metrics.display.numbers import two_digits
from metrics.elicited.exchange import ExchangeRate
from metrics.exports.page import Block, Facts, Matrix, Page, Paragraph, RatePlot, Section, metric_page
from metrics.exports.pdf_sheet import HEIGHT, INK, LINE, MARGIN, QUIET, WIDTH, Sheet

if TYPE_CHECKING:
    from datetime import datetime

    from matplotlib.figure import Figure

    from metrics.elicited.elicited_metric import ElicitedMetric

_INNER = WIDTH - 2 * MARGIN
_GAP = 0.4
_COLUMN = (_INNER - _GAP) / 2
_BOTTOM = HEIGHT - MARGIN / 2
_SURELY_ROOM = 5.0  # above this place every row of sections fits
_LONGEST_TEXT = 900
_LONGEST_TITLE = 110
_MOST_RATES = 8
_RATE_HEIGHT = 0.29
_MATRIX_HEIGHT = 1.9
_FEW_CLASSES = 5
_MOST_CLASSES = 20
_SIZES = {"lead": 14.0, "plain": 9.0, "quiet": 7.5}
_FONTS = ("Inter", "DejaVu Sans", "Noto Sans CJK JP", "Noto Sans", "Segoe UI", "Microsoft YaHei", "PingFang SC")


def pdf_page(metric: ElicitedMetric) -> bytes:
    """Return the page as PDF; the same metric gives the same bytes on the same system."""
    return page_as_pdf(metric_page(metric), metric.name, metric.created)


def page_as_pdf(page: Page, title: str, created: datetime) -> bytes:
    """Return a page as PDF, on as many sheets as it needs; `title` and `created` are the file's own."""
    from matplotlib.backends.backend_pdf import PdfPages

    content = io.BytesIO()
    about = {"Title": title, "Creator": "elicit", "CreationDate": created}
    with mpl.rc_context(page_settings()), warnings.catch_warnings():
        # A letter that no installed font has is drawn as a box; that is no reason not to write the page.
        warnings.filterwarnings("ignore", message="Glyph")
        with PdfPages(content, metadata=about) as pages:
            for figure in page_figures(page):
                pages.savefig(figure)
    return content.getvalue()


def page_settings() -> dict[Any, Any]:
    """Return matplotlib settings: dollar signs are plain text, only installed fonts, letters stay text."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    families = [name for name in _FONTS if name in installed]
    return {"font.family": families, "text.parse_math": False, "pdf.fonttype": 42}


def page_figures(page: Page) -> list[Figure]:
    """Return the sheets as figures; a row of sections that does not fit any more begins the next one."""
    title = page.title if len(page.title) <= _LONGEST_TITLE else page.title[: _LONGEST_TITLE - 1] + "…"
    sheet, sheets = Sheet(), list[Sheet]()
    y = sheet.paragraph(MARGIN, MARGIN, title, 19, _INNER, bold=True)
    y = sheet.paragraph(MARGIN, y, page.subtitle, 9, _INNER, quiet=True) + 0.15
    for row in _rows(page.sections):
        if y > _SURELY_ROOM and y + _draw_row(Sheet(), 0.0, row) > _BOTTOM:
            sheets.append(sheet)
            sheet, y = Sheet(), MARGIN
        y = _draw_row(sheet, y, row) + 0.2
    return [one.figure for one in (*sheets, sheet)]


def _rows(sections: Sequence[Section]) -> Iterator[tuple[Section, ...]]:
    """Yield the sections that stand beside each other: two half ones, or one that needs the whole width."""
    for half, group in groupby(sections, key=lambda section: section.half and not _wide(section)):
        waiting = list(group)
        for start in range(0, len(waiting), 2 if half else 1):
            yield tuple(waiting[start : start + (2 if half else 1)])


def _wide(section: Section) -> bool:
    return any(
        isinstance(block, Matrix) and _FEW_CLASSES < len(block.names) <= _MOST_CLASSES for block in section.blocks
    )


def _draw_row(sheet: Sheet, y: float, row: tuple[Section, ...]) -> float:
    """Draw sections beside each other; return the y below the longest."""
    width = _COLUMN if row[0].half and not _wide(row[0]) else _INNER
    return max(
        _draw_section(sheet, MARGIN + place * (width + _GAP), y, width, section) for place, section in enumerate(row)
    )


def _draw_section(sheet: Sheet, x: float, y: float, width: float, section: Section) -> float:
    if section.title:
        y = sheet.paragraph(x, y, section.title, 11, width, bold=True) + 0.05
    for block in section.blocks:
        y = _draw(sheet, x, y, width, block) + 0.05
    return y


def _draw(sheet: Sheet, x: float, y: float, width: float, block: Block) -> float:
    """Draw a block; return the y below it."""
    match block:
        case Paragraph(text, kind):
            if len(text) > _LONGEST_TEXT:
                text = f"{text[:_LONGEST_TEXT].rsplit(' ', 1)[0]} … and more, in the metric file."
            return sheet.paragraph(x, y, text, _SIZES[kind], width, bold=kind == "lead", quiet=kind == "quiet")
        case Matrix(names, _, more) if len(names) > _MOST_CLASSES:
            return sheet.paragraph(x, y, more, 9, width)
        case Matrix(names, cells, _):
            return _matrix(sheet, x, y, width, names, cells)
        case Facts(rows):
            return _facts(sheet, x, y, width, rows)
        case RatePlot():
            return _rates(sheet, x, y, width, block)


def _facts(sheet: Sheet, x: float, y: float, width: float, rows: Sequence[tuple[str, str]]) -> float:
    """Place one fact a line; very many short ones one after the other."""
    if len(rows) > _MOST_CLASSES:
        said = "; ".join(f"{name}: {value}" for name, value in rows[:_MOST_CLASSES])
        return sheet.paragraph(x, y, f"{said}; the others are in the metric file.", 7.5, width)
    for what, value in rows:
        sheet.label(x, y + 0.07, what, 7.5, 1.5, quiet=True)
        y = sheet.paragraph(x + 1.7, y, value, 7.5, width - 1.7)
    return y


def _rates(sheet: Sheet, x: float, y: float, width: float, everything: RatePlot) -> float:
    """Draw the exchange rates, the worst ones where there are many; return the y below them."""
    shown = everything.worst(_MOST_RATES)
    for row, (rate, (name, beneath)) in enumerate(zip(shown.rates, shown.names, strict=True)):
        middle = y + (row + 0.5) * _RATE_HEIGHT
        _stacked(sheet, x, middle, name, beneath, 2.2, "left")
        _stacked(sheet, x + width, middle, rate.in_words(), rate.range_in_words(), 1.1, "right")
    height = len(shown.rates) * _RATE_HEIGHT
    _rate_plot(sheet, x + 2.4, y, width - 3.6, height, shown.rates)
    y += height + 0.2
    if len(shown.rates) < len(everything.rates):
        more = f"The mistakes that count most, and the yardstick; all {len(everything.rates)} are in the metric file."
        y = sheet.paragraph(x, y, more, 7.5, width, quiet=True)
    return y


def _stacked(sheet: Sheet, x: float, y: float, text: str, beneath: str, width: float, align: str) -> None:
    """Place a bold line and a quiet one beneath it, both centred on y together."""
    sheet.label(x, y - (0.06 if beneath else 0), text, 8.5, width, align=align, bold=True)
    if beneath:
        sheet.label(x, y + 0.07, beneath, 7, width, align=align, quiet=True)


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


def _matrix(
    sheet: Sheet, x: float, y: float, total: float, classes: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]]
) -> float:
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
            name,
            7.5,
            width - gap,
            align="center",
            bold=True,
        )
    for i, (name, row) in enumerate(zip(classes, rows, strict=True)):
        middle = y + head + (i + 0.5) * height
        sheet.label(x, middle, name, 7.5, name_width - 0.08, bold=True)
        for j, (number, beneath) in enumerate(row):
            left = x + name_width + j * width
            sheet.box(left + gap / 2, middle - height / 2 + gap / 2, width - gap, height - gap, filled=i == j)
            roomy = bool(beneath) and height > 0.3
            at = left + width / 2
            sheet.label(at, middle - (0.06 if roomy else 0), number, size, width - 2 * gap, align="center", bold=i != j)
            if roomy:
                sheet.label(at, middle + 0.09, beneath, 6.5, width - 2 * gap, align="center", quiet=True)
    return y + head + k * height
