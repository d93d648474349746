"""What is said of one metric is the same wherever it is shown."""

import csv
import html
import io
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from elicit_app.cli.result_text import print_result
from elicit_app.session.comparing import wording_of
from metrics import Consequence, ElicitedMetric, Quality, exchange_rates, export
from metrics.elicited.exchange import headline
from metrics.elicited.family import DLPM, LPM

N_METRICS = 300


def random_metric(seed):
    """Return a metric of two to ten classes: bounded, wide, tied, provisional, with and without draws and words."""
    rng = np.random.default_rng([seed, 5])
    k, family = int(rng.integers(2, 11)), (DLPM, LPM)[seed % 2]
    classes = [f"c{i}" for i in range(k)]
    n = family.n_weights(k)
    sizes = np.exp(rng.normal(size=n)) if rng.random() < 0.8 else np.ones(n)
    if rng.random() < 0.2:
        sizes[rng.integers(n)] = 0.0
    sizes = sizes if sizes.any() else np.ones(n)
    costs = family.costs(family.sign * sizes)
    spread = float(rng.choice([1.1, 2.0, 8.0]))
    low, high = costs / spread, costs * spread
    low[rng.random(costs.shape) < 0.1] = 0.0
    high[rng.random(costs.shape) < 0.1] = math.inf
    np.fill_diagonal(high, 0.0)
    mistakes = family.mistakes(k)
    named = [
        Consequence(
            classes[true],
            None if predicted is None else classes[predicted],
            f"Mix-up {true}-{predicted}",
            f"mix-up {true}-{predicted}",
            f"mix-ups {true}-{predicted}",
        )
        for true, predicted in mistakes
    ]
    unit = family.cell(mistakes[int(rng.integers(n))])
    return ElicitedMetric.from_weights(
        classes,
        family.sign * sizes,
        family.name,
        intervals=np.stack([low, high], axis=-1) if rng.random() < 0.8 else None,
        samples=family.sign * sizes * np.exp(math.log(spread) * rng.normal(size=(50, n)))
        if rng.random() < 0.5
        else None,
        yardstick=(classes[unit[0]], classes[unit[1]]),
        consequences=named if rng.random() < 0.7 else (),
        quality=Quality(provisional="the costs are not settled" if rng.random() < 0.3 else None),
    )


def terminal(metric):
    """Return what the terminal says at the end of a session."""
    view = SimpleNamespace(
        metric=metric,
        ratios=exchange_rates(metric),
        headline=headline(metric),
        guesses={},
        trust=(),
        held_out=(),
        trust_sentence="",
        judgement=None,
        models=(),
        notes=(),
    )
    console = Console(file=io.StringIO(), width=400, markup=False, highlight=False, emoji=False)
    print_result(console, view, SimpleNamespace(wording=wording_of(metric), population=1000))
    return console.file.getvalue()


def plain(text):
    """Return text without tags, escapes and line breaks."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).replace("\\", "").split())


@pytest.mark.parametrize("part", range(6))
def test_all_surfaces_name_the_same_headline_ranges_and_unit(part):
    for seed in range(part, N_METRICS, 6):
        metric = random_metric(seed)
        rates, said = exchange_rates(metric), headline(metric)
        pages = {name: plain(str(export(metric, name))) for name in ("html", "markdown")}
        pages["terminal"] = plain(terminal(metric))
        reloaded = ElicitedMetric.from_json(metric.to_json())
        assert headline(reloaded).in_words() == said.in_words()
        for name, page in pages.items():
            assert f"{said.start} {said.number}" in page, (seed, name)
            assert (said.provisional is None) or said.provisional in page, (seed, name)
        rows = [*csv.DictReader(io.StringIO(export(metric, "csv")))]
        named = {row["mistake"] for row in rows}
        for rate in rates:
            estimate, range_ = rate.columns()
            row = re.escape(rate.mistake.name) + r"( \([^|]*\))? \| " + re.escape(f"{estimate} | {range_}".rstrip())
            assert re.search(row, pages["markdown"]), seed
            assert rate.mistake.name in named
            if len(rates) <= 20:
                for name in ("html", "terminal"):
                    assert estimate in pages[name]
                    assert range_ in pages[name]
        assert next(rate for rate in rates if rate.is_yardstick).mistake.one in pages["html"]
