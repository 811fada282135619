"""The agents that ship, by the contract's name."""

from collections.abc import Mapping

from runner.agents import answer, command, patches, tuner
from runner.agents.plug import Plug

AGENTS: Mapping[str, Plug] = {
    "tuner": Plug(tuner.prepare, answer.read),
    "patches": Plug(patches.prepare, answer.read),
    "command": Plug(command.prepare, answer.read),
}
