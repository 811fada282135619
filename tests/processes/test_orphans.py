"""A sandbox that was being made when the runner was killed."""

import subprocess
from pathlib import Path

from runner.processes.orphans import end_orphans

WAITS = ("/bin/sh", "-c", "read x")


def sandbox(*words: str, called: str = "bwrap") -> "subprocess.Popen[bytes]":
    """Something that is called as bwrap is, and waits."""
    return subprocess.Popen([called, *WAITS[1:], *words], executable=WAITS[0], stdin=subprocess.PIPE)


def test_a_sandbox_on_our_room_is_ended_and_nothing_else_is(tmp_path: Path) -> None:
    room = tmp_path / "room"
    with (
        sandbox("--ro-bind", f"{room}/etc", "/etc") as ours,
        sandbox("--ro-bind", f"{room}-of-another/etc", "/etc") as anothers,
        sandbox(f"{room}/etc", called="vi") as editor,
    ):
        try:
            assert end_orphans(room) == (ours.pid,)
            assert ours.wait(5) == -9
            assert (anothers.poll(), editor.poll()) == (None, None)
        finally:
            for process in (ours, anothers, editor):
                process.kill()


def test_a_room_that_nobody_stands_on_has_no_orphans(tmp_path: Path) -> None:
    assert end_orphans(tmp_path) == ()
