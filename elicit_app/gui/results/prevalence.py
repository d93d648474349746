"""The result at another prevalence: the cheapest policy along a track, and the judgement at a chosen point of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, pairwise
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QSlider, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import FlatButton
from elicit_app.gui.elements.fields import IgnoresWheel, ListBox, NumberBox
from elicit_app.gui.elements.painting import Label, Painted, Sized, annotate, focus_ring, write
from elicit_app.gui.elements.surfaces import Card, Section, Surface, fill, in_column, in_row
from elicit_app.gui.results import plotting
from elicit_app.gui.results.plotting import ShareAxis
from elicit_app.gui.results.recommendation import NO_MODELS, TableCard
from elicit_app.gui.theme import CENTRE, Role, Tokens, em, font
from elicit_app.session import sentences as words
from elicit_app.session.scenarios import Scenarios, Stretch
from elicit_app.session.views import ResultView
from elicit_app.study.model import Study
from metrics.text import capitalised

STEPS = 1000
_INSET, _MIDDLE = 18, 46  # of the track: distance from the sides, and from the top to its middle, at the base font


class Scale(NamedTuple):
    """The scale of the track."""

    axis: ShareAxis
    question: str  # the question, for screen readers
    as_text: Callable[[float], str]  # returns a number as text
    own: float  # the study's own value, marked with a square


class ShareTrack(Painted, IgnoresWheel, Sized, QSlider):
    """A slider whose track names the cheapest policy along the scale, with a tick at each change.

    Emits `number_changed` with the number whenever the mouse or a key moves the handle.
    """

    smooth = True

    size_asked, size_least = (600, 116), (300, 116)
    number_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(0, STEPS)
        self.setPageStep(50)
        self.setSingleStep(5)
        self._scale = Scale(ShareAxis(0.01, 0.99), "", str, 0.5)
        self._stretches: tuple[Stretch, ...] = ()
        self.number = 0.5
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.valueChanged.connect(self._moved)

    def show_scale(self, scale: Scale, stretches: tuple[Stretch, ...]) -> None:
        self._scale, self._stretches = scale, stretches
        annotate(self, name=scale.question, more=self._description())
        self.set_number(self.number)

    def set_number(self, number: float) -> None:
        """Put the handle at `number`, without emitting."""
        self.number = number
        with QSignalBlocker(self):
            self.setValue(round(self._scale.axis.position(number) * STEPS))
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self._drag(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._drag(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        self._paint_track(painter, colours)
        self._paint_ticks(painter, colours)
        self._paint_changes(painter, colours)
        self._paint_handle(painter, colours)

    def _drag(self, x: float) -> None:
        room = self.width() - 2 * em(_INSET)
        self.setValue(round(min(max((x - em(_INSET)) / room, 0.0), 1.0) * STEPS))

    def _moved(self, value: int) -> None:
        self.number = self._scale.axis.value(value / STEPS)
        self.number_changed.emit(self.number)
        self.update()

    def _description(self) -> str:
        as_text = self._scale.as_text
        parts = [f"Cheapest from {as_text(s.low)} to {as_text(s.high)}: {s.name}." for s in self._stretches]
        note = self._note()
        return " ".join([*parts, f"{capitalised(note)}."])

    def _note(self) -> str:
        return f"square: in your study, {self._scale.as_text(self._scale.own)}"

    def _x(self, number: float) -> float:
        return em(_INSET) + self._scale.axis.position(number) * (self.width() - 2 * em(_INSET))

    def _paint_track(self, painter: QPainter, colours: Tokens) -> None:
        # Two alternating greys distinguish neighbours; the names above identify them.
        for stretch, shade in zip(self._stretches, cycle((colours.line2, colours.ink)), strict=False):
            left, right = self._x(stretch.low), self._x(stretch.high)
            painter.fillRect(QRectF(left, em(_MIDDLE) - em(2.5), right - left, em(5)), shade)

    def _paint_ticks(self, painter: QPainter, colours: Tokens) -> None:
        face, as_text = font(Role.NOTE), self._scale.as_text
        taken = list(self._change_boxes().values())
        for tick in self._scale.axis.ticks(9):
            room = self._label_box(tick, as_text(tick)).adjusted(-em(6), 0, em(6), 0)
            if not any(room.intersects(other) for other in taken):
                write(painter, room, as_text(tick), face, colours.ink2, CENTRE)
                taken.append(room)
        below = self._label_box(self._scale.own, self._note()).translated(0, em(22))
        write(painter, below, self._note(), face, colours.ink2, CENTRE)
        plotting.square(painter, colours.ink, self._x(self._scale.own), em(_MIDDLE))

    def _paint_changes(self, painter: QPainter, colours: Tokens) -> None:
        for change in self._stretches[1:]:
            x = self._x(change.low)
            plotting.rule(painter, plotting.pen(colours.ink), x, em(_MIDDLE) - em(26), x, em(_MIDDLE) + em(24))
        for text, room in self._change_boxes().items():
            write(painter, room, text, font(Role.NOTE), colours.ink, CENTRE)
        self._paint_names(painter, colours)

    def _paint_names(self, painter: QPainter, colours: Tokens) -> None:
        face = font(Role.LABEL, weight=600)
        for text, room in self.named().values():
            write(painter, room, text, face, colours.ink, CENTRE)

    def named(self) -> dict[Stretch, tuple[str, QRectF]]:
        """Return the names of the cheapest policies with their boxes, each over its own part of the track.

        The policy at the handle is always named, over the handle if its part is too short, and is called the
        cheapest if there is room. Other names without room are only in the description.
        """
        gap, found = em(10), dict[Stretch, tuple[str, QRectF]]()
        metrics = QFontMetricsF(font(Role.LABEL, weight=600))
        for stretch in sorted(self._stretches, key=lambda one: not one.low <= self.number <= one.high):
            low, high = self._x(stretch.low) + gap, self._x(stretch.high) - gap
            text = f"Cheapest: {stretch.name}" if not found else stretch.name
            if metrics.horizontalAdvance(text) + 2 > high - low:
                text = metrics.elidedText(stretch.name, Qt.TextElideMode.ElideMiddle, self.width() - 2)
            width = metrics.horizontalAdvance(text) + 2
            # The first name ends at its change and the others start at theirs, so both sides of a tick are named.
            left = high - width if stretch is self._stretches[0] else low
            if len(self._stretches) == 1:
                left = (self.width() - width) / 2
            elif width > high - low:
                if found:
                    continue
                left = min(max(self._x(self.number) - width / 2, 0.0), self.width() - width)
            room = QRectF(left, 0, width, em(24))
            others = [other.adjusted(-gap, 0, gap, 0) for _, other in found.values()]
            for other in others:
                if room.intersects(other):  # the name at the handle may reach into this part
                    room.moveLeft(other.left() - width if stretch is self._stretches[0] else other.right())
            inside = low <= room.left() and room.right() <= high + 1e-6
            if not found or (inside and not any(room.intersects(other) for other in others)):
                found[stretch] = text, room
        return found

    def _paint_handle(self, painter: QPainter, colours: Tokens) -> None:
        x, y, radius = self._x(self.number), em(_MIDDLE), em(10)
        painter.setPen(plotting.pen(colours.ink))
        painter.setBrush(colours.surface)
        painter.drawEllipse(QPointF(x, y), radius, radius)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.ink)
        painter.drawEllipse(QPointF(x, y), em(3), em(3))
        if self.hasFocus():
            around = radius + 7
            focus_ring(painter, QRectF(x - around, y - around, 2 * around, 2 * around), around, colours.ink)

    def _change_boxes(self) -> dict[str, QRectF]:
        """Return the box of each change's number; a change too close to the previous one has none."""
        found: dict[str, QRectF] = {}
        for before, change in pairwise(self._stretches):
            text = self._change_text(before, change)
            room = self._label_box(change.low, text)
            if not any(room.intersects(other) for other in found.values()):
                found[text] = room
        return found

    def _label_box(self, number: float, text: str) -> QRectF:
        return plotting.centred_text_box(
            font(Role.NOTE), self._x(number), text, em(_MIDDLE) + em(22), self.width(), em(22)
        )

    def _change_text(self, before: Stretch, stretch: Stretch) -> str:
        number = self._scale.as_text(stretch.low)
        if len(stretch.names) > 1:
            return f"about equal from {number}"
        return f"to {number}" if len(before.names) > 1 else f"they change places at {number}"


