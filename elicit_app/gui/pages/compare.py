"""Comparison of experts: their exchange rates on one axis, and the pooled metric file."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton, PrimaryButton
from elicit_app.gui.elements.page import HeadedPage, bind
from elicit_app.gui.elements.painting import Label
from elicit_app.gui.elements.surfaces import Card, Section, fill, in_column
from elicit_app.gui.results.expert_plot import ExpertPlot, ExpertRates
from elicit_app.session.comparing import ComparisonView
from elicit_app.session.disagreement import apart_words, furthest, rest_words
from metrics.elicited.exchange import rates_question
from metrics.text import series

MOST = 8  # number of mistakes shown; with many classes those on which experts are furthest apart


class ComparePage(HeadedPage):
    """Shows a `ComparisonView`. Emits `trusted_only_requested`: whether to leave out inconsistent experts."""

    trusted_only_requested = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.report = Button("Save report…")
        self.save = PrimaryButton("Save pooled metric file…")
        self.header.add_actions(self.report, self.save)
        self._trusted_only = False
        self.title, self.detail = Label(role=theme.Role.TITLE), Label()
        self.caveat = Label(role=theme.Role.STRONG)
        self.choice, self.agreement = Label(ink=theme.INK2), Label(ink=theme.INK2)
        self.question, self.plot = Label(role=theme.Role.SECTION), ExpertPlot()
        self.rest = Label(role=theme.Role.NOTE, ink=theme.INK2)
        fill(
            self.body,
            _card(self.title, self.detail, self.caveat, self.agreement, self.choice),
            _card(self.question, self.plot, self.rest),
        )
        self.meaning = Section("What pooled means")
        self.how, self.made_of, self.notes = Label(), Label(ink=theme.INK2), Label(ink=theme.INK2)
        self.trusted = LinkButton("", lambda: self.trusted_only_requested.emit(not self._trusted_only))
        fill(self.meaning.column, self.how, self.made_of, self.notes, (self.trusted, 0, Qt.AlignmentFlag.AlignLeft))
        self.body.addWidget(self.meaning)
        self.back = LinkButton("Back", self.back_requested)
        fill(self.body, (self.back, 0, Qt.AlignmentFlag.AlignLeft), 1)
        bind(self, self.back_requested, "Esc")
        self.settle()

    def show_view(self, view: ComparisonView, *, trusted_only: bool = False) -> None:
        """Show `view`; `trusted_only` says whether untrusted experts were left out."""
        names, self._trusted_only = view.names, trusted_only
        self.trusted.setVisible(trusted_only or 0 < len(view.untrusted) <= len(names) - 2)
        self.trusted.setText("Pool everybody" if trusted_only else f"Leave out {series(view.untrusted)}")
        self.agreement.show_text(view.agreement)
        self.header.say(f"Experts compared: {view.title}", view.who)
        self.notice.say("")
        self.title.setText(view.headline)
        self.detail.setText(view.detail)
        self.choice.show_text(view.choice)
        self.caveat.show_text(view.pooled.quality.caveat)
        yardstick, kind = view.yardstick.mistake.one, view.pooled.kind
        self.question.setText(rates_question(kind, yardstick, of_experts=True))
        others = [one for one in view.mistakes if not one.is_yardstick]
        shown = furthest(others, MOST)
        rows = [
            ExpertRates(one.mistake.name, view.lines(one), one.pooled, apart_words(one), one.plainly_apart)
            for one in shown
        ]
        self.plot.show_rows(rows, yardstick, priced=kind != "confusion")
        self.rest.show_text(rest_words([one for one in others if one not in shown]))
        self.how.setText(view.how)
        self.made_of.setText(view.made_of)
        self.notes.show_text(" ".join(view.notes))
        self.area.verticalScrollBar().setValue(0)


def _card(*widgets: QWidget) -> Card:
    card = Card()
    in_column(*widgets, on=card, margins=(20, 16, 20, 16), spacing=8)
    return card
