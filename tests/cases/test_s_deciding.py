"""What is compared with what, how often the same tree is measured, and what a changed rule does to old verdicts."""

import json
from typing import Any

import pytest

from tests.cases.conftest import Make
from tests.playground import CONTRACT, Scene

SAY = '#!/bin/sh\necho "METRIC size=$(cat src/a.txt)"\n'
COUNT = '#!/bin/sh\necho "METRIC size=$(wc -l < src/a.txt)"\n'


def saying(make: Make, first: str, **more: Any) -> Scene:
    return make(files={"exp/evaluate.sh": SAY, "src/a.txt": f"{first}\n", "src/notes.txt": "none\n"}, **more)


def rows(scene: Scene) -> list[list[str]]:
    """results.tsv from row 0 on, without hashes and descriptions."""
    lines = (scene.experiment / "results.tsv").read_text().splitlines()[1:]
    return [[row[0], *row[2:5]] for row in (line.split("\t") for line in lines)]


# --- S8 ---------------------------------------------------------------------------------------------


def test_a_candidate_is_compared_with_the_last_keep_and_not_with_the_first_baseline(make: Make) -> None:
    scene = saying(make, "100")
    assert scene.turns("echo 80 > src/a.txt", "echo 90 > src/a.txt", "echo 70 > src/a.txt")[0] == 0
    assert scene.statuses == ["keep", "discard", "keep"]
    kept, worse, better = scene.facts("Decided")
    assert (kept["effect"], kept["delta"], kept["basis"]) == (pytest.approx(0.2), -20.0, "metric_improvement")
    assert (worse["effect"], worse["delta"], worse["basis"]) == (pytest.approx(-0.125), 10.0, "metric_regression")
    assert (better["effect"], better["delta"]) == (pytest.approx(0.125), -10.0)
    assert "12" in worse["reason"]
    assert "80 to 90" in worse["reason"]
    assert rows(scene) == [
        ["0", "100.0", "0", "baseline"],
        ["1", "80.0", "-20.0", "keep"],
        ["2", "90.0", "10.0", "discard"],
        ["3", "70.0", "-10.0", "keep"],
    ]
    assert [line["incumbent"] for line in scene.facts("Settled")] == [scene.branch[0], scene.branch[0], scene.branch[1]]
    status = json.loads(scene.command("status", str(scene.experiment), "--json").stdout)
    assert status["best_effect"] == pytest.approx(0.3), "against the baseline"


def test_the_other_direction_is_the_mirror_image(make: Make) -> None:
    found = []
    for direction, values in (("lower", (100, 80, 90, 80)), ("higher", (100, 120, 110, 120))):
        contract = CONTRACT.replace("direction: lower", f"direction: {direction}") + "decision: {preset: thorough}\n"
        scene = saying(make, str(values[0]), contract=contract)
        scene.turns(*[f"echo {value} > src/a.txt; echo {n} > src/notes.txt" for n, value in enumerate(values[1:])])
        decided = scene.facts("Decided")
        found.append([(d["status"], d["basis"], abs(d["delta"]), d["effect"] > 0, d["effect"] == 0) for d in decided])
    assert found[0] == found[1]
    assert [row[0] for row in found[0]] == ["keep", "discard", "discard"]


# --- S10 --------------------------------------------------------------------------------------------


def test_the_same_tree_again_keeps_its_first_verdict_and_is_not_measured(make: Make) -> None:
    scene = saying(make, "100")
    again = "echo 110 > src/a.txt"
    assert (
        scene.turns(
            "echo 101 > src/a.txt",
            again,
            "echo 102 > src/a.txt",
            f"{again}; git commit -qam 'by another name'",
            f"echo 7 > src/a.txt; git commit -qam one; {again}; git commit -qam two",
        )[0]
        == 0
    )
    assert scene.statuses == ["discard", "discard", "discard", "duplicate", "duplicate"]
    assert [line["twin"] for line in scene.facts("Gated")] == [None, None, None, 2, 2]
    assert scene.reasons[3].startswith("the same tree as turn 2 (discard: ")
    assert (scene.measured(4), scene.measured(5)) == (0, 0)
    trees = [line["tree"] for line in scene.facts("Proposed")]
    assert trees[1] == trees[3] == trees[4]