ASSUMED = (
    "Assumed: the cases of each class are like those in your data, and mistakes cost what they do now. Only how common "
    "the classes are changes; the classes that you do not set keep their proportions. The models’ "
    "probabilities are corrected for the prevalence where that costs less."
)


class SharesCard(Section):
    """Choice of a class and of its share in the population: list, box and slider. Emits `changed` with the shares."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__("What if some classes were rarer or more common?", ASSUMED)
        self.sentence.set_role(theme.Role.NOTE)
        self._scenarios: Scenarios | None = None
        self._study: Study | None = None
        self._scale: Scale | None = None  # until the track is drawn
        self.shares: tuple[float, ...] = ()
        self.classes = ListBox("Which class", widest=220)
        self.box, self.track = NumberBox("How many cases of this class", 1, 999), ShareTrack()
        self.back = FlatButton("Back to your study", self._go_back)
        self._total_label, self.cases = Label(role=theme.Role.STRONG), Label(role=theme.Role.NOTE, ink=theme.INK2)
        before, after = (Label(word, theme.Role.STRONG, wrap=False) for word in ("If", "were"))
        first = in_row(before, self.classes, after, 1, spacing=10)
        left = Qt.AlignmentFlag.AlignLeft
        total, back = (self._total_label, 1), (self.back, 0, left)
        second = in_row((self.box, 0, left), total, back, spacing=10, stacks="large")
        row = in_row(first, (second, 1), spacing=10, stacks="compact")
        fill(self.column, row, self.track, self.cases)
        self.classes.activated.connect(self._class_chosen)
        self.box.valueChanged.connect(self._typed)
        self.track.number_changed.connect(self._set)

    def show_result(self, view: ResultView, scenarios: Scenarios, study: Study) -> None:
        """Start from the study's own prevalence, at the class of the headline."""
        self._scenarios, self._study = scenarios, study
        self.shares = tuple(map(float, scenarios.own))
        self.classes.clear()
        for true in scenarios.classes_with_cases:
            self.classes.addItem(study.wording.class_many[true], true)
        self.classes.setCurrentIndex(max(self.classes.findData(view.headline.rate.true), 0))
        self.box.setRange(1, max(scenarios.population - 1, 1))
        self._total_label.setText(f"of {study.wording.counted(scenarios.population)}")
        self._class_chosen()

    def _class_chosen(self) -> None:
        """Show the share of the chosen class, and the cheapest policies as it becomes rarer or more common."""
        if self._scenarios is None or self._study is None:
            return
        true = self._true
        axis = ShareAxis.around(float(self._scenarios.own[true]), self._scenarios.population)
        many, population = self._study.wording.class_many[true], self._scenarios.population
        question = f"How many of {self._study.wording.counted(population)} are {many}"
        annotate(self.box, name=question)
        own = float(self._scenarios.own[true])
        self._scale = Scale(axis, question, lambda share: f"{share * population:,.0f}", own)
        self._draw_track()
        self._show()

    def _draw_track(self) -> None:
        """Show the scale once the card is seen: finding what is cheapest takes half a second with a million cases."""
        if self._scenarios is not None and self._scale is not None and self.isVisible():
            scale, self._scale = self._scale, None
            ends = scale.axis.low, scale.axis.high
            self.track.show_scale(scale, self._scenarios.cheapest(self.shares, self._true, *ends))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw_track()

    @property
    def _true(self) -> int:
        return int(self.classes.currentData())

    def _go_back(self) -> None:
        if self._scenarios is not None:
            self.shares = tuple(map(float, self._scenarios.own))
            self._class_chosen()

    def _typed(self, cases: int) -> None:
        if self._scenarios is not None:
            self._set(cases / self._scenarios.population)

    def _set(self, share: float) -> None:
        assert self._scenarios is not None
        self.shares = tuple(map(float, self._scenarios.with_share(self.shares, self._true, share)))
        self._show()

    def _show(self) -> None:
        assert self._scenarios is not None
        assert self._study is not None
        share = self.shares[self._true]
        with QSignalBlocker(self.box):
            self.box.setValue(round(share * self._scenarios.population))
        self.track.set_number(share)
        own = zip(self.shares, self._scenarios.own, strict=True)
        self.back.setEnabled(any(abs(one - other) > 1e-9 for one, other in own))
        self.cases.setText(
            f"Then there are {words.cases_words(self._scenarios.cases(self.shares), self._study.wording)}."
        )
        self.changed.emit(self.shares)


