import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from runner import repo
from runner.core.errors import RepoError
from runner.repo import Snapshot
from tests.repositories import Person, bench, every_file, person


def _pointer(content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"


def test_a_pristine_tree_holds_the_very_bytes_of_the_commit(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {
        ".gitattributes": "* text=auto eol=crlf ident working-tree-encoding=UTF-16\nout export-ignore\n",
        "lf": "$Id$\na\nb\n",
        os.fsdecode(b"d/\xff \n"): b"\0\xff",
        "run": "#!/bin/sh\n",
        "out": "x",
    }
    ann = person(tmp_path / "r", {})
    (ann.path / ".git/info/attributes").write_text("* -text -ident !working-tree-encoding\n")
    ann.write(tree)
    (ann.path / "run").chmod(0o755)
    (ann.path / "link").symlink_to("../../outside")
    ann.commit({})
    b = bench(ann)
    expected = {name: c.encode() if isinstance(c, str) else c for name, c in tree.items()} | {"link": b"../../outside"}
    assert every_file(b.pristine) == expected
    assert [(b.pristine / name).stat().st_mode & 0o100 for name in ("run", "lf")] == [0o100, 0]
    assert {(b.pristine / name).lstat().st_mtime for name in (*expected, "d", ".")} == {1_000_000_000}


def test_a_complete_tree_is_left_and_a_half_made_one_made_again(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r"))
    inode = (b.pristine / "README").stat().st_ino
    assert b.private.checkout(b.user.head, b.pristine) is False
    assert (b.pristine / "README").stat().st_ino == inode
    (tmp_path / "state/base.made/seal").unlink()
    (b.pristine / "README").unlink()
    (tmp_path / "state/base.part").mkdir()
    (tmp_path / "state/base.part/torn").touch()
    assert repo.verify(b.pristine) == (os.fspath(b.pristine),)
    assert b.private.checkout(b.user.head, b.pristine) is True
    assert repo.verify(b.pristine) == ()
    assert sorted(every_file(b.pristine)) == ["README", "eval/golden.json", "src/a.py"]
    assert not (tmp_path / "state/base.part").exists()
    shutil.rmtree(b.pristine)
    assert b.private.checkout(b.user.head, b.pristine) is True
    repo.discard(b.pristine)
    assert [place.name for place in (tmp_path / "state").glob("base*")] == []


def test_whatever_is_done_to_a_pristine_tree_is_seen(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r"))
    seen = (b.pristine / "README").stat()
    (b.pristine / "README").write_text("HELLO\n")
    os.utime(b.pristine / "README", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert repo.verify(b.pristine) == ("README",)
    (b.pristine / "new").touch()
    (b.pristine / "src/a.py").unlink()
    assert repo.verify(b.pristine) == ("README", "new", "src/a.py")
    repo.seal(b.pristine)
    assert repo.verify(b.pristine) == ()


def test_an_agent_gets_an_ordinary_repository_of_its_own(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.commit({"README": "two\n"})
    b = bench(ann)
    agent = Person(b.agent)
    assert agent.git("status", "--porcelain") == ""
    assert agent.git("log", "--format=%an %s") == "research runner The incumbent"
    assert agent.git("rev-parse", "HEAD^{tree}") == ann.git("rev-parse", "HEAD^{tree}")
    assert (agent.git("remote"), agent.git("branch", "--show-current")) == ("", "main")
    assert not (b.agent / ".git/objects/info/alternates").exists()
    (b.agent / "README").write_text("three\n")
    bare = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    subprocess.run(("git", "commit", "-qam", "mine"), cwd=b.agent, env=bare, check=True)
    shutil.rmtree(ann.path)
    agent.git("fsck", "--full", "--strict")
    assert (b.pristine / "README").read_text() == "two\n"


def test_an_agents_copy_is_made_afresh_whatever_is_there(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r"))
    (b.agent / "src/new/inner/.git").mkdir(parents=True)
    (b.agent / "src/new/flag").write_text("boost")
    (b.agent / ".git/hooks").mkdir()
    (b.agent / "src").chmod(0o500)
    b.private.agent_copy(b.user.head, b.pristine, b.agent)
    assert sorted(name for name in every_file(b.agent) if not name.startswith(".git/")) == [
        "README",
        "eval/golden.json",
        "src/a.py",
    ]
    assert not (b.agent / "src/new").exists()
    assert not (b.agent / ".git/hooks").exists()
    assert repo.verify(b.pristine) == ()


def test_a_read_only_build_output_is_writable_for_the_agent(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r"))
    (b.pristine / "built").write_text("x")
    (b.pristine / "built").chmod(0o444)
    repo.seal(b.pristine)
    b.private.agent_copy(b.user.head, b.pristine, b.agent)
    assert stat.S_IMODE((b.agent / "built").stat().st_mode) == 0o644


def test_a_snapshot_survives_the_way_through_bytes(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r", {os.fsdecode(b"\xff\n"): "x"}))
    assert Snapshot.from_bytes(b.snapshot.to_bytes()) == b.snapshot
    with pytest.raises(ValueError, match="Expecting"):
        Snapshot.from_bytes(b'{"a": [1')


@pytest.mark.parametrize("place", ["store", "worktree"])
def test_lfs_contents_are_filled_from_the_persons_disk(tmp_path: Path, place: str) -> None:
    content = b"weights" * 100
    digest = hashlib.sha256(content).hexdigest()
    tree = {".gitattributes": "*.bin filter=lfs\n", "m.bin": _pointer(content), "plain.txt": _pointer(b"no LFS here")}
    ann = person(tmp_path / "r", tree)
    ann.git("config", "filter.lfs.smudge", "no-such-lfs")
    ann.git("config", "filter.lfs.required", "true")
    stored = ann.path / ".git/lfs/objects" / digest[:2] / digest[2:4] / digest if place == "store" else ann.path / "m.bin"
    stored.parent.mkdir(parents=True, exist_ok=True)
    stored.write_bytes(content)
    b = bench(ann)
    assert (b.pristine / "m.bin").read_bytes() == content
    assert (b.agent / "m.bin").read_bytes() == content
    assert (b.pristine / "plain.txt").read_text() == _pointer(b"no LFS here")


def test_a_missing_lfs_content_is_named_with_the_mend(tmp_path: Path) -> None:
    ann = person(tmp_path / "r", {".gitattributes": "*.bin filter=lfs\n", "m.bin": _pointer(b"weights")})
    (tmp_path / "state").mkdir()
    user = repo.discover(ann.path)
    private = repo.open_private(tmp_path / "state", user)
    with pytest.raises(RepoError) as stopped:
        private.checkout(user.head, tmp_path / "state/base")
    assert stopped.value.what == "m.bin is kept in Git LFS, and its content is not on this machine"
    assert stopped.value.mend == f"run `git lfs pull` in {ann.path}"
    assert not (tmp_path / "state/base").exists()


def test_submodules_are_filled_at_the_recorded_commit(tmp_path: Path) -> None:
    deep = person(tmp_path / "deep", {"d.py": "d\n"})
    inner = person(tmp_path / "inner", {"i.py": "one\n"})
    inner.git("submodule", "add", "-q", os.fspath(deep.path), "deep")
    inner.commit({})
    ann = person(tmp_path / "r")
    ann.git("submodule", "add", "-q", os.fspath(inner.path), "lib")
    ann.git("submodule", "update", "-q", "--init", "--recursive")
    ann.commit({})
    Person(ann.path / "lib").commit({"i.py": "two, not recorded\n"})
    b = bench(ann)
    files = every_file(b.pristine)
    assert (files["lib/i.py"], files["lib/deep/d.py"]) == (b"one\n", b"d\n")
    assert Person(b.agent).git("status", "--porcelain") == ""
    assert b.imported().changes == ()


def test_a_missing_submodule_is_named_with_the_mend(tmp_path: Path) -> None:
    inner = person(tmp_path / "inner", {"i.py": "one\n"})
    ann = person(tmp_path / "r")
    ann.git("submodule", "add", "-q", os.fspath(inner.path), "lib")
    ann.commit({})
    ann.git("clone", "-q", ".", os.fspath(tmp_path / "c/r"))
    with pytest.raises(RepoError) as stopped:
        bench(Person(tmp_path / "c/r"))
    commit = inner.git("rev-parse", "HEAD")[:12]
    assert stopped.value.what == f"lib is a submodule, and its commit {commit} is not on this machine"
    assert stopped.value.mend == f"run `git submodule update --init --recursive` in {tmp_path}/c/r"
