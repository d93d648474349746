"""The full picture: the predictions for the cases of each class on both sides, as a flow and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements.painting import (
    Glyph,
    Painted,
    annotate,
    box,
    paint_badge,
    paint_glyph,
    side_colours,
    wrapped_height,
    write,
    write_wrapped,
)
from elicit_app.gui.theme import CENTRE, LEFT, RIGHT, Role, em, font
from elicit_app.session.pair_words import Branch, Leaf, branches, letter_of
from elicit_app.session.views import Side
from elicit_app.study.model import Wording

BESIDE_NUMBER = 10
SIGN = 10  # side of the triangle before "12 more", at the base font
_LEAST_NAME = 60  # least width of a wrapped name at the base font


def prediction_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of predictions."""
    return font(Role.FLOW, compact=compact, weight=600 if strong else 400)


def number_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of a number."""
    return font(Role.TITLE if strong else Role.SECTION, compact=compact, weight=600 if strong else 400)


def truth_font() -> QFont:
    """Return the font of the name of a truth."""
    return font(Role.STRONG)


def truth_line(branch: Branch) -> str:
    """Return number and name of a truth on one line."""
    return f"{branch.total:,} · {branch.truth}"


def truth_width(place: FlowPlace) -> float:
    """Return the width of the text in the box of a truth."""
    return 2 * place.box - theme.S


def more_font() -> QFont:
    """Return the font of "12 more"."""
    return font(Role.MINOR, weight=600)


@dataclass(frozen=True)
class FlowPlace:
    """The columns, as distances from the middle."""

    width: float
    box: float  # half the width of the box of a truth
    # start of the names, and their greatest width
    names: float
    name_width: float
    number: float  # end of the numbers
    bars: float  # start of the bars
    per_case: float  # bar length per case

    def span(self, side: Side, start: float, width: float, y: float, height: float) -> QRectF:
        """Return a box that starts at `start` from the middle, `width` wide and vertically centred on `y`."""
        middle = self.width / 2
        left = middle - start - width if side == "left" else middle + start
        return QRectF(left, y - height / 2, width, height)


def flow_place(shown: tuple[Branch, ...], width: float, *, compact: bool) -> FlowPlace:
    """Return the columns: numbers in full, names as wide as the longest if there is room, and bars in the rest."""
    half = width / 2
    leaves = [leaf for branch in shown for leaf in branch.leaves]
    names, strong = QFontMetricsF(prediction_font(compact=compact, strong=True)), QFontMetricsF(truth_font())
    numbers = QFontMetricsF(number_font(compact=compact, strong=True))
    digits = max(numbers.horizontalAdvance(f"{max(leaf.left, leaf.right):,}") for leaf in leaves)
    truth = max(strong.horizontalAdvance(branch.truth) for branch in shown)
    box = min(max(em(44 if compact else 95), truth / 2 + theme.S), half * (0.18 if compact else 0.25))
    start = box + (28 if compact else em(58))
    gap = 12 if compact else em(16)
    beyond = BESIDE_NUMBER + _after_bars(leaves) + theme.S
    longest = max(names.horizontalAdvance(leaf.called) for leaf in leaves) + 2
    name_width = min(longest, max(em(_LEAST_NAME), half - start - gap - digits - beyond))
    number = start + max(name_width, 0 if compact else min(em(102), half * 0.2)) + gap + digits
    bars = number + BESIDE_NUMBER
    wrong = [max(leaf.left, leaf.right) for leaf in leaves if not leaf.correct]
    length = max(theme.XS, half - theme.S - _after_bars(leaves) - bars)
    return FlowPlace(width, box, start, name_width, number, bars, length / max(1, *wrong, 1))


def _after_bars(leaves: list[Leaf]) -> float:
    """Return the width after the longest bar: triangle and "12 more", at least as wide as the glyph and "correct"."""
    surplus = max(leaf.surplus for leaf in leaves)
    more = em(SIGN) + 6 + QFontMetricsF(more_font()).horizontalAdvance(f"{surplus:,} more") + theme.M
    return max(more, em(14) + 6 + QFontMetricsF(font(Role.BODY)).horizontalAdvance("correct"))


def leaf_heights(branch: Branch, place: FlowPlace, usual: int, *, compact: bool) -> list[float]:
    """Return the least heights of the leaves of a truth.

    `usual` at the base font; more if a name is wrapped or the box of the truth needs it.
    """
    face = prediction_font(compact=compact, strong=True)
    heights = [max(em(usual), wrapped_height(leaf.called, face, place.name_width)) for leaf in branch.leaves]
    box = max(2 * em(usual), wrapped_height(truth_line(branch), truth_font(), truth_width(place)) + theme.XS)
    return [height * max(1.0, box / sum(heights)) for height in heights]


_SIDES: tuple[Side, Side] = ("left", "right")
_SAYS = "the model says"


class FlowPainter:
    """Paints the parts of the view with one painter and one set of columns."""

    def __init__(self, painter: QPainter, place: FlowPlace, colours: theme.Tokens, *, compact: bool) -> None:
        self._painter, self._place, self._colours, self._compact = painter, place, colours, compact
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def head(self, height: float) -> None:
        painter, place, y = self._painter, self._place, height / 2
        side = em(26 if self._compact else 30)
        face = font(Role.LABEL)
        width = QFontMetricsF(face).horizontalAdvance(_SAYS) + 2
        for each in _SIDES:
            paint_badge(painter, letter_of(each), place.span(each, place.names, side, y, side), self._colours)
            beside = place.span(each, place.names + side + theme.S, width, y, height)
            write(painter, beside, _SAYS, face, self._colours.ink2, CENTRE)
        middle = place.span("right", -place.box, 2 * place.box, y, height)
        write(painter, middle, "Truth", face, self._colours.ink2, CENTRE)

    def branch(self, branch: Branch, rect: QRectF, heights: list[float]) -> None:
        top = rect.top()
        for leaf, height in zip(branch.leaves, heights, strict=True):
            for side in _SIDES:
                self._curve(leaf, rect.center().y(), top + height / 2, side)
                self._leaf(leaf, top + height / 2, height, side)
            top += height
        self._truth(branch, rect)

    def _truth(self, branch: Branch, rect: QRectF) -> None:
        painter, place = self._painter, self._place
        number, name, width = font(Role.TITLE, compact=self._compact), truth_font(), truth_width(place)
        upper, lower = QFontMetricsF(number).height(), wrapped_height(branch.truth, name, width)
        wanted = upper + lower + theme.XS
        high = min(rect.height() - 2, max(wanted + theme.XS, em(64) if rect.height() > em(90) else 0))
        frame = place.span("right", -place.box, 2 * place.box, rect.center().y(), high)
        box(painter, frame, theme.BUTTON_RADIUS, fill=self._colours.sunken, border=self._colours.line2)
        ink = self._colours.ink
        if high < wanted:
            write_wrapped(painter, frame.adjusted(theme.XS, 0, -theme.XS, 0), truth_line(branch), name, ink)
            return
        top = frame.center().y() - (upper + lower) / 2
        write(painter, QRectF(frame.left(), top, frame.width(), upper), f"{branch.total:,}", number, ink, CENTRE)
        write_wrapped(painter, QRectF(frame.left() + theme.XS, top + upper, width, lower), branch.truth, name, ink)

    def _curve(self, leaf: Leaf, start: float, y: float, side: Side) -> None:
        place, outwards = self._place, -1 if side == "left" else 1
        middle = place.width / 2
        near, far = middle + outwards * place.box, middle + outwards * (place.names - theme.S)
        bend = (near + far) / 2
        path = QPainterPath(QPointF(near, start))
        path.cubicTo(QPointF(bend, start), QPointF(bend, y), QPointF(far, y))
        ink, width = (self._colours.ink, 2.0) if leaf.differs else (self._colours.line2, 1.0)
        self._painter.strokePath(path, QPen(ink, width))

    def _leaf(self, leaf: Leaf, y: float, high: float, side: Side) -> None:
        painter, place = self._painter, self._place
        count = leaf.left if side == "left" else leaf.right
        ink = self._colours.ink if leaf.differs else self._colours.ink3
        name = place.span(side, place.names, place.name_width, y, high)
        face = prediction_font(compact=self._compact, strong=leaf.differs)
        write_wrapped(painter, name, leaf.called, face, ink, RIGHT if side == "left" else LEFT)
        face = number_font(compact=self._compact, strong=leaf.differs)
        width = QFontMetricsF(face).horizontalAdvance(f"{count:,}") + 2
        number = place.span(side, place.number - width, width, y, high)
        write(painter, number, f"{count:,}", face, ink, LEFT if side == "left" else RIGHT)
        if leaf.correct:
            self._correct(y, high, side)
        else:
            self._bar(leaf, count, y, high, side)

    def _correct(self, y: float, high: float, side: Side) -> None:
        painter, place, ink, face = self._painter, self._place, self._colours.ink3, font(Role.BODY)
        paint_glyph(painter, Glyph.CHECK, place.span(side, place.bars, em(14), y, high), ink)
        width = QFontMetricsF(face).horizontalAdvance("correct") + 2
        write(painter, place.span(side, place.bars + em(14) + 6, width, y, high), "correct", face, ink, CENTRE)

    def _bar(self, leaf: Leaf, count: int, y: float, high: float, side: Side) -> None:
        painter, place = self._painter, self._place
        common, thick = min(leaf.left, leaf.right), min(em(14), high - 5)
        painter.fillRect(place.span(side, place.bars, common * place.per_case, y, thick), self._colours.unit)
        if count == common:
            return
        hue, soft = side_colours(self._colours, letter_of(side))
        start, length = place.bars + common * place.per_case, (count - common) * place.per_case
        around = place.span(side, start, length + 4, y, thick + 5)
        painter.setBrush(soft)
        painter.setPen(QPen(hue, 1.5))
        painter.drawRect(around)
        painter.fillRect(around.adjusted(2, 2.5, -2, -2.5), hue)
        self._more(leaf, start + length + 4 + theme.S, y, high, side)

    def _more(self, leaf: Leaf, start: float, y: float, high: float, side: Side) -> None:
        painter, words, sign = self._painter, f"{leaf.surplus:,} more", em(SIGN)
        width = QFontMetricsF(more_font()).horizontalAdvance(words) + 2
        whole = self._place.span(side, start, sign + 6 + width, y, high)
        hue, _ = side_colours(self._colours, letter_of(side))
        paint_glyph(painter, Glyph.MORE, QRectF(whole.left(), whole.top(), sign, high), hue)
        write(painter, whole.adjusted(sign + 6, 0, 0, 0), words, more_font(), self._colours.ink, CENTRE)


MOST_CLASSES = 5  # above this many classes, equal branches are merged


class FullPicture(QLabel):
    """Base of the full pictures: a painted label whose accessible name lists every number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.full: tuple[Branch, ...] = ()
        self.condensed: tuple[Branch, ...] = ()

    def show_pair(self, left: Counts, right: Counts, wording: Wording) -> None:
        self.condensed = branches(left, right, wording, condensed=True)
        few = len(left) <= MOST_CLASSES
        self.full = branches(left, right, wording) if few else self.condensed
        annotate(self, name=". ".join(_spoken(branch) for branch in self.full))
        self.update()

    def needed_height(self, width: int) -> int:
        raise NotImplementedError

    def wanted_height(self, width: int) -> int:
        raise NotImplementedError


