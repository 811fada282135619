"""The decision's promises on small fixed simulations; the whole table is `python -m tests.bench.decision_table`."""

import dataclasses

import pytest

from runner.core.policy import Policy
from tests.bench import decision_table
from tests.bench.campaigns import campaigns, power, trace, worthless

QUICK = Policy("seconds", "lower", preset="quick")
THOROUGH = Policy("seconds", "lower", preset="thorough")


def test_worthless_candidates_are_not_kept_and_cost_little() -> None:
    """At most 0.05 false keeps in 100 are promised: 2 in 4000, of which 7 or more would be a one-in-200 accident."""
    for policy, runs in ((QUICK, 5.0), (THOROUGH, 10.0)):
        tally = campaigns(policy, "realcpu", 40, 100, worthless)
        assert tally.candidates == 4000
        assert tally.false <= 6
        assert tally.runs / tally.candidates <= runs


def test_a_fixed_advantage_of_the_second_run_makes_no_keeps() -> None:
    """The coin makes whatever favours the second run fair: always reading the incumbent first kept 44 in 100."""
    tally = campaigns(QUICK, "normal", 20, 100, worthless, late=0.02)
    assert tally.false <= 4


@pytest.mark.parametrize(("policy", "effect", "least"), [(QUICK, 0.05, 0.90), (THOROUGH, 0.05, 0.95), (THOROUGH, 0.02, 0.50)])
def test_gains_are_found_at_a_pair_noise_of_three_per_cent(policy: Policy, effect: float, least: float) -> None:
    """400 trials: a standard error of about 1 to 2.5 points is allowed for."""
    found = power(policy, "normal", effect, 400)
    assert found.keeps / found.candidates >= least - 0.03


def test_losers_of_ten_per_cent_cost_two_runs_and_a_half() -> None:
    lost = power(QUICK, "gzip-cpu", -0.10, 300)
    assert lost.keeps == 0
    assert lost.runs / lost.candidates <= 2.5


def test_the_same_seed_gives_the_same_table() -> None:
    one, two = (campaigns(THOROUGH, "synth", 6, 10, worthless) for _ in range(2))
    assert one == two
    assert one != campaigns(THOROUGH, "synth", 6, 10, worthless, seed=1)


def test_the_traces_are_whole() -> None:
    assert {len(trace(program, "wall_s")) for program in ("json", "sort", "regex", "gzip", "matmul", "compileall")} == {740}


def test_the_command_prints_one_row_a_noise_and_preset(capsys: pytest.CaptureFixture[str]) -> None:
    decision_table.main(["--campaigns", "1", "--trials", "20", "--noise", "normal", "realwall"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:]] == [
        [f"| {noise}", preset] for noise in ("normal", "realwall") for preset in ("quick", "thorough")
    ]
    assert len({line.count("|") for line in lines}) == 1


def test_a_campaign_with_more_risk_finds_more() -> None:
    bold = dataclasses.replace(QUICK, risk=0.5)
    assert power(bold, "normal", 0.02, 400).keeps > power(QUICK, "normal", 0.02, 400).keeps
