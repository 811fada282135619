import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner import repo
from tests.repositories import person

TURN = """
import sys
from pathlib import Path
from runner import repo

worktree, state = map(Path, sys.argv[1:])
user = repo.discover(worktree)
private = repo.open_private(state, user)
repo.protect(user, "x", user.head)
private.checkout(user.head, state / "base")
snapshot = private.agent_copy(user.head, state / "base", state / "agent")
for name in range(20):
    (state / "agent" / f"new{name}").write_text(f"{name}")
tree = private.import_tree(user.head, state / "agent", state / "base", snapshot, limit_bytes=1000).tree
new = private.commit(tree, user.head, "turn", "2026-11-30T10:49:00Z", {})
private.pin("refs/turn/0001", new)
private.checkout(new, state / "candidate")
repo.advance(user, private, "research/x", new, None, "keep")
print(new, flush=True)
"""


@pytest.mark.slow
def test_a_turn_killed_anywhere_ends_where_it_would_have_ended(tmp_path: Path) -> None:
    ann = person(tmp_path / "r", {f"d{i % 9}/f{i}": f"{i}\n" for i in range(200)})
    (tmp_path / "state").mkdir()
    argv = (sys.executable, "-c", TURN, os.fspath(ann.path), os.fspath(tmp_path / "state"))
    begun = time.monotonic()
    expected = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    whole, killed = time.monotonic() - begun, 0
    for i in range(40):
        for name in ("refs/heads/research/x", "logs/refs/heads/research/x"):
            (ann.path / ".git" / name).unlink(missing_ok=True)
        if i % 4 == 0:
            subprocess.run(("rm", "-rf", os.fspath(tmp_path / "state")), check=True)
            (tmp_path / "state").mkdir()
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * (0.2 + 0.8 * i / 40))
        killed += process.poll() is None
        process.kill()
        process.wait()
        again = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert (again.stdout, again.stderr) == (expected, "")
        assert repo.verify(tmp_path / "state/base") == repo.verify(tmp_path / "state/candidate") == ()
    assert killed > 20
    assert ann.git("rev-parse", "research/x") == expected.strip()
    ann.git("fsck", "--full", "--strict")
    ann.git("--git-dir", os.fspath(tmp_path / "state/repo.git"), "fsck", "--full", "--strict")
