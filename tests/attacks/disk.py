"""Row 43, a full disk: played in a small file system of its own, mounted where nobody else sees it.

    unshare -rm /bin/sh -c 'mount -t tmpfs -o size=48m none DIR; exec python -m tests.attacks.disk DIR'

Prints one JSON object: what the naive runner lost, and what the product's campaign came to.
"""

import json
import shutil
import sys
from pathlib import Path

from runner.journal import scan
from tests.attacks.lab import ATTACKS, Attack, Lab, lab
from tests.attacks.naive import unprotected
from tests.attacks.product import LAST, Series, run

FILL = """\
for place in "$OUT" "$STATE" "$TMPDIR" "$HOME" .; do
    head -c 67108864 /dev/zero > "$place/$MARKER-fill" 2>/dev/null
done
"""
LATER = """\
solver_more <<X
import os
if not os.environ.get("LAB_AGENT"):
    for place in ["$OUT", "$STATE", os.environ["TMPDIR"], os.environ["HOME"], "."]:
        try:
            with open(place + "/$MARKER-fill", "wb") as file:
                for _ in range(64):
                    file.write(bytes(1 << 20))
        except OSError:
            pass
X
"""


def row(name: str, script: str) -> Attack:
    return Attack(
        name, "Fill the disk that the journal is on. (bounded: 64 MiB)", script, frozenset({"journal"}), None, False, False, False
    )


BY_CANDIDATE = row("43_fill_disk", LATER)
BY_AGENT = row("43_fill_disk_by_the_agent", f"solver_more </dev/null\n{FILL}")


def no_room(at: Lab) -> bool:
    """Whether a line of a journal cannot be written any more."""
    try:
        with (at.root / "journal.jsonl").open("ab", buffering=0) as file:
            return file.write(b"x" * 8192) < 8192
    except OSError:
        return True


def naive(root: Path, attack: Attack) -> bool:
    at = lab(root)
    try:
        unprotected(attack, at)
        return no_room(at)
    except OSError:
        return True
    finally:
        at.close()
        shutil.rmtree(root, ignore_errors=True)


def product(root: Path, attack: Attack) -> dict[str, object]:
    """The attack's turn and an honest one after it; the same command is given again where the run stopped."""
    at = lab(root)
    stops: list[str] = []
    try:
        series = Series(at, [attack, ATTACKS[LAST]], far=True)
        for _ in range(3):
            stopped = run(series, 3)
            if not stopped:
                break
            stops.append(stopped)
        scan(series.journal)
        return {
            "verdicts": {n: o.status for n, o in series.done.items()},
            "past": sorted({p for o in series.done.values() for p in o.past}),
            "stops": stops,
        }
    finally:
        at.close()
        shutil.rmtree(root, ignore_errors=True)


def main(place: Path) -> None:
    found = {
        attack.name: {"unprotected": naive(place / f"n{n}", attack), "product": product(place / f"p{n}", attack)}
        for n, attack in enumerate((BY_CANDIDATE, BY_AGENT))
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
