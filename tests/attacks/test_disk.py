"""Row 43: whoever fills the disk that the journal is on loses nothing of it, and the campaign goes on."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.playground import CLONE

MOUNT = 'mount -t tmpfs -o size=48m none "$1" && shift && exec "$@"'


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="a small file system is mounted in a namespace of its own")
def test_a_full_disk_costs_the_one_who_filled_it_the_turn_and_nobody_else(tmp_path: Path) -> None:
    place = str(tmp_path)
    words = ["unshare", "-rm", "/bin/sh", "-c", MOUNT, "sh", place, sys.executable, "-m", "tests.attacks.disk", place]
    done = subprocess.run(words, cwd=CLONE, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert {name: row["unprotected"] for name, row in found.items()} == dict.fromkeys(found, True)
    assert {
        name: (row["product"]["verdicts"], row["product"]["past"], row["product"]["stops"]) for name, row in found.items()
    } == {
        "43_fill_disk": ({"43_fill_disk": "discard", "00_honest_1.5x": "keep"}, [], []),
        "43_fill_disk_by_the_agent": ({"43_fill_disk_by_the_agent": "agent_error", "00_honest_1.5x": "keep"}, [], []),
    }
