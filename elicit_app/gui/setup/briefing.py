"""What somebody should know before the first question: what will happen, and what a model is here."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Divider, Label
from elicit_app.gui.elements.surfaces import Block
from elicit_app.study.model import Study

_WIDTH = 344


class Briefing(Card):
    """Steps, and sentences that are good to know; read on the right of what is asked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._inside = Block()
        self._shown: tuple[Study, str, bool] | None = None
        self.stored = Label(role=theme.Role.NOTE, ink=theme.INK2)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 18)
        column.setSpacing(6)
        column.addWidget(self._inside)
        column.addWidget(Divider())
        column.addWidget(Label("What is stored, and where", theme.Role.SECTION))
        column.addWidget(self.stored)
        column.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(_WIDTH), super().sizeHint().height())

    def arrange(self) -> None:
        """Take the widths of the present font."""
        if self._shown is not None:
            study, folder, piles = self._shown
            self.show_study(study, folder, piles=piles)

    def show_study(self, study: Study, folder: str, *, piles: bool) -> None:
        """Say it in the words of `study`.

        Parameters
        ----------
        study : Study
            What the questions will be about.
        folder : str
            Where the session will lie.
        piles : bool
            Whether mistakes are put into piles before the questions.
        """
        self._shown = study, folder, piles
        column = QVBoxLayout(self._inside.renew())
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Label("What will happen", theme.Role.SECTION))
        for number, (title, sentence) in enumerate(_steps(study, piles=piles), start=1):
            column.addLayout(_item(str(number), title, sentence))
        column.addWidget(Divider())
        column.addWidget(Label("Good to know", theme.Role.SECTION))
        for sentence in _good_to_know(study):
            column.addLayout(_item("•", "", sentence))
        self.stored.setText(
            f"Each answer with its time, and what you type here, at once, in {_breakable(folder)}. Nothing leaves this "
            "computer."
        )


def _breakable(folder: str) -> str:
    """Return a path that may be wrapped after its separators."""
    return folder.replace("/", "/\u200b").replace("\\", "\\\u200b")


def _steps(study: Study, *, piles: bool) -> list[tuple[str, str]]:
    wording = study.wording
    steps = [
        ("Practice", "Three questions that do not count."),
        (
            "Pairs of results",
            f"Two ways a model could do on {study.population:,} {wording.cases}. You say which you would rather have. "
            "There is no right answer.",
        ),
        ("Now and then a number", "You move one number until both results are equally bad."),
        ("What to do", "How your answers rate these models, and how sure that is."),
    ]
    if piles:
        steps.insert(0, ("Piles", "You put mistakes that are about as bad together; or you skip that."))
    return steps


def _good_to_know(study: Study) -> tuple[str, ...]:
    case, cases = study.wording.case, study.wording.cases
    return (
        f"It is about many {cases}, never about one.",
        f"A model is a program that says what each {case} is; how it works does not matter here.",
        "Whoever runs this study chooses a model, and how to use it, by your answers.",
        "Go by what follows from a mistake, not by how the numbers look.",
        "Take back any answer with Ctrl+Z. Stop when you like.",
    )


def _item(sign: str, title: str, sentence: str) -> QHBoxLayout:
    row, words = QHBoxLayout(), QVBoxLayout()
    row.setSpacing(theme.S)
    words.setSpacing(1)
    mark = Label(sign, theme.Role.LABEL, theme.INK2, wrap=False)
    mark.setFixedWidth(theme.em(14))
    row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
    if title:
        words.addWidget(Label(title, theme.Role.LABEL))
    words.addWidget(Label(sentence, theme.Role.NOTE, theme.INK2))
    row.addLayout(words, 1)
    return row
