"""What setup makes and what is built: once, by the right side, out of reach of every commit, and told when it fails."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner import opening
from runner.core.errors import CampaignError, ContractError
from runner.core.news import Phase
from runner.sandbox import probe
from tests.cases.conftest import Make
from tests.playground import CLONE, CONTRACT, SHORTEN, SIZE, Scene, Watcher

SHORTER = SHORTEN.partition("\n")[2]
BUILD = "build: {run: [sh, -e, make.sh], timeout_seconds: 10}\n"
MAKES = "#!/bin/sh -e\nmkdir -p out\nif grep -q broken src/a.txt; then exit 1; fi\ncp src/a.txt out/a.txt\n"
READS = '#!/bin/sh -e\ntest -z "$(find src -newer out/a.txt)"\necho "METRIC size=$(wc -c < out/a.txt)"\n'
BUILT = {"make.sh": MAKES, "exp/evaluate.sh": READS, ".gitignore": "out/\ndeps/\n"}
INSTALLS = "#!/bin/sh -e\nmkdir -p deps\ncp lock deps/lock\n"
SETUP = "setup: {run: [sh, -e, install.sh], when_changed: [lock]}\n"
NEEDS = '#!/bin/sh -e\ntest "$(cat deps/lock)" = 1\necho "METRIC size=$(wc -c < src/a.txt)"\n'
INSTALLED = {"install.sh": INSTALLS, "lock": "1\n", "exp/evaluate.sh": NEEDS, ".gitignore": "out/\ndeps/\n"}

AtLevel = Callable[[int], None]


@pytest.fixture
def at_level(monkeypatch: pytest.MonkeyPatch) -> AtLevel:
    """Let campaigns of this test be confined by that level and no better."""

    def lower(level: int) -> None:
        monkeypatch.setattr(opening, "probe", lambda state, wanted: probe(state, "any", at_most=level))

    return lower


def phases(seen: Watcher, name: str) -> list[str]:
    return [news.detail for news in seen.told if isinstance(news, Phase) and news.name == name]


def state_of(scene: Scene) -> Path:
    (found,) = (scene.state_home / "research").iterdir()
    return found


def builds(scene: Scene) -> list[Path]:
    return sorted(each for each in (state_of(scene) / "builds").iterdir() if not each.name.endswith(".made"))


# --- build ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [3, 2, 0])
def test_each_side_is_measured_by_its_own_build(make: Make, at_level: AtLevel, level: int) -> None:
    at_level(level)
    scene = make(files=BUILT, more=BUILD)
    before = scene.fingerprint()
    code, _ = scene.turns(SHORTER, f"{SHORTER}; test ! -e out", "echo broken > src/a.txt")
    assert code == 0
    assert scene.statuses == ["keep", "keep", "crash"], scene.reasons
    assert [line["metric_value"] for line in scene.facts("Decided")] == [190.0, 180.0, None]
    assert {path for c in scene.branch for path in scene.git("diff", "--name-only", f"{c}~", c).split()} == {"src/a.txt"}
    assert scene.of_turn("Proposed", 2)["ignored"] == 0
    assert scene.fingerprint() == before


def test_a_candidate_that_does_not_build_is_its_own_crash(make: Make) -> None:
    scene = make(files=BUILT, more=BUILD + "guards: [{name: never, run: [test, -e, out/a.txt]}]\n")
    assert scene.turns("echo broken > src/a.txt")[0] == 0
    (decided,) = scene.facts("Decided")
    assert (decided["status"], decided["basis"], decided["metric_value"]) == ("crash", "evaluation_failed", None)
    assert decided["reason"] == "build: exit code 1; it said nothing"
    checks = [(check["gate"], check["ok"]) for check in scene.of_turn("Gated", 1)["checks"]]
    assert checks == [("scope", True), ("no_change", True), ("duplicate", True), ("build", False)]
    assert (scene.experiment / "artifacts/attempt_0001/gates/build.log").is_file()
    assert scene.measured(1) == 0


def test_a_build_that_does_not_end_is_a_timeout_of_the_candidate(make: Make) -> None:
    slow = {**BUILT, "make.sh": f"{MAKES}! grep -q slow src/a.txt || sleep 60\n"}
    scene = make(files=slow, more=BUILD.replace("10", "2"))
    assert scene.turns("echo slow > src/a.txt")[0] == 0
    (decided,) = scene.facts("Decided")
    assert (decided["status"], decided["basis"]) == ("crash", "evaluation_timeout")
    assert decided["reason"] == "build: no end after 2 s"


def test_a_build_that_fails_on_the_incumbent_ends_it_before_any_agent(make: Make) -> None:
    files = {**BUILT, "make.sh": "#!/bin/sh -e\n. ./.env\n", ".gitignore": "out/\n.env\n"}
    scene = make(files=files, more=BUILD)
    scene.write({".env": "A=1\n"})
    with pytest.raises(CampaignError) as stop:
        scene.play()
    assert f"the build fails at {scene.git('rev-parse', 'main')[:12]}: exit code 2; " in str(stop.value)
    assert f"these exist in {scene.repo} and not in a fresh checkout: .env; " in str(stop.value)
    assert scene.facts("TurnOpened") == scene.facts("Measured") == []
    assert (scene.experiment / "artifacts/attempt_0000/gates/build.log").is_file()


def test_the_winners_build_is_its_candidates_and_no_more_are_kept_than_a_turn_needs(make: Make) -> None:
    scene = make(files=BUILT, more=BUILD)
    code, seen = scene.turns(*[SHORTER] * 5)
    assert code == 0
    assert scene.statuses == ["keep"] * 5
    assert len(phases(seen, "build")) == 1 + 5
    assert len(builds(scene)) == 3
    assert {each.name.partition("-")[0] for each in builds(scene)} >= {
        scene.git("rev-parse", f"{scene.branch[-1]}^{{tree}}"),
        scene.git("rev-parse", f"{scene.branch[-2]}^{{tree}}"),
    }


def test_the_incumbent_is_built_once_for_many_turns(make: Make) -> None:
    scene = make(files=BUILT, more=BUILD)
    code, told = scene.turns(*[f"cat src/a.txt src/a.txt > t{n}; mv t{n} src/a.txt; echo {n} >> src/a.txt" for n in "123"])
    assert code == 0
    assert phases(told, "build")[0] == scene.git("rev-parse", "main")[:12]
    assert len(phases(told, "build")) == 1 + 3
    assert scene.statuses == ["discard"] * 3
    logs = sorted(path.relative_to(scene.experiment).as_posix() for path in scene.experiment.rglob("build.log"))
    assert logs == [f"artifacts/attempt_000{n}/gates/build.log" for n in range(4)]


def test_what_a_build_makes_can_be_changed_by_no_reading(make: Make) -> None:
    spoils = READS + "echo x >> out/a.txt; rm -rf out; mkdir out; echo 1 > out/a.txt\n"
    scene = make(files={**BUILT, "exp/evaluate.sh": spoils}, more=BUILD)
    assert scene.play(2)[0] == 0
    assert [line["metric_value"] for line in scene.facts("Decided")] == [190.0, 180.0]


def test_a_build_that_was_touched_or_is_half_made_is_made_again(make: Make) -> None:
    scene = make(files=BUILT, more=BUILD)
    assert scene.play(1)[0] == 0
    for place in builds(scene):
        (place / "out/a.txt").write_text("1\n")
    (state_of(scene) / "builds/part/torn").mkdir(parents=True)
    assert scene.play(1)[0] == 0
    for seal in (state_of(scene) / "builds").glob("*.made/seal"):
        seal.unlink()
    assert scene.play(1)[0] == 0
    assert [line["metric_value"] for line in scene.facts("Decided")] == [190.0, 180.0, 170.0]
    assert not (state_of(scene) / "builds/part").exists()


@pytest.mark.parametrize("level", [3, 0])
def test_a_build_may_delete_replace_and_hide_what_it_likes(make: Make, at_level: AtLevel, level: int) -> None:
    at_level(level)
    script = (
        "#!/bin/sh -e\nmkdir -p out/deep/er\ncp src/a.txt out/a.txt\nrm -r docs lib; mkdir lib; echo new > lib/new\n"
        "ln -s ../src/a.txt out/link\nmkfifo out/pipe\nchmod 000 out/deep\nchmod 400 out/a.txt\n"
    )
    look = (
        "#!/bin/sh -e\ntest ! -e docs -a ! -e lib/old -a -f lib/new -a -L out/link -a ! -e out/pipe -a -d out/deep/er\n"
        'echo "METRIC size=$(wc -c < out/link)"\n'
    )
    files = {**BUILT, "make.sh": script, "exp/evaluate.sh": look, "docs/x": "x\n", "lib/old": "old\n"}
    scene = make(files=files, more=BUILD)
    assert scene.turns(f"test -e docs/x -a -e lib/old\n{SHORTER}")[0] == 0
    assert scene.statuses == ["keep"], scene.reasons
    assert scene.git("ls-tree", "--name-only", scene.branch[0], "docs/", "lib/").split() == ["docs/x", "lib/old"]


def test_a_build_is_without_network_in_the_same_place_and_its_clock_tells_nothing(make: Make) -> None:
    script = MAKES + 'pwd > out/where; env | sort > out/env; cat /proc/net/dev > out/net; touch -d "2030-01-01" out/future\n'
    evaluator = (
        READS + "ls -ln --time-style=+%s out | awk '{print $6}' | sort -u > seen; test \"$(tail -1 seen)\" -lt 1000001000\n"
        'test "$(cat out/where)" = "$PWD"; test "$(grep -c : out/net)" -le 1; ! grep RESEARCH_SEED out/env\n'
    )
    scene = make(files={**BUILT, "make.sh": script, "exp/evaluate.sh": evaluator}, more=BUILD)
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"], scene.reasons


def test_a_changed_build_command_builds_anew(make: Make) -> None:
    scene = make(files={**BUILT, "more.sh": "#!/bin/sh -e\nsh -e make.sh\necho more >> out/a.txt\n"}, more=BUILD)
    assert scene.play(1)[0] == 0
    contract = scene.experiment / "experiment.yaml"
    contract.write_text(contract.read_text().replace("-e, make.sh", "-e, more.sh"))
    assert scene.play(1, allow_dirty=True)[0] == 0
    assert [line["metric_value"] for line in scene.facts("Decided")] == [190.0, 185.0]
    noise = [{reading["value"] for reading in line["readings"]} for line in scene.facts("Measured") if line["turn"] == 0]
    assert (noise[0], noise[-1]) == ({200.0}, {195.0})


def test_a_runner_that_is_killed_while_it_builds_goes_on_where_it_was(make: Make) -> None:
    slow = {
        **BUILT,
        "make.sh": f"{MAKES}touch out/half; sleep 3; rm out/half\n",
        "exp/evaluate.sh": READS + "test ! -e out/half\n",
    }
    scene = make(files=slow, more=BUILD)
    for opened in (False, True):
        argv = [sys.executable, "-m", "runner.cli", str(scene.experiment), "--max-turns", "1"]
        with subprocess.Popen(argv, cwd=CLONE, stdout=subprocess.DEVNULL, env=scene.environment()) as process:
            while not (_half_made(scene) and bool(scene.facts("Proposed")) == opened):
                assert process.poll() is None
                time.sleep(0.05)
            process.kill()
        assert scene.facts("Decided") == []
    assert scene.command(str(scene.experiment), "--max-turns", "1").returncode == 0
    assert scene.statuses == ["keep"], scene.reasons
    assert len(scene.facts("Worked")) == 1
    assert scene.facts("Decided")[0]["metric_value"] == 190.0


def _half_made(scene: Scene) -> bool:
    return any((scene.state_home / "research").glob("*/builds/part/out/half"))


@pytest.mark.parametrize(
    ("act", "path"), [("echo x > src/deps", "src/deps"), ("mkdir src/deps; echo x > src/deps/x", "src/deps/x")]
)
def test_a_candidate_cannot_put_anything_where_setup_brings_something(make: Make, at_level: AtLevel, act: str, path: str) -> None:
    at_level(0)
    install = "#!/bin/sh -e\nmkdir -p src/deps\necho 1 > src/deps/lock\n"
    scene = make(files={"install.sh": install}, more="setup: {run: [sh, -e, install.sh]}\n")
    assert scene.turns(f"rm src/deps; {act}")[0] == 0
    assert scene.statuses == ["rejected"], scene.reasons
    assert scene.reasons == [f"{path} added: setup brings src/deps, which every side sees in its place"]
    assert scene.measured(1) == 0


# --- setup ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [3, 2, 0])
def test_what_setup_makes_is_there_for_agent_gates_build_and_evaluator(make: Make, at_level: AtLevel, level: int) -> None:
    at_level(level)
    more = SETUP + "guards: [{name: lock, run: [test, -s, deps/lock]}]\nbuild: {run: [test, -s, deps/lock]}\n"
    scene = make(files=INSTALLED, more=more)
    before = scene.fingerprint()
    code, seen = scene.turns(f'test -s deps/lock; test -z "$(git status --porcelain)"\n{SHORTER}', SHORTER)
    assert code == 0
    assert scene.statuses == ["keep", "keep"], scene.reasons
    assert phases(seen, "setup") == ["sh -e install.sh"]
    assert seen.warnings == []
    assert scene.play(1)[0] == 0
    assert {path for c in scene.branch for path in scene.git("diff", "--name-only", f"{c}~", c).split()} == {"src/a.txt"}
    assert scene.fingerprint() == before
    assert "deps" not in {each.name for each in scene.repo.iterdir()}


def test_setup_runs_again_when_a_named_file_changed_and_only_then(make: Make) -> None:
    scene = make(files={**INSTALLED, "exp/evaluate.sh": SIZE}, more=SETUP)
    ran = [phases(scene.play(1)[1], "setup") for _ in range(2)]
    scene.write({"lock": "2\n"})
    ran += [phases(scene.play(1)[1], "setup") for _ in range(2)]
    assert ran == [["sh -e install.sh"], [], ["sh -e install.sh"], []]


def test_setup_that_names_no_file_runs_once_a_segment(make: Make) -> None:
    scene = make(files=INSTALLED, more="setup: {run: [sh, -e, install.sh]}\n")
    ran = [phases(scene.play(1)[1], "setup") for _ in range(2)]
    scene.write({"exp/goal_prompt.md": "Shorter still.\n"})
    ran += [phases(scene.play(1, allow_dirty=True)[1], "setup")]
    assert ran == [["sh -e install.sh"], [], ["sh -e install.sh"]]


def test_a_setup_that_fails_ends_it_before_any_agent_with_its_last_words(make: Make) -> None:
    scene = make(files={**INSTALLED, "install.sh": "#!/bin/sh\necho no such package >&2\nexit 4\n"}, more=SETUP)
    with pytest.raises(CampaignError) as stop:
        scene.play()
    assert str(stop.value) == (
        "setup.run failed: exit code 4; no such package\n"
        f"  mend it, then run the same command; all it said is in {scene.experiment}/artifacts/attempt_0000/gates/setup.log"
    )
    assert scene.facts("TurnOpened") == scene.facts("Measured") == []


def test_a_setup_that_was_touched_is_made_again(make: Make) -> None:
    scene = make(files=INSTALLED, more=SETUP)
    assert scene.play(1)[0] == 0
    for file in (state_of(scene) / "setup").glob("*/deps/lock"):
        file.write_text("9\n")
    assert scene.play(1)[0] == 0
    assert scene.statuses == ["keep", "keep"]


@pytest.mark.parametrize(
    ("script", "warning"),
    [
        ("#!/bin/sh -e\necho 2 > lock; mkdir deps; echo 1 > deps/lock\n", "setup.run changed what the commit has: lock"),
        ("#!/bin/sh -e\necho 1 > $HOME/x\n", "setup.run brought nothing new into the tree"),
    ],
)
def test_what_setup_does_in_vain_is_told(make: Make, script: str, warning: str) -> None:
    scene = make(files={**INSTALLED, "install.sh": script, "exp/evaluate.sh": SIZE}, more=SETUP)
    code, seen = scene.play(1)
    assert code == 0
    assert seen.warnings == [warning]
    assert scene.statuses == ["keep"]


def test_setup_has_a_network_and_gates_have_none(make: Make) -> None:
    script = "#!/bin/sh -e\nmkdir deps; echo 1 > deps/lock; grep -c : /proc/net/dev > deps/devices\n"
    evaluator = NEEDS + 'test "$(grep -c : /proc/net/dev)" -le "$(cat deps/devices)"\ngrep -c : /proc/net/dev >&2\n'
    scene = make(files={**INSTALLED, "install.sh": script, "exp/evaluate.sh": evaluator}, more=SETUP)
    assert scene.play(1)[0] == 0
    (devices,) = (state_of(scene) / "setup").glob("*/deps/devices")
    here = sum(":" in line for line in Path("/proc/net/dev").read_text().splitlines())
    assert int(devices.read_text()) == here


def test_a_file_for_setup_that_is_not_there_is_refused_at_the_start(make: Make) -> None:
    scene = make(files=INSTALLED, more=SETUP.replace("[lock]", "[lokc]"))
    with pytest.raises(ContractError) as stop:
        scene.play()
    assert str(stop.value) == (f"experiment.yaml:13: setup.when_changed: expected a file, found none at {scene.repo}/lokc")
    assert scene.journal == []


def test_setup_and_build_work_below_the_root_and_name_files_of_the_experiment(make: Make) -> None:
    contract = CONTRACT.replace("project_root: ..", "project_root: ../app").replace("../src/", "../app/src/")
    files: dict[str, str | bytes] = {
        ".gitignore": "deps/\nout/\n",
        "app/src/a.txt": "x" * 99 + "\n",
        "exp/build.sh": "#!/bin/sh -e\ntest -s deps/x; mkdir out; cp src/a.txt out\n",
        "exp/evaluate.sh": '#!/bin/sh -e\necho "METRIC size=$(wc -c < out/a.txt)"\n',
    }
    more = 'setup: {{run: [sh, -c, "mkdir deps; echo x > deps/x"]}}\nbuild: {{run: [sh, {}]}}\n'
    scene = make(contract=contract, files=files, more="")
    with (scene.experiment / "experiment.yaml").open("a") as file:
        file.write(more.format(scene.experiment / "build.sh"))
    scene.commit("setup and build")
    assert scene.turns(f"test -s deps/x\n{SHORTER}")[0] == 0
    assert scene.statuses == ["keep"], scene.reasons
    assert scene.facts("Decided")[0]["metric_value"] == 90.0


def test_setup_and_build_work_in_a_linked_worktree(make: Make) -> None:
    install = "#!/bin/sh -e\nmkdir deps\ncp lock deps/lock\n"
    files = {**BUILT, "install.sh": install, "lock": "1\n", "make.sh": f"{MAKES}test -s deps/lock\n"}
    scene = make(files=files, more=SETUP + BUILD)
    scene.git("worktree", "add", "-q", "--detach", str(scene.repo.parent / "linked"))
    linked = replace(scene, repo=scene.repo.parent / "linked", experiment=scene.repo.parent / "linked/exp")
    assert linked.turns(f"test -s deps/lock\n{SHORTER}")[0] == 0
    assert linked.statuses == ["keep"], linked.reasons
    assert scene.git("status", "--porcelain") == ""


# --- the evaluator's own tests -------------------------------------------------------------------------


def test_the_evaluators_own_tests_run_once_a_segment_beside_it(make: Make) -> None:
    tests = '#!/bin/sh -e\ntest $# = 0; test -x "$(dirname "$0")/evaluate.sh"; test -s src/a.txt; echo tested >&2\n'
    contract = CONTRACT.replace("{evaluate: ./evaluate.sh}", "{evaluate: ./evaluate.sh, evaluate_test: ./test.sh}")
    scene = make(contract=contract, files={"exp/test.sh": tests})
    assert scene.play(1)[0] == 0
    log = scene.experiment / "artifacts/attempt_0000/gates/evaluate_test.log"
    assert log.read_text().endswith("tested\n\n")
    log.unlink()
    assert scene.play(1)[0] == 0
    assert not log.exists()
    scene.write({"exp/test.sh": "#!/bin/sh\necho the helper is off by one >&2\nexit 1\n"})
    with pytest.raises(CampaignError) as stop:
        scene.play(1)
    assert str(stop.value).startswith(
        "commands.evaluate_test, the evaluator's own tests, failed: exit code 1; the helper is off by one\n"
    )
    assert scene.statuses == ["keep", "keep"]


# --- imports that lead away ------------------------------------------------------------------------------


def test_an_import_that_leads_to_the_persons_checkout_is_told_where_nothing_can_stand_in(
    make: Make, at_level: AtLevel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "env/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (tmp_path / "env/bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/env/bin:/usr/bin:/bin")
    at_level(0)
    scene = make()
    (site / "p.pth").write_text(f"{scene.repo}/src\n")
    (site / "other.pth").write_text(f"{scene.repo}-other/src\n")
    code, seen = scene.play(1)
    assert code == 0
    assert seen.warnings == [
        f"{site}/p.pth lets Python import from {scene.repo}: what is imported from there is not the code that is measured"
    ]
