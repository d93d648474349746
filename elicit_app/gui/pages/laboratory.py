"""The laboratory: simulated people answer, and plots show how the ranges narrow. No person is asked.

People are drawn as dots and their median as a line, repainted as people are added.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QPainter, QPolygonF
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from elicit_app.experiments.watching import NOISES, PEOPLE, LabSettings, SimulatedPerson, usual_answers, width_sentence
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton, PrimaryButton
from elicit_app.gui.elements.fields import DecimalBox, ListBox, NumberBox, named
from elicit_app.gui.elements.page import CTRL_ENTER, Header, ScrolledPage, bind
from elicit_app.gui.elements.painting import Arranged, Label, Painted, Sized, annotate, set_item_tooltip, write
from elicit_app.gui.elements.surfaces import (
    Block,
    Card,
    Divider,
    Notice,
    ProgressBar,
    Section,
    fill,
    in_column,
    in_grid,
    in_row,
    set_width,
)
from elicit_app.gui.results import plotting
from elicit_app.gui.theme import CENTRE, RIGHT, Role, Tokens, em, font
from metrics.drawing import LinearAxis, LogAxis

_FURTHEST = 5


@dataclass(frozen=True, eq=False)
class Series:
    """The people of one procedure."""

    name: str
    values: dict[int, list[float]]  # by the number of answers, one value per person

    def medians(self) -> list[tuple[int, float]]:
        return [(answers, float(np.median(found))) for answers, found in sorted(self.values.items())]


class LivePlot(Painted, Sized, QLabel):
    """One plot; `show_series` shows new people, with the first series solid and the second dashed.

    It shows shares on a linear axis from 0 or, with a factor that is `wanted`, factors on a logarithmic axis from 1.
    """

    smooth = True

    size_asked, size_least = (330, 270), (240, 240)

    def __init__(self, title: str, wanted: float | None = None) -> None:
        super().__init__()
        self._title, self._wanted = title, wanted
        self._series: tuple[Series, ...] = ()
        self._most = 20
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        annotate(self, name=title)

    def show_series(self, series: Sequence[Series], most: int) -> None:
        """Show `series`, on an axis of up to `most` answers."""
        self._series = tuple(one for one in series if one.values)
        ends = [max(one.values) for one in self._series]
        # A search that asks far more questions is drawn at the edge, labelled with its number of answers.
        near = [end for end in ends if end <= _FURTHEST * most]
        self._most = max(near or ends, default=most)
        known = [(one.name, *one.medians()[-1]) for one in self._series]
        parts = [f"{name}: {self._value_text(value)} after {answers} answers" for name, answers, value in known]
        annotate(self, name=self._title, more="; ".join(parts))
        self.update()

    def _value_text(self, value: float) -> str:
        return f"{100 * value:.0f} %" if self._wanted is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"

    def _axis(self) -> LinearAxis | LogAxis:
        found = [value for one in self._series for values in one.values.values() for value in values]
        if self._wanted is None:
            return LinearAxis(0.0, max([0.1, *(1.05 * value for value in found)]))
        return LogAxis(1.0, max([4.0, *(1.1 * value for value in found)]))

    def _ticks(self, axis: LinearAxis | LogAxis) -> Sequence[float]:
        if isinstance(axis, LinearAxis):
            return axis.ticks(4)
        return [tick for tick in (1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 10_000, 100_000) if tick <= axis.high]

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        axis = self._axis()
        note = QFontMetricsF(font(Role.NOTE))
        left = max(note.horizontalAdvance(self._tick(tick)) for tick in self._ticks(axis)) + em(10)
        room = QRectF(left, em(34), self.width() - left - self._right(), self.height() - em(34) - em(46))
        self._paint_frame(painter, colours, axis, room)
        for index, one in enumerate(self._series):
            self._paint_series(painter, colours, axis, room, one, dashed=index > 0)

    def _right(self) -> float:
        """Return the room to the right of the axis, for the number and the name at the end of the first line."""
        needed = [float(em(32))]
        if self._series:
            needed.append(QFontMetricsF(font(Role.STRONG)).horizontalAdvance(self._end(self._series[0])))
        if len(self._series) > 1:
            needed.append(QFontMetricsF(font(Role.NOTE)).horizontalAdvance(self._series[0].name))
        return max(needed) + em(14)

    def _end(self, one: Series) -> str:
        """Return the label at the end of a line: its last median and, if it is off the axis, the number of answers."""
        answers, value = one.medians()[-1]
        return self._value_text(value) if answers <= self._most else f"{self._value_text(value)} after {answers:,}"

    def _tick(self, value: float) -> str:
        return f"{100 * value:.0f} %" if self._wanted is None else f"{value:,.0f}"

    def _x(self, room: QRectF, answers: float) -> float:
        return room.left() + room.width() * min(answers / self._most, 1.0)

    def _y(self, room: QRectF, axis: LinearAxis | LogAxis, value: float) -> float:
        return room.bottom() - axis.position(value) * room.height()

    def _paint_frame(self, painter: QPainter, colours: Tokens, axis: LinearAxis | LogAxis, room: QRectF) -> None:
        strong, note, ink = font(Role.LABEL, weight=600), font(Role.NOTE), colours.ink2
        write(painter, QRectF(em(4), 0, self.width(), em(24)), self._title, strong, colours.ink)
        for tick in self._ticks(axis):
            y = round(self._y(room, axis, tick)) + 0.5
            plotting.rule(painter, plotting.pen(colours.line, 1), room.left(), y, room.right(), y)
            beside = QRectF(0, y - em(11), room.left() - em(8), em(22))
            write(painter, beside, self._tick(tick), note, ink, RIGHT)
        step = next(step for step in (4, 10, 20, 50, 100, 200, 500, 10**9) if self._most / step <= 6)
        for answers in range(0, self._most + 1, step):
            under = QRectF(self._x(room, answers) - em(30), room.bottom() + em(4), em(60), em(20))
            write(painter, under, str(answers), note, ink, CENTRE)
        foot = QRectF(room.left(), room.bottom() + em(23), room.width(), em(20))
        write(painter, foot, "answers", note, ink, CENTRE)
        if self._wanted is not None:
            y = self._y(room, axis, self._wanted)
            write(painter, QRectF(room.left() + em(4), y - em(21), em(120), em(20)), "wanted", note, ink)
            dashed = plotting.pen(ink, 1.5, Qt.PenStyle.DashLine)
            plotting.rule(painter, dashed, room.left(), y, room.right(), y)

    def _paint_series(
        self, painter: QPainter, colours: Tokens, axis: LinearAxis | LogAxis, room: QRectF, one: Series, *, dashed: bool
    ) -> None:
        halves = [
            (self._x(room, answers), *(self._y(room, axis, end) for end in np.quantile(found, (0.25, 0.75))))
            for answers, found in sorted(one.values.items())
        ]
        painter.setPen(Qt.PenStyle.NoPen)
        if not dashed:
            painter.setBrush(colours.line)
            upper = [QPointF(x, high) for x, _, high in halves]
            painter.drawPolygon(QPolygonF([*upper, *(QPointF(x, low) for x, low, _ in reversed(halves))]))
        painter.setBrush(colours.ink3)
        for answers, found in one.values.items():
            for value in found:
                painter.drawEllipse(QPointF(self._x(room, answers), self._y(room, axis, value)), em(2), em(2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        points = [(self._x(room, answers), self._y(room, axis, value)) for answers, value in one.medians()]
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        painter.setPen(plotting.pen(colours.ink, 2, style))
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in points]))
        for x, y in points:
            plotting.dot(painter, colours.ink, colours.surface, x, y)
        (x, y), text, wide, strong = points[-1], self._end(one), self._right(), font(Role.STRONG)
        if dashed:
            beneath = QRectF(room.left(), y + em(6), x - room.left() + em(8), em(22))
            write(painter, beneath, f"{one.name} {text}", strong, colours.ink, RIGHT)
            return
        write(painter, QRectF(x + em(10), y - em(11), wide, em(22)), text, strong, colours.ink)
        if len(self._series) > 1:
            write(painter, QRectF(x + em(10), y - em(30), wide, em(20)), one.name, font(Role.NOTE), colours.ink)


HEADS = ("person", "procedure", "answers", "judged differently", "range factor", "true values inside", "seconds")
MOST = 3
_STRESSED = HEADS.index("judged differently")
_FIRST_TO_GO = HEADS.index("person"), HEADS.index("seconds")
_RIGHT = Qt.AlignmentFlag.AlignRight


class RowsTable(Arranged, Block):
    """A table of people, newest on top; the file written by "Save rows" has all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: deque[tuple[str, ...]] = deque(maxlen=MOST)
        self._large = False  # leaves out some columns
        self._show()

    def add(self, person: SimulatedPerson) -> None:
        end, inside = person.snapshots[-1], person.inside
        self.rows.appendleft(
            (
                str(person.number),
                person.settings.procedure,
                str(end.answers),
                f"{100 * end.otherwise:.1f} %",
                "" if end.range_factor is None else f"{end.range_factor:.1f}",
                "" if inside is None else f"{inside[0]} of {inside[1]}",
                f"{person.run.seconds:.1f}",
            )
        )
        self._show()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._large = breakpoint_.large
        self._show()

    def _show(self) -> None:
        grid = in_grid(on=self.renew(), across=theme.M, down=6)
        for column, head in enumerate(HEADS):
            if self._large and column in _FIRST_TO_GO:
                continue
            grid.addWidget(Label(head, Role.NOTE, theme.INK2, align=_RIGHT), 0, column)
            grid.setColumnStretch(column, 1)
            role, ink = (Role.STRONG, theme.INK) if column == _STRESSED else (Role.BODY, theme.INK2)
            for at, row in enumerate(self.rows):
                grid.addWidget(Label(row[column], role, ink, wrap=False, align=_RIGHT), 2 * at + 2, column)
        for at in range(len(self.rows)):
            grid.addWidget(Divider(), 2 * at + 1, 0, 1, len(HEADS))


