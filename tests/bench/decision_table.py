"""Prints what deciding costs and finds under a kind of noise: `python -m tests.bench.decision_table --noise realcpu`."""

import argparse
import time
from collections.abc import Sequence
from typing import Literal

from runner.core.policy import PRESETS, Policy
from tests.bench.campaigns import NAMES, Tally, campaigns, mixed, power, worthless

GAINS = (0.01, 0.02, 0.03, 0.05, 0.10)
LOSSES = (-0.03, -0.10)


def row(noise: str, preset: Literal["quick", "thorough"], number: int, trials: int) -> dict[str, str]:
    """One line of the table, by column."""
    policy = Policy("seconds", "lower", preset=preset)
    nulls = campaigns(policy, noise, number, 100, worthless)
    mix = campaigns(policy, noise, number, 100, mixed, seed=1)
    found = {gain: power(policy, noise, gain, trials, seed=2) for gain in GAINS}
    lost = {loss: power(policy, noise, loss, trials, seed=3) for loss in LOSSES}
    return {
        "noise": noise,
        "preset": preset,
        "false keeps per 100 nulls": f"{nulls.false_per_100:.3f}",
        "per 100 in mix": f"{mix.false_per_100:.3f}",
        "FDR": f"{mix.fdr:.3f}",
        "found": f"{100 * mix.found / max(1, mix.good):.0f} %",
        "share": f"{mix.share:.2f}",
        "runs null, mix": f"{_runs(nulls)}, {_runs(mix)}",
        "90 % interval holds": f"{mix.covered / mix.candidates:.3f}",
        "told / true, raw": f"{mix.told / mix.truth:.2f}, {mix.raw / mix.truth:.2f}" if mix.truth else "-",
        **{
            f"+{100 * gain:.0f} % (runs)": f"{tally.keeps / tally.candidates:.2f} ({_runs(tally)})"
            for gain, tally in found.items()
        },
        **{f"runs for {100 * loss:.0f} %": _runs(tally) for loss, tally in lost.items()},
    }


def _runs(tally: Tally) -> str:
    return f"{tally.runs / tally.candidates:.1f}"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=300, metavar="N", help="campaigns of 100 candidates a figure")
    parser.add_argument("--trials", type=int, default=1000, metavar="N", help="trials a figure of power")
    parser.add_argument("--noise", nargs="+", choices=NAMES, default=["normal", "realcpu"], metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--preset", nargs="+", choices=tuple(PRESETS), default=list(PRESETS))
    wanted = parser.parse_args(argv)
    for at, (noise, preset) in enumerate((noise, preset) for noise in wanted.noise for preset in wanted.preset):
        begun = time.monotonic()
        cells = row(noise, preset, wanted.campaigns, wanted.trials)
        if at == 0:
            print(f"| {' | '.join(cells)} | seconds |\n|{'---|' * (len(cells) + 1)}")
        print(f"| {' | '.join(cells.values())} | {time.monotonic() - begun:.0f} |", flush=True)


if __name__ == "__main__":
    main()