class PrevalencePane(QWidget):
    """The fourth tab of the result: the judgement at another prevalence."""

    def __init__(self) -> None:
        super().__init__()
        self._scenarios: Scenarios | None = None
        self._own = ""
        self.card = Card(Surface.IMPORTANT)
        self.title, self.sentence = Label(role=theme.Role.TITLE), Label(ink=theme.INK2)
        in_column(self.title, self.sentence, on=self.card, margins=(20, 14, 20, 14), spacing=4)
        self.shares, self.policies = SharesCard(), TableCard()
        in_column(self.shares, self.card, self.policies, 1, on=self, spacing=theme.M)
        self.shares.changed.connect(self._show_shares)

    def show_result(self, view: ResultView, study: Study) -> None:
        self._scenarios = view.scenarios
        for widget in (self.shares, self.policies):
            widget.setVisible(view.scenarios is not None)
        if view.scenarios is None:
            self.title.setText(NO_MODELS)
            self.sentence.hide()
            return
        self._own = view.scenarios.judgement().recommendation.sentence
        self.shares.show_result(view, view.scenarios, study)

    def _show_shares(self, shares: tuple[float, ...]) -> None:
        if self._scenarios is None:
            return
        judgement = self._scenarios.judgement(shares)
        recommended = judgement.recommendation
        self.title.setText(recommended.sentence)
        self.sentence.setText(
            f"{recommended.sureness} {words.scenario_sentence(recommended.sentence, self._own)}".strip()
        )
        self.policies.show_judgement(judgement)
