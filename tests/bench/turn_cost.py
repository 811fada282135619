"""What a turn costs beside worker and evaluator, on a repository of N files: seconds of the runner's own work, and its memory.

One turn in five or so proposes a gain; a keep costs more than a discard, since it moves the branch and makes a new incumbent.

python tests/bench/turn_cost.py --files 1000 --turns 20
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests import playground


def own_seconds(facts: list[dict[str, Any]]) -> list[float]:
    """Per turn: from TurnOpened to Settled, less what the worker and the evaluations took."""
    found = []
    for turn in range(1, 1 + max(f["turn"] or 0 for f in facts)):
        of_turn = [f for f in facts if f["turn"] == turn]
        whole = (at(of_turn[-1]) - at(of_turn[0])).total_seconds()
        worked = sum(f["seconds"] for f in of_turn if f["kind"] == "Worked")
        read = sum(r["wall_s"] for f in of_turn if f["kind"] == "Measured" for r in f["readings"])
        found.append(whole - worked - read)
    return found


WORKER = """\
#!/bin/sh
if [ $(( $(date +%s%N | cut -c10-17 | sed 's/^0*//') % 5 )) = 0 ]
then head -c -10 src/a.txt > src/b.txt && mv src/b.txt src/a.txt
else date +%N >> src/a.txt
fi
"""


def at(fact: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(fact["at"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--all-keeps", action="store_true", help="the worst case: every turn makes a new incumbent")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_STATE_HOME"] = f"{scratch}/state"
        files: dict[str, str | bytes] = {f"lib/d{n // 50}/f{n}.txt": f"file {n}\n" * 40 for n in range(asked.files)}
        files["exp/worker.sh"] = playground.SHORTEN if asked.all_keeps else WORKER
        files["src/a.txt"] = "x" * (10 * asked.turns + 100)
        scene = playground.make(Path(scratch), files)
        code, _ = scene.play(asked.turns)
        spent = own_seconds(scene.journal)
        print(f"exit code {code}, {len(scene.branch)} keeps, {asked.files} files, {asked.turns} turns")
        print(f"own work a turn: median {statistics.median(spent):.3f} s, mean {statistics.mean(spent):.3f} s")
        for status in ("keep", "discard"):
            of = [s for s, was in zip(spent, scene.statuses, strict=True) if was == status]
            if of:
                print(f"  {status:<8} {len(of):>3} turns: median {statistics.median(of):.3f} s, max {max(of):.3f} s")
        print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
