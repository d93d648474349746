"""`elicit metric pool`: what it prints, what it writes, what it refuses."""

import numpy as np
import pytest

from metrics import ElicitedMetric, Provenance

CLASSES = ("sick", "well")


def write(folder, expert, missed, classes=CLASSES):
    provenance = Provenance(procedure="bayes", questions=12, expert=expert, answers_digest=expert)
    made = ElicitedMetric.from_cost_matrix(
        classes, [[0, missed], [1, 0]], name=expert, provenance=provenance, yardstick=(classes[1], classes[0])
    )
    path = folder / f"{expert}.metric.json"
    made.save(path)
    return path


def test_experts_are_compared_and_pooled(elicit, tmp_path):
    ada, ben, out = write(tmp_path, "Ada", 8), write(tmp_path, "Ben", 2), tmp_path / "both.metric.json"
    done = elicit("metric", "pool", ada, ben, "--out", out, "--name", "Both")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "For Ada one sick case called well counts as much as 8 well cases called sick, for Ben as much as 2"
        in done.stdout
    )
    assert "geometric mean" in done.stdout
    assert f"Metric file: {out}" in done.stdout
    pooled = ElicitedMetric.load(out)
    assert pooled.name == "Both"
    assert pooled.cost_matrix[0, 1] / pooled.cost_matrix[1, 0] == pytest.approx(4)


def test_many_experts_stand_one_below_the_other_from_least_to_most(elicit, tmp_path):
    ratios = {"Ada": 8, "Ben": 2, "Cleo": 4, "Dan": 3, "Eve": 6}
    files = [write(tmp_path, name, ratio) for name, ratio in ratios.items()]
    few, many = (elicit("metric", "pool", *some).stdout.splitlines() for some in (files[:4], files))
    assert any(line.split() == ["Mistake", *list(ratios)[:4], "pooled"] for line in few)
    start = next(at for at, line in enumerate(many) if "Sick called well" in line)
    assert many[start].split()[:4] == ["Sick", "called", "well", "counts"]
    assert [line.split()[:2] for line in many[start + 1 : start + 6]] == [
        [name, str(ratio)] for name, ratio in sorted(ratios.items(), key=lambda item: item[1])
    ]
    assert many[start + 6].split()[:2] == ["all", "pooled"]
    assert not any("Well called sick" in line for line in many), "it is the yardstick"


def test_one_file_is_one_expert(elicit, tmp_path):
    stated = tmp_path / "stated.metric.json"
    ElicitedMetric.from_cost_matrix(CLASSES, [[0, 8], [1, 0]]).save(stated)
    done = elicit("metric", "pool", stated, tmp_path / "." / "stated.metric.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "is given twice: an expert counts once" in done.stderr


def test_opposed_experts_are_not_pooled_without_a_word(elicit, tmp_path):
    ada, ben, out = write(tmp_path, "Ada", 8), write(tmp_path, "Ben", 1 / 8), tmp_path / "both.metric.json"
    done = elicit("metric", "pool", ada, ben, "--out", out)
    warned = "The numbers are provisional: experts of opposed values are pooled in them."
    assert done.stdout.index(warned) < done.stdout.index("One of each counts as")
    assert "Ada and Ben order the mistakes in opposite ways" in done.stdout
    assert "within a factor of 8 of the pooled ones" in done.stdout
    assert ElicitedMetric.load(out).quality.caveat == warned
    assert warned in elicit("metric", "show", out).stdout


def test_without_a_file_to_write_they_are_only_compared(elicit, tmp_path):
    done = elicit("metric", "pool", write(tmp_path, "Ada", 8), write(tmp_path, "Ben", 2))
    assert done.returncode == 0
    assert "Metric file" not in done.stdout
    assert len(list(tmp_path.iterdir())) == 2


def test_what_cannot_be_pooled_is_said_in_a_sentence(elicit, tmp_path):
    ada, other = write(tmp_path, "Ada", 8), write(tmp_path, "Ben", 2, ("cat", "dog"))
    out = tmp_path / "both.metric.json"
    refused = elicit("metric", "pool", ada, other, "--out", out)
    assert refused.returncode == 1
    assert refused.stderr.startswith("elicit: Ben.metric.json is about the classes cat, dog, but Ada.metric.json about")
    assert not out.exists()
    assert elicit("metric", "pool", ada).returncode == 2
    assert elicit("metric", "pool", ada, tmp_path / "none.metric.json").returncode == 1
    assert elicit("metric", "pool", ada, ada).returncode == 1


def test_of_many_mistakes_those_are_listed_on_which_experts_differ_most(elicit, tmp_path):
    """Thirty mistakes, on five of which Ben differs; wide tables of all would fill screens."""
    names, costs = [f"c{at}" for at in range(6)], np.ones((6, 6)) - np.eye(6)
    for expert, factor in (("Ada", 1), ("Ben", 9)):
        costs[2] = factor * (np.arange(6) != 2)
        made = ElicitedMetric.from_cost_matrix(names, costs, name=expert, yardstick=("c0", "c1"))
        made.save(tmp_path / f"{expert}.metric.json")
    done = elicit("metric", "pool", tmp_path / "Ada.metric.json", tmp_path / "Ben.metric.json")
    assert (
        "24 of 30 mistakes, those on which the experts differ most; a pooled metric file has them all." in done.stdout
    )
    assert all(f"C2 called c{other}" in done.stdout for other in (0, 1, 3, 4, 5))
