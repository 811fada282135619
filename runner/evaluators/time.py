"""The seconds that the command took."""

from runner.core.contract import TimeMetric
from runner.core.ended import Ended
from runner.evaluators.plug import Numbers, Wanted


def read(ended: Ended, output: bytes | None, wanted: Wanted) -> Numbers | str:
    """Processor or wall seconds of the command's whole tree, where it ended well."""
    assert isinstance(wanted.source, TimeMetric)
    if ended.exit_code != 0:
        return "the time of a command that failed says nothing"
    seconds = ended.cpu_s if wanted.source.clock == "cpu" else ended.wall_s
    return "the processor time cannot be measured on this machine; use {time: wall}" if seconds is None else Numbers(seconds)
