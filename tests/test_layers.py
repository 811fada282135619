"""The agent's layer and the agent's copy are two ways to the same candidate."""

import os
from pathlib import Path

import pytest

from runner import repo
from runner.core.models import Oid
from runner.sandbox import Job, Sandbox, probe
from tests import playground

FILES = {
    "src/a.txt": "one\n",
    "src/deep/b.txt": "two\n",
    "src/deep/c.txt": "three\n",
    "src/deep/er/d.txt": "four\n",
    "src/run.sh": "#!/bin/sh\n",
    ".gitignore": "*.log\nbuild/\n",
}
ACTS = {
    "nothing": "true",
    "touch without a change": "touch src/a.txt; echo one > src/a.txt",
    "edit": "echo more >> src/a.txt",
    "add": "mkdir -p new/er; echo x > new/er/f; echo y > 'src/with space'",
    "delete": "rm src/a.txt",
    "delete a directory": "rm -r src/deep",
    "delete and make a directory again": "rm -r src/deep; mkdir -p src/deep/er; echo other > src/deep/er/d.txt",
    "a directory becomes a file": "rm -r src/deep; echo file > src/deep",
    "a file becomes a directory": "rm src/a.txt; mkdir src/a.txt; echo x > src/a.txt/y",
    "a file becomes a link": "ln -sf /etc/passwd src/a.txt",
    "rename": "mv src/a.txt src/z.txt",
    "rename a directory": "mv src/deep src/shallow",
    "mode": "chmod +x src/a.txt; chmod -x src/run.sh",
    "ignored": "mkdir build; echo x > build/y; echo z > a.log",
    "the rules themselves": "echo > .gitignore; echo z > a.log",
    "commit": "git commit -q --allow-empty -m x; echo x > src/a.txt; git add -A; git commit -qm y",
    "nested repository": "git init -q src/inner; echo x > src/inner/f",
    "unreadable": "mkdir src/no; echo x > src/no/f; chmod 000 src/no",
    "a pipe": "mkfifo src/pipe",
    "names": r"printf x > 'src/a\b'; " r"printf y > \"$(printf 'src/n\nl')\"; printf z > \"$(printf 'src/\377')\"",
}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    found = probe(tmp_path_factory.mktemp("state"), "any")
    if not found.layers:
        pytest.skip(f"no overlays here: {found.report}")
    return found


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_a_layer_and_a_copy_give_the_same_candidate(act: str, tmp_path: Path, sandbox: Sandbox) -> None:
    scene = playground.make(tmp_path, FILES)
    user = repo.discover(scene.repo)
    private = repo.open_private(tmp_path / "private", user)
    pristine = tmp_path / "pristine"
    private.checkout(user.head, pristine)

    def run(tree: Path, base: tuple[Path, ...]) -> None:
        done = sandbox.run(Job(("/bin/sh", "-c", act), tree, "keep", base))
        assert done.not_started is None, done.not_started

    copy, layer = tmp_path / "copy", tmp_path / "layer"
    snapshot = private.agent_copy(user.head, pristine, copy)
    run(copy, ())
    from_copy = private.import_tree(user.head, copy, pristine, snapshot, limit_bytes=1 << 20)
    layer.mkdir()
    run(layer, (pristine, private.agent_layer(user.head, pristine)))
    from_layer = private.import_layer(user.head, layer, pristine, limit_bytes=1 << 20)

    assert from_layer == from_copy
    assert bool(from_copy.changes or from_copy.problems or from_copy.ignored) == (act not in list(ACTS.values())[:2])
    assert repo.verify(pristine) == (), "the tree below was written to"


def test_an_agent_sees_a_clean_repository_of_one_commit(tmp_path: Path, sandbox: Sandbox) -> None:
    scene = playground.make(tmp_path, FILES)
    user = repo.discover(scene.repo)
    private = repo.open_private(tmp_path / "private", user)
    pristine, layer = tmp_path / "pristine", tmp_path / "layer"
    private.checkout(user.head, pristine)
    layer.mkdir()
    look = "git status --porcelain; git log --format=%s; git rev-list --count HEAD; git fsck --full; git remote; git stash list"
    done = sandbox.run(Job(("/bin/sh", "-c", look), layer, "keep", (pristine, private.agent_layer(user.head, pristine))))
    assert done.stdout.text() == "The incumbent\n1\n"


def test_a_spare_tree_becomes_another_commits_tree_by_its_differences(tmp_path: Path) -> None:
    scene = playground.make(tmp_path, FILES)
    first = repo.discover(scene.repo)
    private = repo.open_private(tmp_path / "private", first)
    spare, fresh, turned = tmp_path / "spare", tmp_path / "fresh", tmp_path / "turned"
    private.checkout(first.head, spare)
    kept = os.lstat(spare / "src/deep/c.txt").st_ino
    scene.git("rm", "-q", "-r", "src/deep/er", "src/a.txt")
    scene.write({"src/deep/b.txt": "changed\n", "src/new/x": "#!/bin/sh\n"})
    (scene.repo / "src/link").symlink_to("deep/c.txt")
    second = next_commit(scene)

    assert private.checkout(second, turned, (first.head, spare))
    private.checkout(second, fresh)

    assert not spare.exists()
    assert listing(turned) == listing(fresh)
    assert repo.verify(turned) == ()
    assert os.lstat(turned / "src/deep/c.txt").st_ino == kept, "an equal file was written again"


def test_a_spare_tree_that_was_touched_is_left_alone(tmp_path: Path) -> None:
    scene = playground.make(tmp_path, FILES)
    first = repo.discover(scene.repo)
    private = repo.open_private(tmp_path / "private", first)
    private.checkout(first.head, tmp_path / "spare")
    (tmp_path / "spare/src/a.txt").write_text("touched")
    scene.write({"src/b.txt": "b"})
    second = next_commit(scene)
    private.checkout(second, tmp_path / "tree", (first.head, tmp_path / "spare"))
    assert (tmp_path / "tree/src/a.txt").read_text() == "one\n"
    assert (tmp_path / "spare/src/a.txt").read_text() == "touched"


def next_commit(scene: playground.Scene) -> Oid:
    scene.commit()
    return repo.discover(scene.repo).head


def listing(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every path with its mode, mtime and content or target."""
    found = {}
    for path in sorted(root.rglob("*")):
        seen = path.lstat()
        content = os.fsencode(path.readlink()) if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
        found[path.relative_to(root).as_posix()] = (seen.st_mode, seen.st_mtime_ns, content)
    return found
