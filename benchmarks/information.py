"""Bits per answer if the noise is known: at most one bit, or .53 with 10 % of flips.

    uv run python benchmarks/information.py [--study NAME ...] [--runs N] [--questions N] [--seed S]

A question that is a toss-up between the metrics still possible yields one bit if it is never answered wrongly, and
1 - h(.1) = .53 if one answer in ten is inverted. The table shows the mean over all questions of all runs.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from elicitation import opened

from elicit_app.elicitation.choosing import information
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.response import ResponseModel
from elicit_app.experiments.people import Noise
from elicit_app.experiments.simulation import Experts, Laboratory
from elicit_app.registry.procedures import BayesSetting

STUDIES = ("softmax-3", "softmax-4", "emotions", "news")
FLOORS = {"none": 0.95, "flip:0.1": 0.5}
SURE, NO_TIES = 1e6, -30.0  # sensitivity per typical difference, and log of the half-width of "about equal"


class Known(Laboratory):
    """A laboratory whose procedure knows how the experts err: never, or at random in a known share of the answers."""

    def procedure(self, seed: int) -> Bayes:
        procedure = super().procedure(seed)
        assert isinstance(procedure, Bayes)
        procedure.response = informed(procedure.response, 2 * self.experts.noise.amount)
        return procedure


def informed(response: ResponseModel, lapse: float) -> ResponseModel:
    """Return a response model with known noise; a coin inverts half of the affected answers."""
    return replace(
        response, log_sensitivity=float(np.log(SURE)), spread=0.0, log_tie=NO_TIES, tie_spread=0.0, lapse=lapse
    )


def bits(laboratory: Known, runs: int) -> list[float]:
    """Return the expected bits of each question of each run."""
    found = []
    for number in range(runs):
        asked = laboratory.run(number).asked
        # The beliefs of the run are recomputed: they follow from the seed and the history.
        seed = np.random.SeedSequence([laboratory.setting.seed, number]).spawn(4)[3]
        procedure = laboratory.procedure(int(seed.generate_state(1)[0]))
        for n, (question, _) in enumerate(asked):
            gain = procedure.prior.gain(*question.rates)[None]
            found.append(float(information(procedure.belief(asked[:n]), gain)[0]))
    return found


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--study", nargs="*", default=STUDIES)
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--questions", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    print("| study | family | noise, known | bits a question | floor |\n|" + "---|" * 5)
    with TemporaryDirectory() as folder:
        for name in chosen.study:
            study = opened(name, Path(folder))
            if study is None:
                continue
            for family in ("dlpm", "lpm"):
                for noise, floor in FLOORS.items():
                    setting = BayesSetting(family=family, questions=chosen.questions, seed=chosen.seed)
                    laboratory = Known(study, setting, Experts(noise=Noise.parse(noise)))
                    mean = np.mean(bits(laboratory, chosen.runs))
                    print(f"| {name} | {family} | {noise} | **{mean:.3f}** | {floor} |", flush=True)


if __name__ == "__main__":
    main()
