"""Measures one settings file: a fixed number of iterations, then the exact exploitability of what was learned."""

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy  # noqa: F401  # found before the current directory is searched, so that nothing there can stand in for it
import yaml  # noqa: F401  # likewise

sys.path.insert(0, os.getcwd())  # noqa: PTH109  # the solver to measure is the one here, not the one beside this file

from solver.cfr import solve
from solver.game import leduc
from solver.response import exploitability
from solver.settings import Settings, SettingsError, read_settings

ITERATIONS = 100
TRIED = 5


def measured(settings: Settings) -> dict[str, object]:
    """What evaluate.sh has to write; exploitability in thousandths of an ante a hand, seconds of processor time for solving."""
    game = leduc()
    begun = time.process_time()
    plans = solve(game, settings, ITERATIONS)
    seconds = time.process_time() - begun
    return {
        "primaryMetric": {"name": "exploitability", "value": 1000 * exploitability(game, plans)},
        "secondaryMetrics": {"seconds": seconds},
    }


def main(arguments: list[str]) -> None:
    """With a place for the result a measurement, without one a short trial."""
    if len(arguments) not in (1, 2):
        sys.exit(
            f"Expected SETTINGS_FILE OUTPUT_JSON, or SETTINGS_FILE alone for a short trial; found {len(arguments)} arguments."
        )
    try:
        settings = read_settings(Path(arguments[0]))
    except SettingsError as trouble:
        sys.exit(str(trouble))
    if len(arguments) == 1:
        solve(leduc(), replace(settings, delay=0), TRIED)
    else:
        Path(arguments[1]).write_text(json.dumps(measured(settings)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
