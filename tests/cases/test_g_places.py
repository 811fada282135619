"""Repositories of every make and in every place, and a person who goes on working in theirs."""

import shutil
import subprocess
from pathlib import Path

import pytest

from runner.core.errors import ContractError, RepoError
from tests import playground
from tests.cases.conftest import Make
from tests.playground import CONTRACT, SHORTEN, Scene

SHORTER = SHORTEN.partition("\n")[2]


# --- names that are in the way ----------------------------------------------------------------------


@pytest.mark.parametrize("taken", ["research", "research/scene/mine"])
def test_a_branch_that_leaves_no_room_for_the_winners_is_named_before_anything_runs(make: Make, taken: str) -> None:
    scene = make()
    scene.git("branch", taken)
    with pytest.raises(RepoError) as stop:
        scene.play()
    assert str(stop.value) == (
        f"branch research/scene cannot be made beside branch {taken}: git keeps one as a file where the other is a directory\n"
        f"  rename that one (git branch -m {taken} NEW_NAME), or set another `branch` in experiment.yaml"
    )
    assert scene.journal == []


@pytest.mark.parametrize("branch", ["a..b", "a b", "-x", "x.lock", "x/", "@{1}", "HEAD"])
def test_a_branch_name_that_git_does_not_take_is_named_before_anything_runs(make: Make, branch: str) -> None:
    scene = make(more=f'branch: "{branch}"\n')
    with pytest.raises(ContractError, match=r"experiment\.yaml:13: branch: "):
        scene.play()
    assert scene.journal == []


def test_the_persons_own_branch_is_never_the_winners(make: Make) -> None:
    scene = make(more="branch: main\n")
    with pytest.raises(RepoError, match="branch main exists already"):
        scene.play()


# --- what a candidate may not bring -----------------------------------------------------------------


def test_files_that_tell_git_what_to_do_are_refused_wherever_they_lie(make: Make) -> None:
    scene = make()
    workers = {
        "echo '* -diff' > src/.gitattributes": "src/.gitattributes added: has the name .gitattributes, which tells git",
        "echo 'gitdir: /etc' > src/.git": "src/.git is a repository inside the tree",
        "mkdir src/.GIT; echo x > src/.GIT/config": "src/.GIT is a repository inside the tree",
        "echo x > src/.gitmodules": "src/.gitmodules",
        "echo x > \"src/.git$(printf '\\342\\200\\214')attributes\"": r"src/.git\u200cattributes added: has the name",
        "echo x > \"src/.GitModules$(printf '\\357\\273\\277')\"": r"src/.GitModules\ufeff added: has the name",
        "echo 'src/*' > .gitignore; echo x > src/hidden": ".gitignore added: is outside writable_paths",
        "rm -rf * .git .gitignore": "exp/evaluate.sh deleted",
        "echo x > SRC; echo y > src/A.TXT": "src/A.TXT differs from src/a.txt only in case",
    }
    assert scene.turns(*workers)[0] == 0
    assert scene.statuses == ["rejected"] * len(workers), scene.reasons
    for reason, named in zip(scene.reasons, workers.values(), strict=True):
        assert named in reason
    assert [scene.measured(turn) for turn in range(1, len(workers) + 1)] == [0] * len(workers)


# --- places and makes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a b", "ü-µ", "it's", 'quo"te', "colon:and;semi", "$HOME", "~root", "-dash", "[br]*?", "back\\slash"]
)
def test_a_repository_may_lie_below_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    scene = playground.make(tmp_path / name)
    monkeypatch.setenv("XDG_STATE_HOME", str(scene.state_home))
    before = scene.fingerprint()
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.git("show", "research/scene:src/a.txt") == "x" * 190
    assert scene.fingerprint() == before


def test_a_path_through_a_symlink_is_the_repository_it_leads_to(make: Make, tmp_path: Path) -> None:
    real = make()
    link = tmp_path / "link"
    link.symlink_to(real.repo)
    scene = Scene(link, link / "exp", real.state_home)
    assert scene.play()[0] == 0
    assert real.play()[0] == 0
    assert real.statuses == ["keep", "keep"], "one campaign by either name"


