"""Prompts from templates whose slots are strict; inserted text stands word for word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.core.brief import Record
from runner.core.contract import Contract


@dataclass(frozen=True, slots=True)
class Words:
    """The texts that go into the worker's prompt, as read from their files; "" where a file is not there."""

    goal: str
    judge: str = ""
    program: str = ""
    learned: str = ""


def fill(template: str, slots: Mapping[str, str], name: str) -> str:
    """The template `name` with each `{{slot}}` replaced once; raises ContractError for a slot unknown to either side."""
    raise NotImplementedError


def work_prompt(template: str, contract: Contract, words: Words, records: Sequence[Record], surface: Sequence[str]) -> str:
    """The worker's prompt from prompts/work_prompt.md; `surface` are the tree-relative paths that may be edited."""
    raise NotImplementedError
