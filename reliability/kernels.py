"""Whether the same transcript gives the same digests with other numbers of threads and other linear-algebra kernels.

python reliability/kernels.py [--answers N] [STUDY ...]

A scripted expert answers a session under each setting, each in its own process. The questions with their answers, and
the metric file's costs and ranges as printed, are compared; differences are named.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SETTINGS = (
    {"OPENBLAS_NUM_THREADS": "1"},
    {"OPENBLAS_NUM_THREADS": "2"},
    {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"},
    {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "SkylakeX"},
    {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"},
    {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Prescott"},
)
STUDIES = ("breast-cancer", "traffic-light", "wine")


def transcript(name: str, answers: int, folder: Path) -> dict[str, object]:
    """Return the digests of one scripted session in this process."""
    import numpy as np

    from elicit_app.elicitation.oracles import LinearOracle
    from elicit_app.registry.procedures import BayesSetting
    from elicit_app.session.journal.events import Answered
    from elicit_app.session.questions import on_screen, to_reply
    from elicit_app.session.result import result_view
    from elicit_app.session.session import Session
    from elicit_app.study import open_study

    study = open_study(name)
    # exact numbers, however logarithms are computed here
    k = study.n_classes
    costs = np.array([[0 if i == j else 1 + (3 * i + 5 * j) % 7 for j in range(k)] for i in range(k)])
    expert = LinearOracle(-costs / 8)
    with Session.create(study, BayesSetting(seed=4, questions=answers), folder / "k.session.jsonl") as session:
        while (asking := session.asking()) is not None:
            answer = expert.answer(asking.pair.question({}))
            session.answer(to_reply(asking.left, answer.choice), moved=on_screen(asking.left, answer.moved))
        session.stop()
        session.finish()
        view = result_view(session)
        asked = [event for event in session.events if isinstance(event, Answered)]
    told = [event.model_dump_json(include={"pair", "left", "choice", "moved"}) for event in asked]
    metric = view.metric
    shown = [[rate.mistake.name, *rate.columns()] for rate in view.ratios]
    return {
        "questions": [_digest(one) for one in told],
        "shown": _digest(shown),
        "costs": metric.cost_matrix.ravel().tolist(),
        "file": _digest([metric.cost_matrix.tolist(), [] if metric.samples is None else metric.samples.tolist()]),
    }


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", nargs="*", default=STUDIES)
    parser.add_argument("--answers", type=int, default=18)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        with tempfile.TemporaryDirectory(prefix="kernels-") as place:
            print(json.dumps(transcript(given.study[0], given.answers, Path(place))))
        return 0
    differ = 0
    for name in given.study:
        first = None
        for setting in SETTINGS:
            command = [sys.executable, __file__, "--one", "--answers", str(given.answers), name]
            done = subprocess.run(command, env=os.environ | setting, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            first = first or found
            same = sum(one == other for one, other in zip(found["questions"], first["questions"], strict=False))
            apart = max(abs(a - b) for a, b in zip(found["costs"], first["costs"], strict=True))
            equal = found["questions"] == first["questions"] and found["shown"] == first["shown"]
            differ += not equal or found["file"] != first["file"]
            label = " ".join(f"{key.removeprefix('OPENBLAS_').lower()}={value}" for key, value in setting.items())
            print(
                f"{name:16}{label:36} questions {same}/{len(found['questions'])} the same, result {found['shown']}, "
                f"file {found['file']}, costs apart {apart:.1e}",
                flush=True,
            )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
