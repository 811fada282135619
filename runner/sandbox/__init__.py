"""How children are confined: what the machine can hold, and one way to run a job inside it."""

from runner.sandbox.job import Job, Mount, Places, Sandbox, Wanted
from runner.sandbox.ladder import probe

__all__ = ["Job", "Mount", "Places", "Sandbox", "Wanted", "probe"]
