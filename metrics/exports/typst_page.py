"""The page as a tagged PDF (PDF/UA-1) on A4 sheets, made with Typst.

Every text enters the source as a Typst string, in which only backslashes and quotation marks are special.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.errors import require
from metrics.exports import page as blocks
from metrics.exports.page import one_line, pieces_of
from metrics.text import isolated

if TYPE_CHECKING:
    import typst


_STYLE = """
#let ink = rgb("#161A20")
#let quiet = rgb("#48505E")
#let hair = rgb("#D8DCE3")
#let sunken = rgb("#E9ECF0")
#set page(paper: "a4", margin: (x: 52pt, top: 48pt, bottom: 54pt), footer: context {
  line(length: 100%, stroke: 0.5pt + hair)
  v(-6pt)
  text(0.9em, fill: quiet, foot + h(1fr) + counter(page).display())
})
#set text(font: ("Inter", "DejaVu Sans"), size: SIZE, fill: ink, lang: "en", number-width: "tabular")
#set par(leading: 0.55em, spacing: 0.8em)
#show heading: set block(sticky: true)
#show heading.where(level: 1): set text(2.2 * SIZE, weight: "semibold")
#show heading.where(level: 2): set text(1.3 * SIZE, weight: "semibold")
#show heading.where(level: 2): set block(above: 1.4em, below: 0.7em)
#show heading.where(level: 3): set text(SIZE, weight: "semibold")
#show heading.where(level: 3): set block(above: 0.8em, below: 0.5em)
#set table(stroke: none, inset: (x: 3pt, y: 4pt))
#let small(body) = text(0.9em, fill: quiet, body)
#let next-sheet = context if here().position().y > 280pt { pagebreak(weak: true) } // a sheet hardly begun goes on
"""

_FEW_CLASSES, _MOST_CLASSES, _MOST_FACTS, _MOST_RATES = 5, 12, 26, 10
_KEPT = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}\N{NO-BREAK SPACE}"  # kept although `isprintable` is false
_PLOT = 0.75  # points per unit of a drawing
_LONG, _PIECE = re.compile(r"([^\s\-]{24,})"), 8
_SHARE = re.compile(r"(?<=\d) %")
_GOOD, _BAD = "\N{CHECK MARK}", "\N{WARNING SIGN}\N{VARIATION SELECTOR-15}"


def page_as_pdf(page: blocks.Page, created: datetime) -> bytes:
    """Return a page as a tagged PDF; on one machine the same page and creation time give the same file."""
    require("typst", "matplotlib")
    import typst

    fonts, moment = _fonts(), int(created.timestamp())
    # DejaVu's letters are a tenth larger than Inter's of the same size.
    source = page_as_typst(page, 10.0 if "Inter" in fonts.families() else 9.0).encode()
    try:
        return bytes(typst.compile(source, font_paths=fonts, pdf_standards=["ua-1"], timestamp=moment))
    except typst.TypstError:  # PDF/UA rejects characters that no font has; a page that does not conform beats none
        return bytes(typst.compile(source, font_paths=fonts, timestamp=moment))


def page_as_typst(page: blocks.Page, size: float = 10.0) -> str:
    """Return the Typst source of a page; `size` is that of its text in points."""
    parts = [
        f"#set document(title: {_quoted(page.title)})",
        f"#let foot = {_quoted(page.foot or page.title)}",
        _STYLE.replace("SIZE", f"{size:g}pt"),
        f"#heading(level: 1, {_text(page.title)})",
        "#v(-0.5em)",
        f"#text(fill: quiet, {_text(page.subtitle)})",
        "#line(length: 100%, stroke: 0.5pt + hair)",
    ]
    for half, sections in groupby(page.sections, key=lambda section: section.half):
        made = [_section(section) for section in sections]
        if half:
            made = [_beside(made[at : at + 2]) for at in range(0, len(made), 2)]
        parts += made
    return "\n".join(parts) + "\n"


def _beside(sections: list[str]) -> str:
    return f"#grid(columns: (1fr, 1fr), gutter: 18pt, {', '.join(f'[{one}]' for one in sections)})"


@cache
def _fonts() -> typst.Fonts:
    """Return the system's fonts, with matplotlib's as a fallback."""
    import matplotlib as mpl
    import typst

    return typst.Fonts(font_paths=[str(Path(mpl.get_data_path()) / "fonts" / "ttf")])


def _section(section: blocks.Section) -> str:
    title = [f"#heading(level: {section.level}, {_text(section.title)})"] if section.title else []
    made = "\n".join([*title, *map(_block, section.blocks)])
    made = f"#block(breakable: false, above: 18pt)[\n{made}\n]" if section.whole else made
    return f"#next-sheet\n{made}" if section.new_sheet else made


def _block(block: blocks.Block) -> str:
    match block:
        case blocks.Paragraph():
            return f"#par({_paragraph(block)})"
        case blocks.Card(paragraphs):
            inside = "; ".join(f"par({_paragraph(line)})" for line in paragraphs)
            return f"#block(width: 100%, stroke: 1.2pt + ink, radius: 6pt, inset: 12pt, breakable: false, {{{inside}}})"
        case blocks.Facts(rows):
            return _facts(rows)
        case blocks.Table():
            return _table(block)
        case blocks.Matrix(names, _, more) if len(names) > _MOST_CLASSES:
            return f"#par({_text(more)})"
        case blocks.Matrix(names, cells, _):
            return _matrix(names, cells)
        case blocks.Findings(found):
            lines = ", ".join(_finding(one) for one in found)
            return f"#grid(columns: (16pt, 1fr), row-gutter: 6pt, {lines})" if found else ""
        case blocks.Bullets(items):
            lines = ", ".join(f"[#strong({_text(lead)}) #{_text(text)}]" for lead, text in items)
            return f"#list(spacing: 0.7em, {lines})"
        case blocks.Signatures(signed):
            lines = ", ".join(f"[#line(length: 100%, stroke: 0.8pt) #v(-3pt) #small({_text(name)})]" for name in signed)
            return f"#v(26pt)\n#grid(columns: (1fr,) * {len(signed)}, gutter: 20pt, {lines})"
        case blocks.RatePlot():
            return _rates(block)


def _finding(one: blocks.Finding) -> str:
    detail = f" #linebreak() #small({_text(one.detail)})" if one.detail else ""
    return f"{_text(_GOOD if one.good else _BAD)}, [#strong({_text(one.headline)}){detail}]"


def _paragraph(paragraph: blocks.Paragraph) -> str:
    pieces = " + ".join(
        f"strong({_text(one.text)})" if one.strong else _text(one.text) for one in pieces_of(paragraph.text)
    )
    if paragraph.kind == "plain":
        return f"[#({pieces})]"
    look = "size: 1.5em" if paragraph.kind == "lead" else "size: 0.9em, fill: quiet"
    return f"text({look}, [#({pieces})])"


def _facts(rows: tuple[tuple[str, str], ...]) -> str:
    """Place one fact per line; if there are very many, run them together in one paragraph."""
    if len(rows) > _MOST_FACTS:
        text = "; ".join(f"{name}: {value}" for name, value in rows[:_MOST_FACTS])
        return f"#par(small({_text(f'{text}; the others are in the metric file.')}))"
    cells = ", ".join(f"small({_text(what)}), text(0.9em, {_quoted(one_line(value))})" for what, value in rows)
    return f"#grid(columns: (auto, 1fr), column-gutter: 12pt, row-gutter: 5pt, {cells})"


def _table(table: blocks.Table) -> str:
    columns = ["auto"] * len(table.heads)
    columns[table.widest] = "1fr"
    plot = table.plot
    if plot is not None:
        columns[plot] = f"{_PLOT * table.plot_width:.0f}pt"
    align = ", ".join("right + horizon" if at in table.right else "left + horizon" for at in range(len(columns)))
    heads = ", ".join(f"[#small[{_lines(head)}]]" for head in table.heads)
    rows = [", ".join(map(_cell, row)) for row in table.rows]
    if table.foot is not None and plot is not None:
        rows.append(", ".join(_image(table.foot) if at == plot else "[]" for at in range(len(columns))))
    inset = "inset: (x, y) => (x: 3pt, y: if x == PLOT { 0pt } else { 2.5pt }), ".replace("PLOT", str(plot))
    return (
        f"#table(columns: ({', '.join(columns)},), align: ({align},), "
        f"{inset if plot is not None else ''}stroke: (x, y) => if y > 0 {{ (top: 0.5pt + hair) }}, "
        f"table.header({heads}), {', '.join(rows)})"
    )


def _lines(text: str) -> str:
    return " #linebreak() ".join(f"#{_text(line)}" for line in text.split("\n"))


def _cell(cell: blocks.Cell | blocks.Picture) -> str:
    if isinstance(cell, blocks.Picture):
        return _image(cell)
    content = f"strong({_text(cell.text)})" if cell.strong else _text(cell.text)
    beneath = f" #linebreak() #small({_text(cell.beneath)})" if cell.beneath else ""
    beside = f" #small({_text(cell.beside)})" if cell.beside else ""
    return f"[#{content}{beneath}{beside}]"


def _image(picture: blocks.Picture) -> str:
    return f'image(bytes({_quoted(picture.svg)}), format: "svg", width: 100%, alt: {_quoted(picture.alt)})'


def _rates(plot: blocks.RatePlot) -> str:
    """Draw the exchange rates; if there are many, only the worst."""
    shown = plot.worst(_MOST_RATES)
    made = _table(shown.table(plot.axis))
    if len(shown.rates) == len(plot.rates):
        return made
    more = f"The mistakes that count most, and the yardstick; all {len(plot.rates)} are in the metric file."
    return f"{made}\n#par(small({_text(more)}))"


def _matrix(names: tuple[str, ...], cells: list[list[tuple[str, str]]]) -> str:
    """Draw a matrix with the truth in rows."""
    k = len(names)
    size = "9pt" if k <= _FEW_CLASSES else "6.5pt"
    heads = ", ".join(['[#small("truth")]', *(f"strong({_text(name)})" for name in names)])
    rows = []
    for i, (name, row) in enumerate(zip(names, cells, strict=True)):
        boxes = [f"strong({_text(name)})"]
        for j, (number, beneath) in enumerate(row):
            under = f" #linebreak() #text(0.8em, fill: quiet, {_text(beneath)})" if beneath else ""
            boxes.append(f"table.cell(fill: {'sunken' if i == j else 'none'}, [#{_text(number)}{under}])")
        rows.append(", ".join(boxes))
    return (
        f"#text({size}, table(columns: (auto, {'1fr, ' * k}), align: (x, y) => if x == 0 {{ left + horizon }} "
        f"else {{ center + horizon }}, stroke: (x, y) => if x > 0 and y > 0 {{ 0.5pt + hair }}, "
        f"table.header({heads}), {', '.join(rows)}))"
    )


def _text(text: str) -> str:
    """Return a Typst expression for a text; a word too long for a column may break anywhere."""
    text = _SHARE.sub("\N{NO-BREAK SPACE}%", text)
    pieces = [piece for word in _LONG.split(text) for piece in _broken(word)]
    return f"({' + h(0pt) + '.join(map(_quoted, pieces))})"


def _broken(part: str) -> list[str]:
    return [part[at : at + _PIECE] for at in range(0, len(part), _PIECE)] if _LONG.fullmatch(part) else [part]


def _quoted(text: str) -> str:
    r"""Return a Typst string literal.

    >>> print(_quoted('a "b" \\ #c'))
    "a \"b\" \\ #c"
    """
    shown = "".join(letter if letter.isprintable() or letter in _KEPT else " " for letter in text)
    return '"' + isolated(shown).replace("\\", "\\\\").replace('"', '\\"') + '"'
