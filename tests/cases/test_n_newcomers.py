"""What people meet on their first day."""

import pytest

from runner.core.errors import CampaignError, ContractError
from tests.cases.conftest import Make
from tests.playground import CONTRACT

TUNED = CONTRACT.replace("writable_paths: [../src/]", "writable_paths: [../src/, ../s.yaml]") + (
    "optimization_surface: {settings_files: [../s.yaml]}\ncurrent_winner: {output: w.json, settings_file: start.yaml}\n"
)


def test_the_very_first_start_with_settings_shows_the_winners_settings(make: Make) -> None:
    scene = make(files={"s.yaml": "a: 1\n", "exp/start.yaml": "a: 1\n"}, contract=TUNED)
    assert scene.play(1)[0] == 0
    assert (scene.experiment / "artifacts/current_winner_settings.yaml").read_text() == "a: 1\n"


def test_a_guard_that_failed_from_the_start_can_be_mended_by_a_commit(make: Make) -> None:
    scene = make(files={"ok.sh": "#!/bin/sh\nexit 1\n"}, more="guards: [{name: tests, run: [sh, ok.sh]}]\n")
    for _ in range(2):
        with pytest.raises(CampaignError, match="it already fails on the incumbent"):
            scene.play(1)
    scene.write({"ok.sh": "#!/bin/sh\nexit 0\n"})
    mended = scene.commit("mend the guard")
    assert scene.play(1)[0] == 0
    assert scene.facts("CampaignOpened")[-1]["baseline"] == mended
    assert scene.facts("CampaignOpened")[-1]["changed"] == ["baseline"]
    assert scene.statuses == ["keep"]
    assert (scene.experiment / "results.tsv").read_text().splitlines()[1].split("\t")[:2] == ["0", mended]


def test_once_the_noise_is_measured_a_commit_of_the_persons_moves_no_baseline(make: Make) -> None:
    scene = make()
    scene.play(1)
    first = scene.facts("CampaignOpened")[0]["baseline"]
    scene.write({"README": "more\n"})
    scene.commit("go on working")
    assert scene.play(1)[0] == 0
    assert [line["baseline"] for line in scene.facts("CampaignOpened")] == [first]


def test_a_worker_that_never_proposes_anything_new_is_stopped(make: Make) -> None:
    scene = make(files={"exp/worker.sh": "#!/bin/sh\ntrue\n"})
    assert scene.play(None)[0] == 1
    assert scene.statuses == ["no_change"] * 25
    assert scene.facts("Stopped")[0]["rule"] == "nothing_new"


def test_a_judge_of_any_kind_is_refused_by_name(make: Make) -> None:
    scene = make(more="judge: {agent: command, command: [./j.sh]}\n")
    with pytest.raises(ContractError, match=r"experiment.yaml:13: judge: a judge \(command\) is not built into this version"):
        scene.play(1)
    assert scene.journal == []


def test_a_worker_that_cannot_be_started_is_refused_before_anything_is_measured(make: Make) -> None:
    scene = make()
    (scene.experiment / "worker.sh").chmod(0o644)
    scene.commit("not executable")
    with pytest.raises(ContractError, match="not executable"):
        scene.play(1)
    assert scene.journal == []


def test_a_writable_path_that_names_nothing_is_told(make: Make) -> None:
    scene = make(contract=CONTRACT.replace("[../src/]", "[../src/, ../sr/]"))
    _, watcher = scene.play(1)
    baseline = scene.facts("CampaignOpened")[0]["baseline"]
    assert f"experiment.yaml:10: writable_paths[1]: sr is not in commit {baseline[:12]}" in watcher.warnings


def test_a_flipped_direction_mixes_no_gains(make: Make) -> None:
    scene = make()
    scene.play(1)
    contract = scene.experiment / "experiment.yaml"
    contract.write_text(contract.read_text().replace("direction: lower", "direction: higher"))
    scene.play(1)
    summary = (scene.experiment / "summary.md").read_text()
    assert "measured so since segment 2, its keeps since: gain unknown" in summary
