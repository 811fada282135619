"""What came of an agent's run: a table over how it ended and whether it changed anything."""

from runner.agents.plug import Answer, Returned


def read(back: Returned) -> Answer:
    """The outcome, the worker's own words where they are valid, and a commit message in any case; never raises."""
    raise NotImplementedError
