"""The agent without a model: proposes settings by Optuna in a child process, from nothing but the journal."""

from runner.agents.plug import Exhausted, Launch, Task


def prepare(task: Task) -> Launch | Exhausted:
    raise NotImplementedError