class KindBox(ListBox):
    """A list of kinds, some of which have a number: `beside` is shown while the chosen kind has one.

    `kinds` holds the usual number of each kind; `label` is above the number.
    """

    def __init__(self, name: str, kinds: Mapping[Any, float | None], label: str) -> None:
        super().__init__(name)
        self._kinds = kinds
        self.number, self.beside = DecimalBox(), QWidget()
        annotate(self.number, name=f"{name}, {label}")
        self.number.setDecimals(3)
        self.number.setSingleStep(0.05)
        self.number.setRange(0.001, 5.0)
        in_column(named(self.number, label), on=self.beside)
        self.addItems(list(kinds))
        self.currentIndexChanged.connect(self._offer_usual)
        self._offer_usual()

    @property
    def stated(self) -> str:
        """Return the choice in the form of a command: "linear", "weights:0.6"."""
        kind = self.currentText()
        return kind if self._kinds[kind] is None else f"{kind}:{self.number.value():g}"

    def _offer_usual(self) -> None:
        usual = self._kinds[self.currentText()]
        self.beside.setVisible(usual is not None)
        if usual is not None:
            self.number.setValue(usual)


_COPY = "Copy"
_REPAINT = 250  # milliseconds: four times a second
_EMPTY = "How wide will the ranges be?"
_HOW = "Run, and every person becomes a dot. The people are drawn at random; their true values are known."
_BEFORE = "Asked with the settings before your changes; Run starts over with the new ones."


