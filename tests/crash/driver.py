"""A runner in a process of its own, that kills itself where it is told: `python driver.py EXPERIMENT`, one plan a line on stdin.

Everything is imported once; each plan is a fork that runs the command line's `main`. It answers with one JSON line a plan:
the pid and how it ended (an exit code, or minus the signal). What the runner says goes to `EXPERIMENT/../../said.txt`.

A plan: `words` of the command line after the directory; and where to die, none or one of
`{"seam": "before" | "half" | "written" | "after" | "told", "line": n}` around the append of journal line n,
`{"event": k}` at the k-th thing done to a file or a process, `{"seconds": s}` after a time. `"still": true` stands still instead
of the clocks, the durations and the process's identity, so that a whole journal can be compared byte by byte.
"""

import dataclasses
import hashlib
import itertools
import json
import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from runner import campaign, cli, host, journal, opening, plain, signals  # noqa: F401  before the first fork
from runner.agents import patches  # noqa: F401
from runner.bench import World
from runner.core import stats
from runner.host import ProcessId
from runner.ledger import Ledger
from runner.sandbox import probe

SEED = b"a campaign that can be played again"


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed, and still here")


# --- chance and time that repeat themselves ----------------------------------------------------------


def world(still: bool, coin: random.Random) -> World:
    return World(
        coin=lambda: coin.random() < 0.5,
        token=lambda size: hashlib.sha256(SEED + b"%d" % size).digest()[:size],
        now=_ticks().__next__ if still else host.utc_now,
        monotonic=itertools.count(0, 0.001).__next__ if still else host.monotonic,
    )


def _ticks() -> Iterator[str]:
    for second in itertools.count():
        yield f"2026-11-30T{10 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000Z"


def stand_still() -> None:
    """Nothing that is measured of a command or of this process tells when it was."""

    def probed(*where: Any) -> Any:
        found: Any = probe(*where)
        run = type(found).run
        type(found).run = lambda *job, **more: dataclasses.replace(run(*job, **more), wall_s=0.25, cpu_s=0.125)
        return dataclasses.replace(found, report={**found.report, "cpu_floor_s": 0.0})

    setattr(opening, "probe", probed)  # noqa: B010  mypy holds a module's names for constants
    setattr(host, "process_id", lambda pid=None: ProcessId(4242, 1000.0, "boot"))  # noqa: B010


# --- where to die ------------------------------------------------------------------------------------


def at_line(seam: str, number: int, patch: Callable[[object, str, object], None]) -> None:
    append, write, record = journal.Journal.append, journal._write_all, Ledger.record
    now = {"line": 0}

    def appending(self: journal.Journal, *fact: Any) -> Any:
        now["line"] = self._next
        if seam == "before" and self._next == number:
            die()
        entry = append(self, *fact)
        if seam == "after" and entry.seq == number:
            die()
        return entry

    def writing(file: int, data: bytes) -> None:
        if seam == "half" and now["line"] == number:
            write(file, data[: len(data) // 2])
            die()
        write(file, data)
        if seam == "written" and now["line"] == number:
            die()

    def recording(self: Ledger, *fact: Any) -> Any:
        entry = record(self, *fact)
        if seam == "told" and entry.seq == number:
            die()
        return entry

    patch(journal.Journal, "append", appending)
    patch(journal, "_write_all", writing)
    patch(Ledger, "record", recording)


EVENTS = frozenset({
    "open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.utime", "os.chmod",
    "subprocess.Popen", "os.posix_spawn", "os.fork", "os.kill", "fcntl.flock",
})  # fmt: skip


def at_event(number: int) -> None:
    """Die just before the k-th thing is done to a file or a process."""
    count = itertools.count(1)

    def on_event(event: str, _: object) -> None:
        if event in EVENTS and next(count) == number:
            die()

    sys.addaudithook(on_event)


def after(seconds: float) -> None:
    timer = threading.Timer(seconds, die)
    timer.daemon = True
    timer.start()


# --- one run -----------------------------------------------------------------------------------------


def run(experiment: Path, plan: dict[str, Any]) -> int:
    with (experiment.parents[1] / "said.txt").open("a", encoding="utf-8") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    still = bool(plan.get("still"))
    coin = random.Random(plan.get("coin", 0))
    chance = world(still, coin)
    opening.world = lambda: chance
    if still:
        stand_still()
    if "seam" in plan:
        at_line(plan["seam"], plan["line"], setattr)
    if "event" in plan:
        at_event(plan["event"])
    if "seconds" in plan:
        after(plan["seconds"])
    return cli.main([os.fspath(experiment), *plan["words"]])


def main() -> None:
    stats.interval  # noqa: B018  loads the numbers' room
    import git  # noqa: F401
    import scipy.stats  # noqa: F401

    experiment = Path(sys.argv[1])
    for text in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os._exit(run(experiment, json.loads(text)))
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"pid": pid, "code": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()
