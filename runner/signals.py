"""Ctrl-C and its kin as two events: stop soon, stop now."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Cancel:
    """A person's wish to stop: `soon` after the current step, `now` at once; neither is ever taken back.

    `signal` is the number of the first signal, None where nobody asked.
    """

    soon: threading.Event = field(default_factory=threading.Event)
    now: threading.Event = field(default_factory=threading.Event)
    signal: int | None = None

    def ask(self, number: int) -> None:
        """One more wish: the first means soon, any later one now.

        A repeated SIGHUP is one wish: when a terminal closes, the kernel and the shell both send it.
        """
        if self.soon.is_set() and not number == self.signal == signal.SIGHUP:
            self.now.set()
        if self.signal is None:
            self.signal = number
        self.soon.set()


@contextmanager
def listening() -> Iterator[Cancel]:
    """Turn the signals into wishes while the block runs, and put the old handlers back after it; main thread only.

    A signal ignored from outside stays ignored (`nohup` and background jobs of a shell count on it).
    """
    cancel = Cancel()

    def on_signal(number: int, _: FrameType | None) -> None:
        if not cancel.soon.is_set():
            with contextlib.suppress(OSError):  # os.write: a handler may come in the middle of any other writing
                os.write(2, b"stopping after this step; once more stops now\n")
        cancel.ask(number)

    before = {n: signal.getsignal(n) for n in CAUGHT}
    mine = [n for n, handler in before.items() if handler is not signal.SIG_IGN]
    for number in mine:
        signal.signal(number, on_signal)
    try:
        yield cancel
    finally:
        for number in mine:
            # a handler set by C code reads as None and cannot be put back by Python
            signal.signal(number, before[number] or signal.SIG_DFL)