class LaboratoryPage(ScrolledPage):
    """Emits `run_requested` with one or two `LabSettings`; the links under the plots are connected by the flow.

    Studies to choose from are given as (reference for `open_study`, title), procedures as (name, label).
    """

    notice: Notice
    run_requested = Signal(object)

    def __init__(self, studies: Sequence[tuple[str, str]], procedures: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.people: list[SimulatedPerson] = []  # the people shown, in the order in which they answered
        self._run: tuple[LabSettings, ...] = ()  # the settings with which they were asked
        self._running = False
        self.header, self.notice = Header(), Notice()
        self.progress, self.progress_words = ProgressBar(), Label(role=Role.LABEL, wrap=False)
        self.go = PrimaryButton("Run", self._press, keys=("Ctrl+Enter",))
        self._make_fields(studies, procedures)
        self.sentence, self.so_far = Label(_EMPTY, Role.LEAD), Label(_HOW, Role.NOTE, theme.INK2)
        self.otherwise = LivePlot("Pairs judged differently")
        self.widths = LivePlot("Width of the ranges, as a factor", wanted=2.0)
        self.rows = RowsTable()
        self.questions = LinkButton("Questions shown…")
        self.picture, self.save_rows = LinkButton("Save picture…"), LinkButton("Save rows…")
        self.command = Label(role=Role.NOTE)
        self.copy = Button(_COPY, self._copy)
        self.back = self.link_to_start()
        self.words = LinkButton("What these words mean")
        self._timer = QTimer(self, interval=_REPAINT, singleShot=True)
        self._build()
        self.noise.setCurrentText("weights")
        self._connect()
        self._changed()
        self.settle()

    # --- choices

    def _make_fields(self, studies: Sequence[tuple[str, str]], procedures: Sequence[tuple[str, str]]) -> None:
        self.study, self.procedure = ListBox("Study"), ListBox("Procedure")
        self.compared, self.answers = ListBox("Compare with"), ListBox("They answer by")
        for ref, title in studies:
            self.study.addItem(title, ref)
        self.compared.addItem("nothing else", None)
        for at, (name, label) in enumerate(procedures):
            self.procedure.addItem(name, name)
            set_item_tooltip(self.procedure, at, label)
            self.compared.addItem(name, name)
        self.answers.addItems(["mixed", "choice", "equal"])
        self.person = KindBox("Person", PEOPLE, "number")
        self.noise = KindBox("Noise", NOISES, "of size")
        self.n_questions, self.n_people = NumberBox("Questions", 4, 60), NumberBox("People", 1, 1000)
        self.seed = NumberBox("Seed", 0, 999_999)
        usual = LabSettings()
        self.n_questions.setValue(usual.questions)
        self.n_people.setValue(usual.people)
        self.seed.setValue(usual.seed)
        self.study.setCurrentIndex(max(self.study.findData(usual.study), 0))

    @property
    def chosen(self) -> tuple[LabSettings, ...]:
        """Return the chosen settings, once more for a second procedure to compare with."""
        names = [self.procedure.currentData(), self.compared.currentData()]
        return tuple(self._settings_for(name) for name in dict.fromkeys(names) if name is not None)

    def _settings_for(self, procedure: str) -> LabSettings:
        return LabSettings(
            study=self.study.currentData(),
            procedure=procedure,
            answers=self.answers.currentText(),
            person=self.person.stated,
            noise=self.noise.stated,
            questions=self.n_questions.value(),
            people=self.n_people.value(),
            seed=self.seed.value(),
        )

    # --- results

    def begin(self, run: Sequence[LabSettings]) -> None:
        """Start over with the people of `run`; earlier rows stay in the list."""
        self.people.clear()
        self._run, self._running = tuple(run), True
        self.notice.say("")
        self._show()

    def add(self, person: SimulatedPerson) -> None:
        self.people.append(person)
        self.rows.add(person)
        if not self._timer.isActive():
            self._timer.start()

    def end(self, sentence: str = "") -> None:
        """Show that the run has ended, and why if it failed."""
        self._running = False
        if sentence:
            self.notice.say(sentence)
        self._show()

    def _show(self) -> None:
        """Show the people so far, with the settings of their run, whatever is chosen by now."""
        run = self._run or self.chosen
        series = [self._series(settings.procedure) for settings in run]
        self.otherwise.show_series([one for one, _ in series], run[0].questions)
        self.widths.show_series([one for _, one in series], run[0].questions)
        self.widths.setVisible(any(settings.steerable for settings in run))  # a search gives no ranges
        first = [one for one in self.people if one.settings.procedure == run[0].procedure]
        sentence, so_far = width_sentence(first) if first else (_EMPTY, _HOW)
        self.sentence.setText(sentence)
        self.so_far.setText(f"{so_far} {_BEFORE}" if first and run != self.chosen else so_far)
        self._show_progress(len(self.people), sum(settings.people for settings in run))

    def _series(self, procedure: str) -> tuple[Series, Series]:
        otherwise: dict[int, list[float]] = {}
        widths: dict[int, list[float]] = {}
        people = [one for one in self.people if one.settings.procedure == procedure]
        end = usual_answers(people) if people else 0  # where all people of a search are drawn
        for person in people:
            for look in person.snapshots:
                answers = look.answers if person.settings.steerable else end
                otherwise.setdefault(answers, []).append(look.otherwise)
                if look.range_factor is not None:
                    widths.setdefault(answers, []).append(look.range_factor)
        return Series(procedure, otherwise), Series(procedure, widths)

    def _show_progress(self, done: int, total: int) -> None:
        self.go.setText("Stop" if self._running else "Run")
        self.go.set_keys("Esc" if self._running else "Ctrl+Enter")
        self.progress.set_share(done / total, f"{done} of {total} people")
        self.progress_words.setText(f"{done} of {total} people")
        for widget in (self.progress, self.progress_words):
            widget.setVisible(self._running)
        for link in (self.questions, self.picture, self.save_rows):
            link.setEnabled(done > 0)

    # --- layout

    def _build(self) -> None:
        self.header.say("Laboratory", "Simulated people answer. Nobody is asked, nothing is written into a study.")
        progress = in_column(1, (self.progress_words, 0, Qt.AlignmentFlag.AlignRight), self.progress, 2)
        self.go.tall = 48
        fill(
            self.head,
            in_row((self.header, 1), progress, (self.go, 0, Qt.AlignmentFlag.AlignTop), spacing=theme.M),
            self.notice,
        )
        self.settings, shown, rows, terminal = self._settings_card(), Section(), Section(), Section()
        plots = in_row((self.otherwise, 1), (self.widths, 1), spacing=theme.L, stacks="large")
        fill(shown.column, self.sentence, self.so_far, plots)
        links = in_row(self.questions, self.picture, self.save_rows, spacing=theme.L, stacks="large")
        fill(rows.column, in_row((Label("Rows", Role.SECTION), 1), links), self.rows)
        command = in_column(Label("The same in a terminal", Role.NOTE, theme.INK2), self.command)
        fill(terminal.column, in_row((command, 1), (self.copy, 0, Qt.AlignmentFlag.AlignVCenter)))
        right = in_column(shown, rows, terminal, 1, spacing=theme.M)
        settings = (self.settings, 0, Qt.AlignmentFlag.AlignTop)
        fill(self.body, in_row(settings, (right, 1), spacing=theme.L, stacks="narrow"), 1)
        self.foot.addLayout(in_row(self.back, 1, self.words))

    def _settings_card(self) -> Card:
        card = Section("Who and what")
        fill(
            card.column,
            *map(named, (self.study, self.procedure, self.answers)),
            *(in_row((named(box), 3), (box.beside, 2)) for box in (self.person, self.noise)),
            in_row(*((named(box), 1) for box in (self.n_questions, self.n_people, self.seed))),
            Divider(),
            named(self.compared),
            Label("Run starts over. The earlier rows stay in the list.", Role.NOTE, theme.INK2),
        )
        return card

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        set_width(self.settings, None if breakpoint_.narrow else theme.em(320))

    # --- events

    def _connect(self) -> None:
        for box in (self.study, self.procedure, self.compared, self.answers, self.person, self.noise):
            box.currentIndexChanged.connect(self._changed)
        for number in (self.n_questions, self.n_people, self.seed, self.person.number, self.noise.number):
            number.valueChanged.connect(self._changed)
        self._timer.timeout.connect(self._show)
        bind(self, self.go.click, *CTRL_ENTER)
        bind(self, self._escape, "Esc")

    def _changed(self) -> None:
        steerable = any(settings.steerable for settings in self.chosen)
        for widget in (self.answers, self.n_questions):
            widget.setEnabled(steerable)
        self.command.setText("\n".join(settings.command for settings in self.chosen))
        self.copy.setText(_COPY)
        self.notice.say("")
        self._show()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.command.text())
        self.copy.setText("Copied")

    def _press(self) -> None:
        if self._running:
            self.stop_requested.emit()
        else:
            self.run_requested.emit(self.chosen)

    def _escape(self) -> None:
        (self.stop_requested if self._running else self.start_requested).emit()
