"""The agent that is any program: the prompt on its standard input, its changes in its copy."""

from runner.agents.plug import Exhausted, Launch, Task


def prepare(task: Task) -> Launch | Exhausted:
    raise NotImplementedError
