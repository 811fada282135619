"""What a campaign stands on is lost, moved or changed between two runs: it goes on where it can and says why where it cannot."""

import shutil
from typing import Any

import pytest

from tests import playground
from tests.crash import scenes
from tests.crash.scenes import Runner

KILLED = -9


# --- the state directory -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("line", [6, 7, 14, 21, 25, 26, 27, 35], ids=lambda n: f"line-{n}")
def test_a_lost_state_directory_costs_nothing_where_no_candidate_is_open(
    runner: Runner, whole: dict[str, Any], line: int
) -> None:
    """After the calibration, a turn's opening, a settled keep, a settled discard, a refusal's gate and verdict, the last keep."""
    assert runner.run(seam="after", line=line) == KILLED
    shutil.rmtree(runner.scene.state_home)
    runner.play()
    found = scenes.end(runner.scene)
    assert found["facts"] == whole["facts"]
    assert found["branch"] == whole["branch"]
    assert found["results"] == whole["results"]
    assert scenes.unsound(runner.scene) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (8, "the worker's copy was lost with the state directory"),
        (9, "the candidate was lost with the state directory"),
        (10, "the candidate was lost with the state directory"),
        (11, "the candidate was lost with the state directory"),
        (13, "the candidate was lost with the state directory"),
    ],
    ids=["worked", "proposed", "gated", "measured", "kept"],
)
def test_an_open_turn_whose_candidate_was_lost_is_interrupted_and_its_number_is_spent(
    runner: Runner, line: int, why: str
) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=line) == KILLED
    shutil.rmtree(scene.state_home)
    runner.play()
    last = [line for line in scene.facts("Decided") if line["turn"] == 1][-1]
    assert (last["status"], last["reason"]) == ("interrupted", why)
    assert [row[0] for row in scenes.rows(scene)[2:]] == ["1", "2", "3", "4", "5"]
    assert [row[4] for row in scenes.rows(scene)[2:]] == ["interrupted", "keep", "discard", "rejected", "keep"]
    assert len(scene.branch) == 2
    assert scenes.unsound(scene) == []


def test_a_keep_that_is_on_the_branch_already_is_settled_without_the_state_directory(
    runner: Runner, whole: dict[str, Any]
) -> None:
    assert runner.run(seam="before", line=14) == KILLED
    assert len(runner.scene.branch) == 1
    shutil.rmtree(runner.scene.state_home)
    runner.play()
    found = scenes.end(runner.scene)
    assert found["facts"] == whole["facts"]
    assert found["branch"] == whole["branch"]


# --- the branch --------------------------------------------------------------------------------------


def test_a_deleted_branch_is_refused_with_its_mend_and_goes_on_when_it_is_put_back(runner: Runner, whole: dict[str, Any]) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=24) == KILLED
    winner = scene.branch[0]
    before = scene.journal
    scene.git("branch", "-D", "research/scene")
    mend = f"git branch -f research/scene {winner}"
    assert runner.run() == 1
    assert runner.said.splitlines()[-2:] == [
        f"branch research/scene is gone, the journal's winner is {winner}: somebody moved it",
        f"  put it back with: {mend}",
    ]
    assert scene.journal == before
    scene.git(*mend.split()[1:])
    runner.play()
    assert scenes.end(scene) == whole


def test_a_moved_branch_is_refused_with_its_mend_and_goes_on_when_it_is_put_back(runner: Runner, whole: dict[str, Any]) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=24) == KILLED
    (winner,) = scene.branch
    scene.git("branch", "-f", "research/scene", "main")
    assert runner.run() == 1
    assert (
        f"branch research/scene stands at {scene.git('rev-parse', 'main')[:12]}, the journal's winner is {winner}" in runner.said
    )
    assert scene.git("rev-parse", "research/scene") == scene.git("rev-parse", "main")
    scene.git("branch", "-f", "research/scene", winner)
    runner.play()
    assert scenes.end(scene) == whole


@pytest.mark.parametrize("line", [20, 26], ids=["discarded", "rejected"])
def test_a_moved_branch_is_refused_also_where_only_a_discard_is_left_to_settle(runner: Runner, line: int) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=line) == KILLED
    scene.git("branch", "-f", "research/scene", "main")
    before = scene.journal
    assert runner.run() == 1
    assert scene.journal == before


