"""Prints what the decision costs and finds under a kind of noise: `python -m tests.bench.decision_table --noise realcpu`."""

import argparse
import time
from collections.abc import Sequence
from typing import Literal

from runner.core.policy import PRESETS, Policy
from tests.bench.campaigns import NAMES, Tally, campaigns, mixed, power, worthless

GAINS = (0.01, 0.02, 0.03, 0.05, 0.10)
LOSSES = (-0.03, -0.10)
COLUMNS = (
    "noise", "preset", "false/100 nulls", "found", "share", "FDR", "coverage", "over-statement raw, told", "runs null, mix",
    *(f"+{100 * gain:.0f} %" for gain in GAINS), *(f"runs {100 * loss:.0f} %" for loss in LOSSES),
)  # fmt: skip


def row(noise: str, preset: Literal["quick", "thorough"], number: int, trials: int) -> list[str]:
    policy = Policy("seconds", "lower", preset=preset)
    nulls = campaigns(policy, noise, number, 100, worthless)
    mix = campaigns(policy, noise, number, 100, mixed, seed=1)
    found = [power(policy, noise, gain, trials, seed=2) for gain in GAINS]
    lost = [power(policy, noise, loss, trials, seed=3) for loss in LOSSES]
    return [
        noise, preset, f"{nulls.false_per_100:.3f}", f"{100 * mix.found / max(1, mix.good):.0f} %", f"{mix.share:.2f}",
        f"{mix.false / max(1, mix.keeps):.4f}", f"{mix.covered / mix.candidates:.3f}", f"{_over(mix)}",
        f"{_runs(nulls)}, {_runs(mix)}",
        *(f"{tally.keeps / tally.candidates:.2f} ({_runs(tally)})" for tally in found), *(_runs(tally) for tally in lost),
    ]  # fmt: skip


def _runs(tally: Tally) -> str:
    return f"{tally.runs / tally.candidates:.1f}"


def _over(tally: Tally) -> str:
    return f"{tally.raw / tally.truth:.3f}, {tally.told / tally.truth:.3f}" if tally.truth else "-"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=300, metavar="N", help="campaigns of 100 candidates a figure")
    parser.add_argument("--trials", type=int, default=1000, metavar="N", help="trials a figure of power")
    parser.add_argument("--noise", nargs="+", choices=NAMES, default=["normal", "realcpu"], metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--preset", nargs="+", choices=tuple(PRESETS), default=list(PRESETS))
    wanted = parser.parse_args(argv)
    print("| " + " | ".join(COLUMNS) + " | s |")
    print("|" + "---|" * (len(COLUMNS) + 1))
    for noise in wanted.noise:
        for preset in wanted.preset:
            begun = time.monotonic()
            cells = row(noise, preset, wanted.campaigns, wanted.trials)
            print("| " + " | ".join(cells) + f" | {time.monotonic() - begun:.0f} |", flush=True)


if __name__ == "__main__":
    main()
