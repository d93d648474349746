"""What to do: the recommendation, all policies, and the value of more information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import LinkButton
from elicit_app.gui.elements.painting import Arranged, Label, Painted, Sized, StressedLabel, annotate
from elicit_app.gui.elements.surfaces import Block, Card, Surface, fill, in_column, in_grid, in_row
from elicit_app.gui.results.policy_table import PolicyTable
from elicit_app.session.policy_words import InformationTexts, MoreText, information_texts, policy_texts
from elicit_app.session.views import ResultView
from metrics.policies.judgement import Judgement
from metrics.policies.recommendation import Piece

NO_MODELS = "This study has no models, so there is nothing to decide."
MADE_UP = "It is a made-up distribution for trying procedures out. What you told us is on the next page."


class RecommendationCard(Arranged, Card):
    """The recommendation, its gain, how sure it is, and any reservation about the costs."""

    def __init__(self) -> None:
        super().__init__(Surface.IMPORTANT)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(theme.S)
        self.sentence = StressedLabel(theme.Role.RESULT)
        self.spares, self.sureness = StressedLabel(theme.Role.SECTION), StressedLabel(theme.Role.FLOW, theme.INK2)
        self.costs = Label(role=theme.Role.STRONG)
        fill(self._column, self.sentence, self.spares, self.sureness, self.costs)

    def show_result(self, view: ResultView, judgement: Judgement) -> None:
        recommended, costs = judgement.recommendation, view.metric.quality.caveat
        self.sentence.say(*_alternating(recommended.pieces))
        self.spares.say(*_stressed(recommended.spares, ": ", " than "))
        self.spares.setVisible(bool(recommended.spares))
        self.sureness.say(*_stressed(recommended.sureness, "", " sure "))
        self.sureness.setVisible(bool(recommended.sureness))
        self.costs.show_text(costs)
        annotate(self.costs, tooltip=view.metric.quality.provisional or "")

    def show_words(self, sentence: str, below: str) -> None:
        self.sentence.say(sentence)
        self.spares.say(below)
        for label in (self.sureness, self.costs):
            label.hide()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        side = 18 if breakpoint_.compact else 24
        self._column.setContentsMargins(side, 12, side, 14)


def _alternating(pieces: Sequence[Piece]) -> list[str]:
    """Return the pieces of a sentence for a label that stresses every second one."""
    parts = [""]
    for piece in pieces:
        if piece.strong == len(parts) % 2:
            parts.append("")
        parts[-1] += piece.text
    return parts


def _stressed(sentence: str, after: str, before: str) -> tuple[str, ...]:
    """Split a sentence in three, with the text between two marks, if both occur, in the middle, to be stressed."""
    start = sentence.find(after) + len(after) if after else 0
    end = sentence.find(before, start)
    if end < 0 or (after and after not in sentence):
        return (sentence,)
    keep = len(before.rstrip()) if not after else 0
    return sentence[:start], sentence[start : end + keep], sentence[end + keep :]


class ShareBar(Painted, Sized, QLabel):
    """The share of the expected loss that more would save, as the filled part of a track."""

    size_asked, size_least = (160, 8), (60, 8)

    def __init__(self, more: MoreText) -> None:
        super().__init__()
        self._share = more.share
        annotate(self, name=f"{more.number}: {more.spares}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        track = QRectF(self.rect())
        painter.fillRect(track, colours.sunken)
        track.setWidth(max(track.width() * min(self._share, 1.0), 2.0))
        painter.fillRect(track, colours.ink2)


class MoreCard(Arranged, Card):
    """The value of more: the advice, the expected loss of deciding now, and three amounts of more on one scale."""

    def __init__(self) -> None:
        super().__init__()
        self.advice, self.loss = Label(role=theme.Role.SECTION), Label(role=theme.Role.NOTE, ink=theme.INK2)
        words = in_column(self.advice, self.loss, 1, spacing=theme.XS)
        self._amounts, self._more, self._stacked = Block(), tuple[MoreText, ...](), False
        margins = (20, 14, 20, 16)
        in_row((words, 4), (self._amounts, 5), on=self, margins=margins, spacing=theme.XL, stacks="compact")

    def show_information(self, texts: InformationTexts) -> None:
        self.advice.setText(texts.advice)
        self.loss.setText(texts.loss)
        self._more = texts.more
        self._lay_amounts()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._stacked = breakpoint_.large
        self._lay_amounts()

    def _lay_amounts(self) -> None:
        grid = in_grid(on=self._amounts.renew(), across=theme.L, down=theme.XS)
        for at, more in enumerate(self._more):
            words = Label(more.number, theme.Role.LABEL), Label(more.spares, theme.Role.NOTE, theme.INK2)
            for line, widget in enumerate((*words, ShareBar(more))):
                grid.addWidget(widget, 3 * at + line if self._stacked else line, 0 if self._stacked else at)
        for column in range(grid.columnCount()):
            grid.setColumnStretch(column, 1)
        grid.setRowStretch(grid.rowCount(), 1)


class TableCard(Card):
    """The table of policies; rows beyond the eighth are folded away."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.fold = PolicyTable(), LinkButton("Show all", self._toggle)
        self._notes = Label(role=theme.Role.CAPTION, ink=theme.INK2)
        self._open = False
        in_column(self.table, in_row(self.fold, 1), self._notes, on=self, margins=(20, 10, 20, 12), spacing=theme.XS)

    def show_judgement(self, judgement: Judgement, counts_as: str = "") -> None:
        """Show a judgement; `counts_as` states the basis of the costs."""
        self.table.show_policies(policy_texts(judgement, counts_as))
        self._notes.show_text(" ".join(judgement.notes))
        self._update_fold()

    def _toggle(self) -> None:
        self._open = not self._open
        self.table.show_all(self._open)
        self._update_fold()

    def _update_fold(self) -> None:
        self.fold.setVisible(self.table.folded > 0)
        self.fold.setText("Show the first 8 only" if self._open else f"Show {self.table.folded} more that cost more")


class RecommendationPane(QWidget):
    """The first tab of the result."""

    def __init__(self) -> None:
        super().__init__()
        self.card, self.policies, self.more = RecommendationCard(), TableCard(), MoreCard()
        in_column(self.card, self.policies, self.more, 1, on=self, spacing=theme.M)

    def show_result(self, view: ResultView) -> None:
        judgement = view.judgement
        self.policies.setVisible(judgement is not None)
        texts = None if judgement is None else information_texts(judgement)
        self.more.setVisible(texts is not None)
        if judgement is None:
            self.card.show_words(NO_MODELS, MADE_UP)
            return
        self.card.show_result(view, judgement)
        headline = replace(view.headline, provisional=None)  # the card above has the caveat
        self.policies.show_judgement(judgement, headline.in_words())
        if texts is not None:
            self.more.show_information(texts)
