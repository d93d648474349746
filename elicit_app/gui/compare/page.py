"""Experts compared: where they disagree most, everybody's ratios, and the pooled metric file."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.compare.expert_plot import ExpertPlot
from elicit_app.gui.elements import Card, Label, LinkButton, PrimaryButton
from elicit_app.gui.parts.notice import Notice
from elicit_app.gui.parts.scrolled import Header, ScrolledPage, leave_by_escape
from elicit_app.gui.parts.section import Section
from elicit_app.session.experts.compared import ComparisonView, MistakeRates
from elicit_app.session.experts.comparing import POOLED
from metrics.display.numbers import two_digits

MOST = 8
"""Mistakes that are shown; with many classes the ones that are furthest apart."""


def furthest(mistakes: tuple[MistakeRates, ...]) -> tuple[MistakeRates, ...]:
    """Return the mistakes to show, in study order: those whose ranges do not meet first, then the furthest apart."""
    others = [one for one in mistakes if not one.is_yardstick]
    order = sorted(range(len(others)), key=lambda place: (not others[place].apart, -others[place].factor))
    return tuple(others[place] for place in sorted(order[:MOST]))


class ComparePage(ScrolledPage):
    """Shows a `ComparisonView`. Emits `save_wanted` and `back_wanted`."""

    save_wanted = Signal()
    back_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header, self.notice = Header(), Notice()
        self.save = PrimaryButton("Save pooled metric file…")
        self.header.add_action(self.save)
        self.head.addWidget(self.header)
        self.head.addWidget(self.notice)
        self.title, self.detail = Label(role=theme.Role.TITLE), Label()
        self.choice = Label(ink=theme.INK2)
        self.question, self.plot = Label(role=theme.Role.SECTION), ExpertPlot()
        self.rest = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.body.addWidget(_card(self.title, self.detail, self.choice))
        self.body.addWidget(_card(self.question, self.plot, self.rest))
        self.meaning = Section("What pooled means")
        self.made_of, self.notes = Label(ink=theme.INK2), Label(ink=theme.INK2)
        for label in (Label(POOLED), self.made_of, self.notes):
            self.meaning.column.addWidget(label)
        self.body.addWidget(self.meaning)
        self.back = LinkButton("Back")
        self.body.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)
        self.save.clicked.connect(self.save_wanted)
        self.back.clicked.connect(self.back_wanted)
        leave_by_escape(self, self.back_wanted.emit)
        self.settle()

    def show_view(self, view: ComparisonView) -> None:
        """Show `view`."""
        names = view.names
        who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= 4 else f"{len(names)} experts"
        self.header.say(f"Experts compared: {view.title}", who)
        self.notice.say("")
        self.title.setText(view.headline)
        self.detail.setText(view.detail)
        self.choice.setText(view.choice)
        self.choice.setVisible(bool(view.choice))
        yardstick = view.yardstick.mistake.one
        self.question.setText(f"How bad does each expert find each mistake, compared with one {yardstick}?")
        shown = furthest(view.mistakes)
        self.plot.show_rows(shown, names, yardstick)
        left = [one.factor for one in view.mistakes if not one.is_yardstick and one not in shown]
        self.rest.setText(f"{len(left)} other mistakes: at most {two_digits(max(left))} times apart." if left else "")
        self.rest.setVisible(bool(left))
        self.made_of.setText(view.made_of)
        self.notes.setText(" ".join(view.notes))
        self.notes.setVisible(bool(view.notes))
        self.area.verticalScrollBar().setValue(0)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.header.arrange(breakpoint_)
        for label in (self.title, self.question):
            label.set_compact(breakpoint_.compact)


def _card(*widgets: QWidget) -> Card:
    card = Card()
    column = QVBoxLayout(card)
    column.setContentsMargins(24, 18, 24, 16)
    column.setSpacing(8)
    for widget in widgets:
        column.addWidget(widget)
    return card