def _spoken(branch: Branch) -> str:
    leaves = [
        f"{leaf.called}{', correct' if leaf.correct else ''}: {leaf.left:,} in A, {leaf.right:,} in B"
        for leaf in branch.leaves
    ]
    return f"Truth {branch.truth}, {branch.total:,}; model says " + "; ".join(leaves)


class Spacing(NamedTuple):
    """The heights of the head and of a leaf at the base font, and the free pixels around a branch."""

    head: int
    leaf: int
    around: int


_EASY, _TIGHT, _MOST_LEAF = Spacing(48, 20, 11), Spacing(36, 17, 4), 36


class FlowView(Painted, FullPicture):
    """The wide form: truths in the middle, branches and bars on both sides, grey except for differences."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._compact = False

    def set_compact(self, compact: bool) -> None:
        self._compact = compact
        self.update()

    def needed_height(self, width: int) -> int:
        return self._height(self.condensed, width, _TIGHT, _TIGHT.leaf)

    def wanted_height(self, width: int) -> int:
        return self._height(self.full, width, _EASY, _MOST_LEAF)

    def _height(self, shown: tuple[Branch, ...], width: int, spacing: Spacing, leaf: int) -> int:
        if not shown:
            return 0
        place = flow_place(shown, width, compact=self._compact)
        leaves = sum(sum(leaf_heights(branch, place, leaf, compact=self._compact)) for branch in shown)
        return round(em(spacing.head) + leaves + len(shown) * (spacing.around + 1) + 0.5)

    def sizeHint(self) -> QSize:
        return QSize(em(600), self.wanted_height(em(600)))

    def shown(self) -> tuple[Branch, ...]:
        """Return what fits: all branches, or the differing ones with the rest merged."""
        full = self._height(self.full, self.width(), _TIGHT, _TIGHT.leaf)
        return self.full if full <= self.height() else self.condensed

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        shown = self.shown()
        if not shown:
            return
        easy = self._height(shown, self.width(), _EASY, _EASY.leaf) <= self.height()
        spacing = _EASY if easy else _TIGHT
        head = em(spacing.head)
        place = flow_place(shown, self.width(), compact=self._compact)
        least = [leaf_heights(branch, place, spacing.leaf, compact=self._compact) for branch in shown]
        stretch = (self.height() - head - len(shown) * (spacing.around + 1)) / sum(map(sum, least))
        y = float(head)
        parts = FlowPainter(painter, place, colours, compact=self._compact)
        parts.head(head)
        for branch, leaves in zip(shown, least, strict=True):
            painter.fillRect(QRectF(theme.S, round(y), self.width() - 2 * theme.S, 1), colours.line)
            heights = [height * stretch for height in leaves]
            high = sum(heights)
            y += 1 + spacing.around / 2
            parts.branch(branch, QRectF(0, y, self.width(), high), heights)
            y += high + spacing.around / 2


_HEAD, _TRUTH, _LEAF = 32, 26, 22


class FlowList(Painted, FullPicture):
    """The narrow form: grey except for differences, without bars and curves."""

    smooth = True

    def needed_height(self, width: int) -> int:
        return round(self._head(width) + sum(sum(self.heights(branch, width)) for branch in self.full) + theme.S)

    def _head(self, width: int) -> float:
        return max(
            em(_HEAD), wrapped_height(_SAYS, prediction_font(compact=True, strong=False), width - 2 * self.side())
        )

    def wanted_height(self, width: int) -> int:
        return self.needed_height(width)

    def side(self) -> float:
        numbers, more = QFontMetricsF(number_font(compact=True, strong=True)), QFontMetricsF(more_font())
        leaves = [leaf for branch in self.full for leaf in branch.leaves]
        digits = max((numbers.horizontalAdvance(f"{max(leaf.left, leaf.right):,}") for leaf in leaves), default=0.0)
        surplus = max((leaf.surplus for leaf in leaves if leaf.differs), default=0)
        return theme.S + em(SIGN) + 6 + more.horizontalAdvance(f"{surplus:,} more") + theme.S + digits + theme.S

    def heights(self, branch: Branch, width: int) -> list[float]:
        room, face = self.name_width(width), prediction_font(compact=True, strong=True)
        truth = max(em(_TRUTH), wrapped_height(_truth(branch), truth_font(), width - 2 * theme.M) + theme.S)
        return [truth, *(max(em(_LEAF), wrapped_height(leaf.called, face, room)) for leaf in branch.leaves)]

    def name_width(self, width: int) -> float:
        return width - 2 * self.side() - em(16)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        y = self._head(self.width())
        self._paint_head(painter, colours)
        for branch in self.full:
            truth, *leaves = self.heights(branch, self.width())
            line = QRectF(theme.S, y, self.width() - 2 * theme.S, truth)
            box(painter, line, theme.BUTTON_RADIUS, fill=colours.sunken)
            write_wrapped(painter, line, _truth(branch), truth_font(), colours.ink)
            y += truth
            for leaf, high in zip(branch.leaves, leaves, strict=True):
                self._paint_leaf(painter, leaf, QRectF(0, y, self.width(), high), colours)
                y += high

    def _paint_head(self, painter: QPainter, colours: theme.Tokens) -> None:
        badge, high = em(24), self._head(self.width())
        for each in _SIDES:
            x = self.side() - theme.S - badge if each == "left" else self.width() - self.side() + theme.S
            paint_badge(painter, letter_of(each), QRectF(x, (high - badge) / 2, badge, badge), colours)
        middle = QRectF(self.side(), 0, self.width() - 2 * self.side(), high)
        write_wrapped(painter, middle, _SAYS, prediction_font(compact=True, strong=False), colours.ink2)

    def _paint_leaf(self, painter: QPainter, leaf: Leaf, rect: QRectF, colours: theme.Tokens) -> None:
        ink, side = colours.ink if leaf.differs else colours.ink3, self.side()
        face = prediction_font(compact=True, strong=leaf.differs)
        middle = rect.adjusted(side, 0, -side, 0)
        if leaf.correct:
            text = QFontMetricsF(face).horizontalAdvance(leaf.called)
            x = max(middle.left(), middle.center().x() - text / 2 - em(16))
            paint_glyph(painter, Glyph.CHECK, QRectF(x, rect.top(), em(12), rect.height()), ink)
        write_wrapped(painter, middle.adjusted(em(8), 0, -em(8), 0), leaf.called, face, ink)
        for each in _SIDES:
            self._paint_number(painter, leaf, each, rect, ink, colours)

    def _paint_number(
        self, painter: QPainter, leaf: Leaf, side: Side, rect: QRectF, ink: QColor, colours: theme.Tokens
    ) -> None:
        count, other = (leaf.left, leaf.right) if side == "left" else (leaf.right, leaf.left)
        face = number_font(compact=True, strong=leaf.differs)
        wide = QFontMetricsF(face).horizontalAdvance(f"{count:,}") + 2
        near = self.side() - theme.S - wide if side == "left" else self.width() - self.side() + theme.S
        write_wrapped(painter, QRectF(near, rect.top(), wide, rect.height()), f"{count:,}", face, ink)
        if not leaf.differs or count < other:
            return
        words, sign = f"{leaf.surplus:,} more", em(SIGN)
        more = QFontMetricsF(more_font()).horizontalAdvance(words) + 2
        x = near - theme.S - more - 6 - sign if side == "left" else near + wide + theme.S
        hue, _ = side_colours(colours, letter_of(side))
        paint_glyph(painter, Glyph.MORE, QRectF(x, rect.top(), sign, rect.height()), hue)
        place = QRectF(x + sign + 6, rect.top(), more, rect.height())
        write_wrapped(painter, place, words, more_font(), colours.ink)


def _truth(branch: Branch) -> str:
    return f"Truth: {truth_line(branch)}"
