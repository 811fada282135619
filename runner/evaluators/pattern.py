"""A number from the one line of standard output that the contract's pattern finds."""

import re

from runner.core.contract import PatternMetric
from runner.core.ended import Ended, lines, quoted
from runner.evaluators.number import number
from runner.evaluators.plug import Numbers, Wanted


def read(ended: Ended, output: bytes | None, wanted: Wanted) -> Numbers | str:
    """The number in the pattern's group; exactly one match has to be there."""
    assert isinstance(wanted.source, PatternMetric)
    pattern = wanted.source.pattern
    matches = list(re.finditer(pattern, "\n".join(lines(ended.stdout)), re.MULTILINE))
    if len(matches) != 1:
        some = "".join(f", {quoted(m.group(), 60)}" for m in matches[:3])
        return f"the pattern {quoted(pattern)} has to match once, it matches {len(matches)} times{some}"
    text = matches[0].group(1) if matches[0].re.groups == 1 else None
    if text is None:
        return f"the pattern {quoted(pattern)} has to have one group that takes part in the match"
    value = number(text)
    return Numbers(value) if value is not None else f"{wanted.primary}: {quoted(text)} is not a plain finite number"
