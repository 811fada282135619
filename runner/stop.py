"""Ask the runner of an experiment to stop, from outside."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

from runner.core.errors import CampaignError
from runner.core.events import Started
from runner.host import ProcessId, is_alive, monotonic
from runner.views import is_running, standing

_LOOK_EVERY_S = 0.1


def stop(experiment: Path, now: bool, limit_s: float, say: Callable[[str], None]) -> bool:
    """Signal the runner of the last `Started` and wait until it has ended; False where none runs.

    SIGTERM, which is what service managers send, and not SIGINT, which a shell lets background jobs ignore; the runner takes
    both for the same wish. `now` sends a second one. Raises CampaignError when it runs on another machine, belongs to somebody
    else, or has not ended within `limit_s` seconds.
    """
    started = standing(experiment, say)[0].started
    alive = is_running(started)
    if started is None or alive is False:
        return False
    if alive is None:
        raise CampaignError(
            f"the runner was started on {started.host}, not here", "run the same command there, or touch STOP here"
        )
    _signal(started)
    if now:
        # signals of one kind do not queue: the second counts only once the first has been taken
        threading.Event().wait(_LOOK_EVERY_S)
        _signal(started)
    say(f"asked the runner (pid {started.pid}) to stop {'now' if now else 'after the current step'}")
    if not _ends(ProcessId(started.pid, started.process_started, started.boot), limit_s):
        raise CampaignError(
            f"the runner (pid {started.pid}) still works after {limit_s:g} s",
            f"nothing is lost: wait longer, or stop it in the middle of its step: ./research stop --now {experiment}",
        )
    return True


def _signal(started: Started) -> None:
    try:
        os.kill(started.pid, signal.SIGTERM)
    except ProcessLookupError:
        return  # it ended by itself
    except PermissionError as error:
        raise CampaignError(f"the runner (pid {started.pid}) belongs to another user", "touch STOP in the experiment") from error


def _ends(process: ProcessId, limit_s: float) -> bool:
    until = monotonic() + limit_s
    while is_alive(process):
        if monotonic() > until:
            return False
        threading.Event().wait(_LOOK_EVERY_S)
    return True