def test_a_repository_of_sha256_works(make: Make) -> None:
    scene = make()
    shutil.rmtree(scene.repo / ".git")
    scene.git("init", "-q", "--object-format=sha256")
    scene.commit()
    assert scene.play(2)[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert [len(commit) for commit in scene.branch] == [64, 64]
    assert scene.git("fsck") == ""


def test_a_clone_that_borrows_its_objects_works(make: Make, tmp_path: Path) -> None:
    first = make()
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--shared", str(first.repo), str(clone)], check=True)
    scene = Scene(clone, clone / "exp", first.state_home)
    before = first.fingerprint()
    assert scene.play(2)[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert first.fingerprint() == before
    assert first.git("for-each-ref", "refs/heads/research", "refs/research") == ""


def test_an_experiment_outside_of_the_repository_works(make: Make, tmp_path: Path) -> None:
    inner = make()
    away = tmp_path / "away"
    shutil.copytree(inner.experiment, away)
    text = CONTRACT.replace("project_root: ..", f"project_root: {inner.repo}").replace(
        "git_repo_path: ..", f"git_repo_path: {inner.repo}"
    )
    (away / "experiment.yaml").write_text(text.replace("../src/", f"{inner.repo}/src/"))
    scene = Scene(inner.repo, away, inner.state_home)
    before = scene.fingerprint()
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.fingerprint() == before


# --- the person goes on working ---------------------------------------------------------------------


def test_a_person_may_commit_switch_and_edit_between_two_starts(make: Make) -> None:
    scene = make()
    scene.play()
    scene.write({"README": "mine\n"})
    scene.commit("the person's")
    scene.git("switch", "-q", "-c", "feature")
    scene.write({"src/a.txt": "the person's own edit\n", "untracked": "x\n"})
    before = scene.fingerprint()
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert scene.git("show", "research/scene:src/a.txt") == "x" * 180
    assert scene.git("merge-base", "research/scene", "main") == scene.facts("CampaignOpened")[0]["baseline"]
    assert scene.fingerprint() == before


def test_a_persons_gc_takes_nothing_that_a_campaign_needs(make: Make) -> None:
    scene = make()
    scene.turns(SHORTER, "echo longer >> src/a.txt")
    scene.git("checkout", "-q", "--", "exp/worker.sh")
    scene.git("switch", "-q", "--orphan", "elsewhere")
    scene.git("commit", "-q", "--allow-empty", "-m", "alone")
    scene.git("branch", "-D", "main")
    scene.git("reflog", "expire", "--expire=now", "--all")
    scene.git("gc", "-q", "--prune=now")
    scene.git("switch", "-q", "--detach", scene.facts("CampaignOpened")[0]["baseline"])
    assert scene.turns(SHORTER)[0] == 0
    assert scene.statuses == ["keep", "discard", "keep"]
    assert scene.git("fsck", "--no-dangling") == ""


def test_a_winners_branch_that_somebody_moved_is_named_with_the_way_back(make: Make) -> None:
    scene = make()
    scene.play()
    (kept,) = scene.branch
    for words in (("branch", "-f", "research/scene", "main"), ("branch", "-D", "research/scene")):
        scene.git(*words)
        with pytest.raises(RepoError, match="somebody moved it") as stop:
            scene.play()
        assert f"git branch -f research/scene {kept}" in str(stop.value)
    scene.git("branch", "-f", "research/scene", kept)
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep", "keep"]


def test_a_lock_on_the_persons_index_disturbs_nobody(make: Make) -> None:
    scene = make()
    scene.write({".git/index.lock": ""})
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert (scene.repo / ".git/index.lock").exists(), "it is not ours to remove"


def test_a_branch_that_another_git_holds_is_moved_by_the_next_start(make: Make) -> None:
    scene = make()
    lock = scene.repo / ".git/refs/heads/research/scene.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(RepoError, match=r"branch research/scene could not be moved: .*scene\.lock.*File exists"):
        scene.play()
    assert (scene.statuses, scene.branch, scene.facts("Settled")) == (["keep"], [], [])
    lock.unlink()
    assert scene.play()[0] == 0
    assert (scene.statuses, len(scene.branch)) == (["keep"], 1), "the verdict that was written is carried out, once"
    assert [line["incumbent"] for line in scene.facts("Settled")] == scene.branch
