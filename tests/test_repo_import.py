import dataclasses
import hashlib
import os
import random
import subprocess
import unicodedata
from pathlib import Path

import pytest

from runner import files, repo
from runner.core.events import Change
from runner.repo import Imported, importing, pristine
from tests.repositories import Bench, Person, bench, every_file, person


@pytest.fixture
def b(tmp_path: Path) -> Bench:
    tree = {"src/a.py": "a = 1\n", "src/b.py": "b = 1\n" * 9, "eval/evaluate.sh": "#!/bin/sh\n", ".gitignore": "*.o\nbuild/\n"}
    ann = person(tmp_path / "r", tree)
    (ann.path / "eval/evaluate.sh").chmod(0o755)
    ann.commit({})
    return bench(ann)


def _both_ways(b: Bench) -> Imported:
    """The import as it is, which has to be the same when nothing or everything of the snapshot is believed."""
    found = b.imported()
    assert b.private.import_tree(b.user.head, b.agent, b.pristine, None, limit_bytes=1 << 20) == found
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "RACY_NS", -1)
        assert b.imported() == found
    return found


def _listed(b: Bench, found: Imported) -> str:
    return b.ann.git("--git-dir", os.fspath(b.private.path), "ls-tree", "-r", "--full-tree", found.tree)


def test_an_untouched_copy_is_the_bases_own_tree(b: Bench) -> None:
    (b.agent / "src/a.py").touch()
    Person(b.agent).git("commit", "-q", "--allow-empty", "-m", "nothing")
    assert _both_ways(b) == Imported(b.private.tree_of(b.user.head), (), 0, ())


def test_the_tree_is_the_one_git_would_make(b: Bench) -> None:
    for name in ("src/new/x-y/1", "src/new/x/2", "src/new/x.c", "src-a/é", "-rf", "--exec=touch pwned2", " lead", "a\\b"):
        (b.agent / name).parent.mkdir(parents=True, exist_ok=True)
        (b.agent / name).write_text(name)
    (b.agent / "src/a.py").unlink()
    (b.agent / "link").symlink_to("src/b.py")
    found = _both_ways(b)
    agent = Person(b.agent)
    agent.git("add", "-A")
    assert found.tree == agent.git("write-tree")
    assert found.problems == ()
    assert not (b.agent / "pwned2").exists()
    subprocess.run(("git", "fsck", "--full", "--strict"), cwd=b.private.path, check=True, capture_output=True)


