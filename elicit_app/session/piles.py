"""Piles of mistakes by their consequences: the cards, what is in each pile, and proposals.

With more than `MAX_CLASSES_UNGROUPED` classes, mistakes are grouped: those of one true class with the same words for
the consequence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from elicit_app.elicitation.orders import StatedMistake, StatedPile
from elicit_app.session.journal.events import Guess
from elicit_app.session.pair_words import flow_words, unsaid_answer
from elicit_app.study.model import Study
from metrics.text import capitalised

FEWEST, MOST = 3, 5
NAMES = {
    3: ("Hardly matters", "Matters", "Grave"),
    4: ("Hardly matters", "A nuisance", "Does harm", "Grave"),
    5: ("Hardly matters", "A nuisance", "Does some harm", "Does harm", "Grave"),
}
MAX_CLASSES_UNGROUPED = 10  # largest number of classes for which every mistake has its own card
Mistake = tuple[int, int]


@dataclass(frozen=True)
class PileCard:
    """One card: a mistake, or a group of mistakes."""

    mistakes: tuple[Mistake, ...]  # the mistakes on it
    title: str  # "Ventricular tachycardia called SVT", "VT called anything slower, 6"
    detail: str  # the number of cases of the true class, and the predictions
    consequence: str  # the consequence; may be empty
    short: str  # the title without words that most classes share, for when there is no room


def cards_of(study: Study) -> tuple[PileCard, ...]:
    """Return the cards of a study, in study order."""
    wording, k = study.wording, study.n_classes
    shown, brief = study.shown_cases, without_shared_words(wording.class_one)
    cards = []
    for true in range(k):
        groups: dict[str, list[Mistake]] = {}
        for predicted in (at for at in range(k) if at != true):
            consequence = wording.mistakes[true, predicted].consequence.strip()
            groups.setdefault(consequence if k > MAX_CLASSES_UNGROUPED else str(predicted), []).append(
                (true, predicted)
            )
        for own in groups.values():
            first = wording.mistakes[own[0]]
            called = wording.class_one[own[0][1]] if len(own) == 1 else _listed(study, own)
            title = first.name if len(own) == 1 else f"{wording.class_one[true]} called {called}"
            detail = flow_words(shown[true], wording.class_many[true], unsaid_answer(title, called))
            shown_as = title
            for at in sorted({true, *(predicted for _, predicted in own)}):
                if brief[at] != wording.class_one[at]:
                    whole, part = re.escape(wording.class_one[at]), brief[at].replace("\\", r"\\")
                    shown_as = re.sub(rf"(?<!\w){whole}(?!\w)", part, shown_as, flags=re.IGNORECASE)
            texts = capitalised(title), detail, first.consequence, capitalised(shown_as)
            cards.append(PileCard(tuple(own), *texts))
    return tuple(cards)


def without_shared_words(names: Sequence[str]) -> list[str]:
    """Return names without the words that most of them share, as long as they still differ.

    >>> without_shared_words(["mild reflux, left", "severe reflux, left", "severe reflux, right", "none"])
    ['mild … left', 'severe … left', 'severe … right', 'none']
    """
    words = [name.split() for name in names]
    most = {word for one in words for word in one if 2 * sum(word in other for other in words) > len(names)}
    kept = [[word if word not in most else "…" for word in one] for one in words]
    brief = [" ".join(word for word, _ in groupby(one)) for one in kept]
    return brief if len({*brief}) == len(names) and "…" not in brief else list(names)


def _listed(study: Study, own: list[Mistake]) -> str:
    names = [study.wording.class_one[predicted] for _, predicted in own]
    if len(own) == study.n_classes - 1:
        return f"anything else, {len(own)}"
    return ", ".join(names) if len(names) <= 2 else f"{names[0]} or {len(names) - 1} others"


def _plain_words(text: str) -> str:
    """Return the words of a consequence, without punctuation, for comparison."""
    return " ".join(re.findall(r"\w+", text.lower()))


@dataclass
class Piles:
    """The assignment of cards to piles; every change except of a name can be undone."""

    cards: tuple[PileCard, ...]
    names: list[str] = field(default_factory=lambda: list(NAMES[MOST]))  # of the piles, the mildest first
    assigned: dict[int, int] = field(default_factory=dict)
    guessed: dict[int, float] = field(default_factory=dict)  # rank by the first guess: 0 the mildest, 1 the gravest
    _later: list[int] = field(default_factory=list)
    _undo_stack: list[tuple[dict[int, int], list[int], list[str]]] = field(default_factory=list)

    @classmethod
    def of(cls, study: Study, guesses: Sequence[Guess] = ()) -> Piles:
        """Return empty piles for a study; first guesses provide proposals for some cards."""
        piles = cls(cards_of(study))
        ratios = {(guess.true, guess.predicted): guess.ratio for guess in guesses if guess.predicted is not None}
        if len(set(ratios.values())) > 1:
            ranked = sorted(set(ratios.values()))
            for at, card in enumerate(piles.cards):
                own = [ratios[mistake] for mistake in card.mistakes if mistake in ratios]
                if own:
                    piles.guessed[at] = ranked.index(own[0]) / (len(ranked) - 1)
        return piles

    @property
    def remaining(self) -> list[int]:
        """Return the cards in no pile, with postponed ones last."""
        free = [at for at in range(len(self.cards)) if at not in self.assigned]
        return [at for at in free if at not in self._later] + [at for at in self._later if at in free]

    @property
    def can_undo(self) -> bool:
        """Return whether there is a change to undo."""
        return bool(self._undo_stack)

    def in_pile(self, pile: int) -> list[int]:
        """Return the cards in a pile, the last one first."""
        return [at for at in reversed(list(self.assigned)) if self.assigned[at] == pile]

    def mistakes_in(self, cards: Sequence[int]) -> int:
        """Return the number of mistakes on some cards."""
        return sum(len(self.cards[at].mistakes) for at in cards)

    def proposals(self) -> dict[int, int]:
        """Return proposed piles for the remaining cards: by equal consequences in a pile, or by a first guess."""
        pile_of: dict[str, int] = {}
        for at, pile in self.assigned.items():
            words = _plain_words(self.cards[at].consequence)
            if words:
                pile_of[words] = pile
        found = {}
        for at in self.remaining:
            words = _plain_words(self.cards[at].consequence)
            if words in pile_of:
                found[at] = pile_of[words]
            elif at in self.guessed:
                found[at] = round(self.guessed[at] * (len(self.names) - 1))
        return found

    def alike(self, card: int) -> list[int]:
        """Return the remaining cards with the same consequence as `card`, including itself."""
        words = _plain_words(self.cards[card].consequence)
        return [
            at for at in self.remaining if at == card or (words and _plain_words(self.cards[at].consequence) == words)
        ]

    def put(self, cards: Sequence[int], pile: int) -> None:
        """Put cards into a pile; nothing happens if there is no such pile."""
        if not 0 <= pile < len(self.names):
            return
        self._save_undo_state()
        for at in cards:
            self.assigned.pop(at, None)
            self.assigned[at] = pile

    def later(self, card: int) -> None:
        """Postpone a card behind the other remaining ones."""
        self._save_undo_state()
        self._later = [at for at in self._later if at != card] + [card]

    def use_proposals(self) -> None:
        """Put every remaining card that has a proposed pile into it."""
        self._save_undo_state()
        self.assigned |= self.proposals()

    def undo(self) -> bool:
        """Undo the last change, and return whether there was one."""
        if not self._undo_stack:
            return False
        self.assigned, self._later, names = self._undo_stack.pop()
        if len(names) != len(self.names):  # else they may have been renamed since
            self.names = names
        return True

    def resize(self, n: int) -> None:
        """Change the number of piles; cards keep their relative rank as nearly as possible."""
        if not FEWEST <= n <= MOST or n == len(self.names):
            return
        before = len(self.names)
        usual = list(self.names) == list(NAMES[before])
        scale = (n - 1) / (before - 1)
        self._save_undo_state()
        self.assigned = {at: round(pile * scale) for at, pile in self.assigned.items()}
        self.names = list(NAMES[n]) if usual else [*self.names, *NAMES[MOST]][:n]

    def stated(self, study: Study) -> tuple[StatedPile, ...] | None:
        """Return the piles for a setting; None if all are empty."""
        if not self.assigned:
            return None
        return tuple(
            StatedPile(
                name.strip() or f"Pile {number + 1}",
                tuple(
                    StatedMistake(study.classes[true], study.classes[predicted])
                    for at in sorted(self.in_pile(number))
                    for true, predicted in self.cards[at].mistakes
                ),
            )
            for number, name in enumerate(self.names)
            if self.in_pile(number)
        )

    def _save_undo_state(self) -> None:
        self._undo_stack.append((dict(self.assigned), list(self._later), list(self.names)))
