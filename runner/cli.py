"""The command line: words in, exit code out.

A run is one call, `runner.campaign.run(options: Options, face: Face, cancel: Cancel) -> int`: 0 done, 1 cannot go on,
130 interrupted. It may raise Stop (its own exit code) or KeyboardInterrupt (130); anything else is our bug (3).
"""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; never raises."""
    raise NotImplementedError
