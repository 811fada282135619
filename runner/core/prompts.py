"""Prompts from templates whose slots are strict; inserted text stands word for word."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.core.brief import Record, digest
from runner.core.contract import Contract, Metric
from runner.core.errors import ContractError

SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
NOTES = 64 << 10
"""Bytes of program.md and program.learned.md together that go into a prompt."""


@dataclass(frozen=True, slots=True)
class Words:
    """The texts that go into the worker's prompt, as read from their files; "" where a file is not there."""

    goal: str
    judge: str = ""
    program: str = ""
    learned: str = ""


def fill(template: str, slots: Mapping[str, str], name: str) -> str:
    """The template `name` with each `{{slot}}` replaced once; raises ContractError for a slot unknown to either side."""
    wanted = set(SLOT.findall(template))
    odd = sorted(wanted - slots.keys()) or sorted(slots.keys() - wanted)
    if odd:
        word = "unknown slots" if wanted - slots.keys() else "no place for"
        raise ContractError(f"{name}: {word} {', '.join(odd)}", f"its slots are {', '.join(sorted(slots))}, each as {{{{name}}}}")
    if "{{" in SLOT.sub("", template):
        raise ContractError(f"{name}: '{{{{' begins no slot", "a slot is lower-case letters between double braces")
    return SLOT.sub(lambda match: slots[match.group(1)], template)


def work_prompt(template: str, contract: Contract, words: Words, records: Sequence[Record], surface: Sequence[str]) -> str:
    """The worker's prompt from prompts/work_prompt.md; `surface` are the tree-relative paths that may be edited."""
    program = cut(words.program, NOTES)
    learned = cut(words.learned, max(NOTES - len(program.encode()), 0))
    slots = {
        "goal": words.goal.strip(),
        "judgement": words.judge.strip() or "By the numbers alone: a gain that is shown beyond the noise is kept.",
        "measurement": _measurement(contract),
        "surface": "\n".join(f"- `{path}`" for path in surface),
        "levers": "\n".join(f"- {lever}" for lever in contract.levers) or "None given.",
        "program": program.strip() or "None.",
        "learned": learned.strip() or "Nothing yet.",
        "history": digest(records) or "This is the first turn.",
        "minutes": f"{contract.timeouts.worker_s / 60:.3g}",
    }
    return fill(template, slots, "work_prompt.md")


def cut(text: str, most: int) -> str:
    """The text, or its beginning in at most `most` bytes of UTF-8 with a last line that tells how much is missing."""
    whole = text.encode("utf-8", "replace")
    if len(whole) <= most:
        return text
    note = f"\n[cut here: {{}} of {len(whole)} bytes are left out]"
    kept = whole[: max(most - len(note) - 20, 0)].decode("utf-8", "ignore")
    return kept + note.format(len(whole) - len(kept.encode())) if most > 100 else ""


def _measurement(contract: Contract) -> str:
    primary = contract.objective.primary
    gain = "any real gain counts" if primary.min_effect is None else f"a gain has to reach {primary.min_effect}"
    facts = [f"- `{primary.name}`: {primary.direction} is better; {gain}."]
    facts += [_secondary(metric) for metric in contract.objective.secondary]
    facts += [f"- Guard `{guard.name}` has to pass: `{' '.join(guard.run)}`" for guard in contract.guards]
    return "\n".join(facts)


def _secondary(metric: Metric) -> str:
    role = "only recorded" if metric.max_regression is None else f"must not get worse by more than {metric.max_regression}"
    return f"- `{metric.name}`: {metric.direction} is better; {role}."
