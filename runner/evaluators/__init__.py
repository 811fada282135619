"""The evaluators that ship, by where the contract says the metric comes from."""

from collections.abc import Mapping

from runner.core.contract import CallableMetric, LinesMetric, MetricSource, PatternMetric, ScriptMetric, TimeMetric
from runner.core.ended import Ended, how, last_line, quoted
from runner.core.models import FailureKind
from runner.evaluators import lines, pattern, script, time
from runner.evaluators.plug import Evaluator, Numbers, Observed, Wanted

EVALUATORS: Mapping[type[MetricSource], Evaluator] = {
    ScriptMetric: script.read,
    CallableMetric: script.read,  # the runner's own child calls the function and writes the same JSON
    LinesMetric: lines.read,
    PatternMetric: pattern.read,
    TimeMetric: time.read,
}


def observe(wanted: Wanted, ended: Ended, output: bytes | None) -> Observed:
    """What one evaluation says: its numbers where it ended well, else the kind of failure with the offending text.

    `output` are the bytes at the output path (None: no file). A number printed before a failure is quoted, never used.
    """
    numbers = EVALUATORS[type(wanted.source)](ended, output, wanted)
    failure = _failure(ended)
    if failure is not None:
        return Observed(None, dict.fromkeys(wanted.secondary), None, failure, _reason(ended, numbers))
    if isinstance(numbers, str):
        return Observed(None, dict.fromkeys(wanted.secondary), None, "invalid", numbers)
    return Observed(numbers.value, {n: numbers.secondary.get(n) for n in wanted.secondary}, numbers.tasks)


def _failure(ended: Ended) -> FailureKind | None:
    """What kind of failure the end of the command is; None where it ended well."""
    if ended.not_started is not None:
        return "not_started"
    if ended.timed_out:
        return "timeout"
    return None if ended.exit_code == 0 and not ended.cancelled else "exit_code"


def _reason(ended: Ended, numbers: Numbers | str) -> str:
    seen = f"{numbers.value} was printed, but " if isinstance(numbers, Numbers) else ""
    said = last_line(ended.stderr)
    end = f"the exit code was {ended.exit_code}" if ended.exit_code and not ended.timed_out else f"the evaluation {how(ended)}"
    reason = f"{seen}{end}" + (f"; standard error ends with {quoted(said)}" if said else "")
    if ended.exit_code in (126, 127) and b"\r" in ended.stderr.tail + ended.stderr.head:
        reason += " (a script with CRLF line ends? save it with LF)"
    return reason
