"""The full picture: for every truth in the middle, what the model says in A to the left and in B to the right."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements import Glyph, box, paint_badge, paint_glyph, side_colours
from elicit_app.gui.theme import Role, em, font
from elicit_app.session.branches import Branch, Leaf, branches
from elicit_app.session.ledger import letter_of
from elicit_app.session.views import Side
from elicit_app.study.model import Wording

MOST_CLASSES = 5
"""Above this many classes what is the same is joined."""

_LEAST_LEAF, _MOST_LEAF = 19, 36
_HEAD = 48
_BETWEEN_BRANCHES = 11
Rows = Qt.AlignmentFlag
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_WRAP = Qt.TextFlag.TextWordWrap


@dataclass(frozen=True)
class FlowPlace:
    """Columns of the view, for the right side; the left one mirrors them. All from the middle outwards."""

    box: float
    names: float
    name_width: float
    number: float
    bars: float
    end: float


class FlowView(QLabel):
    """A painted label: grey but for what differs; its accessible name lists every number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full: tuple[Branch, ...] = ()
        self._condensed: tuple[Branch, ...] = ()
        self._compact = False

    def show_pair(self, left: Counts, right: Counts, wording: Wording, *, compact: bool) -> None:
        """Show a pair of confusion matrices; rows are true classes."""
        self._compact = compact
        self._condensed = branches(left, right, wording, condensed=True)
        few = len(left) <= MOST_CLASSES
        self._full = branches(left, right, wording) if few else self._condensed
        self.setAccessibleName(". ".join(_spoken(branch) for branch in self._full))
        self.update()

    def needed_height(self) -> int:
        """Return the least height in which no line is cut."""
        return self._height_of(self._condensed, em(_LEAST_LEAF))

    def wanted_height(self) -> int:
        """Return the height at which the view looks best."""
        return self._height_of(self._full, em(_MOST_LEAF))

    def _height_of(self, shown: tuple[Branch, ...], leaf: float) -> int:
        leaves = sum(max(2, len(branch.leaves)) for branch in shown)
        return round(em(_HEAD) + leaves * leaf + len(shown) * (_BETWEEN_BRANCHES + 1))

    def sizeHint(self) -> QSize:
        return QSize(em(600), self.wanted_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(em(400), self.needed_height())

    def shown(self) -> tuple[Branch, ...]:
        """Return what there is room for: everything, or what differs with the rest joined."""
        return self._full if self._height_of(self._full, em(_LEAST_LEAF)) <= self.height() else self._condensed

    # measures

    def _face(self, strong: bool = False) -> QFont:
        return font(Role.FLOW, compact=self._compact, weight=600 if strong else 400)

    def _number_face(self, strong: bool) -> QFont:
        return font(Role.TITLE if strong else Role.SECTION, compact=self._compact, weight=600 if strong else 400)

    def _place(self, shown: tuple[Branch, ...]) -> FlowPlace:
        """Return the columns: names and numbers as wide as their longest text, the bars get the rest."""
        names, numbers = QFontMetricsF(self._face(strong=True)), QFontMetricsF(self._number_face(strong=True))
        leaves = [leaf for branch in shown for leaf in branch.leaves]
        half = self.width() / 2
        longest = max(names.horizontalAdvance(leaf.said) for leaf in leaves)
        number = max(numbers.horizontalAdvance(f"{max(leaf.left, leaf.right):,}") for leaf in leaves)
        truths = [QFontMetricsF(font(Role.STRONG)).horizontalAdvance(branch.truth) for branch in shown]
        box_half = min(max(em(64 if self._compact else 95), max(truths) / 2 + theme.S), half * 0.25)
        start = box_half + em(34 if self._compact else 58)
        width = min(longest, half * 0.3)
        digits = start + max(width, em(90 if self._compact else 110)) + theme.M + number
        return FlowPlace(box_half, start, width + 2, digits, digits + 10, half - em(100))

    def _per_case(self, shown: tuple[Branch, ...], place: FlowPlace) -> float:
        wrong = [max(leaf.left, leaf.right) for branch in shown for leaf in branch.leaves if not leaf.correct]
        return max(em(20), place.end - place.bars) / max(1, *wrong) if wrong else 1.0

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.shown()
        if not shown:
            return
        place, colours = self._place(shown), theme.tokens(self)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_head(painter, place, colours)
            leaves = sum(max(2, len(branch.leaves)) for branch in shown)
            air = len(shown) * (_BETWEEN_BRANCHES + 1)
            leaf = (self.height() - em(_HEAD) - air) / leaves
            y = float(em(_HEAD))
            for branch in shown:
                painter.fillRect(QRectF(theme.S, round(y), self.width() - 2 * theme.S, 1), colours.line)
                y += 1 + _BETWEEN_BRANCHES / 2
                high = leaf * max(2, len(branch.leaves))
                self._paint_branch(painter, branch, QRectF(0, y, self.width(), high), place, shown, colours)
                y += high + _BETWEEN_BRANCHES / 2

    def _paint_head(self, painter: QPainter, place: FlowPlace, colours: theme.Tokens) -> None:
        side, middle, y = em(26 if self._compact else 30), self.width() / 2, em(_HEAD) / 2
        painter.setFont(font(Role.LABEL))
        said = QFontMetricsF(painter.font()).horizontalAdvance("the model says")
        badges = {
            "left": QRectF(middle - place.names - side, y - side / 2, side, side),
            "right": QRectF(middle + place.names, y - side / 2, side, side),
        }
        paint_badge(painter, "A", badges["left"], colours)
        paint_badge(painter, "B", badges["right"], colours)
        painter.setFont(font(Role.LABEL))
        painter.setPen(colours.ink2)
        for rect, text in (
            (QRectF(badges["left"].left() - theme.S - said - 2, 0, said + 2, 2 * y), "the model says"),
            (QRectF(badges["right"].right() + theme.S, 0, said + 2, 2 * y), "the model says"),
            (QRectF(middle - place.box, 0, 2 * place.box, 2 * y), "Truth"),
        ):
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_branch(
        self,
        painter: QPainter,
        branch: Branch,
        rect: QRectF,
        place: FlowPlace,
        shown: tuple[Branch, ...],
        colours: theme.Tokens,
    ) -> None:
        leaf_height = rect.height() / max(2, len(branch.leaves))
        first = rect.top() + (rect.height() - leaf_height * len(branch.leaves)) / 2
        per_case = self._per_case(shown, place)
        for number, leaf in enumerate(branch.leaves):
            y = first + leaf_height * (number + 0.5)
            for side in ("left", "right"):
                self._paint_curve(painter, leaf, rect.center().y(), y, place, side, colours)
                self._paint_leaf(painter, leaf, y, leaf_height, place, side, per_case, colours)
        self._paint_truth(painter, branch, rect, place, colours)

    def _paint_truth(
        self, painter: QPainter, branch: Branch, rect: QRectF, place: FlowPlace, colours: theme.Tokens
    ) -> None:
        number, name = font(Role.TITLE, compact=self._compact), font(Role.STRONG)
        wanted = QFontMetricsF(number).height() + QFontMetricsF(name).height() + theme.S
        high = min(rect.height() - 2, max(wanted, em(64) if rect.height() > em(90) else wanted))
        frame = QRectF(rect.center().x() - place.box, rect.center().y() - high / 2, 2 * place.box, high)
        box(painter, frame, theme.BUTTON_RADIUS, fill=colours.sunken, border=colours.line2)
        painter.setPen(colours.ink)
        if high < wanted:
            painter.setFont(name)
            painter.drawText(frame, Qt.AlignmentFlag.AlignCenter | _WRAP, f"{branch.total:,} {branch.truth}")
            return
        split = frame.top() + (high - wanted + theme.S) / 2 + QFontMetricsF(number).height()
        painter.setFont(number)
        upper = QRectF(frame.left(), frame.top(), frame.width(), split - frame.top())
        painter.drawText(upper, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, f"{branch.total:,}")
        painter.setFont(name)
        lower = QRectF(frame.left(), split, frame.width(), frame.bottom() - split)
        painter.drawText(lower, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, branch.truth)

    def _paint_curve(
        self,
        painter: QPainter,
        leaf: Leaf,
        start: float,
        y: float,
        place: FlowPlace,
        side: Side,
        colours: theme.Tokens,
    ) -> None:
        outwards = -1 if side == "left" else 1
        middle = self.width() / 2
        near, far = middle + outwards * place.box, middle + outwards * (place.names - theme.S)
        bend = QPointF((near + far) / 2, 0)
        path = QPainterPath(QPointF(near, start))
        path.cubicTo(bend + QPointF(0, start), bend + QPointF(0, y), QPointF(far, y))
        ink, width = (colours.ink, 2.0) if leaf.differs else (colours.line2, 1.0)
        painter.strokePath(path, QPen(ink, width))

    def _paint_leaf(
        self,
        painter: QPainter,
        leaf: Leaf,
        y: float,
        high: float,
        place: FlowPlace,
        side: Side,
        per_case: float,
        colours: theme.Tokens,
    ) -> None:
        count = leaf.left if side == "left" else leaf.right
        ink = colours.ink if leaf.differs else colours.ink3
        painter.setPen(ink)
        painter.setFont(self._face(leaf.differs))
        inwards = Rows.AlignRight if side == "left" else Rows.AlignLeft
        painter.drawText(self._span(side, place.names, place.name_width, y, high), inwards | _MIDDLE | _WRAP, leaf.said)
        painter.setFont(self._number_face(leaf.differs))
        width = QFontMetricsF(painter.font()).horizontalAdvance(f"{count:,}") + 2
        outer = Rows.AlignLeft if side == "left" else Rows.AlignRight
        painter.drawText(self._span(side, place.number - width, width, y, high), outer | _MIDDLE, f"{count:,}")
        if leaf.correct:
            self._paint_correct(painter, y, high, place, side, colours)
        else:
            self._paint_bar(painter, leaf, y, high, place, side, per_case, colours)

    def _span(self, side: Side, start: float, width: float, y: float, high: float) -> QRectF:
        """Return a box that begins `start` from the middle and is `width` wide, on one side."""
        middle = self.width() / 2
        left = middle - start - width if side == "left" else middle + start
        return QRectF(left, y - high / 2, width, high)

    def _paint_correct(
        self, painter: QPainter, y: float, high: float, place: FlowPlace, side: Side, colours: theme.Tokens
    ) -> None:
        paint_glyph(painter, Glyph.CHECK, self._span(side, place.bars, em(14), y, high), colours.ink3)
        painter.setFont(font(Role.BODY))
        painter.setPen(colours.ink3)
        width = QFontMetricsF(painter.font()).horizontalAdvance("correct") + 2
        rect = self._span(side, place.bars + em(14) + 6, width, y, high)
        painter.drawText(rect, Rows.AlignCenter, "correct")

    def _paint_bar(
        self,
        painter: QPainter,
        leaf: Leaf,
        y: float,
        high: float,
        place: FlowPlace,
        side: Side,
        per_case: float,
        colours: theme.Tokens,
    ) -> None:
        count = leaf.left if side == "left" else leaf.right
        common = min(leaf.left, leaf.right)
        thick = min(em(14), high - 4)
        painter.fillRect(self._span(side, place.bars, common * per_case, y, thick), colours.unit)
        if count == common:
            return
        hue, _ = side_colours(colours, letter_of(side))
        extra = self._span(side, place.bars + common * per_case + 1, (count - common) * per_case, y, thick)
        painter.fillRect(extra, hue)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(hue, 1.5))
        painter.drawRect(extra.adjusted(-2, -3, 2, 3))
        painter.setFont(font(Role.MINOR, weight=600))
        words = f"{leaf.surplus:,} more"
        width = QFontMetricsF(painter.font()).horizontalAdvance(words) + 2
        start = place.bars + count * per_case + 10
        sign = em(10)
        whole = self._span(side, start, sign + 6 + width, y, high)
        paint_glyph(painter, Glyph.MORE, QRectF(whole.left(), whole.top(), sign, high), hue)
        painter.setPen(colours.ink)
        painter.drawText(whole.adjusted(sign + 6, 0, 0, 0), Rows.AlignCenter, words)


def _spoken(branch: Branch) -> str:
    said = [
        f"{leaf.said}{', correct' if leaf.correct else ''}: {leaf.left:,} in A, {leaf.right:,} in B"
        for leaf in branch.leaves
    ]
    return f"Truth {branch.truth}, {branch.total:,}; model says " + "; ".join(said)
