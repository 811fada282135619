"""The person's repository: what a candidate may carry, what the person's git may say, and what must stay as it was."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runner.core.errors import RepoError
from tests.cases.conftest import Make
from tests.playground import SHORTEN, Scene

ALL = '#!/bin/sh\necho "METRIC size=$(cat src/* | wc -c)"\n'
SHORTER = SHORTEN.partition("\n")[2]
FILES = {"exp/evaluate.sh": ALL, "eval/golden.json": "{}\n" * 20, "notes.txt": "some notes\n" * 20}


def changes(scene: Scene, turn: int) -> list[tuple[Any, ...]]:
    """A turn's changes as (kind, path, old, old mode, new mode)."""
    told = scene.of_turn("Proposed", turn)["changes"]
    return [(c["kind"], c["path"], c["old"], c["old_mode"], c["new_mode"]) for c in told]


# --- G1 ---------------------------------------------------------------------------------------------


def test_a_protected_file_that_is_moved_removed_or_overwritten_is_a_violation_and_is_never_measured(make: Make) -> None:
    scene = make(files=FILES)
    before = scene.fingerprint()
    workers = {
        "git mv exp/evaluate.sh src/x.sh && git commit -qm opt": "exp/evaluate.sh renamed from exp/evaluate.sh to src/x.sh",
        "mv exp/evaluate.sh src/x.sh": "exp/evaluate.sh renamed from exp/evaluate.sh to src/x.sh",
        "git rm -q exp/evaluate.sh && git commit -qm opt": "exp/evaluate.sh deleted",
        "git mv notes.txt src/notes.txt": "notes.txt renamed from notes.txt to src/notes.txt",
        "git mv src/a.txt eval/a.txt": "eval/a.txt renamed from src/a.txt to eval/a.txt",
        "git mv eval/golden.json notes.json": "eval/golden.json renamed from eval/golden.json to notes.json",
        "cp src/a.txt eval/golden.json": "eval/golden.json changed",
        "git mv src/a.txt exp/evaluate.sh -f": "exp/evaluate.sh",
        "mkdir -p 'src/../eval2' && echo 1 > eval2/new": "eval2/new added",
    }
    code, _ = scene.turns(*workers)
    assert code == 0
    assert scene.statuses == ["rejected"] * len(workers)
    assert {line["basis"] for line in scene.facts("Decided")} == {"surface_violation"}
    for reason, named in zip(scene.reasons, workers.values(), strict=True):
        assert named in reason
    assert [scene.measured(turn) for turn in range(1, len(workers) + 1)] == [0] * len(workers)
    assert scene.branch == []
    assert scene.fingerprint() == before


def test_a_copy_of_a_protected_file_into_the_surface_is_an_ordinary_candidate(make: Make) -> None:
    scene = make(files=FILES)
    scene.turns("cp exp/evaluate.sh src/copy.sh")
    assert changes(scene, 1) == [("A", "src/copy.sh", None, None, "100755")]
    assert scene.statuses == ["discard"], "the evaluator counts it, and it is longer"


# --- G3 ---------------------------------------------------------------------------------------------


def test_a_repository_without_a_commit_is_refused_in_one_sentence(make: Make) -> None:
    scene = make()
    shutil.rmtree(scene.repo / ".git")
    scene.git("init", "-q")
    before = scene.fingerprint()
    for words in ((), ("--dry-run",)):
        done = scene.command(str(scene.experiment), *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"{scene.repo} has no commit yet on branch main\n  make a first commit\n"
    assert scene.journal == []
    assert list(scene.state_home.rglob("*")) == []
    assert scene.git("for-each-ref") == ""
    assert scene.git("worktree", "list").count("\n") == 0
    assert scene.fingerprint() == before


def test_an_orphan_branch_is_as_empty_as_a_new_repository(make: Make) -> None:
    scene = make()
    scene.git("checkout", "-q", "--orphan", "fresh")
    with pytest.raises(RepoError, match=r"has no commit yet on branch fresh\n  make a first commit"):
        scene.play()
    assert scene.journal == []


def test_no_repository_at_all_is_refused_with_the_way_to_one(make: Make) -> None:
    scene = make()
    shutil.rmtree(scene.repo / ".git")
    with pytest.raises(RepoError, match=r"(?s)a git repository was expected at .*run `git init` there and make a first commit"):
        scene.play()


def test_a_detached_head_is_a_baseline_like_any_other(make: Make) -> None:
    scene = make()
    scene.git("switch", "-q", "--detach")
    before = scene.fingerprint()
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.git("rev-parse", f"{scene.branch[0]}^") == scene.git("rev-parse", "HEAD")
    assert scene.fingerprint() == before


# --- G5 ---------------------------------------------------------------------------------------------

HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-index-change",
    "reference-transaction", "pre-auto-gc", "update", "post-merge",
)  # fmt: skip