def test_commits_index_tricks_and_excludes_of_the_agent_are_not_asked(b: Bench) -> None:
    agent = Person(b.agent)
    agent.git("update-index", "--skip-worktree", "eval/evaluate.sh")
    agent.git("update-index", "--assume-unchanged", "src/a.py")
    seen = (b.agent / "eval/evaluate.sh").stat()
    (b.agent / "eval/evaluate.sh").write_text("#!/bin/cc\n")
    os.utime(b.agent / "eval/evaluate.sh", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    (b.agent / "src/a.py").write_text("a = 2\n")
    (b.agent / ".git/info/exclude").write_text("hidden\n")
    (b.agent / ".gitignore").write_text("*\n")
    (b.agent / "hidden").write_text("h")
    changed = {(c.kind, c.path) for c in _both_ways(b).changes}
    assert changed == {("M", ".gitignore"), ("M", "eval/evaluate.sh"), ("A", "hidden"), ("M", "src/a.py")}


def test_a_write_in_the_same_tick_as_the_snapshot_is_seen(b: Bench) -> None:
    (b.agent / "src/a.py").write_text("a = 2\n")
    same_tick = {**b.snapshot.files, "src/a.py": pristine.signature((b.agent / "src/a.py").stat())}
    assert [c.path for c in dataclasses.replace(b, snapshot=repo.Snapshot(same_tick)).imported().changes] == ["src/a.py"]


def test_only_touched_files_are_read(b: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    plain = files.read_plain

    def spy(path: Path | str, limit: int | None = None) -> bytes:
        read.append(os.path.relpath(path, b.agent))
        return plain(path, limit)

    monkeypatch.setattr(importing, "RACY_NS", -1)
    monkeypatch.setattr(files, "read_plain", spy)
    (b.agent / "src/b.py").write_bytes(b"b = 2\n" * 200)
    b.imported()
    assert [path for path in read if not path.startswith("..")] == ["src/b.py"]


def test_random_edits_make_the_tree_that_git_makes(b: Bench) -> None:
    dice, agent = random.Random(20261130), Person(b.agent)
    for _ in range(4):
        for _ in range(25):
            place = b.agent / "/".join(dice.choice(("src", "a", "a-b", "a.b", "é", "0")) for _ in range(dice.randint(1, 4)))
            if place.is_dir():
                continue
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                files.remove_tree(place)
                kind = dice.randrange(4)
                if kind == 0:
                    place.symlink_to(dice.choice(("x", "../y", "./z//")))
                elif kind:
                    place.write_bytes(dice.randbytes(dice.randint(0, 40)))
                    place.chmod(dice.choice((0o644, 0o755)))
            except (FileExistsError, NotADirectoryError):
                continue  # a file stands where a directory was wanted
        agent.git("add", "-A")
        assert _both_ways(b).tree == agent.git("write-tree")


def test_the_agents_git_may_be_anything(b: Bench) -> None:
    files.remove_tree(b.agent / ".git")
    (b.agent / ".git").symlink_to(b.ann.path / ".git")
    (b.agent / "src/a.py").write_text("a = 2\n")
    before = every_file(b.ann.path)
    assert [c.path for c in _both_ways(b).changes] == ["src/a.py"]
    assert every_file(b.ann.path) == before


def test_a_rename_shows_the_path_it_left(b: Bench) -> None:
    (b.agent / "eval/evaluate.sh").rename(b.agent / "src/x.sh")
    assert _both_ways(b).changes == (Change("R", "src/x.sh", "eval/evaluate.sh", "100755", "100755", 10),)


def test_a_rename_that_flips_the_exec_bit_shows_both_modes(b: Bench) -> None:
    (b.agent / "src/b.py").rename(b.agent / "src/c.py")
    (b.agent / "src/c.py").chmod(0o755)
    (b.agent / "src/c.py").write_text("b = 1\n" * 8 + "b = 2\n")
    assert _both_ways(b).changes == (Change("R", "src/c.py", "src/b.py", "100644", "100755", 54),)


def test_one_removed_file_explains_one_new_one(b: Bench) -> None:
    content = (b.agent / "src/b.py").read_text()
    (b.agent / "src/b.py").unlink()
    (b.agent / "src/c.py").write_text(content)
    (b.agent / "src/d.py").write_text(content)
    told = _both_ways(b).changes
    assert sorted((c.kind, c.path, c.old) for c in told) == [("A", "src/d.py", None), ("R", "src/c.py", "src/b.py")]


def test_a_deleted_file_and_a_mode_change_are_told(b: Bench) -> None:
    (b.agent / "src/a.py").unlink()
    (b.agent / "eval/evaluate.sh").chmod(0o644)
    assert _both_ways(b).changes == (
        Change("M", "eval/evaluate.sh", None, "100755", "100644", 10),
        Change("D", "src/a.py", None, "100644", None, None),
    )


def test_a_symlink_is_told_with_its_target_and_never_followed(b: Bench) -> None:
    (b.agent / "src/a.py").unlink()
    (b.agent / "src/a.py").symlink_to("../eval/golden.json")
    (b.agent / "src/p").symlink_to("/etc/passwd")
    files.remove_tree(b.agent / "eval")
    (b.agent / "eval").symlink_to("/etc")
    found = _both_ways(b)
    assert found.changes == (
        Change("A", "eval", None, None, "120000", 4, "/etc"),
        Change("D", "eval/evaluate.sh", None, "100755", None, None),
        Change("T", "src/a.py", None, "100644", "120000", 19, "../eval/golden.json"),
        Change("A", "src/p", None, None, "120000", 11, "/etc/passwd"),
    )
    assert b.private.read(found.tree, "src/p") == b"/etc/passwd"


def test_a_directory_in_a_files_place_is_told_whole(b: Bench) -> None:
    (b.agent / "src/a.py").unlink()
    (b.agent / "src/a.py").mkdir()
    (b.agent / "src/a.py/x").write_text("x")
    assert [(c.kind, c.path) for c in _both_ways(b).changes] == [("D", "src/a.py"), ("A", "src/a.py/x")]


def test_what_the_incumbent_ignores_is_left_out_and_counted(b: Bench) -> None:
    (b.agent / "build/deep").mkdir(parents=True)
    for name in ("x.o", "src/y.o", "build/deep/z", ":!w.o", "build.txt"):
        (b.agent / name).write_text("x")
    (b.agent / "build/lib/.git").mkdir(parents=True)
    found = _both_ways(b)
    assert ([c.path for c in found.changes], found.ignored, found.problems) == (["build.txt"], 5, ())


def test_a_tracked_file_counts_though_it_is_ignored(tmp_path: Path) -> None:
    ann = person(tmp_path / "r", {"x.o": "1"})
    ann.commit({".gitignore": "*.o\n"})
    b = bench(ann)
    (b.agent / "x.o").write_text("2")
    assert [(c.kind, c.path) for c in _both_ways(b).changes] == [("M", "x.o")]


def test_a_link_that_setup_brought_is_no_change(tmp_path: Path) -> None:
    ann = person(tmp_path / "r", {".gitignore": "node_modules/\n", "src/a.js": "1"})
    (tmp_path / "modules").mkdir()
    b = bench(ann)
    (b.pristine / "node_modules").symlink_to(tmp_path / "modules")
    (b.pristine / "built").write_text("out")
    repo.seal(b.pristine)
    b = dataclasses.replace(b, snapshot=b.private.agent_copy(b.user.head, b.pristine, b.agent))
    (b.agent / "src/a.js").write_text("2")
    agent = Person(b.agent)
    agent.git("add", "-A")
    agent.git("commit", "-q", "-m", "all of it")
    found = b.imported()
    assert ([c.path for c in found.changes], found.problems) == (["src/a.js"], ())
    assert "node_modules" not in _listed(b, found)
    (b.agent / "built").write_text("mine")
    assert [c.path for c in b.imported().changes] == ["built", "src/a.js"]
    (b.agent / "node_modules").unlink()
    (b.agent / "node_modules").mkdir()
    (b.agent / "node_modules/x").write_text("x")
    assert b.imported().ignored == 1


def test_a_nested_repository_is_named_and_not_read(b: Bench) -> None:
    (b.agent / "src/inner").mkdir()
    Person(b.agent / "src/inner").git("init", "-q")
    (b.agent / "src/inner/code.py").write_text("x")
    (b.agent / "lib").mkdir()
    (b.agent / "lib/.git").write_text("gitdir: /elsewhere\n")
    found = _both_ways(b)
    assert found.problems == (
        "lib/.git is a repository inside the tree: it was not read",
        "src/inner/.git is a repository inside the tree: it was not read",
    )
    assert [c.path for c in found.changes] == ["src/inner/code.py"]


@pytest.mark.parametrize(
    "name", [".GIT/config", "a/.g\u200cit/x", "git~1", "x/.git ./y", "a\\.git\\b", ".git::$INDEX_ALLOCATION/x"]
)
def test_names_that_another_system_takes_for_git_are_refused(b: Bench, name: str) -> None:
    (b.agent / name).parent.mkdir(parents=True, exist_ok=True)
    (b.agent / name).write_text("x")
    found = _both_ways(b)
    assert (found.changes, len(found.problems)) == ((), 1)


def test_special_and_oversize_files_are_named(b: Bench) -> None:
    os.mkfifo(b.agent / "src/pipe")
    (b.agent / "src/big").write_bytes(b"x" * 1001)
    (b.agent / "src/fits").write_bytes(b"x" * 1000)
    (b.agent / ".gitmodules").symlink_to("x")
    found = b.imported(limit_bytes=1000)
    assert found.problems == (
        ".gitmodules is a symlink, which git refuses under that name",
        "src/big has 1001 bytes, more than the 1000 allowed",
        "src/pipe is no file, directory or symlink",
    )
    assert [c.path for c in found.changes] == ["src/fits"]


def test_names_that_differ_only_in_case_or_form_are_named(b: Bench) -> None:
    composed = unicodedata.normalize("NFC", "src/é")
    for name in ("SRC/new.py", "src/A.py", composed, unicodedata.normalize("NFD", composed)):
        (b.agent / name).parent.mkdir(exist_ok=True)
        (b.agent / name).write_text("x")
    found = _both_ways(b)
    assert found.problems == (
        "SRC/new.py differs from src only in case or Unicode form",
        "src/A.py differs from src/a.py only in case or Unicode form",
        f"{composed} differs from {unicodedata.normalize('NFD', composed)} only in case or Unicode form",
    )
    assert len(found.changes) == 1


def test_odd_names_are_kept_as_bytes_and_shown_as_text(b: Bench) -> None:
    (b.agent / os.fsdecode(b"src/\xff\n")).write_text("x")
    found = _both_ways(b)
    assert [c.path for c in found.changes] == ["src/\\xff\\x0a"]
    assert b.private.read(found.tree, os.fsdecode(b"src/\xff\n")) == b"x"
    b.private.checkout(found.tree, b.pristine.with_name("candidate"))
    assert (b.pristine.with_name("candidate") / os.fsdecode(b"src/\xff\n")).read_text() == "x"


def test_what_cannot_be_walked_is_named(b: Bench) -> None:
    here = os.open(b.agent, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("n" * 200, dir_fd=here)
        below = os.open("n" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    (problem,) = b.imported().problems
    assert problem.endswith(" is a directory that cannot be read")


def test_a_flood_of_problems_is_bounded(b: Bench) -> None:
    for i in range(60):
        os.mkfifo(b.agent / f"p{i:02}")
    assert b.imported().problems[-1] == "... and 10 more"
    assert len(b.imported().problems) == 51


def test_many_new_files_are_imported_as_one_pack(b: Bench) -> None:
    for i in range(150):
        (b.agent / f"src/n{i:03}").write_text(f"{i}")
    found = _both_ways(b)
    assert len(found.changes) == 150
    assert len(list(b.private.path.glob("objects/pack/*.pack"))) == 1
    assert b.private.read(found.tree, "src/n149") == b"149"


def test_a_changed_lfs_file_is_named_and_a_filled_one_is_unchanged(tmp_path: Path) -> None:
    content = b"weights" * 100
    pointer = (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(content).hexdigest()}\nsize {len(content)}\n"
    )
    ann = person(tmp_path / "r", {".gitattributes": "*.bin filter=lfs\n", "m.bin": pointer, "n.bin": pointer})
    ann.write({"m.bin": content, "n.bin": content})
    b = bench(ann)
    (b.agent / "m.bin").touch()
    (b.agent / "n.bin").write_text(pointer)
    assert _both_ways(b) == Imported(b.private.tree_of(b.user.head), (), 0, ())
    (b.agent / "m.bin").write_bytes(content + b"!")
    assert _both_ways(b).problems == ("m.bin is kept in Git LFS, where the runner cannot store a new version",)


def test_a_submodule_stays_as_it_is_and_a_change_in_it_is_named(tmp_path: Path) -> None:
    inner = person(tmp_path / "inner", {"i.py": "one\n"})
    ann = person(tmp_path / "r")
    ann.git("submodule", "add", "-q", os.fspath(inner.path), "lib")
    ann.commit({})
    b = bench(ann)
    (b.agent / "README").write_text("changed\n")
    assert [c.path for c in _both_ways(b).changes] == ["README"]
    (b.agent / "lib/i.py").write_text("two\n")
    found = _both_ways(b)
    assert [c.path for c in found.changes] == ["README"]
    assert found.problems == ("lib is a submodule, and changes inside one cannot be imported: it stays as it was",)
    files.remove_tree(b.agent / "lib")
    assert [(c.kind, c.path, c.old_mode) for c in _both_ways(b).changes] == [("M", "README", "100644"), ("D", "lib", "160000")]


def test_the_next_turn_starts_without_what_a_loser_left(b: Bench) -> None:
    (b.agent / "src/new").mkdir()
    (b.agent / "src/new/flag").write_text("boost")
    Person(b.agent / "src/new").git("init", "-q")
    snapshot = b.private.agent_copy(b.user.head, b.pristine, b.agent)
    (b.agent / "src/a.py").write_text("a = 1  # a comment\n")
    found = dataclasses.replace(b, snapshot=snapshot).imported()
    assert ([c.path for c in found.changes], found.problems) == (["src/a.py"], ())


def test_a_directory_that_is_gone_is_a_problem_and_no_fault(b: Bench) -> None:
    files.remove_tree(b.agent)
    assert b.imported() == Imported(b.private.tree_of(b.user.head), (), 0, ("the agent's directory is gone",))


def test_a_candidate_outlives_what_the_person_throws_away(b: Bench) -> None:
    b.ann.git("checkout", "-q", "-b", "idea")
    b.ann.commit({"src/a.py": "a = 2\n"})
    (b.agent / "src/a.py").write_text("a = 2\n")
    new = b.candidate()
    b.ann.git("checkout", "-q", "main")
    b.ann.git("branch", "-q", "-D", "idea")
    b.ann.git("reflog", "expire", "--expire=now", "--all")
    b.ann.git("gc", "-q", "--prune=now")
    again = repo.open_private(b.pristine.parent, b.user)
    assert again.git("cat-file", "blob", f"{new}:src/a.py").out == b"a = 2\n"
