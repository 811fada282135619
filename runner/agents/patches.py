"""The agent that plays a folder of recorded patches, one a turn, in name order."""

from runner.agents.plug import Exhausted, Launch, Task


def prepare(task: Task) -> Launch | Exhausted:
    raise NotImplementedError
