"""The story of one command, from its start to the death of its last descendant."""

import os
import signal
import time
from typing import Literal

from runner.processes.command import Cancel, Captured, Command, Finished, OnOutput
from runner.processes.pump import Pump
from runner.processes.tree import Ended, Tree, plant

DRAIN_S = 1.0
LOOK_S = 0.05  # how late a cancel may be seen
STARTED, REFUSED = "started", "refused "
UNCONFINED = "the confinement failed: "

Cut = Literal["timed_out", "cancelled"]


def run(command: Command, *, cancel: Cancel | None = None, on_output: OnOutput | None = None) -> Finished:
    """Run `command` to its end, its time-out or `cancel`, and return when nothing of its tree lives.

    `on_output` gets each piece of output as it comes, in this thread. An exception in between (Ctrl-C) ends the tree first.
    The thread that calls has to wait here: a contained child is bound to the life of the thread that made it.
    """
    began = time.monotonic()
    try:
        tree = plant(command)
    except OSError as error:  # no process more, or more words than the kernel takes
        return _not_started(f"cannot start {command.argv[0]}: {error.strerror}", time.monotonic() - began)
    watched = None
    try:
        watched = _handle(tree.pid)
        with Pump(tree.pipes, command.stdin, command.output_limit, on_output, command.contained, watched) as pump:
            ended, cut = _watch(tree, pump, command, cancel, began, watched is not None)
            pump.drain(DRAIN_S)
    except BaseException:
        tree.destroy()
        raise
    finally:
        if watched is not None:
            os.close(watched)
    return _finished(ended, cut, time.monotonic() - began, pump, command.contained)


def _handle(pid: int) -> int | None:
    """A descriptor that wakes us when the leader ends, where the system has such a thing."""
    try:
        return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    except OSError:
        return None


def _watch(
    tree: Tree, pump: Pump, command: Command, cancel: Cancel | None, began: float, woken: bool
) -> tuple[Ended, Cut | None]:
    cut: Cut | None = None
    force_at = float("inf")
    deadline = float("inf") if command.timeout_s is None else began + command.timeout_s
    while (ended := tree.poll()) is None:
        now = time.monotonic()
        if cut is None:
            cut = "cancelled" if cancel is not None and cancel.is_set() else "timed_out" if now >= deadline else None
            if cut:
                tree.ask()
                force_at = now + command.grace_s
        elif now >= force_at:
            tree.force(now - force_at)
        hurry = cut is not None or cancel is not None
        pump.turn(min(0.01 if not woken else LOOK_S if hurry else 1.0, max(deadline - now, 0.001) if cut is None else LOOK_S))
    return ended, cut


def _finished(ended: Ended, cut: Cut | None, wall_s: float, pump: Pump, contained: bool) -> Finished:
    refused = ended.refused
    if refused is None and contained and cut is None:
        refused = _refusal(pump.word)
    code = None if refused is not None or ended.status is None else os.waitstatus_to_exitcode(ended.status)
    if contained and code is not None and 128 < code <= 128 + signal.NSIG:  # the shells in between tell signals so
        code = 128 - code
    return Finished(
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        timed_out=cut == "timed_out",
        cancelled=cut == "cancelled",
        not_started=refused,
        wall_s=wall_s,
        cpu_s=ended.cpu_s if refused is None else None,
        stdout=pump.kept["stdout"].captured(),
        stderr=pump.kept["stderr"].captured(),
        survivors=ended.survivors,
    )


def _not_started(why: str, wall_s: float) -> Finished:
    nothing = Captured(b"", b"", 0)
    return Finished(None, None, False, False, why, wall_s, None, nothing, nothing)


def _refusal(word: str | None) -> str | None:
    """What the launcher's first line says; what is no word of its own was said by a confinement that could not be made."""
    if word is None:
        return UNCONFINED + "it ended without a word"
    if word.startswith(REFUSED):
        return word.removeprefix(REFUSED)
    return None if word == STARTED else UNCONFINED + word
