"""Times `./research --help` against a bare interpreter: python tests/bench/startup.py [WORDS ...]"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 20
LIMIT = 0.4  # seconds, for --help, logs and status


def seconds(command: tuple[str, ...]) -> float:
    """How long one run takes, from start to end."""
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> int:
    words = tuple(sys.argv[1:]) or ("--help",)
    launcher = str(ROOT / "research")
    subprocess.run((launcher, "--help"), stdout=subprocess.DEVNULL, check=True)  # sets up, and compiles what it imports
    python = str(ROOT / ".venv/bin/python")
    commands = {
        f"./research {' '.join(words)}": (launcher, *words),
        "python -c pass": (python, "-I", "-c", "pass"),
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):  # side by side, so that a busy moment falls on both
        for name, command in commands.items():
            taken[name].append(seconds(command))
    medians = [statistics.median(times) for times in taken.values()]
    for name, median in zip(taken, medians, strict=True):
        print(f"{name:32} median of {ROUNDS}: {median * 1000:6.1f} ms")
    print(f"{medians[0] / medians[1]:.1f} times a bare interpreter; the limit is {LIMIT} s")
    return 0 if medians[0] < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
