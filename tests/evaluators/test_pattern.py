import pytest

from runner.core.contract import PatternMetric
from runner.evaluators import observe
from runner.evaluators.plug import Observed, Wanted
from tests.evaluators.ends import printed

WANTED = Wanted(PatternMetric(r"^val_bpb: (\S+)$"), "val_bpb", ("x",))


def test_the_group_of_the_one_match_is_the_number() -> None:
    assert observe(WANTED, printed("step 1\r\nval_bpb: 0.9979\r\nval_bpb (old): 1\r\n"), None) == Observed(
        0.9979, {"x": None}, None
    )


@pytest.mark.parametrize(
    ("pattern", "output", "reason"),
    [
        (r"^v: (\S+)", "nothing\n", 'the pattern "^v: (\\\\S+)" has to match once, it matches 0 times'),
        (r"^v: (\S+)", "v: 1\nv: 2\n", 'the pattern "^v: (\\\\S+)" has to match once, it matches 2 times, "v: 1", "v: 2"'),
        (r"^v: (\S+)", "v: 12.5ms\n", 'val_bpb: "12.5ms" is not a plain finite number'),
        (r"^v: 1", "v: 1\n", 'the pattern "^v: 1" has to have one group that takes part in the match'),
        (r"^v: 1(x)?", "v: 1\n", 'the pattern "^v: 1(x)?" has to have one group that takes part in the match'),
    ],
)
def test_no_match_several_or_junk_are_invalid(pattern: str, output: str, reason: str) -> None:
    wanted = Wanted(PatternMetric(pattern), "val_bpb")
    assert observe(wanted, printed(output), None) == Observed(None, {}, None, "invalid", reason.replace("\\\\", "\\"))