@pytest.mark.parametrize("place", ["hooks", "core.hooksPath"])
def test_no_hook_of_the_repository_runs_and_none_can_refuse_a_keep(make: Make, tmp_path: Path, place: str) -> None:
    scene = make()
    folder = scene.repo / ".git/hooks" if place == "hooks" else tmp_path / "hooks"
    folder.mkdir(exist_ok=True)
    if place == "core.hooksPath":
        scene.git("config", "core.hooksPath", str(folder))
    for name in HOOKS:
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/ran\nexit 1\n")
        (folder / name).chmod(0o755)
    before = scene.fingerprint()
    ran = tmp_path / "ran"
    ran.unlink(missing_ok=True)
    assert scene.play()[0] == 0
    assert not ran.exists()
    assert scene.statuses == ["keep"]
    assert [line["incumbent"] for line in scene.facts("Settled")] == scene.branch
    assert scene.fingerprint() == before


# --- G7 ---------------------------------------------------------------------------------------------


def test_without_any_identity_the_runner_commits_under_its_own_and_writes_no_config(make: Make) -> None:
    scene = make()
    scene.git("config", "user.useConfigOnly", "true")
    before = scene.fingerprint()
    env = {"HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = scene.command(str(scene.experiment), "--max-turns", "1", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert scene.statuses == ["keep"]
    who = scene.git("log", "-1", "--format=%an <%ae> %cn <%ce>", scene.branch[0])
    assert who == "research runner <runner@research.invalid> research runner <runner@research.invalid>"
    assert scene.fingerprint() == before


def test_the_environment_gives_no_other_identity_date_directory_or_index(make: Make, tmp_path: Path) -> None:
    scene = make()
    env = {
        "GIT_AUTHOR_NAME": "Eve",
        "GIT_COMMITTER_EMAIL": "eve@example.org",
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
        "GIT_EDITOR": "false",
    }
    done = scene.command(str(scene.experiment), "--max-turns", "1", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert scene.git("log", "-1", "--format=%an %ce", scene.branch[0]) == "research runner runner@research.invalid"
    decided = next(line["at"] for line in scene.facts("Decided"))
    assert scene.git("log", "-1", "--format=%aI %cI", scene.branch[0]) == " ".join([f"{decided[:19]}+00:00"] * 2)


# --- G11 --------------------------------------------------------------------------------------------

NOISY = {
    "color.ui": "always", "color.diff": "always", "diff.noprefix": "true", "diff.mnemonicPrefix": "true",
    "diff.external": "/bin/true", "core.pager": "sh -c 'exit 1'", "diff.renames": "false", "diff.context": "0",
    "diff.algorithm": "histogram", "core.quotePath": "true", "status.short": "true", "status.branch": "true",
    "core.abbrev": "4", "log.showSignature": "true", "commit.gpgSign": "true", "gpg.program": "/bin/false",
    "core.fsmonitor": "/bin/false", "core.untrackedCache": "true", "alias.diff-tree": "!false", "status.showUntrackedFiles": "no",
    "diff.ignoreSubmodules": "all", "diff.orderFile": "/nonexistent", "diff.wsErrorHighlight": "all",
    "i18n.commitEncoding": "latin1",
}  # fmt: skip


@pytest.mark.parametrize("place", ["global", "local"])
def test_no_configuration_changes_the_verdict_or_the_stored_diff(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    plain = make()
    plain.play()
    expected = (plain.experiment / "artifacts/attempt_0001/diff.patch").read_bytes()
    noisy = make()
    if place == "global":
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for key, value in NOISY.items():
        subprocess.run(["git", "config", f"--{place}", key, value], cwd=noisy.repo, check=True)
    assert noisy.play()[0] == 0
    assert noisy.statuses == ["keep"]
    assert noisy.reasons == plain.reasons
    found = (noisy.experiment / "artifacts/attempt_0001/diff.patch").read_bytes()
    assert found == expected
    assert found.startswith(b"diff --git a/src/a.txt b/src/a.txt\n")
    assert b"\x1b" not in found
    assert noisy.of_turn("Proposed", 1)["tree"] == plain.of_turn("Proposed", 1)["tree"]


def test_configuration_does_not_hide_that_the_tree_is_dirty(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = make()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    scene.git("config", "--global", "status.showUntrackedFiles", "no")
    scene.write({"new.txt": "not committed\n"})
    with pytest.raises(RepoError, match=r"is not clean: new\.txt"):
        scene.play()


# --- G13 --------------------------------------------------------------------------------------------


def test_a_shallow_clone_is_enough(make: Make, tmp_path: Path) -> None:
    first = make()
    for number in range(3):
        first.write({"README": f"{number}\n"})
        first.commit(f"more {number}")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{first.repo}", str(clone)], check=True)
    scene = Scene(clone, clone / "exp", tmp_path / "scene1/state")
    before = scene.fingerprint()
    assert scene.play(2)[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert scene.git("rev-list", "--count", "research/scene") == "3"
    assert scene.git("fsck", "--connectivity-only") == ""
    assert scene.fingerprint() == before


# --- G15 --------------------------------------------------------------------------------------------


def test_a_linked_worktree_is_a_repository_like_any_other(make: Make, tmp_path: Path) -> None:
    main = make()
    linked = tmp_path / "linked"
    main.git("worktree", "add", "-q", "-b", "side", str(linked))
    scene = Scene(linked, linked / "exp", main.state_home)
    before = main.fingerprint(), scene.fingerprint()
    assert scene.play(2)[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert len(scene.branch) == 2
    assert (linked / "exp/journal.jsonl").is_file()
    assert (main.fingerprint(), scene.fingerprint()) == before
    assert main.git("worktree", "list").count("\n") == 1, "none but the person's two"


def test_a_submodule_is_a_repository_like_any_other(make: Make, tmp_path: Path) -> None:
    inner = make()
    outer = tmp_path / "outer"
    subprocess.run(["git", "init", "-q", str(outer)], check=True)
    add = ("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.repo), "sub")
    subprocess.run(add, cwd=outer, check=True, capture_output=True)
    scene = Scene(outer / "sub", outer / "sub/exp", inner.state_home)
    before = scene.fingerprint()
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert (outer / "sub/.git").is_file()
    assert scene.git("rev-parse", "--verify", "-q", "research/scene") == scene.facts("Settled")[0]["incumbent"]
    assert inner.git("for-each-ref", "refs/heads/research") == "", "the repository it came from is another"
    assert scene.fingerprint() == before


# --- G18 --------------------------------------------------------------------------------------------


def test_a_change_of_mode_is_a_change_and_is_shown(make: Make) -> None:
    scene = make(files={**FILES, "src/tool.sh": "#!/bin/sh\n"})
    scene.turns(
        "git mv src/a.txt src/b.txt; chmod +x src/b.txt; git commit -qam m",
        "chmod +x src/a.txt",
        "git config core.fileMode false; chmod -x src/tool.sh; git commit -qam m --allow-empty",
        "chmod 0600 src/a.txt",
    )
    assert changes(scene, 1) == [("R", "src/b.txt", "src/a.txt", "100644", "100755")]
    assert changes(scene, 2) == [("M", "src/a.txt", None, "100644", "100755")]
    assert changes(scene, 3) == [("M", "src/tool.sh", None, "100755", "100644")]
    assert changes(scene, 4) == [], "git knows no mode but the exec bit"
    assert scene.statuses == ["discard", "discard", "discard", "no_change"]


def test_a_change_of_mode_outside_the_surface_is_a_violation(make: Make) -> None:
    scene = make(files=FILES)
    scene.turns("chmod -x exp/evaluate.sh", "chmod +x notes.txt")
    assert scene.statuses == ["rejected", "rejected"]
    assert scene.reasons == [
        "exp/evaluate.sh changed its mode from 100755 to 100644: belongs to the measurement",
        "notes.txt changed its mode from 100644 to 100755: is outside writable_paths",
    ]
    assert (scene.measured(1), scene.measured(2)) == (0, 0)


def test_where_file_modes_do_not_count_none_makes_the_tree_dirty(make: Make) -> None:
    scene = make()
    scene.git("config", "core.fileMode", "false")
    (scene.repo / "src/a.txt").chmod(0o755)
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert changes(scene, 1) == [("M", "src/a.txt", None, "100644", "100644")], "the baseline is the commit's mode"


# --- G20 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "$(touch {pwned}) ; -m x",
        "--amend",
        "-F/etc/passwd",
        "`touch {pwned}`\n\nbody; touch {pwned}\n\n--trailer=x",
        "#comment\n\n# another",
        "Sub\n\nResearch-Attempt: 9999\nResearch-Effect: +99",
    ],
)
def test_what_the_agent_writes_is_text_and_never_a_command_or_an_option(make: Make, tmp_path: Path, said: str) -> None:
    scene = make()
    pwned = tmp_path / "pwned"
    said = said.replace("{pwned}", str(pwned))
    answer = (
        "import json, os, sys\n"
        "said = sys.argv[1]\n"
        "turn = {'hypothesis': {'statement': said, 'reasoning': said}, 'approach': 'a', 'commit_message': said,"
        " 'declares': 'improvement', 'notes': said}\n"
        "json.dump(turn, open(os.environ['RESEARCH_WORKER_OUTPUT'], 'w'))\n"
    )
    scene.write({"exp/answer.py": answer})
    quoted = said.replace("'", "'\\''")
    scene.commit("an answer")
    code, _ = scene.turns(f"{SHORTER}\n\"$RESEARCH_PYTHON\" exp/answer.py '{quoted}'")
    assert code == 0
    assert scene.statuses == ["keep"]
    assert scene.of_turn("Proposed", 1)["message"] == said
    body = scene.git("log", "-1", "--format=%B", scene.branch[0])
    assert body.startswith(said)
    assert scene.git("rev-parse", f"{scene.branch[0]}^") == scene.git("rev-parse", "main"), "nothing was amended"
    trailers = scene.git("log", "-1", "--format=%(trailers:only,unfold)", scene.branch[0]).splitlines()
    assert [t for t in trailers if t.startswith("Research-Attempt")] == ["Research-Attempt: 0001"]
    assert [t for t in trailers if t.startswith("Research-Effect")] == ["Research-Effect: +0.05"]
    assert not pwned.exists()


def test_file_names_that_look_like_options_are_files(make: Make, tmp_path: Path) -> None:
    scene = make(files={"-top": "a file whose name begins with a dash\n"})
    pwned = tmp_path / "pwned"
    worker = f"{SHORTER}\ncd src\n: > ./-rf\n: > './--exec=touch {pwned.name}'\n: > ':(top)magic'\n: > './-m'\n: > \"a\nb\"\n"
    assert scene.turns(worker)[0] == 0
    assert scene.statuses == ["keep"]
    found = sorted(scene.git("-c", "core.quotePath=false", "ls-tree", "-z", "--name-only", f"{scene.branch[0]}:src").split("\0"))
    assert found == sorted(["", "-rf", f"--exec=touch {pwned.name}", ":(top)magic", "-m", "a\nb", "a.txt"])
    assert sorted(c[1] for c in changes(scene, 1)) == sorted(
        ["src/-rf", f"src/--exec=touch {pwned.name}", "src/:(top)magic", "src/-m", "src/a\\x0ab", "src/a.txt"]
    )
    assert not list(tmp_path.rglob(pwned.name))


# --- G21 --------------------------------------------------------------------------------------------


def test_the_runners_trees_may_be_deleted_by_hand(make: Make) -> None:
    scene = make()
    scene.play()
    (state,) = (scene.state_home / "research").iterdir()
    shutil.rmtree(state / "trees")
    assert scene.turns("true")[0] == 0
    (state / "trees" / scene.branch[0] / "src/a.txt").unlink()
    assert scene.turns(SHORTER)[0] == 0
    assert scene.statuses == ["keep", "no_change", "keep"]
    assert scene.git("show", "research/scene:src/a.txt") == "x" * 180


def test_the_whole_state_directory_may_be_deleted_between_two_starts(make: Make) -> None:
    scene = make()
    scene.play()
    shutil.rmtree(scene.state_home)
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert scene.git("show", "research/scene:src/a.txt") == "x" * 180


def test_other_peoples_worktrees_gone_or_locked_stay_registered(make: Make, tmp_path: Path) -> None:
    scene = make()
    for name in ("gone", "locked"):
        scene.git("worktree", "add", "-q", "--detach", str(tmp_path / name))
    scene.git("worktree", "lock", str(tmp_path / "locked"))
    for name in ("gone", "locked"):
        shutil.rmtree(tmp_path / name)
    before = scene.fingerprint()
    assert scene.play(2)[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert scene.fingerprint() == before
    assert scene.git("worktree", "list").count("\n") == 2


def test_the_research_branch_checked_out_in_a_worktree_is_not_moved_under_it(make: Make, tmp_path: Path) -> None:
    scene = make()
    scene.play()
    scene.git("worktree", "add", "-q", str(tmp_path / "look"), "research/scene")
    with pytest.raises(RepoError, match=r"branch research/scene is checked out in .*look, and moving it would make that dirty"):
        scene.play()
    scene.git("worktree", "remove", str(tmp_path / "look"))
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep", "keep"], "the same verdict, settled now"
    assert len(scene.branch) == 2
