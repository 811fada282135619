import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner import repo
from runner.core.errors import RepoError
from runner.core.models import Oid
from tests.repositories import AT, Bench, bench, every_file, person


@pytest.fixture
def b(tmp_path: Path) -> Bench:
    return bench(person(tmp_path / "r"))


def _candidate(b: Bench, text: str, parent: Oid) -> Oid:
    (b.agent / "src/a.py").write_text(text)
    return b.private.commit(b.imported().tree, parent, text, AT, {})


def test_the_base_is_protected_from_the_persons_gc(b: Bench) -> None:
    repo.protect(b.user, "x", b.user.head)
    b.ann.git("commit", "-q", "--amend", "-m", "rewritten")
    b.ann.git("reflog", "expire", "--expire=now", "--all")
    b.ann.git("gc", "-q", "--prune=now")
    assert b.ann.git("rev-parse", "refs/research/x/base") == b.user.head
    assert b.private.exists(b.user.head)


def test_two_keeps_move_the_branch_one_after_the_other(b: Bench) -> None:
    first = _candidate(b, "a = 2\n", b.user.head)
    second = _candidate(b, "a = 3\n", first)
    assert repo.branch_tip(b.user, "research/x") is None
    assert repo.advance(b.user, b.private, "research/x", first, None, "turn 1:\nfaster") is True
    assert repo.advance(b.user, b.private, "research/x", first, None, "again") is False
    assert repo.advance(b.user, b.private, "research/x", second, first, "turn 2") is True
    assert repo.branch_tip(b.user, "research/x") == second
    assert b.ann.git("log", "-g", "--format=%gs", "research/x") == "turn 2\nturn 1: faster"
    assert b.ann.git("show", "research/x:src/a.py") == "a = 3"
    b.ann.git("fsck", "--full", "--strict")


def test_only_refs_objects_and_reflogs_of_ours_are_written(b: Bench) -> None:
    b.ann.write({"README": "not committed\n", "untracked": "x"})
    b.ann.git("stash", "push", "-q", "README")
    for hook in ("reference-transaction", "post-index-change"):
        (b.ann.path / ".git/hooks").mkdir(exist_ok=True)
        (b.ann.path / ".git/hooks" / hook).write_text("#!/bin/sh\nexit 1\n")
        (b.ann.path / ".git/hooks" / hook).chmod(0o755)
    before = every_file(b.ann.path)
    repo.protect(b.user, "x", b.user.head)
    new = _candidate(b, "a = 2\n", b.user.head)
    repo.advance(b.user, b.private, "research/x", new, None, "keep")
    after = every_file(b.ann.path)
    assert {name: after[name] for name in before} == before
    added = {name for name in after if name not in before and not name.startswith(".git/objects/")}
    assert added == {".git/refs/research/x/base", ".git/refs/heads/research/x", ".git/logs/refs/heads/research/x"}


def test_a_branch_that_somebody_moved_is_refused(b: Bench) -> None:
    b.ann.git("branch", "research/x")
    new = _candidate(b, "a = 2\n", b.user.head)
    with pytest.raises(RepoError) as stopped:
        repo.advance(b.user, b.private, "research/x", new, None, "keep")
    assert stopped.value.what == (
        f"branch research/x was expected at no commit and stands at {b.user.head[:12]}: somebody else moved it"
    )
    assert stopped.value.mend == "rename or delete that branch, or name another one in the contract"
    with pytest.raises(RepoError, match="was expected at 111111111111 and stands at"):
        repo.advance(b.user, b.private, "research/x", new, Oid("1" * 40), "keep")
    assert repo.branch_tip(b.user, "research/x") == b.user.head


def test_a_branch_that_is_checked_out_is_refused_by_its_place(b: Bench, tmp_path: Path) -> None:
    b.ann.git("worktree", "add", "-q", "-b", "research/x", os.fspath(tmp_path / "look here"))
    new = _candidate(b, "a = 2\n", b.user.head)
    with pytest.raises(RepoError, match=f"branch research/x is checked out in {tmp_path}/look here"):
        repo.advance(b.user, b.private, "research/x", new, b.user.head, "keep")
    b.ann.git("worktree", "lock", os.fspath(tmp_path / "look here"))
    subprocess.run(("rm", "-rf", os.fspath(tmp_path / "look here")), check=True)
    assert repo.advance(b.user, b.private, "research/x", new, b.user.head, "keep")
    assert "locked" in b.ann.git("worktree", "list", "--porcelain")


@pytest.mark.parametrize("torn", [b"", b"\0" * 41])
def test_a_branch_that_a_power_loss_emptied_is_restored_and_moved(b: Bench, torn: bytes) -> None:
    first = _candidate(b, "a = 2\n", b.user.head)
    second = _candidate(b, "a = 3\n", first)
    repo.advance(b.user, b.private, "research/x", first, None, "turn 1")
    (b.ann.path / ".git/refs/heads/research/x").write_bytes(torn)
    assert repo.advance(b.user, b.private, "research/x", second, first, "turn 2") is True
    (b.ann.path / ".git/refs/heads/research/x").write_bytes(torn)
    assert repo.advance(b.user, b.private, "research/x", second, first, "turn 2") is True
    assert b.ann.git("rev-list", "research/x") == f"{second}\n{first}\n{b.user.head}"


def test_a_branch_name_that_git_refuses_is_named(b: Bench) -> None:
    new = _candidate(b, "a = 2\n", b.user.head)
    with pytest.raises(RepoError, match=r"branch bad\.\.name could not be moved: .*refusing to update ref with bad name"):
        repo.advance(b.user, b.private, "bad..name", new, None, "keep")


def test_a_parent_that_the_repository_lacks_is_never_built_upon(b: Bench) -> None:
    lost = _candidate(b, "a = 2\n", b.user.head)
    new = _candidate(b, "a = 3\n", lost)
    with pytest.raises(RepoError, match=f"the repository lacks {lost[:12]}, the parent of {new[:12]}"):
        repo.advance(b.user, b.private, "research/x", new, None, "keep")
    assert repo.branch_tip(b.user, "research/x") is None


def test_a_linked_worktree_moves_the_shared_branch(tmp_path: Path) -> None:
    ann = person(tmp_path / "main" / "r")
    ann.git("worktree", "add", "-q", "--detach", os.fspath(tmp_path / "wt"))
    b = bench(type(ann)(tmp_path / "wt"))
    new = _candidate(b, "a = 2\n", b.user.head)
    assert repo.advance(b.user, b.private, "research/x", new, None, "keep")
    assert ann.git("rev-parse", "research/x") == new


RACER = """
import sys
from pathlib import Path
from runner import repo
from runner.core.errors import RepoError

worktree, state, new = sys.argv[1:]
user = repo.discover(Path(worktree))
private = repo.Private(Path(state) / "repo.git", user)
print("ready", flush=True)
sys.stdin.readline()
try:
    print(repo.advance(user, private, "research/x", new, None, "race"), flush=True)
except RepoError as error:
    print("refused", flush=True)
"""


def test_of_several_processes_exactly_one_moves_the_branch(b: Bench, tmp_path: Path) -> None:
    news = [_candidate(b, f"a = {i}\n", b.user.head) for i in range(4)]
    argv = [(sys.executable, "-c", RACER, os.fspath(b.ann.path), os.fspath(tmp_path / "state"), new) for new in news]
    racers = [subprocess.Popen(a, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for a in argv]
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    answers = []
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        answers.append(racer.communicate(timeout=60)[0].strip())
    assert sorted(answers) == ["True", "refused", "refused", "refused"]
    assert repo.branch_tip(b.user, "research/x") == news[answers.index("True")]
