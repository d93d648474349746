"""A judgement: policies compared, with the recommendation in words."""

from __future__ import annotations

from functools import cached_property

from metrics.policies.ranking import JudgedPolicy, Range, Ranking, Threshold
from metrics.policies.recommendation import Recommendation, difference_words, recommendation
from metrics.text import table_html, total_cost

__all__ = ["JudgedPolicy", "Judgement", "Range", "Threshold"]


class Judgement(Ranking):
    """Policies judged by an elicited metric, and what follows in words. The fields are those of `Ranking`."""

    @cached_property
    def recommendation(self) -> Recommendation:
        """Return the conclusion in words."""
        return recommendation(self)

    def __repr__(self) -> str:
        """Return a one-line description."""
        return f"<Judgement of {len(self.policies)} policies on {self.n_cases:,} cases: {self.recommendation.sentence}>"

    def __str__(self) -> str:
        """Return the recommendation in words: what to do, the gain, how sure it is, and the notes."""
        words = self.recommendation
        lines = (words.sentence, words.spares, words.sureness, words.reservation, *self.notes)
        return "\n".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        """Return the recommendation and the policies as an HTML table for notebooks."""
        words = self.recommendation
        rows = [
            [one.name, total_cost(one.cost_per_population), difference_words(one), self.probability_text(one)]
            for one in self.policies
        ]
        heads = ["", f"cost per {self.population:,}, in {self.mistake(*self.unit).many}", "90 % plausible", "best"]
        notes = [words.spares, words.sureness, words.reservation, self.metric.quality.source]
        return table_html(words.sentence, heads, rows, notes)
