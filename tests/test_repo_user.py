import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from runner import repo
from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.repo import door
from tests.repositories import Person, bench, every_file, person


def _refusal(path: Path) -> tuple[str, str]:
    with pytest.raises(RepoError) as stopped:
        repo.discover(path)
    return stopped.value.what, stopped.value.mend


def test_a_repository_is_found_from_a_folder_in_it(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    found = repo.discover(ann.path / "src")
    head = ann.git("rev-parse", "HEAD")
    assert found == repo.UserRepo(ann.path, ann.path / ".git", ann.path / ".git", Oid(head), "main", "sha1")


def test_a_detached_head_has_no_branch(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.git("checkout", "-q", "--detach")
    assert repo.discover(ann.path).branch is None


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    what, mend = _refusal(tmp_path)
    assert what.startswith(f"a git repository was expected at {tmp_path}: fatal: not a git repository")
    assert mend == "run `git init` there and make a first commit"
    assert _refusal(tmp_path / "missing")[0].endswith("there is no such directory")


def test_a_repository_without_a_commit_is_told_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    Person(tmp_path / "r").git("init", "-q", "-b", "main")
    assert _refusal(tmp_path / "r") == (f"{tmp_path}/r has no commit yet on branch main", "make a first commit")


def test_a_head_that_names_nothing_is_told_from_an_unborn_one(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    (ann.path / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    assert _refusal(ann.path)[0] == f"HEAD of {ann.path} names a commit that is not there"


def test_a_bare_repository_and_a_git_directory_are_refused(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.git("clone", "-q", "--bare", ".", os.fspath(tmp_path / "bare"))
    for place in (tmp_path / "bare", ann.path / ".git"):
        assert _refusal(place)[0].startswith("a repository with files checked out was expected")


def test_a_missing_git_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert _refusal(tmp_path) == ("git was expected on PATH and is not there", "install git 2.36 or newer")


def test_an_old_git_is_named_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 2.20.1\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert _refusal(tmp_path) == (f"git 2.36 or newer was expected, {tmp_path}/git is: git version 2.20.1", "update git")


def test_a_partial_clone_that_lacks_objects_is_refused(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.git("config", "uploadpack.allowFilter", "true")
    ann.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{ann.path}", os.fspath(tmp_path / "p"))
    assert _refusal(tmp_path / "p")[0] == f"{tmp_path}/p is a partial clone, and 3 objects of its HEAD are not on this machine"
    Person(tmp_path / "p").git("checkout", "-q", "main")
    assert repo.unclean(repo.discover(tmp_path / "p"), ()) == ()


def test_a_linked_worktree_and_a_submodule_are_as_good_as_any(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    inner = person(tmp_path / "inner")
    ann.git("submodule", "add", "-q", os.fspath(inner.path), "lib")
    ann.commit({})
    ann.git("worktree", "add", "-q", "-b", "other", "../wt")
    linked, module = repo.discover(tmp_path / "wt"), repo.discover(ann.path / "lib/src")
    assert (linked.worktree, linked.git_dir, linked.common_dir) == (
        tmp_path / "wt", ann.path / ".git/worktrees/wt", ann.path / ".git",
    )  # fmt: skip
    assert (module.worktree, module.common_dir) == (ann.path / "lib", ann.path / ".git/modules/lib")
    (tmp_path / "wt/README").write_text("changed\n")
    (ann.path / "lib/README").write_text("changed\n")
    assert repo.unclean(linked, ()) == ("README",)
    assert repo.unclean(module, ()) == ("README",)
    assert repo.unclean(repo.discover(ann.path), ()) == ("lib/README",)


def test_changed_staged_and_new_files_make_a_tree_unclean(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    assert repo.unclean(repo.discover(ann.path), ()) == ()
    ann.write({"README": "x", "new dir/né\nw": "x", "staged": "x"})
    ann.git("add", "staged")
    (ann.path / "src/a.py").unlink()
    found = repo.unclean(repo.discover(ann.path), ())
    assert sorted(found) == ["README", "new dir/né\nw", "src/a.py", "staged"]


def test_the_runners_own_files_are_not_counted(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.write({"exp/journal.jsonl": "x", "exp/artifacts/a/b": "x", "exp/journal.jsonl.mine": "x"})
    user = repo.discover(ann.path)
    assert repo.unclean(user, [ann.path / "exp/journal.jsonl", ann.path / "exp/artifacts"]) == ("exp/journal.jsonl.mine",)
    assert repo.unclean(user, [ann.path / "exp", Path("/elsewhere")]) == ()


def test_what_the_persons_excludes_ignore_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = person(tmp_path / "r", {".gitignore": "*.o\n", "a": "a"})
    ann.write({"x.o": "", "x.mine": "", "x.global": "", "x.seen": "", "home": ""})
    (ann.path / ".git/info/exclude").write_text("*.mine\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text("[core]\n\texcludesFile = ~/ignored\n[status]\n\tshowUntrackedFiles = no\n")
    (tmp_path / "home/ignored").write_text("*.global\n/home\n")
    monkeypatch.setenv("HOME", os.fspath(tmp_path / "home"))
    assert repo.unclean(repo.discover(ann.path), ()) == ("x.seen",)


def test_a_file_mode_that_does_not_count_is_no_change(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    (ann.path / "README").chmod(0o755)
    assert repo.unclean(repo.discover(ann.path), ()) == ("README",)
    ann.git("config", "core.fileMode", "false")
    assert repo.unclean(repo.discover(ann.path), ()) == ()


def test_line_ends_that_git_converts_are_no_change(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.git("config", "core.autocrlf", "true")
    (ann.path / "README").unlink()
    ann.git("checkout", "README")
    assert (ann.path / "README").read_bytes() == b"hello\r\n"
    os.utime(ann.path / "README", ns=(1, 1))  # the content has to be looked at
    assert repo.unclean(repo.discover(ann.path), ()) == ()


def test_a_sparse_checkout_is_clean(tmp_path: Path) -> None:
    ann = person(tmp_path / "r", {"keep/a": "a", "leave/b": "b", "top": "t"})
    ann.git("sparse-checkout", "set", "--cone", "keep")
    assert not (ann.path / "leave").exists()
    assert repo.unclean(repo.discover(ann.path), ()) == ()
    ann.git("sparse-checkout", "reapply", "--sparse-index")
    assert repo.unclean(repo.discover(ann.path), ()) == ()


def test_a_split_index_is_read_whole(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.git("update-index", "--split-index")
    ann.commit({"more": "x"})
    assert repo.unclean(repo.discover(ann.path), ()) == ()


def test_a_filled_lfs_file_is_clean_and_a_changed_one_is_not(tmp_path: Path) -> None:
    content = b"weights" * 100
    pointer = (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(content).hexdigest()}\nsize {len(content)}\n"
    )
    ann = person(tmp_path / "r", {".gitattributes": "*.bin filter=lfs diff=lfs -text\n", "m.bin": pointer})
    (ann.path / "m.bin").write_bytes(content)
    user = repo.discover(ann.path)
    assert repo.unclean(user, ()) == ()
    assert repo.last_commit_of(user, ann.path / "m.bin") == user.head
    for other in (content + b"!", content.upper()):
        (ann.path / "m.bin").write_bytes(other)
        assert repo.unclean(user, ()) == ("m.bin",)


def test_looking_changes_nothing_and_takes_no_lock(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    os.utime(ann.path / "README")  # makes the index stale: an ordinary `git status` would write it afresh
    (ann.path / ".git/index.lock").touch()
    before = {name: (data, (ann.path / name).lstat().st_mtime_ns) for name, data in every_file(ann.path).items()}
    user = repo.discover(ann.path)
    assert repo.unclean(user, ()) == ()
    repo.last_commit_of(user, ann.path / "README")
    assert {name: (data, (ann.path / name).lstat().st_mtime_ns) for name, data in every_file(ann.path).items()} == before


def test_the_last_commit_of_a_file_is_the_one_with_its_present_bytes(tmp_path: Path) -> None:
    ann = person(tmp_path / "r", {"evaluate.sh": "one\n", "*.sh": "two\n", ".gitignore": "ignored\n"})
    second = ann.commit({"evaluate.sh": "two\n"})
    ann.commit({"other": "x"})
    ann.write({"ignored": "x", "new": "x"})
    user = repo.discover(ann.path)
    assert repo.last_commit_of(user, ann.path / "evaluate.sh") == second
    assert [repo.last_commit_of(user, ann.path / name) for name in ("ignored", "new", "missing", ".")] == [None] * 4
    assert repo.last_commit_of(user, tmp_path) is None
    ann.git("update-index", "--assume-unchanged", "evaluate.sh")
    ann.write({"evaluate.sh": "three\n"})
    assert repo.last_commit_of(user, ann.path / "evaluate.sh") is None


def test_a_shallow_clone_works_from_end_to_end(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.commit({"README": "two\n"})
    ann.git("clone", "-q", "--depth", "1", f"file://{ann.path}", os.fspath(tmp_path / "s/r"))
    b = bench(Person(tmp_path / "s/r"))
    assert repo.last_commit_of(b.user, b.user.worktree / "README") == b.user.head
    (b.agent / "src/a.py").write_text("a = 2\n")
    new = b.candidate()
    assert repo.advance(b.user, b.private, "research/x", new, None, "keep")
    assert b.ann.git("rev-list", "research/x") == f"{new}\n{b.user.head}"
    assert b.ann.git("--git-dir", os.fspath(b.private.path), "rev-list", new) == f"{new}\n{b.user.head}"


def _arm(ann: Person, canary: Path) -> None:
    """Every setting of a repository that lets git start a program, each starting ours."""
    script = ann.path.with_name("payload")
    script.write_text(f"#!/bin/sh\ntouch {canary}\nexit 1\n")
    script.chmod(0o755)
    run = os.fspath(script)
    settings = {
        "core.fsmonitor": run, "core.pager": run, "core.editor": run, "core.sshCommand": run, "core.askPass": run,
        "diff.external": run, "diff.evil.textconv": run, "diff.evil.command": run, "merge.evil.driver": run,
        "filter.evil.clean": run, "filter.evil.smudge": run, "filter.evil.process": run, "filter.evil.required": "true",
        "gpg.program": run, "commit.gpgSign": "true", "credential.helper": run, "alias.status": f"!{run}",
        "core.alternateRefsCommand": run, "uploadpack.packObjectsHook": run, "sequence.editor": run,
    }  # fmt: skip
    for key, value in settings.items():
        ann.git("config", key, value)
    (ann.path / ".git/info/attributes").write_text("* filter=evil diff=evil merge=evil\n")
    hooks = (
        "pre-commit prepare-commit-msg commit-msg post-commit reference-transaction post-index-change pre-auto-gc post-checkout"
    )
    for hook in hooks.split():
        (ann.path / ".git/hooks").mkdir(exist_ok=True)
        (ann.path / ".git/hooks" / hook).write_text(script.read_text())
        (ann.path / ".git/hooks" / hook).chmod(0o755)


def test_no_program_of_the_persons_configuration_ever_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = tmp_path / "canary"
    ann = person(tmp_path / "r", {"src/a.py": "a = 1\n", ".gitattributes": "*.py filter=evil diff=evil\n"})
    _arm(ann, canary)
    ann.git("status", check=False)
    assert canary.exists(), "the payload has to be seen to work"
    canary.unlink()
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_bytes((ann.path / ".git/config").read_bytes())
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PAGER", "GIT_EDITOR"):
        monkeypatch.setenv(name, os.fspath(tmp_path / "payload"))
    monkeypatch.setenv("HOME", os.fspath(tmp_path / "home"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", os.fspath(tmp_path / "payload"))
    os.utime(ann.path / "src/a.py", ns=(1, 1))
    b = bench(ann)
    repo.unclean(b.user, ())
    repo.last_commit_of(b.user, ann.path / "src/a.py")
    (b.agent / "src/a.py").write_text("a = 2\n")
    new = b.candidate()
    b.private.pin("refs/turn/0001", new)
    b.private.diff(b.user.head, new)
    b.private.checkout(new, tmp_path / "state/candidate")
    repo.protect(b.user, "x", b.user.head)
    assert repo.advance(b.user, b.private, "research/x", new, None, "keep")
    assert (b.pristine / "src/a.py").read_text() == "a = 1\n"
    assert not canary.exists()


def test_even_a_call_in_the_persons_git_directory_starts_no_monitor(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    (tmp_path / "payload").write_text(f"#!/bin/sh\ntouch {tmp_path}/canary\n")
    (tmp_path / "payload").chmod(0o755)
    ann.git("config", "core.fsmonitor", os.fspath(tmp_path / "payload"))
    door.Git(git_dir=ann.path / ".git", work_tree=ann.path)("status", "--porcelain")
    assert not (tmp_path / "canary").exists()
    ann.git("status", "--porcelain")
    assert (tmp_path / "canary").exists(), "the payload has to be seen to work"


def test_a_poll_while_the_person_commits_never_meets_a_lock(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    user, done = repo.discover(ann.path), threading.Event()

    def poll() -> None:
        while not done.is_set():
            repo.unclean(user, ())

    looker = threading.Thread(target=poll)
    looker.start()
    try:
        for i in range(20):
            ann.write({"README": f"{i}\n"})
            ann.git("commit", "-q", "-a", "-m", "step")  # raises where index.lock exists
            time.sleep(0.005)
    finally:
        done.set()
        looker.join()


def test_a_git_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {tmp_path}/pid\nwait\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(RepoError, match=r"git version did not end within 0\.5 s"):
        door.Git(cwd=tmp_path)("version", timeout=0.5)
    child = (tmp_path / "pid").read_text().strip()
    assert subprocess.run(("ps", "-o", "stat=", "-p", child), capture_output=True, text=True).stdout.strip() in ("", "Z")


def test_git_sees_nothing_of_the_runners_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nenv -0\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:relative:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_INDEX_FILE", "/theirs")
    monkeypatch.setenv("SECRET_KEY", "s")
    seen = dict(field.split("=", 1) for field in door.Git(git_dir=tmp_path)("version").fields)
    assert {"GIT_INDEX_FILE", "SECRET_KEY", "GIT_WORK_TREE"} & seen.keys() == set()
    assert (seen["GIT_DIR"], seen["HOME"], seen["GIT_CONFIG_GLOBAL"]) == (os.fspath(tmp_path), "/nonexistent", "/dev/null")
    assert seen["PATH"].split(":")[:1] == [os.fspath(tmp_path)]
    assert "relative" not in seen["PATH"].split(":")


def test_gitpython_is_not_loaded_before_git_is_needed() -> None:
    code = "import sys, runner.repo, runner.files; print('git' in sys.modules)"
    assert subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_import_of_the_door_runs_no_git(tmp_path: Path) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nsleep 60\n")
    (tmp_path / "git").chmod(0o755)
    code = "from runner.repo import door; import os; door._door(); print(sorted(n for n in os.environ if n.startswith('GIT_')))"
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GIT_PYTHON_REFRESH": "raise"}
    done = subprocess.run((sys.executable, "-c", code), env=env, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("['GIT_PYTHON_REFRESH']\n", "")
    assert not (tmp_path / "ran").exists()