@pytest.mark.parametrize("line", [13, 34], ids=["first keep", "later keep"])
def test_a_branch_moved_under_a_keep_that_is_not_yet_settled_is_never_overwritten(
    runner: Runner, whole: dict[str, Any], line: int
) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=line) == KILLED
    stood = scene.branch
    theirs = scene.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")
    scene.git("branch", "-f", "research/scene", theirs)
    assert runner.run() == 1
    assert runner.said.splitlines()[-2].startswith("branch research/scene ")
    assert scene.git("rev-parse", "research/scene") == theirs
    if stood:
        scene.git("branch", "-f", "research/scene", stood[-1])
    else:
        scene.git("branch", "-D", "research/scene")
    runner.play()
    assert scene.statuses == ["keep", "discard", "rejected", "keep"]
    assert scenes.history(scene) == whole["branch"]


def test_the_branch_that_a_killed_keep_has_moved_already_counts_as_moved(runner: Runner, whole: dict[str, Any]) -> None:
    assert runner.run(seam="before", line=35) == KILLED
    assert len(runner.scene.branch) == 2
    runner.play()
    assert scenes.end(runner.scene) == whole


# --- the contract ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("line", [7, 8, 9, 10, 11], ids=["opened", "worked", "proposed", "gated", "measured"])
def test_an_open_turn_does_not_cross_into_another_contract(runner: Runner, line: int) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=line) == KILLED
    scene.write({"exp/goal_prompt.md": "Make src/a.txt a lot shorter.\n"})
    runner.play()
    assert [row[4] for row in scenes.rows(scene)[2:]] == ["interrupted", "keep", "discard", "rejected", "keep"]
    first, second = scene.facts("CampaignOpened")
    assert (first["segment"], second["segment"], second["changed"]) == (1, 2, ["goal"])
    assert second["campaign"] == first["campaign"]
    settled = next(fact for fact in scene.facts("Settled") if fact["turn"] == 1)
    assert settled["seq"] < second["seq"]
    assert [fact["segment"] for fact in scene.facts("Calibrated")] == [1, 2]
    assert scenes.unsound(scene) == []


def test_a_decided_keep_is_settled_before_another_contract_begins(runner: Runner) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=13) == KILLED
    scene.write({"exp/goal_prompt.md": "Make src/a.txt a lot shorter.\n"})
    runner.play()
    assert scene.statuses == ["keep", "discard", "rejected", "keep"]
    assert scene.facts("CampaignOpened")[1]["incumbent"] == scene.branch[0]


@pytest.mark.slow
@pytest.mark.parametrize("step", range(4))
def test_killed_while_another_contract_begins_it_begins_once(runner: Runner, step: int) -> None:
    scene = runner.scene
    assert runner.run(seam="after", line=11) == KILLED
    scene.write({"exp/goal_prompt.md": "Make src/a.txt a lot shorter.\n"})
    assert runner.run(seam="after", line=12 + step) == KILLED
    runner.play()
    assert [fact["segment"] for fact in scene.facts("CampaignOpened")] == [1, 2]
    assert [row[4] for row in scenes.rows(scene)[2:]] == ["interrupted", "keep", "discard", "rejected", "keep"]


# --- what is learned ---------------------------------------------------------------------------------


def test_what_five_turns_taught_is_written_also_when_a_kill_came_before_it(runner: Runner) -> None:
    scene = runner.scene
    scene.write({"exp/experiment.yaml": playground.CONTRACT, "exp/worker.sh": playground.SHORTEN})
    scene.commit("a worker of its own")
    assert runner.run("--max-turns", "5", seam="after", line=46) == KILLED
    assert scene.facts("Settled")[-1]["turn"] == 5
    assert not (scene.experiment / "program.learned.md").exists()
    runner.play("--max-turns", "5")
    assert (scene.experiment / "program.learned.md").exists()


# --- the budget --------------------------------------------------------------------------------------


def test_five_turns_killed_in_the_third_and_the_fourth_are_five_turns(runner: Runner) -> None:
    scene = runner.scene
    contract = playground.CONTRACT
    scene.write({"exp/experiment.yaml": contract, "exp/worker.sh": playground.SHORTEN})
    scene.commit("a worker of its own")
    turn = iter((3, 4))
    assert runner.run("--max-turns", "5", seam="after", line=24) == KILLED
    assert scene.journal[-1]["turn"] == next(turn)
    assert runner.run("--max-turns", "5", seam="after", line=34) == KILLED
    assert scene.journal[-1]["turn"] == next(turn)
    runner.play("--max-turns", "5")
    assert scene.statuses == ["keep"] * 5
    assert scene.facts("Stopped")[-1]["rule"] == "max_turns"
    runner.play("--max-turns", "1")
    assert scene.statuses == ["keep"] * 6, "after a clean end it means more"
