"""Run one command and end its whole tree, whatever the command does."""

from runner.processes.command import Cancel, Captured, Command, Finished, Limits, OnOutput, Stream
from runner.processes.running import run

__all__ = ["Cancel", "Captured", "Command", "Finished", "Limits", "OnOutput", "Stream", "run"]
