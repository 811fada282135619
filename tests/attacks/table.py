"""Plays the attacks and prints the table: did it work unprotected, and what became of it at each level and evaluator.

    python -m tests.attacks                         all rows: unprotected, and level 3 with both evaluators
    python -m tests.attacks --levels 3 2 0          also the lower levels (--near: attacks that know no path but their copy's)
    python -m tests.attacks --rows 01 16 40 --json  some rows, as one JSON object

Ends with 1 when an attack got past where it may not. The in-process rows may get past an ordinary evaluator, and are told so;
below level 3 what reaches outside of a copy is told and not counted.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.attacks.lab import ATTACKS, Attack, lab
from tests.attacks.naive import unprotected
from tests.attacks.product import Outcome, play

Table = dict[str, dict[str, str]]
NOT_PLAYED = "NOT PLAYED"


def worked(root: Path, row: Attack) -> str:
    """What the oracles saw on the naive runner, or that the attack did not work even there."""
    if row.root and os.geteuid() != 0:
        return f"{NOT_PLAYED} (needs root)"
    at = lab(root)
    try:
        seen = unprotected(row, at)
    finally:
        at.close()
        shutil.rmtree(root, ignore_errors=True)
    if row.control:
        return ("accepted" if "accept" in seen else "not accepted") + "".join(f", {x}" for x in sorted(seen - {"accept"}))
    hit = sorted(seen & row.oracles)
    return f"works: {'+'.join(hit)}" if hit else NOT_PLAYED


def fault(row: Attack, outcome: Outcome, level: int, evaluator: str) -> bool:
    """Whether an outcome breaks what is promised at that level with that evaluator."""
    if row.control:
        return bool(outcome.past) or outcome.status != row.control
    if row.in_process and evaluator == "ordinary" and outcome.past == {"accept"}:
        return False
    return bool(outcome.past) and level == 3


def rows(
    root: Path, names: Sequence[str], levels: Sequence[int], evaluators: Sequence[str], far: bool
) -> Iterator[tuple[str, str, str, bool]]:
    """Cells as they come: the row, the column, its words, and whether they are a fault."""
    for level in levels:
        for evaluator in evaluators:
            column = f"{level} {evaluator}"
            for name, outcome in play(root / column.replace(" ", "-"), names, level, evaluator, far).items():
                wrong = fault(ATTACKS[name], outcome, level, evaluator) if name in ATTACKS else True
                yield name, column, told(name, outcome, evaluator), wrong


def told(name: str, outcome: Outcome, evaluator: str) -> str:
    row = ATTACKS.get(name)
    if row is not None and row.control and not outcome.past:
        return outcome.status
    known = row is not None and row.in_process and evaluator == "ordinary" and outcome.past == {"accept"}
    return outcome.words + (" (in process)" if known else "") + (f": {outcome.reason[:120]}" if outcome.past - {"accept"} else "")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description="Play the attacks and print the table.")
    parser.add_argument("--rows", nargs="*", default=[], metavar="NN", help="names, or how they begin; all if left out")
    parser.add_argument("--levels", nargs="*", type=int, default=[3], choices=[3, 2, 0])
    parser.add_argument("--evaluators", nargs="*", default=["ordinary", "split"], choices=["ordinary", "split"])
    parser.add_argument("--near", action="store_true", help="the attacks know no path but their copy's")
    parser.add_argument("--skip-unprotected", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(words)
    names = [name for name in ATTACKS if not asked.rows or name.startswith(tuple(asked.rows))]
    root = Path(tempfile.mkdtemp(prefix="attacks-"))
    table: Table = {name: {} for name in names}
    faults = []
    try:
        for name in names if not asked.skip_unprotected else ():
            table[name]["unprotected"] = worked(root / name, ATTACKS[name])
        playable = [name for name in names if not table[name].get("unprotected", "").startswith(NOT_PLAYED)]
        for name, column, cell, wrong in rows(root, playable, asked.levels, asked.evaluators, not asked.near):
            table.setdefault(name, {})[column] = cell
            faults += [f"{name} at {column}: {cell}"] if wrong else []
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(json.dumps({"table": table, "faults": faults}) if asked.json else page(table, faults))
    return 1 if faults else 0


def page(table: Table, faults: Sequence[str]) -> str:
    """The table in Markdown, and what is wrong below it."""
    columns = list(dict.fromkeys(column for cells in table.values() for column in cells))
    lines = ["| row | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(cells.get(column, "-") for column in columns) + " |" for name, cells in table.items()]
    return "\n".join([*lines, "", *(faults or ["Nothing got past that may not."])])


if __name__ == "__main__":
    sys.exit(main())
