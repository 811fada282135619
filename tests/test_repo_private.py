import os
import subprocess
from pathlib import Path

import pytest

from runner import repo
from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.repo import Private, TreeEntry
from tests.repositories import AT, Person, bench, every_file, person


def _open(ann: Person) -> Private:
    state = ann.path.with_name("state")
    state.mkdir(exist_ok=True)
    return repo.open_private(state, repo.discover(ann.path))


def test_objects_are_borrowed_and_what_is_written_stays_ours(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    private = _open(ann)
    head = private.user.head
    before = every_file(ann.path)
    new = private.commit(private.tree_of(head), head, "m", AT, {})
    private.pin("refs/turn/0001", new)
    again = _open(ann)
    assert again.resolve("refs/turn/0001") == new
    assert again.resolve("refs/turn/0002") is None
    assert again.refs("refs/turn/") == {"refs/turn/0001": new}
    assert (again.exists(new), again.exists(head), again.exists(Oid("1" * 40)), again.exists(Oid("HEAD"))) == (
        True,
        True,
        False,
        False,
    )
    assert every_file(ann.path) == before


def test_a_commit_is_listed_and_read(tmp_path: Path) -> None:
    ann = person(tmp_path / "r", {"run": "x", "d/é\n": "yy"})
    (ann.path / "run").chmod(0o755)
    (ann.path / "link").symlink_to("run")
    head = ann.commit({})
    private = _open(ann)
    entries = private.entries(head)
    assert {path: (entry.mode, entry.size) for path, entry in entries.items()} == {
        "d/é\n": ("100644", 2), "link": ("120000", 3), "run": ("100755", 1),
    }  # fmt: skip
    assert entries["run"] == TreeEntry("100755", Oid(ann.git("rev-parse", "HEAD:run")), 1)
    assert [private.read(head, path) for path in ("d/é\n", "link", "d")] == [b"yy", b"run", None]
    assert private.tree_of(head) == ann.git("rev-parse", "HEAD^{tree}")


def test_the_same_commit_has_the_same_hash_and_the_message_is_verbatim(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    ann.git("config", "user.useConfigOnly", "true")
    private = _open(ann)
    head, tree = private.user.head, private.tree_of(private.user.head)
    message = f"--amend\n\n$(touch {tmp_path}/pwned) ; -m x\n# no comment\n\n\nResearch-Effect: forged"
    one, two = (private.commit(tree, head, message, AT, {"Research-Attempt": "0001", "Research-Experiment": "x"}) for _ in "ab")
    assert one == two
    shown = ann.git("--git-dir", os.fspath(private.path), "cat-file", "commit", one)
    tail = "Research-Attempt: 0001\nResearch-Experiment: x"
    who = "research runner <runner@research.invalid> 1796035740 +0000"
    assert shown == f"tree {tree}\nparent {head}\nauthor {who}\ncommitter {who}\n\n{message}\n\n{tail}"
    assert not (tmp_path / "pwned").exists()
    assert private.commit(tree, head, "a\0b \ud800", AT, {}) != one
    with pytest.raises(ValueError, match="not a trailer"):
        private.commit(tree, head, "m", AT, {"A": "x\nB: y"})


def test_the_diff_is_the_same_under_any_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for name in ("plain", "odd"):
        ann = person(tmp_path / name / "r", {"src/a.py": "a = 1\nb = 2\n", "old": "same\n" * 9})
        if name == "odd":
            settings = {
                "color.ui": "always", "diff.noprefix": "true", "diff.external": "/bin/true", "diff.mnemonicPrefix": "true",
                "core.pager": "sh -c 'exit 1'", "diff.renames": "false", "diff.context": "0", "core.quotePath": "true",
                "diff.algorithm": "patience", "core.abbrev": "40", "diff.orderFile": "/dev/null", "diff.relative": "true",
            }  # fmt: skip
            (tmp_path / "home").mkdir()
            monkeypatch.setenv("HOME", os.fspath(tmp_path / "home"))
            for key, value in settings.items():
                ann.git("config", key, value)
                ann.git("config", "--file", os.fspath(tmp_path / "home/.gitconfig"), key, value)
        b = bench(ann)
        (b.agent / "src/a.py").write_text("a = 1\nb = 3\n")
        (b.agent / "old").rename(b.agent / "näw")
        texts.append(b.private.diff(b.user.head, b.candidate()))
    assert texts[0] == texts[1]
    assert texts[0].decode() == (
        "diff --git a/old b/näw\nsimilarity index 100%\nrename from old\nrename to näw\n"
        "diff --git a/src/a.py b/src/a.py\nindex 223ca50..2641db4 100644\n--- a/src/a.py\n+++ b/src/a.py\n"
        "@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n"
    )


def test_a_long_diff_is_cut_after_a_line_and_says_so(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r"))
    (b.agent / "big").write_text("line\n" * 200_000)
    text = b.private.diff(b.user.head, b.candidate(), limit=1000)
    assert len(text) < 1100
    assert text.endswith(b"+line\n[the diff is cut here, at 1000 bytes]\n")


def test_what_a_kill_leaves_is_put_right(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    (tmp_path / "state/repo.git.part/objects").mkdir(parents=True)
    private = _open(ann)
    for lock in (
        "HEAD.lock",
        "packed-refs.lock",
        "refs/turn/0001.lock",
        "tmp-objects-x/ab/cd",
        "objects/pack/tmp_pack_x",
        "objects/ab/tmp_obj_x",
    ):
        (private.path / lock).parent.mkdir(parents=True, exist_ok=True)
        (private.path / lock).touch()
    private = _open(ann)
    private.pin("refs/turn/0001", private.user.head)
    left = [name for name in every_file(private.path) if "lock" in name or "tmp" in name]
    assert left == []
    assert not (tmp_path / "state/repo.git.part").exists()


@pytest.mark.parametrize("torn", [b"", b"\0" * 41])
def test_emptied_objects_and_refs_can_be_written_again(tmp_path: Path, torn: bytes) -> None:
    ann = person(tmp_path / "r")
    private = _open(ann)
    head = private.user.head
    new = private.commit(private.tree_of(head), head, "m", AT, {})
    private.pin("refs/turn/0001", new)
    loose = private.path / "objects" / new[:2] / new[2:]
    for place in (loose, private.path / "refs/turn/0001"):
        place.chmod(0o644)
        place.write_bytes(torn)
    with pytest.raises(RepoError):
        private.pin("refs/turn/0001", head)
    private = _open(ann)
    assert (private.exists(new), private.resolve("refs/turn/0001")) == (False, None)
    assert private.commit(private.tree_of(head), head, "m", AT, {}) == new
    private.pin("refs/turn/0001", new)
    assert private.resolve("refs/turn/0001") == new


def test_a_disk_that_refuses_is_the_persons_to_mend(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r"))
    (tmp_path / "file").touch()
    with pytest.raises(
        RepoError, match=r"file/c.* could not be written or read: Not a directory\n  see whether the disk is full"
    ):
        b.private.checkout(b.user.head, tmp_path / "file/c")


def test_a_moved_repository_is_found_again(tmp_path: Path) -> None:
    ann = person(tmp_path / "r")
    _open(ann)
    odd = tmp_path / 'new: "home"\n'
    ann.path.rename(odd)
    private = repo.open_private(tmp_path / "state", repo.discover(odd))
    assert private.read(private.user.head, "README") == b"hello\n"


def test_a_state_directory_of_another_format_is_refused(tmp_path: Path) -> None:
    _open(person(tmp_path / "r"))
    other = person(tmp_path / "other", object_format="sha256")
    with pytest.raises(RepoError, match="holds sha1 objects, the repository has sha256"):
        repo.open_private(tmp_path / "state", repo.discover(other.path))


def test_a_repository_with_long_names_works_from_end_to_end(tmp_path: Path) -> None:
    b = bench(person(tmp_path / "r", object_format="sha256"))
    (b.agent / "src/a.py").write_text("a = 2\n")
    (b.agent / "src/new.py").write_text("new\n")
    new = b.candidate()
    assert len(new) == 64
    assert repo.advance(b.user, b.private, "research/x", new, None, "keep")
    assert b.ann.git("show", "research/x:src/a.py") == "a = 2"
    subprocess.run(("git", "fsck", "--full", "--strict"), cwd=b.agent, check=True, capture_output=True)
    b.ann.git("fsck", "--full", "--strict")