def test_a_rejected_a_crashed_and_a_kept_tree_are_remembered_too(make: Make) -> None:
    scene = saying(make, "100")
    assert (
        scene.turns(
            "echo 50 > src/a.txt",
            "echo 100 > src/a.txt",
            "echo 50 > src/a.txt",
            "echo no number > src/a.txt",
            "echo no number > src/a.txt",
            "echo 100 > src/a.txt",
        )[0]
        == 0
    )
    assert scene.statuses == ["keep", "discard", "no_change", "crash", "duplicate", "duplicate"]
    assert [line["twin"] for line in scene.facts("Gated")] == [None, None, None, None, 4, 2]


def test_a_changed_rule_opens_a_segment_in_which_nothing_of_the_old_one_counts(make: Make) -> None:
    contract = CONTRACT.replace("direction: lower}", "direction: lower, min_effect: 5%}")
    scene = saying(make, "100", contract=contract)
    small = "echo 98 > src/a.txt"
    assert scene.turns(small, small)[0] == 0
    assert scene.statuses == ["discard", "duplicate"]
    before = (scene.experiment / "journal.jsonl").read_bytes()
    scene.write({"exp/experiment.yaml": contract.replace("min_effect: 5%", "min_effect: 1%")})
    scene.commit("a lower bar")
    assert scene.turns(small)[0] == 0
    assert scene.statuses == ["discard", "duplicate", "keep"]
    assert (scene.experiment / "journal.jsonl").read_bytes().startswith(before), "nothing old is rewritten"
    first, second = scene.facts("CampaignOpened")
    assert (first["segment"], second["segment"], second["changed"]) == (1, 2, ["contract"])
    assert (second["baseline"], second["incumbent"]) == (first["baseline"], first["baseline"])
    assert [line["segment"] for line in scene.facts("Calibrated")] == [1, 2]
    assert [line["turn"] for line in scene.facts("TurnOpened")] == [1, 2, 3]
    assert [row[0] for row in rows(scene)] == ["0", "1", "2", "3"], "no second row 0"


def test_an_unchanged_contract_opens_none(make: Make) -> None:
    scene = saying(make, "100")
    scene.turns("echo 90 > src/a.txt")
    scene.write({"exp/program.md": "Be bold.\n"})
    scene.turns("echo 80 > src/a.txt")
    assert scene.statuses == ["keep", "keep"]
    assert len(scene.facts("CampaignOpened")) == 1
    assert len(scene.facts("Calibrated")) == 1
    assert "Be bold." in (scene.experiment / "artifacts/attempt_0002/prompt.md").read_text()


# --- S11 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", ["auto", "true"])
def test_an_exact_metric_is_decided_by_one_pair_and_one_look(make: Make, declared: str) -> None:
    contract = CONTRACT.replace("direction: lower}", f"direction: lower, deterministic: {declared}}}")
    scene = make(contract=contract, files={"exp/evaluate.sh": COUNT, "src/a.txt": "a\nb\nc\nd\n"})
    assert scene.turns("sed -i 1d src/a.txt", "sed -i s/b/B/ src/a.txt", "sed -i p src/a.txt", "sed -i 1d src/a.txt")[0] == 0
    assert scene.statuses == ["keep", "discard", "discard", "keep"]
    assert [d["metric_value"] for d in scene.facts("Decided")] == [3.0, 3.0, 6.0, 2.0]
    assert [scene.measured(turn) for turn in (1, 2, 3, 4)] == [3, 2, 2, 3]
    assert scene.facts("Calibrated")[0]["primary"]["deterministic"] is True
    assert [d["basis"] for d in scene.facts("Decided")][1:3] == ["not_good_enough", "metric_regression"]


def test_a_zero_and_a_gain_of_all_are_numbers_like_any_other(make: Make) -> None:
    scene = make(files={"exp/evaluate.sh": COUNT, "src/a.txt": "a\nb\n"})
    assert scene.turns(": > src/a.txt", "echo > src/a.txt")[0] == 0
    assert [d["metric_value"] for d in scene.facts("Decided")] == [0.0, 1.0]
    assert scene.statuses[0] in ("keep", "held")
    assert scene.statuses[1] == "discard" if scene.statuses[0] == "keep" else True
