"""The evaluators that ship, by where the contract says the metric comes from."""

from runner.core.ended import Ended
from runner.evaluators.plug import Observed, Wanted


def observe(wanted: Wanted, ended: Ended, output: bytes | None) -> Observed:
    """What one evaluation says: its numbers where it ended well, else the kind of failure with the offending text.

    `output` are the bytes at the output path (None: no file). A number printed before a failure is quoted, never used.
    """
    raise NotImplementedError
