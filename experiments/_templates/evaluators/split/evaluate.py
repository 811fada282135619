"""Measures the code under test from outside: fresh requests in, processor time read off the process, answers checked last."""

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # isolated mode leaves the script's own directory out

import reference
import walls

# change: how many workers a reading (their mean counts), how many requests each gets, and how long one may take
ROUNDS = 3
REQUESTS = 40
TIMEOUT_S = 20


def requests(chance: random.Random) -> list[object]:
    """Change: what is asked; always the same amount of work, never the same twice, and anything that JSON can hold."""
    return [[chance.randrange(1000) for _ in range(200)] for _ in range(REQUESTS)]


def main(arguments: Sequence[str]) -> None:
    """Measures the code in the current directory and writes the result."""
    if len(arguments) != 1 or not os.environ.get("RESEARCH_SEED", "").isdigit():
        sys.exit("Expected OUTPUT_JSON as the one argument, and RESEARCH_SEED in the environment.")
    walls.shut()
    chance = random.Random(int(os.environ["RESEARCH_SEED"]))
    seconds = sum(measured(requests(chance), chance.randrange(1 << 32)) for _ in range(ROUNDS)) / ROUNDS
    result = {"primaryMetric": {"name": "cpu_ms", "value": 1000 * seconds}}
    Path(arguments[0]).write_text(json.dumps(result) + "\n", encoding="utf-8")


def measured(asked: Sequence[object], hash_seed: int) -> float:
    """The processor seconds of one worker; ends this program where it did not answer everything rightly."""
    before = _used()
    worker = subprocess.Popen(
        [sys.executable, "-P", "-s", "-S", "-B", str(Path(__file__).with_name("worker.py"))],
        env={"PATH": os.defpath, "PYTHONHASHSEED": str(hash_seed)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=walls.single(),
    )
    try:
        said, complaint = worker.communicate("".join(f"{json.dumps(one)}\n" for one in asked).encode(), TIMEOUT_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        sys.exit(f"The code under test gave no complete answer within {TIMEOUT_S} seconds.")
    seconds = _used() - before
    if worker.returncode:
        sys.exit(f"The code under test ended with {worker.returncode}: {complaint.decode('utf-8', 'replace').strip()[-300:]}")
    check(asked, said)
    return seconds


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(asked: Sequence[object], said: bytes) -> None:
    """Holds each answer against the reference, which is asked only now."""
    lines = said.splitlines()
    if len(lines) != len(asked):
        sys.exit(f"Expected {len(asked)} answers, found {len(lines)}.")
    for number, (request, line) in enumerate(zip(asked, lines, strict=True), 1):
        expected = json.dumps(reference.answer(request))
        if line.decode("utf-8", "replace") != expected:
            sys.exit(f"Answer {number} is wrong: expected {expected:.100}, found {line[:100].decode('utf-8', 'replace')}")


if __name__ == "__main__":
    main(sys.argv[1:])
